"""Sums of a pair's scores in parts: the same bits, however users are split, and the statistics of an oracle."""

import math
from dataclasses import asdict, replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from carouseval.comparison.pair_sums import PairScores, PairSums
from carouseval.comparison.tests.t import StudentT
from carouseval.metrics.grid import Array
from tests.comparison.pair_oracle import PairOracle

EXACT = ("difference", "wins", "ties", "losses", "users", "few_users")
LIKE_SCORES = ("low", "high", "error", "run_error")
RUNS: dict[str, tuple[int, int, dict[str, Any]]] = {  # of the baseline and the system, and how they vary
    "one each": (1, 1, {}),
    "several": (3, 2, {}),
    "one against several": (1, 3, {}),
    "several against one": (4, 1, {}),
    "paired": (3, 3, {"paired": True}),
    "one pair": (1, 1, {"paired": True}),
    "fixed": (3, 2, {"runs_vary": False}),
    "fixed pairs": (3, 3, {"runs_vary": False, "paired": True}),
}


def random_scores(rng: np.random.Generator, users: int, runs: str, kind: str = "skewed") -> PairScores:
    before, after, options = RUNS[runs]
    baseline = rng.exponential(1, (users, before)) + rng.normal(1, 0.1, before)
    system = baseline[:, :1] + rng.exponential(0.5, (users, after)) + rng.normal(-0.4, 0.1, after)
    if kind == "equal runs":
        baseline, system = np.repeat(baseline[:, :1], before, axis=1), np.repeat(system[:, :1], after, axis=1)
    if kind == "equal differences":
        system = baseline.mean(axis=1, keepdims=True) + np.full(after, 0.1)
    if kind == "zeros":
        baseline, system = 0 * baseline, 0 * system
    far = 1e4 if kind == "far from 0" else 0.0
    return PairScores(baseline + far, system + far, **options)


def some_users(scores: PairScores, at: NDArray[np.int64]) -> PairScores:
    weights = None if scores.weights is None else scores.weights[at]
    return replace(scores, baseline=scores.baseline[at], system=scores.system[at], weights=weights)


def sums_in_parts(scores: PairScores, rng: np.random.Generator) -> PairSums:
    """Sums of users in any order, in parts of any size: the first is empty, the second has one user."""
    users = rng.permutation(len(scores.baseline))
    parts = np.split(users, [0, 1, *sorted(rng.integers(1, len(users) + 1, 5).tolist())])
    return reduce(add, (PairSums.of(some_users(scores, at)) for at in parts))


def assert_same(sums: PairSums, scores: PairScores, rel: float = 1e-9) -> None:
    """All that is reported is that of all users at once: differences and counts to the bit, the rest to rounding."""
    oracle, whole = PairOracle(scores), PairSums.of(scores)
    rounding = 1e-12 * max(float(np.abs(table).max(initial=0.0)) for table in (scores.baseline, scores.system))
    options: dict[str, Any]
    for options in ({}, {"ci": 0.9, "level": 0.99}):
        found = asdict(sums.statistics(**options, alpha=0.01))
        np.testing.assert_equal(found, asdict(whole.statistics(**options, alpha=0.01)))  # to the bit
        for name, value in oracle.statistics(**options).items():
            if name in EXACT:
                np.testing.assert_equal(found[name], value, name)
            elif name == "effect" and abs(value) > 1e9:
                assert not abs(found[name]) <= 1e9  # a deviation that is rounding
            else:
                tiny = rounding if name in LIKE_SCORES else 1e-12
                assert found[name] == pytest.approx(value, rel=rel, abs=tiny, nan_ok=True), name
    assert sums.crossed == whole.crossed == bool(oracle.means.by_run)
    if not sums.all_tie:  # which have no p-value of their own
        np.testing.assert_equal(StudentT().p_of_means(sums.means), StudentT().p_of_means(whole.means))
        p_value = StudentT().p_of_means(oracle.means)
        assert StudentT().p_of_means(sums.means) == pytest.approx(p_value, rel=rel, abs=0, nan_ok=True)
    np.testing.assert_equal(sums.difference, oracle.difference)
    np.testing.assert_equal(sums.deviation, whole.deviation)


@pytest.mark.parametrize("scale", [1.0, 1e-150, 1e150])
@pytest.mark.parametrize("kind", ["skewed", "equal runs", "equal differences", "far from 0", "zeros"])
@pytest.mark.parametrize("runs", RUNS)
def test_parts_add_up_to_all_users(runs: str, kind: str, scale: float) -> None:
    rng = np.random.default_rng([len(runs), len(kind)])
    for users in (1, 2, 3, 9, 10, 200):
        scores = random_scores(rng, users, runs, kind)
        scores = replace(scores, baseline=scores.baseline * scale, system=scores.system * scale)
        weights = rng.integers(0, 3, users) * rng.uniform(0.2, 1, users)  # a third of them 0
        # all users at once have the means of runs to rounding of scores, from which they differ 100,000 times less
        rel = 1e-7 if kind == "far from 0" else 1e-9
        for one in (scores, replace(scores, weights=weights)):
            assert_same(sums_in_parts(one, rng), one, rel)


def test_what_is_compared_is_not_trivial() -> None:
    """The scores above have crossed and other tests, skewed intervals and lifts with ends."""
    rng = np.random.default_rng(0)
    crossed = {runs for runs in RUNS if PairSums.of(random_scores(rng, 200, runs)).crossed}
    assert crossed == {"several", "one against several", "several against one", "paired"}
    assert not PairSums.of(random_scores(rng, 200, "several", "equal runs")).crossed
    pair = sums_in_parts(random_scores(rng, 200, "one each"), rng).statistics()
    assert pair.high - pair.difference > 1.01 * (pair.difference - pair.low)
    assert pair.lift_low < pair.lift < pair.lift_high


@pytest.mark.parametrize("weights", [None, np.empty(0)])
@pytest.mark.parametrize("runs", RUNS)
def test_no_user_at_all(runs: str, weights: Array | None) -> None:
    nobody = replace(random_scores(np.random.default_rng(0), 0, runs), weights=weights)
    sums = PairSums.of(nobody) + PairSums.of(nobody)
    assert_same(sums, nobody)
    assert (sums.users, sums.lowest, sums.highest, sums.mean_weight) == (0, math.inf, -math.inf, 1.0)


@pytest.mark.parametrize("runs", RUNS)
def test_users_without_weight_count_but_do_not_matter(runs: str) -> None:
    """Neither their scores, however large, nor runs that differ under them alone."""
    rng = np.random.default_rng(5)
    scores = random_scores(rng, 30, runs, "equal runs")
    odd = random_scores(rng, 4, runs)
    odd = replace(odd, baseline=1e3 * odd.baseline, system=1e3 * odd.system, weights=np.zeros(4))
    weighted = replace(scores, weights=rng.random(30))
    both = replace(
        scores,
        baseline=np.concatenate([odd.baseline, scores.baseline]),
        system=np.concatenate([odd.system, scores.system]),
        weights=np.concatenate([np.zeros(4), weighted.weights]),
    )
    for sums in (PairSums.of(odd) + PairSums.of(weighted), PairSums.of(weighted) + PairSums.of(odd)):
        assert_same(sums, both)
        assert not sums.crossed
        assert sums.difference == PairSums.of(weighted).difference
        assert sums.users == 34
    assert_same(PairSums.of(odd) + PairSums.of(odd), some_users(odd, np.tile(np.arange(4), 2)))


@pytest.mark.parametrize("runs", ["several", "paired"])
@pytest.mark.parametrize(("apart", "vary"), [(1e-15, False), (1e-10, False), (1e-7, True)])
def test_runs_of_one_part_may_vary(runs: str, apart: float, vary: bool) -> None:
    """Runs vary if they do in some part, by more than rounding of the largest scores, which another part may have."""
    rng = np.random.default_rng(2)
    scores = random_scores(rng, 40, runs, "equal runs")
    scores.system[7, 0] += apart
    scores.system[30] *= 1000
    first, second = (PairSums.of(some_users(scores, np.arange(at, at + 20))) for at in (0, 20))
    assert first.crossed == (apart > 1e-12)
    assert (first + second).crossed == (second + first).crossed == PairSums.of(scores).crossed == vary


@pytest.mark.parametrize("runs", RUNS)
def test_parts_on_different_scales(runs: str) -> None:
    rng = np.random.default_rng(3)
    scores = random_scores(rng, 60, runs)
    sizes = np.repeat([1e-120, 1.0, 1e3], 20)[:, None]
    scores = replace(scores, baseline=scores.baseline * sizes, system=scores.system * sizes)
    parts = [PairSums.of(some_users(scores, np.arange(first, first + 20))) for first in (0, 20, 40)]
    for order in ((0, 1, 2), (2, 1, 0), (1, 0, 2)):
        assert_same(reduce(add, (parts[at] for at in order)), scores)


def test_one_user_with_nearly_all_weight_has_no_error() -> None:
    scores = replace(random_scores(np.random.default_rng(4), 3, "several"), weights=np.array([1.0, 1e6, 1.0]))
    sums = PairSums.of(some_users(scores, np.array([0, 1]))) + PairSums.of(some_users(scores, np.array([2])))
    assert_same(sums, scores)
    assert math.isnan(sums.statistics().error)
    assert not sums.crossed


def test_range_of_differences_and_mean_weight() -> None:
    baseline, system = np.full((4, 2), 0.5), np.array([[0.5, 0.75], [0.25, 0.5], [1.0, 1.0], [0.5, 0.5]])
    scores = PairScores(baseline, system, np.array([1.0, 0.0, 2.0, 1.0]))
    first, second = (PairSums.of(some_users(scores, np.arange(at, at + 2))) for at in (0, 2))
    for sums in (first + second, second + first):
        assert (sums.lowest, sums.highest, sums.mean_weight) == (-0.125, 0.5, 1.0)
        assert (sums.wins, sums.losses, sums.users) == (2, 1, 4)
        assert sums.difference == (0.125 + 2 * 0.5) / 4
    heavier = PairSums.of(replace(scores, weights=np.array([3.0, 0.0, 2.0, 1.0])))
    assert heavier.mean_weight == 1.5
    assert PairSums.of(replace(scores, weights=None)).mean_weight == 1.0


def test_many_parts_of_one_user() -> None:
    """Rounding does not pile up."""
    rng = np.random.default_rng(6)
    scores = replace(random_scores(rng, 1_000, "several"), weights=rng.exponential(1, 1_000))
    assert_same(reduce(add, (PairSums.of(some_users(scores, np.array([at]))) for at in range(1_000))), scores)
