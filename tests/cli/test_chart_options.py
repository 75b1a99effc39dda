"""--chart draws what a command computes; what cannot be drawn is refused before any work."""

import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import typer

import carouseval as cv
from carouseval.cli.app import app
from carouseval.show.charts.theme import background
from tests.cli.test_cli import PAGE
from tests.cli.test_table_commands import tables
from tests.command_line import run, run_process


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sample")
    data = cv.sample(30, systems=["new", "prod"])
    data.judgments.write_parquet(folder / "judgments.parquet")
    data.items.write_parquet(folder / "items.parquet")
    for name, layouts in data.layouts.items():
        layouts.write_parquet(folder / f"layouts-{name}.parquet")
    candidates = data.layouts["new"].select("user_id", "col", "item_id", "category", carousel="category")
    candidates.write_parquet(folder / "candidates.parquet")
    data.judgments.select("user_id", "item_id", score="relevance").write_parquet(folder / "scores.parquet")
    pl.DataFrame({"screen": [1, 1, 2], "row": [1, 2, 1], "col": [1, 1, 2]}).write_csv(folder / "screens.csv")
    (folder / "page.csv").write_text(PAGE)
    return folder


def title_of(path: Path) -> str:
    return ET.parse(path).getroot()[0].text or ""


COMMANDS = {
    "score page.csv": "A page and its ideal",
    "score page.csv --chart-kind weights": "d_rpd(alpha=4, beta=9, mu=0.65, nu=0.95)",
    "fit bratislava --discount d_mir": "bratislava against d_mir, scaled",
    "fit bratislava --discount d_mir --chart-kind weights": "d_mir",
    "evaluate {new}": "Scores of users by N2DCG_cat",
    "evaluate {new} --by device --chart-kind means": "Mean scores by device",
    "compare {both}": "Differences between systems",
    "compare {both} --chart-kind systems": "Mean scores of systems",
    "compare {both} --chart-kind users": "new - prod: differences of users by N2DCG_cat",
    "compare {both} --sensitivity --chart-kind sensitivity": "Does the order of systems hold?",
    "explain {new}": "From the ideal page to the score, by N2DCG_cat",
    "explain {new} --chart-kind losses": "Loss in each cell",
    "explain {new} --chart-kind gains": "Gain in each cell",
    "explain {new} --chart-kind page --user u000003": "The page of user_id='u000003'",
    "explain {new} --chart-kind page --format json": "The page of user_id='u000008'",
    "judgments judgments.parquet --value relevance": "Judgments by relevance",
    "pages scores.parquet --items items.parquet": "Categories that pages show",
    "adds candidates.parquet judgments.parquet --items items.parquet": "What each carousel adds",
    "adds candidates.parquet judgments.parquet --greedy --rows 3": "What each row adds to the score",
    "adds candidates.parquet judgments.parquet --greedy --rows 3 --chart-kind rows": "What each row adds to the score",
    "simulate --trials 100": "Agreement with the truth",
    "simulate --trials 100 --chart-kind agreement": "Agreement with the truth",
    "examination screens.csv --grid 2x3": "screens: 2 screens",
}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_draws_its_result(command: str, folder: Path, tmp_path: Path) -> None:
    new = " ".join(Path(path).name if path.endswith("parquet") else path for path in tables(folder))
    both = "prod=layouts-prod.parquet new=layouts-new.parquet judgments.parquet --items items.parquet --test t"
    arguments = command.format(new=new, both=both).split()
    done = run(*arguments, "--chart", str(tmp_path / "chart.svg"), "--chart-theme", "dark", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert title_of(tmp_path / "chart.svg") == COMMANDS[command]
    assert background("dark") in (tmp_path / "chart.svg").read_text()
    assert done.stdout  # and the result is printed as ever


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--chart", "chart.gif"], "chart.gif: unsupported file type. Use .svg, .png, .pdf or .html."),
        (["--chart", "no/chart.svg"], "no/chart.svg cannot be written: the folder no does not exist."),
        (["--chart-kind", "losses"], "'losses'"),
        (["--chart-theme", "drak"], "must be 'light' or 'dark', found 'drak'. Did you mean 'dark'?"),
    ],
)
def test_a_chart_that_cannot_be_drawn_is_refused_before_any_work(
    options: list[str], message: str, folder: Path, tmp_path: Path
) -> None:
    done = run("evaluate", *tables(folder), *options, "--out", str(tmp_path / "out.json"), cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stdout == ""
    assert not list(tmp_path.iterdir())


def test_charts_are_light_by_default(folder: Path, tmp_path: Path) -> None:
    for path, options in (("default.svg", []), ("light.svg", ["--chart-theme", "light"])):
        assert run_process("score", "page.csv", "--chart", str(tmp_path / path), *options, cwd=folder).returncode == 0
    assert background("dark") not in (tmp_path / "default.svg").read_text()
    assert (tmp_path / "default.svg").read_bytes() == (tmp_path / "light.svg").read_bytes()


def test_every_command_that_draws_takes_a_kind() -> None:
    group: Any = typer.main.get_command(app)
    options = {name: {one.name for one in command.params} for name, command in group.commands.items()}
    draws = {name for name, names in options.items() if "chart" in names}
    assert len(draws) == 11
    assert all({"chart_kind", "chart_theme", "format"} <= options[name] for name in draws)


def test_kinds_that_are_not_known_are_listed(folder: Path) -> None:
    done = run("explain", *tables(folder), "--chart-kind", "waterfal")
    assert done.returncode == 2
    assert "must be 'waterfall', 'losses', 'gains' or 'page', found 'waterfal'." in done.stderr


def test_sensitivity_must_be_asked_for(folder: Path) -> None:
    systems = [f"{name}={folder / f'layouts-{name}.parquet'}" for name in ("new", "prod")]
    done = run("compare", *systems, str(folder / "judgments.parquet"), "--chart-kind", "sensitivity")
    message = "carouseval: --chart-kind sensitivity needs --sensitivity.\n"
    assert (done.returncode, done.stderr) == (2, message)


def test_posters_that_are_missing_are_named(folder: Path, tmp_path: Path) -> None:
    items = pl.read_parquet(folder / "items.parquet").with_columns(poster=pl.lit("posters/none.png"))
    items.write_csv(tmp_path / "items.csv")
    arguments = [*tables(folder)[:2], "--items", str(tmp_path / "items.csv"), "--chart-kind", "page"]
    done = run("explain", *arguments, "--chart", str(tmp_path / "page.png"))
    assert done.returncode == 0
    warning = "carouseval: warning: items: 1 poster cannot be drawn, first"
    assert done.stderr.startswith(f"{warning} '{tmp_path / 'posters' / 'none.png'}': there is no such file.")
