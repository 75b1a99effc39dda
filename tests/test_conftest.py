"""Suites whose program is missing are named at the end, and fail the run under --require-all."""

import shutil
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]
SUITE = """
import pytest
@pytest.mark.needs("no-such-program")
def test_needing(): pass
@pytest.mark.needs("sh")
def test_served(): pass
"""


@pytest.fixture
def suite(pytester: pytest.Pytester) -> pytest.Pytester:
    shutil.copy(Path(__file__).with_name("conftest.py"), pytester.path / "conftest.py")
    pytester.makeini("[pytest]\nmarkers = needs(program): x")
    pytester.makepyfile(SUITE)
    return pytester


@pytest.mark.parametrize("workers", [[], ["-n", "2"]])
def test_a_missing_program_is_named_and_fails_only_when_all_is_required(
    suite: pytest.Pytester, workers: list[str]
) -> None:
    tolerant = suite.runpytest_subprocess(*workers)
    assert tolerant.ret == 0
    tolerant.assert_outcomes(passed=1, skipped=1)
    tolerant.stdout.fnmatch_lines(["left out: 1 tests need no-such-program, which is not installed"])
    strict = suite.runpytest_subprocess("--require-all", *workers)
    assert strict.ret == 1
    strict.stdout.fnmatch_lines(["FAILED, --require-all: 1 tests need no-such-program, which is not installed"])
