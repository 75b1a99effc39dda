"""From tables on an engine to a comparison of systems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import polars as pl

from carouseval.comparison.compare import check_names
from carouseval.comparison.comparison import Comparison
from carouseval.comparison.comparison_settings import ComparisonSettings
from carouseval.comparison.finish import finish_comparison
from carouseval.comparison.pair_tests import PairTests
from carouseval.comparison.result_columns import PER_USER
from carouseval.comparison.scored_runs import ComparisonPart, RunResults
from carouseval.comparison.user_scores import UserScores
from carouseval.engines.all_users import other_users
from carouseval.engines.contract import RUN, Engine
from carouseval.engines.evaluate import whole
from carouseval.engines.failures import found_by_pass
from carouseval.engines.given_tables import GivenTables
from carouseval.engines.kept_pages import KeptPages, KeptUsers, pages_of_runs
from carouseval.engines.own_sums import found_p_values
from carouseval.engines.part_work import compare_users
from carouseval.errors import DataError
from carouseval.evaluation import schema
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
        part, read = found_by_pass(scored, read, tables)
        results: RunResults[Table] = RunResults(tables.plan)
        kept: dict[Run, KeptPages[Table]] = {}
        for at, (key, run) in enumerate(runs.items()):
            with naming(*run):
                of_run = whole(None if part is None else part.runs[run], tables, others)
                kept[run] = KeptPages(
                    tests.metrics, settings.by_columns, scored, of_run, read, runs, types, engine.place, at
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
            partial(found_p_values, kept=kept[next(iter(layouts))], merged=part.sums, tests=tests, runs=list(layouts)),
            KeptUsers(kept[next(iter(layouts))], users, PER_USER.types(present, types)),
        )
    except BaseException:
        scored.drop()
        raise


def _users(pages: pl.DataFrame, runs: Sequence[Run], metrics: tuple[str, ...]) -> tuple[list[pl.DataFrame], None]:
    """The scores that are paired, of some users."""
    return [UserScores.of(pages_of_runs(pages, runs, metrics, ()), metrics, []).table(metrics)], None
