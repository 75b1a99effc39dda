"""What is reported of the difference between two systems on one metric: its size, interval and detectability."""

from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np

from carouseval.comparison.crossed_effects import TIE
from carouseval.evaluation.mean_estimates import mean_of
from carouseval.metrics.grid import Array


@dataclass(frozen=True)
class PairStatistics:
    """The differences between a system and its baseline, summarised over users and runs."""

    difference: float  # of the two means
    low: float  # interval of the difference
    high: float
    error: float  # standard error of the difference
    run_error: float  # the part of it that more users would not take away
    df: float  # degrees of freedom of the error
    run_df: float  # and of its part that is due to runs; NaN where runs do not vary
    lift: float  # the difference over the baseline's mean; NaN if that is 0
    lift_low: float  # interval of the lift
    lift_high: float
    effect: float  # Cohen's d_z: the mean of users' differences over their standard deviation; NaN if they do not vary
    wins: int  # users who score higher than under the baseline
    ties: int
    losses: int
    detectable: float  # the smallest true difference that is found significant with 80% power
    users: int
    few_users: bool  # fewer than 10: intervals rely on differences that are nearly normal


PAIR_COLUMNS = tuple(field.name for field in fields(PairStatistics))


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
