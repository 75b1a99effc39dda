"""Pages built from the carousels that add most, improved by local search, and a bound on what the best page scores."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
import polars as pl

from carouseval.building.candidate_carousels import CandidateCarousels
from carouseval.building.candidate_reader import read_candidates
from carouseval.building.order_bound import UpperBound
from carouseval.building.order_search import OrderSearch, greedy_prefixes, improve_order
from carouseval.building.settings import CANDIDATE_SETTINGS, CandidateSettingsDict
from carouseval.errors import ParameterError
from carouseval.messages import setting
from carouseval.progress import Progress, step
from carouseval.results import Result
from carouseval.settings import checked_settings, takes
from carouseval.tables.table import TableLike
from carouseval.validation import require_int

_ALL_ORDERS = 5_000  # so many orders are always searched to the end
_NODES = 1_000  # steps of the search if there are more; never a clock, so that results do not depend on the machine


@dataclass(frozen=True, eq=False)
class BuiltPages(Result):
    """One page for all users; the result of :func:`carouseval.build_pages`.

    Attributes
    ----------
    metric : str
        The metric that was optimised.
    order : tuple
        The names of the carousels, from the top row down.
    gains : tuple of float
        What each of them adds to the mean score of the rows above it.
    greedy_score : float
        The mean score of the greedy page, before the search for a better order.
    bound : float
        No order of as many carousels has a larger mean score.
    exact : bool
        Whether no order of as many carousels is better than this one, so that its score is the bound.
    layouts : polars.DataFrame
        The pages of all users, ready for :func:`carouseval.evaluate`: ``user_id, row, col, item_id, carousel`` (and
        ``category``).
    counts : dict of str to int
        Users, carousels and lines read, and what was counted in them: unjudged items, gaps, items without a category,
        invalid carousels and pages, and ideals that are only bounded.
    config : dict of str to object
        Every setting in force.

    Examples
    --------
    >>> import carouseval as cv
    >>> candidates = {"user_id": [1, 1], "carousel": ["drama", "new"], "col": [1, 1], "item_id": [12, 13]}
    >>> judgments = {"user_id": [1, 1], "item_id": [12, 13], "relevance": [3, 1]}
    >>> built = cv.build_pages(candidates, judgments)
    >>> built
    BuiltPages(N2DCG_cat 1.0000, the best order; 2 rows from 2 carousels: 'drama', 'new')
    >>> built.layouts.rows()
    [(1, 1, 1, 12, 'drama', 'drama'), (1, 2, 1, 13, 'new', 'new')]
    """

    metric: str
    order: tuple[Any, ...]
    gains: tuple[float, ...]
    greedy_score: float
    bound: float
    exact: bool
    layouts: pl.DataFrame
    counts: dict[str, int]
    config: dict[str, Any]

    @property
    def score(self) -> float:
        """The mean score of the page."""
        return math.fsum(self.gains)

    @property
    def share(self) -> float:
        """The score as a share of the bound; 1 if the bound is 0."""
        return self.score / self.bound if self.bound > 0 else 1.0

    @property
    def heading(self) -> str:
        best = "the best order" if self.exact else f"at least {self.share:.2%} of the best order"
        return f"{self.metric} {self.score:.4f}, {best}"

    def to_frame(self) -> pl.DataFrame:
        """One line per row of the page: its ``row``, ``carousel``, the ``gain`` it adds, and the mean ``score`` down to
        this row.
        """
        lines = zip(self.order, self.gains, np.cumsum(self.gains).tolist(), strict=True)
        return pl.DataFrame(
            [
                {"row": row, "carousel": carousel, "gain": gain, "score": score}
                for row, (carousel, gain, score) in enumerate(lines, 1)
            ]
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything but the layouts: ``metric``, ``score``, ``greedy_score``, ``bound``, ``exact``, ``share``,
        ``results`` (the lines of :meth:`to_frame`), ``counts`` and ``config``.
        """
        content = {"metric": self.metric, "score": self.score, "greedy_score": self.greedy_score}
        content |= {"bound": self.bound, "exact": self.exact, "share": self.share}
        return content | {"results": self.to_frame().to_dicts(), "counts": self.counts, "config": self.config}

    def __repr__(self) -> str:
        names = ", ".join(map(repr, self.order[:5])) + ", ..." * (len(self.order) > 5)
        rows = f"{len(self.order)} row{'s' * (len(self.order) > 1)}"
        return f"BuiltPages({self.heading}; {rows} from {self.counts['carousels']:,} carousels: {names})"


@takes(CANDIDATE_SETTINGS)
def build_pages(
    candidates: TableLike,
    judgments: TableLike,
    items: TableLike | None = None,
    *,
    rows: int | None = None,
    progress: Progress | None = None,
    **settings: Unpack[CandidateSettingsDict],
) -> BuiltPages:
    """Build one page for all users from the candidates that add most to the mean score.

    The page is built row by row from the candidate that adds most, ties by name. Local search then improves it: while
    the mean score rises, a carousel moves to another row, another candidate takes its place, or two rows are exchanged.
    A search for the best order follows; where that takes too many steps, the result has an upper bound on the best
    score. A user who lacks a carousel gets the next one in its place.

    Parameters
    ----------
    candidates : table or path
        ``user_id, carousel, col, item_id`` (and optionally ``category``), or one line per carousel with a list
        ``items``, as in :func:`carouseval.marginal_gains`.
    judgments : table or path
        ``user_id, item_id, relevance``, as in :func:`carouseval.evaluate`.
    items : table or path, optional
        ``item_id, category``, as in :func:`carouseval.evaluate`. Without it, the categories are those that the
        candidates show; one that only one of several users has is that user's alone.
    rows : int, optional
        The number of rows to fill. By default as many as there are carousels, up to the rows of the grid.
    progress : callable, optional
        Called with (what, done, total) while tables are read and scored, and orders are searched.

    Returns
    -------
    BuiltPages
        The order of the carousels, what each adds, and a bound on the score of the best order.

    See Also
    --------
    carouseval.marginal_gains : What each candidate adds to a given page.

    Notes
    -----
    Local search and the search for the best order have fixed limits of steps, never of time. The bound is tight where
    users lack few of the carousels, and loose where they lack many, because it must allow for all that moves up.

    A carousel has the items that its lines give it. What categories can hold (``carousels`` and ``capacity``) limits
    ideal pages as in :func:`carouseval.evaluate`, where ``capacity="shown"`` counts the rows of all candidates; a
    candidate that holds more than is declared is invalid.

    Examples
    --------
    >>> import carouseval as cv
    >>> candidates = {"user_id": [1, 1, 1, 1], "carousel": ["new", "new", "drama", "hits"], "col": [1, 2, 1, 1],
    ...               "item_id": [10, 11, 12, 11]}
    >>> judgments = {"user_id": [1, 1], "item_id": [11, 12], "relevance": [1, 3]}
    >>> built = cv.build_pages(candidates, judgments, rows=2)
    >>> built.order, round(built.score, 4), built.exact, round(built.share, 4)
    (('drama', 'hits'), 1.0, True, 1.0)
    """
    chosen = checked_settings("build_pages", settings, CANDIDATE_SETTINGS)
    carousels = read_candidates(None, candidates, judgments, items, chosen, progress)
    grid = carousels.grid
    max_rows = min(len(carousels.names), grid.rows)
    rows = max_rows if rows is None else require_int("rows", rows, 1)
    if rows > max_rows:
        raise ParameterError(
            f"{setting('rows')} must be at most {max_rows} (candidates: {len(carousels.names)}, grid: {grid}), "
            f"found {rows}."
        )
    prefixes = greedy_prefixes(carousels, rows)
    improved = improve_order(carousels, prefixes[-1], step(progress, "improving"))
    prices = [prefix.reached for prefix in prefixes]
    upper_bound = UpperBound(carousels, rows, prices, improved.score, step(progress, "bounding"))
    search = OrderSearch(carousels, improved, upper_bound)
    orders = [math.perm(len(carousels.names), depth) for depth in range(rows + 1)]
    exact = search.run(sum(orders[:-1]) if orders[-1] <= _ALL_ORDERS else _NODES, step(progress, "searching"))
    best = search.best if exact or search.best is improved else improve_order(carousels, search.best)
    return BuiltPages(
        metric=carousels.metric,
        order=tuple(carousels.names[k] for k in best.order),
        gains=best.gains,
        greedy_score=prefixes[-1].score,
        bound=best.score if exact else max(best.score, upper_bound.value),
        exact=exact,
        layouts=_layouts(carousels, best.order),
        counts=carousels.counts,
        config=carousels.config | {"rows": rows},
    )


def _layouts(carousels: CandidateCarousels, order: tuple[int, ...]) -> pl.DataFrame:
    """The pages of all users: the carousels in order, without those a user lacks."""
    positions = pl.DataFrame({"carousel": [carousels.names[k] for k in order], "position": range(len(order))})
    cells = carousels.cells.join(positions, on="carousel")
    cells = cells.with_columns(row=pl.col("position").rank("dense").over("user_id"))
    columns = ["user_id", "row", "col", "item_id", "carousel", *(["category"] if "category" in cells.columns else [])]
    return cells.select(columns).cast({"row": pl.Int64}).sort("user_id", "row", "col")
