"""What compares a pair of systems, summed up over users without rounding: users may be scored in parts, anywhere."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from carouseval.comparison.crossed_effects import TIE, CrossedMeans
from carouseval.comparison.crossed_sums import CrossedSums
from carouseval.comparison.power_analysis import POWER, noncentrality
from carouseval.evaluation.mean_estimates import CI, FEW_USERS, mean_of
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

    def scaled_by_weight(self, mean_weight: float | None = None) -> Array:
        """Differences scaled so that their plain mean is the weighted mean; ``mean_weight`` is that of all users."""
        weights = self.weights
        if weights is None:
            return self.differences
        if mean_weight is None:
            mean_weight = mean_of(weights) if len(weights) else 0.0
        return np.asarray(self.differences * (weights / mean_weight if mean_weight > 0 else weights))

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


@dataclass(frozen=True)
class PairSums:
    """The scores of some users under a baseline and a system, summed up."""

    wins: int
    losses: int
    lowest: float  # of the users' differences; infinite without users
    highest: float
    sums: CrossedSums  # of differences and baseline scores

    @classmethod
    def of(cls, scores: PairScores) -> "PairSums":
        """Sum up users' scores.

        >>> baseline, system = np.array([[0.1], [0.4], [0.3]]), np.array([[0.3], [0.5], [0.3]])
        >>> sums = PairSums.of(PairScores(baseline[:1], system[:1])) + PairSums.of(PairScores(baseline[1:], system[1:]))
        >>> pair = sums.statistics()
        >>> round(pair.difference, 3), round(pair.error, 4), pair.wins, pair.ties, pair.users
        (0.1, 0.0577, 2, 1, 3)
        """
        system, baseline = scores.varying
        return cls(
            wins=scores.wins,
            losses=scores.losses,
            lowest=float(np.min(scores.differences, initial=math.inf)),
            highest=float(np.max(scores.differences, initial=-math.inf)),
            sums=CrossedSums.of_pair(baseline, system, scores.weights, paired=scores.paired),
        )

    def __add__(self, other: "PairSums") -> "PairSums":
        return PairSums(
            wins=self.wins + other.wins,
            losses=self.losses + other.losses,
            lowest=min(self.lowest, other.lowest),
            highest=max(self.highest, other.highest),
            sums=self.sums + other.sums,
        )

    @property
    def users(self) -> int:
        """How many users have scores under every run of both systems."""
        return self.sums.users.users

    @property
    def weighted_users(self) -> int:
        """How many of them have weight."""
        return self.sums.users.weighted_users

    @property
    def mean_weight(self) -> float:
        """The mean weight of users; 1 if there are none."""
        return self.sums.users.mean_weight

    @cached_property
    def difference(self) -> float:
        """The mean of users' differences; NaN if no user has weight."""
        return self.sums.users.mean(0)

    @property
    def means(self) -> CrossedMeans:
        """The means of the difference and of the baseline, and how they vary."""
        return self.sums.means

    @property
    def crossed(self) -> bool:
        """Whether runs vary, so that the difference is tested on crossed effects of users and runs."""
        return bool(self.means.by_run)

    @property
    def all_tie(self) -> bool:
        """Whether no user of several scores differently."""
        return self.users > 1 and not (self.wins or self.losses)

    @cached_property
    def p_value(self) -> float:
        """The p-value of the t-test of the difference; 1 if all users tie."""
        return 1.0 if self.all_tie else self.means.estimate(1, 0).p_value

    @property
    def deviation(self) -> float:
        """The standard deviation of users' differences, weighted; NaN for fewer than two users."""
        users = self.sums.users
        if self.users < 2 or not self.weighted_users:
            return math.nan
        return users.scale * math.sqrt(users.mean_square(0) * self.users / (self.users - 1))

    def statistics(self, *, ci: float = CI, level: float | None = None, alpha: float | None = None) -> PairStatistics:
        """Summarise the pair: intervals at level ``level`` (``ci`` by default), detectability by a test at ``alpha``.

        >>> scores = PairScores(np.full((4, 1), 0.5), np.array([[0.6], [0.8], [0.5], [0.4]]))
        >>> pair = PairSums.of(scores).statistics()
        >>> round(pair.difference, 3), round(pair.lift, 3), pair.wins, pair.ties, pair.losses
        (0.075, 0.15, 2, 1, 1)
        """
        level, alpha = ci if level is None else level, 1 - ci if alpha is None else alpha
        means, difference, deviation = self.means, self.difference, self.deviation
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
            wins=self.wins,
            ties=self.users - self.wins - self.losses,
            losses=self.losses,
            detectable=noncentrality(estimate.df, alpha, POWER) * estimate.error,
            users=self.users,
            few_users=self.weighted_users < FEW_USERS,
        )
