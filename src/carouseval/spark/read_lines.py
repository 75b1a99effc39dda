"""What was read of a table: Spark reads tables more than once, and they must be the same each time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from carouseval.comparison.comparison_sums import Run
from carouseval.comparison.systems import naming
from carouseval.errors import DataError

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_REMEDY = (
    "Keep one version of it: cache or checkpoint it, or write it to files that nothing replaces. Where limit or "
    "row_number chooses its lines, give them an order without ties."
)


@dataclass(frozen=True)
class ReadLines:
    """How many lines were read, and the sum of their hashes, in whatever order they came."""

    count: int = 0
    hashes: int = 0  # modulo 2 ** 64

    def __add__(self, other: ReadLines) -> ReadLines:
        return ReadLines(self.count + other.count, (self.hashes + other.hashes) % 2**64)

    @classmethod
    def of(cls, frame: DataFrame) -> ReadLines:
        """Read a table, for this alone."""
        from pyspark.sql import functions as F  # noqa: N812

        columns = {
            f"c{at}": (one.name, one.dataType) for at, one in enumerate(frame.schema.fields)
        }  # names may hold dots
        hashes = line_hash(columns).cast("decimal(20,0)")  # whose sum has room
        count, total = (
            frame.toDF(*columns).select(hashes.alias("line")).agg(F.count("line"), F.sum("line")).collect()[0]
        )
        return cls(count, int(total or 0) % 2**64)


Reads: TypeAlias = Mapping[str, ReadLines]
"""What was read of each table, by its name among those of :class:`SparkTables`."""


def add_reads(one: Reads, other: Reads) -> dict[str, ReadLines]:
    """What was read in two parts of a pass."""
    nothing = ReadLines()
    return {table: one.get(table, nothing) + other.get(table, nothing) for table in dict.fromkeys([*one, *other])}


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


def refuse_changes(before: Reads, after: Reads, runs: Mapping[str, Run]) -> None:
    """Refuse tables of which two passes read different lines; ``runs`` tells the run that each of the layouts is of."""
    for table, first in before.items():
        later = after.get(table, first)
        if later == first:
            continue
        found = f"{first.count:,} line{'s' * (first.count != 1)} at first and {later.count:,} later"
        if first.count == later.count:
            found = f"{first.count:,} line{'s' * (first.count != 1)} each time, but not the same"
        what = f"the table changes while it is read: {found}. {_REMEDY}"
        with naming(*runs.get(table, ("", 0))):
            raise DataError(f"{'layouts' if table in runs else table}: {what}")
