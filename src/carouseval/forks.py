"""Forked processes: the threads of Polars are not copied by a fork, and whoever waits for them waits forever."""

import os
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

_process: int | None = None  # the one that has the threads
_WORKER = re.compile(r"polars-\d|async-executor-")  # any of them: the first one may not have run yet


def is_forked() -> bool:
    """Whether this process was forked from one that has used Polars."""
    return _process not in (None, os.getpid())


def refuse_fork() -> None:
    """Refuse to use Polars in a process forked from one that has used it: it would never answer."""
    global _process
    if is_forked():
        from carouseval.errors import CarousevalError  # here, so that importing carouseval stays instant

        raise CarousevalError(
            "tables cannot be read in a process forked after tables were used: it would wait forever. Start workers "
            "with multiprocessing.get_context('spawn') or 'forkserver', or before any table is used."
        )
    _process = os.getpid()


def in_forks(action: Callable[[], None]) -> None:
    """Have something done in every process forked from this one, before anything else; Windows has no fork."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=action)


def _note_threads() -> None:
    """Note whether Polars has been used, by us or by the caller; only Linux, where forks are common, lists threads."""
    global _process
    if any(map(_WORKER.match, _thread_names())):
        _process = _process or os.getpid()


def _thread_names() -> list[str]:
    """The names of this process's threads: one that has just started has none of its own, some end meanwhile."""
    names = []
    for thread in Path("/proc/self/task").glob("*/comm"):
        with suppress(OSError):
            names.append(thread.read_text())
    return names


if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
    os.register_at_fork(before=_note_threads)
