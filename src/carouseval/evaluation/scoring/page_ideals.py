"""The ideals that pages are divided by: of judged items, computed once per judgment set, or of displayed items."""

from collections.abc import Iterator
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
from carouseval.metrics.grid import Array

Bounds = tuple[Array, Array]  # the best known value of the ideal, and the proven bound on it


class Overfull(NamedTuple):
    """A category that ideals fill beyond what any page shows."""

    ideals: int
    most: int  # items of the category on an ideal page
    shown: int  # on any page


class PageIdeals:
    """Ideals of pages for one plan and one set of judged data; those of judged items are computed once."""

    def __init__(self, judged: JudgedData, plan: ScoringPlan, shown: ShownCarousels | None = None) -> None:
        self.judged: JudgedData = judged
        self.plan: ScoringPlan = plan
        self.solved: int = 0  # ideals solved, by the first metric with a category ideal
        self.overfull: dict[tuple[int, int], Overfull] = {}  # by grid and category
        self._shown = shown
        self._computed: dict[tuple[str, int], Bounds] = {}  # per judgment set, NaN until computed

    def for_layouts(self, judged: JudgedData, shown: ShownCarousels | None) -> "PageIdeals":
        """The same for other layouts, which may differ in how much pinned rows hold: ideals without pins are shared."""
        ideals = PageIdeals(judged, self.plan, shown)
        ideals._computed = self._computed
        return ideals

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
            best[pinned], bound[pinned] = self._solved(problems, name, grid)
        return best, bound

    def _solve(self, name: str, grid: int, judgment_sets: NDArray[np.int64]) -> None:
        """Compute the judged ideals of some judgment sets."""
        best, bound = self._computed[name, grid]
        gain = self.judged.gains[name]
        if self.plan.metrics[name].ideal == "category":
            problems = ideal_problems.judged_problems(
                self.judged, gain, self.plan, grid, judgment_sets.astype(np.uint32)
            )
            best[judgment_sets], bound[judgment_sets] = self._solved(problems, name, grid)
            return
        offsets, weights = self.judged.judgments.offsets, self.plan.weights(name, grid)
        best[:] = ideal_problems.unconstrained(offsets, gain, weights, self._copies(gain, grid), self.plan.threads)
        bound[:] = best

    def _solved(self, problems: ideal_problems.IdealProblems, name: str, grid: int) -> Bounds:
        solution = problems.solve(self.plan.weights(name, grid), self.plan.settings.once, threads=self.plan.threads)
        if name == next(key for key, metric in self.plan.metrics.items() if metric.ideal == "category"):
            self._note_overfull(problems, solution, grid)
        return solution.best, solution.bound

    def _note_overfull(
        self, problems: ideal_problems.IdealProblems, solution: ideal_problems.IdealSolution, grid: int
    ) -> None:
        """Note where ideals hold more items of a category than any page shows."""
        self.solved += len(problems.open)
        if self._shown is None:
            return
        longest = np.append(self._shown.longest[grid], 0)  # a category that is not shown is not overfull
        longest = longest[np.minimum(problems.category, len(longest) - 1)]
        at = np.flatnonzero((problems.slots > longest) & (longest > 0) & (solution.row >= 0))
        if not len(at):
            return
        filled = np.minimum(problems.filled(solution, self.plan.settings.once)[at], problems.slots[at])
        over = filled > longest[at]
        for category, count, most, shown in _by_category(problems.category[at][over], filled[over], longest[at][over]):
            before = self.overfull.get((grid, category), Overfull(0, 0, shown))
            self.overfull[grid, category] = Overfull(before.ideals + count, max(before.most, most), shown)

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
        solution = problems.solve(weights, settings.once, threads=self.plan.threads)
        if settings.duplicates == "first" and pages.duplicates.any():
            first = first_occurrence_ideals(pages, gain, weights, problems, solution)
            return first.best, first.bound
        return solution.best, solution.bound


def _by_category(
    category: Codes, filled: NDArray[np.int32], shown: NDArray[np.int32]
) -> Iterator[tuple[int, int, int, int]]:
    """For each category how often it occurs, the most it holds, and what is shown of it."""
    codes, first, place = np.unique(category, return_index=True, return_inverse=True)
    most = np.zeros(len(codes), np.int64)
    np.maximum.at(most, place, filled)
    counts = np.bincount(place, minlength=len(codes))
    yield from zip(codes.tolist(), counts.tolist(), most.tolist(), shown[first].tolist(), strict=True)
