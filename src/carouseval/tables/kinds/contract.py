"""What every kind of table file can do."""

import gzip
import io
import zlib
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, TextIO

import polars as pl

from carouseval.errors import DataError

DAMAGED = "Is the file damaged? Download or export it again."


class Compression(NamedTuple):
    """A way to compress a file: its name, extensions, and the first bytes of every such file."""

    name: str
    extensions: tuple[str, ...]
    magic: bytes


GZIP = Compression("gzip", (".gz", ".gzip"), b"\x1f\x8b")
ZSTD = Compression("zstd", (".zst", ".zstd"), b"\x28\xb5\x2f\xfd")
COMPRESSIONS = (GZIP, ZSTD)


@dataclass(frozen=True)
class FileKind:
    """A kind of file: its extensions and how to read it. Subclasses define ``scan``, and override what else differs."""

    compressible: ClassVar[bool] = True  # whether it may be compressed with gzip or zstd
    magic: ClassVar[bytes] = b""  # the first bytes of every such file
    spark_format: ClassVar[str] = ""  # by which Spark reads such files; empty where it does not

    name: str
    extensions: tuple[str, ...]  # messages show the first
    separator: str = ""  # of the fields of a line; empty for files whose columns have types

    @property
    def is_text(self) -> bool:
        """Whether all values are text, so that they have no types, and blank lines are skipped."""
        return self.separator != ""

    def scan(self, path: Path) -> pl.LazyFrame:
        """All records; nothing is read until they are collected."""
        raise NotImplementedError(f"{type(self).__name__} must define scan(path).")

    def scan_cloud(self, url: str, options: dict[str, Any] | None = None) -> pl.LazyFrame:
        """The same from cloud storage, with Polars' ``storage_options``; patterns are expanded by Polars."""
        raise DataError(f"{url}: {self.name} can only be read from local files. Download it, or use .parquet.")

    def where(self, path: Path, record: int) -> str:
        """The line of a record (counted from 0), for a person to look it up."""
        return f"record {record + 1}"

    def diagnose(self, path: Path) -> str:
        """What is wrong with a file that cannot be parsed and what to do, as far as that can be found."""
        with path.open("rb") as file:
            start = file.read(24)
        return "" if start.startswith(self.magic) else f"it starts with {start!r}. Is it another type of file?"

    def check_lines(self, path: Path, fields: int) -> None:
        """Refuse the first line with more or fewer fields than the header, which only text files can have."""

    def check_text(self, path: Path) -> None:
        """Refuse text that must not reach Polars, such as objects that have a key twice."""

    def check_contents(self, path: Path, columns: Collection[str]) -> None:
        """Refuse what Polars reads without complaint, such as failed checksums in some columns."""


def complaint(check: Callable[[Path], None], path: Path) -> str:
    """What a check says of a file, for ``diagnose``; empty if nothing."""
    try:
        check(path)
    except DataError as error:
        return str(error)
    return ""


def text_lines(path: Path) -> pl.LazyFrame:
    """The lines of a file of text, plain or compressed, in a column ``line``."""
    return pl.scan_lines(path, name="line", glob=False)


def open_text(path: Path) -> TextIO:
    """A file of UTF-8 text, plain or compressed, with its line ends unchanged; with zstd it is read into memory."""
    if path.suffix.lower() in GZIP.extensions:
        return gzip.open(path, "rt", encoding="utf-8-sig", newline="")
    if path.suffix.lower() in ZSTD.extensions:
        try:
            lines = text_lines(path).collect()["line"]
        except pl.exceptions.PolarsError as error:
            raise OSError(str(error)) from None
        return io.StringIO("".join(f"{line}\n" for line in lines), newline="")
    return path.open(encoding="utf-8-sig", newline="")


def gzip_error(path: Path) -> str:
    """What is wrong with a file that is compressed with gzip: it is cut off, or a checksum fails; empty if nothing."""
    if path.suffix.lower() not in GZIP.extensions:
        return ""
    try:
        with gzip.open(path) as file:
            while file.read(1 << 20):
                pass
    except (OSError, EOFError, zlib.error) as error:
        return f"its gzip data cannot be decompressed: {str(error).rstrip('.')}. {DAMAGED}"
    return ""
