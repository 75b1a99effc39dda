"""Agreement of discounts with the truth against the smallest difference counted: Table 2 of the paper as a chart."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from carouseval.paper.figures.discount_curves import BEST
from carouseval.paper.study import Study
from carouseval.show.charts.chart import Chart
from carouseval.show.charts.drawing import chart_of, finished, note
from carouseval.show.charts.theme import HUES, INK, RED


def agreement(studies: Mapping[str, Study], names: Sequence[str] = ()) -> Chart:
    """Table 2 as a chart: how often each discount agrees with the truth on pairs that differ by at least Delta.

    ``studies`` are by mode; ``names`` are labels to put before the discounts.
    """
    rows = {mode: _agreement_rows(study, names) for mode, study in studies.items()}
    all_rows = [row for mode_rows in rows.values() for row in mode_rows]
    lowest = math.floor(20 * min(row["low"] for row in all_rows))  # in steps of 5%
    thresholds = sorted({row["at_least"] for row in all_rows})
    x = alt.X(
        "at_least:Q",
        scale=alt.Scale(domain=[thresholds[0], thresholds[-1]], padding=30, nice=False),
        axis=alt.Axis(
            title="pairs whose true scores differ by at least Δ", values=thresholds, format=".2f", grid=False
        ),
    )
    axis = alt.Axis(title="agreement with the truth", values=[step / 20 for step in range(lowest, 21)], format=".0%")
    y = alt.Y("share:Q", axis=axis, scale=alt.Scale(domain=[lowest / 20, 1.025], nice=False, zero=False))
    charts = [_agreement_panel(mode, mode_rows, x, y) for mode, mode_rows in rows.items()]
    figure = alt.concat(*charts, columns=2, spacing=24, title=note("Bands: 95% Wilson intervals."))
    lines = [
        f"{mode} relevance: "
        + ", ".join(f"{row['discount']} {row['share']:.1%}" for row in mode_rows if row["at_least"] == thresholds[0])
        for mode, mode_rows in rows.items()
    ]
    alternative = f"Share of pairs on which discounts agree with the truth. {'; '.join(lines)}."
    return finished(figure, "Agreement with the truth", alternative)


def _agreement_rows(study: Study, names: Sequence[str]) -> list[dict[str, Any]]:
    """A line of data for each threshold and discount, with whether it is the highest of the threshold."""
    rows = []
    for threshold in study.thresholds:
        highest = max(comparison.agreement.value for comparison in threshold.comparisons)
        for index, comparison in enumerate(threshold.comparisons):
            name = f"{names[index]}: {comparison.discount.short}" if names else comparison.discount.short
            share, (low, high) = comparison.agreement.value, comparison.agreement.interval
            rows.append(
                {"at_least": float(threshold.at_least), "discount": name, "share": share, "low": low, "high": high}
                | {"text": f"{100 * share:.1f}", "highest": share == highest}
            )
    return rows


def _agreement_panel(mode: str, rows: list[dict[str, Any]], x: alt.X, y: alt.Y) -> alt.LayerChart:
    names = list(dict.fromkeys(row["discount"] for row in rows))
    best = next((name for name in names if BEST in name), None)
    others = [name for name in names if name != best]

    def scale(first: Any, rest: Sequence[Any]) -> alt.Scale:
        """The first value for the paper's own discount, the rest in turn for the others."""
        values = [rest[others.index(name) % len(rest)] if name in others else first for name in names]
        return alt.Scale(domain=names, range=values)

    legend = alt.Legend(
        title=None, orient="top", symbolSize=150, symbolOpacity=1, symbolStrokeWidth=0, columnPadding=30
    )
    color = alt.Color("discount:N", scale=scale(RED, HUES), legend=legend)
    dash = alt.StrokeDash("discount:N", scale=scale([1, 0], [[6, 3], [2, 2], [8, 2, 2, 2]]), legend=None)
    shape = alt.Shape("discount:N", scale=scale("circle", ["square", "diamond", "triangle-up"]), legend=legend)
    data = chart_of(rows)
    layers = [
        data.mark_area(opacity=0.25).encode(x, alt.Y("low:Q"), alt.Y2("high:Q"), color),
        data.mark_line(strokeWidth=1.8).encode(x, y, color, dash),
        data.mark_point(filled=True, size=60, opacity=1).encode(x, y, color, shape),
    ]
    if len(names) <= 2:  # enough space for numbers: above the higher line, below the lower one
        number = data.encode(x, y, alt.Text("text:N"))
        layers += [
            number.transform_filter("datum.highest").mark_text(dx=3, dy=-13, fontSize=12, align="right", color=INK),
            number.transform_filter("!datum.highest").mark_text(dx=4, dy=14, fontSize=12, align="left", color=INK),
        ]
    return alt.LayerChart(layer=layers, width=350, height=230, title=f"{mode} relevance")
