"""The setting ``memory``: it allows for the height of grids, and neither results nor errors depend on it."""

import subprocess
import sys
from typing import Any

import polars as pl
import pytest

import carouseval as cv
from carouseval.evaluation import plan

PEAK = """
import sys
import numpy as np
import carouseval as cv

def peak():
    return int(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1]) >> 10

user, row = np.repeat(np.arange(100_000), 2), np.tile([1, 2], 100_000)
layouts = {"user_id": user, "row": row, "col": np.ones_like(row), "item_id": row, "category": row}
judgments = {"user_id": user, "item_id": row}
peaks = [peak()]
for rows in (2, 800):
    cv.evaluate(layouts, judgments, grid=cv.Grid(rows, 5), memory=0.05, candidates=sys.argv[1])
    peaks.append(peak())
print(*peaks)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak from /proc")
@pytest.mark.parametrize("candidates", ["judged", "displayed"])
def test_tall_grids_take_no_more_memory_than_allowed(candidates: str) -> None:
    """All pages at once would be arrays of 100,000 x 800 rows: 700 MiB with judged candidates, 1,900 with displayed."""
    command = [sys.executable, "-c", PEAK, candidates]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    _, low, tall = map(int, done.stdout.split())
    assert tall - low < 150


@pytest.fixture
def data() -> cv.Sample:
    return cv.sample(40, systems=["new"], devices=True, pinned=True, ids="int")


def evaluate(data: cv.Sample, layouts: pl.DataFrame, **settings: Any) -> cv.Evaluation:
    return cv.evaluate(layouts, data.judgments, data.items, by="device", grid=data.grids, **settings)


@pytest.mark.parametrize("candidates", ["judged", "displayed"])
def test_pages_scored_one_at_a_time_have_the_same_scores(
    data: cv.Sample, candidates: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    metrics = ["N2DCG_cat", "N2DCG", "Precision@2x5", "RR", "Coverage@3x5"]
    whole = evaluate(data, data.layouts["new"], metrics=metrics, candidates=candidates)
    monkeypatch.setattr(plan, "_LEAST_PAGE_MEMORY", 1)
    batches: list[int] = []
    single = evaluate(
        data, data.layouts["new"], metrics=metrics, candidates=candidates, memory=1e-6,
        progress=lambda what, done, total: batches.append(done) if what == "scoring" else None,
    )  # fmt: skip
    assert batches == list(range(1, 41))
    assert single.per_page.equals(whole.per_page)
    assert single.mean == whole.mean


def test_errors_count_all_pages(data: cv.Sample, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page with a gap in its rows comes before one with a repeated cell, which is the graver defect."""
    layouts, users = data.layouts["new"], data.layouts["new"]["user_id"].unique(maintain_order=True)
    skipped = layouts.filter((pl.col("user_id") != users[0]) | (pl.col("row") != 2))
    repeats = layouts.filter(pl.col("user_id").is_in([users[20], users[30]]), pl.col("row") == 1, pl.col("col") == 1)
    broken = pl.concat([skipped, repeats])
    messages = []
    for memory, least in ((4, 1 << 24), (1e-6, 1)):
        monkeypatch.setattr(plan, "_LEAST_PAGE_MEMORY", least)
        with pytest.raises(cv.DataError) as error:
            evaluate(data, broken, memory=memory)
        messages.append(str(error.value))
    assert messages[0].startswith("layouts: 2 cells appear twice, first user_id=")
    assert messages[1] == messages[0]
