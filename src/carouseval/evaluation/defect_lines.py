"""Defects of pages in words, with the first line that has each."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from carouseval.errors import DataError
from carouseval.evaluation import page_defects as kinds
from carouseval.evaluation.joined_categories import joined_categories
from carouseval.evaluation.page_defects import PageDefect
from carouseval.evaluation.reading.ids import NONE
from carouseval.evaluation.reading.inputs import Inputs
from carouseval.evaluation.reading.page_batch import PageBatch
from carouseval.metrics.grid import Grid, grid_text, resized
from carouseval.table_columns import Defect
from carouseval.tables import RECORD

_MOST_PAGES = 2_000  # that examples are looked for on
_MOST_NAMES = 5  # of categories, in a message

Line = dict[str, Any]
Examples = Iterator[tuple[int, str]]  # record, and what it holds


def refuse_defects(pages: PageBatch, inputs: Inputs, later: Iterable[PageBatch] = ()) -> None:
    """Raise the first defect that the settings refuse, if these pages have any; those of later batches count as well.

    So the message does not depend on how pages are split.
    """
    if not any(len(marked) for _, marked in kinds.refused(pages, inputs.plan)):
        return
    of_batches: defaultdict[PageDefect, list[NDArray[np.int64]]] = defaultdict(list)
    for batch in chain([pages], later):
        for defect, marked in kinds.refused(batch, inputs.plan):
            of_batches[defect].append(marked)
    all_marked = ((defect, np.sort(np.concatenate(parts))) for defect, parts in of_batches.items())
    defect, marked = next((defect, marked) for defect, marked in all_marked if len(marked))
    raise PageDefectError(find_defect(defect, marked, inputs))


class PageDefectError(DataError):
    """A defect of pages that the settings refuse."""

    def __init__(self, found: "FoundDefect") -> None:
        super().__init__(str(found.defect()))
        self.found = found


@dataclass(frozen=True)
class FoundDefect:
    """A defect of pages: how often it was found, where first, and what to do about it."""

    kind: PageDefect
    column: str  # by the user's name
    count: int
    all_pages: bool  # False: there are more pages with it than were looked at
    first: tuple[Any, str]  # where it comes in the order of lines, and what it holds
    where: str  # the line of that record
    remedy: "str | LargerGrids"

    def __add__(self, other: "FoundDefect") -> "FoundDefect":
        first = min(self, other, key=lambda found: found.first)
        remedy = first.remedy
        if isinstance(self.remedy, LargerGrids) and isinstance(other.remedy, LargerGrids):
            remedy = self.remedy + other.remedy
        all_pages = self.all_pages and other.all_pages
        return replace(first, count=self.count + other.count, all_pages=all_pages, remedy=remedy)

    def defect(self) -> Defect:
        """The same in words."""
        number = f"{self.count:,}" if self.all_pages else f"at least {self.count:,}"
        what = self.kind.one if self.count == 1 else self.kind.several
        message = f"layouts: {number} {what}, first {self.first[1]}{self.where}. {self.remedy}"
        severity = "warning" if self.kind.severity == "warning" else "error"
        return Defect("layouts", self.column, self.count, message, severity)


@dataclass(frozen=True, eq=False)
class LargerGrids:
    """What to do about cells outside the grid: the grids that would hold all pages."""

    grids: tuple[Grid, ...]
    needed: NDArray[np.int32]  # rows and columns of each
    values: tuple[Any, ...] | None  # of the segment that has each; None: there is one grid for all

    def __add__(self, other: "LargerGrids") -> "LargerGrids":
        return replace(self, needed=np.maximum(self.needed, other.needed))

    def __str__(self) -> str:
        grids = [grid_text(resized(grid, *size)) for grid, size in zip(self.grids, self.needed.tolist(), strict=True)]
        if self.values is None:
            text = grids[0]
        elif all(grid.shape == tuple(size) for grid, size in zip(self.grids[:-1], self.needed.tolist(), strict=False)):
            return kinds.OUTSIDE_GRID.remedy  # only pages whose segment is unknown
        else:
            text = f"{{{', '.join(f'{value!r}: {grid}' for value, grid in zip(self.values, grids, strict=False))}}}"
        return f"Use grid={text}, or drop these cells."


def describe_defects(kind: PageDefect, pages: NDArray[np.int64], inputs: Inputs) -> Defect:
    """The defect of these pages in words, with the first line that has it."""
    return find_defect(kind, pages, inputs).defect()


def find_defect(kind: PageDefect, pages: NDArray[np.int64], inputs: Inputs) -> FoundDefect:
    """Find the lines that have a defect, on pages that the kernel marked."""
    table = inputs.tables["layouts"]
    find = _FINDERS[kind.bit]
    marked = [_Page.of(page, lines, kind, inputs) for page, lines in _lines_of(inputs, pages)]
    examples = [example for page in marked for example in find(page)]
    if table.part:  # lines have no order of their own
        places = {line[RECORD]: _place(line, inputs) for page in marked for line in page.lines}
        first: tuple[Any, str] = min((places[record], text) for record, text in examples)
    else:
        first = min(examples)
    return FoundDefect(
        kind=kind,
        column=table.names.get(kind.column, kind.column),
        count=len(examples),
        all_pages=len(pages) <= _MOST_PAGES,
        first=first,
        where=table.in_brackets(first[0]),
        remedy=_remedy(kind, marked, inputs),
    )


def _place(line: Line, inputs: Inputs) -> tuple[Any, ...]:
    return tuple(line[key] for key in (*_page_keys(inputs), "row", "col"))


def _larger_grid(inputs: Inputs) -> "LargerGrids":
    """The grid, or the grids by segment, that would hold all pages."""
    plan, table, largest = inputs.plan, inputs.tables["layouts"], pl.max("row", "col")
    if plan.grid_values is None:
        (sizes,) = table.query(lambda frame: frame.select(largest))
        index = np.zeros(1, np.uint8)
    else:
        (sizes,) = table.query(lambda frame: frame.group_by(_page_keys(inputs)).agg(largest))
        index = inputs.layouts.grid[_page_codes(inputs, sizes)]
    needed = plan.shapes.copy()
    np.maximum.at(needed, index, sizes.select("row", "col").to_numpy())
    return LargerGrids(plan.grids, needed, plan.grid_values)


def _page_keys(inputs: Inputs) -> list[str]:
    return ["user_id", *(["page_id"] if inputs.layouts.page_ids is not None else [])]


def _remedy(defect: PageDefect, pages: Iterable["_Page"], inputs: Inputs) -> str | LargerGrids:
    """What to do, by what the pages look like."""
    if defect is kinds.OUTSIDE_GRID:
        return _larger_grid(inputs)
    if defect is kinds.REPEATED_CELL and inputs.layouts.page_ids is None:
        for page in pages:
            if page.is_several:
                return f"User {page.lines[0]['user_id']!r} seems to have several pages: add a column page_id."
    if defect is kinds.OUTSIDE_CATEGORY and (joined := joined_categories(inputs)):
        return f"{defect.remedy} {joined}"
    if defect is kinds.OUTSIDE_CATEGORY and (closed := _closed_category(pages)):
        user, label = closed
        return (
            f"In carousels {label!r} is for other users only: add a line for {user!r}, or one with user_id null for "
            "everyone; or use invalid='count'."
        )
    if defect is kinds.OUTSIDE_CATEGORY and (unlisted := _unlisted_categories(pages, inputs)):
        listed = ", ".join(map(repr, unlisted[:_MOST_NAMES])) + (", ..." if len(unlisted) > _MOST_NAMES else "")
        these, their, them = (
            ("this category", "its", "it") if len(unlisted) == 1 else ("these categories", "their", "them")
        )
        advice = (
            f"Add {their} items, declare {them} personal in carousels, or leave out items to take categories from "
            "layouts; or use invalid='count'."
        )
        return f"Items does not list {these}: {listed}. {advice if inputs.from_layouts else defect.remedy}"
    return defect.remedy


def _closed_category(pages: Iterable["_Page"]) -> tuple[Any, Any] | None:
    """The first user who is shown a category that only other users have, and the category."""
    for page in pages:
        for row, code in page.row_categories().items() if page.inputs.layouts.labelled else ():
            if not page.inputs.judged.carousels.is_open(page.user, code):
                return page.lines[0]["user_id"], page.labels[row]
    return None


def _unlisted_categories(pages: Iterable["_Page"], inputs: Inputs) -> list[Any]:
    """The categories of rows for which a given items table has no line."""
    membership = inputs.judged.membership
    if membership is None or membership.source != "items" or not inputs.layouts.labelled:
        return []
    labels = pl.Series(sorted({label for page in pages for label in page.labels.values()}))
    own = np.unique(membership.arrays.own & np.uint64(0xFFFFFFFF))
    codes = inputs.codebook.categories.add(labels)
    sizes = np.append(membership.sizes, 0)[np.minimum(codes, len(membership.sizes))]
    return labels.filter(pl.Series((sizes == 0) & ~np.isin(codes, own))).to_list()


def _lines_of(inputs: Inputs, pages: NDArray[np.int64]) -> Iterator[tuple[int, list[Line]]]:
    """The lines of the marked pages that come first in the table."""
    table, layouts = inputs.tables["layouts"], inputs.layouts
    users = inputs.codebook.users.values().gather(np.unique(layouts.user[pages]))
    keys = _page_keys(inputs)
    of_users = pl.col("user_id").is_in(users.implode())
    (firsts,) = table.query(lambda frame: frame.filter(of_users).group_by(keys).agg(pl.col(RECORD).min()).sort(RECORD))
    marked = set(pages.tolist())
    codes = _page_codes(inputs, firsts)
    chosen = firsts.filter(pl.Series([code in marked for code in codes])).head(_MOST_PAGES)
    pages_chosen = chosen.lazy().select(keys)
    (lines,) = table.query(lambda frame: frame.filter(of_users).join(pages_chosen, on=keys, how="semi").sort(RECORD))
    grouped: dict[int, list[Line]] = defaultdict(list)
    for code, line in zip(_page_codes(inputs, lines), lines.iter_rows(named=True), strict=True):
        grouped[code].append(line)
    yield from grouped.items()


def _page_codes(inputs: Inputs, lines: pl.DataFrame) -> list[int]:
    user, page_ids = inputs.codebook.users.add(lines["user_id"]), inputs.layouts.page_ids
    codes = user if page_ids is None else page_ids.add(user, lines["page_id"])
    return [int(code) for code in codes]


@dataclass(frozen=True)
class _Page:
    """A marked page and its lines."""

    code: int
    lines: list[Line]
    grid: Grid
    inputs: Inputs

    @classmethod
    def of(cls, code: int, lines: list[Line], defect: PageDefect, inputs: Inputs) -> "_Page":
        """With the lines that the kernel reads: inside the grid, the last of each cell."""
        grid = inputs.plan.grids[inputs.layouts.grid[code]]
        if defect not in (kinds.REPEATED_CELL, kinds.OUTSIDE_GRID):
            inside = [line for line in lines if line["row"] <= grid.rows and line["col"] <= grid.cols]
            last = {(line["row"], line["col"]): line for line in inside}
            lines = sorted(last.values(), key=lambda line: int(line[RECORD]))
        return cls(code, lines, grid, inputs)

    def at(self, line: Line, *columns: str) -> str:
        """A line's ids and the values of some of its columns."""
        table = self.inputs.tables["layouts"]
        keys = [*_page_keys(self.inputs), *columns]
        return " ".join(f"{table.names.get(key, key)}={line[key]!r}" for key in keys)

    @property
    def labels(self) -> dict[int, Any]:
        """The category of each row's leftmost cell."""
        leftmost: dict[int, Line] = {}
        for line in self.lines:
            if line["row"] not in leftmost or line["col"] < leftmost[line["row"]]["col"]:
                leftmost[line["row"]] = line
        return {row: line.get("category") for row, line in leftmost.items()}

    @property
    def user(self) -> int:
        return int(self.inputs.layouts.user[self.code])

    def capacity(self, category: int) -> int:
        """What is declared of a category, for the page's user."""
        return self.inputs.judged.carousels.declared_capacity(self.user, category)

    def row_categories(self) -> dict[int, int]:
        """The code of each row's category, by its label or by what its items share."""
        rows: dict[int, set[int]] = {}
        for line in self.lines:
            of_item = self.categories(line["item_id"])
            rows[line["row"]] = rows.get(line["row"], of_item) & of_item
        if self.inputs.layouts.labelled:
            labels = pl.Series(list(self.labels.values()))
            return dict(zip(self.labels, self.inputs.codebook.categories.add(labels).tolist(), strict=True))
        return {row: min(shared) for row, shared in rows.items() if len(shared) == 1}

    @property
    def is_several(self) -> bool:
        """Whether at least half of the cells, and more than one, hold several items, as if pages were mixed."""
        items = defaultdict(set)
        for line in self.lines:
            items[line["row"], line["col"]].add(line["item_id"])
        several = sum(len(own) > 1 for own in items.values())
        return several > 1 and 2 * several >= len(items)

    def categories(self, item: Any) -> set[int]:
        """The codes of an item's categories, for the page's user."""
        membership, codebook = self.inputs.judged.membership, self.inputs.codebook
        if membership is None:
            return {NONE}
        offsets, categories, own_offsets, own = membership.arrays
        code, user = int(codebook.items.add(pl.Series([item]))[0]), self.user
        known = set(categories[offsets[code] : offsets[code + 1]].tolist()) if code + 1 < len(offsets) else set()
        if user + 1 < len(own_offsets):
            keys = own[own_offsets[user] : own_offsets[user + 1]].tolist()
            known |= {key & 0xFFFFFFFF for key in keys if key >> 32 == code}
        return {category for category in known if self.inputs.judged.carousels.is_open(user, category)}


def _repeated_item(page: _Page) -> Examples:
    seen = set()
    for line in sorted(page.lines, key=lambda line: (line["row"], line["col"])):
        if line["item_id"] in seen:
            yield line[RECORD], page.at(line, "row", "col", "item_id")
        seen.add(line["item_id"])


def _unjudged(page: _Page) -> Examples:
    judgments, judgment_set = page.inputs.judged.judgments, int(page.inputs.layouts.judgment_set[page.code])
    begin, end = judgments.offsets[judgment_set : judgment_set + 2] if judgment_set < len(judgments) else (0, 0)
    judged = set(judgments.item[begin:end].tolist())
    codes = page.inputs.codebook.items.add(pl.Series([line["item_id"] for line in page.lines])).tolist()
    for line, code in zip(page.lines, codes, strict=True):
        if code not in judged:
            yield line[RECORD], page.at(line, "row", "col", "item_id")


def _first_of_rows(lines: Iterable[Line]) -> Iterator[Line]:
    """The first of these lines in each row."""
    seen: set[int] = set()
    for line in lines:
        if line["row"] not in seen:
            seen.add(line["row"])
            yield line


def _repeated_cell(page: _Page) -> Examples:
    seen = set()
    for line in page.lines:
        cell = line["row"], line["col"]
        if cell in seen:
            yield line[RECORD], page.at(line, "row", "col")
        seen.add(cell)


def _outside_grid(page: _Page) -> Examples:
    for line in page.lines:
        if line["row"] > page.grid.rows or line["col"] > page.grid.cols:
            yield line[RECORD], f"{page.at(line, 'row', 'col')} on a grid of {page.grid}"


def _gap(page: _Page) -> Examples:
    cells = {(line["row"], line["col"]) for line in page.lines}
    after_gap = (line for line in page.lines if line["col"] > 1 and (line["row"], line["col"] - 1) not in cells)
    for line in _first_of_rows(after_gap):
        yield line[RECORD], f"{page.at(line, 'row', 'col')}, with an empty cell before it"


def _skipped_row(page: _Page) -> Examples:
    rows = {line["row"] for line in page.lines}
    for line in _first_of_rows(page.lines):
        if line["row"] > 1 and line["row"] - 1 not in rows:
            yield line[RECORD], f"{page.at(line, 'row')}, with no row {line['row'] - 1}"


def _partly_pinned(page: _Page) -> Examples:
    pinned: dict[int, bool] = {}
    odd = (line for line in page.lines if pinned.setdefault(line["row"], line["pinned"]) != line["pinned"])
    for line in _first_of_rows(odd):
        yield line[RECORD], page.at(line, "row", "pinned")


def _pinned_unknown(page: _Page) -> Examples:
    for line in _first_of_rows(line for line in page.lines if line["pinned"]):
        yield line[RECORD], page.at(line, "row")


def _repeated_category(page: _Page) -> Examples:
    if not page.inputs.layouts.labelled:
        first = page.lines[0]
        yield first[RECORD], f"{page.at(first)}, where two rows can only belong to the same category"
        return
    labels = page.labels
    for line in _first_of_rows(page.lines):
        above = [row for row, label in labels.items() if label == labels[line["row"]] and row < line["row"]]
        if above:
            yield line[RECORD], f"{page.at(line, 'row', 'category')}, also on row {min(above)}"


def _outside_category(page: _Page) -> Examples:
    if not page.inputs.layouts.labelled:
        for row in sorted({line["row"] for line in page.lines}):
            in_row = [line for line in page.lines if line["row"] == row]
            if not set.intersection(*(page.categories(line["item_id"]) for line in in_row)):
                yield in_row[0][RECORD], f"{page.at(in_row[0], 'row')}, whose items share no category"
        return
    labels = page.labels
    for line in page.lines:
        label = labels[line["row"]]
        if line["category"] != label:
            yield line[RECORD], f"{page.at(line, 'row', 'col', 'category')} in a row of category {label!r}"
        else:
            code = int(page.inputs.codebook.categories.add(pl.Series([label]))[0])
            known = page.categories(line["item_id"])
            if code not in known and (known != {NONE} or not page.inputs.judged.carousels.is_open(page.user, code)):
                yield line[RECORD], page.at(line, "row", "col", "item_id", "category")


def _over_capacity(page: _Page) -> Examples:
    length: dict[int, int] = {}
    for line in page.lines:
        length[line["row"]] = max(length.get(line["row"], 0), line["col"])
    categories = page.row_categories()
    for line in _first_of_rows(page.lines):
        room = page.capacity(categories.get(line["row"], NONE))
        if length[line["row"]] > room:
            label = page.inputs.codebook.categories.values()[categories[line["row"]]]
            yield line[RECORD], f"{page.at(line, 'row')}, where {label!r} has {length[line['row']]} and holds {room}"


_FINDERS: dict[int, Callable[[_Page], Examples]] = {
    kinds.REPEATED_CELL.bit: _repeated_cell,
    kinds.OUTSIDE_GRID.bit: _outside_grid,
    kinds.GAP.bit: _gap,
    kinds.SKIPPED_ROW.bit: _skipped_row,
    kinds.REPEATED_CATEGORY.bit: _repeated_category,
    kinds.OUTSIDE_CATEGORY.bit: _outside_category,
    kinds.OVER_CAPACITY.bit: _over_capacity,
    kinds.PARTLY_PINNED.bit: _partly_pinned,
    kinds.REPEATED_ITEM.bit: _repeated_item,
    kinds.UNJUDGED.bit: _unjudged,
    kinds.PINNED_UNKNOWN.bit: _pinned_unknown,
}
