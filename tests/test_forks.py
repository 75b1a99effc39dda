"""Worker processes: those forked after tables were used get an error, all others work."""

import subprocess
import sys
from pathlib import Path

import pytest

from carouseval import forks
from carouseval.results import Result
from tests.depth import some

FORKED = """
import multiprocessing, sys
import polars as pl
import carouseval as cv

layouts = {"user_id": [1], "row": [1], "col": [1], "item_id": [7], "category": ["new"]}
judgments = {"user_id": [1], "item_id": [7], "relevance": [1]}
items = {"item_id": [7], "category": ["new"]}
counts = cv.attention.recgaze_counts("all")
BEFORE

def work():
    try:
        print(IN_WORKER)
    except cv.CarousevalError as error:
        print(type(error).__name__, error)
    sys.stdout.flush()

worker = multiprocessing.get_context("METHOD").Process(target=work)
if __name__ == "__main__":
    worker.start()
    worker.join()
"""
USES = {
    "evaluate": "result = cv.evaluate(layouts, judgments)",
    "Evaluator": "evaluator = cv.Evaluator(judgments, items)",
    "compare": "comparison = cv.compare({'a': layouts, 'b': layouts}, judgments)",
    "explain": "explanation = cv.explain(layouts, judgments)",
    "Polars itself": "pl.LazyFrame({'a': [1, 2]}).filter(pl.col('a') > 1).collect()",
}


def output_of_worker(folder: Path, before: str, in_worker: str, method: str = "fork") -> str:
    """What a worker prints; one that waits forever fails the test."""
    script = folder / "script.py"
    script.write_text(FORKED.replace("BEFORE", before).replace("IN_WORKER", in_worker).replace("METHOD", method))
    command = [sys.executable, "-W", "ignore", str(script), str(folder)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout


@pytest.mark.skipif(sys.platform != "linux", reason="forks after threads have started are refused on Linux alone")
@pytest.mark.parametrize(
    ("use", "in_worker"),
    some(
        [
            ("evaluate", "cv.evaluate(layouts, judgments)"),
            ("Evaluator", "evaluator.evaluate(layouts)"),
            ("evaluate", "result.per_user"),
            ("evaluate", "result.per_page"),
            ("compare", "comparison"),
            ("compare", "comparison.to_markdown()"),
            ("compare", "comparison.to_json()"),
            ("explain", "explanation"),
            ("explain", "explanation.worst"),
            ("evaluate", "cv.sample(10)"),
            ("evaluate", "cv.sample(10, kind='home')"),
            ("evaluate", "cv.building.write_sample(sys.argv[1], 10)"),
            ("evaluate", "cv.compare({'a': layouts, 'b': layouts}, judgments)"),
            ("evaluate", "cv.explain(layouts, judgments)"),
            ("evaluate", "cv.check(layouts, judgments)"),
            ("evaluate", "cv.sensitivity({'a': layouts, 'b': layouts}, judgments)"),
            ("evaluate", "cv.items_from_layouts(layouts)"),
            ("evaluate", "cv.carousels_from_layouts(layouts)"),
            ("evaluate", "cv.marginal_gains(None, layouts, judgments)"),
            ("evaluate", "cv.build_pages(layouts, judgments)"),
            ("evaluate", "cv.pages_from_scores({'user_id': [1], 'item_id': [7], 'score': [1]}, items)"),
            ("evaluate", "cv.judgments_from_events(judgments, value='relevance')"),
            ("Polars itself", "cv.evaluate(layouts, judgments)"),
            ("explain", "explanation.page()"),
        ],
        every=2,
    ),
)
def test_a_worker_forked_after_use_is_told_to_spawn(tmp_path: Path, use: str, in_worker: str) -> None:
    assert output_of_worker(tmp_path, USES[use], in_worker) == (
        "CarousevalError tables cannot be read in a process forked after tables were used: it would wait forever. "
        "Start workers with multiprocessing.get_context('spawn') or 'forkserver', or before any table is used.\n"
    )


@pytest.mark.parametrize(
    ("names", "used"),
    [
        (["python", "polars-ooc-clea"], False),  # imported only
        (["python", "python", "polars-1"], True),  # the first worker has not run yet
        (["python", "async-executor-"], True),
    ],
)
def test_any_thread_of_polars_tells_that_it_was_used(
    monkeypatch: pytest.MonkeyPatch, names: list[str], used: bool
) -> None:
    monkeypatch.setattr(forks, "_process", None)
    monkeypatch.setattr(forks, "_thread_names", lambda: [f"{name}\n" for name in names])
    forks._note_threads()
    assert (forks._process is not None) == used


@pytest.mark.skipif(sys.platform != "linux", reason="forks after threads have started are refused on Linux alone")
@pytest.mark.parametrize(
    "in_worker",
    [
        "cv.n2dcg_cat(np.ones((9000, 3, 4))).mean()",  # several threads, which are started anew
        "cv.ideal_layout(np.ones((3, 4))).shape",
        "cv.simulate(trials=2000).to_markdown()",
        "cv.attention.fit_likelihood(counts, 'd_rpb')",
        "cv.attention.grid_search(counts, 'd_t')",
        "cv.users_needed(0.1, 0.02)",
        "cv.discounts.MarkovScan().weights(cv.RECGAZE).shape",
    ],
)
def test_what_needs_no_tables_works_in_any_worker(tmp_path: Path, in_worker: str) -> None:
    output = output_of_worker(tmp_path, f"{USES['evaluate']}\nimport numpy as np", in_worker)
    assert output
    assert "Error" not in output


def test_nothing_stands_before_tables_where_nothing_is_forked() -> None:
    """Every attribute of a result would be asked for twice."""
    assert Result.__getattribute__ is object.__getattribute__


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
@pytest.mark.parametrize(
    ("use", "method"), [("", "fork"), (USES["evaluate"], "spawn"), (USES["evaluate"], "forkserver")]
)
def test_other_workers_evaluate(tmp_path: Path, use: str, method: str) -> None:
    """Those forked before any use; spawned ones, which run the script again; and those of a server."""
    use = f"if __name__ == '__main__':\n    {use}" if use else ""
    assert (
        output_of_worker(tmp_path, use, "cv.evaluate(layouts, judgments)", method)
        == "Evaluation(N2DCG_cat=1.0000; 1 user, 1 page scored)\n"
    )
