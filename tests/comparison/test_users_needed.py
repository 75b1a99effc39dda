"""How many users it takes: against simulation, tables of power, and the comparison that is planned."""

import math
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

import carouseval as cv
from carouseval.comparison.power_analysis import noncentrality


@pytest.mark.parametrize(
    ("effect", "users"),
    [(0.2, 199), (0.4, 52), (0.5, 34), (0.8, 15), (1.0, 10), (2.0, 5), (0.01, 78_491)],
)
def test_published_sizes(effect: float, users: int) -> None:
    """The paired t-test at 5%, 80% power, as in Cohen's tables and G*Power; large ones by the normal formula."""
    assert cv.users_needed(effect) == users


@pytest.mark.parametrize(("effect", "power", "ci", "comparisons"), [(0.9, 0.8, 0.95, 1), (0.6, 0.9, 0.9, 3)])
def test_the_number_is_the_smallest(effect: float, power: float, ci: float, comparisons: int) -> None:
    users = cv.users_needed(effect, power=power, ci=ci, comparisons=comparisons)
    alpha = (1 - ci) / comparisons

    def found(count: int) -> float:
        critical = stats.t.ppf(1 - alpha / 2, count - 1)
        return float(stats.nct.sf(critical, count - 1, effect * math.sqrt(count)))

    assert found(users) >= power - 1e-6 > found(users - 1) - 2e-6
    worlds = np.random.default_rng(0).normal(effect, 1, (20_000, users))
    rejected = (stats.ttest_1samp(worlds, 0, axis=1).pvalue < alpha).mean()
    assert power - 0.015 <= rejected <= found(users) + 0.015


def test_units() -> None:
    assert cv.users_needed(0.005, 0.1) == cv.users_needed(0.05) == 3_142
    assert cv.users_needed(0.005, 0.0) == 2
    assert cv.users_needed(0.2, comparisons=10) > cv.users_needed(0.2, comparisons=2) > 199


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"effect": 0}, r"effect must be a finite number above 0, found 0"),
        ({"effect": 0.1, "deviation": -1}, r"deviation must be a finite number of at least 0, found -1"),
        ({"effect": 0.1, "power": 1}, r"power must be a finite number above 0 and below 1, found 1"),
        ({"effect": 0.1, "ci": 95}, r"ci must be a finite number above 0 and below 1, found 95"),
        ({"effect": 0.1, "comparisons": 0}, r"comparisons must be an integer of at least 1, found 0"),
        ({"effect": 1e-9}, r"a difference of 1e-09 takes more than 1,000,000,000,000 users"),
    ],
)
def test_refusals(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(cv.ParameterError, match=message):
        cv.users_needed(**arguments)


def test_noncentrality_by_scipy() -> None:
    for df in (1, 2.5, 9, 99, 1e6):
        for alpha in (0.05, 0.001):
            found = noncentrality(df, alpha, 0.8)
            assert stats.nct.sf(stats.t.ppf(1 - alpha / 2, df), df, found) == pytest.approx(0.8, abs=1e-4)


@pytest.fixture(scope="module")
def data() -> cv.Sample:
    return cv.sample(300, systems=["prod", "new", "random"], seed=5)


def compare(data: cv.Sample, **options: Any) -> cv.Comparison:
    return cv.compare(data.layouts, data.judgments, data.items, permutations=999, **options)


def test_a_plan_follows_the_pairs(data: cv.Sample) -> None:
    result = compare(data, metrics=["N2DCG_cat", "NDCG@10"])
    plan = result.plan(0.01)
    assert plan.table.height == result.pairs.height == 6
    for row, pair in zip(plan.table.iter_rows(named=True), result.pairs.iter_rows(named=True), strict=True):
        deviation = pair["difference"] / pair["effect"]
        assert row["deviation"] == pytest.approx(deviation)
        assert row["users_needed"] == cv.users_needed(0.01, deviation, comparisons=3)
        assert (
            row["detectable"]
            == pair["detectable"]
            == pytest.approx(noncentrality(pair["df"], 0.05 / 3, 0.8) * pair["error"])
        )
    alone = compare(data, correction="none").plan(0.01, power=0.9)
    first = plan.table.row(0, named=True)
    assert alone.table["users_needed"][0] == cv.users_needed(0.01, first["deviation"], power=0.9)
    across = compare(data, metrics=["N2DCG_cat", "NDCG@10"], across_metrics=True).plan(0.01)
    assert across.table["users_needed"][0] == cv.users_needed(0.01, first["deviation"], comparisons=6)


def test_a_planned_comparison_finds_the_difference(data: cv.Sample) -> None:
    """With as many users as the plan asks for, what is detectable is the difference planned for."""
    result = compare(data, baseline="prod")
    detectable = result.pairs["detectable"][0]
    planned = result.plan(detectable).table["users_needed"][0]
    assert planned == result.pairs["users"][0]


def test_plans_read(data: cv.Sample) -> None:
    result = cv.compare({name: data.layouts[name] for name in ("prod", "new")}, data.judgments, data.items)
    plan = result.plan(0.02)
    users = plan.table["users_needed"][0]
    assert plan.heading == (
        f"Finding a difference of 0.02 in N2DCG_cat between new and prod with 80% power takes about {users:,} users "
        f"({result.pairs['users'][0]} were compared)."
    )
    assert repr(plan).startswith(f"new - prod, N2DCG_cat: {users:,} users for a difference of 0.02")
    assert plan.to_dict()["pairs"][0]["users_needed"] == users
    assert "users_needed" in plan.to_markdown().replace("\\", "")
    with pytest.raises(cv.ParameterError, match="effect must be a finite number above 0, found 0"):
        result.plan(0)


def test_runs_may_be_what_is_missing(data: cv.Sample) -> None:
    """If runs vary, no number of users finds a difference far below what runs differ by."""
    other = cv.sample(300, systems=["random"], seed=5).layouts["random"]
    shuffled = other.with_columns(pl.col("item_id").reverse().over("user_id"))
    layouts: dict[str, Any] = {"prod": data.layouts["prod"], "new": [data.layouts["new"], other, shuffled]}
    result = cv.compare(layouts, data.judgments, data.items, missing_pages="zero", invalid="count")
    plan = result.plan(0.001)
    assert plan.table["users_needed"].to_list() == [None]
    assert plan.table["run_error"][0] > 0.05
    assert "More users alone are not enough" in plan.heading
    assert "no number of users" in repr(plan)
