"""What is refused on Spark is counted over all parts, and said in the words of one machine."""

import re
from typing import Any

import polars as pl
import pytest

import carouseval as cv
from carouseval.errors import DataError
from tests.engines.spark.notices import ToSpark

ROWS, COLS = 2, 2
USERS = [f"u{at:02}" for at in range(12)]


def tiny() -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Pages of two rows, in which each user has two items relevant; with the categories of items."""
    lines = [
        {"user_id": user, "row": row, "col": col, "item_id": f"{category}{col}", "category": category}
        for user in USERS
        for row, category in ((1, "c"), (2, "d"))
        for col in (1, 2)
    ]
    judged = [{"user_id": user, "item_id": item, "relevance": 1.0} for user in USERS for item in ("c2", "d1")]
    items = pl.DataFrame(lines).select("item_id", "category").unique(maintain_order=True)
    return pl.DataFrame(lines), pl.DataFrame(judged), items


def some(column: str, value: Any, condition: Any = True) -> pl.Expr:
    """Another value for every other user."""
    every_other = pl.col("user_id").is_in(USERS[1::2]) & condition
    value = pl.lit(value) if isinstance(value, str) else value
    return pl.when(every_other).then(value).otherwise(pl.col(column)).alias(column)


NUMBER = pl.col("user_id").str.tail(2).cast(pl.Int64)
FIRST_CELL = (pl.col("row") == 1) & (pl.col("col") == 1)
REFUSED: dict[str, tuple[str, pl.Expr, dict[str, Any]]] = {
    "a value that is no row": ("layouts", some("row", 0, FIRST_CELL), {}),
    "a relevance below 0": ("judgments", some("relevance", -1.0), {}),
    "a gain that is too large": ("judgments", some("relevance", 2000.0), {}),
    "a sum that is too large": ("judgments", (1023.99 + NUMBER / 1e4).alias("relevance"), {"metrics": "DCG@4"}),
    "judged twice": ("judgments", some("item_id", "c2"), {}),
    "a cell twice": ("layouts", some("col", 1, FIRST_CELL.not_() & (pl.col("row") == 1)), {}),
    "several pages": ("layouts", some("col", 1), {}),
    "outside the grid": ("layouts", pl.col("col") + 14 + NUMBER, {}),
    "a skipped row": ("layouts", some("row", 3, pl.col("row") == 2), {"grid": cv.Grid(4, 4)}),
    "a repeated category": ("layouts", some("category", "c"), {}),
    "outside its category": ("layouts", some("category", "d", pl.col("row") == 1), {}),
    "a category without items": ("layouts", some("category", "e" + pl.col("user_id"), pl.col("row") == 1), {}),
    "over capacity": ("layouts", pl.col("row"), {"capacity": {"d": 1}}),
    "partly pinned": ("layouts", some("row", 1, False).is_null().or_(FIRST_CELL).alias("pinned"), {}),
    "repeated items": ("layouts", some("item_id", "c1", pl.col("row") == 1), {"duplicates": "error"}),
    "unjudged items": ("layouts", pl.col("row"), {"unjudged": "error"}),
    "missing pages": ("layouts", some("user_id", "x" + pl.col("user_id")), {"missing_pages": "error"}),
    "no relevant item": ("judgments", some("relevance", 0.0), {"no_relevant": "error"}),
    "no weight": ("layouts", pl.lit(1.0).alias("w"), {"weight": "w"}),
    "no such grid": (
        "layouts",
        ("tv" + pl.col("user_id")).alias("device"),
        {"by": "device", "grid": {"tv": cv.RECGAZE}},
    ),
}
GATE = (
    *("a value that is no row", "a gain that is too large", "judged twice", "several pages"),
    *("a category without items", "repeated items", "unjudged items", "no weight", "no such grid"),
)


def without_lines(text: str) -> str:
    """The message without numbers of lines and, where a value cannot be read, without its line or user."""
    text = re.sub(r" \(line \d+\)", "", text)
    return re.sub(r"line \d+: found|user_id '[^']+': found", "found", text)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.deep] * (name not in GATE)) for name in REFUSED]
)
def test_the_same_counts_and_words_as_on_one_machine(to_spark: ToSpark, name: str) -> None:
    of_table, change, settings = REFUSED[name]
    layouts, judgments, items = tiny()
    layouts = layouts.with_columns(change) if of_table == "layouts" else layouts
    judgments = judgments.with_columns(change) if of_table == "judgments" else judgments
    if name == "no weight":  # of users without a page
        layouts = layouts.filter(pl.col("user_id").is_in(USERS[::3]))
    for members in (items, None):
        if members is None and name in ("outside its category", "a category without items"):
            continue  # which layouts then say
        with pytest.raises(DataError) as expected:
            cv.evaluate(layouts, judgments, members, **settings)
        given = None if members is None else to_spark(members)
        with pytest.raises(DataError) as found:
            cv.spark.evaluate(to_spark(layouts), to_spark(judgments), given, lines_at_once=1, **settings)
        assert without_lines(str(found.value)) == without_lines(str(expected.value))


def test_a_category_for_other_users_only(to_spark: ToSpark) -> None:
    layouts, judgments, items = tiny()
    carousels = pl.DataFrame({"category": ["c", "d"], "user_id": ["u00", None]})
    with pytest.raises(DataError) as expected:
        cv.evaluate(layouts, judgments, items, carousels=carousels)
    on_spark = [to_spark(table) for table in (layouts, judgments, items)]
    with pytest.raises(DataError) as found:
        cv.spark.evaluate(*on_spark, carousels=to_spark(carousels), lines_at_once=1)
    assert str(found.value) == without_lines(str(expected.value))
    assert "In carousels 'c' is for other users only: add a line for 'u01'" in str(found.value)


@pytest.mark.parametrize("users", [1, 5])
@pytest.mark.parametrize("runs", [1, 2])
def test_different_ideals(to_spark: ToSpark, users: int, runs: int) -> None:
    layouts, judgments, items = tiny()
    swapped = layouts.with_columns(row=3 - pl.col("row"))
    judgments = judgments.with_columns(relevance=pl.when(pl.col("item_id") == "c2").then(3.0).otherwise(1.0))
    plain = layouts.with_columns(pinned=pl.lit(False))
    pinned = swapped.with_columns(pinned=pl.col("user_id").is_in(USERS[2 : 2 + users]))
    systems: dict[str, Any] = {"s0": plain, "s1": pinned} if runs == 1 else {"s0": [plain, pinned], "s1": plain}
    with pytest.raises(DataError) as expected:
        cv.compare(systems, judgments, items)
    on_spark = {
        name: [to_spark(run) for run in of_system] if isinstance(of_system, list) else to_spark(of_system)
        for name, of_system in systems.items()
    }
    with pytest.raises(DataError) as found:
        cv.spark.compare(on_spark, to_spark(judgments), to_spark(items), lines_at_once=1)
    assert str(found.value) == str(expected.value)
    number = ("1 page{} has", "5 pages{} have")[users > 1].format(" of run 2" if runs == 2 else "")
    said = f"{'s1' if runs == 1 else 's0'}: {number} a different ideal page than in {'s0' if runs == 1 else 'run 1'}, "
    assert str(found.value).startswith(f"{said}first user_id='u02'")


@pytest.mark.parametrize("name", ["unjudged items", pytest.param("judged twice", marks=pytest.mark.deep)])
def test_several_systems(to_spark: ToSpark, name: str) -> None:
    of_table, change, settings = REFUSED[name]
    layouts, judgments, items = tiny()
    judgments = judgments.with_columns(change) if of_table == "judgments" else judgments
    only_relevant = layouts.filter(pl.col("item_id").is_in(["c2", "d1"])).with_columns(col=1)
    systems = {"s0": only_relevant, "s1": layouts, "s2": layouts.filter(pl.col("row") == 1)}
    with pytest.raises(DataError) as expected:
        cv.compare(systems, judgments, items, **settings)
    on_spark = {system: to_spark(table) for system, table in systems.items()}
    with pytest.raises(DataError) as found:
        cv.spark.compare(on_spark, to_spark(judgments), to_spark(items), lines_at_once=1, **settings)
    assert str(found.value) == without_lines(str(expected.value))
    assert str(found.value).startswith("s0: judgments: 6 items" if name == "judged twice" else "s1: layouts: 24 items")
