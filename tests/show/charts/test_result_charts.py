"""What is drawn are the result's own numbers."""

import itertools
import math
from typing import Any

import numpy as np
import polars as pl
import pytest

import carouseval as cv
from carouseval.building.page_summary import PageSummary
from carouseval.show.report.kinds import report_html
from tests.show.charts.drawings import data_of, drawn, texts
from tests.show.charts.sample_results import ITEMS, JUDGMENTS, LAYOUTS, comparison, data, explanation, result_of


def test_a_distribution_counts_every_user_once() -> None:
    result = cv.evaluate(data().layouts["new"], data().judgments, data().items, metrics=["N2DCG_cat", "2DCG"])
    for metric in result.metrics:
        chart = result.chart(metric=metric)
        bins = data_of(chart, "from", "to", "users")
        scores = result.per_user[metric].to_numpy()
        assert sum(row["users"] for row in bins) == len(scores)
        for row in bins:
            assert row["users"] == ((scores >= row["from"]) & (scores < row["to"])).sum()
        low, high = result.intervals[metric]
        (mean,) = data_of(chart, "from", "at", "bottom")
        assert mean["from"] == result.mean[metric]
        assert (low, high) in [(row["from"], row["to"]) for row in data_of(chart, "from", "to", "at")]
        assert f"mean {result.mean[metric]:.4f}, 95% interval {low:.4f} to {high:.4f}" in chart.alt
    with pytest.raises(cv.ParameterError, match=r"metric must be 'N2DCG_cat' or '2DCG', found 'NDCG'"):
        result.chart(metric="NDCG")


def test_a_perfect_score_is_in_the_last_bin() -> None:
    result = cv.evaluate({**LAYOUTS, "row": [2, 2, 1]}, {"user_id": [1], "item_id": [12], "relevance": [3]})
    assert result.mean == {"N2DCG_cat": 1.0}
    assert [row["users"] for row in data_of(result.chart(), "from", "to", "users") if row["to"] == 1] == [1]


def test_figures_of_the_whole_system_have_no_distribution() -> None:
    result = cv.evaluate(LAYOUTS, JUDGMENTS, ITEMS, metrics="Coverage")
    with pytest.raises(cv.ParameterError, match=r"no metric of this result scores single pages.*use 'means'\."):
        result.chart()
    assert [row["value"] for row in data_of(result.chart("means"), "line", "value")] == [result.mean["Coverage"]]


def test_means_are_those_of_the_table() -> None:
    result = result_of("Evaluation")
    assert isinstance(result, cv.Evaluation)
    drawn_lines = {
        (row["name"], row["value"], row["low"], row["high"]) for row in data_of(result.chart("means"), "end")
    }
    expected = result.to_frame().with_columns(pl.col("device").replace("(all)", "all users"))
    assert drawn_lines == set(expected.select("device", "mean", "low", "high").iter_rows())


def test_differences_are_those_of_the_table() -> None:
    chart = comparison().chart()
    rows = data_of(chart, "end", "solid")
    drawn_lines = {(row["value"], row["low"], row["high"], row["solid"]) for row in rows}
    frame = comparison().to_frame()
    assert drawn_lines == set(frame.select("difference", "low", "high", "significant").iter_rows())
    names = [row["name"] for row in rows if row["line"] < 4]
    assert names[:4] == ["new - prod", "new - prod, phone", "new - prod, tv", "new - prod, web"]
    assert "hollow: not significant" in " ".join(texts(drawn(chart)))
    one = data_of(comparison().chart(metric="NDCG@10"), "end")
    assert {row["value"] for row in one} == set(frame.filter(pl.col("metric") == "NDCG@10")["difference"])


def test_systems_are_ranked() -> None:
    rows = data_of(comparison().chart("systems", metric="N2DCG_cat"), "end")
    systems = comparison().systems.filter(pl.col("metric") == "N2DCG_cat").sort("mean", descending=True)
    assert [row["name"] for row in rows] == systems["system"].to_list()
    assert [(row["value"], row["low"], row["high"]) for row in rows] == list(
        systems.select("mean", "low", "high").iter_rows()
    )


def test_differences_of_users() -> None:
    result = comparison()
    scores = result.per_user.pivot("system", index="user_id", values="N2DCG_cat").drop_nulls()
    cases: tuple[tuple[dict[str, Any], str, str], ...] = (
        ({}, "new", "prod"),
        ({"system": "prod", "baseline": "new"}, "prod", "new"),
        ({"system": "random"}, "random", "prod"),
    )
    for options, first, second in cases:
        chart = result.chart("users", **options)
        differences = (scores[first] - scores[second]).to_numpy()
        bins = data_of(chart, "from", "to", "users")
        assert sum(row["users"] for row in bins) == len(differences)
        for row in bins:
            assert row["users"] == ((differences >= row["from"]) & (differences < row["to"])).sum()
            side = "above" if row["from"] > 0 else "below" if row["to"] < 0 else "zero"
            assert row["side"] == side
        (mean,) = data_of(chart, "from", "at", "bottom")
        assert mean["from"] == pytest.approx(differences.mean())
        wins, losses = (differences > 1e-9).sum(), (differences < -1e-9).sum()
        assert f"{first} is better for {wins}, the same for" in chart.alt
        assert f"worse for {losses} of {len(differences)} users" in chart.alt
    with pytest.raises(cv.ParameterError, match="new and random were not compared"):
        result.chart("users", system="new", baseline="random")
    with pytest.raises(cv.ParameterError, match="system must be 'new', 'prod' or 'random', found 'old'"):
        result.chart("users", system="old")


def test_a_waterfall_goes_from_the_ideal_to_the_score() -> None:
    rows = data_of(explanation().chart(), "line", "from", "to", "kind")
    assert [row["name"] for row in rows] == [
        *("ideal page", "choice of items", "order of rows", "order of items", "score")
    ]
    assert [row["kind"] for row in rows] == ["total", "loss", "loss", "loss", "total"]
    shares = explanation().shares
    for row, name in zip(rows[1:4], ("choice", "row_order", "item_order"), strict=True):
        assert row["from"] - row["to"] == pytest.approx(100 * shares[name])
    assert all(above["to"] == below["from"] for above, below in itertools.pairwise(rows[:4]))
    assert rows[3]["to"] == pytest.approx(rows[4]["to"]) == 100 * shares["score"]
    assert [row["text"] for row in rows][::4] == ["100.0", f"{100 * shares['score']:.1f}"]


def test_missing_pages_are_a_step_of_the_waterfall() -> None:
    judgments = {"user_id": [1, 2], "item_id": [12, 12], "relevance": [3, 3]}
    rows = data_of(cv.explain(LAYOUTS, judgments).chart(), "line", "kind")
    assert [(row["name"], row["text"]) for row in rows][:2] == [("ideal page", "100.0"), ("missing pages", "-50.0")]


def cells_of(chart: cv.charts.Chart, panel: int) -> np.ndarray[Any, Any]:
    spec = chart.to_dict()
    data = next(
        part["data"] for part in (spec["concat"][panel]["layer"][0], spec["concat"][panel], spec) if "data" in part
    )
    rows = spec["datasets"][data["name"]]
    table = np.full((max(row["row"] for row in rows), max(row["col"] for row in rows)), np.nan)
    for row in rows:
        table[row["row"] - 1, row["col"] - 1] = math.nan if row["value"] is None else row["value"]
    return table


def test_cells_are_those_of_the_explanation() -> None:
    result = explanation()
    tables = {
        column: cells_of(result.chart(kind), panel)
        for column, kind, panel in (("loss", "losses", 0), ("gain", "gains", 0), ("ideal_gain", "gains", 1))
    }
    for row in result.cells.iter_rows(named=True):
        for column, table in tables.items():
            scale = 100 if column == "loss" else 1
            assert table[row["row"] - 1, row["col"] - 1] == pytest.approx(scale * row[column], abs=1e-10)
    shown = result.shares["item_order"] + result.shares["row_order"] + result.shares["choice"]
    assert tables["loss"].sum() == pytest.approx(100 * shown)


def test_each_grid_has_a_heat_map() -> None:
    grids = {"tv": cv.Grid(10, 15), "phone": cv.Grid(12, 15, 3), "web": cv.Grid(10, 16)}
    result = cv.explain(data().layouts["new"], data().judgments, data().items, by="device", grid=grids)
    chart = result.chart("losses")
    assert {"tv", "phone", "web"} <= set(texts(drawn(chart)))
    assert [cells_of(chart, panel).shape for panel in range(3)] == [(10, 15), (12, 15), (10, 16)]
    whole = sum(cells_of(chart, panel).sum() for panel in range(3))
    assert whole == pytest.approx(100 * result.cells["loss"].sum())
    note = "Each segment has its part of the means over all users"
    assert note in " ".join(texts(drawn(chart)))
    assert note in " ".join(texts(drawn(result.chart("gains"))))
    assert note not in " ".join(texts(drawn(explanation().chart("losses"))))
    assert note in report_html(result, None, {})


def test_a_sensitivity_matrix_frames_what_changes() -> None:
    result = cv.sensitivity(data().layouts, data().judgments, data().items, discounts=["d_a"])
    cells = data_of(result.chart(), "variation", "mean")
    by_place = {(row["variation"], row["system"]): row for row in cells}
    for row in result.table.iter_rows(named=True):
        means = {system: row[system] for system in result.systems}
        for system, mean in means.items():
            cell = by_place[f"{row['varied']}: {row['variation']}", system]
            assert cell["mean"] == mean
            assert cell["rank"] == 1 + sum(other > mean for other in means.values())
        moved = any(by_place[f"{row['varied']}: {row['variation']}", system]["moved"] for system in means)
        assert moved == (row["flips"] != "")


def test_gains_of_carousels_and_rows() -> None:
    gains, built = result_of("MarginalGains"), result_of("BuiltPages")
    assert isinstance(gains, cv.MarginalGains)
    assert isinstance(built, cv.BuiltPages)
    rows = data_of(gains.chart(), "end")
    assert [(row["name"], row["value"]) for row in rows] == list(gains.gains.items())
    steps = data_of(built.chart(), "line", "kind")
    assert [row["name"] for row in steps][:-1] == [f"{at}. {name}" for at, name in enumerate(built.order, 1)]
    assert [row["to"] - row["from"] for row in steps][:-1] == pytest.approx(list(built.gains))
    assert steps[-1]["to"] == built.score


def test_bars_are_those_of_the_tables() -> None:
    summary, judgments, plan = (result_of(name) for name in ("PageSummary", "EventJudgments", "PowerAnalysis"))
    assert isinstance(summary, PageSummary)
    assert isinstance(judgments, cv.EventJudgments)
    assert isinstance(plan, cv.PowerAnalysis)
    assert [row["to"] for row in data_of(summary.chart(), "marked")] == summary.categories["pages"].to_list()
    grades = data_of(judgments.chart(), "marked")
    assert [row["to"] for row in grades] == judgments.table["pairs"].to_list()
    assert [row["marked"] for row in grades] == [False, True, True, True]
    assert [row["to"] for row in data_of(plan.chart(), "marked")] == plan.table["users_needed"].to_list()


def test_examination_is_drawn_on_its_grid() -> None:
    counts = cv.attention.Examination("pilot", [[8, 4, 2], [2, 1, 0]], screens=10)
    cells = data_of(counts.chart(grid=cv.Grid(2, 3, 2)), "row", "col", "value")
    assert [cell["value"] for cell in cells] == counts.frequencies.ravel().tolist()
    assert [cell["x"] for cell in cells[:3]] == pytest.approx([0, 1, 2.4])  # a gap after each swipe page
