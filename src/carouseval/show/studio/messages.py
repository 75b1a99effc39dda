"""Requests as values, and results as JSON. Ids travel as text, so that no browser rounds them; codes stand for them."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from carouseval.evaluation.editing.open_pages import OpenPages, PageName
from carouseval.evaluation.editing.page_rows import PageRow
from carouseval.evaluation.editing.page_scorer import VersionScore
from carouseval.evaluation.notices import can_work_more
from carouseval.evaluation.settings import Settings
from carouseval.metrics.grid import Grid
from carouseval.show.studio.bad_request import require_flag, require_integer, require_list, require_object
from carouseval.show.studio.offer import MOST_COLS, MOST_ROWS, Choices, drawn_part, screen_of
from carouseval.show.studio.uploads import MOST_BYTES
from carouseval.show.studio.workspace import Workspace

MOST_CODE = 2**32 - 2


@dataclass(frozen=True)
class PageRequest:
    """A version of a page, and what it is scored by."""

    system: int
    code: int
    rows: tuple[PageRow, ...]
    choices: Choices


def read_page_request(content: Mapping[str, Any], workspace: Workspace, *, with_rows: bool = True) -> PageRequest:
    """Check a request about a page of the open tables."""
    workspace.check_revision(require_integer("data", content.get("data"), 0, MOST_CODE))
    system = require_integer("system", content.get("system"), 0, 1)
    code = require_integer("code", content.get("code"), 0, MOST_CODE)
    workspace.check_page(system, code)
    rows = read_rows(content.get("rows"), workspace.pages) if with_rows else ()
    return PageRequest(system, code, rows, workspace.offer.read(content.get("choices")))


def read_rows(content: Any, pages: OpenPages) -> tuple[PageRow, ...]:
    """The rows of a page; codes that no table has are refused."""
    items, categories = len(pages.item_ids) - 1, len(pages.categories) - 1
    rows = []
    for number, entry in enumerate(require_list("rows", content, MOST_ROWS), 1):
        row = require_object(f"row {number}", entry)
        cells = require_list(f"items of row {number}", row.get("items"), MOST_COLS)
        category = row.get("category")
        rows.append(
            PageRow(
                None if category is None else require_integer("category", category, 0, categories),
                require_flag("pinned", row.get("pinned")),
                tuple(None if item is None else require_integer("item", item, 0, items) for item in cells),
            )
        )
    return tuple(rows)


def state_json(workspace: Workspace) -> dict[str, Any]:
    """What is open and what can be chosen."""
    pages = workspace.pages
    return {
        "data": workspace.revision,
        "source": workspace.tables.source,
        "is_start": workspace.tables is workspace.start,
        "systems": [{"name": name, "pages": count} for name, count in zip(pages.names, pages.counts(), strict=True)],
        "upload_megabytes": MOST_BYTES >> 20,
        **workspace.offer.as_dict(),
    }


def name_json(name: PageName) -> dict[str, Any]:
    """The ids of a page."""
    return {"code": name.code, "user": name.user_id, "page": name.page_id}


def page_json(workspace: Workspace, system: int, code: int) -> dict[str, Any]:
    """A page as its table has it, with the names of what is on it; of a huge page the part that can be drawn."""
    page = workspace.pages.page(system, code)
    grid = drawn_part(page.grid)
    rows = [row._replace(items=row.items[: grid.cols]) for row in page.rows[: grid.rows]]
    return {
        "system": system,
        **name_json(page.name),
        "rows": rows_json(rows),
        "screen": screen_of(grid),
        "notice": _part_notice(page.grid) if grid != page.grid else None,
        "relevance": page.relevance,
        **names_json(workspace, rows),
    }


def _part_notice(grid: Grid) -> str:
    return (
        f"This screen has {grid.rows:,} rows and {grid.cols:,} columns. Drawn, scored and exported are its first "
        f"{min(grid.rows, MOST_ROWS)} rows and {min(grid.cols, MOST_COLS)} columns, as if it ended there; use "
        "carouseval explain for the whole."
    )


def rows_json(rows: Sequence[PageRow]) -> list[dict[str, Any]]:
    """Rows by their codes."""
    return [{"category": row.category, "pinned": row.pinned, "items": list(row.items)} for row in rows]


def names_json(workspace: Workspace, rows: Sequence[PageRow]) -> dict[str, Any]:
    """The names of the items and categories of rows, by code."""
    return _names(workspace, (item for row in rows for item in row.items), (row.category for row in rows))


def _names(workspace: Workspace, items: Iterable[int | None], categories: Iterable[int | None]) -> dict[str, Any]:
    names = workspace.pages.categories
    return {
        "items": {item: _item(workspace, item) for item in items if item is not None},
        "categories": {code: str(names[code]) for code in categories if code is not None},
    }


def _item(workspace: Workspace, item: int) -> dict[str, Any]:
    pages = workspace.pages
    return {
        "id": str(pages.item_ids[item]),
        "title": pages.title(item),
        "poster": workspace.poster(item) is not None,
    }


def score_json(workspace: Workspace, score: VersionScore, settings: Settings) -> dict[str, Any]:
    """A score by these settings, what is lost, and the ideal page with the names of what is on it."""
    cells = score.ideal_cells
    return {
        "score": _number(score.score),
        "status": score.status,
        "value": _number(score.value),
        "ideal": _number(score.ideal),
        "bounded": score.gap > 0,
        "losses": score.losses,
        "ideal_cells": [list(cell) for cell in cells],
        "notices": [*_bound_notices(score.gap, settings), *score.defects],
        "outside": [list(place) for place in score.outside],
        **_names(workspace, (cell.item for cell in cells), (cell.category for cell in cells)),
    }


def _bound_notices(gap: float, settings: Settings) -> list[str]:
    """What it means that the ideal is bounded, where it is, and what to do."""
    if not gap > 0:
        return []
    notice = (
        "The ideal page could not be proven optimal: the score is divided by a proven upper bound, and too low by at "
        f"most {math.ceil(gap * 10_000) / 100:g}%."
    )
    if not can_work_more(settings):
        return [notice]
    return [f"{notice} To prove more, start the studio with --work {10 * max(settings.work, Settings.work):.0f}."]


def _number(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else value
