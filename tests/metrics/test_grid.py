import dataclasses
from typing import Any

import numpy as np
import pytest

import carouseval as cv
from tests import oracles


def test_mirrored_columns_of_the_paper() -> None:
    assert cv.RECGAZE.mirrored_columns.tolist() == [1, 2, 3, 4, 5, 10, 9, 8, 7, 6, 15, 14, 13, 12, 11]


def test_a_partial_last_page_is_mirrored_with_the_full_page_size() -> None:
    assert cv.Grid(cols=13).mirrored_columns[10:].tolist() == [15, 14, 13]
    assert cv.Grid(cols=13, swipe_step=1).mirrored_columns[10:].tolist() == [15, 14, 13]


def test_a_page_size_beyond_the_columns_mirrors_nothing() -> None:
    grid = cv.Grid(cols=4, page_size=9)
    assert grid.mirrored_columns.tolist() == [1, 2, 3, 4]
    assert grid.swipes.tolist() == [0, 0, 0, 0]
    assert grid.swipe_page.tolist() == [1, 1, 1, 1]


def test_actions_of_the_recgaze_screen() -> None:
    assert cv.RECGAZE.swipes.tolist() == [0] * 5 + [1] * 5 + [2] * 5
    assert cv.RECGAZE.scrolls.ravel().tolist() == [0, 0, 0, 1, 2, 3, 4, 5, 6, 7]


@pytest.mark.parametrize("page_size", [1, 2, 5, 7, 30])
@pytest.mark.parametrize("step", [1, 2, 3, 8])
def test_geometry_against_the_formulas_cell_by_cell(page_size: int, step: int) -> None:
    grid = cv.Grid(9, 17, page_size, visible_rows=4, swipe_step=step, scroll_step=step)
    columns = range(1, 18)
    assert grid.mirrored_columns.tolist() == [oracles.mirrored(j, page_size) for j in columns]
    assert grid.swipes.tolist() == [oracles.swipes(j, page_size, step) for j in columns]
    assert grid.scrolls.ravel().tolist() == [oracles.scrolls(i, 4, step) for i in range(1, 10)]
    assert grid.swipe_page.tolist() == [(j - 1) // page_size + 1 for j in columns]


def test_grids_are_values() -> None:
    assert cv.Grid(10, 15) == cv.RECGAZE
    assert hash(cv.Grid(10, 15)) == hash(cv.RECGAZE)
    assert str(cv.TV) == "20x24"
    with pytest.raises(dataclasses.FrozenInstanceError):
        cv.RECGAZE.rows = 3  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        cv.RECGAZE.swipes[0] = 1
    assert dataclasses.replace(cv.RECGAZE, page_size=3).swipes[3] == 1  # a swipe still brings a whole page


def test_numpy_numbers_make_plain_grids() -> None:
    sizes: Any = np.int64(3), np.int32(4)
    assert repr(cv.Grid(*sizes)) == repr(cv.Grid(3, 4))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"rows": 0}, r"Grid: rows must be an integer of at least 1, found 0\."),
        ({"cols": 2.5}, r"Grid: cols must be an integer of at least 1, found 2\.5\."),
        ({"page_size": -1}, r"Grid: page_size must be .* found -1\."),
        ({"visible_rows": True}, r"Grid: visible_rows must be .* found True\."),
        ({"swipe_step": 0}, r"Grid: swipe_step must be .* found 0\."),
        ({"scroll_step": "1"}, r"Grid: scroll_step must be .* found '1'\."),
    ],
)
def test_nonsense_is_refused_by_name(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(cv.ParameterError, match=message):
        cv.Grid(**arguments)
