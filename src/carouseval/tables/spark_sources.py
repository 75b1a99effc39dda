"""Spark DataFrames that are given to functions of one machine, to which they come whole: only small ones do."""

from typing import Any

import polars as pl

from carouseval.errors import DataError
from carouseval.extras import require_pyspark

MOST_SPARK_LINES = 1_000_000  # that come to this machine without being asked for
_ON_SPARK = (
    "Leave them in Spark: cv.spark.evaluate(layouts, judgments, items), or cv.spark.compare({'prod': layouts, 'new': "
    "layouts}, judgments, items). "
)
_TABLES = ("layouts", "judgments", "items", "carousels")


def is_spark(source: Any) -> bool:
    """Whether this is a Spark DataFrame, classic or of Spark Connect, of whatever version."""
    return any(
        one.__name__ == "DataFrame" and one.__module__.startswith("pyspark.sql.") for one in type(source).__mro__
    )


def collected(source: Any, name: str) -> pl.DataFrame:
    """All lines of a Spark DataFrame, which is refused if they are too many.

    Spark's estimates of sizes cannot be trusted: of a join they may be the product of both tables. So lines are counted
    first, some partitions at a time and only until they are too many.
    """
    from pyspark.sql import functions as F  # noqa: N812

    require_pyspark("a Spark DataFrame", source.sparkSession.version)
    if source.select(F.lit(1)).offset(MOST_SPARK_LINES).limit(1).collect():
        raise DataError(
            f"{name}: this Spark DataFrame has more than {MOST_SPARK_LINES:,} lines, which would all come to this "
            f"machine. {_ON_SPARK if name in _TABLES else ''}If they do fit, ask for them: {name}.toArrow()."
        )
    return pl.DataFrame(source.toArrow())
