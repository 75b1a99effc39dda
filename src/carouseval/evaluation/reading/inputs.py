"""From tables to arrays: everything that one system's pages are scored with, read and checked."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from carouseval.errors import DataError, ParameterError
from carouseval.evaluation import schema
from carouseval.evaluation.plan import ScoringPlan
from carouseval.evaluation.reading import membership
from carouseval.evaluation.reading.carousels import read_carousels
from carouseval.evaluation.reading.ids import Codebook
from carouseval.evaluation.reading.judged_data import JudgedData
from carouseval.evaluation.reading.judgments import Judgments, gains_of, read_judgments
from carouseval.evaluation.reading.layouts import Layouts, read_layouts
from carouseval.evaluation.reading.page_batch import page_batches
from carouseval.evaluation.reading.shown_carousels import ShownCarousels
from carouseval.metrics.grid import Array
from carouseval.progress import Progress
from carouseval.tables import Table, TableLike, in_memory

NEEDS_CATEGORIES = (
    "no table gives the categories of items, which the ideal page needs. Give items (item_id, category) or a column "
    "category in layouts"
)
NO_CATEGORY = f"{NEEDS_CATEGORIES}; or use candidates='displayed', which scores the arrangement alone."


@dataclass(frozen=True, eq=False)
class Reading:
    """One system's pages as they were read, and the tables they came with."""

    layouts: Layouts
    tables: Mapping[str, Table]


@dataclass(frozen=True, eq=False)
class Inputs:
    """One system's pages and what they are judged by: arrays to score, and ids and tables for messages."""

    plan: ScoringPlan
    judged: JudgedData
    layouts: Layouts
    codebook: Codebook
    tables: Mapping[str, Table]
    shown: ShownCarousels | None = None  # by all systems compared
    from_layouts: bool = True  # whether memberships may come from layouts

    @property
    def is_part(self) -> bool:
        """Whether other users are elsewhere."""
        return self.tables["layouts"].part


@dataclass(frozen=True, eq=False)
class OtherUsers:
    """What must be known of all users where only some of them are read."""

    pairs: pl.DataFrame | None = None  # item_id and category of lines that several users are shown
    shown: pl.DataFrame | None = None  # category, grid, longest and longest_pinned of categories of several users
    carousels: pl.DataFrame | None = None  # category and personal of lines of carousels for single users


class JudgedSources:
    """Judgments, items and carousels, by which many layouts may be judged.

    They are read with the first layouts, since ids must have one type in all tables, and then kept. Without an items
    table, categories are taken from the layouts if ``from_layouts``. If tables hold the lines of some users only,
    ``others`` tells what depends on all of them; either table may then have no line.
    """

    def __init__(
        self,
        judgments: TableLike,
        items: TableLike | None,
        plan: ScoringPlan,
        *,
        from_layouts: bool = True,
        needs_judgments: bool = True,
        others: OtherUsers | None = None,
    ) -> None:
        self.plan, self._others = plan, others
        self._from_layouts, self._needs_judgments = from_layouts, needs_judgments
        self._sources = {"judgments": in_memory(judgments, "judgments")}
        for name, source in (("items", items), ("carousels", plan.settings.carousels)):
            if source is not None:
                self._sources[name] = in_memory(source, name)
        self._id_types: dict[str, pl.DataType] = {}  # settled by the first layouts
        self._read: tuple[JudgedData, Codebook] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_id_types": {}, "_read": None}  # native codes cannot be pickled: tables are read again

    def forget(self) -> None:
        """Forget what was read; the next layouts read it again."""
        self._read = None

    @contextlib.contextmanager
    def open(
        self,
        layouts: TableLike,
        progress: Progress | None = None,
        *,
        judged: JudgedData | None = None,
        canonical: bool = False,
        lenient: bool = False,
    ) -> Iterator[Inputs]:
        """Read and check one system's pages, for use in a ``with`` block.

        They are ``judged`` by the data given, if any. For the rest see :meth:`read`.
        """
        with self.read(layouts, progress, judged=judged, canonical=canonical, lenient=lenient) as reading:
            if judged is None:
                yield self.inputs([reading])[0]
            else:
                yield Inputs(self.plan, judged, reading.layouts, self._codebook, reading.tables)

    @contextlib.contextmanager
    def read(
        self,
        layouts: TableLike,
        progress: Progress | None = None,
        *,
        judged: JudgedData | None = None,
        canonical: bool = False,
        lenient: bool = False,
        share: int = 1,
    ) -> Iterator[Reading]:
        """Read a system's pages, for use in a ``with`` block.

        Layouts are ``canonical`` where their columns have our names already. With ``lenient``, pages may have no
        categories, to be checked but not scored. They take a ``share`` of the memory that the settings allow.
        """
        tables = self.tables(layouts, canonical=canonical)
        if self._read is None:
            self._read = self._read_judged(tables)
            self._id_types = {name: kind for table in tables.values() for name, kind in table.id_types.items()}
        judged = self._read[0] if judged is None else judged
        if judged.membership is None and not lenient:
            self._require_items(tables["layouts"])
        want_pairs = judged.membership is None and self._from_layouts and "category" in tables["layouts"]
        with read_layouts(
            tables["layouts"],
            self._codebook,
            judged.judgments,
            self.plan,
            want_pairs=want_pairs,
            needed=self._others is None,
            share=share,
            progress=progress,
        ) as packed:
            yield Reading(packed, tables)

    def inputs(self, readings: Sequence[Reading]) -> list[Inputs]:
        """The pages of all systems compared, judged by the same data: what they show decides what ideals may show."""
        assert self._read is not None
        judged, codebook = self._read
        all_layouts, capacity = [reading.layouts for reading in readings], self.plan.settings.capacity
        others = self._others or OtherUsers()
        for lines in (others.pairs, others.shown):
            if lines is not None:
                codebook.categories.add(lines["category"])
        shown = ShownCarousels.of(all_layouts, codebook, len(self.plan.grids))
        if self._others is not None:
            shown = shown.among_others(others.shown, codebook)
        if self.plan.needs_categories and judged.membership is not None:
            shown = self._shown_by_unlabelled(judged, all_layouts, shown)
        members = judged.membership
        if self._from_layouts:
            personal = judged.carousels.personal_categories(shown)
            if members is not None:
                declared = personal & judged.carousels.declared_personal(len(personal))
                members = membership.with_personal(members, all_layouts, declared, codebook)
            elif any(layouts.pairs is not None for layouts in all_layouts):
                members = membership.from_layouts(all_layouts, personal, codebook, others.pairs)
        if members is not judged.membership or capacity == "shown" or shown.longest_pinned.any():
            judged = replace(judged, membership=members, carousels=judged.carousels.with_shown(shown, capacity))
        return [
            Inputs(self.plan, judged, reading.layouts, codebook, reading.tables, shown, self._from_layouts)
            for reading in readings
        ]

    def _shown_by_unlabelled(
        self, judged: JudgedData, all_layouts: Sequence[Layouts], shown: ShownCarousels
    ) -> ShownCarousels:
        """What is shown, with rows whose category only their items tell; they must be read for that."""
        for layouts in all_layouts:
            for batch in page_batches(layouts, judged, self.plan) if not layouts.labelled else ():
                shown = shown.with_rows(batch.grid, batch.category, batch.length, batch.pinned > 0)
        return shown

    @property
    def _codebook(self) -> Codebook:
        assert self._read is not None
        return self._read[1]

    def tables(self, layouts: TableLike, *, canonical: bool = False) -> dict[str, Table]:
        """All tables, opened, with ids of one type; later layouts must have the types of the first."""
        sources = {"layouts": in_memory(layouts, "layouts")} | self._sources
        tables = schema.open_tables(
            sources, self.plan.settings, settled=self._id_types, canonical=("layouts",) if canonical else ()
        )
        return {name: replace(table, part=self._others is not None) for name, table in tables.items()}

    def judges(self, user_id: Any) -> bool:
        """Whether a user has judgments."""
        if self._read is None:
            return False
        judgments, codebook = self._read[0].judgments, self._read[1]
        users = codebook.users.values().gather(judgments.user[judgments.judged])
        return bool((users == user_id).any())

    def _read_judged(self, tables: Mapping[str, Table]) -> tuple[JudgedData, Codebook]:
        plan = self.plan
        id_types = {name: kind for table in tables.values() for name, kind in table.id_types.items()}
        codebook = Codebook(plan.settings.by_columns, plan.threads, id_types)
        judgments = read_judgments(tables["judgments"], codebook, plan.settings, needed=self._needs_judgments)
        items = membership.from_table(tables["items"], codebook) if "items" in tables else None
        kinds = [table.id_types["category"] for table in tables.values() if "category" in table]
        carousels = read_carousels(
            tables.get("carousels"),
            plan.settings.capacity,
            codebook,
            kinds[0] if kinds else None,
            len(plan.grids),
            None if self._others is None else self._others.carousels,
        )
        gains = metric_gains(judgments, plan, tables["judgments"])
        if not gains:  # figures alone: users with relevant items are still counted
            gains[""] = gains_of(judgments, plan.gain, tables["judgments"], plan.threads)
        return JudgedData(judgments, gains, items, carousels), codebook

    def _require_items(self, layouts: Table) -> None:
        """Categories must be known, and must not depend on which of several systems comes first."""
        if self.plan.needs_categories and "category" not in layouts:
            raise DataError(NO_CATEGORY if layouts.part or layouts.height() else schema.EMPTY["layouts"])
        what = "category ideals" if self.plan.needs_categories else ", ".join(self.plan.figures)
        if what and not self._from_layouts:
            raise ParameterError(f"Evaluator needs items for {what}; items_of(layouts, ...) collects them.")


def metric_gains(judgments: Judgments, plan: ScoringPlan, table: Table) -> dict[str, Array]:
    """The gain of every judgment, by each metric of a plan; ``table`` holds the judgments, for messages."""
    by_gain: dict[str | int, Array] = {}
    gains = {}
    for name, metric in plan.metrics.items():
        gain = plan.gain_of(name)
        key = gain if isinstance(gain, str) else id(gain)  # a function need not be hashable
        if key not in by_gain:
            by_gain[key] = gains_of(judgments, gain, table, plan.threads)
        gains[name] = metric.item_gains(by_gain[key])
    return gains
