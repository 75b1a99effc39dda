"""Writing files so that they appear complete or not at all.

What is not complete yet has a temporary name, and a lock: one that nobody holds was left behind by a process that was
killed. Locks end with the process that holds them, however it ends, also where containers share a disk and process ids
say nothing. Windows and a few network disks have no such locks: what a killed process leaves there stays.
"""

import glob
import io
import os
import shutil
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, cast

from carouseval.errors import DataError

if sys.platform != "win32":
    import fcntl

if TYPE_CHECKING:
    import polars as pl

_WRITERS = {".parquet": "write_parquet", ".csv": "write_csv", ".ndjson": "write_ndjson"}  # methods of frames
TABLES = tuple(_WRITERS)
_RANDOM = "[0-9a-f]" * 8  # in the names of temporary files
RESULTS = (".json", ".md", ".tex", ".csv", ".parquet")
CHARTS = (".svg", ".png", ".pdf", ".html")
REPORTS = (".html", ".htm")


@contextmanager
def write_errors(place: str | Path, remedy: str = "") -> Iterator[None]:
    """Turn what the system raises while a file is written, such as a full disk, into an error that names the place."""
    try:
        yield
    except OSError as error:
        raise DataError(f"{place} cannot be written: {error.strerror or error}.{remedy and ' '}{remedy}") from None


@contextmanager
def _unfinished(path: Path) -> Iterator[Path]:
    """A temporary file that replaces ``path`` once it is written.

    A link is followed: the file it leads to is replaced. An existing file's permissions are kept. Temporary files of
    processes that were killed while they wrote to the same path are removed.
    """
    with write_errors(Path(*(part for part in path.parts if not fnmatch(part, f".part-{_RANDOM}")))):
        target = Path(os.path.realpath(path))
        if target.is_symlink():
            raise DataError(f"{path} cannot be written: it is a link that leads to itself.")
        if target.exists() and not target.is_file():
            raise DataError(f"{path} cannot be written: it is not a regular file.")
        remove_abandoned(target.parent.glob(f".{glob.escape(target.name)}.{_RANDOM}.part"))
        unfinished = target.with_name(f".{target.name}.{os.urandom(4).hex()}.part")
        try:
            with locked(unfinished, lambda: unfinished.touch(exist_ok=False)):
                yield unfinished
                if target.exists():
                    unfinished.chmod(stat.S_IMODE(target.stat().st_mode))
                unfinished.replace(target)
        except BaseException:
            unfinished.unlink(missing_ok=True)
            raise


def write_atomically(path: str | Path, content: str | bytes) -> Path:
    """Write to a temporary file, then rename it; if that fails, nothing is left behind."""
    with _unfinished(Path(path)) as unfinished:
        unfinished.write_bytes(content.encode() if isinstance(content, str) else content)
    return Path(path)


def check_outputs(
    *outputs: str | Path | None, kinds: tuple[str, ...] = TABLES, inputs: Iterable[str | Path | None] = ()
) -> None:
    """Refuse, before any work is done, outputs of an unknown type, in a missing folder, or equal to an input."""
    paths = [Path(output) for output in outputs if output is not None]
    for path in paths:
        if paths.count(path) > 1:
            raise DataError(f"{path} is given for two outputs; use a different file for each.")
        if path.is_dir():
            raise DataError(f"{path} cannot be written: it is a folder. Give a file to write to.")
        if path.suffix.lower() not in kinds:
            known = list(dict.fromkeys(kinds))
            raise DataError(f"{path}: unsupported file type. Use {', '.join(known[:-1])} or {known[-1]}.")
        if not path.parent.is_dir():
            raise DataError(f"{path} cannot be written: the folder {path.parent} does not exist.")
        for name in _files_of(inputs) if path.exists() else ():
            if name.exists() and path.samefile(name):
                raise DataError(f"{path} is one of the input tables; write to another file.")


def _files_of(inputs: Iterable[str | Path | None]) -> Iterator[Path]:
    """The files that inputs name, also as a folder or a pattern."""
    for name in inputs:
        if name is not None:
            yield Path(name)
            yield from (file for file in Path(name).rglob("*") if file.suffix.lower() in (*TABLES, ".json"))
            yield from map(Path, glob.glob(str(name), recursive=True))  # noqa: PTH207


def write_frame(path: str | Path, frame: "pl.DataFrame") -> Path:
    """Write a table as ``.parquet``, ``.csv`` or ``.ndjson``, completely or not at all."""
    check_outputs(path)
    path = Path(path)
    with _unfinished(path) as unfinished, open_output(unfinished) as output:
        getattr(frame, _WRITERS[path.suffix.lower()])(output)
    return path


@contextmanager
def open_output(path: Path, mode: Literal["wb", "ab"] = "wb") -> Iterator[BinaryIO]:
    """A file for Polars to write to; what goes wrong is raised in any case, as the system says it."""
    with path.open(mode) as file:
        output = _Output(file)
        try:
            yield cast("BinaryIO", output)
        finally:
            output.check()


class _Output(io.RawIOBase):
    """A file that remembers what went wrong: some versions of Polars drop the last error, and the file is cut off."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._error: OSError | None = None

    def writable(self) -> bool:
        return True

    def write(self, content: Any) -> int:
        try:
            return self._file.write(content)
        except OSError as error:
            self._error = error
            raise

    def check(self) -> None:
        """Write what is held back, and raise what went wrong."""
        if self._error is not None:
            raise self._error
        self._file.flush()


@contextmanager
def atomic_folder(directory: str | Path) -> Iterator[Path]:
    """A temporary folder whose files move into ``directory`` once all are written; it is created if needed.

    If writing fails nothing is left behind, and files of the same names stay as they were.
    """
    directory = Path(directory)
    if directory.exists() and not directory.is_dir():
        raise DataError(f"{directory} cannot be written: it is not a folder. Give a folder to write to.")
    with write_errors(directory):
        created = [folder for folder in (directory, *directory.parents) if not folder.exists()]
        directory.mkdir(parents=True, exist_ok=True)
        unfinished = directory / f".part-{os.urandom(4).hex()}"
        try:
            remove_abandoned(directory.glob(f".part-{_RANDOM}"))
            with locked(unfinished, unfinished.mkdir):
                yield unfinished
                for file in sorted(unfinished.iterdir()):
                    with locked(file), _unfinished(directory / file.name) as moved:
                        shutil.move(file, moved)
                unfinished.rmdir()
        except BaseException:
            shutil.rmtree(unfinished, ignore_errors=True)
            with suppress(OSError):  # a folder that another process has written to stays
                for folder in created:
                    folder.rmdir()
            raise


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
