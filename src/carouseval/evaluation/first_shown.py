"""Displayed ideals where a repeated item counts where it stands first.

There, unlike where it counts at its best place, the order of rows decides which copy counts, so choosing a home for
every item is not enough. The rule "best" bounds the ideal; where a page attains that bound it is the ideal, small
pages are tried in every order, and others keep the bound.
"""

import itertools
import math
from dataclasses import dataclass

import numpy as np

from carouseval.evaluation.ideals import IdealCells, Problems, Solution, ideal_cells
from carouseval.evaluation.pages import ShownPages
from carouseval.metric.grid import Array

_MOST_ORDERS = 720  # of rows that are tried: pages of up to six free rows
_MOST_PLACES = 20_000  # tried inside one row

Place = tuple[int, int, int]  # row and column from 0, judgment


@dataclass(frozen=True)
class FirstShown:
    """Ideals of some pages by the rule "first"."""

    best: Array
    bound: Array
    cells: IdealCells


def first_shown_ideals(
    shown: ShownPages, gain: Array, weights: Array, problems: Problems, best_rule: Solution
) -> FirstShown:
    """The ideal of every page and a bound on it; ``best_rule`` solves the same pages under the rule "best"."""
    best, bound = best_rule.best.copy(), best_rule.bound.copy()
    cells = ideal_cells(problems, best_rule, weights)
    rows, _ = shown.cells()
    arranged: dict[int, list[Place]] = {}
    for at in np.flatnonzero(shown.duplicates).tolist():
        begin, end = shown.offsets[at], shown.offsets[at + 1]
        judgments = shown.hits[begin:end, 0]
        if len(np.unique(judgments)) == len(judgments):
            continue  # what is repeated gains nothing
        height = int(np.flatnonzero(shown.length[at]).max(initial=-1)) + 1
        copies: list[dict[int, int]] = [{} for _ in range(height)]
        for judgment, row in zip(judgments.tolist(), rows[begin:end].tolist(), strict=True):
            if gain[judgment] > 0:
                copies[row][judgment] = copies[row].get(judgment, 0) + 1
        mine = slice(problems.category_offsets[at], problems.category_offsets[at + 1])
        page = _Page(copies, shown.length[at, :height].tolist(), gain, weights)
        likely = np.argsort(best_rule.row[mine], kind="stable").tolist()  # which row stands where
        free = np.flatnonzero(problems.pinned[mine] < 0).tolist()
        best[at], exact, arranged[at] = page.ideal(bound[at], free, likely)
        if exact:
            bound[at] = best[at]
    return FirstShown(best, bound, _replaced(cells, arranged, gain))


def _replaced(cells: IdealCells, arranged: dict[int, list[Place]], gain: Array) -> IdealCells:
    """The cells of ideal pages, with those of some pages as arranged."""
    kept = ~np.isin(cells.problem, list(arranged))
    new = np.array([(page, *place) for page, places in arranged.items() for place in places], np.int64).reshape(-1, 4)
    page, row, col, judgment = new.T
    return IdealCells(
        np.concatenate([cells.problem[kept], page]),
        np.concatenate([cells.row[kept], row]),
        np.concatenate([cells.col[kept], col]),
        np.concatenate([cells.judgment[kept], judgment]),
        np.concatenate([cells.gain[kept], gain[judgment]]),
        np.concatenate([cells.category[kept], np.full(len(page), np.iinfo(np.uint32).max, np.uint32)]),
    )


class _Page:
    """Rows with the number of copies of every item that gains."""

    def __init__(self, copies: list[dict[int, int]], length: list[int], gain: Array, weights: Array) -> None:
        self.copies, self.length, self.gain, self.weights = copies, length, gain, weights
        self._known: dict[tuple[int, int, frozenset[int]], tuple[float, bool, list[Place]]] = {}

    def ideal(self, bound: float, free: list[int], likely: list[int]) -> tuple[float, bool, list[Place]]:
        """The best value found, whether no order of rows can beat it, and what stands where."""
        still = list(range(len(self.copies)))
        orders = (
            [likely, still]
            if [likely[at] for at in still if at not in free] == [at for at in still if at not in free]
            else [still]
        )
        every = math.factorial(len(free)) <= _MOST_ORDERS
        permuted = itertools.permutations(free) if every else iter(())
        top, exact = -1.0, every
        best: list[Place] = []
        for order in itertools.chain(orders, (_ordered(still, free, chosen) for chosen in permuted)):
            value, sure, places = self._value(order)
            exact &= sure
            if value > top:
                top, best = value, places
            if top >= bound * (1 - 2.0**-48):
                return top, True, best
        return top, exact, best

    def _value(self, order: list[int]) -> tuple[float, bool, list[Place]]:
        seen: set[int] = set()
        total, exact = 0.0, True
        places: list[Place] = []
        for place, row in enumerate(order):
            counted = frozenset(self.copies[row]) - seen
            seen |= counted
            value, sure, cells = self._row(row, place, counted)
            total += value
            exact &= sure
            places += cells
        return total, exact, places

    def _row(self, row: int, place: int, counted: frozenset[int]) -> tuple[float, bool, list[Place]]:
        key = row, place, counted
        if key not in self._known:
            items = sorted(counted, key=lambda item: (-self.gain[item], item))
            gains = [float(self.gain[item]) for item in items]
            extras = [self.copies[row][item] - 1 for item in items]
            value, sure, cols = _best_row(gains, extras, self.weights[place, : self.length[row]].tolist())
            self._known[key] = value, sure, [(place, col, item) for col, item in zip(cols, items, strict=True)]
        return self._known[key]


def _ordered(still: list[int], free: list[int], chosen: tuple[int, ...]) -> list[int]:
    order = list(still)
    for place, row in zip(free, chosen, strict=True):
        order[place] = row
    return order


def _best_row(gains: list[float], extras: list[int], weights: list[float]) -> tuple[float, bool, list[int]]:
    """The best order inside a row: every item in a cell of its own, its further copies somewhere after it."""
    cells = sorted(range(len(weights)), key=lambda cell: -weights[cell])
    if not any(extras):
        return sum(g * weights[cell] for g, cell in zip(gains, cells, strict=False)), True, cells[: len(gains)]
    best, chosen, tried = -1.0, cells[: len(gains)], 0

    def fits(places: list[int]) -> bool:
        free = set(range(len(weights))) - set(places)
        for place in places:
            needed = sum(extra for other, extra in zip(places, extras, strict=True) if other >= place)
            if needed > sum(cell > place for cell in free):
                return False
        return True

    def search(places: list[int], value: float) -> None:
        nonlocal best, chosen, tried
        tried += 1
        at = len(places)
        if at == len(gains):
            if value > best and fits(places):
                best, chosen = value, places
            return
        rest = [weights[cell] for cell in cells if cell not in places]
        if tried > _MOST_PLACES or value + sum(g * w for g, w in zip(gains[at:], rest, strict=False)) <= best:
            return
        for cell in cells:
            if cell not in places:
                search([*places, cell], value + gains[at] * weights[cell])

    search([], 0.0)
    return max(best, 0.0), tried <= _MOST_PLACES, chosen
