"""Pages of tables, as metrics take them: hits with judgments, and repeats counted by a rule."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from carouseval import _native
from carouseval.evaluation.reading.page_batch import PageBatch
from carouseval.evaluation.settings import Duplicates
from carouseval.metrics.grid import Array, Grid

_PAGES_AT_ONCE = 1_000  # whose gains are arrays of all cells
_REPEATS = {
    "best": _native.Repeats.BEST,
    "first": _native.Repeats.FIRST,
    "every": _native.Repeats.EVERY,
    "error": _native.Repeats.BEST,  # refused before pages are scored
}


@dataclass(frozen=True, eq=False)
class TablePages:
    """Some pages of one grid; see :class:`carouseval.metrics.pages.Pages`."""

    batch: PageBatch
    grid: Grid
    gain: Array  # of every judgment, as the metric counts it
    duplicates: Duplicates
    judged_relevant: NDArray[np.int64] | None  # relevant items per judgment set; None: of displayed items alone
    threads: int

    def __len__(self) -> int:
        return len(self.batch.pages)

    def gain_sum(self, weights: Array, *, by_rank: bool = False, once: bool = False) -> Array:
        return self._sum_and_weights(weights, by_rank, once)[0]

    def hit_weights(self, weights: Array) -> Array:
        """The weight of every hit, 0 where it does not count."""
        return self._sum_and_weights(weights, by_rank=False, once=False)[1]

    def _sum_and_weights(self, weights: Array, by_rank: bool, once: bool) -> tuple[Array, Array]:
        rule = _native.Repeats.BEST if once else _REPEATS[self.duplicates]
        batch = self.batch
        return _native.score_hits(batch.offsets, batch.hits, self.gain, weights, by_rank, rule, self.threads)

    def gains(self, weights: Array) -> Iterator[Array]:
        batch = self.batch
        (rows, cols), counted = batch.hit_cells(), self._counted(weights)
        for begin in range(0, len(batch), _PAGES_AT_ONCE):
            end = min(begin + _PAGES_AT_ONCE, len(batch))
            hits = slice(batch.offsets[begin], batch.offsets[end])
            page = batch.hit_page[hits] - begin
            gains = np.zeros((end - begin, *self.grid.shape))
            gains[page, rows[hits], cols[hits]] = self.gain[batch.hit_judgment[hits]] * counted[hits]
            yield from gains

    def _counted(self, weights: Array) -> NDArray[np.bool_]:
        """Which hits count, also where their weight is 0: one of each item's repeats, by the rule."""
        page, judgment, rank = self.batch.hit_page, self.batch.hit_judgment, self.batch.hits[:, 2]
        if self.duplicates == "every":
            return np.ones(len(page), bool)
        weight = np.zeros(len(page)) if self.duplicates == "first" else weights[self.batch.hit_cells()]
        order = np.lexsort((rank, -weight, judgment, page))
        page, judgment = page[order], judgment[order]
        first = np.ones(len(order), bool)
        first[1:] = (page[1:] != page[:-1]) | (judgment[1:] != judgment[:-1])
        counted = np.zeros(len(order), bool)
        counted[order[first]] = True
        return counted

    def hits(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        gaining = self.gain[self.batch.hit_judgment] > 0
        rows, cols = self.batch.hit_cells()
        return self.batch.hit_page[gaining], rows[gaining], cols[gaining]

    def relevant(self) -> NDArray[np.int64]:
        if self.judged_relevant is not None:
            counts = np.append(self.judged_relevant, 0)  # pages may have no judgment set
            return np.asarray(counts[np.minimum(self.batch.judgment_set, len(self.judged_relevant))])
        gaining = self.gain[self.batch.hit_judgment] > 0
        pairs = np.unique(np.stack([self.batch.hit_page[gaining], self.batch.hit_judgment[gaining]]), axis=1)
        return np.bincount(pairs[0], minlength=len(self))

    def occupied_before(self, order: NDArray[np.int64], limit: NDArray[np.int64]) -> NDArray[np.int64]:
        counts = np.zeros(len(self), np.int64)
        for cells in self.batch.cells():
            before = order[cells.row, cells.col] < limit[cells.page]
            counts += np.bincount(cells.page[before], minlength=len(self))
        return counts
