"""Calls of kernels that are recorded come back with the same results, and another result is noticed."""

import pickle
from dataclasses import replace
from pathlib import Path

import pytest

from tests import kernel_calls


def test_calls_are_replayed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(kernel_calls, "SEEDS", range(4))
    path = tmp_path / "calls.pickle"
    kernel_calls.record(path)
    count = kernel_calls.replay(path)
    assert capsys.readouterr().out.startswith(f"{count} calls of ")
    calls = pickle.loads(path.read_bytes())
    assert {"read_pages", "score_hits", "candidate_ideals"} <= {call.kernel for call in calls}
    *others, last = (call for call in calls if call.kernel == "score_hits")
    path.write_bytes(pickle.dumps([*others, replace(last, result="another one")]))
    with pytest.raises(AssertionError, match="score_hits"):
        kernel_calls.replay(path)
