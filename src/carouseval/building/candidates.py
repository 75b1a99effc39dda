"""Tables of candidates, read and checked."""

from collections.abc import Mapping

import numpy as np
import polars as pl
from numpy.typing import NDArray

from carouseval.building.carousels import Carousels, Index, Page
from carouseval.errors import DataError, ParameterError
from carouseval.evaluation import page_defects as flaws
from carouseval.evaluation import schema
from carouseval.evaluation.evaluate import NO_CATEGORY, Evaluator
from carouseval.evaluation.found import warn
from carouseval.evaluation.opened import Opened
from carouseval.metrics.gains import Gain
from carouseval.metrics.grid import Array, Grid
from carouseval.metrics.names import Metric, MetricLike
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
    columns: schema.ColumnNames,
) -> Carousels:
    """Read and check all tables; what is wrong with candidates is said of them."""
    if not isinstance(grid, Grid):
        raise ParameterError(f"grid must be a carouseval.Grid, found {type(grid).__name__}.")
    given = {"layouts": page, "candidates": candidates, "judgments": judgments, "items": items}
    sources = {name: in_memory(source, name) for name, source in given.items() if source is not None}
    if isinstance(shown := sources.get("layouts"), pl.DataFrame) and shown.is_empty():
        del sources["layouts"]  # a page without rows need not have columns
    tables = schema.open_tables(sources, columns)
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
    evaluator = Evaluator(
        sources["judgments"], sources.get("items", collected), [metric], grid, gain, columns=_as_opened(tables)
    )
    ((name, one),) = evaluator.metrics.items()
    if not isinstance(one, Metric) or one.discount is None:
        raise ParameterError(f"metric: only 2DCG, N2DCG and N2DCG_cat say what a cell is worth, found {name}.")
    if collected is None and "items" not in sources and evaluator.needs_categories:
        raise DataError(NO_CATEGORY)
    return _read(evaluator, name, tables, cells, sources.get("layouts"), collected is not None)


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
    evaluator: Evaluator,
    name: str,
    tables: Mapping[str, Table],
    cells: pl.DataFrame,
    layouts: TableLike | None,
    items_seen: bool,
) -> Carousels:
    grid = evaluator.grids[None]
    # each carousel is read as a page of its own, of one row
    shelves = cells.select("user_id", pl.col("carousel").alias("page_id"), "col", "item_id", *_category(cells), row=1)
    with evaluator.open(shelves, canonical=True) as opened:
        truth = evaluator.truth
        scorer = evaluator.scorer(name, grid, opened.membership)
        chosen = np.flatnonzero(opened.relevant()[: len(truth)])
        number = np.full(len(truth), -1)
        number[chosen] = np.arange(len(chosen))
        bound = np.ones(len(truth))
        if scorer.metric.ideal != "none":
            bound[chosen] = scorer.judged_ideals(chosen.astype(np.uint32))[1]
        hits, counts = _hits(opened, tables["candidates"], grid)
        pages, user = opened.names(np.arange(len(opened.layouts))), opened.layouts.user()
        names = pages["page_id"].unique().sort()
        code = names.search_sorted(pages["page_id"]).to_numpy().astype(np.int64)
        has = np.zeros((len(names), len(chosen)), bool)
        known = user < len(truth)
        known[known] = number[user[known]] >= 0
        has[code[known], number[user[known]]] = True
        counts["uncategorised"] = opened.uncategorised() if evaluator.needs_categories else 0
        if counts["uncategorised"]:
            warn(opened.no_category(counts["uncategorised"]))
        config = evaluator.config(opened.membership) | ({"items": "page and candidates"} if items_seen else {})
    page, bound = _page(evaluator, name, grid, layouts, chosen, number, bound)
    owner = np.repeat(number, np.diff(truth.offsets))
    share = np.zeros(len(truth))
    share[chosen] = np.divide(
        1 / max(1, len(chosen)), bound[chosen], out=np.zeros(len(chosen)), where=bound[chosen] > 0
    )
    worth = scorer.gain * np.repeat(share, np.diff(truth.offsets))
    order = np.lexsort((hits[:, 2], hits[:, 1], code[hits[:, 0]]))
    carousel, judgment, col = code[hits[order, 0]], hits[order, 1], hits[order, 2]
    new = np.ones(len(order), bool)
    new[1:] = (carousel[1:] != carousel[:-1]) | (judgment[1:] != judgment[:-1])
    if not len(order):
        warn("candidates: no carousel shows an item that gains by its user's judgments. Are ids written alike?")
    counts = {"users": len(chosen), "carousels": len(names), "lines": cells.height} | counts
    users = truth.users.values().gather(chosen).alias("user_id")
    return Carousels(
        name, names.to_list(), users, cells, scorer.weights, page, has, carousel, judgment, col, np.flatnonzero(new),
        owner, worth, counts, config,
    )  # fmt: skip


def _category(cells: pl.DataFrame) -> list[str]:
    return ["category"] if "category" in cells.columns else []


def _hits(opened: Opened, table: Table, grid: Grid) -> tuple[Index, dict[str, int]]:
    """Page, judgment and column of every hit of the candidates."""
    parts, counts = [np.empty((0, 3), np.int64)], {"unjudged": 0, "gaps": 0}
    for shown in opened.read():
        _refuse(opened, shown.pages, shown.flaws, table, grid)
        counts["unjudged"] += int(shown.unjudged.sum())
        counts["gaps"] += int(((shown.flaws & flaws.GAP.bit) > 0).sum())
        hits = np.stack([shown.pages[shown.hit_page], shown.hits[:, 0].astype(np.int64), shown.cells()[1]], axis=1)
        parts.append(hits)
    return np.concatenate(parts), counts


def _refuse(opened: Opened, pages: Index, found: NDArray[np.uint8], table: Table, grid: Grid) -> None:
    if (found & flaws.CELL_TWICE.bit).any():
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
    if (found & flaws.OUTSIDE_GRID.bit).any():
        record, total, row = table.find(pl.col("col") > grid.cols)
        several = "cell lies" if total == 1 else "cells lie"
        raise DataError(
            f"candidates: {total:,} {several} outside the grid of {grid}, first user_id={row['user_id']!r} "
            f"col={row['col']} ({table.where(record)}). {flaws.OUTSIDE_GRID.remedy}"
        )
    outside = pages[(found & flaws.OUTSIDE.bit) > 0]
    if len(outside):
        first = opened.names(outside).sort(pl.all()).row(0)
        several = "carousel shows" if len(outside) == 1 else "carousels show"
        raise DataError(
            f"candidates: {len(outside):,} {several} items outside their category, first user_id={first[0]!r} "
            f"carousel={first[1]!r}. Add the category to items, or drop the column category and keep carousel."
        )


def _page(
    evaluator: Evaluator,
    name: str,
    grid: Grid,
    layouts: TableLike | None,
    chosen: Index,
    number: Index,
    bound: Array,
) -> tuple[Page, Array]:
    """Everybody's page, and the ideals by which it is measured, which change where it pins rows."""
    last, pinned = np.zeros(len(chosen), np.int64), np.zeros(len(chosen), np.int64)
    nothing = np.empty(0, np.int64)
    if layouts is None:
        return Page(nothing, nothing, nothing, last, pinned), bound
    parts = [(nothing, nothing, nothing)]
    with evaluator.open(layouts) as opened:
        scorer = evaluator.scorer(name, grid, opened.membership)
        for shown in opened.shown():
            mine = np.flatnonzero(shown.pages < len(number))
            some = shown.take(mine[number[shown.pages[mine]] >= 0])
            users = some.pages.astype(np.uint32)
            if scorer.metric.ideal != "none":
                bound[some.pages] = scorer.score(some, users, users).bound
            rows = np.arange(1, some.length.shape[1] + 1)
            last[number[some.pages]] = ((some.length > 0) * rows).max(axis=1, initial=0)
            pinned[number[some.pages]] = ((some.pinned > 0) * rows).max(axis=1, initial=0)
            parts.append((some.hits[:, 0].astype(np.int64), *some.cells()))
    judgment, row, col = (np.concatenate(part) for part in zip(*parts, strict=True))
    return Page(judgment, row, col, last, pinned), bound
