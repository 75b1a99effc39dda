"""The geometry of the screen: rows of carousels, swipe pages within them, and the actions that reveal a cell."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import groupby
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from carouseval.errors import ParameterError
from carouseval.messages import Expression, setting
from carouseval.validation import LARGEST_SIZE, require_int

Array: TypeAlias = NDArray[np.float64]
"""An array of float64."""

IntArray: TypeAlias = NDArray[np.int64]
"""An array of int64."""

MOST_CELLS = 100_000_000

PageSizes: TypeAlias = int | Sequence[int]
"""Items of a row in view at once: one number for all rows, or one for each row."""


@dataclass(frozen=True)
class Grid:
    """The screen: a page of ``rows`` carousels with ``cols`` items each, counted from 1 as in the paper.

    Parameters
    ----------
    rows : int, default 10
        Number of rows, at least 1.
    cols : int, default 15
        Number of items in a row, at least 1.
    page_size : int or sequence of int, default 5
        Items of a row visible at once, the paper's delta, at least 1: one number, or one for each row, such as
        ``(1, 5, 5)`` below a billboard. If it is ``cols`` or more, nobody needs to swipe. Equal numbers are kept as
        one, others as a tuple.
    visible_rows : int, default 3
        Rows visible before the first scroll, at least 1.
    swipe_step : int, optional
        Columns that one swipe reveals, at least 1; by default the ``page_size`` of the row.
    scroll_step : int, default 1
        Rows that one scroll reveals, at least 1.

    Examples
    --------
    >>> import carouseval as cv
    >>> cv.Grid(rows=3, cols=7, page_size=3).mirrored_columns
    array([1, 2, 3, 6, 5, 4, 9])
    >>> cv.Grid(rows=3, cols=7, page_size=3).swipes
    array([0, 0, 0, 1, 1, 1, 2])
    >>> cv.Grid(rows=2, cols=4, page_size=(1, 4)).swipes  # a billboard above a row without swipe pages
    array([[0, 1, 2, 3],
           [0, 0, 0, 0]])
    """

    rows: int = 10
    cols: int = 15
    page_size: PageSizes = 5
    visible_rows: int = 3
    swipe_step: int | None = None
    scroll_step: int = 1

    def __post_init__(self) -> None:
        for name in ("rows", "cols", "visible_rows", "swipe_step", "scroll_step"):
            value = getattr(self, name)
            if name != "swipe_step" or value is not None:
                object.__setattr__(self, name, require_int(_parameter(name), value, 1, LARGEST_SIZE))
        if self.rows * self.cols > MOST_CELLS:
            raise ParameterError(f"{_parameter(f'{self}')} has more than {MOST_CELLS:,} cells.")
        object.__setattr__(self, "page_size", _checked_page_size(self.page_size, self.rows))

    def __str__(self) -> str:
        return f"{self.rows}x{self.cols}"

    def __reduce__(self) -> tuple[type["Grid"], tuple[PageSizes | None, ...]]:
        """Copies and pickles start without cached arrays, which would come back writable."""
        return Grid, (self.rows, self.cols, self.page_size, self.visible_rows, self.swipe_step, self.scroll_step)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.rows, self.cols

    @cached_property
    def row_index(self) -> IntArray:
        """Row numbers i = 1..rows, as a column of shape (rows, 1) that broadcasts against properties of columns."""
        return _frozen(np.arange(1, self.rows + 1)[:, None])

    @cached_property
    def column_index(self) -> IntArray:
        """Column numbers j = 1..cols."""
        return _frozen(np.arange(1, self.cols + 1))

    @cached_property
    def page_sizes(self) -> IntArray:
        """The page size of each row, of shape (rows, 1); of shape (1,) if it is the same in all rows."""
        sizes = np.array(self.page_size, dtype=np.int64)
        return _frozen(sizes[:, None] if sizes.ndim else sizes[None])

    @cached_property
    def swipe_page(self) -> IntArray:
        """The swipe page of each column, counted from 1; (rows, cols) if page sizes differ by row."""
        return _frozen((self.column_index - 1) // self.page_sizes + 1)

    @cached_property
    def slot(self) -> IntArray:
        """The position of each column on its swipe page, counted from 1; (rows, cols) if page sizes differ by row."""
        return _frozen((self.column_index - 1) % self.page_sizes + 1)

    @cached_property
    def mirrored_columns(self) -> IntArray:
        """The paper's j~: j on the first swipe page, mirrored within each later one.

        A partial last page is mirrored with the full page size, as in the paper's formula: 13 columns in pages of 5 end
        in 15, 14, 13. Of shape (rows, cols) if page sizes differ by row.
        """
        mirrored = self.page_sizes * self.swipe_page - self.slot + 1
        return _frozen(np.where(self.swipe_page == 1, self.column_index, mirrored))

    @cached_property
    def swipes(self) -> IntArray:
        """n_h of each column: swipes until it is visible; (rows, cols) if page sizes differ by row."""
        return _frozen(_actions(self.column_index, self.page_sizes, self.swipe_step or self.page_sizes))

    @cached_property
    def scrolls(self) -> IntArray:
        """n_v of each row, of shape (rows, 1): scrolls until it is visible."""
        return _frozen(_actions(self.row_index, self.visible_rows, self.scroll_step))


def sizes_by_row(grid: Grid) -> list[int]:
    """The page size of every row."""
    return [grid.page_size] * grid.rows if isinstance(grid.page_size, int) else list(grid.page_size)


def resized(grid: Grid, rows: int, cols: int) -> Grid:
    """The grid with another number of rows and columns; further rows have the page size of the last one."""
    return replace(grid, rows=rows, cols=cols, page_size=extended(sizes_by_row(grid), rows))


def extended(sizes: Sequence[int], rows: int) -> tuple[int, ...]:
    """Page sizes of this many rows: the first ones or, if there are too few, the last one repeated."""
    return (*sizes[:rows], *[sizes[-1]] * (rows - len(sizes)))


def grid_text(grid: Grid) -> Expression:
    """A grid as it is written in Python, with its size, its page size and whatever is not the default."""
    always = ("rows", "cols", "page_size")
    values = [(f.name, getattr(grid, f.name), f.default) for f in fields(grid)]
    texts = [f"{name}={value!r}" for name, value, default in values if name in always or value != default]
    return Expression(f"cv.Grid({', '.join(texts)})")


def page_size_text(page_size: PageSizes, items: str) -> str:
    """``5 items per swipe page`` or, where rows differ, ``items per swipe page: 1 in row 1, 5 in rows 2-10``."""
    if isinstance(page_size, int):
        return f"{page_size} {items}"
    texts, first = [], 1
    for size, rows in groupby(page_size):
        last = first + len(list(rows)) - 1
        texts.append(f"{size} in " + (f"row {first}" if first == last else f"rows {first}-{last}"))
        first = last + 1
    return f"{items}: {', '.join(texts)}"


def _parameter(name: str) -> str:
    """What an error is about: some parameters are settings of the command line, beside the size of the grid."""
    if name in ("page_size", "visible_rows"):
        return setting(name, text=f"Grid: {name}")
    return f"{setting('grid', text='Grid')}: {name}"


def _checked_page_size(page_size: Any, rows: int) -> int | tuple[int, ...]:
    """One number, or a tuple with one for each row where they differ."""
    several = isinstance(page_size, Sequence) and not isinstance(page_size, str | bytes)
    if not several and not (isinstance(page_size, np.ndarray) and page_size.ndim):
        return require_int(_parameter("page_size"), page_size, 1, LARGEST_SIZE)
    sizes = tuple(
        require_int(f"{_parameter('page_size')} of row {row}", size, 1, LARGEST_SIZE)
        for row, size in enumerate(page_size, 1)
    )
    if len(sizes) != rows:
        fit = f", such as {setting('page_size', extended(sizes, rows))}" if sizes else ""
        raise ParameterError(
            f"{_parameter('page_size')} has {len(sizes)} number{'s' * (len(sizes) != 1)} for {rows} "
            f"row{'s' * (rows != 1)}. Give one number for all rows, or one for each{fit}."
        )
    return sizes if len(set(sizes)) > 1 else sizes[0]


def _actions(position: IntArray, visible: int | IntArray, step: int | IntArray) -> IntArray:
    actions: IntArray = np.maximum(0, -((visible - position) // step))  # -(-a // b) is the ceiling of a / b
    return actions


def _frozen(values: IntArray) -> IntArray:
    values.flags.writeable = False
    return values


RECGAZE: Grid = Grid(rows=10, cols=15, page_size=5, visible_rows=3)
"""The screen of the RecGaze study, 10x15 with swipe pages of 5; the default grid."""

# Illustrations of common screens, to start from; measure those of your product before relying on them.
TV: Grid = Grid(rows=20, cols=24, page_size=6, visible_rows=2, swipe_step=1)
"""A television, 20x24: six items of two rows visible; the remote moves one item at a time."""
DESKTOP: Grid = Grid(rows=12, cols=18, page_size=6, visible_rows=4)
"""A desktop browser, 12x18: six items of four rows visible; arrows move a row by a whole swipe page."""
PHONE: Grid = Grid(rows=15, cols=12, page_size=3, visible_rows=4, swipe_step=2)
"""A phone, 15x12: three items of four rows visible; a swipe brings about two more."""

PRESETS: dict[str, Grid] = {"recgaze": RECGAZE, "tv": TV, "desktop": DESKTOP, "phone": PHONE}
