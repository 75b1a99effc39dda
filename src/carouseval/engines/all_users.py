"""What must be known of all users before any is scored: which categories several of them have, and what these show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial, reduce
from operator import add
from typing import Any

import numpy as np
import polars as pl

from carouseval.engines.contract import DECLARED, Tables
from carouseval.engines.given_tables import GivenTables, Job
from carouseval.engines.reports import Reads, refuse_failures
from carouseval.evaluation import schema
from carouseval.evaluation.reading.ids import NONE
from carouseval.evaluation.reading.inputs import Inputs, OtherUsers
from carouseval.evaluation.reading.membership import Membership
from carouseval.evaluation.reading.shown_carousels import SEVERAL
from carouseval.evaluation.systems import Run, naming
from carouseval.tables.opening import open_table

_BY_CATEGORY = "rows"  # what is described, brought together by category


def other_users(tables: GivenTables[Any]) -> tuple[OtherUsers, Reads]:
    """What all users are shown, from one pass over their lines; nothing where scores do not depend on it.

    Categories that only one user is shown are that user's own: they stay where they are, however many they are. Users
    need not be brought together for it, unless the grid of a page or the category of a row takes more than its line to
    tell. What was read of tables is returned, too, so that they can be compared with what is scored.
    """
    with naming(*next(iter(tables.runs.values()))):
        carousels, read = _declared(tables)
        declared = OtherUsers(carousels=carousels)
    judged, personal_items = tables.settings.candidates == "judged", "items" in tables.streamed
    needs_shown = judged and (personal_items or tables.settings.capacity == "shown" or tables.has("pinned"))
    if not needs_shown and not (tables.from_layouts and tables.has("category")):
        return declared, read
    by_line = tables.plan.grid_values is None and all("category" in table for table in tables.layouts.values())
    work = partial(describe_users, job=tables.job(declared), runs=tables.runs)
    described = tables.engine.map(tables.streamed, work, _types(tables), together=not by_line, least=tables.least_lines)
    try:
        report = described.report
        read = tables.require_same(read, report.read)
        # where lines are read one by one, users are counted, and refused, where they are at hand
        failures = [failure for failure in report.failures if not (by_line and failure.is_of_users)]
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
    frames = [longest.agg(pl.col("longest", "longest_pinned").max())]
    if wants_pairs:
        is_pair = pl.col("item_id").is_not_null() & ~pl.col("category").is_in([*users.personal])
        frames.append(lines.filter(is_pair & is_shared).select("item_id", "category").unique())
    return frames, None


def _declared(tables: GivenTables[Any]) -> tuple[pl.DataFrame | None, Reads]:
    """The categories of carousels that lines for single users name, what these declare of them, and what was read."""
    if "carousels" not in tables.streamed:
        return None, {}
    lines, read = tables.engine.declared_carousels(tables)
    typed = open_table(lines, "carousels", [column for column in schema.CAROUSELS if column.name in DECLARED])
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


@dataclass(frozen=True)
class ShownUsers:
    """Which users have a page, as far as it matters, and how carousels are declared."""

    owner: object  # the first user with a page; None: nobody has one
    several: bool  # other users have one too
    personal: frozenset[object]  # categories of which every user has items of its own, as carousels declare
    shared: frozenset[object]  # and those that it declares to be everyone's

    def __add__(self, other: ShownUsers) -> ShownUsers:
        owners = {users.owner for users in (self, other) if users.owner is not None}
        several = self.several or other.several or len(owners) > 1
        owner = next(iter(owners), None)
        return ShownUsers(owner, several, self.personal | other.personal, self.shared | other.shared)


def describe_users(tables: Tables, job: Job, runs: Mapping[str, Run]) -> tuple[list[pl.DataFrame], ShownUsers]:
    """What some users' pages show of each category, in all runs, and the items that they show there."""
    frames, users = [], []
    for key, run in runs.items():
        with naming(*run), job.open({**tables, "layouts": tables[key]}) as inputs:
            frames.append(_shown(inputs))
            users.append(_users(inputs))
    return frames, reduce(add, users)


def _users(inputs: Inputs) -> ShownUsers:
    layouts, names = inputs.layouts, inputs.codebook.categories.values()
    present = np.unique(layouts.user[layouts.present])
    carousels = inputs.judged.carousels
    to_all = np.zeros(len(names), bool)
    to_all[carousels.known_to_all] = True
    return ShownUsers(
        owner=inputs.codebook.users.values()[int(present[0])] if len(present) else None,
        several=len(present) > 1,
        personal=frozenset(names.filter(pl.Series(to_all & carousels.declared_personal(len(names))))),
        shared=frozenset(names.filter(pl.Series(to_all & carousels.declared_shared(len(names))))),
    )


def _shown(inputs: Inputs) -> pl.DataFrame:
    """Lines of categories and grids, and lines of items and categories.

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
    parts = [lines]
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
    offsets, pairs = members.arrays.own_offsets, members.arrays.own
    owner = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    category = (pairs & np.uint64(0xFFFFFFFF)).astype(np.int64)
    lines = pl.DataFrame({"category": names.gather(category), "owner": users.gather(owner)})
    ends = lines.group_by("category").agg(owner=pl.col("owner").min(), last=pl.col("owner").max())
    return ends.select("category", "owner", several=pl.col("owner") != pl.col("last"))
