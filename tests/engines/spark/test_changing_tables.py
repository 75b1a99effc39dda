"""Tables that change between the passes over them are refused; those that do not are scored, whatever they hold."""

import importlib
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import polars as pl
import pytest

import carouseval as cv
from carouseval.engines.all_users import other_users
from carouseval.engines.compare import pair_p_values
from carouseval.engines.reports import ReadLines
from carouseval.errors import DataError
from tests.engines.spark.notices import ToSpark

REMEDY = (
    "Keep one version of it: cache or checkpoint it, or write it to files that nothing replaces. Where limit or "
    "row_number chooses its lines, give them an order without ties."
)
pytestmark = pytest.mark.filterwarnings("ignore::carouseval.DataWarning")


@pytest.fixture
def tables() -> dict[str, pl.DataFrame]:
    """Of a few users, one of whom has an item of their own."""
    data = cv.sample(6, systems=["new"], seed=3)
    layouts, judgments, items = (pl.DataFrame(one) for one in (data.layouts["new"], data.judgments, data.items))
    own = judgments.select("user_id", "item_id").head(1).with_columns(category=pl.lit("Mine"))
    return {"layouts": layouts, "judgments": judgments, "items": pl.concat([items, own], how="diagonal")}


def on_spark(frames: dict[str, Any], find: str, **settings: Any) -> Any:
    """Evaluate, or compare the layouts with themselves."""
    if find == "evaluate":
        return cv.spark.evaluate(frames["layouts"], frames["judgments"], frames.get("items"), **settings)
    systems = {"old": frames.get("old", frames["layouts"]), "new": frames["layouts"]}
    return cv.spark.compare(systems, frames["judgments"], frames.get("items"), permutations=9, **settings)


class Swapped:
    """Tables in files, which are replaced after the first pass."""

    def __init__(self, spark: Any, folder: Path, tables: dict[str, pl.DataFrame]) -> None:
        self.folder, self.later = folder, tables
        for name, table in tables.items():
            table.write_parquet(folder / f"{name}.parquet")
        self.frames = {name: spark.read.parquet(str(folder / f"{name}.parquet")) for name in tables}

    def swap(self) -> None:
        for name, table in self.later.items():
            table.write_parquet(self.folder / f"{name}.parquet")

    def after_first_pass(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def then_swap(*arguments: Any) -> Any:
            found = other_users(*arguments)
            self.swap()
            return found

        for module in ("evaluate", "compare"):
            monkeypatch.setattr(importlib.import_module(f"carouseval.engines.{module}"), "other_users", then_swap)


CHANGES: dict[str, Callable[[pl.DataFrame], pl.DataFrame]] = {
    "fewer": lambda table: table.head(table.height - 1),
    "others": lambda table: table.with_columns(item_id=pl.col("item_id").shuffle(seed=1)),
    "repeated": lambda table: pl.concat([table.head(table.height - 1), table.head(1)]),
}


@pytest.mark.parametrize(
    ("find", "name", "change"),
    [
        ("evaluate", "layouts", "others"),
        ("evaluate", "judgments", "fewer"),
        ("evaluate", "items", "others"),
        ("compare", "layouts", "fewer"),
        *(
            pytest.param(find, name, change, marks=pytest.mark.deep)
            for find, name, change in [
                ("evaluate", "layouts", "fewer"),
                ("evaluate", "layouts", "repeated"),
                ("evaluate", "judgments", "repeated"),
                ("compare", "judgments", "others"),
                ("compare", "items", "fewer"),
            ]
        ),
    ],
)
def test_files_that_are_replaced(
    spark: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    tables: dict[str, pl.DataFrame],
    find: str,
    name: str,
    change: str,
) -> None:
    files = Swapped(spark, tmp_path, tables)
    files.later = {name: CHANGES[change](tables[name])}
    files.after_first_pass(monkeypatch)
    with pytest.raises(DataError) as found:
        on_spark(files.frames, find, invalid="count")
    count = 1 if name == "items" else tables[name].height  # of items those of one user, who is no longer the same
    lines = f"{count:,} line{'s' * (count != 1)}"
    said = f"{lines} at first and {count - 1:,} later" if change == "fewer" else f"{lines} each time, but not the same"
    system = "old: " if find == "compare" and name == "layouts" else ""
    assert str(found.value) == f"{system}{name}: the table changes while it is read: {said}. {REMEDY}"


def test_lines_for_everyone_beside_those_of_single_users(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tables: dict[str, pl.DataFrame]
) -> None:
    files = Swapped(spark, tmp_path, tables)
    files.later = {"items": tables["items"].tail(tables["items"].height - 3)}
    files.after_first_pass(monkeypatch)
    shared = tables["items"].height - 1
    with pytest.raises(
        DataError, match=f"items: the table changes .*: {shared:,} lines at first and {shared - 3:,} later"
    ):
        on_spark(files.frames, "evaluate", invalid="count")


@pytest.mark.parametrize("name", ["carousels", "layouts"])
def test_tables_that_declared_categories_are_read_from(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tables: dict[str, pl.DataFrame], name: str
) -> None:
    # layouts are asked which of the categories several users have
    monkeypatch.setattr(importlib.import_module("carouseval.engines.spark.personal_carousels"), "_MANY", 0)
    layouts = tables["layouts"]
    rows = layouts.select("user_id", "category").unique().sort(pl.all())
    files = Swapped(spark, tmp_path, tables | {"carousels": rows.with_columns(capacity=20)})
    files.later = {
        "carousels": rows.with_columns(capacity=19),
        "layouts": layouts.with_columns(row=31 - layouts["row"]),
    }
    files.later = {name: files.later[name]}
    files.after_first_pass(monkeypatch)
    items = tables["items"].filter(pl.col("user_id").is_null()).drop("user_id")  # on this machine: one pass of scoring
    with pytest.raises(DataError, match=f"{name}: the table changes while it is read: .* each time, but not the same"):
        on_spark(files.frames | {"items": items}, "evaluate", invalid="count", carousels=files.frames["carousels"])


def at_random(frame: Any, lines: int | None) -> Any:
    """The first so many lines in an order that is another each time; where None, one line for each cell."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F  # noqa: N812

    @F.udf("double")
    def tie() -> float:
        import random

        return random.random()

    shuffled = frame.withColumn("order", tie.asNondeterministic()())
    if lines is not None:
        return shuffled.orderBy("order").limit(lines).drop("order")
    first = F.row_number().over(Window.partitionBy("user_id", "row", "col").orderBy("order"))
    return shuffled.withColumn("first", first).where("first = 1").drop("first", "order")


def test_lines_chosen_without_an_order(to_spark: ToSpark, tables: dict[str, pl.DataFrame]) -> None:
    layouts, judgments = tables["layouts"], to_spark(tables["judgments"])
    both = pl.concat([layouts, layouts.with_columns(item_id=pl.col("item_id").shuffle(seed=1))])
    with pytest.raises(DataError, match=r"layouts: the table changes while it is read: .* each time, but not the same"):
        on_spark({"layouts": at_random(to_spark(both), None), "judgments": judgments}, "evaluate", invalid="count")
    some = at_random(judgments, tables["judgments"].height // 2)
    frames = {"old": to_spark(layouts), "layouts": to_spark(layouts), "judgments": some}
    with pytest.raises(DataError, match=r"^judgments: the table changes while it is read: .* not the same"):
        on_spark(frames, "compare", invalid="count")
    kept = some.cache()  # the remedy
    expected = cv.evaluate(layouts, pl.DataFrame(kept.toArrow()), invalid="count")
    assert on_spark(frames | {"judgments": kept}, "evaluate", invalid="count").mean == expected.mean
    kept.unpersist()


def test_scores_that_spark_makes_again(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tables: dict[str, pl.DataFrame]
) -> None:
    files = Swapped(spark, tmp_path, tables)
    same, result = (on_spark(files.frames, "evaluate", invalid="count") for _ in range(2))
    compared = on_spark(files.frames, "compare", invalid="count")
    for kept in (same, result, compared):
        kept.unpersist()
    assert same.collect().per_page.equals(cv.evaluate(*tables.values(), invalid="count").per_page)
    files.later = {"layouts": CHANGES["fewer"](tables["layouts"])}
    files.swap()
    with pytest.raises(DataError, match=r"^layouts: the table changes while it is read"):
        result.collect()
    with pytest.raises(DataError, match=r"^old: layouts: the table changes while it is read"):
        compared.collect()
    for table in ("per_page", "per_user"):  # which is made of other lines no more in silence
        result.unpersist()
        with pytest.raises(DataError, match=r"^layouts: the table changes while it is read"):
            getattr(result, table)
    with pytest.raises(DataError, match=r"^old: layouts: the table changes while it is read"):
        _ = compared.per_user
    files = Swapped(spark, tmp_path, tables)

    def lose_and_draw(pairs: Any, *, kept: Any, **options: Any) -> Any:
        kept.scored.drop()
        files.later = {"old": CHANGES["fewer"](tables["layouts"])}
        files.swap()
        return pair_p_values(pairs, kept=kept, **options)

    monkeypatch.setattr(importlib.import_module("carouseval.engines.compare"), "pair_p_values", lose_and_draw)
    shutil.copy(tmp_path / "layouts.parquet", tmp_path / "old.parquet")
    other = tables["layouts"].with_columns(item_id=pl.col("item_id").shuffle(seed=1))
    other.write_parquet(tmp_path / "layouts.parquet")
    frames = files.frames | {name: spark.read.parquet(str(tmp_path / f"{name}.parquet")) for name in ("layouts", "old")}
    with pytest.raises(DataError, match=r"^old: layouts: the table changes while it is read"):
        on_spark(frames, "compare", invalid="count")


@pytest.mark.parametrize("ids", ["int", "str"])
def test_tables_that_stay_the_same(
    to_spark: ToSpark, tables: dict[str, pl.DataFrame], ids: Literal["int", "str"]
) -> None:
    data = cv.sample(6, systems=["new"], seed=3, ids=ids)
    layouts, judgments = pl.DataFrame(data.layouts["new"]), pl.DataFrame(data.judgments)
    # each line twice or with null, NaN, lists and maps beside it, none of which is used
    items = pl.concat([layouts.select("item_id", "category")] * 2).with_columns(user_id=pl.lit(layouts["user_id"][0]))
    odd = to_spark(layouts.with_columns(note=pl.lit(None, pl.String), odd=pl.lit(float("nan")), lists=[[1], []]))
    odd = odd.selectExpr("*", "map('a', row) AS pairs")
    found = on_spark(
        {"layouts": odd, "judgments": to_spark(judgments), "items": to_spark(items)}, "evaluate", invalid="count"
    )
    assert found.mean == cv.evaluate(layouts, judgments, items, invalid="count").mean
    for empty in ("layouts", "judgments"):
        frames = {"layouts": to_spark(layouts), "judgments": to_spark(judgments)}
        with pytest.raises(DataError, match=f"{empty}: the table has no lines"):
            on_spark(frames | {empty: frames[empty].where("false")}, "evaluate")


def test_hashes_of_lines(to_spark: ToSpark) -> None:
    from pyspark.sql import functions as F  # noqa: N812

    from carouseval.engines.spark.user_lines import read_lines

    table = {"user_id": ["a", "a", None], "row": [1, 1, 2], "share": [0.1, 0.1, None], "items": [[1], [1], None]}
    frame = to_spark(table).withColumn("dotted.map", F.create_map(F.lit("a"), "row"))
    whole = read_lines(frame)
    assert whole.count == 3
    assert read_lines(frame.orderBy("row", ascending=False)) == whole
    assert read_lines(frame.select(*reversed([f"`{name}`" for name in frame.columns]))) == whole
    assert read_lines(frame.limit(1)) + read_lines(frame.orderBy("row").offset(1)) == whole
    assert read_lines(frame.withColumn("share", F.col("share") * (1 + 1e-15))) == whole  # a last digit
    others = {"user_id": "'b'", "row": "row + 1", "share": "share + 0.001", "items": "array(2)"}
    changed = [read_lines(frame.withColumn(name, F.expr(value))) for name, value in others.items()]
    assert len({*changed, whole}) == len(others) + 1
    assert read_lines(frame.where("false")) == ReadLines()


def test_pages_that_are_made_again_of_lines_that_cannot_be_scored(
    spark: Any, tmp_path: Path, tables: dict[str, pl.DataFrame]
) -> None:
    """As they are where an executor is lost, after a table was replaced."""
    files = Swapped(spark, tmp_path, tables)
    result = on_spark(files.frames, "evaluate", invalid="count")
    pages, users = result.per_page, result.per_user
    result.unpersist()
    files.later = {"layouts": tables["layouts"].with_columns(row=0)}
    files.swap()
    for table in (pages, users):
        with pytest.raises(Exception, match="made again, of lines that cannot be scored: the tables have changed"):
            table.count()
