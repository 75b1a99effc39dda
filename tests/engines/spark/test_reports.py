"""Reports of executors: they add up in Spark, in the same order every time, before the driver sees them."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from carouseval.engines.reports import Failure, Report
from carouseval.engines.spark.report_lines import REPORT, add_up, pickled, report_lines, report_of, unpickled
from carouseval.errors import DataError
from carouseval.evaluation.notices import Refusal


@dataclass(frozen=True)
class Visited:
    """Sums that remember their order."""

    partitions: tuple[int, ...]

    def __add__(self, other: "Visited") -> "Visited":
        return Visited(self.partitions + other.partitions)


def report_numbers(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """A report of each line: its number, or, of every tenth, that it is bad."""
    for batch in batches:
        for number in batch.column("id").to_pylist():
            bad = number % 10 == 9
            report = Report.of_error(DataError(f"line {number:03}")) if bad else Report(Visited((number,)))
            yield from report_lines(report, {})


def test_failures_of_a_kind_are_one() -> None:
    first, second = (
        Failure(Refusal("missing", count, (("user_id", user),), False)) for count, user in ((2, "b"), (3, "a"))
    )
    report = Report(1, (Failure("items: b"), first)) + Report(None, (second, Failure("judgments: c"))) + Report(2)
    assert report == Report(3, (Failure("judgments: c"), Failure(Refusal("missing", 5, (("user_id", "a"),), False))))
    assert len((Report(1, (first,)) + Report(1, (replace(second, run=("new", 0)),))).failures) == 2


def test_nothing_is_not_reported() -> None:
    assert list(report_lines(Report(), {})) == []


def test_reports_of_many_partitions_add_up_in_order(spark: Any) -> None:
    reports = spark.range(80, numPartitions=80).mapInArrow(report_numbers, f"{REPORT} binary")
    report = report_of(reports)
    numbers = [number for number in range(80) if number % 10 < 9]
    assert report.sums.partitions == tuple(sorted(numbers, key=lambda number: (number % 32, number)))
    assert report.failures == (Failure("line 009"),)


def test_no_partition_has_anything_to_report(spark: Any) -> None:
    assert report_of(spark.range(0).mapInArrow(report_numbers, f"{REPORT} binary")) == Report()


def test_a_group_of_partitions_sends_one_report() -> None:
    reports = [pickled(Report(Visited((number,)))) for number in range(7)]
    batch = pa.RecordBatch.from_pydict({"group": pa.array([0, 0, 0, 0, 1, 1, 5], pa.int32()), REPORT: reports})
    (groups,) = add_up(iter([batch.slice(0, 3), batch.slice(3)]))
    assert groups.column("group").to_pylist() == [0, 1, 5]
    sums = [unpickled(report).sums.partitions for report in groups.column(REPORT).to_pylist()]
    assert sums == [(0, 1, 2, 3), (4, 5), (6,)]
