"""Parquet files, with what Polars does not check: numbers of lines, checksums of pages, and repeated names."""

import zlib
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, BinaryIO, ClassVar

import polars as pl

from carouseval.errors import DataError
from carouseval.tables.kinds.contract import DAMAGED, FileKind, complaint

_MOST_DEPTH = 32
_HEADER = 1 << 12  # of a page: more than it takes, unless it has statistics of very long texts
_DICTIONARY, _DATA, _DATA_2 = 7, 5, 8  # kinds of pages


class Parquet(FileKind):
    """A Parquet file."""

    compressible = False
    magic = b"PAR1"
    spark_format: ClassVar[str] = "parquet"

    def scan(self, path: Path) -> pl.LazyFrame:
        return pl.scan_parquet(path, glob=False)

    def scan_cloud(self, url: str, options: dict[str, Any] | None = None) -> pl.LazyFrame:
        return pl.scan_parquet(url, storage_options=options)

    def diagnose(self, path: Path) -> str:
        return super().diagnose(path) or complaint(check_parquet, path)

    def check_contents(self, path: Path, columns: Collection[str]) -> None:
        check_parquet(path, columns)


PARQUET = Parquet("Parquet", (".parquet", ".pq"))


def check_parquet(path: Path, columns: Collection[str] = ()) -> None:
    """Refuse a file whose row groups do not hold all its lines, or with damaged pages in one of the columns."""
    with path.open("rb") as file:
        try:
            _check(file, columns)
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            if isinstance(error, DataError):
                raise
            raise DataError(f"its metadata are inconsistent. {DAMAGED}") from None


def _check(file: BinaryIO, columns: Collection[str]) -> None:
    size = file.seek(-8, 2) + 8
    length = int.from_bytes(file.read(4), "little")
    file.seek(max(0, size - 8 - length))
    metadata = _Thrift(file.read(length)).struct()
    groups = metadata.get(4, [])
    names = _column_names(metadata[2])
    if (lines := sum(group[3] for group in groups)) != metadata[3]:
        raise DataError(f"it has {metadata[3]:,} lines, but its row groups have {lines:,}. {DAMAGED}")
    for group in groups:
        for column, chunk in zip(names, group[1], strict=True):
            if chunk[3][3][0].decode() != column:
                raise ValueError(f"{chunk[3][3][0]!r} in place of {column}")
            if column in columns and not all(_pages_match(file, chunk[3], size)):
                raise DataError(f"a checksum of column {column} does not match. {DAMAGED}")


def _column_names(schema: list[dict[int, Any]]) -> list[str]:
    """The column that each chunk of a row group belongs to; a nested column has several.

    The schema lists the root, then each column before those inside it.
    """
    names: list[str] = []
    seen: set[str] = set()
    column, inside = "", 0
    for element in schema[1:]:
        if not inside:
            column = element[4].decode()
            if column in seen:
                raise DataError(f"column {column} appears twice. Remove or rename one.")
            seen.add(column)
        inside += element.get(5, 0) - bool(inside)
        if not element.get(5, 0):
            names.append(column)
    return names


def _pages_match(file: BinaryIO, chunk: dict[int, Any], size: int) -> Iterator[bool]:
    """Whether each page of a column chunk has the checksum in its header; nothing of pages without one.

    A number of values that a page cannot have is refused: Polars would ask for as much memory, and end the process.
    """
    begin = min(offset for offset in (chunk.get(11), chunk[9]) if offset)
    end = begin + chunk[7]
    if not 0 < begin <= end <= size:
        raise ValueError(f"pages from {begin} to {end}")
    values = 0
    while begin < end:
        file.seek(begin)
        start = file.read(min(_HEADER, end - begin))
        try:
            header = _Thrift(start)
            page = header.struct()
        except ValueError:  # a longer header
            header = _Thrift(start + file.read(end - begin - len(start)))
            page = header.struct()
        file.seek(begin + header.offset)
        begin += header.offset + page[3]
        if page[2] < 0 or page[3] < 0 or begin > end:
            raise ValueError(f"a page of {page[3]} bytes")
        counts = {kind: page[kind][1] for kind in (_DICTIONARY, _DATA, _DATA_2) if kind in page}
        if min(counts.values(), default=0) < 0 or counts.pop(_DICTIONARY, 0) > page[2]:
            raise ValueError(f"a page of {counts} values")
        values += sum(counts.values())
        if 4 in page:
            yield zlib.crc32(file.read(page[3])) == page[4] % 2**32
    if values != chunk[5]:
        raise ValueError(f"{values} values in pages, {chunk[5]} in all")


class _Thrift:
    """Reads Thrift's compact protocol: structs as dicts by the number of each field."""

    def __init__(self, content: bytes) -> None:
        self._content, self.offset = content, 0

    def struct(self, depth: int = 0) -> dict[int, Any]:
        if depth > _MOST_DEPTH:
            raise ValueError("nested too deeply")
        fields: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._integer()
            kind = head & 15
            fields[number] = kind == 1 if kind in (1, 2) else self._value(kind, depth)
        return fields

    def _value(self, kind: int, depth: int) -> Any:
        if kind in (1, 2, 3):
            return self._byte()
        if kind in (4, 5, 6):
            return self._integer()
        if kind == 7:
            return self._bytes(8)
        if kind == 8:
            return self._bytes(self._varint())
        if kind in (9, 10):
            head = self._byte()
            count = head >> 4 if head >> 4 < 15 else self._varint()
            return [self._value(head & 15, depth + 1) for _ in range(count)]
        if kind == 12:
            return self.struct(depth + 1)
        raise ValueError(f"type {kind}")  # Parquet has no maps

    def _byte(self) -> int:
        return self._bytes(1)[0]

    def _bytes(self, count: int) -> bytes:
        begin, self.offset = self.offset, self.offset + count
        if self.offset > len(self._content):
            raise ValueError("cut off")
        return self._content[begin : self.offset]

    def _varint(self) -> int:
        value = shift = 0
        while (byte := self._byte()) & 0x80:
            if shift > 63:
                raise ValueError("a number of more than 64 bits")
            value |= (byte & 0x7F) << shift
            shift += 7
        return value | byte << shift

    def _integer(self) -> int:
        value = self._varint()
        return value >> 1 ^ -(value & 1)
