"""Evaluation on Spark against one machine: pages, means and counts to the bit, notices and errors in the same words."""

import re
import uuid
from datetime import UTC, datetime
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import carouseval as cv
from carouseval.engines.kept_pages import KeptPages
from carouseval.engines.spark.engine import SparkMapped
from carouseval.errors import DataError, ParameterError
from tests.engines.spark.notices import ToSpark, with_notices


def frames(data: cv.Sample, system: str) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    return pl.DataFrame(data.layouts[system]), pl.DataFrame(data.judgments), pl.DataFrame(data.items)


def assert_same(
    to_spark: ToSpark, layouts: Any, judgments: Any, items: Any = None, lines_at_once: int = 1_000, **settings: Any
) -> Any:
    """Both ways give the same result, and say the same of it."""
    expected, said = with_notices(lambda: cv.evaluate(layouts, judgments, items, **settings))
    on_spark = settings | ({"carousels": to_spark(settings["carousels"])} if "carousels" in settings else {})
    members = None if items is None else to_spark(items)
    found, said_there = with_notices(
        lambda: cv.spark.evaluate(
            to_spark(layouts), to_spark(judgments), members, lines_at_once=lines_at_once, **on_spark
        )
    )
    assert found.mean == expected.mean
    assert found.counts == expected.counts
    assert found.config == expected.config
    assert said_there == said
    assert_frame_equal(found.collect().per_page, expected.per_page, check_exact=True)
    assert_frame_equal(found.to_frame(), expected.to_frame(), check_exact=True)
    assert (found.caption, repr(found), found.page_match) == (expected.caption, repr(expected), expected.page_match)
    found.unpersist()
    return expected


SAMPLES: dict[str, dict[str, Any]] = {
    "plain": {},
    "integer ids, several pages": {"ids": "int", "pages": 3},
    "ragged, missing pages": {"ragged": True, "missing": 0.2, "mode": "binary"},
    "pinned": {"pinned": True},
    "home pages": {"kind": "home"},
}


# the gate has each kind once, with items or without
IN_GATE = {
    ("integer ids, several pages", True),
    ("ragged, missing pages", False),
    ("pinned", True),
    ("home pages", False),
}


@pytest.mark.parametrize(
    ("with_items", "name"),
    [
        pytest.param(with_items, name, marks=[pytest.mark.deep] * ((name, with_items) not in IN_GATE))
        for with_items in (True, False)
        for name in SAMPLES
    ],
)
def test_samples(to_spark: ToSpark, name: str, with_items: bool) -> None:
    system = "new"
    layouts, judgments, items = frames(cv.sample(60, systems=[system], seed=3, **SAMPLES[name]), system)
    assert_same(to_spark, layouts, judgments, items if with_items else None, invalid="count")


SETTINGS: dict[str, dict[str, Any]] = {
    "all kinds of metrics": {"metrics": ["N2DCG_cat", "N2DCG", "2DCG", "NDCG@10", "Hit@3x5", "Coverage@3x5"]},
    "displayed candidates": {"candidates": "displayed", "duplicates": "first"},
    "every repeat": {"duplicates": "every", "gain": "linear"},
    "capacity shown": {"capacity": "shown"},
    "capacity of a category": {"capacity": {"Drama": 3}, "invalid": "count"},
    "zeros": {"no_relevant": "zero", "missing_pages": "skip"},
    "little work": {"work": 0.001},
    "segments": {"by": "device"},
    "a function": {"metrics": [lambda gains, weights: (gains * weights).max()], "gain": lambda relevance: relevance},
}


# the gate has the first three in other tests, of grids by device and of ideals without proof; zeros are settled where
# pages are scored, by the same code as on one machine
IN_DEEP = ("capacity shown", "segments", "little work", "zeros")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.deep] * (name in IN_DEEP)) for name in SETTINGS]
)
def test_settings(to_spark: ToSpark, name: str) -> None:
    layouts, judgments, items = frames(cv.sample(50, systems=["new"], seed=1, missing=0.1), "new")
    if "a function" in name:
        expected = cv.evaluate(layouts, judgments, items, **SETTINGS[name])
        found = cv.spark.evaluate(to_spark(layouts), to_spark(judgments), to_spark(items), **SETTINGS[name])
        assert list(found.mean.values()) == list(expected.mean.values())
        return
    assert_same(to_spark, layouts, judgments, items, **SETTINGS[name])


def test_a_grid_for_each_device(to_spark: ToSpark) -> None:
    data = cv.sample(60, systems=["new"], seed=2, devices=True)
    layouts, judgments, items = frames(data, "new")
    grid = {"tv": cv.Grid(8, 12, page_size=6), "phone": cv.Grid(15, 15, page_size=3), "web": cv.RECGAZE}
    sizes = {device: (size.rows, size.cols) for device, size in grid.items()}
    fits = [
        (pl.col("device") == name) & (pl.col("row") <= rows) & (pl.col("col") <= cols)
        for name, (rows, cols) in sizes.items()
    ]
    layouts = layouts.filter(pl.any_horizontal(fits))
    assert_same(to_spark, layouts, judgments, items, by="device", grid=grid, capacity="shown")
    # the device may also be told by judgments alone
    devices = layouts.select("user_id", "device").unique()
    judged = judgments.join(devices, on="user_id", how="left").with_columns(pl.col("device").fill_null("web"))
    assert_same(to_spark, layouts.drop("device"), judged, None, by="device", grid=grid)


def test_weights_and_judgments_per_page(to_spark: ToSpark) -> None:
    layouts, judgments, items = frames(cv.sample(40, systems=["new"], seed=4, pages=2), "new")
    pages = layouts.select("user_id", "page_id").unique().sort("user_id", "page_id")
    weights = pages.with_columns(importance=pl.Series(range(pages.height)) % 5 / 4)
    per_page = weights.join(judgments.drop("page_id", strict=False), on="user_id")
    assert_same(to_spark, layouts, per_page, items, weight="importance")
    elsewhere = per_page.with_columns(pl.format("other {}", "page_id").alias("page_id"))
    assert_same(to_spark, layouts, elsewhere, items)  # hardly any page matches, which is said


@pytest.mark.deep  # in the gate: carousels for everyone and for single users, and test_personal_categories.py
def test_personal_categories_and_carousels(to_spark: ToSpark) -> None:
    layouts, judgments, _ = frames(cv.sample(40, systems=["new"], seed=5), "new")
    personal = pl.when(pl.col("row") == 2).then(pl.format("Because {} watched", "user_id"))
    mine = pl.when(pl.col("row") == 3).then(pl.lit("My list"))
    layouts = layouts.with_columns(category=pl.coalesce(personal, mine, pl.col("category")))
    carousels = pl.DataFrame({"category": ["My list", "Drama"], "capacity": [8, None], "personal": [True, False]})
    assert_same(to_spark, layouts, judgments, carousels=carousels, invalid="count")
    assert_same(to_spark, layouts, judgments, capacity="shown", invalid="count")
    own = layouts.select("item_id", "category", user_id=pl.when(pl.col("row") == 2).then(pl.col("user_id"))).unique()
    assert_same(to_spark, layouts, judgments, own.sort(pl.all()), invalid="count")


@pytest.mark.deep
def test_carousels_and_items_of_single_users_stay_with_them(to_spark: ToSpark) -> None:
    layouts, judgments, _ = frames(cv.sample(40, systems=["new"], seed=14), "new")
    rows = layouts.select("user_id", "category").unique().sort(pl.all())
    some = rows.filter(pl.col("category").is_in(["Drama", "Comedy", "Crime"]))
    own = some.with_columns(capacity=pl.col("user_id").str.slice(-1).cast(pl.Int64) + 1)
    for lines in (own, pl.concat([own, pl.DataFrame({"category": ["Drama"], "capacity": [4]})], how="diagonal")):
        assert_same(to_spark, layouts, judgments, carousels=lines, invalid="count")
        personal = lines.with_columns(personal=pl.col("category") == "Crime")
        assert_same(to_spark, layouts, judgments, carousels=personal, invalid="count")
    items = layouts.select("user_id", "item_id", "category").unique().sort(pl.all())  # nobody shares an item
    assert_same(to_spark, layouts, judgments, items)


def test_nested_layouts_and_other_names(to_spark: ToSpark) -> None:
    layouts, judgments, items = frames(cv.sample(30, systems=["new"], seed=6), "new")
    lists = layouts.sort("user_id", "row", "col").group_by("user_id", "row", "category", maintain_order=True)
    rows = lists.agg(pl.col("item_id").alias("items"))
    assert_same(to_spark, rows, judgments, items)
    pages = rows.group_by("user_id", maintain_order=True).agg(
        rows=pl.struct(pl.col("category").alias("title"), "items")
    )
    assert_same(to_spark, pages, judgments)
    names = {"user_id": "customer", "item_id": "film", "relevance": "stars"}
    renamed = [
        frame.rename({ours: own for ours, own in names.items() if ours in frame.columns})
        for frame in (layouts, judgments)
    ]
    members = items.rename({"item_id": "film"})
    assert_same(to_spark, renamed[0], renamed[1].with_columns(note=pl.lit("unused")), members, columns=names)


@pytest.mark.deep
def test_ids_of_any_type(to_spark: ToSpark) -> None:
    layouts, judgments, items = frames(cv.sample(12, systems=["new"], seed=13, ids="int"), "new")
    assert_same(to_spark, layouts.with_columns(pl.col("user_id").cast(pl.Int16)), judgments, items)
    at = pl.datetime(2026, 1, 1) + pl.duration(hours=pl.col("user_id"))
    times = [frame.with_columns(user_id=at.dt.replace_time_zone("UTC")) for frame in (layouts, judgments)]
    assert_same(to_spark, times[0], times[1], items)
    dotted = [frame.rename({"user_id": "user.id"}) for frame in (layouts, judgments)]
    assert_same(to_spark, dotted[0], dotted[1], items, columns={"user_id": "user.id"})


def test_gaps_and_large_gains_are_noticed(to_spark: ToSpark) -> None:
    layouts, judgments, items = frames(cv.sample(30, systems=["new"], seed=7), "new")
    gapped = layouts.filter((pl.col("col") != 2) | (pl.col("row") != 1))
    large = judgments.with_columns(relevance=pl.col("relevance") * 9)
    _, said = with_notices(lambda: cv.evaluate(gapped, large, items))
    _, said_there = with_notices(lambda: cv.spark.evaluate(to_spark(gapped), to_spark(large), to_spark(items)))
    assert len(said) == 2
    assert said_there == [re.sub(r" \(line \d+\)", "", notice) for notice in said]


ERRORS: dict[str, tuple[pl.Expr, dict[str, Any]]] = {
    "outside the grid": (pl.col("col") + 3, {}),
    "a cell twice": (pl.col("col").clip(upper_bound=12), {}),
    "skipped rows": (pl.col("col"), {}),
    "repeated items": (pl.col("col"), {"duplicates": "error"}),
    "unjudged": (pl.col("col"), {"unjudged": "error"}),
    "missing pages": (pl.col("col"), {"missing_pages": "error"}),
    "no relevant item": (pl.col("col"), {"no_relevant": "error"}),
}


# of lines, of rows and of users; the others take the same way to the driver
ERRORS_IN_GATE = ("outside the grid", "skipped rows", "missing pages", "no relevant item")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.deep] * (name not in ERRORS_IN_GATE)) for name in ERRORS]
)
def test_errors_are_those_of_one_machine(to_spark: ToSpark, name: str) -> None:
    column, settings = ERRORS[name]
    layouts, judgments, items = frames(cv.sample(30, systems=["new"], seed=8, missing=0.2), "new")
    layouts = layouts.with_columns(col=column).sort("user_id", "row", "col")
    if name == "no relevant item":
        judgments = judgments.with_columns(relevance=pl.col("relevance") * (pl.col("user_id") > "u000010"))
    if name == "skipped rows":
        layouts = layouts.filter(pl.col("row") != 2)
    with pytest.raises(DataError) as expected:
        cv.evaluate(layouts, judgments, items, **settings)
    with pytest.raises(DataError) as found:
        cv.spark.evaluate(to_spark(layouts), to_spark(judgments), to_spark(items), lines_at_once=500, **settings)
    assert str(found.value) == re.sub(r" \(line \d+\)", "", str(expected.value))


def test_values_that_cannot_be_read_are_refused_with_their_user(to_spark: ToSpark) -> None:
    layouts, judgments, items = frames(cv.sample(5, systems=["new"], seed=9), "new")
    bad = layouts.with_columns(row=pl.when(pl.col("user_id") == "u000003").then(0).otherwise(pl.col("row")))
    with pytest.raises(DataError, match=r"layouts: column row, user_id 'u000003': found 0 \(150 such lines\)"):
        cv.spark.evaluate(to_spark(bad), to_spark(judgments), to_spark(items))
    with pytest.raises(DataError, match=r"judgments: .* judged twice, first user_id='u0000.*'. Keep one judgment"):
        cv.spark.evaluate(to_spark(layouts), to_spark(pl.concat([judgments, judgments])), to_spark(items))
    with pytest.raises(DataError, match="layouts: missing column"):
        cv.spark.evaluate(to_spark(layouts.drop("col")), to_spark(judgments), to_spark(items))
    with pytest.raises(ParameterError, match="lines_at_once must be an integer of at least 1, found 0"):
        cv.spark.evaluate(to_spark(layouts), to_spark(judgments), lines_at_once=0)
    with pytest.raises(ParameterError, match="layouts must be a Spark DataFrame, found DataFrame"):
        cv.spark.evaluate(layouts, to_spark(judgments))  # type: ignore[arg-type]
    with pytest.raises(DataError, match="layouts: the table has no lines"):
        cv.spark.evaluate(to_spark(layouts.head(0)), to_spark(judgments), to_spark(items))
    with pytest.raises(DataError, match="judgments: the table has no lines"):
        cv.spark.evaluate(to_spark(layouts), to_spark(judgments.head(0)), to_spark(items))


def test_results_stay_in_spark(to_spark: ToSpark) -> None:
    layouts, judgments, items = frames(cv.sample(25, systems=["new"], seed=10, pages=2), "new")
    expected = cv.evaluate(layouts, judgments, items)
    found = cv.spark.evaluate(to_spark(layouts), to_spark(judgments), items)
    assert isinstance(found, cv.Evaluation)
    users = pl.DataFrame(found.per_user.toArrow()).sort("user_id")
    assert_frame_equal(users, expected.per_user.sort("user_id"), check_dtypes=False)
    assert found.left_out("N2DCG_cat") == expected.left_out("N2DCG_cat")
    assert found.per_page.count() == expected.per_page.height
    assert_frame_equal(found.users_by([]), expected.users_by([]), check_exact=True)
    found.unpersist()
    assert found.per_page.count() == expected.per_page.height  # scored again


@pytest.mark.deep
def test_many_small_files_and_one_large_file(to_spark: ToSpark, spark: Any, tmp_path: Any) -> None:
    layouts, judgments, items = frames(cv.sample(40, systems=["new"], seed=11), "new")
    expected = cv.evaluate(layouts, judgments, items)
    shuffled = layouts.sample(fraction=1.0, shuffle=True, seed=1)
    (tmp_path / "many").mkdir()
    for at in range(50):
        shuffled[at::50].write_parquet(tmp_path / "many" / f"{at}.parquet")
    shuffled.write_parquet(tmp_path / "one.parquet")
    for path in ("many", "one.parquet"):
        read = spark.read.parquet(str(tmp_path / path))
        found = cv.spark.evaluate(read, to_spark(judgments), items, lines_at_once=700)
        assert found.mean == expected.mean
        assert_frame_equal(found.collect().per_page, expected.per_page, check_exact=True)
        found.unpersist()


@pytest.mark.deep
def test_one_user_with_most_lines(to_spark: ToSpark) -> None:
    layouts, judgments, items = frames(cv.sample(12, systems=["new"], seed=12), "new")
    first = layouts.filter(pl.col("user_id") == "u000000")
    skewed = pl.concat(
        [layouts.with_columns(page_id=pl.lit(0)), *(first.with_columns(page_id=pl.lit(at)) for at in range(1, 60))]
    )
    assert_same(to_spark, skewed, judgments, items, lines_at_once=100)


def test_one_user_and_empty_partitions(to_spark: ToSpark) -> None:
    tables = frames(cv.sample(12, systems=["new"], seed=12), "new")
    layouts, judgments = (table.filter(pl.col("user_id") == "u000000") for table in tables[:2])
    assert_same(to_spark, layouts, judgments, tables[2])  # two of three partitions are empty


def test_small_tables_take_few_tasks(to_spark: ToSpark, spark: Any) -> None:
    layouts, judgments, items = frames(cv.sample(10, systems=["new"], seed=13), "new")
    merge = "spark.sql.adaptive.coalescePartitions.enabled"
    of_cached = "spark.sql.optimizer.canChangeCachedPlanOutputPartitioning"
    before = spark.conf.get(of_cached)
    spark.conf.set(merge, "true")
    try:
        found = cv.spark.evaluate(to_spark(layouts), to_spark(judgments), items)
    finally:
        spark.conf.set(merge, "false")
    assert isinstance(found.pages, KeptPages)
    assert isinstance(found.pages.scored, SparkMapped)
    assert found.pages.scored.frame.rdd.getNumPartitions() == 1  # of three
    assert spark.conf.get(of_cached) == before
    found.unpersist()


def tiny(users: int = 6, user: Any = "u{}".format) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Users with two rows of two items, and judgments of four items."""
    cells = [
        (user(at), row, col, f"i{(at + 3 * row + col) % 7}", f"c{row}") for at in range(users) for row, col in PAIRS
    ]
    layouts = pl.DataFrame(cells, ["user_id", "row", "col", "item_id", "category"], orient="row")
    judged = [(user(at), f"i{item}", (at + item) % 3) for at in range(users) for item in range(4)]
    return layouts, pl.DataFrame(judged, ["user_id", "item_id", "relevance"], orient="row")


PAIRS = [(1, 1), (1, 2), (2, 1), (2, 2)]


def test_ideals_that_only_some_parts_cannot_prove(to_spark: ToSpark) -> None:
    layouts, judgments, items = frames(cv.sample(30, systems=["new"], seed=1), "new")
    one_item = (pl.col("user_id") > "u000014") | (pl.int_range(pl.len()).over("user_id") == 0)
    expected = assert_same(to_spark, layouts, judgments.filter(one_item), items, lines_at_once=1, work=0.0)
    assert 0 < expected.per_page["N2DCG_cat.bounded"].sum() < 30


def test_rows_whose_category_only_items_tell(to_spark: ToSpark) -> None:
    layouts, judgments, items = frames(cv.sample(20, systems=["new"], seed=2), "new")
    assert_same(to_spark, layouts.drop("category"), judgments, items, capacity="shown", invalid="count")


def test_what_one_user_is_shown_limits_all_who_have_its_items(to_spark: ToSpark) -> None:
    layouts, judgments = tiny()
    only = layouts.with_columns(
        category=pl.when((pl.col("user_id") == "u1") & (pl.col("row") == 2)).then(pl.lit("rare")).otherwise("category")
    )
    items = pl.DataFrame({"item_id": [f"i{at}" for at in range(7)]}).with_columns(category=pl.lit(["c1", "c2", "rare"]))
    assert_same(to_spark, only, judgments, items, lines_at_once=1, capacity="shown", invalid="count")
    owners = pl.DataFrame({"user_id": [None, "u1", "u2"]}, schema={"user_id": pl.String})
    own = items.join(owners, how="cross")
    assert_same(to_spark, only, judgments, own, lines_at_once=1, invalid="count", metrics=["N2DCG_cat", "Coverage"])
    catalogue = own.filter(pl.col("user_id").is_not_null() | (pl.col("item_id") == "i0"))
    assert_same(to_spark, only, judgments, catalogue, lines_at_once=1, invalid="count", metrics="Coverage")


def test_carousels_for_everyone_and_for_single_users(to_spark: ToSpark) -> None:
    layouts, judgments = tiny()
    lines: dict[str, list[Any]] = {"category": ["c1", "c1", "c2", "c3"], "user_id": ["u1", None, "u2", "u3"]}
    carousels = pl.DataFrame(lines | {"capacity": [2, None, 1, None], "personal": [None, True, None, None]})
    assert_same(to_spark, layouts, judgments, carousels=carousels, lines_at_once=1, invalid="count")
    both = carousels.with_columns(personal=pl.Series([False, True, None, None]))
    for find in (cv.evaluate, cv.spark.evaluate):
        tables = (layouts, judgments) if find is cv.evaluate else (to_spark(layouts), to_spark(judgments))
        declared = both if find is cv.evaluate else to_spark(both)
        with pytest.raises(DataError, match=r"carousels: category='c1' is called personal on one line and not on ano"):
            find(*tables, carousels=declared)
    with pytest.raises(DataError, match="carousels: the table has no lines"):
        cv.spark.evaluate(to_spark(layouts), to_spark(judgments), carousels=to_spark(carousels.head(0)))
    with pytest.raises(DataError, match="items: the table has no lines"):
        cv.spark.evaluate(to_spark(layouts), to_spark(judgments), to_spark(layouts.head(0)))


def test_the_order_of_errors_is_that_of_one_machine(to_spark: ToSpark) -> None:
    layouts, judgments = tiny()
    weighted = layouts.with_columns(w=1.0)
    with pytest.raises(DataError, match="layouts: the table has no lines"):  # not: users without weight
        cv.spark.evaluate(to_spark(weighted.head(0)), to_spark(judgments), weight="w")
    wide = layouts.with_columns(
        pl.when(pl.col("user_id") == "u5").then(pl.col("col") + 9).otherwise("col").alias("col")
    )
    wide = wide.with_columns(pl.when(pl.col("user_id") == "u1").then(pl.col("col") + 5).otherwise("col").alias("col"))
    with pytest.raises(DataError, match=r"8 cells lie outside .* Use grid=cv\.Grid\(rows=2, cols=11"):
        cv.spark.evaluate(to_spark(wide), to_spark(judgments), grid=cv.Grid(2, 3), lines_at_once=1)


def test_users_are_the_same_in_any_form(to_spark: ToSpark) -> None:
    layouts, _ = tiny(user=lambda at: uuid.UUID(int=2**127 + at).bytes)
    _, judgments = tiny(user=lambda at: str(uuid.UUID(int=2**127 + at)))
    assert_same(to_spark, layouts, judgments, lines_at_once=1, invalid="count")
    odd = [frame.rename({"user_id": "a`b.c"}) for frame in tiny()]
    assert_same(to_spark, odd[0], odd[1], columns={"user_id": "a`b.c"}, invalid="count")
    times, _ = tiny(user=lambda at: datetime(2026, 1, 1, at, tzinfo=UTC))
    with pytest.raises(
        DataError, match="layouts: column user_id holds times, but in judgments users are of type string"
    ):
        cv.spark.evaluate(to_spark(times), to_spark(judgments))


def test_columns_that_spark_does_not_tell_apart_are_refused(to_spark: ToSpark) -> None:
    layouts, judgments = tiny()
    case = to_spark(layouts.with_columns(note=pl.lit(1), Note=pl.lit(2)))
    with pytest.raises(DataError, match="layouts: Spark does not tell the columns note and Note apart"):
        cv.spark.evaluate(case, to_spark(judgments))
    twice = to_spark(judgments).selectExpr("*", "user_id")
    with pytest.raises(DataError, match="judgments: there are two columns user_id"):
        cv.spark.evaluate(to_spark(layouts), twice)
