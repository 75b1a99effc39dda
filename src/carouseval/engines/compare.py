"""From tables on an engine to a comparison of systems."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import polars as pl

from carouseval.comparison.compare import check_names
from carouseval.comparison.comparison import Comparison
from carouseval.comparison.comparison_sums import ComparisonSums, PairKey, PairPart, SummedUsers
from carouseval.comparison.finish import finish_comparison
from carouseval.comparison.pair_sums import PairSums
from carouseval.comparison.pair_tests import PairTests, PairUsers
from carouseval.comparison.result_columns import PER_USER
from carouseval.comparison.scored_runs import ComparisonPart, RunResults, score_runs, sum_up
from carouseval.comparison.settings import ComparisonSettings
from carouseval.comparison.tests.contract import MergedTest, RandomDraws, SignificanceTest, without_ties
from carouseval.comparison.user_scores import UserScores, segment_scores
from carouseval.engines.all_users import other_users
from carouseval.engines.contract import RUN, Engine, Tables
from carouseval.engines.evaluate import whole
from carouseval.engines.given_tables import GivenTables, Job
from carouseval.engines.kept_pages import KeptPages, KeptUsers, pages_of_runs
from carouseval.engines.reports import sums_of_pass
from carouseval.errors import DataError
from carouseval.evaluation import schema
from carouseval.evaluation.columns import Columns
from carouseval.evaluation.exact_sums import added
from carouseval.evaluation.page_table import Table, user_columns
from carouseval.evaluation.plan import ScoringPlan
from carouseval.evaluation.settings import Settings
from carouseval.evaluation.systems import Run, by_system, naming
from carouseval.tables.table import TableLike


def compare_on(
    engine: Engine[Table],
    layouts: Mapping[Run, Table],
    judgments: Table,
    items: Table | TableLike | None,
    choices: ComparisonSettings,
    settings: Settings,
    *,
    collect: bool = False,
) -> Comparison[Table]:
    """Compare systems on an engine; tests that need all users at once are refused unless these may be collected."""
    plan = replace(ScoringPlan.of(settings), threads=1)  # an engine has as many tasks as cores
    tests = PairTests.of(choices, plan, {name: len(runs) for name, runs in by_system(layouts).items()})
    check_names(plan)
    if not collect:
        tests.require_merged()
    runs = {f"layouts of {name}, run {run}": (name, run) for name, run in layouts}
    tables = GivenTables.of(engine, dict(zip(runs, layouts.values(), strict=True)), judgments, items, settings, runs)
    others, read = other_users(tables)
    types = {RUN: pl.Int32()} | tables.page_types()
    work = partial(compare_users, job=tables.job(others), runs=runs, tests=tests)
    scored = engine.map(tables.streamed, work, types, least=tables.least_lines)
    try:
        part: ComparisonPart | None
        part, read = sums_of_pass(scored, read, tables)
        results: RunResults[Table] = RunResults(tables.plan)
        kept: dict[Run, KeptPages[Table]] = {}
        for number, (key, run) in enumerate(runs.items()):
            with naming(*run):
                of_run = whole(None if part is None else part.runs[run], tables, others)
                kept[run] = KeptPages(
                    tests.metrics, settings.by_columns, scored, of_run, read, runs, types, engine.place, number
                )
                results.add(run, of_run, kept[run], tables.of_run(key))
        if part is None:
            raise DataError(schema.EMPTY["judgments"])
        results.warn()
        users = partial(_users, runs=list(runs.values()), metrics=tests.metrics)
        present = user_columns(tests.metrics, (), weighted=settings.weight is not None)
        return finish_comparison(
            results.evaluations,
            part.sums,
            tests,
            tables.plan,
            partial(pair_p_values, kept=kept[next(iter(layouts))], merged=part.sums, tests=tests, runs=list(layouts)),
            KeptUsers(kept[next(iter(layouts))], users, PER_USER.types(present, types)),
        )
    except BaseException:
        scored.drop()
        raise


def _users(pages: pl.DataFrame, runs: Sequence[Run], metrics: tuple[str, ...]) -> tuple[list[pl.DataFrame], None]:
    """The scores that are paired, of some users."""
    return [UserScores.of(pages_of_runs(pages, runs, metrics, ()), metrics, []).table(metrics)], None


def compare_users(
    tables: Tables, job: Job, runs: Mapping[str, Run], tests: PairTests
) -> tuple[list[pl.DataFrame], ComparisonPart]:
    """The scores of the pages that all systems have for some users, and what they add to a comparison.

    ``runs`` has the run that each of the layouts is of.
    """
    scored = score_runs(job.sources(tables), {run: tables[key] for key, run in runs.items()})
    part, _ = sum_up(scored, tests, job.plan)
    pages = [run.pages.frame for run in scored.values()]
    frames = [frame.with_columns(pl.lit(number, pl.Int32).alias(RUN)) for number, frame in enumerate(pages)]
    return frames, part


def pair_p_values(
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
    known = {key: _PairFacts.of(tests.test_of(part.sums), part) for key in pairs for part in [merged.pairs[key]]}
    work = partial(_sum_users, tests=tests, runs=runs, by=kept.by, known=known)
    reading = {RUN, Columns.USER, Columns.PAGE, Columns.WEIGHT, *kept.by, *tests.metrics}
    report = kept.scored.map(work, {}, reading).report
    kept.require_same(report.read)
    sums: _TestSums = report.sums
    return {key: float(known[key].test.p_of_sums(total)[0]) for key, total in sums.by_pair.items()}


@dataclass(frozen=True)
class _PairFacts:
    """What must be known of all users of a pair before their differences are summed up for its test."""

    test: MergedTest
    mean_weight: float
    facts: Any  # of the test

    @classmethod
    def of(cls, test: SignificanceTest, part: PairPart) -> _PairFacts:
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


def _of_all_users(
    pages: pl.DataFrame, tests: PairTests, runs: Sequence[Run], by: tuple[str, ...]
) -> dict[PairKey, float]:
    p: dict[PairKey, float] = {}
    for segment, metric, group in _groups(pages, tests, runs, by):
        keys = [(segment, metric, pair.baseline, pair.system) for pair in group]
        p |= zip(keys, tests.p_values(group, [PairSums.of(pair.scores) for pair in group]), strict=True)
    return p


def _sum_users(
    pages: pl.DataFrame, tests: PairTests, runs: Sequence[Run], by: tuple[str, ...], known: Mapping[PairKey, _PairFacts]
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
