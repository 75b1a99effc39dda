"""Spark DataFrames that are given to functions of one machine, to which they come whole: only small ones do."""

from typing import Any

import polars as pl

from carouseval.errors import DataError
from carouseval.extras import require_pyspark

MOST_SPARK_LINES = 1_000_000  # that come to this machine without being asked for


def is_spark(source: Any) -> bool:
    """Whether this is a Spark DataFrame, classic or of Spark Connect, of whatever version."""
    return any(
        one.__name__ == "DataFrame" and one.__module__.startswith("pyspark.sql.") for one in type(source).__mro__
    )


def collected(source: Any, name: str) -> pl.DataFrame:
    """All lines of a Spark DataFrame, which is refused if they are too many.

    Spark's estimates of sizes cannot be trusted: of a join they may be the product of both tables. Lines are counted
    until they are too many, partition by partition, and kept meanwhile, so that they are not computed again.
    """
    from pyspark.sql import functions as F  # noqa: N812

    require_pyspark("a Spark DataFrame", source.sparkSession.version)
    kept = source.storageLevel
    is_kept = kept.useMemory or kept.useDisk
    frame = source if is_kept else source.persist()
    try:
        if frame.select(F.lit(1)).offset(MOST_SPARK_LINES).limit(1).collect():
            raise DataError(
                f"{name}: this Spark DataFrame has more than {MOST_SPARK_LINES:,} lines, which would all come to this "
                f"machine. {_REMEDIES.get(name, '')}If they do fit, ask for them: {name}.toArrow()."
            )
        return pl.DataFrame(frame.toArrow())
    finally:
        if not is_kept:
            source.unpersist()


_ON_SPARK = (
    "Leave them in Spark: cv.spark.evaluate(layouts, judgments, items), or cv.spark.compare({'prod': layouts, 'new': "
    "layouts}, judgments, items). "
)
_REMEDIES = dict.fromkeys(("layouts", "judgments", "items", "carousels"), _ON_SPARK)
