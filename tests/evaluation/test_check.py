"""Every defect: ``check`` lists it, ``evaluate`` refuses or warns of it, both with the first line."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import carouseval as cv
from carouseval.building.sample import sample
from tests.evaluation.test_evaluate import GRID, JUDGMENTS, LAYOUTS, METRIC

ITEMS = LAYOUTS.select("item_id", "category")


def changed(table: pl.DataFrame, line: int, **values: Any) -> pl.DataFrame:
    """The table with other values on one line, counted from 1."""
    rows = table.to_dicts()
    rows[line - 1] |= values
    return pl.DataFrame(rows, infer_schema_length=None)


FLAWS: dict[str, tuple[pl.DataFrame, str]] = {
    "a cell twice": (
        changed(LAYOUTS, 3, col=2),
        "layouts: 1 cell appears twice, first user_id='u' row=1 col=2 (line 3). Each cell holds one item; drop the "
        "repeats.",
    ),
    "outside the grid": (
        changed(LAYOUTS, 6, row=3),
        "layouts: 1 cell lies outside the grid, first user_id='u' row=3 col=3 on a grid of 2x3 (line 6). Use "
        "grid=cv.Grid(rows=3, cols=3, page_size=3), or drop these cells.",
    ),
    "a skipped row": (
        LAYOUTS.filter(pl.col("row") == 2),
        "layouts: 1 row is skipped, first user_id='u' row=2, with no row 1 (line 1). Number rows 1, 2, 3 without "
        "gaps, or use invalid='count'.",
    ),
    "a category twice": (
        LAYOUTS.with_columns(category=pl.lit("A")),
        "layouts: 1 row repeats a category of its page, first user_id='u' row=2 category='A', also on row 1 (line 4). "
        "Give each carousel its own category, or use invalid='count'.",
    ),
    "two labels in a row": (
        changed(LAYOUTS, 5, category="C"),
        "layouts: 1 item is outside its row's category, first user_id='u' row=2 col=2 category='C' in a row of "
        "category 'A' (line 5). Add the category to items, correct the row, or use invalid='count'.",
    ),
}


@pytest.mark.parametrize("flaw", FLAWS)
def test_flaws_of_pages(flaw: str) -> None:
    layouts, message = FLAWS[flaw]
    with pytest.raises(cv.DataError) as refused:
        cv.evaluate(layouts, JUDGMENTS, None, metrics=METRIC, grid=GRID)
    assert str(refused.value) == message
    found = cv.check(layouts, JUDGMENTS, None, grid=GRID)
    assert message in [str(defect) for defect in found.defects]
    assert not found.ok
    with pytest.raises(cv.DataError):
        found.raise_for_errors()


def refused(layouts: pl.DataFrame, **settings: Any) -> str:
    """What evaluate and check say about cells outside the grid."""
    with pytest.raises(cv.DataError) as error:
        cv.evaluate(layouts, JUDGMENTS, None, metrics="2DCG", candidates="displayed", **settings)
    assert str(error.value) in [str(defect) for defect in cv.check(layouts, JUDGMENTS, None, **settings).defects]
    return str(error.value)


def test_the_grid_that_fits_holds_the_whole_table() -> None:
    others = pl.concat([changed(LAYOUTS, 6, row=3).with_columns(user_id=pl.lit(user)) for user in ("u", "v", "w")])
    layouts = changed(changed(others, 12, col=9), 18, row=7)
    message = refused(layouts, grid=cv.Grid(2, 3, (1, 2), visible_rows=2, swipe_step=1, scroll_step=3))
    assert "3 cells lie outside the grid, first user_id='u' row=3 col=3 on a grid of 2x3 (line 6)" in message
    assert message.endswith(
        "Use grid=cv.Grid(rows=7, cols=9, page_size=(1, 2, 2, 2, 2, 2, 2), visible_rows=2, swipe_step=1, "
        "scroll_step=3), or drop these cells."
    )


def test_the_grids_that_fit_by_segment() -> None:
    layouts = pl.concat([LAYOUTS, LAYOUTS.with_columns(user_id=pl.lit("v"))])
    device = pl.Series("device", ["tv"] * 6 + ["it's a phone"] * 6)
    layouts = changed(changed(layouts.with_columns(device), 6, col=8), 12, row=5)
    grids = {"tv": cv.Grid(2, 3, 2), "it's a phone": cv.Grid(3, 3), "web": cv.PHONE}
    message = refused(layouts, grid=grids, by="device")
    assert message.endswith(
        "Use grid={'tv': cv.Grid(rows=2, cols=8, page_size=2), \"it's a phone\": cv.Grid(rows=5, cols=3, page_size=5), "
        "'web': cv.Grid(rows=15, cols=12, page_size=3, visible_rows=4, swipe_step=2)}, or drop these cells."
    )
    pages = layouts.with_columns(page_id=pl.lit("p"))
    assert refused(pages, grid=grids, by="device").endswith(message[message.index("Use grid") :])


def test_pages_without_a_segment_only_need_a_larger_grid() -> None:
    layouts = changed(LAYOUTS, 6, row=3)
    layouts = pl.concat([layouts, LAYOUTS.with_columns(user_id=pl.lit("v"))])
    judgments = JUDGMENTS.with_columns(user_id=pl.lit("v"), device=pl.lit("tv"))
    with pytest.raises(cv.DataError, match=r"Use a larger grid, or drop these cells\."):
        cv.evaluate(layouts, judgments, None, metrics="2DCG", grid={"tv": GRID}, by="device", missing_pages="skip")


def test_an_item_outside_its_category() -> None:
    items = ITEMS.filter(pl.col("item_id") != "b2")
    message = "layouts: 1 item is outside its row's category, first user_id='u' row=1 col=2 item_id='b2' category='B'"
    with pytest.raises(cv.DataError, match=message):
        cv.evaluate(LAYOUTS, JUDGMENTS, items, metrics=METRIC, grid=GRID)
    result = cv.evaluate(LAYOUTS, JUDGMENTS, items, metrics=METRIC, grid=GRID, invalid="count")
    assert result.counts["invalid"] == 1


def test_rows_without_labels_share_a_category() -> None:
    bare = LAYOUTS.drop("category")
    assert cv.evaluate(bare, JUDGMENTS, ITEMS, metrics=METRIC, grid=GRID).counts["invalid"] == 0
    mixed = changed(bare, 2, item_id="a3")
    with pytest.raises(cv.DataError, match="user_id='u' row=1, whose items share no category"):
        cv.evaluate(mixed, JUDGMENTS, ITEMS, metrics=METRIC, grid=GRID)


def test_a_row_pinned_in_part() -> None:
    layouts = LAYOUTS.with_columns(pinned=pl.Series([True, True, False] + [False] * 3))
    with pytest.raises(
        cv.DataError, match=r"1 row is only partly pinned, first user_id='u' row=1 pinned=False \(line 3\)"
    ):
        cv.evaluate(layouts, JUDGMENTS, None, metrics=METRIC, grid=GRID)


def test_a_gap_is_a_warning() -> None:
    layouts = LAYOUTS.filter(pl.col("item_id") != "b2")
    message = r"layouts: 1 row has a gap, first user_id='u' row=1 col=3, with an empty cell before it \(line 2\)"
    with pytest.warns(cv.DataWarning, match=message):
        result = cv.evaluate(layouts, JUDGMENTS, None, metrics=METRIC, grid=GRID)
    assert result.counts["gaps"] == 1
    (defect,) = cv.check(layouts, JUDGMENTS, None, grid=GRID).defects
    assert defect.severity == "warning"


def test_judged_twice() -> None:
    judgments = pl.concat([JUDGMENTS, JUDGMENTS.head(1)])
    message = r"judgments: 1 item is judged twice, first user_id='u' item_id='a1' \(line 4\)"
    with pytest.raises(cv.DataError, match=message):
        cv.evaluate(LAYOUTS, judgments, None, metrics=METRIC, grid=GRID)
    assert not cv.check(LAYOUTS, judgments, None, grid=GRID).ok


def test_events_in_place_of_judgments() -> None:
    judgments = pl.concat([JUDGMENTS, JUDGMENTS.head(1)])
    logs = [judgments.with_columns(minutes=5), judgments.drop("relevance")]
    advice = "If these are events, such as plays, make judgments of them with judgments_from_events."
    for table in [judgments, *logs]:
        with pytest.raises(cv.DataError, match="judged twice") as refused:
            cv.evaluate(LAYOUTS, table, None, metrics=METRIC, grid=GRID)
        assert (advice in str(refused.value)) == (table is not judgments)


@pytest.mark.parametrize("name", ["layouts", "judgments", "items"])
def test_empty_tables(name: str) -> None:
    tables: dict[str, Any] = {"layouts": LAYOUTS, "judgments": JUDGMENTS, "items": ITEMS}
    tables[name] = tables[name].clear()
    with pytest.raises(cv.DataError, match=f"{name}: the table has no lines. Give at least one line of ") as refused:
        cv.evaluate(**tables, metrics=METRIC, grid=GRID)
    assert [str(defect) for defect in cv.check(**tables, grid=GRID).defects] == [str(refused.value)]


def test_empty_layouts_without_categories() -> None:
    layouts = LAYOUTS.clear().select("user_id", "row", "col", "item_id")
    with pytest.raises(cv.DataError, match=r"layouts: the table has no lines\."):
        cv.evaluate(layouts, JUDGMENTS, metrics=METRIC, grid=GRID)


def test_all_defects_of_all_tables_at_once() -> None:
    layouts = changed(changed(LAYOUTS, 2, row=0), 4, item_id=None)
    judgments = changed(JUDGMENTS.cast({"relevance": pl.Float64}), 3, relevance=-2.0)
    found = cv.check(layouts, judgments, {"thing": [1]}, grid=GRID)
    assert [(defect.table, defect.column) for defect in found.defects] == [
        ("items", ""),
        ("layouts", "row"),
        ("layouts", "item_id"),
        ("judgments", "relevance"),
    ]


def test_layouts_alone() -> None:
    found = cv.check(LAYOUTS, grid=GRID)
    assert found.ok
    assert found.summary["layouts"]["pages"] == 1
    assert not cv.check(FLAWS["a cell twice"][0], grid=GRID).ok


def test_summary() -> None:
    data = sample(40, systems=["new"], pinned=True, missing=0.2)
    found = cv.check(data.layouts["new"], data.judgments, data.items)
    assert found.ok
    layouts = found.summary["layouts"]
    assert layouts["lines"] == data.layouts["new"].height
    assert layouts["users"] == data.layouts["new"]["user_id"].n_unique()
    assert found.summary["judgments"]["users"] == 40
    assert found.summary["match"]["judged_without_page"] == 40 - layouts["users"]
    assert json.loads(found.to_json())["ok"] is True


def test_ids_that_never_meet() -> None:
    found = cv.check(LAYOUTS, JUDGMENTS.with_columns(item_id=pl.col("item_id").str.to_uppercase()), None, grid=GRID)
    assert found.ok
    assert any("no item shown has a judgment by its user" in str(defect) for defect in found.defects)


def test_the_first_line_of_many(tmp_path: Path) -> None:
    """In a file, and where thousands of pages are at fault."""
    many = pl.concat([LAYOUTS.with_columns(user_id=pl.lit(f"u{n:05}")) for n in range(3000)])
    bad = many.with_columns(col=pl.when((pl.col("user_id") > "u00499") & (pl.col("col") == 3)).then(2).otherwise("col"))
    bad.write_csv(tmp_path / "layouts.csv")
    message = r"at least [\d,]+ cells appear twice, first user_id='u00500' row=1 col=2 \(line 3004\)"
    with pytest.raises(cv.DataError, match=message):
        cv.evaluate(tmp_path / "layouts.csv", JUDGMENTS, None, metrics=METRIC, grid=GRID)


def test_repr() -> None:
    assert repr(cv.check(LAYOUTS, JUDGMENTS, None, grid=GRID)) == "Check(The tables are valid.)"
    first, *rest = repr(cv.check(changed(LAYOUTS, 3, col=2), JUDGMENTS, None, grid=GRID)).splitlines()
    assert first == "Check(1 error)"
    assert rest[0].startswith("  error: layouts: 1 cell appears twice")


def test_titles_and_posters_change_nothing() -> None:
    items = ITEMS.with_columns(title=pl.lit(None, pl.String), poster=pl.Series(range(6)))
    assert cv.check(LAYOUTS, JUDGMENTS, items, grid=GRID).ok
    found = cv.evaluate(LAYOUTS, JUDGMENTS, items, metrics=METRIC, grid=GRID)
    assert found.mean == cv.evaluate(LAYOUTS, JUDGMENTS, ITEMS, metrics=METRIC, grid=GRID).mean
    with pytest.raises(
        cv.DataError, match=r"items: column title holds List\(String\); expected text\. Give one text for"
    ):
        cv.evaluate(LAYOUTS, JUDGMENTS, items.with_columns(title=pl.Series([["a"]] * 6)), metrics=METRIC, grid=GRID)
    own = LAYOUTS.with_columns(title=pl.lit("home"))  # a column of layouts may have the name
    assert cv.evaluate(own, JUDGMENTS, items, metrics=METRIC, grid=GRID, by="title").by == ("title",)
