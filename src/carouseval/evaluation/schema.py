"""The tables of an evaluation and their columns."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import polars as pl

from carouseval.errors import DataError, ParameterError
from carouseval.evaluation.columns import Columns
from carouseval.evaluation.result_columns import EVALUATION_TABLES, own_names
from carouseval.evaluation.settings import ColumnNames, Settings
from carouseval.messages import Message, setting
from carouseval.tables.columns import Column, missing_columns, other_spellings, rename_hint, similar_column
from carouseval.tables.opening import open_table
from carouseval.tables.table import RECORD, Table, TableLike, agree_on_ids
from carouseval.validation import did_you_mean

MOST_ROWS, MOST_COLS = 10_000, 65_535  # the most that packed lines can hold (native/tables/page_reader.h)

_ID = "Every line needs an id, an integer or text."
_RELEVANCE = "Relevance must be finite and at least 0; drop lines without a judgment."
_WEIGHT = "Weights must be from 0 to 1e100."

_TEXT = "Give one text for each item, or leave the column out."

PICTURES = (Columns.TITLE, Columns.POSTER)  # columns of items that pages are drawn with; scores do not depend on them

_USER, _ITEM = Column(Columns.USER, "id", remedy=_ID), Column(Columns.ITEM, "id", remedy=_ID)
_PAGE = Column(Columns.PAGE, "id", required=False, remedy=_ID)
_COL = Column(
    Columns.COL, "integer", remedy="Columns are integers, counted from 1 at the left.", minimum=1, maximum=MOST_COLS
)
_CATEGORY = Column(
    Columns.CATEGORY, "id", required=False, remedy="Every line needs its carousel's category; or drop the column."
)
LAYOUTS = (
    _USER,
    Column(
        Columns.ROW, "integer", remedy="Rows are integers, counted from 1 at the top.", minimum=1, maximum=MOST_ROWS
    ),
    _COL,
    _ITEM,
    _PAGE,
    _CATEGORY,
    Column(Columns.PINNED, "boolean", required=False, remedy="It must be true or false."),
)
JUDGMENTS = (
    _USER,
    _ITEM,
    Column(Columns.RELEVANCE, "number", required=False, remedy=_RELEVANCE, minimum=0, default=1.0),
    _PAGE,
)
ITEMS = (
    _ITEM,
    Column(Columns.CATEGORY, "id", many=True, remedy="Every line needs a category; leave out items that have none."),
    Column(Columns.USER, "id", required=False, nullable=True, remedy="It must be a user's id, or null for everyone."),
    *(Column(name, "text", required=False, nullable=True, remedy=_TEXT) for name in PICTURES),
)
CAROUSELS = (
    Column(Columns.CATEGORY, "id", remedy="Every line needs a category."),
    Column(Columns.USER, "id", required=False, nullable=True, remedy="It must be a user's id, or null for everyone."),
    Column(
        Columns.CAPACITY,
        "integer",
        required=False,
        nullable=True,
        minimum=1,
        remedy="A capacity is an integer of at least 1, or null for that of "
        f"{setting('capacity', text='the setting capacity')}.",
    ),
    Column(Columns.PERSONAL, "boolean", required=False, nullable=True, remedy="It must be true, false or null."),
)
SCORES = (
    _USER,
    _ITEM,
    Column(Columns.SCORE, "number", remedy="A score must be a finite number; drop lines without one."),
)
CANDIDATES = (
    _USER,
    Column(Columns.CAROUSEL, "id", required=False, remedy="Every line needs the name of its carousel."),
    _COL,
    _ITEM,
    replace(_CATEGORY, remedy="Every line needs a category; or drop the column and use one named carousel."),
)
EVENTS = (
    _USER,
    _ITEM,
    _PAGE,
    Column(
        Columns.EVENT, "text", required=False, remedy="Every line needs the name of its event; drop lines without one."
    ),
    Column(Columns.TIME, "time", required=False, remedy="Every line needs a time: a number, or a date and time."),
)
TABLES: dict[str, tuple[Column, ...]] = {
    "layouts": LAYOUTS,
    "judgments": JUDGMENTS,
    "items": ITEMS,
    "carousels": CAROUSELS,
    "scores": SCORES,
    "candidates": CANDIDATES,
    "events": EVENTS,
}

_WITH_SEGMENTS = ("layouts", "judgments")  # tables that may have columns of segments and weights

_SHARE = "share"  # which charts have

# columns of tables and results, which segments must not be named after
_OF_PAGES_AND_ITEMS = (LAYOUTS, JUDGMENTS, ITEMS, SCORES, CANDIDATES)
RESERVED: set[str] = {column.name for group in _OF_PAGES_AND_ITEMS for column in group}.difference(PICTURES) | {
    *own_names(EVALUATION_TABLES),
    RECORD,
    _SHARE,
}


_OURS_FIRST = setting("columns", {"user_id": "customer"}, text="{'user_id': 'customer'}")
RELEVANCE_1 = "1 (no column)"  # what ``config`` says of judgments without the column
NOTHING_TO_SPLIT = Message(
    f"{setting('split')}: there is no items table whose categories could be split. Give {setting('items')}, or leave "
    f"out {setting('split')}."
)

# what to say of a table without lines
EMPTY = {
    "layouts": "layouts: the table has no lines. Give at least one line of user_id, row, col, item_id.",
    "judgments": "judgments: the table has no lines. Give at least one line of user_id, item_id, relevance.",
    "items": Message(
        f"items: the table has no lines. Give at least one line of item_id, category, or leave {setting('items')} out."
    ),
    "carousels": Message(
        f"carousels: the table has no lines. Give at least one line of category, or leave {setting('carousels')} out."
    ),
    "events": "events: the table has no lines. Give at least one line of user_id, item_id.",
}


def open_tables(
    sources: Mapping[str, TableLike],
    settings: Settings,
    *,
    opened: Mapping[str, Table] | None = None,
    settled: Mapping[str, pl.DataType] | None = None,
    canonical: Sequence[str] = (),
) -> dict[str, Table]:
    """Tables with ids of one type; ``by`` and ``weight`` of the settings are columns of layouts or judgments.

    Those that were ``opened`` before are among them; ``settled`` holds the types that ids have had there.
    ``canonical`` tables have our own column names already.
    """
    opened = opened or {}
    columns, by, weight = settings.columns, settings.by_columns, settings.weight
    _check_extras(by, weight)
    if settings.split is not None and "items" not in {*sources, *opened}:
        raise ParameterError(NOTHING_TO_SPLIT)
    names = {name: {} if name in canonical else names_of(columns, name) for name in sources}
    tables: dict[str, Table] = {}
    for name, source in sources.items():
        extra = [Column(segment, "segment", required=False) for segment in by if name in _WITH_SEGMENTS]
        if weight is not None and name in _WITH_SEGMENTS:
            extra.append(Column(weight, "number", required=False, minimum=0, maximum=1e100, remedy=_WEIGHT))
        tables[name] = table = open_table(source, name, [*columns_of(name, settings), *extra], names[name])
        _check_optional(table, names[name])
    if not canonical:
        _check_names(columns, tables | dict(opened))
    pages = [table for name, table in (*tables.items(), *opened.items()) if name in _WITH_SEGMENTS]
    for argument, segment in (*(("by", name) for name in by), *([("weight", weight)] if weight is not None else [])):
        if not any(segment in table for table in pages):
            known = [name for table in pages for name in table.header if name not in RESERVED]
            has = f" Columns: {', '.join(dict.fromkeys(known))}." if known else ""
            where = " or ".join(table.name for table in pages)
            raise ParameterError(
                f"{setting(argument)}: there is no column {segment!r} in {where}.{did_you_mean(segment, known)}{has}"
            )
    return dict(zip(tables, agree_on_ids(list(tables.values()), settled), strict=True)) | dict(opened)


def columns_of(table: str, settings: Settings) -> Sequence[Column]:
    """The columns of a table; text in ``category`` of items is split where the settings say so."""
    if table != "items" or settings.split is None:
        return TABLES[table]
    return [replace(column, separator=settings.split) if column.many else column for column in ITEMS]


def relevance_is_given(judgments: Table) -> bool:
    """Whether judgments have a column with the relevance, which is 1 otherwise."""
    return judgments.names[Columns.RELEVANCE] in judgments.header


def _check_optional(table: Table, names: Mapping[str, str]) -> None:
    """Refuse tables whose optional columns seem to have other names: they would be ignored in silence."""
    absent = [column.name for column in TABLES[table.name] if table.names.get(column.name, "") not in table.header]
    unused = [column for column in table.header if column not in table.names.values()]
    for name, given in other_spellings(absent, unused).items() if unused else ():
        hint = rename_hint({name: given})
        raise DataError(f"{table.name}: found a column {given!r}, but ours is {name}. {hint}")
    if table.name == "judgments" and "relevance" in absent:
        _check_relevance(table.header, unused, names)


def _check_relevance(header: Sequence[str], unused: Sequence[str], names: Mapping[str, str]) -> None:
    """Refuse judgments whose relevance is not 1, but in a column that was not found."""
    if "relevance" in names or "row" in unused or similar_column("relevance", unused):
        names = {column.name: names.get(column.name, column.name) for column in JUDGMENTS}
        hint = f"If yours has another name, use {setting('columns', {'relevance': 'clicked'})}."
        raise DataError(f"judgments: {missing_columns(['relevance'], names, header, hint)}")


def _check_extras(by: Sequence[str], weight: str | None) -> None:
    for segment in by:
        if segment in RESERVED:
            raise ParameterError(
                f"{setting('by', segment)} is a column of the results; choose one that is the same on all lines of a "
                "page, such as device, or rename yours."
            )
        if by.count(segment) > 1 or segment == weight:
            raise ParameterError(f"{segment!r} is named twice in {setting('by')} and {setting('weight')}.")
    if weight in RESERVED - {Columns.WEIGHT, _SHARE, Columns.SCORE}:
        raise ParameterError(f"{setting('weight')} must be the name of a column of your own, found {weight!r}.")


def names_of(columns: ColumnNames, table: str) -> dict[str, str]:
    """The caller's names of a table's columns: ``{"user_id": "customer"}``, or the same under the table's name.

    Names of columns that only other tables have are left out.
    """
    if not isinstance(columns, Mapping | None):
        raise ParameterError(f"{setting('columns')} must be a dict such as {_OURS_FIRST}, found {columns!r}.")
    chosen: dict[str, str] = {}
    known = {column.name for group in TABLES.values() for column in group}
    for name, given in (columns or {}).items():
        if isinstance(given, Mapping):
            if name not in TABLES:
                raise ParameterError(f"{setting('columns')}: there is no table {name!r}.{did_you_mean(name, TABLES)}")
            chosen |= {_ours(column): given_name for column, given_name in given.items() if name == table}
        else:
            chosen.setdefault(_ours(name), given)
    for name, given in chosen.items():
        if not isinstance(name, str):
            raise ParameterError(f"{setting('columns')}: names must be text, found {name!r}.")
        if name not in known:
            raise ParameterError(
                f"{setting('columns')}: there is no column {name!r}.{did_you_mean(name, known)} Write our name "
                f"first, then yours: {_OURS_FIRST}."
            )
        if not isinstance(given, str):
            raise ParameterError(f"{setting('columns')}: {name!r} must map to the name of a column, found {given!r}.")
    known_here = {column.name for column in TABLES[table]}
    return {name: given for name, given in chosen.items() if name in known_here}


def _ours(name: str) -> str:
    """Our name of a column; a list of items may be called ``items``, and a list of rows ``rows``."""
    return {"items": "item_id", "rows": "row"}.get(name, name)


def _check_names(columns: ColumnNames, tables: Mapping[str, Table]) -> None:
    """Refuse names that no table has: an optional column would be ignored in silence."""
    known = {column.name for name in tables for column in TABLES[name]}
    for name, given in (columns or {}).items():
        if isinstance(given, str) and _ours(name) not in known:
            continue  # a column of tables that are not given
        of_table = isinstance(given, Mapping) and name in tables
        wanted = (
            given.values() if isinstance(given, Mapping) and of_table else [given] if isinstance(given, str) else []
        )
        header = tables[name].header if of_table else [column for table in tables.values() for column in table.header]
        for column in wanted:
            if column not in header:
                where, hint = name if of_table else "any table", did_you_mean(str(column), header)
                raise ParameterError(f"{setting('columns')}: there is no column {column!r} in {where}.{hint}")
