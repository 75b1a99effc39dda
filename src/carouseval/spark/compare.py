"""From Spark DataFrames to a comparison of systems: ``compare``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import TYPE_CHECKING, Any, Unpack

import polars as pl

from carouseval.comparison.compare import check_names
from carouseval.comparison.comparison_settings import ComparisonDict, ComparisonSettings, takes_comparison_settings
from carouseval.comparison.comparison_sums import Run
from carouseval.comparison.finish import finish_comparison
from carouseval.comparison.pair_tests import PairTests
from carouseval.comparison.parts import ComparisonPart, compare_part
from carouseval.comparison.systems import naming, runs_by_system, warn_of
from carouseval.errors import DataError, warn
from carouseval.evaluation import schema
from carouseval.evaluation.columns import Columns
from carouseval.evaluation.notices import overfull
from carouseval.evaluation.plan import ScoringPlan
from carouseval.evaluation.scoring.page_ideals import PageIdeals
from carouseval.spark.evaluate import evaluation_of
from carouseval.spark.executor import Job, each_part, map_partitions, spark_types
from carouseval.spark.failures import refuse_failures
from carouseval.spark.kept_pages import RUN, KeptPages
from carouseval.spark.merged_tests import found_p_values
from carouseval.spark.other_users import other_users
from carouseval.spark.read_lines import Reads
from carouseval.spark.reports import report_of
from carouseval.spark.results import SparkComparison, SparkEvaluation
from carouseval.spark.spark_files import warn_of_ignored_files
from carouseval.spark.spark_tables import SparkTables, cached
from carouseval.spark.user_lines import stream
from carouseval.tables import TableLike

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame


@takes_comparison_settings
def compare(
    systems: Mapping[str, DataFrame | Sequence[DataFrame]],
    judgments: DataFrame,
    items: DataFrame | TableLike | None = None,
    *,
    collect: bool = False,
    lines_at_once: int | None = None,
    **settings: Unpack[ComparisonDict],
) -> SparkComparison:
    """Compare systems on Spark, on the same users and against the same ideal pages, with significance tests.

    Means, differences, intervals and p-values are the same to the bit as those of :func:`carouseval.compare`. Only sums
    come to the driver.

    Parameters
    ----------
    systems : dict of str to pyspark.sql.DataFrame
        The layouts of each system by its name, or a list of those of several runs.
    judgments : pyspark.sql.DataFrame
        Lines of ``user_id, item_id, relevance`` (+ ``page_id``).
    items : pyspark.sql.DataFrame or TableLike, optional
        Lines of ``item_id, category``. By default the pairs that appear in the layouts of any system.
    collect : bool, default False
        Bring the scores of all pages to the driver for tests that need the differences of all users at once, such as
        ``'wilcoxon'`` and functions; they are refused otherwise.
    lines_at_once : int, optional
        How many lines a task reads before it scores their users, as in :func:`carouseval.spark.evaluate`.

    Returns
    -------
    SparkComparison
        The mean of each system and the difference, interval and p-value of each pair.

    Examples
    --------
    >>> import carouseval as cv
    >>> systems = {"prod": spark.table("prod"), "new": spark.table("new")}  # doctest: +SKIP
    >>> cv.spark.compare(systems, spark.table("judgments"), baseline="prod").summary  # doctest: +SKIP
    """
    choices, options = ComparisonSettings.named("spark.compare", settings)
    warn_of_ignored_files(judgments, items, options.carousels)
    plan = replace(ScoringPlan.of(options), threads=1)  # Spark has a task per core
    by_system = _runs_by_system(systems, choices.baseline)
    tests = PairTests.of(choices, plan, {name: len(of_system) for name, of_system in by_system.items()})
    check_names(plan)
    if not collect:
        tests.require_merged()
    keys: dict[str, Run] = {
        f"layouts of {name}, run {run}": (name, run) for name, count in tests.run_counts.items() for run in range(count)
    }
    frames = {key: by_system[name][run] for key, (name, run) in keys.items()}
    tables = SparkTables.of(frames, judgments, items, options, keys)
    lines, columns = stream(tables.streamed)
    at_once = tables.lines_at_once(lines_at_once)
    others, read = other_users(tables, at_once)
    schema_ = {RUN: pl.Int32()} | tables.page_types()
    job = Job(tables.executor_plan, columns, tables.items, others, schema_, at_once)
    work = partial(compare_partition, job=job, runs=keys, tests=tests)
    scored = cached(map_partitions(lines, work, spark_types(job)))
    try:
        return _Composer(tables, tests, scored, list(keys.values())).comparison(others, read)
    except BaseException:
        scored.unpersist()
        raise


def _runs_by_system(systems: Any, baseline: str | None) -> dict[str, list[Any]]:
    """The layouts of every system, one DataFrame per run; names and the baseline are checked as on one machine."""
    if not isinstance(systems, Mapping):
        return runs_by_system(systems, baseline)  # refuses it
    runs = {name: list(one) if isinstance(one, list | tuple) else [one] for name, one in systems.items()}
    runs_by_system({name: [pl.DataFrame()] * len(several) for name, several in runs.items()}, baseline)
    return runs


def compare_partition(
    batches: Iterator[pa.RecordBatch], job: Job, runs: Mapping[str, Run], tests: PairTests
) -> Iterator[pa.RecordBatch]:
    """The scores of the pages that all systems have for the users of a partition, and a report of these users."""

    def work(tables: Mapping[str, pl.DataFrame]) -> tuple[list[pl.DataFrame], ComparisonPart]:
        layouts = {run: tables[key] for key, run in runs.items()}
        pages, sums = compare_part(tables, layouts, job.items, job.plan, tests, job.others)
        return [frame.with_columns(pl.lit(at, pl.Int32).alias(RUN)) for at, frame in enumerate(pages.values())], sums

    return each_part(batches, job, work)


@dataclass(frozen=True)
class _Composer:
    """Puts a comparison together from the reports of all partitions."""

    tables: SparkTables
    tests: PairTests
    scored: DataFrame
    runs: Sequence[Run]

    def comparison(self, others: Any, before: Reads) -> SparkComparison:
        tables, tests, plan = self.tables, self.tests, self.tables.plan
        report = report_of(self.scored)
        kept = KeptPages(self.scored, tables.require_same(before, report.read), tables.runs)
        merged: ComparisonPart | None = report.sums
        if others.shown is None and merged is not None:
            others = replace(others, shown=merged.runs[self.runs[0]].shown)
        with tables.open_sketches(others) as inputs:
            refuse_failures(report.failures, tables, inputs)
            evaluations = self._evaluations(merged, inputs, kept)
        assert merged is not None
        return finish_comparison(
            SparkComparison,
            evaluations,
            merged.sums,
            tests,
            plan,
            partial(found_p_values, kept=kept, merged=merged.sums, tests=tests, runs=self.runs, plan=plan),
            per_user=self._per_user(evaluations),
            cached=self.scored,
        )

    def _evaluations(
        self, merged: ComparisonPart | None, inputs: Any, kept: KeptPages
    ) -> dict[str, list[SparkEvaluation]]:
        """The evaluation of every run; what needs attention is warned of, with the systems that it is about."""
        evaluations: dict[str, list[SparkEvaluation]] = {name: [] for name in self.tests.run_counts}
        notices: dict[str, list[str]] = {}
        for at, run in enumerate(self.runs):
            match = None if merged is None else merged.runs[run].tally.match
            with naming(run[0]):
                for name, lines in (("judgments", "judgment_sets"), ("layouts", "lines")):
                    if match is None or getattr(match, lines) == 0:
                        raise DataError(schema.EMPTY[name])
            assert merged is not None
            found: list[str] = []
            evaluations[run[0]].append(evaluation_of(inputs, merged.runs[run], replace(kept, run=at), found.append))
            for notice in found:
                notices.setdefault(notice, []).append(run[0])
        assert merged is not None
        warn_of(notices, len(evaluations))
        ideals, last = PageIdeals(inputs.judged, inputs.plan, inputs.shown), merged.runs[self.runs[-1]]
        categories = inputs.codebook.categories.add(last.fillings["category"])
        ideals.add_fillings(last.fillings, categories, last.ideals)
        overfull(ideals, inputs, warn)
        return evaluations

    def _per_user(self, evaluations: Mapping[str, Sequence[SparkEvaluation]]) -> DataFrame:
        from pyspark.sql import functions as F  # noqa: N812

        frames = [
            result.per_user.withColumns({Columns.SYSTEM: F.lit(name), Columns.RUN: F.lit(run)})
            for name, results in evaluations.items()
            for run, result in enumerate(results)
        ]
        return reduce(lambda left, right: left.unionByName(right), frames)
