"""Values with their intervals, one line each: means, differences between systems, what carousels add."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from carouseval.show.charts.chart import Chart
from carouseval.show.charts.drawing import chart_of, chart_title, finished, named_lines, tooltip
from carouseval.show.charts.theme import BAND, GREY, HUES, INK, PAPER

_WIDTH, _LINE_HEIGHT = 420, 24  # pixels of a panel, and from one line to the next
_TEXTS = 190  # pixels of the numbers beside a panel


@dataclass(frozen=True)
class IntervalLine:
    """A value, NaN if there is none, with the ends of its interval, NaN if it has none."""

    name: str
    value: float
    low: float
    high: float
    solid: bool = True  # a filled mark; a hollow one says that the value does not differ significantly from 0
    signed: bool = False  # written with its sign

    @property
    def text(self) -> str:
        """``+0.0123 (0.0010 to 0.0236)``."""
        if math.isnan(self.value):
            return "no score"
        value = f"{self.value:+.4f}" if self.signed else f"{self.value:.4f}"
        return value if math.isnan(self.low) else f"{value} ({self.low:.4f} to {self.high:.4f})"


def interval_chart(
    panels: Mapping[str, Sequence[IntervalLine]],
    title: str,
    notes: str,
    alternative: str,
    reference: float | None = None,
) -> Chart:
    """A panel for each title, with its own scale; ``reference`` is a value to compare with, such as 0."""
    charts = [_panel(name, lines, reference) for name, lines in panels.items()]
    figure = alt.concat(*charts, columns=1, spacing=20, title=chart_title(title, notes, _WIDTH + _TEXTS + 100))
    return finished(figure, title, alternative)


def _panel(title: str, lines: Sequence[IntervalLine], reference: float | None) -> alt.LayerChart:
    low, high = _ends(lines, reference)
    x = alt.X(
        "value:Q",
        scale=alt.Scale(domain=[low, high], nice=False, zero=False),
        axis=alt.Axis(title=None, tickCount=6, labelOverlap=True),
    )
    names = [line.name for line in lines]
    y = named_lines("line:Q", names)
    rows = [_row(at, line, high) for at, line in enumerate(lines)]
    scored = chart_of([row for row in rows if row["value"] is not None])
    bands = [{"from": at - 0.5, "to": at + 0.5} for at in range(1, len(lines), 2)]
    solid = alt.when("datum.solid")
    layers = [
        chart_of(bands).mark_rect(color=BAND, opacity=0.7).encode(y=named_lines("from:Q", names), y2="to:Q"),
        chart_of([{"value": reference}] if reference is not None else [])
        .mark_rule(color=INK, strokeDash=[4, 3])
        .encode(x=x),
        chart_of([row for row in rows if row["low"] is not None])
        .mark_rule(strokeWidth=2)
        .encode(x=alt.X("low:Q"), x2="high:Q", y=y, color=solid.then(alt.value(HUES[0])).otherwise(alt.value(GREY))),
        scored.mark_point(size=85, strokeWidth=2, opacity=1).encode(
            x=x,
            y=y,
            fill=solid.then(alt.value(HUES[0])).otherwise(alt.value(PAPER)),
            stroke=solid.then(alt.value(HUES[0])).otherwise(alt.value(GREY)),
            tooltip=tooltip(name="", value=".4f", low=".4f", high=".4f"),
        ),
        chart_of(rows)
        .mark_text(align="left", dx=10, fontSize=12, color=INK)
        .encode(x=alt.X("end:Q"), y=y, text="text:N"),
    ]
    return alt.LayerChart(layer=layers, width=_WIDTH, height=_LINE_HEIGHT * max(2, len(lines)), title=title)


def _ends(lines: Sequence[IntervalLine], reference: float | None) -> tuple[float, float]:
    """The ends of the scale, a little beyond all values, intervals and the reference."""
    values = [number for line in lines for number in (line.value, line.low, line.high) if math.isfinite(number)]
    values += [] if reference is None else [reference]
    low, high = min(values, default=0.0), max(values, default=1.0)
    margin = 0.06 * (high - low) or 0.1 * abs(high) or 0.1
    return low - margin, high + margin


def _row(at: int, line: IntervalLine, end: float) -> dict[str, Any]:
    numbers = {"value": line.value, "low": line.low, "high": line.high}
    finite = {name: number if math.isfinite(number) else None for name, number in numbers.items()}
    return {"line": at, "name": line.name, **finite, "solid": line.solid, "text": line.text, "end": end}
