"""Paired significance tests of users' differences, corrections for multiple comparisons, and effect sizes.

A difference is a user's score under a system minus the same user's score under its baseline. Results do not depend, to
the bit, on the order of users or the number of threads.
"""

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray

from carouseval import _native
from carouseval.comparison.choices import Correction, NamedTest
from carouseval.errors import ParameterError
from carouseval.evaluation.resampling import CI, RESAMPLES, mean_interval, mean_of, resampled_means
from carouseval.metrics.grid import Array
from carouseval.metrics.page_stack import thread_count
from carouseval.metrics.validation import require_choice, require_float, require_int

TESTS, CORRECTIONS = get_args(NamedTest), get_args(Correction)
PERMUTATIONS = 10_000
TIE = 1e-12  # smaller differences are rounding errors and count as ties

Test: TypeAlias = NamedTest | Callable[[Array], float]
"""A significance test: its name, or a function from the array of differences to a p-value."""

_SUM_BITS = 60  # of the 63 bits of a sum: leaves room for twice a difference
_NOISE_BITS = 40  # sums that agree to this many bits are equal: decimal scores do not add up exactly in binary
_DETECTABLE = 1.959964 + 0.841621  # normal quantiles of 97.5% (two-sided 5%) and of 80% power


@dataclass(frozen=True)
class PairStatistics:
    """The differences between a system and its baseline on one metric, summarised over users."""

    difference: float  # of the two means
    lift: float  # the difference over the baseline's mean; NaN if that is 0
    effect: float  # Cohen's d_z: the mean of differences over their standard deviation; NaN if they do not vary
    low: float  # bootstrap interval of the difference, unadjusted
    high: float
    wins: int  # users who score higher than under the baseline
    ties: int
    losses: int
    detectable: float  # the smallest difference detected with 80% power at two-sided 5%, by the normal approximation
    users: int


def pair_statistics(
    differences: Array,
    baseline: Array,
    weights: Array | None = None,
    *,
    ci: float = CI,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> PairStatistics:
    """Summarise the differences of one pair, given each user's difference, score under the baseline and weight.

    >>> pair = pair_statistics(np.array([0.1, 0.3, 0.0, -0.1]), np.array([0.5, 0.5, 0.5, 0.5]))
    >>> round(pair.difference, 3), round(pair.lift, 3), pair.wins, pair.ties, pair.losses
    (0.075, 0.15, 2, 1, 1)
    """
    values = _finite_array("differences", differences, 1)
    if len(_finite_array("baseline", baseline, 1)) != len(values):
        raise ParameterError(
            f"baseline must have one value for each of the {len(values)} users, found {len(baseline)}."
        )
    require_float("ci", ci, above=0, at_most=1)
    mean, before = mean_of(values, weights), mean_of(np.asarray(baseline, np.float64), weights)
    order = np.argsort(values, kind="stable") if weights is None else np.lexsort((weights, values))
    values, mass = (
        values[order],
        None if weights is None else weights[order],
    )  # the order of users has no effect
    spread, root = _spreads(values, mass, mean)
    low, high = mean_interval(values, mass, ci, resamples, seed)
    wins, losses = int((values > TIE).sum()), int((values < -TIE).sum())
    return PairStatistics(
        difference=mean,
        lift=mean / before if before else math.nan,
        effect=mean / spread if spread > TIE else math.nan,
        low=low,
        high=high,
        wins=wins,
        ties=len(values) - wins - losses,
        losses=losses,
        detectable=_DETECTABLE * spread / root,
        users=len(values),
    )


def _spreads(values: Array, weights: Array | None, mean: float) -> tuple[float, float]:
    """The standard deviation of the differences, and its ratio to the standard error of their mean."""
    count = len(values)
    if count < 2 or math.isnan(mean):
        return math.nan, math.nan
    if weights is None:
        return float(np.std(values, ddof=1)), math.sqrt(count)
    off, total, unbiased = (values - mean) ** 2, float(weights.sum()), count / (count - 1)
    spread = math.sqrt(float((weights * off).sum()) / total * unbiased)
    error = math.sqrt(float((weights**2 * off).sum()) * unbiased) / total
    return spread, spread / error if error > 0 else math.sqrt(count)


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
        "bootstrap" (percentile bootstrap of the mean: twice the smaller share of resampled means on either side of 0),
        or a function that takes one pair's differences and returns a p-value.
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
        "bootstrap": lambda table: _bootstrap(table[np.argsort(user_hashes(users), kind="stable")], permutations, seed),
        "t": lambda table: _scipy("t", table),
        "wilcoxon": lambda table: _scipy("wilcoxon", table),
    }
    require_choice("test", test, TESTS, "a function of differences")
    return functions[test]


def _scipy(test: str, table: Array) -> list[float]:
    """One p-value per column; columns are sorted, so that the order of users has no effect."""
    from scipy.stats import ttest_1samp, wilcoxon

    p = []
    for differences in np.sort(table, axis=0).T:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")  # constant differences, few users, ties: the p-value is still valid
            result: Any = ttest_1samp(differences, 0.0) if test == "t" else wilcoxon(differences)
        p.append(float(result.pvalue))
    return p


def _bootstrap(table: Array, resamples: int, seed: int) -> Array:
    """p = 1 minus the level at which the percentile interval of the mean just touches 0."""
    means = resampled_means(table, None, resamples, seed)
    side = np.minimum((means <= TIE).sum(axis=0), (means >= -TIE).sum(axis=0))
    return np.asarray(np.minimum(2 * (side + 1) / (resamples + 1), 1.0))


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
