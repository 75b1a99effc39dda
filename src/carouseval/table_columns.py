"""What columns of tables must hold, and what to say where they do not."""

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from carouseval.file_kinds import SEPARATORS

_TEXT = (pl.String, pl.Categorical, pl.Enum)
_MOST_FLOAT = 2.0**53  # whole numbers beyond are not all floats


@dataclass(frozen=True)
class Column:
    """What a column must hold, by its ``kind``.

    ``id``, ``whole``, ``number``, ``flag``, ``segment`` (any value, also none), ``text`` (without the blanks around it)
    or ``time`` (a number, or a date and time, as seconds).
    """

    name: str
    kind: str
    needed: bool = True
    remedy: str = ""
    least: float | None = None
    most: float | None = None
    nulls: bool = False
    pattern: str = ""  # a regular expression that texts must match
    where: pl.Expr | None = field(default=None, compare=False)  # the lines, by typed columns, on which it must hold

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
        if self.kind == "text":
            text = column.cast(pl.String).str.strip_chars()
            return pl.when(text != "").then(text)
        if self.kind == "time" and isinstance(raw, pl.Datetime):
            return column.dt.timestamp("us") / 1e6
        number = column.cast(pl.String).cast(pl.Float64, strict=False) if raw in _TEXT else column.cast(pl.Float64)
        if self.kind == "time" and raw in _TEXT:
            return _seconds(column.cast(pl.String).str.strip_chars())
        if self.kind in ("number", "time"):
            return number
        if raw.is_integer():
            return column.cast(pl.Int64, strict=False)
        return pl.when((number == number.floor()) & (number.abs() < _MOST_FLOAT)).then(number).cast(pl.Int64)

    def broken(self, as_text: bool) -> pl.Expr:
        """Which typed values are refused; an empty text is no id."""
        column = pl.col(self.name)
        if self.nulls:
            bad = pl.lit(False) if self.kind == "text" else column.is_null() & pl.col(self.given)
        else:
            bad = column.is_null()
        if self.kind == "id" and as_text:
            bad = bad | (column == "")
        if self.pattern and (as_text or self.kind == "text"):
            bad = bad | ~column.str.contains(self.pattern)
        if self.kind in ("number", "time"):
            bad = bad | ~column.is_finite()
        if self.least is not None:
            bad = bad | (column < self.least)
        if self.most is not None:
            bad = bad | (column > self.most)
        bad = bad.fill_null(not self.nulls)
        return bad if self.where is None else bad & self.where.fill_null(False)

    @property
    def given(self) -> str:
        """The name of a mark that says where a column that may be empty is not."""
        return f"__given__{self.name}"

    def refusal(self, raw: pl.DataType) -> str:
        """What to say of values of a type that cannot be read at all; nothing of one that can."""
        if self._takes(raw):
            return ""
        hint = "Cast it: pandas makes floats of integers where some are missing." if raw.is_float() else self.remedy
        kinds = {"id": "integers or text", "whole": "whole numbers", "segment": "plain values", "text": "texts"}
        kinds |= {"time": "numbers, or dates and times,"}
        return f"holds {raw}, and {kinds.get(self.kind, 'numbers')} are wanted. {hint}"

    def _takes(self, raw: pl.DataType) -> bool:
        if self.kind == "id":
            return raw.is_integer() or raw in _TEXT or raw == pl.Null
        if self.kind in ("segment", "text"):
            return not raw.is_nested() and raw not in (pl.Binary, pl.Duration, pl.Object)
        if self.kind in ("whole", "time") and raw == pl.Boolean:
            return False
        if self.kind == "time" and isinstance(raw, pl.Datetime):
            return True
        return raw.is_numeric() or raw in (*_TEXT, pl.Boolean, pl.Null)


def _seconds(written: pl.Expr) -> pl.Expr:
    """Numbers, and dates and times such as 2026-01-31T12:00:00.250Z, as seconds."""
    dated = written.str.replace("T", " ", literal=True).str.replace("Z$", "+0000")
    forms = [form + zone for form in ("%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%d %H:%M") for zone in ("", "%z")]
    times = [dated.str.to_datetime(form, time_unit="us", strict=False) for form in forms]
    return pl.coalesce(written.cast(pl.Float64, strict=False), *(time.dt.timestamp("us") / 1e6 for time in times))


def missing_columns(
    missing: Sequence[str], names: Mapping[str, str], schema: pl.Schema, hint: str, separator: str
) -> str:
    """Which columns a table lacks, by our names and the caller's, and what to do about it."""
    header = schema.names()
    told = []
    for ours in missing:
        near = difflib.get_close_matches(ours, [one for one in header if one not in names.values()], n=1, cutoff=0.6)
        asked = f" ({names[ours]}, as columns has it)" if names[ours] != ours else ""
        told.append(f"{ours}{asked}{f' (your {near[0]}?)' if near else ''}")
    shown = [re.sub(r"_duplicated_\d+$", "", one) for one in header[:12]]  # as Polars calls the second of a name
    has = f"{', '.join(shown)}{', ...' if len(header) > 12 else ''}" or "no columns"
    if any("\ufffd" in one for one in header):
        hint = "It is not in UTF-8. Save it as UTF-8."
    for mark, word in SEPARATORS.items():
        if len(header) == 1 and mark in header[0] and mark != separator:
            hint = f"Its fields seem to be separated by {word}; write it with {SEPARATORS[separator]}."
    if schema.get("items") == pl.String and "item_id" in missing:
        hint = "Its items are text; lists need .parquet or .ndjson, or write one line per item with col and item_id."
    return f"missing column{'s' * (len(missing) > 1)} {', '.join(told)}; it has {has}. {hint}"


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
