"""Cases by their numbers: each is the same whoever runs it, alone or among others, in this process or in another."""

import importlib
import multiprocessing
import random
import tempfile
import time
import traceback
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, Protocol, cast

from tests.fuzz import ViolationError

MOST_SECONDS = 20.0
_SILENCE = 6 * MOST_SECONDS  # of a process, after which it is ended: a machine may be busy


class Kind(Protocol):
    """A module of this package."""

    def draw(self, rng: random.Random) -> Any:
        """A case, whose ``repr`` says what it is."""

    def check(self, case: Any, folder: Path) -> str:
        """How a case ended, in a few words; raises a ``ViolationError``. The folder is for its files."""


@dataclass(frozen=True)
class Outcome:
    """How the case of a number ended, and what is wrong with that, if anything."""

    number: int
    outcome: str
    violation: str = ""


def kind_of(name: str) -> Kind:
    """The module of a kind of input."""
    return cast(Kind, importlib.import_module(f"tests.fuzz.{name}"))


def draw(name: str, seed: int, number: int) -> Any:
    """The case of a number."""
    return kind_of(name).draw(random.Random(f"{name}/{seed}/{number}"))


def run(name: str, numbers: Iterable[int], seed: int = 0) -> Iterator[Outcome]:
    """Run cases in this process."""
    kind = kind_of(name)
    with tempfile.TemporaryDirectory() as folder:
        for number in numbers:
            begin = time.perf_counter()
            try:
                outcome, violation = kind.check(draw(name, seed, number), Path(folder)), ""
            except ViolationError as error:
                outcome, violation = "VIOLATION", str(error)
            except Exception:
                outcome, violation = "VIOLATION", traceback.format_exc(limit=-6)
            seconds = time.perf_counter() - begin
            if not violation and seconds > MOST_SECONDS:
                outcome, violation = "VIOLATION", f"it took {seconds:.0f} s"
            yield Outcome(number, outcome, violation)


def run_in_processes(name: str, numbers: range, seed: int, workers: int) -> Iterator[Outcome]:
    """Run cases in several processes. One that crashes or hangs is a violation, and its other cases go on."""
    ahead = {_start(name, part, seed): part for k in range(workers) if (part := numbers[k::workers])}
    last = {worker: time.monotonic() for worker in ahead}
    while ahead:
        ready = wait([worker.results for worker in ahead], timeout=1.0)
        for worker, part in list(ahead.items()):
            end = ""
            if worker.results in ready:
                try:
                    yield worker.results.recv()
                except EOFError:
                    worker.process.join()
                    end = f"the process ended with status {worker.process.exitcode}"
            elif time.monotonic() - last[worker] > _SILENCE:
                worker.process.kill()
                worker.process.join()
                end = f"nothing happened for {_SILENCE:.0f} s"
            else:
                continue
            last[worker] = time.monotonic()
            if end:
                yield Outcome(part[0], "VIOLATION", end)
            ahead[worker] = part = part[1:]
            if end or not part:
                del ahead[worker], last[worker]
                worker.results.close()
            if end and part:
                worker = _start(name, part, seed)
                ahead[worker], last[worker] = part, time.monotonic()


@dataclass(frozen=True, eq=False)
class _Worker:
    process: Any
    results: Connection


def _start(name: str, numbers: range, seed: int) -> _Worker:
    context = multiprocessing.get_context("spawn")
    results, sender = context.Pipe(duplex=False)
    process = context.Process(target=_send, args=(sender, name, numbers, seed), daemon=True)
    process.start()
    sender.close()  # ours: the end of the process must close the pipe
    return _Worker(process, results)


def _send(sender: Connection, name: str, numbers: range, seed: int) -> None:
    for outcome in run(name, numbers, seed):
        sender.send(outcome)
