"""Significance tests of arrays of users' differences, and corrections for multiple comparisons.

A difference is a user's score under a system minus the same user's score under its baseline. Results do not depend, to
the bit, on the order of users or the number of threads.
"""

from collections.abc import Sequence
from typing import get_args

import numpy as np
import polars as pl

from carouseval.comparison.settings import Correction, Test
from carouseval.comparison.tests import PERMUTATIONS, listed_tests
from carouseval.comparison.tests.contract import RandomDraws, SignificanceTest
from carouseval.comparison.tests.function import FunctionTest
from carouseval.errors import ParameterError
from carouseval.messages import setting
from carouseval.metrics.grid import Array
from carouseval.validation import require_choice

CORRECTIONS = get_args(Correction)


def chosen_test(test: Test) -> SignificanceTest:
    """The test that a name or a function stands for."""
    kind = test if isinstance(test, type) else type(test)
    if issubclass(kind, SignificanceTest):
        name = getattr(kind, "name", "its name")
        raise ParameterError(
            f"{setting('test')} takes the name of a test: write @register_test above its class, and "
            f"{setting('test', name)}."
        )
    if callable(test):
        return FunctionTest.of(test)
    by_name = {listed.name: listed for listed in listed_tests()}
    return by_name[require_choice("test", test, list(by_name), "a function of differences")]


def p_values(
    test: Test,
    differences: Array,
    users: pl.Series,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
    threads: int | None = None,
    clusters: pl.Series | None = None,
) -> Array:
    """Two-sided p-values of the hypothesis that differences have mean 0 ("wilcoxon": are symmetric around 0).

    Parameters
    ----------
    test
        The name of a test in ``comparison/tests/``, or a function that takes one pair's differences and returns a
        p-value.
    differences
        An array (users, pairs) without NaN. Differences up to 1e-12 count as 0; a pair without any other has p = 1.
    users
        The user id of each line of differences. Fewer than two users give NaN.
    permutations
        The number of sign flips, or of resamples of the bootstrap.
    clusters
        The id of each user's cluster, such as a household, if users of a cluster vary together. Fewer than two clusters
        give NaN.

    >>> p_values("permutation", np.array([[1.0], [2.0], [3.0], [4.0]]), pl.Series(range(4)), 9_999).round(2).tolist()
    [0.12]
    """
    table = _check_differences(differences, users)
    draws, tested = RandomDraws(permutations, seed, threads), chosen_test(test)
    ids = pl.Series(users)
    if clusters is not None:
        if not tested.takes_clusters:
            able = " or ".join(repr(listed.name) for listed in listed_tests() if listed.takes_clusters)
            raise ParameterError(
                f"{setting('test', tested.name)} takes users as independent; for clusters of them use {able}."
            )
        ids = _check_ids("clusters", clusters, len(table))
        if ids.n_unique() < 2:
            return np.full(table.shape[1], np.nan)
    return tested.of_differences(table, ids, draws)


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


def _check_differences(differences: Array, users: pl.Series) -> Array:
    table = np.asarray(differences, dtype=np.float64)
    if table.ndim != 2:
        raise ParameterError(f"differences must be an array (users, pairs), found an array of shape {table.shape}.")
    ids = _check_ids("users", users, len(table))
    if ids.n_unique() != len(ids):
        repeated = ids.filter(ids.is_duplicated())[0]
        raise ParameterError(f"users must be unique, found {repeated!r} more than once. Give one difference per user.")
    return table


def _check_ids(name: str, values: pl.Series, lines: int) -> pl.Series:
    ids = pl.Series(values)
    if len(ids) != lines:
        raise ParameterError(f"{name} must have one id for each of the {lines} lines of differences, found {len(ids)}.")
    if not (ids.dtype == pl.String or ids.dtype.is_integer()) or ids.null_count():
        nulls = f" with {ids.null_count()} nulls" * bool(ids.null_count())
        raise ParameterError(f"{name} must be integers or strings without nulls, found {ids.dtype}{nulls}.")
    return ids
