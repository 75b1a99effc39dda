"""Pages stacked in one array that the kernels can read, with checks of shape, values and threads."""

import os
from dataclasses import dataclass
from typing import Any, Literal, NoReturn

import numpy as np
from numpy.typing import NDArray

from carouseval import _native
from carouseval.errors import DataError, ParameterError, warn
from carouseval.metrics.choices import IdealName
from carouseval.metrics.gains import KERNEL_GAINS, LARGEST_GRADE, Gain, apply_function, check_gain, large_gain
from carouseval.metrics.grid import MOST_CELLS, Array, Grid, grid_text, resized
from carouseval.metrics.relevance import PAGE_HINT, Relevance, relevance_array
from carouseval.metrics.validation import LARGEST_SIZE, parse_size, quoted, require_int

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


@dataclass(frozen=True)
class Stack:
    """Pages in one contiguous array, ``(pages, rows, cols)``, and the leading shape they came with."""

    relevance: NDArray[Any]
    leading: tuple[int, ...]
    gain: _native.Gain  # what the kernel still has to apply

    def unstacked(self, values: Array) -> float | Array:
        """Per-page values in the caller's shape: a float for a single page."""
        return float(values[0]) if not self.leading else values.reshape(self.leading)

    def grid(self, grid: Grid | None) -> Grid:
        """The grid to use: the array's shape when none is given; a page must fit into a given one."""
        rows, cols = self.relevance.shape[1:]
        if grid is None:
            return Grid(rows, cols)
        if not isinstance(grid, Grid):
            raise ParameterError(f"grid must be a carouseval.Grid or None, found {type(grid).__name__}.")
        if rows > grid.rows or cols > grid.cols:
            larger = grid_text(resized(grid, max(rows, grid.rows), max(cols, grid.cols)))
            raise DataError(f"relevance: a page of {rows}x{cols} does not fit the {grid} grid. Use grid={larger}.")
        return grid

    def score(
        self,
        weights: Array,
        ideal: IdealName | Literal["none"] = "none",
        by_rank: bool = False,
        threads: int | None = None,
    ) -> tuple[Array, Array]:
        """2DCG and the ideal of every page (empty when ``ideal`` is ``"none"``)."""
        kind, workers = KERNEL_IDEALS[ideal], thread_count(threads)
        dcg, best, bad = _native.score(self.relevance, weights, self.gain, kind, by_rank, workers)
        if bad >= 0:
            self.refuse(bad)
        large = np.flatnonzero(~(np.isfinite(dcg) & np.isfinite(best if len(best) else dcg)))
        if len(large):  # the kernels stop short of the largest float: score smaller gains, and enlarge the sums
            pages = np.ascontiguousarray(self.scaled_gains(threads)[large])
            sums = _native.score(pages, weights, _native.Gain.LINEAR, kind, by_rank, workers)[:2]
            with np.errstate(over="ignore"):
                for values, small in zip((dcg, best), sums, strict=True):
                    if len(values):
                        values[large] = small / _SCALE
            for values in (dcg, best):
                if not np.isfinite(values).all():
                    self.refuse_overflow(int(np.flatnonzero(~np.isfinite(values))[0]))
        if self.gain == _native.Gain.EXP2 and len(dcg):
            self._warn_of_large_gains(int(np.argmax(dcg)))
        return dcg, best

    def _warn_of_large_gains(self, page: int) -> None:
        """Warn if the page of the largest 2DCG has a relevance that is no grade; to look at all pages would be slow."""
        largest = np.nanmax(self.relevance[page], initial=0)
        if largest > LARGEST_GRADE:
            warn(f"{self._name(page)}: the largest relevance is {largest:g}, and {large_gain(float(largest))}")

    def gains(self, threads: int | None = None) -> Array:
        """The gain of every cell, NaN where it holds nothing."""
        flat = self.relevance.reshape(-1).astype(np.float64, copy=False)
        values, bad = _native.gains(flat, self.gain, thread_count(threads))
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
        page, row, col = (int(at) for at in np.unravel_index(cell, self.relevance.shape))
        where = f"{self._name(page)}: row {row + 1}, col {col + 1} is {value:g}"
        if self.gain == _native.Gain.EXP2 and value >= 1024 and np.isfinite(value):
            raise DataError(f"{where}, and 2^{value:g} is too large for a float. Rescale it, or use gain='linear'.")
        raise DataError(f"{where}. Relevance is finite and 0 or more; NaN marks a cell that holds nothing.")

    def refuse_overflow(self, page: int) -> NoReturn:
        """Raise for a page whose gains times weights are too large to be added up."""
        largest = np.nanmax(self.relevance[page])
        hint = (
            " Rescale the relevances, or use gain='linear'."
            if self.gain == _native.Gain.EXP2
            else " Rescale the relevances."
        )
        raise DataError(
            f"{self._name(page)}: gains times weights add up to more than a float holds; the largest relevance is "
            f"{largest:g}.{hint}"
        )

    def _name(self, page: int) -> str:
        index = ", ".join(str(int(at)) for at in np.unravel_index(page, self.leading)) if self.leading else ""
        return f"relevance[{index}]" if index else "relevance"


def stack_pages(relevance: Relevance, gain: Gain) -> Stack:
    """Check relevances and lay them out for the kernels; copies only what has the wrong type or order."""
    check_gain(gain)
    try:
        pages = relevance_array(relevance)
    except RecursionError:
        raise DataError(f"relevance: the lists are nested too deeply. {PAGE_HINT}.") from None
    if pages.ndim < 2:
        raise DataError(f"relevance has shape {pages.shape}. {PAGE_HINT}; one carousel is (1, cols).")
    if pages.shape[-1] == 0 or pages.shape[-2] == 0:
        raise DataError(f"relevance has shape {pages.shape}: a page without cells. {PAGE_HINT}.")
    rows, cols = pages.shape[-2:]
    if rows > _MOST_ROWS or rows * cols > MOST_CELLS:
        raise DataError(
            f"relevance: a page of {rows}x{cols}; pages have at most {_MOST_ROWS:,} rows and {MOST_CELLS:,} cells."
        )
    leading = pages.shape[:-2]
    if callable(gain):
        plain = pages.astype(np.float64)
        bad = (plain < 0) | np.isinf(plain)
        if bad.any():
            Stack(plain.reshape(-1, rows, cols), leading, _native.Gain.LINEAR).refuse(int(np.flatnonzero(bad)[0]))
        pages, gain = apply_function(gain, plain), "linear"
    if pages.dtype == np.bool_:
        pages = pages.view(np.uint8)
    elif pages.dtype not in _NATIVE:
        pages = pages.astype(np.float32 if np.can_cast(pages.dtype, np.float32) else np.float64)
    return Stack(np.ascontiguousarray(pages).reshape(-1, *pages.shape[-2:]), leading, KERNEL_GAINS[gain])


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
