"""Sums of users' scores in parts, against the estimates of all users at once."""

import math
from functools import reduce
from operator import add

import numpy as np
import pytest

from carouseval.evaluation.mean_estimates import mean_estimate
from carouseval.evaluation.score_sums import ExactSum, ScoreSums
from carouseval.metrics.grid import Array


def sums_of_parts(values: Array, weights: Array | None, cuts: list[int]) -> ScoreSums:
    parts = np.split(np.arange(len(values)), cuts)
    return reduce(add, (ScoreSums.of(values[at], None if weights is None else weights[at], len(at)) for at in parts))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("scale", [1.0, 1e-180, 1e180])
@pytest.mark.parametrize("kind", ["skewed", "far from 0", "constant", "few"])
def test_parts_add_up_to_the_estimate_of_all_users(weighted: bool, scale: float, kind: str) -> None:
    rng = np.random.default_rng([weighted, len(kind)])
    values = {
        "skewed": rng.exponential(size=500),
        "far from 0": 1e6 + rng.normal(size=500),
        "constant": np.full(500, 0.1),
        "few": rng.random(3),
    }[kind] * scale
    weights = rng.integers(0, 4, len(values)) * rng.random(len(values)) if weighted else None
    if kind == "few" and weighted:
        weights = np.array([1.0, 0.5, 2.0])
    expected = mean_estimate(values, weights)
    for cuts in ([], [0, 1, 2], [1], sorted(rng.integers(0, len(values), 7).tolist())):
        found = sums_of_parts(values, weights, cuts).estimate()
        assert found.mean == expected.mean  # to the bit, however users are split
        assert found.df == pytest.approx(expected.df, rel=1e-9)
        tiny = 1e-15 * abs(expected.mean)  # what rounding leaves where values do not vary
        assert found.error == pytest.approx(expected.error, rel=1e-9, abs=tiny)
        if kind != "constant":
            assert found.skewness == pytest.approx(expected.skewness, rel=1e-6, abs=1e-12)
            assert found.interval() == pytest.approx(expected.interval(), rel=1e-9)


def test_one_user_and_users_without_weight_have_no_error() -> None:
    assert math.isnan(ScoreSums.of(np.array([0.5]), None, 1).estimate().error)
    assert math.isnan(ScoreSums.of(np.empty(0), None, 0).estimate().mean)
    nobody = ScoreSums.of(np.array([0.2, 0.4]), np.zeros(2), 2)
    assert math.isnan(nobody.estimate().mean)
    one = nobody + ScoreSums.of(np.array([0.6]), np.array([2.0]), 1)
    assert (one.users, one.estimate().mean) == (3, 0.6)
    assert math.isnan(one.estimate().error)
    nearly_alone = ScoreSums.of(np.array([0.6, 0.1]), np.array([1e6, 1.0]), 2)
    assert math.isnan(nearly_alone.estimate().error)


def test_exact_sums_do_not_depend_on_the_parts() -> None:
    values = (np.random.default_rng(0).normal(size=200) * 10.0 ** np.arange(-100, 100)).tolist()
    for cut in (1, 50, 199):
        assert float(ExactSum.of(values[:cut]) + ExactSum.of(values[cut:])) == math.fsum(values)
