"""Locks on temporary files and folders: one that nobody holds was left behind by a process that was killed.

Locks end with the process that holds them, however it ends, also where containers share a disk and process ids say
nothing. Windows and a few network disks have no such locks: what a killed process leaves there stays.
"""

import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

if sys.platform != "win32":
    import fcntl


@contextmanager
def locked(path: Path, create: Callable[[], object] = lambda: None) -> Iterator[None]:
    """Create a temporary file or folder, and hold a lock on it."""
    lock: int | None = None
    try:
        while True:
            create()
            lock = _lock(path)
            if path.exists():
                break
            _close(lock)  # another process has removed it as abandoned, before it was locked
            lock = None
        yield
    finally:
        _close(lock)


def remove_abandoned(paths: Iterable[Path]) -> None:
    """Remove this user's temporary files and folders whose process was killed; links are not followed."""
    for path in paths:
        with suppress(OSError):  # another process may be removing it as well
            lock = _lock(path, wait=False)
            if lock is None:
                continue
            try:
                if os.fstat(lock).st_uid == os.getuid():
                    shutil.rmtree(path) if path.is_dir() else path.unlink()
            finally:
                _close(lock)


def _lock(path: Path, wait: bool = True) -> int | None:
    """An open file with a lock; None where it cannot be had."""
    if sys.platform == "win32":
        return None
    with suppress(OSError):
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BaseException:
            os.close(handle)
            raise
        return handle
    return None


def _close(lock: int | None) -> None:
    if lock is not None:
        os.close(lock)
