"""Any text as a name, a condition, a grid or an option: a value or an error of ours, and within seconds."""

import contextlib
import random
import re
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

import carouseval as cv
from carouseval.cli.conditions import parse_conditions, parse_system_conditions
from carouseval.cli.fit import _parse_values
from carouseval.cli.grid_options import parse_grid, parse_grids
from carouseval.cli.judgments import _parse_numbers, _parse_relevances
from carouseval.cli.options import parse_page_size
from carouseval.cli.settings_options import _parse_capacity, parse_columns
from tests.fuzz import ViolationError

MOST_SECONDS = 5.0
LONGEST_MESSAGE = 1_000

PARTS = [
    *("d_rpd", "d_a", "d_mix", "d_emp", "d_rpb", "N2DCG_cat", "NDCG", "DCG", "Precision", "Coverage", "recgaze", "tv:"),
    *("mu=", "lambda=", "lam=", "gain=", "gain=linear", "alpha=4", "0.5*", "1*", "page_size", "shown", "grid", "none"),
    *("(", ")", "((", "))", "[", "]", "{", "}", "@", "@@", "x", "/", ":", ",", ",,", "+", " + ", "*", "**", "=", "=="),
    *("<", "<=", ">", ">=", " and ", " or ", ".", "..", "-", "--", "~", "'", '"', "'''", "#", "\\", ";", "lambda: 0"),
    *("0", "1", "5", "3x5", "0x10", "007", "1e999", "-1", "nan", "inf", "1_000", "1j", "0x", "9" * 40, "9" * 5_000),
    *(" ", "\t", "\n", "\r", "\x00", "\x1b[31m", "\ud800", "\u202e", "\u0663", "²", "é", "😀"),
    *("f'{1}'", "b'a'", "None"),
]
METRICS = [
    *("N2DCG_cat(d_rpd(mu=0.5))@3x5", "NDCG@10", "2DCG(d_mix(0.7*d_rpb + 0.3*d_rcb), gain=linear)", "N2DCG(d_a)@10x15"),
    *("Precision@2x3", "RR(d_t)", "DCG(gain=linear)", "N2DCG_cat(d_mix(0.5*d_a + 0.5*d_t))@3x5", "Coverage", "Hit"),
]
DISCOUNTS = [
    *("d_rpd(alpha=4, beta=9, mu=0.65, nu=0.95)", "d_mix(0.5*d_rpd(mu=0.5) + 0.5*d_mix(1*d_t))", "d_scan"),
    *("d_emp(lab)", "d_a(alpha=2, beta=1, gamma=9, lam=1)", "d_mul", "d_rcb", "d_rpb", "@fitted.json", "d_t(7, 6)"),
]


def _same_again(parse: Callable[[str], Any]) -> Callable[[str], Any]:
    """A parser whose values print as texts that mean the same."""

    def parse_twice(text: str) -> None:
        value = parse(text)
        if parse(str(value)) != value:
            raise ViolationError(f"{text!r} is {value}, which is parsed as {parse(str(value))}")

    return parse_twice


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
    "capacity": (lambda text: _parse_capacity([text]), ["Top 10=10", "shown", "grid"]),
    "values": (lambda text: _parse_values([text]), ["mu=0.1,0.2", "alpha=1"]),
    "numbers": (lambda text: _parse_numbers("--thresholds", text, "1,10,45"), ["1,10,45", "0.5"]),
    "relevances": (lambda text: _parse_relevances([text]), ["thumbs_down=0", "play=2.5"]),
}

NUMBERS = ["0", "2", "0.25", "3.5", "1e-3", "-1", "1e999", "9" * 40, "9" * 5_000, "0x" + "f" * 5_000, "nan", "\u0663"]


def hostile_text(rng: random.Random, examples: list[str]) -> str:
    """Parts of what may be written, in any order; or an example, with a few changes."""
    if rng.random() < 0.3:
        return "".join(rng.choices(PARTS, k=rng.randint(0, 12))) * rng.choice([1, 1, 1, 2, 50])
    text = rng.choice(examples)
    for _ in range(rng.randint(1, 3)):
        begin, end = sorted(rng.choices(range(len(text) + 1), k=2))
        change = rng.choice([_insert, _repeat, _nest, _number, _number])
        text = (text[:begin] + change(rng, text[begin:end]) + text[end:])[:20_000]
    return text


def _insert(rng: random.Random, part: str) -> str:
    return rng.choice([rng.choice(PARTS) + part, rng.choice(PARTS)])


def _repeat(rng: random.Random, part: str) -> str:
    return part * rng.choice([2, 30, 1_000])


def _nest(rng: random.Random, part: str) -> str:
    depth = rng.choice([2, 30, 1_000])
    return rng.choice(["(", "[", "d_mix(1*", "d_rpd("]) * depth + part + ")" * depth


def _number(rng: random.Random, text: str) -> str:
    """The text with another number in place of one of its own."""
    found = list(re.finditer("[0-9.]+", text))
    if not found:
        return text
    number = rng.choice(found)
    return text[: number.start()] + rng.choice(NUMBERS) + text[number.end() :]


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
