"""Spark DataFrames that are given: checked, sketched and kept in Spark's cache."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import polars as pl

from carouseval.errors import DataError, ParameterError
from carouseval.extras import require_pyspark
from carouseval.tables.sources import is_spark

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_TELLING = threading.Lock()
_MERGE_CACHED = "spark.sql.optimizer.canChangeCachedPlanOutputPartitioning"


def require_spark(name: str, frame: Any) -> None:
    """Refuse what is not a Spark DataFrame."""
    if not is_spark(frame):
        raise ParameterError(f"{name} must be a Spark DataFrame, found {type(frame).__name__}.")
    require_pyspark("carouseval.spark", frame.sparkSession.version)
    _require_distinct_columns(name, frame)


def _require_distinct_columns(name: str, frame: DataFrame) -> None:
    """Refuse columns that Spark does not tell apart, as a join leaves them."""
    by_case = str(frame.sparkSession.conf.get("spark.sql.caseSensitive")) == "true"
    seen: dict[str, str] = {}
    for column in frame.columns:
        before = seen.setdefault(column if by_case else column.lower(), column)
        if before != column:
            raise DataError(
                f"{name}: Spark does not tell the columns {before} and {column} apart. Rename or drop one, or set "
                "spark.sql.caseSensitive."
            )
        if frame.columns.count(column) > 1:
            raise DataError(f"{name}: there are two columns {column}. Rename or drop one.")


def local_frame(frame: Any) -> pl.DataFrame:
    """All lines of a Spark DataFrame, on this machine."""
    return pl.DataFrame(frame.toArrow())


def cached(frame: DataFrame) -> DataFrame:
    """Keep a frame in Spark's cache, in as few partitions as its size allows.

    Spark does not merge small partitions of cached frames unless it is told to, and each costs a task. The session is
    told so only while the frame is planned; other threads may be about to tell it the same.
    """
    conf = frame.sparkSession.conf
    with _TELLING:
        before = conf.get(_MERGE_CACHED, None)
        conf.set(_MERGE_CACHED, "true")
        try:
            return frame.persist()
        finally:
            if before is None:
                conf.unset(_MERGE_CACHED)
            else:
                conf.set(_MERGE_CACHED, before)


def sketch(frame: DataFrame) -> pl.DataFrame:
    """The columns of a table without its lines."""
    return local_frame(frame.limit(0))
