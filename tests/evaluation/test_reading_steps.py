"""The steps of reading: what layouts are judged by is opened and read once, with the first of them."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import carouseval as cv
from carouseval.evaluation import schema
from carouseval.tables.opening import open_table

LAYOUTS = {"user_id": [1, 1, 2], "row": [1, 1, 1], "col": [1, 2, 1], "item_id": [10, 11, 11], "category": ["new"] * 3}
OTHER = LAYOUTS | {"item_id": [11, 10, 10]}
# names, segments, weights and categories that only the tables have that are opened once
JUDGMENTS = {
    "customer": [1, 1, 2],
    "item_id": [11, 12, 11],
    "relevance": [1, 3, 2],
    "device": ["tv", "tv", "web"],
    "w": [1, 1, 2],
}
ITEMS = {"item_id": [10, 11, 12], "category": ["new", "new|old", "new"]}
SETTINGS: dict[str, Any] = {"columns": {"user_id": "customer"}, "by": "device", "weight": "w", "split": "|"}


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of all tables, as they are opened."""
    names: list[str] = []

    def noted(source: Any, name: str, *rest: Any) -> Any:
        names.append(name)
        return open_table(source, name, *rest)

    monkeypatch.setattr(schema, "open_table", noted)
    return names


def test_a_comparison_opens_every_table_once(opened: list[str]) -> None:
    cv.compare({"a": LAYOUTS, "b": OTHER, "c": LAYOUTS}, JUDGMENTS, ITEMS, **SETTINGS)
    assert opened == ["layouts", "judgments", "items", "layouts", "layouts"]


def test_an_evaluator_opens_every_table_once(opened: list[str], tmp_path: Path) -> None:
    """So files may be gone by then; ids, names, segments and weights of later layouts are those of the first."""
    paths = [tmp_path / "judgments.csv", tmp_path / "items.csv"]
    for path, table in zip(paths, (JUDGMENTS, ITEMS), strict=True):
        pl.DataFrame(table).write_csv(path)
    evaluator = cv.Evaluator(*paths, **SETTINGS)
    expected = [cv.evaluate(layouts, *paths, **SETTINGS) for layouts in (LAYOUTS, OTHER)]
    opened.clear()
    first = evaluator.evaluate(LAYOUTS)
    for path in paths:
        path.unlink()
    for result, single in zip((first, evaluator.evaluate(OTHER)), expected, strict=True):
        assert_frame_equal(result.per_page, single.per_page)
        assert (result.mean, result.counts, result.config) == (single.mean, single.counts, single.config)
    assert opened == ["layouts", "judgments", "items", "layouts"]
    with pytest.raises(cv.DataError, match="holds text, but in judgments it holds integers"):
        evaluator.evaluate(OTHER | {"item_id": ["a", "b", "c"]})


def test_a_page_that_is_looked_up_opens_its_layouts_alone(opened: list[str]) -> None:
    pages = pl.concat([pl.DataFrame(LAYOUTS).with_columns(pl.col("user_id") + 2 * at) for at in range(9)])
    judgments = {"user_id": [*range(1, 19)], "item_id": [11] * 18, "relevance": [1] * 18}
    explanation = cv.explain(pages, judgments)
    held = [page.user_id for page in explanation.pages]
    opened.clear()
    user = next(user for user in range(1, 19) if user not in held)
    assert explanation.page(user).user_id == user
    assert opened == ["layouts", "layouts"]  # to find the page, and to read it
