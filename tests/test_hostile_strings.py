"""Names, options and files made to hang or crash a program: a short error of ours, at once."""

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer

import carouseval as cv
from carouseval.cli.conditions import parse_conditions
from carouseval.cli.grid_options import parse_grid
from carouseval.cli.options import parse_page_size
from carouseval.cli.settings_options import parse_columns, setting_options
from carouseval.evaluation.settings import Settings
from carouseval.settings import only, settings_of

CAPACITY = setting_options(*settings_of(only(Settings, "capacity")))
SECONDS = 5  # each takes milliseconds; loops that grow with the square of a length take minutes
LONG = 1_000_000
LAYOUTS = {"user_id": [1], "row": [1], "col": [1], "item_id": [1], "category": ["a"]}
JUDGMENTS = {"user_id": [1], "item_id": [1], "relevance": [1]}


def message(call: Callable[..., Any], *arguments: Any, **named: Any) -> str:
    """The error of a call, which comes soon and is short."""
    start = time.perf_counter()
    with pytest.raises((cv.CarousevalError, typer.BadParameter)) as caught:
        call(*arguments, **named)
    assert time.perf_counter() - start < SECONDS
    assert len(str(caught.value)) < 500
    return str(caught.value)


def mixture(depth: int) -> str:
    return "d_mix(1*" * depth + "d_rpd" + ")" * depth


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (mixture(30), "has more than 20 brackets inside one another."),
        (mixture(17), "more than 16 mixtures inside one another."),
        (mixture(100_000), "has 900,005 characters; names have at most 10,000."),
        ("d" * LONG, "has 1,000,000 characters; names have at most 10,000."),
        ("@" + "a" * 9_000, "File name too long."),
        ("d_rpd(" + "(" * 4_000 + "1" + ")" * 4_000 + ")", "has more than 20 brackets inside one another."),
        ("d_rpd(mu=" + "[" * 50 + "]" * 50 + ")", "has more than 20 brackets inside one another."),
        ("d_rpd(mu=" + "-" * 9_000 + "1)", "parameters are written as name=number, separated by commas."),
        ("d_rpd(mu=" + "1+" * 4_000 + "1)", "parameters are written as name=number, separated by commas."),
        ("d_rpd(mu=" + "9" * 5_000 + ")", "parameters are written as name=number, separated by commas."),
        ("d_rpd(mu=0x" + "9" * 5_000 + ")", "at most 1, found a very large int."),
        ("d_rpd(mu={[]: 1})", "parameters are written as name=number, separated by commas."),
        ("d_rpd(" + "m" * 9_000 + "=1)", "is unknown. d_rpd takes alpha, beta, mu, nu."),
    ],
    ids=lambda text: text[:24],
)
def test_names_of_discounts(text: str, problem: str) -> None:
    assert message(cv.discounts.parse, text).endswith(problem)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("N" * LONG, "has 1,000,000 characters; names have at most 10,000."),
        ("N2DCG_cat(" + mixture(30) + ")", "has more than 20 brackets inside one another."),
        ("N2DCG_cat" + " " * 9_000 + "x", "such as N2DCG_cat(d_rpd(mu=0.5))@3x5 or NDCG@10."),
        ("NDCG@" + "1" * 5_000, f"an integer from 1 to 999,999,999, such as NDCG@10, found '{'1' * 60}'..."),
        ("N2DCG_cat@3x" + "1" * 5_000, f"such as N2DCG_cat@3x5, found '3x{'1' * 58}'..."),
    ],
    ids=lambda text: text[:24],
)
def test_names_of_metrics(text: str, problem: str) -> None:
    assert problem.removeprefix("an ") in message(cv.metric, text)


def test_a_mixture_as_deep_as_allowed_is_parsed_from_its_name() -> None:
    deep = cv.discounts.parse(mixture(16))
    assert cv.discounts.parse(str(deep)) == deep
    metric = cv.metric("N2DCG_cat", discount=deep)
    assert cv.metric(str(metric)) == metric


@pytest.mark.parametrize("parameter", ["rows", "cols", "page_size", "visible_rows", "swipe_step", "scroll_step"])
def test_sizes_of_grids(parameter: str) -> None:
    found = message(cv.Grid, **{parameter: 10**30})
    assert found == f"Grid: {parameter} must be an integer of at most 999,999,999, found {10**30}."
    assert message(cv.Grid, **{parameter: -(10**5_000)}).endswith("of at least 1, found a very large int.")


def test_numbers_of_cells_and_cutoffs() -> None:
    assert message(cv.Grid, 999_999, 999_999) == "Grid: 999999x999999 has more than 100,000,000 cells."
    assert message(cv.metric, "NDCG", cutoff=10**30).endswith(f"of at most 999,999,999, found {10**30}.")
    assert message(cv.metric, "N2DCG_cat", cutoff=(1, 10**30)).startswith("cutoff: cols must be an integer of at most")
    assert message(cv.n2dcg_cat, [[10**5_000]]).startswith("relevance holds a very large int, which is not a number.")
    nested: list[Any] = []
    for _ in range(100_000):
        nested = [nested]
    assert message(cv.n2dcg_cat, nested).startswith("relevance: the lists are nested too deeply.")


def test_threads_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAROUSEVAL_THREADS", "1" * 5_000)
    assert message(cv.n2dcg_cat, [[[1]], [[1]]]).startswith(
        "CAROUSEVAL_THREADS must be an integer from 1 to 999,999,999, found"
    )


@pytest.mark.parametrize("text", [" " * 100_000, "N2DCG_cat" + " " * 100_000 + "x", "a <" + " " * 100_000, "<" * LONG])
def test_conditions(text: str) -> None:
    assert " cannot be parsed; write a name, one of < <= > >= and a number" in message(parse_conditions, [text], ["a"])


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        (lambda: parse_grid("9" * LONG, None, None, ()), "--grid: there is no grid '999"),
        (
            lambda: parse_grid("3x5/" + "9" * 5_000, None, None, ()),
            "write page sizes as integers from 1 to 999,999",
        ),
        (lambda: parse_page_size("9" * 5_000), "is neither an integer from 1 to 999,999,999 nor a list of them"),
        (
            lambda: CAPACITY.value(["Top=" + "9" * 5_000]),
            "write grid, shown, or category=number, each category once, such as 'Top 10=10'",
        ),
        (lambda: parse_columns(["a=b", "a." + "x" * LONG + "=c"]), "--columns 'a=b': 'a' is a table"),
        (lambda: parse_columns(["x" * LONG]), "cannot be parsed; write our name, then yours"),
    ],
)
def test_options(call: Callable[[], Any], problem: str) -> None:
    assert problem in message(call)


@pytest.mark.parametrize("depth", [17, 100, 300, 100_000])
def test_deep_json_of_a_discount(depth: int, tmp_path: Path) -> None:
    path = tmp_path / "deep.json"
    inner = json.dumps({"discount": "d_rpd", "parameters": {}})
    path.write_text('{"discount": "d_mix", "parameters": {"parts": [[1, ' * depth + inner + "]]}}" * depth)
    assert message(cv.discounts.load, path).startswith(f"discount file {str(path)!r}")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes have names only on POSIX")
def test_messages_are_never_longer_than_people_read() -> None:
    data = cv.sample(users=3, systems=["new"])
    for options in ({"by": "x" * 10**6}, {"columns": {"user_id": "x" * 10**6}}, {"metrics": "x" * 10**6}):
        with pytest.raises(cv.CarousevalError) as error:
            cv.evaluate(data.layouts["new"], data.judgments, data.items, **options)
        assert 20 < len(str(error.value)) < 5_010


def test_pipes_and_endless_files(tmp_path: Path) -> None:
    pipe, endless = tmp_path / "pipe.csv", tmp_path / "endless.csv"
    os.mkfifo(pipe)
    endless.symlink_to("/dev/zero")
    for path in (pipe, endless):
        hint = "is a pipe or a device, not a file. Save its content to a file first."
        assert message(cv.evaluate, LAYOUTS, path) == f"judgments: {path} {hint}"
        assert message(cv.discounts.parse, f"@{path}") == f"discount file {str(path)!r} {hint}"


def test_a_discount_file_without_an_end_in_sight(tmp_path: Path) -> None:
    path = tmp_path / "huge.json"
    with path.open("wb") as file:
        file.truncate(10**12)  # a sparse file, which takes no space
    found = message(cv.discounts.load, path)
    assert found.endswith("has 1,000,000,000,000 bytes; discounts have at most 100,000,000.")
