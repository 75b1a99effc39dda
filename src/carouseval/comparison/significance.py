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
from numpy.typing import NDArray

from carouseval import _native
from carouseval.comparison.choices import Correction, NamedTest
from carouseval.comparison.crossed_effects import TIE
from carouseval.errors import ParameterError
from carouseval.evaluation.mean_estimates import mean_estimate
from carouseval.metrics.grid import Array
from carouseval.metrics.page_stack import thread_count
from carouseval.metrics.validation import require_choice, require_int

TESTS, CORRECTIONS = get_args(NamedTest), get_args(Correction)
PERMUTATIONS = 10_000

Test: TypeAlias = NamedTest | Callable[[Array], float]
"""A significance test: its name, or a function from the array of differences to a p-value."""

_SUM_BITS = 60  # of the 63 bits of a sum: leaves room for twice a difference
_NOISE_BITS = 40  # sums that agree to this many bits are equal: decimal scores do not add up exactly in binary
_RESAMPLED_BITS = 48  # of the 53 bits of a resampled sum: leaves room for 16 times a value
_DEGENERATE = 1e-12  # variance of a resample, relative to that of the values, that is rounding


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
    table = np.where(np.abs(table) <= TIE, 0.0, table)
    run = _test_function(test, ids, require_int("permutations", permutations, 1), _require_seed(seed), threads)
    p = np.full(table.shape[1], np.nan)
    if len(table) >= 2:
        nonzero = table.any(axis=0)
        p[~nonzero] = 1.0
        if nonzero.any():
            p[nonzero] = run(np.ascontiguousarray(table[:, nonzero]))
    return p


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
    if len(table) < 2:
        return np.full(table.shape[1], np.nan)
    integers = _scaled_integers(table)
    slack = len(integers) + (np.abs(integers).sum(axis=0) >> _NOISE_BITS)
    minimum = np.abs(integers.sum(axis=0)) - slack
    reached = _native.sign_flips(integers, user_hashes(ids), minimum, permutations, seed, thread_count(threads))
    return np.asarray((reached.sum(axis=0, dtype=np.int64) + 1) / (permutations + 1))


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
    off = table - mean
    columns, scales = zip(*map(_exact_floats, [*off.T, *(off**2).T]), strict=True)
    values = np.stack([np.ones(count), *columns], axis=1)
    sums = _native.resampled_sums(values, user_hashes(ids), resamples, seed, thread_count(threads))
    drawn = np.maximum(sums[:, :1], 1.0)
    means, squares = np.split(np.ldexp(sums[:, 1:] / drawn, np.negative(scales)), 2, axis=1)
    variance = (squares - means**2) / np.maximum(drawn - 1, 1.0)
    degenerate = (drawn < 2) | (variance * drawn <= _DEGENERATE * (off**2).mean(axis=0))
    with np.errstate(divide="ignore", invalid="ignore"):
        drawn_t = np.abs(means) / np.sqrt(variance)
        reached = degenerate | (drawn_t >= np.abs(mean) / error * (1 - TIE))
    return np.asarray((reached.sum(axis=0) + 1) / (resamples + 1))


def user_hashes(users: pl.Series) -> NDArray[np.uint64]:
    """FNV-1a, 64 bits, of the UTF-8 text of each id; integers in decimal.

    >>> [hex(value) for value in user_hashes(pl.Series(["a", "7"])).tolist()], hex(user_hashes(pl.Series([7]))[0])
    (['0xaf63dc4c8601ec8c', '0xaf63aa4c86019796'], '0xaf63aa4c86019796')
    """
    return _native.text_hashes(users.cast(pl.String).__arrow_c_stream__())


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


def _exact_floats(values: Array) -> tuple[Array, int]:
    """Values times a power of two, rounded to integers whose sums over resamples are exact floats; and the power."""
    _, exponent = math.frexp(float(np.abs(values).max()))
    scale = _RESAMPLED_BITS - exponent - (len(values) - 1).bit_length()
    return np.rint(np.ldexp(values, scale)), scale


def _scaled_integers(table: Array) -> NDArray[np.int64]:
    """Each column times the largest power of two with which no sum overflows, rounded."""
    _, exponent = np.frexp(np.abs(table).max(axis=0))
    scale = _SUM_BITS - exponent - (len(table) - 1).bit_length()
    return np.asarray(np.rint(np.ldexp(table, scale)), dtype=np.int64)


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
