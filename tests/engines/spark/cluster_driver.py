"""The driver of a cluster's test, a program of its own: ``python cluster_driver.py MASTER FOLDER``.

It evaluates the tables of the folder three times, and writes each result there: undisturbed, with a Python process that
dies, and with a worker that the test kills. Executors take their part in this through files, which all of them see.
"""

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
from pyspark.sql import SparkSession

import carouseval as cv
from carouseval.metrics.grid import Array

RUNS = ("undisturbed", "a process dies", "a worker dies")
SCORING = "scoring"  # in an executor's working folder, which is in its worker's: it has begun to score
KILLED = "killed"  # in the test's folder: executors may go on


def weighted_gain(gains: Array, weights: Array) -> float:
    return float((gains * weights).sum())


def disturbed(folder: Path, run: str) -> Callable[[Array, Array], float]:
    """The same metric, in which executors die once or wait until a worker is dead."""

    def weighted_gain(gains: Array, weights: Array) -> float:
        if run == "a process dies":
            try:
                (folder / "died").touch(exist_ok=False)
            except FileExistsError:
                pass  # tried again
            else:
                os._exit(1)
        elif run == "a worker dies":
            Path(SCORING).touch()
            while not (folder / KILLED).exists():
                time.sleep(0.05)
        return float((gains * weights).sum())

    return weighted_gain


def session(master: str) -> SparkSession:
    return (
        SparkSession.builder.master(master)
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.executor.memory", "512m")
        .config("spark.scheduler.minRegisteredResourcesRatio", "1")  # both workers take part from the start
        .config("spark.scheduler.maxRegisteredResourcesWaitingTime", "120s")
        .config("spark.cores.max", "2")
        .config("spark.sql.shuffle.partitions", "6")
        .config("spark.sql.adaptive.coalescePartitions.enabled", "false")
        .config("spark.locality.wait", "0")
        .config("spark.shuffle.io.retryWait", "100ms")  # of a dead worker's files, which are written again
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.log.level", "ERROR")
        .getOrCreate()
    )


def failed_tasks(spark: SparkSession) -> int:
    store: Any = spark.sparkContext._jsc.sc().statusStore()
    executors = store.executorList(False)
    return sum(executors.apply(at).failedTasks() for at in range(executors.size()))


def lost_executors(spark: SparkSession, wait_for: int) -> int:
    """How many executors were lost; Spark may learn of it a little later."""
    store: Any = spark.sparkContext._jsc.sc().statusStore()
    for _ in range(600):
        lost = store.executorList(False).size() - store.executorList(True).size()
        if lost >= wait_for:
            break
        time.sleep(0.1)
    return int(lost)


def main(master: str, folder: Path) -> None:
    spark = session(master)
    layouts, judgments, items = (
        spark.read.parquet(str(folder / f"{name}.parquet")) for name in ("layouts", "judgments", "items")
    )
    for run in RUNS:
        result = cv.spark.evaluate(
            layouts, judgments, items, metrics=["N2DCG_cat", disturbed(folder, run)], lines_at_once=500
        )
        pages: pl.DataFrame = result.collect().per_page
        pages.write_parquet(folder / f"{run}.parquet")
        lost = lost_executors(spark, wait_for=int(run == "a worker dies"))
        seen = {"mean": result.mean, "counts": result.counts, "failed tasks": failed_tasks(spark), "lost": lost}
        (folder / f"{run}.json").write_text(json.dumps(seen))
        result.unpersist()
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
