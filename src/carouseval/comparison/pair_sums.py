"""Sums over users that compare a pair of systems and add up: users may be scored in parts, on one machine or on many.

Differences and counts are exact, so that they do not depend on the parts; errors and what follows from them agree to
rounding.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from carouseval.comparison.crossed_effects import (
    PAIR_LOADINGS,
    TIE,
    CrossedMeans,
    RunVariance,
    combined_runs,
    run_spread,
    run_tables,
)
from carouseval.comparison.pair_statistics import PairScores, PairStatistics, pair_statistics
from carouseval.evaluation.mean_estimates import CI
from carouseval.evaluation.score_sums import ExactSum, WeightSums, scale_of
from carouseval.metrics.grid import Array


@dataclass(frozen=True)
class UserMoments:
    """Sums over users of products of z = (1, difference, baseline), with weights w.

    Differences and baseline scores are minus their means and on a scale; a change of these is a linear map of z.
    """

    first: Array  # w z z'
    squares: Array  # w^2 z z'
    cubes: Array  # w^3 z z z

    @classmethod
    def of(cls, off: Array, weights: Array) -> "UserMoments":
        """From differences and baseline scores minus their means, (users, 2)."""
        z = np.column_stack([np.ones(len(off)), off])
        return cls(
            first=np.einsum("u,ui,uj->ij", weights, z, z),
            squares=np.einsum("u,ui,uj->ij", weights**2, z, z),
            cubes=np.einsum("u,ui,uj,uk->ijk", weights**3, z, z, z),
        )

    def mapped(self, factor: float, shift: Array) -> "UserMoments":
        """The moments of values times ``factor`` plus ``shift``."""
        to = np.diag([1.0, factor, factor])
        to[1:, 0] = shift
        cubes = np.einsum("ai,bj,ck,ijk->abc", to, to, to, self.cubes)
        return UserMoments(to @ self.first @ to.T, to @ self.squares @ to.T, cubes)

    def __add__(self, other: "UserMoments") -> "UserMoments":
        return UserMoments(self.first + other.first, self.squares + other.squares, self.cubes + other.cubes)


@dataclass(frozen=True)
class RunSums:
    """Sums over users of v, their scores under each run minus their mean over runs, with weights w."""

    first: Array  # w v, (runs, columns)
    squares: Array  # w^2 v, (runs, columns)
    products: Array  # w^2 v v', summed over runs, (columns, columns)
    spread: float  # how far apart the runs of a user with weight are at most

    @classmethod
    def of(cls, columns: Array, weights: Array) -> "RunSums":
        """From scores (users, runs, columns)."""
        off = columns - columns.mean(axis=1, keepdims=True)
        return cls(
            first=np.einsum("u,urk->rk", weights, off),
            squares=np.einsum("u,urk->rk", weights**2, off),
            products=np.einsum("u,uri,urj->ij", weights**2, off, off),
            spread=run_spread(columns[weights > 0]),
        )

    def scaled(self, factor: float) -> "RunSums":
        """The sums of scores times ``factor``."""
        return RunSums(
            self.first * factor, self.squares * factor, self.products * factor * factor, self.spread * factor
        )

    def __add__(self, other: "RunSums") -> "RunSums":
        return RunSums(
            first=self.first + other.first,
            squares=self.squares + other.squares,
            products=self.products + other.products,
            spread=max(self.spread, other.spread),
        )

    def variance(self, weights: WeightSums) -> RunVariance | None:
        """The variance of the mean over runs; None if runs do not vary."""
        if self.spread <= TIE:
            return None
        total, (second, _, _) = float(weights.total), weights.factors
        off = self.first / total
        cross = off.T @ self.squares
        cells = self.products - cross - cross.T + weights.powers[0] * off.T @ off
        return RunVariance.of_runs(off, second * cells / total**2)


@dataclass(frozen=True)
class PairSums:
    """The scores of some users under a baseline and a system, summed up as :class:`PairScores` compares them."""

    wins: int
    losses: int
    lowest: float  # of the users' differences; infinite without users
    highest: float
    totals: tuple[ExactSum, ...]  # of weighted differences and baseline scores
    weights: WeightSums
    scale: float  # of all sums below: a power of two near the largest score
    moments: UserMoments
    runs: tuple[RunSums, ...]  # of the system and of the baseline, or one of both columns if runs are paired

    @classmethod
    def of(cls, scores: PairScores) -> "PairSums":
        """Sum up users' scores.

        >>> baseline, system = np.array([[0.1], [0.4], [0.3]]), np.array([[0.3], [0.5], [0.3]])
        >>> sums = PairSums.of(PairScores(baseline[:1], system[:1])) + PairSums.of(PairScores(baseline[1:], system[1:]))
        >>> pair = sums.statistics()
        >>> round(pair.difference, 3), round(pair.error, 4), pair.wins, pair.ties, pair.users
        (0.1, 0.0577, 2, 1, 3)
        """
        tables = scores.varying
        own = np.ones(len(tables[0])) if scores.weights is None else scores.weights
        values = np.stack([scores.differences, tables[1].mean(axis=1)], axis=1)
        totals = tuple(ExactSum.of((column * own).tolist()) for column in values.T)
        weights, scale = WeightSums.of(own), scale_of(*tables)
        off = values - _means(totals, weights) if weights.weighted_users else values
        runs = run_tables([table / scale for table in tables], PAIR_LOADINGS, scores.paired)
        return cls(
            wins=scores.wins,
            losses=scores.losses,
            lowest=float(scores.differences.min(initial=math.inf)),
            highest=float(scores.differences.max(initial=-math.inf)),
            totals=totals,
            weights=weights,
            scale=scale,
            moments=UserMoments.of(off / scale, own),
            runs=tuple(RunSums.of(columns, own) for columns in runs),
        )

    def __add__(self, other: "PairSums") -> "PairSums":
        totals = tuple(one + more for one, more in zip(self.totals, other.totals, strict=True))
        weights, scale = self.weights + other.weights, max(self.scale, other.scale)
        means = _means(totals, weights)
        return PairSums(
            wins=self.wins + other.wins,
            losses=self.losses + other.losses,
            lowest=min(self.lowest, other.lowest),
            highest=max(self.highest, other.highest),
            totals=totals,
            weights=weights,
            scale=scale,
            moments=self._moments_about(means, scale) + other._moments_about(means, scale),
            runs=tuple(
                one.scaled(self.scale / scale) + more.scaled(other.scale / scale)
                for one, more in zip(self.runs, other.runs, strict=True)
            ),
        )

    def _moments_about(self, means: Array, scale: float) -> UserMoments:
        """The moments about other means, on another scale."""
        shift = (_means(self.totals, self.weights) - means) / scale if self.weights.weighted_users else np.zeros(2)
        return self.moments.mapped(self.scale / scale, shift)

    @property
    def users(self) -> int:
        """How many users have scores under every run of both systems."""
        return self.weights.users

    @property
    def difference(self) -> float:
        """The mean of users' differences; NaN if no user has weight."""
        return self.weights.mean(self.totals[0])

    @property
    def mean_weight(self) -> float:
        """The mean weight of users; 1 if there are none."""
        return float(self.weights.total) / self.users if self.users else 1.0

    @property
    def crossed(self) -> bool:
        """Whether runs vary, so that the difference is tested on crossed effects of users and runs."""
        return bool(self.means.by_run)

    @cached_property
    def means(self) -> CrossedMeans:
        """The means of both systems and how they vary."""
        means = _means(self.totals, self.weights) / self.scale
        if self.weights.rest_on_one_user:
            return CrossedMeans.of_one_user(means, self.scale)
        total, (second, third, df) = float(self.weights.total), self.weights.factors
        parts = [runs.variance(self.weights) for runs in self.runs]
        return CrossedMeans(
            means=means,
            by_user=second * self.moments.squares[1:, 1:] / total**2,
            third=third * self.moments.cubes[1:, 1:, 1:] / total**3,
            df_users=df,
            by_run=combined_runs(parts, [len(runs.first) for runs in self.runs], PAIR_LOADINGS, len(parts) == 1),
            scale=self.scale,
        )

    @property
    def deviation(self) -> float:
        """The standard deviation of users' differences, weighted; NaN for fewer than two users."""
        if self.users < 2 or not self.weights.weighted_users:
            return math.nan
        mean_square = float(self.moments.first[1, 1]) / float(self.weights.total)
        return self.scale * math.sqrt(max(0.0, mean_square) * self.users / (self.users - 1))

    def statistics(self, *, ci: float = CI, level: float | None = None, alpha: float | None = None) -> PairStatistics:
        """Summarise the pair, as :meth:`PairScores.statistics` does."""
        return pair_statistics(
            self.means,
            difference=self.difference,
            deviation=self.deviation,
            wins=self.wins,
            losses=self.losses,
            users=self.users,
            weighted_users=self.weights.weighted_users,
            ci=ci,
            level=level,
            alpha=alpha,
        )


def _means(totals: tuple[ExactSum, ...], weights: WeightSums) -> Array:
    """The means of differences and of the baseline; NaN if no user has weight."""
    return np.array([weights.mean(total) for total in totals])
