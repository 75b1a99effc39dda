"""Fitted discounts against examination data, by cell and by row.

Models differ in colour and dash, swipe pages in shade and shape, so that charts can be read in grey.
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
from carouseval.metrics.grid import Array, Grid, sizes_by_row
from carouseval.show.charts.chart import Chart
from carouseval.show.charts.drawing import chart_of, finished, numbered_axis
from carouseval.show.charts.shapes.screens import as_table
from carouseval.show.charts.theme import BAND, GREY, HUES, INK, PAPER, RED, SHADES
from carouseval.show.swipe_pages import page_means

WIDTH = 1040
MODELS = (RED, *HUES[1:])  # without blue, which marks swipe pages
DASHES = ([6, 2], [2, 2], [10, 2, 2, 2])
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")


@dataclass(frozen=True, eq=False)
class _Frame:
    """What the panels of a figure share."""

    grid: Grid
    lines: dict[str, Any]  # encodings of data and models
    points: dict[str, Any]  # encodings of swipe pages
    top: float  # the upper end of every scale


def fit_chart(report: FitReport) -> Chart:
    """A fitted discount against held-out data or, if there are none, the data it was fitted to."""
    data, discount = report.data, report.discount
    target = data.train if data.test is None else data.test
    notes = [] if data.test is None else [f"fitted to {data.name}, compared with held-out data"]
    notes += [] if target.intervals is None else ["95% Wilson intervals of single cells"]
    return data_against_model(target, {discount.symbol: discount}, data.grid, "; ".join(notes))


def data_against_model(
    data: Examination | Frequencies, models: Mapping[str, Discount], grid: Grid, subtitle: str = ""
) -> Chart:
    """A figure of a fit: (a) all cells in reading order, (b) data against model, (c) the mean of each row.

    Weights that are not probabilities are scaled to the maximum of the data.
    """
    frequencies = as_table(data.frequencies, grid)
    low, high = data.intervals or (frequencies, frequencies)
    weights = dict(_scaled(name, model, grid, float(frequencies.max())) for name, model in models.items())
    largest = max(float(np.max(table)) for table in (frequencies, high, *weights.values()))
    top = math.ceil(20 * largest) / 20 or 1.0  # in steps of .05
    frame = _Frame(grid, _line_encodings(data.name, list(weights)), _point_encodings(grid), top)
    side = {1: 300, 2: 235}.get(len(weights), 200)  # of a scatter plot
    scatters = [
        _scatter(
            _cell_data((frequencies, low, high, table), grid), name, frame, side, data.name if index == 0 else None
        )
        for index, (name, table) in enumerate(weights.items())
    ]
    rows = _by_row(frequencies, weights, frame, WIDTH - len(weights) * (side + 26) - 56, side)
    below = alt.concat(*scatters, rows, columns=len(scatters) + 1, spacing=26, align="each")
    cells = _by_cell(data.name, (frequencies, low, high), weights, frame)
    against = next(iter(weights)) if len(weights) == 1 else f"{len(weights)} models"
    title = alt.TitleParams(f"{data.name} against {against}", fontSize=17, offset=14)
    if subtitle:
        title.subtitle = subtitle
    errors = ", ".join(f"{name} {np.abs(table - frequencies).mean():.4f}" for name, table in weights.items())
    alternative = (
        f"{data.name}, share of screens on which each of {grid.rows} x {grid.cols} cells was examined, beside "
        f"{', '.join(weights)}: by cell, against each other, and by row. Mean absolute difference: {errors}."
    )
    figure = alt.concat(cells, below, columns=1, spacing=26, title=title)
    return finished(figure, f"{data.name} against {against}", alternative)


def _scaled(name: str, model: Discount, grid: Grid, top: float) -> tuple[str, Array]:
    weights = model.weights(grid)
    return (name, weights) if model.is_probability else (f"{name}, scaled", weights * (top / weights.max()))


def _line_encodings(data: str, models: list[str]) -> dict[str, Any]:
    """Encodings of lines: the data in black, each model in its colour and dash."""
    numbers = range(len(models))
    colors = [INK, *(MODELS[number % len(MODELS)] for number in numbers)]
    dashes = [[1, 0], *(DASHES[number % len(DASHES)] for number in numbers)]
    legend = alt.Legend(
        title=None,
        orient="top",
        symbolType="stroke",
        symbolSize=700,
        symbolStrokeWidth=2.5,
        columnPadding=24,
        padding=8,
    )
    domain = [data, *models]
    return {
        "stroke": alt.Stroke("series:N", scale=alt.Scale(domain=domain, range=colors), legend=legend),
        "strokeDash": alt.StrokeDash("series:N", scale=alt.Scale(domain=domain, range=dashes), legend=legend),
    }


def _point_encodings(grid: Grid) -> dict[str, Any]:
    """Encodings of cells: the later their swipe page, the lighter, and each page in its shape."""
    domain = np.unique(grid.swipe_page).tolist()
    steps = (len(SHADES) - 1) / max(1, len(domain) - 1)
    shades = [SHADES[round(steps * number)] for number in range(len(domain))]
    shapes = [SHAPES[number % len(SHAPES)] for number in range(len(domain))]
    # the padding aligns it with the legend of lines, whose symbols are larger
    legend = alt.Legend(
        title="swipe page", titleOrient="left", titlePadding=14, orient="top", symbolSize=90, columns=12, padding=15
    )
    return {
        "fill": alt.Fill("page:O", scale=alt.Scale(domain=domain, range=shades), legend=legend),
        "shape": alt.Shape("page:O", scale=alt.Scale(domain=domain, range=shapes), legend=legend),
    }


def _by_cell(name: str, tables: Sequence[Array], weights: dict[str, Array], frame: _Frame) -> alt.LayerChart:
    """All cells in reading order; every second swipe page is shaded."""
    grid = frame.grid
    data, low, high = (table.ravel().tolist() for table in tables)
    size = grid.rows * grid.cols
    rows = [index // grid.cols + 1 if grid.cols > 1 else 1 for index in range(size)]  # a line breaks between rows
    lines = [
        {"position": index + 1 + offset, "row": rows[index], "series": series, "value": value}
        for series, values in ((name, data), *((model, table.ravel().tolist()) for model, table in weights.items()))
        for index, value in enumerate(values)
        for offset in _offsets(size)
    ]
    band = [
        {"position": index + 1 + offset, "row": rows[index], "low": low[index], "high": high[index]}
        for index in range(size)
        for offset in _offsets(size)
    ]
    begins = [
        (grid.cols * row + first, grid.cols * row + min(first + size, grid.cols))
        for row, size in enumerate(sizes_by_row(grid))
        for first in range(size, grid.cols, 2 * size)
    ]
    shades = [{"position": begin + 0.5, "end": end + 0.5} for begin, end in begins]
    borders = [{"position": grid.cols * row + 0.5} for row in range(1, grid.rows)]
    centres = [grid.cols * (row + 0.5) + 0.5 for row in range(grid.rows)]
    x = alt.X(
        "position:Q",
        axis=numbered_axis(centres, "row"),
        scale=alt.Scale(domain=[0.5, size + 0.5], nice=False, zero=False),
    )
    y = alt.Y("value:Q", scale=_scale_to(frame.top), axis=alt.Axis(title="share of screens", tickCount=5))
    layers = [
        chart_of(shades).mark_rect(color=BAND).encode(x=x, x2="end:Q"),
        chart_of(borders).mark_rule(color=GREY, strokeWidth=0.8).encode(x=x),
        chart_of(band).mark_area(color=GREY, opacity=0.4).encode(x=x, y=alt.Y("low:Q"), y2="high:Q", detail="row:N"),
        chart_of(lines).mark_line(strokeWidth=1.7, strokeJoin="round").encode(x=x, y=y, detail="row:N", **frame.lines),
    ]
    shaded_pages = "; shaded: every second swipe page" * bool(shades)
    title = alt.TitleParams("(a) all cells in reading order", subtitle=f"grey band: interval of the data{shaded_pages}")
    return alt.LayerChart(layer=layers, width=WIDTH, height=215, title=title)


def _cell_data(tables: Sequence[Array], grid: Grid) -> list[dict[str, Any]]:
    """A line of data for each cell: the data, the two ends of its interval, and the model."""
    values = np.stack(tables, axis=-1).tolist()
    pages = np.broadcast_to(grid.swipe_page, grid.shape).tolist()
    return [
        {"row": row, "col": col, "page": page} | dict(zip(("data", "low", "high", "model"), cell, strict=True))
        for row, (cells, row_pages) in enumerate(zip(values, pages, strict=True), 1)
        for col, (page, cell) in enumerate(zip(row_pages, cells, strict=True), 1)
    ]


def _scatter(cells: list[dict[str, Any]], model: str, frame: _Frame, side: int, data: str | None) -> alt.LayerChart:
    """Each cell by model and data; on the diagonal they agree."""
    ends = [{"model": end, "data": end} for end in (0, frame.top)]
    x = alt.X("model:Q", scale=_scale_to(frame.top), axis=alt.Axis(title=model, tickCount=5, titleLimit=side))
    first = data is not None  # further panels share its axis
    y = alt.Y("data:Q", scale=_scale_to(frame.top), axis=alt.Axis(title=data, tickCount=5, labels=first, ticks=first))
    points = chart_of(cells)
    layers = [
        chart_of(ends).mark_line(color=GREY, strokeWidth=1).encode(x=x, y=y),
        points.mark_rule(color=GREY, opacity=0.45).encode(x=x, y=alt.Y("low:Q"), y2="high:Q"),
        points.mark_point(stroke=PAPER, strokeWidth=0.5, size=45, opacity=1).encode(
            x=x, y=y, tooltip=["row:O", "col:O", "data:Q", "model:Q"], **frame.points
        ),
    ]
    title = alt.TitleParams("(b) data against model", subtitle="whiskers: intervals") if first else alt.TitleParams("")
    return alt.LayerChart(layer=layers, width=side, height=side, title=title)


def _by_row(data: Array, weights: dict[str, Array], frame: _Frame, width: int, height: int) -> alt.LayerChart:
    """The mean of each swipe page of each row: points for the data, lines for the models."""
    grid = frame.grid
    means = page_means(data, grid)
    places_of_page = (~np.isnan(means)).sum(axis=0).tolist()  # rows that have it
    points = [
        {"row": row, "page": page, "value": value}
        for row, values in enumerate(means.tolist(), 1)
        for page, value in enumerate(values, 1)
        if not math.isnan(value)
    ]
    modelled = [
        {"row": row + offset, "page": page, "series": name, "value": value}
        for name, table in weights.items()
        for row, values in enumerate(page_means(table, grid).tolist(), 1)
        for page, value in enumerate(values, 1)
        if not math.isnan(value)
        for offset in _offsets(places_of_page[page - 1])
    ]
    places = [float(row) for row in range(1, grid.rows + 1)]
    x = alt.X(
        "row:Q",
        axis=numbered_axis(places, "row"),
        scale=alt.Scale(domain=[0.5, grid.rows + 0.5], nice=False, zero=False),
    )
    y = alt.Y("value:Q", scale=_scale_to(frame.top), axis=alt.Axis(title="mean share of screens", tickCount=5))
    layers = [
        chart_of(modelled).mark_line(strokeWidth=2).encode(x=x, y=y, detail="page:N", **frame.lines),
        # hollow marks show which swipe page a line belongs to
        chart_of(modelled)
        .mark_point(fill=PAPER, strokeWidth=1.2, size=30, opacity=1)
        .encode(x=x, y=y, stroke=frame.lines["stroke"], shape=frame.points["shape"]),
        chart_of(points).mark_point(stroke=PAPER, strokeWidth=0.5, size=75, opacity=1).encode(x=x, y=y, **frame.points),
    ]
    title = alt.TitleParams(
        "(c) mean of each row by swipe page", subtitle="filled: data; lines with hollow marks: model"
    )
    return alt.LayerChart(layer=layers, width=width, height=height, title=title)


def _offsets(places: int) -> tuple[float, ...]:
    """Offsets of the points of a line from each of its places; a line at a single place needs two points."""
    return (0.0,) if places > 1 else (-0.2, 0.2)


def _scale_to(top: float) -> alt.Scale:
    return alt.Scale(domain=[0, top], nice=False)
