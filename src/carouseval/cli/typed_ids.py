"""Ids on the command line, which are text there, in the type that they have in a table."""

from typing import TYPE_CHECKING

from carouseval.errors import ParameterError
from carouseval.validation import quoted

if TYPE_CHECKING:
    import polars as pl


def parse_id(option: str, text: str, column: str, kind: "pl.DataType") -> str | int:
    """An id in the type of its column."""
    if not kind.is_integer():
        return text
    try:
        return int(text)
    except ValueError:
        raise ParameterError(f"{option} must be an integer, as {column} is, found {quoted(text)}.") from None
