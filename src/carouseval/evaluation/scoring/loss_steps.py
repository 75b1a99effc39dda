"""The value of a page after each step of improvement: order of items in rows, order of rows, choice of items."""

from dataclasses import dataclass

import numpy as np

from carouseval.evaluation.reading.page_batch import PageBatch
from carouseval.evaluation.scoring import ideal_problems
from carouseval.evaluation.scoring.page_ideals import PageIdeals, solve_displayed
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
    row_gaps: Array  # by what share of S3 at most S2 is too low; 0 where it is proven, or where it is S3

    @property
    def losses(self) -> Array:
        """Item order, row order, choice: none negative, and S plus them is S3 unless the page is above its ideal."""
        s, s1, s2, s3 = self.values.T
        s1, s2 = np.maximum(s, np.minimum(s1, s3)), np.maximum(s, np.minimum(s2, s3))
        s2 = np.maximum(s2, s1)
        losses: Array = np.maximum(0.0, np.stack([s1 - s, s2 - s1, s3 - s2], axis=1))
        return losses


def loss_steps(name: str, grid: int, pages: PageBatch, ideals: PageIdeals) -> LossSteps:
    """The steps of pages that have one grid, by a metric with a category ideal, the cells of which are kept."""
    judged, plan = ideals.judged, ideals.plan
    gain, weights = judged.gains[name], plan.weights(name, grid)
    on_pages = table_pages(name, grid, pages, judged, plan)
    displayed = ideal_problems.displayed_problems(pages, gain, plan.settings.duplicates)
    inside = solve_displayed(pages, ideal_problems.rows_fixed(displayed), gain, weights, plan)
    s3 = divisor(*ideals.of_pages(name, grid, pages))
    s2, row_gaps = s3, np.zeros(len(pages))
    if plan.settings.candidates == "judged":
        arranged = solve_displayed(pages, displayed, gain, weights, plan)
        s2 = arranged.best
        row_gaps = np.maximum(0.0, np.minimum(divisor(s2, arranged.bound), s3) - s2)
        row_gaps = np.divide(row_gaps, s3, out=np.zeros(len(pages)), where=s3 > 0)
    return LossSteps(
        values=np.stack([on_pages.gain_sum(weights), inside.best, s2, s3], axis=1),
        inside=inside.cells(),
        ideal=ideals.cells_of_pages(name, grid, pages),
        hit_weights=on_pages.hit_weights(weights),
        row_gaps=row_gaps,
    )
