"""Spark as an engine: users are brought together by a hash of their ids, and scored where their lines are."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import polars as pl

from carouseval import __version__
from carouseval.engines.contract import RUN, ColumnTypes, Engine, Mapped, Work, arranged, outcome
from carouseval.engines.given_tables import GivenTables
from carouseval.engines.reports import ReadLines, Reads, Report
from carouseval.engines.spark.personal_carousels import declared_carousels
from carouseval.engines.spark.report_lines import (
    REPORT,
    arrow_batches,
    lines_beside_reports,
    report_beside,
    report_lines,
    report_of,
)
from carouseval.engines.spark.spark_tables import cached, local_frame, require_spark, sketch
from carouseval.engines.spark.user_lines import (
    LINES_AT_ONCE,
    StreamColumns,
    column_in_query,
    read_lines,
    require_comparable_users,
    stream,
)
from carouseval.tables.sources import is_spark
from carouseval.validation import require_int

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

OnPartition = Callable[[Iterator["pa.RecordBatch"]], Iterator["pa.RecordBatch"]]


@dataclass(frozen=True)
class SparkEngine(Engine["DataFrame"]):
    """Tables are Spark DataFrames; only reports of partitions come to the driver."""

    lines_at_once: int | None = None  # how many lines a task reads before it scores their users
    place = "Spark"

    def __post_init__(self) -> None:
        if self.lines_at_once is not None:
            require_int("lines_at_once", self.lines_at_once, 1)

    def owns(self, table: Any) -> bool:
        return is_spark(table)

    def require(self, name: str, table: Any) -> None:
        require_spark(name, table)

    def header(self, table: DataFrame) -> pl.DataFrame:
        return sketch(table)

    def to_polars(self, table: DataFrame) -> pl.DataFrame:
        return local_frame(table)

    def select(self, table: DataFrame, columns: Collection[str]) -> DataFrame:
        return table.select(*(column_in_query(name) for name in table.columns if name in columns))

    def where(self, table: DataFrame, column: str, *, null: bool) -> DataFrame:
        return table.where(f"{column_in_query(column)} IS {'' if null else 'NOT '}NULL")

    def is_empty(self, table: DataFrame) -> bool:
        return table.isEmpty()

    def read(self, table: DataFrame) -> ReadLines:
        return read_lines(table)

    def map(
        self,
        tables: Mapping[str, tuple[DataFrame, str]],
        work: Work,
        made: ColumnTypes,
        *,
        together: bool = True,
        least: int = 0,
    ) -> SparkMapped:
        """Give ``work`` the users of a part of a partition at a time."""
        lines, columns = stream(tables, whole_users=together)
        made = _signed(made)
        at_once = max(LINES_AT_ONCE, least) if self.lines_at_once is None else self.lines_at_once
        on_partition = partial(_map_stream, columns=columns, work=work, made=made, at_once=at_once)
        return SparkMapped(cached(map_partitions(lines, on_partition, spark_types(made))), kept=True)

    def declared_carousels(self, tables: GivenTables[DataFrame]) -> tuple[pl.DataFrame, Reads]:
        """What lines of carousels for single users declare; where these are many, not what concerns one user alone."""
        return declared_carousels(tables)

    def require_comparable_users(self, tables: Mapping[str, tuple[DataFrame, str]]) -> None:
        """Refuse users that are times in one table and text or dates in another: their hashes would differ."""
        require_comparable_users(tables)


@dataclass(frozen=True)
class SparkMapped(Mapped["DataFrame"]):
    """Lines that stay in Spark, and reports beside them."""

    frame: DataFrame
    kept: bool = False  # in Spark's cache

    @cached_property
    def report(self) -> Report:
        return report_of(self.frame)

    def lines(self, run: int | None = None, *, lenient: bool = False) -> DataFrame:
        from pyspark.sql import functions as F  # noqa: N812

        lines = self.frame.where(F.col(REPORT).isNull() if lenient else lines_beside_reports())
        return (lines if run is None else lines.where(F.col(RUN) == run)).drop(REPORT, RUN)

    def collect(self, run: int | None = None) -> tuple[pl.DataFrame, Reads]:
        from pyspark.sql import functions as F  # noqa: N812

        wanted = self.frame if run is None else self.frame.where(F.col(REPORT).isNotNull() | (F.col(RUN) == run))
        frame = local_frame(wanted)
        lines = frame.filter(pl.col(REPORT).is_null()).drop(REPORT)
        return lines if run is None else lines.drop(RUN), report_beside(frame[REPORT]).read

    def map(
        self,
        work: Callable[[pl.DataFrame], tuple[Sequence[pl.DataFrame], Any]],
        made: ColumnTypes,
        reading: Collection[str] | None = None,
    ) -> SparkMapped:
        """Give ``work`` the lines of a partition, which has all lines of its users; nothing is kept."""
        wanted = [name for name in self.frame.columns if reading is None or name in {REPORT, *reading}]
        names = {f"c{number}": name for number, name in enumerate(wanted)}  # which may hold dots
        lines = self.frame.selectExpr(*(f"{column_in_query(name)} AS {short}" for short, name in names.items()))
        made = _signed(made)
        on_partition = partial(_map_lines, names=names, work=work, made=made)
        return SparkMapped(map_partitions(lines, on_partition, spark_types(made)))

    def read_again(self) -> Reads | None:
        """What the lines are made of now, if they were dropped; they are kept again."""
        if not self.kept or self.frame.is_cached:
            return None
        return report_of(cached(self.frame)).read

    def drop(self) -> None:
        if self.kept:
            self.frame.unpersist()


def map_partitions(lines: DataFrame, on_partition: OnPartition, types: Any) -> DataFrame:
    """Give the partitions of a stream to executors that have this version: another might score differently.

    No call equals an earlier one: from its cache, Spark would answer for files that have changed since.
    """
    from pyspark import cloudpickle

    dumps: Callable[[Any], bytes] = cloudpickle.dumps
    here, pickled, call = __version__, dumps(on_partition), uuid.uuid4().hex

    def on_executor(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:  # which must need nothing of ours
        import pickle

        from carouseval import __version__ as there

        if there != here:
            raise ImportError(f"carouseval is {there} there and {here} here, in call {call}")
        function: OnPartition = pickle.loads(pickled)
        return function(batches)

    return lines.mapInArrow(on_executor, types)


def _map_stream(
    batches: Iterator[pa.RecordBatch], columns: StreamColumns, work: Work, made: ColumnTypes, at_once: int
) -> Iterator[pa.RecordBatch]:
    """What is made of a partition's users, and one report; errors are reported, so that no task is tried again."""
    report = Report()
    for tables, read in columns.parts(batches, at_once):
        frames, of_users = outcome(work, tables, read)
        report += of_users
        for frame in frames:
            yield from _batches(frame, made)
    yield from report_lines(report, made)


def _map_lines(
    batches: Iterator[pa.RecordBatch],
    names: Mapping[str, str],
    work: Callable[[pl.DataFrame], tuple[Sequence[pl.DataFrame], Any]],
    made: ColumnTypes,
) -> Iterator[pa.RecordBatch]:
    """The same of lines that were made before, with what was read to make them."""
    import pyarrow as pa

    if not (all_batches := list(batches)):
        return
    table = pl.DataFrame(pa.Table.from_batches(all_batches)).rename(dict(names))
    before = report_beside(table[REPORT])
    frames, report = outcome(work, table.filter(pl.col(REPORT).is_null()).drop(REPORT), before.read)
    report += Report(failures=before.failures)
    for frame in frames:
        yield from _batches(frame, made)
    yield from report_lines(report, made)


def _batches(frame: pl.DataFrame, made: ColumnTypes) -> list[pa.RecordBatch]:
    return arrow_batches(arranged(frame, made).with_columns(pl.lit(None, pl.Binary).alias(REPORT)))


def _signed(columns: ColumnTypes) -> ColumnTypes:
    """ColumnTypes with types that Spark has: it has no unsigned integers."""
    return {name: pl.Int64() if kind.is_unsigned_integer() else kind for name, kind in columns.items()}


def spark_types(columns: ColumnTypes) -> Any:
    """The columns of a table that executors return, for Spark."""
    from pyspark.sql import types

    fields = [types.StructField(name, spark_type(kind)) for name, kind in columns.items()]
    return types.StructType([*fields, types.StructField(REPORT, types.BinaryType())])


def spark_type(kind: pl.DataType) -> Any:
    """The type that Spark has for one of ours."""
    from pyspark.sql import types

    kinds = {
        pl.String(): types.StringType(),
        pl.Float64(): types.DoubleType(),
        pl.Int64(): types.LongType(),
        pl.Int32(): types.IntegerType(),
        pl.Boolean(): types.BooleanType(),
    }
    return kinds[kind]
