"""Hashes of lines, by which it is seen whether a table is the same each time that it is read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from carouseval.engines.reads import ReadLines

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def read_lines(frame: DataFrame) -> ReadLines:
    """Read a table, for this alone."""
    from pyspark.sql import functions as F  # noqa: N812

    columns = {f"c{at}": (one.name, one.dataType) for at, one in enumerate(frame.schema.fields)}  # names may hold dots
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
