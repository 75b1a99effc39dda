"""The ideals that pages are divided by: of judged items, computed once per judgment set, or of displayed items."""

import time
from collections.abc import Iterator
from dataclasses import fields, replace
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from carouseval.evaluation.plan import ScoringPlan
from carouseval.evaluation.reading.ids import Codes
from carouseval.evaluation.reading.judged_data import JudgedData
from carouseval.evaluation.reading.page_batch import PageBatch
from carouseval.evaluation.reading.shown_carousels import ShownCarousels
from carouseval.evaluation.scoring import ideal_problems
from carouseval.evaluation.scoring.first_occurrence import first_occurrence_ideals
from carouseval.evaluation.scoring.ideal_pages import IdealPages, SolvedIdeals
from carouseval.metrics.grid import Array, IntArray
from carouseval.progress import Progress

_FIRST_ITEMS, _MOST_ITEMS = 256, 4_096  # per thread, until the first report of progress, and between two later ones
_QUICK, _SLOW = 0.1, 0.5  # seconds: the next part has more items, or fewer
Bounds = tuple[Array, Array]  # the best known value of the ideal, and the proven bound on it


class Fillings:
    """How many ideals hold how many items of each category, from 2 on: pages that show a category show at least one."""

    def __init__(self) -> None:
        self.ideals = 0
        self._counts: dict[tuple[int, int], int] = {}  # by grid, and by category << 16 | items

    def add(self, problems: ideal_problems.IdealProblems, solution: ideal_problems.IdealSolution, grid: int) -> None:
        """Add the ideals of some problems of a grid."""
        self.ideals += len(problems.open)
        filled = np.where(solution.row >= 0, np.minimum(problems.filled(solution), problems.slots), 0)
        is_counted = filled > 1
        keys = problems.category[is_counted].astype(np.int64) << 16 | filled[is_counted]
        for key, count in zip(*(part.tolist() for part in np.unique(keys, return_counts=True)), strict=True):
            self._counts[grid, key] = self._counts.get((grid, key), 0) + count

    def columns(self) -> tuple[IntArray, IntArray, IntArray, IntArray]:
        """Grid, category, items of the category, and ideals that hold as many."""
        keys = np.array(list(self._counts), np.int64).reshape(-1, 2)
        return keys[:, 0], keys[:, 1] >> 16, keys[:, 1] & 0xFFFF, np.array(list(self._counts.values()), np.int64)


class PageIdeals:
    """Ideals of pages for one plan and one set of judged data; those of judged items are computed once.

    With ``keeps_cells`` the cells of ideal pages are kept too, for one table of layouts at a time: where pages have
    ideals of their own, these are kept until the next pages are scored. ``progress`` is told of the ideals solved.
    """

    def __init__(
        self,
        judged: JudgedData,
        plan: ScoringPlan,
        shown_carousels: ShownCarousels | None = None,
        *,
        keeps_cells: bool = False,
        progress: Progress | None = None,
    ) -> None:
        self.judged: JudgedData = judged
        self.plan: ScoringPlan = plan
        self._sets = len(judged.judgments)
        self._shown = shown_carousels
        self._keeps_cells = keeps_cells
        self._progress = progress
        self._of_judgment_sets: dict[tuple[str, int], IdealPages] = {}
        self._of_last_pages: dict[tuple[str, int], tuple[NDArray[np.int64], IdealPages]] = {}  # if cells are kept
        self._fillings: tuple[Fillings, Fillings] = Fillings(), Fillings()  # of judgment sets, and of pinned pages

    def for_layouts(
        self, judged: JudgedData, shown_carousels: ShownCarousels | None, progress: Progress | None = None
    ) -> "PageIdeals":
        """The same for other layouts, which may differ in how much pinned rows hold: ideals without pins are shared."""
        ideals = PageIdeals(judged, self.plan, shown_carousels, keeps_cells=self._keeps_cells, progress=progress)
        ideals._of_judgment_sets, ideals._fillings = self._of_judgment_sets, (self._fillings[0], Fillings())
        return ideals

    def uncounted(self) -> "PageIdeals":
        """The same ideals; those that it solves anew, of pages scored before the last ones, are not counted again."""
        ideals = self.for_layouts(self.judged, None)
        ideals._of_last_pages = dict(self._of_last_pages)
        return ideals

    def forget_pages(self) -> None:
        """Forget the ideals that single pages have: those of another table have the same codes."""
        self._of_last_pages.clear()

    @property
    def solved(self) -> int:
        """The number of ideals solved, by the first metric with a category ideal."""
        return sum(fillings.ideals for fillings in self._fillings)

    def filled(self) -> tuple[IntArray, IntArray, IntArray, IntArray]:
        """Grid, category, items of the category, and ideals that hold as many."""
        grid, category, items, ideals = zip(*(fillings.columns() for fillings in self._fillings), strict=True)
        return np.concatenate(grid), np.concatenate(category), np.concatenate(items), np.concatenate(ideals)

    @cached_property
    def alike(self) -> dict[str, str]:
        """For each metric the first with the same ideals: relevances of 0 and 1 have the same gain, exp2 or linear."""
        alike: dict[str, str] = {}
        for name in self.plan.metrics:
            earlier = (other for other, first in alike.items() if other == first and self._are_alike(name, other))
            alike[name] = next(earlier, name)
        return alike

    def _are_alike(self, name: str, other: str) -> bool:
        metrics, gains, grids = self.plan.metrics, self.judged.gains, range(len(self.plan.grids))
        return (
            metrics[name].ideal == metrics[other].ideal != "none"
            and all(np.array_equal(self.plan.weights(name, grid), self.plan.weights(other, grid)) for grid in grids)
            and (gains[name] is gains[other] or np.array_equal(gains[name], gains[other]))
        )

    def of_pages(self, name: str, grid: int, pages: PageBatch) -> Bounds:
        """The ideal of every page, by a metric on a grid that all these pages have."""
        best, bound = np.zeros((2, len(pages)))
        for index, ideals, codes in self._solved(name, grid, pages):
            best[index], bound[index] = ideals.best[codes], ideals.bound[codes]
        return best, bound

    def cells_of_pages(self, name: str, grid: int, pages: PageBatch) -> ideal_problems.IdealCells:
        """The cells of the same ideals, which must be kept."""
        parts = []
        for index, ideals, codes in self._solved(name, grid, pages):
            cells = ideals.cells(codes, self.judged.gains[name])
            parts.append(replace(cells, problem=index[cells.problem]))
        columns = ([getattr(part, column.name) for part in parts] for column in fields(ideal_problems.IdealCells))
        return ideal_problems.IdealCells(*map(np.concatenate, columns))

    def of_judgment_sets(self, name: str, grid: int, judgment_sets: Codes) -> Bounds:
        """The judged ideal of every judgment set, where no row is pinned."""
        ideals = self._judged(name, grid, judgment_sets)
        return ideals.best[judgment_sets], ideals.bound[judgment_sets]

    def _solved(
        self, name: str, grid: int, pages: PageBatch
    ) -> Iterator[tuple[NDArray[np.int64], IdealPages, Codes | NDArray[np.int64]]]:
        """Ideals that are solved, the pages that have them, and their codes among them; the rest have no judgments."""
        if self.plan.settings.candidates == "displayed":
            yield np.arange(len(pages)), *self._own(name, grid, pages)
            return
        judged = pages.judgment_set < self._sets
        pinned = judged & pages.pinned.any(axis=1) & (self.plan.metrics[name].ideal == "category")
        shared, single = np.flatnonzero(judged & ~pinned), np.flatnonzero(pinned)
        judgment_sets = pages.judgment_set[shared]
        yield shared, self._judged(name, grid, judgment_sets), judgment_sets
        if len(single):
            yield single, *self._own(name, grid, pages.take(single))

    def _judged(self, name: str, grid: int, judgment_sets: Codes) -> IdealPages:
        """The ideals of judgment sets, of which these are solved."""
        if (name, grid) not in self._of_judgment_sets:
            self._of_judgment_sets[name, grid] = IdealPages(self._sets, self._keeps_cells)
        ideals = self._of_judgment_sets[name, grid]
        wanted = np.unique(judgment_sets).astype(np.int64)
        wanted = wanted[np.isnan(ideals.best[wanted])]
        if not len(wanted):
            return ideals
        gain, offsets = self.judged.gains[name], self.judged.judgments.offsets
        if self.plan.metrics[name].ideal == "category":
            for part in self._parts(wanted, np.diff(offsets)[wanted]):
                new = part[np.isnan(ideals.best[part])]  # whoever was told of progress may have used these ideals too
                problems = ideal_problems.judged_problems(self.judged, gain, self.plan, grid, new.astype(np.uint32))
                ideals.add(new, self._solve(problems, name, grid, self._fillings[0]))
            return ideals
        weights = self.plan.weights(name, grid)
        ideals.best[:] = ideals.bound[:] = ideal_problems.unconstrained(
            offsets, gain, weights, self._copies(gain, grid), self.plan.threads
        )
        return ideals

    def _own(self, name: str, grid: int, pages: PageBatch) -> tuple[IdealPages, NDArray[np.int64]]:
        """The ideals of pages that have one each, and the number of each page among them."""
        if (name, grid) in self._of_last_pages:
            last, ideals = self._of_last_pages[name, grid]
            order = np.argsort(last)
            numbers = order[np.minimum(np.searchsorted(last, pages.pages, sorter=order), len(last) - 1)]
            if np.array_equal(last[numbers], pages.pages):
                return ideals, numbers
        ideals, numbers = IdealPages(len(pages), self._keeps_cells), np.arange(len(pages))
        gain, displayed = self.judged.gains[name], self.plan.settings.candidates == "displayed"
        if self.plan.metrics[name].ideal == "category":
            items = np.diff(pages.offsets) if displayed else np.diff(self.judged.judgments.offsets)[pages.judgment_set]
            for part in self._parts(numbers, items):
                some = pages if len(part) == len(pages) else pages.take(part)
                ideals.add(part, self._solve_own(name, grid, some))
        else:
            problems = ideal_problems.displayed_problems(pages, gain, self.plan.settings.duplicates)
            ideals.best[:] = ideals.bound[:] = ideal_problems.unconstrained(
                problems.item_offsets, problems.gain, self.plan.weights(name, grid), threads=self.plan.threads
            )
        if self._keeps_cells:
            self._of_last_pages[name, grid] = pages.pages, ideals
        return ideals, numbers

    def _solve_own(self, name: str, grid: int, pages: PageBatch) -> SolvedIdeals:
        """Solve the ideals of pages that have one each."""
        gain = self.judged.gains[name]
        if self.plan.settings.candidates == "judged":
            problems = ideal_problems.pinned_problems(self.judged, gain, self.plan, grid, pages)
            return self._solve(problems, name, grid, self._fillings[1])
        problems = ideal_problems.displayed_problems(pages, gain, self.plan.settings.duplicates)
        return solve_displayed(pages, problems, gain, self.plan.weights(name, grid), self.plan)

    def _parts(self, codes: NDArray[np.int64], items: IntArray) -> Iterator[NDArray[np.int64]]:
        """The codes of ideals, part by part if progress is told: every part takes as long as its slowest ideal."""
        if self._progress is None:
            yield codes
            return
        threads, ends = self.plan.threads, np.cumsum(items)
        done, at_once = 0, min(_FIRST_ITEMS, _MOST_ITEMS)
        while done < len(codes):
            most = ends[done] - items[done] + at_once * threads
            part = codes[done : max(int(np.searchsorted(ends, most, "right")), done + threads)]
            start = time.monotonic()
            yield part
            seconds = time.monotonic() - start
            at_once = min(2 * at_once, _MOST_ITEMS) if seconds < _QUICK else at_once
            at_once = max(at_once // 2, 1) if seconds > _SLOW else at_once
            done += len(part)
            self._progress("solving", done, len(codes))

    def _solve(self, problems: ideal_problems.IdealProblems, name: str, grid: int, fillings: Fillings) -> SolvedIdeals:
        """Solve problems of judged items."""
        weights, problems = self.plan.weights(name, grid), problems.spread(self.plan.settings.once)
        solution = _solution(problems, weights, self.plan)
        if name == next(key for key, metric in self.plan.metrics.items() if metric.ideal == "category"):
            fillings.add(problems, solution, grid)
        cells = partial(ideal_problems.ideal_cells, problems, solution, weights)
        return SolvedIdeals(solution.best, solution.bound, cells)

    def _copies(self, gain: Array, grid: int) -> NDArray[np.int32] | None:
        """How often an item may be shown where every time counts: once in each of its categories."""
        if self.plan.settings.once or self.judged.membership is None:
            return None
        judgment_sets = np.arange(self._sets, dtype=np.uint32)
        problems = ideal_problems.judged_problems(self.judged, gain, self.plan, grid, judgment_sets)
        copies = np.ones(len(gain), np.int32)
        copies[problems.judgment] = np.diff(problems.membership_offsets)
        return copies


def _solution(
    problems: ideal_problems.IdealProblems, weights: Array, plan: ScoringPlan
) -> ideal_problems.IdealSolution:
    """Solve problems whose items count once, as far as the settings ask for."""
    return problems.solve(weights, plan.settings.tolerance, plan.work_limit, plan.threads)


def solve_displayed(
    pages: PageBatch, problems: ideal_problems.IdealProblems, gain: Array, weights: Array, plan: ScoringPlan
) -> SolvedIdeals:
    """The ideals of displayed items, by the rule for repeats."""
    if plan.settings.duplicates == "first":
        first = first_occurrence_ideals(pages, gain, weights, problems, plan.threads)
        return SolvedIdeals(first.best, first.bound, lambda: first.cells)
    solution = _solution(problems, weights, plan)
    cells = partial(ideal_problems.ideal_cells, problems, solution, weights)
    return SolvedIdeals(solution.best, solution.bound, cells)
