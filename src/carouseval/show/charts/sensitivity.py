"""The matrix of a sensitivity study: systems by variations, shaded by rank."""

import math
from collections.abc import Sequence
from typing import Any

import altair as alt
import polars as pl

from carouseval.comparison.sensitivity import Sensitivity
from carouseval.evaluation.columns import Columns
from carouseval.show.charts.chart import Chart
from carouseval.show.charts.drawing import chart_of, chart_title, finished, named_axis, named_lines, tooltip
from carouseval.show.charts.theme import INK, PAPER, RAMP, RED, TEXT

_WIDE, _NARROW, _HIGH = 76, 48, 26  # pixels of a cell; narrow ones where systems are many
_MANY = 10
_DARK_CELL = 0.68


def sensitivity_matrix(result: Sensitivity) -> Chart:
    """The mean of each system under each variation, darker the higher it ranks; swapped places are framed."""
    by = result.config["by"]
    lines = result.table.filter(pl.col(name) == "(all)" for name in by) if by else result.table
    reference: dict[str, int] = {}
    cells: list[dict[str, Any]] = []
    for line, row in enumerate(lines.iter_rows(named=True)):
        ranks = _ranks({system: row[system] for system in result.systems})
        reference = reference or ranks
        for column, system in enumerate(result.systems):
            value, rank = row[system], ranks[system]
            cells.append(
                {"line": line, "top": line - 0.5, "bottom": line + 0.5, "left": column - 0.5, "right": column + 0.5}
                | {"column": column, "system": system, "variation": f"{row[Columns.VARIED]}: {row[Columns.VARIATION]}"}
                | {"mean": None if math.isnan(value) else value, "rank": rank, "moved": rank != reference[system]}
                | {"share": 1 - (rank - 1) / max(1, len(result.systems) - 1)}
                | {"text": "none" if math.isnan(value) else f"{value:.3f}"}
            )
    names = [f"{row[Columns.VARIED]}: {row[Columns.VARIATION]}" for row in lines.iter_rows(named=True)]
    x = alt.X(
        "left:Q",
        axis=_top_axis(result.systems),
        scale=alt.Scale(domain=[-0.5, len(result.systems) - 0.5], nice=False, zero=False),
    )
    y = named_lines("top:Q", names)
    ink = alt.when(f"datum.share > {_DARK_CELL}").then(alt.value(PAPER)).otherwise(alt.value(TEXT))
    squares = chart_of(cells)
    place = {"x": x, "x2": "right:Q", "y": y, "y2": "bottom:Q"}
    layers = [
        squares.mark_rect(stroke=PAPER).encode(
            **place,
            color=alt.Color("share:Q", scale=alt.Scale(range=RAMP, domain=[-0.2, 1]), legend=None),
            tooltip=tooltip(system="", variation="", mean=".4f", rank="d"),
        ),
        squares.transform_filter("datum.moved").mark_rect(filled=False, stroke=RED, strokeWidth=2.5).encode(**place),
        squares.mark_text(fontSize=12, aria=False).encode(
            x=alt.X("column:Q"), y=alt.Y("line:Q"), text="text:N", color=ink
        ),
        chart_of([{"line": 0.5}]).mark_rule(color=INK).encode(y=alt.Y("line:Q")),  # below the reference
    ]
    width = (_WIDE if len(result.systems) <= _MANY else _NARROW) * len(result.systems)
    notes = f"{result.summary} Darker: higher rank in its line. Framed: another rank than in the reference."
    title = chart_title("Does the order of systems hold?", notes, max(560, width + 260))
    figure = alt.LayerChart(layer=layers, width=width, height=_HIGH * max(2, len(names)), title=title)
    return finished(figure, "Does the order of systems hold?", result.summary)


def _ranks(means: dict[str, float]) -> dict[str, int]:
    """Ranks from 1; equal means have the same, and a mean that is missing the last."""
    known = {name: -math.inf if math.isnan(mean) else mean for name, mean in means.items()}
    return {name: 1 + sum(other > mean for other in known.values()) for name, mean in known.items()}


def _top_axis(systems: Sequence[str]) -> alt.Axis:
    """The names of systems, at an angle where there are many."""
    if len(systems) <= 4:
        return named_axis(systems, orient="top", labelAngle=0, labelLimit=_WIDE)
    return named_axis(systems, orient="top", labelAngle=-40, labelAlign="left", labelLimit=200)
