"""The ideals that pages are divided by: of judged items, computed once per judgment set, or of displayed items."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from carouseval.evaluation.plan import ScoringPlan
from carouseval.evaluation.reading.ids import Codes
from carouseval.evaluation.reading.judged_data import JudgedData
from carouseval.evaluation.reading.page_batch import PageBatch
from carouseval.evaluation.reading.shown_carousels import ShownCarousels
from carouseval.evaluation.scoring import ideal_problems
from carouseval.evaluation.scoring.first_occurrence import first_occurrence_ideals
from carouseval.metrics.grid import Array, IntArray

Bounds = tuple[Array, Array]  # the best known value of the ideal, and the proven bound on it


class Overfull(NamedTuple):
    """A category that ideals fill beyond what any page shows."""

    ideals: int
    most: int  # items of the category on an ideal page
    shown: int  # on any page of that grid


class Fillings:
    """How many ideals hold how many items of each category, from 2 on: pages that show a category show at least one."""

    def __init__(self) -> None:
        self.ideals = 0
        self._counts: dict[tuple[int, int], int] = {}  # by grid, and by category << 16 | items

    def add(
        self,
        problems: ideal_problems.IdealProblems,
        solution: ideal_problems.IdealSolution,
        grid: int,
        once: bool,
    ) -> None:
        """Add the ideals of some problems of a grid."""
        self.ideals += len(problems.open)
        filled = np.where(solution.row >= 0, np.minimum(problems.filled(solution, once), problems.slots), 0)
        several = filled > 1
        keys = problems.category[several].astype(np.int64) << 16 | filled[several]
        for key, count in zip(*(part.tolist() for part in np.unique(keys, return_counts=True)), strict=True):
            self._counts[grid, key] = self._counts.get((grid, key), 0) + count

    def columns(self) -> tuple[IntArray, IntArray, IntArray, IntArray]:
        """Grid, category, items of the category, and ideals that hold as many."""
        keys = np.array(list(self._counts), np.int64).reshape(-1, 2)
        return keys[:, 0], keys[:, 1] >> 16, keys[:, 1] & 0xFFFF, np.array(list(self._counts.values()), np.int64)


class PageIdeals:
    """Ideals of pages for one plan and one set of judged data; those of judged items are computed once."""

    def __init__(self, judged: JudgedData, plan: ScoringPlan, shown: ShownCarousels | None = None) -> None:
        self.judged: JudgedData = judged
        self.plan: ScoringPlan = plan
        self._shown = shown
        self._computed: dict[tuple[str, int], Bounds] = {}  # per judgment set, NaN until computed
        self._fillings: tuple[Fillings, Fillings] = Fillings(), Fillings()  # of judgment sets, and of pinned pages

    def for_layouts(self, judged: JudgedData, shown: ShownCarousels | None) -> "PageIdeals":
        """The same for other layouts, which may differ in how much pinned rows hold: ideals without pins are shared."""
        ideals = PageIdeals(judged, self.plan, shown)
        ideals._computed, ideals._fillings = self._computed, (self._fillings[0], Fillings())
        return ideals

    @property
    def solved(self) -> int:
        """The number of ideals solved, by the first metric with a category ideal."""
        return sum(fillings.ideals for fillings in self._fillings)

    def overfull(self) -> dict[int, Overfull]:
        """The categories of which ideals hold more items than any page shows; declared capacities are left out."""
        found: dict[int, Overfull] = {}
        if self._shown is None:
            return found
        grid, category, filled, count = (
            np.concatenate(parts) for parts in zip(*(one.columns() for one in self._fillings), strict=True)
        )
        known = category < self._shown.longest.shape[1]
        grid, category, filled, count = (column[known] for column in (grid, category, filled, count))
        shown = self._shown.longest[grid, category]
        over = (shown > 0) & (filled > shown) & ~np.isin(category, self.judged.carousels.with_capacity())
        for code, most, at_most, ideals in zip(
            *(column[over].tolist() for column in (category, filled, shown, count)), strict=True
        ):
            before = found.get(code, Overfull(0, 0, 0))
            larger = max((before.most, before.shown), (most, at_most))
            found[code] = Overfull(before.ideals + ideals, *larger)
        return found

    def of_pages(self, name: str, grid: int, pages: PageBatch) -> Bounds:
        """The ideal of every page, by a metric on a grid that all these pages have."""
        return (
            self._displayed(name, grid, pages)
            if self.plan.settings.candidates == "displayed"
            else self._judged(name, grid, pages)
        )

    def of_judgment_sets(self, name: str, grid: int, judgment_sets: Codes) -> Bounds:
        """The judged ideal of every judgment set, where no row is pinned."""
        if (name, grid) not in self._computed:
            count = len(self.judged.judgments)
            self._computed[name, grid] = np.full(count, np.nan), np.full(count, np.nan)
        best, bound = self._computed[name, grid]
        wanted = np.unique(judgment_sets).astype(np.int64)
        wanted = wanted[np.isnan(best[wanted])]
        if len(wanted):
            self._solve(name, grid, wanted)
        return best[judgment_sets], bound[judgment_sets]

    def _judged(self, name: str, grid: int, pages: PageBatch) -> Bounds:
        judged = pages.judgment_set < len(self.judged.judgments)
        by_category = self.plan.metrics[name].ideal == "category"
        pinned = pages.pinned.any(axis=1) & judged & by_category
        shared = judged & ~pinned
        best, bound = np.zeros(len(pages)), np.zeros(len(pages))
        best[shared], bound[shared] = self.of_judgment_sets(name, grid, pages.judgment_set[shared])
        if pinned.any():
            some = pages.take(np.flatnonzero(pinned))
            problems = ideal_problems.pinned_problems(self.judged, self.judged.gains[name], self.plan, grid, some)
            best[pinned], bound[pinned] = self._solved(problems, name, grid, self._fillings[1])
        return best, bound

    def _solve(self, name: str, grid: int, judgment_sets: NDArray[np.int64]) -> None:
        """Compute the judged ideals of some judgment sets."""
        best, bound = self._computed[name, grid]
        gain = self.judged.gains[name]
        if self.plan.metrics[name].ideal == "category":
            problems = ideal_problems.judged_problems(
                self.judged, gain, self.plan, grid, judgment_sets.astype(np.uint32)
            )
            best[judgment_sets], bound[judgment_sets] = self._solved(problems, name, grid, self._fillings[0])
            return
        offsets, weights = self.judged.judgments.offsets, self.plan.weights(name, grid)
        best[:] = ideal_problems.unconstrained(offsets, gain, weights, self._copies(gain, grid), self.plan.threads)
        bound[:] = best

    def _solved(self, problems: ideal_problems.IdealProblems, name: str, grid: int, fillings: "Fillings") -> Bounds:
        solution = problems.solve(self.plan.weights(name, grid), self.plan.settings.once, threads=self.plan.threads)
        if name == next(key for key, metric in self.plan.metrics.items() if metric.ideal == "category"):
            fillings.add(problems, solution, grid, self.plan.settings.once)
        return solution.best, solution.bound

    def _copies(self, gain: Array, grid: int) -> NDArray[np.int32] | None:
        """How often an item may be shown where every time counts: once in each of its categories."""
        if self.plan.settings.once or self.judged.membership is None:
            return None
        judgment_sets = np.arange(len(self.judged.judgments), dtype=np.uint32)
        problems = ideal_problems.judged_problems(self.judged, gain, self.plan, grid, judgment_sets)
        copies = np.ones(len(gain), np.int32)
        copies[problems.judgment] = np.diff(problems.membership_offsets)
        return copies

    def _displayed(self, name: str, grid: int, pages: PageBatch) -> Bounds:
        settings, gain, weights = self.plan.settings, self.judged.gains[name], self.plan.weights(name, grid)
        problems = ideal_problems.displayed_problems(pages, gain, settings.duplicates)
        if self.plan.metrics[name].ideal == "unconstrained":
            best = ideal_problems.unconstrained(
                problems.item_offsets, problems.gain, weights, threads=self.plan.threads
            )
            return best, best
        if settings.duplicates == "first" and pages.duplicates.any():
            first = first_occurrence_ideals(pages, gain, weights, problems, self.plan.threads)
            return first.best, first.bound
        solution = problems.solve(weights, settings.once, threads=self.plan.threads)
        return solution.best, solution.bound
