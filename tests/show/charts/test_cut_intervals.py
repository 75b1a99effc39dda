"""Intervals of very few users do not stretch the axis until nothing else can be told apart."""

import math

import numpy as np
import pytest

import carouseval as cv
from carouseval.show.charts.shapes.histograms import histogram, score_edges
from carouseval.show.charts.shapes.intervals import IntervalLine, interval_chart
from tests.show.charts.drawings import data_of, drawn, texts

ALL, SMALL, TINY = (
    IntervalLine("all", 0.5, 0.49, 0.51),
    IntervalLine("small", 0.6, 0.2, 0.62),
    IntervalLine("tiny", 0.4, -3.0, 4.0),
)


def axis(chart: cv.charts.Chart) -> tuple[float, float]:
    (panel,) = chart.to_dict()["concat"]
    domains = [layer["encoding"].get("x", {}).get("scale", {}).get("domain") for layer in panel["layer"]]
    low, high = next(domain for domain in domains if domain)
    return low, high


def chart_of_lines(*lines: IntervalLine, reference: float | None = None) -> cv.charts.Chart:
    return interval_chart({"": lines}, "title", "Notes.", "alt", reference)


def test_long_intervals_are_cut_and_marked() -> None:
    chart = chart_of_lines(ALL, SMALL, TINY)
    low, high = axis(chart)
    margin = 0.06 * (0.7 - 0.3)  # five times the shortest interval, 0.02, or half the range of values, 0.2
    assert (low, high) == pytest.approx((0.3 - margin, 0.7 + margin))
    drawn_intervals = {row["name"]: (row["from"], row["to"]) for row in data_of(chart, "from", "to", "name")}
    assert drawn_intervals == {"all": (0.49, 0.51), "small": (low, 0.62), "tiny": (low, high)}
    arrows = [(row["line"], row["at"], row["shape"]) for row in data_of(chart, "at", "shape")]
    assert arrows == [(1, low, "triangle-left"), (2, low, "triangle-left"), (2, high, "triangle-right")]
    written = texts(drawn(chart))
    assert "Notes. Arrows: intervals that go on beyond the axis." in written
    assert "0.4000 (-3.0000 to 4.0000)" in written


def test_intervals_that_fit_are_whole() -> None:
    wider = IntervalLine("wider", 0.5, 0.42, 0.58)
    chart = chart_of_lines(ALL, wider)
    assert axis(chart) == pytest.approx((0.42 - 0.06 * 0.16, 0.58 + 0.06 * 0.16))
    assert not data_of(chart, "at", "shape")
    assert "Notes." in texts(drawn(chart))


@pytest.mark.parametrize(
    "lines",
    [
        [IntervalLine("a", math.nan, math.nan, math.nan)],
        [IntervalLine("a", 0.5, math.nan, math.nan), IntervalLine("b", 0.5, 0.5, 0.5)],
        [IntervalLine("a", 0.5, 0.5, 0.5), IntervalLine("b", 0.5, -9.0, 9.0)],
        [],
    ],
)
def test_an_axis_has_a_length(lines: list[IntervalLine]) -> None:
    low, high = axis(chart_of_lines(*lines, reference=0.0))
    assert low < 0 < high
    assert all(low <= line.value <= high for line in lines if not math.isnan(line.value))


@pytest.mark.parametrize(
    ("low", "high", "sides"),
    [(-1.0, 2.0, ["left", "right"]), (0.1, 1.5, ["right"]), (0.1, 0.9, []), (math.nan, math.nan, [])],
)
def test_the_interval_of_a_histogram_stays_on_its_axis(low: float, high: float, sides: list[str]) -> None:
    scores = np.array([0.3, 0.7])
    chart = histogram(scores, score_edges(scores), "title", "Notes.", "alt", "score", (0.5, low, high))
    assert [row["shape"] for row in data_of(chart, "shape")] == [f"triangle-{side}" for side in sides]
    root = drawn(chart)
    assert float(root.get("width", "0")) < 720
    assert ("Notes. Arrows: the interval goes on beyond the axis." in texts(root)) == bool(sides)
    assert "mean 0.5000" in texts(root)
