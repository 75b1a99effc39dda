"""Arrow files, with what Polars does not check: the lines of record batches, and repeated names of columns."""

import struct
from collections import Counter
from collections.abc import Collection, Iterator
from itertools import accumulate
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import polars as pl

from carouseval.errors import DataError
from carouseval.tables.kinds.contract import DAMAGED, FileKind, complaint

_STREAM = b"\xff\xff\xff\xff"  # how a stream, and each message of one, begins
_MAGIC = b"ARROW1"
_SCHEMA, _RECORD_BATCH = 1, 3  # types of messages
_LZ4 = 0  # a codec; the other is Zstandard
_MOST_DEPTH = 64


class Arrow(FileKind):
    """An Arrow IPC file (Feather), or the stream of one, which is read into memory whole."""

    compressible = False
    magic = _MAGIC

    def scan(self, path: Path) -> pl.LazyFrame:
        if self._is_stream(path):
            return pl.read_ipc_stream(path).lazy()
        return pl.scan_ipc(path, glob=False)

    def scan_cloud(self, url: str, options: dict[str, Any] | None = None) -> pl.LazyFrame:
        return pl.scan_ipc(url, storage_options=options)

    def diagnose(self, path: Path) -> str:
        return ("" if self._is_stream(path) else super().diagnose(path)) or complaint(check_arrow, path)

    def check_contents(self, path: Path, columns: Collection[str]) -> None:
        check_arrow(path)

    def _is_stream(self, path: Path) -> bool:
        with path.open("rb") as file:
            return file.read(len(_STREAM)) == _STREAM


ARROW = Arrow("Arrow", (".arrow", ".feather", ".ipc"))


def check_arrow(path: Path) -> None:
    """Refuse a file or stream that names a column twice, or with a record batch that lacks lines of its columns."""
    with path.open("rb") as file:
        try:
            _check(file)
        except (ValueError, struct.error) as error:
            if isinstance(error, DataError):
                raise
            raise DataError(f"its metadata are inconsistent. {DAMAGED}") from None


def _check(file: BinaryIO) -> None:
    is_stream = file.read(len(_STREAM)) == _STREAM
    if is_stream:
        end = file.seek(0, 2)
        messages = _messages(file, 0, end)
        first = next(messages, None)
        if first is None:
            raise ValueError("no schema")
        schema = first.table(2)
    else:
        footer, end = _footer(file)
        schema, messages = footer.table(1), _record_batches(file, footer)
        offsets = [offset for offset, *_ in _blocks(footer)]
        if sum(map(_is_batch, _messages(file, min(offsets, default=end), end))) != len(offsets):
            raise ValueError("record batches that the footer does not list")
    fields = schema.tables(1)
    names = [field.text(0) for field in fields]
    if repeated := next((name for name, count in Counter(names).items() if count > 1), None):
        raise DataError(f"column {repeated} appears twice. Remove or rename one.")
    ends = list(accumulate(_nodes(field) for field in fields))
    firsts = [0, *ends[:-1]] if ends else []  # the first array of each column
    for message in messages:
        if _is_batch(message):
            batch = message.table(2)
            lines, columns = batch.number("q", 0), [length for length, _ in batch.structs("qq", 1)]
            if len(columns) != max(ends, default=0) or any(columns[first] != lines for first in firsts):
                raise ValueError("a record batch lacks lines")
            body, buffers = message.number("q", 3), batch.structs("qq", 2)
            if any(begin % 8 or begin < 0 or length < 0 or begin + length > body for begin, length in buffers):
                raise ValueError("a buffer outside its record batch")
            if batch.offset(3):
                _check_compressed(file, buffers, 255 if batch.table(3).number("B", 0) == _LZ4 else 2**15)
    if is_stream and file.tell() != end:
        raise ValueError("messages after the end")


def _check_compressed(file: BinaryIO, buffers: list[tuple[int, ...]], ratio: int) -> None:
    """Refuse buffers that would be more than ``ratio`` times as large when uncompressed, which no compression achieves.

    Polars before 2.1 allocates what a buffer claims, and ends the process where there is not as much memory.
    """
    body = file.tell()
    for begin, length in buffers:
        if length:
            file.seek(body + begin)
            (size,) = struct.unpack("<q", file.read(8))
            if not -1 <= size <= ratio * length:  # -1: not compressed
                raise ValueError("an impossible size")
    file.seek(body)


def _is_batch(message: "_FlatTable") -> bool:
    return message.number("B", 1) == _RECORD_BATCH


def _footer(file: BinaryIO) -> tuple["_FlatTable", int]:
    """The footer of a file, and where it begins."""
    end = file.seek(-len(_MAGIC) - 4, 2)
    (length,) = struct.unpack("<i", file.read(4))
    if not 0 < length <= end:
        raise ValueError("the footer is cut off")
    begin = file.seek(end - length)
    return _FlatTable.root(file.read(length)), begin


def _blocks(footer: "_FlatTable") -> list[tuple[int, ...]]:
    """Offset, length of metadata and length of body of each record batch that a footer lists."""
    return footer.structs("qi4xq", 3)


def _record_batches(file: BinaryIO, footer: "_FlatTable") -> Iterator["_FlatTable"]:
    """The record batches that a footer lists."""
    for offset, _, body in _blocks(footer):
        file.seek(offset)
        message = _message(file)
        if message is None or not _is_batch(message) or message.number("q", 3) != body:
            raise ValueError("no such record batch")
        yield message


def _messages(file: BinaryIO, begin: int, end: int) -> Iterator["_FlatTable"]:
    """The messages of a stream, or of a file from a record batch on, which leaves out how it begins."""
    if begin < 0:
        raise ValueError("a record batch before the file")
    file.seek(begin)
    while file.tell() < end and (message := _message(file)):
        yield message
        body = message.number("q", 3)
        if not 0 <= body <= end - file.tell():
            raise ValueError("a message is cut off")
        file.seek(body, 1)


def _message(file: BinaryIO) -> "_FlatTable | None":
    """The message at this position; None where a stream ends."""
    head = file.read(4)
    (length,) = struct.unpack("<i", file.read(4) if head == _STREAM else head or bytes(4))
    if length < 0:
        raise ValueError("a message of negative length")
    content = file.read(length)
    if len(content) < length:
        raise ValueError("a message is cut off")
    return _FlatTable.root(content) if length else None


def _nodes(field: "_FlatTable", depth: int = 0) -> int:
    """How many arrays a field has: its own and, where it is nested, those of its children."""
    if depth > _MOST_DEPTH:
        raise ValueError("nested too deeply")
    if field.offset(4):  # codes of a dictionary
        return 1
    return 1 + sum(_nodes(child, depth + 1) for child in field.tables(5))


class _FlatTable(NamedTuple):
    """A table of FlatBuffers: values are found by the number of their field."""

    content: bytes
    begin: int

    @classmethod
    def root(cls, content: bytes) -> "_FlatTable":
        return cls(content, struct.unpack_from("<I", content)[0])

    def offset(self, field: int) -> int:
        """Where a field is; 0 if it has its default."""
        vtable = self.begin - self._unpack("i", self.begin)
        if vtable < 0:
            raise ValueError("a table before the content")
        place = 4 + 2 * field
        inside = self._unpack("H", vtable + place) if place < self._unpack("H", vtable) else 0
        return self.begin + inside if inside else 0

    def number(self, form: str, field: int) -> int:
        offset = self.offset(field)
        return self._unpack(form, offset) if offset else 0

    def text(self, field: int) -> str:
        begin, length = self._vector(field)
        return self.content[begin : begin + length].decode()

    def table(self, field: int) -> "_FlatTable":
        offset = self.offset(field)
        if not offset:
            raise ValueError("a table is missing")
        return _FlatTable(self.content, offset + self._unpack("I", offset))

    def tables(self, field: int) -> list["_FlatTable"]:
        begin, length = self._vector(field)
        places = range(begin, begin + 4 * length, 4)
        return [_FlatTable(self.content, place + self._unpack("I", place)) for place in places]

    def structs(self, form: str, field: int) -> list[tuple[int, ...]]:
        begin, length = self._vector(field)
        size = struct.calcsize(f"<{form}")
        return [struct.unpack_from(f"<{form}", self.content, begin + index * size) for index in range(length)]

    def _vector(self, field: int) -> tuple[int, int]:
        offset = self.offset(field)
        if not offset:
            return 0, 0
        offset += self._unpack("I", offset)
        return offset + 4, self._unpack("I", offset)

    def _unpack(self, form: str, offset: int) -> int:
        return int(struct.unpack_from(f"<{form}", self.content, offset)[0])
