"""Explanations in the terminal: a heat map of losses for each grid."""

import numpy as np
import polars as pl
import pytest

import carouseval as cv
from carouseval.show.terminal.evaluation import evaluation
from carouseval.show.terminal.explanation import explanation
from carouseval.show.terminal.text_blocks import heat

LAYOUTS = pl.DataFrame(
    [
        ("u", 1, 1, "x", "A", "tv"),
        ("u", 1, 2, "a", "A", "tv"),
        ("v", 1, 1, "x", "A", "phone"),
        ("v", 2, 1, "b", "B", "phone"),
    ],
    schema=["user_id", "row", "col", "item_id", "category", "device"],
    orient="row",
)
JUDGMENTS = pl.DataFrame({"user_id": ["u", "v"], "item_id": ["a", "b"], "relevance": [1, 2]})
GRIDS = {"tv": cv.Grid(2, 4, page_size=2), "phone": cv.Grid(3, 2, page_size=1)}


def test_one_heat_map_for_one_grid() -> None:
    shown = explanation(cv.explain(LAYOUTS, JUDGMENTS, grid=cv.Grid(3, 4)), 0, None).plain
    assert shown.count("Loss in each cell") == 1


def test_a_heat_map_for_each_grid() -> None:
    result = cv.explain(LAYOUTS, JUDGMENTS, grid=GRIDS, by="device")
    assert result.grid == GRIDS
    shown = explanation(result, 0, None).plain
    tv, phone = (
        shown[shown.index("cell, device tv") : shown.index("cell, device phone")],
        shown.split("device phone")[1],
    )
    assert "item order" in tv  # one row was shown on the TV, two on the phone
    assert (tv.count("\n1  "), tv.count("\n2  ")) == (1, 0)
    assert (phone.count("\n1  "), phone.count("\n2  ")) == (1, 1)


def test_a_line_marks_the_swipe_pages_of_rows_that_differ() -> None:
    values = np.arange(8.0).reshape(2, 4)
    assert [line.plain for line in heat(values, cv.Grid(2, 4, (1, 2)))] == [
        "   1   2   3   4 ",
        "1  0 │ 1 │ 2 │ 3 ",
        "2  4   5 │ 6   7 ",
    ]
    assert [line.plain for line in heat(values[:, :3], cv.Grid(3, 4, (2, 2, 1)))] == [  # those drawn are the same
        "   1 2   3 ",
        "1  0 1   2 ",
        "2  4 5   6 ",
    ]
    assert [line.plain for line in heat(values, cv.Grid(2, 4, (1, 3)), width=14)] == [
        "   1   2 ",
        "1  0 │ 1 ",
        "2  4   5 ",
        "",
        "   3   4 ",
        "1  2 │ 3 ",
        "2  6 │ 7 ",
    ]


def test_page_sizes_in_the_settings_of_an_evaluation() -> None:
    shown = evaluation(cv.evaluate(LAYOUTS, JUDGMENTS, grid=cv.Grid(3, 4, (1, 5, 5)))).plain
    assert "grid 3x4, swipe pages: 1 in row 1, 5 in rows 2-3, 3 visible rows" in " ".join(shown.split())
    one_size = evaluation(cv.evaluate(LAYOUTS, JUDGMENTS, grid=cv.Grid(3, 4))).plain
    assert "grid 3x4, swipe pages of 5, 3 visible rows" in " ".join(one_size.split())


def test_an_ideal_page_that_is_not_proven_is_told_from_its_bound() -> None:
    data = cv.sample(30, systems=["new"], seed=2, judgments=40)
    tables = (data.layouts["new"], data.judgments, data.items)
    with pytest.warns(cv.DataWarning, match="could not be proven"):
        result = cv.explain(*tables, work=0.0)
    pages = result.evaluation.per_page
    unproven = pages.filter(pl.col("N2DCG_cat.ideal_found") < 0.999 * pl.col("N2DCG_cat.ideal")).row(0, named=True)
    shown = explanation(result, 0, result.page(unproven["user_id"])).plain
    found, bound = unproven["N2DCG_cat.ideal_found"], unproven["N2DCG_cat.ideal"]
    assert f"2DCG {found:.4g}, and none has more than {bound:.4g}, of which the page has" in shown
    assert "but for what the best ideal pages found may lack" in shown
    proven = cv.explain(*tables)
    assert "none has more" not in explanation(proven, 0, proven.page(unproven["user_id"])).plain
    assert "found may lack" not in explanation(proven, 0, None).plain
