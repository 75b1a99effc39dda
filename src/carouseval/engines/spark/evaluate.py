"""``cv.spark.evaluate``: the evaluation of one system, from Spark DataFrames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from carouseval.engines.evaluate import evaluate_on
from carouseval.engines.spark.engine import SparkEngine
from carouseval.engines.spark.spark_files import warn_of_ignored_files
from carouseval.evaluation.results import Evaluation
from carouseval.evaluation.settings import Settings, SettingsDict
from carouseval.settings import checked_settings, takes
from carouseval.tables.table import TableLike

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@takes(Settings)
def evaluate(
    layouts: DataFrame,
    judgments: DataFrame,
    items: DataFrame | TableLike | None = None,
    *,
    lines_at_once: int | None = None,
    **settings: Unpack[SettingsDict],
) -> Evaluation[DataFrame]:
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
    Evaluation
        Means, intervals, counts and the settings in force; scores of pages and users as Spark DataFrames.

    Examples
    --------
    >>> import carouseval as cv
    >>> layouts, judgments = spark.table("layouts"), spark.table("judgments")  # doctest: +SKIP
    >>> result = cv.spark.evaluate(layouts, judgments, by="device")  # doctest: +SKIP
    >>> result.per_page.write.parquet("scores")  # doctest: +SKIP
    """
    options = checked_settings("spark.evaluate", settings, Settings)
    warn_of_ignored_files(layouts, judgments, items, options.carousels)
    return evaluate_on(SparkEngine(lines_at_once), layouts, judgments, items, options)
