"""``check``: reads and validates tables, and scores nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Unpack

import numpy as np
import polars as pl

from carouseval.errors import CarousevalError, DataError
from carouseval.evaluation import schema
from carouseval.evaluation.category_facts import CategoryFacts
from carouseval.evaluation.category_notices import joined_categories, personal_notes, unknown_categories
from carouseval.evaluation.check_result import Check
from carouseval.evaluation.columns import Columns
from carouseval.evaluation.defects import page_defects
from carouseval.evaluation.defects.defect_lines import find_defect
from carouseval.evaluation.defects.page_defects import PageDefect
from carouseval.evaluation.notices import large_gains, mismatches, no_category, no_relevance, refusals
from carouseval.evaluation.outcomes import PageOutcomes
from carouseval.evaluation.part import TableFacts
from carouseval.evaluation.plan import ScoringPlan
from carouseval.evaluation.reading.inputs import NO_CATEGORY, Inputs, JudgedSources
from carouseval.evaluation.reading.page_batch import page_batches
from carouseval.evaluation.scoring.shown_items import ShownItems
from carouseval.evaluation.settings import Settings, SettingsDict
from carouseval.evaluation.table_matching import TableMatch
from carouseval.evaluation.tally import Relevances, uncategorised
from carouseval.progress import Progress
from carouseval.results import plain
from carouseval.settings import checked_settings, takes
from carouseval.tables.columns import Defect
from carouseval.tables.opening import open_table
from carouseval.tables.table import Table, TableLike, in_memory


@takes(Settings)
def check(
    layouts: TableLike,
    judgments: TableLike | None = None,
    items: TableLike | None = None,
    *,
    progress: Progress | None = None,
    **settings: Unpack[SettingsDict],
) -> Check:
    """Validate tables without scoring: list all that ``evaluate`` would refuse under these settings.

    Warnings that need no scores are listed too.

    Parameters
    ----------
    layouts : table
        The pages, as in :func:`carouseval.evaluate`.
    judgments : table, optional
        Lines of ``user_id, item_id, relevance``; without them, only pages and items are checked.
    items : table, optional
        Lines of ``item_id, category``.
    progress : callable, optional
        Called with (what, done, total) while tables are read.

    Returns
    -------
    Check
        The defects, and a summary of each table.

    Examples
    --------
    >>> import carouseval as cv
    >>> layouts = {"user_id": [7, 7], "row": [1, 1], "col": [1, 1], "item_id": [1, 2], "category": ["new", "new"]}
    >>> for defect in cv.check(layouts).defects:
    ...     print(defect)
    layouts: 1 cell appears twice, first user_id=7 row=1 col=1 (line 2). Each cell holds one item; drop the repeats.
    """
    chosen = checked_settings("check", settings, Settings)
    ScoringPlan.of(chosen)  # errors of settings are raised, those of tables listed
    sources: dict[str, Any] = {"layouts": layouts, "judgments": judgments, "items": items}
    sources["carousels"] = chosen.carousels
    given, defects = _readable({n: source for n, source in sources.items() if source is not None or n == "layouts"})
    tables, unopened = _open(given, chosen)
    defects += unopened
    for table in tables.values():
        defects += _column_defects(table)
    summary = {name: _summary(table) for name, table in tables.items()} if not defects else {}
    if not defects and len(tables) == len(given):
        defects += _content_defects(given, tables, chosen, summary, progress)
    rank = {"error": 0, "warning": 1, "note": 2}
    return Check(tuple(sorted(defects, key=lambda defect: rank[defect.severity])), summary)


def _readable(sources: Mapping[str, TableLike]) -> tuple[dict[str, TableLike], list[Defect]]:
    """The sources that can be read, with those in memory that can be read only once; and why the others cannot."""
    given: dict[str, TableLike] = {}
    defects = []
    for name, source in sources.items():
        try:
            given[name] = in_memory(source, name)
        except DataError as error:
            defects.append(Defect(name, "", 1, str(error)))
    return given, defects


def _open(given: Mapping[str, TableLike], settings: Settings) -> tuple[dict[str, Table], list[Defect]]:
    """The tables that can be opened, and why the others cannot."""
    try:
        return schema.open_tables(given, settings), []
    except CarousevalError as first:
        tables: dict[str, Table] = {}
        defects = []
        for name, source in given.items():
            try:
                tables[name] = open_table(
                    source, name, schema.columns_of(name, settings), schema.names_of(settings.columns, name)
                )
            except CarousevalError as error:
                defects.append(Defect(name, "", 1, str(error)))
        return tables, defects or [Defect(_table_of(first), "", 1, str(first))]


def _table_of(error: CarousevalError) -> str:
    """The table that an error's message begins with, or nothing."""
    name = str(error).partition(":")[0]
    return name if name in schema.TABLES else ""


def _column_defects(table: Table) -> list[Defect]:
    """Values that cannot be read; or that the table is empty."""
    try:
        defects = table.defects()
        if not defects and table.height() == 0:
            defects = [Defect(table.name, "", 1, schema.EMPTY[table.name])]
        return defects
    except DataError as error:
        return [Defect(table.name, "", 1, str(error))]


def _no_judgments(layouts: Table) -> pl.DataFrame:
    """An empty table of judgments, with ids of the types that the layouts have."""
    types = {name: layouts.id_types[name] for name in (Columns.USER, Columns.ITEM)}
    return pl.DataFrame(schema=types | {Columns.RELEVANCE: pl.Float64()})


def _summary(table: Table) -> dict[str, Any]:
    """The numbers of lines, users, items and so on of a table."""
    facts: dict[str, pl.Expr] = {"cells" if table.lists else "lines": pl.len()}
    for column, name in ((Columns.USER, "users"), (Columns.ITEM, "items"), (Columns.CATEGORY, "categories")):
        if column in table:
            facts[name] = pl.col(column).drop_nulls().n_unique()
    if Columns.PAGE in table:
        facts["pages"] = pl.struct(Columns.USER, Columns.PAGE).n_unique()
    if Columns.ROW in table:
        facts |= {"rows": pl.col(Columns.ROW).max(), "cols": pl.col(Columns.COL).max()}
    if Columns.PINNED in table:
        facts["pinned_lines"] = pl.col(Columns.PINNED).sum()
    if Columns.RELEVANCE in table:
        relevance = pl.col(Columns.RELEVANCE)
        facts |= {
            "lowest_relevance": relevance.min(),
            "highest_relevance": relevance.max(),
            "share_of_zeros": (relevance == 0).mean(),
        }
    if table.name in ("items", "carousels") and Columns.USER in table:
        facts["personal_lines"] = pl.col(Columns.USER).is_not_null().sum()
    (values,) = table.query(lambda frame: frame.select(**facts))
    return values.row(0, named=True)


def _content_defects(
    given: Mapping[str, TableLike],
    tables: Mapping[str, Table],
    settings: Settings,
    summary: dict[str, dict[str, Any]],
    progress: Progress | None,
) -> list[Defect]:
    """Defects of pages, and how well the tables match."""
    judged = "judgments" in given
    if not judged:  # names of columns of judgments are no error
        settings = replace(settings, columns={"layouts": schema.names_of(settings.columns, "layouts")})
    judgments = given["judgments"] if judged else _no_judgments(tables["layouts"])
    sources = JudgedSources(judgments, given.get("items"), ScoringPlan.of(settings), needs_judgments=judged)
    try:
        with sources.open(given["layouts"], progress, lenient=True) as inputs:
            defects, unjudged, shown_items = _page_defects(inputs, summary, progress)
            if inputs.judged.membership is None and inputs.plan.needs_categories:  # items may come with the judgments
                defects.append(Defect("layouts", Columns.CATEGORY, 1, NO_CATEGORY, "error" if judged else "warning"))
            defects += personal_notes(inputs)
            facts = CategoryFacts.of(inputs)
            if joined := joined_categories(facts, settings, inputs.tables):
                defects.append(joined)
            valid = not any(defect.severity == "error" for defect in defects)
            if not judged:
                return defects
            return defects + _match_defects(inputs, facts, summary, unjudged, shown_items if valid else None)
    except CarousevalError as error:
        return [Defect(_table_of(error), "", 1, str(error))]


def _page_defects(
    inputs: Inputs, summary: dict[str, dict[str, Any]], progress: Progress | None
) -> tuple[list[Defect], int, ShownItems]:
    """Defects of pages, the number of items shown without a judgment, and the judged items shown."""
    marked: dict[PageDefect, list[Any]] = {}
    refused: set[PageDefect] = set()
    duplicates, unjudged, shown_items = 0, 0, ShownItems(inputs.judged)
    for batch in page_batches(inputs.layouts, inputs.judged, inputs.plan, progress):
        refused_here = dict(page_defects.refused(batch, inputs.plan))
        refused |= refused_here.keys()
        for defect in dict.fromkeys((*page_defects.PAGE_DEFECTS, *refused_here)):
            marked.setdefault(defect, []).append(page_defects.marked_pages(batch, defect))
        duplicates, unjudged = duplicates + int(batch.duplicates.sum()), unjudged + int(batch.unjudged.sum())
        shown_items.add(batch)
    defects: list[Defect] = []
    for defect, parts in marked.items():
        pages = np.concatenate(parts)
        if len(pages):
            severity = "error" if defect in refused else "warning"
            defects.append(replace(find_defect(defect, pages, inputs).defect(), severity=severity))
    summary["layouts"] |= {"pages": int(inputs.layouts.present.sum()), "repeated_items": duplicates}
    return defects, unjudged, shown_items


def _match_defects(
    inputs: Inputs,
    facts: CategoryFacts,
    summary: dict[str, dict[str, Any]],
    unjudged: int,
    shown_items: ShownItems | None,
) -> list[Defect]:
    """How well the tables match.

    Shares are those of :class:`carouseval.Comparison`, for users with a page; without valid pages there are none.
    """
    layouts = inputs.layouts
    outcomes = PageOutcomes.of(inputs.judged, layouts, inputs.plan)
    missing, without_category = len(outcomes.entries.missing_sets), uncategorised(inputs)
    shares: dict[str, Any] = {}
    if shown_items is not None:
        of_pages = shown_items.counts()
        shares = {"relevant_shown": of_pages.share_of_relevant, "judged_share": of_pages.judged_share}
    counts = {
        "judged_without_page": missing,
        "pages_without_relevant": int((~outcomes.by_any.relevant & ~outcomes.by_any.missing).sum()),
        "judged_without_category": without_category,
    }
    summary["match"] = plain(shares | counts)
    defects = [refusal.defect(inputs.plan.settings) for refusal in refusals(inputs, outcomes)]
    if without_category and inputs.plan.needs_categories:
        message = no_category(TableFacts.of(inputs), without_category)
        defects.append(Defect("items", Columns.CATEGORY, without_category, message, "warning"))
    if message := no_relevance(inputs.tables):
        defects.append(Defect("judgments", Columns.RELEVANCE, 1, message, "note"))
    ids = {Columns.USER: len(inputs.codebook.users), Columns.ITEM: len(inputs.codebook.items)}
    defects += mismatches(inputs.tables, TableMatch.of(inputs, missing, unjudged), ids)
    return defects + large_gains(inputs.tables, Relevances.of(inputs)) + unknown_categories(facts)
