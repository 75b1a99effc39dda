"""A page as rows of codes, as the packed lines that the kernels read, and rearranged like its ideal."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from carouseval.evaluation.reading.ids import NONE
from carouseval.evaluation.reading.packed_lines import Lines
from carouseval.metrics.grid import Grid


class PageRow(NamedTuple):
    """A carousel: the code of its category, whether it is pinned, and the codes of its items, None for a gap."""

    category: int | None
    pinned: bool
    items: tuple[int | None, ...]


class IdealCell(NamedTuple):
    """A relevant item of the ideal page; row and column from 0."""

    row: int
    col: int
    item: int
    category: int | None


def rows_of_lines(lines: Lines) -> list[PageRow]:
    """The rows of a page, from the top; a row that is skipped is empty. Its first cell names a row's category."""
    place = lines[:, 3].astype(np.int64)
    rows: dict[int, dict[int, int]] = {}
    first: dict[int, tuple[int, bool]] = {}
    order = np.lexsort((place & 0xFFFF, (place >> 16) & 0x7FFF))
    for _, item, category, packed in lines[order].tolist():
        row, col = (packed >> 16 & 0x7FFF) - 1, (packed & 0xFFFF) - 1
        rows.setdefault(row, {})[col] = item
        first.setdefault(row, (category, bool(packed >> 31)))
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


class Fillers(NamedTuple):
    """What may fill the cells of a category's row: items without gain; and how many items the row holds at most."""

    items: Sequence[int]
    capacity: int


def arrange(
    rows: Sequence[PageRow],
    categories: Sequence[int | None],
    cells: Sequence[IdealCell],
    grid: Grid,
    fillers: Callable[[int], Fillers] | None = None,
) -> list[PageRow]:
    """Turn a page into its ideal.

    Parameters
    ----------
    rows : sequence of PageRow
        The page as it is.
    categories : sequence of int or None
        The category of each of its rows, also where only the items tell it.
    cells : sequence of IdealCell
        Where the ideal page has relevant items.
    grid : Grid
        The screen.
    fillers : callable, optional
        What may fill the row of a category; by default only what is on the page.

    Returns
    -------
    list of PageRow
        Rows of the ideal where it has them. Other rows of the page fill what is left, in their order, and pinned ones
        stay; those that find no place are left out.
    """
    ideal: dict[int, dict[int, int]] = {}
    labels: dict[int, int | None] = {}
    for cell in cells:
        ideal.setdefault(cell.row, {})[cell.col] = cell.item
        labels[cell.row] = cell.category
    sources: dict[int, int] = {}
    for row in ideal:
        taken = set(sources.values())
        origin = _source(row, labels[row], set(ideal[row].values()), rows, categories, taken)
        if origin is not None:
            sources[row] = origin
    height = min(grid.rows, max([len(rows), *(row + 1 for row in ideal)]))
    _place_others(sources, ideal, rows, height)
    used = {item for items in ideal.values() for item in items.values()}
    length = max((len(row.items) for row in rows), default=0)
    arranged = []
    for row in range(height):
        source = rows[sources[row]] if row in sources else PageRow(labels.get(row), False, ())
        arranged.append(_filled(source, labels.get(row), ideal.get(row, {}), used, length, fillers))
    while arranged and not any(item is not None for item in arranged[-1].items):
        arranged.pop()
    return arranged


def _source(
    row: int,
    label: int | None,
    items: set[int],
    rows: Sequence[PageRow],
    categories: Sequence[int | None],
    taken: set[int],
) -> int | None:
    """The row of the page that an ideal row is made of: of the same category, else one that shows all its items."""
    free = [index for index in range(len(rows)) if index not in taken and (not rows[index].pinned or index == row)]
    same = [index for index in free if label is not None and categories[index] == label]
    showing = [index for index in free if items <= set(rows[index].items)]
    both = [index for index in same if index in showing]
    candidates = both or same or (showing if label is None else [])
    return candidates[0] if candidates else None


def _place_others(
    sources: dict[int, int], ideal: dict[int, dict[int, int]], rows: Sequence[PageRow], height: int
) -> None:
    """Give the rows of the page that the ideal does not use the rows that are left."""
    unused = [index for index in range(len(rows)) if index not in sources.values() and rows[index].items]
    for index in [index for index in unused if rows[index].pinned and index not in ideal]:
        sources[index] = index
        unused.remove(index)
    free = (row for row in range(height) if row not in ideal and row not in sources)
    for row, index in zip(free, [index for index in unused if not rows[index].pinned], strict=False):
        sources[row] = index


def _filled(
    source: PageRow,
    label: int | None,
    relevant: dict[int, int],
    used: set[int],
    length: int,
    fillers: Callable[[int], Fillers] | None,
) -> PageRow:
    """A row with its relevant items in place, and in the other cells what the ideal page does not use.

    A carousel that the page did not show becomes as long as the page's longest, if there is enough to show.
    """
    kept = [item for item in source.items if item is not None and item not in used]
    length = max([len(source.items) or length, *(col + 1 for col in relevant)])
    gaps = max(relevant, default=-1) + 1 - len(relevant)
    if label is not None and fillers is not None and (len(kept) < gaps or not source.items):
        more, capacity = fillers(label)
        room = gaps if source.items else min(length, capacity) - len(relevant)
        kept += [item for item in more if item not in used and item not in kept][: max(gaps, room) - len(kept)]
    if not relevant and not kept:
        return source  # repeats of relevant items, which count elsewhere: an empty row would be a defect
    rest = iter(kept)
    row = [relevant[col] if col in relevant else next(rest, None) for col in range(length)]
    while row[-1] is None:
        row.pop()
    return PageRow(source.category if source.items else label, source.pinned, tuple(row))
