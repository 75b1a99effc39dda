"""The best page allowed: its 2DCG and the page itself.

*Category*: each row of a page is a carousel of one category. A category keeps its items and its number of cells,
stands on one row, and shows its largest gains where that row weighs most; which category stands where is an assignment
problem, solved exactly. *Unconstrained*: any item anywhere, as the original N2DCG has it.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from carouseval import _native
from carouseval.errors import DataError, ParameterError
from carouseval.metrics.cutoffs import PageCutoff, page_weights, parse_cutoff
from carouseval.metrics.discounts import Discount, as_discount
from carouseval.metrics.gains import Gain
from carouseval.metrics.grid import Array, Grid
from carouseval.metrics.pages import KERNEL_IDEALS, Relevance, stack_pages, thread_count
from carouseval.metrics.validation import require_choice

IDEALS = ("category", "unconstrained")


def ideal_dcg2d(
    relevance: Relevance,
    discount: str | Discount = "d_rpd",
    grid: Grid | None = None,
    gain: Gain = "exp2",
    ideal: str = "category",
    *,
    cutoff: PageCutoff = None,
    threads: int | None = None,
) -> Any:
    """I2DCG: the largest 2DCG that rearranging each page can reach.

    Takes what :func:`carouseval.dcg2d` takes, and ``ideal``: ``"category"`` or ``"unconstrained"``.

    >>> import carouseval as cv
    >>> table1 = cv.discounts.Empirical([[1.0, 0.9, 0.8], [0.3, 0.2, 0.1]])
    >>> page = [[1, 1, 0], [1, 0, 0]]  # a1 a2 a3 / b1 b2 b3 in the paper's Table 1
    >>> [round(cv.ideal_dcg2d(page, table1, ideal=kind), 12) for kind in ("category", "unconstrained")]
    [2.2, 2.7]
    """
    stack = stack_pages(relevance, gain)
    weights = page_weights(as_discount(discount), stack.grid(grid), parse_cutoff(cutoff))
    return stack.unstacked(stack.score(weights, require_choice("ideal", ideal, IDEALS), threads=threads)[1])


def ideal_layout(
    relevance: Relevance,
    discount: str | Discount = "d_rpd",
    grid: Grid | None = None,
    gain: Gain = "exp2",
    ideal: str = "category",
    *,
    cutoff: PageCutoff = None,
    threads: int | None = None,
) -> NDArray[np.int64]:
    """The page that reaches :func:`ideal_dcg2d`: where each of its items comes from.

    Returns an array of shape ``(..., rows, cols, 2)`` that holds, for every cell of the grid, the indices (from 0, as
    NumPy counts) of the row and column of its item in ``relevance``; -1 where the ideal page holds nothing. Of equally
    good pages it is the one whose rows, from the top, come from the earliest rows; the earlier of two equal items gets
    the heavier cell, the earlier of two equally heavy cells is filled first. A hole keeps its place in its carousel as
    an item of gain 0 would; the unconstrained page closes up.

    >>> import numpy as np, carouseval as cv
    >>> page = np.array([[0, 0, 1], [2, 0, 1]])
    >>> source = cv.ideal_layout(page)
    >>> page[source[..., 0], source[..., 1]]
    array([[2, 1, 0],
           [1, 0, 0]])
    """
    stack = stack_pages(relevance, gain)
    weights = page_weights(as_discount(discount), stack.grid(grid), parse_cutoff(cutoff))
    pages = stack.relevance.astype(np.float64, copy=False)
    kind = KERNEL_IDEALS[require_choice("ideal", ideal, IDEALS)]
    try:
        source, bad = _native.layout(pages, weights, stack.gain, kind, thread_count(threads))
    except OverflowError:
        stack.refuse_overflow()
    if bad >= 0:
        stack.refuse(bad)
    return source.reshape(*stack.leading, *weights.shape, 2)


def rearranged(relevance: Relevance, source: NDArray[np.int64]) -> Array:
    """The pages that :func:`ideal_layout` describes, with NaN in empty cells."""
    pages = np.asarray(relevance, dtype=np.float64)
    row, col = source[..., 0], source[..., 1]
    flat = pages.reshape(*pages.shape[:-2], -1)
    index = np.where(row < 0, 0, row * pages.shape[-1] + col)
    taken = np.take_along_axis(flat, index.reshape(*index.shape[:-2], -1), axis=-1).reshape(index.shape)
    return np.where(row < 0, np.nan, taken)


def category_ideal(
    gains: ArrayLike, weights: ArrayLike, slots: ArrayLike | None = None, *, threads: int | None = None
) -> Any:
    """The ideal 2DCG of sets of categories, however many there are: what tables are normalised by.

    ``gains`` has shape ``(..., categories, items)``; 0 fills up short categories. ``slots``, ``(..., categories)``,
    says how many cells each category may fill (its size, by default the number of items given); a category with more
    gains shows the largest. ``weights`` is the page, ``(rows, cols)``. With more categories than rows the best are
    shown.

    >>> category_ideal([[5, 1], [3, 0], [4, 4]], weights=[[1.0, 0.5], [0.5, 0.25]])
    8.75
    """
    table = np.ascontiguousarray(weights, dtype=np.float64)
    if table.ndim != 2 or table.size == 0 or not (np.isfinite(table) & (table >= 0)).all():
        raise ParameterError("weights must be a table of finite numbers, 0 or more, of shape (rows, cols).")
    pool = np.ascontiguousarray(gains, dtype=np.float64)
    if pool.ndim < 2 or not (np.isfinite(pool) & (pool >= 0)).all():
        raise DataError("gains must have shape (..., categories, items) and be finite and 0 or more.")
    leading, shape = pool.shape[:-2], pool.shape[-2:]
    pages = math.prod(leading)
    room = np.asarray(shape[1] if slots is None else slots)
    if room.dtype.kind not in "iu" or (room < 0).any() or room.ndim > pool.ndim - 1:
        raise DataError("slots must be whole numbers, 0 or more, of shape (..., categories).")
    try:
        room = np.broadcast_to(np.minimum(room, table.shape[1]), pool.shape[:-1])
    except ValueError:
        raise DataError(f"slots of shape {room.shape} do not fit gains of shape {pool.shape}.") from None
    if shape[0] * shape[1] > 100_000_000 or shape[0] * table.shape[0] > 100_000_000:
        raise DataError(f"gains: {shape[0]} categories of {shape[1]} items on {table.shape[0]} rows are too many.")
    best = _native.category_ideal(
        pool.reshape(pages, *shape),
        np.ascontiguousarray(room, dtype=np.int64).reshape(pages, shape[0]),
        table,
        thread_count(threads),
    )
    if not np.isfinite(best).all():
        raise DataError("gains times weights add up to more than a float holds; rescale the gains.")
    return best.reshape(leading) if leading else float(best[0])
