"""Evaluation on Spark, as ratios against a Spark job that only counts lines and against one machine, in the same run.

.venv/bin/python benchmarks/spark.py            part of `make bench`; a few minutes
.venv/bin/python benchmarks/spark.py --large    also a million pages (150 million lines)
"""

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

import carouseval as cv
from carouseval.building.sample import write_sample
from carouseval.engines.given_tables import GivenTables
from carouseval.engines.spark.engine import SparkEngine
from carouseval.engines.spark.user_lines import stream
from carouseval.evaluation.settings import Settings
from evaluation import write_tables


def session(cores: int) -> SparkSession:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    if hasattr(os, "sched_setaffinity"):  # a task is two processes, Java's and Python's, which must share a core
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
    return (
        SparkSession.builder.master(f"local[{cores}]")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.memory", "4g")
        .config("spark.executorEnv.POLARS_MAX_THREADS", "1")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.log.level", "OFF")
        .getOrCreate()
    )


def evaluate(*tables: DataFrame) -> None:
    cv.spark.evaluate(*tables).unpersist()


def count(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    lines = sum(batch.num_rows for batch in batches)
    yield pa.RecordBatch.from_pydict({"lines": pa.array([lines], pa.int64())})


def count_lines(layouts: DataFrame, judgments: DataFrame, items: DataFrame) -> None:
    """The same lines by the same way: read, spread by users, sorted and sent to Python."""
    settings = Settings()
    tables = GivenTables.of(SparkEngine(), {"layouts": layouts}, judgments, items, settings)
    lines, _ = stream(tables.streamed)
    lines.mapInArrow(count, "lines long").agg(F.sum("lines")).collect()


def shuffled_bytes(spark: SparkSession) -> int:
    context: Any = spark.sparkContext._jsc.sc()
    context.listenerBus().waitUntilEmpty()
    executors = context.statusStore().executorList(False)
    return sum(executors.apply(at).totalShuffleWrite() for at in range(executors.size()))


def peak_memory() -> float:
    """The most memory that this process has had, in MiB; of Linux."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def peaks(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The same of a Python process of executors, which Spark uses again."""
    for _ in batches:
        yield pa.RecordBatch.from_pydict({"peak": [peak_memory()]})


def processor_seconds() -> float:
    """Of this process and all below it: Java's and the executors' Python; of Linux."""
    fields = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has ended
            fields[int(path.parent.name)] = path.read_text().rpartition(")")[2].split()
    family = {os.getpid()}
    while True:
        children = {process for process, values in fields.items() if int(values[1]) in family}
        if children <= family:
            ticks = sum(int(value) for process in family & set(fields) for value in fields[process][11:15])
            return ticks / os.sysconf("SC_CLK_TCK")
        family |= children


def measure(folder: Path, cores: int, repeats: int) -> None:
    """Print time and processor time of both jobs, bytes shuffled and memory. In a process of its own, for each size."""
    spark = session(cores)
    patterns = ("layouts-*", "judgments*", "items")
    first = [spark.read.parquet(str(min(folder.glob(f"{name}.parquet")))) for name in patterns]
    for warm_up in (evaluate, count_lines):
        warm_up(*first)
    tables = [spark.read.parquet(str(folder / f"{name}.parquet")) for name in patterns]
    jobs = {"evaluate": partial(evaluate, *tables), "count": partial(count_lines, *tables)}
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in jobs}
    before = shuffled_bytes(spark)
    for _ in range(repeats):
        for name, job in jobs.items():  # in turns
            start = time.perf_counter(), processor_seconds()
            job()
            times[name].append((time.perf_counter() - start[0], processor_seconds() - start[1]))
    shuffled = (shuffled_bytes(spark) - before) / len(jobs) / repeats  # by both jobs alike
    best = {name: [min(column) for column in zip(*runs, strict=True)] for name, runs in times.items()}
    workers = spark.range(2, numPartitions=2).mapInArrow(peaks, "peak double").collect()
    memory = {"driver": peak_memory(), "worker": max(worker.peak for worker in workers)}
    print(json.dumps(best | {"shuffled": shuffled} | memory))


def measured(folder: Path, cores: int, repeats: int) -> Any:
    command = [sys.executable, __file__, "--measure", str(folder), "--cores", str(cores), "--repeats", str(repeats)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def report(label: str, users: int, result: Any) -> None:
    (ours, cpu), (rival, rival_cpu) = result["evaluate"], result["count"]
    print(f"  {label}: {ours / rival:.2f}x the time of counting lines ({ours:.1f} s, {rival:.1f} s),")
    print(f"    {cpu / rival_cpu:.2f}x its processor time: {cpu * 1e6 / users:.0f} core seconds per million pages;")
    print(f"    {result['shuffled'] / users / 1e3:.2f} kB shuffled per page; peak memory of Python:")
    print(f"    {result['driver']:.0f} MiB on the driver, {result['worker']:.0f} MiB for a task")


def one_machine(folder: Path, result: Any) -> None:
    paths = [str(folder / f"{name}.parquet") for name in ("layouts-*", "judgments*", "items")]
    start = time.perf_counter(), time.process_time()
    cv.evaluate(*paths)
    ours, cpu = time.perf_counter() - start[0], time.process_time() - start[1]
    seconds, spark_cpu = result["evaluate"]
    print(
        f"    {seconds / ours:.1f}x the time of cv.evaluate on one machine ({ours:.1f} s), {spark_cpu / cpu:.1f}x its"
    )
    print("    processor time: Spark writes, sorts and sends every line to bring users together")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--users", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--large", action="store_true", help="up to a million pages")
    parser.add_argument("--cores", type=int, default=2, help=argparse.SUPPRESS)
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        measure(options.measure, options.cores, options.repeats)
        return
    print("N2DCG_cat of pages of 10x15 with 20 judgments on Spark, integer ids, after a run to warm up:")
    with tempfile.TemporaryDirectory() as name:
        folder, written = Path(name), 0
        for users in [options.users // 10, options.users] + [10 * options.users] * options.large:
            while written < users:
                step = min(100_000, users - written)
                write_tables(folder, step, written)
                written += step
            for cores in (2, 1) if users == options.users else (2,):
                result = measured(folder, cores, options.repeats)
                report(f"{users:,} pages, {cores} core{'s' * (cores > 1)}", users, result)
                if cores == 2:
                    one_machine(folder, result)
    with tempfile.TemporaryDirectory() as name:
        users = options.users // 10
        write_sample(name, users, systems=["new"])
        print("Items of up to three categories, each counting once (sample data, text ids), whose ideals are a search:")
        result = measured(Path(name), 2, options.repeats)
        report(f"{users:,} pages, 2 cores", users, result)
        one_machine(Path(name), result)


if __name__ == "__main__":
    main()
