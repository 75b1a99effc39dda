"""Defects of pages in words, with the first line that has each."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import chain
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from carouseval.errors import DataError
from carouseval.evaluation.defects import page_defects as kinds
from carouseval.evaluation.defects.examples import FINDERS
from carouseval.evaluation.defects.marked_pages import MOST_PAGES, Line, MarkedPage, lines_of, page_keys
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
    remedy: Remedy | LargerGrids

    def __add__(self, other: "FoundDefect") -> "FoundDefect":
        first = min(self, other, key=lambda found: found.first)
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


def describe_defects(kind: PageDefect, pages: NDArray[np.int64], inputs: Inputs) -> Defect:
    """The defect of these pages in words, with the first line that has it."""
    return find_defect(kind, pages, inputs).defect()


def find_defect(kind: PageDefect, pages: NDArray[np.int64], inputs: Inputs) -> FoundDefect:
    """Find the lines that have a defect, on pages that the kernel marked."""
    table = inputs.tables["layouts"]
    find = FINDERS[kind.bit]
    marked = [MarkedPage.of(page, lines, kind, inputs) for page, lines in lines_of(inputs, pages)]
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
        all_pages=len(pages) <= MOST_PAGES,
        first=first,
        where=table.in_brackets(first[0]),
        remedy=remedy_for(kind, marked, inputs),
    )


def _place(line: Line, inputs: Inputs) -> tuple[Any, ...]:
    return tuple(line[key] for key in (*page_keys(inputs), "row", "col"))
