"""The value of a page after each step of improvement: order of items in rows, order of rows, choice of items."""

from dataclasses import dataclass

import numpy as np

from carouseval.evaluation.plan import ScoringPlan
from carouseval.evaluation.reading.judged_data import JudgedData
from carouseval.evaluation.reading.page_batch import PageBatch
from carouseval.evaluation.scoring import ideal_problems
from carouseval.evaluation.scoring.first_occurrence import first_occurrence_ideals
from carouseval.evaluation.scoring.page_scores import divisor
from carouseval.evaluation.scoring.scoring_step import table_pages
from carouseval.metrics.grid import Array


@dataclass(frozen=True, eq=False)
class LossSteps:
    """S, S1, S2 and S3 of some pages, and the cells of items with rows fixed (S1) and on ideal pages (S3)."""

    values: Array  # (pages, 4)
    inside: ideal_problems.IdealCells
    ideal: ideal_problems.IdealCells
    hit_weights: Array  # the weight of every hit, 0 where it does not count

    @property
    def losses(self) -> Array:
        """Item order, row order, choice: none negative, and S plus them is S3 unless the page is above its ideal."""
        s, s1, s2, s3 = self.values.T
        s1, s2 = np.maximum(s, np.minimum(s1, s3)), np.maximum(s, np.minimum(s2, s3))
        s2 = np.maximum(s2, s1)
        losses: Array = np.maximum(0.0, np.stack([s1 - s, s2 - s1, s3 - s2], axis=1))
        return losses


def loss_steps(name: str, grid: int, pages: PageBatch, judged: JudgedData, plan: ScoringPlan) -> LossSteps:
    """The steps of pages that have one grid, by a metric with a category ideal."""
    settings, gain, weights = plan.settings, judged.gains[name], plan.weights(name, grid)
    on_pages = table_pages(name, grid, pages, judged, plan)
    displayed = ideal_problems.displayed_problems(pages, gain, settings.duplicates).spread(settings.once)
    fixed = ideal_problems.rows_fixed(displayed)
    (s1, _, inside), (s2, bound, free) = (
        _best(pages, problems, gain, weights, plan) for problems in (fixed, displayed)
    )
    if settings.candidates == "judged":
        problems = ideal_problems.pinned_problems(judged, gain, plan, grid, pages).spread(settings.once)
        best = problems.solve(weights, True, threads=plan.threads)
        s3, ideal = divisor(best.best, best.bound), ideal_problems.ideal_cells(problems, best, weights)
    else:
        s2 = s3 = bound
        ideal = free
    values = np.stack([on_pages.gain_sum(weights), s1, s2, s3], axis=1)
    return LossSteps(values, inside, ideal, on_pages.hit_weights(weights))


def _best(
    pages: PageBatch, problems: ideal_problems.IdealProblems, gain: Array, weights: Array, plan: ScoringPlan
) -> tuple[Array, Array, ideal_problems.IdealCells]:
    """The best value, what a score would be divided by, and the cells."""
    if plan.settings.duplicates == "first":
        first = first_occurrence_ideals(pages, gain, weights, problems, plan.threads)
        return first.best, divisor(first.best, first.bound), first.cells
    solution = problems.solve(weights, True, threads=plan.threads)
    return (
        solution.best,
        divisor(solution.best, solution.bound),
        ideal_problems.ideal_cells(problems, solution, weights),
    )
