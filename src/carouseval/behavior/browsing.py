"""What a page yields to users who browse as a model says: which cells they examine, at what cost, and their gain.

A browsing model (``metrics/browsing/``) is a discount with a Markov chain of looks. The measures are those of C/W/L
(Moffat, Bailey, Scholer and Thomas, TOIS 2017) in two dimensions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, cast

import numpy as np

from carouseval.behavior.joint_examination import covariance
from carouseval.errors import ParameterError
from carouseval.metrics.browsing.chain import Chain
from carouseval.metrics.browsing.contract import BrowsingModel
from carouseval.metrics.discount_base import as_discount
from carouseval.metrics.discounts import Discount, Mixture
from carouseval.metrics.gains import Gain
from carouseval.metrics.grid import Array, Grid
from carouseval.metrics.page_stack import stack_pages
from carouseval.metrics.relevance import FunctionOfPages, Relevance
from carouseval.validation import require_float

_Value = TypeVar("_Value")  # float for one page, an array for a batch
_P = ParamSpec("_P")


@dataclass(frozen=True, eq=False, repr=False)
class Browsing(Generic[_Value]):
    """What users of a browsing model examine, do and gain.

    ``utility``, ``total_utility`` and ``variance`` are floats for one page and arrays of the leading shape for a batch.

    Attributes
    ----------
    weights : ndarray of shape (rows, cols)
        Probability that each cell is examined.
    visits : ndarray of shape (rows, cols)
        Expected number of looks at each cell.
    swipes : float
        Expected number of swipes per user; NaN if the model does not say.
    scrolls : float
        Expected number of scrolls per user; NaN if the model does not say.
    cost : float
        Expected cost of these swipes and scrolls.
    utility : float or ndarray
        Expected gain per look: the expected utility (EU) of C/W/L.
    total_utility : float or ndarray
        Expected total gain, each item counting once: the expected total utility (ETU) of C/W/L, which is 2DCG under
        ``weights``.

    Examples
    --------
    >>> import carouseval as cv
    >>> browsing = cv.behavior.browse([[1, 0, 1], [0, 1, 0]], "d_rpb")
    >>> browsing
    Browsing(total_utility=2.544, utility=0.5081, looks=7.149, swipes=0, scrolls=0, cost=0)
    >>> round(browsing.variance, 3)
    0.683
    """

    weights: Array
    visits: Array
    swipes: float
    scrolls: float
    cost: float
    utility: _Value
    total_utility: _Value
    _variance: Callable[[], _Value] = field(repr=False)

    def __repr__(self) -> str:
        names = ("total_utility", "utility", "looks", "swipes", "scrolls", "cost")
        return f"Browsing({', '.join(f'{name}={_brief(getattr(self, name))}' for name in names)})"

    @cached_property
    def variance(self) -> _Value:
        """The variance of the total gain over users; computed when needed, since it takes all pairs of cells."""
        return self._variance()

    @property
    def looks(self) -> float:
        """The expected number of looks per user."""
        return float(self.visits.sum())


def _brief(value: Any) -> str:
    return f"{value:.4g}" if np.ndim(value) == 0 else f"<array of shape {np.shape(value)}>"


def chain_of(discount: str | Discount, grid: Grid) -> Chain:
    """Return the Markov chain of looks behind a browsing model.

    Parameters
    ----------
    discount : str or Discount
        A browsing model or its name: d_rpb, d_rcb, d_scan, a table of frequencies, or your own
        :class:`carouseval.discounts.BrowsingModel`.
    grid : Grid
        The screen.

    Returns
    -------
    Chain
        The chain, with the expected visits, swipes and scrolls.

    See Also
    --------
    browse : What a page yields to users who browse so; it also takes mixtures.

    Examples
    --------
    >>> import carouseval as cv
    >>> chain = cv.behavior.chain_of("d_rcb", cv.Grid(2, 3))
    >>> chain.weights.round(3)
    array([[0.962, 0.857, 0.763],
           [0.871, 0.776, 0.691]])
    """
    discount = as_discount(discount)
    if isinstance(discount, Mixture):
        raise ParameterError(f"{discount} has a chain for each of its parts: call chain_of for these, or use browse.")
    if not isinstance(discount, BrowsingModel):
        raise ParameterError(
            f"{discount} is not a browsing model: its weights are not probabilities. Use d_rpb, d_rcb, d_scan, a table "
            "of frequencies or a mixture of these, or derive it from discounts.BrowsingModel and define its chain."
        )
    return discount.chain(grid)


def _browsing_per_page(
    function: Callable[Concatenate[Relevance, _P], Browsing[Any]],
) -> FunctionOfPages[_P, Browsing[float], Browsing[Array], Browsing[Any]]:
    """The function itself, for type checkers one whose result fits the number of pages."""
    return cast(FunctionOfPages[_P, Browsing[float], Browsing[Array], Browsing[Any]], function)


@_browsing_per_page
def browse(
    relevance: Relevance,
    discount: str | Discount,
    grid: Grid | None = None,
    gain: Gain = "exp2",
    *,
    swipe_cost: float = 1,
    scroll_cost: float = 1,
) -> Browsing[Any]:
    """Compute what users who browse as a model says examine, do and gain on a page.

    Cells without an item have gain 0; users pass over them as over any other cell.

    Parameters
    ----------
    relevance : array-like of shape (..., rows, cols)
        Relevance of each cell, finite and 0 or more: a row is one carousel, NaN or None a cell without an item. Rows of
        nested lists may differ in length.
    discount : str or Discount
        A browsing model or its name: d_rpb, d_rcb, d_scan, a table of frequencies, a mixture of these, or your own
        :class:`carouseval.discounts.BrowsingModel`.
    grid : Grid, optional
        The screen. By default it has the shape of the page, swipe pages of 5 items and 3 visible rows. A smaller page
        is padded with empty cells; a larger one is an error.
    gain : {"exp2", "linear"} or callable, default 'exp2'
        What an item is worth: 2^relevance - 1, its relevance, or a function from an array of relevances to gains.
    swipe_cost : float, default 1
        Cost of a swipe, 0 or more.
    scroll_cost : float, default 1
        Cost of a scroll, 0 or more.

    Returns
    -------
    Browsing
        Examination, actions, utility and its variance over users.

    References
    ----------
    Moffat, Bailey, Scholer, Thomas. Incorporating User Expectations and Behavior into the Measurement of Search
    Effectiveness. TOIS 2017.

    Examples
    --------
    >>> import carouseval as cv
    >>> browsing = cv.behavior.browse([[1, 0, 1], [0, 1, 0]], "d_rpb", cv.RECGAZE)
    >>> round(browsing.total_utility, 4), round(browsing.looks, 1), round(browsing.swipes, 2)
    (2.5437, 60.9, 4.15)
    """
    if isinstance(relevance, str | Discount):
        raise ParameterError(f"browse takes the relevance first, then the discount; found {relevance!r} first.")
    discount = as_discount(discount)
    stack = stack_pages(relevance, gain)
    grid = stack.grid(grid)
    moments = _chain_moments(discount, grid)
    gains = stack.gains_on(grid).reshape(len(stack.relevance), -1)
    swipe_cost = require_float("swipe_cost", swipe_cost, at_least=0)
    scroll_cost = require_float("scroll_cost", scroll_cost, at_least=0)
    return Browsing(
        weights=moments.weights,
        visits=moments.visits,
        swipes=moments.swipes,
        scrolls=moments.scrolls,
        cost=moments.swipes * swipe_cost + moments.scrolls * scroll_cost,
        utility=stack.unstacked(gains @ moments.visits.ravel() / (moments.visits.sum() or np.nan)),
        total_utility=stack.unstacked(gains @ moments.weights.ravel()),
        _variance=lambda: stack.unstacked(_variance(discount, grid, gains)),
    )


@dataclass(frozen=True, eq=False)
class _ChainMoments:
    weights: Array
    visits: Array
    swipes: float
    scrolls: float


def _chain_moments(discount: Discount, grid: Grid) -> _ChainMoments:
    """Expectations of a chain or, of a mixture, their means over its parts."""
    if not isinstance(discount, Mixture):
        chain = chain_of(discount, grid)
        return _ChainMoments(chain.weights, chain.visits, chain.expected_swipes, chain.expected_scrolls)
    parts = [(share, _chain_moments(part, grid)) for share, part in discount.parts]

    def mean(name: str) -> Any:
        return sum(share * getattr(part, name) for share, part in parts)

    return _ChainMoments(mean("weights"), mean("visits"), mean("swipes"), mean("scrolls"))


def _variance(discount: Discount, grid: Grid, gains: Array) -> Array:
    """The variance of the total gain of each page, with gains (pages, cells)."""
    if not isinstance(discount, Mixture):
        within: Array = ((gains @ covariance(chain_of(discount, grid))) * gains).sum(axis=1)
        return np.maximum(within, 0.0)
    # the law of total variance: within the groups of users and between them
    mean = gains @ discount.weights(grid).ravel()
    total: Array = np.zeros(len(gains))
    for share, part in discount.parts:
        deviation = gains @ part.weights(grid).ravel() - mean
        total += share * (_variance(part, grid, gains) + deviation**2)
    return total
