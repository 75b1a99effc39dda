"""What columns of tables must hold, and what to say where they do not."""

from dataclasses import dataclass, field
from typing import Any

import polars as pl

_TEXT = (pl.String, pl.Categorical, pl.Enum)
_MOST_FLOAT = 2.0**53  # whole numbers beyond are not all floats


@dataclass(frozen=True)
class Column:
    """What a column must hold: ``id``, ``whole``, ``number``, ``flag`` or ``segment`` (any value, also none)."""

    name: str
    kind: str
    needed: bool = True
    remedy: str = ""
    least: float | None = None
    most: float | None = None
    nulls: bool = False

    def typed(self, raw: pl.DataType, id_type: pl.DataType) -> pl.Expr:
        """The column in the type it is used in; null where it does not read."""
        column = pl.col(self.name)
        if self.kind == "id":
            return column.cast(id_type, strict=False)
        if self.kind == "segment":
            return column.cast(pl.String).fill_null("(none)")
        if self.kind == "flag":
            if raw in _TEXT:
                known = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
                lower = column.cast(pl.String).str.to_lowercase()
                return lower.replace_strict(known, default=None, return_dtype=pl.Boolean)
            return (
                column
                if raw == pl.Boolean
                else column.cast(pl.Float64).replace_strict({0.0: False, 1.0: True}, default=None)
            )
        number = column.cast(pl.String).cast(pl.Float64, strict=False) if raw in _TEXT else column.cast(pl.Float64)
        if self.kind == "number":
            return number
        if raw.is_integer():
            return column.cast(pl.Int64, strict=False)
        return pl.when((number == number.floor()) & (number.abs() < _MOST_FLOAT)).then(number).cast(pl.Int64)

    def broken(self, as_text: bool) -> pl.Expr:
        """Which typed values are refused; an empty text is no id."""
        column = pl.col(self.name)
        bad = column.is_null() & pl.col(self.given) if self.nulls else column.is_null()
        if self.kind == "id" and as_text:
            bad = bad | (column == "")
        if self.kind == "number":
            bad = bad | ~column.is_finite()
        if self.least is not None:
            bad = bad | (column < self.least)
        if self.most is not None:
            bad = bad | (column > self.most)
        return bad.fill_null(not self.nulls)

    @property
    def given(self) -> str:
        """The name of a mark that says where a column that may be empty is not."""
        return f"__given__{self.name}"

    def takes(self, raw: pl.DataType) -> bool:
        """Whether values of such a type can be read at all."""
        if self.kind == "id":
            return raw.is_integer() or raw in _TEXT or raw == pl.Null
        if self.kind == "segment":
            return not raw.is_nested() and raw not in (pl.Binary, pl.Duration, pl.Object)
        if self.kind == "whole" and raw == pl.Boolean:
            return False
        return raw.is_numeric() or raw in (*_TEXT, pl.Boolean, pl.Null)


@dataclass(frozen=True)
class Defect:
    """Something wrong with a table, and how often."""

    table: str
    column: str
    count: int
    message: str
    severity: str = "error"
    first: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.message
