"""Sums over users: without rounding, the same bits in any parts and order, and the moments that fractions give."""

import itertools
import math
from fractions import Fraction
from functools import reduce
from operator import add

import numpy as np
import pytest

from carouseval import _native
from carouseval.evaluation.exact_sums import Exact, central_moments, exact_sum, exact_sums
from carouseval.evaluation.mean_estimates import ShareFactors, mean_of
from carouseval.evaluation.user_sums import ScoreSums, UserSums, mean_estimate
from carouseval.metrics.grid import Array

HOSTILE = [0.0, -0.0, 5e-324, -5e-324, 2.2e-308, 1.7976931348623157e308, -1e308, 1.0, -1.0, 0.1, 1 / 3, 2.0**-32, 3e9]


def fraction(value: Exact) -> Fraction:
    return Fraction(value.integer) * Fraction(2) ** value.exponent


@pytest.mark.parametrize("seed", range(60))
def test_sums_of_products_by_fractions(seed: int) -> None:
    """Every product of up to eight factors, of values of all sizes."""
    rng = np.random.default_rng(seed)
    shape = int(rng.integers(0, 7)), int(rng.integers(1, 4))
    tables: list[Array] = [
        rng.normal(size=shape) * 10.0 ** rng.integers(-320, 300, size=shape),
        rng.choice(HOSTILE, shape),
        rng.integers(-3, 4, shape) / 4,
        rng.random(shape),
    ]
    table = tables[seed % 4]
    degrees = (*range(4), 8)
    products = [one for d in degrees for one in itertools.combinations_with_replacement(range(shape[1]), d)]
    found = exact_sums(table, products)
    assert [*found] == products
    for product in products:
        values = (math.prod((Fraction(float(line[c])) for c in product), start=Fraction(1)) for line in table)
        assert fraction(found[product]) == sum(values)


def test_sums_carry_from_digit_to_digit() -> None:
    """A million of the largest digits, and as much again taken away but for one bit."""
    ones = np.full(1_000_000, 2.0**53 - 1)
    assert fraction(exact_sum(ones)) == 1_000_000 * (2**53 - 1)
    assert float(exact_sum(np.concatenate([ones, -ones, [2.0**-1074]]))) == 2.0**-1074


@pytest.mark.parametrize("seed", range(20))
def test_arithmetic_of_exact_numbers(seed: int) -> None:
    rng = np.random.default_rng(seed)
    one, other = (float(value) for value in rng.choice([*HOSTILE, *rng.normal(size=5)], 2))
    x, y = Exact.of(one), Exact.of(other)
    assert fraction(x + y) == Fraction(one) + Fraction(other)
    assert fraction(x - y) == Fraction(one) - Fraction(other)
    assert fraction(x * y) == Fraction(one) * Fraction(other)
    assert fraction(x.scaled(-7)) == Fraction(one) / 128
    assert (float(x), bool(x)) == (one, one != 0)
    if other:
        try:
            expected = float(Fraction(one) / Fraction(other))
        except OverflowError:
            expected = math.copysign(math.inf, one) * math.copysign(1, other)
        assert x / y == expected


@pytest.mark.parametrize(
    ("values", "before", "column", "message"),
    [
        ([[math.inf]], [-1], [0], "finite"),
        ([[math.nan]], [-1], [0], "finite"),
        ([[1.0]], [0], [0], "earlier"),
        ([[1.0]], [-2], [0], "earlier"),
        ([[1.0]], [-1, -1], [0], "earlier"),
        ([[1.0]], [-1], [1], "column"),
        ([[1.0]], [-1], [-1], "column"),
        ([[1.0]], [-1, 0, 1, 2, 3, 4, 5, 6, 7], [0] * 9, "8 factors"),
    ],
)
def test_the_kernel_refuses(values: list[list[float]], before: list[int], column: list[int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        _native.exact_sums(np.array(values), np.array(before, np.int32), np.array(column, np.int32))


def sums_of_parts(values: Array, weights: Array | None, cuts: list[int]) -> ScoreSums:
    parts = np.split(np.arange(len(values)), cuts)
    return reduce(add, (ScoreSums.of(values[at], None if weights is None else weights[at], len(at)) for at in parts))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("scale", [1.0, 1e-180, 1e180])
@pytest.mark.parametrize("kind", ["skewed", "far from 0", "constant", "few"])
def test_parts_add_up_to_the_bits_of_all_users(weighted: bool, scale: float, kind: str) -> None:
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
    assert expected.mean == mean_of(values, weights)
    for cuts in ([], [0, 1, 2], [1], sorted(rng.integers(0, len(values), 7).tolist())):
        order = rng.permutation(len(values))
        found = sums_of_parts(values[order], None if weights is None else weights[order], cuts)
        assert found.estimate() == expected
        assert (found.users, found.pages) == (len(values), len(values))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("users", [2, 3, 40])
def test_moments_by_fractions(users: int, weighted: bool) -> None:
    """Covariances and third moments of two columns; fractions are rounded once, factors a few times."""
    rng = np.random.default_rng(users)
    columns = rng.exponential(1, (users, 2)) + np.array([1e3, 0.0])
    weights = rng.exponential(1, users) if weighted else np.ones(users)
    sums = UserSums.of(columns, weights if weighted else None)
    found = sums.moments()
    w = [Fraction(weight) for weight in weights.tolist()]
    share = [one / sum(w) for one in w]
    x = [[Fraction(value) for value in column] for column in columns.T.tolist()]
    mean = [sum(p * value for p, value in zip(share, column, strict=True)) for column in x]
    off = [[value - mean[c] for value in x[c]] for c in (0, 1)]
    powers = [float(sum(p**power for p in share)) for power in (2, 3, 4, 5)]
    factors = ShareFactors.of_powers(*powers) if weighted else ShareFactors.of_users(users)
    assert found.means * found.scale == pytest.approx([float(one) for one in mean], rel=1e-15)
    assert found.df == factors.df
    for i, j in itertools.product((0, 1), repeat=2):
        square = sum(p**2 * off[i][u] * off[j][u] for u, p in enumerate(share))
        assert found.squares[i, j] * found.scale**2 == pytest.approx(factors.second * float(square), rel=1e-15)
        for k in (0, 1):
            cube = sum(p**3 * off[i][u] * off[j][u] * off[k][u] for u, p in enumerate(share))
            assert found.cubes[i, j, k] * found.scale**3 == pytest.approx(factors.third * float(cube), rel=1e-15)
    square = sum(p * one**2 for p, one in zip(share, off[0], strict=True))
    assert sums.mean_square(0) * sums.scale**2 == pytest.approx(float(square), rel=1e-15)


@pytest.mark.parametrize("seed", range(30))
def test_central_moments_are_rounded_once(seed: int) -> None:
    """To the bit what fractions give, of values and weights of all sizes."""
    rng = np.random.default_rng(seed)
    users, weighted = int(rng.integers(2, 6)), bool(seed % 2)
    columns = rng.choice(HOSTILE, (users, 2)) if seed % 3 else rng.normal(size=(users, 2)) * 10.0 ** rng.integers(-9, 9)
    weights = rng.random(users) * 10.0 ** rng.integers(-80, 10, users) if weighted else np.ones(users)
    sums = UserSums.of(columns, weights if weighted else None)
    exponent = math.frexp(sums.scale)[1]
    squares, cubes = central_moments(sums.sums, 2, weighted=weighted, exponent=exponent)
    total = sum(map(Fraction, weights.tolist()))
    share = [Fraction(weight) / total for weight in weights.tolist()]
    x = [[Fraction(value) / Fraction(2) ** exponent for value in column] for column in columns.T.tolist()]
    mean = [sum(p * value for p, value in zip(share, column, strict=True)) for column in x]
    off = [[value - mean[c] for value in x[c]] for c in (0, 1)]
    for i, j in itertools.product((0, 1), repeat=2):
        assert squares[i, j] == float(sum(p**2 * off[i][u] * off[j][u] for u, p in enumerate(share)))
        for k in (0, 1):
            assert cubes[i, j, k] == float(sum(p**3 * off[i][u] * off[j][u] * off[k][u] for u, p in enumerate(share)))


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


def test_scores_of_users_without_weight_do_not_matter() -> None:
    """However large: nothing falls out of range because of them."""
    values, weights = np.array([0.1, 0.4, 0.2, 1e300]), np.array([1.0, 2.0, 1.0, 0.0])
    assert mean_estimate(values, weights) == mean_estimate(values[:3], weights[:3])
