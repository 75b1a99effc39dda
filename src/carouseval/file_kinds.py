"""The kinds of files that hold tables; a new one is an entry in ``KINDS``."""

import contextlib
import csv
import glob
import gzip
import itertools
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, TextIO

import polars as pl

from carouseval.errors import DataError

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_GZIP, _ZSTD = (".gz", ".gzip"), (".zst", ".zstd")


@dataclass(frozen=True)
class FileKind:
    """A kind of file: how its name ends and how it reads. Subclasses define ``scan``, and what else they know of it."""

    compressible: ClassVar[bool] = True  # whether it may be packed by gzip or zstd
    magic: ClassVar[bytes] = b""  # how every such file begins, whatever its name

    name: str
    endings: tuple[str, ...]  # messages name the first
    separator: str = ""  # of the fields of a line; none where columns have types

    @property
    def is_text(self) -> bool:
        """Whether all columns are text, so that ids have no type of their own and a blank line is no record."""
        return self.separator != ""

    def scan(self, path: Path) -> pl.LazyFrame:
        """All records; nothing is read before they are collected."""
        raise NotImplementedError(f"{type(self).__name__} must define scan(path).")

    def place(self, path: Path, record: int) -> str:
        """Where a record (from 0) stands, for a person to look it up."""
        return f"record {record + 1}"

    def damage(self, path: Path) -> str:
        """What is wrong with a file that does not read, and what to do, where that can be told."""
        with path.open("rb") as file:
            start = file.read(24)
        return "" if start.startswith(self.magic) else f"it begins with {start!r}. Is it another kind of file?"

    def check_lines(self, path: Path, fields: int) -> None:
        """Refuse the first line that has not as many fields as the header; only text can have one."""


class Parquet(FileKind):
    compressible = False
    magic = b"PAR1"

    def scan(self, path: Path) -> pl.LazyFrame:
        return pl.scan_parquet(path, glob=False)


class JsonLines(FileKind):
    """One object a line."""

    def scan(self, path: Path) -> pl.LazyFrame:
        name = str(path)
        return pl.scan_ndjson(glob.escape(name) if glob.has_magic(name) else name, infer_schema_length=None)

    def place(self, path: Path, record: int) -> str:
        """The line of a record; blank lines hold none."""
        with contextlib.suppress(UnicodeDecodeError, OSError), open_text(path) as file:
            filled = (number for number, line in enumerate(file, 1) if line.strip())
            for number in itertools.islice(filled, record, None):
                return f"line {number}"
        return f"line {record + 1}"

    def damage(self, path: Path) -> str:
        with open_text(path) as file:
            for number, line in enumerate(file, 1):
                try:
                    if line.strip() and not isinstance(json.loads(line), dict):
                        return f"line {number} is no object. Write one object a line: {{...}}."
                except ValueError:
                    return f"line {number} is no JSON: {line.strip()[:40]!r}. Write one object a line: {{...}}."
        return ""


class SeparatedText(FileKind):
    """A header and a line per record; fields that hold the separator stand in quotes."""

    def scan(self, path: Path) -> pl.LazyFrame:
        return pl.scan_csv(path, separator=self.separator, infer_schema=False, glob=False)

    def place(self, path: Path, record: int) -> str:
        """The line a record starts on. Not simply ``record + 2``: text in quotes may run over several lines."""
        with contextlib.suppress(csv.Error, UnicodeDecodeError, OSError):
            for line, _ in itertools.islice(self.lines(path), record + 1, None):
                return f"line {line}"
        return f"line {record + 2}"

    def damage(self, path: Path) -> str:
        width = 0
        try:
            for line, fields in self.lines(path):
                width = width or len(fields)
                if fields and len(fields) > width:
                    remedy = f"Quote text that holds {SEPARATORS[self.separator]}."
                    return f"line {line} has {len(fields)} fields and the header {width}. {remedy}"
        except csv.Error as error:
            return f"{error}. Close the quotes, or export it again."
        return ""

    def check_lines(self, path: Path, fields: int) -> None:
        if not self._suspect_lines(path, fields):
            return
        # text in quotes may run over several lines and mislead that count; reading by the book decides
        remedy = "Is the file complete? Get or export it again."
        try:
            for line, values in self.lines(path):
                if values and len(values) != fields:
                    what = "cut off" if len(values) < fields else "too long"
                    raise DataError(f"{path}: line {line} is {what}: it has {len(values)} of {fields} fields. {remedy}")
        except (csv.Error, UnicodeDecodeError, OSError) as error:
            raise DataError(f"{path} does not read as {self.name}: {error}. {remedy}") from None

    def _suspect_lines(self, path: Path, fields: int) -> bool:
        """Whether a line, taken by itself, has another number of separators than the header, or a quote left open."""
        lines = pl.scan_csv(
            path, has_header=False, schema={"line": pl.String}, separator="\x1f", quote_char=None, glob=False
        )
        bare = pl.col("line").str.replace_all('"[^"]*"', "")
        separators = bare.str.count_matches(self.separator, literal=True)
        filled = (separators > 0) | (bare.str.strip_chars() != "")
        uneven = filled & (separators != fields - 1)
        odd = bare.str.contains('["\r]')
        return not lines.filter(uneven | odd).head(1).collect(engine="streaming").is_empty()

    def lines(self, path: Path) -> Iterator[tuple[int, list[str]]]:
        """Every record from the header on, with the line it starts on; blank lines before the header are skipped."""
        with open_text(path) as file:
            reader = csv.reader(file, delimiter=self.separator, strict=True)
            start, begun = 1, False
            try:
                for fields in reader:
                    begun = begun or bool(fields)
                    if begun:
                        yield start, fields
                    start = reader.line_num + 1
            except csv.Error as error:
                raise csv.Error(f"line {start}: {error}") from None


KINDS = (
    Parquet("Parquet", (".parquet", ".pq")),
    SeparatedText("CSV", (".csv",), separator=","),
    SeparatedText("TSV", (".tsv",), separator="\t"),
    JsonLines("NDJSON", (".ndjson", ".jsonl")),
)


def kind_of(path: Path) -> FileKind | None:
    """The kind that a file's name says it is."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    packed = path.suffix.lower() in _GZIP + _ZSTD
    ending = "".join(suffixes[-2:-1] if packed else suffixes[-1:])
    return next((kind for kind in KINDS if ending in kind.endings and (kind.compressible or not packed)), None)


def readable_kinds() -> str:
    """What a table may be, in a sentence without its full stop."""
    kinds = _listed([kind.endings[0] for kind in KINDS], "or")
    compressible = _listed([kind.endings[0] for kind in KINDS if kind.compressible], "and")
    return f"Tables are {kinds} files; {compressible} may be compressed (.gz, .zst)"


def _listed(words: Sequence[str], conjunction: str) -> str:
    return f"{', '.join(words[:-1])} {conjunction} {words[-1]}"


def open_text(path: Path) -> TextIO:
    """A file of UTF-8 text, plain or compressed by gzip, its line ends as they are."""
    if path.suffix.lower() in _GZIP:
        return gzip.open(path, "rt", encoding="utf-8-sig", newline="")
    if path.suffix.lower() in _ZSTD:
        raise OSError("packed by zstd, it cannot be read line by line; unpack it to see the line")
    return path.open(encoding="utf-8-sig", newline="")
