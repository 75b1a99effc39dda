"""What can be wrong with a page. The kernel finds the pages and the lines; ``defect_lines.py`` words it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from carouseval._native import Defect
from carouseval.evaluation.plan import ScoringPlan
from carouseval.evaluation.reading.page_batch import PageBatch
from carouseval.messages import Message, setting


@dataclass(frozen=True)
class PageDefect:
    """One thing that can be wrong with a page; ``bit`` as in native/tables/page_reader.h."""

    bit: int
    column: str
    quoted: tuple[str, ...]  # the columns of its first line that a message shows
    one: str
    several: str
    remedy: str
    severity: str  # "error"; "invalid": as the setting ``invalid`` has it; "warning": scored and counted

    def __post_init__(self) -> None:
        object.__setattr__(self, "remedy", Message(self.remedy))


_OR_COUNT = f"or use {setting('invalid', 'count')}."
REPEATED_CELL = PageDefect(
    Defect.CELL_TWICE.value,
    "col",
    ("row", "col"),
    "cell appears twice",
    "cells appear twice",
    "Each cell holds one item; drop the repeats.",
    "error",
)
OUTSIDE_GRID = PageDefect(
    Defect.OUTSIDE_GRID.value,
    "row",
    ("row", "col"),
    "cell lies outside the grid",
    "cells lie outside the grid",
    "Use a larger grid, or drop these cells.",
    "error",
)
GAP = PageDefect(
    Defect.GAP.value,
    "col",
    ("row", "col"),
    "row has a gap",
    "rows have gaps",
    "A gap is scored as an item without gain.",
    "warning",
)
SKIPPED_ROW = PageDefect(
    Defect.SKIPPED_ROW.value,
    "row",
    ("row",),
    "row is skipped",
    "rows are skipped",
    f"Number rows 1, 2, 3 without gaps, {_OR_COUNT}",
    "invalid",
)
REPEATED_CATEGORY = PageDefect(
    Defect.REPEATED_CATEGORY.value,
    "category",
    ("row", "category"),
    "row repeats a category of its page",
    "rows repeat a category of their page",
    f"Give each carousel its own category, {_OR_COUNT}",
    "invalid",
)
OUTSIDE_CATEGORY = PageDefect(
    Defect.OUTSIDE_CATEGORY.value,
    "category",
    ("row", "col", "item_id", "category"),
    "item is outside its row's category",
    "items are outside their row's category",
    f"Add the category to items, correct the row, {_OR_COUNT}",
    "invalid",
)
OVER_CAPACITY = PageDefect(
    Defect.OVER_CAPACITY.value,
    "category",
    ("row",),
    "row holds more than the capacity of its category",
    "rows hold more than the capacity of their category",
    f"Raise the capacity in {setting('carousels')} or {setting('capacity', text='capacity=')}, drop the cells beyond "
    f"it, {_OR_COUNT}",
    "invalid",
)
PARTLY_PINNED = PageDefect(
    Defect.PINNED_IN_PART.value,
    "pinned",
    ("row", "pinned"),
    "row is only partly pinned",
    "rows are only partly pinned",
    "All lines of a row must have the same value of pinned.",
    "error",
)
REPEATED_ITEM = PageDefect(
    Defect.REPEATED_ITEM.value,
    "item_id",
    ("row", "col", "item_id"),
    "item is repeated on its page",
    "items are repeated on their page",
    f"Drop the repeats, or use {setting('duplicates', 'best')}.",
    "error",
)
UNJUDGED = PageDefect(
    Defect.UNJUDGED.value,
    "item_id",
    ("row", "col", "item_id"),
    "item is shown without a judgment",
    "items are shown without a judgment",
    f"Add judgments, or use {setting('unjudged', 'zero')}.",
    "error",
)
PINNED_UNKNOWN = PageDefect(
    Defect.PINNED_UNKNOWN.value,
    "pinned",
    ("row",),
    "pinned row has no known category",
    "pinned rows have no known category",
    f"Add a column category to layouts, or use {setting('candidates', 'displayed')}.",
    "error",
)
PAGE_DEFECTS = (
    REPEATED_CELL,
    OUTSIDE_GRID,
    PARTLY_PINNED,
    SKIPPED_ROW,
    REPEATED_CATEGORY,
    OUTSIDE_CATEGORY,
    OVER_CAPACITY,
    GAP,
)
REFUSABLE = (*PAGE_DEFECTS, PINNED_UNKNOWN, REPEATED_ITEM, UNJUDGED)  # what is refused first, first
INVALID = sum(defect.bit for defect in PAGE_DEFECTS if defect.severity == "invalid")


def refused(pages: PageBatch, plan: ScoringPlan) -> list[tuple[PageDefect, NDArray[np.int64]]]:
    """Every defect that the settings refuse, and the pages that have it."""
    settings = plan.settings
    severities = {"error", "invalid"} if settings.invalid == "error" else {"error"}
    defects = [defect for defect in PAGE_DEFECTS if defect.severity in severities]
    if plan.needs_categories:
        defects.append(PINNED_UNKNOWN)
    if settings.duplicates == "error":
        defects.append(REPEATED_ITEM)
    if settings.unjudged == "error":
        defects.append(UNJUDGED)
    return [(defect, marked_pages(pages, defect)) for defect in defects]


def marked_pages(pages: PageBatch, defect: PageDefect) -> NDArray[np.int64]:
    """The pages that have a defect."""
    return np.asarray(pages.pages[(pages.defects & defect.bit) > 0])
