"""Displayed ideals where a repeated item counts where it stands first.

There, unlike where it counts at its best place, the order of rows decides which copy counts, so choosing a home for
every item is not enough. The rule "best" bounds the ideal; where a page attains that bound it is the ideal, small
pages are tried in every order, and others keep the bound.
"""

import itertools

import numpy as np
from numpy.typing import NDArray

from carouseval.evaluation.ideals import Solution
from carouseval.evaluation.pages import ShownPages
from carouseval.metric.grid import Array

_MOST_ORDERS = 5_040  # of rows: pages of up to seven
_MOST_PLACES = 50_000  # tried inside one row


def first_shown_ideals(shown: ShownPages, gain: Array, weights: Array, best_rule: Solution) -> tuple[Array, Array]:
    """The ideal of every page and a bound on it; ``best_rule`` solves the same pages under the rule "best"."""
    best, bound = best_rule.best.copy(), best_rule.bound.copy()
    rows, _ = shown.cells()
    for at in np.flatnonzero(shown.duplicates):
        begin, end = shown.offsets[at], shown.offsets[at + 1]
        judgments = shown.hits[begin:end, 0]
        if len(np.unique(judgments)) == len(judgments):
            continue  # what is repeated gains nothing
        height = int(np.flatnonzero(shown.length[at]).max(initial=-1)) + 1
        copies: list[dict[int, int]] = [{} for _ in range(height)]
        for judgment, row in zip(judgments.tolist(), rows[begin:end].tolist(), strict=True):
            if gain[judgment] > 0:
                copies[row][judgment] = copies[row].get(judgment, 0) + 1
        page = _Page(copies, shown.length[at, :height].tolist(), shown.pinned[at, :height] > 0, gain, weights)
        best[at], exact = page.ideal(bound[at])
        if exact:
            bound[at] = best[at]
    return best, bound


class _Page:
    """Rows with the number of copies of every item that gains."""

    def __init__(
        self,
        copies: list[dict[int, int]],
        length: list[int],
        pinned: NDArray[np.bool_],
        gain: Array,
        weights: Array,
    ) -> None:
        self.copies, self.length, self.gain, self.weights = copies, length, gain, weights
        self.free = np.flatnonzero(~pinned).tolist()

    def ideal(self, bound: float) -> tuple[float, bool]:
        """The best value found, and whether no order of rows can beat it."""
        top, exact = 0.0, True
        orders = itertools.permutations(self.free)
        for tried, order in enumerate(orders):
            if tried == _MOST_ORDERS:
                return top, False
            value, sure = self._value(order)
            exact &= sure
            top = max(top, value)
            if top >= bound * (1 - 2.0**-48):
                return top, True
        return top, exact

    def _value(self, order: tuple[int, ...]) -> tuple[float, bool]:
        places = list(range(len(self.copies)))
        for place, row in zip(self.free, order, strict=True):
            places[place] = row
        seen: set[int] = set()
        total, exact = 0.0, True
        for place, row in enumerate(places):
            counted = {item: times for item, times in self.copies[row].items() if item not in seen}
            seen |= counted.keys()
            order_by_gain = sorted(counted, key=lambda item: -self.gain[item])
            gains = [float(self.gain[item]) for item in order_by_gain]
            extras = [counted[item] - 1 for item in order_by_gain]
            value, sure = _best_row(gains, extras, self.weights[place, : self.length[row]].tolist())
            total += value
            exact &= sure
        return total, exact


def _best_row(gains: list[float], extras: list[int], weights: list[float]) -> tuple[float, bool]:
    """The best order inside a row: every item in a cell of its own, its further copies somewhere after it."""
    cells = sorted(range(len(weights)), key=lambda cell: -weights[cell])
    heavy = [weights[cell] for cell in cells]
    best, tried = -1.0, 0

    def fits(places: list[int]) -> bool:
        free = set(range(len(weights))) - set(places)
        for place in places:
            needed = sum(extra for other, extra in zip(places, extras, strict=True) if other >= place)
            if needed > sum(cell > place for cell in free):
                return False
        return True

    def search(places: list[int], value: float) -> None:
        nonlocal best, tried
        tried += 1
        at = len(places)
        if at == len(gains):
            if fits(places):
                best = max(best, value)
            return
        rest = [weight for weight, cell in zip(heavy, cells, strict=True) if cell not in places]
        if value + sum(g * w for g, w in zip(gains[at:], rest, strict=False)) <= best or tried > _MOST_PLACES:
            return
        for cell in cells:
            if cell not in places:
                search([*places, cell], value + gains[at] * weights[cell])

    search([], 0.0)
    return max(best, 0.0), tried <= _MOST_PLACES
