"""Every setting is an option of every command that judges tables."""

import inspect
import os
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Annotated, Any, Literal, get_args

import pytest
import typer
from typer.testing import CliRunner

from carouseval.attention.fit_settings import FitSettings, Objective
from carouseval.attention.rank_fit import OBJECTIVES
from carouseval.building.sample import SampleFormat, SampleKind
from carouseval.building.settings import EventSettings, PageSettings
from carouseval.cli.app import app as carouseval_app
from carouseval.cli.check import check
from carouseval.cli.compare import compare
from carouseval.cli.evaluate import evaluate
from carouseval.cli.explain import explain
from carouseval.cli.grid_options import grid_options
from carouseval.cli.output_options import with_output
from carouseval.cli.sample import FileFormat, PageKind
from carouseval.cli.settings_options import with_settings
from carouseval.comparison.settings import ComparisonSettings
from carouseval.evaluation.settings import Settings
from carouseval.metrics.grid import PHONE, RECGAZE, TV, Grid
from carouseval.paper.simulation_settings import SimulationSettings
from carouseval.settings import Doc, setting_default
from tests.command_line import run

COMMANDS = [evaluate, explain, compare, check]
LISTS: tuple[Any, ...] = (Settings, ComparisonSettings, PageSettings, EventSettings, FitSettings, SimulationSettings)


@dataclass(frozen=True, kw_only=True)
class Scratch(Settings):
    """Settings of every kind that one word can express."""

    word: Annotated[str, Doc("A new word.")] = "plain"
    count: Annotated[int, Doc("A new count.")] = 3
    share: Annotated[float | None, Doc("A new share.")] = None
    strict: Annotated[bool, Doc("A new yes or no.")] = False
    many: Annotated[int | None, Doc("A new number.")] = None
    room: Annotated[Literal["grid", "shown"] | Mapping[str, int], Doc("A new choice.")] = "grid"
    table: Annotated["TableLike | None", Doc("A new table.")] = None  # type: ignore[name-defined]  # noqa: F821


NEW = {"word": "plain", "count": 3, "share": None, "strict": False, "many": None, "room": "grid", "table": None}


def option_name(setting: str) -> str:
    return f"--{setting.replace('_', '-')}"


def given(*arguments: str) -> dict[str, Any]:
    """The settings that a command with these options is called with."""
    seen: dict[str, Any] = {}

    def command(*, settings: dict[str, Any]) -> None:
        seen.update(settings)

    app = typer.Typer()
    app.command()(with_settings(settings=Scratch)(command))
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    return seen


def test_defaults_are_those_of_the_settings() -> None:
    wanted = Scratch()
    assert given().keys() == {one.name for one in fields(Scratch)}
    assert Scratch(**given()) == Scratch(**vars(wanted) | {"metrics": ["N2DCG_cat"], "columns": {}})
    assert {name: given()[name] for name in NEW} == NEW


def test_new_settings_are_read_as_what_they_are() -> None:
    wanted = {"word": "w", "count": 5, "share": 0.5, "many": 7, "room": "shown", "table": "carousels.csv"}
    options = [word for name, value in wanted.items() for word in (f"--{name}", str(value))]
    settings = given(*options, "--strict")
    assert {name: settings[name] for name in NEW} == wanted | {"strict": True}
    assert given()["strict"] is False


@pytest.mark.parametrize("command", COMMANDS)
def test_a_new_setting_is_an_option_of_every_command(command: Callable[..., None]) -> None:
    app = typer.Typer(rich_markup_mode=None)
    bare: Any = inspect.unwrap(command)
    for parameter, decorate in {
        "settings": with_settings(settings=Scratch),
        "comparison": with_settings(comparison=ComparisonSettings),
        "output": with_output("Evaluation", saves=True),
    }.items():
        bare = decorate(bare) if parameter in inspect.signature(bare).parameters else bare
    app.command()(bare)
    text = " ".join(CliRunner().invoke(app, ["--help"]).output.split())
    for wanted in (
        "--word <str> A new word.",
        "--room <grid|shown|name=value> A new choice. [default: grid]",
        "--strict A new yes or no.",
    ):
        assert wanted in text
    assert "--no-strict" not in text


@pytest.mark.parametrize("command", ["evaluate", "explain", "compare", "check"])
def test_help_lists_every_setting_and_its_choices(command: str) -> None:
    text = " ".join(run(command, "--help").stdout.split())
    for one in fields(Settings):
        option = option_name(one.name)
        assert f"{option} <" in text or f"{option}, --" in text
    for setting, choices in Settings.choices().items():
        assert f"{option_name(setting)} <{'|'.join(choices)}>" in text
    assert "[default: recgaze]" in text


def test_every_list_is_that_of_a_command() -> None:
    group: Any = typer.main.get_command(carouseval_app)
    options = {one.name: one.opts for command in group.commands.values() for one in command.params}
    names = {one.name: option_name(one.name) for listed in LISTS for one in fields(listed)}
    assert names.keys() - options.keys() == set()
    assert all(option in options[name] for name, option in names.items())


def test_special_spellings() -> None:
    metrics = ["-m", "NDCG@10", "--metric", "2DCG", "--metrics", "RR"]
    columns = ["--columns", "user_id=customer", "--columns", "layouts.row=position", "--column", "layouts.col=place"]
    settings = given(*metrics, *columns, "--by", "device", "--by", "country", "--grid", "tv=tv", "--grid", "web=2x3")
    assert settings["metrics"] == ["NDCG@10", "2DCG", "RR"]
    assert settings["columns"] == {"user_id": "customer", "layouts": {"row": "position", "col": "place"}}
    assert settings["by"] == ["device", "country"]
    assert settings["grid"] == {"tv": TV, "web": Grid(2, 3)}
    assert given("--grid", "phone")["grid"] == PHONE
    assert given("--page-size", "4", "--visible-rows", "2")["grid"] == Grid(10, 15, page_size=4, visible_rows=2)
    assert given("--page-size", "1,5")["grid"] == Grid(10, 15, page_size=(1, *[5] * 9))
    assert given("--grid", "2x3", "--page-size", "1,5")["grid"] == Grid(2, 3, page_size=(1, 5))
    assert given("--grid", "tv=tv", "--grid", "web=3x3", "--page-size", "2, 1,4")["grid"] == {
        "tv": replace(TV, page_size=(2, 1, *[4] * 18)),
        "web": Grid(3, 3, (2, 1, 4)),
    }
    assert given("--grid", "tv:25x30")["grid"] == replace(TV, rows=25, cols=30)


def test_choices_and_defaults_written_down_twice_agree() -> None:
    """The command line must not import NumPy to name them."""
    assert setting_default(next(one for one in fields(Settings) if one.name == "grid")) == RECGAZE == given()["grid"]
    assert get_args(Objective) == OBJECTIVES
    assert get_args(FileFormat) == get_args(SampleFormat)
    assert get_args(PageKind) == get_args(SampleKind)


def test_shells_complete_choices() -> None:
    typed = {"COMP_WORDS": "carouseval compare --no-relevant ", "COMP_CWORD": "3"}
    shown = run(env={**os.environ, "_CAROUSEVAL_COMPLETE": "complete_bash", **typed})
    assert shown.stdout.split() == ["skip", "zero", "error"]


@pytest.mark.parametrize(
    "options",
    [
        ["--grid", "10x15"],
        ["--grid", "12x20", "--page-size", "4"],
        ["--grid", "12x20", "--page-size", "1,5"],
        ["--grid", "3x9", "--page-size", "1,5,2", "--visible-rows", "1"],
        ["--grid", "tv"],
        ["--grid", "tv:25x30"],
        ["--grid", "phone", "--page-size", "1,3"],
        ["--grid", "desktop:14x20", "--visible-rows", "9"],
        ["--grid", "tv=tv:25x30", "--grid", "phone=phone", "--grid", "my web=2x3"],
        ["--grid", "tv=tv/2,7", "--grid", "phone=phone:20x30/1,3"],
    ],
)
def test_options_of_grids_are_what_was_typed(options: list[str]) -> None:
    assert shlex.split(grid_options(given(*options)["grid"])) == options
