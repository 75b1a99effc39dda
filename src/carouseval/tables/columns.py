"""What the columns of a table must hold, and the messages where they do not."""

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import polars as pl

from carouseval.messages import Message, setting
from carouseval.tables.added_errors import CountedLines

ColumnKind: TypeAlias = Literal["id", "integer", "number", "boolean", "segment", "text", "time"]
"""What a column holds.

``id`` is integers or text, or UUIDs and dates, which become text; ``segment`` any value or none; ``text`` has the
blanks around it removed; and ``time`` is a number, or a date and time, in seconds.
"""

TEXT = (pl.String, pl.Categorical, pl.Enum)
_SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
_BOOLEANS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
_LONGEST = 60  # letters of a column that a message names
_EXACT_FLOATS = 2.0**53  # floats represent every integer up to here
# bytes in hexadecimal
ASCII = "^([2-6].|7[0-9a-e])*$"
_UTF_8 = "^([2-6].|7[0-9a-e]|c[2-9a-f][89ab].|d.[89ab].|e.([89ab].){2}|f.([89ab].){3})*$"
_EXPECTED: dict[ColumnKind, str] = {
    "id": "integers or text",
    "integer": "integers",
    "segment": "plain values",
    "text": "text",
    "time": "numbers, or dates and times",
}


@dataclass(frozen=True)
class Column:
    """A column, what it must hold, and what to do where it does not (``remedy``)."""

    name: str
    kind: ColumnKind
    required: bool = True
    remedy: str = ""
    minimum: float | None = None
    maximum: float | None = None
    nullable: bool = False
    many: bool = False  # whether a cell may hold a list of values, for a line each
    separator: str | None = None  # of several values in one cell of text
    default: float | None = None  # the value of all lines, if a table has no such column
    pattern: str = ""  # a regular expression that text must match
    where: pl.Expr | None = field(default=None, compare=False)  # a condition on typed columns: the lines to check

    def typed(self, raw: pl.DataType, id_type: pl.DataType) -> pl.Expr:
        """The column in the type it is used in; null where a value cannot be converted."""
        column = pl.col(self.name)
        if self.kind == "id":
            return _id_text(column, raw).cast(id_type, strict=False)
        if self.kind == "segment":
            return column.cast(pl.String).fill_null("(none)")
        if self.kind == "boolean":
            if raw in TEXT:
                lower = column.cast(pl.String).str.to_lowercase()
                return lower.replace_strict(_BOOLEANS, default=None, return_dtype=pl.Boolean)
            if raw == pl.Boolean:
                return column
            return column.cast(pl.Float64).replace_strict({0.0: False, 1.0: True}, default=None)
        if self.kind == "text":
            text = column.cast(pl.String).str.strip_chars()
            return pl.when(text != "").then(text)
        if self.kind == "time" and isinstance(raw, pl.Datetime):
            return column.dt.timestamp("us") / 1e6
        if self.kind == "time" and raw in TEXT:
            return _seconds(column.cast(pl.String).str.strip_chars())
        number = column.cast(pl.String).cast(pl.Float64, strict=False) if raw in TEXT else column.cast(pl.Float64)
        if self.kind in ("number", "time"):
            return number
        if raw.is_integer():
            return column.cast(pl.Int64, strict=False)
        return pl.when((number == number.floor()) & (number.abs() < _EXACT_FLOATS)).then(number).cast(pl.Int64)

    def invalid(self, is_text: bool) -> pl.Expr:
        """Which typed values are refused; an empty text is not an id."""
        column = pl.col(self.name)
        if self.nullable:
            bad = pl.lit(False) if self.kind == "text" else column.is_null() & pl.col(self.presence)
        else:
            bad = column.is_null()
        if self.kind == "id" and is_text:
            bad = bad | (column == "")
        if self.pattern and (is_text or self.kind == "text"):
            bad = bad | ~column.str.contains(self.pattern)
        if self.kind in ("number", "time"):
            bad = bad | ~column.is_finite()
        if self.minimum is not None:
            bad = bad | (column < self.minimum)
        if self.maximum is not None:
            bad = bad | (column > self.maximum)
        bad = bad.fill_null(not self.nullable)
        return bad if self.where is None else bad & self.where.fill_null(False)

    @property
    def presence(self) -> str:
        """The name of a boolean column that says where a nullable column has a value."""
        return f"__given__{self.name}"

    def type_error(self, raw: pl.DataType) -> str:
        """The message about a type that cannot be converted at all; empty for one that can."""
        if self._accepts(raw):
            return ""
        cast = "Cast it: pandas turns integers into floats where some are missing."
        remedy = cast if raw.is_float() else self.remedy
        return f"holds {str(raw)[:80]}; expected {self.expected}. {remedy}".rstrip()

    @property
    def expected(self) -> str:
        """What the column must hold, in words."""
        return _EXPECTED.get(self.kind, "numbers")

    def _accepts(self, raw: pl.DataType) -> bool:
        if self.kind == "id":
            return raw.is_integer() or raw in (*TEXT, pl.Null, pl.Binary, pl.Date, pl.Datetime)
        if self.kind in ("segment", "text"):
            return not raw.is_nested() and raw not in (pl.Binary, pl.Duration, pl.Object)
        if self.kind in ("integer", "time") and raw == pl.Boolean:
            return False
        if self.kind == "time" and isinstance(raw, pl.Datetime):
            return True
        return raw.is_numeric() or raw in (*TEXT, pl.Boolean, pl.Null)


def typed_columns(
    columns: Sequence[Column], types: Mapping[str, pl.DataType], id_types: Mapping[str, pl.DataType]
) -> list[pl.Expr]:
    """Columns in the types that they are used in, each under its name, and where nullable ones have a value."""
    typed = [column.typed(types[column.name], id_types[column.name]).alias(column.name) for column in columns]
    given = [pl.col(column.name).is_not_null().alias(column.presence) for column in columns if column.nullable]
    return [*typed, *given]


def invalid_values(columns: Sequence[Column], id_types: Mapping[str, pl.DataType]) -> list[pl.Expr]:
    """The typed values of each column that are refused."""
    return [column.invalid(id_types[column.name] == pl.String) for column in columns]


def type_errors(columns: Sequence[Column], types: Mapping[str, pl.DataType]) -> list[tuple[Column, str]]:
    """The columns of types that cannot be converted at all, and what to say of them."""
    errors = ((column, column.type_error(types[column.name])) for column in columns)
    return [(column, error) for column, error in errors if error]


def _id_text(column: pl.Expr, raw: pl.DataType) -> pl.Expr:
    """Ids that are neither integers nor text in one form of text, whatever the units and zones of their tables.

    Dates are 2026-01-31; dates and times 2026-01-31T12:00:00, with digits of a second where there are any, and a Z, in
    UTC, if they have a time zone; UUIDs are in lower case with hyphens.
    """
    if isinstance(raw, pl.Datetime):
        in_utc = column.dt.convert_time_zone("UTC") if raw.time_zone else column
        return in_utc.dt.to_string("%Y-%m-%dT%H:%M:%S%.f" + ("Z" if raw.time_zone else ""))
    if raw == pl.Date:
        return column.dt.to_string("%Y-%m-%d")
    return _bytes_text(column) if raw == pl.Binary else column


def _bytes_text(column: pl.Expr) -> pl.Expr:
    """Bytes as text: a UUID of 16 bytes, or text that its file does not mark as such; empty where it is neither."""
    digits = column.bin.encode("hex")
    is_uuid = (column.bin.size() == 16) & ~digits.str.contains(ASCII)  # no UUID has 16 bytes of ASCII
    is_text = digits.str.contains(_UTF_8) & ~is_uuid
    text = pl.when(is_text).then(column).otherwise(pl.lit(b"")).cast(pl.String)  # a cast refuses all if one is wrong
    uuid = digits.str.replace("^(.{8})(.{4})(.{4})(.{4})", "${1}-${2}-${3}-${4}-")
    return pl.when(is_uuid).then(uuid).when(column.is_not_null()).then(text)


def _seconds(text: pl.Expr) -> pl.Expr:
    """Numbers, and dates and times such as 2026-01-31T12:00:00.250Z, as seconds."""
    dated = text.str.replace("T", " ", literal=True).str.replace("Z$", "+0000")
    formats = [form + zone for form in ("%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%d %H:%M") for zone in ("", "%z")]
    times = [dated.str.to_datetime(format, time_unit="us", strict=False) for format in formats]
    return pl.coalesce(text.cast(pl.Float64, strict=False), *(time.dt.timestamp("us") / 1e6 for time in times))


def other_spellings(names: Iterable[str], header: Sequence[str]) -> dict[str, str]:
    """The columns that are spelled like some of ours but for case, blanks and punctuation, by our names."""
    return {name: spelling for name in names if (spelling := other_spelling(name, header))}


def other_spelling(name: str, header: Sequence[str]) -> str | None:
    """The column that is spelled like ours but for case, blanks and punctuation: User_ID, userId, "user id".

    >>> other_spelling("user_id", ["UserID", "item_id"])
    'UserID'
    """
    return next((column for column in header if _letters(column) == _letters(name)), None)


def _letters(name: str) -> str:
    return re.sub(r"[\W_]", "", name).casefold()


def similar_column(name: str, header: Sequence[str]) -> str | None:
    """The column with the most similar name, if there is one."""
    return next(iter(difflib.get_close_matches(name, header, n=1, cutoff=0.6)), None)


def separator_words(separator: str) -> str:
    """What separates fields, in words."""
    return _SEPARATORS.get(separator, repr(separator))


def rename_hint(spellings: Mapping[str, str]) -> str:
    """What to do about columns that are spelled otherwise, from our names to the user's."""
    return f"Rename {'it' if len(spellings) == 1 else 'them'}, or use {setting('columns', spellings)}."


def missing_columns(
    missing: Sequence[str],
    names: Mapping[str, str],
    header: Sequence[str],
    hint: str,
    *,
    separator: str = ",",
    is_text: bool = False,
) -> str:
    """The message about columns that a table lacks, by our names and the user's, and what to do.

    ``is_text`` means that a column ``items`` is text rather than lists.
    """
    is_unreadable = any("\ufffd" in column for column in header)
    unused = [] if is_unreadable else [column for column in header if column not in names.values()]
    descriptions, spellings = [], {}
    for column in missing:
        aside = f" ({names[column]}, as given in {setting('columns')})" if names[column] != column else ""
        if spelling := other_spelling(column, unused):
            spellings[column] = spelling
            aside += f" (found {spelling!r})"
        elif similar := similar_column(column, unused):
            aside += f" (is it {similar}?)"
        descriptions.append(f"{column}{aside}")
    listed = [re.sub(r"_duplicated_\d+$", "", column) for column in header[:12]]  # Polars renames repeated columns
    listed = [f"{name[:_LONGEST]}..." if len(name) > _LONGEST else name for name in listed]
    available = f"{', '.join(listed)}{', ...' if len(header) > 12 else ''}" or "no columns"
    if spellings:  # optional columns would be missed next
        optional = [column for column, given in names.items() if column not in missing and given not in header]
        spellings |= other_spellings(optional, unused)
        hint = rename_hint(spellings)
    if is_unreadable:
        hint = "It is not in UTF-8. Save it as UTF-8."
    for mark, word in _SEPARATORS.items():
        if len(header) == 1 and mark in header[0] and mark != separator:
            hint = f"Its fields seem to be separated by {word}; separate them by {separator_words(separator)}."
    if "items" in header and is_text and "item_id" in missing:
        hint = "Its column items holds text. Use .parquet or .json for lists, or write one line per item, with col."
    if "item_id" in names and (
        ("row" in missing and "relevance" in header) or ("relevance" in missing and "row" in header)
    ):
        hint = "Are layouts and judgments swapped?"
    return f"missing column{'s' * (len(missing) > 1)} {', '.join(descriptions)}; it has {available}. {hint}"


@dataclass(frozen=True)
class Defect:
    """A problem of a table, and how often it occurs."""

    table: str
    column: str
    count: int
    message: str
    severity: str = "error"
    first: dict[str, Any] = field(default_factory=dict)
    counted: CountedLines | None = field(
        default=None, repr=False, compare=False
    )  # the same where it is about values of lines

    def __post_init__(self) -> None:
        object.__setattr__(self, "message", Message(self.message))

    def __str__(self) -> str:
        return self.message
