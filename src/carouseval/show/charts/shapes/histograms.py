"""Distributions over users, in bins: however many users there are, a chart holds a few dozen numbers."""

import math
from typing import Any

import altair as alt
import numpy as np

from carouseval.metrics.grid import Array
from carouseval.show.charts.chart import Chart
from carouseval.show.charts.drawing import chart_of, chart_title, finished, tooltip
from carouseval.show.charts.theme import GREY, HUES, INK, PAPER

_WIDTH, _HEIGHT = 620, 260


def histogram(
    values: Array,
    edges: Array,
    title: str,
    notes: str,
    alternative: str,
    axis: str,
    mean: tuple[float, float, float],
    signed: bool = False,
) -> Chart:
    """How many users have which value; ``mean`` has the ends of its interval, NaN if it has none.

    Where values are ``signed``, the bin around 0 is grey, those below it have another colour than those above.
    """
    counts, _ = np.histogram(values, edges)
    bins: list[dict[str, Any]] = [
        {"from": low, "to": high, "users": count, "zero": 0, "side": _side(low, high) if signed else "above"}
        for low, high, count in zip(edges[:-1].tolist(), edges[1:].tolist(), counts.tolist(), strict=True)
    ]
    domain = [float(edges[0]), float(edges[-1])]
    x = alt.X(
        "from:Q",
        scale=alt.Scale(domain=domain, nice=False, zero=False),
        axis=alt.Axis(title=axis, tickCount=8, grid=False),
    )
    top = max(1, int(counts.max(initial=0)))
    ticks = list(range(top + 1)) if top < 5 else alt.Undefined  # or they would not be integers
    axis_of_users = alt.Axis(title="users", format=",d", values=ticks)
    y = alt.Y("users:Q", scale=alt.Scale(domain=[0, top * 1.18], nice=False), axis=axis_of_users)
    sides = alt.Scale(domain=["below", "zero", "above"], range=[HUES[2], GREY, HUES[0]])
    value, low, high = mean
    layers = [
        chart_of([row for row in bins if row["users"]])
        .mark_rect(stroke=PAPER, strokeWidth=1)
        .encode(
            x=x,
            x2="to:Q",
            y=y,
            y2="zero:Q",
            color=alt.Color("side:N", scale=sides, legend=None),
            tooltip=tooltip(**{"from": ".3f", "to": ".3f", "users": ",d"}),
        )
    ]
    if signed:
        layers.append(chart_of([{"from": 0.0}]).mark_rule(color=INK, strokeDash=[4, 3]).encode(x=x))
    if math.isfinite(value):
        layers += _mean_layers(value, low, high, domain, top, x)
    if low < domain[0] or high > domain[1]:
        notes = f"{notes} Arrows: the interval goes on beyond the axis."
    width = _WIDTH + 60
    figure = alt.LayerChart(layer=layers, width=_WIDTH, height=_HEIGHT, title=chart_title(title, notes, width))
    return finished(figure, title, alternative)


def _side(low: float, high: float) -> str:
    return "zero" if low < 0 < high else "below" if high <= 0 else "above"


def _mean_layers(value: float, low: float, high: float, domain: list[float], top: int, x: alt.X) -> list[alt.Chart]:
    """The mean above the bars, with its number and its interval, which ends in arrows where it leaves the axis."""
    right = value > (domain[0] + domain[1]) / 2  # the number stands where there is more space
    cut = [(domain[0], "left")] * (low < domain[0]) + [(domain[1], "right")] * (high > domain[1])
    low, high = max(low, domain[0]), min(high, domain[1])
    place = {"from": value, "at": 1.09 * top, "text": f"mean {value:.4f}"}
    beside = {"dx": -12, "align": "right"} if right else {"dx": 12, "align": "left"}
    y = alt.Y("at:Q")
    layers = [
        chart_of([place]).mark_point(filled=True, shape="diamond", size=110, color=INK, opacity=1).encode(x=x, y=y),
        chart_of([place | {"bottom": 0}])
        .mark_rule(color=INK, strokeWidth=1, strokeDash=[1, 3])
        .encode(x=x, y=y, y2="bottom:Q"),
        chart_of([place | ({"from": low if right else high} if math.isfinite(low) and not cut else {})])
        .mark_text(fontSize=13, color=INK, **({"dy": -13} if cut else beside))
        .encode(x=x, y=y, text="text:N"),
    ]
    if math.isfinite(low):
        rule = chart_of([{"from": low, "to": high, "at": 1.09 * top}])
        layers.append(rule.mark_rule(color=INK, strokeWidth=3).encode(x=x, x2="to:Q", y=y))
    arrows = chart_of([{"from": end, "at": 1.09 * top, "shape": f"triangle-{side}"} for end, side in cut])
    layers.append(
        arrows.mark_point(filled=True, size=110, color=INK, opacity=1).encode(
            x=x, y=y, shape=alt.Shape("shape:N", scale=None)
        )
    )
    return layers


def score_edges(values: Array) -> Array:
    """Bins of scores: twenty-five from 0 to 1 or, if scores are larger, to the largest."""
    top = float(np.max(values, initial=0.0))
    return np.linspace(0, 1 if top <= 1 else top * 1.0001, 26)


def difference_edges(values: Array) -> Array:
    """Bins of differences, as many below 0 as above it, and one around 0."""
    widest = float(np.max(np.abs(values), initial=0.0)) or 0.1
    return np.linspace(-widest, widest, 42) * 1.0001
