"""Pages with a list of rows, each with a title and a list of items, as one line per row."""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import polars as pl

from carouseval.errors import DataError

_EXAMPLE = '{"title": "Top 10", "items": ["a", "b"]}'
NO_ROWS = f"there is no list of rows. Write [{_EXAMPLE}, ...]."
NO_ITEMS = f"there is no list of items. Write a row as {_EXAMPLE}."
DIFFERING_ITEMS = "some items are ids, others objects. Write all as ids, or all as objects with an item_id."
_ROWS = "__rows__"


class Rows(NamedTuple):
    """The column with the rows of each page, and what a row has."""

    column: str
    fields: tuple[str, ...]

    @property
    def title(self) -> str | None:
        """The field that names a row, where none is called category."""
        return next((name for name in ("title", "name") if name in self.fields), None)


def find_rows(schema: pl.Schema, name: str) -> Rows | None:
    """The column with the list of rows of each page, if there is one: ``rows``, or by its own ``name``."""
    column = name if name in schema else "rows"
    kind = schema.get(column)
    if not isinstance(kind, pl.List | pl.Struct):
        return None
    if not isinstance(kind, pl.List) or not isinstance(kind.inner, pl.Struct):
        raise DataError(f"column {column} holds {kind}. Write a list of rows: [{_EXAMPLE}, ...].")
    return Rows(column, tuple(field.name for field in kind.inner.fields))


def one_line_per_row(pages: pl.LazyFrame, rows: Rows, pinned: str) -> pl.LazyFrame:
    """A line for each row of each page, with the columns of its page and ``row``, its position from 1.

    What both a page and its rows have is taken from the rows. A row that does not say whether it is ``pinned`` is not.
    """
    lines = pages.rename({rows.column: _ROWS}).drop(*rows.fields, "row", strict=False)
    position = pl.int_ranges(1, pl.col(_ROWS).list.len() + 1, dtype=pl.Int64)
    lines = lines.with_columns(row=position).explode(_ROWS, "row", empty_as_null=False)
    if "row" in rows.fields:
        lines = lines.drop("row")
    lines = lines.unnest(_ROWS)
    return lines.with_columns(pl.col(pinned).fill_null(False)) if pinned in rows.fields else lines


def nesting_error(page: Mapping[str, Any], forms: set[bool]) -> str:
    """What is wrong with the rows of a page in JSON; empty where nothing is, or where it has no rows.

    ``forms`` collects from page to page whether items are objects.
    """
    rows = page.get("rows")
    if not isinstance(rows, list):
        return f"rows: {NO_ROWS}" if isinstance(rows, dict) else ""
    for number, row in enumerate(rows, 1):
        if not isinstance(row, dict):
            return f"row {number} is {json.dumps(row)[:40]}. Write it as {_EXAMPLE}."
        items = row.get("items")
        if not isinstance(items, list):
            return f"row {number}: {NO_ITEMS}"
        forms |= {isinstance(item, dict) for item in items if item is not None}
        if len(forms) > 1:
            return f"row {number}: {DIFFERING_ITEMS}"
    return ""
