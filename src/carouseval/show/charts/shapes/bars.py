"""Numbers as bars below each other, with their names and texts."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt

from carouseval.show.charts.chart import Chart
from carouseval.show.charts.drawing import chart_of, chart_title, finished, named_lines, tooltip
from carouseval.show.charts.theme import GREY, HUES, INK

_WIDTH, _BAR = 420, 24


@dataclass(frozen=True)
class Bar:
    """A bar with the text beside it; ``marked`` bars are dark, others grey."""

    name: str
    value: float
    text: str
    marked: bool = True


def bar_chart(bars: Sequence[Bar], title: str, notes: str, alternative: str, axis: str) -> Chart:
    """Bars in the order given; a value that is not finite has its text alone."""
    rows = [
        {"line": at, "top": at - 0.36, "bottom": at + 0.36, "name": bar.name, "text": bar.text, "marked": bar.marked}
        | {"from": 0.0, "to": bar.value if math.isfinite(bar.value) else 0.0}
        for at, bar in enumerate(bars)
    ]
    low = min([0.0, *(bar.value for bar in bars if math.isfinite(bar.value))])
    high = max([0.0, *(bar.value for bar in bars if math.isfinite(bar.value))]) or 1.0
    x = alt.X("from:Q", scale=alt.Scale(domain=[low, high], nice=False), axis=alt.Axis(title=axis, tickCount=5))
    y = named_lines("top:Q", [bar.name for bar in bars])
    color = alt.when("datum.marked").then(alt.value(HUES[0])).otherwise(alt.value(GREY))
    layers = [
        chart_of(rows)
        .mark_rect()
        .encode(x=x, x2="to:Q", y=y, y2="bottom:Q", color=color, tooltip=tooltip(name="", text="")),
        chart_of(rows)
        .mark_text(align="left", dx=7, fontSize=12, color=INK)
        .encode(x=alt.X("to:Q"), y=alt.Y("line:Q"), text="text:N"),
    ]
    height = _BAR * max(2, len(bars))
    figure = alt.LayerChart(layer=layers, width=_WIDTH, height=height, title=chart_title(title, notes, _WIDTH + 260))
    return finished(figure, title, alternative)
