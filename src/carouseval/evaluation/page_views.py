"""Pages beside their ideals, from the arrays that they were scored with; only titles and posters are read."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from carouseval.evaluation.columns import Columns
from carouseval.evaluation.page_view import PageView
from carouseval.evaluation.per_page import page_names
from carouseval.evaluation.reading.inputs import Inputs
from carouseval.evaluation.reading.page_batch import PageBatch
from carouseval.evaluation.schema import PICTURES
from carouseval.evaluation.scoring.page_ideals import PageIdeals
from carouseval.evaluation.scoring.scoring_step import table_pages
from carouseval.metrics.grid import Array
from carouseval.tables.table import RECORD, Table

_STEPS = (Columns.DCG, Columns.ITEM_ORDER, Columns.ROW_ORDER, Columns.IDEAL)
_Cells = dict[str, Any]  # columns of a page's cells: arrays, with codes of items and categories


def page_views(inputs: Inputs, metric: str, pages: PageBatch, values: Array, ideals: PageIdeals) -> list[PageView]:
    """Some pages beside their ideals; ``values`` are those after each step of improvement, (pages, 4)."""
    if not len(pages):
        return []
    weights = [inputs.plan.weights(metric, grid) for grid in pages.grid.tolist()]
    alone = [pages.take(np.array([at])) for at in range(len(pages))]
    shown = [_shown_cells(inputs, metric, page, own) for page, own in zip(alone, weights, strict=True)]
    ideal = [_ideal_cells(inputs, metric, page, own, ideals) for page, own in zip(alone, weights, strict=True)]
    tables = _with_pictures([_table(inputs, shown), _table(inputs, ideal)], inputs.tables.get("items"))
    return [
        PageView(
            user_id=name[Columns.USER],
            page_id=name.get(Columns.PAGE),
            grid=inputs.plan.grids[grid],
            weights=own,
            values=dict(zip(_STEPS, steps, strict=True)),
            shown=of_page,
            ideal=of_ideal,
            reason="",
        )
        for name, grid, own, steps, of_page, of_ideal in zip(
            page_names(inputs, pages.pages).iter_rows(named=True),
            pages.grid.tolist(),
            weights,
            values.tolist(),
            *(_split(table, cells) for table, cells in zip(tables, (shown, ideal), strict=True)),
            strict=True,
        )
    ]


def _shown_cells(inputs: Inputs, metric: str, page: PageBatch, weights: Array) -> _Cells:
    """All cells of a page, the relevant ones with what they gain."""
    grid, lines, judgment = int(page.grid[0]), page.own_lines(), page.hit_judgment
    place = lines[:, 3] & 0x7FFFFFFF  # without the bit of pinned rows
    order = np.argsort(place)
    lines, place = lines[order], place[order].astype(np.int64)
    hits = np.searchsorted(place, page.hits[:, 1])
    relevance, gain, counts = np.full(len(lines), np.nan), np.zeros(len(lines)), np.zeros(len(lines), bool)
    relevance[hits], gain[hits] = inputs.judged.judgments.relevance[judgment], inputs.judged.gains[metric][judgment]
    counts[hits] = table_pages(metric, grid, page, inputs.judged, inputs.plan).hit_weights(weights) > 0
    row, col = place >> 16, place & 0xFFFF
    cells = {Columns.ROW: row, Columns.COL: col, Columns.ITEM: lines[:, 1]}
    if inputs.layouts.labelled:
        cells[Columns.CATEGORY] = lines[:, 2]
    return cells | {
        Columns.RELEVANCE: relevance,
        Columns.GAIN: gain,
        "counts": counts,
        Columns.WEIGHT: weights[row - 1, col - 1],
    }


def _ideal_cells(inputs: Inputs, metric: str, page: PageBatch, weights: Array, ideals: PageIdeals) -> _Cells:
    """The relevant items of a page's ideal."""
    cells = ideals.cells_of_pages(metric, int(page.grid[0]), page)
    columns: _Cells = {
        Columns.ROW: cells.row + 1,
        Columns.COL: cells.col + 1,
        Columns.ITEM: inputs.judged.judgments.item[cells.judgment],
        Columns.CATEGORY: cells.category,
        Columns.GAIN: cells.gain,
        Columns.WEIGHT: weights[cells.row, cells.col],
    }
    order = np.lexsort([cells.col, cells.row])
    return {name: values[order] for name, values in columns.items()}


def _table(inputs: Inputs, pages: Sequence[_Cells]) -> pl.DataFrame:
    """The cells of several pages, with ids and categories in place of codes."""
    columns: _Cells = {name: np.concatenate([cells[name] for cells in pages]) for name in pages[0]}
    columns[Columns.ITEM] = inputs.codebook.items.values().gather(columns[Columns.ITEM])
    if Columns.CATEGORY in columns:
        categories, code = inputs.codebook.categories.values(), columns[Columns.CATEGORY]
        label = pl.Series(code).set(pl.Series(code >= len(categories)), None)
        unnamed = pl.Series([None] * len(label), dtype=pl.String)
        columns[Columns.CATEGORY] = categories.gather(label) if len(categories) else unnamed
    if Columns.RELEVANCE in columns:
        columns[Columns.RELEVANCE] = pl.Series(columns[Columns.RELEVANCE], nan_to_null=True)
    return pl.DataFrame(columns)


def _split(table: pl.DataFrame, pages: Sequence[_Cells]) -> Iterator[pl.DataFrame]:
    """The lines of each of the pages that a table was made of."""
    begin = 0
    for cells in pages:
        yield table.slice(begin, len(cells[Columns.ROW]))
        begin += len(cells[Columns.ROW])


def _with_pictures(tables: list[pl.DataFrame], items: Table | None) -> list[pl.DataFrame]:
    """The same cells with the titles and posters of their items, if items have any."""
    columns = [name for name in PICTURES if items is not None and name in items]
    if items is None or not columns:
        return tables
    pictures = _pictures(items, columns, pl.concat([cells[Columns.ITEM] for cells in tables]))
    joined = (cells.join(pictures, on=Columns.ITEM, how="left", maintain_order="left") for cells in tables)
    first = [Columns.ROW, Columns.COL, Columns.ITEM, *columns]
    return [cells.select(*first, pl.exclude(first)) for cells in joined]


def _pictures(items: Table, columns: list[str], item_ids: pl.Series) -> pl.DataFrame:
    """The first title and poster of each of these items that has any; posters are relative to the file of items."""
    wanted = pl.col(Columns.ITEM).is_in(item_ids.unique().implode())
    first = [pl.col(name).sort_by(RECORD).drop_nulls().first() for name in columns]
    (pictures,) = items.query(lambda frame: frame.filter(wanted).group_by(Columns.ITEM).agg(first))
    if Columns.POSTER in columns and items.files:
        folder = Path(items.files[0].path).parent
        paths = [name if name is None or "://" in name else str(folder / name) for name in pictures[Columns.POSTER]]
        pictures = pictures.with_columns(pl.Series(Columns.POSTER, paths, pl.String))
    return pictures
