"""Defects of pages in words, with the first line that has each."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import chain
from operator import add
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from carouseval.errors import DataError
from carouseval.evaluation.defects import page_defects as kinds
from carouseval.evaluation.defects.marked_pages import MOST_PAGES, MarkedPages, page_keys
from carouseval.evaluation.defects.page_defects import PageDefect
from carouseval.evaluation.defects.remedies import LargerGrids, Remedy, remedy_for
from carouseval.evaluation.reading.inputs import Inputs
from carouseval.evaluation.reading.page_batch import PageBatch
from carouseval.messages import nested
from carouseval.tables.columns import Defect
from carouseval.tables.table import RECORD


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

    def __init__(self, defect: "FoundDefect") -> None:
        super().__init__(str(defect.defect()))
        self.found = defect


@dataclass(frozen=True)
class FoundDefect:
    """A defect of pages: how often it was found, where first, and what to do about it."""

    kind: PageDefect
    column: str  # by the user's name
    count: int
    all_pages: bool  # False: there are more pages with it than were looked at
    first: tuple[Any, str]  # where it comes in the order of lines, and what it holds
    where: str  # the line of that record
    remedy: Remedy | LargerGrids

    def __add__(self, other: "FoundDefect") -> "FoundDefect":
        first = min(self, other, key=lambda defect: defect.first)
        remedies: Any = self.remedy, other.remedy  # of one kind, like the defects
        all_pages = self.all_pages and other.all_pages
        return replace(first, count=self.count + other.count, all_pages=all_pages, remedy=add(*remedies))

    def defect(self) -> Defect:
        """The same in words."""
        number = f"{self.count:,}" if self.all_pages else f"at least {self.count:,}"
        what = self.kind.one if self.count == 1 else self.kind.several
        message = f"layouts: {number} {what}, first {self.first[1]}{self.where}. {nested(self.remedy)}"
        severity = "warning" if self.kind.severity == "warning" else "error"
        return Defect("layouts", self.column, self.count, message, severity)


def find_defect(kind: PageDefect, pages: NDArray[np.int64], inputs: Inputs) -> FoundDefect:
    """Find the lines that have a defect, on pages that the kernel marked."""
    table, marked = inputs.tables["layouts"], MarkedPages.of(pages, inputs)
    indices = marked.with_defect(kind)
    order = [*page_keys(inputs), "row", "col"] if table.part else [RECORD]  # lines of a part have no order of their own
    places = marked.lines[indices].select(order)
    first = places.bottom_k(1, by=order)
    equal = indices[places.select(pl.all_horizontal(pl.col(key) == first[key][0] for key in order)).to_series()]
    return FoundDefect(
        kind=kind,
        column=table.names.get(kind.column, kind.column),
        count=len(indices),
        all_pages=len(pages) <= MOST_PAGES,
        first=(first.row(0), min(_text(kind, int(index), marked) for index in equal)),  # a record may be a whole row
        where=table.in_brackets(first[order[0]][0]),
        remedy=remedy_for(kind, marked),
    )


def _text(kind: PageDefect, index: int, marked: MarkedPages) -> str:
    """What a line with a defect holds."""
    line, inputs, batch, page = marked.lines.row(index, named=True), marked.inputs, marked.batch, marked.page[index]
    columns, detail, row = kind.quoted, "", line["row"]
    if kind is kinds.OUTSIDE_GRID:
        detail = f" on a grid of {inputs.plan.grids[batch.grid[page]]}"
    elif kind is kinds.GAP:
        detail = ", with an empty cell before it"
    elif kind is kinds.SKIPPED_ROW:
        detail = f", with no row {row - 1}"
    elif kind is kinds.OVER_CAPACITY:
        code = marked.category(index)
        room = inputs.judged.carousels.declared_capacity(int(batch.user[page]), code)
        label, length = inputs.codebook.categories.values()[code], batch.length[page, row - 1]
        detail = f", where {label!r} has {length} and holds {room}"
    elif kind is kinds.REPEATED_CATEGORY and inputs.layouts.labelled:
        detail = f", also on row {np.argmax(batch.category[page] == marked.category(index)) + 1}"
    elif kind is kinds.REPEATED_CATEGORY:
        columns, detail = (), ", where two rows can only belong to the same category"
    elif kind is kinds.OUTSIDE_CATEGORY and not inputs.layouts.labelled:
        columns, detail = ("row",), ", whose items share no category"
    elif kind is kinds.OUTSIDE_CATEGORY:
        label = inputs.codebook.categories.values()[marked.category(index)]
        if line["category"] != label:
            columns, detail = ("row", "col", "category"), f" in a row of category {label!r}"
    return f"{marked.quoted(line, *columns)}{detail}"
