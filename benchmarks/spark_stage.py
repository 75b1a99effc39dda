"""A model of a stage on a cluster: how its run time depends on the number of partitions, on skew and on slow nodes.

.venv/bin/python benchmarks/spark_stage.py      seeded; a few seconds

Users are spread over partitions by a hash; a free core takes the next task. A task costs a fixed time and its pages.
With speculation a task that runs three times as long as the median is started again elsewhere once nine tenths of the
tasks are done, as Spark 4 does it; the first copy to end counts.
"""

import heapq

import numpy as np

from carouseval.metrics.grid import Array

NODES, CORES = 16, 4
PER_TASK, PER_PAGE = 0.1, 0.25e-3  # core seconds: assumed; as benchmarks/spark.py measures it
USERS, PAGES = 1_000_000, 10_000_000
PARTITIONS = (64, 200, 1_000, 4_000, 20_000)
QUANTILE, MULTIPLIER = 0.9, 3.0  # of Spark's speculation


def pages_of_users(kind: str, rng: np.random.Generator) -> Array:
    """Each user's pages, which add up to about the same."""
    if kind == "the same number":
        drawn = np.ones(USERS)
    elif kind == "lognormal (sigma 2)":
        drawn = rng.lognormal(0, 2, USERS)
    else:  # the k-th user has 1/k of the first one's
        drawn = 1 / np.arange(1, USERS + 1)
    pages: Array = np.maximum(1.0, np.rint(drawn * (PAGES / drawn.sum())))
    return pages


def tasks(pages: Array, partitions: int, rng: np.random.Generator) -> Array:
    """The core seconds of each partition."""
    partition = rng.integers(0, partitions, len(pages))
    seconds: Array = PER_TASK + PER_PAGE * np.bincount(partition, pages, minlength=partitions).astype(float)
    return seconds


def stage_seconds(work: Array, slowness: Array, speculation: bool = False) -> float:
    """When all tasks are done, on cores of which each takes ``slowness`` times as long."""
    free = [(0.0, core) for core in range(len(slowness))]
    running: list[tuple[float, float, int]] = []  # end, start, task
    for task, seconds in enumerate(work):
        start, core = heapq.heappop(free)
        end = start + seconds * slowness[core]
        running.append((end, start, task))
        heapq.heappush(free, (end, core))
    if not speculation:
        return max(end for end, _, _ in running)
    running.sort()
    ends = np.array([end for end, _, _ in running])
    durations = np.array([end - start for end, start, _ in running])
    checked = int(np.ceil(QUANTILE * len(running))) - 1  # when this task ends, slow ones are looked for
    limit = MULTIPLIER * np.median(durations[: checked + 1])
    last = ends[checked]
    for end, start, task in running[checked + 1 :]:
        suspect = max(ends[checked], start + limit)
        if end > suspect:
            since, core = heapq.heappop(free)
            end = min(end, max(since, suspect) + work[task] * slowness[core])
            heapq.heappush(free, (end, core))
        last = max(last, end)
    return float(last)


def row(label: str, seconds: list[float], ideal: float) -> None:
    print(f"  {label:44}" + "".join(f"{value / ideal:8.2f}" for value in seconds))


def main() -> None:
    cores = NODES * CORES
    even, slow = np.ones(cores), np.ones(cores)
    slow[:CORES] = 10.0
    print(f"{PAGES:,} pages of {USERS:,} users on {NODES} nodes of {CORES} cores: run time as a multiple of the work")
    print("divided by the cores, by number of partitions:")
    print(f"  {'':44}" + "".join(f"{number:8,}" for number in PARTITIONS))
    for kind in ("the same number", "lognormal (sigma 2)", "Zipf"):
        rng = np.random.default_rng(0)
        pages = pages_of_users(kind, rng)
        ideal = PER_PAGE * pages.sum() / cores
        work = [tasks(pages, number, rng) for number in PARTITIONS]
        row(f"{kind}; largest {pages.max() / pages.sum():.1%} of pages", [stage_seconds(w, even) for w in work], ideal)
        if kind != "Zipf":
            for speculation in (False, True):
                seconds = [stage_seconds(w, slow, speculation) for w in work]
                row(f"  a node at a tenth of its speed{', speculation' * speculation}", seconds, ideal)


if __name__ == "__main__":
    main()
