"""2DCG and its normalised forms on arrays of relevances."""

from __future__ import annotations

from carouseval.metrics.cutoffs import PageCutoff
from carouseval.metrics.dcg import DCG2D, N2DCG, N2DCGCat
from carouseval.metrics.discount_base import Discount
from carouseval.metrics.gains import Gain
from carouseval.metrics.grid import Array, Grid
from carouseval.metrics.metric_base import Metric
from carouseval.metrics.page_stack import stack_pages
from carouseval.metrics.relevance import Relevance, number_per_page


@number_per_page
def dcg2d(
    relevance: Relevance,
    discount: str | Discount = "d_rpd",
    grid: Grid | None = None,
    gain: Gain = "exp2",
    *,
    cutoff: PageCutoff = None,
    threads: int | None = None,
) -> float | Array:
    r"""2DCG: the sum over the cells of a page of gain times weight.

    .. math:: 2DCG(y) = \sum_i \sum_j g(y_{i,j}) d(i,j)

    with the gain g and the weight d(i, j) that the discount gives row i and column j.

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
    cutoff : tuple of int or str, optional
        ``(rows, cols)`` or ``"3x5"``: cells beyond it have weight 0.
    threads : int, optional
        The most threads to use; by default ``CAROUSEVAL_THREADS`` or all cores. The result does not depend on it.

    Returns
    -------
    float or ndarray
        2DCG, 0 or more: a float for one page, an array of the leading shape for a batch.

    See Also
    --------
    n2dcg_cat : 2DCG divided by that of the best page of the same carousels.
    ideal_dcg2d : The largest 2DCG that rearranging a page can reach.

    Examples
    --------
    >>> import carouseval as cv
    >>> table1 = cv.discounts.Empirical([[1.0, 0.9, 0.8], [0.3, 0.2, 0.1]])
    >>> cv.dcg2d([[1, 1, 0], [1, 0, 0]], table1)
    2.2
    >>> cv.dcg2d([[[1, 1, 0], [1, 0, 0]], [[1, 0, 0], [1, 1, 0]]], table1)
    array([2.2, 1.5])

    References
    ----------
    Kang, de Leon-Martinez, de Rijke, Oosterhuis. Revisiting N2DCG. CIKM 2026.
    """
    return _score(DCG2D, relevance, discount, grid, gain, cutoff, threads)


@number_per_page
def n2dcg_cat(
    relevance: Relevance,
    discount: str | Discount = "d_rpd",
    grid: Grid | None = None,
    gain: Gain = "exp2",
    *,
    cutoff: PageCutoff = None,
    threads: int | None = None,
) -> float | Array:
    r"""N2DCG_cat, the metric of "Revisiting N2DCG": 2DCG over that of the best page of the same carousels.

    .. math:: N2DCG_{cat}(y) = 2DCG(y) / I2DCG_{cat}(y)

    In the ideal page every carousel keeps its items and its number of cells and takes one row; carousels and the items
    within them are in the best order.

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
    cutoff : tuple of int or str, optional
        ``(rows, cols)`` or ``"3x5"``: cells beyond it have weight 0.
    threads : int, optional
        The most threads to use; by default ``CAROUSEVAL_THREADS`` or all cores. The result does not depend on it.

    Returns
    -------
    float or ndarray
        Between 0 and 1, 1 for an ideal page, NaN for a page without any gain: a float for one page, an array of the
        leading shape for a batch.

    See Also
    --------
    ideal_layout : The ideal page itself.
    evaluate : The same metric for tables of layouts and judgments.

    Examples
    --------
    >>> import carouseval as cv
    >>> round(cv.n2dcg_cat([[0, 0, 1], [2, 0, 1]]), 4)
    0.8556
    >>> cv.n2dcg_cat([[[0, 0, 1], [2, 0, 1]], [[2, 1, 0], [1, 0, 0]]]).round(4)
    array([0.8556, 1.    ])

    References
    ----------
    Kang, de Leon-Martinez, de Rijke, Oosterhuis. Revisiting N2DCG. CIKM 2026.
    """
    return _score(N2DCGCat, relevance, discount, grid, gain, cutoff, threads)


@number_per_page
def n2dcg(
    relevance: Relevance,
    discount: str | Discount = "d_a",
    grid: Grid | None = None,
    gain: Gain = "exp2",
    *,
    cutoff: PageCutoff = None,
    threads: int | None = None,
) -> float | Array:
    r"""N2DCG, the original metric: 2DCG over that of the best page when any item may go anywhere.

    .. math:: N2DCG(y) = 2DCG(y) / I2DCG(y)

    A page of real carousels often cannot reach 1, since items cannot leave their carousel; see :func:`n2dcg_cat`.

    Parameters
    ----------
    relevance : array-like of shape (..., rows, cols)
        Relevance of each cell, finite and 0 or more: a row is one carousel, NaN or None a cell without an item. Rows of
        nested lists may differ in length.
    discount : str or Discount, default 'd_a'
        A :mod:`discount <carouseval.discounts>` or its name, such as ``"d_rpd(mu=0.5)"`` or ``"@fitted.json"``.
    grid : Grid, optional
        The screen. By default it has the shape of the page, swipe pages of 5 items and 3 visible rows. A smaller page
        is scored as if padded with empty cells; a larger one is an error.
    gain : {"exp2", "linear"} or callable, default 'exp2'
        What an item is worth: 2^relevance - 1, its relevance, or a function from an array of relevances to gains.
    cutoff : tuple of int or str, optional
        ``(rows, cols)`` or ``"3x5"``: cells beyond it have weight 0.
    threads : int, optional
        The most threads to use; by default ``CAROUSEVAL_THREADS`` or all cores. The result does not depend on it.

    Returns
    -------
    float or ndarray
        Between 0 and 1, NaN for a page without any gain: a float for one page, an array of the leading shape for a
        batch.

    Examples
    --------
    >>> import carouseval as cv
    >>> table1 = cv.discounts.Empirical([[1.0, 0.9, 0.8], [0.3, 0.2, 0.1]])
    >>> round(cv.n2dcg([[1, 1, 0], [1, 0, 0]], table1), 2)  # the best page that these carousels allow
    0.81

    References
    ----------
    Ferrari Dacrema, Felicioni, Cremonesi. Offline Evaluation of Recommender Systems in a User Interface With Multiple
    Carousels. Frontiers in Big Data, 2022.
    """
    return _score(N2DCG, relevance, discount, grid, gain, cutoff, threads)


def _score(
    metric: type[Metric],
    relevance: Relevance,
    discount: str | Discount,
    grid: Grid | None,
    gain: Gain,
    cutoff: PageCutoff,
    threads: int | None,
) -> float | Array:
    """What the metric gives when called, without making one: that would take as long as scoring a page."""
    stack = stack_pages(relevance, gain)
    weights = stack.weights(discount, grid, cutoff)
    return stack.unstacked(stack.score(weights, metric.ideal, threads=threads)[-1])
