"""Tables of candidates, read and checked."""

from collections.abc import Mapping

import numpy as np
import polars as pl

from carouseval.building.candidate_carousels import CandidateCarousels, CurrentPage
from carouseval.errors import DataError, ParameterError
from carouseval.evaluation import page_defects, schema
from carouseval.evaluation.defect_lines import refuse_defects
from carouseval.evaluation.notices import no_category, uncategorised, warn
from carouseval.evaluation.per_page import page_names
from carouseval.evaluation.plan import ScoringPlan
from carouseval.evaluation.reading.inputs import NO_CATEGORY, Inputs, JudgedSources
from carouseval.evaluation.scoring.page_batch import PageBatch, page_batches
from carouseval.evaluation.scoring.page_ideals import PageIdeals
from carouseval.evaluation.settings import ColumnNames, Settings
from carouseval.metrics.gains import Gain
from carouseval.metrics.grid import Array, Grid, IntArray
from carouseval.metrics.names import MetricLike
from carouseval.tables import RECORD, Table, TableLike, in_memory

_KEYS = ["user_id", "carousel", "col"]


def read_carousels(
    page: TableLike | None,
    candidates: TableLike,
    judgments: TableLike,
    items: TableLike | None,
    metric: MetricLike,
    grid: Grid,
    gain: Gain,
    columns: ColumnNames,
) -> CandidateCarousels:
    """Read and check all tables; what is wrong with candidates is said of them."""
    if not isinstance(grid, Grid):
        raise ParameterError(f"grid must be a carouseval.Grid, found {type(grid).__name__}.")
    given = {"layouts": page, "candidates": candidates, "judgments": judgments, "items": items}
    sources = {name: in_memory(source, name) for name, source in given.items() if source is not None}
    if isinstance(shown := sources.get("layouts"), pl.DataFrame) and shown.is_empty():
        del sources["layouts"]  # a page without rows need not have columns
    tables = schema.open_tables(sources, Settings(columns=columns))
    if "layouts" in tables and not tables["layouts"].height():
        del sources["layouts"], tables["layouts"]
    for name in ("layouts", "judgments"):
        if name in tables and "page_id" in tables[name]:
            raise DataError(f"{name}: a user has one page here; choose one page_id, and drop the column.")
    cells = _cells(tables["candidates"])
    collected = None
    if "items" not in sources:
        if "category" not in cells.columns:
            cells = cells.with_columns(category="carousel")  # a carousel without a category is one of its own
        collected = _items_seen(tables, cells)
    plan = ScoringPlan.of(Settings(metrics=[metric], grid=grid, gain=gain, columns=_as_opened(tables)))
    (name,) = plan.names
    if name not in plan.metrics or not plan.metrics[name].linear or plan.metrics[name].by_rank:
        raise ParameterError(f"metric: only 2DCG, N2DCG and N2DCG_cat say what a cell is worth, found {name}.")
    if collected is None and "items" not in sources and plan.needs_categories:
        raise DataError(NO_CATEGORY)
    judged = JudgedSources(sources["judgments"], sources.get("items", collected), plan)
    return _read(judged, name, tables, cells, sources.get("layouts"), collected is not None)


def _cells(table: Table) -> pl.DataFrame:
    if "carousel" not in table and "category" not in table:
        raise DataError(
            f"candidates: missing column carousel, or category, which names carousels; it has "
            f"{', '.join(table.header)}. Other names go through columns={{'carousel': 'shelf', ...}}."
        )
    cells = table.collect()
    if cells.is_empty():
        raise DataError("candidates: the table is empty. Give at least one line of user_id, carousel, col, item_id.")
    return cells if "carousel" in cells.columns else cells.with_columns(carousel="category")


def _items_seen(tables: Mapping[str, Table], cells: pl.DataFrame) -> pl.DataFrame | None:
    """The (item, category) pairs that page and candidates show; none where the page does not say."""
    own = cells.select("item_id", "category")
    if "layouts" not in tables:
        return own.unique().sort("item_id", "category")
    if "category" not in tables["layouts"]:
        return None
    shown = tables["layouts"].collect().select("item_id", "category")
    if shown["category"].dtype != own["category"].dtype:
        raise DataError("candidates: carousels go by integers, and categories of layouts by text, or the reverse.")
    return pl.concat([own, shown]).unique().sort("item_id", "category")


def _as_opened(tables: Mapping[str, Table]) -> dict[str, dict[str, str]]:
    """The names that each table's columns were found by."""
    return {
        name: {ours: their for ours, their in table.names.items() if ours != their} for name, table in tables.items()
    }


def _read(
    sources: JudgedSources,
    name: str,
    tables: Mapping[str, Table],
    cells: pl.DataFrame,
    layouts: TableLike | None,
    items_seen: bool,
) -> CandidateCarousels:
    plan = sources.plan
    # each carousel is read as a page of its own, of one row
    shelves = cells.select("user_id", pl.col("carousel").alias("page_id"), "col", "item_id", *_category(cells), row=1)
    with sources.open(shelves, canonical=True, lenient=True) as inputs:
        judgments, codebook = inputs.judged.judgments, inputs.codebook
        ideals = PageIdeals(inputs.judged, plan)
        chosen = np.flatnonzero(inputs.judged.relevant_items(name))
        number = np.full(len(judgments), -1)
        number[chosen] = np.arange(len(chosen))
        bound = np.ones(len(judgments))
        if plan.metrics[name].ideal != "none":
            bound[chosen] = ideals.of_judgment_sets(name, 0, chosen.astype(np.uint32))[1]
        hits, counts = _hits(inputs, tables["candidates"])
        pages, user = page_names(inputs, np.arange(len(inputs.layouts))), inputs.layouts.user
        names = pages["page_id"].unique().sort()
        code = names.search_sorted(pages["page_id"]).to_numpy().astype(np.int64)
        has = np.zeros((len(names), len(chosen)), bool)
        known = user < len(judgments)
        known[known] = number[user[known]] >= 0
        has[code[known], number[user[known]]] = True
        counts["uncategorised"] = uncategorised(inputs) if plan.needs_categories else 0
        if counts["uncategorised"]:
            warn(no_category(inputs, counts["uncategorised"]))
        source = "none" if inputs.judged.membership is None else inputs.judged.membership.source
        config = plan.config() | {"items": "page and candidates" if items_seen else source}
    page, bound = _page(sources, ideals, name, layouts, number, bound, len(chosen))
    owner = np.repeat(number, np.diff(judgments.offsets))
    share = np.zeros(len(judgments))
    share[chosen] = np.divide(
        1 / max(1, len(chosen)), bound[chosen], out=np.zeros(len(chosen)), where=bound[chosen] > 0
    )
    worth = ideals.judged.gains[name] * np.repeat(share, np.diff(judgments.offsets))
    order = np.lexsort((hits[:, 2], hits[:, 1], code[hits[:, 0]]))
    carousel, judgment, col = code[hits[order, 0]], hits[order, 1], hits[order, 2]
    new = np.ones(len(order), bool)
    new[1:] = (carousel[1:] != carousel[:-1]) | (judgment[1:] != judgment[:-1])
    if not len(order):
        warn("candidates: no carousel shows an item that gains by its user's judgments. Are ids written alike?")
    return CandidateCarousels(
        metric=name,
        names=names.to_list(),
        users=codebook.users.values().gather(chosen).alias("user_id"),
        cells=cells,
        weights=plan.weights(name, 0),
        page=page,
        has=has,
        hit_carousel=carousel,
        hit_judgment=judgment,
        hit_col=col,
        firsts=np.flatnonzero(new),
        owner=owner,
        worth=worth,
        counts={"users": len(chosen), "carousels": len(names), "lines": cells.height} | counts,
        config=config,
    )


def _category(cells: pl.DataFrame) -> list[str]:
    return ["category"] if "category" in cells.columns else []


def _hits(inputs: Inputs, table: Table) -> tuple[IntArray, dict[str, int]]:
    """CurrentPage, judgment and column of every hit of the candidates."""
    parts, counts = [np.empty((0, 3), np.int64)], {"unjudged": 0, "gaps": 0}
    for batch in page_batches(inputs.layouts, inputs.judged, inputs.plan):
        _refuse(inputs, batch, table)
        counts["unjudged"] += int(batch.unjudged.sum())
        counts["gaps"] += len(page_defects.marked_pages(batch, page_defects.GAP))
        page, judgment = batch.pages[batch.hit_page], batch.hit_judgment
        parts.append(np.stack([page, judgment, batch.hit_cells()[1]], axis=1))
    return np.concatenate(parts), counts


def _refuse(inputs: Inputs, batch: PageBatch, table: Table) -> None:
    grid = inputs.plan.grids[0]
    if len(page_defects.marked_pages(batch, page_defects.REPEATED_CELL)):
        keys = [key if key in table else "category" for key in _KEYS]
        lines = table.frame(with_record=True).with_columns(at=pl.int_range(pl.len()).over(keys)).collect()
        again = lines.filter(pl.col("at") > 0).sort(RECORD)
        row = again.row(0, named=True)
        who = " ".join(f"{key}={row[key]!r}" for key in keys)
        several = "cell appears" if again.height == 1 else "cells appear"
        raise DataError(
            f"candidates: {again.height:,} {several} twice, first {who} ({table.where(row[RECORD])}). "
            "Each cell holds one item; drop the repeats."
        )
    if len(page_defects.marked_pages(batch, page_defects.OUTSIDE_GRID)):
        record, total, row = table.find(pl.col("col") > grid.cols)
        several = "cell lies" if total == 1 else "cells lie"
        raise DataError(
            f"candidates: {total:,} {several} outside the grid of {grid}, first user_id={row['user_id']!r} "
            f"col={row['col']} ({table.where(record)}). {page_defects.OUTSIDE_GRID.remedy}"
        )
    outside = page_defects.marked_pages(batch, page_defects.OUTSIDE_CATEGORY)
    if len(outside):
        first = page_names(inputs, outside).sort(pl.all()).row(0)
        several = "carousel shows" if len(outside) == 1 else "carousels show"
        raise DataError(
            f"candidates: {len(outside):,} {several} items outside their category, first user_id={first[0]!r} "
            f"carousel={first[1]!r}. Add the category to items, or drop the column category and keep carousel."
        )


def _page(
    sources: JudgedSources,
    ideals: PageIdeals,
    name: str,
    layouts: TableLike | None,
    number: IntArray,
    bound: Array,
    users: int,
) -> tuple[CurrentPage, Array]:
    """Everybody's page, and the ideals by which it is measured, which change where it pins rows."""
    last, pinned = np.zeros(users, np.int64), np.zeros(users, np.int64)
    nothing = np.empty(0, np.int64)
    if layouts is None:
        return CurrentPage(nothing, nothing, nothing, last, pinned), bound
    parts = [(nothing, nothing, nothing)]
    with sources.open(layouts) as inputs:
        for batch in page_batches(inputs.layouts, inputs.judged, inputs.plan):
            refuse_defects(batch, inputs)
            mine = np.flatnonzero(batch.pages < len(number))
            some = batch.take(mine[number[batch.pages[mine]] >= 0])
            if sources.plan.metrics[name].ideal != "none":
                bound[some.pages] = ideals.of_pages(name, 0, some)[1]
            rows = np.arange(1, some.length.shape[1] + 1)
            last[number[some.pages]] = ((some.length > 0) * rows).max(axis=1, initial=0)
            pinned[number[some.pages]] = ((some.pinned > 0) * rows).max(axis=1, initial=0)
            parts.append((some.hit_judgment, *some.hit_cells()))
    judgment, row, col = (np.concatenate(part) for part in zip(*parts, strict=True))
    return CurrentPage(judgment, row, col, last, pinned), bound
