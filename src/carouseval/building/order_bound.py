"""An upper bound on the score of the best order of carousels.

The score of an order is the sum over judged items of the largest value v that a shown carousel gives them. For any
prices q >= 0 of items it is at most sum(q) + the sum over shown carousels of max(0, v - q), their *surplus*, and the
best order by that is an assignment of carousels to rows: every choice of prices gives an upper bound. Prices of 0
ignore repeated items; the values that greedy has reached after some rows give the bound for submodular functions; from
the best of these, subgradient steps lower it further.

Where a user lacks a carousel, those below it move up, by which their surplus may rise. Remove the carousels that a user
lacks from an order one after another, the lowest first: each removal moves every carousel below it from the row that it
has by then, r, to row r - 1. Let the carousel that is removed be at position i of the order, and another one below it
at position p: then i < r <= p, and p - r is less than the number of carousels that the user lacks. So the surplus of
the other one rises by no more than the largest step among these rows. The best assignment of carousels to positions by
such steps, summed over the users who lack a carousel, is the *lift* that this carousel gives at position i (as in the
Gilmore-Lawler bound of quadratic assignments); it is added to the carousel's own surplus. For users who lack many
carousels, every carousel is instead taken to be on the best row that it can move up to.
"""

import math
from collections.abc import Callable

import numpy as np

from carouseval.building.candidate_carousels import ROUNDING, CandidateCarousels
from carouseval.metrics.grid import Array, IntArray

_STEPS = 80  # of the descent that lowers the bound
_FEW = 6  # users who lack at most so many carousels count in lifts


class UpperBound:
    """The lowest upper bound over prices of items, and what each carousel is worth above them at each position."""

    def __init__(
        self,
        carousels: CandidateCarousels,
        rows: int,
        starts: list[Array],
        score: float,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        """Begin at the best of the prices ``starts``; ``score`` is that of the best order so far."""
        self._carousels, self._score = carousels, score
        lacking = (~carousels.available).sum(axis=0)
        self._pair_values = _values_by_position(carousels, rows, np.where(lacking > _FEW, lacking, 0))
        self._lacking = np.where(lacking > _FEW, 0, lacking)
        self._lowest = math.inf  # of the bounds without lifts
        self._prices = starts[0]
        bounds = [self._without_lifts(prices)[0] for prices in starts]
        self._descend(starts[int(np.argmin(bounds))], progress)
        self._free_lifts, self._free_worth = self._worth(np.zeros(len(carousels.normalized_gain)))
        self._price_total = math.fsum(self._prices.tolist())
        _, self._priced_worth = self._worth(self._prices)
        self.value: float = self.of((), 0.0)
        if progress is not None:
            progress(_STEPS, _STEPS)

    def _surplus(self, prices: Array) -> Array:
        """By (row, pair)."""
        surplus: Array = np.maximum(0.0, self._pair_values - prices[self._carousels.pair_judgment])
        return surplus

    def _sums(self, by_pair: Array) -> Array:
        """By (carousel, row)."""
        return np.stack([self._carousels.sum_by_carousel(row) for row in by_pair], axis=1)

    def _without_lifts(self, prices: Array) -> tuple[float, Array, tuple[IntArray, IntArray]]:
        """The bound that prices give without lifts, the surplus and the assignment; the lowest bound is kept."""
        surplus = self._surplus(prices)
        sums = self._sums(surplus)
        assigned = _assignment(sums)
        bound = math.fsum(prices.tolist()) + float(sums[assigned].sum())
        if bound < self._lowest:
            self._lowest, self._prices = bound, prices
        return bound, surplus, assigned

    def _descend(self, prices: Array, progress: Callable[[int, int], None] | None) -> None:
        """Polyak's subgradient steps, halved where they no longer help."""
        length, stalled = 1.0, 0
        for done in range(_STEPS):
            if progress is not None:
                progress(done, _STEPS)
            previous = self._lowest
            bound, surplus, assigned = self._without_lifts(prices)
            stalled = 0 if self._lowest < previous else stalled + 1
            if stalled == 5:
                length, stalled = length / 2, 0
            carousel_row = np.full(len(self._carousels.names), -1)
            carousel_row[assigned[0]] = assigned[1]
            row = carousel_row[self._carousels.pair_carousel]
            counted = (row >= 0) & (surplus[row, np.arange(surplus.shape[1])] > 0)
            slope = 1.0 - np.bincount(self._carousels.pair_judgment, counted, len(prices))
            slope[(prices <= 0) & (slope > 0)] = 0.0
            square = float(slope @ slope)
            if square == 0 or bound <= self._score * (1 + ROUNDING):
                return
            prices = np.maximum(0.0, prices - length * (bound - self._score) / square * slope)

    def _worth(self, prices: Array) -> tuple[Array, Array]:
        """The lift that each carousel gives at each position, and the sum of its surplus and its lift."""
        surplus = self._surplus(prices)
        lifts = self._lifts(surplus)
        return lifts, self._sums(surplus) + lifts

    def _lifts(self, surplus: Array) -> Array:
        carousels, rows = self._carousels, len(surplus)
        lacking = self._lacking[carousels.pair_user]
        lifted = [np.flatnonzero((lacking > 0) & ~has[carousels.pair_user]) for has in carousels.available]
        steps = np.maximum(0.0, surplus[:-1] - surplus[1:])  # from row r + 1 to r
        largest = np.zeros_like(steps)  # of a pair at position p + 1
        lifts = np.zeros((len(carousels.names), rows))
        for position in reversed(range(rows - 1)):
            for p in range(position, rows - 1):  # the pair may also move from row position + 1, if enough is lacking
                np.maximum(largest[p], steps[position], out=largest[p], where=lacking > p - position)
            for carousel, pairs in enumerate(lifted):
                if len(pairs):
                    rises = [carousels.sum_by_carousel(row[pairs], pairs) for row in largest[position:]]
                    lifts[carousel, position] = _largest_sum(np.stack(rises, axis=1))
        return lifts

    def of(self, order: tuple[int, ...], score: float) -> float:
        """An upper bound on the score of all orders that begin with these carousels, which have this score."""
        depth, placed = len(order), list(order)
        rest = np.setdiff1d(np.arange(len(self._carousels.names)), placed)
        free, priced = self._free_worth[rest, depth:], self._priced_worth[rest, depth:]
        lifts, worth = (table[placed, range(depth)].sum() for table in (self._free_lifts, self._priced_worth))
        return float(min(score + lifts + _largest_sum(free), self._price_total + worth + _largest_sum(priced)))


def _assignment(values: Array) -> tuple[IntArray, IntArray]:
    """The assignment of carousels to rows that has the largest sum."""
    from scipy.optimize import linear_sum_assignment

    carousels, rows = linear_sum_assignment(values, maximize=True)
    return carousels, rows


def _largest_sum(values: Array) -> float:
    return float(values[_assignment(values)].sum())


def _values_by_position(carousels: CandidateCarousels, rows: int, lacking: IntArray) -> Array:
    """The largest value of every pair at each position, (rows, pairs), if users move it up by at most ``lacking``."""
    users = np.zeros(len(carousels.users), np.int64)
    by_row = np.stack([carousels.pair_values(users + row) for row in range(rows)])
    moves = lacking[carousels.pair_user]
    largest = by_row.copy()
    for up in range(1, min(rows, int(lacking.max(initial=0)) + 1)):
        largest[up:] = np.where(moves >= up, np.maximum(largest[up:], by_row[:-up]), largest[up:])
    return largest
