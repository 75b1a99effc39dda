"""Figure 2 of the paper: discounts against the frequencies they were fitted to, in reading order."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np

from carouseval.attention.examination import Examination
from carouseval.attention.frequency_scores import Scores
from carouseval.metrics.discounts import Discount
from carouseval.metrics.grid import Array, Grid
from carouseval.show.charts.chart import Chart
from carouseval.show.charts.drawing import chart_of, finished, numbered_axis
from carouseval.show.charts.theme import FAINT, GREY, HUES, RED

BEST = "d_rpd"  # the paper's own discount, always in red
_WORDS = ["alpha", "beta", "gamma", "lambda", "lam", "eta", "theta", "mu", "nu", "kappa", "sigma", "rho"]
_GREEK = dict(zip(_WORDS, "αβγλληθμνκσρ", strict=True))


def discount_fits(fits: Sequence[tuple[Discount, Scores]], examination: Examination) -> Chart:
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
    scores = "; ".join(f"{discount.short} rho {fit.spearman:.4f}" for discount, fit in fits)
    return finished(
        alt.concat(*charts, columns=columns, spacing=22),
        f"Discounts against {examination.name}",
        f"Weights of {len(fits)} discounts beside the frequencies of {examination.name}, cell by cell: {scores}.",
    )


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
    return alt.TitleParams(_greek(label), fontSize=12, subtitle=_greek(numbers), subtitleFontSize=12)


def _greek(text: str) -> str:
    """Names of parameters as Greek letters, as in the paper."""
    return re.sub(r"[a-z]+(?=\d*=)", lambda name: _GREEK.get(name[0], name[0]), text).replace("=", " = ")


def _series(discount: Discount) -> str:
    return BEST if discount.symbol == BEST else "discount"
