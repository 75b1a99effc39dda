"""Means over users of one or two systems, when users vary and, where a system has several runs, its runs vary too.

A score is the sum of effects of its system, its user and its run, and of what is peculiar to this user under this run
(crossed random effects). The variance of a mean, or of a difference of means, then has two parts,

    V = V_users + max(0, V_runs - V_cells):

V_users comes from users' scores averaged over runs, V_runs from the means of runs, and V_cells, the part of what is
peculiar to single scores, is in both of them. The degrees of freedom are Satterthwaite's,

    df = V'^2 / (V_users^2 / df_users + C^2 / df_runs),    at least min(df_users, df_runs),

where V' is V with V_runs' = (1 + 6 / df_runs^2) V_runs in place of V_runs, because the variance of few runs is often
far too small, and C is V_runs' minus a quarter of V_cells, which V contains only in part. Both numbers were found by
simulation: false positives stay below 6% from two runs on. For df_runs the runs of both systems are assumed to vary
alike (Bell and McCaffrey, 2002), although V_runs itself has a variance for each; a system whose runs are all equal is
taken as not varying. One run against several is assumed to vary as those do. Runs that are paired, by seed for example,
vary as their differences do. With one run each V = V_users, and results are conditional on these runs.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from carouseval.evaluation.mean_estimates import MeanEstimate
from carouseval.metrics.grid import Array

TIE = 1e-12  # smaller differences are rounding errors and count as ties
# how much of the difference between two systems, and of the baseline's mean, is the mean of the system and the baseline
PAIR_LOADINGS = np.array([1.0, 0.0]), np.array([-1.0, 1.0])


@dataclass(frozen=True)
class RunVariance:
    """How the means of runs vary: covariances of the columns of :class:`CrossedMeans`."""

    variance: Array
    cells: Array  # the part of what is peculiar to single scores
    assumed: Array  # up to a factor, if the runs of all systems vary alike
    df: float

    @classmethod
    def of_runs(cls, off: Array, cells: Array) -> "RunVariance":
        """From the means of runs minus their mean, (runs, columns), and the variance of cells summed over runs."""
        pairs = len(off) * (len(off) - 1)
        variance = off.T @ off / pairs
        return cls(variance, cells / pairs, variance, len(off) - 1)


@dataclass(frozen=True)
class CrossedMeans:
    """The means of a few columns of scores, such as a difference and its baseline, and how they vary together.

    The columns of two systems are the difference (the system minus its baseline) and the baseline; of one system, its
    scores.
    """

    means: Array
    by_user: Array  # covariance of the means over users
    third: Array  # their third moments
    df_users: float
    by_run: tuple[RunVariance, ...]
    scale: float = 1.0  # of the scores, a power of two that keeps their squares and cubes within range

    def estimate(self, *coefficients: float) -> MeanEstimate:
        """The estimate of a combination of the means: ``estimate(1, 0)`` of the difference between two systems."""
        c = np.array(coefficients)
        mean = float(c @ self.means)
        users = float(c @ self.by_user @ c)
        if math.isnan(users):
            return MeanEstimate.of_moments(mean, users, math.nan, math.nan, self.scale)
        total, df = max(users, 0.0), self.df_users
        runs = sum(float(c @ part.variance @ c) for part in self.by_run)
        if runs > 0:
            excess = self._run_excess(c)
            total += max(0.0, excess)
            df = satterthwaite_df(users, self.df_users, runs, self._df_runs(c), runs - excess)
        third = float(np.einsum("ijk,i,j,k->", self.third, c, c, c))
        return MeanEstimate.of_moments(mean, total, third, df, self.scale)

    @property
    def _between_runs(self) -> Array:
        """The covariance of the means that is due to runs alone."""
        return sum((part.variance - part.cells for part in self.by_run), np.zeros_like(self.by_user))

    def _run_excess(self, coefficients: Array) -> float:
        """V_runs - V_cells of a combination of the means."""
        return float(coefficients @ self._between_runs @ coefficients)

    def _df_runs(self, coefficients: Array) -> float:
        """The degrees of freedom of V_runs if the runs of all systems vary alike; NaN where runs do not vary."""
        assumed = np.array([coefficients @ part.assumed @ coefficients for part in self.by_run])
        squares = (assumed**2 / [part.df for part in self.by_run]).sum()
        return float(assumed.sum() ** 2 / squares) if squares > 0 else math.nan

    @property
    def run_df(self) -> float:
        """The degrees of freedom of the variance between runs in the first column; NaN where runs do not vary."""
        return self._df_runs(np.eye(len(self.means))[0])

    @property
    def run_error(self) -> float:
        """The standard error of the first column that more users would not take away; 0 where runs do not vary."""
        return math.sqrt(max(0.0, self._run_excess(np.eye(len(self.means))[0]))) * self.scale

    def lift_interval(self, ci: float) -> tuple[float, float]:
        """The interval of the lift, the difference over the baseline's mean, by Fieller's method.

        It holds the lifts at which (difference - lift * baseline) is no further from 0 than the ends of the interval of
        the difference are from it, in standard errors; so it holds 0 if that interval does. NaN where it has no ends,
        because the baseline's mean may be 0.
        """
        difference, baseline = self.means.tolist()
        if not baseline > 0:
            return math.nan, math.nan
        covariance = self.by_user + (self._between_runs if self._run_excess(np.array([1.0, 0.0])) > 0 else 0.0)
        lower, upper = self.estimate(1, 0).ends(ci)
        ends = []
        for quantile, side in ((upper, -1), (lower, 1)):
            (dd, db), (_, bb) = quantile**2 * covariance
            square, product = baseline**2 - bb, difference * baseline - db
            inside = product**2 - square * (difference**2 - dd)
            if not (square > 0 and inside >= 0):
                return math.nan, math.nan
            ends.append((product + side * math.sqrt(inside)) / square)
        return ends[0], ends[1]


def satterthwaite_df(users: float, df_users: float, runs: float, df_runs: float, cells: float = 0.0) -> float:
    """The degrees of freedom of V; see the head of this file."""
    runs *= 1 + 6 / df_runs**2
    excess = max(0.0, runs - cells)
    charged = min(runs, excess + 0.75 * cells)
    return max((users + excess) ** 2 / (users**2 / df_users + charged**2 / df_runs), min(df_users, df_runs))


def combined_runs(
    parts: Sequence[RunVariance | None], counts: Sequence[int], loadings: Sequence[Array], paired: bool
) -> tuple[RunVariance, ...]:
    """What varies from run to run, from the variances of each system, or of both if paired, and their numbers of runs.

    Nothing where every system has one run, or runs that are equal.
    """
    if paired:
        return tuple(part for part in parts if part is not None)
    combined = []
    for part, count, loading in zip(parts, counts, loadings, strict=True):
        if part is None:
            continue
        spread = np.outer(loading, loading)
        for other, other_count in zip(loadings, counts, strict=True):
            if other_count == 1:  # varies as this system's runs do, without a mean over them
                spread = spread + count * np.outer(other, other)
        variance, cells = float(part.variance[0, 0]), float(part.cells[0, 0])
        combined.append(RunVariance(variance * spread, cells * spread, spread / count, part.df))
    return tuple(combined)
