"""The lines of pages that the kernel marked, and what is known of them."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from carouseval.evaluation.defects import page_defects as kinds
from carouseval.evaluation.defects.page_defects import PageDefect
from carouseval.evaluation.reading.ids import NONE
from carouseval.evaluation.reading.inputs import Inputs
from carouseval.metrics.grid import Grid
from carouseval.tables.table import RECORD

MOST_PAGES = 2_000  # that examples are looked for on

Line = dict[str, Any]


def lines_of(inputs: Inputs, pages: NDArray[np.int64]) -> Iterator[tuple[int, list[Line]]]:
    """The lines of the marked pages that come first in the table."""
    table, layouts = inputs.tables["layouts"], inputs.layouts
    users = inputs.codebook.users.values().gather(np.unique(layouts.user[pages]))
    keys = page_keys(inputs)
    of_users = pl.col("user_id").is_in(users.implode())
    (firsts,) = table.query(lambda frame: frame.filter(of_users).group_by(keys).agg(pl.col(RECORD).min()).sort(RECORD))
    marked = set(pages.tolist())
    codes = page_codes(inputs, firsts)
    chosen = firsts.filter(pl.Series([code in marked for code in codes])).head(MOST_PAGES)
    pages_chosen = chosen.lazy().select(keys)
    (lines,) = table.query(lambda frame: frame.filter(of_users).join(pages_chosen, on=keys, how="semi").sort(RECORD))
    grouped: dict[int, list[Line]] = defaultdict(list)
    for code, line in zip(page_codes(inputs, lines), lines.iter_rows(named=True), strict=True):
        grouped[code].append(line)
    yield from grouped.items()


def page_codes(inputs: Inputs, lines: pl.DataFrame) -> list[int]:
    user, page_ids = inputs.codebook.users.add(lines["user_id"]), inputs.layouts.page_ids
    codes = user if page_ids is None else page_ids.add(user, lines["page_id"])
    return [int(code) for code in codes]


def page_keys(inputs: Inputs) -> list[str]:
    return ["user_id", *(["page_id"] if inputs.layouts.page_ids is not None else [])]


@dataclass(frozen=True)
class MarkedPage:
    """A marked page and its lines."""

    code: int
    lines: list[Line]
    grid: Grid
    inputs: Inputs

    @classmethod
    def of(cls, code: int, lines: list[Line], defect: PageDefect, inputs: Inputs) -> "MarkedPage":
        """With the lines that the kernel reads: inside the grid, the last of each cell."""
        grid = inputs.plan.grids[inputs.layouts.grid[code]]
        if defect not in (kinds.REPEATED_CELL, kinds.OUTSIDE_GRID):
            inside = [line for line in lines if line["row"] <= grid.rows and line["col"] <= grid.cols]
            last = {(line["row"], line["col"]): line for line in inside}
            lines = sorted(last.values(), key=lambda line: int(line[RECORD]))
        return cls(code, lines, grid, inputs)

    def at(self, line: Line, *columns: str) -> str:
        """A line's ids and the values of some of its columns."""
        table = self.inputs.tables["layouts"]
        keys = [*page_keys(self.inputs), *columns]
        return " ".join(f"{table.names.get(key, key)}={line[key]!r}" for key in keys)

    @property
    def labels(self) -> dict[int, Any]:
        """The category of each row's leftmost cell."""
        leftmost: dict[int, Line] = {}
        for line in self.lines:
            if line["row"] not in leftmost or line["col"] < leftmost[line["row"]]["col"]:
                leftmost[line["row"]] = line
        return {row: line.get("category") for row, line in leftmost.items()}

    @property
    def user(self) -> int:
        return int(self.inputs.layouts.user[self.code])

    def capacity(self, category: int) -> int:
        """What is declared of a category, for the page's user."""
        return self.inputs.judged.carousels.declared_capacity(self.user, category)

    def row_categories(self) -> dict[int, int]:
        """The code of each row's category, by its label or by what its items share."""
        rows: dict[int, set[int]] = {}
        for line in self.lines:
            of_item = self.categories(line["item_id"])
            rows[line["row"]] = rows.get(line["row"], of_item) & of_item
        if self.inputs.layouts.labelled:
            labels = pl.Series(list(self.labels.values()))
            return dict(zip(self.labels, self.inputs.codebook.categories.add(labels).tolist(), strict=True))
        return {row: min(shared) for row, shared in rows.items() if len(shared) == 1}

    @property
    def is_several(self) -> bool:
        """Whether at least half of the cells, and more than one, hold several items, as if pages were mixed."""
        items = defaultdict(set)
        for line in self.lines:
            items[line["row"], line["col"]].add(line["item_id"])
        several = sum(len(own) > 1 for own in items.values())
        return several > 1 and 2 * several >= len(items)

    def categories(self, item: Any) -> set[int]:
        """The codes of an item's categories, for the page's user."""
        membership, codebook = self.inputs.judged.membership, self.inputs.codebook
        if membership is None:
            return {NONE}
        offsets, categories, own_offsets, own = membership.arrays
        code, user = int(codebook.items.add(pl.Series([item]))[0]), self.user
        known = set(categories[offsets[code] : offsets[code + 1]].tolist()) if code + 1 < len(offsets) else set()
        if user + 1 < len(own_offsets):
            keys = own[own_offsets[user] : own_offsets[user + 1]].tolist()
            known |= {key & 0xFFFFFFFF for key in keys if key >> 32 == code}
        return {category for category in known if self.inputs.judged.carousels.is_open(user, category)}
