"""Storage of packed lines while a table is read: one array, or temporary files beyond the memory budget."""

import contextlib
import secrets
import tempfile
import weakref
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from carouseval.messages import setting
from carouseval.tables.writing import locked, remove_abandoned, write_errors

Lines = NDArray[np.uint32]  # (n, 4): page, item, category, place (pinned << 31 | row << 16 | col, from 1)
BYTES = 16  # of a packed line; as many again where lines must be sorted by page
_STEP = 1 << 20
_Code = TypeVar("_Code", np.uint32, np.int64)


class MemoryLines:
    """Lines in one array."""

    def __init__(self, height: int) -> None:
        self._lines, self._filled = np.empty((height, 4), np.uint32), 0

    def add(self, lines: Lines) -> None:
        """Store some lines."""
        self._lines[self._filled : self._filled + len(lines)] = lines
        self._filled += len(lines)

    def finish(self) -> list[Lines | Path]:
        """All lines, in one part."""
        return [self._lines[: self._filled]]


class FileLines:
    """Lines split by page over temporary files, which are deleted when the block ends.

    The folder is registered for removal before it is made, so that an interrupt at any time leaves nothing behind.
    That of a process that was killed is removed by the next one that needs such files.
    """

    def __init__(self, parts: int) -> None:
        self._parts = parts

    def __enter__(self) -> "FileLines":
        self._folder = Path(tempfile.gettempdir(), f"carouseval-{secrets.token_hex(16)}")
        self._paths = [self._folder / f"{part}.lines" for part in range(self._parts)]
        self._finalizer = weakref.finalize(self, _delete, self._folder, self._paths)
        self._lock = contextlib.ExitStack()
        try:
            with _spill_errors():
                remove_abandoned(self._folder.parent.glob(f"carouseval-{'[0-9a-f]' * 32}"))
                self._lock.enter_context(locked(self._folder, lambda: self._folder.mkdir(mode=0o700)))
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        _delete(self._folder, self._paths)
        self._lock.close()
        self._finalizer.detach()

    def add(self, lines: Lines) -> None:
        """Store some lines; one file is open at a time."""
        for begin in range(0, len(lines), _STEP):
            some = lines[begin : begin + _STEP]
            part = part_of(some[:, 0], self._parts)
            for number, path in enumerate(self._paths):
                with _spill_errors(), path.open("ab") as file:
                    file.write(some[part == number].data)  # not tofile, which turns an interrupt into a TypeError

    def finish(self) -> list[Lines | Path]:
        """All lines, a file for each part."""
        return list(self._paths)


def part_of(pages: NDArray[_Code], parts: int) -> NDArray[_Code]:
    """Which of several files has the lines of each page."""
    return pages % pages.dtype.type(parts)


def _spill_errors() -> AbstractContextManager[None]:
    remedy = f"Free some space, set TMPDIR to another folder, or raise {setting('memory', text='the setting memory')}."
    return write_errors(f"a temporary file in {tempfile.tempdir or 'TMPDIR'}", remedy)


def _delete(folder: Path, files: list[Path], attempts: int = 2) -> None:
    """Delete a folder of such files; after an interrupt once more from the start."""
    try:
        with contextlib.suppress(OSError):
            for file in files:
                file.unlink(missing_ok=True)
            folder.rmdir()
    except BaseException:
        if attempts > 1:
            _delete(folder, files, attempts - 1)
        raise
