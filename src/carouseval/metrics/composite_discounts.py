"""Discounts made of other things than a formula: tables of weights, and mixtures of discounts."""

import re
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from carouseval.errors import ParameterError, ParseError
from carouseval.metrics.discount_base import TABLE, Discount, as_discount, parse, register_discount
from carouseval.metrics.discount_base import registered_table as _registered_table
from carouseval.metrics.discount_files import as_plain, from_plain
from carouseval.metrics.grid import Array, Grid
from carouseval.metrics.validation import outside_brackets, require_float, require_int

MIXTURE = "d_mix"


def table_name(text: str) -> str:
    """Any text as the name of a table: brackets and commas, which names cannot have, become blanks."""
    return " ".join(re.sub(r"[(),]", " ", text).split()) or "table"


@register_discount(TABLE)
class Empirical(Discount):
    """d_emp(name): any table of weights, such as measured examination frequencies; 0 is allowed, all 0 is not.

    The table holds for its first rows and columns on a smaller grid; a larger grid is refused. With ``page_size``, that
    of the screen it was measured on, it carries over to screens with other swipe pages: a cell then weighs what the
    table says at the same place on the same swipe page, between two of its slots by a straight line.

    >>> Empirical([[1.0, 0.9, 0.8], [0.3, 0.2, 0.1]], name="table 1").weights(Grid(2, 3))
    array([[1. , 0.9, 0.8],
           [0.3, 0.2, 0.1]])
    >>> Empirical([[0.9, 0.8, 0.4, 0.3]], page_size=2).weights(Grid(1, 6, page_size=3))
    array([[0.9 , 0.85, 0.8 , 0.4 , 0.35, 0.3 ]])
    """

    allows_zero: ClassVar[bool] = True
    table: ArrayLike
    name: str = "table"
    page_size: int | None = None

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
        if self.page_size is not None:
            object.__setattr__(self, "page_size", require_int(f"{self}: page_size", self.page_size, 1))
        self.weights(Grid(len(table), table.shape[1], self.page_size or 1))
        if not table.any():
            raise ParameterError(f"{self}: all weights are 0; at least one must be above 0.")

    @classmethod
    def read(cls, arguments: str, text: str) -> Discount:
        return _registered_table(arguments.strip())

    def __str__(self) -> str:
        return f"d_emp({self.name})"

    __repr__ = __str__

    @property
    def short(self) -> str:
        return str(self)

    @property
    def is_probability(self) -> bool:
        return bool(np.max(self.table) <= 1)

    def weights(self, grid: Grid) -> Array:
        table = np.array(self.table)
        if self.page_size not in (None, grid.page_size):
            table = self._on_pages(table, grid)
        if grid.rows > table.shape[0] or grid.cols > table.shape[1]:
            size = "x".join(map(str, np.shape(self.table)))
            differ = self.page_size not in (None, grid.page_size)
            pages = f", in swipe pages of {self.page_size} and {grid.page_size} items" if differ else ""
            raise ParameterError(
                f"{self}: the table is {size}, too small for a {grid} grid{pages}. "
                "A browsing model such as d_rpb fits any."
            )
        return table[: grid.rows, : grid.cols]

    def _on_pages(self, table: Array, grid: Grid) -> Array:
        """The table's swipe pages with as many slots as the grid's, the middles of slots being their places.

        Of a last page that was measured in part, the same part.
        """
        measured = Grid(len(table), table.shape[1], self.page_size or 1)
        places = (np.arange(grid.page_size) + 0.5) / grid.page_size
        known = (measured.slot - 0.5) / measured.page_size
        columns = []
        for page in range(1, int(measured.swipe_page[-1]) + 1):
            on = measured.swipe_page == page
            reached = places[places <= on.sum() / measured.page_size]
            columns.append([np.interp(reached, known[on], row[on]) for row in table])
        return np.concatenate(columns, axis=1)


@register_discount(MIXTURE)
class Mixture(Discount):
    """d_mix: several kinds of people; ``parts`` are pairs of a share of people and how they look.

    >>> Mixture([(0.75, "d_rpb"), (0.25, "d_rcb(kappa=0.7)")])
    d_mix(0.75*d_rpb + 0.25*d_rcb(kappa=0.7))
    """

    allows_zero: ClassVar[bool] = True  # where all parts do: each checks its own
    parts: Any  # ((share, discount), ...)

    def __post_init__(self) -> None:
        try:
            pairs = [(share, part) for share, part in self.parts]
        except (TypeError, ValueError):
            raise ParameterError(
                f"{MIXTURE}: parts are pairs of a share and a discount, such as [(0.7, 'd_rpb'), (0.3, 'd_rcb')]."
            ) from None
        parts = tuple(
            (require_float(f"{MIXTURE}: a share", share, above=0, at_most=1), _part(discount))
            for share, discount in pairs
        )
        total = sum(share for share, _ in parts)
        if abs(total - 1) > 1e-9:
            raise ParameterError(f"{MIXTURE}: the shares of all parts add up to {total:g}; they must add up to 1.")
        object.__setattr__(self, "parts", parts)

    @classmethod
    def read(cls, arguments: str, text: str) -> Discount:
        parts = []
        for part in outside_brackets(arguments, "+"):
            share, times, discount = part.partition("*")
            try:
                parts.append((float(share), discount.strip()))
            except ValueError:
                times = ""
            if not times or not discount.strip() or discount.strip().startswith("@"):
                raise ParseError(
                    f"discount {text!r} does not read; write shares and discounts, as in {MIXTURE}(0.7*d_rpb + "
                    "0.3*d_rcb)."
                )
        if not parts:
            raise ParseError(f"{MIXTURE} needs shares and discounts, as in {MIXTURE}(0.7*d_rpb + 0.3*d_rcb).")
        return cls([(share, parse(name)) for share, name in parts])

    def __str__(self) -> str:
        return f"{MIXTURE}({' + '.join(f'{share!r}*{part.short}' for share, part in self.parts)})"

    __repr__ = __str__

    @property
    def short(self) -> str:
        return str(self)

    @property
    def parameters(self) -> dict[str, Any]:
        """As JSON holds them."""
        return {"parts": [[share, as_plain(part)] for share, part in self.parts]}

    @property
    def is_probability(self) -> bool:
        return all(part.is_probability for _, part in self.parts)

    def weights(self, grid: Grid) -> Array:
        weights: Array = sum(share * part.weights(grid) for share, part in self.parts)
        return weights


def _part(discount: Any) -> Discount:
    return from_plain(discount, f"{MIXTURE}: a part") if isinstance(discount, dict) else as_discount(discount)
