"""What executors report of their users: what adds up, and what went wrong.

Executors also add up the reports of many partitions, so that the driver receives a few whatever their number: sums
under ten thousand sign flips for each pair and segment, or the items of a catalogue, would be too much from thousands.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

import polars as pl

from carouseval.errors import DataError
from carouseval.spark.failures import Failure, failures_of
from carouseval.spark.read_lines import Reads, add_reads
from carouseval.spark.spark_errors import executor_errors

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

REPORT = "__report__"
ONLY_REPORT = f"{REPORT} binary"  # the columns of a table of reports alone, for Spark
_GROUPS = 32  # of partitions; executors add up the reports of each


@dataclass(frozen=True)
class Report:
    """The sums of some users, if there are any, what is wrong with their lines, each kind once, and what was read."""

    sums: Any = None
    failures: tuple[Failure, ...] = ()
    read: Reads = field(default_factory=dict)

    @classmethod
    def of_error(cls, error: DataError) -> Report:
        """Lines that cannot be scored."""
        return cls(failures=failures_of(error))

    def __add__(self, other: Report) -> Report:
        sums = [one for one in (self.sums, other.sums) if one is not None]
        by_kind: dict[Any, Failure] = {}
        for failure in (*self.failures, *other.failures):
            by_kind[failure.kind] = by_kind[failure.kind] + failure if failure.kind in by_kind else failure
        return Report(reduce(add, sums) if sums else None, tuple(by_kind.values()), add_reads(self.read, other.read))

    def lines(self, schema: Mapping[str, Any] | None = None) -> Iterator[pa.RecordBatch]:
        """A line without values but for the report; none if there is nothing to report."""
        if self.sums is not None or self.failures or self.read:
            empty = [pl.lit(None, kind).alias(name) for name, kind in (schema or {}).items()]
            yield from arrow_batches(pl.select(*empty, pl.lit(pickle.dumps(self), pl.Binary).alias(REPORT)))


def arrow_batches(lines: pl.DataFrame) -> list[pa.RecordBatch]:
    """A frame as Spark takes it from Python."""
    batches: list[pa.RecordBatch] = lines.to_arrow(compat_level=pl.CompatLevel.oldest()).to_batches()
    return batches


def report_of(results: DataFrame) -> Report:
    """What all partitions report together; always added up in the same order."""
    from pyspark.sql import functions as F  # noqa: N812

    partition = F.spark_partition_id()
    reports = results.where(F.col(REPORT).isNotNull()).select(
        (partition % _GROUPS).alias("group"), partition.alias("partition"), REPORT
    )
    grouped = reports.repartition("group").sortWithinPartitions("group", "partition")
    with executor_errors():
        lines = grouped.mapInArrow(add_up, f"group int, {ONLY_REPORT}").collect()
    return _sum([pickle.loads(line[1]) for line in sorted(lines)])


def add_up(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The reports of each group of partitions, as one."""
    import pyarrow as pa

    groups: dict[int, Report] = {}
    for batch in batches:
        for group, pickled in zip(batch.column("group").to_pylist(), batch.column(REPORT), strict=True):
            groups[group] = groups.get(group, Report()) + pickle.loads(pickled.as_buffer())
    pickled = pa.array([pickle.dumps(report) for report in groups.values()], pa.binary())
    yield pa.RecordBatch.from_pydict({"group": pa.array(groups, pa.int32()), REPORT: pickled})


def _sum(reports: Sequence[Report]) -> Report:
    return reduce(add, reports, Report())
