"""Every result draws itself, in each of its kinds; errors list what there is."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import carouseval as cv
from carouseval.show.charts.kinds import KINDS, Theme
from tests.show.charts.drawings import drawn, texts
from tests.show.charts.sample_results import JUDGMENTS, LAYOUTS, explanation, result_of

NAMES = {name: "SearchReport" if name == "FitReport" else name for name in KINDS}  # of a result of each class
EVERY_KIND = [(NAMES[name], kind) for name, kinds in KINDS.items() for kind in kinds]


def kinds_in_themes() -> list[Any]:
    """Every kind in both themes; one of the two, in turn, is left to the deep layer."""
    both: tuple[Theme, Theme] = ("light", "dark")
    return [
        pytest.param(*kind, theme, marks=[pytest.mark.deep] * ((at + number) % 2))
        for at, kind in enumerate(EVERY_KIND)
        for number, theme in enumerate(both)
    ]


@pytest.mark.parametrize(("name", "kind", "theme"), kinds_in_themes())
def test_every_kind_is_drawn(name: str, kind: str, theme: Theme) -> None:
    chart = result_of(name).chart(kind, theme=theme)
    assert chart.theme == theme
    assert chart.title
    assert chart.alt.endswith((".", "…"))
    assert any(letter.isdigit() for letter in chart.alt)
    root = drawn(chart)
    assert not {"undefined", "NaN", "null"} & {word for text in texts(root) for word in text.split()}
    assert len(chart.svg) < 400_000


@pytest.mark.parametrize(
    ("name", "kind"),
    [pytest.param(*kind, marks=[pytest.mark.deep] * bool(at % 8)) for at, kind in enumerate(EVERY_KIND)],
)
def test_themes_differ_in_colours_alone(name: str, kind: str) -> None:
    light, dark = (result_of(name).chart(kind, theme=theme) for theme in ("light", "dark"))
    assert dark.svg != light.svg
    assert texts(drawn(dark)) == texts(drawn(light))


@pytest.mark.parametrize("name", KINDS)
def test_the_first_kind_is_the_default(name: str) -> None:
    result = result_of(NAMES[name])
    assert name in {base.__name__ for base in type(result).__mro__}
    assert result.chart().to_dict() == result.chart(next(iter(KINDS[name]))).to_dict()


SCRATCH = """
import sys, types
from carouseval.show.charts.kinds import KINDS, Kind

def one_bar(result, length: int = 3):
    from carouseval.show.charts.shapes.bars import Bar, bar_chart
    return bar_chart([Bar(type(result).__name__, length, "")], "Mine", "", "One bar.", "length")

sys.modules["carouseval.show.charts.scratch"] = types.SimpleNamespace(one_bar=one_bar)
for kinds in KINDS.values():
    kinds["mine"] = Kind("show.charts.scratch.one_bar", "one bar")
"""
IN_PYTHON = """
import carouseval as cv
result = cv.evaluate("layouts.csv", "judgments.csv")
print(result.chart("mine", length=7).title, "Evaluation: distribution, means, mine." in result.chart.__doc__)
"""
COMMANDS = [
    "evaluate layouts.csv judgments.csv",
    *(
        pytest.param(command, marks=pytest.mark.deep)
        for command in ("explain layouts.csv judgments.csv", "score page.csv", "fit bratislava --discount d_mir")
    ),
]


def with_scratch(code: str, folder: Path, *arguments: str) -> str:
    """What code prints in a process whose list of charts has one more, as if a file beside the others had it."""
    command = [sys.executable, "-c", SCRATCH + code, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_a_new_chart_is_a_function_and_its_line(tmp_path: Path) -> None:
    assert with_scratch(IN_PYTHON, tables(tmp_path)) == "Mine True\n"


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_draw_a_new_chart(command: str, tmp_path: Path) -> None:
    arguments = [*command.split(), "--chart", "mine.svg", "--chart-kind", "mine"]
    with_scratch("from carouseval.cli import main; main()", tables(tmp_path), *arguments)
    assert "Mine" in (tmp_path / "mine.svg").read_text()


def tables(folder: Path) -> Path:
    pl.DataFrame(LAYOUTS).write_csv(folder / "layouts.csv")
    pl.DataFrame(JUDGMENTS).write_csv(folder / "judgments.csv")
    (folder / "page.csv").write_text("3,0,1\n0,2,0\n")
    return folder


def test_results_without_a_chart_are_tables_of_text() -> None:
    texts_of_rooms = [path.read_text(encoding="utf-8") for path in Path(cv.__file__).parent.rglob("*.py")]
    names = {
        name
        for text in texts_of_rooms
        for name in re.findall(r"^class (\w+)\((?:Result|Reported)\)", text, re.MULTILINE)
    }
    bases = {"Reported", "_InSpark"}
    assert names - {*KINDS} - bases == {"Check", "PaperTable"}
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
        result_of("Reproduction").chart("fit", name="ceiling")
