"""Discounts: what a cell's position is worth. To add one, write a class here and register its symbol.

All six formulas of the paper, with the values fitted there as defaults. i is the row, j the column, j~ the mirrored
column, n_h swipes, n_v scrolls and delta the page size of the grid.
"""

import re
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from carouseval.errors import ParameterError
from carouseval.metric.checks import number
from carouseval.metric.discount import (
    TABLE,
    Discount,
    as_discount,
    classes,
    load,
    parse,
    register,
    register_table,
    save,
)
from carouseval.metric.grid import Array, Grid

__all__ = [
    "Discount",
    "Empirical",
    "FPattern",
    "FPatternActions",
    "Mirrored",
    "MirroredAdditive",
    "MirroredMultiplicative",
    "RowPage",
    "as_discount",
    "classes",
    "load",
    "parse",
    "register",
    "register_table",
    "save",
    "table_name",
]


class _Logarithmic(Discount):
    """Shared by the paper's formulas: factors are 0 or more, decays lie in (0, 1]."""

    needs: ClassVar[str] = " Choose alpha and beta so that alpha*i + beta*j is above 1."
    decays: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        for name, value in self.parameters.items():
            bounds: dict[str, float] = {"above": 0, "at_most": 1} if name in self.decays else {"at_least": 0}
            object.__setattr__(self, name, number(f"{self.symbol}: {name}", value, **bounds))


def _logarithmic(position: Any) -> Array:
    """1 / log2(position), the decay all six share."""
    decay: Array = 1 / np.log2(position)
    return decay


@register("d_t")
class FPattern(_Logarithmic):
    """d_t = 1 / log2(alpha i + beta j): attention falls to the right and downwards (Ferrari Dacrema et al.)."""

    alpha: float = 7
    beta: float = 6

    def weights(self, grid: Grid) -> Array:
        return _logarithmic(self.alpha * grid.row_index + self.beta * grid.column_index)


@register("d_a")
class FPatternActions(_Logarithmic):
    """d_a = 1 / log2(alpha i + beta j + gamma n_h + lambda n_v): swipes and scrolls cost as well; ``lam`` is lambda."""

    alpha: float = 2
    beta: float = 1
    gamma: float = 9
    lam: float = 1

    def weights(self, grid: Grid) -> Array:
        position = self.alpha * grid.row_index + self.beta * grid.column_index
        return _logarithmic(position + self.gamma * grid.swipes + self.lam * grid.scrolls)


@register("d_mir")
class Mirrored(_Logarithmic):
    """d_mir = 1 / log2(alpha i + beta j~): attention restarts at the right edge of every page after the first."""

    alpha: float = 10
    beta: float = 9

    def weights(self, grid: Grid) -> Array:
        return _logarithmic(self.alpha * grid.row_index + self.beta * grid.mirrored_columns)


@register("d_add")
class MirroredAdditive(_Logarithmic):
    """d_add = 1 / log2(alpha i + beta j~ + gamma n_h + lambda n_v): mirrored, with actions inside the logarithm."""

    alpha: float = 2
    beta: float = 1
    gamma: float = 9
    lam: float = 1

    def weights(self, grid: Grid) -> Array:
        position = self.alpha * grid.row_index + self.beta * grid.mirrored_columns
        return _logarithmic(position + self.gamma * grid.swipes + self.lam * grid.scrolls)


@register("d_mul")
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


@register("d_rpd")
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


def table_name(text: str) -> str:
    """Any text as the name of a table: brackets and commas, which names cannot have, become blanks."""
    return " ".join(re.sub(r"[(),]", " ", text).split()) or "table"


@register(TABLE)
class Empirical(Discount):
    """d_emp(name): any table of weights, such as measured examination frequencies; 0 is allowed, all 0 is not.

    The table holds for its first rows and columns on a smaller grid; a larger grid is refused.

    >>> Empirical([[1.0, 0.9, 0.8], [0.3, 0.2, 0.1]], name="table 1").weights(Grid(2, 3))
    array([[1. , 0.9, 0.8],
           [0.3, 0.2, 0.1]])
    """

    allows_zero: ClassVar[bool] = True
    table: ArrayLike
    name: str = "table"

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not re.fullmatch(r"[^()\s,](?:[^(),\n]*[^()\s,])?", self.name):
            raise ParameterError(f"d_emp: name must be text without brackets and commas, found {self.name!r}.")
        try:
            table = np.array(self.table, dtype=np.float64)
        except (TypeError, ValueError):
            raise ParameterError(f"{self}: the table must be numbers, as many in each row.") from None
        if table.ndim != 2 or table.size == 0:
            raise ParameterError(f"{self}: the table needs shape (rows, cols), found {table.shape}.")
        # held as tuples, so that equal tables are equal values and nobody can change one
        object.__setattr__(self, "table", tuple(map(tuple, table.tolist())))
        self.weights(Grid(*table.shape))
        if not table.any():
            raise ParameterError(f"{self}: all weights are 0; at least one must be above 0.")

    def __str__(self) -> str:
        return f"d_emp({self.name})"

    __repr__ = __str__

    @property
    def short(self) -> str:
        return str(self)

    def weights(self, grid: Grid) -> Array:
        table = np.array(self.table)
        if grid.rows > table.shape[0] or grid.cols > table.shape[1]:
            size = "x".join(map(str, table.shape))
            raise ParameterError(f"{self}: the table is {size}, too small for a {grid} grid.")
        return table[: grid.rows, : grid.cols]
