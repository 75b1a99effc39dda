"""Suites whose program is missing are named at the end and fail under --require-all; what the deep layer adds."""

import re
import shutil
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]
SUITE = """
import pytest
from tests.depth import gate_or_deep, seeds
@pytest.mark.needs("no-such-program")
def test_needing(): pass
@pytest.mark.needs("sh")
def test_served(): pass
@pytest.mark.deep
def test_deep(): assert gate_or_deep(1, 2) == 2 and [*seeds(1, 2, start=5)][:3] == [5, 6, 1_000_171]
"""


@pytest.fixture
def suite(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    monkeypatch.delenv("CAROUSEVAL_DEEP", raising=False)
    folder = pytester.mkpydir("tests")
    for name in ("conftest.py", "depth.py"):
        shutil.copy(Path(__file__).with_name(name), folder)
    (folder / "test_suite.py").write_text(SUITE)
    pytester.makeini("[pytest]\nmarkers = needs(program): x\n  deep: x")
    return pytester


@pytest.mark.parametrize("workers", [[], ["-n", "2"]])
def test_a_missing_program_is_named_and_fails_only_when_all_is_required(
    suite: pytest.Pytester, workers: list[str]
) -> None:
    tolerant = suite.runpytest_subprocess("tests", *workers)
    assert tolerant.ret == 0
    tolerant.assert_outcomes(passed=1, skipped=1)
    tolerant.stdout.fnmatch_lines(["left out: 1 tests need no-such-program, which is not installed"])
    strict = suite.runpytest_subprocess("tests", "--require-all", *workers)
    assert strict.ret == 1
    strict.stdout.fnmatch_lines(["FAILED, --require-all: 1 tests need no-such-program, which is not installed"])


def test_a_suite_that_shares_something_runs_on_one_worker(pytester: pytest.Pytester, suite: pytest.Pytester) -> None:
    pytester.mkpydir("tests/engines")
    shared = pytester.mkpydir("tests/engines/spark")
    for name in "abc":
        (shared / f"test_{name}.py").write_text(
            "import pytest\n@pytest.mark.parametrize('n', range(3))\ndef test(n): pass"
        )
    shown = suite.runpytest_subprocess("tests", "-n", "2", "-v").stdout.str()
    assert len(re.findall(r"PASSED tests/engines/spark/", shown)) == 9
    assert len({*re.findall(r"\[(gw\d)\] .* PASSED tests/engines/spark/", shown)}) == 1


def test_the_deep_layer_runs_what_the_gate_leaves_out(suite: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    assert suite.runpytest_subprocess("tests", "-k", "deep").ret == pytest.ExitCode.NO_TESTS_COLLECTED
    suite.runpytest_subprocess("tests", "--with-deep").assert_outcomes(
        passed=1, failed=1, skipped=1
    )  # the gate's numbers
    monkeypatch.setenv("CAROUSEVAL_DEEP", "00000ab4c")
    deep = suite.runpytest_subprocess("tests")
    deep.assert_outcomes(passed=2, skipped=1)
    deep.stdout.fnmatch_lines(["deep layer, commit 00000ab4c: fresh seeds from 1000171"])
