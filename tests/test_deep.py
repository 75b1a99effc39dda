"""The deep layer's own machinery, and what its record says."""

import sys
from pathlib import Path

import pytest

from tests import deep
from tests.depth import DEEP, fresh_seed

COMMIT = "0123456789abcdef"


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["....  [100%]\n", "7 passed, 2 deselected in 779.37s (0:12:59)\n"], "7 passed, 2 deselected"),
        (["1 passed in 2.00s\n", "3 failed, 7 passed in 1.10s\n", "make: Error 1\n"], "3 failed, 7 passed"),
        (["==== 7 passed in 1.10s ====\n"], "7 passed"),
        (["   12,345  refused: DataError\n", "        7  scored\n"], "12,345 refused: DataError, 7 scored"),
        (["a: killed by b\n", "2 of 2 mutants killed; not killed: none\n"], "2 of 2 mutants killed; not killed: none"),
        (["3 of 5 | 2 left\n", "\n"], "3 of 5 / 2 left"),
        ([], "no output"),
    ],
)
def test_what_commands_say_of_themselves(lines: list[str], said: str) -> None:
    assert deep.ending(lines) == said


def test_a_part_is_recorded_and_the_others_stay(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    code = "import os; print('7 passed, seed', os.environ['CAROUSEVAL_DEEP'][:7])"
    commands = {"tests": [[sys.executable, "-c", code]], "mutants": [[sys.executable, "-c", "print(1); exit(3)"]]}
    monkeypatch.setattr(deep, "parts", lambda commit: commands)
    monkeypatch.setattr(deep, "head", lambda: f"{COMMIT}+")
    monkeypatch.setattr(deep, "RECORD", tmp_path / "DEEP.md")
    assert deep.main(["mutants"]) == 1
    assert deep.main(["tests"]) == 0
    assert f"commit {COMMIT}+, fresh seeds from {fresh_seed(COMMIT)}" in capfd.readouterr().out
    runs = deep.read_record((tmp_path / "DEEP.md").read_text())
    assert [run.result.partition(", seed")[0] for run in runs.values()] == ["7 passed", "FAILED: 1"]
    assert [run.part for run in runs.values()] == ["tests", "mutants"]
    assert runs["tests"].commit == "0123456+"
    assert runs["tests"].result.endswith(f"seed {COMMIT[:7]}")
    assert deep.main(["test"]) == 2
    assert capfd.readouterr().err == "there is no part test; there are tests, mutants\n"


@pytest.mark.skipif(DEEP, reason="the record says what ran before")
def test_the_record_is_complete_and_has_no_failure() -> None:
    runs = deep.read_record(deep.RECORD.read_text(encoding="utf-8"))
    assert {*runs} == {*deep.parts(COMMIT)}
    assert [run for run in runs.values() if "FAILED" in run.result or "OVER" in run.result] == []
