"""Reading one page of relevances from a small CSV or JSON file."""

import csv
import io
import json
import math
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np

from carouseval.errors import DataError
from carouseval.metrics.grid import Array

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|[+-]?inf(inity)?", re.ASCII | re.IGNORECASE)
EMPTY = {"", "nan", "na", "null", "none", "-"}
_MOST_CELLS = 1_000_000  # a page is what one user sees; tables of many pages are read elsewhere


def read_page(path: str) -> Array:
    """A page from a file, or from standard input for ``-``: one line per carousel, NaN in empty cells.

    CSV (commas, semicolons or tabs; empty cells allowed, lines may differ in length, a blank line is an empty carousel)
    or JSON (``[[1, 0, null], [2]]`` or ``{"relevance": [[...]]}``), recognised by the first character.
    """
    name = "standard input" if path == "-" else path or "page"
    try:
        if not path:
            raise FileNotFoundError(2, "no file name given")
        raw = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
        text = raw.decode("utf-8-sig")
    except OSError as error:
        raise DataError(
            f"{name}: {error.strerror or error}. Give a CSV or JSON file with one line per carousel."
        ) from None
    except UnicodeDecodeError as error:
        raise DataError(
            f"{name}: byte {error.start + 1} is not UTF-8 text. Save the page as plain CSV or JSON."
        ) from None
    rows = _json_rows(name, text) if text.lstrip()[:1] in ("[", "{") else _csv_rows(name, text)
    while rows and all(math.isnan(cell) for cell in rows[-1]):
        rows.pop()
    cols = max((len(row) for row in rows), default=0)
    if not rows:
        raise DataError(f"{name}: the page is empty. Write one line per carousel, relevances separated by commas.")
    if len(rows) * cols > _MOST_CELLS:
        raise DataError(
            f"{name}: a page of {len(rows)}x{cols} cells; this reads one page of at most {_MOST_CELLS:,} cells."
        )
    page = np.full((len(rows), cols), np.nan)
    for i, row in enumerate(rows):
        page[i, : len(row)] = row
    return page


def _cell(name: str, row: int, col: int, value: Any, hint: str = "") -> float:
    """One relevance. Text and numbers are parsed alike, so that CSV and JSON accept the same values."""
    if value is None or (isinstance(value, str) and value.strip().lower() in EMPTY):
        return math.nan
    try:
        if isinstance(value, list | dict) or (isinstance(value, str) and not NUMBER.fullmatch(value.strip())):
            raise ValueError
        relevance = float(value)
    except (ValueError, OverflowError):
        text = value if isinstance(value, str) else json.dumps(value)
        raise DataError(f"{name}: row {row}, col {col} is {text[:40]!r}, not a number.{hint}") from None
    if relevance < 0 or math.isinf(relevance):
        raise DataError(f"{name}: row {row}, col {col} is {relevance:g}; relevance is finite and 0 or more.")
    return relevance


def _csv_rows(name: str, text: str) -> list[list[float]]:
    delimiter = next((mark for mark in "\t;" if mark in text), ",")
    try:
        lines = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    except csv.Error as error:
        raise DataError(
            f"{name} is not CSV: {error}. Write one line per carousel, relevances separated by commas."
        ) from None
    hint = " The file has no header: every line is a carousel, cells are separated by commas, semicolons or tabs."
    return [
        [_cell(name, i, j, value, hint if i == 1 else "") for j, value in enumerate(line, 1)]
        for i, line in enumerate(lines, 1)
    ]


def _json_rows(name: str, text: str) -> list[list[float]]:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{name} is not JSON: {error}.") from None
    if isinstance(content, dict):
        content = content.get("relevance", content.get("page"))  # the second is what `score --format json` prints
    if not isinstance(content, list) or not all(isinstance(row, list) for row in content):
        raise DataError(
            f'{name}: expected a list of carousels such as [[1, 0, null], [2]], or {{"relevance": [[...]]}}.'
        )
    return [[_cell(name, i, j, value) for j, value in enumerate(row, 1)] for i, row in enumerate(content, 1)]
