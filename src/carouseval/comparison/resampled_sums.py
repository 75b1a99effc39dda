"""Sums of users' differences under random signs and in resamples, from which tests take their p-values.

Sums over parts of the users add up to the sums over all of them without rounding, so that p-values are the same to the
bit however users are divided, on one machine or on many. Differences are rounded once, to integers on a scale that
depends on all users: the largest values and the number of users must be known before any part is summed up.
"""

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from carouseval import _native
from carouseval.comparison.crossed_effects import TIE
from carouseval.metrics.grid import Array, IntArray
from carouseval.metrics.page_stack import thread_count

Exponents = NDArray[np.int32]
"""By column of values, the power of two that they are multiplied by before they are rounded."""

_FLIP_BITS = 60  # of the 63 bits of a sum under signs: leaves room for twice a difference
_NOISE_BITS = 40  # sums that agree to this many bits are equal: decimal scores do not add up exactly in binary
_RESAMPLED_BITS = 48  # of the 53 bits of a resampled sum: leaves room for 16 times a value
_DEGENERATE = 1e-12  # variance of a resample, relative to that of the values, that is rounding


def flip_exponents(largest: Array, users: int) -> Exponents:
    """The scale of each pair's differences in :class:`FlipSums`, the largest with which no sum overflows.

    Parameters
    ----------
    largest
        The largest absolute difference of each pair, over all users.
    users
        The number of all users.
    """
    return _exponents(largest, users, _FLIP_BITS)


def bootstrap_exponents(largest: Array, users: int) -> Exponents:
    """The scales of deviations (first line) and of their squares (second line) in :class:`BootstrapSums`.

    Parameters
    ----------
    largest
        The largest absolute deviation of a difference from the mean of its pair, over all users.
    users
        The number of all users.
    """
    return _exponents(np.stack([largest, largest**2]), users, _RESAMPLED_BITS)


@dataclass(frozen=True)
class FlipSums:
    """The differences of some users, summed up under random signs: what :func:`~.significance.sign_flip` counts.

    >>> differences, users = np.array([[1.0], [2.0], [3.0], [4.0]]), pl.Series(["a", "b", "c", "d"])
    >>> scale = flip_exponents(np.array([4.0]), 4)
    >>> first, rest = (FlipSums.of(differences[k], users[k], scale, 9_999) for k in (slice(0, 1), slice(1, 4)))
    >>> (first + rest).p_values().round(2).tolist()
    [0.12]
    """

    users: int
    observed: IntArray  # by pair
    absolute: IntArray  # by pair, the sum of absolute differences
    sums: IntArray  # permutations x pairs

    @classmethod
    def of(
        cls,
        differences: Array,
        users: pl.Series,
        exponents: Exponents,
        permutations: int,
        seed: int = 0,
        threads: int | None = None,
    ) -> "FlipSums":
        """Sum up the differences (users, pairs) of some users, with the exponents of all users."""
        integers = np.rint(np.ldexp(differences, exponents)).astype(np.int64)
        sums = _native.sign_sums(integers, user_hashes(users), permutations, seed, thread_count(threads))
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
        return _p_values((self.sums >= minimum) | (self.sums <= -minimum), self.users)


@dataclass(frozen=True)
class BootstrapSums:
    """The differences of some users, summed up in resamples: what :func:`~.significance.studentised_bootstrap` counts.

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
        resamples: int,
        seed: int = 0,
        threads: int | None = None,
    ) -> "BootstrapSums":
        """Sum up the differences (users, pairs) of some users, with the estimates and exponents of all users."""
        off = differences - mean
        scaled = np.rint(np.ldexp([off, off**2], exponents[:, None]))
        values = np.concatenate([np.ones((len(off), 1)), *scaled], axis=1)
        sums = _native.resampled_sums(values, user_hashes(users), resamples, seed, thread_count(threads))
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
        return _p_values(reached, self.users)


def user_hashes(users: pl.Series) -> NDArray[np.uint64]:
    """FNV-1a, 64 bits, of the UTF-8 text of each id; integers in decimal.

    >>> [hex(value) for value in user_hashes(pl.Series(["a", "7"])).tolist()], hex(user_hashes(pl.Series([7]))[0])
    (['0xaf63dc4c8601ec8c', '0xaf63aa4c86019796'], '0xaf63aa4c86019796')
    """
    return _native.text_hashes(users.cast(pl.String).__arrow_c_stream__())


def _exponents(largest: Array, users: int, bits: int) -> Exponents:
    """The largest powers of two with which the sum of so many values stays below 2^bits."""
    _, exponent = np.frexp(largest)
    return np.asarray(bits - exponent - (users - 1).bit_length(), dtype=np.int32)


def _p_values(reached: NDArray[np.bool_], users: int) -> Array:
    """p = (b + 1) / (m + 1), by column of what m draws have reached; the values observed count as one more draw."""
    p = (np.count_nonzero(reached, axis=0) + 1) / (len(reached) + 1)
    return np.asarray(p if users >= 2 else np.full_like(p, np.nan))
