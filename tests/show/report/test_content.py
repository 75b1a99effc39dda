"""Reports show the numbers of their results, every setting and count, and any text as it is."""

import math
import pickle
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import carouseval as cv
from carouseval.comparison.pair_tests import PairTests
from carouseval.comparison.result_columns import PAIRS, SEGMENTS, SYSTEMS
from carouseval.comparison.result_tables import _NOT_OF_PAIRS, _NOT_OF_SYSTEMS
from carouseval.evaluation.result_columns import BOOLEAN, NUMBER, WORST
from carouseval.evaluation.result_table import ResultColumn
from carouseval.evaluation.tally import COUNTS
from carouseval.show.report.explanation import _NOT_OF_WORST
from carouseval.show.report.kinds import report_html
from tests.show.report.html_pages import ReportPage
from tests.show.report.sample_reports import COMMAND, comparison, data, evaluation, explanation, report, sensitivity


def test_an_evaluation() -> None:
    page = ReportPage(report("evaluation"))
    lines = page.table("device", "metric", "mean", "low", "high", "users", "pages")
    frame = evaluation().to_frame()
    assert len(lines) == frame.height
    for line, row in zip(lines, frame.iter_rows(named=True), strict=True):
        assert line[:3] == [row["device"], row["metric"], f"{row['mean']:.4f}"]
        assert line[3] == ("" if math.isnan(row["low"]) else f"{row['low']:.4f}")
    assert "Scores of users by N2DCG_cat" in page.text
    assert evaluation().caption in page.text
    assert [heading for level, heading in page.headings if level == 2] == [
        *("Summary", "Scores", "What is lost", "Single pages"),
        *("Settings and counts", "How to cite", "How this was made"),
    ]
    assert "What is lost" not in ReportPage(report("evaluation alone")).text


@pytest.mark.parametrize("name", ["new_share", "told"])
def test_a_column_that_is_declared_is_in_the_table(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing else says which columns there are: a new one follows the others, with what it holds."""
    value, text = (0.25, "0.2500") if name == "new_share" else (True, "yes")
    column = ResultColumn(name, NUMBER if name == "new_share" else BOOLEAN, "what is new, <of all>")
    for table in (PAIRS, SEGMENTS):
        monkeypatch.setitem(vars(table), "columns", (*table.columns, column))
    made = PairTests._line
    monkeypatch.setattr(PairTests, "_line", lambda *given: made(*given) | {name: value})
    result = cv.compare(data().layouts, data().judgments, data().items, test="t", by="device")
    page = ReportPage(report_html(result, None, {}))
    header = name.replace("_", " ")
    pairs, segments = (rows for rows in page.tables if "wins/ties/losses" in rows[0])
    for rows, frame in ((pairs, result.pairs), (segments, result.segments)):
        assert rows[0][-2:] == ["break-even", header]
        assert [line[-1] for line in rows[1:]] == [text] * frame.height
    assert [tag.get("title") for tag in page.attributes("th")].count("what is new, <of all>") == 2


def test_columns_of_reports_say_what_they_hold() -> None:
    titles = {tag.get("title") for tag in ReportPage(report("comparison")).attributes("th")}
    docs = {column.name: column.doc for column in (*PAIRS.columns, *SYSTEMS.columns)}
    assert {docs["relevant_shown"], docs["p_adjusted"], f"{docs['lift_low']}; {docs['lift_high']}"} <= titles
    assert {*_NOT_OF_PAIRS} < PAIRS.own_names
    assert {*_NOT_OF_SYSTEMS} < SYSTEMS.own_names
    assert {*_NOT_OF_WORST} < WORST.own_names


def test_a_comparison() -> None:
    page, result = ReportPage(report("comparison")), comparison()
    systems = {(line[0], line[1]): line[2] for line in page.table("system", "metric", "mean", "relevant shown")}
    assert systems == {
        (row["system"], row["metric"]): f"{row['mean']:.4f}" for row in result.systems.iter_rows(named=True)
    }
    for lines, frame in (
        (page.table("system", "baseline", "difference", "corrected p"), result.pairs),
        (page.table("device", "system", "baseline", "corrected p"), result.segments),
    ):
        differences = [f"{value:+.4f}" for value in frame["difference"]]
        assert [next(cell for cell in line if re.fullmatch(r"[+-]0\.\d{4}", cell)) for line in lines] == differences
        assert [line[-3] for line in lines] == ["yes" if value else "no" for value in frame["significant"]]
    for text in (result.caption, sensitivity().summary, "judgments: a warning.", COMMAND):
        assert text in page.text
    third = [heading for level, heading in page.headings if level == 3]
    ranked = result.systems.filter(pl.col("metric") == "N2DCG_cat").sort("mean", descending=True)["system"]
    assert [heading for heading in third if heading in ("new", "prod")] == ranked.to_list()
    assert "while the mean above" not in page.text  # the explanations are of the scores compared


def test_an_explanation() -> None:
    page, result = ReportPage(report("explanation")), explanation()
    lost = {line[0]: float(line[1]) for line in page.table("row", "lost", "to the order of items")}
    by_row = result.cells.group_by("row").agg(pl.col("loss").sum())
    assert lost == {str(row): round(100 * loss, 1) for row, loss in by_row.iter_rows()}
    assert "-0.0" not in {cell for table in page.tables for line in table for cell in line}
    (overall, *_) = page.table("device", "score", "choice of items")
    assert overall[:2] == ["(all)", f"{100 * result.shares['score']:.1f}"]
    worst = page.table("user_id", "device", "score", "choice of items")
    assert [line[0] for line in worst] == result.worst["user_id"].head(5).to_list()
    drawn = result.worst.filter(pl.col("dcg") > 0)["user_id"].head(3)
    for user in drawn:
        assert f"The page of user_id='{user}'" in page.text


def test_a_sensitivity_study() -> None:
    page, result = ReportPage(report("sensitivity")), sensitivity()
    lines = page.table("varied", "variation", "new", "prod", "tau")
    assert [line[2] for line in lines] == [f"{value:.4f}" for value in result.table["new"]]
    assert result.summary in page.text
    assert "Only the order of means is looked at here; compare tests whether systems differ." in page.text
    for flips, words in (("", "holds in all 7 variations"), ("new/prod", "changes in 1 of 7 variations")):
        flipped = ["", flips, *[""] * (result.table.height - 2)]
        table = result.table.with_columns(flips=pl.Series(flipped))
        other = cv.Sensitivity(result.systems, table, result.users, result.config)
        assert f"The order of systems {words}." in ReportPage(report_html(other, None, {})).text


def test_a_reproduction() -> None:
    page = ReportPage(report("reproduction"))
    assert "76 of 76 published numbers are reproduced." in page.text
    assert len(page.table("where", "what", "published", "ours")) == 60  # the first, as its caption says
    assert "Published numbers and ours (the first 60 of 76; carouseval reproduce prints all)" in page.text
    assert len(page.attributes("svg")) == 7


@pytest.mark.parametrize("name", ["evaluation", "comparison", "explanation"])
def test_every_setting_and_count(name: str) -> None:
    page = ReportPage(report(name))
    counted = page.table("counted")
    assert len(counted) == len(COUNTS)
    config = comparison().config if name == "comparison" else explanation().evaluation.config
    settings = {line[0]: line[1:] for line in page.table("setting", "value", "meaning")}
    assert set(config) <= set(settings)
    assert all(meaning for _, meaning in settings.values()), "every setting has a meaning"
    assert settings["grid"][0] == "10x15, swipe pages of 5, 3 visible rows"
    assert settings["missing_pages"][0] == "zero"
    values = {line[0]: line[1] for line in counted}
    assert values["Pages"] == f"{evaluation().counts['pages']:,}"


HOSTILE = "<script>alert('1')</script> \"quoted\" & \x1b[2J \u202eabc </style></title><img src=x onerror=alert(1)>"


def test_any_text_stays_text() -> None:
    sample = data()
    users = sample.layouts["new"]["user_id"].unique(maintain_order=True)
    names = {users[0]: HOSTILE, "u000008": "</svg><script>"}
    renamed = {
        name: layouts.with_columns(pl.col("user_id").replace(names), device=pl.lit(HOSTILE))
        for name, layouts in sample.layouts.items()
    }
    items = sample.items.with_columns(title=pl.lit(HOSTILE), category=pl.col("category") + HOSTILE)
    layouts = {
        name: frame.with_columns(category=pl.col("category") + HOSTILE)
        for name, frame in zip((HOSTILE, "</main>"), renamed.values(), strict=True)
    }
    judgments = sample.judgments.with_columns(pl.col("user_id").replace(names))
    result = cv.compare(layouts, judgments, items, by="device", test="t")
    explanations = {name: cv.explain(pages, judgments, items) for name, pages in layouts.items()}
    parts: dict[str, Any] = {"explanations": explanations, "notices": [HOSTILE], "command": HOSTILE}
    text = report_html(result, HOSTILE, parts)
    page = ReportPage(text)
    assert not {"script", "img"} & {tag for tag, _ in page.tags}
    assert "<script" not in text
    assert "\x1b" not in text
    assert "\u202e" not in text
    escaped = HOSTILE.replace("\x1b", "\\x1b").replace("\u202e", "\\u202e")
    assert (1, escaped) in page.headings
    assert escaped in [line[0] for line in page.table("system", "metric", "mean")]


def test_explanations_of_other_scores_say_so() -> None:
    other = cv.explain(data().layouts["new"], data().judgments, data().items, metrics=["N2DCG_cat@3x5"])
    text = ReportPage(report_html(comparison(), None, {"explanations": {"new": other}})).text
    assert f"The pages explained here score {other.shares['score']:.4f} by N2DCG_cat@3x5, while the mean above" in text


def test_little_data() -> None:
    layouts = {"user_id": [1], "row": [1], "col": [1], "item_id": [7], "category": ["a"]}
    none = {"user_id": [1], "item_id": [7], "relevance": [0]}
    evaluated = report_html(cv.evaluate(layouts, none), None, {"explanation": cv.explain(layouts, none)})
    assert "No user was scored." in ReportPage(evaluated).text
    assert "No page was scored." in ReportPage(evaluated).text
    compared = report_html(cv.compare({"a": layouts, "b": layouts}, none), None, {})
    assert "Nothing can be concluded: no user was scored." in ReportPage(compared).text
    items = {"item_id": [7], "category": ["a"]}
    figures = report_html(cv.evaluate(layouts, none, items, metrics=["Coverage"]), None, {})
    assert "Mean scores" in ReportPage(figures).text


def test_an_unpickled_explanation_draws_the_same_pages() -> None:
    text = ReportPage(report_html(pickle.loads(pickle.dumps(explanation())), None, {})).text
    for view in explanation().pages:
        assert f"The page of {view.ids}" in text


@pytest.mark.parametrize(
    ("result", "parts", "message"),
    [
        (
            comparison,
            {"explanation": None},
            "a report of Comparison takes explanations, sensitivity, notices, command, ",
        ),
        (evaluation, {"sensitivity": None}, "a report of Evaluation takes explanation, notices, command, found 'sens"),
        (comparison, {"explanations": {"nwe": None}}, "explanations: there is no system 'nwe' in this comparison. Did"),
    ],
)
def test_parts_that_do_not_belong(result: Any, parts: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(cv.ParameterError, match=re.escape(message)):
        result().report(tmp_path / "report.html", **parts)
    assert not list(tmp_path.iterdir())
