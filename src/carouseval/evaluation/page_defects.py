"""What can be wrong with a page; the kernel marks the pages, ``defect_lines.py`` says it in words."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from carouseval._native import Defect
from carouseval.evaluation.plan import ScoringPlan
from carouseval.evaluation.reading.ids import NONE
from carouseval.evaluation.scoring.page_batch import PageBatch


@dataclass(frozen=True)
class PageDefect:
    """One thing that a page can have wrong; ``bit`` as the kernel marks it, or below 0."""

    bit: int
    column: str
    one: str
    several: str
    remedy: str
    severity: str  # "error"; "invalid": as the policy says; "warning": scored and counted


_OR_COUNT = "or use invalid='count'."
CELL_TWICE = PageDefect(
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
    "Give a larger grid, or drop what nobody can see.",
    "error",
)
GAP = PageDefect(
    Defect.GAP.value,
    "col",
    "row has a gap",
    "rows have gaps",
    "A gap is scored as an item that gains nothing.",
    "warning",
)
SKIPPED_ROW = PageDefect(
    Defect.SKIPPED_ROW.value,
    "row",
    "row is skipped",
    "rows are skipped",
    f"Number rows 1, 2, 3 as they are shown, {_OR_COUNT}",
    "invalid",
)
REPEATED = PageDefect(
    Defect.REPEATED_CATEGORY.value,
    "category",
    "row repeats a category of its page",
    "rows repeat a category of their page",
    f"Give each carousel its own category, {_OR_COUNT}",
    "invalid",
)
OUTSIDE = PageDefect(
    Defect.OUTSIDE_CATEGORY.value,
    "category",
    "item stands outside its row's category",
    "items stand outside their row's category",
    f"Add the category to items, correct the row, {_OR_COUNT}",
    "invalid",
)
PINNED_IN_PART = PageDefect(
    Defect.PINNED_IN_PART.value,
    "pinned",
    "row is pinned in part",
    "rows are pinned in part",
    "All lines of a row agree whether it is pinned.",
    "error",
)
TWICE_ON_PAGE = PageDefect(
    -1,
    "item_id",
    "item is shown again on its page",
    "items are shown again on their page",
    "Drop the repeats, or use duplicates='best'.",
    "error",
)
UNJUDGED = PageDefect(
    -2,
    "item_id",
    "item is shown without a judgment",
    "items are shown without a judgment",
    "Judge it, or use unjudged='zero'.",
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
PAGE_DEFECTS = (CELL_TWICE, OUTSIDE_GRID, PINNED_IN_PART, SKIPPED_ROW, REPEATED, OUTSIDE, GAP)
INVALID = sum(one.bit for one in PAGE_DEFECTS if one.severity == "invalid")


def refused(pages: PageBatch, plan: ScoringPlan) -> Iterator[tuple[PageDefect, NDArray[np.int64]]]:
    """Everything that the settings do not let pass, and the pages that have it."""
    settings = plan.settings
    for defect in PAGE_DEFECTS:
        if defect.severity == "error" or (defect.severity == "invalid" and settings.invalid == "error"):
            yield defect, marked_pages(pages, defect)
    if plan.needs_categories:
        yield PINNED_UNKNOWN, marked_pages(pages, PINNED_UNKNOWN)
    if settings.duplicates == "error":
        yield TWICE_ON_PAGE, marked_pages(pages, TWICE_ON_PAGE)
    if settings.unjudged == "error":
        yield UNJUDGED, marked_pages(pages, UNJUDGED)


def marked_pages(pages: PageBatch, defect: PageDefect) -> NDArray[np.int64]:
    """The pages that have a defect."""
    if defect is TWICE_ON_PAGE:
        marked = pages.duplicates > 0
    elif defect is UNJUDGED:
        marked = pages.unjudged > 0
    elif defect is PINNED_UNKNOWN:  # no table tells the category of a pinned row
        marked = ((pages.pinned > 0) & (pages.category == NONE)).any(axis=1)
    else:
        marked = (pages.defects & defect.bit) > 0
    return np.asarray(pages.pages[marked])
