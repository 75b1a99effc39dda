"""Discounts without a formula: tables of weights, and mixtures of discounts."""

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from carouseval.errors import ParameterError, ParseError
from carouseval.metrics.browsing.chain import Chain
from carouseval.metrics.browsing.contract import BrowsingModel
from carouseval.metrics.browsing.states import States
from carouseval.metrics.discount_base import TABLE, Discount, as_discount, parse, register_discount
from carouseval.metrics.discount_base import registered_table as _registered_table
from carouseval.metrics.discount_files import as_plain, from_plain
from carouseval.metrics.grid import Array, Grid, PageSizes, sizes_by_row
from carouseval.validation import quoted, require_float, split_outside_brackets

MIXTURE = "d_mix"
_DEEPEST = 16  # mixtures inside one another; their names can be parsed, also in the name of a metric


def table_name(text: str) -> str:
    """Any text as the name of a table: brackets and commas, which names may not contain, become blanks."""
    return " ".join(re.sub(r"[(),]", " ", text).split()) or "table"


@register_discount(TABLE)
class Empirical(BrowsingModel):
    """d_emp(name): a table of weights, such as measured examination frequencies.

    On a smaller grid the first rows and columns of the table apply; a larger grid is an error. With ``page_size``, the
    table carries over to screens with other page sizes, row by row: the weight of a cell is that of the same place on
    the same swipe page, interpolated linearly between two slots.

    Parameters
    ----------
    table : array-like of shape (rows, cols)
        Weights, finite and 0 or more, not all 0.
    name : str, default 'table'
        The name that the discount prints with; without brackets, commas or line breaks.
    page_size : int or sequence of int, optional
        The page size of the screen that the table was measured on, at least 1: one number, or one for each row.

    See Also
    --------
    register_table : Makes a table available by its name.

    Examples
    --------
    >>> import carouseval as cv
    >>> table1 = cv.discounts.Empirical([[1.0, 0.9, 0.8], [0.3, 0.2, 0.1]], name="table 1")
    >>> table1
    d_emp(table 1)
    >>> table1.weights(cv.Grid(2, 2))
    array([[1. , 0.9],
           [0.3, 0.2]])
    >>> cv.discounts.Empirical([[0.9, 0.8, 0.4, 0.3]], page_size=2).weights(cv.Grid(1, 6, page_size=3))
    array([[0.9 , 0.85, 0.8 , 0.4 , 0.35, 0.3 ]])
    """

    allows_zero: ClassVar[bool] = True
    table: tuple[tuple[float, ...], ...]
    name: str = "table"
    page_size: PageSizes | None = None

    def __init__(self, table: ArrayLike, name: str = "table", page_size: PageSizes | None = None) -> None:
        if not isinstance(name, str) or not re.fullmatch(r"[^()\s,](?:[^(),\n]*[^()\s,])?", name):
            raise ParameterError(f"d_emp: name must be text without brackets and commas, found {quoted(name)}.")
        object.__setattr__(self, "name", name)
        try:
            weights = np.array(table, dtype=np.float64)
        except (TypeError, ValueError):
            raise ParameterError(f"{self}: the table must be numbers in rows of equal length.") from None
        if weights.ndim != 2 or weights.size == 0:
            raise ParameterError(f"{self}: the table needs shape (rows, cols), found {weights.shape}.")
        # tuples, so that equal tables are equal values and cannot be changed
        object.__setattr__(self, "table", tuple(map(tuple, weights.tolist())))
        grid = Grid(*weights.shape)
        if page_size is not None:
            try:
                grid = replace(grid, page_size=page_size)
            except ParameterError as error:
                raise ParameterError(f"{self}: {str(error).removeprefix('Grid: ')}") from None
            page_size = grid.page_size
        object.__setattr__(self, "page_size", page_size)
        self.weights(grid)
        if not weights.any():
            raise ParameterError(f"{self}: all weights are 0; at least one must be above 0.")

    @classmethod
    def _from_text(cls, arguments: str, text: str) -> Discount:
        return _registered_table(arguments.strip())

    def __str__(self) -> str:
        return f"d_emp({self.name})"

    @property
    def short(self) -> str:
        return str(self)

    @property
    def is_probability(self) -> bool:
        return bool(np.max(self.table) <= 1)

    def weights(self, grid: Grid) -> Array:
        table = np.array(self.table)
        rows = list(table[: grid.rows])
        wanted = sizes_by_row(grid)
        measured = wanted if self.page_size is None else sizes_by_row(Grid(len(table), table.shape[1], self.page_size))
        for index, (row, old, new) in enumerate(zip(rows, measured, wanted, strict=False)):
            if old != new:
                rows[index] = _with_page_size(row, old, new)
        short = next((index for index, row in enumerate(rows) if len(row) < grid.cols), 0)
        if len(rows) < grid.rows or len(rows[short]) < grid.cols:
            old, new = measured[short], wanted[short]
            pages = f", with swipe pages of {old} and {new} items" if old != new else ""
            if pages and len(set(measured)) + len(set(wanted)) > 2:
                pages += f" in row {short + 1}"
            raise ParameterError(
                f"{self}: the table is {table.shape[0]}x{table.shape[1]}, too small for a {grid} grid{pages}. "
                "A browsing model such as d_rpb has weights on any grid."
            )
        return np.array([row[: grid.cols] for row in rows])

    def chain(self, grid: Grid) -> Chain:
        # cells are examined independently of each other; a table does not say how users move, so actions are NaN
        table = self.weights(grid)
        if table.max() > 1:
            raise ParameterError(f"{self}: weights above 1 are not probabilities; divide counts by their screens.")
        states = States(grid)
        unknown = float("nan")
        steps = [(states.add(), states.add(*divmod(cell, grid.cols))) for cell in range(table.size)]
        for (before, cell), chance, (following, _) in zip(
            steps, table.ravel().tolist(), [*steps[1:], (-1, -1)], strict=True
        ):
            states.go(before, cell, chance, unknown, unknown)
            if following >= 0:
                states.go(before, following, 1 - chance)
                states.go(cell, following, 1)
        return states.chain(1.0)


def _with_page_size(row: Array, measured: int, wanted: int) -> Array:
    """A row with as many slots on each swipe page as wanted, interpolated between the centers of slots.

    Of a last swipe page that was measured in part, the same part.
    """
    centers = (np.arange(wanted) + 0.5) / wanted
    pages = []
    for begin in range(0, len(row), measured):
        slots = row[begin : begin + measured]
        covered = centers[centers <= len(slots) / measured]
        pages.append(np.interp(covered, (np.arange(1, len(slots) + 1) - 0.5) / measured, slots))
    return np.concatenate(pages)


@register_discount(MIXTURE)
class Mixture(Discount):
    """d_mix: several kinds of users, each with its own discount.

    ``d(i, j) = sum_k share_k d_k(i, j)``.

    Parameters
    ----------
    parts : iterable of (float, str or Discount)
        Pairs of the share of users, above 0 and at most 1, and their discount. Shares must add up to 1.

    Examples
    --------
    >>> import carouseval as cv
    >>> mixture = cv.discounts.Mixture([(0.75, "d_rpb"), (0.25, "d_rcb(kappa=0.7)")])
    >>> mixture
    d_mix(0.75*d_rpb + 0.25*d_rcb(kappa=0.7))
    >>> mixture.weights(cv.Grid(1, 3)).round(3)
    array([[0.94 , 0.864, 0.809]])
    """

    allows_zero: ClassVar[bool] = True  # if all parts do: each checks its own
    parts: tuple[tuple[float, Discount], ...]

    def __init__(self, parts: Iterable[tuple[float, str | Discount]]) -> None:
        try:
            pairs = [(share, discount) for share, discount in parts]
        except (TypeError, ValueError):
            raise ParameterError(
                f"{MIXTURE}: parts are pairs of a share and a discount, such as [(0.7, 'd_rpb'), (0.3, 'd_rcb')]."
            ) from None
        checked = tuple(
            (require_float(f"{MIXTURE}: a share", share, above=0, at_most=1), _part(discount))
            for share, discount in pairs
        )
        if max((_depth(part) for _, part in checked), default=0) >= _DEEPEST:
            raise ParameterError(f"{MIXTURE}: more than {_DEEPEST} mixtures inside one another.")
        total = sum(share for share, _ in checked)
        if abs(total - 1) > 1e-9:
            raise ParameterError(f"{MIXTURE}: the shares of all parts add up to {total:g}; they must add up to 1.")
        object.__setattr__(self, "parts", checked)

    @classmethod
    def _from_text(cls, arguments: str, text: str) -> Discount:
        parts = []
        for part in split_outside_brackets(arguments, "+"):
            share, star, discount = part.partition("*")
            try:
                parts.append((float(share), discount.strip()))
            except ValueError:
                star = ""
            if not star or not discount.strip() or discount.strip().startswith("@"):
                raise ParseError(
                    f"discount {quoted(text)} cannot be parsed; write shares and discounts, as in "
                    f"{MIXTURE}(0.7*d_rpb + 0.3*d_rcb)."
                )
        if not parts:
            raise ParseError(f"{MIXTURE} needs shares and discounts, as in {MIXTURE}(0.7*d_rpb + 0.3*d_rcb).")
        return cls([(share, parse(name)) for share, name in parts])

    def __str__(self) -> str:
        return f"{MIXTURE}({' + '.join(f'{share!r}*{part.short}' for share, part in self.parts)})"

    @property
    def short(self) -> str:
        return str(self)

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters by name, as they are written to JSON."""
        return {"parts": [[share, as_plain(part)] for share, part in self.parts]}

    @property
    def is_probability(self) -> bool:
        return all(part.is_probability for _, part in self.parts)

    def weights(self, grid: Grid) -> Array:
        return np.asarray(sum(share * part.weights(grid) for share, part in self.parts))


def _depth(discount: Discount) -> int:
    """How many mixtures are inside one another."""
    return 1 + max(_depth(part) for _, part in discount.parts) if isinstance(discount, Mixture) else 0


def _part(discount: Any) -> Discount:
    return from_plain(discount, f"{MIXTURE}: a part") if isinstance(discount, dict) else as_discount(discount)
