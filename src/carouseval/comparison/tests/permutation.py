"""The sign-flip test of the mean, a permutation test."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from carouseval import _native
from carouseval.comparison.tests import register_test
from carouseval.comparison.tests.contract import AllUsers, MergedTest, RandomDraws
from carouseval.comparison.tests.counted_draws import Exponents, counted_p_values, sum_exponents, user_hashes
from carouseval.metrics.grid import Array, IntArray
from carouseval.metrics.page_stack import thread_count

_FLIP_BITS = 60  # of the 63 bits of a sum under signs: leaves room for twice a difference
_NOISE_BITS = 40  # sums that agree to this many bits are equal: decimal scores do not add up exactly in binary


@register_test
class Permutation(MergedTest):
    """The two-sided sign-flip test of the mean.

    p = (b + 1) / (permutations + 1), where b counts the permutations whose sum is at least as far from 0 as the one
    observed. The sign of a user is a bit of splitmix64 keyed by the seed, the FNV-1a hash of the id's text (integers in
    decimal) and the permutation's number: the same for all pairs and in every batch. Users of a cluster, under one id,
    have the same sign.

    Sums are exact: each pair's differences are rounded once to integers, on a scale (a power of two) set by the largest
    of them and the number of users. Sums that differ from the observed one by no more than that rounding, or by no more
    than 2^-40 of the sum of absolute differences, count as equal to it.

    >>> differences, users = np.array([[1.0], [2.0], [3.0], [4.0]]), pl.Series(["a", "b", "c", "d"])
    >>> Permutation().p_values(differences, users, RandomDraws(9_999)).round(2).tolist()
    [0.12]
    """

    name = "permutation"
    words = "permutation test paired by user"
    described = "random sign flips with p = (b + 1) / (m + 1)"
    takes_clusters = True
    is_random = True

    def smallest_p_value(self, users: int, permutations: int) -> float:
        """Of few users there are few patterns of signs, half of which are as far from 0 on the other side."""
        return max(2.0 ** (1 - users), 1 / (permutations + 1))

    def known(self, everyone: AllUsers) -> Exponents:
        """The scale of all differences."""
        return flip_exponents(everyone.largest, everyone.users)

    def sums(self, differences: Array, users: pl.Series, known: Any, draws: RandomDraws) -> "FlipSums":
        """Sums under random signs."""
        return FlipSums.of(differences, users, known, draws)

    def p_of_sums(self, sums: "FlipSums") -> Array:
        """How many sums are as far from 0 as the one observed."""
        return sums.p_values()


def flip_exponents(largest: Array, users: int) -> Exponents:
    """The scale of each pair in :class:`FlipSums`, by the largest absolute difference of so many users."""
    return sum_exponents(largest, users, _FLIP_BITS)


@dataclass(frozen=True)
class FlipSums:
    """The differences of some users, summed up under random signs.

    >>> differences, users = np.array([[1.0], [2.0], [3.0], [4.0]]), pl.Series(["a", "b", "c", "d"])
    >>> scale = flip_exponents(np.array([4.0]), 4)
    >>> parts, draws = (slice(0, 1), slice(1, 4)), RandomDraws(9_999)
    >>> first, rest = (FlipSums.of(differences[part], users[part], scale, draws) for part in parts)
    >>> (first + rest).p_values().round(2).tolist()
    [0.12]
    """

    users: int
    observed: IntArray  # by pair
    absolute: IntArray  # by pair, the sum of absolute differences
    sums: IntArray  # permutations x pairs

    @classmethod
    def of(cls, differences: Array, users: pl.Series, exponents: Exponents, draws: RandomDraws) -> "FlipSums":
        """Sum up the differences (users, pairs) of some users, with the exponents of all users."""
        integers = np.rint(np.ldexp(differences, exponents)).astype(np.int64)
        sums = _native.sign_sums(integers, user_hashes(users), draws.number, draws.seed, thread_count(draws.threads))
        return cls(len(integers), integers.sum(axis=0), np.abs(integers).sum(axis=0), sums)

    def __add__(self, other: "FlipSums") -> "FlipSums":
        return FlipSums(
            users=self.users + other.users,
            observed=self.observed + other.observed,
            absolute=self.absolute + other.absolute,
            sums=self.sums + other.sums,
        )

    def p_values(self) -> Array:
        """One p-value per pair: 1 if all differences are 0, NaN with fewer than two users."""
        slack = self.users + (self.absolute >> _NOISE_BITS)  # rounding changes a sum by at most users / 2
        minimum = np.abs(self.observed) - slack
        return counted_p_values((self.sums >= minimum) | (self.sums <= -minimum), self.users)
