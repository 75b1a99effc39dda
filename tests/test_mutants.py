"""Lists of mutants: up to date, on record, and a sample of them dies. ``make mutants`` runs them all."""

from pathlib import Path

import pytest

from tests.mutants.run import KILLED, RECORD, ROOT, Copy, Mutant, read_mutants, record

MUTANTS = read_mutants()
SAMPLE = ("divided-by-the-page-found", "resampled-by-all-screens")


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_lists_are_up_to_date(mutant: Mutant) -> None:
    assert mutant.text()  # with the mistake in one place
    path, *_, name = mutant.killed_by.split("::")
    tests = (ROOT / path).read_text(encoding="utf-8")
    assert f"def {name}(" in tests, f"there is no test {mutant.killed_by}"


def test_the_tests_that_kill_are_in_the_gate(request: pytest.FixtureRequest) -> None:
    """With some of their parameters, at least; in a run of some files, those that stand there."""
    collected = {item.nodeid.partition("[")[0] for item in request.session.items}
    files = {test.partition("::")[0] for test in collected}
    is_gate = request.config.args == ["tests"] and not request.config.getoption("ignore")
    tests = {mutant.killed_by for mutant in MUTANTS}
    assert {test for test in tests if is_gate or test.partition("::")[0] in files} <= collected


def test_every_mutant_is_on_record() -> None:
    assert len(MUTANTS) == len({mutant.name for mutant in MUTANTS}) >= 70
    all_killed = record({mutant: f"{KILLED}{mutant.killed_by}" for mutant in MUTANTS})
    assert RECORD.read_text(encoding="utf-8") == all_killed, "run make mutants"


def test_a_sample_dies(tmp_path: Path) -> None:
    mutants = [mutant for mutant in MUTANTS if mutant.name in SAMPLE]
    assert len(mutants) == len(SAMPLE)
    copy = Copy(tmp_path)
    assert copy.run([mutant.killed_by for mutant in mutants]).returncode == 0
    for mutant in mutants:
        assert copy.outcome(mutant) == f"{KILLED}{mutant.killed_by}"
