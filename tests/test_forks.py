"""Worker processes: those forked after tables were used get an error, all others work."""

import subprocess
import sys
from pathlib import Path

import pytest

FORKED = """
import multiprocessing, sys
import polars as pl
import carouseval as cv

layouts = {"user_id": [1], "row": [1], "col": [1], "item_id": [7], "category": ["new"]}
judgments = {"user_id": [1], "item_id": [7], "relevance": [1]}
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
    "Evaluator": "evaluator = cv.Evaluator(judgments, {'item_id': [7], 'category': ['new']})",
    "Polars itself": "pl.LazyFrame({'a': [1, 2]}).filter(pl.col('a') > 1).collect()",
}


def output_of_worker(folder: Path, before: str, in_worker: str, method: str = "fork") -> str:
    """What a worker prints; one that waits forever fails the test."""
    script = folder / "script.py"
    script.write_text(FORKED.replace("BEFORE", before).replace("IN_WORKER", in_worker).replace("METHOD", method))
    command = [sys.executable, "-W", "ignore", str(script)]
    return subprocess.run(command, capture_output=True, text=True, timeout=30, check=True).stdout


@pytest.mark.skipif(sys.platform != "linux", reason="forks after threads have started are refused on Linux alone")
@pytest.mark.parametrize(
    ("use", "in_worker"),
    [
        ("evaluate", "cv.evaluate(layouts, judgments)"),
        ("Evaluator", "evaluator.evaluate(layouts)"),
        ("evaluate", "result.mean"),
        ("Polars itself", "cv.evaluate(layouts, judgments)"),
    ],
)
def test_a_worker_forked_after_use_is_told_to_spawn(tmp_path: Path, use: str, in_worker: str) -> None:
    assert output_of_worker(tmp_path, USES[use], in_worker) == (
        "CarousevalError tables cannot be read in a process forked after tables were used: it would wait forever. "
        "Start workers with multiprocessing.get_context('spawn') or 'forkserver', or before any table is used.\n"
    )


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
