"""Carousels of single users, of which there may be as many as users: what must be known of them everywhere."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

import polars as pl

from carouseval.engines.contract import DECLARED
from carouseval.engines.given_tables import GivenTables
from carouseval.engines.reports import Reads
from carouseval.engines.spark.spark_tables import local_frame
from carouseval.engines.spark.user_lines import column_in_query, read_lines, user_hash
from carouseval.tables.table import Table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_MANY = 10_000  # categories that are declared for one user each: so many may be known everywhere


def declared_carousels(tables: GivenTables[DataFrame]) -> tuple[pl.DataFrame, Reads]:
    """What lines for single users declare of categories, and what was read.

    Where these are many, those that concern one user alone are left out: their lines are with this user.
    """
    from pyspark.sql import functions as F  # noqa: N812

    read = {"carousels": read_lines(tables.streamed["carousels"][0])}
    names, (carousels, user) = tables.tables["carousels"].names, tables.streamed["carousels"]
    columns = {
        name: F.col(column_in_query(names[name])) if name in names else F.lit(None).cast("int") for name in DECLARED
    }
    selected = (column.alias(name) for name, column in columns.items())
    lines = carousels.select(user_hash(carousels, user).alias("user"), *selected).where("category IS NOT NULL")
    users = lines.groupBy("category").agg(F.min("user").alias("first"), F.max("user").alias("last"))
    if users.where("first = last").count() > _MANY:
        read |= {name: read_lines(tables.streamed[name][0]) for name in _with_categories(tables)}
        lines = lines.join(_of_several_users(tables, users), "category", "leftsemi")
    return local_frame(lines.groupBy("category", "personal").agg(F.max("capacity").alias("capacity"))), read


def _of_several_users(tables: GivenTables[DataFrame], declared: DataFrame) -> DataFrame:
    """Which declared categories, given with their ``first`` and ``last`` user, concern several users.

    They are declared for several; or they are on the pages, or among the items, of a user for whom they are not, or
    among the items of everyone. The first is kept in any case, so that notices know that there are such.
    """
    from pyspark.sql import functions as F  # noqa: N812

    lines = _category_lines(tables)
    if lines is None:  # only reading a page tells its categories
        return declared.select("category")
    other = lines.join(declared, "category").where("user IS NULL OR user <> first OR user <> last").select("category")
    first = declared.agg(F.min("category").alias("category"))
    return declared.where("first <> last").select("category").union(other).union(first).distinct()


def _with_categories(tables: GivenTables[DataFrame]) -> dict[str, Table]:
    """The tables whose lines stay with their users and may have a category."""
    return dict(tables.layouts) | ({"items": tables.tables["items"]} if "items" in tables.streamed else {})


def _category_lines(tables: GivenTables[DataFrame]) -> DataFrame | None:
    """Hashes of users, and categories that are on their pages or among their items; null for items of everyone.

    None where it takes more than a line to tell categories.
    """
    from pyspark.sql import functions as F  # noqa: N812
    from pyspark.sql.types import IntegralType, StringType

    with_categories = _with_categories(tables)
    if any("category" not in table or table.nested or table.many for table in with_categories.values()):
        return None
    lines = []
    for name, table in with_categories.items():
        frame, user = tables.streamed[name]
        category = F.col(column_in_query(table.names["category"]))
        lines.append(frame.select(user_hash(frame, user).alias("user"), category))
    if not all(isinstance(frame.schema[1].dataType, IntegralType | StringType) for frame in lines):
        return None  # the same category may be of another type in another table
    if tables.items is not None:
        names = tables.items.select(tables.tables["items"].names["category"]).unique()
        of_all = lines[0].sparkSession.createDataFrame(names.to_arrow())
        lines.append(of_all.select(F.lit(None).cast("long").alias("user"), "*"))
    return reduce(lambda left, right: left.union(right), lines).toDF("user", "category").distinct()
