"""What the command says while Spark works: a bar of tasks, and that it waits for a cluster."""

import os
import pty
import re
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import polars as pl
import pytest

import carouseval as cv
from carouseval.cli import spark_progress
from tests.engines.spark.light_spark import light_environment

BAR = re.compile(r"Spark's tasks\W.*?([\d,]+) of ([\d,]+)")


@pytest.mark.parametrize("executors", [1, 2])
def test_waiting_for_a_cluster_is_said(
    executors: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    session = mock.MagicMock()
    session._sc.master = "spark://host:7077"
    infos = session._sc._jsc.sc.return_value.statusTracker.return_value.getExecutorInfos
    infos.return_value = [None] * executors
    monkeypatch.setattr(spark_progress, "_PATIENCE", 0.0)
    with spark_progress.watched(session):
        while not infos.called:
            time.sleep(0.01)
        time.sleep(0.1)
    assert ("still waiting for executors" in capsys.readouterr().err) == (executors == 1)
    assert infos.call_count == 1


def test_tasks_of_stages_that_ended_are_done() -> None:
    stages: list[dict[int, tuple[int, int]]] = [{}, {0: (1, 4)}, {0: (3, 4), 1: (0, 6)}, {1: (2, 6)}, {}]
    tracker = mock.MagicMock()
    drawn: list[tuple[str, int, int]] = []
    tasks: dict[int, tuple[int, int]] = {}
    for active in stages:
        tracker.getActiveStageIds.return_value = [*active, 99]  # of which Spark knows no more
        infos = {at: mock.Mock(numCompletedTasks=done, numTasks=count) for at, (done, count) in active.items()}
        tracker.getStageInfo.side_effect = infos.get
        spark_progress._draw(tracker, tasks, lambda what, done, total: drawn.append((what, done, total)))
    assert [one[1:] for one in drawn] == [(1, 4), (3, 10), (6, 10), (10, 10)]


def test_spark_that_ends_leaves_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def bar() -> Any:
        yield mock.Mock()

    monkeypatch.setattr(spark_progress, "progress_bar", bar)
    session = mock.MagicMock()
    session._sc.master = "local[2]"
    session._sc.statusTracker.side_effect = OSError("gone")
    with spark_progress.watched(session):
        while session._sc.statusTracker.call_count < 2:
            time.sleep(0.01)


@pytest.mark.deep  # the gate draws what a tracker of tasks says, which is not Spark's
@pytest.mark.spark
@pytest.mark.needs("java")
def test_a_terminal_shows_a_bar(tmp_path: Path) -> None:
    data = cv.sample(3_000, systems=["new"], seed=3, ids="int")
    files = [tmp_path / "layouts.parquet", tmp_path / "judgments.parquet"]
    for file, table in zip(files, (data.layouts["new"], data.judgments), strict=True):
        pl.DataFrame(table).write_parquet(file)
    ours, theirs = pty.openpty()
    done = subprocess.Popen(
        [sys.executable, "-m", "carouseval", "evaluate", *map(str, files), "--engine", "spark", "--master", "local[2]"],
        stdout=subprocess.PIPE,
        stderr=theirs,
        env=os.environ | light_environment(tmp_path / "conf") | {"COLUMNS": "120", "TERM": "xterm"},
    )
    os.close(theirs)
    said = b""
    while True:
        try:
            piece = os.read(ours, 65_536)
        except OSError:  # the other end is closed
            break
        said += piece
        if not piece:
            break
    os.close(ours)
    out, _ = done.communicate(timeout=60)
    assert done.returncode == 0
    assert b"N2DCG_cat" in out
    plain = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", said.decode())
    counts = [(int(a.replace(",", "")), int(b.replace(",", ""))) for a, b in BAR.findall(plain)]
    assert counts, plain
    assert all(tasks <= of for tasks, of in counts)
