import copy
import dataclasses
import json
import pickle
from typing import Any

import numpy as np
import pytest

import carouseval as cv
from carouseval.metrics.grid import grid_text, page_size_text, resized
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


@pytest.mark.parametrize("step", [None, 1, 3])
def test_rows_with_their_own_page_sizes(step: int | None) -> None:
    """Every row is that of a grid with its page size, and everything broadcasts against the rows."""
    sizes = (1, 5, 5, 7, 30)
    grid = cv.Grid(5, 17, sizes, swipe_step=step)
    for name in ("swipe_page", "slot", "mirrored_columns", "swipes"):
        table = getattr(grid, name)
        assert (table.shape, table.dtype, table.flags.writeable) == ((5, 17), np.int64, False)
        for row, size in enumerate(sizes):
            assert table[row].tolist() == getattr(dataclasses.replace(grid, page_size=size), name).tolist()
    assert grid.page_sizes.tolist() == [[1], [5], [5], [7], [30]]
    assert (grid.row_index + grid.swipes).shape == grid.shape
    assert grid.scrolls.tolist() == cv.Grid(5, 17).scrolls.tolist()


def test_a_single_page_size_gives_properties_of_columns() -> None:
    for name in ("swipe_page", "slot", "mirrored_columns", "swipes"):
        assert getattr(cv.RECGAZE, name).shape == (15,)
    assert cv.RECGAZE.page_sizes.tolist() == [5]


def test_grids_with_rows_that_differ_are_values() -> None:
    grid = cv.Grid(3, 8, [1, 5, 5])
    array: Any = np.array([1, 5, 5])
    same = (cv.Grid(3, 8, (1, 5, 5)), cv.Grid(3, 8, array), cv.Grid(**dataclasses.asdict(grid)))
    assert all(other == grid and hash(other) == hash(grid) for other in same)
    assert cv.Grid(**json.loads(json.dumps(dataclasses.asdict(grid)))) == grid
    assert grid != cv.Grid(3, 8, (1, 5, 4))
    assert dataclasses.asdict(grid)["page_size"] == (1, 5, 5)
    assert repr(grid) == ("Grid(rows=3, cols=8, page_size=(1, 5, 5), visible_rows=3, swipe_step=None, scroll_step=1)")
    assert grid.swipes[0, 7] == 7
    back = pickle.loads(pickle.dumps(grid))
    assert back == grid
    assert "swipes" not in vars(back)
    assert copy.deepcopy(grid) == grid


def test_equal_page_sizes_are_one() -> None:
    assert cv.Grid(3, 8, (5, 5, 5)) == cv.Grid(3, 8)
    assert cv.Grid(1, 8, [4]).page_size == 4
    arrays: Any = np.array([4, 4]), np.array([4, 3])
    assert type(cv.Grid(2, 8, arrays[0]).page_size) is int
    assert repr(cv.Grid(2, 8, arrays[1]).page_size) == "(4, 3)"


def test_a_grid_of_another_size() -> None:
    grid = cv.Grid(3, 8, (1, 5, 4), visible_rows=2, swipe_step=1)
    assert resized(grid, 5, 9) == cv.Grid(5, 9, (1, 5, 4, 4, 4), visible_rows=2, swipe_step=1)
    assert resized(grid, 2, 3) == cv.Grid(2, 3, (1, 5), visible_rows=2, swipe_step=1)
    assert resized(grid, 1, 3).page_size == 1
    assert resized(cv.TV, 30, 40) == dataclasses.replace(cv.TV, rows=30, cols=40)


@pytest.mark.parametrize(
    ("grid", "text"),
    [
        (cv.RECGAZE, "cv.Grid(rows=10, cols=15, page_size=5)"),
        (cv.TV, "cv.Grid(rows=20, cols=24, page_size=6, visible_rows=2, swipe_step=1)"),
        (cv.Grid(2, 9, (1, 4), scroll_step=2), "cv.Grid(rows=2, cols=9, page_size=(1, 4), scroll_step=2)"),
    ],
)
def test_a_grid_as_it_is_written(grid: cv.Grid, text: str) -> None:
    assert grid_text(grid) == text
    assert eval(text, {"cv": cv}) == grid


def test_page_sizes_in_words() -> None:
    assert page_size_text(5, "items") == "5 items"
    assert page_size_text((1, 5, 5, 5), "items") == "items: 1 in row 1, 5 in rows 2-4"
    assert page_size_text([2, 2, 7, 2], "items") == "items: 2 in rows 1-2, 7 in row 3, 2 in row 4"


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
        ({"page_size": "1,5"}, r"Grid: page_size must be .* found '1,5'\."),
        ({"page_size": np.array(5)}, r"Grid: page_size must be .* found array\(5\)\."),
        ({"page_size": (1, 0), "rows": 2}, r"Grid: page_size of row 2 must be an integer of at least 1, found 0\."),
        ({"page_size": (1, 2.5), "rows": 2}, r"Grid: page_size of row 2 must be .* found 2\.5\."),
        (
            {"page_size": (1, 5), "rows": 4},
            r"^Grid: page_size has 2 numbers for 4 rows\. Give one number for all rows, or one for each, "
            r"such as page_size=\(1, 5, 5, 5\)\.$",
        ),
        ({"page_size": [1, 5, 5], "rows": 2}, r"has 3 numbers for 2 rows\..* page_size=\(1, 5\)\.$"),
        ({"page_size": ()}, r"has 0 numbers for 10 rows\. Give one number for all rows, or one for each\.$"),
    ],
)
def test_nonsense_is_refused_by_name(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(cv.ParameterError, match=message):
        cv.Grid(**arguments)
