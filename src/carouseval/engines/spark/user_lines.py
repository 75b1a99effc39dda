"""The lines of all tables as one stream, in which those of a user stand together.

Users are spread over partitions by a hash of their ids and sorted by it within each. An executor reads a partition a
few thousand lines at a time and cuts it between users, so that a part is never more than some hundred thousand lines
and the largest user, whatever the number of partitions. Hashes of lines, summed up, tell whether a table is the same
each time that it is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from carouseval.engines.reports import ReadLines
from carouseval.errors import DataError
from carouseval.tables.columns import ASCII

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame

LINES_AT_ONCE = 500_000  # of a part, unless one user has more
_HASH, _TABLE, _LINE = "__user__", "__table__", "__line__"


class UserLines(NamedTuple):
    """The tables of some users, and what was read of each."""

    tables: dict[str, pl.DataFrame]
    read: dict[str, ReadLines]


@dataclass(frozen=True)
class StreamColumns:
    """The columns of the stream that each table's columns are in."""

    tables: Mapping[str, Mapping[str, str]]  # by table: its own names by those of the stream
    whole_users: bool = True  # the lines of a user stand together, and are not split

    def parts(self, batches: Iterator[pa.RecordBatch], lines_at_once: int) -> Iterator[UserLines]:
        """The tables of some users after the other."""
        held: list[pa.RecordBatch] = []
        count, last = 0, None
        for batch in batches:
            if batch.num_rows == 0:
                continue
            users = batch.column(_HASH).to_numpy()
            cut = int(np.searchsorted(users, users[-1])) if self.whole_users else len(users)  # the last may go on
            if count + cut >= lines_at_once and (cut > 0 or users[0] != last):
                yield self._split([*held, batch.slice(0, cut)])
                batch, held, count = batch.slice(cut), [], 0
            held.append(batch)
            count, last = count + batch.num_rows, users[-1]
        if count:
            yield self._split(held)

    def _split(self, batches: list[pa.RecordBatch]) -> UserLines:
        import pyarrow as pa

        lines = pa.Table.from_batches(batches)
        table_of_line, hashes = (lines.column(name).to_numpy() for name in (_TABLE, _LINE))
        tables, read = {}, {}
        for number, (table, names) in enumerate(self.tables.items()):  # filtered first: others' columns are null there
            in_table = table_of_line == number
            of_table = lines.select(list(names)).filter(pa.array(in_table))
            tables[table] = pl.DataFrame(of_table.rename_columns(list(names.values())))
            read[table] = ReadLines(of_table.num_rows, int(hashes[in_table].sum()) % 2**64)  # int64, which wraps around
        return UserLines(tables, read)


def stream(tables: Mapping[str, tuple[DataFrame, str]], *, whole_users: bool = True) -> tuple[DataFrame, StreamColumns]:
    """The lines of tables, each given with the name of the column that has its users.

    Columns of the same name and type share a column of the stream, which makes it narrower. Without ``whole_users``
    nothing is shuffled, and the lines of a user may be anywhere.
    """
    from pyspark.sql import functions as F  # noqa: N812

    places: dict[str, dict[str, str]] = {}
    columns: dict[tuple[str, Any], str] = {}  # those of the same name and type share one; names may hold dots
    frames = []
    for number, (table, (frame, user)) in enumerate(tables.items()):
        fields = frame.schema.fields
        names = {columns.setdefault((field.name, field.dataType), f"c{len(columns)}"): field.name for field in fields}
        places[table] = names
        values = (F.col(column_in_query(name)).alias(in_stream) for in_stream, name in names.items())
        marks = user_hash(frame, user).alias(_HASH), F.lit(number).cast("byte").alias(_TABLE)
        frames.append(frame.select(*marks, *values))
    lines = frames[0]
    for frame in frames[1:]:
        lines = lines.unionByName(frame, allowMissingColumns=True)
    if whole_users:
        lines = lines.repartition(_HASH).sortWithinPartitions(_HASH)
    in_table = {in_stream: column for column, in_stream in columns.items()}
    lines = lines.withColumn(_LINE, line_hash(in_table))  # not before: it would be shuffled
    return lines, StreamColumns(places, whole_users)


def column_in_query(column: str) -> str:
    """The name of a column in queries, whatever signs it has."""
    return f"`{column.replace('`', '``')}`"


def require_comparable_users(tables: Mapping[str, tuple[DataFrame, str]]) -> None:
    """Refuse users that are times in one table and text or dates in another: their hashes would differ."""
    from pyspark.sql.types import TimestampNTZType, TimestampType

    kinds = {table: frame.schema[user].dataType for table, (frame, user) in tables.items()}
    times = [table for table, kind in kinds.items() if isinstance(kind, TimestampType | TimestampNTZType)]
    others = [table for table in kinds if table not in times]
    if times and others:
        column = tables[times[0]][1]
        raise DataError(
            f"{times[0]}: column {column} holds times, but in {others[0]} users are of type "
            f"{kinds[others[0]].simpleString()}. On Spark, users have one type in all tables: convert one of them."
        )


def user_hash(frame: DataFrame, user: str) -> Column:
    """A hash of users that is the same for integers of any width, and for UUIDs as bytes and as text."""
    from pyspark.sql import functions as F  # noqa: N812
    from pyspark.sql.types import BinaryType, IntegralType

    column, kind = F.col(column_in_query(user)), frame.schema[user].dataType
    if isinstance(kind, IntegralType):
        return F.xxhash64(column.cast("long"))
    text = column.cast("string")
    if isinstance(kind, BinaryType):
        digits = F.lower(F.hex(column))
        is_uuid = (F.length(column) == 16) & ~digits.rlike(ASCII)
        hyphens = F.regexp_replace(digits, "^(.{8})(.{4})(.{4})(.{4})", "$1-$2-$3-$4-")
        text = F.when(is_uuid, hyphens).otherwise(text)
    return F.xxhash64(text)


def read_lines(frame: DataFrame) -> ReadLines:
    """Read a table, for this alone."""
    from pyspark.sql import functions as F  # noqa: N812

    fields = enumerate(frame.schema.fields)
    columns = {f"c{number}": (field.name, field.dataType) for number, field in fields}  # names may hold dots
    hashes = line_hash(columns).cast("decimal(20,0)")  # whose sum has room
    count, total = frame.toDF(*columns).select(hashes.alias("line")).agg(F.count("line"), F.sum("line")).collect()[0]
    return ReadLines(count, int(total or 0) % 2**64)


def line_hash(columns: Mapping[str, tuple[str, Any]]) -> Column:
    """The hash of a line; ``columns`` have the name and the type that each column has in its table.

    It does not depend on what columns are called here, or on their order. Null columns do not count. Doubles are hashed
    as floats: sums on a cluster may differ in their last digits.
    """
    from pyspark.sql import functions as F  # noqa: N812
    from pyspark.sql.types import DoubleType

    values = []
    for column in sorted(columns, key=lambda column: (columns[column][0], columns[column][1].simpleString())):
        kind = columns[column][1]
        if _can_be_hashed(kind):
            values.append(F.col(column).cast("float") if isinstance(kind, DoubleType) else F.col(column))
    return F.xxhash64(*values)


def _can_be_hashed(kind: Any) -> bool:
    from pyspark.sql.types import ArrayType, MapType, StructType, VariantType

    if isinstance(kind, ArrayType):
        return _can_be_hashed(kind.elementType)
    if isinstance(kind, StructType):
        return all(_can_be_hashed(field.dataType) for field in kind.fields)
    return not isinstance(kind, MapType | VariantType)
