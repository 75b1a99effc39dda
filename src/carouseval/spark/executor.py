"""What executors do: read the users of a partition, score them, and report what adds up or what went wrong."""

from __future__ import annotations

import pickle
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from carouseval import __version__
from carouseval.comparison.parts import ComparisonPart
from carouseval.errors import DataError
from carouseval.evaluation.defect_lines import FoundDefect, PageDefectError
from carouseval.evaluation.notices import Refusal, RefusalError
from carouseval.evaluation.page_defects import REFUSABLE
from carouseval.evaluation.parts import PartSums, open_part, score_part
from carouseval.evaluation.plan import ScoringPlan
from carouseval.evaluation.reading.inputs import Inputs, OtherUsers
from carouseval.evaluation.reading.shown_carousels import SEVERAL
from carouseval.spark.spark_errors import executor_errors
from carouseval.spark.user_lines import LINES_AT_ONCE, StreamColumns

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

REPORT = "__report__"
Failure = FoundDefect | Refusal | str
Sums = PartSums | ComparisonPart
Work = Callable[[Iterator["pa.RecordBatch"]], Iterator["pa.RecordBatch"]]


@dataclass(frozen=True)
class Job:
    """Everything that an executor needs besides the lines of its users."""

    plan: ScoringPlan
    columns: StreamColumns
    items: pl.DataFrame | None  # that hold for everyone
    others: OtherUsers
    schema: Mapping[str, Any]  # of the table that it returns
    lines_at_once: int = LINES_AT_ONCE


def map_partitions(lines: DataFrame, work: Work, types: Any) -> DataFrame:
    """Give the partitions of a stream to executors that have this version: another might score differently.

    No call equals an earlier one: from its cache, Spark would answer for files that have changed since.
    """
    from pyspark import cloudpickle

    dumps: Callable[[Any], bytes] = cloudpickle.dumps
    here, pickled, call = __version__, dumps(work), uuid.uuid4().hex

    def on_executor(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:  # which must need nothing of ours
        import pickle

        from carouseval import __version__ as there

        if there != here:
            raise ImportError(f"carouseval is {there} there and {here} here, in call {call}")
        own: Work = pickle.loads(pickled)
        return own(batches)

    return lines.mapInArrow(on_executor, types)


def score_partition(batches: Iterator[pa.RecordBatch], job: Job) -> Iterator[pa.RecordBatch]:
    """The scores of all pages of a partition, and a report of its users."""

    def work(tables: Mapping[str, pl.DataFrame]) -> tuple[list[pl.DataFrame], PartSums]:
        with open_part(tables, job.items, job.plan, job.others) as inputs:
            pages, sums = score_part(inputs)
            return [pages], sums

    return each_part(batches, job, work)


def describe_partition(batches: Iterator[pa.RecordBatch], job: Job, runs: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """What the pages of a partition show of each category, in all runs, and the items they show there."""

    def work(tables: Mapping[str, pl.DataFrame]) -> tuple[list[pl.DataFrame], None]:
        shown = []
        for run in runs:
            with open_part({**tables, "layouts": tables[run]}, job.items, job.plan, job.others) as inputs:
                shown.append(_shown(inputs))
        return shown, None

    return each_part(batches, job, work)


def each_part(
    batches: Iterator[pa.RecordBatch],
    job: Job,
    work: Callable[[Mapping[str, pl.DataFrame]], tuple[Iterable[pl.DataFrame], Sums | None]],
) -> Iterator[pa.RecordBatch]:
    """The tables of all parts, and one report; errors about data are reported, so that no task is tried again."""
    sums: list[Sums] = []
    failures: list[Failure] = []
    for tables in job.columns.parts(batches, job.lines_at_once):
        try:
            frames, of_part = work(tables)
        except DataError as error:  # the other parts are still looked at, so that all such lines are counted
            failures.append(_failure(error))
            continue
        for frame in frames:
            yield from _batches(frame, job)
        if of_part is not None:
            sums = [reduce(add, [*sums, of_part])]  # as large as one of them
    for report in (*failures, *sums):
        yield from report_line(report, job.schema)


def _failure(error: DataError) -> Failure:
    if isinstance(error, PageDefectError):
        return error.found
    return error.refusal if isinstance(error, RefusalError) else str(error)


def _batches(frame: pl.DataFrame, job: Job) -> Iterator[pa.RecordBatch]:
    """A table in the columns that were promised."""
    absent = [pl.lit(None, kind).alias(name) for name, kind in job.schema.items() if name not in frame.columns]
    lines = frame.with_columns(absent).select(pl.col(name).cast(kind) for name, kind in job.schema.items())
    yield from _arrow(lines.with_columns(pl.lit(None, pl.Binary).alias(REPORT)))


def report_line(report: Any, schema: Mapping[str, Any] | None = None) -> Iterator[pa.RecordBatch]:
    """A line without values but for the report."""
    empty = [pl.lit(None, kind).alias(name) for name, kind in (schema or {}).items()]
    yield from _arrow(pl.select(*empty, pl.lit(pickle.dumps(report), pl.Binary).alias(REPORT)))


def _arrow(lines: pl.DataFrame) -> list[pa.RecordBatch]:
    batches: list[pa.RecordBatch] = lines.to_arrow(compat_level=pl.CompatLevel.oldest()).to_batches()
    return batches


def _shown(inputs: Inputs) -> pl.DataFrame:
    """Lines of categories and grids, lines of items and categories, and one line of users, without a category."""
    layouts, users, names = inputs.layouts, inputs.codebook.users.values(), inputs.codebook.categories.values()
    assert inputs.shown is not None
    grid, category = np.nonzero(inputs.shown.longest)
    owner = inputs.shown.owner[category]
    several = owner == SEVERAL
    lines = pl.DataFrame(
        {
            "category": names.gather(category),
            "grid": grid.astype(np.int32),
            "several": several,
            "owner": users.gather(pl.Series(owner).set(pl.Series(several), None)),
            "longest": inputs.shown.longest[grid, category],
            "longest_pinned": inputs.shown.longest_pinned[grid, category],
        }
    )
    present = np.unique(layouts.user[layouts.present])
    parts = [lines]
    if len(present):
        parts.append(pl.DataFrame({"several": [len(present) > 1], "owner": users.gather(present[:1])}))
    if layouts.pairs is not None:
        item, of_item = layouts.pairs.pairs()
        parts.append(
            pl.DataFrame({"item_id": inputs.codebook.items.values().gather(item), "category": names.gather(of_item)})
        )
    return pl.concat(parts, how="diagonal")


def reports_of(results: DataFrame) -> tuple[list[Any], list[Failure]]:
    """The sums of all partitions, and what went wrong."""
    from pyspark.sql import functions as F  # noqa: N812

    with executor_errors():
        lines = results.where(F.col(REPORT).isNotNull()).select(REPORT).collect()
    reports = [pickle.loads(line[0]) for line in lines]
    failures = [report for report in reports if isinstance(report, Failure)]
    return [report for report in reports if not isinstance(report, Failure)], failures


def first_failure(failures: Sequence[Failure], inputs: Inputs) -> str:
    """The error that one machine would raise: about a table, then about pages that are refused, then about defects."""
    texts = sorted(failure for failure in failures if isinstance(failure, str))
    if texts:
        return texts[0]
    refusals = [failure for failure in failures if isinstance(failure, Refusal)]
    for kind in ("missing", "no_relevant", "no_weight"):
        if found := [refusal for refusal in refusals if refusal.kind == kind]:
            return str(reduce(add, found).defect(inputs))
    defects = [failure for failure in failures if isinstance(failure, FoundDefect)]
    first = min(defects, key=lambda found: REFUSABLE.index(found.kind))
    return str(reduce(add, [found for found in defects if found.kind == first.kind]).defect())


def report_type() -> str:
    """The columns of a table of reports alone, for Spark."""
    return f"{REPORT} binary"


def spark_types(job: Job) -> Any:
    """The columns of the table that executors return, for Spark."""
    from pyspark.sql import types

    kinds = {
        pl.String(): types.StringType(),
        pl.Float64(): types.DoubleType(),
        pl.Int64(): types.LongType(),
        pl.Int32(): types.IntegerType(),
        pl.Boolean(): types.BooleanType(),
    }
    fields = [types.StructField(name, kinds[kind]) for name, kind in job.schema.items()]
    return types.StructType([*fields, types.StructField(REPORT, types.BinaryType())])
