"""Charts of little data, and of much."""

import math
from typing import Any

import numpy as np
import polars as pl
import pytest

import carouseval as cv
from carouseval.metrics.page_score import score_page
from tests.show.charts.drawings import data_of, drawn, texts
from tests.show.charts.sample_results import JUDGMENTS, LAYOUTS, NOT_RELEVANT, data


@pytest.mark.parametrize(
    ("chart", "words"),
    [
        (lambda: cv.evaluate(LAYOUTS, NOT_RELEVANT).chart(), "No user has a score."),
        (lambda: cv.evaluate(LAYOUTS, NOT_RELEVANT).chart("means"), "no score"),
        (lambda: cv.explain(LAYOUTS, NOT_RELEVANT).chart(), "No page was scored, so there is nothing to explain."),
        (lambda: cv.explain(LAYOUTS, NOT_RELEVANT).chart("losses"), "Loss in each cell"),
        (lambda: cv.evaluate(LAYOUTS, JUDGMENTS).chart(), "1 user; mean with its 95% interval."),
        (lambda: cv.compare({"a": LAYOUTS, "b": LAYOUTS}, JUDGMENTS).chart(), "+0.0000"),
        (lambda: cv.compare({"a": LAYOUTS, "b": LAYOUTS}, JUDGMENTS).chart("users"), "mean 0.0000"),
        (lambda: score_page([[math.nan]], ["Precision"]).chart("weights"), "no metric has a discount"),
        (lambda: score_page([[0, 1]], ["Precision"]).chart(), "A page"),
    ],
)
def test_little_data_is_drawn(chart: Any, words: str) -> None:
    assert words in texts(drawn(chart()))


def test_legends_of_tiny_and_huge_values_are_short() -> None:
    for values in ([[1e-300, 0.0]], [[1e308, 1.0]]):
        chart = cv.charts.heatmap(values)
        assert float(drawn(chart).get("width", "0")) < 300


def test_alt_texts_of_means_name_the_metrics() -> None:
    alt = cv.evaluate(LAYOUTS, JUDGMENTS, metrics=["N2DCG_cat", "RR"]).chart("means").alt
    assert "N2DCG_cat: all users" in alt
    assert "RR: all users" in alt
    assert "N2DCG_cat has no score" in score_page([[math.nan]], ["N2DCG_cat"]).chart().alt


def test_many_systems_with_long_names() -> None:
    layouts = data().layouts["new"]
    names = [f"a system whose name is far too long to be read in any chart, version {at}" for at in range(20)]
    systems = {
        name: layouts.with_columns(pl.col("row").mod(10) + 1) if at else layouts for at, name in enumerate(names)
    }
    result = cv.compare(systems, data().judgments, data().items, test="t")
    chart = result.chart()
    assert len(data_of(chart, "end")) == 40
    assert "Without the 150 smallest differences." in " ".join(texts(drawn(chart)))
    assert any(text.endswith("… version 1") or "version 1" in text for text in texts(drawn(chart)))
    assert len(chart.alt) <= 1000
    assert len(data_of(result.chart("systems"), "end")) == 20


def test_a_chart_of_many_users_stays_small() -> None:
    users = 20_000
    layouts = pl.DataFrame({"user_id": np.repeat(np.arange(users), 3), "row": 1, "col": np.tile([1, 2, 3], users)})
    layouts = layouts.with_columns(item_id=np.tile([1, 2, 3], users), category=pl.lit("new"))
    chosen = np.random.default_rng(0).integers(1, 4, users)
    judgments = pl.DataFrame({"user_id": np.arange(users), "item_id": chosen, "relevance": 1})
    other = layouts.with_columns(col=4 - pl.col("col"))
    result = cv.compare({"a": layouts, "b": other}, judgments, test="t")
    for chart in (result.chart("users"), result.evaluations["a"][0].chart()):
        assert sum(row["users"] for row in data_of(chart, "from", "to", "users")) == users
        assert len(chart.svg) < 30_000


def test_a_huge_grid_is_drawn_without_numbers() -> None:
    grid = cv.Grid(50, 100)
    chart = cv.charts.heatmap(cv.discounts.parse("d_rpb").weights(grid), "huge", grid)
    assert len(data_of(chart, "row", "col", "value")) == 5000
    assert {"row", "column", "1", "99"} <= set(texts(drawn(chart)))
    assert float(drawn(chart).get("width", "0")) < 1300
    assert len(chart.svg) < 1_000_000
