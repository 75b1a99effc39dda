"""Python's own values in dicts and pandas: columns of one kind, or an error with the line, in whatever order."""

import datetime
import re
from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

import numpy as np
import pandas as pd
import polars as pl
import pytest

from carouseval.errors import DataError
from carouseval.evaluation.schema import LAYOUTS
from carouseval.tables.opening import open_table
from carouseval.tables.sources import open_source
from carouseval.tables.table import Column, agree_on_ids

IDS = [Column("user_id", "id")]
NOON = datetime.datetime(2026, 1, 1, 12)
OF_PYTHON: dict[str, Callable[[list[Any]], Any]] = {
    "dict": lambda values: {"user_id": values},
    "dict of a tuple": lambda values: {"user_id": tuple(values)},
    "dict of NumPy": lambda values: {"user_id": _array_of_objects(values)},
    "dict of pandas": lambda values: {"user_id": pd.Series(values, dtype=object)},
    "pandas": lambda values: pd.DataFrame({"user_id": pd.Series(values, dtype=object)}),
    "Polars, lazy": lambda values: pl.LazyFrame({"user_id": pl.Series(values=values, dtype=pl.Object)}),
    "Polars": lambda values: pl.DataFrame({"user_id": pl.Series(values=values, dtype=pl.Object)}),
}


def _array_of_objects(values: Sequence[Any]) -> Any:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


@pytest.mark.parametrize("form", OF_PYTHON)
@pytest.mark.parametrize(
    "value",
    [
        NOON,
        NOON.date(),
        NOON.time(),
        True,
        np.True_,
        "7",
        "\ud800",
        b"7",
        UUID(int=7),
        7j,
        object(),
        {"a": 7},
        range(7),
    ],
    ids=lambda value: type(value).__name__ if type(value) is object else repr(value),
)
def test_values_of_several_kinds_are_refused_in_any_order(form: str, value: Any) -> None:
    """Polars and PyArrow convert what follows: after a date, 18 is a day of 1970, and after 18, True is 1."""
    for values, message in (
        ([18, 19, None, value], f"line 4: found {value!r}, but line 1 has 18"),
        ([None, value, 18, 19], f"line 2: found {value!r}, but line 3 has 18"),
    ):
        with pytest.raises(DataError) as refused:
            open_table(OF_PYTHON[form](values), "judgments", IDS)
        assert str(refused.value) == f"judgments: column user_id, {message}. Write all values of a column as one type."
        used = open_table({"user_id": [1, 2, 3, 4], "note": values}, "judgments", IDS)  # what is not used may be mixed
        assert used.collect()["user_id"].to_list() == [1, 2, 3, 4]


def test_columns_of_a_pandas_frame_that_are_not_used_may_hold_anything() -> None:
    frame = pd.DataFrame({"note": pd.Series([1, "x"], dtype=object), "user_id": [7, 8], "odd": ["\ud800", object()]})
    table = open_table(frame, "judgments", IDS)
    assert table.collect()["user_id"].to_list() == [7, 8]
    assert table.header == ("note", "user_id", "odd")


@pytest.mark.parametrize("form", OF_PYTHON)
def test_objects_of_one_kind_have_its_type(form: str) -> None:
    for values, kind in (([7, None, 8], pl.Int64), (["a", None], pl.String), ([None, None], pl.Null)):
        table = open_table(OF_PYTHON[form](values), "judgments", IDS)
        assert table.types["user_id"] == kind
        assert table.records.collect()["user_id"].to_list() == values


@pytest.mark.parametrize("form", OF_PYTHON)
def test_uuids_beside_text_are_text_in_any_order(form: str) -> None:
    for values in (["u", None, UUID(int=5)], [UUID(int=5), "u", None]):
        table = open_table(OF_PYTHON[form](values), "judgments", IDS)
        assert table.types["user_id"] == pl.String
        assert {*open_source(OF_PYTHON[form](values), "judgments")[0].collect()["user_id"]} == {
            "u", None, "00000000-0000-0000-0000-000000000005",
        }  # fmt: skip


@pytest.mark.parametrize("form", OF_PYTHON)
@pytest.mark.parametrize("large", [2**63, 2**70, -(2**63) - 1])
def test_integers_above_64_bits_are_refused_by_their_line_in_any_order(form: str, large: int) -> None:
    for values, line in (([7, -8, large], 3), ([large, 7, -8], 1)):
        table = agree_on_ids([open_table(OF_PYTHON[form](values), "judgments", IDS)])[0]
        with pytest.raises(DataError, match=f"judgments: column user_id, line {line}: found {large}"):
            table.collect()


@pytest.mark.parametrize("form", OF_PYTHON)
@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            ["a", None, "b\udfff", "c"],
            r"line 3: found 'b\udfff', which has half of a character (a lone surrogate). Remove",
        ),
        ([object(), object()], "line 1: found <object object at "),
        ([7, 8, 2**200, 9], f"line 3: found {str(2**200)[:60]}...; expected integers or text."),
    ],
)
def test_a_value_that_fits_into_no_type_is_refused_by_its_line(form: str, values: list[Any], message: str) -> None:
    with pytest.raises(DataError, match=re.escape(f"judgments: column user_id, {message}")):
        open_table(OF_PYTHON[form](values), "judgments", IDS)


@pytest.mark.parametrize("column", ["items", "item_id"])
@pytest.mark.parametrize("lists", [[["a"], ["b", 7]], [["b", 7], ["a"]], [["a"], [7]], [[7], ["a"]]])
def test_lists_of_several_kinds_are_refused_in_any_order(column: str, lists: list[list[Any]]) -> None:
    line = 1 if lists[0] == ["b", 7] else 2
    found = f"layouts: column {column}, line {line}: found {lists[line - 1]}, with a value of another type than "
    for form in (dict, pd.DataFrame):
        with pytest.raises(DataError, match=re.escape(found)):
            open_table(form({"user_id": [1, 1], "row": [1, 2], column: lists}), "layouts", LAYOUTS)


@pytest.mark.parametrize("values", [[1, 2.5, None, 0], [2.5, 1, 0, None], (None, 0, np.int64(1), np.float64(2.5))])
def test_integers_and_floats_of_a_dict_are_numbers_in_any_order(values: Any) -> None:
    frame = open_source({"relevance": values}, "judgments")[0].collect()
    assert frame.schema == {"relevance": pl.Float64}
    assert frame["relevance"].to_list() == list(values)
