"""Forked processes: the threads of Polars are not copied by a fork, and whoever waits for them waits forever."""

import os
from contextlib import suppress
from pathlib import Path

from carouseval.errors import CarousevalError

_process: int | None = None  # the one that has the threads


def is_forked() -> bool:
    """Whether this process was forked from one that has used Polars."""
    return _process not in (None, os.getpid())


def refuse_fork() -> None:
    """Refuse to use Polars in a process forked from one that has used it: it would never answer."""
    global _process
    if is_forked():
        raise CarousevalError(
            "tables cannot be read in a process forked after tables were used: it would wait forever. Start workers "
            "with multiprocessing.get_context('spawn') or 'forkserver', or before any table is used."
        )
    _process = os.getpid()


def _note_threads() -> None:
    """Note whether Polars has been used, by us or by the caller; only Linux, where forks are common, lists threads."""
    global _process
    with suppress(OSError):
        if any(name.read_text().startswith("polars-0") for name in Path("/proc/self/task").glob("*/comm")):
            _process = _process or os.getpid()


if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
    os.register_at_fork(before=_note_threads)
