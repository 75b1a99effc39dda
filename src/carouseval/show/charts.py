"""The figures of the paper, and heat maps; they draw given numbers and compute none.

Charts can be read in grey: lines differ in dash and marker as well as in colour, and cells darken with their value.
"""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np

from carouseval.attention.examination import Examination
from carouseval.attention.rank_fit import Scores
from carouseval.metrics.discounts import Discount
from carouseval.metrics.grid import Array, Grid
from carouseval.show.drawing import FAINT, GREY, HUES, RED, chart_of, note, numbered_axis, save_chart, styled
from carouseval.show.screens import attention_patterns, browsing_pattern, heatmap, heatmaps
from carouseval.study.simulation import Study

__all__ = [
    "agreement",
    "attention_patterns",
    "browsing_pattern",
    "discount_fits",
    "heatmap",
    "heatmaps",
    "save_chart",
]

BEST = "d_rpd"  # the paper's own discount, always in red
WORDS = ["alpha", "beta", "gamma", "lambda", "lam", "eta", "theta", "mu", "nu", "kappa", "sigma", "rho"]
GREEK = dict(zip(WORDS, "αβγλληθμνκσρ", strict=True))


def discount_fits(fits: Sequence[tuple[Discount, Scores]], examination: Examination) -> alt.ConcatChart:
    """Figure 2: each discount with its scores and the frequencies, in reading order, as shares of their maximum."""
    columns = min(3, len(fits))
    names = ["empirical frequencies", *dict.fromkeys(_series(discount) for discount, _ in fits)]
    colors = [GREY if name == names[0] else RED if name == BEST else HUES[0] for name in names]
    legend = alt.Legend(title=None, orient="top", symbolSize=700, symbolStrokeWidth=2.5, columnPadding=30)
    encodings = {
        "color": alt.Color("series:N", scale=alt.Scale(domain=names, range=colors), legend=legend),
        "strokeDash": alt.StrokeDash(
            "series:N", scale=alt.Scale(domain=names, range=[[1, 0]] + [[5, 2]] * (len(names) - 1))
        ),
    }
    charts = [
        _fit_panel(
            {names[0]: examination.frequencies, _series(discount): discount.weights(Grid(*examination.counts.shape))},
            _title(discount, scores),
            encodings,
            x_title="cells in reading order, by row" if index + columns >= len(fits) else None,
            y_title="share of the maximum" if index % columns == 0 else None,
        )
        for index, (discount, scores) in enumerate(fits)
    ]
    return styled(alt.concat(*charts, columns=columns, spacing=22))


def _fit_panel(
    tables: Mapping[str, Array],
    title: alt.TitleParams,
    encodings: dict[str, Any],
    x_title: str | None,
    y_title: str | None,
) -> alt.LayerChart:
    rows, cols = next(iter(tables.values())).shape
    lines = [
        {"position": position, "series": name, "value": value}
        for name, table in tables.items()
        for position, value in enumerate((table / np.max(table)).ravel().tolist(), 1)
    ]
    centres = [cols * (row + 0.5) + 0.5 for row in range(rows)]
    x = alt.X(
        "position:Q",
        axis=numbered_axis(centres, x_title),
        scale=alt.Scale(domain=[0, rows * cols + 1], nice=False),
    )
    y = alt.Y("value:Q", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(title=y_title, tickCount=5))
    borders = [{"position": cols * row + 0.5} for row in range(1, rows)]
    layers = [
        chart_of(borders).mark_rule(color=FAINT, strokeWidth=0.8).encode(x=x),
        chart_of(lines).mark_line(strokeWidth=1.7, strokeJoin="round").encode(x=x, y=y, **encodings),
    ]
    return alt.LayerChart(layer=layers, width=255, height=165, title=title)


def _title(discount: Discount, scores: Scores) -> alt.TitleParams:
    label = str(discount).replace("(", ": ", 1).removesuffix(")")
    numbers = f"rho={scores.spearman:.4f}, r={scores.pearson:.4f}, MSE={scores.mse:.4f}"
    return alt.TitleParams(_greek(label), subtitle=_greek(numbers))


def _greek(text: str) -> str:
    """Names of parameters as Greek letters, as in the paper."""
    return re.sub(r"[a-z]+(?=\d*=)", lambda name: GREEK.get(name[0], name[0]), text).replace("=", " = ")


def _series(discount: Discount) -> str:
    return BEST if discount.symbol == BEST else "discount"


def agreement(studies: Mapping[str, Study], names: Sequence[str] = ()) -> alt.ConcatChart:
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
    return styled(alt.concat(*charts, columns=2, spacing=24, title=note("Bands: 95% Wilson intervals.")))


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
            number.transform_filter("datum.highest").mark_text(dx=3, dy=-13, fontSize=12, align="right"),
            number.transform_filter("!datum.highest").mark_text(dx=4, dy=14, fontSize=12, align="left"),
        ]
    return alt.LayerChart(layer=layers, width=350, height=230, title=f"{mode} relevance")
