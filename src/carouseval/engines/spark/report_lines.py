"""Reports as lines of Spark DataFrames.

Executors also add up the reports of many partitions, so that the driver receives a few whatever their number: sums
under ten thousand sign flips for each pair and segment, or the items of a catalogue, would be too much from thousands.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import reduce
from operator import add
from typing import TYPE_CHECKING

import polars as pl

from carouseval.engines.contract import ColumnTypes
from carouseval.engines.reports import Report
from carouseval.engines.spark.spark_errors import executor_errors

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame

REPORT = "__report__"
_GROUPS = 32  # of partitions; executors add up the reports of each
_GOOD, _BAD = b".", b"!"  # how the reports of lines begin that could be scored, or not
_MADE_AGAIN = (
    "the pages were made again, of lines that cannot be scored: the tables have changed since the result was made. "
    "Make the result again, or keep the tables as they are."
)


def report_lines(report: Report, columns: ColumnTypes) -> Iterator[pa.RecordBatch]:
    """A line without values but for the report; none if there is nothing to report."""
    if report:
        empty = [pl.lit(None, kind).alias(name) for name, kind in columns.items()]
        yield from arrow_batches(pl.select(*empty, pl.lit(pickled(report), pl.Binary).alias(REPORT)))


def pickled(report: Report) -> bytes:
    """A report as bytes, whose first says whether lines could be scored."""
    return (_BAD if report.failures else _GOOD) + pickle.dumps(report)


def unpickled(report: bytes) -> Report:
    """A report that was pickled."""
    content: Report = pickle.loads(memoryview(report)[1:])
    return content


def lines_beside_reports() -> Column:
    """Which lines are not reports; a report that lines can no longer be scored ends the query."""
    from pyspark.sql import functions as F  # noqa: N812

    is_bad = F.substring(F.col(REPORT), 1, 1) == F.lit(bytearray(_BAD))
    refused = F.raise_error(F.lit(_MADE_AGAIN)).cast("boolean")
    return F.when(F.col(REPORT).isNull(), True).when(is_bad, refused).otherwise(False)


def arrow_batches(lines: pl.DataFrame) -> list[pa.RecordBatch]:
    """A frame as Spark takes it from Python."""
    batches: list[pa.RecordBatch] = lines.to_arrow(compat_level=pl.CompatLevel.oldest()).to_batches()
    return batches


def report_beside(reports: pl.Series) -> Report:
    """What is reported of lines, by the reports beside them; null on the lines themselves. Without what adds up."""
    return _sum([replace(unpickled(report), sums=None) for report in reports.drop_nulls()])


def report_of(results: DataFrame) -> Report:
    """What all partitions report together; always added up in the same order."""
    from pyspark.sql import functions as F  # noqa: N812

    partition = F.spark_partition_id()
    reports = results.where(F.col(REPORT).isNotNull()).select(
        (partition % _GROUPS).alias("group"), partition.alias("partition"), REPORT
    )
    grouped = reports.repartition("group").sortWithinPartitions("group", "partition")
    with executor_errors():
        lines = grouped.mapInArrow(add_up, f"group int, {REPORT} binary").collect()
    return _sum([unpickled(line[1]) for line in sorted(lines)])


def add_up(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The reports of each group of partitions, as one."""
    import pyarrow as pa

    groups: dict[int, Report] = {}
    for batch in batches:
        for group, report in zip(batch.column("group").to_pylist(), batch.column(REPORT), strict=True):
            groups[group] = groups.get(group, Report()) + unpickled(report.as_buffer())
    reports = pa.array([pickled(report) for report in groups.values()], pa.binary())
    yield pa.RecordBatch.from_pydict({"group": pa.array(groups, pa.int32()), REPORT: reports})


def _sum(reports: Sequence[Report]) -> Report:
    return reduce(add, reports, Report())
