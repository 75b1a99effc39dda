"""Sentences that numbers do not support are not written: ties, few users, corrections, ids that do not match."""

from dataclasses import replace

import polars as pl
import pytest

import carouseval as cv
from carouseval.show.report.comparison_words import comparison_summary
from carouseval.show.report.document import Summary
from carouseval.show.report.evaluation import evaluation_summary
from carouseval.show.report.explanation import explanation_summary, fixes
from carouseval.show.report.kinds import report_html
from tests.show.report.html_pages import ReportPage
from tests.show.report.test_words import point, random_places, summary
from tests.show.report.worlds import COLUMNS, compared, items, judgments, layouts

GRID = cv.Grid(1, COLUMNS, page_size=COLUMNS, visible_rows=1)


def evaluated(places: list[int], table: pl.DataFrame | None = None, **settings: object) -> Summary:
    """The summary of one system's pages."""
    judged = judgments(len(places)) if table is None else table
    inputs = layouts([place for place in places if place >= 0]), judged, items(len(places))
    return evaluation_summary(cv.evaluate(*inputs, grid=GRID, **settings), None)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("places", "headline"),
    [
        ({"a": [1, 2] * 15, "b": [1, 2] * 15, "c": [1, 2] * 15}, "a, b and c have the same score for every user"),
        (
            {"a": [1] * 30, "b": [1] * 30, "c": [4] * 30},
            "a and b have the same score for every user, and are significantly better than c",
        ),
        (
            {"a": [1, 2] * 15, "b": [2, 1] * 15, "c": [4] * 30},
            "No single winner: a and b have the same mean, which is the highest",
        ),
    ],
)
def test_no_system_leads_a_tie(places: dict[str, list[int]], headline: str) -> None:
    assert summary(compared(places)).headline == headline


def test_nothing_is_minus_zero() -> None:
    assert "a is equal to b on average (0.0%; " in point(
        summary(compared({"a": [1, 2] * 15, "b": [1, 2] * 15})), "By how much"
    )


def test_a_tiny_difference_is_not_called_zero() -> None:
    result = compared({"prod": [2] * 30, "new": [1] * 30})
    tiny = replace(result, pairs=result.pairs.with_columns(difference=pl.col("difference") * 1e-4))
    assert "new is 2e-05 better than prod on average" in point(summary(tiny), "By how much")


def test_intervals_of_several_pairs_are_not_adjusted() -> None:
    several = summary(compared({"prod": random_places(1), "x": random_places(2), "y": random_places(3)}))
    assert "Intervals are not adjusted for multiple comparisons." in point(several, "By how much")
    single = summary(compared({"prod": random_places(1), "x": random_places(2)}))
    assert "adjusted" not in point(single, "By how much")


@pytest.mark.parametrize(
    ("names", "reason"),
    [(("new",), "they are two methods"), (("new", "x"), "the p-value is corrected for all pairs, the interval is not")],
)
def test_an_interval_without_0_is_no_proof(names: tuple[str, ...], reason: str) -> None:
    places = {"prod": random_places(1)} | {name: random_places(seed) for seed, name in enumerate(names, 2)}
    result = compared(places, baseline="prod")
    assert not result.pairs["significant"].any()
    narrow = replace(result, pairs=result.pairs.with_columns(low=0.001, high=0.2))
    assert f"does not contain 0, although the difference is not significant: {reason}." in point(
        summary(narrow), "How sure"
    )
    assert "contain 0" not in point(summary(result), "How sure")


def test_pairs_left_out_are_counted() -> None:
    places = {f"s{number}": random_places(number) for number in range(9)}
    found = summary(compared(places, test="t", baseline="s0"))
    assert "2 more pairs: see Differences." in point(found, "By how much")
    assert point(found, "How sure").count("not significant does not show that two systems are equal") == 1
    assert [tile.label for tile in found.tiles][1] == "s0"  # what the difference beside it is from


def test_a_p_value_stays_on_its_side() -> None:
    result = compared({"prod": random_places(1), "new": random_places(2)})
    for p, text in ((0.0496, "p = 0.0496"), (0.0504, "p = 0.05"), (0.031234, "p = 0.031")):
        pairs = result.pairs.with_columns(p_adjusted=p, significant=p < 0.05)
        assert f"({text})" in point(summary(replace(result, pairs=pairs)), "How sure")


def test_a_margin_is_part_of_the_headline() -> None:
    places = {"prod": random_places(1), "new": random_places(2)}
    headline = summary(compared(places, baseline="prod", margin=0.2)).headline
    assert headline.endswith("could be shown; new is shown to be at most 0.2 worse than prod")


def test_many_segments_are_counted() -> None:
    cities = [f"city {number % 30}" for number in range(60)]
    result = compared({"prod": random_places(1, 60), "new": random_places(2, 60)}, {"city": cities}, test="t")
    assert " segments (city 0, " in point(summary(result), "Segments")


def test_users_left_out_are_those_of_one_system() -> None:
    """Users without a relevant item are left out under all systems, whether they have a page or not."""
    table = judgments(30).filter(pl.col("user_id") > 0)
    pages = layouts([1, 2] * 15)
    systems = {"all": pages, "some": pages.filter(pl.col("user_id") > 1)}
    result = cv.compare(systems, table, items(30), grid=GRID, test="t")
    assert set(result.systems["left_out"]) == {0, 1}
    assert "left out" not in " ".join(summary(result).cautions)
    skipped = cv.compare(systems, table, items(30), grid=GRID, test="t", missing_pages="skip")
    (text,) = summary(skipped).cautions
    assert "Users left out: " in text
    assert "(they have no page or no relevant item)" in text
    none = cv.compare(systems, table, items(30), grid=GRID, test="t", missing_pages="skip", no_relevant="zero")
    assert "(they have no page)" in " ".join(summary(none).cautions)
    shown = cv.compare(systems, table, items(30), grid=GRID, test="t", missing_pages="skip", candidates="displayed")
    assert "(they have no page, or their pages show nothing relevant, so " in " ".join(summary(shown).cautions)


def test_users_without_a_page_are_no_segment() -> None:
    """They score 0 by the settings: nothing is learned from calling them the worst segment."""
    devices = ["tv", "web"] * 15
    pages = layouts([1, 2] * 15, device=devices).filter(pl.col("user_id") < 28)
    evaluation = cv.evaluate(pages, judgments(30), items(30), grid=GRID, by="device")
    assert "(no page)" in evaluation.segments["device"].to_list()
    segments = point(evaluation_summary(evaluation, None), "Segments")
    assert segments.startswith("Of 2 segments by device, the highest mean is that of tv (1.0000, 14 users), the lowest")
    other = pages.with_columns(col=COLUMNS + 1 - pl.col("col"))
    result = cv.compare({"new": pages, "prod": other}, judgments(30), items(30), grid=GRID, by="device", test="t")
    assert "(no page)" in result.segments["device"].to_list()
    assert "better in tv and web." in point(summary(result), "Segments")


def test_what_to_fix_is_about_one_run() -> None:
    """The losses of a run do not add up to the mean of several."""
    result = compared({"prod": [[2] * 30, [3] * 30], "new": [[1] * 30, [2] * 30]}, explain=True)
    found = point(comparison_summary(result, result.explanations, None), "What to fix")
    assert found.endswith("Of systems with several runs, this is about the first.")
    single = compared({"prod": [2] * 30, "new": [1] * 30}, explain=True)
    assert "runs" not in point(comparison_summary(single, single.explanations, None), "What to fix")


def test_the_subtitle_counts_the_users_of_means() -> None:
    """Coverage is of all users, also of those without a judgment."""
    result = cv.compare(
        {"a": layouts([1, 2] * 15), "b": layouts([2, 1] * 15)},
        judgments(20),
        items(30),
        grid=GRID,
        metrics=["N2DCG_cat", "Coverage"],
        test="t",
    )
    assert "N2DCG_cat, Coverage; up to 20 users" in ReportPage(report_html(result, None, {})).text


def test_metrics_without_an_ideal_say_what_is_better() -> None:
    result = compared({"prod": [2] * 30, "new": [1] * 30}, metrics=["2DCG"])
    assert "Mean 2DCG, where more counts as better: new " in point(summary(result), "By how much")


def test_cautions_are_not_green() -> None:
    systems = {"prod": layouts([2] * 29), "new": layouts([1] * 30)}
    found = summary(cv.compare(systems, judgments(30), items(30), grid=GRID))
    assert (found.headline, found.tone) == ("new wins against prod", "care")
    assert found.cautions == ["Missing pages, which score 0: 0 under new, 1 under prod."]


def test_no_user_was_scored() -> None:
    none = judgments(3).with_columns(relevance=0)
    systems = {"a": layouts([1] * 3), "b": layouts([2] * 3)}
    study = cv.sensitivity(systems, none, items(3), grid=GRID, discounts=["d_a"])
    found = comparison_summary(cv.compare(systems, none, items(3), grid=GRID), {}, study)
    assert (found.headline, found.points) == ("Nothing can be concluded: no user was scored", [])
    assert "Nothing can be concluded: a system has no score." in ReportPage(report_html(study, None, {})).text


@pytest.mark.filterwarnings("ignore::carouseval.DataWarning")
def test_a_system_without_scores_is_not_the_best() -> None:
    systems = {"new": layouts([1] * 12).with_columns(pl.col("user_id") + 100), "prod": layouts([2] * 12)}
    found = summary(cv.compare(systems, judgments(12), items(12), grid=GRID, missing_pages="skip"))
    assert found.headline == "prod and new could not be compared: too few users have scores under both"
    assert "prod 0.8298 and new no score." in point(found, "By how much")


def test_segments_of_several_columns_have_one_name() -> None:
    columns = {"device": ["tv"] * 24, "plan": ["free"] * 12 + ["paid"] * 12}
    result = compared({"prod": [2] * 24, "new": [1] * 24}, columns)
    assert "significantly better in tv / free and tv / paid." in point(summary(result), "Segments")


def test_systems_that_tie_have_no_order() -> None:
    systems = {"a": layouts([1] * 3), "b": layouts([1] * 3)}
    study = cv.sensitivity(systems, judgments(3), items(3), grid=GRID, discounts=["d_a"])
    text = ReportPage(report_html(study, None, {})).text
    assert "There is no order to change: all systems have the same mean." in text
    assert " leads " not in text


@pytest.mark.filterwarnings("ignore::carouseval.DataWarning")
def test_pages_that_do_not_match() -> None:
    pages = layouts([1] * 30, page_id=["home"] * 30)
    named = judgments(30).with_columns(page_id=pl.lit("start"))
    explanation = cv.explain(pages, named, items(30))
    for found in (evaluation_summary(explanation.evaluation, explanation), explanation_summary(explanation)):
        assert found.headline == "Nothing can be concluded: the pages do not match the judgments"
        assert found.cautions[0].startswith("The pages do not match the judgments by page_id. Write page_id the same")
        assert (list(found.points), list(found.tiles)) == ([], [])
    assert fixes({"": explanation}) == ["The pages do not match the judgments by page_id; fix that first."]


@pytest.mark.filterwarnings("ignore::carouseval.DataWarning")
def test_nothing_shown_is_judged() -> None:
    found = evaluated([0] * 10)
    text = "No item shown{} has a judgment by its user: ids may be written in different ways."
    assert (found.cautions, found.tone) == ([text.format("")], "care")
    both = summary(compared({"prod": [0] * 10, "new": [0] * 10}))
    assert text.format(" of prod and new") in both.cautions


def test_ideals_that_are_not_proven() -> None:
    result = cv.evaluate(layouts([1] * 3), judgments(3), items(3), grid=GRID)
    found = evaluation_summary(replace(result, counts=result.counts | {"bounded": 2}), None)
    assert found.cautions == ["2 ideal pages could not be proven optimal, so scores of these pages may be too low."]


def test_users_without_a_relevant_item() -> None:
    half = judgments(10).with_columns(relevance=pl.when(pl.col("user_id") < 5).then(1).otherwise(0))
    explanation = cv.explain(layouts([1] * 10), half, items(10), no_relevant="zero")
    (sentence,) = fixes({"": explanation})
    assert sentence.endswith("Users without a relevant item score 0, which costs 50.0 points.")


def test_users_are_those_scored() -> None:
    found = evaluated([1] * 5 + [-1] * 5)  # five have no page, and score 0
    tiles = {tile.label: (tile.value, tile.note) for tile in found.tiles}
    assert tiles["users"] == ("10", "scored")
    assert tiles["pages"] == ("5", "5 more are missing")


def test_one_user_has_no_interval() -> None:
    assert point(evaluated([2]), "Score") == "N2DCG_cat: 0.8298 on 1 user, too few for an interval."


def test_figures_are_not_means() -> None:
    assert evaluated([1] * 3, metrics=["Coverage"]).headline.startswith("The Coverage of these pages is ")


@pytest.mark.parametrize(
    ("places", "text"),
    [
        ([1] * 12, "The 3 segments by device have the same mean, 1.0000."),
        ([1] * 11 + [4], "that of phone (1.0000, 9 users) and 1 more, the lowest that of web (0.6953, 1 user)."),
    ],
)
def test_segments(places: list[int], text: str) -> None:
    pages = layouts(places, device=["phone"] * 9 + ["tv"] * 2 + ["web"])
    found = evaluation_summary(cv.evaluate(pages, judgments(12), items(12), grid=GRID, by="device"), None)
    assert text in point(found, "Segments")
    assert "fewer than 10 users" not in point(found, "Score")  # that is said of segments


def test_attention_is_not_a_direction() -> None:
    """The weights of a discount need not fall to the right or downwards."""
    (_, meaning) = fixes({"": cv.explain(layouts([5, 5]), judgments(2), items(2))})
    assert "relevant items are in places of their carousels that get less attention" in meaning


def test_what_to_fix_in_many_systems() -> None:
    explanation = cv.explain(layouts([2, 2]), judgments(2), items(2))
    sentences = fixes({f"s{number}": explanation for number in range(30)})
    assert len(sentences) == 8
    assert "24 more: see What each system loses." in sentences


def test_warnings_are_announced_first() -> None:
    result = compared({"prod": [2] * 30, "new": [1] * 30})
    page = ReportPage(report_html(result, None, {"notices": ["layouts: a gap.", "judgments: a grade."]}))
    assert "Read with care. There were 2 warnings: see Warnings." in page.text
    assert (2, "Warnings") in page.headings
    assert "layouts: a gap. judgments: a grade." in page.text
