"""Reading and checking the tables of candidate carousels."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace

import numpy as np
import polars as pl

from carouseval.building.candidate_carousels import CandidateCarousels, CurrentPage
from carouseval.errors import DataError, ParameterError, warn
from carouseval.evaluation import schema
from carouseval.evaluation.defects import page_defects
from carouseval.evaluation.defects.defect_lines import find_defect
from carouseval.evaluation.notices import large_gains, no_category, not_proven
from carouseval.evaluation.part import TableFacts
from carouseval.evaluation.per_page import page_names
from carouseval.evaluation.plan import ScoringPlan
from carouseval.evaluation.reading.inputs import NEEDS_CATEGORIES, Inputs, JudgedSources, JudgedTables, all_inputs
from carouseval.evaluation.reading.page_batch import PageBatch, page_batches
from carouseval.evaluation.scoring.page_ideals import PageIdeals
from carouseval.evaluation.scoring.page_scores import divisor, gaps
from carouseval.evaluation.settings import Settings
from carouseval.evaluation.tables_from_layouts import items_from_layouts
from carouseval.evaluation.tally import Relevances, uncategorised
from carouseval.messages import nested, setting
from carouseval.metrics.grid import Array, Grid, IntArray
from carouseval.progress import Progress
from carouseval.tables.table import RECORD, Table, TableLike, in_memory

_KEYS = ["user_id", "carousel", "col"]
_INVALID = {  # what may be wrong with a carousel that is scored if the settings say so: in words, and what to do
    page_defects.OUTSIDE_CATEGORY: (
        "carousel shows items outside their category",
        "carousels show items outside their category",
        f"Add the category to items, correct the carousel, or use {setting('invalid', 'count')}.",
    ),
    page_defects.OVER_CAPACITY: (
        "carousel holds more than the capacity of its category",
        "carousels hold more than the capacity of their category",
        nested(page_defects.OVER_CAPACITY.remedy),
    ),
}
# here candidates are a table, so that no setting of that name can be advised
_PINNED_UNKNOWN = replace(page_defects.PINNED_UNKNOWN, remedy="Add a column category to layouts.")


def read_candidates(
    layouts: TableLike | None,
    candidates: TableLike,
    judgments: TableLike,
    items: TableLike | None,
    settings: Settings,
    progress: Progress | None,
) -> CandidateCarousels:
    """Read and check all tables; defects of candidates are reported under that name."""
    if not isinstance(settings.grid, Grid):
        raise ParameterError(f"{setting('grid')} must be a carouseval.Grid, found {type(settings.grid).__name__}.")
    arguments = {"layouts": layouts, "candidates": candidates, "judgments": judgments, "items": items}
    arguments |= {"carousels": settings.carousels}
    sources = {name: in_memory(source, name) for name, source in arguments.items() if source is not None}
    if isinstance(frame := sources.get("layouts"), pl.DataFrame) and frame.is_empty():
        del sources["layouts"]  # an empty table need not have columns
    tables = schema.open_tables(sources, settings)
    if "layouts" in tables and not tables["layouts"].height():
        del sources["layouts"], tables["layouts"]
    for name in ("layouts", "judgments"):
        if name in tables and "page_id" in tables[name]:
            raise DataError(
                f"{name}: found a column page_id, but each user has one page here. Keep one page per user and drop "
                "page_id."
            )
    cells = _cells(tables["candidates"])
    shown_items = None
    if "items" not in sources:
        if "category" not in cells.columns:
            cells = cells.with_columns(category="carousel")  # each carousel is a category of its own
        shown_items = _shown_items(tables, cells)
    plan = ScoringPlan.of(replace(settings, columns=_column_names(tables), carousels=sources.get("carousels")))
    metric = _linear_metric(plan)
    if shown_items is None and "items" not in sources and plan.needs_categories:
        raise DataError(f"{NEEDS_CATEGORIES}.")
    # a category that is declared personal holds what each user is shown there: of a table of items, that is to be added
    judged = JudgedSources(
        sources["judgments"], sources.get("items", shown_items), plan, from_layouts="items" in sources
    )
    return _read(judged, metric, tables, cells, sources.get("layouts"), shown_items is not None, progress)


def _linear_metric(plan: ScoringPlan) -> str:
    """The name of the one metric, whose cells must have values that do not depend on the rest of the page."""
    name, *others = plan.names
    if others or name not in plan.metrics or not plan.metrics[name].linear or plan.metrics[name].by_rank:
        raise ParameterError(
            f"{setting('metrics')}: give one of 2DCG, N2DCG and N2DCG_cat, with any discount and cutoff, found "
            f"{', '.join(plan.names)}."
        )
    return name


def _cells(table: Table) -> pl.DataFrame:
    if "carousel" not in table and "category" not in table:
        raise DataError(
            "candidates: missing column carousel (or category, used as the name of the carousel); it has "
            f"{', '.join(table.header)}. If yours have other names, use "
            f"{setting('columns', {'carousel': 'shelf', ...: ...})}."
        )
    cells = table.collect()
    if cells.is_empty():
        raise DataError(
            "candidates: the table has no lines. Give at least one line of user_id, carousel, col, item_id."
        )
    return cells if "carousel" in cells.columns else cells.with_columns(carousel="category")


def _shown_items(tables: Mapping[str, Table], cells: pl.DataFrame) -> pl.DataFrame | None:
    """The items of every category that layouts and candidates show; None if layouts have no categories."""
    candidates = cells.select("user_id", "col", "item_id", "category", row=1)
    declared = tables["carousels"].collect() if "carousels" in tables else None
    if "layouts" not in tables:
        return items_from_layouts(candidates, carousels=declared)
    if "category" not in tables["layouts"]:
        return None
    layouts = tables["layouts"].collect().select("user_id", "row", "col", "item_id", "category")
    if layouts["category"].dtype != candidates["category"].dtype:
        raise DataError(
            "candidates: carousels are named by integers and the categories of layouts by text, or the reverse. "
            "Convert one of them."
        )
    return items_from_layouts(candidates, layouts, carousels=declared)


def _column_names(tables: Mapping[str, Table]) -> dict[str, dict[str, str]]:
    """The columns of each table that have another name in the user's data."""
    return {
        name: {column: header for column, header in table.names.items() if column != header}
        for name, table in tables.items()
    }


def _read(
    sources: JudgedSources,
    metric: str,
    tables: Mapping[str, Table],
    cells: pl.DataFrame,
    layouts: TableLike | None,
    uses_shown_items: bool,
    progress: Progress | None,
) -> CandidateCarousels:
    plan = sources.plan
    # each carousel is read as a page of its own, with one row
    pages_of_one = cells.select(
        "user_id", pl.col("carousel").alias("page_id"), "col", "item_id", *_category(cells), row=1
    )
    with _opened(sources, pages_of_one, layouts, progress) as (inputs, *current):
        judgments, codebook = inputs.judged.judgments, inputs.codebook
        ideals = PageIdeals(inputs.judged, plan, progress=progress)
        scored = np.flatnonzero(inputs.judged.relevant_items(metric))
        user_number = np.full(len(judgments), -1)
        user_number[scored] = np.arange(len(scored))
        bounds = np.ones((2, len(judgments)))  # of every user: the best ideal page found, and the bound on it
        if plan.metrics[metric].ideal != "none":
            bounds[:, scored] = ideals.of_judgment_sets(metric, 0, scored.astype(np.uint32))
        hits, counts = _hits(inputs, tables["candidates"], progress)
        pages, page_user = page_names(inputs, np.arange(len(inputs.layouts))), inputs.layouts.user
        names = pages["page_id"].unique().sort()
        page_carousel = names.search_sorted(pages["page_id"]).to_numpy().astype(np.int64)
        available = np.zeros((len(names), len(scored)), bool)
        is_scored = page_user < len(judgments)
        is_scored[is_scored] = user_number[page_user[is_scored]] >= 0
        available[page_carousel[is_scored], user_number[page_user[is_scored]]] = True
        counts["uncategorised"] = uncategorised(inputs) if plan.needs_categories else 0
        if counts["uncategorised"]:
            warn(no_category(TableFacts.of(inputs), counts["uncategorised"]))
        for defect in large_gains(inputs.tables, Relevances.of(inputs)):
            warn(str(defect))
        source = "none" if inputs.judged.membership is None else inputs.judged.membership.source
        config = plan.config() | {
            "items": "layouts and candidates" if uses_shown_items else source,
            "relevance": "given" if schema.relevance_is_given(inputs.tables["judgments"]) else schema.RELEVANCE_1,
        }
        page, bounds, counts["invalid"] = _current_page(
            current, ideals, metric, user_number, bounds, len(scored), progress
        )
    ideal, gap = divisor(*bounds), gaps(*bounds)
    counts["bounded"] = int((gap > 0).sum())
    if counts["bounded"]:
        warn(not_proven(counts["bounded"], float(gap.max()), plan.settings))
    share = np.zeros(len(judgments))
    share[scored] = np.divide(
        1 / max(1, len(scored)), ideal[scored], out=np.zeros(len(scored)), where=ideal[scored] > 0
    )
    judged_items = np.diff(judgments.offsets)
    order = np.lexsort((hits[:, 2], hits[:, 1], page_carousel[hits[:, 0]]))
    carousel, judgment, col = page_carousel[hits[order, 0]], hits[order, 1], hits[order, 2]
    is_start = np.ones(len(order), bool)
    is_start[1:] = (carousel[1:] != carousel[:-1]) | (judgment[1:] != judgment[:-1])
    if not len(scored):
        warn("judgments: no user has a relevant item, so there is nothing to gain.")
    elif not len(order):
        warn("candidates: no carousel shows an item that is relevant to its user. Are ids written the same way?")
    return CandidateCarousels(
        metric=metric,
        names=names.to_list(),
        users=codebook.users.values().gather(scored).alias("user_id"),
        cells=cells,
        grid=plan.grids[0],
        weights=plan.weights(metric, 0),
        page=page,
        available=available,
        hit_carousel=carousel,
        hit_judgment=judgment,
        hit_col=col,
        pair_start=np.flatnonzero(is_start),
        judgment_user=np.repeat(user_number, judged_items),
        normalized_gain=ideals.judged.gains[metric] * np.repeat(share, judged_items),
        counts={"users": len(scored), "carousels": len(names), "lines": cells.height} | counts,
        config=config,
    )


@contextmanager
def _opened(
    sources: JudgedSources, candidates: pl.DataFrame, layouts: TableLike | None, progress: Progress | None
) -> Iterator[list[Inputs]]:
    """The candidates and, if there are any, the current pages: what both show decides what ideals may show."""
    with ExitStack() as stack:
        tables = sources.tables(candidates, canonical=True)
        judged, share = JudgedTables.of(sources, tables), 1 if layouts is None else 2
        readings = [stack.enter_context(judged.read(tables, progress, lenient=True, share=share))]
        if layouts is not None:
            current = judged.read(sources.tables(layouts, judged), progress, share=share)
            readings.append(stack.enter_context(current))
        yield all_inputs(readings)


def _category(cells: pl.DataFrame) -> list[str]:
    return ["category"] if "category" in cells.columns else []


def _hits(inputs: Inputs, table: Table, progress: Progress | None) -> tuple[IntArray, dict[str, int]]:
    """Page, judgment and column of every hit of the candidates, and counts of what to report."""
    parts, counts = [np.empty((0, 3), np.int64)], {"unjudged": 0, "gaps": 0, "invalid_carousels": 0}
    for batch in page_batches(inputs.layouts, inputs.judged, inputs.plan, progress):
        _refuse_defects(inputs, batch, table)
        counts["invalid_carousels"] += int(((batch.defects & sum(defect.bit for defect in _INVALID)) > 0).sum())
        counts["unjudged"] += int(batch.unjudged.sum())
        counts["gaps"] += len(page_defects.marked_pages(batch, page_defects.GAP))
        page, judgment = batch.pages[batch.hit_page], batch.hit_judgment
        parts.append(np.stack([page, judgment, batch.hit_cells()[1]], axis=1))
    return np.concatenate(parts), counts


def _refuse_defects(inputs: Inputs, batch: PageBatch, table: Table) -> None:
    grid = inputs.plan.grids[0]
    if len(page_defects.marked_pages(batch, page_defects.REPEATED_CELL)):
        keys = [key if key in table else "category" for key in _KEYS]
        (lines,) = table.query(lambda frame: frame.sort(RECORD))
        repeats = lines.filter(~pl.struct(keys).is_first_distinct())
        row = repeats.row(0, named=True)
        cell = " ".join(f"{key}={row[key]!r}" for key in keys)
        subject = "cell appears" if repeats.height == 1 else "cells appear"
        raise DataError(
            f"candidates: {repeats.height:,} {subject} twice, first {cell} ({table.where(row[RECORD])}). "
            "Each cell holds one item; drop the repeats."
        )
    if len(page_defects.marked_pages(batch, page_defects.OUTSIDE_GRID)):
        record, total, row = table.find(pl.col("col") > grid.cols)
        subject = "cell lies" if total == 1 else "cells lie"
        raise DataError(
            f"candidates: {total:,} {subject} outside the grid of {grid}, first user_id={row['user_id']!r} "
            f"col={row['col']} ({table.where(record)}). {nested(page_defects.OUTSIDE_GRID.remedy)}"
        )
    for defect, (one, several, remedy) in _INVALID.items() if inputs.plan.settings.invalid == "error" else ():
        invalid = page_defects.marked_pages(batch, defect)
        if len(invalid):
            first = page_names(inputs, invalid).sort(pl.all()).row(0)
            raise DataError(
                f"candidates: {len(invalid):,} {one if len(invalid) == 1 else several}, first user_id={first[0]!r} "
                f"carousel={first[1]!r}. {remedy}"
            )


def _current_page(
    current: Sequence[Inputs],
    ideals: PageIdeals,
    metric: str,
    user_number: IntArray,
    bounds: Array,
    users: int,
    progress: Progress | None,
) -> tuple[CurrentPage, Array, int]:
    """The current pages, the bounds of every user's ideal, which differ where rows are pinned, and invalid pages."""
    row_count, last_pinned = np.zeros(users, np.int64), np.zeros(users, np.int64)
    empty = np.empty(0, np.int64)
    parts, invalid = [(empty, empty, empty)], 0
    for inputs in current:
        for batch in page_batches(inputs.layouts, inputs.judged, inputs.plan, progress):
            _refuse_pages(inputs, batch)
            invalid += int(((batch.defects & page_defects.INVALID) > 0).sum())
            judged = np.flatnonzero(batch.pages < len(user_number))
            scored = batch.take(judged[user_number[batch.pages[judged]] >= 0])
            if inputs.plan.metrics[metric].ideal != "none":
                bounds[:, scored.pages] = ideals.of_pages(metric, 0, scored)
            rows = np.arange(1, scored.length.shape[1] + 1)
            user = user_number[scored.pages]
            row_count[user] = ((scored.length > 0) * rows).max(axis=1, initial=0)
            last_pinned[user] = ((scored.pinned > 0) * rows).max(axis=1, initial=0)
            parts.append((scored.hit_judgment, *scored.hit_cells()))
    judgment, row, col = (np.concatenate(part) for part in zip(*parts, strict=True))
    return CurrentPage(judgment, row, col, row_count, last_pinned), bounds, invalid


def _refuse_pages(inputs: Inputs, batch: PageBatch) -> None:
    """Raise the first defect of the current pages that the settings refuse."""
    for defect, pages in page_defects.refused(batch, inputs.plan):
        if len(pages):
            advised = _PINNED_UNKNOWN if defect is page_defects.PINNED_UNKNOWN else defect
            raise DataError(str(find_defect(advised, pages, inputs).defect()))
