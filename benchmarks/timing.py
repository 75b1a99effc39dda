"""How the benchmarks take time: the shortest of several runs, since other programs only ever add to it."""

import time
from collections.abc import Callable, Iterable
from typing import Any


def best_of(work: Callable[[], Any], repeats: int = 5) -> float:
    """The shortest of several runs, after one to warm up."""
    work()
    return min(_seconds(work) for _ in range(repeats))


def interleaved(
    ours: Callable[[], Any],
    rival: Callable[[], Any],
    repeats: int = 7,
    typical: Callable[[Iterable[float]], float] = min,
) -> tuple[float, float]:
    """The shortest (or ``typical``) run of each, taken in turns, so that both meet the same weather."""
    ours(), rival()
    times = [(_seconds(ours), _seconds(rival)) for _ in range(repeats)]
    return typical(one for one, _ in times), typical(other for _, other in times)


def _seconds(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
