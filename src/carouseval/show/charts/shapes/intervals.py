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
_REACH = 5  # shortest intervals that fit between the outermost value and the end of the axis


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
    """A panel for each title, with its own scale; ``reference`` is a value to compare with, such as 0.

    An axis has all values, and reaches beyond them by half their range or five of the shortest intervals, whichever is
    more. Longer intervals, as those of one or two users are, are cut there, or nothing else could be told apart.
    """
    axes = {name: _axis_ends(lines, reference) for name, lines in panels.items()}
    charts = [_panel(name, lines, axes[name], reference) for name, lines in panels.items()]
    if any(_is_cut(line, *axes[name]) for name, lines in panels.items() for line in lines):
        notes = f"{notes} Arrows: intervals that go on beyond the axis."
    figure = alt.concat(*charts, columns=1, spacing=20, title=chart_title(title, notes, _WIDTH + _TEXTS + 100))
    return finished(figure, title, alternative)


def _panel(
    title: str, lines: Sequence[IntervalLine], ends: tuple[float, float], reference: float | None
) -> alt.LayerChart:
    low, high = ends
    x = alt.X(
        "value:Q",
        scale=alt.Scale(domain=[low, high], nice=False, zero=False),
        axis=alt.Axis(title=None, tickCount=6, labelOverlap=True),
    )
    names = [line.name for line in lines]
    y = named_lines("line:Q", names)
    rows = [_row(index, line, low, high) for index, line in enumerate(lines)]
    arrows = [
        {"line": row["line"], "at": end, "shape": f"triangle-{side}", "solid": row["solid"]}
        for row in rows
        if row["low"] is not None
        for end, side, is_cut in ((low, "left", row["low"] < low), (high, "right", row["high"] > high))
        if is_cut
    ]
    scored = chart_of([row for row in rows if row["value"] is not None])
    bands = [{"from": index - 0.5, "to": index + 0.5} for index in range(1, len(lines), 2)]
    solid = alt.when("datum.solid")
    color = solid.then(alt.value(HUES[0])).otherwise(alt.value(GREY))
    layers = [
        chart_of(bands).mark_rect(color=BAND, opacity=0.7).encode(y=named_lines("from:Q", names), y2="to:Q"),
        chart_of([{"value": reference}] if reference is not None else [])
        .mark_rule(color=INK, strokeDash=[4, 3])
        .encode(x=x),
        chart_of([row for row in rows if row["low"] is not None])
        .mark_rule(strokeWidth=2)
        .encode(x=alt.X("from:Q"), x2="to:Q", y=y, color=color),
        chart_of(arrows)
        .mark_point(filled=True, size=70, opacity=1)
        .encode(x=alt.X("at:Q"), y=y, color=color, shape=alt.Shape("shape:N", scale=None)),
        scored.mark_point(size=85, strokeWidth=2, opacity=1).encode(
            x=x,
            y=y,
            fill=solid.then(alt.value(HUES[0])).otherwise(alt.value(PAPER)),
            stroke=color,
            tooltip=tooltip(name="", value=".4f", low=".4f", high=".4f"),
        ),
        chart_of(rows)
        .mark_text(align="left", dx=10, fontSize=12, color=INK)
        .encode(x=alt.X("end:Q"), y=y, text="text:N"),
    ]
    return alt.LayerChart(layer=layers, width=_WIDTH, height=_LINE_HEIGHT * max(2, len(lines)), title=title)


def _axis_ends(lines: Sequence[IntervalLine], reference: float | None) -> tuple[float, float]:
    """The ends of the axis, a little beyond what it shows."""
    values = [line.value for line in lines if math.isfinite(line.value)]
    values += [] if reference is None else [reference]
    bounds = [bound for line in lines for bound in (line.low, line.high) if math.isfinite(bound)]
    lengths = [line.high - line.low for line in lines if 0 < line.high - line.low < math.inf]
    lowest, highest = min(values, default=0.0), max(values, default=1.0)
    reach = max((highest - lowest) / 2, _REACH * min(lengths, default=0.0))
    low = max(lowest - reach, min([lowest, *bounds]))
    high = min(highest + reach, max([highest, *bounds]))
    margin = 0.06 * (high - low) or 0.1 * abs(high) or 0.1
    return low - margin, high + margin


def _is_cut(line: IntervalLine, low: float, high: float) -> bool:
    return line.low < low or line.high > high


def _row(index: int, line: IntervalLine, low: float, high: float) -> dict[str, Any]:
    numbers = {"value": line.value, "low": line.low, "high": line.high}
    finite = {name: number if math.isfinite(number) else None for name, number in numbers.items()}
    visible = {"from": max(line.low, low), "to": min(line.high, high)} if finite["low"] is not None else {}
    return {"line": index, "name": line.name, **finite, **visible, "solid": line.solid, "text": line.text, "end": high}
