"""What a carousel adds: a page stays as it is, one candidate after the other is put on it (Ferrari Dacrema et al.)."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from carouseval.building.candidate_carousels import CandidateCarousels
from carouseval.building.candidate_reader import read_carousels
from carouseval.errors import DataError, ParameterError
from carouseval.evaluation.resampling import mean_interval, mean_of
from carouseval.evaluation.settings import ColumnNames
from carouseval.metrics.gains import Gain
from carouseval.metrics.grid import RECGAZE, Array, Grid, IntArray
from carouseval.metrics.names import MetricLike
from carouseval.metrics.validation import require_int
from carouseval.result_base import Result, plain
from carouseval.tables import TableLike

_NOTHING = 1e-12  # a difference of scores that is rounding


@dataclass(frozen=True, eq=False)
class MarginalGains(Result):
    """What each candidate adds to a page's mean score.

    ``score`` is the page's own, ``gains`` each candidate's, most first; ``per_user`` holds single users' gains.
    """

    metric: str
    names: tuple[Any, ...]
    users: pl.Series
    scores: Array  # of the page, per user
    by_user: Array  # (users, candidates)
    has: NDArray[np.bool_]  # (candidates, users): who is shown which
    counts: dict[str, int]
    config: dict[str, Any]

    @property
    def score(self) -> float:
        """The page's mean score, without any candidate."""
        return mean_of(self.scores)

    @cached_property
    def gains(self) -> dict[Any, float]:
        """Each candidate's mean gain over users, most first; ties by name."""
        means = [mean_of(column) for column in self.by_user.T]
        order = sorted(range(len(means)), key=lambda k: (-round(means[k], 12), k))
        return {self.names[k]: means[k] for k in order}

    @property
    def per_user(self) -> pl.DataFrame:
        """Lines of ``user_id, carousel, gain``, for the candidates that each user is shown."""
        carousel, user = np.nonzero(self.has)
        names = pl.Series("carousel", self.names).gather(carousel)
        return pl.DataFrame([self.users.gather(user), names, pl.Series("gain", self.by_user[user, carousel])])

    def to_frame(self) -> pl.DataFrame:
        """One line per candidate: gain, interval, score with it, users who win and lose by it and who are shown it."""
        return self._frame

    @cached_property
    def _frame(self) -> pl.DataFrame:
        lines = []
        for name, gain in self.gains.items():
            k = self.names.index(name)
            column = self.by_user[:, k]
            low, high = mean_interval(column)
            wins, losses = int((column > _NOTHING).sum()), int((column < -_NOTHING).sum())
            line = {"carousel": name, "gain": gain, "low": low, "high": high, "score": self.score + gain}
            lines.append(line | {"wins": wins, "losses": losses, "users": int(self.has[k].sum())})
        return pl.DataFrame(lines)

    def to_dict(self) -> dict[str, Any]:
        """Everything but single users, as plain values; what is not a number is None."""
        lines = self.to_frame().to_dicts()
        found = {"metric": self.metric, "score": self.score, "results": lines}
        return plain(found | {"counts": self.counts, "config": self.config})

    def __repr__(self) -> str:
        name, gain = next(iter(self.gains.items()))
        best = f"at most {gain:+.4f} by {name!r}"
        return f"MarginalGains({self.metric}={self.score:.4f}, {best}; {len(self.names):,} candidates)"


def what_adds(
    page: TableLike | None,
    candidates: TableLike,
    judgments: TableLike,
    items: TableLike | None = None,
    *,
    at: int | None = None,
    metric: MetricLike = "N2DCG_cat",
    grid: Grid = RECGAZE,
    gain: Gain = "exp2",
    columns: ColumnNames = None,
) -> MarginalGains:
    """Say what each candidate would add to a page.

    Every candidate is put on the page alone, below its last row or on row ``at``. An item counts once, where it weighs
    most, so what the page shows already adds only what it weighs more. A user's denominator is the judged ideal, with
    and without the candidate; below the page no gain is negative. Users without the candidate gain 0. A candidate may
    be of a category that the page has.

    Parameters
    ----------
    page
        Layouts, one page per user, as :func:`carouseval.evaluate` takes them; users may have none. ``None``: nobody
        has.
    candidates
        Lines of ``user_id, carousel, col, item_id`` (+ ``category``), or one line per carousel with a list ``items``.
        Where there is no ``carousel``, ``category`` names it. A name alone may be anything, such as an algorithm's.
    judgments, items
        As in :func:`carouseval.evaluate`. Without items, page and candidates say what belongs to which category.
    at
        The row, from 1, that a candidate takes, moving those from there on down; a shorter page gets it as its last.
    metric
        ``N2DCG_cat``, ``N2DCG`` or ``2DCG``, of any discount and cutoff.

    Examples
    --------
    >>> import carouseval as cv
    >>> page = {"user_id": [1, 1], "row": [1, 1], "col": [1, 2], "item_id": [10, 11], "category": ["new", "new"]}
    >>> candidates = {"user_id": [1, 1, 1], "carousel": ["drama", "drama", "again"], "col": [1, 2, 1],
    ...               "item_id": [12, 13, 11]}
    >>> judgments = {"user_id": [1, 1], "item_id": [11, 12], "relevance": [1, 3]}
    >>> {name: round(gain, 4) for name, gain in cv.what_adds(page, candidates, judgments).gains.items()}
    {'drama': 0.7659, 'again': 0.0038}
    """
    at = None if at is None else require_int("at", at, 1)
    found = read_carousels(page, candidates, judgments, items, metric, grid, gain, columns)
    if at is not None and at > grid.rows:
        raise ParameterError(f"at must be a row of the grid of {grid}, found {at}.")
    top = found.page.last if at is None else np.minimum(found.page.last, at - 1)
    _check_room(found, top, grid)
    users = found.owner[found.page.judgment]
    before, after = found.reached(found.page), found.reached(found.page.moved(top, users))
    pushed = found.per_user(after - before)
    by_user = found.by_user(found.added(after, top)) + found.has.T * pushed[:, None]
    names, scores = tuple(found.names), found.per_user(before)
    config = found.config | {"at": at}
    return MarginalGains(found.metric, names, found.users, scores, by_user, found.has, found.counts, config)


def _check_room(found: CandidateCarousels, top: IntArray, grid: Grid) -> None:
    some = found.has.any(axis=0)
    full = np.flatnonzero(some & (found.page.last >= grid.rows))
    if len(full):
        who = f"{len(full):,} page{'s fill' if len(full) > 1 else ' fills'} all {grid.rows} rows of the grid"
        raise DataError(
            f"layouts: {who}, first user_id={found.users.gather(full).sort()[0]!r}, and a candidate needs one. Give a "
            "larger grid, or drop the last row."
        )
    moved = np.flatnonzero(some & (found.page.pinned > top))
    if len(moved):
        raise DataError(
            f"layouts: a candidate on this row would move a pinned row of {len(moved):,} page"
            f"{'s' * (len(moved) > 1)}, first user_id={found.users.gather(moved).sort()[0]!r}. Choose a row below."
        )
