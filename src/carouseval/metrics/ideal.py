"""The best page allowed: its 2DCG and the page itself.

*Category*: each row of a page is a carousel of one category. A category keeps its items and its number of cells, takes
one row, and shows its largest gains in the cells of that row with the largest weights; which category takes which row
is an assignment problem, solved exactly. *Unconstrained*: any item anywhere, as in the original N2DCG.
"""

from __future__ import annotations

from typing import get_args

import numpy as np

from carouseval import _native
from carouseval.metrics.cutoffs import PageCutoff
from carouseval.metrics.discount_base import Discount
from carouseval.metrics.gain_names import IdealName
from carouseval.metrics.gains import Gain
from carouseval.metrics.grid import Array, Grid, IntArray
from carouseval.metrics.page_stack import KERNEL_IDEALS, stack_pages
from carouseval.metrics.relevance import Relevance, number_per_page
from carouseval.validation import require_choice

IDEALS: tuple[IdealName, ...] = get_args(IdealName)


@number_per_page
def ideal_dcg2d(
    relevance: Relevance,
    discount: str | Discount = "d_rpd",
    grid: Grid | None = None,
    gain: Gain = "exp2",
    ideal: IdealName = "category",
    *,
    cutoff: PageCutoff = None,
    threads: int | None = None,
) -> float | Array:
    """I2DCG: the largest 2DCG that rearranging a page can reach.

    Parameters
    ----------
    relevance : array-like of shape (..., rows, cols)
        Relevance of each cell, finite and 0 or more: a row is one carousel, NaN or None a cell without an item. Rows of
        nested lists may differ in length.
    discount : str or Discount, default 'd_rpd'
        A :mod:`discount <carouseval.discounts>` or its name, such as ``"d_rpd(mu=0.5)"`` or ``"@fitted.json"``.
    grid : Grid, optional
        The screen. By default it has the shape of the page, swipe pages of 5 items and 3 visible rows. A smaller page
        is scored as if padded with empty cells; a larger one is an error.
    gain : {"exp2", "linear"} or callable, default 'exp2'
        What an item is worth: 2^relevance - 1, its relevance, or a function from an array of relevances to gains.
    ideal : {"category", "unconstrained"}, default 'category'
        Whether each row of the ideal page is one carousel (as in N2DCG_cat) or any item may go anywhere (as in N2DCG).
    cutoff : tuple of int or str, optional
        ``(rows, cols)`` or ``"3x5"``: cells beyond it have weight 0.
    threads : int, optional
        The most threads to use; by default ``CAROUSEVAL_THREADS`` or all cores. The result does not depend on it.

    Returns
    -------
    float or ndarray
        The 2DCG of the ideal page: a float for one page, an array of the leading shape for a batch.

    Examples
    --------
    >>> import carouseval as cv
    >>> table1 = cv.discounts.Empirical([[1.0, 0.9, 0.8], [0.3, 0.2, 0.1]])
    >>> page = [[1, 1, 0], [1, 0, 0]]  # a1 a2 a3 / b1 b2 b3 in the paper's Table 1
    >>> round(cv.ideal_dcg2d(page, table1), 12), round(cv.ideal_dcg2d(page, table1, ideal="unconstrained"), 12)
    (2.2, 2.7)

    References
    ----------
    Kang, de Leon-Martinez, de Rijke, Oosterhuis. Revisiting N2DCG. CIKM 2026.
    """
    stack = stack_pages(relevance, gain)
    weights = stack.weights(discount, grid, cutoff)
    return stack.unstacked(stack.score(weights, require_choice("ideal", ideal, IDEALS), threads=threads)[1])


def ideal_layout(
    relevance: Relevance,
    discount: str | Discount = "d_rpd",
    grid: Grid | None = None,
    gain: Gain = "exp2",
    ideal: IdealName = "category",
    *,
    cutoff: PageCutoff = None,
    threads: int | None = None,
) -> IntArray:
    """The ideal page itself: which cell of the page each of its items comes from.

    Of equally good pages it is the one whose rows, from the top, come from the earliest rows; the earlier of two equal
    items gets the cell of larger weight, and the earlier of two cells of equal weight is filled first. A hole keeps its
    place in its carousel, as an item of gain 0 would; the unconstrained page has no holes.

    Parameters
    ----------
    relevance : array-like of shape (..., rows, cols)
        Relevance of each cell, finite and 0 or more: a row is one carousel, NaN or None a cell without an item. Rows of
        nested lists may differ in length.
    discount : str or Discount, default 'd_rpd'
        A :mod:`discount <carouseval.discounts>` or its name, such as ``"d_rpd(mu=0.5)"`` or ``"@fitted.json"``.
    grid : Grid, optional
        The screen. By default it has the shape of the page, swipe pages of 5 items and 3 visible rows. A smaller page
        is scored as if padded with empty cells; a larger one is an error.
    gain : {"exp2", "linear"} or callable, default 'exp2'
        What an item is worth: 2^relevance - 1, its relevance, or a function from an array of relevances to gains.
    ideal : {"category", "unconstrained"}, default 'category'
        Whether each row of the ideal page is one carousel (as in N2DCG_cat) or any item may go anywhere (as in N2DCG).
    cutoff : tuple of int or str, optional
        ``(rows, cols)`` or ``"3x5"``: cells beyond it have weight 0.
    threads : int, optional
        The most threads to use; by default ``CAROUSEVAL_THREADS`` or all cores. The result does not depend on it.

    Returns
    -------
    ndarray of int64, shape (..., rows, cols, 2)
        For every cell of the grid the row and column, counted from 0 as in NumPy, of its item in ``relevance``; -1
        where the ideal page holds nothing.

    Examples
    --------
    >>> import numpy as np
    >>> import carouseval as cv
    >>> page = np.array([[0, 0, 1], [2, 0, 1]])
    >>> source = cv.ideal_layout(page)
    >>> page[source[..., 0], source[..., 1]]
    array([[2, 1, 0],
           [1, 0, 0]])
    """
    stack = stack_pages(relevance, gain)
    weights = stack.weights(discount, grid, cutoff)
    pages = stack.relevance.astype(np.float64, copy=False)
    kind = KERNEL_IDEALS[require_choice("ideal", ideal, IDEALS)]
    try:
        source, bad = _native.layout(pages, weights, stack.gain, kind, stack.workers(threads))
    except OverflowError:
        stack.score(weights, ideal, threads=threads)  # refuses sums that are too large for a float
        gains = stack.scaled_gains(threads)
        source, bad = _native.layout(gains, weights, _native.Gain.LINEAR, kind, stack.workers(threads))
    if bad >= 0:
        stack.refuse(bad)
    return source.reshape(*stack.leading, *weights.shape, 2)


def rearranged(relevance: Relevance, source: IntArray) -> Array:
    """The pages that :func:`ideal_layout` describes, with NaN in empty cells."""
    pages = np.asarray(relevance, dtype=np.float64)
    row, col = source[..., 0], source[..., 1]
    flat = pages.reshape(*pages.shape[:-2], -1)
    index = np.where(row < 0, 0, row * pages.shape[-1] + col)
    values = np.take_along_axis(flat, index.reshape(*index.shape[:-2], -1), axis=-1).reshape(index.shape)
    return np.where(row < 0, np.nan, values)
