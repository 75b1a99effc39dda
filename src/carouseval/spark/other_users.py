"""What must be known of all users before any is scored: which categories several of them have, and what these show."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import polars as pl

from carouseval.comparison.systems import naming
from carouseval.evaluation import schema
from carouseval.evaluation.reading.inputs import OtherUsers
from carouseval.spark.executor import Job, describe_partition, map_partitions, spark_types
from carouseval.spark.failures import refuse_failures
from carouseval.spark.read_lines import ReadLines, Reads
from carouseval.spark.reports import REPORT, Report, report_of
from carouseval.spark.spark_tables import SparkTables, cached, local_frame
from carouseval.spark.user_lines import column_in_query, stream, user_hash
from carouseval.table_opening import open_table

_DECLARED = ("personal", "capacity")
_MANY = 10_000  # categories that are declared for one user each: so many may be known everywhere

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def other_users(tables: SparkTables, lines_at_once: int) -> tuple[OtherUsers, Reads]:
    """What all users are shown, from one pass over their lines; nothing where scores do not depend on it.

    Categories that only one user is shown are that user's own: they stay in Spark, however many they are. Users need
    not be brought together for it, unless the grid of a page or the category of a row takes more than its line to tell.
    What was read of tables is returned, too, so that they can be compared with what is scored.
    """
    with naming(*next(iter(tables.runs.values()))):
        found, read = _declared(tables)
        declared = OtherUsers(carousels=found)
    judged, own_items = tables.settings.candidates == "judged", "items" in tables.streamed
    needs_shown = judged and (own_items or tables.settings.capacity == "shown" or tables.has("pinned"))
    if not needs_shown and not (tables.from_layouts and tables.has("category")):
        return declared, read
    by_line = tables.plan.grid_values is None and all("category" in table for table in tables.layouts.values())
    lines, columns = stream(tables.streamed, whole_users=not by_line)
    job = Job(tables.executor_plan, columns, tables.items, declared, _types(tables), lines_at_once)
    work = partial(describe_partition, job=job, runs=tables.runs)
    described = cached(map_partitions(lines, work, spark_types(job)))
    try:
        report = report_of(described)
        read = tables.require_same(read, report.read)
        if by_line:  # they are counted, and refused, where users are at hand
            report = replace(report, failures=tuple(one for one in report.failures if not one.is_of_users))
        return _shown_to_all(described, report, tables, declared), read
    finally:
        described.unpersist()


def _declared(tables: SparkTables) -> tuple[pl.DataFrame | None, Reads]:
    """The categories of carousels that lines for single users name, what these declare of them, and what was read.

    Where they are many, those that concern one user alone are left out: their lines are with this user.
    """
    from pyspark.sql import functions as F  # noqa: N812

    if "carousels" not in tables.streamed:
        return None, {}
    read = {"carousels": ReadLines.of(tables.streamed["carousels"][0])}
    names, (own, user) = tables.tables["carousels"].names, tables.streamed["carousels"]
    columns = {
        name: F.col(column_in_query(names[name])) if name in names else F.lit(None).cast("int")
        for name in ("category", *_DECLARED)
    }
    selected = (column.alias(name) for name, column in columns.items())
    lines = own.select(user_hash(own, user).alias("user"), *selected).where("category IS NOT NULL")
    users = lines.groupBy("category").agg(F.min("user").alias("first"), F.max("user").alias("last"))
    if users.where("first = last").count() > _MANY:
        read |= {name: ReadLines.of(tables.streamed[name][0]) for name in tables.with_categories}
        lines = lines.join(_of_several_users(tables, users), "category", "leftsemi")
    found = local_frame(lines.groupBy("category", "personal").agg(F.max("capacity").alias("capacity")))
    typed = open_table(found, "carousels", [one for one in schema.CAROUSELS if one.name in columns])
    kinds = {"category": tables.id_types["category"]}
    return replace(typed, id_types=kinds, part=True).collect().sort("category", "personal"), read


def _of_several_users(tables: SparkTables, declared: DataFrame) -> DataFrame:
    """Which declared categories, given with their ``first`` and ``last`` user, concern several users.

    They are declared for several; or they are on the pages, or among the items, of a user for whom they are not, or
    among the items of everyone. The first is kept in any case, so that notices know that there are such.
    """
    from pyspark.sql import functions as F  # noqa: N812

    lines = tables.category_lines()
    if lines is None:  # only reading a page tells its categories
        return declared.select("category")
    other = lines.join(declared, "category").where("user IS NULL OR user <> first OR user <> last").select("category")
    first = declared.agg(F.min("category").alias("category"))
    return declared.where("first <> last").select("category").union(other).union(first).distinct()


def _types(tables: SparkTables) -> dict[str, Any]:
    ids = tables.id_types
    return {
        "category": ids.get("category", pl.String()),
        "item_id": ids["item_id"],
        "owner": ids["user_id"],
        "several": pl.Boolean(),
        "grid": pl.Int32(),
        "longest": pl.Int32(),
        "longest_pinned": pl.Int32(),
    }


def _shown_to_all(described: DataFrame, report: Report, tables: SparkTables, declared: OtherUsers) -> OtherUsers:
    from pyspark.sql import functions as F  # noqa: N812

    with tables.open_sketches(declared) as inputs:
        refuse_failures(report.failures, tables, inputs)
        carousels, names = inputs.judged.carousels, inputs.codebook.categories.values()
        personal = names.filter(pl.Series(carousels.declared_personal(len(names)))).to_list()
        for_everyone = names.filter(pl.Series(carousels.declared_shared(len(names)))).to_list()
    found = described.where(F.col(REPORT).isNull())
    one = ~F.max("several") & (F.min("owner") == F.max("owner"))
    several = F.coalesce(~one, F.lit(True)).alias("several")  # of rows without an owner, too
    users = found.where("category IS NULL").agg(several).first()
    has_several = users is not None and bool(users["several"])
    rows = found.where("category IS NOT NULL AND item_id IS NULL")
    is_shared = F.col("several") | F.col("category").isin(for_everyone) | F.lit(not has_several)
    shared = rows.groupBy("category").agg(several).where(is_shared).select("category")
    longest = (F.max(name).alias(name) for name in ("longest", "longest_pinned"))
    of_grids = rows.where("grid IS NOT NULL").join(shared, "category", "leftsemi")
    shown = of_grids.groupBy("category", "grid").agg(*longest)
    pairs = found.where("item_id IS NOT NULL").where(~F.col("category").isin(personal)).select("item_id", "category")
    return replace(
        declared,
        pairs=None if not tables.from_layouts else local_frame(pairs.join(shared, "category", "leftsemi").distinct()),
        shown=local_frame(shown) if has_several else None,
    )
