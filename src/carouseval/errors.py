"""Errors about input; all are ``ValueError`` too. Messages say what is wrong, where, what was found and what to do."""

import copyreg
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from carouseval.messages import Message

_LONGEST = 5_000  # characters of a message: whatever is quoted in it, people can read it


class CarousevalError(ValueError):
    """Any error about arguments or data that the caller can correct: the base of the others.

    Examples
    --------
    >>> import carouseval as cv
    >>> try:
    ...     cv.n2dcg_cat([[1, 0]], discount="d_rdp")
    ... except cv.CarousevalError as error:
    ...     print(type(error).__name__)
    ParseError
    """

    def __init__(self, message: str = "") -> None:
        super().__init__(Message(message).shortened(_LONGEST))

    def __reduce__(self) -> tuple[Any, ...]:
        # a copy, such as another process gets, has the message already: it is not made of it again
        return copyreg.__newobj__, (type(self), *self.args), vars(self)  # type: ignore[attr-defined]


class DataError(CarousevalError):
    """Relevances, tables or files that cannot be scored.

    Examples
    --------
    >>> import carouseval as cv
    >>> try:
    ...     cv.n2dcg_cat([[1, 0], [-1, 2]])
    ... except cv.DataError as error:
    ...     print(error)
    relevance: row 2, col 1 is -1. Relevance is finite and 0 or more; NaN marks a cell that holds nothing.
    """


class ParseError(CarousevalError):
    """The name of a metric or discount, or a cutoff, that cannot be parsed.

    Examples
    --------
    >>> import carouseval as cv
    >>> try:
    ...     cv.metric("N2DCG_cat(d_rpd(mv=0.5))")
    ... except cv.ParseError as error:
    ...     print(error)
    discount 'd_rpd(mv=0.5)': parameter 'mv' is unknown. Did you mean 'mu'? d_rpd takes alpha, beta, mu, nu.
    """


class ParameterError(CarousevalError):
    """An argument outside its range.

    Examples
    --------
    >>> import carouseval as cv
    >>> try:
    ...     cv.Grid(rows=0)
    ... except cv.ParameterError as error:
    ...     print(error)
    Grid: rows must be an integer of at least 1, found 0.
    """


class DataWarning(UserWarning):
    """Data that was scored but should be looked at, such as pages with gaps.

    Examples
    --------
    >>> import warnings
    >>> import carouseval as cv
    >>> layouts = {"user_id": [1, 1], "row": [1, 1], "col": [1, 3], "item_id": [7, 8], "category": ["a", "a"]}
    >>> judgments = {"user_id": [1], "item_id": [8], "relevance": [1]}
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     result = cv.evaluate(layouts, judgments)
    >>> issubclass(caught[0].category, cv.DataWarning)
    True
    """


_given: ContextVar[set[str] | None] = ContextVar("_given", default=None)


@contextmanager
def each_warning_once() -> Iterator[None]:
    """Give a warning only the first time, where the same tables are read several times."""
    token = _given.set(set() if _given.get() is None else _given.get())
    try:
        yield
    finally:
        _given.reset(token)


def warn(message: str) -> None:
    """Warn at the caller's line outside the package."""
    message = Message(message)
    given = _given.get()
    if given is not None:
        if message in given:
            return
        given.add(message)
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("carouseval."):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, DataWarning, stacklevel=level)
