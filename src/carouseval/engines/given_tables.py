"""The tables of an evaluation or comparison on an engine: what stays there, and what is known of them here."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic

import polars as pl

from carouseval.engines.contract import Engine, Tables
from carouseval.engines.reports import ONLY_RUN, ReadLines, Reads, refuse_changes
from carouseval.errors import DataError
from carouseval.evaluation import schema
from carouseval.evaluation.columns import Columns
from carouseval.evaluation.page_table import Table as Lines
from carouseval.evaluation.per_page import page_columns
from carouseval.evaluation.plan import ScoringPlan
from carouseval.evaluation.reading.inputs import Inputs, JudgedSources, OtherUsers
from carouseval.evaluation.result_columns import PER_PAGE
from carouseval.evaluation.settings import Settings
from carouseval.evaluation.systems import Run, naming
from carouseval.tables.table import Table, TableLike


@dataclass(frozen=True)
class Job:
    """What is needed besides the lines of some users."""

    plan: ScoringPlan
    items: pl.DataFrame | None  # that hold for everyone
    others: OtherUsers

    def sources(self, tables: Tables) -> JudgedSources:
        """What the pages of some users are judged by, with their own lines of items and carousels."""
        plan, personal, shared = self.plan, tables.get("carousels"), self.plan.settings.carousels
        if personal is not None and isinstance(shared, pl.DataFrame):
            carousels = pl.concat([shared, personal], how="diagonal_relaxed")
            plan = replace(plan, settings=replace(plan.settings, carousels=carousels))
        parts = [part for part in (self.items, tables.get("items")) if part is not None]
        members = pl.concat(parts, how="diagonal_relaxed") if parts else None
        return JudgedSources(tables["judgments"], members, plan, needs_judgments=False, others=self.others)

    @contextlib.contextmanager
    def open(self, tables: Tables) -> Iterator[Inputs]:
        """The pages of some users, for use in a ``with`` block."""
        with self.sources(tables).open(tables["layouts"]) as inputs:
            yield inputs


@dataclass(frozen=True)
class GivenTables(Generic[Lines]):
    """Tables, checked by their columns; lines of items and carousels that hold for everyone are read."""

    engine: Engine[Lines]
    settings: Settings  # with carousels as a frame
    plan: ScoringPlan
    layouts: Mapping[str, Table]  # of each run, without lines
    tables: Mapping[str, Table]  # the others
    streamed: Mapping[str, tuple[Lines, str]]  # tables whose lines stay with their users, and the column of these
    items: pl.DataFrame | None
    runs: Mapping[str, Run]  # that each of the layouts is of
    shared: Mapping[str, tuple[Lines, ReadLines]]  # lines for everyone beside those of single users, and their sum

    @classmethod
    def of(
        cls,
        engine: Engine[Lines],
        layouts: Mapping[str, Lines],
        judgments: Lines,
        items: Lines | TableLike | None,
        settings: Settings,
        runs: Mapping[str, Run] | None = None,
    ) -> GivenTables[Lines]:
        """Check the columns of all tables, as one machine would; ``runs`` tells that of each of the layouts."""
        runs = dict.fromkeys(layouts, ONLY_RUN) if runs is None else runs
        for name, frame in (*(("layouts", frame) for frame in layouts.values()), ("judgments", judgments)):
            engine.require(name, frame)
        personal: dict[str, Lines] = {}
        common: dict[str, Any] = {}  # what is not personal
        for name, other in (("items", items), ("carousels", settings.carousels)):
            if engine.owns(other):
                engine.require(name, other)
            of_users, common[name] = _split_by_user(engine, other, name, settings)
            if of_users is not None:
                personal[name] = of_users
        shared = {name: (common[name], engine.read(common[name])) for name in personal}
        given: dict[str, Any] = {"judgments": engine.header(judgments)}
        for name, other in common.items():
            if other is not None:
                given[name] = engine.to_polars(other) if engine.owns(other) else other
        checked: dict[str, Table] = {}
        settled: dict[str, pl.DataType] = {}
        for run, frame in layouts.items():
            with naming(*runs[run]):
                tables = schema.open_tables({"layouts": engine.header(frame)} | given, settings, settled=settled)
            checked[run] = tables["layouts"]
            settled |= {name: kind for table in tables.values() for name, kind in table.id_types.items()}
        with naming(*next(iter(runs.values()))):  # one machine reads all other tables with the first layouts
            names = [name for name in given if name != "judgments"]
            local = {name: _lines(tables[name], given[name], engine, personal.get(name)) for name in names}
        settings = replace(settings, carousels=local.get("carousels"))
        streamed = {"judgments": _used(engine, judgments, tables["judgments"])}
        streamed |= {name: (lines, tables[name].names[Columns.USER]) for name, lines in personal.items()}
        streamed |= {run: _used(engine, frame, checked[run]) for run, frame in layouts.items()}
        engine.require_comparable_users(streamed)
        return cls(
            engine=engine,
            settings=settings,
            plan=ScoringPlan.of(settings),
            layouts=checked,
            tables={name: table for name, table in tables.items() if name != "layouts"},
            streamed=streamed,
            items=local.get("items"),
            runs=runs,
            shared=shared,
        )

    def of_run(self, run: str) -> dict[str, Table]:
        """The tables of a run, for the names of their columns."""
        return {"layouts": replace(self.layouts[run], part=True)} | {
            name: replace(table, part=True) for name, table in self.tables.items()
        }

    def job(self, others: OtherUsers) -> Job:
        """What is needed to score some users.

        Metrics are parsed here, where their files are, and an engine has as many tasks as cores.
        """
        return Job(replace(self.plan, threads=1), self.items, others)

    @property
    def from_layouts(self) -> bool:
        """Whether the categories of items come from layouts."""
        return "items" not in self.tables

    def empty(self) -> dict[str, list[Run]]:
        """The runs whose layouts have no line, and the first one if judgments have none."""
        no_lines = [name for name in ("judgments", *self.layouts) if self.engine.is_empty(self.streamed[name][0])]
        judgments = [next(iter(self.runs.values()))] if "judgments" in no_lines else []
        return {"judgments": judgments, "layouts": [self.runs[run] for run in self.layouts if run in no_lines]}

    def require_same(self, before: Reads, read: Reads) -> Reads:
        """Refuse tables of which other lines were read ``before`` than in a pass, and return what that pass read."""
        now = dict.fromkeys(self.streamed, ReadLines()) | dict(read)
        refuse_changes(before, now, self.runs)
        for name, (lines, first) in self.shared.items():
            refuse_changes({name: first}, {name: self.engine.read(lines)}, self.runs)
        return now

    @property
    def least_lines(self) -> int:
        """How many lines a part should have at least: the items of everyone are read with each."""
        return 0 if self.items is None else self.items.height

    def has(self, column: str) -> bool:
        """Whether layouts of any run have a column."""
        return any(column in table for table in self.layouts.values())

    @property
    def id_types(self) -> dict[str, pl.DataType]:
        """The type of each id in all tables."""
        tables = (*self.layouts.values(), *self.tables.values())
        return {name: kind for table in tables for name, kind in table.id_types.items()}

    def page_types(self) -> dict[str, Any]:
        """The columns of the table of pages, as one machine has them, and their types."""
        present = page_columns(
            self.plan,
            page_ids=self.has(Columns.PAGE),
            weighted=self.settings.weight is not None,
            unproven=self.plan.metrics,
        )
        return PER_PAGE.types(present, self.id_types)


def used_columns(engine: Engine[Lines], frame: Lines, table: Table) -> Lines:
    """A table of the engine with only the columns that are used."""
    return frame if table.nested else engine.select(frame, set(table.names.values()))


def _used(engine: Engine[Lines], frame: Lines, table: Table) -> tuple[Lines, str]:
    """The columns in use, and the one with users."""
    return used_columns(engine, frame, table), table.names[Columns.USER]


def _split_by_user(engine: Engine[Any], table: Any, name: str, settings: Settings) -> tuple[Any, Any]:
    """The lines of a table that single users have, if it is one of the engine's, where they stay; and the others."""
    user = schema.names_of(settings.columns, name).get(Columns.USER, Columns.USER)
    if not engine.owns(table) or user not in table.columns:
        return None, table
    return engine.where(table, user, null=False), engine.where(table, user, null=True)


def _lines(table: Table, given: Any, engine: Engine[Lines], personal: Lines | None) -> pl.DataFrame:
    """The lines of a table on this machine, checked, with ids of the types of all tables.

    Where single users have ``personal`` lines on the engine, they are left as they were ``given``, like those.
    """
    lines = table.collect()
    if lines.is_empty() and (personal is None or engine.is_empty(personal)):
        raise DataError(schema.EMPTY[table.name])
    if personal is not None:
        return pl.DataFrame(given)
    return lines.rename({column: spelling for column, spelling in table.names.items() if column != spelling})
