"""What each freedom would be worth to a page: items free inside their rows, rows free too, then the choice of items."""

from dataclasses import dataclass

import numpy as np

from carouseval.evaluation.plan import ScoringPlan
from carouseval.evaluation.reading.judged_data import JudgedData
from carouseval.evaluation.scoring import ideals
from carouseval.evaluation.scoring.first_occurrence import first_occurrence_ideals
from carouseval.evaluation.scoring.page_batch import PageBatch
from carouseval.evaluation.scoring.scoring_step import table_pages
from carouseval.metrics.grid import Array


@dataclass(frozen=True, eq=False)
class LossSteps:
    """S, S1, S2 and S3 of some pages, and where the items of pages stand when only rows are fixed, and ideally."""

    values: Array  # (pages, 4)
    inside: ideals.IdealCells
    ideal: ideals.IdealCells
    hit_weights: Array  # what every hit weighs, 0 where it does not count

    @property
    def losses(self) -> Array:
        """Item order, row order, choice; none negative, and with S they make S3 unless the page is better than that."""
        s, s1, s2, s3 = self.values.T
        s1, s2 = np.maximum(s, np.minimum(s1, s3)), np.maximum(s, np.minimum(s2, s3))
        s2 = np.maximum(s2, s1)
        losses: Array = np.maximum(0.0, np.stack([s1 - s, s2 - s1, s3 - s2], axis=1))
        return losses


def loss_steps(name: str, grid: int, pages: PageBatch, judged: JudgedData, plan: ScoringPlan) -> LossSteps:
    """The steps of pages that have one grid, by a metric of category ideals."""
    settings, gain, weights = plan.settings, judged.gains[name], plan.weights(name, grid)
    shown = table_pages(name, grid, pages, judged, plan)
    displayed = ideals.displayed_problems(pages, gain, settings.duplicates).spread(settings.once)
    fixed = ideals.rows_fixed(displayed)
    (s1, inside), (s2, free) = (_best(pages, problems, gain, weights, plan) for problems in (fixed, displayed))
    if settings.candidates == "judged":
        problems = ideals.pinned_problems(judged, gain, plan.grids[grid], pages).spread(settings.once)
        best = problems.solve(weights, True, threads=plan.threads)
        s3, ideal = best.bound, ideals.ideal_cells(problems, best, weights)
    else:
        s3, ideal = s2, free
    values = np.stack([shown.gain_sum(weights), s1, s2, s3], axis=1)
    return LossSteps(values, inside, ideal, shown.hit_weights(weights))


def _best(
    pages: PageBatch, problems: ideals.Problems, gain: Array, weights: Array, plan: ScoringPlan
) -> tuple[Array, ideals.IdealCells]:
    solution = problems.solve(weights, True, threads=plan.threads)
    if plan.settings.duplicates == "first":
        first = first_occurrence_ideals(pages, gain, weights, problems, solution)
        return first.best, first.cells
    return solution.best, ideals.ideal_cells(problems, solution, weights)
