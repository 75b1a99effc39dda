"""Paired significance tests of users' differences, and corrections for multiple comparisons.

A difference is a user's score under a system minus the same user's score under its baseline. Results do not depend, to
the bit, on the order of users or the number of threads.
"""

import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, get_args

import numpy as np
import polars as pl

from carouseval.comparison.choices import Correction, NamedTest
from carouseval.comparison.crossed_effects import TIE
from carouseval.comparison.resampled_sums import BootstrapSums, FlipSums, bootstrap_exponents, flip_exponents
from carouseval.errors import ParameterError
from carouseval.evaluation.user_sums import mean_estimate
from carouseval.metrics.grid import Array
from carouseval.metrics.validation import require_choice, require_int

TESTS, CORRECTIONS = get_args(NamedTest), get_args(Correction)
PERMUTATIONS = 10_000

Test: TypeAlias = NamedTest | Callable[[Array], float]
"""A significance test: its name, or a function from the array of differences to a p-value."""

_SUMS_AT_ONCE = 2**23  # 64 MiB: of many permutations, only some pairs are summed up at a time


def p_values(
    test: Test,
    differences: Array,
    users: pl.Series,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
    threads: int | None = None,
) -> Array:
    """Two-sided p-values of the hypothesis that differences have mean 0 ("wilcoxon": are symmetric around 0).

    Parameters
    ----------
    test
        "permutation" (:func:`sign_flip`), "t" (paired t-test), "wilcoxon" (signed ranks, SciPy's defaults),
        "bootstrap" (:func:`studentised_bootstrap`), or a function that takes one pair's differences and returns a
        p-value.
    differences
        An array (users, pairs) without NaN. Differences up to 1e-12 count as 0; a pair without any other has p = 1.
    users
        The user id of each line of differences. Fewer than two users give NaN.
    permutations
        The number of sign flips, or of resamples of the bootstrap.
    """
    table, ids = _check_differences(differences, users)
    table = without_ties(table)
    run = _test_function(test, ids, require_int("permutations", permutations, 1), _require_seed(seed), threads)
    p = np.full(table.shape[1], np.nan)
    if len(table) >= 2:
        nonzero = table.any(axis=0)
        p[~nonzero] = 1.0
        if nonzero.any():
            p[nonzero] = run(np.ascontiguousarray(table[:, nonzero]))
    return p


def without_ties(differences: Array) -> Array:
    """Differences with those that are rounding errors set to 0, as :func:`p_values` tests them."""
    return np.where(np.abs(differences) <= TIE, 0.0, differences)


def smallest_p_value(test: str, users: int, permutations: int) -> float:
    """The smallest p-value that a test of this many users can have; 0 if any p-value is possible."""
    by_draws = 1 / (permutations + 1)
    return {"permutation": max(2.0 ** (1 - users), by_draws), "bootstrap": by_draws}.get(test, 0.0)


def sign_flip(
    differences: Array, users: pl.Series, permutations: int = PERMUTATIONS, seed: int = 0, threads: int | None = None
) -> Array:
    """p-values of the two-sided sign-flip test of the mean, one per column of differences (users, pairs).

    p = (b + 1) / (permutations + 1), where b counts the permutations whose sum is at least as far from 0 as the one
    observed. The sign of a user is a bit of splitmix64 keyed by the seed, the FNV-1a hash of the id's text (integers in
    decimal) and the permutation's number: the same for all pairs and in every batch.

    Sums are exact: each pair's differences are rounded once to integers, on a scale (a power of two) set by the largest
    of them and the number of users. Sums that differ from the observed one by no more than that rounding, or by no more
    than 2^-40 of the sum of absolute differences, count as equal to it.

    >>> sign_flip(np.array([[1.0], [2.0], [3.0], [4.0]]), pl.Series(["a", "b", "c", "d"]), 9_999).round(2).tolist()
    [0.12]
    """
    table, ids = _check_differences(differences, users)
    permutations, seed = require_int("permutations", permutations, 1), _require_seed(seed)
    exponents = flip_exponents(np.abs(table).max(axis=0, initial=0.0), len(table))
    step = max(1, _SUMS_AT_ONCE // permutations)
    p = np.full(table.shape[1], np.nan)
    for pairs in (slice(first, first + step) for first in range(0, len(p), step)):
        p[pairs] = FlipSums.of(table[:, pairs], ids, exponents[pairs], permutations, seed, threads).p_values()
    return p


def studentised_bootstrap(
    differences: Array, users: pl.Series, resamples: int = PERMUTATIONS, seed: int = 0, threads: int | None = None
) -> Array:
    """p-values of the symmetric bootstrap-t test of the mean, one per column of differences (users, pairs).

    p = (b + 1) / (resamples + 1), where b counts the resamples whose t statistic, about the mean observed, is at least
    as large in absolute value as the one observed about 0. A resample in which values do not vary counts among them: of
    very few users there are many such, and p is then large.

    A resample has every user a Poisson(1) number of times, drawn by splitmix64 keyed by the seed, the hash of the id
    (as in :func:`sign_flip`) and the resample's number. Sums over users are of integers and exact: sums over parts of
    the users add up to the sums over all.

    >>> rng = np.random.default_rng(0)
    >>> studentised_bootstrap(rng.normal(0.1, 1, (50, 1)), pl.Series(range(50)), 9_999).round(2).tolist()
    [0.09]
    """
    table, ids = _check_differences(differences, users)
    resamples, seed = require_int("resamples", resamples, 1), _require_seed(seed)
    count, pairs = table.shape
    if count < 2:
        return np.full(pairs, np.nan)
    estimates = [mean_estimate(column) for column in table.T]
    mean, error = np.array([(estimate.mean, estimate.error) for estimate in estimates]).reshape(-1, 2).T
    exponents = bootstrap_exponents(np.abs(table - mean).max(axis=0), count)
    return BootstrapSums.of(table, ids, mean, error, exponents, resamples, seed, threads).p_values()


def adjusted_p_values(p: Sequence[float] | Array, correction: str = "holm") -> Array:
    """p-values adjusted by Holm's step-down ("holm") or Benjamini and Hochberg's method ("bh"), or unchanged ("none").

    NaN stays NaN and does not count as a test.

    >>> adjusted_p_values([0.01, 0.04, 0.03, 0.005]).round(3).tolist()
    [0.03, 0.06, 0.06, 0.02]
    """
    require_choice("correction", correction, CORRECTIONS)
    adjusted = np.array(p, dtype=np.float64)
    invalid = np.flatnonzero((adjusted < 0) | (adjusted > 1))
    if adjusted.ndim != 1 or len(invalid):
        value = f"an array of {adjusted.ndim} dimensions" if adjusted.ndim != 1 else repr(float(adjusted[invalid[0]]))
        raise ParameterError(f"p must be a list of numbers from 0 to 1, found {value}.")
    if correction == "none":
        return adjusted
    tests = np.flatnonzero(~np.isnan(adjusted))
    order = tests[np.argsort(adjusted[tests], kind="stable")]
    count, rank = len(order), np.arange(1, len(order) + 1)
    if correction == "holm":
        steps = np.maximum.accumulate(adjusted[order] * (count - rank + 1))
    else:
        steps = np.minimum.accumulate((adjusted[order] * count / rank)[::-1])[::-1]
    adjusted[order] = np.minimum(steps, 1.0)
    return adjusted


def _test_function(
    test: Test, users: pl.Series, permutations: int, seed: int, threads: int | None
) -> Callable[[Array], Sequence[float] | Array]:
    """The function from a table of differences to its p-values."""
    if callable(test):
        return lambda table: [_call_test(test, column) for column in table.T]
    functions: dict[NamedTest, Callable[[Array], Sequence[float] | Array]] = {
        "permutation": lambda table: sign_flip(table, users, permutations, seed, threads),
        "bootstrap": lambda table: studentised_bootstrap(table, users, permutations, seed, threads),
        "t": lambda table: [mean_estimate(column).p_value for column in table.T],
        "wilcoxon": lambda table: [_wilcoxon(column) for column in table.T],
    }
    require_choice("test", test, TESTS, "a function of differences")
    return functions[test]


def _wilcoxon(differences: Array) -> float:
    from scipy.stats import wilcoxon

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # few users, ties: the p-value is still valid
        result: Any = wilcoxon(np.sort(differences))  # sorted, so that the order of users has no effect
    return float(result.pvalue)


def _call_test(function: Callable[[Array], float], differences: Array) -> float:
    """Call a user's test with its own copy of the differences, and check the p-value it returns."""
    p = function(differences.copy())
    try:
        value = float(p)
    except (TypeError, ValueError):
        value = math.inf
    if value < 0 or value > 1:
        raise ParameterError(f"test: the function must return a p-value from 0 to 1 or NaN, found {p!r:.60}.")
    return value


def _check_differences(differences: Array, users: pl.Series) -> tuple[Array, pl.Series]:
    table, ids = _finite_array("differences", differences, 2), pl.Series(users)
    if len(ids) != len(table):
        raise ParameterError(
            f"users must have one id for each of the {len(table)} lines of differences, found {len(ids)}."
        )
    if not (ids.dtype == pl.String or ids.dtype.is_integer()) or ids.null_count():
        nulls = f" with {ids.null_count()} nulls" * bool(ids.null_count())
        raise ParameterError(f"users must be integers or strings without nulls, found {ids.dtype}{nulls}.")
    if ids.n_unique() != len(ids):
        repeated = ids.filter(ids.is_duplicated())[0]
        raise ParameterError(f"users must be unique, found {repeated!r} more than once. Give one difference per user.")
    return table, ids


def _finite_array(name: str, values: Array, dimensions: int) -> Array:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != dimensions:
        expected = {1: "one value per user", 2: "an array (users, pairs)"}[dimensions]
        raise ParameterError(f"{name} must be {expected}, found an array of shape {array.shape}.")
    invalid = np.argwhere(~np.isfinite(array))
    if len(invalid):
        index = ", ".join(str(int(position)) for position in invalid[0])
        raise ParameterError(
            f"{name} must be finite, found {float(array[tuple(invalid[0])])!r} at [{index}]. "
            "Leave out users without a value."
        )
    return array


def _require_seed(seed: int) -> int:
    seed = require_int("seed", seed, 0)
    if seed >= 2**64:
        raise ParameterError(f"seed must be below 2^64, found {seed}.")
    return seed
