"""Discounts: the weight of a cell by its position. To add one, write a class here and register its symbol.

The six formulas of the paper, with the values fitted there as defaults. i is the row, j the column, j~ the mirrored
column, n_h swipes, n_v scrolls and delta the page size of the row. Tables and mixtures are in
``composite_discounts.py``, browsing models, whose weights are probabilities, in ``browsing/``.
"""

from typing import Any, ClassVar

import numpy as np

from carouseval.metrics.browsing.contract import BrowsingModel
from carouseval.metrics.browsing.row_column import RowColumnBrowsing
from carouseval.metrics.browsing.row_page import RowPageBrowsing
from carouseval.metrics.browsing.scan import MarkovScan
from carouseval.metrics.composite_discounts import Empirical, Mixture
from carouseval.metrics.discount_base import Discount, Formula, parse, register_discount, register_table
from carouseval.metrics.discount_files import load, save
from carouseval.metrics.grid import Array, Grid

__all__ = [
    "BrowsingModel",
    "Discount",
    "Empirical",
    "FPattern",
    "FPatternActions",
    "MarkovScan",
    "Mirrored",
    "MirroredAdditive",
    "MirroredMultiplicative",
    "Mixture",
    "RowColumnBrowsing",
    "RowPage",
    "RowPageBrowsing",
    "load",
    "parse",
    "register_discount",
    "register_table",
    "save",
]


class _Logarithmic(Formula):
    """Base of the paper's formulas."""

    needs: ClassVar[str] = " Choose alpha and beta so that alpha*i + beta*j is above 1."


def _logarithmic(position: Any) -> Array:
    """1 / log2(position), common to all six."""
    decay: Array = 1 / np.log2(position)
    return decay


@register_discount("d_t")
class FPattern(_Logarithmic):
    """d_t: attention falls to the right and downwards, the F-pattern of the original 2DCG.

    ``d(i, j) = 1 / log2(alpha i + beta j)`` for row i and column j. alpha + beta must be above 1.

    Parameters
    ----------
    alpha : float, default 7
        Cost of a row, 0 or more.
    beta : float, default 6
        Cost of a column, 0 or more.

    Examples
    --------
    >>> import carouseval as cv
    >>> cv.discounts.FPattern().weights(cv.Grid(2, 4, page_size=2)).round(3)
    array([[0.27 , 0.235, 0.215, 0.202],
           [0.231, 0.213, 0.2  , 0.191]])

    References
    ----------
    Ferrari Dacrema, Felicioni, Cremonesi. Offline Evaluation of Recommender Systems in a User Interface With Multiple
    Carousels. Frontiers in Big Data, 2022.
    """

    alpha: float = 7
    beta: float = 6

    def weights(self, grid: Grid) -> Array:
        return _logarithmic(self.alpha * grid.row_index + self.beta * grid.column_index)


@register_discount("d_a")
class FPatternActions(_Logarithmic):
    """d_a: the F-pattern with a cost for the swipes and scrolls that reveal a cell.

    ``d(i, j) = 1 / log2(alpha i + beta j + gamma n_h + lam n_v)`` with n_h swipes and n_v scrolls until the cell is
    visible. alpha + beta must be above 1.

    Parameters
    ----------
    alpha : float, default 2
        Cost of a row, 0 or more.
    beta : float, default 1
        Cost of a column, 0 or more.
    gamma : float, default 9
        Cost of a swipe, 0 or more.
    lam : float, default 1
        Cost of a scroll, the paper's lambda, 0 or more.

    Examples
    --------
    >>> import carouseval as cv
    >>> cv.discounts.FPatternActions().weights(cv.Grid(2, 4, page_size=2)).round(3)
    array([[0.631, 0.5  , 0.263, 0.256],
           [0.431, 0.387, 0.25 , 0.245]])

    References
    ----------
    Ferrari Dacrema, Felicioni, Cremonesi. Offline Evaluation of Recommender Systems in a User Interface With Multiple
    Carousels. Frontiers in Big Data, 2022.
    """

    alpha: float = 2
    beta: float = 1
    gamma: float = 9
    lam: float = 1

    def weights(self, grid: Grid) -> Array:
        position = self.alpha * grid.row_index + self.beta * grid.column_index
        return _logarithmic(position + self.gamma * grid.swipes + self.lam * grid.scrolls)


@register_discount("d_mir")
class Mirrored(_Logarithmic):
    """d_mir: attention restarts at the right edge of every swipe page after the first.

    ``d(i, j) = 1 / log2(alpha i + beta j~)`` with the mirrored column j~ (:attr:`carouseval.Grid.mirrored_columns`).
    alpha + beta must be above 1.

    Parameters
    ----------
    alpha : float, default 10
        Cost of a row, 0 or more.
    beta : float, default 9
        Cost of a column, 0 or more.

    Examples
    --------
    >>> import carouseval as cv
    >>> cv.discounts.Mirrored().weights(cv.Grid(2, 4, page_size=2)).round(3)
    array([[0.235, 0.208, 0.181, 0.192],
           [0.206, 0.191, 0.172, 0.18 ]])

    References
    ----------
    Kang, de Leon-Martinez, de Rijke, Oosterhuis. Revisiting N2DCG. CIKM 2026.
    """

    alpha: float = 10
    beta: float = 9

    def weights(self, grid: Grid) -> Array:
        return _logarithmic(self.alpha * grid.row_index + self.beta * grid.mirrored_columns)


@register_discount("d_add")
class MirroredAdditive(_Logarithmic):
    """d_add: mirrored columns, with the cost of swipes and scrolls inside the logarithm.

    ``d(i, j) = 1 / log2(alpha i + beta j~ + gamma n_h + lam n_v)`` with the mirrored column j~, n_h swipes and n_v
    scrolls. alpha + beta must be above 1.

    Parameters
    ----------
    alpha : float, default 2
        Cost of a row, 0 or more.
    beta : float, default 1
        Cost of a column, 0 or more.
    gamma : float, default 9
        Cost of a swipe, 0 or more.
    lam : float, default 1
        Cost of a scroll, the paper's lambda, 0 or more.

    Examples
    --------
    >>> import carouseval as cv
    >>> cv.discounts.MirroredAdditive().weights(cv.Grid(2, 4, page_size=2)).round(3)
    array([[0.631, 0.5  , 0.256, 0.263],
           [0.431, 0.387, 0.245, 0.25 ]])

    References
    ----------
    Kang, de Leon-Martinez, de Rijke, Oosterhuis. Revisiting N2DCG. CIKM 2026.
    """

    alpha: float = 2
    beta: float = 1
    gamma: float = 9
    lam: float = 1

    def weights(self, grid: Grid) -> Array:
        position = self.alpha * grid.row_index + self.beta * grid.mirrored_columns
        return _logarithmic(position + self.gamma * grid.swipes + self.lam * grid.scrolls)


@register_discount("d_mul")
class MirroredMultiplicative(_Logarithmic):
    """d_mul: mirrored columns; every swipe and every scroll keeps a share of the attention.

    ``d(i, j) = eta^n_h theta^n_v / log2(alpha i + beta j~)`` with the mirrored column j~, n_h swipes and n_v scrolls.
    alpha + beta must be above 1.

    Parameters
    ----------
    alpha : float, default 1
        Cost of a row, 0 or more.
    beta : float, default 9
        Cost of a column, 0 or more.
    eta : float, default 0.9
        Share kept by a swipe, above 0 and at most 1.
    theta : float, default 0.95
        Share kept by a scroll, above 0 and at most 1.

    Examples
    --------
    >>> import carouseval as cv
    >>> cv.discounts.MirroredMultiplicative().weights(cv.Grid(2, 4, page_size=2)).round(3)
    array([[0.301, 0.235, 0.173, 0.187],
           [0.289, 0.231, 0.171, 0.185]])

    References
    ----------
    Kang, de Leon-Martinez, de Rijke, Oosterhuis. Revisiting N2DCG. CIKM 2026.
    """

    alpha: float = 1
    beta: float = 9
    eta: float = 0.9
    theta: float = 0.95

    decays: ClassVar[tuple[str, ...]] = ("eta", "theta")

    def weights(self, grid: Grid) -> Array:
        position = self.alpha * grid.row_index + self.beta * grid.mirrored_columns
        decay: Array = self.eta**grid.swipes * self.theta**grid.scrolls
        return _logarithmic(position) * decay


@register_discount("d_rpd")
class RowPage(_Logarithmic):
    """d_rpd, the paper's row-page discount: leaving the first swipe page costs once, every row costs again.

    ``d(i, j) = mu^[j > delta] nu^(i-1) / log2(alpha i + beta j~)`` with the mirrored column j~ and the page size delta.
    alpha + beta must be above 1.

    Parameters
    ----------
    alpha : float, default 4
        Cost of a row, 0 or more.
    beta : float, default 9
        Cost of a column, 0 or more.
    mu : float, default 0.65
        Share of attention left after the first swipe page, above 0 and at most 1.
    nu : float, default 0.95
        Share of attention kept from row to row, above 0 and at most 1.

    Examples
    --------
    >>> import carouseval as cv
    >>> cv.discounts.RowPage().weights(cv.Grid(2, 4, page_size=2)).round(3)
    array([[0.27 , 0.224, 0.122, 0.131],
           [0.232, 0.202, 0.113, 0.12 ]])

    References
    ----------
    Kang, de Leon-Martinez, de Rijke, Oosterhuis. Revisiting N2DCG. CIKM 2026.
    """

    alpha: float = 4
    beta: float = 9
    mu: float = 0.65
    nu: float = 0.95

    decays: ClassVar[tuple[str, ...]] = ("mu", "nu")

    def weights(self, grid: Grid) -> Array:
        position = self.alpha * grid.row_index + self.beta * grid.mirrored_columns
        decay: Array = self.mu ** (grid.swipe_page > 1) * self.nu ** (grid.row_index - 1)
        return _logarithmic(position) * decay
