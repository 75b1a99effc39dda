"""Batches of pages in packed form, as the kernel reads them from lines, for metrics, ideals and checks."""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from carouseval import _native
from carouseval.evaluation.plan import ScoringPlan
from carouseval.evaluation.reading.ids import Codes
from carouseval.evaluation.reading.judged_data import JudgedData
from carouseval.evaluation.reading.layouts import Layouts
from carouseval.evaluation.reading.packed_lines import Lines
from carouseval.progress import Progress

_PAGES_AT_ONCE = 10_000  # whose cells are listed
_ROW_BYTES = 32  # to score a row of the grid: 24 measured with displayed candidates, 8 with judged
_LINE_BYTES = 64  # to score a line that is a hit; an estimate from the arrays it is in


class Cells(NamedTuple):
    """Occupied cells of some pages."""

    page: NDArray[np.int64]  # counted in the batch
    row: NDArray[np.int64]  # from 0
    col: NDArray[np.int64]
    item: Codes


@dataclass(frozen=True, eq=False)
class PageBatch:
    """Some pages and their *hits*, the cells with a relevant item."""

    pages: NDArray[np.int64]  # their codes
    judgment_set: Codes
    user: Codes
    grid: NDArray[np.uint8]  # which of the plan's grids each has
    offsets: NDArray[np.int64]  # where each page's hits begin
    hits: NDArray[np.uint32]  # (hits, 3): judgment, row << 16 | col from 1, rank among occupied cells from 0
    length: NDArray[np.uint16]  # (pages, rows): the column of the row's last item
    category: Codes  # (pages, rows), NONE where it is unknown
    pinned: NDArray[np.uint16]  # (pages, rows): how much a pinned row holds, 0 where a row is free
    duplicates: NDArray[np.uint32]
    unjudged: NDArray[np.uint32]
    defects: NDArray[np.uint16]  # bits of _native.Defect
    lines: Lines  # of these pages and perhaps others
    marks: NDArray[np.uint16]  # of lines: the same bits; empty unless they were asked for
    begin: NDArray[np.int64]  # where each page's lines begin and end
    end: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.pages)

    @property
    def hit_page(self) -> NDArray[np.int64]:
        """The page of every hit, counted in this batch."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))

    def hit_cells(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Row and column of every hit, from 0."""
        place = self.hits[:, 1].astype(np.int64)
        return (place >> 16) - 1, (place & 0xFFFF) - 1

    def cells(self) -> Iterator[Cells]:
        """All occupied cells, some pages at a time."""
        counts = self.end - self.begin
        before = np.cumsum(counts) - counts
        for first in range(0, len(self), _PAGES_AT_ONCE):
            some = slice(first, first + _PAGES_AT_ONCE)
            page = np.repeat(np.arange(first, first + len(counts[some])), counts[some])
            index = np.arange(len(page)) + np.repeat(self.begin[some] - (before[some] - before[first]), counts[some])
            place = self.lines[index, 3].astype(np.int64)
            yield Cells(page, ((place >> 16) & 0x7FFF) - 1, (place & 0xFFFF) - 1, self.lines[index, 1])

    def items_in(self, view: NDArray[np.bool_]) -> Codes:
        """The items in the cells of a view on any of the pages, each once."""
        parts = [np.unique(cells.item[view[cells.row, cells.col]]) for cells in self.cells()]
        return np.unique(np.concatenate([np.empty(0, np.uint32), *parts]))

    def own_lines(self, first: int = 0, last: int | None = None) -> Lines:
        """The lines of these pages alone, or of some that stand together."""
        begin, counts = self.begin[first:last], (self.end - self.begin)[first:last]
        index = np.arange(counts.sum()) + np.repeat(begin - (np.cumsum(counts) - counts), counts)
        return np.asarray(self.lines[index])

    def __getstate__(self) -> dict[str, Any]:
        """Copies for another process have only the lines of these pages."""
        counts = self.end - self.begin
        end = np.cumsum(counts)
        return self.__dict__ | {"lines": self.own_lines(), "marks": self.marks[:0], "begin": end - counts, "end": end}

    @property
    def hit_judgment(self) -> NDArray[np.int64]:
        """The judgment of every hit."""
        return self.hits[:, 0].astype(np.int64)

    def on_grid(self, grid: int) -> tuple[NDArray[np.int64], "PageBatch"]:
        """The pages that have one of the plan's grids: their places here, and themselves."""
        chosen = np.flatnonzero(self.grid == grid)
        return chosen, self if len(chosen) == len(self.grid) else self.take(chosen)

    def take(self, chosen: NDArray[np.int64]) -> "PageBatch":
        """Some of these pages, in the order given."""
        counts = np.diff(self.offsets)[chosen]
        offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        index = np.arange(offsets[-1]) + np.repeat(self.offsets[chosen] - offsets[:-1], counts)
        shared: dict[str, Any] = {"lines": self.lines, "marks": self.marks, "offsets": offsets}
        shared["hits"] = np.ascontiguousarray(self.hits[index])
        per_page = [column.name for column in fields(self) if column.name not in shared]
        return PageBatch(**shared, **{name: getattr(self, name)[chosen] for name in per_page})


def page_batches(
    layouts: Layouts, judged: JudgedData, plan: ScoringPlan, progress: Progress | None = None
) -> Iterator[PageBatch]:
    """All pages of layouts, part by part, and as many at a time as the plan has memory for."""
    done, total = 0, int(layouts.present.sum())
    for number, unsorted in enumerate(layouts.lines_by_part()):
        lines, begin, end = _lines_by_page(unsorted, layouts)
        if isinstance(layouts.parts[number], np.ndarray):
            layouts.parts[number] = lines  # the unsorted copy is freed
        del unsorted
        for pages in _pages_at_once(begin, end, plan):
            yield _read(pages, lines, begin, end, layouts, judged, plan)
            done += len(pages)
            if progress is not None:
                progress("scoring", done, total)


def read_batch(
    lines: Lines, layouts: Layouts, judged: JudgedData, plan: ScoringPlan, *, mark_lines: bool = False
) -> PageBatch:
    """The pages of some lines; where lines are to be marked, those of every page should stand together."""
    lines, begin, end = _lines_by_page(lines, layouts)
    return _read(np.flatnonzero(end > begin), lines, begin, end, layouts, judged, plan, mark_lines)


def read_again(pages: NDArray[np.int64], layouts: Layouts, judged: JudgedData, plan: ScoringPlan) -> PageBatch:
    """Some pages that have lines, in the order given."""
    lines_of_pages = [np.empty((0, 4), np.uint32)]
    for pages_of_part, unsorted in layouts.parts_with(pages):
        lines, begin, end = _lines_by_page(unsorted, layouts)
        lines_of_pages += [lines[begin[page] : end[page]] for page in pages_of_part]
    batch = read_batch(np.concatenate(lines_of_pages), layouts, judged, plan)
    return batch.take(np.searchsorted(batch.pages, pages))


def no_pages(layouts: Layouts, judged: JudgedData, plan: ScoringPlan) -> PageBatch:
    """A batch of no pages, for layouts without any."""
    return read_batch(np.empty((0, 4), np.uint32), layouts, judged, plan)


def _lines_by_page(lines: Lines, layouts: Layouts) -> tuple[Lines, NDArray[np.int64], NDArray[np.int64]]:
    """The lines, sorted by page unless those of every page stand together, and where each page's begin and end."""
    pages = len(layouts.user)
    runs = _native.page_runs(lines, pages)
    return _native.sorted_lines(lines, pages) if runs is None else (lines, *runs)


def _pages_at_once(begin: NDArray[np.int64], end: NDArray[np.int64], plan: ScoringPlan) -> Iterator[NDArray[np.int64]]:
    """The pages that have lines, split so that scoring some of them takes no more memory than the plan has for it.

    Pages are arrays of as many rows as the tallest grid has, however few of them have lines.
    """
    pages = np.flatnonzero(end > begin)
    needed = int(plan.shapes[:, 0].max()) * _ROW_BYTES + (end - begin)[pages] * _LINE_BYTES
    at_once = np.cumsum(needed) // plan.page_memory
    yield from filter(len, np.split(pages, np.flatnonzero(np.diff(at_once)) + 1))


def _read(
    present: NDArray[np.int64],
    lines: Lines,
    begin: NDArray[np.int64],
    end: NDArray[np.int64],
    layouts: Layouts,
    judged: JudgedData,
    plan: ScoringPlan,
    mark_lines: bool = False,
) -> PageBatch:
    """Some pages, which have lines."""
    judgments, membership = judged.judgments, None if judged.membership is None else judged.membership.arrays
    carousels = judged.carousels
    read = _native.read_pages(
        lines, begin, end, present, layouts.judgment_set, layouts.user, layouts.grid, plan.shapes, judgments.offsets,
        judgments.item, judged.gaining, membership, carousels.declared_arrays(), layouts.labelled, mark_lines,
        plan.threads,
    )  # fmt: skip
    offsets, hits, length, category, is_pinned, duplicates, unjudged, defects, marks = read
    pinned = is_pinned.astype(np.uint16)
    if is_pinned.any() and carousels.pinned is not None:
        page, row = np.nonzero(is_pinned)
        user, grid = layouts.user[present][page], layouts.grid[present][page]
        pinned[page, row] = carousels.pinned_capacity(user, grid, category[page, row])
    return PageBatch(
        pages=present,
        judgment_set=layouts.judgment_set[present],
        user=layouts.user[present],
        grid=layouts.grid[present],
        offsets=offsets,
        hits=hits,
        length=length,
        category=category,
        pinned=pinned,
        duplicates=duplicates,
        unjudged=unjudged,
        defects=defects,
        lines=lines,
        marks=marks,
        begin=begin[present],
        end=end[present],
    )
