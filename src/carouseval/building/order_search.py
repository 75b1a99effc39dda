"""The search for the best order of carousels, the same for all users, and an upper bound on its score.

The score of an order is the sum over judged items of the largest value v that a shown carousel gives them. For any
prices q >= 0 of items it is at most sum(q) + the sum over shown carousels of max(0, v - q), and the best order by that
is an assignment of carousels to rows: every choice of prices gives an upper bound. Prices of 0 ignore repeated items;
the values that greedy has reached after some rows give the bound for submodular functions; from the best of these,
subgradient steps lower it further.

Where a user lacks a carousel, the next one moves up. Remove the carousels that a user lacks from an order one after
another, the lowest first: each removal moves what is below it up by one row, which raises an item by no more than the
largest rise that any of its carousels has from a row below to the next one above. So the value of a carousel on a row
includes the sum of these rises over the items of all users who lack it.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from carouseval.building.candidate_carousels import CandidateCarousels
from carouseval.metrics.grid import Array, IntArray

ROUNDING = 1e-12  # a smaller relative difference is rounding
_STEPS = 80  # of the descent that lowers the bound


@dataclass(frozen=True)
class PagePrefix:
    """A page down to some row: the value that every judgment has reached, and how many rows each user has."""

    order: tuple[int, ...]
    gains: tuple[float, ...]
    reached: Array
    row_count: IntArray

    @classmethod
    def empty(cls, carousels: CandidateCarousels) -> "PagePrefix":
        """A page without rows."""
        return cls((), (), np.zeros(len(carousels.normalized_gain)), carousels.page.row_count)

    @property
    def score(self) -> float:
        """The mean score down to this row."""
        return math.fsum(self.gains)

    def next_gains(self, carousels: CandidateCarousels) -> Array:
        """What each carousel would add as the next row; -1 for those on the page."""
        gains = carousels.sum_by_carousel(carousels.pair_gains(self.reached, self.row_count))
        gains[list(self.order)] = -1.0
        return gains

    def extended(self, carousels: CandidateCarousels, *order: int) -> "PagePrefix":
        """The page with these carousels below."""
        reached, row_count, gains = self.reached.copy(), self.row_count, list(self.gains)
        for carousel in order:
            judgment, value = carousels.carousel_values(carousel, row_count)
            gains.append(float(np.maximum(0.0, value - reached[judgment]).sum()))
            reached[judgment] = np.maximum(reached[judgment], value)
            row_count = row_count + carousels.available[carousel]
        return PagePrefix((*self.order, *order), tuple(gains), reached, row_count)


def greedy_prefixes(carousels: CandidateCarousels, rows: int) -> list[PagePrefix]:
    """The greedy page after 0, 1, 2, ... rows."""
    prefixes = [PagePrefix.empty(carousels)]
    for _ in range(rows):
        gains = prefixes[-1].next_gains(carousels)
        best = int(np.argmax(gains >= gains.max() * (1 - ROUNDING)))  # ties go to the first by name
        prefixes.append(prefixes[-1].extended(carousels, best))
    return prefixes


class UpperBound:
    """The lowest upper bound found over prices of items, and each carousel's value above those prices on each row."""

    def __init__(self, carousels: CandidateCarousels, rows: int, prefixes: list[PagePrefix], score: float) -> None:
        """Begin at the prices that some pages have reached; ``score`` is that of the best page so far."""
        self._carousels, self._score = carousels, score
        everyone = np.ones(len(carousels.users), np.int64)
        self._pair_values = np.stack([carousels.pair_values(everyone * row) for row in range(rows)])
        self._rises = _rises(carousels, self._pair_values)
        self._free_surplus, _ = self._surplus(np.zeros(len(carousels.normalized_gain)))  # of prices 0
        self.value: float = math.inf
        self._price_total, self._best_surplus = 0.0, self._free_surplus
        bounds = [self._bound_at(prefix.reached) for prefix in prefixes]
        self._descend(prefixes[int(np.argmin(bounds))].reached)

    def _surplus(self, prices: Array) -> tuple[Array, Array]:
        """Values above the prices: by (carousel, row), with the rises of others, and by (row, pair)."""
        by_pair = np.maximum(0.0, self._pair_values - prices[self._carousels.pair_judgment])
        return np.stack([self._carousels.sum_by_carousel(row) for row in by_pair], axis=1) + self._rises, by_pair

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
            if square == 0 or bound <= self._score * (1 + ROUNDING):
                return
            prices = np.maximum(0.0, prices - length * (bound - self._score) / square * slope)

    def of(self, prefix: PagePrefix) -> float:
        """An upper bound on the score of all pages that begin with these rows."""
        depth, shown = len(prefix.order), list(prefix.order)
        rest = np.setdiff1d(np.arange(len(self._carousels.names)), shown)
        free, priced = self._free_surplus[rest, depth:], self._best_surplus[rest, depth:]
        rises, placed = self._rises[shown, range(depth)].sum(), self._best_surplus[shown, range(depth)].sum()
        return float(
            min(
                prefix.score + rises + free[_assignment(free)].sum(),
                self._price_total + placed + priced[_assignment(priced)].sum(),
            )
        )


def _assignment(values: Array) -> tuple[IntArray, IntArray]:
    """The assignment of carousels to rows that has the largest sum."""
    from scipy.optimize import linear_sum_assignment

    carousels, rows = linear_sum_assignment(values, maximize=True)
    return carousels, rows


def _rises(carousels: CandidateCarousels, pair_values: Array) -> Array:
    """What users who lack a carousel gain at most as the rows below it move up by one, (carousels, rows)."""
    rise = np.zeros((len(pair_values), len(carousels.users)))
    largest = np.zeros(len(carousels.normalized_gain))
    for row in reversed(range(len(pair_values) - 1)):
        np.maximum.at(largest, carousels.pair_judgment, pair_values[row] - pair_values[row + 1])
        rise[row] = carousels.sum_by_user(largest) / len(carousels.users)
    return np.stack([rise @ ~available for available in carousels.available])


class OrderSearch:
    """Branch and bound over orders of carousels, the most promising first, from the best page so far."""

    def __init__(self, carousels: CandidateCarousels, best: PagePrefix, upper_bound: UpperBound) -> None:
        self._carousels, self._rows, self._upper_bound = carousels, len(best.order), upper_bound
        self.best: PagePrefix = best
        self._nodes = self._max_nodes = 0
        self._progress: Callable[[int, int], None] | None = None

    def run(self, max_nodes: int, progress: Callable[[int, int], None] | None = None) -> bool:
        """Search at most so many nodes; whether the search was completed."""
        self._nodes, self._max_nodes, self._progress = 0, max_nodes, progress
        return self._visit(PagePrefix.empty(self._carousels))

    def _visit(self, prefix: PagePrefix) -> bool:
        threshold = self.best.score * (1 + ROUNDING)
        if len(prefix.order) == self._rows:
            if prefix.score > threshold:
                self.best = prefix
            return True
        if self._upper_bound.of(prefix) <= threshold:
            return True
        if self._nodes == self._max_nodes:
            return False
        self._nodes += 1
        if self._progress is not None:
            self._progress(self._nodes, self._max_nodes)
        gains = prefix.next_gains(self._carousels)
        order = np.argsort(-gains, kind="stable")
        if len(prefix.order) == self._rows - 1:
            order = order[:1]  # the best last row is the one that adds most
        return all(self._visit(prefix.extended(self._carousels, int(k))) for k in order if gains[k] >= 0)
