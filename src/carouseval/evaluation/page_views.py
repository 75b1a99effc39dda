"""Pages beside their ideals, from the arrays that they were scored with; only titles and posters are read."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from carouseval.evaluation.page_view import PageView
from carouseval.evaluation.per_page import page_names
from carouseval.evaluation.reading.inputs import Inputs
from carouseval.evaluation.reading.page_batch import PageBatch
from carouseval.evaluation.schema import PICTURES
from carouseval.evaluation.scoring.page_ideals import PageIdeals
from carouseval.evaluation.scoring.scoring_step import table_pages
from carouseval.metrics.grid import Array
from carouseval.tables import RECORD, Table

_STEPS = ("dcg", "item_order", "row_order", "ideal")


def page_views(inputs: Inputs, metric: str, pages: PageBatch, values: Array, ideals: PageIdeals) -> list[PageView]:
    """Some pages beside their ideals; ``values`` are those after each step of improvement, (pages, 4)."""
    names = page_names(inputs, pages.pages).to_dicts()
    views = []
    for at, (name, steps) in enumerate(zip(names, values.tolist(), strict=True)):
        page = pages.take(np.array([at]))
        grid = int(page.grid[0])
        views.append(
            PageView(
                user_id=name["user_id"],
                page_id=name.get("page_id"),
                grid=inputs.plan.grids[grid],
                weights=inputs.plan.weights(metric, grid),
                values=dict(zip(_STEPS, steps, strict=True)),
                shown=_shown_cells(inputs, metric, grid, page),
                ideal=_ideal_cells(inputs, metric, grid, page, ideals),
                reason="",
            )
        )
    return _with_pictures(views, inputs.tables.get("items"))


def _shown_cells(inputs: Inputs, metric: str, grid: int, page: PageBatch) -> pl.DataFrame:
    """All cells of a page, the relevant ones with what they gain."""
    weights, lines, codebook = inputs.plan.weights(metric, grid), page.own_lines(), inputs.codebook
    place = lines[:, 3] & 0x7FFFFFFF  # without the bit of pinned rows
    order = np.argsort(place)
    lines, place = lines[order], place[order].astype(np.int64)
    row, col = place >> 16, place & 0xFFFF
    hits, judgment = np.searchsorted(place, page.hits[:, 1]), page.hit_judgment
    relevance, gain = np.full(len(lines), np.nan), np.zeros(len(lines))
    relevance[hits], gain[hits] = inputs.judged.judgments.relevance[judgment], inputs.judged.gains[metric][judgment]
    counts, is_hit = np.zeros((2, len(lines)), bool)
    is_hit[hits] = True
    counts[hits] = table_pages(metric, grid, page, inputs.judged, inputs.plan).hit_weights(weights) > 0
    cells = {"row": row, "col": col, "item_id": codebook.items.values().gather(lines[:, 1])}
    if inputs.layouts.labelled:
        cells["category"] = codebook.categories.values().gather(lines[:, 2])
    known = pl.Series(relevance).set(pl.Series(~is_hit), None)
    return pl.DataFrame(
        cells | {"relevance": known, "gain": gain, "counts": counts, "weight": weights[row - 1, col - 1]}
    )


def _ideal_cells(inputs: Inputs, metric: str, grid: int, page: PageBatch, ideals: PageIdeals) -> pl.DataFrame:
    """The relevant items of a page's ideal."""
    weights, cells = inputs.plan.weights(metric, grid), ideals.cells_of_pages(metric, grid, page)
    codebook = inputs.codebook
    categories = codebook.categories.values()
    unknown: NDArray[np.bool_] = cells.category >= len(categories)
    label = pl.Series(cells.category).set(pl.Series(unknown), None)
    nothing = pl.Series([None] * len(label), dtype=pl.String)
    return pl.DataFrame(
        {
            "row": cells.row + 1,
            "col": cells.col + 1,
            "item_id": codebook.items.values().gather(inputs.judged.judgments.item[cells.judgment]),
            "category": categories.gather(label) if len(categories) else nothing,
            "gain": cells.gain,
            "weight": weights[cells.row, cells.col],
        }
    ).sort("row", "col")


def _with_pictures(views: list[PageView], items: Table | None) -> list[PageView]:
    """The same pages with titles and posters, where items have any."""
    columns = [name for name in PICTURES if items is not None and name in items]
    if items is None or not columns or not views:
        return views
    pictures = _pictures(
        items, columns, pl.concat([table["item_id"] for view in views for table in (view.shown, view.ideal)])
    )
    first = ["row", "col", "item_id", *columns]

    def joined(cells: pl.DataFrame) -> pl.DataFrame:
        both = cells.join(pictures, on="item_id", how="left", maintain_order="left")
        return both.select(*first, pl.exclude(first))

    return [replace(view, shown=joined(view.shown), ideal=joined(view.ideal)) for view in views]


def _pictures(items: Table, columns: list[str], item_ids: pl.Series) -> pl.DataFrame:
    """The first title and poster of each of these items that has any; posters are relative to the file of items."""
    wanted = pl.col("item_id").is_in(item_ids.unique().implode())
    first = [pl.col(name).sort_by(RECORD).drop_nulls().first() for name in columns]
    (pictures,) = items.query(lambda frame: frame.filter(wanted).group_by("item_id").agg(first))
    if "poster" in columns and items.files:
        folder = Path(items.files[0].path).parent
        paths = [name if name is None or "://" in name else str(folder / name) for name in pictures["poster"]]
        pictures = pictures.with_columns(pl.Series("poster", paths, pl.String))
    return pictures
