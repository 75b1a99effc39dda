"""The studentised bootstrap test of the mean."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from carouseval import _native
from carouseval.comparison.crossed_effects import TIE
from carouseval.comparison.tests import register_test
from carouseval.comparison.tests.contract import AllUsers, MergedTest, RandomDraws
from carouseval.comparison.tests.counted_draws import Exponents, counted_p_values, sum_exponents, user_hashes
from carouseval.metrics.grid import Array
from carouseval.metrics.page_stack import thread_count

_RESAMPLED_BITS = 48  # of the 53 bits of a resampled sum: leaves room for 16 times a value
_DEGENERATE = 1e-12  # variance of a resample, relative to that of the values, that is rounding


@register_test
class BootstrapT(MergedTest):
    """The symmetric bootstrap-t test of the mean.

    p = (b + 1) / (resamples + 1), where b counts the resamples whose t statistic, about the mean observed, is at least
    as large in absolute value as the one observed about 0. A resample in which values do not vary counts among them: of
    very few users there are many such, and p is then large.

    A resample has every user a Poisson(1) number of times, drawn by splitmix64 keyed by the seed, the hash of the id
    (as in :class:`~.permutation.Permutation`) and the resample's number. Sums over users are of integers and exact:
    sums over parts of the users add up to the sums over all.

    >>> rng = np.random.default_rng(0)
    >>> BootstrapT().p_values(rng.normal(0.1, 1, (50, 1)), pl.Series(range(50)), RandomDraws(9_999)).round(2).tolist()
    [0.09]
    """

    name = "bootstrap"
    words = "studentised bootstrap test paired by user"
    described = "the studentised bootstrap of the mean"
    is_random = True
    merges_weights = False  # the error of differences scaled by weight is not that of the weighted mean

    def smallest_p_value(self, users: int, permutations: int) -> float:
        """That no resample reaches the values observed."""
        return 1 / (permutations + 1)

    def known(self, everyone: AllUsers) -> tuple[Array, Array, Exponents]:
        """The mean and its error, and the scale of deviations from the mean."""
        return everyone.mean, everyone.error, bootstrap_exponents(everyone.furthest, everyone.users)

    def sums(self, differences: Array, users: pl.Series, known: Any, draws: RandomDraws) -> "BootstrapSums":
        """Sums in resamples."""
        mean, error, exponents = known
        return BootstrapSums.of(differences, users, mean, error, exponents, draws)

    def p_of_sums(self, sums: "BootstrapSums") -> Array:
        """How many resamples have a t as large as the one observed."""
        return sums.p_values()


def bootstrap_exponents(largest: Array, users: int) -> Exponents:
    """The scales of deviations and of their squares in :class:`BootstrapSums`, by the largest over so many users."""
    return sum_exponents(np.stack([largest, largest**2]), users, _RESAMPLED_BITS)


@dataclass(frozen=True)
class BootstrapSums:
    """The differences of some users, summed up in resamples.

    The mean and its error, and the exponents, are those of all users.
    """

    users: int
    mean: Array  # by pair
    error: Array  # by pair
    exponents: Exponents  # (2, pairs): of deviations from the mean and of their squares
    sums: Array  # resamples x (1 + 2 pairs): how many users are drawn; their deviations; squares of these

    @classmethod
    def of(
        cls,
        differences: Array,
        users: pl.Series,
        mean: Array,
        error: Array,
        exponents: Exponents,
        draws: RandomDraws,
    ) -> "BootstrapSums":
        """Sum up the differences (users, pairs) of some users, with the estimates and exponents of all users."""
        off = differences - mean
        scaled = np.rint(np.ldexp([off, off**2], exponents[:, None]))
        values = np.concatenate([np.ones((len(off), 1)), *scaled], axis=1)
        sums = _native.resampled_sums(values, user_hashes(users), draws.number, draws.seed, thread_count(draws.threads))
        return cls(len(off), mean, error, exponents, sums)

    def __add__(self, other: "BootstrapSums") -> "BootstrapSums":
        return BootstrapSums(
            self.users + other.users, self.mean, self.error, self.exponents, sums=self.sums + other.sums
        )

    def p_values(self) -> Array:
        """One p-value per pair: 1 if all differences are 0, NaN with fewer than two users."""
        drawn = np.maximum(self.sums[:, :1], 1.0)
        deviations, squares = np.split(self.sums[:, 1:] / drawn, 2, axis=1)
        means, squares = np.ldexp(deviations, -self.exponents[0]), np.ldexp(squares, -self.exponents[1])
        variance = (squares - means**2) / np.maximum(drawn - 1, 1.0)
        mean_square = (self.users - 1) * self.error**2  # of the deviations of all users
        degenerate = (drawn < 2) | (variance * drawn <= _DEGENERATE * mean_square)
        with np.errstate(divide="ignore", invalid="ignore"):
            drawn_t = np.abs(means) / np.sqrt(variance)
            reached = degenerate | (drawn_t >= np.abs(self.mean) / self.error * (1 - TIE))
        return counted_p_values(reached, self.users)
