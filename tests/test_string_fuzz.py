"""Any text as a name, a condition, a grid or an option: a value or an error of ours, soon, and never another exception.

``CAROUSEVAL_FUZZ=100000 python -m pytest tests/test_string_fuzz.py`` tries as many texts of each kind.
"""

import os
import random
import re
import time
from collections.abc import Callable
from typing import Any

import pytest
import typer

import carouseval as cv
from carouseval.cli.conditions import parse_conditions, parse_system_conditions
from carouseval.cli.fit import _parse_values
from carouseval.cli.grid_options import parse_grid, parse_grids
from carouseval.cli.judgments import _parse_numbers, _parse_relevances
from carouseval.cli.options import parse_page_size
from carouseval.cli.settings_options import _parse_capacity, parse_columns

CASES = int(os.environ.get("CAROUSEVAL_FUZZ", "500"))
SECONDS = 5

PARTS = [
    *("d_rpd", "d_a", "d_mix", "d_emp", "d_rpb", "N2DCG_cat", "NDCG", "DCG", "Precision", "Coverage", "recgaze", "tv:"),
    *("mu=", "lambda=", "lam=", "gain=", "gain=linear", "alpha=4", "0.5*", "1*", "page_size", "shown", "grid", "none"),
    *("(", ")", "((", "))", "[", "]", "{", "}", "@", "@@", "x", "/", ":", ",", ",,", "+", " + ", "*", "**", "=", "=="),
    *("<", "<=", ">", ">=", " and ", " or ", ".", "..", "-", "--", "~", "'", '"', "'''", "#", "\\", ";", "lambda: 0"),
    *("0", "1", "5", "3x5", "0x10", "007", "1e999", "-1", "nan", "inf", "1_000", "1j", "0x", "9" * 40, "9" * 5_000),
    *(
        " ",
        "\t",
        "\n",
        "\r",
        "\x00",
        "\x1b[31m",
        "\ud800",
        "\u202e",
        "\u0663",
        "²",
        "é",
        "😀",
        "f'{1}'",
        "b'a'",
        "None",
    ),
]
DAMAGED = [
    *("N2DCG_cat(d_rpd(mu=0.5))@3x5", "NDCG@10", "2DCG(d_mix(0.7*d_rpb + 0.3*d_rcb), gain=linear)", "N2DCG(d_a)@10x15"),
    *(
        "d_rpd(alpha=4, beta=9, mu=0.65, nu=0.95)",
        "d_mix(0.5*d_rpd(mu=0.5) + 0.5*d_mix(1*d_t))",
        "d_scan",
        "d_emp(lab)",
    ),
    *("N2DCG_cat < 0.42", "skipped >= 1e3", "new < prod", "tv:25x30", "8x12/1,5", "tv=tv", "1,5", "Top 10=10"),
    *("user_id=customer", "items.item_id=sku", "mu=0.1,0.2", "thumbs_down=0", "1,10,45"),
]

CALLS: dict[str, Callable[[str], Any]] = {
    "metric": cv.metric,
    "discount": cv.discounts.parse,
    "cutoff": lambda text: cv.metric("N2DCG_cat", cutoff=text),
    "gain": lambda text: cv.metric("N2DCG_cat", gain=text),  # type: ignore[arg-type]
    "condition": lambda text: parse_conditions([text], ["N2DCG_cat"]),
    "system condition": lambda text: parse_system_conditions([text], ["new", "prod"]),
    "grid": lambda text: parse_grid(text, None, None, ()),
    "grids": lambda text: parse_grids([text], 5, None),
    "page size": parse_page_size,
    "columns": lambda text: parse_columns(text.split(";")),
    "capacity": lambda text: _parse_capacity([text]),
    "values": lambda text: _parse_values([text]),
    "numbers": lambda text: _parse_numbers("--thresholds", text, "1,10,45"),
    "relevances": lambda text: _parse_relevances([text]),
}


NUMBERS = ["0", "-1", "1e999", "9" * 40, "9" * 5_000, "0x" + "f" * 5_000, "nan", "\u0663"]


def hostile_text(rng: random.Random) -> str:
    """Parts of what may be written, in any order; or what may be written, with a few changes."""
    if rng.random() < 0.3:
        return "".join(rng.choices(PARTS, k=rng.randint(0, 12))) * rng.choice([1, 1, 1, 2, 50])
    text = rng.choice(DAMAGED)
    for _ in range(rng.randint(1, 3)):
        begin, end = sorted(rng.choices(range(len(text) + 1), k=2))
        change = rng.choice([_insert, _repeat, _nest, _number])
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


@pytest.mark.filterwarnings("ignore:.*:SyntaxWarning", "ignore:.*:DeprecationWarning")
@pytest.mark.parametrize("kind", CALLS)
def test_any_text_is_a_value_or_an_error_of_ours(kind: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # names of files, such as @5, are relative
    rng = random.Random(kind)
    for _ in range(CASES):
        text = hostile_text(rng)
        start = time.perf_counter()
        try:
            CALLS[kind](text)
        except (cv.CarousevalError, typer.BadParameter):
            pass  # BadParameter is how a parser of options reports to the command line
        except Exception as error:
            raise AssertionError(f"{kind}: {text!r}") from error
        assert time.perf_counter() - start < SECONDS, f"{kind}: {text!r}"
