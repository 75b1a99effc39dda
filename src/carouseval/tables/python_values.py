"""Columns of Python's own values, as dicts and pandas hold them: the order of their lines must not decide their types.

Polars and PyArrow take the type of the first value; they refuse the others, or convert them: the number 7 after a date
becomes 1970-01-08, and 1 in a list after ``["a"]`` the text "1".
"""

import datetime
import itertools
import numbers
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any
from uuid import UUID

import numpy as np
import polars as pl

from carouseval.tables.files import is_panic

_NOTHING = "NoneType"
_KINDS: dict[str, tuple[type, ...]] = {  # the first that fits
    "boolean": (bool, np.bool_),
    "number": (numbers.Real, Decimal),
    "text": (str,),
    "UUID": (UUID,),
    "bytes": (bytes,),
    "date and time": (datetime.datetime,),
    "date": (datetime.date,),
    "list": (list, tuple, np.ndarray, pl.Series),
    "object": (Mapping,),
}
_ONE_TYPE = "Write all values of a column as one type."
_LONGEST = 60  # letters of a value that a message shows


def frame_of_columns(columns: Mapping[str, Any]) -> pl.DataFrame:
    """A frame of a dict of columns; those that have no type stay objects (see ``column_of``)."""
    return pl.DataFrame({name: column_of(_python_values(values)) for name, values in columns.items()})


def frame_of_pandas(source: Any) -> pl.DataFrame:
    """A frame of pandas, whose columns of objects may hold anything."""
    objects = (
        [name for name, kind in source.dtypes.items() if str(kind) == "object"] if source.columns.is_unique else []
    )
    apart = [name for name in objects if _is_mixed(source[name])]
    try:
        frame = pl.DataFrame(source.drop(columns=apart))
    except Exception:
        refused = [name for name in objects if name not in apart and not _is_converted(source[[name]])]
        if not refused:
            raise
        apart += refused
        frame = pl.DataFrame(source.drop(columns=apart))
    frame = frame.with_columns(pl.Series(str(name), column_of(_python_values(source[name]))) for name in apart)
    return frame.select(map(str, source.columns)) if apart else frame


def is_pandas(source: Any) -> bool:
    """Whether this is a frame of pandas, of whatever version."""
    return any(
        base.__name__ == "DataFrame" and base.__module__.partition(".")[0] == "pandas" for base in type(source).__mro__
    )


def without_objects(frame: pl.DataFrame) -> pl.DataFrame:
    """A frame whose columns of objects have a type, where their values have one."""
    objects = [column for column in frame.iter_columns() if column.dtype == pl.Object]
    return frame.with_columns(column_of(column.to_list()).alias(column.name) for column in objects)


def column_of(values: Any) -> Any:
    """Lists of Python's values as a column, whatever their order; all else as it is.

    Integers and floats are numbers, and UUIDs are text. Values of several kinds, or that fit into no type, stay
    objects: a table may have such a column, but is refused where it is used (``objects_error``).
    """
    if not isinstance(values, list | tuple):
        return values
    types = set(map(type, values)) - {type(None)}
    kinds = set(map(_kind, types))
    if "UUID" in kinds and kinds <= {"UUID", "text"}:
        values, kinds = [str(value) if isinstance(value, UUID) else value for value in values], {"text"}
    if len(kinds) > 1 or (kinds == {"list"} and len(_kinds(_cells(values))) > 1):
        return pl.Series(values=values, dtype=pl.Object)
    integers = kinds == {"number"} and all(issubclass(kind, numbers.Integral) for kind in types)
    mixed = kinds == {"number"} and len(types) > 1 and not integers
    for wanted in (pl.Float64 if mixed else None, *([pl.Int128] if integers else [])):  # integers may need 128 bits
        try:
            return pl.Series(values, dtype=wanted, strict=not mixed)
        except BaseException as error:  # of whatever type Polars makes it
            if not (isinstance(error, Exception) or is_panic(error)):
                raise
    return pl.Series(values=values, dtype=pl.Object)


def objects_error(values: Sequence[Any], expected: str) -> str:
    """Which value of a column of objects is not as the others, or fits into no type, and what to do."""
    counts = Counter(_kind(type(value)) for value in values if value is not None)
    usual = max(counts, key=counts.__getitem__)
    if len(counts) > 1:
        odd = _first(_kind(type(value)) not in (usual, _NOTHING) for value in values)
        other = _first(_kind(type(value)) == usual for value in values)
        problem = f"found {_brief(values[odd])}, but line {other + 1} has {_brief(values[other])}"
        return f"line {odd + 1}: {problem}. {_ONE_TYPE}"
    few, many = 0, len(values)  # the first lines have a type, and do not
    while many - few > 1:
        middle = (few + many) // 2
        few, many = (few, middle) if column_of(values[:middle]).dtype == pl.Object else (middle, many)
    value = values[many - 1]
    if isinstance(value, str):
        return f"line {many}: found {_brief(value)}, which has half of a character (a lone surrogate). Remove it."
    if isinstance(value, list | tuple):
        return f"line {many}: found {_brief(value)}, with a value of another type than those before it. {_ONE_TYPE}"
    return f"line {many}: found {_brief(value)}; expected {expected}."


def _kinds(values: Iterable[Any]) -> set[str]:
    return {_kind(kind) for kind in set(map(type, values))} - {_NOTHING}


def _kind(value_type: type) -> str:
    names = (name for name, types in _KINDS.items() if issubclass(value_type, types))
    return next(names, value_type.__name__)


def _cells(lists: Iterable[Any]) -> Iterable[Any]:
    return itertools.chain.from_iterable(cell for cell in lists if isinstance(cell, list | tuple))


def _python_values(column: Any) -> Any:
    """The values of a column of pandas or NumPy that holds objects, as a list; what is missing in pandas is None."""
    if str(getattr(column, "dtype", "")) != "object" or getattr(column, "ndim", 1) != 1:
        return column
    missing = column.isna() if hasattr(column, "isna") else itertools.repeat(False)
    return [None if null else value for value, null in zip(column, missing, strict=False)]


def _is_mixed(column: Any) -> bool:
    """Whether a column of pandas has values of several kinds; a missing one may be of any type."""
    return len(_kinds(column.tolist())) > 1 and len(_kinds(_python_values(column))) > 1


def _is_converted(frame: Any) -> bool:
    try:
        pl.DataFrame(frame)
    except Exception:
        return False
    return True


def _first(conditions: Iterable[bool]) -> int:
    return next(index for index, holds in enumerate(conditions) if holds)


def _brief(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
