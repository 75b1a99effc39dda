"""What several test files of evaluations share."""

import pytest

from carouseval.evaluation import resampling


@pytest.fixture
def no_intervals(monkeypatch: pytest.MonkeyPatch) -> None:
    """Comparisons without resampling, most of the time of a tiny one; where intervals are not in question."""
    monkeypatch.setattr(resampling, "resampled_means", lambda values, *_: values)
