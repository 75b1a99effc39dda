"""Explanations in the terminal: a heat map of losses for each grid."""

import polars as pl

import carouseval as cv
from carouseval.show.explanation import explanation

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
