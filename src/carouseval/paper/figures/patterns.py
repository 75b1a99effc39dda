"""Schematic charts of where people look: Figure 1 of the paper, and what the parameters of d_rpb describe."""

import altair as alt
import numpy as np
from numpy.typing import ArrayLike

from carouseval.errors import ParameterError
from carouseval.messages import setting
from carouseval.metrics.grid import RECGAZE, Array, Grid, page_size_text, resized
from carouseval.show.charts.chart import Chart
from carouseval.show.charts.drawing import chart_of, finished, note
from carouseval.show.charts.shapes.screens import as_table, cells, page_edges, position
from carouseval.show.charts.theme import BORDER, INK, RAMP


def attention_patterns(assumed: ArrayLike, observed: ArrayLike, grid: Grid = RECGAZE, rows: int = 3) -> Chart:
    """Figure 1: assumed and observed attention on the first rows of a page.

    A schematic: cells are shaded by rank, so that small differences are visible.
    """
    first, second = (as_table(table, grid)[:rows] for table in (assumed, observed))
    grid = _first_rows(grid, len(first))
    (left, right), *later = edges = page_edges(grid)
    end = edges[-1][1]
    names = [(left, right, "dual focus"), *((left, right, "mirrored") for left, right in later)]
    figure = alt.concat(
        _pattern("(a) assumed", first, grid, [(left, end)], [(left, end, "F-pattern")]),
        _pattern("(b) observed", second, grid, _observed_arrows(grid), names),
        columns=2,
        spacing=44,
        title=note("Darker cells: more attention, by rank. Arrows: direction in which attention decreases."),
    )
    pages = f"the first {len(first)} rows, {len(later) + 1} swipe pages each"
    alternative = (
        f"Two heat maps of {pages}. Assumed: attention falls from left to right. Observed: on the first swipe page it "
        "falls from both edges, on later ones from the right edge to the left."
    )
    return finished(figure, "Assumed and observed attention", alternative)


def browsing_pattern(weights: ArrayLike, grid: Grid = RECGAZE, rows: int = 3) -> Chart:
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
    alternative = (
        f"The first {len(table)} rows as a heat map, with the parameters of d_rpb where they act: β and w on the first "
        "swipe page, σ and ρ on later ones, κ from row to row."
    )
    return finished(_pattern(title, table, grid, _observed_arrows(grid), texts), "Parameters of d_rpb", alternative)


def _first_rows(grid: Grid, rows: int) -> Grid:
    """The first rows, under arrows that follow their swipe pages, which must be the same."""
    first = resized(grid, rows, grid.cols)
    if not isinstance(first.page_size, int):
        sizes = page_size_text(first.page_size, "items per swipe page")
        raise ParameterError(f"{setting('grid')}: this figure needs rows with the same page size, found {sizes}.")
    return first


def _observed_arrows(grid: Grid) -> list[tuple[float, float]]:
    """Where attention decreases: from both edges of the first swipe page, from the right edge of later ones."""
    (left, right), *later = page_edges(grid)
    dip = left + 0.6 * (right - left)
    return [(left, dip), (right, dip), *((right, left) for left, right in later)]


def _pattern(
    title: str | alt.TitleParams,
    table: Array,
    grid: Grid,
    arrows: list[tuple[float, float]],
    names: list[tuple[float, float, str]],
) -> alt.LayerChart:
    """One panel of Figure 1: the rows, arrows above them, and the names of the patterns above these."""
    pages = page_edges(grid)
    ranks = np.searchsorted(np.sort(table, axis=None), table).astype(float)
    lines = [{"x": -0.6, "x2": -0.6, "y": 0, "y2": grid.rows - 0.2, "head": "triangle-down"}]
    for start, end in arrows:
        back, head = (-0.3, "triangle-right") if end > start else (0.3, "triangle-left")
        lines.append({"x": start, "x2": end + back, "y": -0.45, "y2": -0.45, "head": head})
    texts = [{"x": (start + end) / 2, "y": -0.95, "text": name} for start, end, name in names]
    texts += [
        {"x": (start + end) / 2, "y": grid.rows + 0.45, "text": f"swipe page {number}"}
        for number, (start, end) in enumerate(pages, 1)
    ]
    place = position([-0.9, pages[-1][1]], [-1.3, grid.rows + 0.8])
    arrow = chart_of(lines)
    layers = [
        chart_of(cells(ranks, grid))
        .mark_rect(stroke=BORDER, strokeWidth=0.6)
        .encode(**place, color=alt.Color("share:Q", scale=alt.Scale(range=RAMP, domain=[0, 1]), legend=None)),
        arrow.mark_rule(color=INK, strokeWidth=2).encode(**place),
        arrow.mark_point(color=INK, filled=True, size=110, opacity=1).encode(
            x="x2:Q", y="y2:Q", shape=alt.Shape("head:N", scale=None)
        ),
        chart_of(texts).mark_text(color=INK, fontSize=13).encode(x="x:Q", y="y:Q", text="text:N"),
    ]
    return alt.LayerChart(layer=layers, width=23 * (pages[-1][1] + 0.9), height=29 * (grid.rows + 2.1), title=title)
