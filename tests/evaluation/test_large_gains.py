"""Relevances that are no grades do not pass silently where gains are 2^relevance - 1."""

import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import carouseval as cv
from tests.command_line import run

LAYOUTS = {"user_id": [1, 1], "row": [1, 1], "col": [1, 2], "item_id": [1, 2], "category": ["a", "a"]}
MINUTES = {"user_id": [1, 1], "item_id": [1, 2], "relevance": [3.0, 139.0]}
MEANING = (
    "with gain='exp2' one such item has a gain of 2^139 - 1 = 6.97e+41, as much as 6.81e+38 items of relevance 10, and "
    "decides the score alone. Use gain='linear', or make grades of minutes or plays with judgments_from_events."
)
MESSAGE = f"judgments: column relevance: 1 relevance of 2 is above 10, the largest 139 (line 2); {MEANING}"


def caught(call: Any, *arguments: Any, **settings: Any) -> list[str]:
    """The warnings of a call as the default filter shows them: each text once."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("default")
        call(*arguments, **settings)
    return [str(warning.message) for warning in found]


def marginal_gains(judgments: Any, **settings: Any) -> None:
    candidates = {"user_id": [1], "carousel": ["a"], "col": [1], "item_id": [2]}
    cv.marginal_gains(None, candidates, judgments, {"item_id": [1, 2], "category": ["a", "a"]}, **settings)


CALLS = {
    "evaluate": lambda judgments, **settings: cv.evaluate(LAYOUTS, judgments, **settings),
    "compare": lambda judgments, **settings: cv.compare({"a": LAYOUTS, "b": LAYOUTS}, judgments, **settings),
    "explain": lambda judgments, **settings: cv.explain(LAYOUTS, judgments, **settings),
    "marginal_gains": marginal_gains,
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_tables_warn_once(call: Any) -> None:
    assert caught(call, MINUTES) == [MESSAGE]
    assert caught(call, MINUTES, gain="linear") == []
    assert caught(call, MINUTES | {"relevance": [3, 10]}) == []
    assert caught(call, MINUTES | {"relevance": [3.0, 10.5]}) != []


def test_metrics_that_do_not_use_the_size_of_gains_say_nothing() -> None:
    assert caught(cv.evaluate, LAYOUTS, MINUTES, metrics=["Hit", "Precision"]) == []
    assert caught(cv.evaluate, LAYOUTS, MINUTES, metrics=["Hit", "2DCG"]) == [MESSAGE]


def test_check_lists_it() -> None:
    check = cv.check(LAYOUTS, MINUTES)
    assert [(one.severity, one.column, one.count, one.message) for one in check.defects] == [
        ("warning", "relevance", 1, MESSAGE)
    ]
    assert cv.check(LAYOUTS, MINUTES, gain="linear").defects == ()


def test_arrays_warn() -> None:
    assert caught(cv.n2dcg_cat, [[3, 139], [0, 1]]) == [f"relevance: the largest relevance is 139, and {MEANING}"]
    pages = np.ones((4, 2, 2))
    assert caught(cv.dcg2d, pages) == []
    pages[2, 1, 1] = 20
    (text,) = caught(cv.dcg2d, pages)
    assert text.startswith(
        "relevance[2]: the largest relevance is 20, and with gain='exp2' one such item has a gain of"
    )
    assert caught(cv.dcg2d, pages, gain="linear") == []
    assert caught(cv.n2dcg_cat, np.array([[5, 10]], np.uint8)) == []
    assert caught(cv.n2dcg_cat, [[np.nan, np.nan]]) == []
    assert caught(cv.n2dcg_cat, np.ones((0, 2, 2))) == []


def test_the_command_line_names_its_own_ways_out(tmp_path: Path) -> None:
    layouts, judgments = tmp_path / "layouts.csv", tmp_path / "judgments.csv"
    layouts.write_text("user_id,row,col,item_id,category\n1,1,1,1,a\n1,1,2,2,a\n")
    judgments.write_text("user_id,item_id,relevance\n1,1,3\n1,2,139\n")
    done = run("evaluate", str(layouts), str(judgments))
    assert done.returncode == 0
    assert re.fullmatch(
        r"carouseval: warning: judgments: column relevance: 1 relevance of 2 is above 10, the largest 139 \(line 3\); "
        r"with --gain exp2 one .* Use --gain linear, or make grades of minutes or plays with carouseval judgments\.\n",
        done.stderr,
    )
