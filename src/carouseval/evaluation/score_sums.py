"""Sums of users' scores that add up: users may be scored in parts, on one machine or on many.

Means are exact, so that they do not depend on the parts; errors and skewness agree to rounding.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from carouseval.evaluation.mean_estimates import MeanEstimate, has_nearly_all, power_of_two, share_factors
from carouseval.metrics.grid import Array


@dataclass(frozen=True)
class ExactSum:
    """A sum without rounding, as a few floats that add up to it.

    >>> float(ExactSum.of([1e100, 1.0, -1e100]) + ExactSum.of([0.5]))
    1.5
    """

    parts: tuple[float, ...] = ()

    @classmethod
    def of(cls, values: Iterable[float]) -> "ExactSum":
        """The sum of some values."""
        rest, parts = list(values), []
        while part := math.fsum(rest):
            parts.append(part)
            rest.append(-part)
        return cls(tuple(parts))

    def __add__(self, other: "ExactSum") -> "ExactSum":
        return ExactSum.of((*self.parts, *other.parts))

    def __float__(self) -> float:
        return math.fsum(self.parts)


@dataclass(frozen=True)
class Moments:
    """Sums over users of w^2 d^j and w^3 d^j, with weights w and values d = (x - center) / scale."""

    center: float
    scale: float
    squares: tuple[float, float, float]  # j from 0 to 2, of w^2
    cubes: tuple[float, float, float, float]  # j from 0 to 3, of w^3

    @classmethod
    def of(cls, values: Array, weights: Array, center: float) -> "Moments":
        """About a value near the mean, so that nothing is lost to rounding."""
        off = values - center
        scale = scale_of(off)
        off = off / scale
        s0, s1, s2 = (float((weights**2 * off**power).sum()) for power in range(3))
        c0, c1, c2, c3 = (float((weights**3 * off**power).sum()) for power in range(4))
        return cls(center, scale, (s0, s1, s2), (c0, c1, c2, c3))

    def about(self, center: float, scale: float | None = None) -> "Moments":
        """The same about another center, and on another scale."""
        scale = max(self.scale, scale_of(np.array([self.center - center]))) if scale is None else scale
        by, ratio = (self.center - center) / scale, self.scale / scale
        (s0, s1, s2), (c0, c1, c2, c3) = self.squares, self.cubes
        s1, s2, c1, c2, c3 = s1 * ratio, s2 * ratio**2, c1 * ratio, c2 * ratio**2, c3 * ratio**3
        squares = s0, s1 + by * s0, s2 + 2 * by * s1 + by**2 * s0
        cubes = c0, c1 + by * c0, c2 + 2 * by * c1 + by**2 * c0, c3 + 3 * by * c2 + 3 * by**2 * c1 + by**3 * c0
        return Moments(center, scale, squares, cubes)

    def __add__(self, other: "Moments") -> "Moments":
        scale = max(self.scale, other.scale, scale_of(np.array([self.center - other.center])))
        ours, theirs = self.about(self.center, scale), other.about(self.center, scale)
        s0, s1, s2 = (a + b for a, b in zip(ours.squares, theirs.squares, strict=True))
        c0, c1, c2, c3 = (a + b for a, b in zip(ours.cubes, theirs.cubes, strict=True))
        return Moments(self.center, scale, (s0, s1, s2), (c0, c1, c2, c3))


def scale_of(*values: Array) -> float:
    """A power of two near the largest of these; the smallest there is if all are 0."""
    return power_of_two(*values) if any(array.any() for array in values) else 2.0**-1022


@dataclass(frozen=True)
class WeightSums:
    """The weights of some users, summed up; without weights every user has weight 1."""

    users: int
    total: ExactSum
    powers: tuple[float, ...]  # sums of w^2 to w^5
    weighted_users: int  # of weight above 0
    largest: float

    @classmethod
    def of(cls, weights: Array) -> "WeightSums":
        """Sum up users' weights."""
        return cls(
            users=len(weights),
            total=ExactSum.of(weights.tolist()),
            powers=tuple(float((weights**power).sum()) for power in (2, 3, 4, 5)),
            weighted_users=int((weights > 0).sum()),
            largest=float(weights.max(initial=0.0)),
        )

    def __add__(self, other: "WeightSums") -> "WeightSums":
        return WeightSums(
            users=self.users + other.users,
            total=self.total + other.total,
            powers=tuple(a + b for a, b in zip(self.powers, other.powers, strict=True)),
            weighted_users=self.weighted_users + other.weighted_users,
            largest=max(self.largest, other.largest),
        )

    def mean(self, total: ExactSum) -> float:
        """The mean over users, from their sum of weighted values; NaN if no user has weight."""
        return float(total) / float(self.total) if self.weighted_users else math.nan

    @property
    def rest_on_one_user(self) -> bool:
        """Whether nothing is known of the error of a mean, as ``rests_on_one_user`` has it."""
        return self.weighted_users < 2 or has_nearly_all(self.largest, float(self.total))

    @property
    def factors(self) -> tuple[float, float, float]:
        """What makes estimates of moments of the mean unbiased: ``share_factors``."""
        return share_factors(*(one / float(self.total) ** power for power, one in enumerate(self.powers, start=2)))


@dataclass(frozen=True)
class ScoreSums:
    """The scores of some users by one metric, summed up."""

    pages: int
    total: ExactSum  # of weighted scores
    weights: WeightSums
    moments: Moments | None = None  # None: no user has weight

    @classmethod
    def of(cls, values: Array, weights: Array | None, pages: int) -> "ScoreSums":
        """Sum up users' scores.

        >>> sums = ScoreSums.of(np.array([0.1, 0.3]), None, 2) + ScoreSums.of(np.array([0.0, 0.2]), None, 3)
        >>> sums.pages, round(sums.estimate().mean, 3), round(sums.estimate().error, 4), sums.estimate().df
        (5, 0.15, 0.0645, 3.0)
        """
        own = np.ones(len(values)) if weights is None else weights
        total, sums = ExactSum.of((values * own).tolist()), WeightSums.of(own)
        moments = Moments.of(values, own, sums.mean(total)) if sums.weighted_users else None
        return cls(pages, total, sums, moments)

    def __add__(self, other: "ScoreSums") -> "ScoreSums":
        if self.moments is None or other.moments is None:
            moments = self.moments or other.moments
        else:
            moments = self.moments + other.moments
        return ScoreSums(self.pages + other.pages, self.total + other.total, self.weights + other.weights, moments)

    @property
    def users(self) -> int:
        """How many users have a score."""
        return self.weights.users

    def estimate(self) -> MeanEstimate:
        """The mean over users and its error, as ``mean_estimate`` has them."""
        mean = self.weights.mean(self.total)
        if self.moments is None or self.weights.rest_on_one_user:
            return MeanEstimate(mean, math.nan, math.nan)
        moments = self.moments.about(mean)
        weight = float(self.weights.total)
        second, third, df = self.weights.factors
        error = math.sqrt(max(0.0, second * moments.squares[2])) / weight
        skewness = third * moments.cubes[3] / weight**3 / error**3 if error > 0 else 0.0
        return MeanEstimate(mean, error * moments.scale, df, skewness)
