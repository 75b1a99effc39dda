"""Comparisons on Spark against one machine: differences and permutation p-values to the bit, the rest to rounding."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import carouseval as cv
from carouseval.engines import kept_pages
from carouseval.errors import DataError, ParameterError
from tests.comparison.own_tests import registered
from tests.engines.spark.notices import ToSpark, with_notices


def assert_same(
    to_spark: ToSpark,
    systems: Any,
    judgments: Any,
    items: Any = None,
    collect: bool = False,
    lines_at_once: int = 2_000,
    **options: Any,
) -> cv.Comparison:
    expected: cv.Comparison
    expected, said = with_notices(lambda: cv.compare(systems, judgments, items, **options))
    on_spark = {
        name: [to_spark(run) for run in runs] if isinstance(runs, list) else to_spark(runs)
        for name, runs in systems.items()
    }
    members = None if items is None else to_spark(items)
    found, said_there = with_notices(
        lambda: cv.spark.compare(
            on_spark, to_spark(judgments), members, collect=collect, lines_at_once=lines_at_once, **options
        )
    )
    for ours, theirs in ((found.pairs, expected.pairs), (found.segments, expected.segments)):
        assert_frame_equal(ours, theirs, check_exact=True)
    assert_frame_equal(found.systems, expected.systems, check_exact=True)
    assert (found.summary, found.notice, said_there) == (expected.summary, expected.notice, said)
    assert found.config == expected.config
    assert found.counts == expected.counts
    found.unpersist()
    return expected


def sample(
    users: int = 60, seed: int = 1, **options: Any
) -> tuple[dict[str, pl.DataFrame], pl.DataFrame, pl.DataFrame]:
    data = cv.sample(users, systems=["new", "prod", "popular"], seed=seed, **options)
    return (
        {name: pl.DataFrame(one) for name, one in data.layouts.items()},
        pl.DataFrame(data.judgments),
        pl.DataFrame(data.items),
    )


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({}, marks=pytest.mark.deep),  # each of the others has one of its defaults
        {"baseline": "prod", "margin": 0.01},
        {"test": "t", "correction": "bh"},
    ],
)
def test_three_systems(to_spark: ToSpark, options: dict[str, Any]) -> None:
    systems, judgments, items = sample(missing=0.1)
    assert_same(to_spark, systems, judgments, items, permutations=999, **options)


def test_segments_metrics_and_categories_of_layouts(to_spark: ToSpark) -> None:
    systems, judgments, _ = sample(devices=False)
    metrics = ["N2DCG_cat", "Hit@3x5", "Coverage@3x5"]
    assert_same(to_spark, systems, judgments, metrics=metrics, by="device", permutations=499, across_metrics=True)


def test_weights_and_the_bootstrap(to_spark: ToSpark) -> None:
    systems, judgments, items = sample(seed=2)
    users = judgments.select(pl.col("user_id").unique().sort())
    weighted = judgments.join(users.with_columns(importance=pl.Series(np.arange(users.height) % 4 / 2)), on="user_id")
    systems = {name: one.filter(pl.col("user_id").is_in(users["user_id"].implode())) for name, one in systems.items()}
    assert_same(to_spark, systems, weighted, items, weight="importance", permutations=999)
    assert_same(to_spark, systems, judgments, items, test="bootstrap", permutations=499)


def test_weights_of_nobody(to_spark: ToSpark) -> None:
    systems, judgments, items = sample(users=20, seed=2)
    systems = {name: systems[name] for name in ("prod", "new")}
    users = judgments["user_id"].unique()
    systems = {name: one.filter(pl.col("user_id").is_in(users.implode())) for name, one in systems.items()}
    nobody = judgments.with_columns(importance=0.0)
    assert_same(to_spark, systems, nobody, items, weight="importance", permutations=99)


def test_several_runs(to_spark: ToSpark) -> None:
    systems, judgments, items = sample(seed=3)
    shuffled = [
        systems["new"].with_columns(pl.col("item_id").shuffle(seed).over("user_id", "row")) for seed in range(3)
    ]
    runs: dict[str, Any] = {"new": shuffled, "prod": systems["prod"]}
    assert_same(to_spark, runs, judgments, items)
    assert_same(to_spark, runs, judgments, items, runs="fixed", permutations=499)


def test_tests_that_need_all_users_must_be_asked_for(to_spark: ToSpark) -> None:
    systems, judgments, items = sample(seed=4)
    on_spark = {name: to_spark(one) for name, one in systems.items()}
    with pytest.raises(
        ParameterError, match="test='wilcoxon' needs the differences of all users at once; use collect=True"
    ):
        cv.spark.compare(on_spark, to_spark(judgments), items, test="wilcoxon")
    assert_same(to_spark, systems, judgments, items, test="wilcoxon", collect=True)
    assert_same(to_spark, systems, judgments, items, test=lambda differences: 0.25, collect=True)


def test_a_test_of_ones_own_is_the_same_or_refused_by_name(to_spark: ToSpark) -> None:
    """Never another test under its name: its sums add up here as there, or it needs all users."""
    systems, judgments, items = sample(seed=4)
    with registered():
        same: Any = {"test": "signs", "by": "device", "permutations": 99}
        assert set(assert_same(to_spark, systems, judgments, items, **same).pairs["test"]) == {"signs"}
        on_spark = {name: to_spark(one) for name, one in systems.items()}
        needs_all: Any = {"test": "largest"}
        refusal = (
            "test='largest' needs the differences of all users at once; use collect=True, which brings the scores of "
            "all pages to the driver, or a test whose parts add up: 'permutation', 't', 'bootstrap' or 'signs'."
        )
        with pytest.raises(ParameterError, match=f"^{refusal}$"):
            cv.spark.compare(on_spark, to_spark(judgments), items, **needs_all)
        assert_same(to_spark, systems, judgments, items, collect=True, **needs_all)


def test_a_test_whose_parts_add_up_without_weights_only(to_spark: ToSpark) -> None:
    systems, judgments, items = sample(users=15, seed=4)
    weighted = judgments.with_columns(importance=pl.col("relevance").cum_count() % 7 + 1.0)
    on_spark = {name: to_spark(one) for name, one in systems.items()}
    options: Any = {"test": "bootstrap", "weight": "importance", "permutations": 99}
    refusal = "test='bootstrap' needs .*, or a test whose parts add up with weight: 'permutation' or 't'"
    with pytest.raises(ParameterError, match=refusal):
        cv.spark.compare(on_spark, to_spark(weighted), items, **options)


def test_errors_name_the_system(to_spark: ToSpark) -> None:
    systems, judgments, items = sample(users=8)
    bad = systems | {"prod": systems["prod"].with_columns(pl.col("col") + 5)}
    with pytest.raises(DataError, match=r"prod: layouts: .* cells lie outside the grid"):
        cv.spark.compare({name: to_spark(one) for name, one in bad.items()}, to_spark(judgments), items)
    with pytest.raises(DataError, match="prod: layouts: missing column"):
        cv.spark.compare(
            {"new": to_spark(systems["new"]), "prod": to_spark(bad["prod"].drop("col"))}, to_spark(judgments)
        )
    with pytest.raises(ParameterError, match="baseline: there is no system 'old'"):
        cv.spark.compare(
            {"new": to_spark(systems["new"]), "prod": to_spark(systems["prod"])}, to_spark(judgments), baseline="old"
        )


def test_judgments_logged_on_one_system_are_noticed(to_spark: ToSpark) -> None:
    systems, _, items = sample(users=40)
    logged = systems["prod"].filter(pl.col("col") <= 2).select("user_id", "item_id").unique().sort(pl.all())
    expected = assert_same(to_spark, systems, logged, items, permutations=99)
    assert "probably logged" in expected.notice


@pytest.mark.deep
def test_errors_of_all_parts_add_up(to_spark: ToSpark) -> None:
    systems, judgments, items = sample(users=12)
    bad = systems | {"prod": systems["prod"].with_columns(pl.col("col") + 5)}
    with pytest.raises(DataError) as expected:
        cv.compare(bad, judgments, items)
    with pytest.raises(DataError) as found:
        cv.spark.compare({name: to_spark(one) for name, one in bad.items()}, to_spark(judgments), lines_at_once=100)
    assert str(found.value).partition(", first")[0] == str(expected.value).partition(", first")[0]
    with pytest.raises(DataError, match="new: judgments: the table has no lines"):
        cv.spark.compare({name: to_spark(one) for name, one in systems.items()}, to_spark(judgments.head(0)), items)


@pytest.mark.deep
def test_systems_without_pages_of_some_users(to_spark: ToSpark) -> None:
    systems, judgments, items = sample(users=12, ids="int", pages=3)
    first = judgments["user_id"].unique().sort()[0]
    fewer = systems | {"prod": systems["prod"].filter(pl.col("user_id") == first)}
    weighted = judgments.with_columns(importance=pl.lit(0.1))
    shown = {name: one.filter(pl.col("user_id").is_in(judgments["user_id"].implode())) for name, one in fewer.items()}
    assert_same(to_spark, shown, weighted, items, permutations=99, weight="importance", lines_at_once=1)
    assert_same(to_spark, shown, weighted, permutations=99, capacity="shown", lines_at_once=1)


def test_charts_and_reports_of_users_bring_them_here(
    to_spark: ToSpark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If they are few; of more than a million the line to write is said."""
    systems, judgments, items = sample(users=15)
    expected = cv.compare(systems, judgments, items, permutations=99)
    on_spark = {name: to_spark(one) for name, one in systems.items()}
    found = cv.spark.compare(on_spark, to_spark(judgments), items, permutations=99)
    evaluation = found.evaluations["new"][0]
    draws: list[Callable[[], Any]] = [
        lambda: found.report(tmp_path / "report.html"),
        lambda: found.chart("users"),
        lambda: evaluation.report(tmp_path / "report.html"),
        evaluation.chart,
    ]
    for draw in draws:
        draw()
    monkeypatch.setattr(kept_pages, "MOST_PAGES", 14)
    for draw in draws:
        with pytest.raises(
            ParameterError, match=r"stay in Spark: 15 pages\. If they fit this machine, use collect\(\)"
        ):
            draw()
    found.chart()
    evaluation.chart("means")
    here = found.collect()
    assert_frame_equal(here.per_user, expected.per_user, check_exact=True)
    assert here.to_dict() == found.to_dict()
    here.chart("users")
    here.report(tmp_path / "report.html")
    users = pl.DataFrame(found.per_user.toArrow()).sort("user_id", "system")
    assert_frame_equal(users, expected.per_user.sort("user_id", "system"), check_exact=True)
