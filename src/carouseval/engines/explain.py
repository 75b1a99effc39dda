"""From tables on an engine to what a system's pages lose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import polars as pl

from carouseval.engines.all_users import other_users
from carouseval.engines.contract import Engine, Tables
from carouseval.engines.evaluate import LAYOUTS, evaluation_of, whole
from carouseval.engines.given_tables import GivenTables, Job
from carouseval.engines.kept_pages import require_few
from carouseval.engines.reports import sums_of_pass
from carouseval.errors import warn
from carouseval.evaluation.evaluate import score_part
from carouseval.evaluation.explain import finish_explanation
from carouseval.evaluation.explained_pages import ChosenPages
from carouseval.evaluation.explanation import Explanation
from carouseval.evaluation.losses import Losses, LossPart, LossScale, explained_metric
from carouseval.evaluation.outcomes import PageOutcomes
from carouseval.evaluation.page_table import Table
from carouseval.evaluation.part import Part
from carouseval.evaluation.per_page import page_columns
from carouseval.evaluation.plan import ScoringPlan
from carouseval.evaluation.result_columns import LOSSES
from carouseval.evaluation.scoring.page_ideals import PageIdeals
from carouseval.evaluation.settings import Settings
from carouseval.tables.table import TableLike


def explain_on(
    engine: Engine[Table],
    layouts: Table,
    judgments: Table,
    items: Table | TableLike | None,
    settings: Settings,
    pages: Sequence[Any] = (),
) -> Explanation:
    """Explain on an engine what a system's pages lose; the losses of all pages come here, unless they are too many.

    Losses are parts of the mean over all users, so these are scored in one pass and explained in the next.
    """
    name = explained_metric(ScoringPlan.of(settings))
    tables = GivenTables.of(engine, {LAYOUTS: layouts}, judgments, items, settings)
    others, read = other_users(tables)
    job, least = tables.job(others), tables.least_lines
    scored = engine.map(tables.streamed, partial(measure_users, job=job, name=name), tables.page_types(), least=least)
    try:
        measured: MeasuredPart | None
        measured, read = sums_of_pass(scored, read, tables)
        part = whole(None if measured is None else measured.part, tables, others)
        require_few(part, f"explain lists all pages, which stay in {engine.place}", "Explain some of the users.")
        evaluation = evaluation_of(part, scored, read, tables).collect()
    finally:
        scored.drop()
    assert measured is not None
    present = page_columns(
        tables.plan, page_ids=tables.has("page_id"), weighted=settings.weight is not None, unproven=()
    )
    chosen = ChosenPages.of(evaluation.per_page, name, pages)
    work = partial(explain_users, job=job, name=name, scale=measured.scale, chosen=chosen)
    explained = engine.map(tables.streamed, work, LOSSES.types(present, tables.id_types), least=least)
    try:
        losses: LossPart
        losses, _ = sums_of_pass(explained, read, tables)
        lines, _ = explained.collect()
    finally:
        explained.drop()
    keys = [key for key in ("user_id", "page_id") if key in evaluation.per_page.columns]
    frame = evaluation.per_page.select(keys).join(lines, on=keys, how="left", maintain_order="left", nulls_equal=True)
    frame = frame[lines.columns]
    return finish_explanation(name, frame, losses, chosen, measured.scale, evaluation, tables.plan, warn, None)


@dataclass(frozen=True)
class MeasuredPart:
    """What some users add to an evaluation, and to what their losses are parts of."""

    part: Part
    scale: LossScale

    def __add__(self, other: MeasuredPart) -> MeasuredPart:
        return MeasuredPart(self.part + other.part, self.scale + other.scale)


def measure_users(tables: Tables, job: Job, name: str) -> tuple[list[pl.DataFrame], MeasuredPart]:
    """The scores of some users' pages, and what they add to all."""
    seen: list[PageOutcomes] = []

    def watch(outcomes: PageOutcomes) -> Any:
        seen.append(outcomes)
        return lambda _: None

    with job.open(tables) as inputs:
        ideals = PageIdeals(inputs.judged, inputs.plan, inputs.shown)
        pages, part = score_part(inputs, ideals, watchers=[watch])
        return [pages.frame], MeasuredPart(part, LossScale.of(inputs, name, seen[0]))


def explain_users(
    tables: Tables, job: Job, name: str, scale: LossScale, chosen: ChosenPages
) -> tuple[list[pl.DataFrame], LossPart]:
    """The losses of some users' pages, and what they add to those of all."""
    with job.open(tables) as inputs:
        ideals = PageIdeals(inputs.judged, inputs.plan, inputs.shown, keeps_cells=True)
        losses = Losses(inputs, name, ideals, scale)
        pages, _ = score_part(inputs, ideals, watchers=[losses.begin])
        frame, part = losses.part(pages, chosen)
        return [frame], part
