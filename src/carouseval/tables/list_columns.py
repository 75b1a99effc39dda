"""Cells that hold lists: the items of a row, the categories of an item."""

from collections.abc import Sequence
from typing import NamedTuple

import polars as pl
from polars.datatypes import DataTypeClass

from carouseval.errors import DataError
from carouseval.messages import setting
from carouseval.tables.columns import TEXT, Column
from carouseval.tables.nested_pages import DIFFERING_ITEMS

LISTS = (pl.List, pl.Array)  # types of columns that hold lists


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
