"""Home pages: they have the rows of real ones, and the perfect pages are ideal."""

import itertools
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import carouseval as cv
from carouseval.building.sample import Sample, sample, write_sample
from tests.building.test_sample import all_pages, assert_items_are_in_their_categories, row_table

BECAUSE = pl.col("category").str.starts_with("Because you watched ")


@cache
def home(seed: int = 0) -> Sample:
    return sample(users=400, kind="home", seed=seed)


def settings(data: Sample) -> dict[str, Any]:
    return {"carousels": data.carousels, "grid": data.grids, "by": "device"}


def carousels(data: Sample) -> pl.DataFrame:
    assert data.carousels is not None
    return data.carousels


@pytest.mark.parametrize("seed", [0, 1])
def test_pages_are_valid(seed: int) -> None:
    data = home(seed)
    rows = row_table(data)
    assert_items_are_in_their_categories(data)
    for device, grid in data.grids.items():
        there = rows.filter(device=device)
        assert (there["row"].max(), there["last"].max()) == grid.shape
    limits = carousels(data).select("category", "capacity").drop_nulls().unique()
    longest = rows.group_by("category").agg(pl.col("last").max()).join(limits, on="category")
    assert longest.filter(pl.col("last") > pl.col("capacity")).is_empty()
    own = carousels(data).filter(BECAUSE)
    assert own["user_id"].null_count() == 0
    assert rows.filter(BECAUSE).join(own, on=["category", "user_id"], how="anti").is_empty()


def test_the_rows_of_a_home_page() -> None:
    data = home()
    pages, rows = all_pages(data), row_table(data)
    assert (pages["pinned"] == (pages["row"] == 1)).all()
    assert (pages["pinned"] == (pages["category"] == "Featured")).all()
    lengths = {name: set(part["len"]) for (name,), part in rows.group_by("category")}
    assert lengths["Featured"] == {1}
    assert lengths["Top 10"] == {10}
    assert lengths["Continue watching"] >= {2, 3, 4, 5}
    assert len(lengths["Drama"]) > 4
    assert carousels(data).filter("personal")["category"].to_list() == ["Continue watching"]
    height = rows.filter(system="prod").group_by("user_id").agg(pl.col("row").max())["row"]
    assert (height.min(), height.quantile(0.1), height.max()) == (3, 4, 8)
    users = carousels(sample(30, kind="home")).filter(BECAUSE).group_by("category").len()["len"]
    assert (users == 1).mean() > 0.5  # type: ignore[operator]
    assert users.max() > 1  # type: ignore[operator]
    titles = data.items.group_by("item_id").agg(pl.col("title").n_unique())
    assert (titles.height, titles["title"].max(), data.items["title"].n_unique()) == (240, 1, 240)


def test_what_makes_real_pages_hard() -> None:
    data = home()
    judged = all_pages(data).join(data.judgments, on=["user_id", "item_id"], how="left")
    assert judged["relevance"].null_count() > 0.4 * judged.height
    relevant = judged.filter(system="random").group_by("category").agg((pl.col("relevance") > 0).sum() / pl.len())
    share = dict(relevant.rows())
    assert share["Continue watching"] > 0.6 > 3 * share["Drama"]
    for name, layouts in data.layouts.items():
        assert layouts.select("user_id", "item_id").is_duplicated().sum() > 0.05 * layouts.height
        without = 400 - layouts["user_id"].n_unique()
        assert without == 0 if name == "perfect" else 10 < without < 40


@pytest.mark.parametrize("seed", [0, 1])
def test_perfect_pages_score_1_and_none_above(seed: int) -> None:
    data, means = home(seed), {}
    for name, layouts in data.layouts.items():
        result = cv.evaluate(layouts, data.judgments, data.items, **settings(data))
        scores = result.per_page["N2DCG_cat"].drop_nulls().to_numpy()
        assert scores.max() <= 1 + 1e-12
        assert result.counts["bounded"] == 0
        means[name] = result.mean["N2DCG_cat"]
        if name == "perfect":
            assert np.abs(scores - 1).max() <= 1e-12
            assert len(scores) > 390
    assert data.order == ("perfect", "new", "prod", "random") == tuple(sorted(means, key=lambda name: -means[name]))
    assert means["perfect"] == pytest.approx(1, abs=1e-12)
    assert means["random"] < 0.25


def test_without_items_perfect_pages_score_1_beside_any_systems() -> None:
    """What rows hold is then taken from the pages, a user's own rows from that user's."""
    data = home()
    for size in range(3):
        for others in itertools.combinations(data.order[1:], size):
            layouts = {name: data.layouts[name] for name in ("perfect", *others)}
            items = cv.items_from_layouts(*layouts.values(), carousels=data.carousels)
            result = cv.evaluate(layouts["perfect"], data.judgments, items, **settings(data))
            assert result.mean["N2DCG_cat"] == pytest.approx(1, abs=1e-12)


def test_carousels_matter() -> None:
    """Without them ideals hold a Top 10 of twelve, and rows of other users."""
    data = home()
    result = cv.evaluate(data.layouts["perfect"], data.judgments, data.items, grid=data.grids, by="device")
    assert result.mean["N2DCG_cat"] < 0.999


def test_draws_depend_on_seed_and_user_alone() -> None:
    few, many = sample(100, kind="home"), sample(1100, kind="home", systems=["prod", "perfect"])
    first = pl.col("user_id") < "u0100"
    assert many.order == ("perfect", "prod")
    assert_frame_equal(few.judgments, many.judgments.filter(first))
    for name in many.order:
        assert_frame_equal(few.layouts[name], many.layouts[name].filter(first))
    assert_frame_equal(carousels(few), carousels(many).filter(first | pl.col("user_id").is_null()))
    lines = many.items.filter(first | pl.col("user_id").is_null())
    assert few.items.join(lines, on=few.items.columns, nulls_equal=True, how="anti").is_empty()
    assert not few.layouts["new"].equals(sample(100, kind="home", seed=1).layouts["new"])


def test_ids_are_text_or_numbers() -> None:
    text, numbers = sample(60, kind="home"), sample(60, kind="home", ids="int")
    ids = pl.col("user_id", "item_id").str.slice(1).cast(pl.Int64)
    assert_frame_equal(text.layouts["perfect"].with_columns(ids), numbers.layouts["perfect"])
    assert_frame_equal(text.judgments.with_columns(ids), numbers.judgments)
    assert_frame_equal(text.items.with_columns(ids), numbers.items)
    user_id = pl.col("user_id").str.slice(1).cast(pl.Int64)
    assert_frame_equal(carousels(text).with_columns(user_id), carousels(numbers))


def test_files_hold_what_is_drawn(tmp_path: Path) -> None:
    data, files = sample(1100, kind="home"), write_sample(tmp_path, 1100, kind="home")
    assert (files.grids, files.order) == (data.grids, data.order)
    assert files.carousels is not None
    pairs = [(files.items, data.items), (files.judgments, data.judgments), (files.carousels, carousels(data))]
    pairs += [(path, data.layouts[name]) for name, path in files.layouts.items()]
    for path, table in pairs:
        assert_frame_equal(pl.read_parquet(path), table)
    assert sorted(tmp_path.iterdir()) == sorted(path for path, _ in pairs)
    assert "carousels" in data._repr_html_()
