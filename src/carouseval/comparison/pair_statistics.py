"""What is reported of the difference between two systems on one metric: its size, interval and detectability."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from carouseval.comparison.crossed_effects import TIE
from carouseval.evaluation.mean_estimates import mean_of
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
