"""Models of where people look, held against data: every cell and every row.

Models differ in colour and dash, swipe pages in shade and shape: all of it reads in grey.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
import numpy as np

from carouseval.attention.examination import Examination, Frequencies
from carouseval.attention.fit_report import FitReport
from carouseval.metrics.discounts import Discount
from carouseval.metrics.grid import Array, Grid
from carouseval.show.drawing import GREY, HUES, INK, RED, numbered_axis, over, styled
from carouseval.show.fit_terminal import page_means
from carouseval.show.screens import fitting

WIDTH = 1040
MODELS = (RED, *HUES[1:])  # no blue: swipe pages have it
DASHES = ([6, 2], [2, 2], [10, 2, 2, 2])
SHADES = ("#08306b", "#08519c", "#2171b5", "#3d8dc6", "#5aa2d2", "#7ab6dd")  # from the first swipe page to the last
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")


@dataclass(frozen=True, eq=False)
class _Frame:
    """What the panels of a figure share."""

    grid: Grid
    lines: dict[str, Any]  # encodings of data and models
    points: dict[str, Any]  # and of swipe pages
    top: float  # of every scale


def fit_chart(report: FitReport) -> alt.ConcatChart:
    """A fitted discount against the data held out or, where there are none, the data it was fitted to."""
    data, discount = report.data, report.discount
    shown = data.train if data.test is None else data.test
    note = "" if shown.intervals is None else "95% Wilson intervals of single cells"
    note = note if data.test is None else f"fitted to {data.name}, held against other data; {note}"
    return data_against_model(shown, {discount.symbol: discount}, data.grid, note)


def data_against_model(
    data: Examination | Frequencies, models: Mapping[str, Discount], grid: Grid, subtitle: str = ""
) -> alt.ConcatChart:
    """One figure of a fit: (a) every cell in reading order, (b) model against data, (c) the means of every row.

    Weights that are no probabilities are drawn as a multiple that reaches as high as the data.
    """
    frequencies = fitting(data.frequencies, grid)
    low, high = data.intervals or (frequencies, frequencies)
    weights = dict(_drawn(name, model, grid, float(frequencies.max())) for name, model in models.items())
    largest = max(float(np.max(table)) for table in (frequencies, high, *weights.values()))
    top = math.ceil(20 * largest) / 20 or 1.0  # in steps of .05
    frame = _Frame(grid, _line_looks(data.name, list(weights)), _point_looks(grid), top)
    across = {1: 300, 2: 235}.get(len(weights), 200)  # of a scatter plot, which is square
    scatters = [
        _scatter(_scattered((frequencies, low, high, table), grid), name, frame, across, data.name if at == 0 else None)
        for at, (name, table) in enumerate(weights.items())
    ]
    rows = _by_row(frequencies, weights, frame, WIDTH - len(weights) * (across + 26) - 56, across)
    below = alt.concat(*scatters, rows, columns=len(scatters) + 1, spacing=26, align="each")
    cells = _by_cell(data.name, (frequencies, low, high), weights, frame)
    against = next(iter(weights)) if len(weights) == 1 else f"{len(weights)} models"
    title = alt.TitleParams(f"{data.name} against {against}", fontSize=17, offset=14)
    if subtitle:
        title.subtitle = subtitle
    return styled(alt.concat(cells, below, columns=1, spacing=26, title=title))


def _drawn(name: str, model: Discount, grid: Grid, top: float) -> tuple[str, Array]:
    weights = model.weights(grid)
    return (name, weights) if model.is_probability else (f"{name}, scaled", weights * (top / weights.max()))


def _line_looks(data: str, models: list[str]) -> dict[str, Any]:
    """How the lines of data and models are told apart: the data in black, each model in a colour and dash."""
    turn = range(len(models))
    colors = [INK, *(MODELS[at % len(MODELS)] for at in turn)]
    dashes = [[1, 0], *(DASHES[at % len(DASHES)] for at in turn)]
    legend = alt.Legend(
        title=None, orient="top", symbolType="stroke", symbolSize=700, symbolStrokeWidth=2.5, columnPadding=24
    )
    domain = [data, *models]
    return {
        "stroke": alt.Stroke("series:N", scale=alt.Scale(domain=domain, range=colors), legend=legend),
        "strokeDash": alt.StrokeDash("series:N", scale=alt.Scale(domain=domain, range=dashes), legend=legend),
    }


def _point_looks(grid: Grid) -> dict[str, Any]:
    """How the cells of swipe pages are told apart: the later, the lighter, and each in a shape."""
    domain = sorted(set(grid.swipe_page.tolist()))
    steps = (len(SHADES) - 1) / max(1, len(domain) - 1)
    shades = [SHADES[round(steps * at)] for at in range(len(domain))]
    shapes = [SHAPES[at % len(SHAPES)] for at in range(len(domain))]
    # the padding puts it level with the legend of lines, whose symbols are larger
    legend = alt.Legend(title="swipe page", titleOrient="left", orient="top", symbolSize=90, columns=12, padding=7)
    return {
        "fill": alt.Fill("page:O", scale=alt.Scale(domain=domain, range=shades), legend=legend),
        "shape": alt.Shape("page:O", scale=alt.Scale(domain=domain, range=shapes), legend=legend),
    }


def _by_cell(name: str, tables: Sequence[Array], weights: dict[str, Array], frame: _Frame) -> alt.LayerChart:
    """Cell after cell, row after row; every second swipe page is shaded."""
    grid = frame.grid
    data, low, high = (table.ravel().tolist() for table in tables)
    size = grid.rows * grid.cols
    rows = [at // grid.cols + 1 if grid.cols > 1 else 1 for at in range(size)]  # where a line breaks
    lines = [
        {"position": at + 1 + aside, "row": rows[at], "series": series, "value": value}
        for series, values in ((name, data), *((model, table.ravel().tolist()) for model, table in weights.items()))
        for at, value in enumerate(values)
        for aside in _asides(size)
    ]
    band = [
        {"position": at + 1 + aside, "row": rows[at], "low": low[at], "high": high[at]}
        for at in range(size)
        for aside in _asides(size)
    ]
    begins = [
        (grid.cols * row + first, grid.cols * row + min(first + grid.page_size, grid.cols))
        for row in range(grid.rows)
        for first in range(grid.page_size, grid.cols, 2 * grid.page_size)
    ]
    shades = [{"position": begin + 0.5, "end": end + 0.5} for begin, end in begins]
    borders = [{"position": grid.cols * row + 0.5} for row in range(1, grid.rows)]
    centres = [grid.cols * (row + 0.5) + 0.5 for row in range(grid.rows)]
    x = alt.X(
        "position:Q",
        axis=numbered_axis(centres, "row"),
        scale=alt.Scale(domain=[0.5, size + 0.5], nice=False, zero=False),
    )
    y = alt.Y("value:Q", scale=_upto(frame.top), axis=alt.Axis(title="share of screens", tickCount=5))
    layers = [
        over(shades).mark_rect(color="#f2f2f2").encode(x=x, x2="end:Q"),
        over(borders).mark_rule(color=GREY, strokeWidth=0.8).encode(x=x),
        over(band).mark_area(color=GREY, opacity=0.4).encode(x=x, y=alt.Y("low:Q"), y2="high:Q", detail="row:N"),
        over(lines).mark_line(strokeWidth=1.7, strokeJoin="round").encode(x=x, y=y, detail="row:N", **frame.lines),
    ]
    shaded_pages = "; shaded: every second swipe page" * bool(shades)
    title = alt.TitleParams("(a) every cell, row after row", subtitle=f"grey band: interval of the data{shaded_pages}")
    return alt.LayerChart(layer=layers, width=WIDTH, height=215, title=title)


def _scattered(tables: Sequence[Array], grid: Grid) -> list[dict[str, Any]]:
    """A line of data for each cell: the data, the two ends of its interval, and the model."""
    values = np.stack(tables, axis=-1).tolist()
    return [
        {"row": row, "col": col, "page": page} | dict(zip(("data", "low", "high", "model"), cell, strict=True))
        for row, cells in enumerate(values, 1)
        for col, (page, cell) in enumerate(zip(grid.swipe_page.tolist(), cells, strict=True), 1)
    ]


def _scatter(cells: list[dict[str, Any]], model: str, frame: _Frame, across: int, data: str | None) -> alt.LayerChart:
    """Each cell where the model and the data put it; on the diagonal they agree."""
    ends = [{"model": end, "data": end} for end in (0, frame.top)]
    x = alt.X("model:Q", scale=_upto(frame.top), axis=alt.Axis(title=model, tickCount=5, titleLimit=across))
    first = data is not None  # the others share its axis
    y = alt.Y("data:Q", scale=_upto(frame.top), axis=alt.Axis(title=data, tickCount=5, labels=first, ticks=first))
    points = over(cells)
    layers = [
        over(ends).mark_line(color=GREY, strokeWidth=1).encode(x=x, y=y),
        points.mark_rule(color=GREY, opacity=0.45).encode(x=x, y=alt.Y("low:Q"), y2="high:Q"),
        points.mark_point(stroke="white", strokeWidth=0.5, size=45, opacity=1).encode(
            x=x, y=y, tooltip=["row:O", "col:O", "data:Q", "model:Q"], **frame.points
        ),
    ]
    title = alt.TitleParams("(b) every cell", subtitle="whiskers: intervals") if first else alt.TitleParams("")
    return alt.LayerChart(layer=layers, width=across, height=across, title=title)


def _by_row(data: Array, weights: dict[str, Array], frame: _Frame, width: int, height: int) -> alt.LayerChart:
    """The mean of each swipe page of each row: points for the data, lines for the models."""
    grid = frame.grid
    points = [
        {"row": row, "page": page, "value": value}
        for row, values in enumerate(page_means(data, grid).tolist(), 1)
        for page, value in enumerate(values, 1)
    ]
    modelled = [
        {"row": row + aside, "page": page, "series": name, "value": value}
        for name, table in weights.items()
        for row, values in enumerate(page_means(table, grid).tolist(), 1)
        for page, value in enumerate(values, 1)
        for aside in _asides(grid.rows)
    ]
    places = [float(row) for row in range(1, grid.rows + 1)]
    x = alt.X(
        "row:Q",
        axis=numbered_axis(places, "row"),
        scale=alt.Scale(domain=[0.5, grid.rows + 0.5], nice=False, zero=False),
    )
    y = alt.Y("value:Q", scale=_upto(frame.top), axis=alt.Axis(title="mean share of screens", tickCount=5))
    layers = [
        over(modelled).mark_line(strokeWidth=2).encode(x=x, y=y, detail="page:N", **frame.lines),
        # hollow, so that the line of one swipe page is not taken for another's
        over(modelled)
        .mark_point(fill="white", strokeWidth=1.2, size=30, opacity=1)
        .encode(x=x, y=y, stroke=frame.lines["stroke"], shape=frame.points["shape"]),
        over(points).mark_point(stroke="white", strokeWidth=0.5, size=75, opacity=1).encode(x=x, y=y, **frame.points),
    ]
    title = alt.TitleParams(
        "(c) the mean of each row, by swipe page", subtitle="filled: data; lines with hollow marks: model"
    )
    return alt.LayerChart(layer=layers, width=width, height=height, title=title)


def _asides(places: int) -> tuple[float, ...]:
    """Where a line has points, from each of its places: at a single place it needs two to be seen."""
    return (0.0,) if places > 1 else (-0.2, 0.2)


def _upto(top: float) -> alt.Scale:
    return alt.Scale(domain=[0, top], nice=False)
