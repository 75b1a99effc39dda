"""``check``: are these tables fit to be judged, and what is in them? All is read and validated, nothing scored."""

import html
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Unpack

import numpy as np
import polars as pl

from carouseval.errors import CarousevalError, DataError
from carouseval.evaluation import page_defects, schema
from carouseval.evaluation.defect_lines import describe_defects
from carouseval.evaluation.notices import mismatches, no_category, refusals, uncategorised
from carouseval.evaluation.outcomes import Verdicts
from carouseval.evaluation.page_defects import PageDefect
from carouseval.evaluation.plan import ScoringPlan
from carouseval.evaluation.reading.inputs import NO_CATEGORY, Inputs, JudgedSources
from carouseval.evaluation.scoring.page_batch import page_batches
from carouseval.evaluation.settings import Settings, SettingsDict, takes_settings
from carouseval.progress import Progress
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


@takes_settings
def check(
    layouts: TableLike,
    judgments: TableLike | None = None,
    items: TableLike | None = None,
    *,
    progress: Progress | None = None,
    **settings: Unpack[SettingsDict],
) -> Check:
    """Validate tables without scoring: all that ``evaluate`` refuses under these settings, and a summary.

    What it would warn of is listed too, as far as that can be told without scores.

    Parameters
    ----------
    layouts, judgments, items, progress
        As in :func:`carouseval.evaluate`; judgments may be left out.

    Examples
    --------
    >>> import carouseval as cv
    >>> layouts = {"user_id": [7, 7], "row": [1, 1], "col": [1, 1], "item_id": [1, 2], "category": ["new", "new"]}
    >>> for defect in cv.check(layouts).defects:
    ...     print(defect)
    layouts: 1 cell appears twice, first user_id=7 row=1 col=1 (line 2). Each cell holds one item; drop the repeats.
    """
    chosen = Settings.named("check", settings)
    ScoringPlan.of(chosen)  # what settings get wrong is raised, what tables do is listed
    sources: dict[str, Any] = {"layouts": layouts, "judgments": judgments, "items": items}
    given = {
        name: in_memory(source, name) for name, source in sources.items() if source is not None or name == "layouts"
    }
    tables, found = _opened(given, chosen)
    for table in tables.values():
        found += _broken(table)
    summary = {name: _summary(table) for name, table in tables.items()} if not found else {}
    if not found and len(tables) == len(given):
        found += _page_defects(given, tables, chosen, summary, progress)
    rank = {"error": 0, "warning": 1, "note": 2}
    return Check(tuple(sorted(found, key=lambda defect: rank[defect.severity])), summary)


def _opened(given: Mapping[str, TableLike], settings: Settings) -> tuple[dict[str, Table], list[Defect]]:
    """The tables that can be opened, and why others cannot."""
    try:
        return schema.open_tables(given, settings), []
    except CarousevalError as together:
        tables: dict[str, Table] = {}
        found = []
        for name, source in given.items():
            try:
                tables[name] = open_table(source, name, schema.TABLES[name], schema.names_of(settings.columns, name))
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
    with table.read_errors():
        return table.frame().select(**facts).collect(engine="streaming").row(0, named=True)


def _page_defects(
    given: Mapping[str, TableLike],
    tables: Mapping[str, Table],
    settings: Settings,
    summary: dict[str, dict[str, Any]],
    progress: Progress | None,
) -> list[Defect]:
    """What pages have wrong, and how well the tables match."""
    judged = "judgments" in given
    if not judged:  # names that only judgments would have are not missed
        settings = replace(settings, columns={"layouts": schema.names_of(settings.columns, "layouts")})
    judgments = given["judgments"] if judged else _nobody(tables["layouts"])
    sources = JudgedSources(judgments, given.get("items"), ScoringPlan.of(settings), needs_judgments=judged)
    try:
        with sources.open(given["layouts"], progress, items_from_layouts=True, lenient=True) as inputs:
            found, unjudged = _marked(inputs, summary, progress)
            if inputs.judged.membership is None and inputs.plan.needs_categories:  # items may come with the judgments
                found.append(Defect("layouts", "category", 1, NO_CATEGORY, "error" if judged else "warning"))
            return found + (_matches(inputs, summary, unjudged) if judged else [])
    except CarousevalError as error:
        return [Defect(_table_of(error), "", 1, str(error))]


def _marked(inputs: Inputs, summary: dict[str, dict[str, Any]], progress: Progress | None) -> tuple[list[Defect], int]:
    """What is wrong with pages, and how many items are shown without a judgment."""
    marked: dict[PageDefect, list[Any]] = {}
    refused: set[PageDefect] = set()
    duplicates = unjudged = 0
    for batch in page_batches(inputs.layouts, inputs.judged, inputs.plan, progress):
        not_let_pass = dict(page_defects.refused(batch, inputs.plan))
        refused |= not_let_pass.keys()
        for defect in dict.fromkeys((*page_defects.PAGE_DEFECTS, *not_let_pass)):
            marked.setdefault(defect, []).append(page_defects.marked_pages(batch, defect))
        duplicates, unjudged = duplicates + int(batch.duplicates.sum()), unjudged + int(batch.unjudged.sum())
    found: list[Defect] = []
    for defect, parts in marked.items():
        pages = np.concatenate(parts)
        if len(pages):
            severity = "error" if defect in refused else "warning"
            found.append(replace(describe_defects(defect, pages, inputs), severity=severity))
    summary["layouts"] |= {"pages": int(inputs.layouts.present.sum()), "repeated_items": duplicates}
    return found, unjudged


def _matches(inputs: Inputs, summary: dict[str, dict[str, Any]], unjudged: int) -> list[Defect]:
    """How well the tables match."""
    layouts = inputs.layouts
    verdicts = Verdicts.of(inputs.judged, layouts, inputs.plan)
    missing, homeless = len(verdicts.entries.missing_truths), uncategorised(inputs)
    summary["match"] = {
        "shown_and_judged": (layouts.lines - unjudged) / layouts.lines,
        "judged_without_page": missing,
        "pages_without_relevant": int((~verdicts.by_any.relevant & ~verdicts.by_any.missing).sum()),
        "judged_without_category": homeless,
    }
    found = list(refusals(inputs, verdicts))
    if homeless and inputs.plan.needs_categories:
        found.append(Defect("items", "category", homeless, no_category(inputs, homeless), "warning"))
    return found + mismatches(inputs, unjudged, missing)
