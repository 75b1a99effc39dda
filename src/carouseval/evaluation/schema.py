"""The tables of an evaluation and their columns."""

from collections.abc import Mapping, Sequence

from carouseval.errors import ParameterError
from carouseval.metric.checks import did_you_mean
from carouseval.tables import Column, Table, TableLike, agree_on_ids, open_table

MOST_ROWS, MOST_COLS = 10_000, 65_535  # what a place on a page is packed into (native/shown.h)

_ID = "Every line needs one, a whole number or text."
_RELEVANCE = "Relevance is finite and 0 or more; drop lines without a judgment."

_USER, _ITEM = Column("user_id", "id", remedy=_ID), Column("item_id", "id", remedy=_ID)
_PAGE = Column("page_id", "id", needed=False, remedy=_ID)
LAYOUTS = (
    _USER,
    Column("row", "whole", remedy="Rows are whole numbers from 1, the topmost, on.", least=1, most=MOST_ROWS),
    Column("col", "whole", remedy="Columns are whole numbers from 1, the leftmost, on.", least=1, most=MOST_COLS),
    _ITEM,
    _PAGE,
    Column("category", "id", needed=False, remedy="Every line needs its carousel's category, or none has the column."),
    Column("pinned", "flag", needed=False, remedy="Write true or false."),
)
JUDGMENTS = (_USER, _ITEM, Column("relevance", "number", remedy=_RELEVANCE, least=0), _PAGE)
ITEMS = (
    _ITEM,
    Column("category", "id", remedy="Every line needs a category; leave out items that have none."),
    Column("user_id", "id", needed=False, nulls=True, remedy="A user's id, or nothing for everyone."),
)
_TABLES = {"layouts": LAYOUTS, "judgments": JUDGMENTS, "items": ITEMS}

ColumnNames = Mapping[str, str] | Mapping[str, Mapping[str, str]] | None


def open_tables(
    sources: Mapping[str, TableLike], columns: ColumnNames = None, by: Sequence[str] = (), weight: str | None = None
) -> dict[str, Table]:
    """Layouts, judgments and items with ids of one type; ``by`` and ``weight`` are columns of layouts or judgments."""
    opened = {}
    for name, source in sources.items():
        extra = [] if name == "items" else [Column(segment, "segment", needed=False) for segment in by]
        if weight is not None and name != "items":
            extra.append(Column(weight, "number", needed=False, least=0, remedy="Weights are finite and 0 or more."))
        opened[name] = open_table(source, name, [*_TABLES[name], *extra], _names(columns, name))
    for segment in (*by, *([weight] if weight is not None else [])):
        if not any(segment in opened[name] for name in opened if name != "items"):
            known = [name for table in opened.values() for name in table.header]
            raise ParameterError(
                f"no column {segment!r} in {' or '.join(name for name in opened if name != 'items')}."
                f"{did_you_mean(segment, known)}"
            )
    return dict(zip(opened, agree_on_ids(list(opened.values())), strict=True))


def _names(columns: ColumnNames, table: str) -> dict[str, str]:
    """What the caller calls this table's columns: ``{"user_id": "customer"}``, or the same under the table's name."""
    chosen: dict[str, str] = {}
    known = {column.name for group in _TABLES.values() for column in group}
    for name, their in (columns or {}).items():
        if isinstance(their, Mapping):
            if name not in _TABLES:
                raise ParameterError(f"columns: there is no table {name!r}.{did_you_mean(name, _TABLES)}")
            chosen |= {ours: theirs for ours, theirs in their.items() if name == table}
        else:
            chosen.setdefault(name, their)
    for name in chosen:
        if name not in known:
            raise ParameterError(
                f"columns: there is no column {name!r}.{did_you_mean(name, known)} "
                "Write our name first, then yours: {'user_id': 'customer'}."
            )
    return chosen
