"""Tables of items and carousels from the layouts of one system or several."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import carouseval as cv
from carouseval.evaluation.systems import is_systems

ONE: dict[str, list[Any]] = {
    "user_id": ["u", "v"],
    "row": [1, 1],
    "col": [1, 1],
    "item_id": ["a", "b"],
    "category": ["Top", "Top"],
}
TWO: dict[str, list[Any]] = {
    "user_id": ["u", "u"],
    "row": [1, 1],
    "col": [1, 2],
    "item_id": ["c", "a"],
    "category": ["New", "New"],
}
THREE: dict[str, list[Any]] = {"user_id": ["v"], "row": [1], "col": [1], "item_id": ["a"], "category": ["New"]}
FUNCTIONS: list[Callable[..., pl.DataFrame]] = [cv.items_from_layouts, cv.carousels_from_layouts]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("form", [dict, pl.DataFrame, pl.LazyFrame, lambda table: pl.DataFrame(table).to_arrow()])
def test_a_dict_of_systems_is_their_layouts(function: Callable[..., pl.DataFrame], form: Callable[..., Any]) -> None:
    one, two, three = map(form, (ONE, TWO, THREE))
    expected = function(one, two, three)
    assert expected.height > 1
    for given in (
        [{"prod": one, "new": [two, three]}],  # two runs of one system
        [{"prod": one}, {"new": (two, three)}],
        [one, {"new": [two], "other": three}],
    ):
        assert function(*given).equals(expected)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_list_of_paths_is_several_runs(function: Callable[..., pl.DataFrame], tmp_path: Path) -> None:
    paths = [str(tmp_path / f"{number}.parquet") for number in range(3)]
    for path, table in zip(paths, (ONE, TWO, THREE), strict=True):
        pl.DataFrame(table).write_parquet(path)
    expected = function(ONE, TWO, THREE)
    assert function({"prod": paths[0], "new": paths[1:]}).equals(expected)
    assert function({"prod": Path(paths[0]), "new": str(tmp_path / "[12].parquet")}).equals(expected)
    assert function(paths).equals(expected)  # one table in several files


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_dict_of_columns_is_one_table(function: Callable[..., pl.DataFrame]) -> None:
    expected = function(pl.DataFrame(ONE))
    arrays = {name: np.array(values) for name, values in ONE.items()}
    series = {name: pl.Series(values) for name, values in ONE.items()}
    for columns in (ONE, arrays, series):
        assert function(columns).equals(expected)
    theirs = {"customer" if name == "user_id" else name: values for name, values in ONE.items()}
    assert function(theirs, columns={"user_id": "customer"}).equals(expected)
    assert function({"prod": theirs, "new": [theirs]}, columns={"user_id": "customer"}).equals(expected)


def test_what_is_a_dict_of_systems() -> None:
    assert is_systems({"prod": ONE})
    assert is_systems({"prod": ["a.csv", "b.csv"]})
    assert not is_systems({})
    assert not is_systems(pl.DataFrame(ONE))
    assert not is_systems("layouts.csv")
    assert not is_systems({"user_id": ["a.csv"], "item_id": ["b.csv"]})
    assert not is_systems({"customer": ["a.csv"]}, user_column="customer")
    assert not is_systems({"row": [1], "items": [["a"]]})


@pytest.mark.parametrize("function", FUNCTIONS)
def test_errors_name_the_system(function: Callable[..., pl.DataFrame]) -> None:
    bare = {name: values for name, values in TWO.items() if name != "category"}
    with pytest.raises(cv.DataError, match=f"^new: layouts: missing column category, which {function.__name__}"):
        function({"prod": ONE, "new": [TWO, bare]})
    with pytest.raises(cv.DataError, match=r"^layouts: missing column category"):
        function(ONE, bare)
    with pytest.raises(cv.ParameterError, match="systems: new has no layouts"):
        function({"prod": ONE, "new": []})
    for name in ("", 7):
        with pytest.raises(cv.ParameterError, match=f"systems: names must be non-empty strings, found {name!r}"):
            function({name: ONE})
    with pytest.raises(cv.DataError, match="missing column user_id"):  # columns of one table, as before
        function({"customer": [1], "row": [1], "col": [1], "item_id": [7], "category": ["a"]})


def test_items_of_all_systems_are_what_a_comparison_goes_by() -> None:
    judgments = {"user_id": ["u", "v"], "item_id": ["a", "a"], "relevance": [1, 1]}
    systems: dict[str, Any] = {"prod": ONE, "new": pl.concat([pl.DataFrame(TWO), pl.DataFrame(THREE)])}
    compared = cv.compare(systems, judgments, permutations=9)
    evaluator = cv.Evaluator(judgments, cv.items_from_layouts(systems))
    for name, runs in compared.evaluations.items():
        assert evaluator.evaluate(systems[name]).mean == runs[0].mean
