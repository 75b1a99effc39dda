"""Whether systems differ beyond chance: paired tests on users' differences, corrections for many of them, effect sizes.

A difference is a user's value under a system minus the same user's value under its baseline. Neither the order of users
nor the number of threads changes a bit of any result.
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
TIE = 1e-12  # differences no larger are rounding, not a difference

Test: TypeAlias = NamedTest | Callable[[Array], float]

_SUM_BITS = 60  # of the 63 a sum has: room for twice a difference
_NOISE_BITS = 40  # sums that agree to so many bits are equal: decimal scores do not add up exactly in binary
_DETECTED = 1.959964 + 0.841621  # normal quantiles of 97.5% (two-sided 5%) and of 80% power


@dataclass(frozen=True)
class PairStatistics:
    """A system against its baseline on one metric, user by user."""

    difference: float  # of the means
    lift: float  # the difference over the baseline's mean; NaN if that is 0
    effect: float  # Cohen's d_z: the mean of differences over their standard deviation; NaN if they do not vary
    low: float  # bootstrap interval of the difference, unadjusted
    high: float
    wins: int  # users better off than with the baseline
    ties: int
    losses: int
    detectable: float  # the smallest difference found with 80% power at two-sided 5%, by the normal approximation
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
    """How one system differs from its baseline, given each user's difference, value under the baseline and weight.

    >>> pair = pair_statistics(np.array([0.1, 0.3, 0.0, -0.1]), np.array([0.5, 0.5, 0.5, 0.5]))
    >>> round(pair.difference, 3), round(pair.lift, 3), pair.wins, pair.ties, pair.losses
    (0.075, 0.15, 2, 1, 1)
    """
    values = _complete("differences", differences, 1)
    if len(_complete("baseline", baseline, 1)) != len(values):
        raise ParameterError(f"baseline must hold a value for each of {len(values)} users, found {len(baseline)}.")
    level = require_float("ci", ci, above=0, at_most=1)
    mean, before = mean_of(values, weights), mean_of(np.asarray(baseline, np.float64), weights)
    order = np.argsort(values, kind="stable") if weights is None else np.lexsort((weights, values))
    values, mass = values[order], None if weights is None else weights[order]  # the order of users does not matter
    spread, root = _spreads(values, mass, mean)
    low, high = mean_interval(values, mass, level, resamples, seed)
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
        detectable=_DETECTED * spread / root,
        users=len(values),
    )


def _spreads(values: Array, weights: Array | None, mean: float) -> tuple[float, float]:
    """The standard deviation of differences, and what divides it in the standard error of their mean."""
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
    """Two-sided p-values of one pair per column: is the mean (for "wilcoxon" the centre) of the differences 0?

    Parameters
    ----------
    test
        "permutation" (:func:`sign_flip`), "t" (paired t-test), "wilcoxon" (signed ranks, SciPy's defaults),
        "bootstrap" (percentile bootstrap of the mean: twice the smaller share of resampled means on either side of 0),
        or a function of one pair's differences that gives a p-value.
    differences
        (users, pairs), without NaN. Those no larger than 1e-12 count as 0; a pair of nothing else has p = 1.
    users
        Whose differences they are. Fewer than two users give NaN.
    permutations
        Of signs, or resamples of the bootstrap.
    """
    table, ids = _pairs(differences, users)
    table = np.where(np.abs(table) <= TIE, 0.0, table)
    run = _test(test, ids, require_int("permutations", permutations, 1), _seed(seed), threads)
    p = np.full(table.shape[1], np.nan)
    if len(table) >= 2:
        some = table.any(axis=0)
        p[~some] = 1.0
        if some.any():
            p[some] = run(np.ascontiguousarray(table[:, some]))
    return p


def sign_flip(
    differences: Array, users: pl.Series, permutations: int = PERMUTATIONS, seed: int = 0, threads: int | None = None
) -> Array:
    """p-values of the two-sided sign-flip test of the mean, one per column of differences (users, pairs).

    p = (b + 1) / (permutations + 1), where b counts the permutations whose sum is at least as far from 0 as the one
    observed. The sign of a user is a bit of splitmix64 keyed by the seed, the FNV-1a hash of the id's text (integers in
    decimal) and the permutation's number: the same for all pairs and wherever that user is met.

    Sums are exact: each pair's differences become whole numbers, on a scale (a power of two) set by the largest of them
    and the number of users, rounded once. Sums that differ from the observed one by no more than that rounding, or than
    2^-40 of the sum of all sizes, count as equal to it.

    >>> sign_flip(np.array([[1.0], [2.0], [3.0], [4.0]]), pl.Series(["a", "b", "c", "d"]), 9_999).round(2).tolist()
    [0.12]
    """
    table, ids = _pairs(differences, users)
    permutations, seed = require_int("permutations", permutations, 1), _seed(seed)
    if len(table) < 2:
        return np.full(table.shape[1], np.nan)
    counts = _whole_numbers(table)
    slack = len(counts) + (np.abs(counts).sum(axis=0) >> _NOISE_BITS)
    least = np.abs(counts.sum(axis=0)) - slack
    reached = _native.sign_flips(counts, user_hashes(ids), least, permutations, seed, thread_count(threads))
    return np.asarray((reached.sum(axis=0, dtype=np.int64) + 1) / (permutations + 1))


def user_hashes(users: pl.Series) -> NDArray[np.uint64]:
    """FNV-1a, 64 bits, of the UTF-8 text of each id; integers in decimal.

    >>> [hex(value) for value in user_hashes(pl.Series(["a", "7"])).tolist()], hex(user_hashes(pl.Series([7]))[0])
    (['0xaf63dc4c8601ec8c', '0xaf63aa4c86019796'], '0xaf63aa4c86019796')
    """
    return _native.text_hashes(users.cast(pl.String).__arrow_c_stream__())


def corrected(p: Sequence[float] | Array, method: str = "holm") -> Array:
    """Adjusted p-values: Holm's step-down ("holm"), Benjamini and Hochberg's ("bh"), or as they are ("none").

    NaN stays NaN and does not count as a test.

    >>> corrected([0.01, 0.04, 0.03, 0.005]).round(3).tolist()
    [0.03, 0.06, 0.06, 0.02]
    """
    require_choice("correction", method, CORRECTIONS)
    adjusted = np.array(p, dtype=np.float64)
    bad = np.flatnonzero((adjusted < 0) | (adjusted > 1))
    if adjusted.ndim != 1 or len(bad):
        found = f"an array of {adjusted.ndim} dimensions" if adjusted.ndim != 1 else repr(float(adjusted[bad[0]]))
        raise ParameterError(f"p must be a list of numbers from 0 to 1, found {found}.")
    if method == "none":
        return adjusted
    known = np.flatnonzero(~np.isnan(adjusted))
    order = known[np.argsort(adjusted[known], kind="stable")]
    count, rank = len(order), np.arange(1, len(order) + 1)
    if method == "holm":
        steps = np.maximum.accumulate(adjusted[order] * (count - rank + 1))
    else:
        steps = np.minimum.accumulate((adjusted[order] * count / rank)[::-1])[::-1]
    adjusted[order] = np.minimum(steps, 1.0)
    return adjusted


def _test(
    test: Test, users: pl.Series, permutations: int, seed: int, threads: int | None
) -> Callable[[Array], Sequence[float] | Array]:
    """What gives the p-values of a table of differences."""
    if callable(test):
        return lambda table: [_asked(test, column) for column in table.T]
    known: dict[NamedTest, Callable[[Array], Sequence[float] | Array]] = {
        "permutation": lambda table: sign_flip(table, users, permutations, seed, threads),
        "bootstrap": lambda table: _bootstrap(table[np.argsort(user_hashes(users), kind="stable")], permutations, seed),
        "t": lambda table: _scipy("t", table),
        "wilcoxon": lambda table: _scipy("wilcoxon", table),
    }
    require_choice("test", test, TESTS, "a function of differences")
    return known[test]


def _scipy(test: str, table: Array) -> list[float]:
    """One p-value per column; sorted, so that the order of users does not matter."""
    from scipy.stats import ttest_1samp, wilcoxon

    p = []
    for differences in np.sort(table, axis=0).T:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")  # about constant differences, few users and ties: the p-value stands
            result: Any = ttest_1samp(differences, 0.0) if test == "t" else wilcoxon(differences)
        p.append(float(result.pvalue))
    return p


def _bootstrap(table: Array, resamples: int, seed: int) -> Array:
    """The level at which the percentile interval of the mean just touches 0."""
    means = resampled_means(table, None, resamples, seed)
    side = np.minimum((means <= TIE).sum(axis=0), (means >= -TIE).sum(axis=0))
    return np.asarray(np.minimum(2 * (side + 1) / (resamples + 1), 1.0))


def _asked(function: Callable[[Array], float], differences: Array) -> float:
    """A user's test, which gets a copy of its own."""
    p = function(differences.copy())
    try:
        value = float(p)
    except (TypeError, ValueError):
        value = math.inf
    if value < 0 or value > 1:
        raise ParameterError(f"test: the function must give a p-value from 0 to 1 or NaN, found {p!r:.60}.")
    return value


def _whole_numbers(table: Array) -> NDArray[np.int64]:
    """Each column times the largest power of two that leaves every sum room, rounded."""
    _, exponent = np.frexp(np.abs(table).max(axis=0))
    scale = _SUM_BITS - exponent - (len(table) - 1).bit_length()
    return np.asarray(np.rint(np.ldexp(table, scale)), dtype=np.int64)


def _pairs(differences: Array, users: pl.Series) -> tuple[Array, pl.Series]:
    table, ids = _complete("differences", differences, 2), pl.Series(users)
    if len(ids) != len(table):
        raise ParameterError(f"users must name each of the {len(table)} lines of differences, found {len(ids)}.")
    if not (ids.dtype == pl.String or ids.dtype.is_integer()) or ids.null_count():
        nulls = f" with {ids.null_count()} nulls" * bool(ids.null_count())
        raise ParameterError(f"users must be integers or text without nulls, found {ids.dtype}{nulls}.")
    if ids.n_unique() != len(ids):
        twice = ids.filter(ids.is_duplicated())[0]
        raise ParameterError(f"users must differ, found {twice!r} more than once. Give one difference for each user.")
    return table, ids


def _complete(name: str, values: Array, dimensions: int) -> Array:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != dimensions:
        wanted = {1: "one value for each user", 2: "a table (users, pairs)"}[dimensions]
        raise ParameterError(f"{name} must be {wanted}, found an array of shape {array.shape}.")
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        where = ", ".join(str(int(at)) for at in bad[0])
        raise ParameterError(
            f"{name} must be finite, found {float(array[tuple(bad[0])])!r} at [{where}]. "
            "Leave out users who lack a value."
        )
    return array


def _seed(seed: int) -> int:
    seed = require_int("seed", seed, 0)
    if seed >= 2**64:
        raise ParameterError(f"seed must be below 2^64, found {seed}.")
    return seed
