"""What pages are divided by: the ideals of judged items, one per truth and computed once, or of what pages display."""

import numpy as np
from numpy.typing import NDArray

from carouseval.evaluation.plan import ScoringPlan
from carouseval.evaluation.reading.ids import Codes
from carouseval.evaluation.reading.judged_data import JudgedData
from carouseval.evaluation.scoring import ideals
from carouseval.evaluation.scoring.first_occurrence import first_occurrence_ideals
from carouseval.evaluation.scoring.page_batch import PageBatch
from carouseval.metrics.grid import Array

Bounds = tuple[Array, Array]  # the best page found, and the proven bound on it


class PageIdeals:
    """Ideals by a plan, for one set of judged data and no other; those of judged items are kept once computed."""

    def __init__(self, judged: JudgedData, plan: ScoringPlan) -> None:
        self.judged, self.plan = judged, plan
        self._known: dict[tuple[str, int], Bounds] = {}  # per truth, NaN where nobody has asked

    def of_pages(self, name: str, grid: int, pages: PageBatch) -> Bounds:
        """The ideal of every page, by a metric on a grid that all these pages have."""
        return (
            self._displayed(name, grid, pages)
            if self.plan.settings.candidates == "displayed"
            else self._judged(name, grid, pages)
        )

    def of_truths(self, name: str, grid: int, truths: Codes) -> Bounds:
        """The judged ideal of every truth, where no row is pinned."""
        if (name, grid) not in self._known:
            count = len(self.judged.judgments)
            self._known[name, grid] = np.full(count, np.nan), np.full(count, np.nan)
        best, bound = self._known[name, grid]
        wanted = np.unique(truths).astype(np.int64)
        wanted = wanted[np.isnan(best[wanted])]
        if len(wanted):
            self._solve(name, grid, wanted)
        return best[truths], bound[truths]

    def _judged(self, name: str, grid: int, pages: PageBatch) -> Bounds:
        known = pages.truth < len(self.judged.judgments)
        by_category = self.plan.metrics[name].ideal == "category"
        fixed = pages.pinned.any(axis=1) & known & by_category
        shared = known & ~fixed
        best, bound = np.zeros(len(pages)), np.zeros(len(pages))
        best[shared], bound[shared] = self.of_truths(name, grid, pages.truth[shared])
        if fixed.any():
            gain, screen = self.judged.gains[name], self.plan.grids[grid]
            problems = ideals.pinned_problems(self.judged, gain, screen, pages.take(np.flatnonzero(fixed)))
            best[fixed], bound[fixed] = self._solved(problems, name, grid)
        return best, bound

    def _solve(self, name: str, grid: int, truths: NDArray[np.int64]) -> None:
        """Judged ideals that were not asked for before."""
        best, bound = self._known[name, grid]
        gain = self.judged.gains[name]
        if self.plan.metrics[name].ideal == "category":
            problems = ideals.judged_problems(self.judged, gain, self.plan.grids[grid], truths.astype(np.uint32))
            best[truths], bound[truths] = self._solved(problems, name, grid)
            return
        offsets, weights = self.judged.judgments.offsets, self.plan.weights(name, grid)
        best[:] = ideals.unconstrained(offsets, gain, weights, self._copies(gain, grid), self.plan.threads)
        bound[:] = best

    def _solved(self, problems: ideals.Problems, name: str, grid: int) -> Bounds:
        solution = problems.solve(self.plan.weights(name, grid), self.plan.settings.once, threads=self.plan.threads)
        return solution.best, solution.bound

    def _copies(self, gain: Array, grid: int) -> NDArray[np.int32] | None:
        """How often an item may stand on a page, where every time counts: once in each of its categories."""
        if self.plan.settings.once or self.judged.membership is None:
            return None
        truths = np.arange(len(self.judged.judgments), dtype=np.uint32)
        problems = ideals.judged_problems(self.judged, gain, self.plan.grids[grid], truths)
        copies = np.ones(len(gain), np.int32)
        copies[problems.judgment] = np.diff(problems.home_offsets)
        return copies

    def _displayed(self, name: str, grid: int, pages: PageBatch) -> Bounds:
        settings, gain, weights = self.plan.settings, self.judged.gains[name], self.plan.weights(name, grid)
        problems = ideals.displayed_problems(pages, gain, settings.duplicates)
        if self.plan.metrics[name].ideal == "unconstrained":
            best = ideals.unconstrained(problems.item_offsets, problems.gain, weights, threads=self.plan.threads)
            return best, best
        solution = problems.solve(weights, settings.once, threads=self.plan.threads)
        if settings.duplicates == "first" and pages.duplicates.any():
            first = first_occurrence_ideals(pages, gain, weights, problems, solution)
            return first.best, first.bound
        return solution.best, solution.bound
