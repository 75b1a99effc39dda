"""Displayed ideals where a repeated item counts where it stands first.

There, unlike where it counts at its best place, the order of rows decides which copy counts: an item's home must stand
above its other rows. So every choice of homes is an assignment of rows to places with such conditions, solved by branch
and bound: where a home stands below another of its item's rows, either it must rise or the other must sink. The rule
"best" bounds the ideal, and stands in where the search is cut short.
"""

import itertools
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from carouseval.evaluation.scoring.ideals import IdealCells, Problems, Solution, ideal_cells
from carouseval.evaluation.scoring.page_batch import PageBatch
from carouseval.metrics.grid import Array

_MOST_CHOICES = 256  # of homes
_MOST_NODES = 2_000  # of the search, on one page
_FORBIDDEN = -1e300  # what a place that a row may not take is worth
_MOST_PLACES = 20_000  # tried inside one row

Place = tuple[int, int, int]  # row and column from 0, judgment


@dataclass(frozen=True)
class FirstOccurrence:
    """Ideals of some pages by the rule "first"."""

    best: Array
    bound: Array
    cells: IdealCells


def first_occurrence_ideals(
    shown: PageBatch, gain: Array, weights: Array, problems: Problems, best_rule: Solution
) -> FirstOccurrence:
    """The ideal of every page and a bound on it; ``best_rule`` solves the same pages under the rule "best"."""
    best, bound = best_rule.best.copy(), best_rule.bound.copy()
    cells = ideal_cells(problems, best_rule, weights)
    rows, _ = shown.hit_cells()
    arranged: dict[int, list[Place]] = {}
    for at in np.flatnonzero(shown.duplicates).tolist():
        begin, end = shown.offsets[at], shown.offsets[at + 1]
        judgments = shown.hit_judgment[begin:end]
        if len(np.unique(judgments)) == len(judgments):
            continue  # what is repeated gains nothing
        height = int(np.flatnonzero(shown.length[at]).max(initial=-1)) + 1
        copies: list[dict[int, int]] = [{} for _ in range(height)]
        for judgment, row in zip(judgments.tolist(), rows[begin:end].tolist(), strict=True):
            if gain[judgment] > 0:
                copies[row][judgment] = copies[row].get(judgment, 0) + 1
        mine = slice(problems.category_offsets[at], problems.category_offsets[at + 1])
        fixed = problems.pinned[mine] >= 0
        page = _Page(copies, shown.length[at, :height].tolist(), fixed.tolist(), gain, weights)
        likely = np.argsort(best_rule.row[mine], kind="stable").tolist()  # which row stands where
        best[at], exact, arranged[at] = page.ideal(bound[at], likely)
        if exact:
            bound[at] = best[at]
    return FirstOccurrence(best, bound, _replaced(cells, arranged, gain))


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

    def __init__(
        self, copies: list[dict[int, int]], length: list[int], fixed: list[bool], gain: Array, weights: Array
    ) -> None:
        self.copies, self.length, self.fixed, self.gain, self.weights = copies, length, fixed, gain, weights
        self._known: dict[tuple[int, int, frozenset[int]], tuple[float, bool, list[Place]]] = {}
        self._nodes, self._sure = 0, True
        self._best: tuple[float, list[Place]] = (-1.0, [])

    def ideal(self, bound: float, likely: list[int]) -> tuple[float, bool, list[Place]]:
        """The best value found, whether no order of rows can beat it, and what stands where."""
        still = list(range(len(self.copies)))
        for order in (likely, still):
            if all(order[row] == row for row in still if self.fixed[row]):
                self._try(order)
        if not self._attains(bound):
            rows: dict[int, list[int]] = {}
            for row, items in enumerate(self.copies):
                for item in items:
                    rows.setdefault(item, []).append(row)
            repeated = {item: found for item, found in rows.items() if len(found) > 1}
            if math.prod(map(len, repeated.values())) > _MOST_CHOICES:
                self._sure = False
            else:
                self._search(repeated)
        value, places = self._best
        return value, self._attains(bound) or self._sure, places

    def _attains(self, bound: float) -> bool:
        return self._best[0] >= bound * (1 - 2.0**-48)

    def _try(self, order: list[int]) -> None:
        value, sure, places = self._value(order)
        self._sure &= sure
        if value > self._best[0]:
            self._best = value, places

    def _search(self, repeated: dict[int, list[int]]) -> None:
        """Every choice of homes, the most promising first."""
        size = len(self.copies)
        allowed = np.ones((size, size), bool)
        for row in range(size):
            if self.fixed[row]:
                allowed[row], allowed[:, row] = False, False
                allowed[row, row] = True
        choices: list[tuple[float, int, Array, set[tuple[int, int]]]] = []
        for homes in itertools.product(*repeated.values()):
            home = dict(zip(repeated, homes, strict=True))
            above = {(home[item], row) for item, rows in repeated.items() for row in rows if row != home[item]}
            if any((low, high) in above for high, low in above):
                continue  # each would have to stand above the other
            worth = np.empty((size, size))
            for row, items in enumerate(self.copies):
                counted = frozenset(item for item in items if home.get(item, row) == row)
                for place in range(size):
                    worth[row, place], sure, _ = self._row(row, place, counted)
                    self._sure &= sure
            choices.append((_assigned(worth, allowed)[0], len(choices), worth, above))
        for value, _, worth, above in sorted(choices, key=lambda choice: (-choice[0], choice[1])):
            if value > self._best[0] * (1 + 2.0**-48):
                self._branch(worth, above, allowed)

    def _branch(self, worth: Array, above: set[tuple[int, int]], allowed: NDArray[np.bool_]) -> None:
        """Rows to places, each home above the others."""
        open_nodes = [allowed]
        while open_nodes:
            self._nodes += 1
            if self._nodes > _MOST_NODES:
                self._sure = False
                return
            here = open_nodes.pop()
            value, place = _assigned(worth, here)
            if value <= self._best[0] * (1 + 2.0**-48):
                continue
            self._try(np.argsort(place).tolist())
            violated = next((pair for pair in sorted(above) if place[pair[0]] > place[pair[1]]), None)
            if violated is not None:
                home, other = violated
                sinks, rises = here.copy(), here.copy()
                sinks[other, : place[other] + 1] = False
                rises[home, place[other] :] = False
                open_nodes += [sinks, rises]

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


def _assigned(worth: Array, allowed: NDArray[np.bool_]) -> tuple[float, NDArray[np.int64]]:
    """The best places of rows, and what they are worth; less than nothing where there are none."""
    from scipy.optimize import linear_sum_assignment

    table = np.where(allowed, worth, _FORBIDDEN)
    rows, places = linear_sum_assignment(table, maximize=True)
    return float(table[rows, places].sum()), np.asarray(places)


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
