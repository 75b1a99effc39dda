"""The tables of an evaluation and their columns."""

from collections.abc import Mapping, Sequence

import polars as pl

from carouseval.errors import ParameterError
from carouseval.evaluation.settings import ColumnNames, Settings
from carouseval.metrics.validation import did_you_mean
from carouseval.table_columns import Column
from carouseval.tables import Table, TableLike, agree_on_ids, open_table

MOST_ROWS, MOST_COLS = 10_000, 65_535  # what a place on a page is packed into (native/page_reader.h)

_ID = "Every line needs one, a whole number or text."
_RELEVANCE = "Relevance is finite and 0 or more; drop lines without a judgment."

_USER, _ITEM = Column("user_id", "id", remedy=_ID), Column("item_id", "id", remedy=_ID)
_PAGE = Column("page_id", "id", needed=False, remedy=_ID)
_COL = Column("col", "whole", remedy="Columns are whole numbers from 1, the leftmost, on.", least=1, most=MOST_COLS)
_CATEGORY = Column(
    "category", "id", needed=False, remedy="Every line needs its carousel's category, or none has the column."
)
LAYOUTS = (
    _USER,
    Column("row", "whole", remedy="Rows are whole numbers from 1, the topmost, on.", least=1, most=MOST_ROWS),
    _COL,
    _ITEM,
    _PAGE,
    _CATEGORY,
    Column("pinned", "flag", needed=False, remedy="Write true or false."),
)
JUDGMENTS = (_USER, _ITEM, Column("relevance", "number", remedy=_RELEVANCE, least=0), _PAGE)
ITEMS = (
    _ITEM,
    Column("category", "id", remedy="Every line needs a category; leave out items that have none."),
    Column("user_id", "id", needed=False, nulls=True, remedy="A user's id, or nothing for everyone."),
)
SCORES = (_USER, _ITEM, Column("score", "number", remedy="A score is a finite number; drop lines without one."))
CANDIDATES = (
    _USER,
    Column("carousel", "id", needed=False, remedy="Every line needs the name of its carousel."),
    _COL,
    _ITEM,
    _CATEGORY,
)
TABLES = {"layouts": LAYOUTS, "judgments": JUDGMENTS, "items": ITEMS, "scores": SCORES, "candidates": CANDIDATES}

_OF_PAGES = ("layouts", "judgments")  # tables in which pages or users may have segments and weights

# names that results use themselves
RESERVED = {column.name for group in TABLES.values() for column in group} | {
    *("status", "invalid", "duplicates", "unjudged", "weight", "pages", "users", "metric", "mean", "low", "high"),
    *("share", "score", "dcg", "item_order", "row_order", "choice", "ideal", "lost", "loss", "gain", "ideal_gain"),
    *("missing", "nothing_to_show", "__record__"),
}


def open_tables(
    sources: Mapping[str, TableLike],
    settings: Settings,
    *,
    settled: Mapping[str, pl.DataType] | None = None,
    canonical: Sequence[str] = (),
) -> dict[str, Table]:
    """Tables with ids of one type; ``by`` and ``weight`` of the settings are columns of layouts or judgments.

    ``settled`` holds types that ids have had before; ``canonical`` tables go by our own names.
    """
    columns, by, weight = settings.columns, settings.by_columns, settings.weight
    _check_extras(by, weight)
    names = {name: {} if name in canonical else names_of(columns, name) for name in sources}
    opened = {}
    for name, source in sources.items():
        extra = [Column(segment, "segment", needed=False) for segment in by if name in _OF_PAGES]
        if weight is not None and name in _OF_PAGES:
            extra.append(
                Column(weight, "number", needed=False, least=0, most=1e100, remedy="Weights are from 0 to 1e100.")
            )
        opened[name] = open_table(source, name, [*TABLES[name], *extra], names[name])
    if not canonical:
        _check_names(columns, opened)
    pages = [table for name, table in opened.items() if name in _OF_PAGES]
    for setting, segment in (*(("by", name) for name in by), *([("weight", weight)] if weight is not None else [])):
        if not any(segment in table for table in pages):
            known = [name for table in pages for name in table.header if name not in RESERVED]
            has = f" There are {', '.join(dict.fromkeys(known))}." if known else ""
            where = " or ".join(table.name for table in pages)
            raise ParameterError(
                f"{setting}: there is no column {segment!r} in {where}.{did_you_mean(segment, known)}{has}"
            )
    return dict(zip(opened, agree_on_ids(list(opened.values()), settled), strict=True))


def _check_extras(by: Sequence[str], weight: str | None) -> None:
    for segment in by:
        if segment in RESERVED:
            raise ParameterError(
                f"by={segment!r} is a name that results use themselves; name a column that is the same on all lines of "
                "a page, such as device, or give it another name."
            )
        if by.count(segment) > 1 or segment == weight:
            raise ParameterError(f"{segment!r} is named twice in by and weight.")
    if weight in RESERVED - {"weight", "share", "score"}:
        raise ParameterError(f"weight must be the name of a column of your own, found {weight!r}.")


def names_of(columns: ColumnNames, table: str) -> dict[str, str]:
    """What the caller calls this table's columns: ``{"user_id": "customer"}``, or the same under the table's name.

    Names of columns that only other tables have are passed over.
    """
    if not isinstance(columns, Mapping | None):
        raise ParameterError(f"columns must be a dict such as {{'user_id': 'customer'}}, found {columns!r}.")
    chosen: dict[str, str] = {}
    known = {column.name for group in TABLES.values() for column in group}
    for name, their in (columns or {}).items():
        if isinstance(their, Mapping):
            if name not in TABLES:
                raise ParameterError(f"columns: there is no table {name!r}.{did_you_mean(name, TABLES)}")
            chosen |= {_ours(ours): theirs for ours, theirs in their.items() if name == table}
        else:
            chosen.setdefault(_ours(name), their)
    for name, their in chosen.items():
        if not isinstance(name, str):
            raise ParameterError(f"columns: our name of a column is text, found {name!r}.")
        if name not in known:
            raise ParameterError(
                f"columns: there is no column {name!r}.{did_you_mean(name, known)} "
                "Write our name first, then yours: {'user_id': 'customer'}."
            )
        if not isinstance(their, str):
            raise ParameterError(f"columns: {name!r} must be a column's name, found {their!r}.")
    own = {column.name for column in TABLES[table]}
    return {name: their for name, their in chosen.items() if name in own}


def _ours(name: str) -> str:
    """A list of items may go by either name."""
    return "item_id" if name == "items" else name


def _check_names(columns: ColumnNames, opened: Mapping[str, Table]) -> None:
    """A name that no table has is a slip, and would be passed over in silence where the column is optional."""
    known = {column.name for name in opened for column in TABLES[name]}
    for name, their in (columns or {}).items():
        if isinstance(their, str) and _ours(name) not in known:
            continue  # a column of tables that are not at hand
        of_table = isinstance(their, Mapping) and name in opened
        wanted = (
            their.values() if isinstance(their, Mapping) and of_table else [their] if isinstance(their, str) else []
        )
        header = opened[name].header if of_table else [one for table in opened.values() for one in table.header]
        for one in wanted:
            if one not in header:
                where = name if of_table else "any table"
                raise ParameterError(f"columns: there is no column {one!r} in {where}.{did_you_mean(str(one), header)}")
