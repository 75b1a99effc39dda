"""What is reported of the difference between two systems on one metric: its size, interval and detectability."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from carouseval.comparison.crossed_effects import TIE, CrossedMeans
from carouseval.comparison.users_needed import POWER, noncentrality
from carouseval.evaluation.mean_estimates import CI, FEW_USERS, mean_of, power_of_two
from carouseval.metrics.grid import Array


@dataclass(frozen=True)
class PairStatistics:
    """The differences between a system and its baseline, summarised over users and runs: ``result_columns.py``."""

    difference: float
    low: float
    high: float
    error: float
    run_error: float
    df: float
    run_df: float
    lift: float
    lift_low: float
    lift_high: float
    effect: float
    wins: int
    ties: int
    losses: int
    detectable: float
    users: int
    few_users: bool


@dataclass(frozen=True)
class PairScores:
    """Users' scores under a baseline and a system, each (users, runs), and the weights of users.

    ``runs_vary``: runs are a sample too, not only users; ``paired``: the first runs of both systems belong together,
    as do the second, and so on.
    """

    baseline: Array
    system: Array
    weights: Array | None = None
    runs_vary: bool = True
    paired: bool = False

    @cached_property
    def differences(self) -> Array:
        """Every user's difference, averaged over runs."""
        return np.asarray(self.system.mean(axis=1) - self.baseline.mean(axis=1))

    @property
    def wins(self) -> int:
        """The users who score higher than under the baseline."""
        return int((self.differences > TIE).sum())

    @property
    def losses(self) -> int:
        """The users who score lower than under the baseline."""
        return int((self.differences < -TIE).sum())

    @property
    def varying(self) -> tuple[Array, Array]:
        """Scores (users, runs) of the system and of the baseline; their means over runs, where runs do not vary."""
        if self.runs_vary:
            return self.system, self.baseline
        return self.system.mean(axis=1, keepdims=True), self.baseline.mean(axis=1, keepdims=True)

    @property
    def users(self) -> int:
        """How many users have scores under every run of both systems."""
        return len(self.differences)

    @property
    def crossed(self) -> bool:
        """Whether runs vary, so that the difference is tested on crossed effects of users and runs."""
        return bool(self.means.by_run)

    @cached_property
    def means(self) -> CrossedMeans:
        """The means of both systems and how they vary."""
        system, baseline = self.varying
        return CrossedMeans.of_pair(baseline, system, self.weights, paired=self.paired)

    @property
    def deviation(self) -> float:
        """The standard deviation of users' differences, weighted; NaN for fewer than two users."""
        values, weights = self.differences, self.weights
        if len(values) < 2:
            return math.nan
        off = values - mean_of(values, weights)
        scale = power_of_two(off)
        mean_square = mean_of((off / scale) ** 2, weights)
        return scale * math.sqrt(mean_square * len(values) / (len(values) - 1))

    def statistics(self, *, ci: float = CI, level: float | None = None, alpha: float | None = None) -> PairStatistics:
        """Summarise the pair: intervals at level ``level`` (``ci`` by default), detectability by a test at ``alpha``.

        >>> scores = PairScores(np.full((4, 1), 0.5), np.array([[0.6], [0.8], [0.5], [0.4]]))
        >>> pair = scores.statistics()
        >>> round(pair.difference, 3), round(pair.lift, 3), pair.wins, pair.ties, pair.losses
        (0.075, 0.15, 2, 1, 1)
        """
        users = len(self.differences)
        return pair_statistics(
            self.means,
            difference=mean_of(self.differences, self.weights),
            deviation=self.deviation,
            wins=self.wins,
            losses=self.losses,
            users=users,
            weighted_users=users if self.weights is None else int(np.count_nonzero(self.weights)),
            ci=ci,
            level=level,
            alpha=alpha,
        )


def pair_statistics(
    means: CrossedMeans,
    *,
    difference: float,
    deviation: float,
    wins: int,
    losses: int,
    users: int,
    weighted_users: int,
    ci: float,
    level: float | None,
    alpha: float | None,
) -> PairStatistics:
    """Summarise a pair from its means, the mean and standard deviation of users' differences, and counts of users."""
    level, alpha = ci if level is None else level, 1 - ci if alpha is None else alpha
    estimate, baseline = means.estimate(1, 0), means.estimate(0, 1).mean
    low, high = estimate.interval(level)
    lift_low, lift_high = means.lift_interval(level)
    return PairStatistics(
        difference=difference,
        low=low,
        high=high,
        error=estimate.error,
        run_error=means.run_error,
        df=estimate.df,
        run_df=means.run_df,
        lift=difference / baseline if baseline else math.nan,
        lift_low=lift_low,
        lift_high=lift_high,
        effect=difference / deviation if deviation > TIE else math.nan,
        wins=wins,
        ties=users - wins - losses,
        losses=losses,
        detectable=noncentrality(estimate.df, alpha, POWER) * estimate.error,
        users=users,
        few_users=weighted_users < FEW_USERS,
    )
