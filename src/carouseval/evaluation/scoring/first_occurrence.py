"""Displayed ideals where a repeated item counts where it comes first (``duplicates="first"``).

Unlike with the rule "best", the order of rows decides which copy counts: the row in which an item counts, its *counting
row*, must be above its other rows. So each choice of counting rows is an assignment of rows to places with such
conditions, solved by branch and bound: where a counting row is below another row of its item, either it must rise or
the other must sink. The ideal under the rule "best" is an upper bound, and is used where the search is cut short.
"""

import itertools
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from carouseval.evaluation.reading.page_batch import PageBatch
from carouseval.evaluation.scoring.ideal_problems import IdealCells, IdealProblems, IdealSolution, ideal_cells
from carouseval.metrics.grid import Array

_MOST_CHOICES = 256  # of counting rows
_MOST_NODES = 2_000  # of the search, on one page
_FORBIDDEN = -1e300  # the value of a place that a row may not take
_MOST_PLACES = 20_000  # tried inside one row

Place = tuple[int, int, int]  # row and column from 0, judgment


@dataclass(frozen=True)
class FirstOccurrence:
    """Ideals of some pages by the rule "first"."""

    best: Array
    bound: Array
    cells: IdealCells


def first_occurrence_ideals(
    pages: PageBatch, gain: Array, weights: Array, problems: IdealProblems, best_rule: IdealSolution
) -> FirstOccurrence:
    """The ideal of every page and a bound on it; ``best_rule`` solves the same pages under the rule "best"."""
    best, bound = best_rule.best.copy(), best_rule.bound.copy()
    cells = ideal_cells(problems, best_rule, weights)
    rows, _ = pages.hit_cells()
    arranged: dict[int, list[Place]] = {}
    for at in np.flatnonzero(pages.duplicates).tolist():
        begin, end = pages.offsets[at], pages.offsets[at + 1]
        judgments = pages.hit_judgment[begin:end]
        if len(np.unique(judgments)) == len(judgments):
            continue  # no relevant item is repeated
        height = int(np.flatnonzero(pages.length[at]).max(initial=-1)) + 1
        copies: list[dict[int, int]] = [{} for _ in range(height)]
        for judgment, row in zip(judgments.tolist(), rows[begin:end].tolist(), strict=True):
            if gain[judgment] > 0:
                copies[row][judgment] = copies[row].get(judgment, 0) + 1
        rows_of_page = slice(problems.category_offsets[at], problems.category_offsets[at + 1])
        fixed = problems.pinned[rows_of_page] >= 0
        page = _Page(copies, pages.length[at, :height].tolist(), fixed.tolist(), gain, weights)
        start = np.argsort(best_rule.row[rows_of_page], kind="stable").tolist()  # by the rule best
        best[at], exact, arranged[at] = page.ideal(bound[at], start)
        if exact:
            bound[at] = best[at]
    return FirstOccurrence(best, bound, _replace_cells(cells, arranged, gain))


def _replace_cells(cells: IdealCells, arranged: dict[int, list[Place]], gain: Array) -> IdealCells:
    """The cells of ideal pages, with those of arranged pages replaced."""
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
    """Rows with the number of copies of every relevant item."""

    def __init__(
        self, copies: list[dict[int, int]], length: list[int], fixed: list[bool], gain: Array, weights: Array
    ) -> None:
        self.copies, self.length, self.fixed, self.gain, self.weights = copies, length, fixed, gain, weights
        self._row_values: dict[tuple[int, int, frozenset[int]], tuple[float, bool, list[Place]]] = {}
        self._nodes, self._exact = 0, True
        self._best: tuple[float, list[Place]] = (-1.0, [])

    def ideal(self, bound: float, start: list[int]) -> tuple[float, bool, list[Place]]:
        """The best value found, whether it is proven optimal, and the places of items."""
        as_shown = list(range(len(self.copies)))
        for order in (start, as_shown):
            if all(order[row] == row for row in as_shown if self.fixed[row]):
                self._try(order)
        if not self._attains(bound):
            rows: dict[int, list[int]] = {}
            for row, items in enumerate(self.copies):
                for item in items:
                    rows.setdefault(item, []).append(row)
            repeated = {item: of_item for item, of_item in rows.items() if len(of_item) > 1}
            if math.prod(map(len, repeated.values())) > _MOST_CHOICES:
                self._exact = False
            else:
                self._search(repeated)
        value, places = self._best
        return value, self._attains(bound) or self._exact, places

    def _attains(self, bound: float) -> bool:
        return self._best[0] >= bound * (1 - 2.0**-48)

    def _try(self, order: list[int]) -> None:
        value, exact, places = self._value(order)
        self._exact &= exact
        if value > self._best[0]:
            self._best = value, places

    def _search(self, repeated: dict[int, list[int]]) -> None:
        """Try every choice of counting rows, the most promising first."""
        size = len(self.copies)
        allowed = np.ones((size, size), bool)
        for row in range(size):
            if self.fixed[row]:
                allowed[row], allowed[:, row] = False, False
                allowed[row, row] = True
        choices: list[tuple[float, int, Array, set[tuple[int, int]]]] = []
        for chosen in itertools.product(*repeated.values()):
            counting_row = dict(zip(repeated, chosen, strict=True))
            pairs = ((counting_row[item], row) for item, rows in repeated.items() for row in rows)
            above = {(counting, row) for counting, row in pairs if row != counting}
            if any((low, high) in above for high, low in above):
                continue  # each would have to be above the other
            values = np.empty((size, size))
            for row, items in enumerate(self.copies):
                counted = frozenset(item for item in items if counting_row.get(item, row) == row)
                for place in range(size):
                    values[row, place], exact, _ = self._row(row, place, counted)
                    self._exact &= exact
            choices.append((_assign(values, allowed)[0], len(choices), values, above))
        for value, _, values, above in sorted(choices, key=lambda choice: (-choice[0], choice[1])):
            if value > self._best[0] * (1 + 2.0**-48):
                self._branch(values, above, allowed)

    def _branch(self, values: Array, above: set[tuple[int, int]], allowed: NDArray[np.bool_]) -> None:
        """Assign rows to places, each counting row above the other rows of its items."""
        open_nodes = [allowed]
        while open_nodes:
            self._nodes += 1
            if self._nodes > _MOST_NODES:
                self._exact = False
                return
            here = open_nodes.pop()
            value, place = _assign(values, here)
            if value <= self._best[0] * (1 + 2.0**-48):
                continue
            self._try(np.argsort(place).tolist())
            violated = next((pair for pair in sorted(above) if place[pair[0]] > place[pair[1]]), None)
            if violated is not None:
                counting, other = violated
                sinks, rises = here.copy(), here.copy()
                sinks[other, : place[other] + 1] = False
                rises[counting, place[other] :] = False
                open_nodes += [sinks, rises]

    def _value(self, order: list[int]) -> tuple[float, bool, list[Place]]:
        counted_above: set[int] = set()
        total, exact = 0.0, True
        places: list[Place] = []
        for place, row in enumerate(order):
            counted = frozenset(self.copies[row]) - counted_above
            counted_above |= counted
            value, row_exact, cells = self._row(row, place, counted)
            total += value
            exact &= row_exact
            places += cells
        return total, exact, places

    def _row(self, row: int, place: int, counted: frozenset[int]) -> tuple[float, bool, list[Place]]:
        key = row, place, counted
        if key not in self._row_values:
            items = sorted(counted, key=lambda item: (-self.gain[item], item))
            gains = [float(self.gain[item]) for item in items]
            extras = [self.copies[row][item] - 1 for item in items]
            value, exact, cols = _best_row(gains, extras, self.weights[place, : self.length[row]].tolist())
            self._row_values[key] = value, exact, [(place, col, item) for col, item in zip(cols, items, strict=True)]
        return self._row_values[key]


def _assign(values: Array, allowed: NDArray[np.bool_]) -> tuple[float, NDArray[np.int64]]:
    """The value of the best assignment of rows to places (hugely negative where there is none), and the places."""
    from scipy.optimize import linear_sum_assignment

    table = np.where(allowed, values, _FORBIDDEN)
    rows, places = linear_sum_assignment(table, maximize=True)
    return float(table[rows, places].sum()), np.asarray(places)


def _best_row(gains: list[float], extras: list[int], weights: list[float]) -> tuple[float, bool, list[int]]:
    """The best order inside a row: every item in a cell of its own, its other copies after it."""
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
