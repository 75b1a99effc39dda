"""Discounts beside the best that data can do: how far each is from the ceiling, measure by measure."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import altair as alt

from carouseval.show.drawing import FAINT, INK, note, over, styled

Interval: TypeAlias = tuple[float, float, float]  # a value and the two ends of its interval
LINE = 46  # pixels from one discount to the next


@dataclass(frozen=True)
class BeyondRow:
    """A discount and its scores."""

    name: str
    parameters: int
    spearman: Interval
    pearson: Interval
    mse: Interval
    agreement: dict[str, Interval] = field(default_factory=dict)  # by mode, "binary" or "graded"
    ceiling: bool = False  # its intervals run through the panels as bands


def beyond(rows: Sequence[BeyondRow], interval: str = "95% intervals") -> alt.ConcatChart:
    """One panel per measure, one line per discount in the order given; the ceiling's intervals are the bands."""
    modes = list(dict.fromkeys(mode for row in rows for mode in row.agreement))
    measures: dict[str, list[Interval | None]] = {
        "Spearman's ρ": [row.spearman for row in rows],
        "Pearson's r": [row.pearson for row in rows],
        "mean squared error": [row.mse for row in rows],
        **{f"agreement, {mode}": [row.agreement.get(mode) for row in rows] for mode in modes},
    }
    panels = [_panel(title, rows, values, named=at == 0) for at, (title, values) in enumerate(measures.items())]
    band = "Grey bands: the ceiling's. " if any(row.ceiling for row in rows) else ""
    text = f"Lines: {interval}. {band}Scales are cut to the values: lengths compare within a panel only."
    return styled(alt.concat(*panels, columns=len(panels), spacing=26, title=note(text)))


def _panel(title: str, rows: Sequence[BeyondRow], values: Sequence[Interval | None], named: bool) -> alt.LayerChart:
    share, less = title.startswith("agreement"), title == "mean squared error"
    scored = [(row, value) for row, value in zip(rows, values, strict=True) if value is not None]
    least, most = min(low for _, (_, low, _) in scored), max(high for _, (_, _, high) in scored)
    span = (most - least) or abs(most) or 1.0
    places = max(2, 1 - math.floor(math.log10(span)))  # of a tick; a value has one more
    data = [
        {"name": _label(row), "value": value, "low": low, "high": high, "ceiling": row.ceiling}
        | {"text": f"{100 * value:.1f}%" if share else f"{value:.{places + 1}f}"}
        for row, (value, low, high) in scored
    ]
    better = "← smaller is better" if less else "larger is better →"
    form = f".{places - 2}%" if share else f".{places}f"
    x = alt.X(
        "value:Q",
        scale=alt.Scale(domain=[least - 0.2 * span, most + 0.2 * span], nice=False, zero=False),
        axis=alt.Axis(title=better, format=form, tickCount=3, grid=False, labelOverlap=True, labelSeparation=6),
    )
    axis = alt.Axis(
        title=None,
        labels=named,
        labelExpr="split(datum.label, '|')",
        labelLimit=400,
        labelPadding=8,
        labelOffset=-7,
        grid=True,
        ticks=False,
        domain=False,
    )
    y = alt.Y("name:N", sort=None, scale=alt.Scale(domain=[_label(row) for row in rows]), axis=axis)
    every = over(data)
    shape = alt.when("datum.ceiling").then(alt.value("diamond")).otherwise(alt.value("circle"))
    layers = [
        over([row for row in data if row["ceiling"]])
        .mark_rect(color=FAINT, opacity=0.55)
        .encode(x=alt.X("low:Q"), x2="high:Q"),
        every.mark_rule(color=INK, strokeWidth=2).encode(x=alt.X("low:Q"), x2="high:Q", y=y),
        every.mark_point(filled=True, color=INK, size=80, opacity=1).encode(x=x, y=y, shape=shape),
        every.mark_text(color=INK, dy=-14, fontSize=12).encode(x=x, y=y, text="text:N"),
    ]
    return alt.LayerChart(layer=layers, width=175, height=LINE * len(rows), title=title)


def _label(row: BeyondRow) -> str:
    """Two lines, which the axis parts at the bar."""
    return f"{row.name}|{row.parameters} parameter{'s' * (row.parameters != 1)}"
