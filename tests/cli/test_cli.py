"""The command line as a user meets it: a process, its output and its exit status."""

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import carouseval as cv
from carouseval.metrics.page_score import score_page
from tests.command_line import run, run_process

PAGE = "0,3,1\n2,0\n"


def test_version_and_help() -> None:
    assert run_process("--version").stdout == f"carouseval {cv.__version__}\n"
    for arguments in (["--help"], ["-h"], []):
        shown = run_process(*arguments)
        assert "score" in shown.stdout + shown.stderr
    help_text = run("score", "--help")
    assert help_text.returncode == 0
    assert "Examples" in help_text.stdout
    assert "carouseval score page.csv" in help_text.stdout


def test_the_installed_command_is_the_same(tmp_path: Path) -> None:
    command = Path(sys.executable).with_name("carouseval")
    shown = subprocess.run([command, "--version"], capture_output=True, text=True, check=True)
    assert shown.stdout == run("--version").stdout


def test_score_shows_page_weights_and_ideal() -> None:
    shown = run("score", "-", stdin=PAGE)
    assert shown.returncode == 0, shown.stderr
    assert shown.stderr == ""
    for text in ("N2DCG_cat", "N2DCG ", "2DCG", "The page", "Weights", "d_rpd(alpha=4", "The ideal page", "row 1"):
        assert text in shown.stdout
    assert f"{cv.n2dcg_cat([[0, 3, 1], [2, 0]]):.4f}" in shown.stdout


def test_json_holds_everything() -> None:
    page = [[0, 3, 1], [2, 0, np.nan]]
    shown = run("score", "-", "-m", "NDCG@2", "-m", "N2DCG_cat@2x2", "--format", "json", stdin=PAGE)
    content = json.loads(shown.stdout)
    assert content["metrics"] == {
        "NDCG@2": cv.metric("NDCG@2")(page),
        "N2DCG_cat@2x2": cv.n2dcg_cat(page, cutoff=(2, 2)),
    }
    assert content["page"] == [[0, 3, 1], [2, 0, None]]
    assert content["grid"]["page_size"] == 5
    assert content["weights"]["table"][1][2] == 0
    assert content["weights"]["discount"] == str(cv.discounts.RowPage())
    assert content["ideal"]["kind"] == "category"
    assert content["ideal"]["page"] == [[3, 1, 0], [2, 0, None]]
    assert content["ideal"]["source"][0] == [[1, 2], [1, 3], [1, 1]]
    assert content["ideal"]["source"][1][2] is None
    assert content["discounts"] == {"N2DCG_cat@2x2": str(cv.discounts.RowPage())}


@pytest.mark.parametrize("format", ["csv", "markdown", "latex"])
def test_other_formats_hold_the_scores(format: str) -> None:
    shown = run("score", "-", "-f", format, "-m", "N2DCG_cat", stdin=PAGE)
    assert shown.returncode == 0
    score = cv.n2dcg_cat([[0, 3, 1], [2, 0]])
    assert (repr(score) if format == "csv" else f" {score:.4f} ") in shown.stdout
    if format == "csv":
        assert next(csv.DictReader(io.StringIO(shown.stdout)))["metric"] == "N2DCG_cat"
    if format == "latex":
        assert r"N2DCG\_cat" in shown.stdout


def test_a_page_score_is_a_result(tmp_path: Path) -> None:
    result = score_page([[0.0, np.nan], [0.0, 0.0]], ["N2DCG_cat", "2DCG"])
    assert json.loads(result.to_json())["metrics"] == {"N2DCG_cat": None, "2DCG": 0}
    assert json.loads(result.save(tmp_path / "score.json").read_text())["page"] == [[0, None], [0, 0]]
    assert result.to_frame().columns == ["metric", "score"]


def test_options_change_what_they_say(tmp_path: Path) -> None:
    page = [[0, 3, 1], [2, 0, np.nan]]

    def scores(*arguments: str) -> Any:
        shown = run("score", "-", "-m", "2DCG", "-f", "json", *arguments, stdin=PAGE)
        assert shown.returncode == 0, shown.stderr
        return json.loads(shown.stdout)["metrics"].popitem()

    assert scores() == ("2DCG", cv.dcg2d(page))
    assert scores("--gain", "linear") == ("2DCG(gain=linear)", cv.dcg2d(page, gain="linear"))
    assert scores("--discount", "d_a") == ("2DCG(d_a)", cv.dcg2d(page, "d_a"))
    assert scores("--page-size", "1")[1] == cv.dcg2d(page, grid=cv.Grid(2, 3, page_size=1))
    assert scores("--page-size", "1,2")[1] == cv.dcg2d(page, grid=cv.Grid(2, 3, page_size=(1, 2)))
    assert scores("--grid", "tv", "--discount", "d_a")[1] == cv.dcg2d(page, "d_a", cv.TV)
    assert scores("--grid", "4x4", "--visible-rows", "1", "--discount", "d_a")[1] == cv.dcg2d(
        page, "d_a", cv.Grid(4, 4, visible_rows=1)
    )
    cv.discounts.save(cv.discounts.RowPage(mu=0.5), tmp_path / "fit.json")
    assert scores("--discount", f"@{tmp_path}/fit.json")[1] == cv.dcg2d(page, "d_rpd(mu=0.5)")


def test_a_page_without_relevant_items_is_said_to_have_no_score() -> None:
    shown = run("score", "-", "-m", "N2DCG_cat", stdin="0,0\n0\n")
    assert shown.returncode == 0
    assert "no relevant item" in shown.stdout
    assert json.loads(run("score", "-", "-f", "json", stdin="0,0\n").stdout)["metrics"]["N2DCG_cat"] is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["score", "no-such.csv"], "carouseval: no-such.csv: No such file or directory. Give a CSV or JSON file"),
        (["score", "-", "-m", "N2DCG_kat"], "Did you mean 'N2DCG_cat'?"),
        (["score", "-", "--discount", "d_rdp"], "Did you mean 'd_rpd'?"),
        (["score", "-", "-m", "2DCG(d_a)", "--discount", "d_a"], "the discount is given twice"),
        (["score", "-", "--grid", "tvv"], "there is no grid 'tvv'. Did you mean 'tv'?"),
        (["score", "-", "--grid", "1x2"], "a page of 2x3 does not fit the 1x2 grid. Use --grid 2x3."),
        (["score", "-", "--page-size", "1,5,5"], "carouseval: --page-size has 3 numbers, but the grid has 2 rows."),
        (
            ["score", "-", "--page-size", "1,0"],
            "'1,0' is neither an integer from 1 to 999,999,999 nor a list of them such as 1,5.",
        ),
        (
            ["score", "-", "--page-size", "1,x"],
            "'1,x' is neither an integer from 1 to 999,999,999 nor a list of them such as 1,5.",
        ),
        (
            ["score", "-", "--page-size", "0"],
            "'0' is neither an integer from 1 to 999,999,999 nor a list of them such as 1,5.",
        ),
        (["sample", "demo", "--system", "prd"], "'popular' or 'random', found 'prd'. Did you mean 'prod'?"),
        (["score", "-", "--gain", "liner"], "must be 'exp2' or 'linear', found 'liner'. Did you mean 'linear'?"),
        (["score", "-", "-m", "2DCG(gain=exp2)", "--gain", "linear"], "the gain is given twice"),
        (["score", "-", "--grid", "99999x99999"], "more than 1,000,000 cells"),
        (["score", ""], "carouseval: page: no file name given"),
        (["score", "-", "--format", "xml"], "xml"),
        (["score"], "page"),
        (["scor"], "scor"),
    ],
)
def test_mistakes_end_with_one_clear_message_and_status_2(arguments: list[str], message: str) -> None:
    shown = run(*arguments, stdin=PAGE, env={**os.environ, "PATH": "", "COLUMNS": "200", "NO_COLOR": "1"})
    assert shown.returncode == 2
    assert shown.stdout == ""
    assert message in shown.stderr
    assert "Traceback" not in shown.stderr


def test_output_of_one_command_is_input_of_the_next() -> None:
    first = run("score", "-", "-f", "json", stdin=PAGE).stdout
    assert json.loads(run("score", "-", "-f", "json", stdin=first).stdout) == json.loads(first)


def test_a_terminal_without_unicode_and_a_full_disk() -> None:
    shown = run_process("score", "-", stdin=PAGE, env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert shown.returncode == 0
    assert "?" in shown.stdout
    if Path("/dev/full").exists():
        with Path("/dev/full").open("w") as full:
            command = [sys.executable, "-m", "carouseval", "score", "-"]
            failed = subprocess.run(command, input=PAGE, stdout=full, stderr=subprocess.PIPE, text=True)
        assert failed.returncode != 0
        assert "Traceback" not in failed.stderr


def test_a_closed_pipe_is_no_error() -> None:
    command = f"{sys.executable} -m carouseval score - -f json | head -c 10"
    shown = subprocess.run(["bash", "-c", f"set -o pipefail; {command}"], input=PAGE, capture_output=True, text=True)
    assert "Traceback" not in shown.stderr
