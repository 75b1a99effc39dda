"""``cv.spark.compare``: a comparison of systems, from Spark DataFrames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Unpack

from carouseval.comparison.comparison import Comparison
from carouseval.comparison.settings import ComparisonDict, ComparisonSettings
from carouseval.comparison.systems import all_runs
from carouseval.engines.compare import compare_on
from carouseval.engines.spark.engine import SparkEngine
from carouseval.engines.spark.spark_files import warn_of_ignored_files
from carouseval.evaluation.settings import Settings
from carouseval.settings import checked_settings, takes
from carouseval.tables.table import TableLike

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@takes(ComparisonSettings, Settings)
def compare(
    systems: Mapping[str, DataFrame | Sequence[DataFrame]],
    judgments: DataFrame,
    items: DataFrame | TableLike | None = None,
    *,
    collect: bool = False,
    lines_at_once: int | None = None,
    **settings: Unpack[ComparisonDict],
) -> Comparison[DataFrame]:
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
    Comparison
        The mean of each system and the difference, interval and p-value of each pair.

    Examples
    --------
    >>> import carouseval as cv
    >>> systems = {"prod": spark.table("prod"), "new": spark.table("new")}  # doctest: +SKIP
    >>> cv.spark.compare(systems, spark.table("judgments"), baseline="prod").summary  # doctest: +SKIP
    """
    choices, options = checked_settings("spark.compare", settings, ComparisonSettings, Settings)
    warn_of_ignored_files(judgments, items, options.carousels)
    layouts = all_runs(systems, choices.baseline, lambda table: table)
    return compare_on(SparkEngine(lines_at_once), layouts, judgments, items, choices, options, collect=collect)
