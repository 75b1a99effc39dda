"""What becomes of a page is decided in one place, and everybody says the same of it."""

import itertools
import json
import math
from typing import Any

import polars as pl
import pytest

import carouseval as cv
from carouseval.evaluation.outcomes import REFUSE, SCORE, SKIP, ZERO, Verdicts
from carouseval.evaluation.plan import ScoringPlan
from carouseval.evaluation.reading.inputs import JudgedSources
from carouseval.evaluation.settings import Settings

GRID = cv.Grid(2, 2)
# ann has a page and something relevant, bob a page only, cat something relevant only, dan neither but a judgment
LAYOUTS = pl.DataFrame(
    [("ann", 1, 1, "x", "k"), ("bob", 1, 1, "y", "k")],
    schema=["user_id", "row", "col", "item_id", "category"],
    orient="row",
)
JUDGMENTS = pl.DataFrame(
    [("ann", "x", 1), ("bob", "y", 0), ("cat", "x", 2), ("dan", "x", 0)],
    schema=["user_id", "item_id", "relevance"],
    orient="row",
)
RULE = {"zero": ZERO, "skip": SKIP, "error": REFUSE}


@pytest.mark.parametrize(("missing", "bare"), list(itertools.product(RULE, RULE)))
def test_every_combination_of_policies(missing: Any, bare: Any) -> None:
    settings = Settings(grid=GRID, missing_pages=missing, no_relevant=bare)
    with JudgedSources(JUDGMENTS, None, ScoringPlan.of(settings)).open(LAYOUTS, items_from_layouts=True) as inputs:
        found = Verdicts.of(inputs.judged, inputs.layouts, inputs.plan).by_metric["N2DCG_cat"]
    neither = RULE[bare] if missing == "zero" else RULE[missing]
    assert found.decision.tolist() == [SCORE, RULE[bare], RULE[missing], neither]
    assert found.status.tolist() == ["scored", "no_relevant", "missing", "no_relevant"]
    assert math.isclose(found.shares.sum(), 1)
    assert (found.shares[found.decision == SKIP] == 0).all()
    told = cv.check(LAYOUTS, JUDGMENTS, grid=GRID, missing_pages=missing, no_relevant=bare)
    options: dict[str, Any] = {"grid": GRID, "missing_pages": missing, "no_relevant": bare}
    if (found.decision == REFUSE).any():
        assert not told.ok
        with pytest.raises(cv.DataError) as raised:
            cv.evaluate(LAYOUTS, JUDGMENTS, **options)
        assert str(raised.value) in [str(defect) for defect in told.defects]
        return
    assert told.ok
    scores = cv.evaluate(LAYOUTS, JUDGMENTS, **options).per_page["N2DCG_cat"].to_list()
    assert scores == [1.0, *({ZERO: 0.0, SKIP: None}[one] for one in found.decision.tolist()[1:])]
    explained = cv.explain(LAYOUTS, JUDGMENTS, **options)
    assert explained.shares["score"] == pytest.approx(explained.evaluation.mean["N2DCG_cat"])


def test_zero_means_zero_whatever_a_function_says() -> None:
    def generous(gains: Any, weights: Any) -> float:
        return 1.0

    found = cv.evaluate(LAYOUTS, JUDGMENTS, metrics=generous, grid=GRID, no_relevant="zero", missing_pages="skip")
    assert found.per_page["generous"].to_list() == [1.0, 0.0, None, None]


def test_refused_before_anything_is_scored() -> None:
    def never(gains: Any, weights: Any) -> float:
        raise AssertionError("scored")

    with pytest.raises(cv.DataError, match="2 users with judgments but no page, first user_id='cat'"):
        cv.evaluate(LAYOUTS, JUDGMENTS, metrics=never, grid=GRID, missing_pages="error")


def test_pages_that_weigh_nothing_are_explained_too() -> None:
    layouts = pl.concat([LAYOUTS, LAYOUTS.head(1).with_columns(user_id=pl.lit("eve"))])
    layouts = layouts.with_columns(w=pl.Series([1.0, 1.0, 0.0]), device=pl.Series(["tv", "tv", "web"]))
    judgments = pl.concat([JUDGMENTS.head(2), JUDGMENTS.head(1).with_columns(user_id=pl.lit("eve"))])
    found = cv.explain(layouts, judgments, grid=GRID, weight="w", by="device", no_relevant="skip")
    eve = found.per_page.filter(pl.col("user_id") == "eve").row(0, named=True)
    assert (eve["status"], eve["score"], eve["dcg"]) == ("scored", 1.0, eve["ideal"])
    assert json.loads(found.to_json())["segments"][1]["score"] is None  # nobody on the web weighs anything


def test_check_refuses_what_evaluate_does_without_categories() -> None:
    layouts = LAYOUTS.drop("category")
    with pytest.raises(cv.DataError, match="no table says which category") as raised:
        cv.evaluate(layouts, JUDGMENTS, grid=GRID)
    assert str(raised.value) in [str(defect) for defect in cv.check(layouts, JUDGMENTS, grid=GRID).defects]
    assert cv.check(layouts, JUDGMENTS, grid=GRID, candidates="displayed").ok
    assert cv.check(layouts, JUDGMENTS, grid=GRID, metrics="2DCG").ok


def test_names_of_judgments_are_not_missed_in_layouts_alone() -> None:
    assert cv.check(LAYOUTS, columns={"relevance": "grade"}, grid=GRID).ok
