"""Some users of all systems, scored apart from the other users; what is known of them adds up to a comparison."""

import itertools
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import polars as pl

from carouseval.comparison.crossed_sums import CrossedSums
from carouseval.comparison.logged_judgments import share_counts
from carouseval.comparison.pair_sums import PairSums
from carouseval.comparison.pair_tests import PairTests
from carouseval.comparison.run_pages import RunPages, linear_metrics, unjudged_gain
from carouseval.comparison.systems import left_out, naming, require_same_ideals
from carouseval.comparison.user_scores import UserScores
from carouseval.evaluation.columns import Columns
from carouseval.evaluation.exact_sums import Exact, exact_sum
from carouseval.evaluation.parts import PartSums, part_sources, score_part
from carouseval.evaluation.plan import ScoringPlan
from carouseval.evaluation.reading.inputs import JudgedSources, OtherUsers, Reading
from carouseval.evaluation.results import Evaluation
from carouseval.evaluation.scoring.page_ideals import PageIdeals
from carouseval.evaluation.scoring.shown_items import ShareCounts
from carouseval.metrics.grid import Array

Run = tuple[str, int]  # a system, and the number of its run from 0
PairKey = tuple[tuple[Any, ...], str, str, str]  # segment, metric, baseline and system


@dataclass(frozen=True)
class PairPart:
    """What some users add to a pair of systems by one metric."""

    sums: PairSums
    gains: tuple[Exact, Exact]  # of the baseline and the system: what unjudged items could add, in mean gains
    largest: float  # the largest absolute difference, times the user's weight

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
        """The standard error of the mean; with weights that of the weighted mean."""
        return np.array([self.part.sums.means.estimate(1, 0).error])

    @property
    def furthest(self) -> Array:
        """The largest absolute deviation of a difference from the mean, without weights."""
        sums = self.part.sums
        return np.array([max(sums.highest - sums.difference, sums.difference - sums.lowest)])


@dataclass(frozen=True)
class ComparisonPart:
    """What some users add to a comparison: every field is a mapping whose values add up."""

    runs: Mapping[Run, PartSums]
    systems: Mapping[tuple[str, str], CrossedSums]  # by system and metric
    pairs: Mapping[PairKey, PairPart]
    shares: Mapping[tuple[str | None, str, int], ShareCounts]  # by metric, system and run
    left_out: Mapping[tuple[str, str], int]  # by system and metric: users without a score
    scored_runs: Mapping[tuple[str, str], int]  # users with a score under any run
    gains: Mapping[str, Exact]  # by metric: of all judgments
    gaining: Mapping[str, int]  # by metric: judgments with a gain

    def __add__(self, other: "ComparisonPart") -> "ComparisonPart":
        return ComparisonPart(*(_sum(getattr(self, one.name), getattr(other, one.name)) for one in fields(self)))

    def mean_gain(self, metric: str) -> float:
        """The mean gain of judgments that have one."""
        return float(self.gains[metric]) / self.gaining[metric] if self.gaining[metric] else 0.0


def _sum(ours: Mapping[Any, Any], theirs: Mapping[Any, Any]) -> dict[Any, Any]:
    keys = dict.fromkeys([*ours, *theirs])
    return {key: ours[key] + theirs[key] if key in ours and key in theirs else {**ours, **theirs}[key] for key in keys}


def compare_part(
    tables: Mapping[str, pl.DataFrame],
    layouts: Mapping[Run, pl.DataFrame],
    items: pl.DataFrame | None,
    plan: ScoringPlan,
    tests: PairTests,
    others: OtherUsers,
) -> tuple[dict[Run, pl.DataFrame], ComparisonPart]:
    """Score the pages that all systems have for some users: the pages of each run, and what adds up."""
    sources = part_sources(tables, items, plan, others)
    pages = {run: RunPages(in_mean_gains=True) for run in layouts}
    with ExitStack() as stack:
        all_inputs = sources.inputs(_readings(stack, sources, layouts))
        ideals = PageIdeals(all_inputs[0].judged, all_inputs[0].plan, all_inputs[0].shown)
        frames, sums = {}, {}
        for run, inputs in zip(layouts, all_inputs, strict=True):
            with naming(*run):
                frames[run], sums[run] = score_part(inputs, ideals, pages[run].watch(inputs))
        judged = all_inputs[0].judged
    plain = {run: _evaluation(frame, plan) for run, frame in frames.items()}
    require_same_ideals(_by_system(plain), plan)
    shown = {name: list(runs) for name, runs in _by_system({run: one.shown for run, one in pages.items()}).items()}
    metrics = dict.fromkeys(name if name in plan.metrics else None for name in plan.names)
    counted = {metric: share_counts(shown, metric) for metric in metrics}
    gains = {name: judged.gains[name] for name in plan.metrics}
    return frames, ComparisonPart(
        runs=sums,
        shares={
            (metric, name, run): counts
            for metric, by_system in counted.items()
            for name, runs in by_system.items()
            for run, counts in enumerate(runs)
        },
        gains={name: exact_sum(values[values > 0]) for name, values in gains.items()},
        gaining={name: int((values > 0).sum()) for name, values in gains.items()},
        **_user_sums(plain, {run: one.with_unjudged_gain(plain[run]) for run, one in pages.items()}, plan, tests),
    )


def _readings(stack: ExitStack, sources: JudgedSources, layouts: Mapping[Run, pl.DataFrame]) -> list[Reading]:
    readings = []
    for run, table in layouts.items():
        with naming(*run):
            readings.append(stack.enter_context(sources.read(table, share=len(layouts))))
    return readings


def _evaluation(pages: pl.DataFrame, plan: ScoringPlan) -> Evaluation:
    return Evaluation(tuple(plan.metrics), pages, {}, {}, plan.settings.by_columns)


def _by_system(by_run: Mapping[Run, Any]) -> dict[str, list[Any]]:
    systems: dict[str, list[Any]] = {}
    for (name, _), value in by_run.items():
        systems.setdefault(name, []).append(value)
    return systems


def _user_sums(
    plain: Mapping[Run, Evaluation], gains: Mapping[Run, Evaluation], plan: ScoringPlan, tests: PairTests
) -> dict[str, Any]:
    """The sums over users that tests and means are made of."""
    columns = [*tests.metrics, *map(unjudged_gain, linear_metrics(plan))]
    scores = UserScores.of(_by_system(gains), columns, [])
    systems, without, scored = {}, {}, {}
    for name, results in _by_system(plain).items():
        of_system = scores.lines.filter(pl.col(Columns.SYSTEM) == name)
        for metric in tests.metrics:
            values, weights = scores.of_system(metric, name)
            if not tests.runs_vary:
                values = values.mean(axis=1, keepdims=True)
            systems[name, metric] = CrossedSums.of_system(values, weights)
            without[name, metric] = left_out(results, len(values), metric)
            scored[name, metric] = of_system.filter(pl.col(metric).is_not_null())[Columns.USER].n_unique()
    pairs = dict(_pair_parts(scores, tests, ()))
    by = list(plan.settings.by_columns)
    if by:
        for segment, part in UserScores.of(_by_system(gains), columns, by).segments().items():
            pairs |= dict(_pair_parts(part, tests, segment))
    return {"systems": systems, "left_out": without, "scored_runs": scored, "pairs": pairs}


def _pair_parts(scores: UserScores, tests: PairTests, segment: tuple[Any, ...]) -> Sequence[tuple[PairKey, PairPart]]:
    parts = []
    for metric in tests.metrics:
        for one in itertools.chain.from_iterable(tests.groups(scores, metric)):
            weights = np.ones(len(one.users)) if one.scores.weights is None else one.scores.weights
            before, after = (Exact() if gain is None else exact_sum(gain * weights) for gain in one.unjudged)
            largest = float(np.abs(one.scores.differences * weights).max(initial=0.0))
            part = PairPart(PairSums.of(one.scores), (before, after), largest)
            parts.append(((segment, metric, one.baseline, one.system), part))
    return parts
