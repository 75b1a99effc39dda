"""2DCG and its normalised forms on arrays of relevances."""

from typing import Any

from carouseval.metrics.cutoffs import PageCutoff, parse_cutoff
from carouseval.metrics.dcg import DCG2D, N2DCG, N2DCGCat
from carouseval.metrics.discounts import Discount, as_discount
from carouseval.metrics.gains import Gain
from carouseval.metrics.grid import Grid
from carouseval.metrics.page_stack import Relevance


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
    return DCG2D(as_discount(discount), parse_cutoff(cutoff))(relevance, grid, gain, threads=threads)


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
    return N2DCGCat(as_discount(discount), parse_cutoff(cutoff))(relevance, grid, gain, threads=threads)


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
    return N2DCG(as_discount(discount), parse_cutoff(cutoff))(relevance, grid, gain, threads=threads)
