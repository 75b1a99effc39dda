"""The figures of the paper, and heat maps: lays out the numbers it is given and computes none.

Every chart reads in grey: lines differ in dash and marker as well as in colour, and cells darken with their value.
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
from carouseval.show.drawing import FAINT, GREY, HUES, RED, note, numbered_axis, over, save_chart, styled
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

BEST = "d_rpd"  # the paper's own discount, in red wherever it appears
WORDS = ["alpha", "beta", "gamma", "lambda", "lam", "eta", "theta", "mu", "nu", "kappa", "sigma", "rho"]
GREEK = dict(zip(WORDS, "αβγλληθμνκσρ", strict=True))


def discount_fits(fits: Sequence[tuple[Discount, Scores]], examination: Examination) -> alt.ConcatChart:
    """Figure 2: each candidate, with its scores, over the frequencies, row after row, as shares of their maximum."""
    columns = min(3, len(fits))
    names = ["empirical frequencies", *dict.fromkeys(_series(discount) for discount, _ in fits)]
    colors = [GREY if name == names[0] else RED if name == BEST else HUES[0] for name in names]
    legend = alt.Legend(title=None, orient="top", symbolSize=700, symbolStrokeWidth=2.5, columnPadding=30)
    looks = {
        "color": alt.Color("series:N", scale=alt.Scale(domain=names, range=colors), legend=legend),
        "strokeDash": alt.StrokeDash(
            "series:N", scale=alt.Scale(domain=names, range=[[1, 0]] + [[5, 2]] * (len(names) - 1))
        ),
    }
    charts = [
        _fit(
            {names[0]: examination.frequencies, _series(discount): discount.weights(Grid(*examination.counts.shape))},
            _title(discount, scores),
            looks,
            x_title="cells in reading order, by row" if at + columns >= len(fits) else None,
            y_title="share of the maximum" if at % columns == 0 else None,
        )
        for at, (discount, scores) in enumerate(fits)
    ]
    return styled(alt.concat(*charts, columns=columns, spacing=22))


def _fit(
    tables: Mapping[str, Array], title: alt.TitleParams, looks: dict[str, Any], x_title: str | None, y_title: str | None
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
        over(borders).mark_rule(color=FAINT, strokeWidth=0.8).encode(x=x),
        over(lines).mark_line(strokeWidth=1.7, strokeJoin="round").encode(x=x, y=y, **looks),
    ]
    return alt.LayerChart(layer=layers, width=255, height=165, title=title)


def _title(discount: Discount, scores: Scores) -> alt.TitleParams:
    label = str(discount).replace("(", ": ", 1).removesuffix(")")
    figures = f"rho={scores.spearman:.4f}, r={scores.pearson:.4f}, MSE={scores.mse:.4f}"
    return alt.TitleParams(_greek(label), subtitle=_greek(figures))


def _greek(text: str) -> str:
    """``alpha=4`` as the paper has it."""
    return re.sub(r"[a-z]+(?=\d*=)", lambda name: GREEK.get(name[0], name[0]), text).replace("=", " = ")


def _series(discount: Discount) -> str:
    return BEST if discount.symbol == BEST else "discount"


def agreement(studies: Mapping[str, Study], names: Sequence[str] = ()) -> alt.ConcatChart:
    """Table 2 as a picture: how often each discount decides as the truth does, among pairs at least Delta apart.

    ``studies`` by their mode; ``names``, if given, stand before those of the discounts.
    """
    rows = {mode: _agreement_rows(study, names) for mode, study in studies.items()}
    every = [row for own in rows.values() for row in own]
    lowest = math.floor(20 * min(row["low"] for row in every))  # in steps of 5%
    places = sorted({row["at_least"] for row in every})
    x = alt.X(
        "at_least:Q",
        scale=alt.Scale(domain=[places[0], places[-1]], padding=30, nice=False),
        axis=alt.Axis(title="pairs whose true scores differ by at least Δ", values=places, format=".2f", grid=False),
    )
    axis = alt.Axis(
        title="pairs decided as the truth does", values=[step / 20 for step in range(lowest, 21)], format=".0%"
    )
    y = alt.Y("share:Q", axis=axis, scale=alt.Scale(domain=[lowest / 20, 1.025], nice=False, zero=False))
    charts = [_agreement(mode, own, x, y) for mode, own in rows.items()]
    return styled(alt.concat(*charts, columns=2, spacing=24, title=note("Bands: 95% Wilson intervals.")))


def _agreement_rows(study: Study, names: Sequence[str]) -> list[dict[str, Any]]:
    """A line of data for each threshold and discount; the highest of a threshold is on top."""
    rows = []
    for row in study.thresholds:
        highest = max(one.agreement.value for one in row.comparisons)
        for at, one in enumerate(row.comparisons):
            name = f"{names[at]}: {one.discount.short}" if names else one.discount.short
            share, (low, high) = one.agreement.value, one.agreement.interval
            rows.append(
                {"at_least": float(row.at_least), "discount": name, "share": share, "low": low, "high": high}
                | {"text": f"{100 * share:.1f}", "on_top": share == highest}
            )
    return rows


def _agreement(mode: str, rows: list[dict[str, Any]], x: alt.X, y: alt.Y) -> alt.LayerChart:
    names = list(dict.fromkeys(row["discount"] for row in rows))
    own = next((name for name in names if BEST in name), None)
    others = [name for name in names if name != own]

    def look(first: Any, rest: Sequence[Any]) -> alt.Scale:
        """The first for the paper's own discount, the rest in turn for the others."""
        chosen = [rest[others.index(name) % len(rest)] if name in others else first for name in names]
        return alt.Scale(domain=names, range=chosen)

    legend = alt.Legend(
        title=None, orient="top", symbolSize=150, symbolOpacity=1, symbolStrokeWidth=0, columnPadding=30
    )
    color = alt.Color("discount:N", scale=look(RED, HUES), legend=legend)
    dash = alt.StrokeDash("discount:N", scale=look([1, 0], [[6, 3], [2, 2], [8, 2, 2, 2]]), legend=None)
    shape = alt.Shape("discount:N", scale=look("circle", ["square", "diamond", "triangle-up"]), legend=legend)
    data = over(rows)
    layers = [
        data.mark_area(opacity=0.25).encode(x, alt.Y("low:Q"), alt.Y2("high:Q"), color),
        data.mark_line(strokeWidth=1.8).encode(x, y, color, dash),
        data.mark_point(filled=True, size=60, opacity=1).encode(x, y, color, shape),
    ]
    if len(names) <= 2:  # room for the numbers: over the higher line, under the lower
        number = data.encode(x, y, alt.Text("text:N"))
        layers += [
            number.transform_filter("datum.on_top").mark_text(dx=3, dy=-13, fontSize=12, align="right"),
            number.transform_filter("!datum.on_top").mark_text(dx=4, dy=14, fontSize=12, align="left"),
        ]
    return alt.LayerChart(layer=layers, width=350, height=230, title=f"{mode} relevance")
