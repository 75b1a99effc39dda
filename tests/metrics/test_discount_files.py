"""Discounts from the file of a fit, used on another screen than the one that was looked at."""

import json
import pickle
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import carouseval as cv

PAGE = [[0, 1, 0, 2, 1], [3, 0, 0, 0, 1]]
LAYOUTS = {"user_id": [1, 1], "row": [1, 1], "col": [1, 2], "item_id": [10, 11], "category": ["new", "new"]}
JUDGMENTS = {"user_id": [1], "item_id": [11], "relevance": [1]}
CANDIDATES = {"user_id": [1], "carousel": ["drama"], "col": [1], "item_id": [11]}


@pytest.fixture
def fitted(tmp_path: Path) -> str:
    path = tmp_path / "ours.json"
    content = {"discount": "d_rpd", "parameters": {"mu": 0.5}, "grid": {"rows": 10, "cols": 15, "page_size": 4}}
    path.write_text(json.dumps(content))
    return f"@{path}"


USES: dict[str, Callable[[str, cv.Grid], Any]] = {
    "arrays": lambda discount, grid: cv.n2dcg_cat(PAGE, discount, grid),
    "metric": lambda discount, grid: cv.metric(f"2DCG({discount})@2x3").weights(grid),
    "evaluate": lambda discount, grid: cv.evaluate(LAYOUTS, JUDGMENTS, metrics=f"N2DCG_cat({discount})", grid=grid),
    "explain": lambda discount, grid: cv.explain(LAYOUTS, JUDGMENTS, metrics=f"N2DCG_cat({discount})", grid=grid),
    "compare": lambda discount, grid: cv.compare(
        {"a": LAYOUTS, "b": LAYOUTS}, JUDGMENTS, metrics=f"N2DCG_cat({discount})", grid=grid
    ),
    "marginal_gains": lambda discount, grid: cv.marginal_gains(
        LAYOUTS, CANDIDATES, JUDGMENTS, metrics=f"N2DCG_cat({discount})", grid=grid
    ),
    "simulate": lambda discount, grid: cv.simulate(["d_a", discount], "d_rpd", trials=10, grid=grid),
    "simulate, as the truth": lambda discount, grid: cv.simulate(["d_a"], discount, trials=10, grid=grid),
}


@pytest.mark.parametrize("use", USES)
def test_another_page_size_is_noticed(use: str, fitted: str) -> None:
    with pytest.warns(cv.DataWarning) as caught:
        USES[use](fitted, cv.Grid(10, 15, page_size=6))
    assert {str(warning.message) for warning in caught} == {
        f"{fitted[1:]} was fitted with page size 4, but the grid of 10x15 has 6. Use a grid with that page size, or "
        "fit the discount again for this screen."
    }
    assert {Path(warning.filename).name for warning in caught} == {Path(__file__).name}


@pytest.mark.parametrize("use", USES)
def test_the_same_page_size_is_not(use: str, fitted: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        USES[use](fitted, cv.Grid(10, 15, page_size=4, visible_rows=2))


def test_it_is_noticed_each_time_and_in_copies(fitted: str) -> None:
    """Weights are cached; the notice must not depend on who asked for them first."""
    grid = cv.Grid(10, 15, page_size=6)
    discount = cv.discounts.parse(fitted)
    assert discount == cv.discounts.RowPage(mu=0.5)
    cv.n2dcg_cat(PAGE, cv.discounts.RowPage(mu=0.5), grid)  # equal, but not from a file
    for copy in (discount, discount, pickle.loads(pickle.dumps(discount))):
        with pytest.warns(cv.DataWarning, match="was fitted with page size 4"):
            cv.n2dcg_cat(PAGE, copy, grid)


@pytest.mark.parametrize("grid", [None, 3, {}, {"page_size": None}, {"page_size": "four"}])
def test_files_without_a_page_size_fit_any_screen(grid: Any, tmp_path: Path) -> None:
    path = tmp_path / "ours.json"
    path.write_text(json.dumps({"discount": "d_rpd", "parameters": {}, "grid": grid}))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cv.n2dcg_cat(PAGE, f"@{path}") == cv.n2dcg_cat(PAGE)


def test_one_row_with_the_page_size_of_the_fit_is_enough(tmp_path: Path) -> None:
    path = tmp_path / "ours.json"
    path.write_text(json.dumps({"discount": "d_rpd", "parameters": {}, "grid": {"page_size": [1, 5, 5]}}))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cv.n2dcg_cat(PAGE, f"@{path}", cv.Grid(2, 5, page_size=5))
        cv.n2dcg_cat(PAGE, f"@{path}", cv.Grid(2, 5, page_size=(3, 1)))
    with pytest.warns(cv.DataWarning, match=r"fitted with page size 1 or 5, but the grid of 2x5 has 4\."):
        cv.n2dcg_cat(PAGE, f"@{path}", cv.Grid(2, 5, page_size=4))
