"""2DCG and its normalised forms on arrays of relevances."""

from typing import Any

import numpy as np

from carouseval.metrics.cutoffs import PageCutoff, list_weights, page_weights, parse_cutoff
from carouseval.metrics.discounts import Discount, as_discount
from carouseval.metrics.gains import Gain
from carouseval.metrics.grid import Array, Grid
from carouseval.metrics.pages import Relevance, stack_pages
from carouseval.metrics.validation import require_int


def dcg2d(
    relevance: Relevance,
    discount: str | Discount = "d_rpd",
    grid: Grid | None = None,
    gain: Gain = "exp2",
    *,
    cutoff: PageCutoff = None,
    threads: int | None = None,
) -> Any:
    r"""2DCG: the sum over cells of gain times weight.

    .. math:: 2DCG(y) = \sum_i \sum_j g(y_{i,j}) d(i,j)

    Parameters
    ----------
    relevance
        Shape ``(..., rows, cols)``: a row is one carousel, NaN a cell that holds nothing, other values finite and 0 or
        more. Any number type; uint8, int64, float32 and float64 are read as they are. Lists of different lengths make
        one page too.
    discount
        A :class:`~carouseval.discounts.Discount` or its name, such as ``"d_rpd(mu=0.5)"``.
    grid
        The screen. Left out, it has the array's shape, swipe pages of 5 and 3 visible rows. A smaller page is scored
        as if padded with empty cells; a larger one is refused.
    gain
        ``"exp2"`` for 2^relevance - 1, ``"linear"``, or a function of an array.
    cutoff
        ``(rows, cols)`` or ``"3x5"``: cells past it weigh 0.
    threads
        At most so many; by default ``CAROUSEVAL_THREADS`` or all cores. Results never depend on it.

    Returns
    -------
    float for a single page, else an array of the leading shape.

    Examples
    --------
    >>> import carouseval as cv
    >>> table1 = cv.discounts.Empirical([[1.0, 0.9, 0.8], [0.3, 0.2, 0.1]])
    >>> cv.dcg2d([[1, 1, 0], [1, 0, 0]], table1)
    2.2

    References
    ----------
    Kang, de Leon-Martinez, de Rijke, Oosterhuis. Revisiting N2DCG. CIKM 2026.
    """
    stack = stack_pages(relevance, gain)
    weights = page_weights(as_discount(discount), stack.grid(grid), parse_cutoff(cutoff))
    return stack.unstacked(stack.score(weights, threads=threads)[0])


def n2dcg_cat(
    relevance: Relevance,
    discount: str | Discount = "d_rpd",
    grid: Grid | None = None,
    gain: Gain = "exp2",
    *,
    cutoff: PageCutoff = None,
    threads: int | None = None,
) -> Any:
    """N2DCG_cat, the paper's metric: 2DCG over the best page of the same carousels.

    Between 0 and 1, and 1 for the ideal page; NaN for a page on which nothing gains. Parameters as in :func:`dcg2d`.

    >>> import carouseval as cv
    >>> round(cv.n2dcg_cat([[0, 0, 1], [2, 0, 1]]), 4)
    0.8556
    """
    return normalised(relevance, discount, grid, gain, "category", cutoff, threads)


def n2dcg(
    relevance: Relevance,
    discount: str | Discount = "d_a",
    grid: Grid | None = None,
    gain: Gain = "exp2",
    *,
    cutoff: PageCutoff = None,
    threads: int | None = None,
) -> Any:
    """N2DCG, the original: 2DCG over the best page when any item may go anywhere. Parameters as in :func:`dcg2d`.

    >>> import carouseval as cv
    >>> table1 = cv.discounts.Empirical([[1.0, 0.9, 0.8], [0.3, 0.2, 0.1]])
    >>> round(cv.n2dcg([[1, 1, 0], [1, 0, 0]], table1), 2)  # the best a real page can do
    0.81
    """
    return normalised(relevance, discount, grid, gain, "unconstrained", cutoff, threads)


def normalised(
    relevance: Relevance,
    discount: str | Discount,
    grid: Grid | None,
    gain: Gain,
    ideal: str,
    cutoff: PageCutoff,
    threads: int | None,
) -> Any:
    """2DCG over the named ideal."""
    stack = stack_pages(relevance, gain)
    weights = page_weights(as_discount(discount), stack.grid(grid), parse_cutoff(cutoff))
    return stack.unstacked(ratio(*stack.score(weights, ideal, threads=threads)))


def dcg(
    relevance: Relevance,
    grid: Grid | None = None,
    gain: Gain = "exp2",
    *,
    cutoff: int | None = None,
    threads: int | None = None,
) -> Any:
    """DCG@k: the occupied cells, row by row, as one list (the paper's equation 1). A page must fit the grid, if any."""
    return _as_list(relevance, grid, gain, cutoff, "none", threads)


def ndcg(
    relevance: Relevance,
    grid: Grid | None = None,
    gain: Gain = "exp2",
    *,
    cutoff: int | None = None,
    threads: int | None = None,
) -> Any:
    """NDCG@k: DCG over that of the best order (the paper's equation 2); NaN where nothing gains."""
    return _as_list(relevance, grid, gain, cutoff, "unconstrained", threads)


def _as_list(
    relevance: Relevance, grid: Grid | None, gain: Gain, cutoff: int | None, ideal: str, threads: int | None
) -> Any:
    stack = stack_pages(relevance, gain)
    stack.grid(grid)
    if cutoff is not None:
        cutoff = require_int("cutoff", cutoff, 1)
    rows, cols = stack.relevance.shape[1:]
    weights = list_weights(rows * cols, cutoff)
    total, best = stack.score(weights, ideal, as_list=True, threads=threads)
    return stack.unstacked(total if ideal == "none" else ratio(total, best))


def ratio(total: Array, best: Array) -> Array:
    """Score over ideal; NaN where the ideal is 0.

    The two add up in different orders, so they may differ by rounding where they are equal: a score that close to 1
    (2^-48) is 1.
    """
    with np.errstate(invalid="ignore"):
        return np.where((total > 0) & (total >= best * (1 - 2.0**-48)), 1.0, total / best)
