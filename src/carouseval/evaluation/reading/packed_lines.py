"""Storage of packed lines while a table is read: one array, or temporary files beyond the memory budget."""

import tempfile
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
    """Lines split by page over temporary files, which are deleted when the block ends."""

    def __init__(self, parts: int) -> None:
        self._parts = parts

    def __enter__(self) -> "FileLines":
        self._folder = tempfile.TemporaryDirectory(prefix="carouseval-", ignore_cleanup_errors=True)
        self._paths = [Path(self._folder.name) / f"{part}.lines" for part in range(self._parts)]
        self._files = [path.open("wb") for path in self._paths]
        return self

    def __exit__(self, *_: object) -> None:
        self._close()
        self._folder.cleanup()

    def _close(self) -> None:
        for file in self._files:
            file.close()

    def add(self, lines: Lines) -> None:
        """Store some lines."""
        for begin in range(0, len(lines), _STEP):
            some = lines[begin : begin + _STEP]
            part = some[:, 0] % self._parts
            for at, file in enumerate(self._files):
                some[part == at].tofile(file)

    def finish(self) -> list[Lines | Path]:
        """All lines, a file for each part."""
        self._close()
        return list(self._paths)
