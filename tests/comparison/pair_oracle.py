"""Pairs of systems summarised from all users at once, in floats: what sums over parts of the users must agree with."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from carouseval.comparison.crossed_effects import PAIR_LOADINGS, TIE, CrossedMeans, RunVariance, combined_runs
from carouseval.comparison.pair_sums import PairScores
from carouseval.evaluation.mean_estimates import ShareFactors, mean_of
from carouseval.metrics.grid import Array


def power_of_two(*values: Array) -> float:
    largest = max((float(np.abs(array).max(initial=0.0)) for array in values), default=0.0)
    return math.ldexp(1.0, min(math.frexp(largest)[1], 1023)) if largest > 0 else 1.0


@dataclass(frozen=True)
class PairOracle:
    """A pair, as :class:`PairSums` describes it."""

    scores: PairScores

    @property
    def weights(self) -> Array:
        one = self.scores.weights
        return np.ones(self.scores.users) if one is None else one

    @property
    def share(self) -> Array:
        weights = self.weights[self.weights > 0]
        return np.asarray(weights / weights.sum())

    @property
    def factors(self) -> ShareFactors:
        if self.scores.weights is None:
            return ShareFactors.of_users(self.scores.users)
        return ShareFactors.of_powers(*(float((self.share**power).sum()) for power in (2, 3, 4, 5)))

    @property
    def rests_on_one_user(self) -> bool:
        weights = self.weights[self.weights > 0]
        return len(weights) < 2 or float(weights.max()) > 0.999 * float(weights.sum())

    @property
    def means(self) -> CrossedMeans:
        tables = self.scores.varying
        scale = power_of_two(*tables)
        system, baseline = (table / scale for table in tables)
        columns = np.stack([system.mean(axis=1) - baseline.mean(axis=1), baseline.mean(axis=1)], axis=1)
        average = np.array([mean_of(column, self.scores.weights) for column in columns.T])
        if self.rests_on_one_user:
            return CrossedMeans(average, np.full((2, 2), math.nan), np.zeros((2, 2, 2)), math.nan, (), scale)
        weighted, share, factors = self.weights > 0, self.share, self.factors
        off = (columns - average)[weighted]
        return CrossedMeans(
            means=average,
            by_user=factors.second * np.einsum("u,ui,uj->ij", share**2, off, off),
            third=factors.third * np.einsum("u,ui,uj,uk->ijk", share**3, off, off, off),
            df_users=factors.df,
            by_run=self.by_run([system[weighted], baseline[weighted]]),
            scale=scale,
        )

    def by_run(self, tables: Sequence[Array]) -> tuple[RunVariance, ...]:
        columns = [table[:, :, None] for table in tables]
        if self.scores.paired:
            columns = [np.stack([tables[0] - tables[1], tables[1]], axis=2)]
        parts = [self.run_variance(one) for one in columns]
        return combined_runs(parts, [table.shape[1] for table in tables], PAIR_LOADINGS, self.scores.paired)

    def run_variance(self, columns: Array) -> RunVariance | None:
        if float(np.ptp(columns, axis=1).max(initial=0.0)) <= TIE:
            return None
        run_means = np.einsum("u,urk->rk", self.share, columns)
        off_run = run_means - run_means.mean(axis=0)
        off = columns - columns.mean(axis=1, keepdims=True) - off_run
        return RunVariance.of_runs(off_run, self.factors.second * np.einsum("u,uri,urj->ij", self.share**2, off, off))

    @property
    def difference(self) -> float:
        return mean_of(self.scores.differences, self.scores.weights)

    @property
    def deviation(self) -> float:
        if self.scores.users < 2:
            return math.nan
        off = self.scores.differences - self.difference
        scale = power_of_two(off)
        return scale * math.sqrt(
            mean_of((off / scale) ** 2, self.scores.weights) * self.scores.users / (self.scores.users - 1)
        )

    def statistics(self, ci: float = 0.95, level: float | None = None) -> dict[str, float]:
        """What is reported, but for the detectable difference, which follows from the error."""
        level = ci if level is None else level
        means = self.means
        estimate, baseline = means.estimate(1, 0), means.estimate(0, 1).mean
        (low, high), (lift_low, lift_high) = estimate.interval(level), means.lift_interval(level)
        wins, losses = self.scores.wins, self.scores.losses
        return {
            "difference": self.difference,
            "low": low,
            "high": high,
            "error": estimate.error,
            "run_error": means.run_error,
            "df": estimate.df,
            "run_df": means.run_df,
            "lift": self.difference / baseline if baseline else math.nan,
            "lift_low": lift_low,
            "lift_high": lift_high,
            "effect": self.difference / self.deviation if self.deviation > TIE else math.nan,
            "wins": wins,
            "ties": self.scores.users - wins - losses,
            "losses": losses,
            "users": self.scores.users,
            "few_users": int((self.weights > 0).sum()) < 10,
        }
