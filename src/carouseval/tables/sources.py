"""What is accepted as a table: frames of any library, dicts of columns, paths and patterns."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import polars as pl

from carouseval.errors import CarousevalError, DataError, ParameterError
from carouseval.extras import require_pyspark
from carouseval.forks import refuse_fork
from carouseval.tables.cloud import cloud_url, open_cloud_file
from carouseval.tables.files import ReadErrors, TableFile, find_files, first_line, is_panic, open_file, with_table_name
from carouseval.tables.python_values import frame_of_columns, frame_of_pandas, is_pandas, without_objects

_FRAMES = ("__arrow_c_stream__", "__dataframe__")  # by which libraries hand over their tables
MOST_SPARK_LINES = 1_000_000  # that come to this machine without being asked for
_ON_SPARK = (
    "Leave them in Spark: cv.spark.evaluate(layouts, judgments, items), or cv.spark.compare({'prod': layouts, 'new': "
    "layouts}, judgments, items). "
)
_TABLES_ON_SPARK = ("layouts", "judgments", "items", "carousels")


class ArrowTable(Protocol):
    """A table with the Arrow PyCapsule interface, such as those of pandas, PyArrow and DuckDB."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """The table as an Arrow stream."""


TablePath: TypeAlias = str | os.PathLike[str]
"""A path to a table: a file, a folder or a pattern such as ``layouts/*.parquet``, on disk or in cloud storage."""

TableLike: TypeAlias = pl.DataFrame | pl.LazyFrame | ArrowTable | Mapping[str, Any] | TablePath | Sequence[TablePath]
"""A table: a Polars frame, a table of pandas, PyArrow or DuckDB, a dict of columns, or one or several paths."""


def in_memory(source: TableLike, name: str) -> TableLike:
    """The table as a frame if it may be readable only once or slowly; paths and lazy frames as they are."""
    records, files = open_source(source, name)
    return source if files or isinstance(source, pl.LazyFrame) else records.collect()


def open_source(source: TableLike, name: str) -> tuple[pl.LazyFrame, tuple[TableFile, ...]]:
    """All columns of a table, and the files it is read from, if any."""
    refuse_fork()
    if isinstance(source, str | os.PathLike) or (
        isinstance(source, list | tuple) and source and all(isinstance(path, str | os.PathLike) for path in source)
    ):
        paths = [source] if isinstance(source, str | os.PathLike) else source
        try:
            files = tuple(file for path in paths for file in _open_path(path))
        except DataError as error:
            raise DataError(with_table_name(name, str(error))) from None
        frames = [file.records for file in files]
        return (frames[0] if len(frames) == 1 else pl.concat(frames, how="diagonal_relaxed")), files
    if isinstance(source, pl.LazyFrame):
        with ReadErrors((), name):
            has_objects = pl.Object in source.collect_schema().dtypes()
            return without_objects(source.collect()).lazy() if has_objects else source, ()
    if isinstance(source, pl.DataFrame):
        return without_objects(source).lazy(), ()
    if is_spark(source) or isinstance(source, Mapping) or any(hasattr(source, method) for method in _FRAMES):
        try:
            if isinstance(source, Mapping):
                return frame_of_columns(source).lazy(), ()
            return _without_types_of_nulls(_collected(source, name) if is_spark(source) else source).lazy(), ()
        except CarousevalError:
            raise
        except BaseException as error:  # whatever another library raises about its own table
            if not (isinstance(error, Exception) or is_panic(error)):
                raise
            raise DataError(f"{name} cannot be read as a table: {first_line(error)}.") from None
    raise ParameterError(
        f"{name} must be a table (Polars, pandas, PyArrow, DuckDB, a dict of columns) or a path, "
        f"found {type(source).__name__}."
    )


def _open_path(path: TablePath) -> Sequence[TableFile]:
    """The files of a path, a folder or a pattern, on disk or in cloud storage."""
    if url := cloud_url(path):
        return [open_cloud_file(url)]
    return [open_file(file) for file in find_files(Path(path))]


def _without_types_of_nulls(source: Any) -> pl.DataFrame:
    """The frame of another library; a column of nulls, which pandas hands over as text, has no type."""
    frame = frame_of_pandas(source) if is_pandas(source) else pl.DataFrame(source)
    nulls = [name for name, kind in frame.schema.items() if kind == pl.String and frame[name].count() == 0]
    return frame.with_columns(pl.col(nulls).cast(pl.Null)) if frame.height else frame


def default_name(source: TableLike) -> str:
    """The name of a table that was given none: its path, or "table"."""
    return str(source) if isinstance(source, str | os.PathLike) else "table"


def is_spark(source: Any) -> bool:
    """Whether this is a Spark DataFrame, classic or of Spark Connect, of whatever version."""
    return any(
        base.__name__ == "DataFrame" and base.__module__.startswith("pyspark.sql.") for base in type(source).__mro__
    )


def _collected(source: Any, name: str) -> pl.DataFrame:
    """All lines of a Spark DataFrame, which is refused if they are too many.

    Spark's estimates of sizes cannot be trusted: of a join they may be the product of both tables. So lines are counted
    first, some partitions at a time and only until they are too many.
    """
    from pyspark.sql import functions as F  # noqa: N812

    require_pyspark("a Spark DataFrame", source.sparkSession.version)
    if source.select(F.lit(1)).offset(MOST_SPARK_LINES).limit(1).collect():
        advice = _ON_SPARK if name in _TABLES_ON_SPARK else ""
        raise DataError(
            f"{name}: this Spark DataFrame has more than {MOST_SPARK_LINES:,} lines, which would all come to this "
            f"machine. {advice}If they do fit, ask for them: {name}.toArrow()."
        )
    return pl.DataFrame(source.toArrow())
