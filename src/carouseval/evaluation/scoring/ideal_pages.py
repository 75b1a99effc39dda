"""Ideal pages that are solved, by code, so that each is solved once."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from carouseval.evaluation.reading.ids import Codes
from carouseval.evaluation.scoring.ideal_problems import IdealCells
from carouseval.metrics.grid import Array


class SolvedIdeals(NamedTuple):
    """Ideals of some problems: the best value of each, the proven bound on it, and how to get their cells."""

    best: Array
    bound: Array
    cells: Callable[[], IdealCells]


class IdealPages:
    """The values of ideal pages, and their cells if these are kept.

    Codes are those of judgment sets or, where pages have ideals of their own, the numbers of these pages.
    """

    def __init__(self, count: int, keeps_cells: bool) -> None:
        self.best, self.bound = np.full(count, np.nan), np.full(count, np.nan)  # NaN until solved
        self._keeps_cells = keeps_cells
        self._begin, self._end = np.zeros((2, count if keeps_cells else 0), np.int64)
        self._cells = np.empty((0, 3), np.uint32)  # judgment, row << 16 | col, category; room for more at the end
        self._count = 0

    def add(self, codes: NDArray[np.int64], solved: SolvedIdeals) -> None:
        """Add the ideals of these codes, which are new."""
        self.best[codes], self.bound[codes] = solved.best, solved.bound
        if not self._keeps_cells:
            return
        cells = solved.cells()
        order = np.argsort(cells.problem, kind="stable")
        ends = self._count + np.cumsum(np.bincount(cells.problem, minlength=len(codes)))
        self._begin[codes], self._end[codes] = np.concatenate([[self._count], ends[:-1]]), ends
        first, self._count = self._count, self._count + len(order)
        if self._count > len(self._cells):
            self._cells.resize((max(self._count, 2 * len(self._cells)), 3), refcheck=False)
        columns = cells.judgment, cells.row << 16 | cells.col, cells.category
        self._cells[first : self._count] = np.stack(columns, axis=1)[order]

    def cells(self, codes: Codes | NDArray[np.int64], gain: Array) -> IdealCells:
        """The cells of ideal pages, numbered as ``codes`` are listed; ``gain`` is that of every judgment."""
        counts = self._end[codes] - self._begin[codes]
        before = np.cumsum(counts) - counts
        index = np.arange(counts.sum()) + np.repeat(self._begin[codes] - before, counts)
        judgment, place, category = self._cells[index].T
        return IdealCells(
            problem=np.repeat(np.arange(len(codes)), counts),
            row=(place >> 16).astype(np.int64),
            col=(place & 0xFFFF).astype(np.int64),
            judgment=judgment.astype(np.int64),
            gain=gain[judgment],
            category=category,
        )
