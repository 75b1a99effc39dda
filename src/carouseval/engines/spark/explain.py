"""``cv.spark.explain``: what a system's pages lose, from Spark DataFrames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Unpack

from carouseval.engines.explain import explain_on
from carouseval.engines.spark.engine import SparkEngine
from carouseval.engines.spark.spark_files import warn_of_ignored_files
from carouseval.evaluation.explanation import Explanation
from carouseval.evaluation.settings import Settings, SettingsDict
from carouseval.settings import checked_settings, takes
from carouseval.tables.table import TableLike

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@takes(Settings)
def explain(
    layouts: DataFrame,
    judgments: DataFrame,
    items: DataFrame | TableLike | None = None,
    *,
    pages: Sequence[Any] = (),
    lines_at_once: int | None = None,
    **settings: Unpack[SettingsDict],
) -> Explanation:
    """Split what a system's pages lose on Spark into item order, row order and the choice of items.

    The same to the bit as :func:`carouseval.explain` gives. The losses of all pages come to the driver, up to a million
    of them.

    Parameters
    ----------
    layouts, judgments : pyspark.sql.DataFrame
        As in :func:`carouseval.spark.evaluate`.
    items : pyspark.sql.DataFrame or table, optional
        Lines of ``item_id, category``.
    pages : sequence, default ()
        Pages to hold besides the worst and a typical one, as in :func:`carouseval.explain`.
    lines_at_once : int, optional
        How many lines a task reads before it scores their users, as in :func:`carouseval.spark.evaluate`.

    Returns
    -------
    Explanation
        The losses overall, by segment, cell and page; it holds the pages that it shows, and reads no others.

    Examples
    --------
    >>> import carouseval as cv
    >>> layouts, judgments = spark.table("layouts"), spark.table("judgments")  # doctest: +SKIP
    >>> cv.spark.explain(layouts, judgments).shares  # doctest: +SKIP
    """
    options = checked_settings("spark.explain", settings, Settings)
    warn_of_ignored_files(layouts, judgments, items, options.carousels)
    return explain_on(SparkEngine(lines_at_once), layouts, judgments, items, options, pages)
