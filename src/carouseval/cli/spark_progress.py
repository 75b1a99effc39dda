"""What is said of Spark's work while it lasts: a bar of its tasks, and that a cluster keeps one waiting."""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from carouseval.cli.output import progress_bar
from carouseval.progress import Progress

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_INTERVAL = 0.2  # seconds from look to look
_PATIENCE = 30.0  # seconds
_WAITING = "still waiting for executors. Has the cluster free cores, and memory of spark.executor.memory for each?"


@contextmanager
def watched(session: "SparkSession") -> Iterator[None]:
    """Draw the progress of Spark's tasks, on a terminal, and say so if a cluster gives no executor for a while.

    Spark would wait for one forever, and in silence.
    """
    context = getattr(session, "_sc", None)  # of a server there is none
    if context is None:
        yield
        return
    ended = threading.Event()
    with progress_bar() as bar:
        watch = threading.Thread(target=_watch, args=(context, bar, ended), daemon=True)
        watch.start()
        try:
            yield
        finally:
            ended.set()
            watch.join(1.0)


def _watch(context: Any, bar: Progress | None, ended: threading.Event) -> None:
    tasks: dict[int, tuple[int, int]] = {}  # done and all, of every stage that was seen
    waiting = not str(context.master).startswith("local")
    start = time.monotonic()
    while (bar is not None or waiting) and not ended.wait(_INTERVAL):
        with suppress(Exception):  # Spark may be ending
            if bar is not None:
                _draw(context.statusTracker(), tasks, bar)
            if waiting and time.monotonic() - start >= _PATIENCE:
                waiting = False
                if len(context._jsc.sc().statusTracker().getExecutorInfos()) < 2:  # the driver is one of them
                    print(f"carouseval: {_WAITING}", file=sys.stderr, flush=True)


def _draw(tracker: Any, tasks: dict[int, tuple[int, int]], bar: Progress) -> None:
    """Draw how many tasks are done, of all stages that have begun; how many more will is not known."""
    for stage, (_, count) in tasks.items():
        tasks[stage] = count, count  # unless it is still active
    for stage in tracker.getActiveStageIds():
        if info := tracker.getStageInfo(stage):
            tasks[stage] = info.numCompletedTasks, info.numTasks
    if tasks:
        done, count = map(sum, zip(*tasks.values(), strict=True))
        bar("Spark's tasks", done, count)
