"""From tables to arrays: everything that one system's pages are scored with, read and checked."""

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from carouseval.errors import DataError, ParameterError
from carouseval.evaluation import schema
from carouseval.evaluation.plan import ScoringPlan
from carouseval.evaluation.reading import membership
from carouseval.evaluation.reading.ids import Codebook
from carouseval.evaluation.reading.judged_data import JudgedData
from carouseval.evaluation.reading.judgments import gains_of, read_judgments
from carouseval.evaluation.reading.layouts import Layouts, read_layouts
from carouseval.metrics.grid import Array
from carouseval.progress import Progress
from carouseval.tables import Table, TableLike, in_memory

NEEDS_CATEGORIES = (
    "no table gives the categories of items, which the ideal page needs. Give items (item_id, category) or a column "
    "category in layouts"
)
NO_CATEGORY = f"{NEEDS_CATEGORIES}; or use candidates='displayed', which scores the arrangement alone."


@dataclass(frozen=True, eq=False)
class Inputs:
    """One system's pages and what they are judged by: arrays to score, and ids and tables for messages."""

    plan: ScoringPlan
    judged: JudgedData
    layouts: Layouts
    codebook: Codebook
    tables: Mapping[str, Table]


class JudgedSources:
    """Judgments and items, by which many layouts may be judged.

    They are read with the first layouts, since ids must have one type in all tables, and then kept.
    """

    def __init__(
        self, judgments: TableLike, items: TableLike | None, plan: ScoringPlan, *, needs_judgments: bool = True
    ) -> None:
        self.plan = plan
        self._needs_judgments = needs_judgments
        self._sources = {"judgments": in_memory(judgments, "judgments")}
        if items is not None:
            self._sources["items"] = in_memory(items, "items")
        self._id_types: dict[str, pl.DataType] = {}  # settled by the first layouts
        self._read: tuple[JudgedData, Codebook] | None = None

    @contextlib.contextmanager
    def open(
        self,
        layouts: TableLike,
        progress: Progress | None = None,
        *,
        items_from_layouts: bool = False,
        judged: JudgedData | None = None,
        canonical: bool = False,
        lenient: bool = False,
    ) -> Iterator[Inputs]:
        """Read and check a system's pages, for use in a ``with`` block.

        Without an items table, categories are taken from the layouts, if ``items_from_layouts``, or from data that was
        ``judged`` before. Layouts are ``canonical`` where their columns have our names already. With ``lenient``,
        pages may have no categories, to be checked but not scored.
        """
        tables = self.tables(layouts, canonical=canonical)
        if self._read is None:
            self._read = self._read_judged(tables)
            self._id_types = {name: kind for table in tables.values() for name, kind in table.id_types.items()}
        codebook = self._read[1]
        judged = self._read[0] if judged is None else judged
        labelled = "category" in tables["layouts"]
        if judged.membership is None and not lenient:
            self._require_items(tables["layouts"], items_from_layouts)
        want_pairs = judged.membership is None and labelled and items_from_layouts
        with read_layouts(
            tables["layouts"], codebook, judged.judgments, self.plan, want_pairs=want_pairs, progress=progress
        ) as packed:
            if packed.pairs is not None:
                judged = replace(judged, membership=membership.from_layouts(packed.pairs, codebook))
            yield Inputs(self.plan, judged, packed, codebook, tables)

    def tables(self, layouts: TableLike, *, canonical: bool = False) -> dict[str, Table]:
        """All tables, opened, with ids of one type; later layouts must have the types of the first."""
        sources = {"layouts": in_memory(layouts, "layouts")} | self._sources
        return schema.open_tables(
            sources, self.plan.settings, settled=self._id_types, canonical=("layouts",) if canonical else ()
        )

    def judges(self, user_id: Any) -> bool:
        """Whether a user has judgments."""
        if self._read is None:
            return False
        judgments, codebook = self._read[0].judgments, self._read[1]
        users = codebook.users.values().gather(judgments.user[judgments.judged])
        return bool((users == user_id).any())

    def _read_judged(self, tables: Mapping[str, Table]) -> tuple[JudgedData, Codebook]:
        plan = self.plan
        codebook = Codebook(plan.settings.by_columns, plan.threads)
        judgments = read_judgments(tables["judgments"], codebook, plan.settings, needed=self._needs_judgments)
        items = membership.from_table(tables["items"], codebook) if "items" in tables else None
        by_gain: dict[str | int, Array] = {}
        gains = {}
        for name, metric in plan.metrics.items():
            gain = plan.gain_of(name)
            key = gain if isinstance(gain, str) else id(gain)  # a function need not be hashable
            if key not in by_gain:
                by_gain[key] = gains_of(judgments, gain, tables["judgments"], plan.threads)
            gains[name] = metric.item_gains(by_gain[key])
        if not gains:  # figures alone: users with relevant items are still counted
            gains[""] = gains_of(judgments, plan.gain, tables["judgments"], plan.threads)
        return JudgedData(judgments, gains, items), codebook

    def _require_items(self, layouts: Table, from_layouts: bool) -> None:
        """Categories must be known, and must not depend on which of several systems comes first."""
        if self.plan.needs_categories and "category" not in layouts:
            empty = layouts.frame().head(1).collect().is_empty()
            raise DataError(schema.EMPTY["layouts"] if empty else NO_CATEGORY)
        what = "category ideals" if self.plan.needs_categories else ", ".join(self.plan.figures)
        if what and not from_layouts:
            raise ParameterError(f"Evaluator needs items for {what}; items_of(layouts, ...) collects them.")
