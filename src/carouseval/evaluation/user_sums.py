"""Users' scores summed up: users may be scored in parts, on one machine or on many, and nothing depends on the parts.

Sums are exact, and what is reported is worked out from them with one rounding or few: the same bits, whatever the parts
and the order of users.
"""

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from carouseval.evaluation.exact_sums import (
    AddsUp,
    Exact,
    Product,
    added,
    central_moments,
    central_square,
    exact_sums,
    mean_of_sums,
)
from carouseval.evaluation.mean_estimates import CI, MeanEstimate, ShareFactors
from carouseval.metrics.grid import Array

_FAR = 2.0**900
_ONE_USER = 0.999  # of the weight: more is as if there were no other user


@dataclass(frozen=True)
class UserMoments:
    """The means of columns, and the covariances and third moments of these means, on a scale."""

    means: Array
    squares: Array
    cubes: Array
    df: float
    scale: float  # a power of two that keeps squares and cubes within range

    def estimate(self) -> MeanEstimate:
        """The mean of the first column and its error."""
        variance, third = float(self.squares[0, 0]), float(self.cubes[0, 0, 0])
        return MeanEstimate.of_moments(float(self.means[0]), variance, third, self.df, self.scale)


@dataclass(frozen=True)
class UserSums:
    """Columns of users' values, and products of them with weights, summed up without rounding.

    Columns are numbered from 0; then come, where users have weights, these and each column times them, as a float.
    """

    columns: int
    weighted: bool
    users: int
    weighted_users: int  # of weight above 0
    largest_weight: float
    largest: float  # absolute value of those who have weight
    sums: Mapping[Product, Exact]

    @classmethod
    def of(cls, columns: Array, weights: Array | None) -> "UserSums":
        """Sum up users' values, (users, columns)."""
        users, count = columns.shape
        table, counted = columns, columns if weights is None else columns[weights > 0]
        far = -64 if np.abs(columns).max(initial=0.0) > _FAR else 0  # times weights, they could be beyond floats
        if weights is not None:
            table = np.column_stack([columns, weights, np.ldexp(columns, far) * weights[:, None]])
        sums = exact_sums(np.ascontiguousarray(table, np.float64), _products(count, weights is not None))
        return cls(
            columns=count,
            weighted=weights is not None,
            users=users,
            weighted_users=len(counted),
            largest_weight=float(users > 0) if weights is None else float(weights.max(initial=0.0)),
            largest=float(np.abs(counted).max(initial=0.0)),
            sums={key: value.scaled(-far) if key[:1] > (count,) else value for key, value in sums.items()},
        )

    def __add__(self, other: "UserSums") -> "UserSums":
        return UserSums(
            columns=self.columns,
            weighted=self.weighted,
            users=self.users + other.users,
            weighted_users=self.weighted_users + other.weighted_users,
            largest_weight=max(self.largest_weight, other.largest_weight),
            largest=max(self.largest, other.largest),
            sums=added(self.sums, other.sums),
        )

    def sum_of(self, power: int, *columns: int) -> Exact:
        """The sum of a power of users' weights times columns; without weights, each user has weight 1."""
        return self.sums[(self.columns,) * (power * self.weighted) + tuple(sorted(columns))]

    @property
    def total_weight(self) -> Exact:
        """The sum of weights."""
        return self.sum_of(1)

    def mean(self, column: int) -> float:
        """The mean of a column over users, as ``mean_of`` has it; NaN if no user has weight."""
        if not self.weighted_users:
            return math.nan
        return mean_of_sums(self.sums[self.columns + 1 + column if self.weighted else column,], self.total_weight)

    @property
    def mean_weight(self) -> float:
        """The mean weight of users; 1 if there are none."""
        return float(self.total_weight) / self.users if self.users else 1.0

    @cached_property
    def rest_on_one_user(self) -> bool:
        """Whether there are fewer than two users, or one has nearly all the weight: nothing is known of errors."""
        return self.weighted_users < 2 or self.largest_weight > _ONE_USER * float(self.total_weight)

    @property
    def scale(self) -> float:
        """The next power of two above all absolute values: dividing by it changes no digit."""
        return math.ldexp(1.0, min(math.frexp(self.largest)[1], 1023)) if self.largest > 0 else 1.0

    @property
    def factors(self) -> ShareFactors:
        """What makes estimates of moments of the mean unbiased."""
        if not self.weighted:
            return ShareFactors.of_users(self.users)
        total = power = self.total_weight
        shares = []
        for exponent in range(2, 6):
            power = power * total
            shares.append(self.sum_of(exponent) / power)
        return ShareFactors.of_powers(*shares)

    def mean_square(self, column: int) -> float:
        """The mean square of a column minus its mean, in squares of ``scale``."""
        first, square = self.sum_of(1, column), self.sum_of(1, column, column)
        return central_square(self.total_weight, first, square, _exponent(self.scale))

    def moments(self) -> UserMoments:
        """The means and how they vary; NaN where they rest on one user."""
        count, scale = self.columns, self.scale
        means = np.array([self.mean(column) for column in range(count)]) / scale
        if self.rest_on_one_user:
            return UserMoments(
                means, np.full((count, count), math.nan), np.zeros((count, count, count)), math.nan, scale
            )
        factors = self.factors
        squares, cubes = central_moments(self.sums, count, weighted=self.weighted, exponent=_exponent(scale))
        return UserMoments(means, factors.second * squares, factors.third * cubes, factors.df, scale)


@cache
def _products(columns: int, weighted: bool) -> tuple[Product, ...]:
    """All that is asked of ``sum_of`` and ``mean``."""
    powers = {power: max(2, power) for power in (1, 2, 3)} | {4: 0, 5: 0}  # and how many columns are multiplied
    wanted = [
        (columns,) * (power * weighted) + product
        for power, most in powers.items()
        for degree in range(most + 1)
        for product in itertools.combinations_with_replacement(range(columns), degree)
    ]
    totals = [(columns + 1 + column,) for column in range(columns * weighted)]
    return tuple(dict.fromkeys([*wanted, *totals]))


def _exponent(scale: float) -> int:
    return math.frexp(scale)[1] - 1


@dataclass(frozen=True)
class ScoreSums(AddsUp):
    """The scores of some users by one metric, summed up."""

    pages: int
    sums: UserSums

    @classmethod
    def of(cls, values: Array, weights: Array | None, pages: int) -> "ScoreSums":
        """Sum up users' scores.

        >>> sums = ScoreSums.of(np.array([0.1, 0.3]), None, 2) + ScoreSums.of(np.array([0.0, 0.2]), None, 3)
        >>> sums.pages, round(sums.estimate().mean, 3), round(sums.estimate().error, 4), sums.estimate().df
        (5, 0.15, 0.0645, 3.0)
        """
        return cls(pages, UserSums.of(values[:, None], weights))

    @property
    def users(self) -> int:
        """How many users have a score."""
        return self.sums.users

    def estimate(self) -> MeanEstimate:
        """The mean over users and its error."""
        return self.sums.moments().estimate()


@dataclass(frozen=True)
class SegmentSums(AddsUp):
    """The users and pages of a segment that any metric scores, and the sums of every metric."""

    users: int
    pages: int
    metrics: Mapping[str, ScoreSums]


def mean_estimate(values: Array, weights: Array | None = None) -> MeanEstimate:
    """The mean over users and its error; the error is NaN if the mean rests on one user.

    >>> estimate = mean_estimate(np.array([0.1, 0.3, 0.0, 0.2]))
    >>> round(estimate.mean, 3), round(estimate.error, 4), estimate.df
    (0.15, 0.0645, 3.0)
    """
    return UserSums.of(values[:, None], weights).moments().estimate()


def mean_interval(values: Array, weights: Array | None = None, ci: float = CI) -> tuple[float, float]:
    """The interval of the mean over users; NaN if it rests on one user."""
    return mean_estimate(values, weights).interval(ci)
