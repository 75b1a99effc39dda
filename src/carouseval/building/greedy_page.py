"""Pages built row by row from the carousel that adds most, and a bound on how far that is from the best page.

One order of carousels is sought for all users; where a user lacks one, the next moves up. The score of an order is the
sum over judged items of the largest value v that a shown carousel gives them. For any prices q >= 0 of items it is at
most sum(q) + the sum over shown carousels of max(0, v - q), and the best order by that is an assignment of carousels to
rows: every choice of prices gives an upper bound. Prices of 0 ignore repeated items; the values that greedy has reached
after some rows give the bound for submodular functions; from the best of these, subgradient steps lower it further.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from carouseval.building.candidate_carousels import CandidateCarousels
from carouseval.building.candidate_reader import read_carousels
from carouseval.errors import ParameterError
from carouseval.evaluation.settings import ColumnNames, Metrics
from carouseval.metrics.gains import Gain
from carouseval.metrics.grid import RECGAZE, Array, Grid, IntArray
from carouseval.metrics.validation import require_int
from carouseval.result_base import Result
from carouseval.tables import TableLike

_ROUNDING = 1e-12  # a smaller relative difference is rounding
_ALL_ORDERS = 5_000  # so many orders are always searched to the end
_NODES = 1_000  # steps of the search if there are more; never a clock, so that results do not depend on the machine
_STEPS = 80  # of the descent that lowers the bound


@dataclass(frozen=True, eq=False)
class BuiltPages(Result):
    """One page for all users, built greedily; the result of :func:`carouseval.build_pages`.

    Attributes
    ----------
    metric : str
        The metric that was optimised.
    order : tuple
        The names of the carousels, from the top row down.
    gains : tuple of float
        What each of them added to the mean score.
    bound : float
        No order of as many carousels has a larger mean score.
    exact : bool
        Whether the search for the best order was completed, so that ``best_order`` reaches the bound.
    best_order : tuple
        The best order that was found.
    best_score : float
        Its mean score.
    layouts : polars.DataFrame
        The pages of all users, ready for :func:`carouseval.evaluate`: ``user_id, row, col, item_id, carousel`` (and
        ``category``).
    counts : dict of str to int
        Users, carousels and lines read, and what was counted in them: unjudged items, gaps, items without a category.
    config : dict of str to object
        Every setting in force.

    Examples
    --------
    >>> import carouseval as cv
    >>> candidates = {"user_id": [1, 1], "carousel": ["drama", "new"], "col": [1, 1], "item_id": [12, 13]}
    >>> judgments = {"user_id": [1, 1], "item_id": [12, 13], "relevance": [3, 1]}
    >>> built = cv.build_pages(candidates, judgments)
    >>> built
    BuiltPages(N2DCG_cat 1.0000, 100.00% of the best order (1.0000); 2 rows from 2 carousels: 'drama', 'new')
    >>> built.layouts.rows()
    [(1, 1, 1, 12, 'drama', 'drama'), (1, 2, 1, 13, 'new', 'new')]
    """

    metric: str
    order: tuple[Any, ...]
    gains: tuple[float, ...]
    bound: float
    exact: bool
    best_order: tuple[Any, ...]
    best_score: float
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
        """The score and how far it is from the best, in a line."""
        best = "the best order" if self.exact else "an upper bound on the best order"
        return f"{self.metric} {self.score:.4f}, {self.share:.2%} of {best} ({self.bound:.4f})"

    def to_frame(self) -> pl.DataFrame:
        """The page as a table.

        Returns
        -------
        polars.DataFrame
            One line per row: its ``row``, ``carousel``, the ``gain`` it added, and the mean ``score`` down to this row.
        """
        lines = zip(self.order, self.gains, np.cumsum(self.gains).tolist(), strict=True)
        return pl.DataFrame(
            [
                {"row": row, "carousel": carousel, "gain": gain, "score": score}
                for row, (carousel, gain, score) in enumerate(lines, 1)
            ]
        )

    def to_dict(self) -> dict[str, Any]:
        """The result as plain values, without the layouts.

        Returns
        -------
        dict of str to object
            ``metric``, ``score``, ``bound``, ``exact``, ``share``, ``best_score``, ``best_order``, ``results`` (the
            lines of :meth:`to_frame`), ``counts`` and ``config``.
        """
        content = {"metric": self.metric, "score": self.score, "bound": self.bound, "exact": self.exact}
        content |= {"share": self.share, "best_score": self.best_score, "best_order": list(self.best_order)}
        return content | {"results": self.to_frame().to_dicts(), "counts": self.counts, "config": self.config}

    def __repr__(self) -> str:
        names = ", ".join(map(repr, self.order[:5])) + ", ..." * (len(self.order) > 5)
        rows = f"{len(self.order)} row{'s' * (len(self.order) > 1)}"
        return f"BuiltPages({self.heading}; {rows} from {self.counts['carousels']:,} carousels: {names})"


def build_pages(
    candidates: TableLike,
    judgments: TableLike,
    items: TableLike | None = None,
    *,
    rows: int | None = None,
    metrics: Metrics = "N2DCG_cat",
    grid: Grid = RECGAZE,
    gain: Gain = "exp2",
    columns: ColumnNames = None,
) -> BuiltPages:
    """Build one page for all users, row by row from the candidate that adds most to the mean score.

    Ties are ordered by name. A user who lacks a carousel gets the next one in its place. The best order is searched for
    as well; where that takes too many steps, the result has an upper bound on its score instead.

    Parameters
    ----------
    candidates : table or path
        ``user_id, carousel, col, item_id`` (and optionally ``category``), or one line per carousel with a list
        ``items``, as in :func:`carouseval.what_adds`.
    judgments : table or path
        ``user_id, item_id, relevance``, as in :func:`carouseval.evaluate`.
    items : table or path, optional
        ``item_id, category``, as in :func:`carouseval.evaluate`. Without it, the categories are those that the
        candidates show.
    rows : int, optional
        The number of rows to fill. By default as many as there are carousels, up to the rows of the grid.
    metrics : str or Metric, default 'N2DCG_cat'
        The one metric to optimise: ``N2DCG_cat``, ``N2DCG`` or ``2DCG``, with any discount and cutoff.
    grid : Grid, default RECGAZE
        The screen.
    gain : {'exp2', 'linear'} or callable, default 'exp2'
        The gain of a relevance.
    columns : dict, optional
        The names of your columns: ``{"user_id": "customer"}``, or the same under a table's name.

    Returns
    -------
    BuiltPages
        The order of the carousels, what each added, and the best order or a bound on its score.

    See Also
    --------
    carouseval.what_adds : What each candidate adds to a given page.

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
    carousels = read_carousels(None, candidates, judgments, items, metrics, grid, gain, columns)
    max_rows = min(len(carousels.names), grid.rows)
    rows = max_rows if rows is None else require_int("rows", rows, 1)
    if rows > max_rows:
        raise ParameterError(
            f"rows must be at most {max_rows}, with {len(carousels.names)} candidates and a grid of {grid}, "
            f"found {rows}."
        )
    prefixes = _greedy_prefixes(carousels, rows)
    greedy = prefixes[-1]
    upper_bound = _UpperBound(carousels, rows, prefixes)
    search = _OrderSearch(carousels, rows, greedy, upper_bound)
    exact = search.run(math.inf if math.perm(len(carousels.names), rows) <= _ALL_ORDERS else _NODES)
    best = search.best
    return BuiltPages(
        metric=carousels.metric,
        order=tuple(carousels.names[k] for k in greedy.order),
        gains=greedy.gains,
        bound=best.score if exact else max(best.score, upper_bound.value),
        exact=exact,
        best_order=tuple(carousels.names[k] for k in best.order),
        best_score=best.score,
        layouts=_layouts(carousels, greedy.order),
        counts=carousels.counts,
        config=carousels.config | {"rows": rows},
    )


@dataclass(frozen=True)
class _PagePrefix:
    """A page down to some row: the value that every judgment has reached, and how many rows each user has."""

    order: tuple[int, ...]
    gains: tuple[float, ...]
    reached: Array
    row_count: IntArray

    @classmethod
    def empty(cls, carousels: CandidateCarousels) -> "_PagePrefix":
        return cls((), (), np.zeros(len(carousels.normalized_gain)), carousels.page.row_count)

    @property
    def score(self) -> float:
        return math.fsum(self.gains)

    def next_gains(self, carousels: CandidateCarousels) -> Array:
        """What each carousel would add as the next row; -1 for those on the page."""
        gains = carousels.sum_by_carousel(carousels.pair_gains(self.reached, self.row_count))
        gains[list(self.order)] = -1.0
        return gains

    def extended(self, carousels: CandidateCarousels, carousel: int, gain: float) -> "_PagePrefix":
        """The page with one more row."""
        reached = self.reached.copy()
        judgment, value = carousels.carousel_values(carousel, self.row_count)
        reached[judgment] = np.maximum(reached[judgment], value)
        row_count = self.row_count + carousels.available[carousel]
        return _PagePrefix((*self.order, carousel), (*self.gains, gain), reached, row_count)


def _greedy_prefixes(carousels: CandidateCarousels, rows: int) -> list[_PagePrefix]:
    """The greedy page after 0, 1, 2, ... rows."""
    prefixes = [_PagePrefix.empty(carousels)]
    for _ in range(rows):
        gains = prefixes[-1].next_gains(carousels)
        best = int(np.argmax(gains >= gains.max() * (1 - _ROUNDING)))  # ties go to the first by name
        prefixes.append(prefixes[-1].extended(carousels, best, float(gains[best])))
    return prefixes


class _UpperBound:
    """The lowest upper bound found over prices of items, and each carousel's value above those prices on each row."""

    def __init__(self, carousels: CandidateCarousels, rows: int, prefixes: list[_PagePrefix]) -> None:
        self._carousels = carousels
        self._pair_values = _largest_values(carousels, rows)
        self._greedy_score = prefixes[-1].score
        self._free_surplus, _ = self._surplus(np.zeros(len(carousels.normalized_gain)))  # of prices 0
        self.value, self._price_total, self._best_surplus = math.inf, 0.0, self._free_surplus
        bounds = [self._bound_at(prefix.reached) for prefix in prefixes]
        self._descend(prefixes[int(np.argmin(bounds))].reached)

    def _surplus(self, prices: Array) -> tuple[Array, Array]:
        """Values above the prices: by (carousel, row) and by (row, pair)."""
        by_pair = np.maximum(0.0, self._pair_values - prices[self._carousels.pair_judgment])
        return np.stack([self._carousels.sum_by_carousel(row) for row in by_pair], axis=1), by_pair

    def _bound_at(self, prices: Array) -> float:
        surplus, _ = self._surplus(prices)
        return self._update(prices, surplus, float(surplus[_assignment(surplus)].sum()))

    def _update(self, prices: Array, surplus: Array, assigned: float) -> float:
        """The bound that prices give; the lowest one is kept."""
        total = math.fsum(prices.tolist())
        if total + assigned < self.value:
            self.value, self._price_total, self._best_surplus = total + assigned, total, surplus
        return total + assigned

    def _descend(self, prices: Array) -> None:
        """Polyak's subgradient steps, halved where they no longer help."""
        length, stalled = 1.0, 0
        for _ in range(_STEPS):
            surplus, by_pair = self._surplus(prices)
            assigned = _assignment(surplus)
            previous = self.value
            bound = self._update(prices, surplus, float(surplus[assigned].sum()))
            stalled = 0 if self.value < previous else stalled + 1
            if stalled == 5:
                length, stalled = length / 2, 0
            carousel_row = np.full(len(self._carousels.names), -1)
            carousel_row[assigned[0]] = assigned[1]
            row = carousel_row[self._carousels.pair_carousel]
            counted = (row >= 0) & (by_pair[row, np.arange(by_pair.shape[1])] > 0)
            slope = 1.0 - np.bincount(self._carousels.pair_judgment, counted, len(prices))
            slope[(prices <= 0) & (slope > 0)] = 0.0
            square = float(slope @ slope)
            if square == 0 or bound <= self._greedy_score * (1 + _ROUNDING):
                return
            prices = np.maximum(0.0, prices - length * (bound - self._greedy_score) / square * slope)

    def of(self, prefix: _PagePrefix) -> float:
        """An upper bound on the score of all pages that begin with these rows."""
        depth = len(prefix.order)
        rest = np.setdiff1d(np.arange(len(self._carousels.names)), prefix.order)
        free, priced = self._free_surplus[rest, depth:], self._best_surplus[rest, depth:]
        placed = self._best_surplus[list(prefix.order), range(depth)].sum()
        return float(
            min(
                prefix.score + free[_assignment(free)].sum(),
                self._price_total + placed + priced[_assignment(priced)].sum(),
            )
        )


def _assignment(values: Array) -> tuple[IntArray, IntArray]:
    """The assignment of carousels to rows that has the largest sum."""
    from scipy.optimize import linear_sum_assignment

    carousels, rows = linear_sum_assignment(values, maximize=True)
    return carousels, rows


def _largest_values(carousels: CandidateCarousels, rows: int) -> Array:
    """The largest value that every pair can have at each position of an order, (rows, pairs).

    A user who lacks some carousels sees those after them further up.
    """
    users = len(carousels.users)
    by_row = np.stack([carousels.pair_values(np.full(users, row)) for row in range(rows)])
    lacking = (~carousels.available).sum(axis=0)[carousels.pair_user]
    largest = by_row.copy()
    for up in range(1, min(rows, int(lacking.max(initial=0)) + 1)):
        largest[up:] = np.where(lacking >= up, np.maximum(largest[up:], by_row[:-up]), largest[up:])
    return largest


class _OrderSearch:
    """Branch and bound over orders of carousels, the most promising first."""

    def __init__(self, carousels: CandidateCarousels, rows: int, greedy: _PagePrefix, upper_bound: _UpperBound) -> None:
        self._carousels, self._rows, self._upper_bound = carousels, rows, upper_bound
        self.best = greedy
        self._nodes_left = 0.0

    def run(self, nodes: float) -> bool:
        """Search at most so many nodes; whether the search was completed."""
        self._nodes_left = nodes
        return self._visit(_PagePrefix.empty(self._carousels))

    def _visit(self, prefix: _PagePrefix) -> bool:
        threshold = self.best.score * (1 + _ROUNDING)
        if len(prefix.order) == self._rows:
            if prefix.score > threshold:
                self.best = prefix
            return True
        if self._upper_bound.of(prefix) <= threshold:
            return True
        self._nodes_left -= 1
        if self._nodes_left < 0:
            return False
        gains = prefix.next_gains(self._carousels)
        order = np.argsort(-gains, kind="stable")
        if len(prefix.order) == self._rows - 1:
            order = order[:1]  # the best last row is the one that adds most
        return all(
            self._visit(prefix.extended(self._carousels, int(k), float(gains[k]))) for k in order if gains[k] >= 0
        )


def _layouts(carousels: CandidateCarousels, order: tuple[int, ...]) -> pl.DataFrame:
    """The pages of all users: the carousels in order, without those a user lacks."""
    positions = pl.DataFrame({"carousel": [carousels.names[k] for k in order], "position": range(len(order))})
    cells = carousels.cells.join(positions, on="carousel")
    cells = cells.with_columns(row=pl.col("position").rank("dense").over("user_id"))
    columns = ["user_id", "row", "col", "item_id", "carousel", *(["category"] if "category" in cells.columns else [])]
    return cells.select(columns).cast({"row": pl.Int64}).sort("user_id", "row", "col")
