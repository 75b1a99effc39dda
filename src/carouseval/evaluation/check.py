"""``check``: are these tables fit to be judged, and what is in them? All is read and validated, nothing scored."""

import html
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import polars as pl

from carouseval.errors import CarousevalError, DataError
from carouseval.evaluation import page_defects as flaws
from carouseval.evaluation import schema
from carouseval.evaluation.evaluate import Grids, OneSystem, segment_names
from carouseval.evaluation.layouts import Progress
from carouseval.evaluation.opened import Opened
from carouseval.metrics.grid import RECGAZE
from carouseval.result_base import Result
from carouseval.table_columns import Defect
from carouseval.tables import Table, TableLike, in_memory, open_table


@dataclass(frozen=True)
class Check(Result):
    """What is wrong with the tables, the worst first, and what is in them."""

    defects: tuple[Defect, ...]
    summary: dict[str, dict[str, Any]]  # per table

    @property
    def ok(self) -> bool:
        """Whether the tables can be scored as they are."""
        return not any(defect.severity == "error" for defect in self.defects)

    @property
    def heading(self) -> str:
        """That nothing is wrong, if so."""
        return "" if self.defects else "The tables are sound."

    def raise_for_errors(self) -> None:
        """Raise the first error, if there is one."""
        for defect in self.defects:
            if defect.severity == "error":
                raise DataError(str(defect))

    def to_frame(self) -> pl.DataFrame:
        """One line per defect."""
        kinds = {
            "severity": pl.String,
            "table": pl.String,
            "column": pl.String,
            "count": pl.Int64,
            "message": pl.String,
        }
        return pl.DataFrame([{name: asdict(defect)[name] for name in kinds} for defect in self.defects], schema=kinds)

    def to_dict(self) -> dict[str, Any]:
        """Defects and summary as plain values."""
        return {"ok": self.ok, "defects": self.to_frame().to_dicts(), "summary": self.summary}

    def _repr_html_(self) -> str:
        return super()._repr_html_() + f"<pre>{html.escape(json.dumps(self.summary, indent=1))}</pre>"


def check(
    layouts: TableLike,
    judgments: TableLike | None = None,
    items: TableLike | None = None,
    grid: Grids = RECGAZE,
    by: str | Sequence[str] | None = None,
    columns: schema.ColumnNames = None,
    *,
    weight: str | None = None,
    memory: float = 4.0,
    progress: Progress = None,
) -> Check:
    """Validate tables without scoring: all that ``evaluate`` refuses or warns of by default, and a summary.

    >>> import carouseval as cv
    >>> layouts = {"user_id": [7, 7], "row": [1, 1], "col": [1, 1], "item_id": [1, 2], "category": ["new", "new"]}
    >>> for defect in cv.check(layouts).defects:
    ...     print(defect)
    layouts: 1 cell appears twice, first user_id=7 row=1 col=1 (line 2). Each cell holds one item; drop the repeats.
    """
    sources = {"layouts": layouts, "judgments": judgments, "items": items}
    given = {
        name: in_memory(source, name) for name, source in sources.items() if source is not None or name == "layouts"
    }
    segments = segment_names(by)
    tables, found = _opened(given, columns, segments, weight)
    for table in tables.values():
        found += _broken(table)
    summary = {name: _summary(table) for name, table in tables.items()} if not found else {}
    if not found and len(tables) == len(given):
        kind = OneSystem if judgments is not None else _Unjudged
        evaluator = kind(
            given.get("judgments", _nobody(tables["layouts"])),
            given.get("items"),
            "2DCG",
            grid,
            by=by,
            columns=columns if judgments is not None else {"layouts": schema.names_of(columns, "layouts")},
            weight=weight,
            memory=memory,
            invalid="count",
        )
        try:
            with evaluator.open(given["layouts"], progress) as opened:
                found += _page_defects(opened, summary, judgments is not None)
        except CarousevalError as error:
            found.append(Defect(_table_of(error), "", 1, str(error)))
    rank = {"error": 0, "warning": 1, "note": 2}
    return Check(tuple(sorted(found, key=lambda defect: rank[defect.severity])), summary)


class _Unjudged(OneSystem):
    """Reads pages without any judgments."""

    needs_judgments = False


def _opened(
    given: Mapping[str, TableLike], columns: schema.ColumnNames, by: tuple[str, ...], weight: str | None
) -> tuple[dict[str, Table], list[Defect]]:
    """The tables that can be opened, and why others cannot."""
    try:
        return schema.open_tables(given, columns, by, weight), []
    except CarousevalError as together:
        tables: dict[str, Table] = {}
        found = []
        for name, source in given.items():
            try:
                tables[name] = open_table(source, name, schema.TABLES[name], schema.names_of(columns, name))
            except CarousevalError as error:
                found.append(Defect(name, "", 1, str(error)))
        return tables, found or [Defect(_table_of(together), "", 1, str(together))]


def _table_of(error: CarousevalError) -> str:
    """The table that a message begins with, if it does."""
    name = str(error).partition(":")[0]
    return name if name in schema.TABLES else ""


def _broken(table: Table) -> list[Defect]:
    """What single columns hold that cannot be read; an empty table."""
    try:
        found = table.defects()
        if not found and table.height() == 0:
            found = [Defect(table.name, "", 1, f"{table.name}: the table is empty.")]
        return found
    except DataError as error:
        return [Defect(table.name, "", 1, str(error))]


def _nobody(layouts: Table) -> pl.DataFrame:
    """Judgments by nobody, with ids of the types that the layouts have."""
    types = {name: layouts.id_types[name] for name in ("user_id", "item_id")}
    return pl.DataFrame(schema=types | {"relevance": pl.Float64()})


def _summary(table: Table) -> dict[str, Any]:
    """What a table holds, in a line."""
    facts: dict[str, pl.Expr] = {"cells" if table.lists else "lines": pl.len()}
    for column, name in (("user_id", "users"), ("item_id", "items"), ("category", "categories")):
        if column in table:
            facts[name] = pl.col(column).drop_nulls().n_unique()
    if "page_id" in table:
        facts["pages"] = pl.struct("user_id", "page_id").n_unique()
    if "row" in table:
        facts |= {"rows": pl.col("row").max(), "cols": pl.col("col").max()}
    if "pinned" in table:
        facts["pinned_lines"] = pl.col("pinned").sum()
    if "relevance" in table:
        relevance = pl.col("relevance")
        facts |= {
            "lowest_relevance": relevance.min(),
            "highest_relevance": relevance.max(),
            "share_of_zeros": (relevance == 0).mean(),
        }
    if table.name == "items" and "user_id" in table:
        facts["personal_lines"] = pl.col("user_id").is_not_null().sum()
    with table.readable():
        return table.frame().select(**facts).collect(engine="streaming").row(0, named=True)


def _page_defects(opened: Opened, summary: dict[str, dict[str, Any]], judged: bool) -> list[Defect]:
    """What pages have wrong, and how well the tables match."""
    layouts, truth = opened.layouts, opened.evaluator.truth
    grids, grid_of = opened.grid_of()
    considered = (*flaws.FLAWS, flaws.PINNED_UNKNOWN)
    marked: dict[int, list[Any]] = {flaw.bit: [] for flaw in considered}
    duplicates = unjudged = 0
    for shown in opened.read():
        for bit, pages in marked.items():
            pages.append(shown.pages[(shown.flaws & bit) > 0] if bit > 0 else opened.pinned_unknown(shown))
        duplicates, unjudged = duplicates + int(shown.duplicates.sum()), unjudged + int(shown.unjudged.sum())
    found: list[Defect] = []
    for flaw in considered:
        all_marked = np.concatenate(marked[flaw.bit])
        if len(all_marked):
            found.append(
                flaws.describe(flaw, layouts, all_marked, opened.membership, lambda page: grids[grid_of[page]])
            )
    summary["layouts"] |= {"pages": int(layouts.present.sum()), "repeated_items": duplicates}
    if opened.membership is None:
        bare = "layouts: no table names categories, so N2DCG_cat can only judge the arrangement. Give items."
        found.append(Defect("layouts", "category", 1, bare, "warning"))
    if not judged or any(defect.severity == "error" for defect in found):
        return found
    relevant, truths = opened.relevant(), layouts.truths()
    seen = np.zeros(len(relevant), bool)
    seen[truths[layouts.present]] = True
    missing = int((truth.judged & ~seen[: len(truth)]).sum())
    uncategorised = opened.uncategorised()
    summary["match"] = {
        "shown_and_judged": (layouts.lines - unjudged) / layouts.lines,
        "judged_without_page": missing,
        "pages_without_relevant": int((~relevant[truths[layouts.present]]).sum()),
        "judged_without_category": uncategorised,
    }
    if missing and opened.weights() is not None and truth.weights is None:
        lost = f"judgments: {missing:,} without a page have no {opened.evaluator.weight}. Add the column to judgments."
        found.append(Defect("judgments", str(opened.evaluator.weight), missing, lost))
    if uncategorised:
        found.append(Defect("items", "category", uncategorised, opened.no_category(uncategorised), "warning"))
    return found + opened.mismatches(unjudged, missing)
