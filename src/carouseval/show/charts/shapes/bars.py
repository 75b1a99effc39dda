"""Bars below each other: numbers with their texts, and waterfalls, where each begins at the end of one above."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from carouseval.show.charts.chart import Chart
from carouseval.show.charts.drawing import chart_of, chart_title, finished, named_lines, tooltip
from carouseval.show.charts.theme import GREY, HUES, INK, RED

_HALF = 0.36  # of the thickness of a bar, in lines


@dataclass(frozen=True)
class Bar:
    """A bar with the text beside it; ``marked`` bars are dark, others grey."""

    name: str
    value: float
    text: str
    marked: bool = True


@dataclass(frozen=True)
class Step:
    """A bar from ``start`` to ``end``; a total begins at 0."""

    name: str
    start: float
    end: float
    is_total: bool = False
    text: str = ""  # in place of the difference

    def label(self, places: int) -> str:
        """The difference, with its sign unless it is a total or 0."""
        difference = f"{self.end - self.start:{'' if self.is_total else '+'}.{places}f}"
        return self.text or (difference if float(difference) else f"{0:.{places}f}")


def bar_chart(bars: Sequence[Bar], title: str, notes: str, alternative: str, axis: str) -> Chart:
    """Bars in the order given; a value that is not finite has its text alone."""
    values = [bar.value if math.isfinite(bar.value) else 0.0 for bar in bars]
    rows = [
        {**_place(line), "name": bar.name, "text": bar.text, "marked": bar.marked, "from": 0.0, "to": value}
        for line, (bar, value) in enumerate(zip(bars, values, strict=True))
    ]
    domain = [min([0.0, *values]), max([0.0, *values]) or 1.0]
    x = alt.X("from:Q", scale=alt.Scale(domain=domain, nice=False), axis=alt.Axis(title=axis, tickCount=5))
    color = alt.when("datum.marked").then(alt.value(HUES[0])).otherwise(alt.value(GREY))
    layers = [_bars(rows, x, color), _texts(rows, "to:Q", 12)]
    return _finished(layers, (420, 24 * max(2, len(bars))), chart_title(title, notes, 680), title, alternative)


def waterfall(steps: Sequence[Step], title: str, notes: str, alternative: str, axis: str, places: int) -> Chart:
    """Bars below each other, each of which begins where the one above it ends."""
    rows: list[dict[str, Any]] = [
        {
            **_place(line),
            "name": step.name,
            "from": step.start,
            "to": step.end,
            "right": max(step.start, step.end),
            "kind": "total" if step.is_total else "loss" if step.end < step.start else "gain",
            "text": step.label(places),
        }
        for line, step in enumerate(steps)
    ]
    links = [
        {"at": above["to"], "from": above["bottom"], "to": below["top"]} for above, below in itertools.pairwise(rows)
    ]
    ends = [0.0, *(end for step in steps for end in (step.start, step.end))]
    low, high = min(ends), max(ends)
    span = (high - low) or 1.0
    domain = [low - 0.02 * span * (low < 0), high + 0.13 * span]
    x = alt.X("from:Q", scale=alt.Scale(domain=domain, nice=False), axis=alt.Axis(title=axis, tickCount=6))
    colors = alt.Scale(domain=["total", "loss", "gain"], range=[HUES[0], RED, HUES[1]])
    layers = [
        _bars(rows, x, alt.Color("kind:N", scale=colors, legend=None)),
        chart_of(links).mark_rule(color=GREY).encode(x=alt.X("at:Q"), y=alt.Y("from:Q"), y2="to:Q"),
        _texts(rows, "right:Q", 13),
    ]
    return _finished(layers, (520, 30 * max(2, len(steps))), chart_title(title, notes, 680), title, alternative)


def _place(line: int) -> dict[str, float]:
    return {"line": line, "top": line - _HALF, "bottom": line + _HALF}


def _bars(rows: Sequence[dict[str, Any]], x: alt.X, color: Any) -> alt.Chart:
    y = named_lines("top:Q", [row["name"] for row in rows])
    hint = tooltip(name="", text="")
    bars: alt.Chart = chart_of(rows).mark_rect().encode(x=x, x2="to:Q", y=y, y2="bottom:Q", color=color, tooltip=hint)
    return bars


def _texts(rows: Sequence[dict[str, Any]], end: str, size: int) -> alt.Chart:
    """The text of each bar, beside its right end."""
    mark = chart_of(rows).mark_text(align="left", dx=7, fontSize=size, color=INK)
    texts: alt.Chart = mark.encode(x=alt.X(end), y=alt.Y("line:Q"), text="text:N")
    return texts


def _finished(
    layers: list[alt.Chart], size: tuple[int, int], heading: alt.TitleParams, title: str, alternative: str
) -> Chart:
    figure = alt.LayerChart(layer=layers, width=size[0], height=size[1], title=heading)
    return finished(figure, title, alternative)
