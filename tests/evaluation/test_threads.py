"""Evaluators shared by threads, and evaluators and results that are sent to other processes."""

import pickle
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import carouseval as cv
from carouseval.results import Result

SYSTEMS = 16
JUDGED = [f"u{user}" for user in range(100)]
JUDGMENTS = pl.DataFrame(
    {
        "user_id": [user for user in JUDGED for _ in range(3)],
        "item_id": [(7 * user + 3 * item) % 50 for user in range(100) for item in range(3)],
        "relevance": [1, 2, 3] * 100,
    }
)
ITEMS = pl.DataFrame({"item_id": range(50), "category": [f"c{item % 5}" for item in range(50)]})


def layouts_of(system: int) -> pl.DataFrame:
    """Pages of the judged users and of 2,000 that no other system has."""
    users = [*JUDGED, *(f"s{system}-{user}" for user in range(2000))]
    cells = [
        (user, page, row + 1, col + 1, row + 5 * ((col + system + at) % 10), f"c{row}")
        for at, user in enumerate(users)
        for page in ("home", f"page of s{system}")
        for row in range(2)
        for col in range(2)
    ]
    return pl.DataFrame(cells, ["user_id", "page_id", "row", "col", "item_id", "category"], orient="row")


@pytest.mark.parametrize("pages", [True, False], ids=["several pages", "one page"])
def test_threads_that_share_an_evaluator_get_the_results_of_single_calls(pages: bool) -> None:
    layouts = [layouts_of(system) for system in range(SYSTEMS)]
    if not pages:
        layouts = [table.filter(pl.col("page_id") == "home").drop("page_id") for table in layouts]
    expected = [cv.evaluate(table, JUDGMENTS, ITEMS) for table in layouts]
    evaluator = cv.Evaluator(JUDGMENTS, ITEMS)
    evaluator.evaluate(layouts[0])  # from now on, all share the ids of the judgments and add to them
    with ThreadPoolExecutor(SYSTEMS) as threads:
        results = list(threads.map(evaluator.evaluate, layouts))
    for result, single in zip(results, expected, strict=True):
        assert_frame_equal(result.per_page, single.per_page)
        assert (result.mean, result.counts, result.config) == (single.mean, single.counts, single.config)


@pytest.mark.parametrize("pages", [400_000, 40_000, 400], ids=["within a call", "between calls", "short calls"])
def test_threads_in_kernels_do_not_disturb_the_exit(pages: int) -> None:
    """Python ends threads that ask for its lock at exit, by unwinding stacks that must not be unwound."""
    script = f"""
import threading, time, numpy, carouseval as cv
pages = numpy.random.default_rng(0).integers(0, 4, ({pages}, 12, 15)).astype(float)
def work():
    while True:
        cv.n2dcg_cat(pages)
for _ in range(4):
    threading.Thread(target=work, daemon=True).start()
time.sleep(0.3)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_progress_callback_may_use_the_evaluator() -> None:
    data = small_sample()
    evaluator = cv.Evaluator(data.judgments, data.items)
    inner: list[cv.Evaluation] = []

    def progress(what: str, done: int, total: int) -> None:
        if not inner:
            inner.append(evaluator.evaluate(data.layouts["new"]))

    result = evaluator.evaluate(data.layouts["prod"], progress)
    assert_frame_equal(result.per_page, cv.evaluate(data.layouts["prod"], data.judgments, data.items).per_page)
    assert_frame_equal(inner[0].per_page, cv.evaluate(data.layouts["new"], data.judgments, data.items).per_page)


def test_an_interrupted_evaluator_can_be_used_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """The interrupt comes when new users have their codes but no values yet."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    evaluator = cv.Evaluator(JUDGMENTS, ITEMS)
    evaluator.evaluate(layouts_of(0))
    with monkeypatch.context() as patched:
        patched.setattr(pl.Series, "gather", interrupt)
        with pytest.raises(KeyboardInterrupt):
            evaluator.evaluate(layouts_of(1))
    result = evaluator.evaluate(layouts_of(2))
    assert_frame_equal(result.per_page, cv.evaluate(layouts_of(2), JUDGMENTS, ITEMS).per_page)


@pytest.mark.parametrize("used", [True, False])
def test_an_unpickled_evaluator_gives_the_same_result(used: bool) -> None:
    data = small_sample()
    evaluator = cv.Evaluator(data.judgments, data.items, metrics=["N2DCG_cat", "Hit@3x5"])
    if used:
        evaluator.evaluate(data.layouts["prod"])
    copy = pickle.loads(pickle.dumps(evaluator))
    assert repr(copy) == repr(evaluator)
    for layouts in data.layouts.values():
        assert_frame_equal(copy.evaluate(layouts).per_page, evaluator.evaluate(layouts).per_page)


@cache
def small_sample() -> cv.Sample:
    return cv.sample(20, systems=["new", "prod"])


def compared() -> cv.Comparison:
    data = small_sample()
    return cv.compare(data.layouts, data.judgments, data.items)


CANDIDATES = {"user_id": ["u000000"] * 2, "carousel": ["a", "b"], "col": [1, 1], "item_id": ["m00047", "m00259"]}
RESULTS: dict[str, Callable[[cv.Sample], Any]] = {
    "Evaluation": lambda data: cv.evaluate(data.layouts["new"], data.judgments, data.items),
    "Comparison": lambda _: compared(),
    "PowerAnalysis": lambda _: compared().plan(0.01),
    "Explanation": lambda data: cv.explain(data.layouts["new"], data.judgments, data.items),
    "Check": lambda data: cv.check(data.layouts["new"], data.judgments, data.items),
    "Sensitivity": lambda data: cv.sensitivity(data.layouts, data.judgments, data.items),
    "MarginalGains": lambda data: cv.marginal_gains(None, CANDIDATES, data.judgments, data.items),
    "BuiltPages": lambda data: cv.build_pages(CANDIDATES, data.judgments, data.items, rows=2),
    "Examination": lambda _: cv.attention.recgaze_counts("bratislava"),
    "LikelihoodFit": lambda _: cv.attention.fit_likelihood(cv.attention.recgaze_counts("bratislava"), "d_rpd"),
}


@pytest.mark.parametrize("kind", RESULTS)
def test_an_unpickled_result_is_the_same(kind: str) -> None:
    result = RESULTS[kind](small_sample())
    copy = pickle.loads(pickle.dumps(result))
    assert type(copy) is type(result)
    assert type(copy).__name__ == kind
    assert repr(copy) == repr(result)
    if isinstance(result, Result):
        assert_frame_equal(copy.to_frame(), result.to_frame())
        assert copy.to_json() == result.to_json()
        assert copy.to_markdown() == result.to_markdown()


def test_an_unpickled_sample_has_the_same_tables() -> None:
    data = small_sample()
    copy = pickle.loads(pickle.dumps(data))
    assert_frame_equal(copy.judgments, data.judgments)
    for name, layouts in data.layouts.items():
        assert_frame_equal(copy.layouts[name], layouts)
