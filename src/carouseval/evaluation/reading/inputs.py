"""From tables to arrays: everything that one system's pages are scored with, read and checked.

Each step takes what the one before returns: sources are opened, with ids of one type; judgments, items and carousels
are read once, for any number of layouts; layouts are read; and when all of them are, what they show decides what ideals
may show.
"""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import KW_ONLY, InitVar, dataclass, field, replace

import polars as pl

from carouseval.errors import DataError, ParameterError
from carouseval.evaluation import schema
from carouseval.evaluation.plan import ScoringPlan
from carouseval.evaluation.reading import membership
from carouseval.evaluation.reading.ids import Codebook
from carouseval.evaluation.reading.judged_data import JudgedData, read_judged
from carouseval.evaluation.reading.layouts import Layouts, read_layouts
from carouseval.evaluation.reading.page_batch import page_batches
from carouseval.evaluation.reading.shown_carousels import ShownCarousels
from carouseval.messages import Message, function, setting
from carouseval.progress import Progress
from carouseval.tables.table import Table, TableLike, in_memory

NEEDS_CATEGORIES = (
    f"no table gives the categories of items, which the ideal page needs. Give {setting('items')} (item_id, "
    "category) or a column category in layouts"
)
NO_CATEGORY = Message(
    f"{NEEDS_CATEGORIES}; or use {setting('candidates', 'displayed')}, which scores the arrangement alone."
)


@dataclass(frozen=True, eq=False)
class OtherUsers:
    """What must be known of all users where only some of them are read."""

    pairs: pl.DataFrame | None = None  # item_id and category of lines that several users are shown
    shown: pl.DataFrame | None = None  # category, grid, longest and longest_pinned of categories of several users
    carousels: pl.DataFrame | None = None  # category and personal of lines of carousels for single users


@dataclass(frozen=True, eq=False)
class JudgedSources:
    """Judgments, items and carousels as they are given.

    Without an items table, categories are taken from the layouts if ``from_layouts``. If tables hold the lines of some
    users only, ``others`` tells what depends on all of them; either table may then have no line.
    """

    judgments: InitVar[TableLike]
    items: InitVar[TableLike | None]
    plan: ScoringPlan
    _: KW_ONLY
    from_layouts: bool = True
    needs_judgments: bool = True
    others: OtherUsers | None = None
    given: Mapping[str, TableLike] = field(init=False)  # by the names of the tables

    def __post_init__(self, judgments: TableLike, items: TableLike | None) -> None:
        sources = {"judgments": judgments, "items": items, "carousels": self.plan.settings.carousels}
        given = {name: in_memory(source, name) for name, source in sources.items() if source is not None}
        object.__setattr__(self, "given", given)

    def tables(
        self, layouts: TableLike, judged: "JudgedTables | None" = None, *, canonical: bool = False
    ) -> dict[str, Table]:
        """All tables, opened, with ids of one type; what is ``judged`` by with other layouts is open already.

        Layouts are ``canonical`` where their columns have our names already.
        """
        tables = schema.open_tables(
            {"layouts": layouts, **({} if judged is not None else self.given)},
            self.plan.settings,
            opened=None if judged is None else judged.tables,
            settled=None if judged is None else judged.id_types,
            canonical=("layouts",) if canonical else (),
        )
        return tables if self.others is None else {name: replace(table, part=True) for name, table in tables.items()}

    @contextlib.contextmanager
    def open(
        self,
        layouts: TableLike,
        progress: Progress | None = None,
        *,
        judged: "JudgedTables | None" = None,
        canonical: bool = False,
        lenient: bool = False,
    ) -> Iterator["Inputs"]:
        """Read and check one system's pages, for use in a ``with`` block; see :meth:`open_all`."""
        with self.open_all([layouts], progress, judged=judged, canonical=canonical, lenient=lenient) as (inputs,):
            yield inputs

    @contextlib.contextmanager
    def open_all(
        self,
        systems: Sequence[TableLike],
        progress: Progress | None = None,
        *,
        judged: "JudgedTables | None" = None,
        canonical: bool = False,
        lenient: bool = False,
        naming: Callable[[int], AbstractContextManager[None]] | None = None,
    ) -> Iterator[list["Inputs"]]:
        """Read and check the pages of several systems, for use in a ``with`` block.

        Judgments and the other tables are read with the first layouts, unless they are ``judged`` by what was read with
        others before. With ``lenient``, pages may have no categories, to be checked but not scored. Each system is read
        in the context that ``naming`` gives for its place, which may name it in errors.
        """
        with ExitStack() as stack:
            readings = []
            for place, layouts in enumerate(systems):
                with nullcontext() if naming is None else naming(place):
                    tables = self.tables(layouts, judged, canonical=canonical)
                    judged = JudgedTables.of(self, tables) if judged is None else judged
                    reading = judged.read(tables, progress, lenient=lenient, share=len(systems))
                    readings.append(stack.enter_context(reading))
            yield all_inputs(readings)


@dataclass(frozen=True, eq=False)
class JudgedTables:
    """Judgments, items and carousels as they were read, by which any layouts may be judged."""

    sources: JudgedSources
    tables: Mapping[str, Table]
    data: JudgedData
    codebook: Codebook  # to which layouts add their ids
    id_types: Mapping[str, pl.DataType]  # those of the layouts they were read with, which others must have

    @classmethod
    def of(cls, sources: JudgedSources, tables: Mapping[str, Table]) -> "JudgedTables":
        """Read and check them."""
        id_types = {name: kind for table in tables.values() for name, kind in table.id_types.items()}
        codebook = Codebook(sources.plan.settings.by_columns, sources.plan.threads, id_types)
        elsewhere = None if sources.others is None else sources.others.carousels
        data = read_judged(tables, codebook, sources.plan, needed=sources.needs_judgments, elsewhere=elsewhere)
        opened = {name: table for name, table in tables.items() if name != "layouts"}
        return cls(sources, opened, data, codebook, id_types)

    @contextlib.contextmanager
    def read(
        self, tables: Mapping[str, Table], progress: Progress | None = None, *, lenient: bool = False, share: int = 1
    ) -> Iterator["Reading"]:
        """Read the layouts among these tables; they take a ``share`` of the memory that the settings allow."""
        layouts, has_members = tables["layouts"], self.data.membership is not None
        if not (has_members or lenient):
            self._require_items(layouts)
        with read_layouts(
            layouts,
            self.codebook,
            self.data.judgments,
            self.sources.plan,
            want_pairs=self.sources.from_layouts and not has_members,
            needed=self.sources.others is None,
            share=share,
            progress=progress,
        ) as packed:
            yield Reading(self, packed, tables)

    def _require_items(self, layouts: Table) -> None:
        """Categories must be known, and must not depend on which of several systems comes first."""
        plan = self.sources.plan
        if plan.needs_categories and "category" not in layouts:
            raise DataError(NO_CATEGORY if layouts.part or layouts.height() else schema.EMPTY["layouts"])
        what = "category ideals" if plan.needs_categories else ", ".join(plan.figures)
        if what and not self.sources.from_layouts:
            raise ParameterError(
                f"Evaluator needs {setting('items')} for {what}; {function('items_from_layouts')}(layouts, ...) "
                "collects them."
            )


@dataclass(frozen=True, eq=False)
class Reading:
    """One system's pages as they were read, and the tables they came with."""

    judged: JudgedTables
    layouts: Layouts
    tables: Mapping[str, Table]

    def inputs(self, data: JudgedData, shown_carousels: ShownCarousels | None = None) -> "Inputs":
        """The pages, judged by data that may know of what the pages of all systems show."""
        sources, codebook = self.judged.sources, self.judged.codebook
        return Inputs(
            sources.plan, data, self.layouts, codebook, self.tables, self.judged, shown_carousels, sources.from_layouts
        )


@dataclass(frozen=True, eq=False)
class Inputs:
    """One system's pages and what they are judged by: arrays to score, and ids and tables for messages."""

    plan: ScoringPlan
    judged: JudgedData
    layouts: Layouts
    codebook: Codebook
    tables: Mapping[str, Table]
    judged_tables: JudgedTables  # for other layouts
    shown: ShownCarousels | None = None  # by all systems compared
    from_layouts: bool = True  # whether memberships may come from layouts

    @property
    def is_part(self) -> bool:
        """Whether other users are elsewhere."""
        return self.tables["layouts"].part


def all_inputs(readings: Sequence[Reading]) -> list[Inputs]:
    """The pages of all systems compared, judged by the same data: what they show decides what ideals may show."""
    judged = readings[0].judged
    data, codebook, sources = judged.data, judged.codebook, judged.sources
    all_layouts, capacity = [reading.layouts for reading in readings], sources.plan.settings.capacity
    shown_carousels = _shown(all_layouts, judged)
    members = data.membership
    if sources.from_layouts:
        personal = data.carousels.personal_categories(shown_carousels)
        if members is not None:
            declared = personal & data.carousels.declared_personal(len(personal))
            members = membership.with_personal(members, all_layouts, declared, codebook)
        elif any(layouts.pairs is not None for layouts in all_layouts):
            pairs = None if sources.others is None else sources.others.pairs
            members = membership.from_layouts(all_layouts, personal, codebook, pairs)
    if members is not data.membership or capacity == "shown" or shown_carousels.longest_pinned.any():
        data = replace(data, membership=members, carousels=data.carousels.with_shown(shown_carousels, capacity))
    return [reading.inputs(data, shown_carousels) for reading in readings]


def _shown(all_layouts: Sequence[Layouts], judged: JudgedTables) -> ShownCarousels:
    """What all pages show of carousels, with rows whose category only their items tell; they must be read for that."""
    codebook, plan, others = judged.codebook, judged.sources.plan, judged.sources.others
    if others is not None:
        for lines in (others.pairs, others.shown):
            if lines is not None:
                codebook.categories.add(lines["category"])
    shown_carousels = ShownCarousels.of(all_layouts, codebook, len(plan.grids))
    if others is not None:
        shown_carousels = shown_carousels.among_others(others.shown, codebook)
    if plan.needs_categories and judged.data.membership is not None:
        for layouts in all_layouts:
            for batch in page_batches(layouts, judged.data, plan) if not layouts.labelled else ():
                shown_carousels = shown_carousels.with_rows(batch.grid, batch.category, batch.length, batch.pinned > 0)
    return shown_carousels
