"""What users add to a comparison: sums that compare systems, made once for users in one part or in many."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from carouseval.comparison.crossed_sums import CrossedSums
from carouseval.comparison.logged_judgments import share_counts
from carouseval.comparison.pair_sums import PairSums
from carouseval.comparison.pair_tests import PairTests, PairUsers
from carouseval.comparison.run_pages import RunPages, linear_metrics
from carouseval.comparison.user_scores import UserScores, segment_scores
from carouseval.errors import ParameterError
from carouseval.evaluation.columns import Columns, of_metric
from carouseval.evaluation.exact_sums import AddsUp, Exact, exact_sum
from carouseval.evaluation.page_table import PageTable
from carouseval.evaluation.plan import ScoringPlan
from carouseval.evaluation.scoring.shown_items import ShareCounts
from carouseval.evaluation.systems import Run, by_system
from carouseval.messages import setting
from carouseval.metrics.grid import Array

PairKey: TypeAlias = tuple[tuple[Any, ...], str, str, str]
"""Segment, metric, baseline and system."""

OnGroup: TypeAlias = Callable[[Mapping[PairKey, "PairPart"], Sequence[PairUsers]], None]
"""What is told of pairs that have the same users, while these are at hand."""


@dataclass(frozen=True)
class PairPart:
    """What some users add to a pair of systems by one metric."""

    sums: PairSums
    gains: tuple[Exact, Exact]  # of the baseline and the system: what unjudged items could add, in mean gains
    largest: float  # the largest absolute difference, times the user's weight

    @classmethod
    def of(cls, pair: PairUsers) -> "PairPart":
        """Sum up the users of a pair."""
        weights = np.ones(len(pair.users)) if pair.scores.weights is None else pair.scores.weights
        before, after = (Exact() if gain is None else exact_sum(gain * weights) for gain in pair.unjudged)
        largest = float(np.abs(pair.scores.differences * weights).max(initial=0.0))
        return cls(PairSums.of(pair.scores), (before, after), largest)

    def __add__(self, other: "PairPart") -> "PairPart":
        (before, after), (their_before, their_after) = self.gains, other.gains
        gains = before + their_before, after + their_after
        return PairPart(self.sums + other.sums, gains, max(self.largest, other.largest))


@dataclass(frozen=True)
class SummedUsers:
    """All users of a pair, as significance tests with sums of their own need to know them; arrays of one value."""

    part: PairPart

    @property
    def users(self) -> int:
        """How many users there are."""
        return self.part.sums.users

    @property
    def largest(self) -> Array:
        """The largest absolute difference, scaled by weight."""
        mean_weight = self.part.sums.mean_weight
        return np.array([self.part.largest / mean_weight if mean_weight > 0 else 0.0])

    @property
    def mean(self) -> Array:
        """The mean difference."""
        return np.array([self.part.sums.difference])

    @property
    def error(self) -> Array:
        """The standard error of the mean."""
        self._require_unscaled("their standard error")
        return np.array([self.part.sums.means.estimate(1, 0).error])

    @property
    def furthest(self) -> Array:
        """The largest absolute deviation of a difference from the mean."""
        self._require_unscaled("their largest deviation from the mean")
        sums = self.part.sums
        return np.array([max(sums.highest - sums.difference, sums.difference - sums.lowest)])

    def _require_unscaled(self, what: str) -> None:
        """Refuse what one machine takes of differences scaled by weight, of which these sums tell another number."""
        if self.part.sums.sums.users.weighted:
            raise ParameterError(
                f"{setting('test')}: it needs to know of all users {what}, to which parts do not add up with "
                f"{setting('weight')}. Its class must say merges_weights = False."
            )


@dataclass(frozen=True)
class ComparisonSums(AddsUp):
    """What some users add to a comparison: every field is a mapping whose values add up."""

    systems: Mapping[tuple[str, str], CrossedSums]  # by system and metric
    pairs: Mapping[PairKey, PairPart]
    shares: Mapping[tuple[str | None, str, int], ShareCounts]  # by metric, system and run
    left_out: Mapping[tuple[str, str], int]  # by system and metric: users without a score
    scored_runs: Mapping[tuple[str, str], int]  # of systems with several: users with a score under any run
    gains: Mapping[str, Exact]  # by metric: of all judgments
    gaining: Mapping[str, int]  # by metric: judgments with a gain

    @classmethod
    def of(
        cls,
        pages: Mapping[Run, PageTable],
        run_pages: Mapping[Run, RunPages],
        left_out: Mapping[Run, Mapping[str, int]],
        tests: PairTests,
        plan: ScoringPlan,
        on_group: OnGroup | None = None,
    ) -> tuple["ComparisonSums", UserScores]:
        """Sum up users; their scores, too, over all of their pages.

        ``left_out`` are the users without a score in each run, by metric.
        """
        gains = {run: run_pages[run].with_unjudged_gain(table) for run, table in pages.items()}
        columns = [*tests.metrics, *(of_metric(Columns.METRIC_UNJUDGED_GAIN, name) for name in linear_metrics(plan))]
        scores = UserScores.of(gains, columns, [])
        systems, without, scored = {}, {}, {}
        for name, tables in by_system(pages).items():
            for metric in tests.metrics:
                values, weights = scores.of_system(metric, name)
                if len(tables) == 1:
                    without[name, metric] = left_out[name, 0][metric]
                else:  # those without a score in some run
                    without[name, metric] = _users(tables) - len(values)
                    scored[name, metric] = scores.scored_under_any_run(metric, name)
                if not tests.runs_vary:
                    values = values.mean(axis=1, keepdims=True)
                systems[name, metric] = CrossedSums.of_system(values, weights)
        pairs: dict[PairKey, PairPart] = {}
        by_segment = segment_scores(gains, columns, plan.settings.by_columns)
        for segment, part in itertools.chain([((), scores)], by_segment):
            for metric in tests.metrics:
                for group in tests.groups(part, metric):
                    keys = [(segment, metric, pair.baseline, pair.system) for pair in group]
                    parts = dict(zip(keys, map(PairPart.of, group), strict=True))
                    pairs |= parts
                    if on_group is not None:
                        on_group(parts, group)
        judged = next(iter(run_pages.values())).shown.judged
        items = by_system({run: of_run.shown for run, of_run in run_pages.items()})
        metrics = dict.fromkeys(name if name in plan.metrics else None for name in plan.names)
        counted = {metric: share_counts(items, metric) for metric in metrics}
        sums = cls(
            systems=systems,
            pairs=pairs,
            shares={
                (metric, name, run): counts
                for metric, by_system in counted.items()
                for name, runs in by_system.items()
                for run, counts in enumerate(runs)
            },
            left_out=without,
            scored_runs=scored,
            gains={name: exact_sum(judged.gains[name][judged.gains[name] > 0]) for name in plan.metrics},
            gaining={name: int((judged.gains[name] > 0).sum()) for name in plan.metrics},
        )
        return sums, scores

    def mean_gain(self, metric: str) -> float:
        """The mean gain of judgments that have one."""
        return float(self.gains[metric]) / self.gaining[metric] if self.gaining[metric] else 0.0


def _users(tables: Sequence[PageTable]) -> int:
    """How many users have a page in any of some tables."""
    return pl.concat([table.frame.select(Columns.USER) for table in tables])[Columns.USER].n_unique()
