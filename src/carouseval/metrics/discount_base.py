"""What a discount is, the registry of discounts by symbol, and names that print and parse.

Formulas are in ``discounts.py``, files in ``discount_files.py``.
"""

import ast
import functools
import re
from collections.abc import Callable
from dataclasses import dataclass, fields
from numbers import Real
from typing import Any, ClassVar, NamedTuple, TypeVar, cast, dataclass_transform

import numpy as np

from carouseval.errors import ParameterError, ParseError
from carouseval.messages import setting
from carouseval.metrics.grid import Array, Grid
from carouseval.validation import check_name, did_you_mean, quoted, require_float, unmatched_brackets

TABLE = "d_emp"  # the symbol of tables of weights, which are looked up by name

_SYNTAX = re.compile(r"(\w+)\s*(?:\((.*)\))?", flags=re.DOTALL)


class FittedScreen(NamedTuple):
    """The file of a fit, and the page sizes of the screen that was looked at."""

    path: str
    page_sizes: frozenset[int]


class Discount:
    """A weight for every cell of a grid: the base class of all discounts.

    Discounts are frozen values, equal if their parameters are equal; ``str`` gives a name that :func:`parse` accepts.
    To write your own, subclass ``Discount``, list the parameters as annotated fields, define :meth:`weights`, and
    register the class with :func:`register_discount`. It then works by name in every function and command.

    Class variables that a subclass may set:

    - ``allows_zero``: whether weights may be 0, by default False;
    - ``needs``: a hint for the error when weights are not finite and positive, starting with a blank;
    - ``decays`` and ``shares``: names of parameters that a fit keeps in (0, 1] and in [0, 1].

    See Also
    --------
    register_discount : Makes a subclass available by its symbol.
    Empirical : A table of weights, which needs no class.

    Examples
    --------
    >>> import carouseval as cv
    >>> @cv.discounts.register_discount("d_rows")
    ... class RowsOnly(cv.discounts.Discount):
    ...     "Attention falls from row to row only."
    ...     keep: float = 0.9
    ...     def weights(self, grid):
    ...         return self.keep ** (grid.row_index - 1)
    >>> RowsOnly(keep=0.5).weights(cv.Grid(2, 3))
    array([[1. , 1. , 1. ],
           [0.5, 0.5, 0.5]])
    """

    symbol: ClassVar[str] = ""  # set by register_discount
    needs: ClassVar[str] = ""
    allows_zero: ClassVar[bool] = False
    decays: ClassVar[tuple[str, ...]] = ()
    shares: ClassVar[tuple[str, ...]] = ()
    _fitted_screen: "FittedScreen | None" = None  # set where a discount is read from the file of a fit; not a parameter

    def weights(self, grid: Grid) -> Array:
        """The weight of every cell of a grid.

        What a subclass defines may also have a shape that broadcasts to (rows, cols); it is checked and broadcast.

        Parameters
        ----------
        grid : Grid
            The screen.

        Returns
        -------
        ndarray of float64, shape (rows, cols)
            Finite weights, above 0 unless the discount allows 0; read-only.
        """
        raise NotImplementedError(f"{type(self).__name__} must define weights(grid).")

    @property
    def is_probability(self) -> bool:
        """Whether weights are probabilities that cells are examined, rather than values in the same order."""
        return False

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "weights" in vars(cls):
            setattr(cls, "weights", _checked(cls.weights))  # noqa: B010 - mypy refuses a plain assignment

    def __str__(self) -> str:
        return _format(self.symbol, self.parameters) if self.symbol else type(self).__name__

    def __repr__(self) -> str:
        return str(self)

    def __post_init__(self) -> None:
        for name, value in self.parameters.items():
            # NumPy's numbers become Python's, so that they print as such
            if isinstance(value, Real) and not isinstance(value, bool):
                object.__setattr__(self, name, require_float(f"{self.symbol}: {name}", value))

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters by name."""
        return {f.name: getattr(self, f.name) for f in fields(cast(Any, self))}

    @classmethod
    def _from_text(cls, arguments: str, text: str) -> "Discount":
        """The discount with these arguments, which are in the brackets of ``text``."""
        return _with_numbers(cls, arguments, text)

    @property
    def short(self) -> str:
        """The name without parameters that have their default, such as ``d_rpd(mu=0.5)``."""
        changed = {f.name: getattr(self, f.name) for f in fields(cast(Any, self)) if getattr(self, f.name) != f.default}
        return _format(self.symbol, changed) if changed else self.symbol


class Formula(Discount):
    """A discount whose parameters are numbers: ``decays`` in (0, 1], ``shares`` in [0, 1], all others 0 or more."""

    def __post_init__(self) -> None:
        for name, value in self.parameters.items():
            bounds: dict[str, float] = {"above": 0} if name in self.decays else {"at_least": 0}
            if name in self.decays + self.shares:
                bounds["at_most"] = 1
            object.__setattr__(self, name, require_float(f"{self.symbol}: {name}", value, **bounds))


def _format(symbol: str, parameters: dict[str, Any]) -> str:
    return f"{symbol}({', '.join(f'{name}={value!r}' for name, value in parameters.items())})"


def _checked(weights: Callable[[Any, Grid], Array]) -> Callable[[Any, Grid], Array]:
    """Broadcast a formula to the whole grid and refuse weights no metric can use."""

    @functools.wraps(weights)
    def checked(self: Any, grid: Grid) -> Array:
        if not isinstance(grid, Grid):
            raise ParameterError(f"{self}: weights takes a carouseval.Grid, found {type(grid).__name__}.")
        with np.errstate(all="ignore"):
            return check_weights(self, grid, weights(self, grid))

    return checked


def check_weights(discount: Discount, grid: Grid, weights: Any) -> Array:
    """The weights as a read-only table of the grid's shape, if a metric can use them."""
    raw = np.asarray(weights, dtype=np.float64)
    try:
        table = np.array(np.broadcast_to(raw, grid.shape))
    except ValueError:
        raise ParameterError(f"{discount}: weights has shape {raw.shape}, which does not fit a {grid} grid.") from None
    bad = ~(np.isfinite(table) & (table >= 0 if discount.allows_zero else table > 0))
    if bad.any():
        row, col = np.argwhere(bad)[0]
        bound = "0 or more" if discount.allows_zero else "above 0"
        weight = table[row, col]
        hint = " It is too small for a float." if weight == 0 and not np.signbit(weight) else discount.needs
        raise ParameterError(
            f"{discount}: the weight of row {row + 1}, col {col + 1} is {weight:g} on a {grid} grid; "
            f"weights must be finite and {bound}.{hint}"
        )
    table.flags.writeable = False
    return table


_classes: dict[str, type[Discount]] = {}
registrations: int = 0  # how many there were: what is kept by the name of a discount holds until the next
_tables: dict[str, Discount] = {}  # d_emp by name
_T = TypeVar("_T", bound=type[Discount])
_D = TypeVar("_D", bound=Discount)


@functools.lru_cache(maxsize=1024)
def _parse(text: str) -> Discount:
    check_name("discount", text)
    match = _SYNTAX.fullmatch(text)
    if brackets := unmatched_brackets(text):
        raise ParseError(f"discount {quoted(text)}: {brackets}. Write it as in d_rpd(mu=0.5).")
    if not match:
        raise ParseError(
            f"discount {quoted(text)} cannot be parsed; write for example d_rpd, d_rpd(mu=0.5) or @fitted.json."
        )
    symbol = match[1]
    cls = class_of(symbol)
    if cls is None:
        symbols = known_symbols()
        hint = did_you_mean(symbol, symbols)
        raise ParseError(f"there is no discount {quoted(symbol)}.{hint} Known: {', '.join(symbols)}.")
    return cls._from_text(match[2] or "", text)


def class_of(symbol: str) -> type[Discount] | None:
    """The class of a symbol; None if there is none."""
    return _classes.get(symbol)


def _with_numbers(cls: type[Discount], arguments: str, text: str) -> Discount:
    try:
        arguments = re.sub(r"\blambda\s*=", "lam=", arguments)  # as the paper writes it
        call = ast.parse(f"_({arguments})", mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            raise ValueError
        positional = [ast.literal_eval(value) for value in call.args]
        named = {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in call.keywords}
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):  # whatever Python's parser raises
        raise ParseError(
            f"discount {quoted(text)}: parameters are written as name=number, separated by commas."
        ) from None
    names, symbol = [f.name for f in fields(cast(Any, cls))], cls.symbol
    if len(positional) > len(names):
        raise ParseError(
            f"discount {quoted(text)} has {len(positional)} parameters; {symbol} takes {', '.join(names)}."
        )
    given = names[: len(positional)]
    for name in (str(keyword.arg) for keyword in call.keywords):
        if name in given or name not in names:
            why = "is given twice." if name in names else f"is unknown.{did_you_mean(name, names)}"
            raise ParseError(
                f"discount {quoted(text)}: parameter {quoted(name)} {why} {symbol} takes {', '.join(names)}."
            )
        given.append(name)
    try:
        return cls(*positional, **named)
    except TypeError:
        raise ParseError(f"discount {quoted(text)}: {symbol} needs its parameters {', '.join(names)}.") from None


@dataclass_transform(frozen_default=True)
def register_discount(symbol: str) -> Callable[[_T], _T]:
    """Class decorator that makes a discount available by its symbol.

    The class becomes a frozen dataclass; leave ``@dataclass`` out. See :class:`Discount` for what it must define.

    Parameters
    ----------
    symbol : str
        The symbol, one word such as ``"d_mine"``. Registering the same class again, as in a notebook, replaces it.

    Returns
    -------
    callable
        The decorator.

    Examples
    --------
    >>> import carouseval as cv
    >>> @cv.discounts.register_discount("d_geo")
    ... class Geometric(cv.discounts.Discount):
    ...     "Every step right or down keeps a share of the attention."
    ...     keep: float = 0.9
    ...     def weights(self, grid):
    ...         return self.keep ** (grid.row_index + grid.column_index - 2)
    >>> cv.discounts.parse("d_geo(keep=0.8)")
    d_geo(keep=0.8)
    >>> round(cv.n2dcg_cat([[0, 1], [1, 0]], "d_geo"), 4)
    0.9474
    """
    if not isinstance(symbol, str) or not re.fullmatch(r"[A-Za-z_]\w*", symbol):
        raise ParameterError(
            f"register_discount takes a symbol, one word such as @register_discount('d_mine'), found {quoted(symbol)}."
        )

    def register(cls: Any) -> Any:
        registered = _classes.get(symbol)  # one of the same name is a notebook cell run twice
        if registered and (registered.__module__, registered.__qualname__) != (cls.__module__, cls.__qualname__):
            raise ParameterError(
                f"register_discount: {quoted(symbol)} is already {registered.__name__}; choose another symbol."
            )
        if "__dataclass_params__" in vars(cls) and not cls.__dataclass_params__.frozen:
            raise ParameterError(f"register_discount: {cls.__name__} must be a frozen dataclass; leave @dataclass out.")
        frozen = cls if "__dataclass_fields__" in vars(cls) else dataclass(frozen=True, repr=False)(cls)
        frozen.symbol = symbol
        global registrations
        _classes[symbol] = frozen
        _parse.cache_clear()
        registrations += 1  # last: whoever reads it finds the new class
        return frozen

    return register


def register_table(discount: _D) -> _D:
    """Make a table of weights available by its name, as ``d_emp(name)``.

    Parameters
    ----------
    discount : Empirical
        The table. Registering an equal one again does nothing.

    Returns
    -------
    Empirical
        The same table.

    Examples
    --------
    >>> import carouseval as cv
    >>> table = cv.discounts.register_table(cv.discounts.Empirical([[1.0, 0.5]], name="our lab"))
    >>> cv.discounts.parse("d_emp(our lab)") == table
    True
    """
    registered = _tables.setdefault(discount.parameters["name"], discount)
    if registered != discount:
        raise ParameterError(f"register_table: {discount} is already another table; choose another name.")
    return discount


def parse(text: str) -> Discount:
    """A discount from its name; the inverse of ``str``.

    Parameters
    ----------
    text : str
        A symbol (``"d_rpd"``), with parameters that differ from the defaults (``"d_rpd(mu=0.5)"``), a registered table
        (``"d_emp(name)"``), a mixture (``"d_mix(0.7*d_rpb + 0.3*d_rcb)"``) or a file (``"@fitted.json"``).

    Returns
    -------
    Discount
        The discount.

    Examples
    --------
    >>> import carouseval as cv
    >>> cv.discounts.parse("d_rpd(mu=0.5)")
    d_rpd(alpha=4, beta=9, mu=0.5, nu=0.95)
    """
    if not isinstance(text, str):
        raise ParseError(f"a discount's name is text such as 'd_rpd', found {quoted(text)}.")
    text = text.strip()
    if text.startswith("@"):
        from carouseval.metrics.discount_files import load

        check_name("discount", text)
        return load(text[1:])
    return _parse(text)


def as_discount(discount: str | Discount) -> Discount:
    """A discount from its name, or itself."""
    if isinstance(discount, str):
        return parse(discount)
    if isinstance(discount, Discount):
        if type(discount).symbol not in _classes:
            name = type(discount).__name__
            raise ParameterError(f"{name} is not registered; write @register_discount('d_...') above its class.")
        return discount
    raise ParameterError(
        f"{setting('discount')} must be a name such as 'd_rpd' or a Discount, found {type(discount).__name__}. "
        "Wrap a table of weights in discounts.Empirical(table)."
    )


def registered_table(name: str) -> Discount:
    """A table by the name it is registered under."""
    if name not in _tables:
        known = f" Known: {', '.join(sorted(_tables))}." if _tables else ""
        raise ParseError(
            f"there is no table {quoted(name)}.{did_you_mean(name, _tables)}{known} "
            "Make one with discounts.register_table(discounts.Empirical(table, name=...)) or read it from @file.json."
        )
    return _tables[name]


def known_symbols() -> list[str]:
    """The symbols of all registered discounts."""
    return sorted(_classes)


def classes() -> dict[str, type[Discount]]:
    """All registered discounts by symbol."""
    return dict(_classes)
