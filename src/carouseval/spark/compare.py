"""From Spark DataFrames to a comparison of systems: ``compare``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import TYPE_CHECKING, Any, Unpack

import polars as pl

from carouseval.comparison.compare import (
    SystemMean,
    check_names,
    logged_notice,
    no_common_user,
    tabulate_systems,
    without_unmatched,
)
from carouseval.comparison.comparison_settings import ComparisonDict, ComparisonSettings, takes_comparison_settings
from carouseval.comparison.logged_judgments import SystemShares, break_even
from carouseval.comparison.pair_tests import CROSSED, PairOutcome, PairTests
from carouseval.comparison.parts import ComparisonPart, PairKey, Run, compare_part
from carouseval.comparison.run_pages import linear_metrics
from carouseval.comparison.systems import naming, runs_by_system, warn_of
from carouseval.errors import DataError, ParameterError, warn
from carouseval.evaluation import schema
from carouseval.evaluation.notices import notify_of, overfull
from carouseval.evaluation.plan import ScoringPlan
from carouseval.evaluation.scoring.page_ideals import PageIdeals
from carouseval.spark.evaluate import evaluation_of
from carouseval.spark.executor import Job, each_part, map_partitions, spark_types
from carouseval.spark.failures import refuse_failures
from carouseval.spark.kept_pages import RUN, KeptPages
from carouseval.spark.merged_tests import merged_p_values
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

    Means, differences and p-values of the permutation test are the same to the bit as those of
    :func:`carouseval.compare`; intervals agree to rounding. Only sums come to the driver.

    Parameters
    ----------
    systems : dict of str to pyspark.sql.DataFrame
        The layouts of each system by its name, or a list of those of several runs.
    judgments : pyspark.sql.DataFrame
        Lines of ``user_id, item_id, relevance`` (+ ``page_id``).
    items : pyspark.sql.DataFrame or TableLike, optional
        Lines of ``item_id, category``. By default the pairs that appear in the layouts of any system.
    collect : bool, default False
        Bring the scores of all pages to the driver for tests that need them: ``'wilcoxon'``, functions, and
        ``'bootstrap'`` with ``weight``.
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
    test = tests.user_test
    needs_all = callable(test) or test == "wilcoxon" or (test == "bootstrap" and tests.weighted)
    if needs_all and not collect:
        raise ParameterError(f"test={tests.test_name!r} needs the differences of all users at once; use collect=True.")
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
        return _Composer(tables, tests, scored, list(keys.values())).comparison(others, read, collect=needs_all)
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

    def comparison(self, others: Any, before: Reads, *, collect: bool) -> SparkComparison:
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
        self._check_runs(merged)
        p = merged_p_values(kept, merged, tests, self.runs, plan, collect=collect)
        outcomes = [self._outcome(key, merged, p[key]) for key in self._keys(merged)]
        pairs = without_unmatched(tests.table([one for one in outcomes if not one.segment]), evaluations)
        by, segments = list(plan.settings.by_columns), pl.DataFrame()
        if by:
            in_segments = [one for one in outcomes if one.segment and one.scores.users]
            segments = without_unmatched(tests.table(in_segments, by), evaluations)
        shares = {name: self._shares(merged, name if name in plan.metrics else None) for name in plan.names}
        used = " or ".join(pairs["test"].unique(maintain_order=True))
        return SparkComparison(
            metrics=tests.metrics,
            systems=tabulate_systems(evaluations, partial(self._mean, merged), shares),
            pairs=pairs,
            segments=segments,
            per_user=self._per_user(evaluations),
            evaluations={name: tuple(results) for name, results in evaluations.items()},
            config=next(iter(evaluations.values()))[0].config | tests.config() | {"test": used},
            notice=logged_notice(shares[tests.metrics[0]], pairs, plan),
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
            notify_of(inputs, merged.runs[run].tally, found.append)
            for notice in found:
                notices.setdefault(notice, []).append(run[0])
            evaluations[run[0]].append(evaluation_of(inputs, merged.runs[run], replace(kept, run=at)))
        assert merged is not None
        warn_of(notices, len(evaluations))
        ideals, last = PageIdeals(inputs.judged, inputs.plan, inputs.shown), merged.runs[self.runs[-1]]
        categories = inputs.codebook.categories.add(last.fillings["category"])
        ideals.add_fillings(last.fillings, categories, last.ideals)
        overfull(ideals, inputs, warn)
        return evaluations

    def _check_runs(self, merged: ComparisonPart) -> None:
        for name, count in self.tests.run_counts.items():
            metrics = self.tests.metrics
            if count > 1 and any(merged.scored_runs[name, m] and not merged.systems[name, m].users for m in metrics):
                warn(no_common_user(name, count))

    def _keys(self, merged: ComparisonPart) -> list[PairKey]:
        """Pairs in the order of one machine: all users, then segments; by metric, then by pair."""
        segments = sorted({key[0] for key in merged.pairs if key[0]}, key=str)
        return [
            (segment, metric, before, after)
            for segment in ((), *segments)
            for metric in self.tests.metrics
            for before, after in self.tests.system_pairs
            if (segment, metric, before, after) in merged.pairs
        ]

    def _outcome(self, key: PairKey, merged: ComparisonPart, p: float) -> PairOutcome:
        segment, metric, before, after = key
        part, even = merged.pairs[key], None
        sums = part.sums
        if metric in linear_metrics(self.tables.plan) and sums.weights.weighted_users:
            gain = float(part.gains[0 if sums.difference > 0 else 1]) / (sums.mean_weight * sums.users)
            even = break_even(sums.difference, gain * merged.mean_gain(metric))
        test = CROSSED if sums.crossed else self.tests.test_name
        return PairOutcome(metric, before, after, sums, test, p, even, segment)

    def _mean(self, merged: ComparisonPart, name: str, metric: str) -> SystemMean:
        of_system = merged.systems[name, metric]
        low, high = of_system.means.estimate(0, 1).interval(self.tests.ci)
        return SystemMean(
            of_system.weights.mean(of_system.totals[1]), low, high, of_system.users, merged.left_out[name, metric]
        )

    def _shares(self, merged: ComparisonPart, metric: str | None) -> dict[str, SystemShares]:
        return {
            name: SystemShares.of([merged.shares[metric, name, run] for run in range(count)])
            for name, count in self.tests.run_counts.items()
        }

    def _per_user(self, evaluations: Mapping[str, Sequence[SparkEvaluation]]) -> DataFrame:
        from pyspark.sql import functions as F  # noqa: N812

        frames = [
            result.per_user.withColumn("system", F.lit(name)).withColumn("run", F.lit(run))
            for name, results in evaluations.items()
            for run, result in enumerate(results)
        ]
        return reduce(lambda left, right: left.unionByName(right), frames)
