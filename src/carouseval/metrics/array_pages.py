"""Pages from arrays of relevances, as metrics see them: every cell holds a different item."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from carouseval.metrics.grid import Array, Grid, IntArray
from carouseval.metrics.page_stack import Stack


@dataclass(frozen=True, eq=False)
class ArrayPages:
    """A stack of pages on a grid; see :class:`carouseval.metrics.metric_base.Pages`."""

    stack: Stack
    grid: Grid
    threads: int | None = None

    def __len__(self) -> int:
        return len(self.stack.relevance)

    def gain_sum(self, weights: Array, *, by_rank: bool = False, once: bool = False) -> Array:
        sums: Array = self.stack.score(weights, "none", by_rank, self.threads)[0]
        return sums

    def gains(self, weights: Array) -> Iterator[Array]:
        return iter(self.stack.gains_on(self.grid, self.threads))

    def hits(self) -> tuple[IntArray, IntArray, IntArray]:
        page, row, col = np.nonzero(np.nan_to_num(self.stack.gains(self.threads), nan=0.0) > 0)
        return page, row, col

    def relevant(self) -> IntArray:
        return np.bincount(self.hits()[0], minlength=len(self))

    def occupied_before(self, order: IntArray, limit: IntArray) -> IntArray:
        rows, cols = self.stack.relevance.shape[1:]
        before = order[:rows, :cols] < limit[:, None, None]
        counts: IntArray = (before & ~np.isnan(self.stack.relevance)).sum(axis=(1, 2))
        return counts
