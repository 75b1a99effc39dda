"""Discounts beside the best that data can do: how far each is from the ceiling, measure by measure."""

import math
from collections.abc import Sequence
from typing import TypeAlias

import altair as alt

from carouseval.show.drawing import FAINT, INK, note, over, styled
from carouseval.study.ceiling_study import CeilingLine

ValueWithInterval: TypeAlias = tuple[float, float, float]  # a value and the two ends of its interval
INTERVALS = "95% intervals; of scores, by drawing the test counts anew cell by cell; of agreement, Wilson's"
LINE = 46  # pixels from one discount to the next


def ceiling_chart(lines: Sequence[CeilingLine], ceiling: CeilingLine | None = None) -> alt.ConcatChart:
    """One panel per measure, one line per discount in the order given; the ceiling's intervals are the bands."""
    scores = {"Spearman's ρ": "spearman", "Pearson's r": "pearson", "mean squared error": "mse"}
    measures = {title: [line.interval(measure) for line in lines] for title, measure in scores.items()}
    for mode in lines[0].agreement:
        shares = [line.agreement[mode].agreement for line in lines]
        measures[f"agreement, {mode}"] = [(share.value, *share.interval) for share in shares]
    panels = [
        _panel(title, lines, ceiling, values, named=at == 0) for at, (title, values) in enumerate(measures.items())
    ]
    band = "Grey bands: the ceiling's. " if ceiling is not None else ""
    text = f"Lines: {INTERVALS}. {band}Scales are cut to the values: lengths compare within a panel only."
    return styled(alt.concat(*panels, columns=len(panels), spacing=26, title=note(text)))


def _panel(
    title: str,
    lines: Sequence[CeilingLine],
    ceiling: CeilingLine | None,
    values: Sequence[ValueWithInterval],
    named: bool,
) -> alt.LayerChart:
    share, less = title.startswith("agreement"), title == "mean squared error"
    least, most = min(low for _, low, _ in values), max(high for _, _, high in values)
    span = (most - least) or abs(most) or 1.0
    places = max(2, 1 - math.floor(math.log10(span)))  # of a tick; a value has one more
    data = [
        {"name": _label(line), "value": value, "low": low, "high": high, "ceiling": line is ceiling}
        | {"text": f"{100 * value:.1f}%" if share else f"{value:.{places + 1}f}"}
        for line, (value, low, high) in zip(lines, values, strict=True)
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
    y = alt.Y("name:N", sort=None, scale=alt.Scale(domain=[_label(line) for line in lines]), axis=axis)
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
    return alt.LayerChart(layer=layers, width=175, height=LINE * len(lines), title=title)


def _label(line: CeilingLine) -> str:
    """Two lines of text, which the axis parts at the bar."""
    return f"{line.name}|{line.parameters} parameter{'s' * (line.parameters != 1)}"
