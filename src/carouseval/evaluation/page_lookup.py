"""Looks up one page of a table, and solves its ideal."""

from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from carouseval.errors import ParameterError
from carouseval.evaluation.defects.defect_lines import refuse_defects
from carouseval.evaluation.page_view import PageView
from carouseval.evaluation.reading.inputs import Inputs, JudgedSources
from carouseval.evaluation.reading.page_batch import PageBatch, page_batches
from carouseval.evaluation.schema import PICTURES
from carouseval.evaluation.scoring import ideal_problems
from carouseval.evaluation.scoring.loss_steps import loss_steps
from carouseval.evaluation.scoring.page_ideals import PageIdeals
from carouseval.metrics.grid import Array
from carouseval.tables import RECORD, Table, TableLike


def look_up_page(
    sources: JudgedSources,
    ideals: PageIdeals,
    layouts: TableLike,
    metric: str,
    user_id: Any,
    page_id: Any = None,
) -> PageView:
    """Look a page up by its ids, the first of its user by default; its lines are read again.

    It is judged by the same data and ideals as before: what belongs to which category may come from all pages.
    """
    tables = sources.tables(layouts)
    table = tables["layouts"]
    keep = {"user_id": user_id} | ({} if page_id is None else {"page_id": page_id})
    lines = _lines(table, keep)
    if lines.is_empty():
        ids = " ".join(f"{column}={value!r}" for column, value in keep.items())
        judged_user = ", who has judgments" if sources.judges(user_id) else ""
        raise ParameterError(f"layouts: there is no page of {ids}{judged_user}.")
    reason = ""
    if page_id is None and "page_id" in lines.columns:
        page_ids = lines["page_id"].unique().sort()
        page_id = page_ids[0]
        lines = lines.filter(pl.col("page_id") == page_id)
        if len(page_ids) > 1:
            reason = f"Shown because no page_id was given: the first of the user's {len(page_ids)} pages."
    with sources.open(lines, judged=ideals.judged, canonical=True) as inputs:
        (page,) = page_batches(inputs.layouts, inputs.judged, inputs.plan)
        refuse_defects(page, inputs)
        grid = int(page.grid[0])
        weights = inputs.plan.weights(metric, grid)
        steps = loss_steps(metric, grid, page, ideals.for_layouts(ideals.judged, None))
        shown = _shown_cells(lines, inputs, metric, page, steps.hit_weights, weights)
        ideal = _ideal_cells(steps.ideal, inputs, weights)
        if "items" in tables and any(name in tables["items"] for name in PICTURES):
            pictures = _pictures(tables["items"], pl.concat([shown["item_id"], ideal["item_id"]]))
            shown, ideal = (_with_pictures(cells, pictures) for cells in (shown, ideal))
        return PageView(
            user_id=user_id,
            page_id=page_id,
            grid=inputs.plan.grids[grid],
            weights=weights,
            values=dict(zip(("dcg", "item_order", "row_order", "ideal"), steps.values[0].tolist(), strict=True)),
            shown=shown,
            ideal=ideal,
            reason=reason,
        )


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


def _pictures(items: Table, item_ids: pl.Series) -> pl.DataFrame:
    """The first title and poster of each of these items that has any; posters are relative to the file of items."""
    columns = [name for name in PICTURES if name in items]
    wanted = pl.col("item_id").is_in(item_ids.unique().implode())
    first = [pl.col(name).sort_by(RECORD).drop_nulls().first() for name in columns]
    (pictures,) = items.query(lambda frame: frame.filter(wanted).group_by("item_id").agg(first))
    if "poster" in columns and items.files:
        folder = Path(items.files[0].path).parent
        paths = [name if name is None or "://" in name else str(folder / name) for name in pictures["poster"]]
        pictures = pictures.with_columns(pl.Series("poster", paths, pl.String))
    return pictures


def _with_pictures(cells: pl.DataFrame, pictures: pl.DataFrame) -> pl.DataFrame:
    joined = cells.join(pictures, on="item_id", how="left", maintain_order="left")
    first = ["row", "col", *pictures.columns]
    return joined.select(*first, pl.exclude(first))


def _shown_cells(
    lines: pl.DataFrame, inputs: Inputs, metric: str, page: PageBatch, hit_weights: Array, weights: Array
) -> pl.DataFrame:
    (row, col), judgment = page.hit_cells(), page.hit_judgment
    hits = pl.DataFrame(
        {
            "row": row + 1,
            "col": col + 1,
            "relevance": inputs.judged.judgments.relevance[judgment],
            "gain": inputs.judged.gains[metric][judgment],
            "counts": hit_weights > 0,
        }
    )
    kept = [name for name in ("row", "col", "item_id", "category") if name in lines.columns]
    joined = lines.select(kept).join(hits, on=["row", "col"], how="left").sort("row", "col")
    weight = pl.Series("weight", weights[joined["row"].to_numpy() - 1, joined["col"].to_numpy() - 1])
    return joined.with_columns(weight, pl.col("gain").fill_null(0.0), pl.col("counts").fill_null(False))


def _ideal_cells(cells: ideal_problems.IdealCells, inputs: Inputs, weights: Array) -> pl.DataFrame:
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
