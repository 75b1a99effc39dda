"""Families of tests: correction within and across metrics and segments, simultaneous intervals, the margin."""

import math
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

import carouseval as cv
from carouseval.comparison.power_analysis import noncentrality
from carouseval.comparison.significance import adjusted_p_values
from carouseval.metrics.grid import Array

METRIC = cv.metric("2DCG", discount=cv.discounts.Empirical([[1.0]], name="one"), gain="linear")
SQUARE = cv.metric("2DCG(d_t)", gain=lambda relevance: relevance**2)
GRID = cv.Grid(1, 1)


def compare(scores: dict[str, Array], by: Any = None, **options: Any) -> cv.Comparison:
    """Systems with these scores of users, on pages of one cell; ``by`` is the segment of each user."""
    layouts, judged = {}, []
    for name, values in scores.items():
        users = [f"u{at:05}" for at in range(len(values))]
        frame = pl.DataFrame({"user_id": users, "row": 1, "col": 1, "item_id": f"item of {name}"})
        layouts[name] = frame if by is None else frame.with_columns(segment=pl.Series(by))
        judged.append(frame.select("user_id", "item_id", relevance=pl.Series(values)))
    judged.append(judged[0].with_columns(item_id=pl.lit("elsewhere"), relevance=pl.lit(1.0)))
    chosen: dict[str, Any] = {"metrics": METRIC, "grid": GRID, "test": "t"} | options
    if by is not None:
        chosen["by"] = "segment"
    return cv.compare(layouts, pl.concat(judged), **chosen)


def three_systems(users: int = 40, seed: int = 0, **options: Any) -> cv.Comparison:
    rng = np.random.default_rng(seed)
    taste = rng.random(users) + 1
    gains = {"a": 0.0, "b": 0.1, "c": 0.2}
    return compare({name: taste + rng.normal(gain, 0.3, users) for name, gain in gains.items()}, **options)


def test_not_inferior_reads_the_lower_end() -> None:
    """A system that may be much better, and at most a little worse, is not inferior; the reverse is."""
    rng = np.random.default_rng(3)
    old = rng.random(50) + 1
    new = old + rng.normal(0.1, 0.3, 50)
    margin = 0.05
    better = compare({"old": old, "new": new}, baseline="old", margin=margin)
    pair = better.pairs.row(0, named=True)
    assert -margin < pair["low"] < pair["high"]
    assert pair["high"] > margin
    assert pair["not_inferior"]
    assert better.worse("new", "old") is None
    worse = compare({"old": new, "new": old}, baseline="old", margin=margin)
    pair = worse.pairs.row(0, named=True)
    assert pair["low"] < -margin < pair["high"] < margin
    assert not pair["not_inferior"]
    assert "begins at" in str(worse.worse("new", "old"))
    assert "new is shown to be at most 0.05 worse than old." in better.summary
    assert "new is not shown to be at most 0.05 worse than old." in worse.summary


def test_the_margin_names_all_systems() -> None:
    result = three_systems(margin=10.0, baseline="a")
    assert result.summary.endswith("b and c are shown to be at most 10 worse than a.")


def test_segments_are_corrected_together() -> None:
    """Over the pairs of all segments, not within each."""
    rng = np.random.default_rng(1)
    segment = np.repeat(["x", "y", "z"], 30)
    old = rng.random(90) + 1
    result = compare({"old": old, "new": old + rng.normal(0.12, 0.3, 90)}, by=segment)
    p = result.segments["p"].to_list()
    assert len(p) == 3
    assert result.segments["p_adjusted"].to_list() == pytest.approx(adjusted_p_values(p).tolist())
    assert result.segments["p_adjusted"].to_list() != pytest.approx(p)
    for row in result.segments.iter_rows(named=True):
        assert row["detectable"] == pytest.approx(noncentrality(29, 0.05 / 3, 0.8) * row["error"])
        values = (result.per_user.filter(pl.col("system") == "new")[str(METRIC)] - pl.Series(old)).to_numpy()
        assert row["error"] == pytest.approx(stats.sem(values[segment == row["segment"]]))


def test_each_metric_is_a_family_unless_corrected_across() -> None:
    metrics = [METRIC, SQUARE]
    alone, across = three_systems(metrics=metrics), three_systems(metrics=metrics, across_metrics=True)
    assert alone.pairs["p"].to_list() == across.pairs["p"].to_list()
    for metric in metrics:
        lines = alone.pairs.filter(pl.col("metric") == str(metric))
        assert lines["p_adjusted"].to_list() == pytest.approx(adjusted_p_values(lines["p"].to_list()).tolist())
    together = adjusted_p_values(across.pairs["p"].to_list()).tolist()
    assert across.pairs["p_adjusted"].to_list() == pytest.approx(together)
    assert (across.pairs["detectable"] > alone.pairs["detectable"]).all()
    assert across.config["across_metrics"]
    assert "Holm correction across metrics" in across.to_markdown()


def test_detectable_follows_ci_and_correction() -> None:
    for options, alpha in (
        ({}, 0.05 / 3),
        ({"correction": "bh"}, 0.05 / 3),
        ({"correction": "none"}, 0.05),
        ({"ci": 0.9, "correction": "none"}, 0.1),
        ({"baseline": "a"}, 0.05 / 2),
    ):
        for row in three_systems(**options).pairs.iter_rows(named=True):
            assert row["detectable"] == pytest.approx(noncentrality(39, alpha, 0.8) * row["error"])


def test_nothing_is_detectable_with_few_signs_to_flip() -> None:
    """Five users have 16 patterns of signs up to the side: the smallest p-value is 0.0625."""
    rng = np.random.default_rng(0)
    for users, detectable in ((5, False), (6, True)):
        old = rng.random(users) + 1
        result = compare({"old": old, "new": old + 0.01 * rng.random(users)}, test="permutation")
        assert math.isnan(result.pairs["detectable"][0]) == (not detectable)
        assert result.pairs["significant"][0] == detectable
    few = compare({"old": np.array([1.0, 2.0, 3.0]), "new": np.array([1.1, 2.3, 3.1])}, test="permutation")
    said = "With 3 users and 10,000 permutations no difference between new and old can be significant."
    assert said in few.summary
    assert "Intervals of fewer than 10 users rely on differences that are nearly normally distributed." in few.summary
    assert few.pairs["few_users"].to_list() == [True]
    assert few.systems["few_users"].to_list() == [True, True]
    rare = compare({"old": rng.random(50), "new": rng.random(50)}, test="permutation", permutations=9)
    assert math.isnan(rare.pairs["detectable"][0])  # p is at least 1 / 10


def test_few_users_are_labelled_in_segments() -> None:
    rng = np.random.default_rng(0)
    segment = np.array(["few"] * 9 + ["many"] * 10)
    result = compare({"old": rng.random(19), "new": rng.random(19)}, by=segment)
    assert dict(result.segments.select("segment", "few_users").rows()) == {"few": True, "many": False}
    assert "* Intervals of fewer than 10 users rely" in result.to_markdown()


def test_simultaneous_intervals_are_wider() -> None:
    one, all_of_them = three_systems(), three_systems(simultaneous=True)
    for narrow, wide in zip(one.pairs.iter_rows(named=True), all_of_them.pairs.iter_rows(named=True), strict=True):
        level = 1 - 0.05 / 3
        student = stats.t.interval(level, narrow["df"], narrow["difference"], narrow["error"])
        assert wide["low"] <= student[0] + 1e-12 < narrow["low"]
        assert wide["high"] >= student[1] - 1e-12 > narrow["high"]
        assert wide["lift_low"] < narrow["lift_low"] < narrow["lift_high"] < wide["lift_high"]
        assert wide["p_adjusted"] == narrow["p_adjusted"]
    assert "simultaneous 95% confidence interval" in all_of_them.summary
    assert "not adjusted" not in all_of_them.summary
    assert "not adjusted" in one.summary


@pytest.mark.deep
def test_simultaneous_intervals_hold_together() -> None:
    """400 worlds, one segment each with its own comparison of three systems: all three intervals hold in 95%."""
    rng = np.random.default_rng(0)
    hits = 0
    for _ in range(400):
        taste = rng.random(30) + 1
        systems = {name: taste + rng.exponential(0.3, 30) for name in "abc"}
        pairs = compare(systems, simultaneous=True).pairs
        hits += bool(((pairs["low"] <= 0) & (pairs["high"] >= 0)).all())
    assert 0.93 <= hits / 400 <= 0.995


@pytest.mark.deep
def test_the_one_sided_error_of_not_inferior() -> None:
    """A system worse by exactly the margin is called not inferior in about 2.5% of 1,000 worlds (error 0.5%)."""
    rng = np.random.default_rng(2)
    worlds, users = 1_000, 20
    old = rng.random((worlds, users)) + 2
    new = old + rng.normal(-0.1, 0.3, (worlds, users))
    segment = np.repeat(np.arange(worlds), users)
    result = compare(
        {"old": old.ravel(), "new": new.ravel()}, by=segment, margin=0.1, correction="none", baseline="old"
    )
    called = result.segments["not_inferior"].sum()
    assert 0.01 * worlds <= called <= 0.04 * worlds


def test_one_pair_is_not_corrected_in_words() -> None:
    rng = np.random.default_rng(0)
    old = rng.random(30)
    two = compare({"old": old, "new": old + rng.normal(0.3, 0.1, 30)})
    assert "Holm" not in two.summary
    assert "after Holm correction" in three_systems().summary


def test_too_few_permutations_for_so_many_tests() -> None:
    """After Holm's correction no p-value could be significant: that is said, with what to do."""
    rng = np.random.default_rng(0)
    segment = np.arange(200) // 8
    old = rng.random(200)
    with pytest.warns(cv.DataWarning, match=r"permutations=400 is too few for 25 tests: .* is 0.062. Set .* to 5000"):
        result = compare({"old": old, "new": old + 0.5}, by=segment, test="permutation", permutations=400)
    assert not result.segments["significant"].any()
    assert result.segments["detectable"].is_nan().all()
    result = compare({"old": old, "new": old + 0.5}, by=segment, test="permutation", permutations=5_000)
    assert (result.segments["p"] < 0.05).all()
