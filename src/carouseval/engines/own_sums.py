"""p-values of pairs of systems, from sums that tests make of users on an engine, or from all users here."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import polars as pl

from carouseval.comparison.comparison_sums import ComparisonSums, PairKey, PairPart, SummedUsers
from carouseval.comparison.pair_sums import PairSums
from carouseval.comparison.pair_tests import PairTests, PairUsers
from carouseval.comparison.tests.contract import MergedTest, RandomDraws, SignificanceTest, without_ties
from carouseval.comparison.user_scores import UserScores, segment_scores
from carouseval.engines.contract import RUN
from carouseval.engines.kept_pages import KeptPages, pages_of_runs
from carouseval.evaluation.columns import Columns
from carouseval.evaluation.exact_sums import added
from carouseval.evaluation.systems import Run


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
        return _TestSums(added(self.by_pair, other.by_pair))


def found_p_values(
    pairs: Sequence[PairKey],
    kept: KeptPages[Any],
    merged: ComparisonSums,
    tests: PairTests,
    runs: Sequence[Run],
) -> dict[PairKey, float]:
    """The p-values of pairs by tests with own sums, in a second pass over the users, or from all users here."""
    if not tests.merge:
        pages, read = kept.scored.collect()
        kept.require_same(read)
        return _of_all_users(pages, tests, runs, kept.by)
    known = {key: _Known.of(tests.test_of(part.sums), part) for key in pairs for part in [merged.pairs[key]]}
    work = partial(_sum_users, tests=tests, runs=runs, by=kept.by, known=known)
    reading = {RUN, Columns.USER, Columns.PAGE, Columns.WEIGHT, *kept.by, *tests.metrics}
    report = kept.scored.map(work, {}, reading).report
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


def _sum_users(
    pages: pl.DataFrame, tests: PairTests, runs: Sequence[Run], by: tuple[str, ...], known: Mapping[PairKey, _Known]
) -> tuple[list[pl.DataFrame], _TestSums]:
    """What some users add to the test of every pair."""
    return [], _TestSums(
        {
            key: known[key].sums(pair, tests.draws)
            for segment, metric, group in _groups(pages, tests, runs, by)
            for pair in group
            if (key := (segment, metric, pair.baseline, pair.system)) in known
        }
    )


def _groups(
    pages: pl.DataFrame, tests: PairTests, runs: Sequence[Run], by: tuple[str, ...]
) -> Iterator[tuple[tuple[Any, ...], str, list[PairUsers]]]:
    """The users scored under both systems of every pair, over all their pages and by segment; and the metric."""
    of_runs = pages_of_runs(pages, runs, tests.metrics, by)
    scores = UserScores.of(of_runs, tests.metrics, [])
    for segment, part in itertools.chain([((), scores)], segment_scores(of_runs, tests.metrics, by)):
        for metric in tests.metrics:
            for group in tests.groups(part, metric):
                yield segment, metric, group
