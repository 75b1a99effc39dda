"""Looks up one page of a table, and solves its ideal."""

from dataclasses import replace
from numbers import Integral
from typing import Any

import polars as pl

from carouseval.errors import ParameterError
from carouseval.evaluation.defects.defect_lines import refuse_defects
from carouseval.evaluation.page_view import PageView, first_page_text
from carouseval.evaluation.page_views import page_views
from carouseval.evaluation.reading.inputs import JudgedTables
from carouseval.evaluation.reading.page_batch import page_batches
from carouseval.evaluation.scoring.loss_steps import loss_steps
from carouseval.evaluation.scoring.page_ideals import PageIdeals
from carouseval.tables.table import RECORD, Table, TableLike


def look_up_page(
    judged: JudgedTables,
    ideals: PageIdeals,
    layouts: TableLike,
    metric: str,
    user_id: Any,
    page_id: Any = None,
) -> PageView:
    """Look a page up by its ids, the first of its user by default; its lines are read again.

    It is judged by the same data and ideals as before: what belongs to which category may come from all pages.
    """
    table = judged.sources.tables(layouts, judged)["layouts"]
    keep = {"user_id": user_id} | ({} if page_id is None else {"page_id": page_id})
    lines = _lines(table, keep)
    if lines.is_empty():
        ids = " ".join(f"{column}={value!r}" for column, value in keep.items())
        judged_user = ", who has judgments" if _has_judgments(judged, user_id) else ""
        raise ParameterError(f"layouts: there is no page of {ids}{judged_user}.")
    reason = ""
    if page_id is None and "page_id" in lines.columns:
        page_ids = lines["page_id"].unique().sort()
        page_id = page_ids[0]
        lines = lines.filter(pl.col("page_id") == page_id)
        reason = first_page_text(len(page_ids))
    with judged.read(judged.sources.tables(lines, judged, canonical=True)) as reading:
        inputs = reading.inputs(ideals.judged)
        (page,) = page_batches(inputs.layouts, inputs.judged, inputs.plan)
        refuse_defects(page, inputs)
        ideals = ideals.for_layouts(ideals.judged, None)
        values = loss_steps(metric, int(page.grid[0]), page, ideals).values
        (view,) = page_views(inputs, metric, page, values, ideals)
    return replace(view, reason=reason)


def _has_judgments(judged: JudgedTables, user_id: Any) -> bool:
    judgments = judged.data.judgments
    users = judged.codebook.users.values().gather(judgments.user[judgments.judged])
    return bool((users == user_id).any())


def _lines(table: Table, keep: dict[str, Any]) -> pl.DataFrame:
    for column, value in keep.items():
        if column not in table:
            raise ParameterError(f"layouts have no column {column}.")
        kind, word = (Integral, "an integer") if table.id_types[column] == pl.Int64 else (str, "text")
        if not isinstance(value, kind) or isinstance(value, bool):
            raise ParameterError(f"{column} must be {word}, as in layouts, found {value!r}.")
    chosen = [pl.col(column) == value for column, value in keep.items()]
    (lines,) = table.query(lambda frame: frame.filter(*chosen).drop(RECORD))
    return lines
