"""What is made of some users' lines, on any engine: their pages scored, compared, or what these show described."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from carouseval.comparison.pair_tests import PairTests
from carouseval.comparison.scored_runs import ComparisonPart, score_runs, sum_up
from carouseval.engines.contract import RUN, Tables
from carouseval.evaluation.evaluate import score_part
from carouseval.evaluation.part import Part
from carouseval.evaluation.plan import ScoringPlan
from carouseval.evaluation.reading.ids import NONE
from carouseval.evaluation.reading.inputs import Inputs, JudgedSources, OtherUsers
from carouseval.evaluation.reading.membership import Membership
from carouseval.evaluation.reading.shown_carousels import SEVERAL
from carouseval.evaluation.scoring.page_ideals import PageIdeals
from carouseval.evaluation.systems import Run, naming


@dataclass(frozen=True)
class Job:
    """What is needed besides the lines of some users."""

    plan: ScoringPlan
    items: pl.DataFrame | None  # that hold for everyone
    others: OtherUsers

    def sources(self, tables: Tables) -> JudgedSources:
        """What the pages of some users are judged by, with their own lines of items and carousels."""
        plan, own, shared = self.plan, tables.get("carousels"), self.plan.settings.carousels
        if own is not None and isinstance(shared, pl.DataFrame):
            carousels = pl.concat([shared, own], how="diagonal_relaxed")
            plan = replace(plan, settings=replace(plan.settings, carousels=carousels))
        parts = [part for part in (self.items, tables.get("items")) if part is not None]
        members = pl.concat(parts, how="diagonal_relaxed") if parts else None
        return JudgedSources(tables["judgments"], members, plan, needs_judgments=False, others=self.others)

    @contextlib.contextmanager
    def open(self, tables: Tables) -> Iterator[Inputs]:
        """The pages of some users, for use in a ``with`` block."""
        with self.sources(tables).open(tables["layouts"]) as inputs:
            yield inputs


def score_users(tables: Tables, job: Job) -> tuple[list[pl.DataFrame], Part]:
    """The scores of some users' pages, and what they add to an evaluation."""
    with job.open(tables) as inputs:
        pages, part = score_part(inputs, PageIdeals(inputs.judged, inputs.plan, inputs.shown))
        return [pages.frame], part


def compare_users(
    tables: Tables, job: Job, runs: Mapping[str, Run], tests: PairTests
) -> tuple[list[pl.DataFrame], ComparisonPart]:
    """The scores of the pages that all systems have for some users, and what they add to a comparison.

    ``runs`` has the run that each of the layouts is of.
    """
    scored = score_runs(job.sources(tables), {run: tables[key] for key, run in runs.items()})
    part, _ = sum_up(scored, tests, job.plan)
    frames = [one.pages.frame.with_columns(pl.lit(at, pl.Int32).alias(RUN)) for at, one in enumerate(scored.values())]
    return frames, part


@dataclass(frozen=True)
class ShownUsers:
    """Which users have a page, as far as it matters, and how carousels are declared."""

    owner: object  # the first user with a page; None: nobody has one
    several: bool  # other users have one too
    personal: frozenset[object]  # categories of which every user has items of its own, as carousels declare
    shared: frozenset[object]  # and those that it declares to be everyone's

    def __add__(self, other: ShownUsers) -> ShownUsers:
        owners = {one.owner for one in (self, other) if one.owner is not None}
        several = self.several or other.several or len(owners) > 1
        owner = next(iter(owners), None)
        return ShownUsers(owner, several, self.personal | other.personal, self.shared | other.shared)


def describe_users(tables: Tables, job: Job, runs: Mapping[str, Run]) -> tuple[list[pl.DataFrame], ShownUsers]:
    """What some users' pages show of each category, in all runs, and the items that they show there."""
    shown, users = [], []
    for key, run in runs.items():
        with naming(*run), job.open({**tables, "layouts": tables[key]}) as inputs:
            shown.append(_shown(inputs))
            users.append(_users(inputs))
    total = users[0]
    for one in users[1:]:
        total += one
    return shown, total


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
    offsets, own = members.arrays.own_offsets, members.arrays.own
    owner = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    category = (own & np.uint64(0xFFFFFFFF)).astype(np.int64)
    lines = pl.DataFrame({"category": names.gather(category), "owner": users.gather(owner)})
    ends = lines.group_by("category").agg(owner=pl.col("owner").min(), last=pl.col("owner").max())
    return ends.select("category", "owner", several=pl.col("owner") != pl.col("last"))
