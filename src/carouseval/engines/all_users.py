"""What must be known of all users before any is scored: which categories several of them have, and what these show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import polars as pl

from carouseval.engines.contract import DECLARED, Tables
from carouseval.engines.failures import refuse_failures
from carouseval.engines.given_tables import GivenTables
from carouseval.engines.part_work import ShownUsers, describe_users
from carouseval.engines.reads import Reads
from carouseval.evaluation import schema
from carouseval.evaluation.reading.inputs import OtherUsers
from carouseval.evaluation.systems import naming
from carouseval.tables.opening import open_table

_BY_CATEGORY = "rows"  # what is described, brought together by category


def other_users(tables: GivenTables[Any]) -> tuple[OtherUsers, Reads]:
    """What all users are shown, from one pass over their lines; nothing where scores do not depend on it.

    Categories that only one user is shown are that user's own: they stay where they are, however many they are. Users
    need not be brought together for it, unless the grid of a page or the category of a row takes more than its line to
    tell. What was read of tables is returned, too, so that they can be compared with what is scored.
    """
    with naming(*next(iter(tables.runs.values()))):
        found, read = _declared(tables)
        declared = OtherUsers(carousels=found)
    judged, own_items = tables.settings.candidates == "judged", "items" in tables.streamed
    needs_shown = judged and (own_items or tables.settings.capacity == "shown" or tables.has("pinned"))
    if not needs_shown and not (tables.from_layouts and tables.has("category")):
        return declared, read
    by_line = tables.plan.grid_values is None and all("category" in table for table in tables.layouts.values())
    work = partial(describe_users, job=tables.job(declared), runs=tables.runs)
    described = tables.engine.map(tables.streamed, work, _types(tables), together=not by_line, least=tables.least_lines)
    try:
        report = described.report
        read = tables.require_same(read, report.read)
        # where lines are read one by one, users are counted, and refused, where they are at hand
        failures = [one for one in report.failures if not (by_line and one.is_of_users)]
        refuse_failures(failures, tables)
        users: ShownUsers | None = report.sums
        if users is None:  # no table has a line
            return declared, read
        several = users.several or users.owner is None
        lines = _shared_lines(described.lines(lenient=True), tables, users, several)
    finally:
        described.drop()
    pairs = lines.filter(pl.col("item_id").is_not_null()).select("item_id", "category")
    shown = lines.filter(pl.col("grid").is_not_null()).select("category", "grid", "longest", "longest_pinned")
    return replace(
        declared,
        pairs=pairs.sort(pl.all()) if tables.from_layouts else None,
        shown=shown.sort("category", "grid") if several else None,
    ), read


def _shared_lines(described: Any, tables: GivenTables[Any], users: ShownUsers, several: bool) -> pl.DataFrame:
    """What is described of the categories that matter to several users, here."""
    work = partial(_of_several_users, users=users, several=several, wants_pairs=tables.from_layouts)
    shared = tables.engine.map({_BY_CATEGORY: (described, "category")}, work, _types(tables))
    try:
        lines, _ = shared.collect()
    finally:
        shared.drop()
    return lines


def _of_several_users(
    tables: Tables, users: ShownUsers, several: bool, wants_pairs: bool
) -> tuple[list[pl.DataFrame], None]:
    """Of all lines about some categories, those that matter to several users."""
    lines = tables[_BY_CATEGORY]
    rows = lines.filter(pl.col("item_id").is_null())
    owners = pl.col("owner").drop_nulls().n_unique()
    of_several = rows.group_by("category").agg(shared=pl.col("several").any() | (owners != 1))
    for_all = pl.col("shared") | pl.col("category").is_in([*users.shared]) | pl.lit(not several)
    shared = of_several.filter(for_all)["category"].implode()
    is_shared = pl.col("category").is_in(shared)
    longest = rows.filter(is_shared & pl.col("grid").is_not_null()).group_by("category", "grid")
    found = [longest.agg(pl.col("longest", "longest_pinned").max())]
    if wants_pairs:
        is_pair = pl.col("item_id").is_not_null() & ~pl.col("category").is_in([*users.personal])
        found.append(lines.filter(is_pair & is_shared).select("item_id", "category").unique())
    return found, None


def _declared(tables: GivenTables[Any]) -> tuple[pl.DataFrame | None, Reads]:
    """The categories of carousels that lines for single users name, what these declare of them, and what was read."""
    if "carousels" not in tables.streamed:
        return None, {}
    lines, read = tables.engine.declared_carousels(tables)
    typed = open_table(lines, "carousels", [one for one in schema.CAROUSELS if one.name in DECLARED])
    checked = replace(typed, id_types={"category": tables.id_types["category"]}, part=True).collect()
    absent = [pl.lit(None).alias(name) for name in DECLARED if name not in checked.columns]
    declared = checked.with_columns(absent).group_by("category", "personal").agg(pl.col("capacity").max())
    return declared.sort("category", "personal"), read


def _types(tables: GivenTables[Any]) -> Mapping[str, Any]:
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
