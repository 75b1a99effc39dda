"""What can be wrong with a page. The kernel marks the pages; ``defect_lines.py`` finds the lines and words it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from carouseval._native import Defect
from carouseval.evaluation.plan import ScoringPlan
from carouseval.evaluation.reading.ids import NONE
from carouseval.evaluation.reading.page_batch import PageBatch


@dataclass(frozen=True)
class PageDefect:
    """One thing that can be wrong with a page; ``bit`` as in native/tables/page_reader.h, negative otherwise."""

    bit: int
    column: str
    one: str
    several: str
    remedy: str
    severity: str  # "error"; "invalid": as the setting ``invalid`` has it; "warning": scored and counted


_OR_COUNT = "or use invalid='count'."
REPEATED_CELL = PageDefect(
    Defect.CELL_TWICE.value,
    "col",
    "cell appears twice",
    "cells appear twice",
    "Each cell holds one item; drop the repeats.",
    "error",
)
OUTSIDE_GRID = PageDefect(
    Defect.OUTSIDE_GRID.value,
    "row",
    "cell lies outside the grid",
    "cells lie outside the grid",
    "Use a larger grid, or drop these cells.",
    "error",
)
GAP = PageDefect(
    Defect.GAP.value, "col", "row has a gap", "rows have gaps", "A gap is scored as an item without gain.", "warning"
)
SKIPPED_ROW = PageDefect(
    Defect.SKIPPED_ROW.value,
    "row",
    "row is skipped",
    "rows are skipped",
    f"Number rows 1, 2, 3 without gaps, {_OR_COUNT}",
    "invalid",
)
REPEATED_CATEGORY = PageDefect(
    Defect.REPEATED_CATEGORY.value,
    "category",
    "row repeats a category of its page",
    "rows repeat a category of their page",
    f"Give each carousel its own category, {_OR_COUNT}",
    "invalid",
)
OUTSIDE_CATEGORY = PageDefect(
    Defect.OUTSIDE_CATEGORY.value,
    "category",
    "item is outside its row's category",
    "items are outside their row's category",
    f"Add the category to items, correct the row, {_OR_COUNT}",
    "invalid",
)
OVER_CAPACITY = PageDefect(
    Defect.OVER_CAPACITY.value,
    "category",
    "row holds more than the capacity of its category",
    "rows hold more than the capacity of their category",
    f"Raise the capacity in carousels or capacity=, drop the cells beyond it, {_OR_COUNT}",
    "invalid",
)
PARTLY_PINNED = PageDefect(
    Defect.PINNED_IN_PART.value,
    "pinned",
    "row is only partly pinned",
    "rows are only partly pinned",
    "All lines of a row must have the same value of pinned.",
    "error",
)
REPEATED_ITEM = PageDefect(
    -1,
    "item_id",
    "item is repeated on its page",
    "items are repeated on their page",
    "Drop the repeats, or use duplicates='best'.",
    "error",
)
UNJUDGED = PageDefect(
    -2,
    "item_id",
    "item is shown without a judgment",
    "items are shown without a judgment",
    "Add judgments, or use unjudged='zero'.",
    "error",
)
PINNED_UNKNOWN = PageDefect(
    -3,
    "pinned",
    "pinned row has no known category",
    "pinned rows have no known category",
    "Add a column category to layouts, or use candidates='displayed'.",
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
    if defect is REPEATED_ITEM:
        marked = pages.duplicates > 0
    elif defect is UNJUDGED:
        marked = pages.unjudged > 0
    elif defect is PINNED_UNKNOWN:
        marked = ((pages.pinned > 0) & (pages.category == NONE)).any(axis=1)
    else:
        marked = (pages.defects & defect.bit) > 0
    return np.asarray(pages.pages[marked])
