"""Tables that Spark reads from paths, with the ids of text files in the types of the other tables."""

from __future__ import annotations

import glob
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

import polars as pl

from carouseval.engines.spark.spark_errors import condition, reason, spark_exceptions
from carouseval.engines.spark.spark_tables import sketch
from carouseval.engines.spark.user_lines import column_in_query
from carouseval.errors import DataError, warn
from carouseval.evaluation import schema
from carouseval.evaluation.settings import ColumnNames
from carouseval.tables.kinds import KINDS, kind_of, word_list
from carouseval.tables.kinds.contract import FileKind
from carouseval.tables.kinds.parquet import PARQUET
from carouseval.tables.opening import open_table
from carouseval.tables.sources import is_spark
from carouseval.tables.table import agree_on_ids

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

_IGNORING = ("ignoreMissingFiles", "ignoreCorruptFiles")
# other than Spark's own defaults: a file with other columns, or a line that cannot be parsed, is never read in silence,
# nor is a file left out, whatever Spark's configuration says
_ALL_FILES = dict.fromkeys(_IGNORING, False)
_OPTIONS: dict[str, dict[str, Any]] = {
    "parquet": {"mergeSchema": True},
    "csv": {"header": True, "enforceSchema": False, "escape": '"', "mode": "FAILFAST"},
    "json": {"mode": "FAILFAST"},
}


def read_tables(session: SparkSession, paths: Mapping[str, str], columns: ColumnNames = None) -> dict[str, DataFrame]:
    """Spark DataFrames of tables by their names, such as layouts; ``columns`` is the setting.

    The values of text files have no types. Numbers are parsed where they are used; ids become integers if they are
    integers in a table that has types.
    """
    kinds = {name: _kind(name, path) for name, path in paths.items()}
    frames = {name: _read(session, name, path, kinds[name]) for name, path in paths.items()}
    typed = [
        open_table(sketch(frame), name, schema.TABLES[name], schema.names_of(columns, name))
        for name, frame in frames.items()
        if not kinds[name].is_text
    ]
    types = {name: kind for table in agree_on_ids(typed) for name, kind in table.id_types.items()}
    integers = [name for name, kind in types.items() if kind == pl.Int64]
    for name, frame in frames.items():
        if kinds[name].is_text:
            frames[name] = _with_integers(name, frame, integers, schema.names_of(columns, name))
    return frames


def warn_of_ignored_files(*tables: Any) -> None:
    """Say where Spark's configuration leaves out files in silence, of tables that the caller has read."""
    frames = [table for table in tables if is_spark(table)]
    for option in _IGNORING if frames else ():
        setting = f"spark.sql.files.{option}"
        if str(frames[0].sparkSession.conf.get(setting, "false")).lower() == "true":
            what = "missing" if option == "ignoreMissingFiles" else "damaged"
            warn(
                f"{setting} is true: where files of these tables are {what}, Spark leaves out their lines and says "
                f"nothing. Set it to false: spark.conf.set('{setting}', False)."
            )


def _kind(name: str, path: str) -> FileKind:
    """The kind of a file or of the files in a folder, by its name; without an ending they are Parquet."""
    if not path:
        raise DataError(f"{name}: the path is empty.")
    location = PurePosixPath(path)
    if "**" in location.parts:  # which Spark takes for a single star
        folder = path.partition("**")[0] or "."
        raise DataError(
            f"{name}: {path}: Spark has no pattern **. Give the folder {folder}, which it reads as a whole."
        )
    kind = kind_of(location) if location.suffix else PARQUET
    if kind is None or not kind.spark_format:
        raise DataError(f"{name}: {path} cannot be read by Spark. {_supported()}")
    return kind


def _supported() -> str:
    extensions = word_list([kind.extensions[0] for kind in KINDS if kind.spark_format], "and")
    return f"Spark reads {extensions} files, and folders of Parquet files."


def _read(session: SparkSession, name: str, path: str, kind: FileKind) -> DataFrame:
    options = _OPTIONS[kind.spark_format] | _ALL_FILES | ({"sep": kind.separator} if kind.is_text else {})
    try:
        frame = session.read.load(path, format=kind.spark_format, **options)
    except spark_exceptions() as error:
        if condition(error) == "PATH_NOT_FOUND":
            problem = "no file matches this pattern" if glob.has_magic(path) else "No such file or directory"
            raise DataError(f"{name}: {path}: {problem}.") from None
        if condition(error) == "UNABLE_TO_INFER_SCHEMA":
            raise DataError(
                f"{name}: {path} has no {kind.name} files in it, or they are empty, or their names begin with _ or a "
                f"dot, which Spark leaves out. {_supported()}"
            ) from None
        is_folder = not PurePosixPath(path).suffix
        advice = f" Of a folder with other files, give a pattern: {path.rstrip('/')}/*.csv." if is_folder else ""
        raise DataError(f"{name}: {path} cannot be read as {kind.name}: {reason(error)}.{advice}") from None
    if not frame.columns:
        raise DataError(f"{name}: {path} is empty.")
    return _checked_text(name, path, frame) if kind.is_text else frame


def _checked_text(name: str, path: str, frame: DataFrame) -> DataFrame:
    """A table of text without blank lines; bytes that are not UTF-8, which Spark would replace, end the query."""
    from pyspark.sql import functions as F  # noqa: N812

    message = F.lit(f"{name}: {path} cannot be parsed as CSV: it is not in UTF-8. Save it as UTF-8.")
    columns = {name: F.col(f"`{name}`") for name in frame.columns}
    checked = (
        F.when(text.contains("\N{REPLACEMENT CHARACTER}"), F.raise_error(message)).otherwise(text).alias(name)
        for name, text in columns.items()
    )
    return frame.select(*checked).dropna("all")


def _with_integers(name: str, frame: DataFrame, integers: list[str], names: Mapping[str, str]) -> DataFrame:
    """A table of text with some of its ids, by our names of columns, as integers."""
    for column in schema.TABLES[name]:
        spelling = names.get(column.name, column.name)
        if column.name in integers and spelling in frame.columns:
            frame = frame.withColumn(spelling, _integer(name, spelling))
    return frame


def _integer(table: str, column: str) -> Column:
    """The integers of a column of text; another value ends the query with the message of one machine."""
    from pyspark.sql import functions as F  # noqa: N812

    text = F.col(column_in_query(column))
    message = F.concat(
        F.lit(f"{table}: column {column}: found '"),
        F.substring(text, 1, 60),
        F.lit("'. In the other tables it holds integers of at most 64 bits. Use the same type of id in all tables."),
    )
    number = F.when(text.rlike(r"^[-+]?[0-9]+$"), text.try_cast("bigint"))
    return F.when(text.isNotNull(), F.coalesce(number, F.raise_error(message).cast("bigint")))
