"""Layouts as arrays: lines packed to 16 bytes and grouped by page, and the attributes of each page.

Tables that do not fit the memory budget are split over temporary files by page; every page is read alone, so the
results are the same.
"""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from carouseval import _native
from carouseval.errors import DataError
from carouseval.evaluation import schema
from carouseval.evaluation.plan import ScoringPlan
from carouseval.evaluation.reading.ids import NONE, Attribute, Codebook, Codes, PageIds, PairIds
from carouseval.evaluation.reading.judgments import Judgments
from carouseval.evaluation.reading.packed_lines import BYTES, FileLines, Lines, MemoryLines, part_of
from carouseval.messages import Message, setting
from carouseval.metrics.grid import Array
from carouseval.progress import Progress
from carouseval.tables.added_errors import AddedError
from carouseval.tables.table import Table

_MOST_PARTS = 256  # temporary files


@dataclass(eq=False)
class Layouts:
    """A system's pages: packed lines, and every page's user, judgment set, grid, segments and weight."""

    parts: list[Lines | Path]  # in memory, or in temporary files
    lines: int
    labelled: bool  # whether lines name their carousel's category
    page_ids: PageIds | None  # None: every user has one page
    present: NDArray[np.bool_]  # which pages have lines: codes are shared with judgments
    user: Codes  # of every page
    judgment_set: Codes  # of every page; a code past the last set where there is none
    grid: NDArray[np.uint8]  # which of the plan's grids every page has
    segments: dict[str, Codes]  # of every page: from its lines, else from its judgments
    weights: Array | None  # the same; NaN where neither has any
    pairs: PairIds | None  # (item, category) pairs of the lines, where they are wanted

    def __len__(self) -> int:
        return len(self.user)

    def lines_by_part(self) -> Iterator[Lines]:
        """All lines, part by part."""
        yield from map(_lines_of_part, self.parts)

    def parts_with(self, pages: NDArray[np.int64]) -> Iterator[tuple[NDArray[np.int64], Lines]]:
        """Some pages and all lines of their part, part by part; files with none of these pages are not read."""
        part = part_of(pages, len(self.parts))
        for number in np.unique(part):
            yield pages[part == number], _lines_of_part(self.parts[number])


def _lines_of_part(part: Lines | Path) -> Lines:
    return np.frombuffer(part.read_bytes(), np.uint32).reshape(-1, 4) if isinstance(part, Path) else part


@contextlib.contextmanager
def read_layouts(
    table: Table,
    codebook: Codebook,
    judgments: Judgments,
    plan: ScoringPlan,
    *,
    want_pairs: bool = False,
    needed: bool = True,
    share: int = 1,
    progress: Progress | None = None,
) -> Iterator[Layouts]:
    """Pack all lines, in memory or in temporary files that are deleted when the block ends.

    A table without lines is refused where they are ``needed``. Pairs of item and category are collected if lines have
    categories. The memory allowed is that of the plan, divided by ``share``.
    """
    if judgments.per_page and "page_id" not in table.names:
        raise DataError(
            "layouts: missing column page_id; judgments have one. Add it to layouts, or drop it from judgments."
        )
    height = table.height()
    if height == 0 and needed:
        raise DataError(schema.EMPTY["layouts"])
    budget = max(1, plan.line_memory // share)
    parts = min(_MOST_PARTS, max(1, -(-height * 2 * BYTES // budget)))
    packer = _Packer(table, codebook, plan, want_pairs)
    with contextlib.ExitStack() as stack:
        in_files = height * BYTES > budget
        sink = stack.enter_context(FileLines(parts)) if in_files else MemoryLines(height)
        done = 0
        for batch in table.batches():
            sink.add(packer.pack(batch))
            done += batch.height
            if progress is not None:
                progress("reading", done, height)
        packed = sink.finish()
        if parts > 1 and isinstance(lines := packed[0], np.ndarray):
            if _native.page_runs(lines, packer.pages()) is None:  # unsorted, and sorting needs more memory than allowed
                files = stack.enter_context(FileLines(parts))
                files.add(lines)
                packed = files.finish()
            del lines
        yield packer.layouts(packed, height, judgments)


def pack_lines(lines: pl.DataFrame, page: Codes, codebook: Codebook) -> Lines:
    """Lines of layouts as the kernels read them, given the page of each."""
    packed = np.empty((lines.height, 4), np.uint32)
    packed[:, 0], packed[:, 1] = page, codebook.items.add(lines["item_id"])
    packed[:, 2] = codebook.categories.add(lines["category"]) if "category" in lines.columns else NONE
    place = lines["row"].to_numpy() << 16 | lines["col"].to_numpy()
    if "pinned" in lines.columns:
        place |= lines["pinned"].to_numpy().astype(np.int64) << 31
    packed[:, 3] = place
    return packed


class _Packer:
    """Packs batches of lines and collects the attributes of their pages."""

    def __init__(self, table: Table, codebook: Codebook, plan: ScoringPlan, want_pairs: bool) -> None:
        self._columns, self._codebook, self._plan = table.names.keys(), codebook, plan
        self._by = plan.settings.by_columns
        self._page_ids = codebook.pages
        if "page_id" in self._columns and codebook.pages is None:
            self._page_ids = PageIds(plan.threads, table.id_types["page_id"])
        self._pairs = PairIds(plan.threads) if want_pairs and "category" in self._columns else None
        self._present = np.zeros(0, bool)
        settings = plan.settings
        self._segments = {name: Attribute(table, name, "page") for name in self._by if name in self._columns}
        self._weight: Attribute | None = None
        if settings.weight is not None and settings.weight in self._columns:
            self._weight = Attribute(table, settings.weight, "page")

    def pages(self) -> int:
        """How many pages there are."""
        return len(self._codebook.users) if self._page_ids is None else len(self._page_ids)

    def pack(self, batch: pl.DataFrame) -> Lines:
        """Pack a batch of lines."""
        user = self._codebook.users.add(batch["user_id"])
        page = user if self._page_ids is None else self._page_ids.add(user, batch["page_id"])
        lines = pack_lines(batch, page, self._codebook)
        if self._pairs is not None:
            self._pairs.add(lines[:, 1], lines[:, 2])
        self._add_attributes(batch, page)
        return lines

    def _add_attributes(self, batch: pl.DataFrame, page: Codes) -> None:
        most = int(page.max(initial=0)) + 1
        if most > len(self._present):
            self._present = np.pad(self._present, (0, max(most, 2 * len(self._present)) - len(self._present)))
        self._present[page] = True
        for name, segment in self._segments.items():
            segment.add(page, self._codebook.segments[name].add(batch[name]))
        if self._weight is not None:
            self._weight.add(page, batch[str(self._plan.settings.weight)].to_numpy())

    def layouts(self, packed: list[Lines | Path], height: int, judgments: Judgments) -> Layouts:
        """All pages; those whose lines have no segment or weight get those of their judgments."""
        count = self.pages()
        user = np.arange(count, dtype=np.uint32) if self._page_ids is None else self._page_ids.user()
        judgment_set = np.arange(count, dtype=np.uint32) if judgments.per_page else user
        segments = {
            name: self._segments[name].codes(count)
            if name in self._segments
            else _values_of_pages(judgments.segments[name], judgment_set, NONE)
            for name in self._by
        }
        weights = None if judgments.weights is None else _values_of_pages(judgments.weights, judgment_set, np.nan)
        return Layouts(
            parts=packed,
            lines=height,
            labelled="category" in self._columns,
            page_ids=self._page_ids,
            present=np.pad(self._present, (0, max(0, count - len(self._present))))[:count],
            user=user,
            judgment_set=judgment_set,
            grid=_grid_of_pages(segments, self._codebook, self._plan, count),
            segments=segments,
            weights=weights if self._weight is None else self._weight.padded(count),
            pairs=self._pairs,
        )


def _values_of_pages(values: Any, judgment_sets: Codes, nothing: Any) -> Any:
    """The value of every page's judgment set; ``nothing`` where it has none."""
    judged = judgment_sets < len(values)
    of_pages = np.full(len(judgment_sets), nothing, dtype=values.dtype)
    of_pages[judged] = values[judgment_sets[judged]]
    return of_pages


@dataclass(frozen=True)
class _UnknownValues:
    """Values of segments for which there is no grid."""

    by: str
    values: frozenset[str]
    listed: tuple[str, ...]
    kind = "layouts: grid"

    def __add__(self, other: "_UnknownValues") -> "_UnknownValues":
        return replace(self, values=self.values | other.values)

    def __str__(self) -> str:
        values = ", ".join(map(repr, sorted(self.values)[:5]))
        return Message(
            f"layouts: {self.by} has {values}, which {setting('grid')} does not list; it lists "
            f"{', '.join(map(repr, self.listed))}. Give a grid for every value."
        )


def _grid_of_pages(segments: dict[str, Codes], codebook: Codebook, plan: ScoringPlan, count: int) -> NDArray[np.uint8]:
    """The index of every page's grid: the last one where its segment is unknown."""
    if plan.grid_values is None:
        return np.zeros(count, np.uint8)
    (by,) = plan.settings.by_columns
    values = codebook.segments[by].values().to_list()
    index = {name: number for number, name in enumerate(plan.grid_values)}
    codes = np.unique(segments[by])
    unknown = {values[code] for code in codes[codes != NONE]} - index.keys()
    if unknown:
        raise AddedError(_UnknownValues(by, frozenset(unknown), tuple(index)))
    of_code = np.array([*(index.get(value, 0) for value in values), len(index)], np.uint8)
    return of_code[np.where(segments[by] == NONE, len(values), segments[by])]
