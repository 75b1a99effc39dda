"""Results: means, intervals, and every way to write them down."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import carouseval as cv
from carouseval.building.sample import sample
from carouseval.evaluation.page_table import PageTable


def evaluation(values: Sequence[float | None], weights: list[float] | None = None) -> cv.Evaluation:
    frame = pl.DataFrame({"user_id": range(len(values)), "m": pl.Series(values, dtype=pl.Float64)})
    if weights is not None:
        frame = frame.with_columns(weight=pl.Series(weights))
    return cv.Evaluation(PageTable(("m",), (), frame), {"pages": len(values)}, {"candidates": "judged"})


@pytest.fixture(scope="module")
def result() -> cv.Evaluation:
    data = sample(80, systems=["new"], missing=0.1)
    return cv.evaluate(data.layouts["new"], data.judgments, data.items, metrics=["N2DCG_cat", "NDCG@5"], by="device")


def test_means() -> None:
    assert evaluation([0.25, None, 0.75]).mean == {"m": 0.5}
    assert evaluation([0.25, 0.75], [3.0, 1.0]).mean == {"m": 0.375}


def test_a_user_weighs_the_mean_of_its_pages() -> None:
    """However many there are; a page that only another metric scores weighs nothing."""
    frame = pl.DataFrame(
        {
            "user_id": ["a", "a", "a", "b", "b"],
            "m": [0.0, 0.0, 0.3, 1.0, None],
            "other": [0.5] * 5,
            "weight": [1.0, 3.0, 2.0, 6.0, 60.0],
        }
    )
    result = cv.Evaluation(PageTable(("m", "other"), (), frame), {"pages": 5}, {"candidates": "judged"})
    assert result.per_user.select("user_id", "m").rows() == [("a", pytest.approx(0.1)), ("b", 1.0)]
    assert result.mean == pytest.approx({"m": (2 * 0.1 + 6 * 1.0) / 8, "other": 0.5})
    assert result.left_out("m") == 0


def test_the_mean_does_not_depend_on_order() -> None:
    values = np.random.default_rng(0).random(999) * 10.0 ** np.arange(-3, 0).repeat(333)
    assert evaluation(values.tolist()).mean == evaluation(values[::-1].tolist()).mean


@pytest.mark.parametrize("users", [50, 2000, 60_000])
def test_intervals_agree_with_theory(users: int) -> None:
    """A mean of many users is nearly normal."""
    values = np.random.default_rng(users).beta(2, 5, users)
    low, high = evaluation(values.tolist()).interval("m")
    error = values.std(ddof=1) / np.sqrt(users)
    assert (high - low) / (2 * 1.96 * error) == pytest.approx(1, abs=0.12)
    assert low < values.mean() < high


def test_intervals_cover() -> None:
    """Nine in ten 90% intervals hold the truth, within what 300 trials can tell."""
    rng = np.random.default_rng(1)
    hits = 0
    for _ in range(300):
        low, high = evaluation(rng.exponential(1, 60).tolist()).interval("m", ci=0.9)
        hits += low <= 1 <= high
    assert 0.82 < hits / 300 < 0.95


def test_weighted_intervals() -> None:
    """Users of weight 0 do not count."""
    values, weights = [0.1, 0.2, 0.3, 0.4, 99.0], [1.0, 1.0, 1.0, 1.0, 0.0]
    found = evaluation(values, weights).interval("m")
    assert found == pytest.approx(evaluation(values[:4]).interval("m"), rel=1e-12)
    assert found[0] < 0.25 < found[1]


def test_intervals_of_unknown_metrics(result: cv.Evaluation) -> None:
    with pytest.raises(cv.ParameterError, match="no metric 'N2DCG'"):
        result.interval("N2DCG")


def test_frame(result: cv.Evaluation) -> None:
    frame = result.to_frame()
    assert frame.columns == ["device", "metric", "mean", "low", "high", "users", "pages"]
    assert frame["device"].unique(maintain_order=True).to_list() == ["(all)", "(no page)", "phone", "tv", "web"]
    assert frame.height == 2 * 5
    overall = frame.filter((pl.col("device") == "(all)") & (pl.col("metric") == "N2DCG_cat"))
    assert overall["mean"][0] == result.mean["N2DCG_cat"]


def test_writings(result: cv.Evaluation, tmp_path: Path) -> None:
    content = json.loads(result.to_json())
    assert content["results"][0]["mean"] == result.mean["N2DCG_cat"]
    assert content["counts"] == result.counts
    assert content["config"]["candidates"] == "judged"
    assert content["caption"] == result.caption
    markdown = result.to_markdown()
    assert markdown.splitlines()[1] == "|---|---|---:|---:|---:|---:|---:|"
    assert markdown.endswith(f"\n\n{result.caption} Low and high: 95% confidence interval. {FEW}\n")
    latex = result.to_latex().splitlines()
    assert latex[4:6] == [r"\label{tab:evaluation}", r"\begin{tabular}{llrrrrr}"]
    assert latex[3].startswith(r"\caption{N2DCG\_cat with d\_rpd(")
    assert latex[9].startswith(rf"(all) & N2DCG\_cat & {result.mean['N2DCG_cat']:.4f} & ")
    assert "N2DCG_cat=0." in repr(result)
    assert "<table" in result._repr_html_()
    for suffix in ("json", "md", "tex", "csv", "parquet"):
        assert result.save(tmp_path / f"result.{suffix}").stat().st_size > 0
    assert pl.read_parquet(tmp_path / "result.parquet").equals(result.to_frame())
    with pytest.raises(cv.DataError, match=r"unsupported file type. Use .json, .md, .tex, .csv or .parquet"):
        result.save(tmp_path / "result.xlsx")
    with pytest.raises(cv.DataError, match="cannot be written"):
        result.save(tmp_path / "no" / "result.parquet")
    assert {path.suffix for path in tmp_path.iterdir()} == {".json", ".md", ".tex", ".csv", ".parquet"}


FEW = "Intervals of fewer than 10 users rely on scores that are nearly normally distributed."


def test_few_users_are_labelled() -> None:
    few, many = evaluation([0.1] * 4 + [0.2] * 5), evaluation([0.1] * 5 + [0.2] * 5)
    assert few.few_users_note == FEW
    assert many.few_users_note == ""
    assert evaluation([0.5]).few_users_note == ""  # there is no interval
