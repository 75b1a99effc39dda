"""What executors do: read the users of a partition, score them, and report what adds up or what went wrong."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from carouseval import __version__
from carouseval.comparison.comparison_sums import Run
from carouseval.comparison.parts import ComparisonPart
from carouseval.comparison.systems import naming
from carouseval.errors import DataError
from carouseval.evaluation.parts import PartSums, open_part, score_part
from carouseval.evaluation.plan import ScoringPlan
from carouseval.evaluation.reading.ids import NONE
from carouseval.evaluation.reading.inputs import Inputs, OtherUsers
from carouseval.evaluation.reading.membership import Membership
from carouseval.evaluation.reading.shown_carousels import SEVERAL
from carouseval.spark.reports import REPORT, Report, arrow_batches
from carouseval.spark.user_lines import LINES_AT_ONCE, StreamColumns

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

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


def describe_partition(
    batches: Iterator[pa.RecordBatch], job: Job, runs: Mapping[str, Run]
) -> Iterator[pa.RecordBatch]:
    """What the pages of a partition show of each category, in all runs, and the items they show there.

    ``runs`` has the run that each of the layouts is of.
    """

    def work(tables: Mapping[str, pl.DataFrame]) -> tuple[list[pl.DataFrame], None]:
        shown = []
        for key, run in runs.items():
            layouts = {**tables, "layouts": tables[key]}
            with naming(*run), open_part(layouts, job.items, job.plan, job.others) as inputs:
                shown.append(_shown(inputs))
        return shown, None

    return each_part(batches, job, work)


def each_part(
    batches: Iterator[pa.RecordBatch],
    job: Job,
    work: Callable[[Mapping[str, pl.DataFrame]], tuple[Iterable[pl.DataFrame], Sums | None]],
) -> Iterator[pa.RecordBatch]:
    """The tables of all parts, and one report; errors about data are reported, so that no task is tried again."""
    report = Report()
    for tables, read in job.columns.parts(batches, job.lines_at_once):
        report += Report(read=read)
        try:
            frames, sums = work(tables)
        except DataError as error:  # the other parts are still looked at, so that all such lines are counted
            report += Report.of_error(error)
            continue
        for frame in frames:
            yield from _batches(frame, job)
        report += Report(sums)
    yield from report.lines(job.schema)


def _batches(frame: pl.DataFrame, job: Job) -> Iterator[pa.RecordBatch]:
    """A table in the columns that were promised, null where it lacks one: another run may name pages."""
    if undeclared := [one for one in frame.columns if one not in job.schema]:
        raise TypeError(f"columns {', '.join(undeclared)}: not promised to Spark. Declare them in result_columns.py.")
    absent = [pl.lit(None, kind).alias(name) for name, kind in job.schema.items() if name not in frame.columns]
    lines = frame.with_columns(absent).select(pl.col(name).cast(kind) for name, kind in job.schema.items())
    yield from arrow_batches(lines.with_columns(pl.lit(None, pl.Binary).alias(REPORT)))


def _shown(inputs: Inputs) -> pl.DataFrame:
    """Lines of categories and grids, lines of items and categories, and one line of users, without a category.

    A category that the items table has for everyone is several users'; those who have items of their own there, without
    a grid, are among its owners.
    """
    layouts, users, names = inputs.layouts, inputs.codebook.users.values(), inputs.codebook.categories.values()
    assert inputs.shown is not None
    grid, category = np.nonzero(inputs.shown.longest)
    owner = inputs.shown.owner[category]
    several = owner == SEVERAL
    members = inputs.judged.membership
    given = members is not None and members.source == "items"
    if members is not None and given:
        several |= np.append(members.sizes, 0)[np.minimum(category, len(members.sizes))] > 0
    unknown = several | (owner == NONE)  # rows whose category only their items tell have no owner
    lines = pl.DataFrame(
        {
            "category": names.gather(category),
            "grid": grid.astype(np.int32),
            "several": several,
            "owner": users.gather(pl.Series(owner).set(pl.Series(unknown), None)),
            "longest": inputs.shown.longest[grid, category],
            "longest_pinned": inputs.shown.longest_pinned[grid, category],
        }
    )
    present = np.unique(layouts.user[layouts.present])
    parts = [lines]
    if len(present):
        parts.append(pl.DataFrame({"several": [len(present) > 1], "owner": users.gather(present[:1])}))
    if members is not None and given:
        parts.append(_owners(members, users, names))
    if layouts.pairs is not None:
        item, of_item = layouts.pairs.pairs()
        parts.append(
            pl.DataFrame({"item_id": inputs.codebook.items.values().gather(item), "category": names.gather(of_item)})
        )
    return pl.concat(parts, how="diagonal")


def _owners(members: Membership, users: pl.Series, names: pl.Series) -> pl.DataFrame:
    """The categories in which single users have items of their own."""
    offsets, own = members.arrays.own_offsets, members.arrays.own
    owner = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    category = (own & np.uint64(0xFFFFFFFF)).astype(np.int64)
    lines = pl.DataFrame({"category": names.gather(category), "owner": users.gather(owner)})
    ends = lines.group_by("category").agg(owner=pl.col("owner").min(), last=pl.col("owner").max())
    return ends.select("category", "owner", several=pl.col("owner") != pl.col("last"))


def spark_types(job: Job) -> Any:
    """The columns of the table that executors return, for Spark."""
    from pyspark.sql import types

    fields = [types.StructField(name, spark_type(kind)) for name, kind in job.schema.items()]
    return types.StructType([*fields, types.StructField(REPORT, types.BinaryType())])


def spark_type(kind: pl.DataType) -> Any:
    """The type that Spark has for one of ours; it has no unsigned integers."""
    from pyspark.sql import types

    kinds = {
        pl.String(): types.StringType(),
        pl.Float64(): types.DoubleType(),
        pl.Int64(): types.LongType(),
        pl.UInt32(): types.LongType(),
        pl.Int32(): types.IntegerType(),
        pl.Boolean(): types.BooleanType(),
    }
    return kinds[kind]
