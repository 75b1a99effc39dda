"""Pages beside their ideals: which of them an explanation holds, and any other, looked up in its table."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from carouseval.errors import ParameterError
from carouseval.evaluation.columns import Columns, of_metric
from carouseval.evaluation.defects.defect_lines import refuse_defects
from carouseval.evaluation.explanation import PAGES_SHOWN, worst_pages
from carouseval.evaluation.outcomes import SCORED
from carouseval.evaluation.page_view import PageView, first_page_text, ids_text, is_id
from carouseval.evaluation.per_page import page_names
from carouseval.evaluation.reading.inputs import Inputs, JudgedTables
from carouseval.evaluation.reading.page_batch import PageBatch, page_batches
from carouseval.evaluation.schema import PICTURES
from carouseval.evaluation.scoring.loss_steps import loss_steps
from carouseval.evaluation.scoring.page_ideals import PageIdeals
from carouseval.evaluation.scoring.scoring_step import table_pages
from carouseval.messages import setting
from carouseval.metrics.grid import Array
from carouseval.tables.table import RECORD, Table, TableLike

PageId = tuple[Any, ...]


@dataclass(frozen=True)
class ChosenPages:
    """The ids of the pages that an explanation holds: of the user and, if pages have ids, of the page."""

    worst: tuple[PageId, ...] = ()
    typical: PageId | None = None
    named: tuple[PageId, ...] = ()

    @classmethod
    def of(cls, scored: pl.DataFrame, metric: str, named: Sequence[Any] = ()) -> "ChosenPages":
        """Choose by the scores of all pages; those that show something relevant are more instructive."""
        columns = {
            Columns.SCORE: metric,
            Columns.DCG: of_metric(Columns.METRIC_DCG, metric),
            Columns.IDEAL: of_metric(Columns.METRIC_IDEAL, metric),
        }
        keys = [key for key in (Columns.USER, Columns.PAGE) if key in scored.columns]
        weight = [Columns.WEIGHT] if Columns.WEIGHT in scored.columns else []
        pages = scored.filter(pl.col(Columns.STATUS) == SCORED).select(
            *keys, *weight, *(pl.col(column).alias(name) for name, column in columns.items())
        )
        by_score = worst_pages(pages)
        relevant = by_score.filter(pl.col(Columns.DCG) > 0)
        ids = (by_score if relevant.is_empty() else relevant).select(keys).rows()
        typical = ids[(len(ids) - 1) // 2] if ids else None
        return cls(
            tuple(ids[:PAGES_SHOWN]), typical, tuple(dict.fromkeys(_named(page, pages.select(keys)) for page in named))
        )

    def __iter__(self) -> Iterator[PageId]:
        """Each of them once."""
        yield from dict.fromkeys([*self.worst, *([] if self.typical is None else [self.typical]), *self.named])


def _named(wanted: Any, pages: pl.DataFrame) -> PageId:
    """The ids of a page that is named by its user or, in a tuple, by its user and its own id."""
    ids = wanted if isinstance(wanted, tuple) else (wanted,)
    if len(ids) > len(pages.columns):
        raise ParameterError(f"{setting('pages')}: layouts have no column page_id, found {wanted!r}.")
    for page in pages.sort(pages.columns).iter_rows():
        if all(is_id(wanted_id, page_id) for wanted_id, page_id in zip(ids, page, strict=False)):
            return page
    raise ParameterError(
        f"{setting('pages')}: there is no page of {ids_text(*ids, *[None] * (2 - len(ids)))} that was scored."
    )


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


_STEPS = (Columns.DCG, Columns.ITEM_ORDER, Columns.ROW_ORDER, Columns.IDEAL)
_Cells = dict[str, Any]  # columns of a page's cells: arrays, with codes of items and categories


def page_views(inputs: Inputs, metric: str, pages: PageBatch, values: Array, ideals: PageIdeals) -> list[PageView]:
    """Some pages beside their ideals; ``values`` are those after each step of improvement, (pages, 4)."""
    if not len(pages):
        return []
    weights = [inputs.plan.weights(metric, grid) for grid in pages.grid.tolist()]
    alone = [pages.take(np.array([index])) for index in range(len(pages))]
    shown_cells = [
        _shown_cells(inputs, metric, page, of_page_weights)
        for page, of_page_weights in zip(alone, weights, strict=True)
    ]
    ideal = [
        _ideal_cells(inputs, metric, page, of_page_weights, ideals)
        for page, of_page_weights in zip(alone, weights, strict=True)
    ]
    tables = _with_pictures([_table(inputs, shown_cells), _table(inputs, ideal)], inputs.tables.get("items"))
    return [
        PageView(
            user_id=name[Columns.USER],
            page_id=name.get(Columns.PAGE),
            grid=inputs.plan.grids[grid],
            weights=of_page_weights,
            values=dict(zip(_STEPS, steps, strict=True)),
            shown=of_page,
            ideal=of_ideal,
            reason="",
        )
        for name, grid, of_page_weights, steps, of_page, of_ideal in zip(
            page_names(inputs, pages.pages).iter_rows(named=True),
            pages.grid.tolist(),
            weights,
            values.tolist(),
            *(_split(table, cells) for table, cells in zip(tables, (shown_cells, ideal), strict=True)),
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
