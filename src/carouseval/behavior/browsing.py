"""Browsing models and what they imply: which cells people examine, how often, at what cost, and what they gain.

A model is a discount whose weights are probabilities. ``chain_of`` gives the chain of looks behind it and
:func:`browse` what a page yields to people who browse so: C/W/L (Moffat, Bailey, Scholer and Thomas, TOIS 2017) in two
dimensions.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from carouseval.behavior.joint_examination import covariance
from carouseval.behavior.model_chains import chain_of
from carouseval.metrics.discount_base import as_discount
from carouseval.metrics.discounts import Discount, Mixture
from carouseval.metrics.gains import Gain
from carouseval.metrics.grid import Array, Grid
from carouseval.metrics.page_stack import stack_pages
from carouseval.metrics.relevance import Relevance
from carouseval.metrics.validation import require_float


@dataclass(frozen=True, eq=False)
class Browsing:
    """What people see of a screen, and what they gain from a page on it. Of many pages, arrays."""

    weights: Array  # the probability that a cell is examined, (rows, cols)
    visits: Array  # looks at each cell, (rows, cols)
    swipes: float  # actions per person
    scrolls: float
    cost: float  # of these actions; looks cost attention, not actions
    utility: Any  # gain per look: EU of C/W/L
    total_utility: Any  # gain in all, each item counting once: ETU of C/W/L, and 2DCG under `weights`
    _variance: Callable[[], Any] = field(repr=False)

    @cached_property
    def variance(self) -> Any:
        """Of the total utility, from person to person; computed when asked for, since it takes all pairs of cells."""
        return self._variance()

    @property
    def looks(self) -> float:
        """Looks per person."""
        return float(self.visits.sum())


def browse(
    model: str | Discount,
    relevance: Relevance,
    grid: Grid | None = None,
    gain: Gain = "exp2",
    *,
    swipe_cost: float = 1,
    scroll_cost: float = 1,
) -> Browsing:
    """What a page yields to people who browse as the model says, and what it costs them.

    Cells that hold nothing gain nothing; the model passes over them as over any other.

    >>> browsing = browse("d_rpb", [[1, 0, 1], [0, 1, 0]])
    >>> round(browsing.total_utility, 4), round(browsing.looks, 4)
    (2.5437, 7.149)
    """
    discount = as_discount(model)
    stack = stack_pages(relevance, gain)
    grid = stack.grid(grid)
    looks = _looks(discount, grid)
    gains = stack.gains_on(grid).reshape(len(stack.relevance), -1)
    price = require_float("swipe_cost", swipe_cost, at_least=0), require_float("scroll_cost", scroll_cost, at_least=0)
    return Browsing(
        weights=looks.weights,
        visits=looks.visits,
        swipes=looks.swipes,
        scrolls=looks.scrolls,
        cost=looks.swipes * price[0] + looks.scrolls * price[1],
        utility=stack.unstacked(gains @ looks.visits.ravel() / (looks.visits.sum() or np.nan)),
        total_utility=stack.unstacked(gains @ looks.weights.ravel()),
        _variance=lambda: stack.unstacked(_variance(discount, grid, gains)),
    )


@dataclass(frozen=True, eq=False)
class _Looks:
    weights: Array
    visits: Array
    swipes: float
    scrolls: float


def _looks(model: Discount, grid: Grid) -> _Looks:
    if not isinstance(model, Mixture):
        chain = chain_of(model, grid)
        return _Looks(chain.weights, chain.visits, chain.expected_swipes, chain.expected_scrolls)
    kinds = [(share, _looks(part, grid)) for share, part in model.parts]

    def mean(name: str) -> Any:
        return sum(share * getattr(kind, name) for share, kind in kinds)

    return _Looks(mean("weights"), mean("visits"), mean("swipes"), mean("scrolls"))


def _variance(model: Discount, grid: Grid, gains: Array) -> Array:
    """Of the total gain of each page (pages, cells)."""
    if not isinstance(model, Mixture):
        own: Array = ((gains @ covariance(chain_of(model, grid))) * gains).sum(axis=1)
        return np.maximum(own, 0.0)
    # people of one kind vary, and kinds differ
    mean = gains @ model.weights(grid).ravel()
    total: Array = np.zeros(len(gains))
    for share, part in model.parts:
        apart = gains @ part.weights(grid).ravel() - mean
        total += share * (_variance(part, grid, gains) + apart**2)
    return total
