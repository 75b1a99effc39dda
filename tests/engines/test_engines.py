"""Engines against one machine, with all settings: the same results to the bit, the same notices and refusals."""

import multiprocessing
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import pytest
from polars.testing import assert_frame_equal

import carouseval as cv
from carouseval.comparison.settings import ComparisonSettings
from carouseval.comparison.systems import all_runs
from carouseval.engines.compare import compare_on
from carouseval.engines.contract import Engine
from carouseval.engines.evaluate import evaluate_on
from carouseval.engines.explain import explain_on
from carouseval.engines.local import LocalEngine
from carouseval.evaluation.category_facts import FilledRows
from carouseval.evaluation.settings import Settings
from carouseval.settings import checked_settings
from tests.depth import seeds
from tests.engines.pool_engine import PoolEngine
from tests.engines.spark.notices import with_notices
from tests.evaluation.test_evaluate_oracle import arguments_of
from tests.evaluation.tiny_systems import tiny_systems

AT_ONCE = 50
SEEDS = seeds(100, 2000)
EXPLAINED = seeds(50, 1000)


@pytest.fixture(scope="module")
def pool() -> Iterator[ProcessPoolExecutor]:
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as processes:
        yield processes


def result_of(call: Callable[[], Any]) -> tuple[Any, list[str]]:
    """What a call returns, or why it is refused; and its notices."""

    def refused() -> Any:
        try:
            return call()
        except cv.CarousevalError as error:
            return isinstance(error, cv.DataError), without_lines(str(error))

    result, said = with_notices(refused)
    return result, [without_lines(notice) for notice in said]


def without_lines(text: str) -> str:
    """A message without what engines know less of: the order of lines, and names that single users' categories have."""
    first = r", first user_id=.*?(?=\. [A-Z])| \(line \d+\)|: \w+ is \S+ in layouts and \S+ in judgments"
    return re.sub(rf"{first}| Did you mean '.*?'\?", "", text)


def on_engine(engine: Engine[Any], arguments: dict[str, Any]) -> Any:
    options = {**arguments, "metrics": list(arguments["metrics"].values())}
    systems, judgments, items = (options.pop(name) for name in ("systems", "judgments", "items"))
    if len(systems) > 1:
        choices, settings = checked_settings("compare", options | CHOICES, ComparisonSettings, Settings)
        return compare_on(engine, all_runs(systems, "a"), judgments, items, choices, settings)
    ((_, (layouts,)),) = systems.items()
    return evaluate_on(engine, layouts, judgments, items, checked_settings("evaluate", options, Settings))


def on_one_machine(arguments: dict[str, Any]) -> Any:
    options = {**arguments, "metrics": list(arguments["metrics"].values())}
    systems = options.pop("systems")
    if len(systems) > 1:
        return cv.compare(systems, **options, **CHOICES)
    ((_, (layouts,)),) = systems.items()
    return cv.evaluate(layouts, **options)


CHOICES: dict[str, Any] = {"baseline": "a", "permutations": 9}


def explained(arguments: dict[str, Any], explain: Callable[..., Any]) -> Any:
    """What the first run of the first system loses."""
    options = {name: value for name, value in arguments.items() if name not in ("systems", "metrics")}
    (layouts, *_) = next(iter(arguments["systems"].values()))
    return explain(layouts, options.pop("judgments"), options.pop("items"), **options)


def assert_same(found: Any, expected: Any, seed: int) -> None:
    if isinstance(expected, tuple):
        assert found == expected, seed
        return
    assert found.to_dict() == expected.to_dict(), seed
    if isinstance(expected, cv.Comparison):
        keys = ["user_id", "system"]
        assert_frame_equal(found.per_user.sort(keys), expected.per_user.sort(keys), check_exact=True)
        assert_frame_equal(found.collect().per_user.sort(keys), expected.per_user.sort(keys), check_exact=True)
        for name, runs in expected.evaluations.items():
            for ours, theirs in zip(found.evaluations[name], runs, strict=True):
                assert_same(ours, theirs, seed)
        return
    assert_frame_equal(found.collect().per_page, expected.per_page, check_exact=True)
    assert_frame_equal(found.per_user.sort("user_id"), expected.per_user.sort("user_id"), check_exact=True)
    assert [found.left_out(name) for name in found.metrics] == [expected.left_out(name) for name in found.metrics], seed


@pytest.mark.parametrize("start", range(0, len(SEEDS), AT_ONCE))
@pytest.mark.parametrize("kind", ["parts", "pool"])
def test_engines_give_what_one_machine_gives(kind: str, start: int, pool: ProcessPoolExecutor) -> None:
    for seed in SEEDS[start : start + AT_ONCE]:
        arguments = arguments_of(tiny_systems(seed))
        engine = PoolEngine(parts=2, pool=pool) if kind == "pool" else LocalEngine(parts=1 + seed % 4)
        expected, said = result_of(lambda: on_one_machine(arguments))  # noqa: B023
        found, said_there = result_of(lambda: on_engine(engine, arguments))  # noqa: B023
        assert_same(found, expected, seed)
        if not isinstance(expected, tuple):  # one machine may have warned of systems before it refused their ideals
            assert said_there == said, seed


@pytest.mark.parametrize("start", range(0, len(EXPLAINED), AT_ONCE))
def test_engines_explain_as_one_machine_does(start: int) -> None:
    for seed in EXPLAINED[start : start + AT_ONCE]:
        arguments = arguments_of(tiny_systems(seed))
        engine = LocalEngine(parts=1 + seed % 4)

        def on_parts(layouts: Any, judgments: Any, items: Any, **options: Any) -> Any:
            return explain_on(engine, layouts, judgments, items, checked_settings("explain", options, Settings))  # noqa: B023

        expected, said = result_of(lambda: explained(arguments, cv.explain))  # noqa: B023
        found, said_there = result_of(lambda: explained(arguments, on_parts))  # noqa: B023
        if isinstance(expected, tuple):
            assert found == expected, seed
            continue
        assert said_there == said, seed
        assert found.to_dict() == expected.to_dict(), seed
        for table in ("per_page", "cells", "rows", "worst"):
            assert_frame_equal(getattr(found, table), getattr(expected, table), check_exact=True)
        assert (found.typical is None) == (expected.typical is None)
        held = [[*one.pages, *([one.typical] if one.typical else [])] for one in (found, expected)]
        for ours, theirs in zip(*held, strict=True):
            assert_frame_equal(ours.shown, theirs.shown, check_exact=True)
            assert (ours.user_id, ours.page_id, ours.values) == (theirs.user_id, theirs.page_id, theirs.values), seed


def test_rows_of_parts_are_as_long_as_the_longest() -> None:
    first, second = (FilledRows(1, {(0, "new", 3): 1}, {(0, "new"): shown}) for shown in (3, 2))
    for total in (first + second, second + first):
        assert total.ideals == 2
        assert total.over_capacity() == {}
    assert (second + second).over_capacity() == {"new": (2, 3, 2)}
