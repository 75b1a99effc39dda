"""Discounts: what a cell's position is worth. To add one, write a class here and register its symbol.

All six formulas of the paper, with the values fitted there as defaults. i is the row, j the column, j~ the mirrored
column, n_h swipes, n_v scrolls and delta the page size of the grid.
"""

import ast
import functools
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, fields
from numbers import Real
from pathlib import Path
from typing import Any, ClassVar, TypeVar, cast, dataclass_transform

import numpy as np
from numpy.typing import ArrayLike

from carouseval.errors import ParameterError, ParseError
from carouseval.metric.checks import did_you_mean, number
from carouseval.metric.grid import Array, Grid

_SPELLING = re.compile(r"(\w+)\s*(?:\((.*)\))?", flags=re.DOTALL)


class Discount:
    """A weight for every cell of a grid. Subclasses give ``weights``; its result is checked for them.

    Equal discounts are equal values; ``str`` prints what :func:`parse` reads.
    """

    symbol: ClassVar[str] = ""  # set by register
    needs: ClassVar[str] = ""  # said when weights are not finite and positive
    allows_zero: ClassVar[bool] = False

    def weights(self, grid: Grid) -> Array:
        """The weight of every cell, ``(rows, cols)``."""
        raise NotImplementedError(f"{type(self).__name__} must define weights(grid).")

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "weights" in vars(cls):
            setattr(cls, "weights", _checked(cls.weights))  # noqa: B010 - mypy takes a plain assignment amiss

    def __str__(self) -> str:
        return _spelled(self.symbol, self.parameters) if self.symbol else type(self).__name__

    def __post_init__(self) -> None:
        for name, value in self.parameters.items():
            if isinstance(value, Real):  # NumPy's numbers become Python's, so that they print as such
                object.__setattr__(self, name, number(f"{self.symbol}: {name}", value))

    @property
    def parameters(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in fields(cast(Any, self))}

    __repr__ = __str__

    @property
    def short(self) -> str:
        """Like ``str``, without parameters that have their default: ``d_rpd(mu=0.5)``."""
        changed = {f.name: getattr(self, f.name) for f in fields(cast(Any, self)) if getattr(self, f.name) != f.default}
        return _spelled(self.symbol, changed) if changed else self.symbol


def _spelled(symbol: str, parameters: dict[str, Any]) -> str:
    return f"{symbol}({', '.join(f'{name}={value!r}' for name, value in parameters.items())})"


def _checked(weights: Callable[[Any, Grid], Array]) -> Callable[[Any, Grid], Array]:
    """Broadcast a formula to the whole grid and refuse weights no metric can use."""

    @functools.wraps(weights)
    def checked(self: Any, grid: Grid) -> Array:
        if not isinstance(grid, Grid):
            raise ParameterError(f"{self}: weights takes a carouseval.Grid, found {type(grid).__name__}.")
        with np.errstate(all="ignore"):
            raw = np.asarray(weights(self, grid), dtype=np.float64)
        try:
            table = np.array(np.broadcast_to(raw, grid.shape))
        except ValueError:
            raise ParameterError(f"{self}: weights has shape {raw.shape}, which does not fit a {grid} grid.") from None
        bad = ~(np.isfinite(table) & (table >= 0 if self.allows_zero else table > 0))
        if bad.any():
            row, col = np.argwhere(bad)[0]
            bound = "0 or more" if self.allows_zero else "above 0"
            raise ParameterError(
                f"{self}: the weight of row {row + 1}, col {col + 1} is {table[row, col]:g} on a {grid} grid; "
                f"weights must be finite and {bound}.{self.needs}"
            )
        table.flags.writeable = False
        return table

    return checked


_classes: dict[str, type[Discount]] = {}
_tables: dict[str, "Empirical"] = {}
_T = TypeVar("_T", bound=type[Discount])


@functools.lru_cache(maxsize=1024)
def _parse(text: str) -> Discount:
    match = _SPELLING.fullmatch(text)
    if not match:
        raise ParseError(f"discount {text!r} does not read; write for example d_rpd, d_rpd(mu=0.5) or @fitted.json.")
    symbol, arguments = match[1], match[2] or ""
    if symbol not in _classes:
        known = ", ".join(sorted(_classes))
        raise ParseError(f"there is no discount {symbol!r}.{did_you_mean(symbol, _classes)} Known: {known}.")
    if symbol == Empirical.symbol:
        return _registered_table(arguments.strip())
    try:
        arguments = re.sub(r"\blambda\b", "lam", arguments)  # as the paper writes it
        call = ast.parse(f"_({arguments})", mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            raise ValueError
        positional = [ast.literal_eval(value) for value in call.args]
        named = {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in call.keywords}
    except (SyntaxError, ValueError):
        raise ParseError(f"discount {text!r}: parameters are written as name=number, separated by commas.") from None
    names = [f.name for f in fields(cast(Any, _classes[symbol]))]
    if len(positional) > len(names):
        raise ParseError(f"discount {text!r} has {len(positional)} parameters; {symbol} takes {', '.join(names)}.")
    for name in named:
        if name not in names[len(positional) :]:
            why = "is given twice" if name in names else f"is unknown.{did_you_mean(name, names)}"
            raise ParseError(f"discount {text!r}: parameter {name!r} {why} {symbol} takes {', '.join(names)}.")
    return _classes[symbol](*positional, **named)


@dataclass_transform(frozen_default=True)
def register(symbol: str) -> Callable[[_T], _T]:
    """Class decorator: makes a frozen dataclass of a discount and lets :func:`parse` know its symbol.

    >>> @register("d_geo")
    ... class Geometric(Discount):
    ...     "Every step right or down keeps a share of the attention."
    ...     keep: float = 0.9
    ...     def weights(self, grid):
    ...         return self.keep ** (grid.row_index + grid.column_index - 2)
    >>> str(parse("d_geo(keep=0.8)"))
    'd_geo(keep=0.8)'
    """
    if not isinstance(symbol, str) or not re.fullmatch(r"[A-Za-z_]\w*", symbol):
        raise ParameterError(
            f"register takes a symbol, one word such as 'd_mine': @register('d_mine'), found {symbol!r}."
        )

    def join(cls: Any) -> Any:
        known = _classes.get(symbol)
        if known and known.__qualname__ != cls.__qualname__:  # the same name again: a notebook cell run twice
            raise ParameterError(f"register: {symbol!r} is already {known.__name__}; choose another symbol.")
        made = cls if "__dataclass_fields__" in vars(cls) else dataclass(frozen=True, repr=False)(cls)
        made.symbol = symbol
        _classes[symbol] = made
        _parse.cache_clear()
        return made

    return join


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


@register("d_emp")
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


def register_table(discount: Empirical) -> Empirical:
    """Let :func:`parse` find a table by its name: ``d_emp(name)``."""
    known = _tables.setdefault(discount.name, discount)
    if known != discount:
        raise ParameterError(f"register_table: {discount} is already another table; choose another name.")
    return discount


def parse(text: str) -> Discount:
    """Read a discount: ``d_rpd``, ``d_rpd(mu=0.5)``, ``d_emp(name)`` once registered, or ``@fitted.json``.

    >>> parse("d_rpd(mu=0.5)")
    d_rpd(alpha=4, beta=9, mu=0.5, nu=0.95)
    """
    if not isinstance(text, str):
        raise ParseError(f"a discount's name is text such as 'd_rpd', found {text!r}.")
    if text.lstrip().startswith("@"):
        return load(text.strip()[1:])
    return _parse(text.strip())


def as_discount(discount: str | Discount) -> Discount:
    """A discount from its name, or itself."""
    if isinstance(discount, str):
        return parse(discount)
    if isinstance(discount, Discount):
        if type(discount).symbol not in _classes:
            name = type(discount).__name__
            raise ParameterError(f"{name} is not registered; write @discounts.register('d_...') above its class.")
        return discount
    raise ParameterError(
        f"discount must be a name such as 'd_rpd' or a Discount, found {type(discount).__name__}. "
        "A table of weights goes through discounts.Empirical(table)."
    )


def _registered_table(name: str) -> Empirical:
    if name not in _tables:
        known = f" Known: {', '.join(sorted(_tables))}." if _tables else ""
        raise ParseError(
            f"there is no table {name!r}.{did_you_mean(name, _tables)}{known} "
            "Make one with discounts.register_table(discounts.Empirical(table, name=...)) or read it from @file.json."
        )
    return _tables[name]


def save(discount: Discount, path: str | Path) -> None:
    """Write a discount to a JSON file that ``parse("@" + path)`` reads back."""
    discount = as_discount(discount)
    text = json.dumps({"discount": discount.symbol, "parameters": discount.parameters}, indent=1)
    unfinished = Path(f"{path}.part")
    unfinished.write_text(text + "\n", encoding="utf-8")
    unfinished.replace(path)


def load(path: str | Path) -> Discount:
    """Read a discount from a JSON file: ``{"discount": "d_rpd", "parameters": {"mu": 0.5}}``, other keys ignored."""
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise ParseError(f"discount file {str(path)!r}: {error.strerror or error}.") from None
    except ValueError as error:
        raise ParseError(f"discount file {str(path)!r} is not JSON: {error}.") from None
    if not isinstance(content, dict) or not isinstance(content.get("discount"), str) or "parameters" not in content:
        example = '{"discount": "d_rpd", "parameters": {"mu": 0.5}}'
        raise ParseError(f"discount file {str(path)!r} needs the keys 'discount' and 'parameters', as in {example}.")
    symbol, parameters = content["discount"], content["parameters"]
    if symbol not in _classes:
        raise ParseError(
            f"discount file {str(path)!r}: there is no discount {symbol!r}.{did_you_mean(symbol, _classes)}"
        )
    names = [f.name for f in fields(cast(Any, _classes[symbol]))]
    if not isinstance(parameters, dict) or not set(parameters) <= set(names):
        raise ParseError(f"discount file {str(path)!r}: 'parameters' of {symbol} are {', '.join(names)}.")
    try:
        return _classes[symbol](**parameters)
    except TypeError:
        raise ParseError(f"discount file {str(path)!r}: 'parameters' of {symbol} are {', '.join(names)}.") from None


def classes() -> dict[str, type[Discount]]:
    """All registered discounts by symbol."""
    return dict(_classes)
