"""The tool that compares two versions finds nothing where there is nothing, and what there is."""

import math
import shutil
import subprocess
import sys
from pathlib import Path

import carouseval as cv
from tests.differential.differences import differences
from tests.differential.expected import Expected
from tests.differential.plain import plain

ROOT = Path(__file__).parent.parent
PACKAGE = Path(cv.__file__).parent


def run(old: Path, new: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.differential", str(old), str(new), *options]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


def test_two_versions(tmp_path: Path) -> None:
    """A version against a copy of itself, and against one with a number and a word of its own."""
    for name in ("same", "other"):
        shutil.copytree(PACKAGE, tmp_path / name / "carouseval", ignore=shutil.ignore_patterns("__pycache__"))
    changed = tmp_path / "other" / "carouseval" / "metrics" / "array_functions.py"
    changed.write_text(
        changed.read_text() + "\n_dcg2d = dcg2d\n\n\ndef dcg2d(*a, **k):\n    return 2 * _dcg2d(*a, **k)\n"
    )
    same = run(tmp_path / "same", tmp_path / "same", "--cases", "20", "--only", "arrays,evaluate")
    assert same.returncode == 0, same.stdout + same.stderr
    assert "20 the same to the bit" in same.stdout
    assert "no other differences" in same.stdout
    other = run(tmp_path / "same", tmp_path / "other", "--cases", "60", "--only", "arrays")
    assert other.returncode == 1, other.stdout + other.stderr
    assert "call.value [value]" in other.stdout
    (repeat,) = {line.split()[-1] for line in other.stdout.splitlines() if "--case arrays:" in line}
    assert run(tmp_path / "same", tmp_path / "other", "--case", repeat).returncode == 1


def test_how_values_differ() -> None:
    def found(old: object, new: object) -> list[tuple[str, str, float]]:
        return [(one.where, one.nature, one.ulps) for one in differences(plain(old), plain(new))]

    assert found({"a": [1.0, math.nan, "x"]}, {"a": [1.0, math.nan, "x"]}) == []
    assert found({"a": [1.0, 2.0]}, {"a": [1.0, math.nextafter(2.0, 3.0)]}) == [("a", "value", 1.0)]
    assert found({"a": 1.0}, {"a": 1}) == [("a", "value", math.inf)]
    assert found({"a": 0.0}, {"a": -0.0}) == [("a", "value", 0.0)]
    assert found({"a": 1, "b": 2}, {"b": 2, "a": 1}) == [("", "order", math.inf)]
    assert found({"a": 1}, {"b": 1}) == [("a", "missing", math.inf), ("b", "added", math.inf)]
    assert found([1, 2], [1]) == [("", "length", math.inf)]
    assert found("mean 0.1234", "mean 0.1235") == [("", "digits", 1.0)]
    assert found("mean 0.1234", "mean 0.1236") == [("", "digits", math.inf)]
    assert found("1 page", "5 page") == [("", "digits", math.inf)]
    assert found("1 page", "1 pages") == [("", "words", math.inf)]
    refused = {"error": "DataError: no", "warnings": []}
    assert found({"f": refused}, {"f": {"value": 1, "warnings": []}}) == [("f", "outcome", math.inf)]


def test_what_is_meant() -> None:
    (difference,) = differences(plain({"low": 1.0}), plain({"low": 1.0 + 2**-50}))
    assert Expected("", r"low$", ulps=4).covers(difference)
    assert not Expected("", r"low$", ulps=3).covers(difference)
    assert Expected("", r"low$", apart=1e-15).covers(difference)
    assert not Expected("", r"high$", ulps=4).covers(difference)
    assert not Expected("", r"low$", ("words",)).covers(difference)
