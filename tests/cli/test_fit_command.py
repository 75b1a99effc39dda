"""``carouseval fit`` with browsing models, as a user meets it: every example, format and picture, and every mistake."""

import csv
import io
import json
import math
import shlex
import signal
import subprocess
import sys
import warnings
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import carouseval as cv
from carouseval.attention import choose_form, fit_likelihood, fit_paths, paths_from_screens, recgaze_counts
from carouseval.attention.examination import Examination
from carouseval.attention.likelihood import log_likelihood
from carouseval.cli import main
from carouseval.cli.fit import EXAMPLES
from carouseval.cli.output import write_json
from carouseval.metrics.browsing.row_page import RowPageBrowsing
from tests.behavior.browsing_oracle import draw_row_page, draw_scan
from tests.command_line import run
from tests.depth import pairs

FORMS = [form for form in RowPageBrowsing.forms if form.symbol == "d_rpb" and not form.is_mixture]
SCAN = dict(cv.discounts.parse("d_scan(swipe=0.1, scroll=0.2, leave=0.2, lost=0.1, row_spread=0.2)").parameters)
SMALL = "9,7,5,4\n8,6,3,3\n6,5,2,1\n"  # of 10 screens, on swipe pages of 2


def here(*arguments: str) -> subprocess.CompletedProcess[str]:
    """``carouseval fit`` in this process, which is quicker than one of its own; an unforeseen error comes through."""
    out, error, before = io.StringIO(), io.StringIO(), signal.getsignal(signal.SIGTERM)
    with redirect_stdout(out), redirect_stderr(error), pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["carouseval", "fit", *arguments])
        patch.setattr(warnings, "showwarning", warnings.showwarning)  # to be put back
        with pytest.raises(SystemExit) as end:
            main()
    signal.signal(signal.SIGTERM, before)
    status = end.value.code or 0
    assert isinstance(status, int)
    return subprocess.CompletedProcess(arguments, status, out.getvalue(), error.getvalue())


def fitted(*arguments: str, status: int = 0) -> Any:
    """What ``fit`` says as JSON, or its one line of complaint."""
    shown = here(*arguments, "-f", "json")
    assert shown.returncode == status, shown.stderr
    if status:
        assert shown.stdout == ""
        assert shown.stderr.startswith("carouseval: ")
        assert shown.stderr.count("\n") == 1
        return shown.stderr

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    return json.loads(shown.stdout, parse_constant=refuse)


def screens(path: Path, grid: cv.Grid, people: int, seed: int = 0) -> Path:
    """A table of the looks of people, two screens each."""
    drawn = draw_scan(SCAN, grid, np.random.default_rng(seed), 2 * people)
    lines = [f"{k},{k // 2},{row + 1},{col + 1}" for k, cells in enumerate(drawn) for row, col in cells]
    path.write_text("\n".join(["screen,participant,row,col", *lines]))
    return path


@pytest.fixture
def small(tmp_path: Path) -> list[str]:
    path = tmp_path / "counts.csv"
    path.write_text(SMALL)
    return [str(path), "--screens", "10", "--page-size", "2"]


# --- what it says ---


def test_every_example_runs(tmp_path: Path) -> None:
    grid = cv.Grid(8, 12)
    screens(tmp_path / "screens.csv", grid, 40)
    counts = np.round(1200 * cv.discounts.RowPageBrowsing().weights(grid)).astype(int)
    np.savetxt(tmp_path / "counts.csv", counts, fmt="%d", delimiter=",")
    (tmp_path / "page.csv").write_text("1,0\n0,1\n")
    commands = [shlex.split(line) for line in EXAMPLES.strip().splitlines()]
    assert all(command[0] == "carouseval" for command in commands)
    assert sum(command[1] == "fit" for command in commands) == 6
    for command in commands:
        shown = run(*command[1:], cwd=tmp_path)
        assert (shown.returncode, shown.stderr) == (0, ""), command
    assert {"fit.png", "fitted.json"} <= {path.name for path in tmp_path.iterdir()}


def test_the_form_that_the_data_support() -> None:
    content = fitted("bratislava", "--test", "amsterdam", "--discount", "d_rpb")
    train, test = recgaze_counts("bratislava"), recgaze_counts("amsterdam")
    choice = choose_form(train, forms=FORMS)
    assert content["form"] == choice.chosen.form.name == "edges, novelty"
    assert content["parameters"] == choice.chosen.discount.parameters
    assert (content["discount"], content["objective"], content["fitted_to"]) == ("d_rpb", "likelihood", "bratislava")
    assert content["converged"] is True
    assert content["bic"] == choice.chosen.bic
    assert [one["form"] for one in content["forms"]] == [form.name for form in FORMS]
    per_screen = content["test"]["log_likelihood_per_screen"]
    assert per_screen == log_likelihood(test, choice.chosen.discount) / test.screens
    assert round(content["test"]["pearson"], 3) == 0.993
    assert set(content["intervals"]) == set(choice.chosen.values)
    assert content["intervals"]["kappa"]["low"] < content["parameters"]["kappa"] < content["intervals"]["kappa"]["high"]
    assert "too narrow" in content["interval_method"]
    assert (content["criterion"], content["overdispersion"]) == ("quasi-BIC", choice.overdispersion)
    assert "do not identify the order in which people looked" in content["limitations"][-1]


def test_a_form_by_name(small: list[str]) -> None:
    seen = Examination("counts", [[9, 7, 5, 4], [8, 6, 3, 3], [6, 5, 2, 1]], 10)
    for form in ("six", "edges, first row", "two kinds", "all nine"):
        content = fitted(*small, "--discount", "d_rpb", "--form", form)
        fit = fit_likelihood(seen, form, cv.Grid(3, 4, page_size=2))
        assert content["form"] == form
        assert content["train"]["log_likelihood_per_screen"] == pytest.approx(fit.log_likelihood / 10, rel=1e-9)
        assert "forms" not in content
    assert content["discount"] == "d_rpb"


def test_row_column_browsing(small: list[str]) -> None:
    content = fitted(*small, "--discount", "d_rcb", "--bootstrap", "20")
    assert set(content["parameters"]) == {"e", "kappa", "beta"}
    assert content["interval_method"].startswith("20 bootstrap samples: ")
    for name, ends in content["intervals"].items():
        assert ends["low"] < content["parameters"][name] < ends["high"]
    again = fitted(*small, "--discount", "d_rcb", "--bootstrap", "20")
    assert again == content


def test_what_is_open_stays_open_in_bootstrap_samples(small: list[str]) -> None:
    """On one swipe page nothing tells how people swipe."""
    content = fitted(*small[:3], "--page-size", "4", "--discount", "d_rpb", "--form", "six", "--bootstrap", "9")
    known = {name for name, ends in content["intervals"].items() if ends}
    assert known == {"e", "kappa", "beta"}
    assert "sigma1 is not identified: it has no effect on this screen." in content["limitations"]


def test_a_scan_of_paths(tmp_path: Path) -> None:
    grid = cv.Grid(2, 4, page_size=2)
    train, test = (screens(tmp_path / f"{seed}.csv", grid, 60, seed) for seed in (1, 2))
    arguments = [str(train), "--grid", "2x4", "--page-size", "2", "--discount", "d_scan"]
    content = fitted(*arguments, "--test", str(test))
    paths = paths_from_screens(train, grid)
    fit = fit_paths(paths)
    assert content["parameters"] == fit.discount.parameters
    assert content["train"]["log_likelihood_per_path"] == pytest.approx(fit.log_likelihood / paths.screens)
    assert -20 < content["test"]["log_likelihood_per_path"] < 0
    assert "by participant" in content["interval_method"]
    assert not any("order in which people looked" in sentence for sentence in content["limitations"])
    more = fitted(*arguments, "--screens", "200")
    assert more["parameters"]["e"] == pytest.approx(paths.screens / 200, abs=1e-6)
    said = "bootstrap resamples counts, not scan paths; leave it out."
    assert said in fitted(*arguments, "--bootstrap", "9", status=2)
    assert "give the size of the screen in --grid" in fitted(str(train), "--discount", "d_scan", status=2)


def test_counts_and_paths_are_not_held_against_each_other(tmp_path: Path, small: list[str]) -> None:
    """After a fit to counts screens are scored as counts too; after one to paths, counts have no likelihood."""
    grid = cv.Grid(3, 4, page_size=2)
    table = screens(tmp_path / "screens.csv", grid, 60)
    content = fitted(*small, "--grid", "3x4", "--discount", "d_scan", "--test", str(table))
    seen = paths_from_screens(table, grid).examination()
    scan = cv.discounts.parse("d_scan")
    expected = log_likelihood(seen, type(scan)(**content["parameters"]), grid) / seen.screens
    assert content["test"]["log_likelihood_per_screen"] == pytest.approx(expected, rel=1e-12)
    options = ["--grid", "3x4", "--page-size", "2", "--discount", "d_scan", "--test", small[0]]
    assert fitted(str(table), *options)["test"]["log_likelihood_per_screen"] is None


def test_the_table_names_everything(small: list[str]) -> None:
    shown = here(*small, "--discount", "d_rpb", "--test", small[0])
    assert (shown.returncode, shown.stderr) == (0, "")
    for text in ("d_rpb(e=", "log-likelihood per screen", "95% intervals", "Limitations:", "swipe page 2"):
        assert text in shown.stdout
    for form in FORMS:
        assert f"\n{form.name} " in shown.stdout
    assert "Largest residuals" in shown.stdout
    train, test = (line.split() for line in shown.stdout.splitlines() if line.startswith(("train", "test")))
    assert (len(train), len(test)) == (5, 4)  # without screens, no likelihood


@pytest.mark.parametrize("format", ["csv", "markdown", "latex"])
def test_other_formats_hold_the_scores(format: str, small: list[str]) -> None:
    content = fitted(*small, "--discount", "d_rcb", "--test", small[0])
    shown = here(*small, "--discount", "d_rcb", "--test", small[0], "-f", format)
    assert (shown.returncode, shown.stderr) == (0, "")
    spearman = content["train"]["spearman"]
    assert (repr(spearman) if format == "csv" else f"{spearman:.4f}") in shown.stdout
    assert "None" not in shown.stdout
    if format == "csv":
        train, test = csv.DictReader(io.StringIO(shown.stdout))
        assert train["log-likelihood per screen"] == repr(content["train"]["log_likelihood_per_screen"])
        assert test["log-likelihood per screen"] == ""
        assert cv.discounts.parse(train["discount"]).parameters == content["parameters"]


# --- what it writes ---


def test_the_file_reads_back(tmp_path: Path, small: list[str]) -> None:
    for form in ("six", "two kinds"):
        out = tmp_path / f"{form}.json"
        content = fitted(*small, "--discount", "d_rpb", "--form", form, "--out", str(out))
        assert json.loads(out.read_text()) == content
        discount = cv.discounts.parse(f"@{out}")
        assert (discount.symbol, discount.is_probability) == (content["discount"], True)
        options = ["--discount", f"@{out}", "-m", "2DCG", "-f", "json", "--page-size", "2"]
        scored = run("score", "-", *options, stdin="1,0\n0,1\n")
        grid = cv.Grid(2, 2, page_size=2)
        assert list(json.loads(scored.stdout)["metrics"].values()) == [cv.dcg2d([[1, 0], [0, 1]], discount, grid)]


def test_files_are_json_for_any_reader(tmp_path: Path) -> None:
    """Of two rows none is left out, and what is not known is null."""
    (tmp_path / "tiny.csv").write_text("3,2\n2,1\n")
    out = tmp_path / "out.json"
    content = fitted(str(tmp_path / "tiny.csv"), "--screens", "3", "--discount", "d_rpb", "--out", str(out))
    assert {one["held_out"] for one in content["forms"]} == {None}
    assert "NaN" not in out.read_text()
    assert cv.discounts.parse(f"@{out}").parameters == content["parameters"]


def test_what_is_no_finite_number_is_null(capsys: pytest.CaptureFixture[str]) -> None:
    write_json({"a": [math.inf, -math.inf, math.nan, 1.5], "b": {"c": math.inf}})
    assert json.loads(capsys.readouterr().out) == {"a": [None, None, None, 1.5], "b": {"c": None}}


@pytest.mark.parametrize(
    ("name", "begins"),
    [("a.svg", b"<svg"), ("a.b.png", b"\x89PNG"), ("a.pdf", b"%PDF"), ("a.html", b"<!DOCTYPE"), ("A.SVG", b"<svg")],
)
@pytest.mark.parametrize("model", ["d_rpb", pytest.param("d_mir", marks=pytest.mark.deep)])
def test_charts(name: str, begins: bytes, model: str, tmp_path: Path, small: list[str]) -> None:
    folder = tmp_path / "charts"
    folder.mkdir()
    form = ["--form", "six"] if model == "d_rpb" else []
    shown = here(*small, "--discount", model, *form, "--chart", str(folder / name))
    assert (shown.returncode, shown.stderr) == (0, "")
    assert [path.name for path in folder.iterdir()] == [name]  # under the very name given
    assert (folder / name).read_bytes().startswith(begins)


def test_a_chart_that_cannot_be_written_leaves_nothing(tmp_path: Path, small: list[str]) -> None:
    (tmp_path / "fit.svg").mkdir()
    options = ["--discount", "d_rcb", "--chart", str(tmp_path / "fit.svg")]
    assert "fit.svg cannot be written" in fitted(*small, *options, status=2)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["counts.csv", "fit.svg"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--chart", "{}/fit.gif"], "fit.gif: unsupported file type. Use .svg, .png, .pdf or .html."),
        (["--chart", "{}/fit"], "fit: unsupported file type. Use .svg, .png, .pdf or .html."),
        (["--chart", "{}/no/fit.svg"], "does not exist"),
        (["--out", "{}/no/fit.json"], "does not exist"),
        (["--out", "{}/counts.csv"], "counts.csv is one of the input tables; write to another file."),
        (["--out", "{}/fit.svg", "--chart", "{}/fit.svg"], "fit.svg is given for two outputs"),
    ],
)
@pytest.mark.parametrize("model", ["d_rcb", "d_mir"])
def test_outputs_are_checked_first(
    options: list[str], message: str, model: str, tmp_path: Path, small: list[str]
) -> None:
    options = [option.replace("{}", str(tmp_path)) for option in options]
    assert message in fitted(*small, "--discount", model, *options, status=2)
    assert [path.name for path in tmp_path.iterdir()] == ["counts.csv"]
    assert (tmp_path / "counts.csv").read_text() == SMALL


# --- what it refuses ---


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--discount", "d_rpb", "--form", "sixx"], "or 'all nine', found 'sixx'. Did you mean 'six'?"),
        (["--discount", "d_rpb", "--form", "rows and columns"], "form must be 'six', 'two kinds', "),
        (["--discount", "d_rpb", "--form", "d_rpd"], "or 'all nine', found 'd_rpd'."),
        (["--discount", "d_rpb", "--form", ""], "or 'all nine', found ''."),
        (["--discount", "d_rcb", "--form", "six"], "form is for d_rpb, fitted by likelihood."),
        (["--form", "six"], "form is for d_rpb, fitted by likelihood."),
        (["--discount", "d_rpb", "--form", "six", "--values", "w=0"], "form is for d_rpb, fitted by"),
        (["--discount", "d_rpb", "--refine"], "d_rpb is already fitted over real numbers; leave out --refine."),
        (
            ["--discount", "d_rpb", "--objective", "mse"],
            "d_rpb: 322,687,697,779 combinations of parameters are too many to try. Give fewer values to try, or "
            "fit it by likelihood.",
        ),
        (["--discount", "d_rpb", "--values", "w=0"], "d_rpb: 16,983,563,041 combinations of parameters are too many"),
        (["--discount", "d_scan", "--values", "e=0.5"], "combinations of parameters are too many to try"),
        (
            ["--discount", "d_rcb", "--values", "e=0.5", "--values", "w=1"],
            "a parameter of d_rcb must be 'e', 'kappa' or 'beta', found 'w'.",
        ),
        (["--discount", "d_rcb", "--values", "e=2"], "d_rcb: e must be a finite number above 0 and at most 1, found 2"),
        (["--discount", "d_rpb", "--bootstrap", "-1"], "bootstrap must be an integer of at least 0, found -1."),
        (["--discount", "d_mix"], "d_mix cannot be fitted"),
        (["--discount", "d_emp"], "d_emp cannot be fitted"),
        (["--discount", "d_rpb", "--grid", "3x5"], "counts.csv is 3x4, but the screen is 3x5."),
        (["--discount", "d_rpb", "--test", "amsterdam"], "amsterdam is 10x15, but the screen is 3x4."),
        (["--discount", "d_rpb", "--test", "nothing.csv"], "nothing.csv: No such file or directory."),
    ],
)
def test_mistakes_end_with_one_clear_line(options: list[str], message: str, small: list[str]) -> None:
    assert message in fitted(*small, *options, status=2)


@pytest.mark.parametrize("model", ["d_rpb", "d_rcb", "d_scan"])
def test_likelihood_needs_screens(model: str, small: list[str]) -> None:
    message = f"{model} is fitted to counts of screens; give their number in --screens."
    assert message in fitted(small[0], "--discount", model, status=2)
    assert "row 1, col 1 was examined on 9 of 8 screens" in fitted(
        small[0], "--discount", model, "--screens", "8", status=2
    )


def test_a_grid_of_values_for_browsing_models(small: list[str]) -> None:
    """Few parameters may be searched like any discount's."""
    content = fitted(*small, "--discount", "d_rcb", "--objective", "spearman")
    assert content["tried"] == 19**3
    content = fitted(
        *small, "--discount", "d_rcb", "--values", "e=0.9,0.95", "--values", "beta=0.8", "--values", "kappa=0.8"
    )
    assert (content["objective"], content["tried"]) == ("likelihood", 2)
    refined = fitted(*small, "--discount", "d_rcb", "--values", "e=0.9", "--objective", "likelihood", "--refine")
    best = fitted(*small, "--discount", "d_rcb")
    assert refined["parameters"] == pytest.approx(best["parameters"], rel=1e-3)


# --- odd data ---

ODD = {
    "one row": "8,4,3,2,1,1\n",
    "one column": "8\n4\n3\n",
    "one page": "8,6,5\n6,4,2\n5,3,1\n",
    "two cells": "2,1\n",
    "tiny": "3,2\n2,1\n",
    "one count": "0,0,0\n0,1,0\n0,0,0\n",
    "zeros at the end": "8,4,0\n4,2,0\n0,0,0\n",
    "all but one": "8,8,8\n8,8,8\n8,8,7\n",
    "upside down": "1,2,3\n4,5,6\n7,8,8\n",
}


@pytest.mark.parametrize(("kind", "model"), pairs(ODD, ["d_rpb", "d_rcb", "d_scan"]))
def test_odd_counts_are_fitted(kind: str, model: str, tmp_path: Path) -> None:
    path, out, chart = (tmp_path / name for name in ("odd.csv", "odd.json", "odd.svg"))
    path.write_text(ODD[kind])
    options = ["--screens", "8", "--discount", model, "--page-size", "2"]
    pictured = ["--chart", str(chart)] * (model == "d_rpb")
    content = fitted(str(path), *options, "--out", str(out), *pictured)
    assert content["train"]["log_likelihood_per_screen"] <= 0
    assert cv.discounts.parse(f"@{out}").parameters == content["parameters"]
    assert chart.exists() == bool(pictured)
    shown = here(str(path), *options)
    assert (shown.returncode, shown.stderr) == (0, "")


@pytest.mark.parametrize("model", ["d_rpb", "d_rcb", "d_scan", "d_rpd"])
@pytest.mark.parametrize("counts", ["8,8\n8,8\n", "0,0\n0,0\n", "5\n"])
def test_counts_that_are_all_the_same(counts: str, model: str, tmp_path: Path) -> None:
    """They have a likelihood, if anybody looked at anything, but no correlation with anything."""
    path = tmp_path / "same.csv"
    path.write_text(counts)
    arguments = [str(path), "--screens", "8", "--discount", model]
    if model == "d_rpd":
        message = "frequencies are the same in every cell, so that no correlation with them is defined."
        assert message in fitted(*arguments, status=2)
    elif counts.startswith("0"):
        assert "same: no cell was examined: there is nothing to fit." in fitted(*arguments, status=2)
    else:
        assert fitted(*arguments)["train"]["spearman"] is None
        assert here(*arguments).returncode == 0


def test_swipe_pages_that_fit_better_are_hinted_at(tmp_path: Path) -> None:
    seen = draw_row_page(cv.discounts.RowPageBrowsing().parameters, cv.Grid(4, 12, 6), np.random.default_rng(0), 800)
    path = tmp_path / "counts.csv"
    path.write_text("\n".join(",".join(map(str, row)) for row in seen.sum(axis=0).tolist()))
    hint = "A page size of 6 fits much better than 5. If 6 items of a row were in view, set the page size to 6."
    assert hint in fitted(str(path), "--screens", "800", "--discount", "d_rpb")["notes"]
    assert hint not in fitted(str(path), "--screens", "800", "--discount", "d_rpb", "--page-size", "5")["notes"]
    shown = here(str(path), "--screens", "800", "--discount", "d_rpb")
    assert "5 items of a row in view at once (assumed; set the page size)" in " ".join(shown.stdout.split())
    assert f"Note: {hint}" in shown.stdout


def test_cells_that_nobody_looked_at_are_asked_about(tmp_path: Path) -> None:
    path = tmp_path / "counts.csv"
    path.write_text("9,8,7,0\n6,5,4,0\n0,0,0,0\n")
    notes = fitted(str(path), "--screens", "10", "--discount", "d_rcb", "--page-size", "4")["notes"]
    assert "Nobody looked beyond row 2 of 3. If the screen ends there, use a smaller grid." in notes
    assert "Nobody looked beyond column 3 of 4. If the screen ends there, use a smaller grid." in notes


def test_headers_that_name_other_columns(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("user,session,r,c\n1,1,1,1\n")
    said = fitted(str(path), "--discount", "d_rpb", status=2)
    assert "the header has user, session, r, c. Single screens need screen, row, col" in said
    assert "there is no file 'bratslava'. Did you mean 'bratislava'?" in fitted("bratslava", status=2)


def test_a_file_used_with_other_swipe_pages_is_noticed(tmp_path: Path, small: list[str]) -> None:
    out, page = tmp_path / "ours.json", tmp_path / "page.csv"
    page.write_text("1,0,2,1\n0,3,0,1\n")
    (tmp_path / "layouts.csv").write_text("user_id,row,col,item_id,category\n1,1,1,10,new\n1,1,2,11,new\n")
    (tmp_path / "judgments.csv").write_text("user_id,item_id,relevance\n1,11,1\n")
    fitted(*small, "--discount", "d_rpb", "--out", str(out))
    tables = [str(tmp_path / "layouts.csv"), str(tmp_path / "judgments.csv")]
    for command, grid in (
        (["score", str(page), "--discount", f"@{out}"], "2x4"),
        (["evaluate", *tables, "-m", f"N2DCG_cat(@{out})", "--grid", "4x6"], "4x6"),
        (["explain", *tables, "-m", f"N2DCG_cat(@{out})", "--grid", "4x6"], "4x6"),
        (["simulate", "-d", "d_a", "-d", f"@{out}", "--truth", "d_rpd", "--trials", "10", "--grid", "4x6"], "4x6"),
    ):
        other = run(*command, "--page-size", "3")
        notice = f"{out} was fitted with page size 2, but the grid of {grid} has 3. Use a grid with that"
        assert other.returncode == 0
        assert other.stderr == f"carouseval: warning: {notice} page size, or fit the discount again for this screen.\n"
        same = run(*command, "--page-size", "2")
        assert (same.returncode, same.stderr) == (0, ""), command
    score = ["score", str(page), "--discount", f"@{out}", "--page-size"]
    billboard = run(*score, "1,2")
    assert (billboard.returncode, billboard.stderr) == (0, "")
    assert "page size 2, but the grid of 2x4 has 3 or 4." in run(*score, "4,3").stderr


def test_rows_that_differ(tmp_path: Path, small: list[str]) -> None:
    out = tmp_path / "ours.json"
    content = fitted(*small[:3], "--page-size", "1,2", "--discount", "d_rpb", "--form", "six", "--out", str(out))
    counts = Examination("counts", [[9, 7, 5, 4], [8, 6, 3, 3], [6, 5, 2, 1]], 10)
    alone = fit_likelihood(counts, "six", cv.Grid(3, 4, page_size=(1, 2, 2)))
    assert content["parameters"] == pytest.approx(alone.discount.parameters)
    assert content["grid"]["page_size"] == [1, 2, 2]
    assert "items of a row in view at once: 1 in row 1, 2 in rows 2-3" in here(*small[:3], "--page-size", "1,2").stdout
    page = tmp_path / "page.csv"
    page.write_text("1,0,2,1\n0,3,0,1\n")
    other = run("score", str(page), "--discount", f"@{out}", "--page-size", "3")
    assert "was fitted with page size 1 or 2, but the grid of 2x4 has 3." in other.stderr


def test_a_parameter_that_is_not_there_is_named(small: list[str]) -> None:
    said = fitted(*small, "--discount", "d_rpb", "--values", "mu=0.1", status=2)
    assert "a parameter of d_rpb must be 'e', 'kappa', " in said
