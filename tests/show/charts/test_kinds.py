"""Every result draws itself, in each of its kinds; errors list what there is."""

import re
from pathlib import Path
from typing import get_args

import pytest

import carouseval as cv
from carouseval.attention.fit_report import FitReport
from carouseval.metrics.page_score import PageScore
from carouseval.show.charts import choices
from carouseval.show.charts.kinds import KINDS
from tests.show.charts.drawings import drawn, texts
from tests.show.charts.sample_results import JUDGMENTS, LAYOUTS, explanation, results


def kinds() -> list[tuple[str, str]]:
    return [(cls.__name__, kind) for cls, own in KINDS.items() for kind in own]


@pytest.mark.parametrize(("name", "kind"), kinds())
def test_every_kind_is_drawn_in_both_themes(name: str, kind: str) -> None:
    result = results()["SearchReport" if name == "FitReport" else name]
    chart = result.chart(kind)
    assert chart.title
    assert chart.alt.endswith((".", "…"))
    assert any(letter.isdigit() for letter in chart.alt)
    root = drawn(chart)
    assert not {"undefined", "NaN", "null"} & {word for text in texts(root) for word in text.split()}
    darker = result.chart(kind, theme="dark")
    assert darker.svg != chart.svg
    assert texts(drawn(darker)) == texts(root)
    assert len(chart.svg) < 400_000


@pytest.mark.parametrize("name", [cls.__name__ for cls in KINDS if cls.__name__ != "FitReport"])
def test_the_first_kind_is_the_default(name: str) -> None:
    result = results()[name]
    first = next(iter(next(own for cls, own in KINDS.items() if cls.__name__ == name)))
    assert result.chart().to_dict() == result.chart(first).to_dict()


def test_the_kinds_of_the_command_line_are_those_of_the_results() -> None:
    for choice, cls in (
        (choices.EvaluationChart, cv.Evaluation),
        (choices.ComparisonChart, cv.Comparison),
        (choices.ExplanationChart, cv.Explanation),
        (choices.PageScoreChart, PageScore),
        (choices.FitChart, FitReport),
        (choices.PaperFigure, cv.Reproduction),
    ):
        assert get_args(choice) == tuple(KINDS[cls])


def test_results_without_a_chart_are_tables_of_text() -> None:
    texts_of_rooms = [path.read_text(encoding="utf-8") for path in Path(cv.__file__).parent.rglob("*.py")]
    names = {
        name
        for text in texts_of_rooms
        for name in re.findall(r"^class (\w+)\((?:Result|Reported)\)", text, re.MULTILINE)
    }
    bases = {"Reported", "_InSpark"}
    assert names - {cls.__name__ for cls in KINDS} - bases == {"Check", "PaperTable"}
    check = cv.check(LAYOUTS, JUDGMENTS)
    with pytest.raises(cv.ParameterError, match=r"^a Check has no chart\.$"):
        check.chart()


def test_an_unknown_kind_is_an_error_that_lists_them() -> None:
    expected = r"^kind must be 'waterfall', 'losses', 'gains' or 'page', found 'waterfal'\. Did you mean 'waterfall'\?$"
    with pytest.raises(cv.ParameterError, match=expected):
        explanation().chart("waterfal")
    with pytest.raises(cv.ParameterError, match=r"^kind must be 'heatmap', found 'map'\. Did you mean 'heatmap'\?$"):
        cv.attention.recgaze_counts("all").chart("map")


def test_an_unknown_option_is_an_error_that_lists_them() -> None:
    expected = r"^a chart of kind 'page' takes user_id, page_id, found 'user'\. Did you mean 'user_id'\?$"
    with pytest.raises(cv.ParameterError, match=expected):
        explanation().chart("page", user="u000001")
    with pytest.raises(cv.ParameterError, match=r"^a chart of kind 'waterfall' takes no options, found 'user_id'\.$"):
        explanation().chart(user_id="u000001")
    with pytest.raises(cv.ParameterError, match=r"^a chart of kind 'fit' takes no options, found 'name'\.$"):
        results()["Reproduction"].chart("fit", name="ceiling")
