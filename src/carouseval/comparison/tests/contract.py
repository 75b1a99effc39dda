"""What a significance test is: derive from :class:`ColumnTest`, :class:`MeansTest` or :class:`MergedTest`.

Which of them says what a test must know of the users, and so where it can run. Users may be scored in parts, on one
machine or on an engine such as Spark, and parts add up:

- a :class:`MergedTest` takes its p-value from sums over users. It sums up one machine's users in the same way as the
  parts of an engine, so that both have the same p-value;
- a :class:`MeansTest` takes it from means and how they vary, which every comparison sums up anyway;
- a :class:`ColumnTest` needs the differences of all users at once; engines refuse it by name, unless they may collect.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, final

import numpy as np
import polars as pl

from carouseval.comparison.crossed_effects import TIE, CrossedMeans
from carouseval.comparison.tests import PERMUTATIONS
from carouseval.errors import ParameterError
from carouseval.evaluation.mean_estimates import MeanEstimate
from carouseval.evaluation.user_sums import mean_estimate
from carouseval.messages import setting
from carouseval.metrics.grid import Array
from carouseval.validation import require_int

_SUMS_AT_ONCE = 2**23  # 64 MiB: of many draws, only some pairs are summed up at a time


@dataclass(frozen=True)
class RandomDraws:
    """How tests draw at random: how many permutations or resamples, from which seed, on how many threads."""

    number: int = PERMUTATIONS
    seed: int = 0
    threads: int | None = None

    def __post_init__(self) -> None:
        require_int("seed", self.seed, 0)
        require_int("permutations", self.number, 1)
        if self.seed >= 2**64:
            raise ParameterError(f"{setting('seed')} must be below 2^64, found {self.seed}.")


class SignificanceTest(ABC):
    """A two-sided test that the mean of users' differences is 0; what is true of it stands in its class."""

    def __init_subclass__(cls) -> None:
        """Refuse classes whose p-values on one machine might not be those that parts add up to."""
        for name in vars(cls):
            if any(getattr(getattr(base, name, None), "__final__", False) for base in cls.__mro__[1:]):
                raise ParameterError(f"{cls.__name__}: {name} is the same for all tests of its kind; leave it out.")

    name: str  # as `test=` takes it, and results name it
    words: str  # in captions: "t-test paired by user"
    described: str = ""  # in the list of choices: "the paired t-test"
    takes_weights: bool = True  # of users; differences are then scaled by them
    takes_clusters: bool = False  # whether users of a cluster, who vary together, may be drawn under one id
    is_random: bool = False  # whether p-values come from random draws

    def over_runs(self) -> "MeansTest | None":
        """The test to use in its place where runs vary, too; None if it takes runs as given."""
        return None

    @property
    def takes_runs(self) -> bool:
        """Whether it tests users and runs that both vary."""
        return self.over_runs() is self

    @final
    def merges(self, *, weighted: bool) -> bool:
        """Whether parts of the users add up to its p-value."""
        if isinstance(self, MergedTest):
            return self.merges_weights or not weighted
        return isinstance(self, MeansTest)

    def smallest_p_value(self, users: int, permutations: int) -> float:
        """The smallest p-value that so many users with a difference can have; 0 if any p-value is possible."""
        return 0.0

    @abstractmethod
    def p_values(self, differences: Array, users: pl.Series, draws: RandomDraws) -> Sequence[float] | Array:
        """One p-value per column of differences (users, pairs), each of two users or more, and not only of 0."""

    @final
    def of_differences(self, differences: Array, users: pl.Series, draws: RandomDraws) -> Array:
        """One p-value per column of differences (users, pairs): NaN for fewer than two users, 1 if all are 0."""
        infinite = np.argwhere(~np.isfinite(differences))
        if len(infinite):
            line, column = map(int, infinite[0])
            raise ParameterError(
                f"differences must be finite, found {float(differences[line, column])!r} at [{line}, {column}]. "
                "Leave out users without a value."
            )
        table = without_ties(differences)
        p = np.full(table.shape[1], np.nan)
        if len(table) >= 2:
            nonzero = table.any(axis=0)
            p[~nonzero] = 1.0
            if nonzero.any():
                p[nonzero] = self.p_values(np.ascontiguousarray(table[:, nonzero]), users, draws)
        return p


class ColumnTest(SignificanceTest):
    """A test that needs the differences of all users at once."""

    @abstractmethod
    def p_value(self, differences: Array) -> float:
        """The p-value of one pair's differences, one per user."""

    def p_values(self, differences: Array, users: pl.Series, draws: RandomDraws) -> Sequence[float]:
        """Test every column."""
        return [self.p_value(column) for column in differences.T]


class MeansTest(SignificanceTest):
    """A test of the mean difference and of how it varies, over users and, where :attr:`takes_runs`, over runs."""

    @abstractmethod
    def p_value(self, estimate: MeanEstimate) -> float:
        """The p-value of the mean difference; NaN where its error is not known."""

    @final
    def p_of_means(self, means: CrossedMeans) -> float:
        """The p-value of a pair of systems."""
        return self.p_value(means.estimate(1, 0))

    def p_values(self, differences: Array, users: pl.Series, draws: RandomDraws) -> Sequence[float]:
        """Test the mean of every column."""
        return [self.p_value(mean_estimate(column)) for column in differences.T]


class AllUsers(Protocol):
    """What is known of all users before any part of them is summed up, by pair; differences are scaled by weight."""

    @property
    def users(self) -> int:
        """How many users there are."""

    @property
    def largest(self) -> Array:
        """The largest absolute difference."""

    @property
    def mean(self) -> Array:
        """The mean difference."""

    @property
    def error(self) -> Array:
        """The standard error of the mean; parts add up to it unless differences are scaled by weight."""

    @property
    def furthest(self) -> Array:
        """The largest absolute deviation of a difference from the mean; parts add up to it as they do to the error."""


class MergedTest(SignificanceTest):
    """A test whose p-value comes from sums over users: sums over parts of the users add up to those over all.

    Sums must be exact, so that they do not depend on the parts: integers, or numbers that are rounded to some scale.
    They and what is known of all users are sent between machines, and can be pickled: plain arrays, for example.
    """

    merges_weights: bool = True  # whether scaled by weight, differences still give its p-value

    def known(self, everyone: AllUsers) -> Any:
        """What sums over a part need to know of all users, such as their scale; None if nothing."""
        return None

    @abstractmethod
    def sums(self, differences: Array, users: pl.Series, known: Any, draws: RandomDraws) -> Any:
        """What the differences (users, pairs) of some users add to the test: a value that can be added to others."""

    @abstractmethod
    def p_of_sums(self, sums: Any) -> Sequence[float] | Array:
        """One p-value per pair, from the sums over all users."""

    @final
    def p_values(self, differences: Array, users: pl.Series, draws: RandomDraws) -> Array:
        """Sum up all users in one part, some pairs at a time."""
        step = max(1, _SUMS_AT_ONCE // draws.number)
        p = np.full(differences.shape[1], np.nan)
        for pairs in (slice(first, first + step) for first in range(0, len(p), step)):
            table = differences[:, pairs]
            p[pairs] = self.p_of_sums(self.sums(table, users, self.known(UsersAtHand(table)), draws))
        return p


@dataclass(frozen=True, eq=False)
class UsersAtHand:
    """:class:`AllUsers` whose differences (users, pairs) are here."""

    differences: Array

    @property
    def users(self) -> int:
        """How many users there are."""
        return len(self.differences)

    @property
    def largest(self) -> Array:
        """The largest absolute difference."""
        return np.asarray(np.abs(self.differences).max(axis=0, initial=0.0))

    @cached_property
    def _estimates(self) -> list[MeanEstimate]:
        return [mean_estimate(column) for column in self.differences.T]

    @property
    def mean(self) -> Array:
        """The mean difference."""
        return np.array([estimate.mean for estimate in self._estimates])

    @property
    def error(self) -> Array:
        """The standard error of the mean."""
        return np.array([estimate.error for estimate in self._estimates])

    @property
    def furthest(self) -> Array:
        """The largest absolute deviation of a difference from the mean."""
        return np.asarray(np.abs(self.differences - self.mean).max(axis=0))


def without_ties(differences: Array) -> Array:
    """Differences with those that are rounding errors set to 0, as tests see them."""
    return np.where(np.abs(differences) <= TIE, 0.0, differences)
