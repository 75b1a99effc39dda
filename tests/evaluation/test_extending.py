"""What it takes to add a setting or a metric: one field, or one class, and everything else follows."""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin

import numpy as np
import polars as pl
import pytest
import typer
from typer.testing import CliRunner

import carouseval as cv
from carouseval.attention.fit_settings import FitSettings, FitSettingsDict
from carouseval.building.settings import (
    CANDIDATE_SETTINGS,
    CandidateSettingsDict,
    EventSettings,
    EventSettingsDict,
    PageSettings,
    PageSettingsDict,
)
from carouseval.cli.settings_options import with_settings
from carouseval.comparison.settings import ComparisonDict, ComparisonSettings
from carouseval.evaluation.plan import ScoringPlan
from carouseval.evaluation.settings import Settings, SettingsDict
from carouseval.metrics import metric_base
from carouseval.metrics.grid import Array
from carouseval.metrics.metric_base import Metric
from carouseval.metrics.pages import Pages
from carouseval.paper.simulation_settings import SimulationSettings
from carouseval.settings import (
    Doc,
    checked_settings,
    doc_of,
    in_force,
    setting_default,
    setting_doc,
    setting_type,
    settings_of,
    takes,
)

TAKE_SETTINGS: list[Callable[..., Any]] = [
    cv.evaluate,
    cv.Evaluator,
    cv.explain,
    cv.compare,
    cv.sensitivity,
    cv.check,
    cv.spark.evaluate,
    cv.spark.compare,
]
LISTS: list[tuple[Any, Any, tuple[str, ...]]] = [  # and the settings that may be given by position
    (Settings, SettingsDict, ()),
    (ComparisonSettings, ComparisonDict, ()),
    (PageSettings, PageSettingsDict, ("grid",)),
    (EventSettings, EventSettingsDict, ("value",)),
    (CANDIDATE_SETTINGS, CandidateSettingsDict, ()),
    (FitSettings, FitSettingsDict, ("discount",)),
]


def plain(kind: Any) -> Any:
    """A type as :func:`setting_type` gives it: names stay names."""
    return getattr(kind, "__forward_arg__", kind)


@pytest.mark.parametrize(("settings", "names", "by_position"), LISTS)
def test_type_checkers_see_the_same_settings(settings: Any, names: Any, by_position: tuple[str, ...]) -> None:
    own = {name: plain(kind) for name, kind in names.__annotations__.items()}
    if names is ComparisonDict:  # which has the settings of evaluations, too
        own = {name: kind for name, kind in own.items() if name not in SettingsDict.__annotations__}
    assert own == {one.name: setting_type(one) for one in settings_of(settings) if one.name not in by_position}


@pytest.mark.parametrize("settings", [*(listed for listed, _, _ in LISTS), SimulationSettings])
def test_every_setting_has_a_default_and_a_meaning(settings: Any) -> None:
    for one in settings_of(settings):
        setting_default(one)
        assert setting_doc(one).endswith(".")
        assert doc_of(one).option.endswith(".") or not doc_of(one).option
        if get_origin(setting_type(one)) is Literal and one.name != "stream":
            assert setting_default(one) == get_args(setting_type(one))[0], one.name


@pytest.mark.parametrize("function", TAKE_SETTINGS)
def test_people_see_every_setting(function: Callable[..., Any]) -> None:
    shown = inspect.signature(function).parameters
    compares = function in (cv.compare, cv.spark.compare)
    for one in (*fields(Settings), *(fields(ComparisonSettings) if compares else ())):
        assert shown[one.name].default == setting_default(one)
        assert shown[one.name].kind is inspect.Parameter.KEYWORD_ONLY
        assert f"\n{one.name} : " in inspect.cleandoc(str(function.__doc__))


TAKE_OTHERS: list[tuple[Callable[..., Any], Any]] = [
    (cv.marginal_gains, CANDIDATE_SETTINGS),
    (cv.build_pages, CANDIDATE_SETTINGS),
    (cv.pages_from_scores, PageSettings),
    (cv.judgments_from_events, EventSettings),
    (cv.attention.fit_discount, FitSettings),
    (cv.simulate, SimulationSettings),
]


@pytest.mark.parametrize(("function", "settings"), TAKE_OTHERS)
def test_other_work_shows_its_settings(function: Callable[..., Any], settings: Any) -> None:
    shown = inspect.signature(function).parameters
    for one in settings_of(settings):
        assert shown[one.name].default == setting_default(one)
        assert f"\n{one.name} : " in inspect.cleandoc(str(function.__doc__))


def test_a_default_stands_in_its_list() -> None:
    def function(seed: int = 7, **settings: Any) -> None:
        """Judge."""

    with pytest.raises(TypeError, match="seed has the default 7 in the signature, 42 in its list"):
        takes(SimulationSettings)(function)


@pytest.mark.parametrize("function", TAKE_SETTINGS)
def test_an_unknown_setting_is_refused_with_a_hint(function: Callable[..., Any]) -> None:
    layouts = {"user_id": [1], "row": [1], "col": [1], "item_id": [1], "category": ["a"]}
    several = function in (cv.compare, cv.sensitivity, cv.spark.compare)
    given: list[Any] = [{"a": layouts, "b": layouts} if several else layouts]
    judgments = {"user_id": [1], "item_id": [1], "relevance": [1]}
    with pytest.raises(TypeError, match=r"\(\) got an unexpected keyword argument 'candidate'\. Did you mean 'candid"):
        function(*([] if function is cv.Evaluator else given), judgments, candidate="judged")


def test_a_new_setting_reaches_everything() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Scratch(Settings):
        """The settings with one more."""

        ties: Annotated[Literal["average", "first"], Doc("What becomes of ties.")] = "average"

    def config(settings: dict[str, Any]) -> dict[str, Any]:
        return ScoringPlan.of(checked_settings("function", settings, Scratch)).config()

    check_new_setting(Scratch, config)


def test_a_new_setting_of_comparisons_reaches_everything() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Scratch(ComparisonSettings):
        """The choices with one more."""

        ties: Annotated[Literal["average", "first"], Doc("What becomes of ties.")] = "average"

    def config(settings: dict[str, Any]) -> dict[str, Any]:
        choices, others = checked_settings("function", settings, Scratch, Settings)
        return in_force(choices) | ScoringPlan.of(others).config()

    check_new_setting(Scratch, config, Settings)


@pytest.mark.parametrize("known", [PageSettings, EventSettings, FitSettings, SimulationSettings])
def test_a_new_setting_of_other_work_reaches_everything(known: Any) -> None:
    @dataclass(frozen=True, kw_only=True)
    class Scratch(known):  # type: ignore[misc]
        """The settings with one more."""

        ties: Annotated[Literal["average", "first"], Doc("What becomes of ties.")] = "average"

        def __post_init__(self) -> None:
            known.__post_init__(self)

    check_new_setting(Scratch, lambda settings: in_force(checked_settings("function", settings, Scratch)))


def check_new_setting(listed: Any, config: Callable[[dict[str, Any]], dict[str, Any]], *more: Any) -> None:
    """It is in signatures, docstrings, checks and the record of what was in force; an option, and completed."""

    def function(layouts: Any, **settings: Any) -> dict[str, Any]:
        """Judge.

        Parameters
        ----------
        layouts
            Pages.
        """
        return config(settings)

    shown = takes(listed, *more)(function)
    assert inspect.signature(shown).parameters["ties"].default == "average"
    assert '\nties : {"average", "first"}, default "average"\n    What becomes of ties.' in str(shown.__doc__)
    assert shown({})["ties"] == "average"
    assert shown({}, ties="first")["ties"] == "first"
    with pytest.raises(cv.ParameterError, match="ties must be 'average' or 'first', found 'last'"):
        shown({}, ties="last")
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'tie'\. Did you mean 'ties'\?"):
        shown({}, tie="first")

    def command(*, settings: dict[str, Any]) -> None:
        typer.echo(settings["ties"])

    app = typer.Typer(rich_markup_mode=None)
    app.command()(with_settings(settings=listed)(command))
    assert "--ties <average|first>" in CliRunner().invoke(app, ["--help"]).stdout
    assert CliRunner().invoke(app, ["--ties", "first"]).stdout == "first\n"
    assert "Did you mean 'first'?" in CliRunner().invoke(app, ["--ties", "firts"]).stderr
    typed = {"_ROOT_COMPLETE": "complete_bash", "COMP_WORDS": "root --ties ", "COMP_CWORD": "2"}
    assert CliRunner().invoke(app, env=typed, prog_name="root").stdout.split() == ["average", "first"]


@pytest.fixture
def widest() -> Iterator[str]:
    """A metric that nobody has written yet."""

    @metric_base.register_metric("Widest")
    class Widest(Metric):
        """The column of the last relevant item in view."""

        binary = True

        def value(self, pages: Pages, weights: Array) -> Array:
            page, row, col = pages.hits()
            last = np.zeros(len(pages))
            np.maximum.at(last, page, (col + 1) * (weights[row, col] > 0))
            return last

    yield "Widest@2x2"
    del metric_base._classes["Widest"]


def test_a_new_metric_goes_wherever_a_name_goes(widest: str, tmp_path: Path) -> None:
    assert str(cv.metric(widest)) == widest
    assert cv.metric(widest)([[0, 0, 1], [1, 0, 0]]) == 1.0
    cells = [(1, 1, 1, "a"), (1, 1, 2, "b"), (1, 2, 1, "c"), (2, 1, 1, "c")]
    layouts = pl.DataFrame(cells, schema=["user_id", "row", "col", "item_id"], orient="row")
    judgments = pl.DataFrame({"user_id": [1, 1, 2], "item_id": ["b", "c", "c"], "relevance": [2, 1, 3]})
    found = cv.evaluate(layouts, judgments, metrics=[widest, "Hit"])
    assert found.per_page[widest].to_list() == [2.0, 1.0]
    assert found.mean == {widest: 1.5, "Hit": 1.0}
    worse = layouts.filter(pl.col("item_id") != "b")
    pairs = cv.compare({"a": layouts, "b": worse}, judgments, metrics=widest, permutations=9).pairs
    assert pairs["difference"].to_list() == [-0.5]
