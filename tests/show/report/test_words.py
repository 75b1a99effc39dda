"""The summary of a report claims what the tests support, and no more."""

import re
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import carouseval as cv
from carouseval.show.report.comparison_words import comparison_summary
from carouseval.show.report.document import Summary
from carouseval.show.report.evaluation import evaluation_summary
from carouseval.show.report.explanation import explanation_summary, fixes
from tests.show.report.worlds import compared, items, judgments, layouts


def summary(result: cv.Comparison) -> Summary:
    return comparison_summary(result, {}, None)


def point(found: Summary, label: str) -> str:
    return " ".join(next((point.sentences for point in found.points if point.label == label), []))


def random_places(seed: int, users: int = 40) -> list[int]:
    return [int(place) for place in np.random.default_rng(seed).integers(1, 4, users)]


def test_a_win() -> None:
    result = compared({"prod": [2] * 30, "new": [1] * 30}, baseline="prod")
    found = summary(result)
    assert (found.headline, found.tone) == ("new wins against prod", "clear")
    pair = result.pair("new", "prod")
    assert pair is not None
    how_much = point(found, "By how much")
    assert f"new is {pair['difference']:.4f} better than prod on average ({pair['lift']:+.1%}; " in how_much
    assert "better for 30, the same for 0 and worse for 0 of 30 users." in how_much
    how_sure = point(found, "How sure")
    assert f"The difference is statistically significant (p = {pair['p_adjusted']:.2g})." in how_sure
    assert "The result is conditional on this run of each system." in how_sure
    assert "would detect" not in how_sure
    assert found.tiles[2].value == f"{pair['difference']:+.4f}"
    assert found.tiles[2].note.endswith(", significant")


def test_a_relative_difference_is_that_of_the_better_system() -> None:
    places = {"prod": [2] * 15 + [3] * 15, "new": [1] * 30}
    names = [{"prod": "a", "new": "b"}, {"prod": "b", "new": "a"}]  # pairs are in the order of names
    texts = []
    for name in names:
        result = compared({name["new"]: places["new"], name["prod"]: places["prod"]}, test="t")
        text = point(summary(result), "By how much").partition(f"{name['new']} is")[2]
        texts.append(text.replace(f"than {name['prod']}", "than prod"))
    assert texts[0] == texts[1]
    assert re.match(r" 0\.\d+ better than prod on average \(\+\d+\.\d%; 95% .* or \+\d+\.\d% to \+\d+\.\d%\)", texts[0])


def test_a_loss() -> None:
    result = compared({"prod": [1] * 30, "new": [2] * 30}, baseline="prod")
    found = summary(result)
    assert found.headline == "new loses against prod"
    assert "worse than prod on average" in point(found, "By how much")
    assert "better for 0, the same for 0 and worse for 30 of 30 users." in point(found, "By how much")


def test_a_tie() -> None:
    found = summary(compared({"prod": [2, 1] * 15, "new": [2, 1] * 15}))
    assert found.headline == "prod and new have the same score for every user"
    assert found.tone == "open"
    assert "equal to new on average" in point(found, "By how much")


def test_a_difference_that_is_not_significant() -> None:
    result = compared({"prod": random_places(1), "new": random_places(2)})
    found = summary(result)
    (pair,) = result.pairs.to_dicts()
    assert not pair["significant"]
    assert (
        found.headline in ("No difference between new and prod could be shown",) * 2 or "prod and new" in found.headline
    )
    assert found.headline.startswith("No difference between ")
    assert found.tone == "open"
    assert "wins" not in found.headline
    how_sure = point(found, "How sure")
    assert "The difference is not statistically significant" in how_sure
    assert "That does not show that the two are equal. The smallest difference between" in how_sure
    assert f"would detect with 80% power is {pair['detectable']:.4f}." in how_sure


def test_few_users() -> None:
    found = summary(compared({"prod": [2] * 8, "new": [1] * 8}))
    assert found.headline == "new wins against prod"
    assert "Few users: Intervals of fewer than 10 users rely on differences" in point(found, "How sure")


def test_too_few_users_for_any_test() -> None:
    found = summary(compared({"prod": [2, 3, 2, 3], "new": [1] * 4}))
    assert found.headline == "No difference between new and prod could be shown"
    assert "no difference between new and prod can be significant." in point(found, "How sure")


def test_one_user() -> None:
    found = summary(compared({"prod": [2], "new": [1]}))
    assert found.headline == "new and prod could not be compared: too few users have scores under both"
    assert not point(found, "How sure")
    assert [tile.label for tile in found.tiles] == ["new", "prod"]


def test_several_runs() -> None:
    runs = [[1, 2] * 15, [1, 1] * 15, [2, 1] * 15]
    found = summary(compared({"prod": [[4, 3] * 15, [3, 4] * 15, [4, 4] * 15], "new": runs}))
    assert found.headline == "new wins against prod"
    how_sure = point(found, "How sure")
    assert "Users and runs both vary (3 runs of" in how_sure
    assert "t-test on crossed effects of users and runs" in how_sure
    assert "conditional on this run" not in how_sure


def test_a_winner_among_several() -> None:
    places = {"a": [1] * 40, "b": [2] * 40, "c": [3] * 40}
    assert summary(compared(places)).headline == "a wins: it is significantly better than each of the 2 other systems"


def test_no_single_winner() -> None:
    found = summary(compared({"a": random_places(1), "b": random_places(2), "c": [5] * 40}))
    best, other = found.tiles[0].label, found.tiles[1].label
    assert (
        found.headline == f"No single winner: {best} has the highest mean, but is not shown to be better than {other}"
    )
    assert found.tone == "open"


def test_several_systems_against_a_baseline() -> None:
    places = {"prod": [2] * 40, "good": [1] * 40, "bad": [3] * 40, "same": [2] * 40}
    found = summary(compared(places, baseline="prod"))
    expected = "Significantly better than prod: good; significantly worse: bad; the same score for every user: same"
    assert found.headline == expected
    only_worse = summary(compared({"prod": [1] * 40, "x": [2] * 40, "y": [3] * 40}, baseline="prod"))
    assert only_worse.headline == "Significantly worse than prod: x and y"
    unclear = {"prod": random_places(1), "x": random_places(2), "y": random_places(3)}
    headline = summary(compared(unclear, baseline="prod")).headline
    assert headline == "No difference from prod could be shown: y and x"


def test_segments() -> None:
    device = ["tv"] * 20 + ["web"] * 20
    result = compared({"prod": [2] * 20 + [1] * 20, "new": [1] * 20 + [2] * 20}, {"device": device}, baseline="prod")
    segments = point(summary(result), "Segments")
    assert "By device, new against prod: significantly better in tv; significantly worse in web." in segments
    assert "P-values of segments are corrected for all pairs of all segments." in segments


def test_other_metrics() -> None:
    same = compared({"prod": [2] * 30, "new": [1] * 30}, metrics=["N2DCG_cat", "RR"])
    assert point(summary(same), "Other metrics") == "By RR the outcome is the same."
    other = compared({"prod": [2] * 30, "new": [1] * 30}, metrics=["N2DCG_cat", "Precision"])
    assert point(summary(other), "Other metrics") == "By Precision the outcome differs (new against prod: the same)."


def test_a_test_and_an_interval_that_disagree() -> None:
    result = compared({"prod": [2] * 30, "new": [1] * 30})
    wide = replace(result, pairs=result.pairs.with_columns(low=-0.1, high=1.0))
    assert "the test and the interval, which contains 0, disagree" in point(summary(wide), "How sure")
    assert "disagree" not in point(summary(result), "How sure")


def test_a_margin() -> None:
    found = summary(compared({"prod": [2] * 30, "new": [1] * 30}, baseline="prod", margin=0.01))
    assert "new is shown to be at most 0.01 worse than prod." in point(found, "How sure")


@pytest.mark.filterwarnings("ignore::carouseval.DataWarning")
def test_judgments_that_favour_a_system() -> None:
    found = summary(compared({"logged": [1] * 30, "new": [0] * 25 + [1] * 5}))
    assert found.headline == "logged scores highest, but the judgments seem to favour one system"
    assert found.tone == "care"
    assert found.cautions[0].startswith("The judgments were probably logged on the pages of logged")


@pytest.mark.filterwarnings("ignore::carouseval.DataWarning")
def test_pages_that_do_not_match() -> None:
    own = {"prod": [2] * 30, "new": [1] * 30}
    systems = {name: layouts(places, page_id=["home"] * 30) for name, places in own.items()}
    named = judgments(30).with_columns(page_id=pl.lit("start"))
    found = summary(cv.compare(systems, named, items(30), missing_pages="skip"))
    assert found.headline.startswith("Nothing can be concluded: ")
    assert found.tone == "care"
    assert "Write page_id the same way in all tables" in found.cautions[0]
    assert not found.points
    assert not found.tiles


def test_an_arrangement_only() -> None:
    found = summary(compared({"prod": [2] * 30, "new": [1] * 30}, candidates="displayed"))
    assert found.cautions[0].startswith("Arrangement only: ")


def test_missing_pages_are_named() -> None:
    systems = {"prod": layouts([2] * 30), "new": layouts([1] * 29)}
    found = summary(cv.compare(systems, judgments(30), items(30), grid=cv.Grid(1, 5)))
    assert "Missing pages, which score 0: 1 under new, 0 under prod." in found.cautions


def test_many_systems_are_not_all_listed() -> None:
    places = {f"s{number}": random_places(number) for number in range(9)}
    found = summary(compared(places, test="t"))
    assert found.headline.endswith(" and 4 more")
    assert len(point(found, "By how much")) < 2000


def test_what_to_fix() -> None:
    data = cv.sample(60, systems=["new"])
    explanation = cv.explain(data.layouts["new"], data.judgments, data.items)
    first, meaning = fixes({"new": explanation})
    shares = explanation.shares
    assert first.startswith(
        f"new: Fix the choice of items first, which costs {100 * shares['choice']:.1f} points, then "
    )
    assert f"the order of items ({100 * shares['item_order']:.1f})" in first
    assert "The choice of items: relevant items are not on the page; " in meaning
    found = explanation_summary(explanation)
    expected = (
        f"These pages score {100 * shares['score']:.1f} of 100, the score of an ideal page; most is lost to the choice"
    )
    assert found.headline.startswith(expected)
    assert f"Row {explanation.worst_row} falls furthest short of the ideal page." in point(found, "What to fix")


def test_nothing_to_fix() -> None:
    ideal = cv.explain(layouts([1, 1]), judgments(2), items(2))
    assert fixes({"": ideal}) == ["These pages are ideal, and there is nothing left to gain."]
    assert explanation_summary(ideal).headline == "These pages score 100.0 of 100, the score of an ideal page"
    none = cv.explain(layouts([1]), {"user_id": [0], "item_id": ["r0"], "relevance": [0]}, items(1))
    assert fixes({"a": none}) == ["a: No page was scored, so there is nothing to fix."]
    assert explanation_summary(none).headline == "No page was scored, so there is nothing to explain"


def test_an_evaluation() -> None:
    device = ["tv"] * 20 + ["web"] * 20
    pages, metrics = layouts([1] * 20 + [2] * 20, device=device), ["N2DCG_cat", "Precision", "Coverage"]
    result = cv.evaluate(pages, judgments(40), items(40), metrics=metrics, by="device")
    found = evaluation_summary(result, None)
    mean = result.mean["N2DCG_cat"]
    assert (
        found.headline
        == f"These pages score {100 * mean:.1f} of 100 by N2DCG_cat, where 100 is the score of ideal pages"
    )
    low, high = result.intervals["N2DCG_cat"]
    score = point(found, "Score")
    assert f"N2DCG_cat: {mean:.4f} on average over 40 users (95% confidence interval {low:.4f} to {high:.4f})." in score
    assert f"Coverage: {result.mean['Coverage']:.4f}, of all pages together." in score
    segments = point(found, "Segments")
    assert "Of 2 segments by device, the highest mean is that of tv (1.0000, 20 users), the lowest that of " in segments
    assert "was not tested" in point(found, "Segments")
    plain = evaluation_summary(cv.evaluate(pages, judgments(40), items(40), metrics=["Precision"]), None)
    assert plain.headline.startswith("The mean Precision of these pages is 0.")
