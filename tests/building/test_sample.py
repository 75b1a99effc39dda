"""Sample data: pages are valid, draws depend on what they should, and systems stand in the order they promise."""

import inspect
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import carouseval as cv
from carouseval.building import sample_tables
from carouseval.building.sample import Sample, SampleFormat, sample, write_sample
from tests import oracles

PAGE = ["system", "user_id", "page_id"]
REALISM: dict[str, Any] = {"ragged": True, "pinned": True, "pages": 2, "missing": 0.1, "devices": True}
CASES: dict[str, dict[str, Any]] = {
    "plain": {},
    "all at once": REALISM,
    "small categories": {"items": 120, "categories": 30, "judgments": 7},
    "few categories": {"items": 40, "categories": 4, "pinned": True},
    "tiny grid": {"grid": cv.Grid(2, 3), "pinned": True, "ragged": True},
}


def all_pages(data: Sample) -> pl.DataFrame:
    """The pages of all systems in one table, with a page_id in any case."""
    one = pl.concat([layouts.with_columns(system=pl.lit(name)) for name, layouts in data.layouts.items()])
    return one if "page_id" in one.columns else one.with_columns(page_id=pl.lit("p1"))


def row_table(data: Sample) -> pl.DataFrame:
    """A line per row of all pages, which are checked: no category, row or cell twice or left out."""
    pages = all_pages(data)
    rows = pages.group_by(*PAGE, "row").agg(
        pl.col("category").n_unique().alias("categories"),
        pl.col("category", "device").first(),
        pl.col("item_id").n_unique().alias("items"),
        pl.col("col").n_unique().alias("cols"),
        pl.col("col").max().alias("last"),
        pl.len(),
    )
    assert (rows["categories"] == 1).all()
    assert (rows["items"] == rows["len"]).all()  # no item twice in a row
    assert (rows["cols"] == rows["len"]).all()  # no cell twice
    assert (rows["last"] == rows["len"]).all()  # no gap
    whole = rows.group_by(PAGE).agg(pl.len(), pl.col("row").max(), pl.col("category").n_unique())
    assert (whole["row"] == whole["len"]).all()  # no row skipped
    assert (whole["category"] == whole["len"]).all()  # no category twice
    assert pages.select("row", "col").min().row(0) == (1, 1)
    assert pages.group_by("user_id").agg(pl.col("device").n_unique())["device"].max() == 1
    return rows


@pytest.mark.parametrize("options", CASES.values(), ids=CASES)
def test_pages_are_valid(options: dict[str, Any]) -> None:
    data = sample(users=150, **options)
    rows = row_table(data)
    for device, grid in data.grids.items():
        there = rows.filter(device=device)
        assert there["row"].max() == min(grid.rows, data.items["category"].n_unique())
        assert there["last"].max() <= grid.cols  # type: ignore[operator]


def assert_items_are_in_their_categories(data: Sample) -> None:
    pages, items = all_pages(data), data.items
    if "user_id" not in items.columns:
        items = items.with_columns(user_id=pl.lit(None, pl.String))
    everyone, personal = items.filter(pl.col("user_id").is_null()), items.drop_nulls()
    stray = pages.join(everyone, on=["item_id", "category"], how="anti")
    assert stray.join(personal, on=["user_id", "item_id", "category"], how="anti").height == 0
    assert items.is_duplicated().sum() == 0


@pytest.mark.parametrize("options", CASES.values(), ids=CASES)
def test_items_are_in_their_categories(options: dict[str, Any]) -> None:
    data = sample(users=150, **options)
    assert_items_are_in_their_categories(data)
    everyone = data.items.filter(pl.col("user_id").is_null()) if "user_id" in data.items.columns else data.items
    assert everyone.group_by("item_id").len()["len"].max() in (2, 3)
    assert everyone["category"].n_unique() == options.get("categories", 25)
    assert everyone["item_id"].n_unique() == options.get("items", 2000)


def test_judgments_look_like_peoples() -> None:
    data = sample(users=2000)
    judgments = data.judgments
    assert judgments.select("user_id", "item_id").is_duplicated().sum() == 0
    assert set(judgments["relevance"]) == {0.0, 1.0, 2.0, 3.0, 4.0, 5.0}
    assert 0.1 < (judgments["relevance"] == 0).mean() < 0.5  # type: ignore[operator]
    per_user = judgments.group_by("user_id").agg(pl.len(), pl.col("relevance").max())
    assert per_user.height == 2000
    assert 16 < per_user["len"].mean() < 24  # type: ignore[operator]
    assert 0 < (per_user["relevance"] == 0).sum() < 40  # a few like nothing
    popular = judgments.group_by("item_id").len()["len"].sort(descending=True)
    assert popular.head(200).sum() > 3 * popular.slice(1000, 200).sum()
    assert judgments.join(data.items, on="item_id", how="anti").height == 0
    sizes = data.items.group_by("item_id").len()["len"].value_counts().sort("len")
    assert sizes["len"].to_list() == [1, 2, 3]
    assert sizes["count"].to_list() == sorted(sizes["count"], reverse=True)


def scores(data: Sample, exact: bool) -> dict[str, np.ndarray[Any, np.dtype[np.float64]]]:
    """N2DCG_cat of judged candidates by system and user, computed plainly.

    The ideal counts an item in each of its categories: exact when items have one, else the same bound for all systems.
    """
    weights = cv.discounts.RowPage().weights(cv.RECGAZE)
    gains = data.judgments.with_columns(gain=2 ** pl.col("relevance") - 1)
    sizes = dict(data.items.group_by("category").len().rows())
    ideal = {}
    for (user,), table in gains.join(data.items, on="item_id").group_by("user_id"):
        of = {category: list(group["gain"]) for (category,), group in table.group_by("category")}
        categories = [(min(size, 15), of.get(name, [])) for name, size in sizes.items()]
        ideal[user] = oracles.assignment_category_ideal(categories, weights)
    out = {}
    for name, layouts in data.layouts.items():
        weight = weights[layouts["row"].to_numpy() - 1, layouts["col"].to_numpy() - 1]
        shown = (
            layouts.with_columns(weight=pl.Series(weight)).group_by("user_id", "item_id").agg(pl.col("weight").max())
        )
        value = shown.join(gains, on=["user_id", "item_id"]).group_by("user_id").agg(pl.col("gain").dot("weight"))
        reached = dict(value.rows())
        out[name] = np.array([reached.get(user, 0.0) / best for user, best in sorted(ideal.items()) if best > 0])
        assert not exact or (out[name] <= 1 + 1e-12).all()
    return out


@pytest.mark.parametrize("options", [{"categories_per_item": 1}, {}, {"mode": "binary", "seed": 5}])
def test_systems_stand_in_the_order_promised(options: dict[str, Any]) -> None:
    data = sample(users=300, **options)
    exact = "categories_per_item" in options
    mean = {name: float(score.mean()) for name, score in scores(data, exact).items()}
    assert data.order == ("oracle", "new", "prod", "popular", "random") == tuple(data.layouts)
    assert tuple(sorted(mean, key=mean.__getitem__, reverse=True)) == data.order
    assert not exact or 0.95 < mean["oracle"] < 1
    assert 0.005 < mean["new"] - mean["prod"] < 0.1
    assert mean["random"] < 0.2


def test_draws_depend_on_seed_and_user_alone() -> None:
    few, many = sample(users=100, **REALISM), sample(users=1100, systems=["prod", "new"], **REALISM)
    first = pl.col("user_id") < "u000100"
    assert many.order == ("new", "prod")
    assert_frame_equal(few.judgments, many.judgments.filter(first))
    assert_frame_equal(few.items, many.items.filter(first | pl.col("user_id").is_null()))
    for name in many.order:
        assert_frame_equal(few.layouts[name], many.layouts[name].filter(first))
    again, other = sample(users=100, **REALISM), sample(users=100, seed=1, **REALISM)
    assert_frame_equal(few.layouts["new"], again.layouts["new"])
    assert not few.judgments.equals(other.judgments)
    assert not few.layouts["new"].equals(other.layouts["new"])


def test_ids_are_text_or_numbers() -> None:
    text, numbers = sample(users=60, **REALISM), sample(users=60, ids="int", **REALISM)
    assert text.judgments["user_id"][0] == "u000000"
    assert sorted(text.items["item_id"])[-1] == "m01999"
    ids = pl.col("user_id", "item_id", "page_id").str.slice(1).cast(pl.Int64)
    assert_frame_equal(text.layouts["new"].with_columns(ids), numbers.layouts["new"])
    ids = pl.col("user_id", "item_id").str.slice(1).cast(pl.Int64)
    assert_frame_equal(text.judgments.with_columns(ids), numbers.judgments)
    assert_frame_equal(text.items.with_columns(ids), numbers.items)


def test_names_of_categories() -> None:
    names = set(sample(users=1, categories=40).items["category"])
    assert {"Comedy", "Nordic noir", "Genre 29", "Genre 40"} <= names
    assert len(names) == 40


def test_modes_share_their_pages() -> None:
    graded, binary = sample(users=100), sample(users=100, mode="binary")
    assert_frame_equal(graded.layouts["prod"], binary.layouts["prod"])
    assert (binary.judgments["relevance"] == (graded.judgments["relevance"] >= 3).cast(pl.Float64)).all()


def test_an_item_of_one_category_stands_once() -> None:
    once = sample(users=100, categories_per_item=1).layouts["new"]
    assert once.select("user_id", "item_id").is_duplicated().sum() == 0
    assert sample(users=100).layouts["new"].select("user_id", "item_id").is_duplicated().sum() > 0


def test_the_pinned_row() -> None:
    data = sample(users=100, pinned=True, pages=2)
    pages = all_pages(data)
    assert (pages["pinned"] == (pages["row"] == 1)).all()
    assert (pages["pinned"] == (pages["category"] == "Continue watching")).all()
    rows = pages.filter("pinned").group_by("user_id", "system", "page_id").agg(pl.col("item_id").sort_by("col"))
    assert rows.group_by("user_id").agg(pl.col("item_id").n_unique())["item_id"].max() == 1
    assert pages.filter("pinned").join(data.judgments, on=["user_id", "item_id"], how="anti").height == 0
    assert pages.group_by(PAGE).agg(pl.col("row").max())["row"].unique().to_list() == [10]


def test_rows_miss_their_last_items_when_ragged() -> None:
    whole, ragged = sample(users=100).layouts["new"], sample(users=100, ragged=True).layouts["new"]
    assert whole.height == 100 * 10 * 15
    assert ragged.join(whole, on=whole.columns, how="anti").height == 0
    lengths = ragged.group_by("user_id", "row").len()["len"]
    assert (lengths.min(), lengths.max(), len(lengths)) == (8, 15, 1000)


def test_some_pages_are_missing() -> None:
    data = sample(users=1000, missing=0.1, pages=3, systems=["new", "prod"])
    there = {name: set(layouts["user_id"]) for name, layouts in data.layouts.items()}
    assert all(860 < len(users) < 940 for users in there.values())
    assert there["new"] != there["prod"]
    assert data.judgments["user_id"].n_unique() == 1000
    assert set(data.layouts["new"]["page_id"]) == {"p1", "p2", "p3"}
    one, other = (data.layouts["new"].filter(page_id=page)["item_id"] for page in ("p1", "p2"))
    assert not one.equals(other)


def test_devices_have_grids_of_their_own() -> None:
    assert sample(users=1).grids == dict.fromkeys(("tv", "phone", "web"), cv.RECGAZE)
    assert sample(users=1, devices=True).grids == {"tv": cv.TV, "phone": cv.PHONE, "web": cv.RECGAZE}


@pytest.mark.parametrize("ids", ["str", "int"])
def test_files_hold_what_is_drawn(tmp_path: Path, ids: Literal["str", "int"]) -> None:
    data = sample(users=1100, systems=["new", "random"], ids=ids, pinned=True)
    readers: dict[SampleFormat, Any] = {"parquet": pl.read_parquet, "csv": pl.read_csv, "ndjson": pl.read_ndjson}
    for format, read in readers.items():
        files = write_sample(
            tmp_path / "deep" / format, 1100, systems=["new", "random"], format=format, ids=ids, pinned=True
        )
        assert (files.grids, files.order) == (data.grids, data.order)
        pairs = [(files.items, data.items), (files.judgments, data.judgments)]
        pairs += [(path, data.layouts[name]) for name, path in files.layouts.items()]
        for path, table in pairs:
            content = read(path) if format == "parquet" else read(path, schema=table.schema)
            assert_frame_equal(content, table)
        assert sorted((tmp_path / "deep" / format).iterdir()) == sorted(path for path, _ in pairs)


def test_files_appear_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = write_sample(tmp_path, 10, systems=["new"])
    before = old.judgments.read_bytes()

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(sample_tables.SampleTables, "_layouts", fail)
    with pytest.raises(cv.DataError, match=r"cannot be written: No space left on device\."):
        write_sample(tmp_path, 20, systems=["new"])
    assert old.judgments.read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 3
    with pytest.raises(cv.DataError, match="No space left"):
        write_sample(tmp_path / "a" / "b", 20)
    assert not (tmp_path / "a").exists()


def test_a_sample_in_a_line_and_in_a_notebook() -> None:
    data = sample(users=60, systems=["new"])
    assert repr(data).startswith("Sample(60 users, 2,000 items in 25 categories, ")
    assert "\n" not in repr(data)
    shown = data._repr_html_()
    assert shown.count("<tr>") == 4  # the header, items, judgments and one system
    assert "9,000" in shown


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"users": 0}, "users must be an integer of at least 1, found 0"),
        ({"items": 20}, "items must be an integer of at least 25, found 20"),
        ({"ids": "text"}, "ids must be 'str' or 'int', found 'text'"),
        ({"systems": ["nwe"]}, r"systems must be 'oracle', .*, found 'nwe'\. Did you mean 'new'\?"),
        ({"systems": []}, "systems must name at least one system"),
        ({"mode": "stars"}, "mode must be 'graded' or 'binary', found 'stars'"),
        ({"categories_per_item": 4}, "categories_per_item must be at most 3, found 4"),
        ({"missing": 2}, "missing must be a finite number of at least 0 and at most 1, found 2"),
        ({"kind": "hmoe"}, r"kind must be 'genres' or 'home', found 'hmoe'\. Did you mean 'home'\?"),
        ({"kind": "home", "pinned": True}, "pinned must be left out for home pages; they take users, seed, ids and"),
        ({"kind": "home", "ids": "text"}, "ids must be 'str' or 'int', found 'text'"),
        (
            {"kind": "home", "systems": ["oracle"]},
            "must be 'perfect', 'new', 'prod' or 'random', found 'oracle'",
        ),
    ],
)
def test_options_out_of_range(options: dict[str, Any], message: str) -> None:
    with pytest.raises(cv.ParameterError, match=message):
        sample(**options)


def test_an_unknown_format(tmp_path: Path) -> None:
    with pytest.raises(
        cv.ParameterError, match=r"format must be 'parquet', 'csv' or 'ndjson', found 'cvs'\. Did you mean"
    ):
        write_sample(tmp_path, format="cvs")  # type: ignore[arg-type]


def test_one_set_of_defaults() -> None:
    of_tables = inspect.signature(sample_tables.SampleTables).parameters
    of_sample = inspect.signature(sample).parameters
    assert list(of_tables) == [name for name in of_sample if name != "kind"]
    assert all(of_tables[name].default == of_sample[name].default for name in list(of_tables)[1:])
