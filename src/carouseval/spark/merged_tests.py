"""p-values of pairs of systems, from sums of users in Spark or, if a test needs it, from all users here."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import polars as pl

from carouseval.comparison.comparison_sums import ComparisonSums, PairKey, PairPart, Run, SummedUsers
from carouseval.comparison.pair_sums import PairSums
from carouseval.comparison.pair_tests import PairTests, PairUsers
from carouseval.comparison.tests.contract import MergedTest, RandomDraws, SignificanceTest, without_ties
from carouseval.comparison.user_scores import UserScores, segment_scores
from carouseval.evaluation.columns import Columns
from carouseval.evaluation.plan import ScoringPlan
from carouseval.evaluation.results import Evaluation
from carouseval.spark.executor import map_partitions
from carouseval.spark.kept_pages import RUN, KeptPages, read_of
from carouseval.spark.reports import ONLY_REPORT, REPORT, Report, report_of
from carouseval.spark.user_lines import column_in_query

if TYPE_CHECKING:
    import pyarrow as pa


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


def found_p_values(
    pairs: Sequence[PairKey],
    kept: KeptPages,
    merged: ComparisonSums,
    tests: PairTests,
    runs: Sequence[Run],
    plan: ScoringPlan,
) -> dict[PairKey, float]:
    """The p-values of pairs by tests with own sums, in a second pass over the users, or from all users here."""
    by = plan.settings.by_columns
    if not tests.merge:
        return _of_all_users(kept.collect(), tests, runs, by)
    known = {key: _Known.of(tests.test_of(part.sums), part) for key in pairs for part in [merged.pairs[key]]}
    keys = [key for key in (Columns.USER, Columns.PAGE, Columns.WEIGHT) if key in kept.scored.columns]
    names = [RUN, REPORT, *keys, *by, *tests.metrics]
    columns = {f"c{at}": name for at, name in enumerate(names)}  # names may hold dots
    pages = kept.scored.selectExpr(*(f"{column_in_query(name)} AS {ours}" for ours, name in columns.items()))
    work = partial(sum_partition, columns=columns, tests=tests, runs=runs, by=by, known=known)
    report = report_of(map_partitions(pages, work, ONLY_REPORT))
    kept.require_same(report.read)
    sums: _TestSums = report.sums
    return {key: float(known[key].test.p_of_sums(one)[0]) for key, one in sums.by_pair.items()}


def _of_all_users(
    pages: pl.DataFrame, tests: PairTests, runs: Sequence[Run], by: tuple[str, ...]
) -> dict[PairKey, float]:
    p: dict[PairKey, float] = {}
    for segment, metric, group in _groups(pages, tests, runs, by):
        keys = [(segment, metric, pair.baseline, pair.system) for pair in group]
        p |= zip(keys, tests.p_values(group, [PairSums.of(pair.scores) for pair in group]), strict=True)
    return p


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
    table = pl.DataFrame(pa.Table.from_batches(held)).rename(dict(columns))
    yield from Report(read=read_of(table[REPORT])).lines()
    sums = {
        key: known[key].sums(pair, tests.draws)
        for segment, metric, group in _groups(table.filter(pl.col(REPORT).is_null()), tests, runs, by)
        for pair in group
        if (key := (segment, metric, pair.baseline, pair.system)) in known
    }
    yield from Report(_TestSums(sums)).lines()


def _groups(
    pages: pl.DataFrame, tests: PairTests, runs: Sequence[Run], by: tuple[str, ...]
) -> Iterator[tuple[tuple[Any, ...], str, list[PairUsers]]]:
    """The users scored under both systems of every pair, over all their pages and by segment; and the metric."""
    evaluations: dict[str, list[Evaluation]] = {}
    keys = [key for key in ("user_id", "page_id") if key in pages.columns]
    for at, (name, _) in enumerate(runs):
        own = pages.filter(pl.col(RUN) == at).sort(keys, nulls_last=True)
        evaluations.setdefault(name, []).append(Evaluation(tests.metrics, own, {}, {}, by))
    scores = UserScores.of(evaluations, tests.metrics, [])
    for segment, part in itertools.chain([((), scores)], segment_scores(evaluations, tests.metrics, by)):
        for metric in tests.metrics:
            for group in tests.groups(part, metric):
                yield segment, metric, group
