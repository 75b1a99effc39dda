"""From Spark DataFrames to scores: ``evaluate`` for one system."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Unpack

import numpy as np

from carouseval.errors import DataError, warn
from carouseval.evaluation import schema
from carouseval.evaluation.evaluate import finish_evaluation
from carouseval.evaluation.notices import overfull
from carouseval.evaluation.parts import PartSums
from carouseval.evaluation.reading.inputs import Inputs, OtherUsers
from carouseval.evaluation.results import ALL
from carouseval.evaluation.scoring.page_ideals import PageIdeals
from carouseval.evaluation.settings import Settings, SettingsDict, takes_settings
from carouseval.spark.executor import Job, map_partitions, score_partition, spark_types
from carouseval.spark.failures import refuse_failures
from carouseval.spark.kept_pages import KeptPages
from carouseval.spark.other_users import other_users
from carouseval.spark.read_lines import Reads
from carouseval.spark.reports import report_of
from carouseval.spark.results import SparkEvaluation
from carouseval.spark.spark_files import warn_of_ignored_files
from carouseval.spark.spark_tables import SparkTables, cached
from carouseval.spark.user_lines import stream
from carouseval.tables import TableLike

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@takes_settings
def evaluate(
    layouts: DataFrame,
    judgments: DataFrame,
    items: DataFrame | TableLike | None = None,
    *,
    lines_at_once: int | None = None,
    **settings: Unpack[SettingsDict],
) -> SparkEvaluation:
    """Score a system's pages on Spark, with the session of the DataFrames given.

    Scores of pages, means and intervals are the same to the bit as those of :func:`carouseval.evaluate`. Users are
    brought together by a hash of their ids and scored by the same kernels; only sums and counts come to the driver.

    Parameters
    ----------
    layouts, judgments : pyspark.sql.DataFrame
        As in :func:`carouseval.evaluate`. Line numbers in errors are left out: lines of Spark have none.
    items : pyspark.sql.DataFrame or table, optional
        Lines of ``item_id, category``. Those that hold for everyone are sent to all executors; those with a ``user_id``
        stay with their users.
    lines_at_once : int, optional
        How many lines a task reads before it scores their users: by default 500,000, or as many as hold for everyone in
        ``items``, which are read each time. A user's lines are never split, so a task needs the memory of so many lines
        and of its largest user.

    Returns
    -------
    SparkEvaluation
        Means, intervals, counts and the settings in force; scores of pages and users as Spark DataFrames.

    Examples
    --------
    >>> import carouseval as cv
    >>> layouts, judgments = spark.table("layouts"), spark.table("judgments")  # doctest: +SKIP
    >>> result = cv.spark.evaluate(layouts, judgments, by="device")  # doctest: +SKIP
    >>> result.per_page.write.parquet("scores")  # doctest: +SKIP
    """
    options = Settings.named("spark.evaluate", settings)
    warn_of_ignored_files(layouts, judgments, items, options.carousels)
    return evaluate_tables(layouts, judgments, items, options, lines_at_once)


def evaluate_tables(
    layouts: DataFrame,
    judgments: DataFrame,
    items: DataFrame | TableLike | None,
    options: Settings,
    lines_at_once: int | None = None,
) -> SparkEvaluation:
    """The same for tables that were read with care."""
    tables = SparkTables.of({"layouts": layouts}, judgments, items, options)
    lines, columns = stream(tables.streamed)
    at_once = tables.lines_at_once(lines_at_once)
    others, read = other_users(tables, at_once)
    job = Job(tables.executor_plan, columns, tables.items, others, tables.page_types(), at_once)
    scored = cached(map_partitions(lines, partial(score_partition, job=job), spark_types(job)))
    try:
        return _result(tables, scored, others, read)
    except BaseException:
        scored.unpersist()
        raise


def _result(tables: SparkTables, scored: DataFrame, others: OtherUsers, before: Reads) -> SparkEvaluation:
    """Put the result together from the reports of all partitions; ``before`` tells what was read first."""
    report = report_of(scored)
    read = tables.require_same(before, report.read)
    merged: PartSums | None = report.sums
    if others.shown is None and merged is not None:
        others = replace(others, shown=merged.shown)
    plan = tables.plan
    with tables.open_sketches(others) as inputs:
        refuse_failures(report.failures, tables, inputs)
        for name, lines in (("judgments", "judgment_sets"), ("layouts", "lines")):
            if merged is None or getattr(merged.tally.match, lines) == 0:
                raise DataError(schema.EMPTY[name])
        assert merged is not None
        result = evaluation_of(inputs, merged, KeptPages(scored, read, tables.runs), warn)
        ideals = PageIdeals(inputs.judged, plan, inputs.shown)
        names = merged.fillings["category"]
        ideals.add_fillings(merged.fillings, inputs.codebook.categories.add(names), merged.ideals)
        overfull(ideals, inputs, warn)
        return replace(result, cached=scored)


def evaluation_of(inputs: Inputs, sums: PartSums, pages: KeptPages, notify: Callable[[str], None]) -> SparkEvaluation:
    """The evaluation of all users, from their sums; ``inputs`` has what is known of tables."""
    members, items = inputs.judged.membership, inputs.codebook.items
    catalogue = np.unique(items.add(sums.items))
    order = sorted(sums.segments, key=lambda key: (key != ALL, str(key)))
    return finish_evaluation(
        SparkEvaluation,
        inputs,
        sums.tally,
        {name: items.add(seen) for name, seen in sums.figures.items()},
        catalogue if members is None else np.union1d(catalogue, members.items),
        notify,
        per_page=pages.frame,
        kept=pages,
        sums={key: sums.segments[key] for key in order},
    )
