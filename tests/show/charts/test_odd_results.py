"""Charts of little data, and of much."""

import math
from typing import Any

import numpy as np
import polars as pl
import pytest

import carouseval as cv
from carouseval.metrics.page_score import score_page
from carouseval.show.charts.shapes.heatmaps import CellBlocks
from tests.show.charts.drawings import data_of, drawn, marks, texts
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
    assert "Not drawn: 150 between systems." in " ".join(texts(drawn(chart)))
    assert any(text.endswith("… version 1") or "version 1" in text for text in texts(drawn(chart)))
    assert len(chart.alt) <= 1000
    assert len(data_of(result.chart("systems"), "end")) == 20


def test_segments_are_left_out_before_pairs() -> None:
    """However small the difference of the two best systems is, it is the one that readers look for."""
    layouts = data().layouts
    systems = {f"{name} {at}": layouts[name] for name in layouts for at in range(2)}
    systems["nearly new"] = layouts["new"].filter((pl.col("user_id") != "u000001") | (pl.col("row") > 1))
    result = cv.compare(systems, data().judgments, data().items, by="device", test="t", invalid="count")
    pairs = {(row["system"], row["baseline"]) for row in result.pairs.iter_rows(named=True)}
    chart = result.chart()
    names = {text for text in texts(drawn(chart)) if " - " in text}
    assert {f"{system} - {baseline}" for system, baseline in pairs} <= names
    assert len(names) == 40
    left_out = len(pairs) + result.segments.height - 40
    assert f"Not drawn: {left_out} in segments." in " ".join(texts(drawn(chart)))


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


def test_more_cells_than_can_be_seen_are_drawn_in_blocks() -> None:
    grid = cv.Grid(200, 499)
    weights = np.add.outer(np.arange(200.0), np.arange(499.0))
    weights[:4, :8] = np.nan
    chart = cv.charts.heatmap(weights, "huge", grid)
    blocks = {(row["row"], row["col"]): row["value"] for row in data_of(chart, "row", "col", "value")}
    assert len(blocks) == 50 * 63
    assert blocks["1-4", "1-8"] is None
    assert blocks["5-8", "1-8"] == weights[4:8, :8].mean()
    assert blocks["197-200", "497-499"] == weights[196:, 496:].mean()
    written = texts(drawn(chart))
    assert "Each square: the mean of 4 rows x 8 columns, without borders of swipe pages." in written
    assert {"1", "9", "497"} <= set(written)
    assert chart.alt.endswith("to 697 (row 200, column 499).")  # of cells
    assert len(chart.svg) < 500_000


@pytest.mark.parametrize("shape", [(1, 9_000), (3_000, 2), (71, 71)])
def test_blocks_keep_the_short_side_of_a_table(shape: tuple[int, int]) -> None:
    blocks = CellBlocks.of(np.ones(shape), cv.Grid(*shape))
    assert blocks.values.size <= 5_000
    assert (blocks.values == 1).all()
    assert [blocks.rows, blocks.cols][int(np.argmin(shape))] == 1


def huge_page() -> tuple[pl.DataFrame, pl.DataFrame]:
    """A page of 200 x 500 items, 200 of which are relevant."""
    rows, cols = (index.ravel() for index in np.indices((200, 500)))
    layouts = pl.DataFrame({"row": rows + 1, "col": cols + 1, "item_id": rows * 500 + cols, "category": rows})
    judgments = pl.DataFrame({"item_id": np.arange(0, 100_000, 500), "relevance": 1})
    return layouts.with_columns(user_id=1), judgments.with_columns(user_id=1)


@pytest.fixture(scope="module")
def huge_explanation() -> cv.Explanation:
    return cv.explain(*huge_page(), grid=cv.Grid(200, 500))


@pytest.mark.parametrize("kind", ["losses", pytest.param("gains", marks=pytest.mark.deep)])  # cells are drawn alike
def test_cells_of_a_huge_page_stay_small(huge_explanation: cv.Explanation, kind: str) -> None:
    chart = huge_explanation.chart(kind)
    assert len(chart.svg) < 1_000_000
    assert "Gaps: swipe pages" not in chart.svg


def test_a_picture_of_a_huge_page_stays_small(huge_explanation: cv.Explanation) -> None:
    page = huge_explanation.chart("page")
    assert len(page.svg) < 1_000_000
    cards = data_of(page, "item", "x2")
    assert {card["row"] for card in cards} == set(range(1, 51))
    assert {card["col"] for card in cards} == set(range(1, 101))
    notes = " ".join(texts(drawn(page)))
    assert "Drawn: the first 50 of 200 rows and 100 of 500 columns; beyond them are 150 relevant cells of the" in notes
    assert "Star" not in notes  # cards are too small for it


def test_a_large_page_of_one_array_stays_small() -> None:
    page = np.zeros((200, 500))
    page[::7, ::9] = 1
    result = score_page(page, ["N2DCG_cat"])
    for kind in ("page", "weights"):
        assert len(result.chart(kind).svg) < 1_000_000


@pytest.mark.parametrize(("shape", "numbers"), [((1, 300), 0), ((300, 1), 0), ((40, 2), 80), ((2, 40), 80)])
def test_long_tables_stay_on_a_screen(shape: tuple[int, int], numbers: int) -> None:
    root = drawn(cv.charts.heatmap(np.ones(shape), "long"))
    assert max(float(root.get(side, "0")) for side in ("width", "height")) < 1800
    assert len(marks(root, "text")) == numbers


def test_the_matrix_of_many_systems_has_narrow_cells() -> None:
    layouts = data().layouts["new"]
    for count, wide in ((10, 76), (20, 48)):
        systems = {f"system {at}": layouts for at in range(count)}
        result = cv.sensitivity(systems, data().judgments, data().items, discounts=["d_a"])
        assert result.chart().to_dict()["width"] == wide * count
