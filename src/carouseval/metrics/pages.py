"""Pages as metrics see them; from arrays of relevances here, from tables in ``evaluation/scoring/scoring_step.py``."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from carouseval.metrics.grid import Array, Grid, IntArray
from carouseval.metrics.page_stack import Stack


class Pages(Protocol):
    """A batch of pages as metrics see it, whether it comes from an array or from tables.

    The argument ``pages`` of :meth:`carouseval.metrics.Metric.value`. All pages have the same grid. Gains are those
    that the metric asks for: with ``binary = True`` they are 1 or 0. A *hit* is a cell whose item has a positive gain.

    Examples
    --------
    The number of hits per page, each item counting once:

    >>> import carouseval as cv
    >>> @cv.metrics.register_metric("Hits")
    ... class Hits(cv.metrics.Metric):
    ...     binary = True
    ...     def value(self, pages, weights):
    ...         return pages.gain_sum(weights, once=True)
    >>> cv.metric("Hits@1x3")([[[1, 0, 2], [3, 3, 3]], [[0, 0, 0], [1, 0, 0]]])
    array([2., 0.])
    """

    def __len__(self) -> int: ...

    def gain_sum(self, weights: Array, *, by_rank: bool = False, once: bool = False) -> Array:
        """Sum of gain times weight over each page.

        Parameters
        ----------
        weights : ndarray
            The weight of each cell, of shape (rows, cols); with ``by_rank``, of each rank, of shape (1, ranks).
        by_rank : bool, default False
            Whether weights are those of ranks in the list of occupied cells, read row by row.
        once : bool, default False
            Whether an item shown more than once counts once, in the cell of largest weight; otherwise the setting
            ``duplicates`` decides.

        Returns
        -------
        ndarray of float64, shape (pages,)
            One sum per page.
        """

    def gains(self, weights: Array) -> Iterator[Array]:
        """The gain of every cell, page by page.

        Parameters
        ----------
        weights : ndarray of shape (rows, cols)
            The weight of each cell, which decides where a repeated item counts (``duplicates="best"``).

        Returns
        -------
        iterator of ndarray of float64, shape (rows, cols)
            Gains of a page; 0 in empty cells and for repeats that do not count.
        """

    def hits(self) -> tuple[IntArray, IntArray, IntArray]:
        """All hits, repeats included.

        Returns
        -------
        tuple of ndarray of int64
            Page, row and column of every hit, counted from 0.
        """

    def relevant(self) -> IntArray:
        """The number of relevant items that each page could have shown.

        Returns
        -------
        ndarray of int64, shape (pages,)
            Items of positive gain among those judged, or among those on the page, as ``candidates`` says.
        """

    def occupied_before(self, order: IntArray, limit: IntArray) -> IntArray:
        """The number of occupied cells that come before a limit in some order of cells.

        Parameters
        ----------
        order : ndarray of int64, shape (rows, cols)
            The position of each cell in the order.
        limit : ndarray of int64, shape (pages,)
            The position to stop before, one per page.

        Returns
        -------
        ndarray of int64, shape (pages,)
            Occupied cells of each page whose position is below its limit.
        """


def occupied_cells(pages: Pages, view: NDArray[np.bool_]) -> IntArray:
    """The number of cells of a view that hold an item, per page."""
    return pages.occupied_before(np.where(view, 0, 1), np.ones(len(pages), np.int64))


@dataclass(frozen=True, eq=False)
class ArrayPages:
    """A stack of pages on a grid, every cell of which holds a different item; see :class:`Pages`."""

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
