"""Tables of logs, read a stretch at a time; a defect is refused with its table, column, line and value."""

import contextlib
import csv
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from carouseval.errors import DataError
from carouseval.table_files import csv_line, csv_records, readable

RECORD = "__record__"  # where a record stands in its table, counted from 0 after the header


@dataclass(frozen=True)
class Rule:
    """What must hold of a column: ``broken`` marks the records where it does not."""

    column: str
    broken: pl.Expr
    remedy: str


Plan = Callable[[pl.LazyFrame], pl.LazyFrame]


@dataclass(frozen=True)
class LogTable:
    """A table on disk: its needed columns and ``RECORD``; nothing is read before it is collected."""

    path: Path
    records: pl.LazyFrame
    columns: list[str]
    is_csv: bool

    def collect(self, rules: Sequence[Rule], parse: Plan, *results: Plan) -> list[pl.DataFrame]:
        """The results from the parsed records, or the error of the first record that breaks a rule, in one pass."""
        parsed = parse(self.records)
        firsts = [pl.col(RECORD).filter(rule.broken).min().alias(f"first {k}") for k, rule in enumerate(rules)]
        totals = [rule.broken.sum().alias(f"total {k}") for k, rule in enumerate(rules)]
        with self.readable():
            checks, *frames = pl.collect_all(
                [parsed.select(firsts + totals), *(result(parsed) for result in results)], engine="streaming"
            )
        found = checks.row(0, named=True)
        broken = [(found[f"first {k}"], k) for k in range(len(rules)) if found[f"first {k}"] is not None]
        if broken:
            record, k = min(broken)
            raise DataError(self._refusal(rules[k], record, found[f"total {k}"]))
        return frames

    def _refusal(self, rule: Rule, record: int, total: int) -> str:
        with self.readable():
            value = self.records.filter(pl.col(RECORD) == record).select(rule.column).collect(engine="streaming").item()
        shown = "nothing" if value is None else repr(value)
        shown = shown if len(shown) <= 60 else f"{shown[:60]}..."
        unit, place = ("line", csv_line(self.path, record)) if self.is_csv else ("record", record + 1)
        where = f"{unit} {place}" if total == 1 else f"{total} {unit}s, first {unit} {place}"
        return f"{self.path}: column {rule.column}, {where}: found {shown}. {rule.remedy}"

    def readable(self) -> contextlib.AbstractContextManager[None]:
        """What the reader cannot make out becomes our error."""
        return readable((self.path, "CSV" if self.is_csv else "Parquet"))


def open_table(table: Any, columns: list[str], optional: Sequence[str] = ()) -> LogTable:
    """A CSV or Parquet file, told apart by their first bytes, or a data frame; ``optional`` columns may be missing."""
    if not isinstance(table, str | Path):
        return _open_frame(table, columns, optional)
    path = Path(table)
    try:
        with path.open("rb") as file:
            is_parquet = file.read(4) == b"PAR1"
    except OSError as error:
        raise DataError(f"{path}: {error.strerror or error}. Give a CSV or Parquet file.") from None
    return _open_parquet(path, columns, optional) if is_parquet else open_csv(path, columns, optional)


def open_csv(
    path: Path, columns: list[str], optional: Sequence[str] = (), source: str = "", hint: str = ""
) -> LogTable:
    """A CSV file with a header, checked for its columns and for lines with too few or too many fields.

    ``source`` says where a person gets the file, ``hint`` what to do about missing columns.
    """
    header = _header(path, source)
    _check_columns(path, header, columns, hint, optional)
    used = [*columns, *(column for column in optional if column in header)]
    lines = pl.scan_csv(path, infer_schema=False, glob=False, row_index_name=RECORD)
    blank = pl.all_horizontal(pl.col(used).is_null())
    table = LogTable(path, lines.select(RECORD, *used).filter(~blank), used, is_csv=True)
    with table.readable():
        _check_fields(path, len(header))
    return table


def _open_frame(table: Any, columns: list[str], optional: Sequence[str]) -> LogTable:
    try:
        frame = table if isinstance(table, pl.DataFrame) else pl.DataFrame(table)
    except Exception as error:
        raise DataError(f"table: {error}. Give a CSV or Parquet file, or a data frame.") from None
    _check_columns(Path("table"), frame.columns, columns)
    used = [*columns, *(column for column in optional if column in frame.columns)]
    return LogTable(Path("table"), frame.lazy().with_row_index(RECORD).select(RECORD, *used), used, is_csv=False)


def _open_parquet(path: Path, columns: list[str], optional: Sequence[str]) -> LogTable:
    table = LogTable(path, pl.scan_parquet(path, glob=False, row_index_name=RECORD), columns, is_csv=False)
    with table.readable():
        header = table.records.collect_schema().names()[1:]
    _check_columns(path, header, columns)
    used = [*columns, *(column for column in optional if column in header)]
    return replace(table, records=table.records.select(RECORD, *used), columns=used)


def _check_columns(
    path: Path, header: Sequence[str], columns: Sequence[str], hint: str = "", optional: Sequence[str] = ()
) -> None:
    """All missing columns are named at once."""
    missing = [column for column in columns if column not in header]
    twice = [column for column in (*columns, *optional) if header.count(column) > 1]
    if missing:
        has = f"{', '.join(header[:12])}{', ...' if len(header) > 12 else ''}"
        commas = " Fields are separated by commas." if len(header) == 1 and not header[0].isidentifier() else ""
        raise DataError(f"{path}: the header lacks {', '.join(missing)}; it has {has}.{commas}{hint}")
    if twice:
        raise DataError(f"{path}: the header names {', '.join(twice)} twice. Remove or rename one.")


def text(column: str) -> pl.Expr:
    """A column's text without the blanks around it; null where it is empty."""
    stripped = pl.col(column).cast(pl.String).str.strip_chars()
    return pl.when(stripped != "").then(stripped)


def number(column: str) -> pl.Expr:
    """A column as floats; null where they do not read."""
    return pl.col(column).cast(pl.String).cast(pl.Float64, strict=False)


TIME = "A time is a number, or a date and time such as 2026-01-31T12:00:00.250."


def moment(column: str) -> pl.Expr:
    """A column of times, numbers or dates and times, as numbers; null where they do not read."""
    written = pl.col(column).cast(pl.String).str.strip_chars()
    dated = written.str.replace("T", " ", literal=True).str.replace("Z$", "+0000")
    forms = [form + zone for form in ("%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%d %H:%M") for zone in ("", "%z")]
    times = [dated.str.to_datetime(form, time_unit="us", strict=False) for form in forms]
    since = [time.dt.timestamp("us") / 1e6 for time in times]
    return pl.coalesce(written.cast(pl.Float64, strict=False), *since)


def whole(column: str, least: int, most: int) -> pl.Expr:
    """A column of whole numbers (``3`` or ``3.0``) from ``least`` to ``most``; null where it is anything else."""
    value = number(column)
    return pl.when(value.is_between(least, most) & (value == value.floor())).then(value).cast(pl.Int32)


def _header(path: Path, source: str) -> list[str]:
    try:
        for _, fields in csv_records(path):
            return fields
    except OSError as error:
        raise DataError(f"{path}: {error.strerror or error}.{source}") from None
    except (csv.Error, UnicodeDecodeError):
        raise DataError(f"{path} is not CSV in UTF-8. Export it as plain CSV.{source}") from None
    raise DataError(f"{path} is empty: it has no header line.{source}")


def _check_fields(path: Path, fields: int) -> None:
    """Refuse the first line with too few fields, which a CSV reader would fill with nothing, or with too many."""
    lines = pl.scan_csv(
        path, has_header=False, schema={"line": pl.String}, separator="\x1f", quote_char=None, glob=False
    )
    bare = pl.col("line").str.replace_all('"[^"]*"', "")
    uneven = (bare.str.count_matches(",", literal=True) != fields - 1) & (bare.str.strip_chars() != "")
    odd = bare.str.contains('["\r]')  # a quote left open, a line that ends in the middle
    if lines.filter(uneven | odd).head(1).collect(engine="streaming").is_empty():
        return
    # text in quotes may run over several lines and mislead this count; reading by the book decides
    try:
        for line, values in csv_records(path):
            if values and len(values) != fields:
                what = "cut off" if len(values) < fields else "too long"
                raise DataError(
                    f"{path}: line {line} is {what}: it has {len(values)} of {fields} fields. "
                    "Is the file complete? Get or export it again."
                )
    except (csv.Error, UnicodeDecodeError) as error:
        raise DataError(
            f"{path} does not read as CSV: {error}. Is the file complete? Get or export it again."
        ) from None
