"""Discounts beside the noise ceiling: how far each is from it, measure by measure."""

import math
from collections.abc import Sequence
from typing import TypeAlias

import altair as alt

from carouseval.paper.ceiling_study import CeilingLine
from carouseval.show.charts.chart import Chart
from carouseval.show.charts.drawing import chart_of, finished, note
from carouseval.show.charts.theme import FAINT, INK

ValueWithInterval: TypeAlias = tuple[float, float, float]  # a value and the two ends of its interval
LINE_HEIGHT = 46  # pixels from one discount to the next


def ceiling_chart(
    lines: Sequence[CeilingLine], ceiling: CeilingLine | None = None, noise: str = "test data resampled"
) -> Chart:
    """One panel per measure, one line per discount in the order given, and a band for the interval of the ceiling."""
    scores = {"Spearman's ρ": "spearman", "Pearson's r": "pearson", "mean squared error": "mse"}
    measures = {title: [line.interval(measure) for line in lines] for title, measure in scores.items()}
    for mode in lines[0].agreement:
        shares = [line.shares[mode] for line in lines]
        measures[f"agreement, {mode}"] = [(share.value, *share.interval) for share in shares]
    panels = [
        _panel(title, lines, ceiling, values, labels=index == 0)
        for index, (title, values) in enumerate(measures.items())
    ]
    band = "Grey bands: interval of the ceiling. " if ceiling is not None else ""
    intervals = f"Lines: 95% intervals (scores: {noise}; agreement: Wilson)."
    scales = f"{band}Scales are cropped: compare lengths within a panel only."
    figure = alt.concat(*panels, columns=len(panels), spacing=26, title=note(intervals, scales))
    numbers = "; ".join(
        f"{line.name} {', '.join(f'{title} {values[index][0]:.4f}' for title, values in measures.items())}"
        for index, line in enumerate(lines)
    )
    return finished(figure, "Discounts beside the noise ceiling", f"{len(measures)} measures: {numbers}.")


def _panel(
    title: str,
    lines: Sequence[CeilingLine],
    ceiling: CeilingLine | None,
    values: Sequence[ValueWithInterval],
    labels: bool,
) -> alt.LayerChart:
    is_share, is_error = title.startswith("agreement"), title == "mean squared error"
    lowest, highest = min(low for _, low, _ in values), max(high for _, _, high in values)
    span = (highest - lowest) or abs(highest) or 1.0
    places = max(2, 1 - math.floor(math.log10(span)))  # decimals of a tick; a value has one more
    data = [
        {"name": _label(line), "value": value, "low": low, "high": high, "ceiling": line is ceiling}
        | {"text": f"{100 * value:.1f}%" if is_share else f"{value:.{places + 1}f}"}
        for line, (value, low, high) in zip(lines, values, strict=True)
    ]
    better = "← smaller is better" if is_error else "larger is better →"
    tick_format = f".{places - 2}%" if is_share else f".{places}f"
    x = alt.X(
        "value:Q",
        scale=alt.Scale(domain=[lowest - 0.2 * span, highest + 0.2 * span], nice=False, zero=False),
        axis=alt.Axis(title=better, format=tick_format, tickCount=3, grid=False, labelOverlap=True, labelSeparation=6),
    )
    axis = alt.Axis(
        title=None,
        labels=labels,
        labelExpr="split(datum.label, '|')",
        labelLimit=400,
        labelPadding=8,
        labelOffset=-7,
        grid=True,
        ticks=False,
        domain=False,
    )
    y = alt.Y("name:N", sort=None, scale=alt.Scale(domain=[_label(line) for line in lines]), axis=axis)
    points = chart_of(data)
    shape = alt.when("datum.ceiling").then(alt.value("diamond")).otherwise(alt.value("circle"))
    layers = [
        chart_of([row for row in data if row["ceiling"]])
        .mark_rect(color=FAINT, opacity=0.55)
        .encode(x=alt.X("low:Q"), x2="high:Q"),
        points.mark_rule(color=INK, strokeWidth=2).encode(x=alt.X("low:Q"), x2="high:Q", y=y),
        points.mark_point(filled=True, color=INK, size=80, opacity=1).encode(x=x, y=y, shape=shape),
        points.mark_text(color=INK, dy=-14, fontSize=12).encode(x=x, y=y, text="text:N"),
    ]
    return alt.LayerChart(layer=layers, width=175, height=LINE_HEIGHT * len(lines), title=title)


def _label(line: CeilingLine) -> str:
    """Two lines of text, which the axis splits at the bar."""
    return f"{line.name}|{line.parameters} parameter{'s' * (line.parameters != 1)}"
