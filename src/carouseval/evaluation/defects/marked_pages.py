"""Pages that the kernel marked, read by it again: their lines in the table, and which of these have a defect."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from carouseval.evaluation.defects.page_defects import PageDefect
from carouseval.evaluation.reading.inputs import Inputs
from carouseval.evaluation.reading.layouts import pack_lines
from carouseval.evaluation.reading.page_batch import PageBatch, read_batch
from carouseval.tables.table import RECORD

MOST_PAGES = 2_000  # that lines are looked for on

_FIRST = f"first {RECORD}"  # of the page

Line = dict[str, Any]


@dataclass(frozen=True, eq=False)
class MarkedPages:
    """Those of the marked pages that come first in the table, with their lines; page by page, in its order."""

    inputs: Inputs
    lines: pl.DataFrame
    page: NDArray[np.int64]  # of every line, counted in the batch
    batch: PageBatch  # with bits of the defects of every line

    @classmethod
    def of(cls, pages: NDArray[np.int64], inputs: Inputs) -> "MarkedPages":
        """Read the lines of marked pages again."""
        table, layouts, keys = inputs.tables["layouts"], inputs.layouts, page_keys(inputs)
        users = inputs.codebook.users.values().gather(np.unique(layouts.user[pages]))
        of_users = pl.col("user_id").is_in(users.implode())
        (firsts,) = table.query(
            lambda frame: frame.filter(of_users).group_by(keys).agg(pl.col(RECORD).min()).sort(RECORD)
        )
        marked = firsts.filter(pl.Series(np.isin(page_codes(inputs, firsts), pages))).head(MOST_PAGES).lazy()
        (lines,) = table.query(
            lambda frame: (
                frame.filter(of_users)
                .join(marked.select(*keys, pl.col(RECORD).alias(_FIRST)), on=keys, maintain_order="left")
                .sort(_FIRST, *keys, RECORD, maintain_order=True)
            )
        )
        codes = page_codes(inputs, lines)
        batch = read_batch(
            pack_lines(lines, codes, inputs.codebook), layouts, inputs.judged, inputs.plan, mark_lines=True
        )
        return cls(inputs, lines, np.searchsorted(batch.pages, codes), batch)

    def with_defect(self, kind: PageDefect) -> NDArray[np.int64]:
        """The lines that have a defect, one for each time that it counts."""
        return np.flatnonzero(self.batch.marks & kind.bit)

    def quoted(self, line: Line, *columns: str) -> str:
        """A line's ids and the values of some of its columns."""
        names = self.inputs.tables["layouts"].names
        return " ".join(f"{names.get(key, key)}={line[key]!r}" for key in (*page_keys(self.inputs), *columns))

    def category(self, index: int) -> int:
        """The code of the category of a line's row."""
        return int(self.batch.category[self.page[index], self.lines["row"][index] - 1])


def page_codes(inputs: Inputs, lines: pl.DataFrame) -> NDArray[np.uint32]:
    """The page of every line."""
    user, page_ids = inputs.codebook.users.add(lines["user_id"]), inputs.layouts.page_ids
    return user if page_ids is None else page_ids.add(user, lines["page_id"])


def page_keys(inputs: Inputs) -> list[str]:
    """The columns that name a page."""
    return ["user_id", *(["page_id"] if inputs.layouts.page_ids is not None else [])]
