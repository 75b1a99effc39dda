"""Pages built row by row of the carousel that adds most, and how far that is from the best.

One order of carousels is sought for all users; where a user lacks one, the next moves up. The score of an order is the
sum over judged items of the largest worth v that a carousel shown gives them. For any prices q >= 0 of items that is at
most sum(q) + the sum over carousels shown of max(0, v - q), and the best order by that is an assignment of carousels to
rows: an upper bound for each choice of prices. Prices of 0 ignore repeats; what greedy reached after some rows gives
the bound of submodular functions; from the best of these, subgradient steps lower it further.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from carouseval.building.candidate_carousels import CandidateCarousels
from carouseval.building.candidate_reader import read_carousels
from carouseval.errors import ParameterError
from carouseval.evaluation.settings import ColumnNames
from carouseval.metrics.gains import Gain
from carouseval.metrics.grid import RECGAZE, Array, Grid, IntArray
from carouseval.metrics.names import MetricLike
from carouseval.metrics.validation import require_int
from carouseval.result_base import Result
from carouseval.tables import TableLike

_NOTHING = 1e-12  # a relative difference that is rounding
_ALL_ORDERS = 5_000  # orders that are always searched to the end
_NODES = 1_000  # steps of the search among more; never a clock, so that results do not depend on the machine
_STEPS = 80  # of lowering the bound


@dataclass(frozen=True, eq=False)
class BuiltPages(Result):
    """A page built greedily.

    ``order`` names its carousels from the top, ``gains`` what each added. No order of as many carousels scores more
    than ``bound``; where ``exact``, ``best_order`` reaches it.
    """

    metric: str
    order: tuple[Any, ...]
    gains: tuple[float, ...]
    bound: float
    exact: bool
    best_order: tuple[Any, ...]  # the best found
    best: float
    layouts: pl.DataFrame  # everybody's page
    counts: dict[str, int]
    config: dict[str, Any]

    @property
    def greedy(self) -> float:
        """The mean score of the page built."""
        return math.fsum(self.gains)

    @property
    def share(self) -> float:
        """How much of the bound the page built reaches, at least; 1 where there is nothing to reach."""
        return self.greedy / self.bound if self.bound > 0 else 1.0

    @property
    def heading(self) -> str:
        """How far the page is from the best."""
        what = "the best order" if self.exact else "a bound on the best order"
        return f"{self.metric} {self.greedy:.4f}, {self.share:.2%} of {what}, {self.bound:.4f}."

    def to_frame(self) -> pl.DataFrame:
        """One line per row: its carousel, what it added, and the score down to it."""
        lines = zip(self.order, self.gains, np.cumsum(self.gains).tolist(), strict=True)
        return pl.DataFrame(
            [{"row": row, "carousel": k, "gain": gain, "score": score} for row, (k, gain, score) in enumerate(lines, 1)]
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything but the layouts, as plain values."""
        found = {"metric": self.metric, "greedy": self.greedy, "bound": self.bound, "exact": self.exact}
        found |= {"share": self.share, "best": self.best, "best_order": list(self.best_order)}
        return found | {"results": self.to_frame().to_dicts(), "counts": self.counts, "config": self.config}

    def __repr__(self) -> str:
        return f"BuiltPages({self.heading} {len(self.order)} rows of {self.counts['carousels']:,} carousels)"


def build_pages(
    candidates: TableLike,
    judgments: TableLike,
    items: TableLike | None = None,
    *,
    rows: int | None = None,
    metric: MetricLike = "N2DCG_cat",
    grid: Grid = RECGAZE,
    gain: Gain = "exp2",
    columns: ColumnNames = None,
) -> BuiltPages:
    """Build one page for all users, row by row of the candidate that adds most to the mean score; ties by name.

    Takes what :func:`carouseval.what_adds` takes. ``rows`` is the number of carousels: as many as there are, up to the
    grid's rows, unless given. The best order is searched for; where that takes too many steps, a bound stands in.

    >>> import carouseval as cv
    >>> candidates = {"user_id": [1, 1, 1, 1], "carousel": ["new", "new", "drama", "hits"], "col": [1, 2, 1, 1],
    ...               "item_id": [10, 11, 12, 11]}
    >>> judgments = {"user_id": [1, 1], "item_id": [11, 12], "relevance": [1, 3]}
    >>> built = cv.build_pages(candidates, judgments, rows=2)
    >>> built.order, round(built.greedy, 4), built.exact, round(built.share, 4)
    (('drama', 'hits'), 1.0, True, 1.0)
    """
    found = read_carousels(None, candidates, judgments, items, metric, grid, gain, columns)
    most = min(len(found.names), grid.rows)
    rows = most if rows is None else require_int("rows", rows, 1)
    if rows > most:
        raise ParameterError(
            f"rows must be at most {most}, with {len(found.names)} candidates and a grid of {grid}, found {rows}."
        )
    path = _greedy(found, rows)
    prices = _Prices(found, rows, path)
    search = _Search(found, rows, path[-1], prices)
    done = search.run(math.inf if math.perm(len(found.names), rows) <= _ALL_ORDERS else _NODES)
    best = search.best
    return BuiltPages(
        metric=found.metric,
        order=tuple(found.names[k] for k in path[-1].order),
        gains=path[-1].gains,
        bound=best.score if done else max(best.score, prices.bound),
        exact=done,
        best_order=tuple(found.names[k] for k in best.order),
        best=best.score,
        layouts=_layouts(found, path[-1].order),
        counts=found.counts,
        config=found.config | {"rows": rows},
    )


@dataclass(frozen=True)
class _State:
    """A page down to some row: what it has made of every judgment, and how many rows each user has."""

    order: tuple[int, ...]
    gains: tuple[float, ...]
    reached: Array
    last: IntArray

    @property
    def score(self) -> float:
        return math.fsum(self.gains)

    def options(self, found: CandidateCarousels) -> Array:
        """What each carousel would add; below nothing where it is shown already."""
        gains = found.by_carousel(found.added(self.reached, self.last))
        gains[list(self.order)] = -1.0
        return gains

    def with_one(self, found: CandidateCarousels, k: int, gain: float) -> "_State":
        reached = self.reached.copy()
        judgment, value = found.value_of(k, self.last)
        reached[judgment] = np.maximum(reached[judgment], value)
        return _State((*self.order, k), (*self.gains, gain), reached, self.last + found.has[k])


def _greedy(found: CandidateCarousels, rows: int) -> list[_State]:
    """The page after each row, from none on."""
    path = [_State((), (), np.zeros(len(found.worth)), found.page.last)]
    for _ in range(rows):
        gains = path[-1].options(found)
        k = int(np.argmax(gains >= gains.max() * (1 - _NOTHING)))  # the first by name of those that add most
        path.append(path[-1].with_one(found, k, float(gains[k])))
    return path


class _Prices:
    """Prices of items, the bound they give, and what each carousel is worth above them on each row."""

    def __init__(self, found: CandidateCarousels, rows: int, path: list[_State]) -> None:
        self._found, self._rows = found, rows
        self._values = _most_by_place(found, rows)
        self._floor = path[-1].score
        self.alone, _ = self._above(np.zeros(len(found.worth)))
        self.bound, self.total, self.above = math.inf, 0.0, self.alone
        starts = [self._try(state.reached) for state in path]
        self._descend(path[int(np.argmin(starts))].reached)

    def _above(self, prices: Array) -> tuple[Array, Array]:
        over = np.maximum(0.0, self._values - prices[self._found.judgment])
        return np.stack([self._found.by_carousel(row) for row in over], axis=1), over

    def _try(self, prices: Array) -> float:
        above, _ = self._above(prices)
        return self._note(prices, above, float(above[_assigned(above)].sum()))

    def _note(self, prices: Array, above: Array, shown: float) -> float:
        total = math.fsum(prices.tolist())
        if total + shown < self.bound:
            self.bound, self.total, self.above = total + shown, total, above
        return total + shown

    def _descend(self, prices: Array) -> None:
        """Polyak's steps, smaller where they no longer help."""
        length, stalled = 1.0, 0
        for _ in range(_STEPS):
            above, over = self._above(prices)
            assigned = _assigned(above)
            before = self.bound
            value = self._note(prices, above, float(above[assigned].sum()))
            stalled = 0 if self.bound < before else stalled + 1
            if stalled == 5:
                length, stalled = length / 2, 0
            place = np.full(len(self._found.names), -1)
            place[assigned[0]] = assigned[1]
            there = place[self._found.carousel]
            counted = (there >= 0) & (over[there, np.arange(over.shape[1])] > 0)
            slope = 1.0 - np.bincount(self._found.judgment, counted, len(prices))
            slope[(prices <= 0) & (slope > 0)] = 0.0
            steep = float(slope @ slope)
            if steep == 0 or value <= self._floor * (1 + _NOTHING):
                return
            prices = np.maximum(0.0, prices - length * (value - self._floor) / steep * slope)

    def at_most(self, state: _State) -> float:
        """What no page that begins like this one can exceed."""
        depth = len(state.order)
        rest = np.setdiff1d(np.arange(len(self._found.names)), state.order)
        alone, above = self.alone[rest, depth:], self.above[rest, depth:]
        shown = self.above[list(state.order), range(depth)].sum()
        return float(
            min(state.score + alone[_assigned(alone)].sum(), self.total + shown + above[_assigned(above)].sum())
        )


def _assigned(values: Array) -> tuple[IntArray, IntArray]:
    from scipy.optimize import linear_sum_assignment

    rows, cols = linear_sum_assignment(values, maximize=True)
    return rows, cols


def _most_by_place(found: CandidateCarousels, rows: int) -> Array:
    """The most that every pair can be worth in each place of an order, (rows, pairs).

    A user who lacks some carousels sees those after them further up.
    """
    users = len(found.users)
    by_row = np.stack([found.value(np.full(users, row)) for row in range(rows)])
    lacks = (~found.has).sum(axis=0)[found.user]
    most = by_row.copy()
    for up in range(1, min(rows, int(lacks.max(initial=0)) + 1)):
        most[up:] = np.where(lacks >= up, np.maximum(most[up:], by_row[:-up]), most[up:])
    return most


class _Search:
    """Branch and bound over orders, the most promising first."""

    def __init__(self, found: CandidateCarousels, rows: int, greedy: _State, prices: _Prices) -> None:
        self._found, self._rows, self._prices = found, rows, prices
        self.best = greedy
        self._left = 0.0

    def run(self, nodes: float) -> bool:
        """Whether the best order is known within so many steps."""
        self._left = nodes
        return self._visit(_State((), (), np.zeros(len(self._found.worth)), self._found.page.last))

    def _visit(self, state: _State) -> bool:
        enough = self.best.score * (1 + _NOTHING)
        if len(state.order) == self._rows:
            if state.score > enough:
                self.best = state
            return True
        if self._prices.at_most(state) <= enough:
            return True
        self._left -= 1
        if self._left < 0:
            return False
        gains = state.options(self._found)
        order = np.argsort(-gains, kind="stable")
        if len(state.order) == self._rows - 1:
            order = order[:1]  # the last row takes what adds most
        return all(self._visit(state.with_one(self._found, int(k), float(gains[k]))) for k in order if gains[k] >= 0)


def _layouts(found: CandidateCarousels, order: tuple[int, ...]) -> pl.DataFrame:
    """Everybody's page: the carousels in order, without those a user lacks."""
    chosen = pl.DataFrame({"carousel": [found.names[k] for k in order], "place": range(len(order))})
    cells = found.cells.join(chosen, on="carousel").with_columns(row=pl.col("place").rank("dense").over("user_id"))
    kept = ["user_id", "row", "col", "item_id", "carousel", *(["category"] if "category" in cells.columns else [])]
    return cells.select(kept).cast({"row": pl.Int64}).sort("user_id", "row", "col")
