"""The caption of results says what the numbers are."""

from typing import Any

import polars as pl
import pytest

import carouseval as cv
from carouseval.evaluation.caption import caption
from carouseval.evaluation.plan import ScoringPlan
from carouseval.evaluation.settings import Settings

RPD = "d_rpd(alpha=4, beta=9, mu=0.65, nu=0.95)"
GRID = "grid 10x15, swipe pages of 5, 3 visible rows"


def described(users: list[int] | None = None, more: dict[str, Any] | None = None, **settings: Any) -> str:
    return caption(ScoringPlan.of(Settings(**settings)).config() | (more or {}), users or [7])


def test_the_default() -> None:
    ideal = "ideal of judged items, rows hold up to the grid's 15 columns"
    assert described() == f"N2DCG_cat with {RPD}; {ideal}; {GRID}; 7 users."


@pytest.mark.parametrize(
    ("metrics", "wanted"),
    [
        (["2DCG"], f"2DCG with {RPD}; candidates: judged; "),
        (["N2DCG_cat", "RR", "Hit@3x5"], f"N2DCG_cat and RR with {RPD}, Hit@3x5; ideal of judged items, rows hold"),
        (["NDCG@10"], "NDCG@10; ideal of judged items, in any cell; "),
        (
            ["N2DCG_cat", "N2DCG(d_rpd)", "NDCG@5"],
            f"N2DCG_cat and N2DCG(d_rpd) with {RPD}, NDCG@5; ideal of judged items, rows hold up to the grid's 15 "
            "columns for N2DCG_cat, in any cell for N2DCG(d_rpd) and NDCG@5; ",
        ),
        (
            ["N2DCG_cat(d_rpd(mu=0.123456789))"],
            "N2DCG_cat(d_rpd(mu=0.1235)) with d_rpd(alpha=4, beta=9, mu=0.1235",
        ),
    ],
)
def test_metrics(metrics: list[str], wanted: str) -> None:
    assert described(metrics=metrics).startswith(wanted)


def test_displayed_candidates() -> None:
    text = described(candidates="displayed", more={"capacity": "shown"})
    assert f"{RPD}; arrangement only: ideal of the items that each page shows, each row keeps its items; grid" in text
    assert "; candidates: displayed; " in described(candidates="displayed", metrics="2DCG")


@pytest.mark.parametrize(
    ("config", "wanted"),
    [
        ({"capacity": "shown"}, "rows hold as many items as the longest row of their category shown; "),
        ({"capacity": {"Top 10": 10, "a": 1}}, "the grid's 15 columns, Top 10 up to 10, a up to 1; "),
        ({"capacity": dict.fromkeys("abcde", 2)}, "a up to 2, b up to 2, c up to 2, 2 more as configured; "),
        ({"carousels": "given"}, "rows hold up to the grid's 15 columns, or as the carousels table says; "),
        ({"carousels": "none", "capacity": "grid"}, "rows hold up to the grid's 15 columns; "),
    ],
)
def test_capacity(config: dict[str, Any], wanted: str) -> None:
    assert wanted in described(more=config)


@pytest.mark.parametrize(
    ("page_size", "wanted"),
    [
        (5, "swipe pages of 5, "),
        ([1, 5, 5, 5], "swipe pages: 1 in row 1, 5 in rows 2-4, "),
        ((1, 5, 5, 10), "swipe pages: 1 in row 1, 5 in rows 2-3, 10 in row 4, "),
    ],
)
def test_a_page_size_for_each_row(page_size: Any, wanted: str) -> None:
    grid = {"rows": 4, "cols": 15, "page_size": page_size, "visible_rows": 1}
    assert f"; grid 4x15, {wanted}1 visible row; " in described(more={"grid": grid})


def test_grids_by_segment() -> None:
    text = described(grid={"rows": cv.TV, "phone": cv.PHONE}, by="device")
    grids = "rows 20x24 (swipe pages of 6, 2 visible rows) and phone 15x12 (swipe pages of 3, 4 visible rows)"
    assert f"rows hold up to the grid's columns; grids {grids}; 7 users." in text


def test_users_gain_and_weight() -> None:
    assert described([1]).endswith("; 1 user.")
    assert described([1204, 1204]).endswith("; 1,204 users.")
    assert described([1204, 98, 1000]).endswith("; 98 to 1,204 users.")
    assert described(gain="linear", weight="views").startswith(f"N2DCG_cat with {RPD}; gain linear; ideal")
    assert described(weight="views").endswith("; 7 users; weighted by views.")


def test_a_figure_counts_all_users() -> None:
    layouts = pl.DataFrame({"user_id": [1, 2], "row": [1, 1], "col": [1, 1], "item_id": [7, 8]})
    items = {"item_id": [7, 8, 9], "category": ["a", "a", "b"]}
    result = cv.evaluate(layouts, {"user_id": [1], "item_id": [7], "relevance": [1]}, items, metrics="Coverage")
    assert result.caption == f"Coverage; candidates: judged; {GRID}; 2 users."
    assert "bootstrap" not in result.to_markdown()


def test_every_result_has_its_caption() -> None:
    data = cv.sample(20, systems=["new", "random"])
    tables = (data.judgments, data.items)
    wanted = f"N2DCG_cat with {RPD}; ideal of judged items, rows hold up to the grid's 15 columns; {GRID}; 19 users."
    evaluation = cv.evaluate(data.layouts["new"], *tables)
    explanation = cv.explain(data.layouts["new"], *tables)
    comparison = cv.compare(data.layouts, *tables, permutations=9)
    sensitivity = cv.sensitivity(data.layouts, *tables, discounts=["d_a"])
    assert evaluation.caption == explanation.caption == comparison.caption == wanted
    assert sensitivity.caption == f"Reference: {wanted}"
    assert sensitivity.users == {"new": 19, "random": 19}
    for result in (evaluation, explanation, comparison, sensitivity):
        assert result.to_dict()["caption"] == result.caption
        assert result.caption in result.to_markdown()
        assert result.caption.replace("_", r"\_") in result.to_latex()
        assert result.caption.replace("'", "&#x27;") in result._repr_html_()
    assert cv.check(data.layouts["new"]).caption == ""


def test_limits_of_the_search_for_ideal_pages_are_named_unless_they_are_the_defaults() -> None:
    usual = described()
    assert described(tolerance=0.001) == usual.replace("7 users.", "7 users; tolerance of ideal pages 0.1%.")
    assert described(work=50) == usual.replace("7 users.", "7 users; at most 50 million steps for an ideal page.")
    assert described(work=50, metrics="N2DCG") == described(metrics="N2DCG")
