"""The lines that have a defect, each with what it holds."""

from collections.abc import Callable, Iterable, Iterator

import polars as pl

from carouseval.evaluation.defects import page_defects as kinds
from carouseval.evaluation.defects.marked_pages import Line, MarkedPage
from carouseval.evaluation.reading.ids import NONE
from carouseval.tables.table import RECORD

Examples = Iterator[tuple[int, str]]  # record, and what it holds


def _repeated_item(page: MarkedPage) -> Examples:
    seen = set()
    for line in sorted(page.lines, key=lambda line: (line["row"], line["col"])):
        if line["item_id"] in seen:
            yield line[RECORD], page.at(line, "row", "col", "item_id")
        seen.add(line["item_id"])


def _unjudged(page: MarkedPage) -> Examples:
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


def _repeated_cell(page: MarkedPage) -> Examples:
    seen = set()
    for line in page.lines:
        cell = line["row"], line["col"]
        if cell in seen:
            yield line[RECORD], page.at(line, "row", "col")
        seen.add(cell)


def _outside_grid(page: MarkedPage) -> Examples:
    for line in page.lines:
        if line["row"] > page.grid.rows or line["col"] > page.grid.cols:
            yield line[RECORD], f"{page.at(line, 'row', 'col')} on a grid of {page.grid}"


def _gap(page: MarkedPage) -> Examples:
    cells = {(line["row"], line["col"]) for line in page.lines}
    after_gap = (line for line in page.lines if line["col"] > 1 and (line["row"], line["col"] - 1) not in cells)
    for line in _first_of_rows(after_gap):
        yield line[RECORD], f"{page.at(line, 'row', 'col')}, with an empty cell before it"


def _skipped_row(page: MarkedPage) -> Examples:
    rows = {line["row"] for line in page.lines}
    for line in _first_of_rows(page.lines):
        if line["row"] > 1 and line["row"] - 1 not in rows:
            yield line[RECORD], f"{page.at(line, 'row')}, with no row {line['row'] - 1}"


def _partly_pinned(page: MarkedPage) -> Examples:
    pinned: dict[int, bool] = {}
    odd = (line for line in page.lines if pinned.setdefault(line["row"], line["pinned"]) != line["pinned"])
    for line in _first_of_rows(odd):
        yield line[RECORD], page.at(line, "row", "pinned")


def _pinned_unknown(page: MarkedPage) -> Examples:
    for line in _first_of_rows(line for line in page.lines if line["pinned"]):
        yield line[RECORD], page.at(line, "row")


def _repeated_category(page: MarkedPage) -> Examples:
    if not page.inputs.layouts.labelled:
        first = page.lines[0]
        yield first[RECORD], f"{page.at(first)}, where two rows can only belong to the same category"
        return
    labels = page.labels
    for line in _first_of_rows(page.lines):
        above = [row for row, label in labels.items() if label == labels[line["row"]] and row < line["row"]]
        if above:
            yield line[RECORD], f"{page.at(line, 'row', 'category')}, also on row {min(above)}"


def _outside_category(page: MarkedPage) -> Examples:
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


def _over_capacity(page: MarkedPage) -> Examples:
    length: dict[int, int] = {}
    for line in page.lines:
        length[line["row"]] = max(length.get(line["row"], 0), line["col"])
    categories = page.row_categories()
    for line in _first_of_rows(page.lines):
        room = page.capacity(categories.get(line["row"], NONE))
        if length[line["row"]] > room:
            label = page.inputs.codebook.categories.values()[categories[line["row"]]]
            yield line[RECORD], f"{page.at(line, 'row')}, where {label!r} has {length[line['row']]} and holds {room}"


FINDERS: dict[int, Callable[[MarkedPage], Examples]] = {
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
