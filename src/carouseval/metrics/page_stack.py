"""Pages stacked in one array that the kernels can read, with checks of shape, values and threads."""

import functools
import os
from dataclasses import dataclass
from typing import Any, Literal, NoReturn

import numpy as np
from numpy.typing import NDArray

from carouseval import _native
from carouseval.errors import DataError, ParameterError, warn
from carouseval.messages import setting
from carouseval.metrics import discount_base
from carouseval.metrics.cutoffs import PageCutoff, page_weights, parse_cutoff
from carouseval.metrics.discount_base import as_discount
from carouseval.metrics.discounts import Discount  # which registers those there are
from carouseval.metrics.gain_names import IdealName
from carouseval.metrics.gains import KERNEL_GAINS, LARGEST_GRADE, Gain, apply_function, check_gain, large_gain
from carouseval.metrics.grid import MOST_CELLS, Array, Grid, grid_text, resized
from carouseval.metrics.relevance import PAGE_HINT, Relevance, relevance_array
from carouseval.validation import LARGEST_SIZE, parse_size, quoted, require_int

# read by the kernels as they are; other types are converted to one that holds all their values
_NATIVE = (np.dtype(np.float64), np.dtype(np.float32), np.dtype(np.uint8), np.dtype(np.int64))
KERNEL_IDEALS: dict[IdealName | Literal["none"], _native.Ideal] = {
    "none": _native.Ideal.NONE,
    "category": _native.Ideal.CATEGORY,
    "unconstrained": _native.Ideal.UNCONSTRAINED,
}
_CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
_SCALE = 2.0**-64  # a power of two: sums of smaller gains have the same digits
_MOST_THREADS, _MOST_ROWS = 1024, 10_000
_MOST_KEPT = 10_000  # cells of weights that are kept by name: scoring more takes far longer than looking these up


@dataclass(slots=True)  # not frozen, which would take as long as all else here together
class Stack:
    """Pages in one contiguous array, ``(pages, rows, cols)``, and the leading shape they came with."""

    relevance: NDArray[Any]
    leading: tuple[int, ...]
    gain: _native.Gain  # what the kernel still has to apply

    def unstacked(self, values: Array) -> float | Array:
        """Per-page values in the caller's shape, without what stood beside them: a float for a single page."""
        return float(values[0]) if not self.leading else values.reshape(self.leading).copy()

    def grid(self, grid: Grid | None) -> Grid:
        """The grid to use: the array's shape when none is given; a page must fit into a given one."""
        _, rows, cols = self.relevance.shape
        return _grid_of_pages(rows, cols, grid)

    def weights(self, discount: str | Discount, grid: Grid | None, cutoff: PageCutoff) -> Array:
        """A discount's weights on the grid, 0 beyond the cutoff."""
        size = parse_cutoff(cutoff)
        # not what may be another thing next time, or pass for a grid
        if type(discount) is str and "@" not in discount and (grid is None or type(grid) is Grid):
            _, rows, cols = self.relevance.shape
            try:
                return _named_weights(discount, rows, cols, grid, size, discount_base.registrations)
            except _NotKeptError:
                pass
        return page_weights(as_discount(discount), self.grid(grid), size)

    def score(
        self,
        weights: Array,
        ideal: IdealName | Literal["none"] = "none",
        by_rank: bool = False,
        threads: int | None = None,
    ) -> Array:
        """2DCG of every page, in one row; with an ideal, that in the next and their ratio in the last."""
        kind = KERNEL_IDEALS[ideal]
        workers = self.workers(threads)
        sums, finite, top, largest, bad = _native.score(self.relevance, weights, self.gain, kind, by_rank, workers)
        if bad >= 0:
            self.refuse(bad)
        if not finite:  # the kernels stop short of the largest float: score smaller gains, and enlarge the sums
            large = np.flatnonzero(~np.isfinite(sums[:2]).all(axis=0))
            pages = np.ascontiguousarray(self.scaled_gains(threads)[large])
            small = _native.score(pages, weights, _native.Gain.LINEAR, kind, by_rank, workers)[0]
            with np.errstate(over="ignore"):
                sums[:2, large] = small[:2] / _SCALE
            for values in sums[:2]:
                if not np.isfinite(values).all():
                    self.refuse_overflow(int(np.flatnonzero(~np.isfinite(values))[0]))
            if ideal != "none":
                sums[2] = _native.ratio(sums[0], sums[1])
            top = int(np.argmax(sums[0]))
            largest = float(np.nanmax(self.relevance[top], initial=0))
        # looked for on the page of the largest 2DCG alone: to look at all pages would be slow
        if largest > LARGEST_GRADE and self.gain == _native.Gain.EXP2:
            warn(f"{self._name(top)}: the largest relevance is {largest:g}, and {large_gain(largest)}")
        return sums

    def workers(self, threads: int | None) -> int:
        """How many threads score the pages: one for a page alone, which is not divided."""
        return 1 if threads is None and not self.leading else thread_count(threads)

    def gains(self, threads: int | None = None) -> Array:
        """The gain of every cell, NaN where it holds nothing."""
        flat = self.relevance.reshape(-1).astype(np.float64, copy=False)
        values, bad = _native.gains(flat, self.gain, thread_count(threads))  # by cells: a large page is divided
        if bad >= 0:
            self.refuse(bad)
        return values.reshape(self.relevance.shape)

    def scaled_gains(self, threads: int | None = None) -> Array:
        """Gains times a power of two, which the kernels add up however large they are."""
        return self.gains(threads) * _SCALE

    def with_gains(self, gains: Array) -> "Stack":
        """The same pages with gains of another kind."""
        return Stack(gains, self.leading, _native.Gain.LINEAR)

    def gains_on(self, grid: Grid, threads: int | None = None) -> Array:
        """The gain of every cell of the grid, (pages, rows, cols); 0 where a cell holds nothing."""
        sizes = zip(grid.shape, self.relevance.shape[1:], strict=True)
        padding = [(0, 0), *((0, most - size) for most, size in sizes)]
        return np.pad(np.nan_to_num(self.gains(threads), nan=0.0), padding)

    def refuse(self, cell: int) -> NoReturn:
        """Raise for the bad cell the kernels found."""
        value = self.relevance.reshape(-1)[cell]
        page, row, col = (int(index) for index in np.unravel_index(cell, self.relevance.shape))
        where = f"{self._name(page)}: row {row + 1}, col {col + 1} is {value:g}"
        if self.gain == _native.Gain.EXP2 and value >= 1024 and np.isfinite(value):
            raise DataError(
                f"{where}, and 2^{value:g} is too large for a float. Rescale it, or use {setting('gain', 'linear')}."
            )
        raise DataError(f"{where}. Relevance is finite and 0 or more; NaN marks a cell that holds nothing.")

    def refuse_overflow(self, page: int) -> NoReturn:
        """Raise for a page whose gains times weights are too large to be added up."""
        largest = np.nanmax(self.relevance[page])
        hint = (
            f" Rescale the relevances, or use {setting('gain', 'linear')}."
            if self.gain == _native.Gain.EXP2
            else " Rescale the relevances."
        )
        raise DataError(
            f"{self._name(page)}: gains times weights add up to more than a float holds; the largest relevance is "
            f"{largest:g}.{hint}"
        )

    def _name(self, page: int) -> str:
        indices = ", ".join(str(int(index)) for index in np.unravel_index(page, self.leading)) if self.leading else ""
        return f"relevance[{indices}]" if indices else "relevance"


def _grid_of_pages(rows: int, cols: int, grid: Grid | None) -> Grid:
    if grid is None:
        return _grid_of_shape(rows, cols)
    if not isinstance(grid, Grid):
        raise ParameterError(f"{setting('grid')} must be a carouseval.Grid or None, found {type(grid).__name__}.")
    if rows > grid.rows or cols > grid.cols:
        larger = grid_text(resized(grid, max(rows, grid.rows), max(cols, grid.cols)))
        raise DataError(
            f"relevance: a page of {rows}x{cols} does not fit the {grid} grid. Use {setting('grid', larger)}."
        )
    return grid


_grid_of_shape = functools.lru_cache(maxsize=256)(Grid)  # whose checks take as long as scoring a page


class _NotKeptError(Exception):
    """Discounts from files may warn each time, what cannot be hashed may change, and large weights take memory."""


@functools.lru_cache(maxsize=256)
def _named_weights(
    discount: str, rows: int, cols: int, grid: Grid | None, cutoff: tuple[int, int] | None, registrations: int
) -> Array:
    """Weights by name, as long as no discount is registered anew."""
    parsed, screen = as_discount(discount), _grid_of_pages(rows, cols, grid)
    try:
        hash(parsed)
    except TypeError:
        raise _NotKeptError from None
    if parsed._fitted_screen is not None or screen.rows * screen.cols > _MOST_KEPT:
        raise _NotKeptError
    return page_weights(parsed, screen, cutoff)


def stack_pages(relevance: Relevance, gain: Gain) -> Stack:
    """Check relevances and lay them out for the kernels; copies only what has the wrong type or order."""
    check_gain(gain)
    try:
        pages = relevance_array(relevance)
    except RecursionError:
        raise DataError(f"relevance: the lists are nested too deeply. {PAGE_HINT}.") from None
    shape = pages.shape
    if len(shape) < 2:
        raise DataError(f"relevance has shape {shape}. {PAGE_HINT}; one carousel is (1, cols).")
    if 0 in shape[-2:]:
        raise DataError(f"relevance has shape {shape}: a page without cells. {PAGE_HINT}.")
    rows, cols = shape[-2:]
    if rows > _MOST_ROWS or rows * cols > MOST_CELLS:
        raise DataError(
            f"relevance: a page of {rows}x{cols}; pages have at most {_MOST_ROWS:,} rows and {MOST_CELLS:,} cells."
        )
    leading = shape[:-2]
    if callable(gain):
        plain = pages.astype(np.float64)
        bad = (plain < 0) | np.isinf(plain)
        if bad.any():
            Stack(plain.reshape(-1, rows, cols), leading, _native.Gain.LINEAR).refuse(int(np.flatnonzero(bad)[0]))
        pages, gain = apply_function(gain, plain), "linear"
    if pages.dtype not in _NATIVE:
        if pages.dtype == np.bool_:
            pages = pages.view(np.uint8)
        else:
            pages = pages.astype(np.float32 if np.can_cast(pages.dtype, np.float32) else np.float64)
    return Stack(np.ascontiguousarray(pages).reshape(-1, rows, cols), leading, KERNEL_GAINS[gain])


def thread_count(threads: int | None) -> int:
    """The argument, else ``CAROUSEVAL_THREADS``, else all cores this process may use."""
    if threads is not None:
        return min(require_int("threads", threads, 1), _MOST_THREADS)
    setting = os.environ.get("CAROUSEVAL_THREADS", "").strip()
    if not setting:
        return _CORES
    count = parse_size(setting)
    if count is None:
        raise ParameterError(
            f"CAROUSEVAL_THREADS must be an integer from 1 to {LARGEST_SIZE:,}, found {quoted(setting)}."
        )
    return min(count, _MOST_THREADS)
