"""Scoring the pages of some users, wherever they are: their table, and what adds up."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from carouseval.evaluation.defects.defect_lines import refuse_defects
from carouseval.evaluation.notices import RefusalError, refusals
from carouseval.evaluation.outcomes import PageOutcomes
from carouseval.evaluation.page_table import PageTable
from carouseval.evaluation.part import Part
from carouseval.evaluation.per_page import per_page
from carouseval.evaluation.reading.inputs import Inputs
from carouseval.evaluation.reading.page_batch import PageBatch, no_pages, page_batches
from carouseval.evaluation.scoring.page_ideals import PageIdeals
from carouseval.evaluation.scoring.page_scores import PageScores
from carouseval.evaluation.scoring.scoring_step import score
from carouseval.progress import Progress

Watcher: TypeAlias = Callable[[PageOutcomes], Callable[[PageBatch], None]]
"""What is told the outcomes of all pages, and returns what is told of every batch that was scored."""


def score_part(
    inputs: Inputs, ideals: PageIdeals, progress: Progress | None = None, watchers: Sequence[Watcher] = ()
) -> tuple[PageTable, Part]:
    """Score pages; what the settings refuse is raised. Systems that are compared share ``ideals``."""
    plan = inputs.plan
    outcomes = _outcomes(inputs)
    scores = _score_pages(inputs, ideals, progress, [watch(outcomes) for watch in watchers])
    frame = per_page(inputs, outcomes, scores, all_columns=inputs.is_part)
    pages = PageTable(tuple(plan.metrics), plan.settings.by_columns, frame)
    return pages, Part.of(inputs, outcomes, scores, pages, ideals)


def _outcomes(inputs: Inputs) -> PageOutcomes:
    """Decide which pages are scored, count as zero or are skipped; what the settings refuse is raised first."""
    outcomes = PageOutcomes.of(inputs.judged, inputs.layouts, inputs.plan)
    for refusal in refusals(inputs, outcomes):
        raise RefusalError(refusal, inputs.plan.settings)
    return outcomes


def _score_pages(
    inputs: Inputs, ideals: PageIdeals, progress: Progress | None, on_batch: Sequence[Callable[[PageBatch], None]]
) -> PageScores:
    """Score all pages, batch by batch; defects that the settings refuse are raised."""
    parts = []
    batches = page_batches(inputs.layouts, inputs.judged, inputs.plan, progress)
    for batch in batches:
        refuse_defects(batch, inputs, batches)
        parts.append(score(inputs.judged, batch, inputs.plan, ideals))
        for tell in on_batch:
            tell(batch)
    return PageScores.merge(
        parts or [score(inputs.judged, no_pages(inputs.layouts, inputs.judged, inputs.plan), inputs.plan, ideals)]
    )
