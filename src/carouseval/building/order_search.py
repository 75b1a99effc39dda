"""The search for the best order of carousels, the same for all users.

Where a user lacks a carousel, the next one moves up. The score of an order is the sum over judged items of the largest
value v that a shown carousel gives them. For any prices q >= 0 of items it is at most sum(q) + the sum over shown
carousels of max(0, v - q), and the best order by that is an assignment of carousels to rows: every choice of prices
gives an upper bound. Prices of 0 ignore repeated items; the values that greedy has reached after some rows give the
bound for submodular functions; from the best of these, subgradient steps lower it further.
"""

import math
from dataclasses import dataclass

import numpy as np

from carouseval.building.candidate_carousels import CandidateCarousels
from carouseval.metrics.grid import Array, IntArray

_ROUNDING = 1e-12  # a smaller relative difference is rounding
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

    def extended(self, carousels: CandidateCarousels, carousel: int, gain: float) -> "PagePrefix":
        """The page with one more row."""
        reached = self.reached.copy()
        judgment, value = carousels.carousel_values(carousel, self.row_count)
        reached[judgment] = np.maximum(reached[judgment], value)
        row_count = self.row_count + carousels.available[carousel]
        return PagePrefix((*self.order, carousel), (*self.gains, gain), reached, row_count)


def greedy_prefixes(carousels: CandidateCarousels, rows: int) -> list[PagePrefix]:
    """The greedy page after 0, 1, 2, ... rows."""
    prefixes = [PagePrefix.empty(carousels)]
    for _ in range(rows):
        gains = prefixes[-1].next_gains(carousels)
        best = int(np.argmax(gains >= gains.max() * (1 - _ROUNDING)))  # ties go to the first by name
        prefixes.append(prefixes[-1].extended(carousels, best, float(gains[best])))
    return prefixes


class UpperBound:
    """The lowest upper bound found over prices of items, and each carousel's value above those prices on each row."""

    def __init__(self, carousels: CandidateCarousels, rows: int, prefixes: list[PagePrefix]) -> None:
        self._carousels = carousels
        self._pair_values = _largest_values(carousels, rows)
        self._greedy_score = prefixes[-1].score
        self._free_surplus, _ = self._surplus(np.zeros(len(carousels.normalized_gain)))  # of prices 0
        self.value: float = math.inf
        self._price_total, self._best_surplus = 0.0, self._free_surplus
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

    def of(self, prefix: PagePrefix) -> float:
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


class OrderSearch:
    """Branch and bound over orders of carousels, the most promising first."""

    def __init__(self, carousels: CandidateCarousels, rows: int, greedy: PagePrefix, upper_bound: UpperBound) -> None:
        self._carousels, self._rows, self._upper_bound = carousels, rows, upper_bound
        self.best: PagePrefix = greedy
        self._nodes_left = 0.0

    def run(self, nodes: float) -> bool:
        """Search at most so many nodes; whether the search was completed."""
        self._nodes_left = nodes
        return self._visit(PagePrefix.empty(self._carousels))

    def _visit(self, prefix: PagePrefix) -> bool:
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
