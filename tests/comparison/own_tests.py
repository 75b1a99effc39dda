"""Significance tests that are not ours: one whose parts add up, and one that needs all users at once."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import polars as pl
from scipy import stats

from carouseval.comparison import tests
from carouseval.comparison.tests.contract import ColumnTest, MergedTest, RandomDraws
from carouseval.metrics.grid import Array


class Signs(MergedTest):
    """The sign test: how many users gain, of those who gain or lose."""

    name = "signs"
    words = "sign test by user"

    def sums(self, differences: Array, users: pl.Series, known: Any, draws: RandomDraws) -> Array:
        """Users who gain and who lose, by pair."""
        return np.array([(differences > 0).sum(axis=0), (differences < 0).sum(axis=0)])

    def p_of_sums(self, sums: Array) -> list[float]:
        """Exact, by the binomial distribution."""
        return [float(stats.binomtest(int(plus), int(plus + minus)).pvalue) for plus, minus in sums.T]


class Largest(ColumnTest):
    """Whether the largest difference in absolute value is one of few: a test of no use but this."""

    name = "largest"
    words = "test of the largest difference by user"
    takes_weights = False

    def p_value(self, differences: Array) -> float:
        """The share of the largest difference in all of them."""
        return float(np.abs(differences).max() / np.abs(differences).sum())


@contextmanager
def registered() -> Iterator[None]:
    """Both known by name."""
    for test in (Signs, Largest):
        tests.register_test(test)
    try:
        yield
    finally:
        for test in (Signs, Largest):
            del tests._registered[test.name]
