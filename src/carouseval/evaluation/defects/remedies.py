"""What to do about a defect, by what the pages look like."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from carouseval.evaluation.category_facts import CategoryFacts
from carouseval.evaluation.category_notices import joined_categories
from carouseval.evaluation.defects import page_defects as kinds
from carouseval.evaluation.defects.marked_pages import MarkedPage, page_codes, page_keys
from carouseval.evaluation.defects.page_defects import PageDefect
from carouseval.evaluation.reading.inputs import Inputs
from carouseval.metrics.grid import Grid, grid_text, resized

_MOST_NAMES = 5  # of categories, in a message


@dataclass(frozen=True, eq=False)
class LargerGrids:
    """What to do about cells outside the grid: the grids that would hold all pages."""

    grids: tuple[Grid, ...]
    needed: NDArray[np.int32]  # rows and columns of each
    values: tuple[Any, ...] | None  # of the segment that has each; None: there is one grid for all

    def __add__(self, other: "LargerGrids") -> "LargerGrids":
        return replace(self, needed=np.maximum(self.needed, other.needed))

    def __str__(self) -> str:
        grids = [grid_text(resized(grid, *size)) for grid, size in zip(self.grids, self.needed.tolist(), strict=True)]
        if self.values is None:
            text = grids[0]
        elif all(grid.shape == tuple(size) for grid, size in zip(self.grids[:-1], self.needed.tolist(), strict=False)):
            return kinds.OUTSIDE_GRID.remedy  # only pages whose segment is unknown
        else:
            text = f"{{{', '.join(f'{value!r}: {grid}' for value, grid in zip(self.values, grids, strict=False))}}}"
        return f"Use grid={text}, or drop these cells."


@dataclass(frozen=True)
class Remedy:
    """What to do about other defects: by what some pages look like, or else what always helps."""

    always: str
    of_page: tuple[Any, str] | None = None  # a user, and what is to be done about a page of theirs
    unlisted: frozenset[Any] = frozenset()  # categories that items should list
    declares: bool = True  # whether these may be declared instead
    joined: str = ""  # more that always helps, if it does for all parts

    def __add__(self, other: "Remedy") -> "Remedy":
        of_pages = [one.of_page for one in (self, other) if one.of_page is not None]
        return replace(
            self,
            of_page=min(of_pages, default=None),
            unlisted=self.unlisted | other.unlisted,
            joined=self.joined if other.joined else "",
        )

    def __str__(self) -> str:
        if self.joined:
            return f"{self.always} {self.joined}"
        if self.of_page is not None:
            return self.of_page[1]
        if not self.unlisted:
            return self.always
        listed = ", ".join(map(repr, sorted(self.unlisted)[:_MOST_NAMES]))
        listed += ", ..." if len(self.unlisted) > _MOST_NAMES else ""
        one = len(self.unlisted) == 1
        these, their, them = ("this category", "its", "it") if one else ("these categories", "their", "them")
        advice = (
            f"Add {their} items, declare {them} personal in carousels, or leave out items to take categories from "
            "layouts; or use invalid='count'."
        )
        return f"Items does not list {these}: {listed}. {advice if self.declares else self.always}"


def remedy_for(defect: PageDefect, pages: Sequence[MarkedPage], inputs: Inputs) -> Remedy | LargerGrids:
    """What to do, by what the pages look like."""
    if defect is kinds.OUTSIDE_GRID:
        return _larger_grid(inputs)
    remedy = Remedy(defect.remedy)
    if defect is kinds.REPEATED_CELL and inputs.layouts.page_ids is None:
        for page in pages:
            if page.is_several:
                user = page.lines[0]["user_id"]
                return replace(
                    remedy, of_page=(user, f"User {user!r} seems to have several pages: add a column page_id.")
                )
    if defect is kinds.OUTSIDE_CATEGORY and (
        joined := joined_categories(CategoryFacts.of(inputs), inputs.plan.settings, inputs.tables)
    ):
        remedy = replace(remedy, joined=str(joined))
    if defect is kinds.OUTSIDE_CATEGORY and (closed := _closed_category(pages)):
        user, label = closed
        text = (
            f"In carousels {label!r} is for other users only: add a line for {user!r}, or one with user_id null for "
            "everyone; or use invalid='count'."
        )
        remedy = replace(remedy, of_page=(user, text))
    if defect is kinds.OUTSIDE_CATEGORY and (unlisted := _unlisted_categories(pages, inputs)):
        remedy = replace(remedy, unlisted=frozenset(unlisted), declares=inputs.from_layouts)
    return remedy


def _closed_category(pages: Iterable[MarkedPage]) -> tuple[Any, Any] | None:
    """The first user who is shown a category that only other users have, and the category."""
    for page in pages:
        for row, code in page.row_categories().items() if page.inputs.layouts.labelled else ():
            if not page.inputs.judged.carousels.is_open(page.user, code):
                return page.lines[0]["user_id"], page.labels[row]
    return None


def _unlisted_categories(pages: Iterable[MarkedPage], inputs: Inputs) -> list[Any]:
    """The categories of rows for which a given items table has no line."""
    membership = inputs.judged.membership
    if membership is None or membership.source != "items" or not inputs.layouts.labelled:
        return []
    labels = pl.Series(sorted({label for page in pages for label in page.labels.values()}))
    own = np.unique(membership.arrays.own & np.uint64(0xFFFFFFFF))
    codes = inputs.codebook.categories.add(labels)
    sizes = np.append(membership.sizes, 0)[np.minimum(codes, len(membership.sizes))]
    return labels.filter(pl.Series((sizes == 0) & ~np.isin(codes, own))).to_list()


def _larger_grid(inputs: Inputs) -> LargerGrids:
    """The grid, or the grids by segment, that would hold all pages."""
    plan, table, largest = inputs.plan, inputs.tables["layouts"], pl.max("row", "col")
    if plan.grid_values is None:
        (sizes,) = table.query(lambda frame: frame.select(largest))
        index = np.zeros(1, np.uint8)
    else:
        (sizes,) = table.query(lambda frame: frame.group_by(page_keys(inputs)).agg(largest))
        index = inputs.layouts.grid[page_codes(inputs, sizes)]
    needed = plan.shapes.copy()
    np.maximum.at(needed, index, sizes.select("row", "col").to_numpy())
    return LargerGrids(plan.grids, needed, plan.grid_values)
