"""What can be wrong with a page: the kernel marks the pages, this finds the first line and says it in words."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from carouseval.evaluation.ids import NONE
from carouseval.evaluation.layouts import Layouts
from carouseval.evaluation.membership import Membership
from carouseval.metrics.grid import Grid
from carouseval.table_columns import Defect
from carouseval.tables import RECORD

_MOST_LOOKED_AT = 2_000  # pages, the first of those marked

Line = dict[str, Any]
Found = Iterator[tuple[int, str]]  # record and what stands there


@dataclass(frozen=True)
class Flaw:
    """One thing that a page can have wrong; ``bit`` as in native/shown.h."""

    bit: int
    column: str
    one: str
    several: str
    remedy: str
    severity: str  # "error"; "invalid": as the policy says; "warning": scored and counted


_OR_COUNT = "or use invalid='count'."
CELL_TWICE = Flaw(
    1, "col", "cell appears twice", "cells appear twice", "Each cell holds one item; drop the repeats.", "error"
)
OUTSIDE_GRID = Flaw(
    2,
    "row",
    "cell lies outside the grid",
    "cells lie outside the grid",
    "Give a larger grid, or drop what nobody can see.",
    "error",
)
GAP = Flaw(4, "col", "row has a gap", "rows have gaps", "A gap is scored as an item that gains nothing.", "warning")
SKIPPED_ROW = Flaw(
    8, "row", "row is skipped", "rows are skipped", f"Number rows 1, 2, 3 as they are shown, {_OR_COUNT}", "invalid"
)
REPEATED = Flaw(
    16,
    "category",
    "row repeats a category of its page",
    "rows repeat a category of their page",
    f"Give each carousel its own category, {_OR_COUNT}",
    "invalid",
)
OUTSIDE = Flaw(
    32,
    "category",
    "item stands outside its row's category",
    "items stand outside their row's category",
    f"Add the category to items, correct the row, {_OR_COUNT}",
    "invalid",
)
PINNED_IN_PART = Flaw(
    64,
    "pinned",
    "row is pinned in part",
    "rows are pinned in part",
    "All lines of a row agree whether it is pinned.",
    "error",
)
TWICE_ON_PAGE = Flaw(
    -1,
    "item_id",
    "item is shown again on its page",
    "items are shown again on their page",
    "Drop the repeats, or use duplicates='best'.",
    "error",
)
UNJUDGED = Flaw(
    -2,
    "item_id",
    "item is shown without a judgment",
    "items are shown without a judgment",
    "Judge it, or use unjudged='zero'.",
    "error",
)
PINNED_UNKNOWN = Flaw(
    -3,
    "pinned",
    "pinned row has no known category",
    "pinned rows have no known category",
    "Add a column category to layouts, or use candidates='displayed'.",
    "error",
)
FLAWS = (CELL_TWICE, OUTSIDE_GRID, PINNED_IN_PART, SKIPPED_ROW, REPEATED, OUTSIDE, GAP)
INVALID = sum(flaw.bit for flaw in FLAWS if flaw.severity == "invalid")


def describe(
    flaw: Flaw, layouts: Layouts, pages: NDArray[np.int64], membership: Membership | None, grids: Callable[[int], Grid]
) -> Defect:
    """The flaw of these pages in words, with the first line where it shows."""
    table = layouts.table
    find = _FINDERS[flaw.bit]
    examples = [
        found
        for page, lines in _lines_of(layouts, pages)
        for found in find(_kept(lines, flaw, grids(page)), page, layouts, membership, grids(page))
    ]
    record, text = min(examples)
    number = f"{len(examples):,}" if len(pages) <= _MOST_LOOKED_AT else f"at least {len(examples):,}"
    message = (
        f"layouts: {number} {flaw.one if len(examples) == 1 else flaw.several}, first {text} ({table.where(record)}). "
        f"{flaw.remedy}"
    )
    column = table.names.get(flaw.column, flaw.column)
    return Defect("layouts", column, len(examples), message, "warning" if flaw.severity == "warning" else "error")


def _lines_of(layouts: Layouts, pages: NDArray[np.int64]) -> Iterator[tuple[int, list[Line]]]:
    """The lines of the marked pages that come first in the table."""
    table, truth = layouts.table, layouts.truth
    users = truth.users.values().gather(np.unique(layouts.user()[pages]))
    keys = ["user_id", *(["page_id"] if layouts.pages is not None else [])]
    mine = table.frame(with_record=True).filter(pl.col("user_id").is_in(users.implode()))
    with table.readable():
        firsts = mine.group_by(keys).agg(pl.col(RECORD).min()).sort(RECORD).collect(engine="streaming")
    marked = set(pages.tolist())
    codes = _page_codes(layouts, firsts)
    chosen = firsts.filter(pl.Series([code in marked for code in codes])).head(_MOST_LOOKED_AT)
    with table.readable():
        lines = mine.join(chosen.lazy().select(keys), on=keys, how="semi").sort(RECORD).collect(engine="streaming")
    grouped: dict[int, list[Line]] = defaultdict(list)
    for code, line in zip(_page_codes(layouts, lines), lines.iter_rows(named=True), strict=True):
        grouped[code].append(line)
    yield from grouped.items()


def _page_codes(layouts: Layouts, lines: pl.DataFrame) -> list[int]:
    user = layouts.truth.users.add(lines["user_id"])
    if layouts.pages is None or layouts.page_ids is None:
        return [int(code) for code in user]
    return [int(code) for code in layouts.pages.add(user, layouts.page_ids.add(lines["page_id"]))]


def _kept(lines: list[Line], flaw: Flaw, grid: Grid) -> list[Line]:
    """The lines that stand on the page as the kernel reads it: inside the grid, the last of each cell."""
    if flaw in (CELL_TWICE, OUTSIDE_GRID):
        return lines
    inside = [line for line in lines if line["row"] <= grid.rows and line["col"] <= grid.cols]
    last = {(line["row"], line["col"]): line for line in inside}
    return sorted(last.values(), key=lambda line: int(line[RECORD]))


def _twice_on_page(lines: list[Line], _: int, layouts: Layouts, __: Membership | None, ___: Grid) -> Found:
    seen = set()
    for line in sorted(lines, key=lambda line: (line["row"], line["col"])):
        if line["item_id"] in seen:
            yield line[RECORD], _who(layouts, line, "row", "col", "item_id")
        seen.add(line["item_id"])


def _unjudged(lines: list[Line], page: int, layouts: Layouts, __: Membership | None, ___: Grid) -> Found:
    truth, at = layouts.truth, int(layouts.truths()[page])
    begin, end = (truth.offsets[at], truth.offsets[at + 1]) if at < len(truth) else (0, 0)
    judged = set(truth.item[begin:end].tolist())
    codes = truth.items.add(pl.Series([line["item_id"] for line in lines])).tolist()
    for line, code in zip(lines, codes, strict=True):
        if code not in judged:
            yield line[RECORD], _who(layouts, line, "row", "col", "item_id")


def _who(layouts: Layouts, line: Line, *columns: str) -> str:
    keys = ["user_id", *(["page_id"] if layouts.pages is not None else []), *columns]
    return " ".join(f"{layouts.table.names.get(key, key)}={line[key]!r}" for key in keys)


def _first_of_rows(lines: Iterable[Line]) -> Iterator[Line]:
    """The first of these lines in each row."""
    seen: set[int] = set()
    for line in lines:
        if line["row"] not in seen:
            seen.add(line["row"])
            yield line


def _cell_twice(lines: list[Line], _: int, layouts: Layouts, __: Membership | None, ___: Grid) -> Found:
    seen = set()
    for line in lines:
        cell = line["row"], line["col"]
        if cell in seen:
            yield line[RECORD], _who(layouts, line, "row", "col")
        seen.add(cell)


def _outside_grid(lines: list[Line], _: int, layouts: Layouts, __: Membership | None, grid: Grid) -> Found:
    for line in lines:
        if line["row"] > grid.rows or line["col"] > grid.cols:
            yield line[RECORD], f"{_who(layouts, line, 'row', 'col')} on a grid of {grid}"


def _gap(lines: list[Line], _: int, layouts: Layouts, __: Membership | None, ___: Grid) -> Found:
    cells = {(line["row"], line["col"]) for line in lines}
    for line in _first_of_rows(
        line for line in lines if line["col"] > 1 and (line["row"], line["col"] - 1) not in cells
    ):
        yield line[RECORD], f"{_who(layouts, line, 'row', 'col')}, with nothing before it"


def _skipped_row(lines: list[Line], _: int, layouts: Layouts, __: Membership | None, ___: Grid) -> Found:
    rows = {line["row"] for line in lines}
    for line in _first_of_rows(lines):
        if line["row"] > 1 and line["row"] - 1 not in rows:
            yield line[RECORD], f"{_who(layouts, line, 'row')}, with no row {line['row'] - 1}"


def _pinned_in_part(lines: list[Line], _: int, layouts: Layouts, __: Membership | None, ___: Grid) -> Found:
    pinned: dict[int, bool] = {}
    for line in _first_of_rows(
        line for line in lines if pinned.setdefault(line["row"], line["pinned"]) != line["pinned"]
    ):
        yield line[RECORD], _who(layouts, line, "row", "pinned")


def _pinned_unknown(lines: list[Line], _: int, layouts: Layouts, __: Membership | None, ___: Grid) -> Found:
    for line in _first_of_rows(line for line in lines if line["pinned"]):
        yield line[RECORD], _who(layouts, line, "row")


def _row_labels(lines: list[Line]) -> dict[int, Any]:
    """The label of each row's leftmost cell."""
    leftmost: dict[int, Line] = {}
    for line in lines:
        if line["row"] not in leftmost or line["col"] < leftmost[line["row"]]["col"]:
            leftmost[line["row"]] = line
    return {row: line.get("category") for row, line in leftmost.items()}


def _repeated(lines: list[Line], _: int, layouts: Layouts, __: Membership | None, ___: Grid) -> Found:
    if not layouts.labelled:
        yield lines[0][RECORD], f"{_who(layouts, lines[0])}, where two rows share their only common category"
        return
    labels = _row_labels(lines)
    for line in _first_of_rows(lines):
        others = [row for row, label in labels.items() if label == labels[line["row"]] and row < line["row"]]
        if others:
            yield line[RECORD], f"{_who(layouts, line, 'row', 'category')}, also on row {min(others)}"


def _outside(lines: list[Line], page: int, layouts: Layouts, membership: Membership | None, ___: Grid) -> Found:
    truth = layouts.truth
    if not layouts.labelled:
        for row in sorted({line["row"] for line in lines}):
            mine = [line for line in lines if line["row"] == row]
            sets = [_categories(layouts, membership, page, line["item_id"]) for line in mine]
            if not set.intersection(*sets):
                yield mine[0][RECORD], f"{_who(layouts, mine[0], 'row')}, whose items share no category"
        return
    labels = _row_labels(lines)
    for line in lines:
        label = labels[line["row"]]
        if line["category"] != label:
            yield line[RECORD], f"{_who(layouts, line, 'row', 'col', 'category')} in a row of {label!r}"
        elif membership is not None:
            code = int(truth.categories.add(pl.Series([label]))[0])
            if code not in _categories(layouts, membership, page, line["item_id"]):
                yield line[RECORD], _who(layouts, line, "row", "col", "item_id", "category")


def _categories(layouts: Layouts, membership: Membership | None, page: int, item: Any) -> set[int]:
    if membership is None:
        return {NONE}
    offsets, categories, own_offsets, own = membership.arrays
    code, user = int(layouts.truth.items.add(pl.Series([item]))[0]), int(layouts.user()[page])
    found = set(categories[offsets[code] : offsets[code + 1]].tolist()) if code + 1 < len(offsets) else set()
    if user + 1 < len(own_offsets):
        keys = own[own_offsets[user] : own_offsets[user + 1]].tolist()
        found |= {key & 0xFFFFFFFF for key in keys if key >> 32 == code}
    return found


_FINDERS: dict[int, Callable[..., Found]] = {
    CELL_TWICE.bit: _cell_twice,
    OUTSIDE_GRID.bit: _outside_grid,
    GAP.bit: _gap,
    SKIPPED_ROW.bit: _skipped_row,
    REPEATED.bit: _repeated,
    OUTSIDE.bit: _outside,
    PINNED_IN_PART.bit: _pinned_in_part,
    TWICE_ON_PAGE.bit: _twice_on_page,
    UNJUDGED.bit: _unjudged,
    PINNED_UNKNOWN.bit: _pinned_unknown,
}
