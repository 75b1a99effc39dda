"""Reading one page of relevances from a small CSV or JSON file."""

import csv
import io
import json
import math
import re
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from carouseval.errors import DataError

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|[+-]?inf(inity)?", re.ASCII | re.IGNORECASE)
EMPTY = {"", "nan", "na", "null", "none", "-"}
_MOST_CELLS = 1_000_000  # a page is what one user sees; tables of many pages are read elsewhere


class Contents(NamedTuple):
    """What a file holds, in the words of its error messages."""

    whole: str
    line: str
    values: str


PAGE = Contents("page", "carousel", "relevances")


def read_page(path: str, contents: Contents = PAGE) -> NDArray[np.float64]:
    """A page from a file, or from standard input for ``-``: one line per carousel, NaN in empty cells.

    CSV (commas, semicolons or tabs; empty cells allowed, lines may differ in length, a blank line is an empty carousel)
    or JSON (``[[1, 0, null], [2]]`` or ``{"relevance": [[...]]}``), recognised by the first character.
    """
    name = "standard input" if path == "-" else path or contents.whole
    format_hint = f"Write one line per {contents.line}, {contents.values} separated by commas."
    try:
        if not path:
            raise FileNotFoundError(2, "no file name given")
        raw = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
        text = raw.decode("utf-8-sig")
    except OSError as error:
        raise DataError(
            f"{name}: {error.strerror or error}. Give a CSV or JSON file with one line per {contents.line}."
        ) from None
    except UnicodeDecodeError as error:
        raise DataError(
            f"{name}: byte {error.start + 1} is not UTF-8 text. Save the file as CSV or JSON in UTF-8."
        ) from None
    is_json = text.lstrip()[:1] in ("[", "{")
    rows = _json_rows(name, text, contents) if is_json else _csv_rows(name, text, contents, format_hint)
    while rows and all(math.isnan(cell) for cell in rows[-1]):
        rows.pop()
    cols = max((len(row) for row in rows), default=0)
    if not rows:
        raise DataError(f"{name}: the {contents.whole} is empty. {format_hint}")
    if len(rows) * cols > _MOST_CELLS:
        raise DataError(
            f"{name}: a {contents.whole} of {len(rows)}x{cols} cells is too large; the limit is {_MOST_CELLS:,} cells."
        )
    page = np.full((len(rows), cols), np.nan)
    for i, row in enumerate(rows):
        page[i, : len(row)] = row
    return page


def _cell(name: str, row: int, col: int, value: Any, contents: Contents, hint: str = "") -> float:
    """One value. Text and numbers are parsed alike, so that CSV and JSON accept the same values."""
    if value is None or (isinstance(value, str) and value.strip().lower() in EMPTY):
        return math.nan
    try:
        if isinstance(value, list | dict) or (isinstance(value, str) and not NUMBER.fullmatch(value.strip())):
            raise ValueError
        number = float(value)
    except (ValueError, OverflowError):
        text = value if isinstance(value, str) else json.dumps(value)
        raise DataError(f"{name}: row {row}, col {col} is {text[:40]!r}, not a number.{hint}") from None
    if number < 0 or math.isinf(number):
        raise DataError(f"{name}: row {row}, col {col} is {number:g}; {contents.values} must be finite and 0 or more.")
    return number


def _csv_rows(name: str, text: str, contents: Contents, format_hint: str) -> list[list[float]]:
    delimiter = next((mark for mark in "\t;" if mark in text), ",")
    try:
        lines = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    except csv.Error as error:
        raise DataError(f"{name} is not CSV: {error}. {format_hint}") from None
    hint = f" Write no header: every line is a {contents.line}, with cells separated by commas, semicolons or tabs."
    return [
        [_cell(name, i, j, value, contents, hint if i == 1 else "") for j, value in enumerate(line, 1)]
        for i, line in enumerate(lines, 1)
    ]


def _json_rows(name: str, text: str, contents: Contents) -> list[list[float]]:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{name} is not JSON: {error}.") from None
    if isinstance(content, dict):
        content = content.get("relevance", content.get("page"))  # the second is what `score --format json` prints
    if not isinstance(content, list) or not all(isinstance(row, list) for row in content):
        raise DataError(f'{name}: expected a list of rows such as [[1, 0, null], [2]], or {{"relevance": [[...]]}}.')
    return [[_cell(name, i, j, value, contents) for j, value in enumerate(row, 1)] for i, row in enumerate(content, 1)]
