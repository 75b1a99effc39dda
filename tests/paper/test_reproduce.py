"""The whole paper."""

import dataclasses
import json

import pytest

from carouseval.paper.reproduce import FigureCheck, Reproduction
from tests.reproduction import reproduction


@pytest.fixture(scope="module")
def paper() -> Reproduction:
    return reproduction()


def test_every_published_figure_is_reproduced(paper: Reproduction) -> None:
    assert [check for check in paper.checks if not check.agrees] == []
    assert paper.agrees
    assert len(paper.checks) == 3 + 6 * 5 + 40 + 3
    assert sum("(%)" in check.what for check in paper.checks) == 40


def test_exact_pairs_stand_beside_published_ones(paper: Reproduction) -> None:
    exact = {check.published: check.ours for check in paper.checks if check.exact}
    assert exact == {"4945": "4946", "20000": "19999"}
    assert all(check.note for check in paper.checks if check.exact)


def test_results_have_the_promised_form(paper: Reproduction) -> None:
    results = json.loads(json.dumps(paper.to_dict()))
    assert set(results) == {"table1", "discounts", "table2", "ceiling"}
    assert results["table1"] == pytest.approx({"best_valid": 2.2, "best_unconstrained": 2.7, "max_n2dcg": 22 / 27})
    assert list(results["discounts"]) == ["d_t", "d_a", "d_mir", "d_add", "d_mul", "d_rpd"]
    assert list(results["discounts"]["d_rpd"]["parameters"].items()) == [
        ("alpha", 4),
        ("beta", 9),
        ("mu", 0.65),
        ("nu", 0.95),
    ]
    assert set(results["discounts"]["d_a"]["train"]) == {"spearman", "pearson"}
    assert set(results["discounts"]["d_a"]["test"]) == {"spearman", "pearson", "mse"}
    assert results["table2"]["binary"]["pairs"] == 19_997
    assert results["table2"]["graded"]["pairs"] == 19_999
    assert [row["at_least"] for row in results["table2"]["graded"]["thresholds"]] == [0.0, 0.01, 0.02, 0.05, 0.1]
    assert set(results["table2"]["binary"]["thresholds"][0]) == {
        "at_least",
        "pairs",
        "original",
        "reformulated",
        "corrected",
        "both_wrong",
    }


def test_a_difference_would_be_seen(paper: Reproduction) -> None:
    wrong = dataclasses.replace(paper.checks[0], ours="2.3")
    assert not wrong.agrees
    assert not dataclasses.replace(paper, checks=(wrong,)).agrees
    assert not FigureCheck("t", "pairs", "20000", "20000", exact="19999").agrees
