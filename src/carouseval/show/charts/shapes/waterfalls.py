"""From one number to another, step by step: from the ideal page to the score, or row by row to the score of a page."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from carouseval.show.charts.chart import Chart
from carouseval.show.charts.drawing import chart_of, chart_title, finished, named_lines, tooltip
from carouseval.show.charts.theme import GREY, HUES, INK, RED

_WIDTH, _BAR = 520, 30


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


def waterfall(steps: Sequence[Step], title: str, notes: str, alternative: str, axis: str, places: int) -> Chart:
    """Bars below each other, each of which begins where the one above it ends."""
    rows: list[dict[str, Any]] = [
        {
            "line": at,
            "name": step.name,
            "from": step.start,
            "to": step.end,
            "right": max(step.start, step.end),
            "kind": "total" if step.is_total else "loss" if step.end < step.start else "gain",
            "text": step.label(places),
            "top": at - 0.36,
            "bottom": at + 0.36,
        }
        for at, step in enumerate(steps)
    ]
    links = [{"at": row["to"], "from": row["bottom"], "to": after["top"]} for row, after in itertools.pairwise(rows)]
    ends = [0.0, *(end for step in steps for end in (step.start, step.end))]
    low, high = min(ends), max(ends)
    span = (high - low) or 1.0
    x = alt.X(
        "from:Q",
        scale=alt.Scale(domain=[low - 0.02 * span * (low < 0), high + 0.13 * span], nice=False),
        axis=alt.Axis(title=axis, tickCount=6),
    )
    y = named_lines("top:Q", [step.name for step in steps])
    colors = alt.Scale(domain=["total", "loss", "gain"], range=[HUES[0], RED, HUES[1]])
    layers = [
        chart_of(rows)
        .mark_rect()
        .encode(
            x=x,
            x2="to:Q",
            y=y,
            y2="bottom:Q",
            color=alt.Color("kind:N", scale=colors, legend=None),
            tooltip=tooltip(name="", text=""),
        ),
        chart_of(links).mark_rule(color=GREY).encode(x=alt.X("at:Q"), y=alt.Y("from:Q"), y2="to:Q"),
        chart_of(rows)
        .mark_text(align="left", dx=7, fontSize=13, color=INK)
        .encode(x=alt.X("right:Q"), y=alt.Y("line:Q"), text="text:N"),
    ]
    height = _BAR * max(2, len(steps))
    figure = alt.LayerChart(layer=layers, width=_WIDTH, height=height, title=chart_title(title, notes, _WIDTH + 160))
    return finished(figure, title, alternative)
