"""Charts in the shape of a screen: rows of cells with gaps between swipe pages, darker where values are larger."""

import math
from collections.abc import Mapping
from typing import Any

import altair as alt
import numpy as np
from numpy.typing import ArrayLike

from carouseval.errors import ParameterError
from carouseval.metrics.grid import RECGAZE, Array, Grid, page_size_text, resized
from carouseval.show.drawing import FAINT, INK, RAMP, chart_of, note, numbered_axis, styled

GAP = 0.4  # between swipe pages, in cells
MAX_NUMBERED = 300  # cells of a heat map with numbers


def attention_patterns(assumed: ArrayLike, observed: ArrayLike, grid: Grid = RECGAZE, rows: int = 3) -> alt.ConcatChart:
    """Figure 1: assumed and observed attention on the first rows of a page.

    A schematic: cells are shaded by rank, so that small differences are visible.
    """
    first, second = (as_table(table, grid)[:rows] for table in (assumed, observed))
    grid = _first_rows(grid, len(first))
    (left, right), *later = pages = _page_edges(grid)
    end = pages[-1][1]
    return styled(
        alt.concat(
            _pattern("(a) assumed", first, grid, [(left, end)], [(left, end, "F-pattern")]),
            _pattern(
                "(b) observed",
                second,
                grid,
                _observed_arrows(grid),
                [(left, right, "dual focus"), *((left, right, "mirrored") for left, right in later)],
            ),
            columns=2,
            spacing=44,
            title=note("Darker cells: more attention, by rank. Arrows: direction in which attention decreases."),
        )
    )


def browsing_pattern(weights: ArrayLike, grid: Grid = RECGAZE, rows: int = 3) -> alt.LayerChart:
    """The parameters of d_rpb at the cells they affect, above the first rows of its weights."""
    table = as_table(weights, grid)[:rows]
    grid = _first_rows(grid, len(table))
    (left, dip), (right, _), *later = _observed_arrows(grid)
    parameters = ["σ1, ρ", *["σ2, ρ"] * (len(later) - 1)]
    texts = [
        (left, dip, "β"),
        (dip, right, "w, β"),
        *((*ends, name) for ends, name in zip(later, parameters, strict=True)),
    ]
    title = alt.TitleParams("e: anything examined; κ: next row", subtitle="σ1_top, fade: more swipes in the first rows")
    return styled(_pattern(title, table, grid, _observed_arrows(grid), texts))


def _first_rows(grid: Grid, rows: int) -> Grid:
    """The first rows, under arrows that follow their swipe pages, which must be the same."""
    first = resized(grid, rows, grid.cols)
    if not isinstance(first.page_size, int):
        sizes = page_size_text(first.page_size, "items per swipe page")
        raise ParameterError(f"grid: this figure needs rows with the same page size, found {sizes}.")
    return first


def _observed_arrows(grid: Grid) -> list[tuple[float, float]]:
    """Where attention decreases: from both edges of the first swipe page, from the right edge of later ones."""
    (left, right), *later = _page_edges(grid)
    dip = left + 0.6 * (right - left)
    return [(left, dip), (right, dip), *((right, left) for left, right in later)]


def heatmap(table: ArrayLike, title: str, grid: Grid = RECGAZE, value_title: str = "weight") -> alt.LayerChart:
    """A table in the shape of the screen, with numbers unless it is large; NaN leaves a cell empty."""
    values = as_table(table, grid)
    length = max(60, min(180, 22 * grid.rows))
    legend = alt.Legend(title=value_title, gradientLength=length, tickCount=5)
    scale = alt.Scale(range=RAMP, domain=[0, _maximum(values)])
    return styled(shaded_table(values, title, grid, alt.Color("value:Q", scale=scale, legend=legend)))


def heatmaps(tables: Mapping[str, ArrayLike], grid: Grid = RECGAZE, columns: int = 2) -> alt.ConcatChart:
    """Several tables, each shaded relative to its own maximum, so that their shapes can be compared."""
    legend = alt.Legend(title="shade: share of the table's maximum", orient="top", gradientLength=240, tickCount=5)
    color = alt.Color("share:Q", scale=alt.Scale(range=RAMP, domain=[0, 1]), legend=legend)
    charts = [shaded_table(as_table(table, grid), title, grid, color) for title, table in tables.items()]
    return styled(alt.concat(*charts, columns=columns, spacing=24))


def _pattern(
    title: str | alt.TitleParams,
    table: Array,
    grid: Grid,
    arrows: list[tuple[float, float]],
    names: list[tuple[float, float, str]],
) -> alt.LayerChart:
    """One panel of Figure 1: the rows, arrows above them, and the names of the patterns above these."""
    pages = _page_edges(grid)
    ranks = np.searchsorted(np.sort(table, axis=None), table).astype(float)
    lines = [{"x": -0.6, "x2": -0.6, "y": 0, "y2": grid.rows - 0.2, "head": "triangle-down"}]
    for start, end in arrows:
        back, head = (-0.3, "triangle-right") if end > start else (0.3, "triangle-left")
        lines.append({"x": start, "x2": end + back, "y": -0.45, "y2": -0.45, "head": head})
    texts = [{"x": (start + end) / 2, "y": -0.95, "text": name} for start, end, name in names]
    texts += [
        {"x": (start + end) / 2, "y": grid.rows + 0.45, "text": f"swipe page {at}"}
        for at, (start, end) in enumerate(pages, 1)
    ]
    position = _position([-0.9, pages[-1][1]], [-1.3, grid.rows + 0.8])
    arrow = chart_of(lines)
    layers = [
        chart_of(_cells(ranks, grid))
        .mark_rect(stroke="#9a9a9a", strokeWidth=0.6)
        .encode(**position, color=alt.Color("share:Q", scale=alt.Scale(range=RAMP, domain=[0, 1]), legend=None)),
        arrow.mark_rule(color=INK, strokeWidth=2).encode(**position),
        arrow.mark_point(color=INK, filled=True, size=110, opacity=1).encode(
            x="x2:Q", y="y2:Q", shape=alt.Shape("head:N", scale=None)
        ),
        chart_of(texts).mark_text(color=INK, fontSize=13).encode(x="x:Q", y="y:Q", text="text:N"),
    ]
    return alt.LayerChart(layer=layers, width=23 * (pages[-1][1] + 0.9), height=29 * (grid.rows + 2.1), title=title)


def shaded_table(table: Array, title: str, grid: Grid, color: alt.Color) -> alt.LayerChart:
    """A table in the shape of the screen in these colours, with numbers unless it is large."""
    numbered = table.size <= MAX_NUMBERED
    texts = _numbers(table) if numbered else [""] * table.size
    cells = [{**cell, "text": text} for cell, text in zip(_cells(table, grid), texts, strict=True)]
    centres = (_left_edges(grid) + 0.5).tolist()
    right = centres[-1] + 0.5
    position = _position(
        [0, right],
        [0, grid.rows],
        numbered_axis(centres, "column"),
        numbered_axis([row + 0.5 for row in range(grid.rows)], "row"),
    )
    squares = chart_of(cells)
    filled = squares.transform_filter("isValid(datum.value)")
    ink = alt.when("datum.share > 0.68").then(alt.value("white")).otherwise(alt.value("black"))
    layers = [
        filled.mark_rect(stroke="white", strokeWidth=0.6).encode(
            **position, color=color, tooltip=["row:O", "col:O", "value:Q"]
        ),
        squares.transform_filter("!isValid(datum.value)").mark_rect(fill="white", stroke=FAINT).encode(**position),
    ]
    if numbered:
        layers.append(filled.mark_text(fontSize=11, aria=False).encode(x="xc:Q", y="yc:Q", text="text:N", color=ink))
    wide, high = (max(24, 9 + 6.2 * max(map(len, texts))), 22) if numbered else (15, 15)
    return alt.LayerChart(layer=layers, width=wide * right, height=high * grid.rows, title=title)


def _numbers(table: Array) -> list[str]:
    """Integers as they are, other numbers to two or three digits of the largest, without a leading 0."""
    integers = np.array_equal(table, np.round(table), equal_nan=True)
    top = _maximum(table)
    places = 0 if integers else max(0, 2 - math.floor(math.log10(top)) - (top < 1))
    texts = [f"{value:.{places}f}" for value in table.ravel()]
    return [text[1:] if text.startswith("0.") else text for text in texts]


def as_table(table: ArrayLike, grid: Grid) -> Array:
    values = np.asarray(table, dtype=np.float64)
    if values.shape != grid.shape:
        raise ParameterError(f"a table of shape {values.shape} does not fit a {grid} grid.")
    return values


def _maximum(table: ArrayLike) -> float:
    return float(np.nanmax(table, initial=0)) or 1.0


def _left_edges(grid: Grid) -> Array:
    """The left edge of each column, in cells, with gaps between swipe pages if all rows have the same."""
    gaps = GAP * (grid.swipe_page - 1) if isinstance(grid.page_size, int) else 0.0
    return grid.column_index - 1 + gaps


def _cell_edges(grid: Grid) -> tuple[Array, Array]:
    """The left and right edge of each cell; where page sizes differ by row, gaps are cut out of aligned cells."""
    left = np.broadcast_to(_left_edges(grid), grid.shape)
    if isinstance(grid.page_size, int):
        return left, left + 1
    begins = (grid.slot == 1) & (grid.column_index > 1)
    ends = np.pad(begins[:, 1:], [(0, 0), (0, 1)])
    return left + GAP / 2 * begins, left + 1 - GAP / 2 * ends


def _page_edges(grid: Grid) -> list[tuple[float, float]]:
    """The left and right edge of each swipe page, in cells."""
    firsts = np.flatnonzero(grid.slot == 1)[1:]
    return [(float(lefts[0]), float(lefts[-1] + 1)) for lefts in np.split(_left_edges(grid), firsts)]


def _cells(table: Array, grid: Grid) -> list[dict[str, Any]]:
    """A line of data for each cell: its value, its share of the maximum, its edges and its centre."""
    top = _maximum(table)
    edges = np.stack(_cell_edges(grid), axis=-1).tolist()
    centres = (_left_edges(grid) + 0.5).tolist()
    return [
        {"row": row + 1, "col": col + 1, "value": _finite_or_none(value), "share": _finite_or_none(value / top)}
        | {"x": x, "x2": x2, "xc": centres[col], "y": row, "y2": row + 1, "yc": row + 0.5}
        for row, values in enumerate(table.tolist())
        for col, (value, (x, x2)) in enumerate(zip(values, edges[row], strict=True))
    ]


def _finite_or_none(value: float) -> float | None:
    return None if math.isnan(value) else value


def _position(
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
