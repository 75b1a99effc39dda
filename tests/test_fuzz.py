"""Some of the cases of every fuzzer, and the command that runs as many as one likes."""

import multiprocessing
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fuzz import KINDS, ViolationError, cases, strings

CASES = {"tables": 60, "files": 300, "arrays": 900, "strings": 1500}  # the deep layer runs many more by the command
PARTS = 2


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("kind", KINDS)
def test_a_right_result_or_an_error_of_ours(kind: str, part: int) -> None:
    outcomes = list(cases.run(kind, range(CASES[kind])[part::PARTS]))
    assert [(case.number, case.violation) for case in outcomes if case.violation] == []
    endings = " ".join(case.outcome for case in outcomes)
    assert "refused" in endings
    assert any(word in endings for word in ("scored", "value", "as the reader"))


@pytest.mark.parametrize("kind", KINDS)
def test_a_case_is_the_same_by_itself(kind: str) -> None:
    assert repr(cases.draw(kind, 7, 5)) == repr(cases.draw(kind, 7, 5)) != repr(cases.draw(kind, 7, 6))


def fuzz(*arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "tests.fuzz", *arguments]
    return subprocess.run(command, cwd=Path(__file__).parents[1], capture_output=True, text=True, check=False)


def test_the_command_lists_the_kinds_of_input() -> None:
    shown = fuzz()
    assert shown.returncode == 0
    assert all(kind in shown.stdout for kind in KINDS)


def test_the_command_counts_outcomes() -> None:
    shown = fuzz("strings", "60", "--seed", "3", "--workers", "2")
    assert shown.returncode == 0
    assert sum(int(line.split()[0]) for line in shown.stdout.splitlines()) == 60
    assert "--case" not in shown.stdout


def test_the_command_replays_a_case() -> None:
    shown = fuzz("strings", "--case", "5")
    assert shown.returncode == 0
    assert repr(cases.draw("strings", 0, 5)) in shown.stdout


def test_a_process_that_ends_is_a_violation_and_the_other_cases_go_on() -> None:
    outcomes = cases.run_in_processes("strings", range(3000), seed=0, workers=1)
    first = next(outcomes)
    (process,) = multiprocessing.active_children()
    process.kill()
    rest = list(outcomes)
    assert sorted(case.number for case in [first, *rest]) == [*range(3000)]
    assert [case.violation for case in rest if case.violation] == ["the process ended with status -9"]


def test_violations_are_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(strings.CALLS, "gain", (lambda text: 1 / 0, ["linear"]))
    with pytest.raises(ViolationError, match="ZeroDivisionError"):
        strings.check(strings.Case("gain", "exp2"), tmp_path)
    (found,) = [case for case in cases.run("strings", range(60)) if "ZeroDivisionError" in case.violation][:1]
    assert cases.draw("strings", 0, found.number).call == "gain"
