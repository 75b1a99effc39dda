"""Reports as lines of Spark DataFrames.

Executors also add up the reports of many partitions, so that the driver receives a few whatever their number: sums
under ten thousand sign flips for each pair and segment, or the items of a catalogue, would be too much from thousands.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from functools import reduce
from operator import add
from typing import TYPE_CHECKING

import polars as pl

from carouseval.engines.contract import Columns
from carouseval.engines.reads import Reads
from carouseval.engines.reports import Report
from carouseval.engines.spark.spark_errors import executor_errors
from carouseval.evaluation.mappings import added

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

REPORT = "__report__"
_GROUPS = 32  # of partitions; executors add up the reports of each


def report_lines(report: Report, columns: Columns) -> Iterator[pa.RecordBatch]:
    """A line without values but for the report; none if there is nothing to report."""
    if report:
        empty = [pl.lit(None, kind).alias(name) for name, kind in columns.items()]
        yield from arrow_batches(pl.select(*empty, pl.lit(pickle.dumps(report), pl.Binary).alias(REPORT)))


def arrow_batches(lines: pl.DataFrame) -> list[pa.RecordBatch]:
    """A frame as Spark takes it from Python."""
    batches: list[pa.RecordBatch] = lines.to_arrow(compat_level=pl.CompatLevel.oldest()).to_batches()
    return batches


def read_of(reports: pl.Series) -> Reads:
    """What lines were made of, by the reports beside them; null on the lines themselves."""
    nothing: Reads = {}
    return reduce(added, (pickle.loads(report).read for report in reports.drop_nulls()), nothing)


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
