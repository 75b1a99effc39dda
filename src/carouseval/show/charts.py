"""The figures of the paper, and heat maps: lays out the numbers it is given and computes none.

Every chart reads in grey: lines differ in dash and marker as well as in colour, and cells darken with their value.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import altair as alt
import numpy as np

from carouseval.metrics.grid import Array
from carouseval.show.drawing import FAINT, GREY, HUES, RED, note, numbered_axis, over, save, styled
from carouseval.show.screens import attention_patterns, browsing_pattern, heatmap, heatmaps

__all__ = [
    "Agreement",
    "DiscountPanel",
    "agreement",
    "attention_patterns",
    "browsing_pattern",
    "discount_fits",
    "heatmap",
    "heatmaps",
    "save",
]

BEST = "d_rpd"  # the paper's own discount, in red wherever it appears
WORDS = ["alpha", "beta", "gamma", "lambda", "lam", "eta", "theta", "mu", "nu", "kappa", "sigma", "rho"]
GREEK = dict(zip(WORDS, "αβγλληθμνκσρ", strict=True))


@dataclass(frozen=True, eq=False)
class DiscountPanel:
    """One candidate of Figure 2, the frequencies it is held against, and its scores."""

    symbol: str
    label: str  # "d_rpd: alpha=4, beta=9, mu=0.65, nu=0.95"
    empirical: Array  # (rows, cols), as is `weights`; each is drawn as a share of its maximum
    weights: Array
    spearman: float
    pearson: float
    mse: float


@dataclass(frozen=True)
class Agreement:
    """The share of layout pairs that a discount decides as the truth does, with its interval."""

    mode: str  # "binary" or "graded"
    at_least: float  # the threshold Delta
    discount: str
    share: float
    low: float
    high: float


def discount_fits(panels: Sequence[DiscountPanel]) -> alt.ConcatChart:
    """Figure 2: each candidate over the empirical frequencies, row after row, both as shares of their maximum."""
    columns = min(3, len(panels))
    names = ["empirical frequencies", *dict.fromkeys(_series(panel) for panel in panels)]
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
            panel,
            names[0],
            looks,
            x_title="cells in reading order, by row" if at + columns >= len(panels) else None,
            y_title="share of the maximum" if at % columns == 0 else None,
        )
        for at, panel in enumerate(panels)
    ]
    return styled(alt.concat(*charts, columns=columns, spacing=22))


def _fit(
    panel: DiscountPanel, empirical: str, looks: dict[str, Any], x_title: str | None, y_title: str | None
) -> alt.LayerChart:
    rows, cols = panel.empirical.shape
    lines = [
        {"position": position, "series": name, "value": value}
        for name, table in ((empirical, panel.empirical), (_series(panel), panel.weights))
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
    scores = f"rho={panel.spearman:.4f}, r={panel.pearson:.4f}, MSE={panel.mse:.4f}"
    layers = [
        over(borders).mark_rule(color=FAINT, strokeWidth=0.8).encode(x=x),
        over(lines).mark_line(strokeWidth=1.7, strokeJoin="round").encode(x=x, y=y, **looks),
    ]
    title = alt.TitleParams(_greek(panel.label), subtitle=_greek(scores))
    return alt.LayerChart(layer=layers, width=255, height=165, title=title)


def _greek(text: str) -> str:
    """``alpha=4`` as the paper has it."""
    return re.sub(r"[a-z]+(?=\d*=)", lambda name: GREEK.get(name[0], name[0]), text).replace("=", " = ")


def _series(panel: DiscountPanel) -> str:
    return BEST if panel.symbol == BEST else "discount"


def agreement(rows: Sequence[Agreement], interval: str = "95% Wilson intervals") -> alt.ConcatChart:
    """Table 2 as a picture: how often each discount decides as the truth does, among pairs at least Delta apart."""
    modes = list(dict.fromkeys(row.mode for row in rows))
    lowest = math.floor(20 * min(row.low for row in rows))  # in steps of 5%
    places = sorted({row.at_least for row in rows})
    x = alt.X(
        "at_least:Q",
        scale=alt.Scale(domain=[places[0], places[-1]], padding=30, nice=False),
        axis=alt.Axis(title="pairs whose true scores differ by at least Δ", values=places, format=".2f", grid=False),
    )
    axis = alt.Axis(
        title="pairs decided as the truth does", values=[step / 20 for step in range(lowest, 21)], format=".0%"
    )
    y = alt.Y("share:Q", axis=axis, scale=alt.Scale(domain=[lowest / 20, 1.025], nice=False, zero=False))
    charts = [_agreement([row for row in rows if row.mode == mode], x, y) for mode in modes]
    return styled(alt.concat(*charts, columns=2, spacing=24, title=note(f"Bands: {interval}.")))


def _agreement(rows: list[Agreement], x: alt.X, y: alt.Y) -> alt.LayerChart:
    names = list(dict.fromkeys(row.discount for row in rows))
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
    highest = {row.at_least: row.share for row in sorted(rows, key=lambda row: row.share)}
    data = over(
        [asdict(row) | {"text": f"{100 * row.share:.1f}", "on_top": row.share == highest[row.at_least]} for row in rows]
    )
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
    return alt.LayerChart(layer=layers, width=350, height=230, title=f"{rows[0].mode} relevance")
