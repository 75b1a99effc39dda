"""Discounts: what a cell's position is worth. To add one, write a class here and register its symbol.

The six formulas of the paper, with the values fitted there as defaults, and two browsing models, whose weights are
probabilities. i is the row, j the column, j~ the mirrored column, n_h swipes, n_v scrolls and delta the page size of
the grid. Tables and mixtures are made in ``composed.py``, the scan from cell to cell in ``scan.py``.
"""

from typing import Any, ClassVar

import numpy as np

from carouseval.metrics.composite_discounts import Empirical, Mixture, table_name
from carouseval.metrics.discount_base import (
    Discount,
    Formula,
    as_discount,
    classes,
    parse,
    register_discount,
    register_table,
)
from carouseval.metrics.discount_files import load, save
from carouseval.metrics.grid import Array, Grid
from carouseval.metrics.markov_scan import MarkovScan

__all__ = [
    "Discount",
    "Empirical",
    "FPattern",
    "FPatternActions",
    "Formula",
    "MarkovScan",
    "Mirrored",
    "MirroredAdditive",
    "MirroredMultiplicative",
    "Mixture",
    "RowColumnBrowsing",
    "RowPage",
    "RowPageBrowsing",
    "as_discount",
    "classes",
    "load",
    "parse",
    "register_discount",
    "register_table",
    "save",
    "table_name",
]


class _Logarithmic(Formula):
    """Shared by the paper's formulas."""

    needs: ClassVar[str] = " Choose alpha and beta so that alpha*i + beta*j is above 1."


def _logarithmic(position: Any) -> Array:
    """1 / log2(position), the decay all six share."""
    decay: Array = 1 / np.log2(position)
    return decay


@register_discount("d_t")
class FPattern(_Logarithmic):
    """d_t = 1 / log2(alpha i + beta j): attention falls to the right and downwards (Ferrari Dacrema et al.)."""

    alpha: float = 7
    beta: float = 6

    def weights(self, grid: Grid) -> Array:
        return _logarithmic(self.alpha * grid.row_index + self.beta * grid.column_index)


@register_discount("d_a")
class FPatternActions(_Logarithmic):
    """d_a = 1 / log2(alpha i + beta j + gamma n_h + lambda n_v): swipes and scrolls cost as well; ``lam`` is lambda."""

    alpha: float = 2
    beta: float = 1
    gamma: float = 9
    lam: float = 1

    def weights(self, grid: Grid) -> Array:
        position = self.alpha * grid.row_index + self.beta * grid.column_index
        return _logarithmic(position + self.gamma * grid.swipes + self.lam * grid.scrolls)


@register_discount("d_mir")
class Mirrored(_Logarithmic):
    """d_mir = 1 / log2(alpha i + beta j~): attention restarts at the right edge of every page after the first."""

    alpha: float = 10
    beta: float = 9

    def weights(self, grid: Grid) -> Array:
        return _logarithmic(self.alpha * grid.row_index + self.beta * grid.mirrored_columns)


@register_discount("d_add")
class MirroredAdditive(_Logarithmic):
    """d_add = 1 / log2(alpha i + beta j~ + gamma n_h + lambda n_v): mirrored, with actions inside the logarithm."""

    alpha: float = 2
    beta: float = 1
    gamma: float = 9
    lam: float = 1

    def weights(self, grid: Grid) -> Array:
        position = self.alpha * grid.row_index + self.beta * grid.mirrored_columns
        return _logarithmic(position + self.gamma * grid.swipes + self.lam * grid.scrolls)


@register_discount("d_mul")
class MirroredMultiplicative(_Logarithmic):
    """d_mul = d_mir eta^n_h theta^n_v: every swipe and every scroll keeps a share of the attention."""

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
    """d_rpd = d_mir mu^[j > delta] nu^(i-1): leaving the first page costs once, every row costs again."""

    alpha: float = 4
    beta: float = 9
    mu: float = 0.65
    nu: float = 0.95

    decays: ClassVar[tuple[str, ...]] = ("mu", "nu")

    def weights(self, grid: Grid) -> Array:
        position = self.alpha * grid.row_index + self.beta * grid.mirrored_columns
        decay: Array = self.mu ** (grid.swipe_page > 1) * self.nu ** (grid.row_index - 1)
        return _logarithmic(position) * decay


class _Browsing(Formula):
    """Shared by browsing models: weights are probabilities that cells are examined."""

    @property
    def is_probability(self) -> bool:
        return True


@register_discount("d_rcb")
class RowColumnBrowsing(_Browsing):
    """d_rcb = e kappa^(i-1) beta^(j-1): people read a row from the left and rows from the top, and may stop anywhere.

    A share e looks at all; each further row is reached with probability kappa, each further item of a row with beta.
    Fitted, like d_rpb, to Bratislava's counts by likelihood; it knows no swipe pages.
    """

    e: float = 0.9621
    kappa: float = 0.9049
    beta: float = 0.8908

    decays: ClassVar[tuple[str, ...]] = ("e", "kappa", "beta")

    def weights(self, grid: Grid) -> Array:
        weights: Array = self.e * self.kappa ** (grid.row_index - 1) * self.beta ** (grid.column_index - 1)
        return weights


@register_discount("d_rpb")
class RowPageBrowsing(_Browsing):
    """d_rpb: the probability of an examination when people read row after row and swipe page after page.

    With l the slot on swipe page p, and delta slots on a page::

        page 1        e kappa^(i-1) (1 - (1 - beta^(l-1)) (1 - w beta^(delta-l)))
        later pages   e kappa^(i-1) s_i sigma2^(p-2) rho^(delta-l)
        s_i           sigma1 + (sigma1_top - sigma1) fade^(i-1)

    A share e looks at all and reaches each further row with probability kappa. On page 1 eyes go right from the left
    edge (beta per slot) and, with probability w, also left from the right edge. A swipe to page 2 has probability
    sigma1 (in row 1 sigma1_top, and of what that is more, ``fade`` is left in each further row), to each further page
    sigma2; there eyes go left from the right edge (rho per slot).

    ``w=0, sigma1_top=sigma1`` is the form of six parameters, ``fade=0`` the one in which only row 1 differs. The
    default was fitted to Bratislava's counts by likelihood: :mod:`carouseval.attention.forms`.
    """

    e: float = 0.9333
    kappa: float = 0.9081
    beta: float = 0.8649
    sigma1: float = 0.3425
    sigma2: float = 0.8419
    rho: float = 0.9735
    w: float = 0.717
    sigma1_top: float = 0.4349
    fade: float = 0.1405

    decays: ClassVar[tuple[str, ...]] = ("e", "kappa", "beta", "sigma1", "sigma2", "rho", "sigma1_top")
    shares: ClassVar[tuple[str, ...]] = ("w", "fade")

    def weights(self, grid: Grid) -> Array:
        left, right = grid.slot - 1, grid.page_size - grid.slot  # slots from either edge
        from_left, from_right = self.beta**left, self.w * self.beta**right
        focus = from_left + from_right * (1 - from_left)  # either of two scans, without a difference of near numbers
        swipe = self.sigma1 + (self.sigma1_top - self.sigma1) * self.fade ** (grid.row_index - 1)
        turns = np.maximum(grid.swipe_page - 2, 0)  # swipes after the first
        further = swipe * self.sigma2**turns * self.rho**right
        reached = self.e * self.kappa ** (grid.row_index - 1)
        return np.asarray(reached * np.where(grid.swipe_page == 1, focus, further), dtype=np.float64)
