"""The deep layer's own machinery, and what its record says."""

import subprocess
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
        (["   12,345  refused: DataError\n", "        7  scored\n"], "12,352 cases, no violation"),
        (["a: killed by b\n", "2 of 2 mutants killed; not killed: none\n"], "2 of 2 mutants killed; not killed: none"),
        (["3 of 5 | 2 left\n", "\n"], "3 of 5 / 2 left"),
        (["11 deselected in 0.10s\n"], "11 deselected"),
        ([], "no output"),
    ],
)
def test_what_commands_say_of_themselves(lines: list[str], said: str) -> None:
    assert deep.ending(lines) == said


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (
            [
                "FAILED tests/test_a.py::test_b[1] - assert 1 == 2\n",
                "ERROR tests/test_c.py\n",
                "1 failed, 1 error in 2s\n",
            ],
            "1 failed, 1 error: tests/test_a.py::test_b[1], ERROR tests/test_c.py",
        ),
        (
            [*(f"FAILED tests/test_a.py::test[{n}] - a\n" for n in range(7)), "7 failed in 2s\n"],
            f"7 failed: {', '.join(f'tests/test_a.py::test[{n}]' for n in range(5))} and 2 more",
        ),
        (
            ["FAILED, --require-all: 3 tests need java, which is not installed\n", "9 passed, 3 skipped in 2s\n"],
            "9 passed, 3 skipped: FAILED, --require-all: 3 tests need java, which is not installed",
        ),
        (
            ["python -m tests.fuzz files --seed 1 --case 7\n", "  of two lines\n", "  7  scored\n", "  1  VIOLATION\n"],
            "8 cases, 1 violation: python -m tests.fuzz files --seed 1 --case 7",
        ),
        (
            ["1 of 2 mutants killed; not killed: b\n", "make: *** [Makefile:9: c] Error 1\n"],
            "1 of 2 mutants killed; not killed: b",
        ),
        # the examples of docstrings passed, and what came next could not begin
        (
            ["212 passed in 3.10s\n", "/tmp/a/b.py: no such file in '/c/d e'\n", "make[1]: Leaving directory '/a'\n"],
            "b.py: no such file in 'd e'",
        ),
        (["make: *** [Makefile:9: c] Error 1\n"], "no output"),
    ],
)
def test_why_commands_failed(lines: list[str], said: str) -> None:
    assert deep.failure(lines) == said


def test_every_test_is_in_a_part() -> None:
    folders = {folder for folders in deep.FOLDERS.values() for folder in folders}
    tests = deep.ROOT / "tests"
    assert all((tests / folder).is_dir() for folder in folders)
    commands = deep.parts(COMMIT)
    assert [commands[part][0][7:] for part in deep.FOLDERS] == [
        [f"tests/{folder}" for folder in folders] for folders in deep.FOLDERS.values()
    ]
    (other,) = commands["other"]
    assert {*other[7:]} == {"tests", *(f"--ignore=tests/{folder}" for folder in folders)}


def test_what_make_says_of_itself_is_not_recorded() -> None:
    """As part of another make, it names the folders that it enters and leaves."""
    assert all(
        command[:2] == list(deep.MAKE) for part in deep.parts(COMMIT).values() for command in part if "make" in command
    )


def test_a_part_is_recorded_and_the_others_stay(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    code = "import os; print('7 passed, seed', os.environ['CAROUSEVAL_DEEP'][:7])"
    commands = {"tests": [[sys.executable, "-c", code]], "mutants": [[sys.executable, "-c", "exit('1')"]]}
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


def test_a_tree_that_changes_meanwhile_is_not_the_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deep, "head", lambda: f"{COMMIT}+")
    run, good = deep.run_part("tests", [[sys.executable, "-c", "print('7 passed')"]], COMMIT)
    assert good
    assert (run.commit, run.result) == ("0123456+", "7 passed")


def test_records_are_no_changes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Else one part would make the next say that it ran on something else than the commit."""
    monkeypatch.setattr(deep, "ROOT", tmp_path)
    for name in ("RECORD", "MUTANTS"):
        monkeypatch.setattr(deep, name, tmp_path / f"{name}.md")
    git = ("git", "-c", "user.name=a", "-c", "user.email=b")
    for command in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "a"]):
        subprocess.run([*git, *command], cwd=tmp_path, check=True)
    commit = deep.head()
    for name in ("RECORD", "MUTANTS"):
        (tmp_path / f"{name}.md").write_text("new")
    assert deep.head() == commit
    (tmp_path / "pyproject.toml").write_text("new")
    assert deep.head() == f"{commit}+"


def test_the_record_has_all_parts_and_no_failure(request: pytest.FixtureRequest) -> None:
    if DEEP or request.config.getoption("--with-deep"):
        pytest.skip("run by the deep layer, whose record says what ran before: a failure would never leave it")
    text = deep.RECORD.read_text(encoding="utf-8")
    runs = deep.read_record(text)
    assert deep.record(runs, [*deep.parts(COMMIT)]) == text
    assert [run for run in runs.values() if "FAILED" in run.result or "OVER" in run.result] == []


@pytest.mark.skipif(DEEP, reason="runs itself with --with-deep")
def test_no_part_fails_for_what_the_record_says() -> None:
    """What test-lowest runs there, with --with-deep and the gate's seeds, included the record: once red, always red."""
    test = f"{Path(__file__).relative_to(deep.ROOT)}::test_the_record_has_all_parts_and_no_failure"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--with-deep", test]
    done = subprocess.run(command, cwd=deep.ROOT, capture_output=True, text=True)
    assert "1 skipped" in done.stdout, done.stdout
