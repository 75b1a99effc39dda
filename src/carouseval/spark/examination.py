"""Examination counts on Spark: screens are counted in parts by the same function as on one machine, and added."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from carouseval.attention.examination import Examination
from carouseval.attention.screens import ScreenCounts, open_fixations, screen_columns, screen_counts
from carouseval.errors import DataError
from carouseval.metrics.grid import Grid
from carouseval.metrics.validation import require_int
from carouseval.spark.executor import map_partitions
from carouseval.spark.reports import ONLY_REPORT, Report, report_of
from carouseval.spark.spark_files import warn_of_ignored_files
from carouseval.spark.spark_tables import require_spark, sketch, used_columns
from carouseval.spark.user_lines import LINES_AT_ONCE, StreamColumns, stream

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

_TABLE = "fixations"


@dataclass(frozen=True)
class _Job:
    """Everything that an executor needs besides the lines of its participants."""

    columns: StreamColumns
    grid: Grid
    by_participant: bool
    lines_at_once: int


def examination_counts(
    table: DataFrame,
    grid: Grid,
    screens: int | None = None,
    name: str | None = None,
    *,
    collect: bool = False,
    lines_at_once: int = LINES_AT_ONCE,
) -> Examination:
    """Count the screens on which each cell was examined, from a Spark DataFrame of fixations or examined cells.

    The counts are those of :func:`carouseval.attention.examination_from_screens`. Participants, or screens where
    participants are unknown, are brought together by a hash of their ids; only counts come to the driver.

    Parameters
    ----------
    table : pyspark.sql.DataFrame
        One line per fixation or examined cell: ``screen``, ``row`` and ``col``, counted from 1, and optionally
        ``participant``. A cell that is repeated on a screen counts once. With ``participant``, screens may be numbered
        separately for each participant.
    grid : Grid
        The screen.
    screens : int, optional
        Number of all screens, including those on which nothing was examined; by default those in the table.
    name : str, optional
        What the data are called; by default "table".
    collect : bool, default False
        Whether the counts of each participant come to the driver as well, from which fits take their intervals.
    lines_at_once : int, default 500000
        How many lines a task reads before it counts them. A participant's lines are never split.

    Returns
    -------
    Examination
        The counts; ``by_participant`` is None unless ``collect`` is true.

    See Also
    --------
    carouseval.attention.examination_from_screens : The same on one machine.

    Examples
    --------
    >>> import carouseval as cv
    >>> fixations = spark.table("fixations")  # doctest: +SKIP
    >>> seen = cv.spark.examination_counts(fixations, cv.Grid(8, 12), collect=True)  # doctest: +SKIP
    >>> fit = cv.attention.fit_likelihood(seen, "d_rpb", cv.Grid(8, 12))  # doctest: +SKIP
    """
    require_spark("table", table)
    warn_of_ignored_files(table)
    require_int("lines_at_once", lines_at_once, 1)
    fixations = open_fixations(sketch(table), grid)
    owner = fixations.names[screen_columns(fixations)[0]]
    lines, columns = stream({_TABLE: (used_columns(table, fixations), owner)})
    job = _Job(columns, grid, collect, lines_at_once)
    report = report_of(map_partitions(lines, partial(_count_partition, job=job), ONLY_REPORT))
    for text in sorted(str(failure.what) for failure in report.failures):
        raise DataError(text)
    nothing = ScreenCounts(np.zeros(grid.shape, np.int64), np.zeros(grid.rows, np.int64), 0)
    counts: ScreenCounts = nothing if report.sums is None else report.sums
    return counts.examination(fixations.name, screens, name)


def _count_partition(batches: Iterator[pa.RecordBatch], job: _Job) -> Iterator[pa.RecordBatch]:
    """The counts of a partition, or what is wrong with its lines: errors about data are not tried again."""
    report = Report()
    for tables, _ in job.columns.parts(batches, job.lines_at_once):  # they are read once
        try:
            fixations = replace(open_fixations(tables[_TABLE], job.grid), part=True)
            report += Report(screen_counts(fixations, job.grid, by_participant=job.by_participant))
        except DataError as error:
            report += Report.of_error(error)
    yield from report.lines()
