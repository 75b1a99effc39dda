"""The geometry of charts in the shape of a screen: rows of cells with gaps between swipe pages."""

import math
from typing import Any

import altair as alt
import numpy as np
from numpy.typing import ArrayLike

from carouseval.errors import ParameterError
from carouseval.metrics.grid import Array, Grid

GAP = 0.4  # between swipe pages, in cells


def as_table(table: ArrayLike, grid: Grid) -> Array:
    """A table of numbers that has the shape of the grid."""
    values = np.asarray(table, dtype=np.float64)
    if values.shape != grid.shape:
        raise ParameterError(f"a table of shape {values.shape} does not fit a {grid} grid.")
    return values


def value_range(table: ArrayLike) -> tuple[float, float]:
    """The ends of the colours of a table: 0 and its maximum; if no value is positive, its minimum and 0."""
    low, high = float(np.nanmin(table, initial=0)), float(np.nanmax(table, initial=0))
    return (0, high) if high > 0 else (low, 0) if low < 0 else (0, 1.0)


def left_edges(grid: Grid) -> Array:
    """The left edge of each column, in cells, with gaps between swipe pages if all rows have the same."""
    gaps = GAP * (grid.swipe_page - 1) if isinstance(grid.page_size, int) else 0.0
    return grid.column_index - 1 + gaps


def cell_edges(grid: Grid) -> tuple[Array, Array]:
    """The left and right edge of each cell; where page sizes differ by row, gaps are cut out of aligned cells."""
    left = np.broadcast_to(left_edges(grid), grid.shape)
    if isinstance(grid.page_size, int):
        return left, left + 1
    begins = (grid.slot == 1) & (grid.column_index > 1)
    ends = np.pad(begins[:, 1:], [(0, 0), (0, 1)])
    return left + GAP / 2 * begins, left + 1 - GAP / 2 * ends


def page_edges(grid: Grid) -> list[tuple[float, float]]:
    """The left and right edge of each swipe page, in cells."""
    firsts = np.flatnonzero(grid.slot == 1)[1:]
    return [(float(lefts[0]), float(lefts[-1] + 1)) for lefts in np.split(left_edges(grid), firsts)]


def cells(table: Array, grid: Grid, ends: tuple[float, float] | None = None) -> list[dict[str, Any]]:
    """A line of data for each cell: value, share of the range of colours (``ends``), edges and centre."""
    low, high = ends or value_range(table)
    edges = np.stack(cell_edges(grid), axis=-1).tolist()
    centres = (left_edges(grid) + 0.5).tolist()
    shares = np.clip((table - low) / (high - low), 0, 1).tolist()
    return [
        {"row": row + 1, "col": col + 1, "value": _finite_or_none(value), "share": _finite_or_none(shares[row][col])}
        | {"x": x, "x2": x2, "xc": centres[col], "y": row, "y2": row + 1, "yc": row + 0.5}
        for row, values in enumerate(table.tolist())
        for col, (value, (x, x2)) in enumerate(zip(values, edges[row], strict=True))
    ]


def _finite_or_none(value: float) -> float | None:
    return None if math.isnan(value) else value


def position(
    x_range: list[float], y_range: list[float], x_axis: alt.Axis | None = None, y_axis: alt.Axis | None = None
) -> dict[str, Any]:
    """Encodings of a cell or an arrow by its edges, on a screen that covers these two ranges."""
    exact: dict[str, Any] = {"nice": False, "zero": False}
    return {
        "x": alt.X("x:Q", axis=x_axis, scale=alt.Scale(domain=x_range, **exact)),
        "x2": "x2:Q",
        "y": alt.Y("y:Q", axis=y_axis, scale=alt.Scale(domain=y_range, reverse=True, **exact)),
        "y2": "y2:Q",
    }
