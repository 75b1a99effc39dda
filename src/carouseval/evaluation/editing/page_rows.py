"""A page as rows of codes, and as the packed lines that the kernels read."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from carouseval.evaluation.reading.ids import NONE
from carouseval.evaluation.reading.packed_lines import Lines


class PageRow(NamedTuple):
    """A carousel: the code of its category, whether it is pinned, and the codes of its items, None for a gap."""

    category: int | None
    pinned: bool
    items: tuple[int | None, ...]


def rows_of_lines(lines: Lines) -> list[PageRow]:
    """The rows of a page, from the top; a row that is skipped is empty. Its first cell names a row's category."""
    place = lines[:, 3].astype(np.int64)
    rows: dict[int, dict[int, int]] = {}
    first: dict[int, tuple[int, bool]] = {}
    order = np.lexsort((place & 0xFFFF, (place >> 16) & 0x7FFF))
    for _, item, category, at in lines[order].tolist():
        row, col = (at >> 16 & 0x7FFF) - 1, (at & 0xFFFF) - 1
        rows.setdefault(row, {})[col] = item
        first.setdefault(row, (category, bool(at >> 31)))
    return [_row(rows[row], *first[row]) if row in rows else PageRow(None, False, ()) for row in range(max(rows) + 1)]


def _row(items: dict[int, int], category: int, pinned: bool) -> PageRow:
    cells = tuple(items.get(col) for col in range(max(items) + 1))
    return PageRow(None if category == NONE else category, pinned, cells)


def lines_of_rows(rows: Sequence[PageRow]) -> Lines:
    """The lines of a page, whose code is 0."""
    lines = [
        (0, item, NONE if row.category is None else row.category, row.pinned << 31 | number << 16 | col)
        for number, row in enumerate(rows, 1)
        for col, item in enumerate(row.items, 1)
        if item is not None
    ]
    return np.array(lines, np.uint32).reshape(-1, 4)
