"""Without the packages of an extra, what needs them says which line installs them, and the rest works."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import carouseval as cv
from carouseval.extras import require_extra
from tests.lowest_versions import PYPROJECT

PAGE = "0,3,1\n2,0\n"
HIDE = "import sys; sys.modules.update(altair=None, vl_convert=None); "
MAIN = "sys.argv = ['carouseval', *{}]; import carouseval.cli; carouseval.cli.main()"
LINE = 'Run: pip install "carouseval[show]"'


def hidden(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", HIDE + code], input=PAGE, capture_output=True, text=True, cwd=folder, timeout=60
    )


def test_the_base_brings_no_charts() -> None:
    project = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    base, show = (
        {requirement.partition(">=")[0] for requirement in group} for group in (project["dependencies"], extras["show"])
    )
    assert base == {"numpy", "polars", "rich", "scipy", "typer"}
    assert {"altair", "vl-convert-python"} <= show
    assert extras["all"] == ["carouseval[show]", "carouseval[spark]"]


def test_what_is_installed_is_not_refused() -> None:
    require_extra("show", "a chart")


def test_a_chart_names_the_line_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(cv.CarousevalError) as error:
        cv.attention.recgaze_counts("all").chart()
    assert str(error.value) == f"a chart needs vl_convert, which is not installed. {LINE}"
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(cv.CarousevalError) as error:
        cv.attention.recgaze_counts("all").chart()
    assert str(error.value) == f"a chart needs altair and vl_convert, which are not installed. {LINE}"
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(cv.CarousevalError) as error:
        cv.attention.recgaze_counts("all").chart()
    assert str(error.value) == f"a chart needs altair, jinja2 and vl_convert, which are not installed. {LINE}"


@pytest.mark.parametrize(
    ("arguments", "purpose"),
    [
        (["score", "-", "--chart", "page.svg"], "--chart"),
        (["fit", "bratislava", "--chart", "fit.svg"], "--chart"),
        (["reproduce", "--out", "paper"], "--out, which draws the figures,"),
        (["report", "layouts.csv", "judgments.csv"], "a report"),
    ],
)
def test_commands_end_with_status_2_before_any_work(arguments: list[str], purpose: str, tmp_path: Path) -> None:
    done = hidden(MAIN.format(arguments), tmp_path)
    message = f"carouseval: {purpose} needs altair and vl_convert, which are not installed. {LINE}\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", message)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "arguments",
    [["score", "-"], ["fit", "bratislava", "--discount", "d_mir"], pytest.param(["reproduce"], marks=pytest.mark.deep)],
)
def test_commands_without_charts_work(arguments: list[str], tmp_path: Path) -> None:
    done = hidden(MAIN.format(arguments), tmp_path)
    assert done.returncode == 0, done.stderr


def test_tables_and_statistics_work(tmp_path: Path) -> None:
    code = """
import carouseval as cv
data = cv.sample(20, systems=["new", "random"])
result = cv.compare(data.layouts, data.judgments, data.items, test="t")
result.to_markdown(), cv.explain(data.layouts["new"], data.judgments, data.items).page()
try:
    cv.charts
except cv.CarousevalError as error:
    print(error)
"""
    done = hidden(code, tmp_path)
    expected = f"carouseval.charts needs altair and vl_convert, which are not installed. {LINE}\n"
    assert (done.returncode, done.stdout) == (0, expected), done.stderr
