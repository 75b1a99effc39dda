"""From tables on an engine to scores: the evaluation of one system."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import polars as pl

from carouseval.engines.all_users import other_users
from carouseval.engines.contract import Engine, Mapped, Tables
from carouseval.engines.given_tables import GivenTables, Job
from carouseval.engines.kept_pages import KeptPages
from carouseval.engines.reports import ONLY_RUN, Reads, sums_of_pass
from carouseval.errors import DataError, warn
from carouseval.evaluation import schema
from carouseval.evaluation.evaluate import finish_evaluation, score_part
from carouseval.evaluation.notices import notify_of_over_capacity
from carouseval.evaluation.page_table import Table
from carouseval.evaluation.part import Part
from carouseval.evaluation.reading.inputs import OtherUsers
from carouseval.evaluation.results import Evaluation
from carouseval.evaluation.scoring.page_ideals import PageIdeals
from carouseval.evaluation.settings import Settings
from carouseval.tables.table import TableLike

LAYOUTS = "layouts"


def evaluate_on(
    engine: Engine[Table], layouts: Table, judgments: Table, items: Table | TableLike | None, settings: Settings
) -> Evaluation[Table]:
    """Score a system's pages on an engine.

    What is known only of all users is found in a first pass over them, where scores depend on it; users are scored in a
    second. What parts of the users report is added up, and the sum is finished as on one machine.
    """
    tables = GivenTables.of(engine, {LAYOUTS: layouts}, judgments, items, settings)
    others, read = other_users(tables)
    work, types = partial(score_users, job=tables.job(others)), tables.page_types()
    scored = engine.map(tables.streamed, work, types, least=tables.least_lines)
    try:
        part, read = sums_of_pass(scored, read, tables)
        return evaluation_of(whole(part, tables, others), scored, read, tables)
    except BaseException:
        scored.drop()
        raise


def evaluation_of(part: Part, scored: Mapped[Table], read: Reads, tables: GivenTables[Table]) -> Evaluation[Table]:
    """The evaluation of the sum of all parts, with what is to be said of it."""
    plan, types = tables.plan, tables.page_types()
    place, by = tables.engine.place, plan.settings.by_columns
    kept = KeptPages(tuple(plan.metrics), by, scored, part, read, {LAYOUTS: ONLY_RUN}, types, place)
    result = finish_evaluation(part, kept, plan, tables.of_run(LAYOUTS), warn)
    notify_of_over_capacity(part.rows, part.tables, warn)
    return result


def whole(part: Part | None, tables: GivenTables[Any], others: OtherUsers) -> Part:
    """The sum of all parts, with what no part says; tables without a line are refused."""
    if part is None or part.tally.match.judgment_sets == 0:
        raise DataError(schema.EMPTY["judgments"])
    if part.tally.match.lines == 0:
        raise DataError(schema.EMPTY["layouts"])
    if not tables.plan.figures:
        return part
    if others.pairs is not None:
        return replace(part, items=part.items.with_catalogue(others.pairs["item_id"]))
    if tables.items is None:
        return part
    names = tables.tables["items"].names
    listed = tables.items.drop_nulls(names["category"])[names["item_id"]]
    return replace(part, items=part.items.with_catalogue(listed))


def score_users(tables: Tables, job: Job) -> tuple[list[pl.DataFrame], Part]:
    """The scores of some users' pages, and what they add to an evaluation."""
    with job.open(tables) as inputs:
        pages, part = score_part(inputs, PageIdeals(inputs.judged, inputs.plan, inputs.shown))
        return [pages.frame], part
