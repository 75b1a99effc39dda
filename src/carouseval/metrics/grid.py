"""The screen's geometry: rows of carousels, swipe pages within them, and the actions that reveal a cell."""

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from carouseval.metrics.validation import require_int

Array: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True)
class Grid:
    """A page of ``rows`` carousels with ``cols`` items each, counted from 1 as in the paper.

    Parameters
    ----------
    rows, cols
        Size of the page.
    page_size
        Items of a row seen at once, the paper's delta. May exceed ``cols``: then nobody needs to swipe.
    visible_rows
        Rows seen before the first scroll.
    swipe_step, scroll_step
        Columns one swipe and rows one scroll reveal. ``swipe_step=None`` means ``page_size``.

    Examples
    --------
    >>> Grid(rows=3, cols=7, page_size=3).mirrored_columns
    array([1, 2, 3, 6, 5, 4, 9])
    >>> Grid(rows=3, cols=7, page_size=3).swipes
    array([0, 0, 0, 1, 1, 1, 2])
    """

    rows: int = 10
    cols: int = 15
    page_size: int = 5
    visible_rows: int = 3
    swipe_step: int | None = None
    scroll_step: int = 1

    def __post_init__(self) -> None:
        for name in ("rows", "cols", "page_size", "visible_rows", "swipe_step", "scroll_step"):
            value = getattr(self, name)
            if name != "swipe_step" or value is not None:
                object.__setattr__(self, name, require_int(f"Grid: {name}", value, 1))

    def __str__(self) -> str:
        return f"{self.rows}x{self.cols}"

    def __reduce__(self) -> tuple[type["Grid"], tuple[int | None, ...]]:
        """Copies and pickles are made anew: arrays computed so far would come back writable."""
        return Grid, (self.rows, self.cols, self.page_size, self.visible_rows, self.swipe_step, self.scroll_step)

    @property
    def shape(self) -> tuple[int, int]:
        return self.rows, self.cols

    @cached_property
    def row_index(self) -> NDArray[np.int64]:
        """i = 1..rows, as a column that broadcasts against the columns' properties."""
        return _frozen(np.arange(1, self.rows + 1)[:, None])

    @cached_property
    def column_index(self) -> NDArray[np.int64]:
        """j = 1..cols."""
        return _frozen(np.arange(1, self.cols + 1))

    @cached_property
    def swipe_page(self) -> NDArray[np.int64]:
        """The swipe page of each column, counted from 1."""
        return _frozen((self.column_index - 1) // self.page_size + 1)

    @cached_property
    def slot(self) -> NDArray[np.int64]:
        """The place of each column on its swipe page, counted from 1."""
        return _frozen((self.column_index - 1) % self.page_size + 1)

    @cached_property
    def mirrored_columns(self) -> NDArray[np.int64]:
        """The paper's j~: j on the first swipe page, mirrored within each later one.

        A partial last page is mirrored with the full page size, as the paper's formula has it: 13 columns in pages of
        5 end in 15, 14, 13.
        """
        mirrored = self.page_size * self.swipe_page - self.slot + 1
        return _frozen(np.where(self.swipe_page == 1, self.column_index, mirrored))

    @cached_property
    def swipes(self) -> NDArray[np.int64]:
        """n_h of each column: swipes until it shows."""
        return _frozen(_actions(self.column_index, self.page_size, self.swipe_step or self.page_size))

    @cached_property
    def scrolls(self) -> NDArray[np.int64]:
        """n_v of each row, as a column: scrolls until it shows."""
        return _frozen(_actions(self.row_index, self.visible_rows, self.scroll_step))


def _actions(position: NDArray[np.int64], visible: int, step: int) -> NDArray[np.int64]:
    return np.maximum(0, -((visible - position) // step))  # -(-a // b) is the ceiling of a / b


def _frozen(values: NDArray[np.int64]) -> NDArray[np.int64]:
    values.flags.writeable = False
    return values


RECGAZE = Grid(rows=10, cols=15, page_size=5, visible_rows=3)
"""The screen of the RecGaze study, and the default."""

# Illustrations of common screens, to start from; measure your own product's before you rely on them.
TV = Grid(rows=20, cols=24, page_size=6, visible_rows=2, swipe_step=1)
"""A television: two rows in view, the remote moves one item at a time."""
DESKTOP = Grid(rows=12, cols=18, page_size=6, visible_rows=4)
"""A desktop browser: arrows move a row by a whole page."""
PHONE = Grid(rows=15, cols=12, page_size=3, visible_rows=4, swipe_step=2)
"""A phone held upright: three covers in view, a flick of the thumb brings about two more."""

PRESETS = {"recgaze": RECGAZE, "tv": TV, "desktop": DESKTOP, "phone": PHONE}
