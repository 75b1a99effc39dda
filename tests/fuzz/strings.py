"""Any text as a name, a condition, a grid or an option: a value or an error of ours, and within seconds."""

import contextlib
import random
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

import carouseval as cv
from carouseval.attention.fit_settings import FitSettings
from carouseval.building.settings import EventSettings
from carouseval.cli.conditions import parse_conditions, parse_system_conditions
from carouseval.cli.grid_options import parse_grid, parse_grids
from carouseval.cli.options import parse_page_size
from carouseval.cli.settings_options import parse_columns, setting_options
from carouseval.evaluation.settings import Settings
from carouseval.settings import only, settings_of
from tests.fuzz import ViolationError
from tests.fuzz.texts import DISCOUNTS, METRICS, hostile_text

MOST_SECONDS = 5.0
LONGEST_MESSAGE = 1_000


def _same_again(parse: Callable[[str], Any]) -> Callable[[str], Any]:
    """A parser whose values print as texts that mean the same."""

    def parse_twice(text: str) -> None:
        value = parse(text)
        if parse(str(value)) != value:
            raise ViolationError(f"{text!r} is {value}, which is parsed as {parse(str(value))}")

    return parse_twice


def option(listed: type, setting: str) -> Callable[[Any], Any]:
    """What reads the texts of an option."""
    (found,) = settings_of(only(listed, setting))
    return setting_options(found).value


# what takes text, and examples of what it takes
CALLS: dict[str, tuple[Callable[[str], Any], list[str]]] = {
    "metric": (_same_again(cv.metric), METRICS),
    "discount": (_same_again(cv.discounts.parse), DISCOUNTS),
    "cutoff": (lambda text: cv.metric("N2DCG_cat", cutoff=text), ["3x5", "10x15", "1x1"]),
    "gain": (lambda text: cv.metric("N2DCG_cat", gain=text), ["linear", "exp2"]),  # type: ignore[arg-type]
    "condition": (lambda text: parse_conditions([text], ["N2DCG_cat"]), ["N2DCG_cat < 0.42", "skipped >= 1e3"]),
    "system condition": (lambda text: parse_system_conditions([text], ["new", "prod"]), ["new < prod", "new<=prod"]),
    "grid": (lambda text: parse_grid(text, None, None, ()), ["8x12", "recgaze", "tv", "tv:25x30", "8x12/1,5"]),
    "grids": (lambda text: parse_grids([text], 5, None), ["tv=tv", "tv=8x12/1,5", "phone=phone:6x10/1,3"]),
    "page size": (parse_page_size, ["1,5", "5", "1,2,3"]),
    "columns": (lambda text: parse_columns(text.split(";")), ["user_id=customer", "items.item_id=sku", "row=a;col=b"]),
    "capacity": (lambda text: option(Settings, "capacity")([text]), ["Top 10=10", "shown", "grid"]),
    "values": (lambda text: option(FitSettings, "values")([text]), ["mu=0.1,0.2", "alpha=1"]),
    "numbers": (lambda text: option(EventSettings, "grades")(text), ["1,10,45", "0.5"]),
    "relevances": (lambda text: option(EventSettings, "event_relevance")([text]), ["thumbs_down=0", "play=2.5"]),
}


@dataclass(frozen=True)
class Case:
    """A text, and what it is given as."""

    call: str
    text: str


def draw(rng: random.Random) -> Case:
    """Any text, given as anything."""
    call = rng.choice(list(CALLS))
    examples = CALLS[call][1] if rng.random() < 0.8 else CALLS[rng.choice(list(CALLS))][1]
    return Case(call, hostile_text(rng, examples))


def check(case: Case, folder: Path) -> str:
    """A value, or an error of ours, within seconds."""
    begin = time.perf_counter()
    outcome = "value"
    with contextlib.chdir(folder), warnings.catch_warnings():  # names of files, such as @5, are relative
        warnings.simplefilter("ignore", SyntaxWarning)
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            CALLS[case.call][0](case.text)
        except (cv.CarousevalError, typer.BadParameter) as error:
            outcome = "refused"  # BadParameter is how a parser of options reports to the command line
            if not 0 < len(str(error)) < LONGEST_MESSAGE:
                raise ViolationError(f"{case}: a message of {len(str(error))} characters") from error
        except Exception as error:
            if isinstance(error, ViolationError):
                raise
            raise ViolationError(f"{case.call} {case.text[:300]!r}: {type(error).__name__}: {error}") from error
    if time.perf_counter() - begin > MOST_SECONDS:
        raise ViolationError(f"{case.call} {case.text[:300]!r}: it took {time.perf_counter() - begin:.0f} s")
    return f"{case.call}: {outcome}"
