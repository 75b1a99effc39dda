"""Examination counts on Spark: screens are counted in parts by the same function as on one machine, and added."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from carouseval.attention.examination import Examination
from carouseval.attention.screens import ScreenCounts, open_fixations, screen_columns, screen_counts
from carouseval.engines.contract import Tables
from carouseval.engines.given_tables import used_columns
from carouseval.engines.spark.engine import SparkEngine
from carouseval.engines.spark.spark_files import warn_of_ignored_files
from carouseval.engines.spark.user_lines import LINES_AT_ONCE
from carouseval.errors import DataError
from carouseval.metrics.grid import Grid

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_TABLE = "fixations"


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
    engine = SparkEngine(lines_at_once)
    engine.require("table", table)
    warn_of_ignored_files(table)
    fixations = open_fixations(engine.header(table), grid)
    owner = fixations.names[screen_columns(fixations)[0]]
    work = partial(_count, grid=grid, by_participant=collect)
    counted = engine.map({_TABLE: (used_columns(engine, table, fixations), owner)}, work, {})
    try:
        report = counted.report
    finally:
        counted.drop()
    for text in sorted(str(failure.what) for failure in report.failures):
        raise DataError(text)
    nothing = ScreenCounts(np.zeros(grid.shape, np.int64), np.zeros(grid.rows, np.int64), 0)
    counts: ScreenCounts = nothing if report.sums is None else report.sums
    return counts.examination(fixations.name, screens, name)


def _count(tables: Tables, grid: Grid, by_participant: bool) -> tuple[list[pl.DataFrame], ScreenCounts]:
    """The counts of some participants."""
    fixations = replace(open_fixations(tables[_TABLE], grid), part=True)
    return [], screen_counts(fixations, grid, by_participant=by_participant)
