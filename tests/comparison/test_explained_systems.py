"""``compare(..., explain=True)``: what each system loses, against the ideals of the comparison."""

from typing import Any

import polars as pl
import pytest

import carouseval as cv
from carouseval.building.sample import Sample


@pytest.fixture(scope="module")
def data() -> Sample:
    return cv.sample(60, kind="home", systems=["new", "prod"])


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"candidates": "displayed"},
        {"candidates": "displayed", "duplicates": "first"},
        {"metrics": ["NDCG", "N2DCG_cat", "Hit"]},
    ],
)
def test_explanations_are_those_of_explain(data: Sample, settings: dict[str, Any]) -> None:
    options: dict[str, Any] = {"by": "device", "grid": data.grids, "carousels": data.carousels, "test": "t"}
    result = cv.compare(data.layouts, data.judgments, data.items, explain=True, **options | settings)
    plain = cv.compare(data.layouts, data.judgments, data.items, **options | settings)
    assert result.pairs.equals(plain.pairs)
    assert result.systems.equals(plain.systems)
    assert plain.explanations == {}
    assert list(result.explanations) == ["new", "prod"]
    del options["test"]
    alone = options | settings | {"metrics": ["N2DCG_cat"]}
    for name, layouts in data.layouts.items():
        expected, found = cv.explain(layouts, data.judgments, data.items, **alone), result.explanations[name]
        assert found.metric == "N2DCG_cat"
        assert found.per_page.equals(expected.per_page)
        assert found.cells.equals(expected.cells)
        assert found.rows.equals(expected.rows)
        user = found.per_page.filter(pl.col("status") == "scored").sort("score", "user_id")["user_id"][0]
        assert found.page(user).ideal.equals(expected.page(user).ideal)
        assert found.page(user).values == expected.page(user).values


def test_losses_are_against_what_all_systems_show(data: Sample) -> None:
    layouts = {"new": data.layouts["new"], "cut": data.layouts["prod"].filter(data.layouts["prod"]["col"] <= 4)}
    options: dict[str, Any] = {"by": "device", "grid": data.grids, "capacity": "shown"}
    result = cv.compare(layouts, data.judgments, data.items, explain=True, test="t", invalid="count", **options)
    for name, explanation in result.explanations.items():
        evaluation = result.evaluations[name][0]
        assert explanation.shares["score"] == pytest.approx(evaluation.mean["N2DCG_cat"], abs=1e-12)
        both = explanation.per_page.join(evaluation.per_page, on="user_id").filter(pl.col("status") == "scored")
        assert both["ideal"].to_list() == both["N2DCG_cat.ideal"].to_list()
    own = cv.explain(layouts["cut"], data.judgments, data.items, invalid="count", **options)
    assert (own.per_page["ideal"] < result.explanations["cut"].per_page["ideal"]).any()


def test_first_runs_are_explained(data: Sample) -> None:
    runs: dict[str, Any] = {"new": [data.layouts["new"], data.layouts["prod"]], "prod": data.layouts["prod"]}
    options: dict[str, Any] = {"by": "device", "grid": data.grids, "carousels": data.carousels}
    result = cv.compare(runs, data.judgments, data.items, explain=True, **options)
    expected = cv.explain(data.layouts["new"], data.judgments, data.items, **options)
    assert result.explanations["new"].per_page.equals(expected.per_page)


def test_a_category_ideal_is_needed(data: Sample) -> None:
    with pytest.raises(cv.ParameterError, match=r"explain=True needs N2DCG_cat among the metrics, found NDCG\."):
        cv.compare(data.layouts, data.judgments, data.items, explain=True, metrics=["NDCG"])


def test_ideals_of_pages_held_are_counted_once() -> None:
    """Pages with a pinned row have ideals of their own, which are solved again where memory held the last ones only."""
    users = range(8)
    layouts = {
        "user_id": [user for user in users for _ in range(2)],
        "row": [1, 2] * 8,
        "col": [1] * 16,
        "item_id": ["pinned", "one"] * 8,
        "category": ["a", "b"] * 8,
        "pinned": [True, False] * 8,
    }
    relevant = [(user, "one", 1) for user in users] + [(user, "two", 1) for user in range(5)]
    judgments = pl.DataFrame(relevant, schema=["user_id", "item_id", "relevance"], orient="row")
    items = {"item_id": ["pinned", "one", "two"], "category": ["a", "b", "b"]}
    with pytest.warns(cv.DataWarning, match="'b' holds up to 2 there and at most 1 on any page, for 62% of users"):
        cv.compare({"x": layouts, "y": layouts}, judgments, items, explain=True, memory=1e-7, test="t")
