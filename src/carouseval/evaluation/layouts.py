"""Pages out of layout tables: lines are packed to 16 bytes, grouped by page, and read by a kernel.

Tables that do not fit the memory budget are first split over temporary files by page; every page is read alone, so the
results are the same.
"""

import contextlib
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from carouseval import _native
from carouseval.errors import DataError
from carouseval.evaluation.ids import NONE, Codes, Ids, PairIds
from carouseval.evaluation.judgments import PerTruth, Truth
from carouseval.evaluation.membership import Membership
from carouseval.metrics.grid import Array, Grid
from carouseval.metrics.pages import thread_count
from carouseval.tables import Table

_LINE = 16  # bytes of a packed line; as many again where lines must be sorted by page
_MOST_PARTS = 256  # files open at a time
Lines = NDArray[np.uint32]  # (n, 4): page, item, category, place
Progress = Callable[[str, int, int], None] | None


@dataclass(frozen=True)
class ShownPages:
    """Some pages as the kernel reads them. A *hit* is a cell whose item gains something."""

    pages: NDArray[np.int64]  # their codes
    offsets: NDArray[np.int64]  # where each page's hits begin
    hits: NDArray[np.uint32]  # (hits, 3): judgment, row << 16 | col from 1, rank among occupied cells from 0
    length: NDArray[np.uint16]  # (pages, rows): the column of the row's last item
    category: NDArray[np.uint32]  # (pages, rows), NONE where it is not known
    pinned: NDArray[np.uint8]  # (pages, rows)
    duplicates: NDArray[np.uint32]
    unjudged: NDArray[np.uint32]
    flaws: NDArray[np.uint8]  # bits as in native/shown.h

    def __len__(self) -> int:
        return len(self.pages)

    @property
    def hit_page(self) -> NDArray[np.int64]:
        """The page of every hit, counted in this batch."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))

    def cells(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Row and column of every hit, from 0."""
        place = self.hits[:, 1].astype(np.int64)
        return (place >> 16) - 1, (place & 0xFFFF) - 1

    def take(self, chosen: NDArray[np.int64]) -> "ShownPages":
        """Some of these pages, in the order given."""
        counts = np.diff(self.offsets)[chosen]
        offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        at = np.arange(offsets[-1]) + np.repeat(self.offsets[chosen] - offsets[:-1], counts)
        return ShownPages(
            self.pages[chosen],
            offsets,
            np.ascontiguousarray(self.hits[at]),
            self.length[chosen],
            self.category[chosen],
            self.pinned[chosen],
            self.duplicates[chosen],
            self.unjudged[chosen],
            self.flaws[chosen],
        )


@dataclass
class Layouts:
    """All lines of a layouts table in packed form, and what is known of each page."""

    table: Table
    truth: Truth
    parts: list[Lines | Path]  # in memory, or in temporary files
    page_ids: Ids | None
    pages: PairIds | None  # (user, page); None: every user has one page
    segments: dict[str, Codes]  # per page
    weights: Array | None  # per page
    pairs: PairIds | None  # (item, category) seen, where asked for
    lines: int
    present: NDArray[np.bool_]  # which pages have lines: codes are shared with judgments

    @property
    def labelled(self) -> bool:
        """Whether lines name their carousel's category."""
        return "category" in self.table

    def __len__(self) -> int:
        return len(self.truth.users) if self.pages is None else len(self.pages)

    def user(self) -> Codes:
        """The user of every page."""
        return np.arange(len(self), dtype=np.uint32) if self.pages is None else self.pages.pairs()[0]

    def truths(self) -> Codes:
        """The truth that every page is judged by."""
        return np.arange(len(self), dtype=np.uint32) if self.truth.per_page else self.user()

    def shown(
        self,
        counts: NDArray[np.uint8],
        membership: Membership | None,
        grids: list[Grid],
        grid_of: NDArray[np.uint8],
        progress: Progress = None,
    ) -> Iterator[ShownPages]:
        """All pages, batch by batch; ``counts`` marks the judgments that gain something."""
        truths, users = self.truths(), self.user()
        sizes = np.array([grid.shape for grid in grids], np.int32)
        for at, part in enumerate(self.parts):
            lines = part if isinstance(part, np.ndarray) else np.fromfile(part, np.uint32).reshape(-1, 4)
            runs = _native.page_runs(lines, len(self))
            if runs is not None:
                begin, end = runs
            else:
                lines, begin, end = _native.sorted_lines(lines, len(self))
                if isinstance(part, np.ndarray):
                    self.parts[at] = lines  # the other copy can go
            present = np.flatnonzero(end > begin)
            read = _native.read_pages(
                lines, begin, end, present, truths, users, grid_of, sizes, self.truth.offsets, self.truth.item, counts,
                None if membership is None else membership.arrays, self.labelled, thread_count(None),
            )  # fmt: skip
            yield ShownPages(present, *read)
            if progress is not None:
                progress("scoring", at + 1, len(self.parts))


@contextlib.contextmanager
def read_layouts(
    table: Table,
    truth: Truth,
    by: tuple[str, ...] = (),
    weight: str | None = None,
    segment_ids: Mapping[str, Ids] | None = None,
    memory: float = 4.0,
    want_pairs: bool = False,
    progress: Progress = None,
) -> Iterator[Layouts]:
    """Pack all lines, within ``memory`` GiB or in temporary files that go when the block ends."""
    height = table.height()
    if height == 0:
        raise DataError("layouts: the table is empty. Give at least one line of user_id, row, col, item_id.")
    budget = max(1, int(memory * 2**30))
    parts = min(_MOST_PARTS, max(1, -(-height * 2 * _LINE // budget)))
    page_ids, pages = truth.page_ids, truth.pages
    if "page_id" in table and not truth.per_page:
        page_ids, pages = Ids(), PairIds()
    if truth.per_page and "page_id" not in table:
        raise DataError(
            "layouts: missing column page_id; judgments have one. Add it to layouts, or drop it from judgments."
        )
    layouts = Layouts(
        table, truth, [], page_ids, pages, {}, None, PairIds() if want_pairs else None, height, np.zeros(0, bool)
    )
    own = [name for name in by if name in table]
    weight = weight if weight is not None and weight in table else None
    noted = {name: PerTruth("layouts", name, table, "page") for name in (*own, *([weight] if weight else []))}
    with contextlib.ExitStack() as stack:
        in_files = height * _LINE > budget
        sink = stack.enter_context(_Files(parts)) if in_files else _Memory(height)
        done = 0
        for batch in table.batches():
            page, packed = _packed(batch, layouts)
            layouts.present = _marked(layouts.present, page)
            for name, attribute in noted.items():
                values = (segment_ids or {})[name].add(batch[name]) if name in own else batch[name].to_numpy()
                attribute.add(page, values)
            sink.add(packed)
            done += batch.height
            if progress is not None:
                progress("reading", done, height)
        layouts.parts = sink.finish()
        if parts > 1 and isinstance(lines := layouts.parts[0], np.ndarray):
            if _native.page_runs(lines, len(layouts)) is None:
                layouts.parts = _moved(lines, stack.enter_context(_Files(parts)))
            del lines
        layouts.present = np.pad(layouts.present, (0, max(0, len(layouts) - len(layouts.present))))[: len(layouts)]
        for name in own:
            layouts.segments[name] = noted[name].codes(len(layouts))
        if weight:
            layouts.weights = noted[weight].padded(len(layouts))
        yield layouts


def _packed(batch: pl.DataFrame, layouts: Layouts) -> tuple[Codes, Lines]:
    truth = layouts.truth
    user, item = truth.users.add(batch["user_id"]), truth.items.add(batch["item_id"])
    if layouts.pages is None or layouts.page_ids is None:
        page = user
    else:
        page = layouts.pages.add(user, layouts.page_ids.add(batch["page_id"]))
    lines = np.empty((batch.height, 4), np.uint32)
    lines[:, 0] = page
    lines[:, 1] = item
    if layouts.labelled:
        lines[:, 2] = category = truth.categories.add(batch["category"])
        if layouts.pairs is not None:
            layouts.pairs.add(item, category)
    else:
        lines[:, 2] = NONE
    place = batch["row"].to_numpy() << 16 | batch["col"].to_numpy()
    if "pinned" in layouts.table:
        place |= batch["pinned"].to_numpy().astype(np.int64) << 31
    lines[:, 3] = place
    return page, lines


def _moved(lines: Lines, files: "_Files") -> list[Lines | Path]:
    """Lines that must be sorted and have no room for it, split over files."""
    step = 1 << 20
    for begin in range(0, len(lines), step):
        files.add(lines[begin : begin + step])
    return files.finish()


def _marked(present: NDArray[np.bool_], pages: Codes) -> NDArray[np.bool_]:
    most = int(pages.max(initial=0)) + 1
    if most > len(present):
        present = np.pad(present, (0, max(most, 2 * len(present)) - len(present)))
    present[pages] = True
    return present


class _Memory:
    """Lines side by side in one array."""

    def __init__(self, height: int) -> None:
        self._lines, self._filled = np.empty((height, 4), np.uint32), 0

    def add(self, lines: Lines) -> None:
        self._lines[self._filled : self._filled + len(lines)] = lines
        self._filled += len(lines)

    def finish(self) -> list[Lines | Path]:
        return [self._lines[: self._filled]]


class _Files:
    """Lines split by page over temporary files."""

    def __init__(self, parts: int) -> None:
        self._parts = parts

    def __enter__(self) -> "_Files":
        self._folder = tempfile.TemporaryDirectory(prefix="carouseval-", ignore_cleanup_errors=True)
        self._paths = [Path(self._folder.name) / f"{part}.lines" for part in range(self._parts)]
        self._files = [path.open("wb") for path in self._paths]
        return self

    def __exit__(self, *_: object) -> None:
        self._close()
        self._folder.cleanup()

    def _close(self) -> None:
        for file in self._files:
            file.close()

    def add(self, lines: Lines) -> None:
        part = lines[:, 0] % self._parts
        for at, file in enumerate(self._files):
            lines[part == at].tofile(file)

    def finish(self) -> list[Lines | Path]:
        self._close()
        return list(self._paths)
