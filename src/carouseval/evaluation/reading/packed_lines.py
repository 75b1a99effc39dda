"""Storage of packed lines while a table is read: one array, or temporary files beyond the memory budget."""

import contextlib
import secrets
import tempfile
import weakref
from io import BufferedWriter
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Lines = NDArray[np.uint32]  # (n, 4): page, item, category, place (pinned << 31 | row << 16 | col, from 1)
BYTES = 16  # of a packed line; as many again where lines must be sorted by page
_STEP = 1 << 20


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
    """

    def __init__(self, parts: int) -> None:
        self._parts = parts
        self._files: list[BufferedWriter] = []

    def __enter__(self) -> "FileLines":
        self._folder = Path(tempfile.gettempdir(), f"carouseval-{secrets.token_hex(16)}")
        self._paths = [self._folder / f"{part}.lines" for part in range(self._parts)]
        self._finalizer = weakref.finalize(self, _delete, self._folder, self._paths)
        try:
            self._folder.mkdir(mode=0o700)
            for path in self._paths:
                self._files.append(path.open("wb"))
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._close()
        finally:
            _delete(self._folder, self._paths)
            self._finalizer.detach()

    def _close(self) -> None:
        for file in self._files:
            file.close()

    def add(self, lines: Lines) -> None:
        """Store some lines."""
        for begin in range(0, len(lines), _STEP):
            some = lines[begin : begin + _STEP]
            part = some[:, 0] % self._parts
            for at, file in enumerate(self._files):
                file.write(some[part == at].data)  # not tofile, which turns an interrupt into a TypeError

    def finish(self) -> list[Lines | Path]:
        """All lines, a file for each part."""
        self._close()
        return list(self._paths)


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
