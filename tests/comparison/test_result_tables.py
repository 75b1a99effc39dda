"""Comparisons as tables for papers: the best is bold, significance is marked."""

from typing import Any

import polars as pl
import pytest

import carouseval as cv
from carouseval.comparison.result_tables import difference_table, mean_table
from carouseval.text_tables import TableCell

SYSTEMS = pl.DataFrame(
    {
        "system": ["a_1", "b", "c"] * 2,
        "metric": ["N2DCG_cat"] * 3 + ["RR"] * 3,
        "mean": [0.3, 0.5, 0.4, 0.25, 0.25, float("nan")],
    }
)
CONFIG: dict[str, Any] = {"baseline": None, "test": "permutation", "correction": "holm", "ci": 0.95, "by": []}
CONFIG |= {"simultaneous": False, "across_metrics": False}


def pairs(*lines: tuple[str, str, float, bool], test: str = "permutation", few_users: bool = False) -> pl.DataFrame:
    schema = {"baseline": pl.String, "system": pl.String, "difference": pl.Float64, "significant": pl.Boolean}
    values: dict[str, Any] = {"metric": "N2DCG_cat", "low": -0.1, "high": 0.3, "lift": 0.25, "effect": 0.5}
    values |= {"lift_low": -0.1, "lift_high": 0.625, "p_adjusted": 0.00001, "test": test, "few_users": few_users}
    return pl.DataFrame(lines, schema, orient="row").with_columns(**{key: pl.lit(it) for key, it in values.items()})


def test_a_dagger_marks_differences_from_the_baseline() -> None:
    tested = pairs(("a_1", "b", 0.2, True), ("a_1", "c", 0.1, False))
    table = mean_table(SYSTEMS, tested, CONFIG | {"baseline": "a_1"}, "Scores.")
    assert table.header == ["system", "N2DCG_cat", "RR"]
    assert table.rows == [
        ["a_1", TableCell("0.3000"), TableCell("0.2500", bold=True)],
        ["b", TableCell("0.5000", bold=True, marks="†"), TableCell("0.2500", bold=True)],
        ["c", TableCell("0.4000"), TableCell("")],
    ]
    test = "(permutation test paired by user, Holm correction, p < 0.05)"
    assert table.caption == f"Scores. Bold: highest mean. † Significantly different from a_1 {test}."
    none = mean_table(SYSTEMS, pairs(("a_1", "b", 0.2, False)), CONFIG | {"baseline": "a_1"}, "Scores.")
    test = test.replace("Holm correction, ", "")  # of a single difference
    assert none.caption == f"Scores. Bold: highest mean. No system differs significantly from a_1 {test}."


def test_without_a_baseline_letters_name_the_systems_that_score_lower() -> None:
    tested = pairs(("c", "b", 0.1, True), ("a_1", "b", 0.2, True), ("c", "a_1", -0.1, True), test="t")
    table = mean_table(SYSTEMS, tested, CONFIG | {"test": "t", "correction": "bh", "ci": 0.99}, "Scores.")
    assert [row[:2] for row in table.rows] == [
        ["(a) a_1", TableCell("0.3000")],
        ["(b) b", TableCell("0.5000", bold=True, marks="a,c")],
        ["(c) c", TableCell("0.4000", marks="a")],
    ]
    test = "(t-test paired by user, Benjamini-Hochberg correction, p < 0.01)"
    assert table.caption.endswith(f"Letters after a mean: systems that score significantly lower {test}.")
    unclear = tested.with_columns(significant=pl.lit(False), test=pl.lit("mine"))
    none = mean_table(SYSTEMS, unclear, CONFIG | {"correction": "none"}, "Scores.")
    assert none.caption.endswith("No difference is significant (mine paired by user, no correction, p < 0.05).")


def test_letters_do_not_run_out() -> None:
    names = [f"s{at}" for at in range(28)]
    systems = pl.DataFrame({"system": names, "metric": "RR", "mean": [0.1] * 28})
    tested = pairs(("s27", "s0", 0.1, True), ("s2", "s0", 0.1, True)).with_columns(metric=pl.lit("RR"))
    table = mean_table(systems, tested, CONFIG, "")
    assert table.rows[0] == ["(a) s0", TableCell("0.1000", bold=True, marks="c,bb")]
    assert table.rows[27][0] == "(bb) s27"


def test_differences() -> None:
    tested = pairs(("a", "b", 0.2, True), ("a", "c", -0.1, False)).with_columns(device=pl.lit("tv"))
    table = difference_table(tested, CONFIG | {"by": ["device"]}, "Scores.")
    assert table.header == [
        *("device", "metric", "system", "baseline", "difference"),
        *("95% interval", "lift", "95% interval of the lift", "effect", "corrected p"),
    ]
    assert table.numeric == [False] * 4 + [True] * 6
    rest = ["-0.1000 to 0.3000", "+25.0%", "-10.0% to +62.5%", "+0.50", "<0.0001"]
    assert table.rows == [
        ["tv", "N2DCG_cat", "b", "a", TableCell("+0.2000", bold=True), *rest],
        ["tv", "N2DCG_cat", "c", "a", TableCell("-0.1000"), *rest],
    ]
    assert "system minus baseline; intervals are not adjusted for multiple comparisons. Bold" in table.caption
    few = difference_table(pairs(("a", "b", 0.2, True), few_users=True), CONFIG | {"simultaneous": True}, "")
    assert few.rows[0][4] == "-0.1000 to 0.3000*"
    assert few.caption.endswith(
        "* Intervals of fewer than 10 users rely on differences that are nearly normally distributed."
    )
    assert "system minus baseline. Bold: significant (permutation test paired by user, p < 0.05)" in few.caption
    together = difference_table(tested, CONFIG | {"by": ["device"], "simultaneous": True}, "")
    assert "system minus baseline; intervals of all pairs of a metric hold together. Bold" in together.caption
    margin = difference_table(
        tested.with_columns(not_inferior=pl.Series([True, False])), CONFIG | {"correction": "none"}, ""
    )
    assert margin.header[-2:] == ["p", "not inferior"]
    assert [row[-1] for row in margin.rows] == ["yes", "no"]
    assert margin.numeric[-2:] == [True, False]


@pytest.fixture(scope="module")
def comparison() -> cv.Comparison:
    data = cv.sample(60, systems=["new", "random"])
    systems = {"[new] 100%": data.layouts["new"], "*R&D_x": data.layouts["random"]}
    options: dict[str, Any] = {"metrics": ["N2DCG_cat", "RR"], "by": "device", "permutations": 199}
    return cv.compare(systems, data.judgments, data.items, baseline="*R&D_x", **options)


def test_latex_of_a_comparison(comparison: cv.Comparison) -> None:
    lines = comparison.to_latex().splitlines()
    assert lines[0] == f"% {comparison.heading}"
    assert lines[1:4] == ["% needs the package booktabs", r"\begin{table}", r"\centering"]
    assert lines[5] == r"\label{tab:comparison}"
    assert lines[6] == r"\begin{tabular}{lr@{}lr@{}l}"
    assert lines[8] == r"system & \multicolumn{2}{c}{N2DCG\_cat} & \multicolumn{2}{c}{RR} \\"
    means = comparison.systems["mean"].to_list()
    marked = [rf"\textbf{{{mean:.4f}}} & \textsuperscript{{$\dagger$}}" for mean in means[:2]]
    assert lines[10] == rf"{{[}}new] 100\% & {marked[0]} & {marked[1]} \\"
    assert lines[11] == rf"{{*}}R\&D\_x & {means[2]:.4f} & & {means[3]:.4f} & \\"
    assert r"$\dagger$ Significantly different from {*}R\&D\_x (permutation test" in lines[4]
    assert lines.count(r"\end{table}") == 2
    assert sum(line.startswith(("phone &", "tv &", "web &", "(all) &")) for line in lines) == 2 * 4


def test_markdown_of_a_comparison(comparison: cv.Comparison) -> None:
    heading, means, caption, differences, note = comparison.to_markdown().strip().split("\n\n")
    assert heading.startswith(r"\[new] 100% (0.")
    assert means.splitlines()[2].startswith(r"| \[new] 100% | **0.")
    assert means.splitlines()[2].count(" † |") == 2
    assert caption.startswith(comparison.caption)
    assert len(differences.splitlines()) == 2 + comparison.to_frame().height
    assert note.startswith(comparison.caption)
    page = comparison._repr_html_()
    assert page.count("<table>") == 2
    assert "<sup>†</sup>" in page


def test_segments_without_a_common_user() -> None:
    """No pair can be tested in a segment: tables still have its column."""
    layouts = {
        name: {"user_id": [user], "row": [1], "col": [1], "item_id": [1], "category": ["a"], "device": ["tv"]}
        for name, user in (("a", 1), ("b", 2))
    }
    judgments = {"user_id": [1, 2], "item_id": [1, 1]}
    result = cv.compare(layouts, judgments, by="device", missing_pages="skip", permutations=99)
    assert result.segments.is_empty()
    assert result.to_frame()["device"].to_list() == ["(all)"]
    assert "| (all) |" in result.to_markdown()
    assert "(all)" in result.to_latex()
