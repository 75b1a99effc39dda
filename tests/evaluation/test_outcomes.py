"""What becomes of a page is decided in one place, and everybody says the same of it."""

import itertools
import json
import math
from typing import Any

import polars as pl
import pytest

import carouseval as cv
from carouseval.evaluation.outcomes import REFUSE, SCORE, SKIP, ZERO, PageOutcomes
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
    with JudgedSources(JUDGMENTS, None, ScoringPlan.of(settings)).open(LAYOUTS) as inputs:
        found = PageOutcomes.of(inputs.judged, inputs.layouts, inputs.plan).by_metric["N2DCG_cat"]
    neither = RULE[bare] if missing == "zero" else RULE[missing]
    assert found.decision.tolist() == [SCORE, RULE[bare], RULE[missing], neither]
    assert found.status.tolist() == ["scored", "no_relevant", "missing", "no_relevant"]
    assert math.isclose(found.shares_of_users.sum(), (found.decision != SKIP).sum())  # a page each
    assert (found.shares_of_users[found.decision == SKIP] == 0).all()
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

    with pytest.raises(cv.DataError, match="2 users have judgments but no page, first user_id='cat'"):
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
    with pytest.raises(cv.DataError, match="no table gives the categories of items") as raised:
        cv.evaluate(layouts, JUDGMENTS, grid=GRID)
    assert str(raised.value) in [str(defect) for defect in cv.check(layouts, JUDGMENTS, grid=GRID).defects]
    assert cv.check(layouts, JUDGMENTS, grid=GRID, candidates="displayed").ok
    assert cv.check(layouts, JUDGMENTS, grid=GRID, metrics="2DCG").ok


def test_names_of_judgments_are_not_missed_in_layouts_alone() -> None:
    assert cv.check(LAYOUTS, columns={"relevance": "grade"}, grid=GRID).ok


def test_check_lists_all_that_would_be_refused() -> None:
    """Defects of pages do not hide what else is wrong."""
    layouts = pl.concat([LAYOUTS, LAYOUTS.with_columns(col=pl.lit(2, pl.Int64))])
    options: dict[str, Any] = {"grid": GRID, "no_relevant": "error", "duplicates": "error", "missing_pages": "error"}
    told = [str(defect) for defect in cv.check(layouts, JUDGMENTS, **options).defects]
    for wanted in (
        "2 items are repeated",
        "2 users have judgments but no page",
        "no relevant item",
    ):
        assert any(wanted in defect for defect in told), (wanted, told)
    with pytest.raises(cv.DataError) as raised:
        cv.evaluate(layouts, JUDGMENTS, **options)
    assert str(raised.value) in told


def test_explained_cells_have_the_same_bits_every_time() -> None:
    data = cv.sample(400, systems=["new"])
    shuffled = data.layouts["new"].sample(fraction=1, shuffle=True, seed=1)
    runs = [
        cv.explain(layouts, data.judgments, data.items, by="device", **options)
        for layouts, options in (
            (data.layouts["new"], {}),
            (shuffled, {"threads": 1}),
            (shuffled, {"memory": 1e-4}),
        )
    ]
    for other in runs[1:]:
        assert other.cells.equals(runs[0].cells)
        assert other.rows.equals(runs[0].rows)
    lost = 1 - sum(runs[0].shares[name] for name in ("score", "nothing_to_show") if name in runs[0].shares)
    assert math.fsum(runs[0].cells["loss"].to_list()) == pytest.approx(lost, abs=1e-12)


def test_a_catalogue_taken_from_layouts_is_said() -> None:
    with pytest.warns(cv.DataWarning, match="no items table, so the catalogue is taken from these layouts"):
        found = cv.evaluate(LAYOUTS, JUDGMENTS, metrics=["Hit", "Coverage"], grid=GRID)
    assert found.mean["Coverage"] == 1.0
    with pytest.raises(cv.ParameterError, match="Coverage is a figure of the whole system and has no interval"):
        found.interval("Coverage")


def test_what_is_no_metric_is_said() -> None:
    class Bare(cv.metrics.Metric):
        """Without a value."""

    with pytest.raises(cv.ParameterError, match="Bare is a class; give the name"):
        cv.evaluate(LAYOUTS, JUDGMENTS, metrics=Bare, grid=GRID)  # type: ignore[arg-type]
    with pytest.raises(cv.ParameterError, match="Bare must define value"):
        cv.metrics.register_metric("Bare")(Bare)
    with pytest.raises(cv.ParameterError, match="must be a subclass of Metric"):
        cv.metrics.register_metric("Other")(dict)  # type: ignore[type-var]

    @cv.metrics.register_metric("Scalar")
    class Scalar(cv.metrics.Metric):
        def value(self, pages: Any, weights: Any) -> Any:
            return 1.0

    for call in (lambda: cv.metric("Scalar")([[1.0]]), lambda: cv.evaluate(LAYOUTS, JUDGMENTS, metrics="Scalar")):
        with pytest.raises(cv.DataError, match="must return a number for each of"):
            call()


def test_layouts_alone_need_no_categories_yet() -> None:
    found = cv.check(LAYOUTS.drop("category"), grid=GRID)
    assert found.ok
    assert [defect.severity for defect in found.defects] == ["warning"]


def test_pages_far_above_a_tiny_ideal_are_explained() -> None:
    """An item outside all categories is in no ideal, and may gain a thousand times what that does."""
    layouts = pl.DataFrame(
        {"user_id": [1, 1], "row": [1, 2], "col": [1, 1], "item_id": ["x", "y"], "category": ["k", "l"]}
    )
    judgments = pl.DataFrame({"user_id": [1, 1], "item_id": ["x", "y"], "relevance": [0.01, 12]})
    items = {"item_id": ["x"], "category": ["k"]}
    with pytest.warns(cv.DataWarning):
        found = cv.explain(layouts, judgments, items, grid=GRID, invalid="count")
    score = found.evaluation.mean["N2DCG_cat"]
    assert score > 100_000
    assert math.fsum(found.cells["loss"].to_list()) == pytest.approx(1 - score)


def test_a_page_without_measure_is_explained_too() -> None:
    """Its losses are past what fixed-point numbers hold, and end there."""
    layouts = pl.DataFrame({"user_id": [1, 1], "row": [1, 1], "col": [1, 2], "item_id": ["x", "y"], "category": "k"})
    judgments = pl.DataFrame({"user_id": [1, 1], "item_id": ["x", "y"], "relevance": [1e-9, 1e20]})
    items = {"item_id": ["x"], "category": ["k"]}
    with pytest.warns(cv.DataWarning):
        found = cv.explain(layouts, judgments, items, grid=GRID, gain="linear", invalid="count")
    assert found.evaluation.mean["N2DCG_cat"] > 1e28
    assert found.cells["loss"].to_list() == [pytest.approx(0.0), -(2.0**64)]


def test_users_without_any_category_are_left_out() -> None:
    """No ideal shows what ann likes, so that there is nothing to divide by, with or without a page."""
    items = {"item_id": ["y", "z"], "category": ["k", "k"]}
    judgments = pl.concat([JUDGMENTS, pl.DataFrame({"user_id": ["bob"], "item_id": ["z"], "relevance": [1]})])
    with pytest.warns(cv.DataWarning):
        result = cv.evaluate(LAYOUTS, judgments, items, grid=GRID, invalid="count")
    pages = result.per_page.select("user_id", "status", "N2DCG_cat").rows()
    assert pages[:3] == [("ann", "no_category", None), ("bob", "scored", 0.0), ("cat", "no_category", None)]
    assert result.mean["N2DCG_cat"] == 0.0
    assert result.left_out("N2DCG_cat") == 3


@pytest.mark.parametrize("metrics", [["N2DCG_cat", "2DCG"], ["2DCG", "N2DCG_cat"]])
def test_a_page_that_any_metric_counts_needs_a_weight(metrics: list[str]) -> None:
    """N2DCG_cat leaves cat out, who likes nothing that has a category; 2DCG counts the missing page as zero."""
    layouts = LAYOUTS.with_columns(traffic=pl.lit(2.0))
    judgments = JUDGMENTS.with_columns(item_id=pl.when(user_id="cat").then(pl.lit("w")).otherwise("item_id"))
    items = {"item_id": ["x", "y"], "category": ["k", "k"]}
    with pytest.raises(cv.DataError, match="judgments: 1 page has no traffic, first user_id='cat'"):
        cv.evaluate(layouts, judgments, items, metrics=metrics, grid=GRID, weight="traffic")
