"""What to do about a defect, by what the pages look like."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from carouseval.evaluation.category_facts import CategoryFacts
from carouseval.evaluation.category_notices import joined_categories
from carouseval.evaluation.defects import page_defects as kinds
from carouseval.evaluation.defects.marked_pages import MarkedPages, page_codes, page_keys
from carouseval.evaluation.defects.page_defects import PageDefect
from carouseval.evaluation.reading.inputs import Inputs
from carouseval.messages import Message, nested, setting
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
        suggested: Any
        if self.values is None:
            suggested = grids[0]
        elif all(grid.shape == tuple(size) for grid, size in zip(self.grids[:-1], self.needed.tolist(), strict=False)):
            return kinds.OUTSIDE_GRID.remedy  # only pages whose segment is unknown
        else:
            suggested = dict(zip(self.values, grids, strict=False))
        return Message(f"Use {setting('grid', suggested)}, or drop these cells.")


@dataclass(frozen=True)
class Remedy:
    """What to do about other defects: by what some pages look like, or else what always helps."""

    always: str
    of_page: tuple[Any, str] | None = None  # a user, and what is to be done about a page of theirs
    unlisted: frozenset[Any] = frozenset()  # categories that items should list
    declares: bool = True  # whether these may be declared instead
    joined: str = ""  # more that always helps, if it does for all parts

    def __add__(self, other: "Remedy") -> "Remedy":
        of_pages = [remedy.of_page for remedy in (self, other) if remedy.of_page is not None]
        return replace(
            self,
            of_page=min(of_pages, default=None),
            unlisted=self.unlisted | other.unlisted,
            joined=self.joined if other.joined else "",
        )

    def __str__(self) -> str:
        if self.joined:
            return Message(f"{nested(self.always)} {nested(self.joined)}")
        if self.of_page is not None:
            return self.of_page[1]
        if not self.unlisted:
            return self.always
        listed = ", ".join(map(repr, sorted(self.unlisted)[:_MOST_NAMES]))
        listed += ", ..." if len(self.unlisted) > _MOST_NAMES else ""
        is_single = len(self.unlisted) == 1
        these, possessive, them = ("this category", "its", "it") if is_single else ("these categories", "their", "them")
        advice = (
            f"Add {possessive} items, declare {them} personal in {setting('carousels')}, or leave out "
            f"{setting('items')} to take categories from layouts; or use {setting('invalid', 'count')}."
        )
        return Message(f"Items does not list {these}: {listed}. {advice if self.declares else nested(self.always)}")


def remedy_for(defect: PageDefect, marked: MarkedPages) -> Remedy | LargerGrids:
    """What to do, by what the pages look like."""
    inputs, remedy = marked.inputs, Remedy(defect.remedy)
    if defect is kinds.OUTSIDE_GRID:
        return _larger_grid(inputs)
    if defect is kinds.REPEATED_CELL and inputs.layouts.page_ids is None:
        user = _user_of_several_pages(marked)
        if user is not None:
            text = f"User {user!r} seems to have several pages: add a column page_id."
            remedy = replace(remedy, of_page=(user, text))
    if defect is not kinds.OUTSIDE_CATEGORY:
        return remedy
    if joined := joined_categories(CategoryFacts.of(inputs), inputs.plan.settings, inputs.tables):
        remedy = replace(remedy, joined=str(joined))
    if closed := _closed_category(marked):
        user, label = closed
        text = Message(
            f"In carousels {label!r} is for other users only: add a line for {user!r}, or one with user_id null for "
            f"everyone; or use {setting('invalid', 'count')}."
        )
        remedy = replace(remedy, of_page=(user, text))
    return replace(remedy, unlisted=frozenset(_unlisted_categories(marked)), declares=inputs.from_layouts)


def _user_of_several_pages(marked: MarkedPages) -> Any:
    """The first user of whose cells at least half, and more than one, hold several items, as if pages were mixed."""
    cells = marked.lines.group_by("user_id", "row", "col", maintain_order=True).agg(pl.col("item_id").n_unique())
    holds_several = pl.col("item_id") > 1
    users = cells.group_by("user_id", maintain_order=True).agg(several=holds_several.sum(), cells=pl.len())
    mixed = users.filter((pl.col("several") > 1) & (2 * pl.col("several") >= pl.col("cells")))
    return mixed["user_id"][0] if mixed.height else None


def _closed_category(marked: MarkedPages) -> tuple[Any, Any] | None:
    """The first user who is shown a category that only other users have, and the category."""
    inputs = marked.inputs
    for index in marked.with_defect(kinds.OUTSIDE_CATEGORY).tolist() if inputs.layouts.labelled else ():
        code = marked.category(index)
        if not inputs.judged.carousels.is_open(int(marked.batch.user[marked.page[index]]), code):
            return marked.lines["user_id"][index], inputs.codebook.categories.values()[code]
    return None


def _unlisted_categories(marked: MarkedPages) -> list[Any]:
    """The categories of rows for which a given items table has no line."""
    inputs, batch = marked.inputs, marked.batch
    membership = inputs.judged.membership
    if membership is None or membership.source != "items" or not inputs.layouts.labelled:
        return []
    codes = np.unique(batch.category[batch.length > 0])
    personal = np.unique(membership.arrays.own & np.uint64(0xFFFFFFFF))
    sizes = np.append(membership.sizes, 0)[np.minimum(codes, len(membership.sizes))]
    return inputs.codebook.categories.values().gather(codes[(sizes == 0) & ~np.isin(codes, personal)]).to_list()


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
