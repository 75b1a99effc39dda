"""Lists in tables: the items of a row, the categories of an item, and the rows of a page, each with its own items."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl
from polars.datatypes import DataTypeClass

from carouseval.errors import DataError
from carouseval.messages import setting
from carouseval.tables.columns import TEXT, Column

LISTS = (pl.List, pl.Array)  # types of columns that hold lists
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


class Lists(NamedTuple):
    """A column of lists as an expression, and the type of what they hold."""

    values: pl.Expr
    type: pl.DataType
    invalid: pl.Expr | None = None  # which lists are wrong, where that must be looked for
    problem: str = ""  # what is wrong with those


def item_lists(kind: pl.DataType, fields: Sequence[str], *, nested: bool) -> Lists:
    """The column ``item_id`` as lists of ids; items that are objects have their id in one of ``fields``."""
    inner = _inner_type(kind)
    items, item = pl.col("item_id").cast(pl.List(inner)), pl.element()
    if not isinstance(inner, pl.Struct):
        if not nested or inner != pl.String:
            return Lists(items, inner)
        # in JSON lines, Polars turns objects into text where other items are text
        return Lists(items, inner, items.list.eval(item.str.contains(r'^\{\s*["}]')).list.any(), DIFFERING_ITEMS)
    types = inner.to_schema()
    name = next((field for field in fields if field in types), None)
    if name is None:
        raise DataError(
            f"the items of a row are objects without {fields[0]}; they have {', '.join(types)}. If one of these is the "
            f"id, use {setting('columns', {'item_id': next(iter(types), 'id')})}."
        )
    field = item.struct.field(name)
    without_id = items.list.eval(item.is_not_null() & field.is_null()).list.any()
    kind = _instance(types[name])
    return Lists(items.list.eval(field), kind, without_id, f"an item has no {name}. Every item needs an id.")


def value_lists(column: Column, kind: pl.DataType) -> Lists | None:
    """A column of ``many`` values in a cell, as a list or as text with a separator; None if it has one in each."""
    values = pl.col(column.name)
    if column.separator is not None:
        if kind not in TEXT:
            raise DataError(
                f"holds {kind}, which {setting('split', column.separator)} cannot split. Leave out {setting('split')}."
            )
        part = pl.element().str.strip_chars()
        parts = values.cast(pl.String).str.split(column.separator).list.eval(part.filter(part != ""))
        return Lists(parts, pl.String())
    if not isinstance(kind, LISTS):
        return None
    inner = _inner_type(kind)
    return Lists(values.cast(pl.List(inner)), inner)


def _inner_type(kind: pl.DataType) -> pl.DataType:
    assert isinstance(kind, LISTS)
    return _instance(kind.inner)


def _instance(kind: DataTypeClass | pl.DataType) -> pl.DataType:
    return kind if isinstance(kind, pl.DataType) else kind()
