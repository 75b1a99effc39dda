"""What a carousel adds: the page stays as it is and each candidate is added to it alone (Ferrari Dacrema et al.)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Unpack

import numpy as np
import polars as pl
from numpy.typing import NDArray

from carouseval.building.candidate_carousels import CandidateCarousels
from carouseval.building.candidate_reader import read_candidates
from carouseval.building.settings import CANDIDATE_SETTINGS, CandidateSettingsDict
from carouseval.errors import DataError, ParameterError
from carouseval.evaluation.mean_estimates import mean_of
from carouseval.evaluation.user_sums import mean_interval
from carouseval.messages import setting
from carouseval.metrics.grid import Array, Grid, IntArray
from carouseval.progress import Progress
from carouseval.results import Result, plain
from carouseval.settings import checked_settings, takes
from carouseval.tables.table import TableLike
from carouseval.validation import require_int

_ROUNDING = 1e-12  # a smaller difference of scores is rounding


@dataclass(frozen=True, eq=False)
class MarginalGains(Result):
    """What each candidate carousel adds to the mean score of a page; the result of :func:`carouseval.marginal_gains`.

    Attributes
    ----------
    metric : str
        The metric.
    carousels : tuple
        The names of the candidates, sorted.
    users : polars.Series
        The users who are scored: those with a judged item of positive gain.
    scores : ndarray of shape (users,)
        Each user's score without any candidate.
    user_gains : ndarray of shape (users, carousels)
        What each candidate adds to each user's score.
    available : ndarray of bool, shape (carousels, users)
        Whether a user has lines in a candidate. Users without a candidate gain 0 by it.
    counts : dict of str to int
        Users, carousels and lines read, and what was counted in them: unjudged items, gaps, items without a category,
        invalid carousels and pages, and ideals that are only bounded.
    config : dict of str to object
        Every setting in force.

    See Also
    --------
    carouseval.build_pages : Build a whole page by these gains.

    Examples
    --------
    >>> import carouseval as cv
    >>> candidates = {"user_id": [1, 1], "carousel": ["drama", "new"], "col": [1, 1], "item_id": [12, 13]}
    >>> judgments = {"user_id": [1], "item_id": [12], "relevance": [3]}
    >>> gains = cv.marginal_gains(None, candidates, judgments)
    >>> gains
    MarginalGains(N2DCG_cat of the pages: 0.0000; best of 2 candidates: 'drama', +1.0000; 1 user)
    >>> {name: round(gain, 4) for name, gain in gains.gains.items()}
    {'drama': 1.0, 'new': 0.0}
    """

    metric: str
    carousels: tuple[Any, ...]
    users: pl.Series
    scores: Array
    user_gains: Array
    available: NDArray[np.bool_]
    counts: dict[str, int]
    config: dict[str, Any]

    @property
    def score(self) -> float:
        """The mean score of the pages without any candidate."""
        return mean_of(self.scores)

    @cached_property
    def gains(self) -> dict[Any, float]:
        """Each candidate's mean gain over all users, largest first; ties are ordered by name."""
        means = [mean_of(column) for column in self.user_gains.T]
        order = sorted(range(len(means)), key=lambda k: (-round(means[k], 12), k))
        return {self.carousels[k]: means[k] for k in order}

    @property
    def per_user(self) -> pl.DataFrame:
        """The gain of every user: ``user_id, carousel, gain``, for the candidates that the user has."""
        carousel, user = np.nonzero(self.available)
        names = pl.Series("carousel", self.carousels).gather(carousel)
        return pl.DataFrame([self.users.gather(user), names, pl.Series("gain", self.user_gains[user, carousel])])

    @property
    def heading(self) -> str:
        name, gain = next(iter(self.gains.items()))
        candidates = f"{len(self.carousels):,} candidate{'s' * (len(self.carousels) > 1)}"
        users = f"{len(self.users):,} user{'s' * (len(self.users) != 1)}"
        return f"{self.metric} of the pages: {self.score:.4f}; best of {candidates}: {name!r}, {gain:+.4f}; {users}"

    def to_frame(self) -> pl.DataFrame:
        """One line per candidate, largest gain first: its ``carousel``, mean ``gain``, 95% interval over users
        (``low``, ``high``), the mean ``score`` with it, how many users gain (``wins``) and lose (``losses``) by it, and
        how many have it (``users``).
        """
        return self._frame

    @cached_property
    def _frame(self) -> pl.DataFrame:
        lines = []
        for name, gain in self.gains.items():
            k = self.carousels.index(name)
            column = self.user_gains[:, k]
            low, high = mean_interval(column)
            wins, losses = int((column > _ROUNDING).sum()), int((column < -_ROUNDING).sum())
            line = {"carousel": name, "gain": gain, "low": low, "high": high, "score": self.score + gain}
            lines.append(line | {"wins": wins, "losses": losses, "users": int(self.available[k].sum())})
        return pl.DataFrame(lines)

    def to_dict(self) -> dict[str, Any]:
        """``metric``, ``score``, ``results`` (the lines of :meth:`to_frame`), ``counts`` and ``config``."""
        content = {"metric": self.metric, "score": self.score, "results": self.to_frame().to_dicts()}
        return plain(content | {"counts": self.counts, "config": self.config})

    def __repr__(self) -> str:
        return f"MarginalGains({self.heading})"


@takes(CANDIDATE_SETTINGS)
def marginal_gains(
    layouts: TableLike | None,
    candidates: TableLike,
    judgments: TableLike,
    items: TableLike | None = None,
    *,
    row: int | None = None,
    progress: Progress | None = None,
    **settings: Unpack[CandidateSettingsDict],
) -> MarginalGains:
    """Compute what each candidate carousel would add to the score of a page.

    Every candidate is added to the page alone: below its last row, or on the given ``row``. An item counts once, in its
    cell of largest weight, so an item that the page shows already adds only the difference. Each user's score is
    divided by the judged ideal, with and without the candidate, so that below the page no gain is negative. Users who
    do not have the candidate gain 0.

    Parameters
    ----------
    layouts : table or path, or None
        The current pages, one per user, as in :func:`carouseval.evaluate`. Users may have no page; None if no user has
        one.
    candidates : table or path
        ``user_id, carousel, col, item_id`` (and optionally ``category``), or one line per carousel with a list
        ``items``. Without a column ``carousel``, ``category`` is the carousel's name. The name may be anything, such as
        that of an algorithm, and the category may be one that the page already shows.
    judgments : table or path
        ``user_id, item_id, relevance``, as in :func:`carouseval.evaluate`.
    items : table or path, optional
        ``item_id, category``, as in :func:`carouseval.evaluate`. Without it, the categories are those that layouts and
        candidates show; one that only one of several users has is that user's alone.
    row : int, optional
        The row, from 1, that a candidate takes; the rows from there on move down, and a shorter page gets it as its
        last row. By default the row below the page.
    progress : callable, optional
        Called with (what, done, total) while tables are read and scored.

    Returns
    -------
    MarginalGains
        The mean gain of every candidate with its interval, and the gains of single users.

    See Also
    --------
    carouseval.build_pages : Build a whole page by these gains.

    Notes
    -----
    A carousel has the items that its lines give it. What categories can hold (``carousels`` and ``capacity``) limits
    ideal pages as in :func:`carouseval.evaluate`, where ``capacity="shown"`` counts the rows of layouts and candidates;
    a candidate that holds more than is declared is invalid.

    Examples
    --------
    >>> import carouseval as cv
    >>> page = {"user_id": [1, 1], "row": [1, 1], "col": [1, 2], "item_id": [10, 11], "category": ["new", "new"]}
    >>> candidates = {"user_id": [1, 1, 1], "carousel": ["drama", "drama", "again"], "col": [1, 2, 1],
    ...               "item_id": [12, 13, 11]}
    >>> judgments = {"user_id": [1, 1], "item_id": [11, 12], "relevance": [1, 3]}
    >>> {name: round(gain, 4) for name, gain in cv.marginal_gains(page, candidates, judgments).gains.items()}
    {'drama': 0.7659, 'again': 0.0038}
    """
    row = None if row is None else require_int("row", row, 1)
    chosen = checked_settings("marginal_gains", settings, CANDIDATE_SETTINGS)
    carousels = read_candidates(layouts, candidates, judgments, items, chosen, progress)
    grid = carousels.grid
    if row is not None and row > grid.rows:
        raise ParameterError(
            f"{setting('row')} must be at most {grid.rows}, the last row of the grid of {grid}, found {row}."
        )
    page = carousels.page
    at = page.row_count if row is None else np.minimum(page.row_count, row - 1)
    _check_room(carousels, at, grid)
    hit_user = carousels.judgment_user[page.judgment]
    before, after = carousels.page_values(page), carousels.page_values(page.with_inserted_row(at, hit_user))
    moved = carousels.sum_by_user(after - before)  # what users lose as rows move down
    gains = carousels.sum_by_user_and_carousel(carousels.pair_gains(after, at))
    return MarginalGains(
        metric=carousels.metric,
        carousels=tuple(carousels.names),
        users=carousels.users,
        scores=carousels.sum_by_user(before),
        user_gains=gains + carousels.available.T * moved[:, None],
        available=carousels.available,
        counts=carousels.counts,
        config=carousels.config | {"row": row},
    )


def _check_room(carousels: CandidateCarousels, row_index: IntArray, grid: Grid) -> None:
    """Refuse pages without a free row, and candidates that would move a pinned row."""
    has_candidates = carousels.available.any(axis=0)
    full = np.flatnonzero(has_candidates & (carousels.page.row_count >= grid.rows))
    if len(full):
        pages = f"{len(full):,} page{'s fill' if len(full) > 1 else ' fills'} all {grid.rows} rows of the grid"
        raise DataError(
            f"layouts: {pages}, first user_id={carousels.users.gather(full).sort()[0]!r}, which leaves no row for a "
            "candidate. Use a larger grid, or drop the last row."
        )
    moved = np.flatnonzero(has_candidates & (carousels.page.last_pinned > row_index))
    if len(moved):
        raise DataError(
            f"layouts: a candidate on this row would move a pinned row of {len(moved):,} page{'s' * (len(moved) > 1)}, "
            f"first user_id={carousels.users.gather(moved).sort()[0]!r}. Choose a row further down."
        )
