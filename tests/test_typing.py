"""How type checkers see the installed package: a user's script, its mistakes, and how much of the package is typed."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import carouseval as cv

page = [[3, 0, 1], [0, 2]]
pages = [page, [[0, 1], [2]]]
array = np.array([[1.0, 0.0], [0.0, 2.0]])

assert_type(cv.n2dcg_cat(page), float)
assert_type(cv.n2dcg_cat(pages), NDArray[np.float64])
assert_type(cv.dcg2d(page, cv.discounts.RowPage(mu=0.5), cv.Grid(2, 3), "linear"), float)
assert_type(cv.ideal_dcg2d(pages, ideal="unconstrained"), NDArray[np.float64])
print(round(cv.n2dcg_cat(array), 4), cv.n2dcg(np.stack([array, array])).mean())

sample = cv.sample(users=20, systems=["prod", "new"])
result = cv.evaluate(sample.layouts["new"], sample.judgments, sample.items, metrics=["N2DCG_cat@3x5", cv.metric("RR")])
assert_type(result, cv.Evaluation)
assert_type(result.mean["RR"], float)
assert_type(result.interval("RR", ci=0.9), tuple[float, float])
comparison = cv.compare(sample.layouts, sample.judgments, sample.items, candidates="displayed", ci=0.9, test="t")
assert_type(comparison, cv.Comparison)
assert_type(cv.explain(sample.layouts["new"], sample.judgments, sample.items).shares, dict[str, float])
assert_type(cv.Evaluator(sample.judgments, sample.items, threads=1).evaluate(sample.layouts["new"]), cv.Evaluation)
"""

MISTAKES = {
    "a policy's name": 'cv.evaluate("a.csv", "b.csv", candidates="judge")',
    "a setting's name": 'cv.evaluate("a.csv", "b.csv", candidate="judged")',
    "another function's policy": 'cv.compare({"a": "a.csv", "b": "b.csv"}, "c.csv", missing_pages="skipped")',
    "a test's name": 'cv.compare({"a": "a.csv", "b": "b.csv"}, "c.csv", test="permutations")',
    "a setting's type": 'cv.Evaluator("b.csv", threads="two")',
    "an ideal's name": 'cv.ideal_dcg2d([[1]], ideal="categories")',
    "a gain's name": 'cv.n2dcg_cat([[1]], gain="exp")',
    "a parameter of a discount": "cv.discounts.RowPage(gamma=1)",
    "a method": 'cv.evaluate("a.csv", "b.csv").to_tables()',
    "a name": "cv.evaluates",
    "a score for an array": "cv.n2dcg_cat([[1, 0]]).mean()",
}
LINES = len(SCRIPT.splitlines())

SETTINGS = {
    'cv.evaluate({}, {}, candidates="displayed", metrics="N2DCG", threads=2)': "",
    'cv.Evaluator({}, no_relevant="zero").evaluate({})': "",
    'cv.compare({}, {}, weight="w", test="t", grid={"tv": cv.TV}, by="device")': "",
    'cv.evaluate({}, {}, candidates="jugded")': "candidates",
    'cv.explain({}, {}, duplicate="best")': "duplicate",
    'cv.sensitivity({}, {}, memory="much")': "memory",
    'cv.check({}, invalid="ignore")': "invalid",
    'cv.compare({}, {}, correction="bonferroni")': "correction",
    'cv.evaluate({}, {}, {}, ["N2DCG"])': "Too many positional",
}


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The script, and below it one mistake a line."""
    path = tmp_path_factory.mktemp("typing") / "script.py"
    path.write_text(SCRIPT + "".join(f"{line}\n" for line in MISTAKES.values()), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def mypy_output(script: Path) -> str:
    """What mypy says of that script and of another, which calls functions with settings; it takes seconds to start."""
    settings = script.with_name("settings.py")
    settings.write_text("import carouseval as cv\n" + "".join(f"{call}\n" for call in SETTINGS))
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir=cache"]
    return run(*command, script.name, settings.name, cwd=script.parent)


def run(*command: str, cwd: Path) -> str:
    """A type checker's words, in a folder without the sources, so that it sees what is installed."""
    bin_folder = Path(sys.executable).parent
    environment = os.environ | {"PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}"}
    environment.pop("PYTHONPATH", None)
    process = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    return process.stdout + process.stderr


@pytest.mark.parametrize("checker", ["mypy", pytest.param("pyright", marks=pytest.mark.deep)])
def test_a_users_script_is_understood_and_every_mistake_in_it_found(
    script: Path, mypy_output: str, checker: str
) -> None:
    output = mypy_output
    if checker == "pyright":
        output = run(sys.executable, "-m", "pyright", script.name, cwd=script.parent)
    wrong = {int(line) for line in re.findall(r"script\.py:(\d+):(?:\d+ -)? error", output)}
    assert wrong == set(range(LINES + 1, LINES + len(MISTAKES) + 1)), output


def test_mypy_checks_settings_in_a_users_script(mypy_output: str) -> None:
    for line, (call, said) in enumerate(SETTINGS.items(), 2):
        told = [text for text in mypy_output.splitlines() if f"settings.py:{line}: error" in text]
        assert bool(told) == bool(said), (call, mypy_output)
        assert not told or any(said in text for text in told), (call, told)


def test_the_public_interface_is_typed(tmp_path: Path) -> None:
    output = run(sys.executable, "-m", "pyright", "--verifytypes", "carouseval", "--ignoreexternal", cwd=tmp_path)
    score = re.search(r"Type completeness score: ([\d.]+)%", output)
    assert score, output
    assert float(score[1]) >= 99, output
