"""Evaluation on a cluster of this machine, one master and two workers: the same result, whoever dies meanwhile."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import carouseval as cv
from tests.engines.spark.cluster_driver import KILLED, RUNS, SCORING, weighted_gain
from tests.engines.spark.light_spark import JAVA, LIGHT, light_environment

pytestmark = [
    pytest.mark.deep,
    pytest.mark.spark,
    pytest.mark.needs("java"),
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]
PATIENCE = 300.0  # seconds until a process counts as stuck
T = TypeVar("T")


class Cluster:
    """Spark's standalone cluster on loopback, on free ports; each process leads a group, in which executors are."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.processes: list[subprocess.Popen[bytes]] = []
        local = {"SPARK_LOCAL_IP": "127.0.0.1", "SPARK_LOCAL_DIRS": str(folder), "PYSPARK_PYTHON": sys.executable}
        of_driver = light_environment(folder / "conf", LIGHT | {"spark.executor.extraJavaOptions": JAVA})
        daemons = {"SPARK_DAEMON_MEMORY": "256m", "SPARK_DAEMON_JAVA_OPTS": JAVA}
        self.environment = os.environ | local | of_driver | daemons

    def start(self) -> None:
        master, log = self._start("master.Master", "--webui-port", "0")
        self.master = wait_for(partial(found, r"Starting Spark master at (\S+)", log), master, log)
        self.workers, logs = {}, {}
        for name in ("worker-1", "worker-2"):
            options = ("--cores", "1", "--memory", "1g", "--webui-port", "0", "--work-dir", str(self.folder / name))
            self.workers[name], logs[name] = self._start("worker.Worker", *options, self.master)
        for name, log in logs.items():
            wait_for(partial(found, "(Successfully registered)", log), self.workers[name], log)

    def _start(self, role: str, *arguments: str) -> tuple[subprocess.Popen[bytes], Path]:
        import pyspark

        command = Path(pyspark.__file__).parent / "bin" / "spark-class"
        own = (str(command), f"org.apache.spark.deploy.{role}", "--host", "127.0.0.1", "--port", "0")
        return self.run(f"{len(self.processes)}-{role}", *own, *arguments)

    def run(self, name: str, *command: str) -> tuple[subprocess.Popen[bytes], Path]:
        log = self.folder / f"{name}.log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                command, env=self.environment, stdout=output, stderr=output, start_new_session=True
            )
        self.processes.append(process)
        return process, log

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        """End a process and its group at once; the Python processes of an executor end with it."""
        self.processes.remove(process)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def stop(self) -> None:
        for process in reversed(self.processes.copy()):
            self.kill(process)


def found(pattern: str, log: Path) -> str | None:
    match = re.search(pattern, log.read_text(errors="replace"))
    return match and match[1]


def marker(folder: Path) -> Path | None:
    return next(folder.rglob(SCORING), None)


def wait_for(condition: Callable[[], T | None], process: subprocess.Popen[bytes], log: Path) -> T:
    """What the condition gives as soon as it gives anything, unless the process ends before."""
    deadline = time.monotonic() + PATIENCE
    while (value := condition()) is None:
        assert process.poll() is None, log.read_text(errors="replace")
        assert time.monotonic() < deadline, log.read_text(errors="replace")
        time.sleep(0.05)
    return value


@pytest.fixture(scope="module")
def tables() -> dict[str, pl.DataFrame]:
    data = cv.sample(120, systems=["new"], seed=5, pages=2, missing=0.1)
    return {"layouts": data.layouts["new"], "judgments": data.judgments, "items": data.items}


@pytest.fixture(scope="module")
def results(tables: dict[str, pl.DataFrame], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder with the results of all runs; in the last one a worker is killed once both are scoring."""
    folder = tmp_path_factory.mktemp("cluster")
    for name, table in tables.items():
        table.write_parquet(folder / f"{name}.parquet")
    cluster = Cluster(folder)
    try:
        cluster.start()
        script = str(Path(__file__).with_name("cluster_driver.py"))
        driver, log = cluster.run("driver", sys.executable, script, cluster.master, str(folder))
        for name in cluster.workers:
            wait_for(partial(marker, folder / name), driver, log)
        cluster.kill(cluster.workers["worker-1"])
        (folder / KILLED).touch()
        assert driver.wait(PATIENCE) == 0, log.read_text(errors="replace")
        yield folder
    finally:
        cluster.stop()


@pytest.mark.parametrize("run", RUNS)
def test_results_are_those_of_one_machine(results: Path, tables: dict[str, pl.DataFrame], run: str) -> None:
    expected = cv.evaluate(*tables.values(), metrics=["N2DCG_cat", weighted_gain])
    result: dict[str, Any] = json.loads((results / f"{run}.json").read_text())
    assert result["mean"] == expected.mean
    assert result["counts"] == expected.counts
    assert_frame_equal(pl.read_parquet(results / f"{run}.parquet"), expected.per_page, check_exact=True)


def test_a_process_and_a_worker_died_while_they_were_scoring(results: Path) -> None:
    undisturbed, process, worker = (json.loads((results / f"{run}.json").read_text()) for run in RUNS)
    assert undisturbed["failed tasks"] == 0 < process["failed tasks"]
    assert undisturbed["lost"] == process["lost"] == 0 < worker["lost"]
