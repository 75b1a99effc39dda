"""p-values of pairs of systems, from sums of users in Spark or, if a test needs it, from all users here."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import polars as pl

from carouseval.comparison.pair_sums import PairSums
from carouseval.comparison.pair_tests import PairTests, PairUsers
from carouseval.comparison.parts import ComparisonPart, PairKey, PairPart, Run, SummedUsers
from carouseval.comparison.tests.contract import MeansTest, MergedTest, RandomDraws, SignificanceTest, without_ties
from carouseval.comparison.user_scores import UserScores
from carouseval.evaluation.plan import ScoringPlan
from carouseval.evaluation.results import Evaluation
from carouseval.spark.executor import map_partitions
from carouseval.spark.reports import ONLY_REPORT, REPORT, Report, report_of
from carouseval.spark.spark_tables import local_frame
from carouseval.spark.user_lines import column_in_query

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

RUN = "__run__"


@dataclass(frozen=True)
class _Known:
    """What must be known of all users of a pair before their differences are summed up for its test."""

    test: MergedTest
    mean_weight: float
    facts: Any  # of the test

    @classmethod
    def of(cls, test: SignificanceTest, part: PairPart) -> _Known:
        """From what the first pass has summed up."""
        assert isinstance(test, MergedTest)  # any other was refused, or had all users collected
        return cls(test, part.sums.mean_weight, test.known(SummedUsers(part)))

    def sums(self, pair: PairUsers, draws: RandomDraws) -> Any:
        """What some users add."""
        differences = without_ties(pair.scores.scaled_by_weight(self.mean_weight)[:, None])
        return self.test.sums(differences, pair.users, self.facts, draws)


@dataclass(frozen=True)
class _TestSums:
    """The sums of some users for the test of every pair."""

    by_pair: Mapping[PairKey, Any]

    def __add__(self, other: _TestSums) -> _TestSums:
        sums = dict(self.by_pair)
        for key, one in other.by_pair.items():
            sums[key] = sums[key] + one if key in sums else one
        return _TestSums(sums)


def merged_p_values(
    scored: DataFrame,
    merged: ComparisonPart,
    tests: PairTests,
    runs: Sequence[Run],
    plan: ScoringPlan,
) -> dict[PairKey, float]:
    """The p-value of every pair; tests with own sums take a second pass over the users, whom Spark has kept."""
    p = {key: _without_second_pass(part.sums, tests.test_of(part.sums)) for key, part in merged.pairs.items()}
    second = [key for key, value in p.items() if value is None]
    found = _second_pass(second, scored, merged, tests, runs, plan) if second else {}
    return {key: found[key] if value is None else value for key, value in p.items()}


def _without_second_pass(sums: PairSums, test: SignificanceTest) -> float | None:
    """The p-value of a pair that what is summed up anyway gives; None if the test needs its own sums, or all users."""
    if sums.users > 1 and not (sums.wins or sums.losses):
        return 1.0
    if isinstance(test, MeansTest):
        return test.p_of_means(sums.means)
    return math.nan if sums.users < 2 else None


def _second_pass(
    pairs: Sequence[PairKey],
    scored: DataFrame,
    merged: ComparisonPart,
    tests: PairTests,
    runs: Sequence[Run],
    plan: ScoringPlan,
) -> Mapping[PairKey, float]:
    """The p-values of pairs by tests with own sums or, if a test needs it, from all users here."""
    by = plan.settings.by_columns
    if not tests.merge:
        scores = _scores(local_frame(scored.where(f"{REPORT} IS NULL")), tests, runs, by)
        outcomes = [*tests.pairs(scores[()]), *(tests.segments(scores[by]) if by else [])]
        return {(one.segment, one.metric, one.baseline, one.system): one.p for one in outcomes}
    known = {key: _Known.of(tests.test_of(part.sums), part) for key in pairs for part in [merged.pairs[key]]}
    keys = [key for key in ("user_id", "page_id", "weight") if key in scored.columns]
    columns = {f"c{at}": name for at, name in enumerate([RUN, *keys, *by, *tests.metrics])}  # names may hold dots
    pages = scored.where(f"{REPORT} IS NULL").selectExpr(
        *(f"{column_in_query(name)} AS {ours}" for ours, name in columns.items())
    )
    work = partial(sum_partition, columns=columns, tests=tests, runs=runs, by=by, known=known)
    sums: _TestSums = report_of(map_partitions(pages, work, ONLY_REPORT)).sums
    return {key: float(known[key].test.p_of_sums(one)[0]) for key, one in sums.by_pair.items()}


def sum_partition(
    batches: Iterator[pa.RecordBatch],
    columns: Mapping[str, str],
    tests: PairTests,
    runs: Sequence[Run],
    by: tuple[str, ...],
    known: Mapping[PairKey, _Known],
) -> Iterator[pa.RecordBatch]:
    """What a partition's users add to the test of every pair."""
    import pyarrow as pa

    held = list(batches)
    if not held:
        return
    scores = _scores(pl.DataFrame(pa.Table.from_batches(held)).rename(dict(columns)), tests, runs, by)
    parts = {(): scores[()]} | (scores[by].segments() if by else {})
    sums = {
        key: known[key].sums(pair, tests.draws)
        for segment, part in parts.items()
        for metric in tests.metrics
        for group in tests.groups(part, metric)
        for pair in group
        if (key := (segment, metric, pair.baseline, pair.system)) in known
    }
    yield from Report(_TestSums(sums)).lines()


def _scores(
    pages: pl.DataFrame, tests: PairTests, runs: Sequence[Run], by: tuple[str, ...]
) -> dict[tuple[str, ...], UserScores]:
    """Users' scores under every run: over all their pages, and in segments."""
    evaluations: dict[str, list[Evaluation]] = {}
    keys = [key for key in ("user_id", "page_id") if key in pages.columns]
    for at, (name, _) in enumerate(runs):
        own = pages.filter(pl.col(RUN) == at).sort(keys, nulls_last=True)
        evaluations.setdefault(name, []).append(Evaluation(tests.metrics, own, {}, {}, by))
    return {one: UserScores.of(evaluations, tests.metrics, one) for one in dict.fromkeys(((), by))}
