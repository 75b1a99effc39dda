"""Tests of users in parts: p-values are those of all users together, to the bit."""

import functools
import operator
import pickle
import warnings
from typing import Any, TypeVar

import numpy as np
import polars as pl
import pytest

from carouseval.comparison.significance import p_values
from carouseval.comparison.tests import contract
from carouseval.comparison.tests.bootstrap import BootstrapSums, BootstrapT, bootstrap_exponents
from carouseval.comparison.tests.contract import RandomDraws, without_ties
from carouseval.comparison.tests.counted_draws import user_hashes
from carouseval.comparison.tests.permutation import FlipSums, Permutation, flip_exponents
from carouseval.evaluation.user_sums import mean_estimate
from carouseval.metrics.grid import Array

M = 999
Sums = TypeVar("Sums", FlipSums, BootstrapSums)


def differences_of(kind: str, count: int, pairs: int, rng: np.random.Generator) -> Array:
    values = rng.normal(0.1, 1, (count, pairs))
    if kind == "ties":  # most of them, and what rounding leaves of some
        return np.where(rng.random((count, pairs)) < 0.8, rng.choice([0.0, 1e-17, -1e-13], (count, pairs)), values)
    if kind == "decimals":
        return values.round(1)
    return values


def ids_of(kind: str, count: int, rng: np.random.Generator) -> pl.Series:
    numbers = pl.Series(rng.permutation(count) - 5, dtype=pl.Int64)
    return numbers if kind == "integers" else pl.Series([f"ü-{number}" for number in numbers], dtype=pl.String)


def parts_of(count: int, rng: np.random.Generator) -> list[Any]:
    """Users at random in parts of very different sizes, some of them empty, in any order."""
    part = np.minimum(rng.geometric(0.4, count), 6) * 2
    return [np.flatnonzero(part == number) for number in rng.permutation(14)]


def merged(sums: list[Sums]) -> Sums:
    """The sum of all parts, each as it arrives from another process."""
    arrived: list[Sums] = pickle.loads(pickle.dumps(sums))
    return functools.reduce(operator.add, arrived)


def flip_sums(table: Array, users: pl.Series, parts: list[Any], seed: int = 0) -> FlipSums:
    exponents = flip_exponents(np.abs(table).max(axis=0, initial=0.0), len(table))
    sums = [FlipSums.of(table[part], users.gather(part), exponents, RandomDraws(M, seed, 1)) for part in parts]
    return merged(sums)


def bootstrap_sums(table: Array, users: pl.Series, parts: list[Any], seed: int = 0) -> BootstrapSums:
    """The largest deviation follows from the smallest and the largest difference, which parts can report."""
    estimates = [mean_estimate(column) for column in table.T]
    mean, error = (np.array([getattr(estimate, name) for estimate in estimates]) for name in ("mean", "error"))
    ends = [table.min(axis=0, initial=np.inf), table.max(axis=0, initial=-np.inf)] if len(table) else [mean, mean]
    exponents = bootstrap_exponents(np.abs(ends - mean).max(axis=0), len(table))
    sums = [
        BootstrapSums.of(table[part], users.gather(part), mean, error, exponents, RandomDraws(M, seed, 1))
        for part in parts
    ]
    return merged(sums)


@pytest.mark.parametrize("ids", ["integers", "texts"])
@pytest.mark.parametrize("kind", ["normal", "ties", "decimals"])
@pytest.mark.parametrize("count", [2, 3, 9, 64, 1001])
def test_parts_give_the_bits_of_the_whole(count: int, kind: str, ids: str) -> None:
    rng = np.random.default_rng([count, *kind.encode()])
    for seed in range(3):
        table, users = differences_of(kind, count, 5, rng), ids_of(ids, count, rng)
        table[:, 3] = rng.choice([0.0, 1e-13], count)
        expected = {test: p_values(test, table, users, M, seed).tolist() for test in ("permutation", "bootstrap")}
        table, parts = without_ties(table), parts_of(count, rng)
        assert flip_sums(table, users, parts, seed).p_values().tolist() == expected["permutation"]
        assert bootstrap_sums(table, users, parts, seed).p_values().tolist() == expected["bootstrap"]
        assert expected["permutation"][3] == expected["bootstrap"][3] == 1.0


@pytest.mark.parametrize("largest", [1e300, 1.0, 1e-300])
def test_sums_do_not_overflow(largest: float) -> None:
    """Users who all have the largest difference, as many as fill their power of two; whatever the unit."""
    table, users = np.full((1024, 2), np.nextafter(largest, 0)), pl.Series(range(1024))
    sums = flip_sums(table, users, np.split(np.arange(1024), 4))
    assert (sums.observed == sums.absolute).all()
    assert (sums.observed > 2**57).all()
    assert (np.abs(sums.sums) < sums.absolute).all()
    assert (
        sums.p_values().tolist() == [1 / (M + 1)] * 2 == Permutation().p_values(table, users, RandomDraws(M)).tolist()
    )


def test_sums_by_hand() -> None:
    """Every sum is the observed one less twice the differences of the users whose sign it flips."""
    table, users = np.array([[1.0, -3.0], [2.0, 0.5]]), pl.Series(["a", "b"])
    sums = flip_sums(table, users, [[0, 1]])
    units = np.ldexp(1.0, flip_exponents(np.array([2.0, 3.0]), 2))
    assert {tuple(line) for line in (sums.sums / units).tolist()} == {(3, -2.5), (1, 3.5), (-1, -3.5), (-3, 2.5)}
    assert (sums.observed / units).tolist() == [3.0, -2.5]
    assert (sums.absolute / units).tolist() == [3.0, 3.5]


@pytest.mark.parametrize("count", [0, 1])
def test_fewer_than_two_users_are_not_tested(count: int) -> None:
    table, users = np.ones((count, 2)), pl.Series([f"user-{at}" for at in range(count)], dtype=pl.String)
    parts = [np.arange(0), np.arange(count)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isnan(flip_sums(table, users, parts).p_values()).all()
        assert np.isnan(bootstrap_sums(table, users, parts).p_values()).all()


def test_without_pairs() -> None:
    table, users = np.ones((3, 0)), pl.Series(range(3))
    assert flip_sums(table, users, [[0], [1, 2]]).p_values().shape == (0,)
    assert (
        Permutation().p_values(table, users, RandomDraws(M)).shape
        == BootstrapT().p_values(table, users, RandomDraws(M)).shape
        == (0,)
    )


def test_pairs_are_summed_up_some_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many permutations of many pairs: memory is limited, and p-values are the same."""
    table, users = np.random.default_rng(0).normal(0.1, 1, (50, 7)), pl.Series(range(50))
    expected, counted = p_values("permutation", table, users, M).tolist(), []

    def hashes(ids: pl.Series) -> Any:
        counted.append(len(ids))
        return user_hashes(ids)

    monkeypatch.setattr("carouseval.comparison.tests.permutation.user_hashes", hashes)
    for limit, blocks in ((3 * M, 3), (1, 7)):
        counted.clear()
        monkeypatch.setattr(contract, "_SUMS_AT_ONCE", limit)
        assert p_values("permutation", table, users, M).tolist() == expected
        assert len(counted) == blocks
