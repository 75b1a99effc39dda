"""The kinds of files that hold tables; to add one, add an entry to ``KINDS``."""

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

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
_GZIP, _ZSTD = (".gz", ".gzip"), (".zst", ".zstd")


@dataclass(frozen=True)
class FileKind:
    """A kind of file: its extensions and how to read it. Subclasses define ``scan``, and override what else differs."""

    compressible: ClassVar[bool] = True  # whether it may be compressed with gzip or zstd
    magic: ClassVar[bytes] = b""  # the first bytes of every such file

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


class Parquet(FileKind):
    """A Parquet file."""

    compressible = False
    magic = b"PAR1"

    def scan(self, path: Path) -> pl.LazyFrame:
        return pl.scan_parquet(path, glob=False)


class JsonLines(FileKind):
    """One JSON object per line."""

    def scan(self, path: Path) -> pl.LazyFrame:
        name = str(path)
        return pl.scan_ndjson(glob.escape(name) if glob.has_magic(name) else name, infer_schema_length=None)

    def where(self, path: Path, record: int) -> str:
        """The line of a record; blank lines are not records."""
        with contextlib.suppress(UnicodeDecodeError, OSError), open_text(path) as file:
            filled = (number for number, line in enumerate(file, 1) if line.strip())
            for number in itertools.islice(filled, record, None):
                return f"line {number}"
        return f"line {record + 1}"

    def diagnose(self, path: Path) -> str:
        with open_text(path) as file:
            for number, line in enumerate(file, 1):
                try:
                    if line.strip() and not isinstance(json.loads(line), dict):
                        return f"line {number} is not a JSON object. Write one object per line: {{...}}."
                except ValueError:
                    return f"line {number} is not JSON: {line.strip()[:40]!r}. Write one object per line: {{...}}."
        return ""


class SeparatedText(FileKind):
    """A header and one line per record; fields that contain the separator are quoted."""

    def scan(self, path: Path) -> pl.LazyFrame:
        return pl.scan_csv(path, separator=self.separator, infer_schema=False, glob=False)

    def where(self, path: Path, record: int) -> str:
        """The line a record starts on. Not simply ``record + 2``: quoted text may run over several lines."""
        with contextlib.suppress(csv.Error, UnicodeDecodeError, OSError):
            for line, _ in itertools.islice(self.lines(path), record + 1, None):
                return f"line {line}"
        return f"line {record + 2}"

    def diagnose(self, path: Path) -> str:
        width = 0
        try:
            for line, fields in self.lines(path):
                width = width or len(fields)
                if fields and len(fields) > width:
                    remedy = f"Quote text that contains {SEPARATORS[self.separator]}."
                    return f"line {line} has {len(fields)} fields, but the header has {width}. {remedy}"
        except csv.Error as error:
            return f"{error}. Close the quotes, or export the file again."
        return ""

    def check_lines(self, path: Path, fields: int) -> None:
        if not self._suspect_lines(path, fields):
            return
        # quoted text may run over several lines and mislead that count; a full parse decides
        remedy = "Is the file complete? Download or export it again."
        try:
            for line, values in self.lines(path):
                if values and len(values) != fields:
                    problem = "cut off" if len(values) < fields else "too long"
                    counts = f"it has {len(values)} fields, the header has {fields}"
                    raise DataError(f"{path}: line {line} is {problem}: {counts}. {remedy}")
        except (csv.Error, UnicodeDecodeError, OSError) as error:
            raise DataError(f"{path} cannot be parsed as {self.name}: {error}. {remedy}") from None

    def _suspect_lines(self, path: Path, fields: int) -> bool:
        """Whether some line, by itself, has more or fewer separators than the header, or an open quote."""
        lines = pl.scan_csv(
            path, has_header=False, schema={"line": pl.String}, separator="\x1f", quote_char=None, glob=False
        )
        unquoted = pl.col("line").str.replace_all('"[^"]*"', "")
        separators = unquoted.str.count_matches(self.separator, literal=True)
        is_blank = (separators == 0) & (unquoted.str.strip_chars() == "")
        wrong_count = ~is_blank & (separators != fields - 1)
        open_quote = unquoted.str.contains('["\r]')
        return not lines.filter(wrong_count | open_quote).head(1).collect(engine="streaming").is_empty()

    def lines(self, path: Path) -> Iterator[tuple[int, list[str]]]:
        """Every record from the header on, with the line it starts on; blank lines above the header are skipped."""
        with open_text(path) as file:
            reader = csv.reader(file, delimiter=self.separator, strict=True)
            start, in_table = 1, False
            try:
                for fields in reader:
                    in_table = in_table or bool(fields)
                    if in_table:
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
    """The kind of a file by the extension of its name."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    compressed = path.suffix.lower() in _GZIP + _ZSTD
    extension = "".join(suffixes[-2:-1] if compressed else suffixes[-1:])
    return next(
        (kind for kind in KINDS if extension in kind.extensions and (kind.compressible or not compressed)), None
    )


def supported_files() -> str:
    """The files that can be read, as a sentence without its full stop."""
    kinds = _listed([kind.extensions[0] for kind in KINDS], "or")
    compressible = _listed([kind.extensions[0] for kind in KINDS if kind.compressible], "and")
    return f"Tables are {kinds} files; {compressible} may be compressed (.gz, .zst)"


def _listed(words: Sequence[str], conjunction: str) -> str:
    return f"{', '.join(words[:-1])} {conjunction} {words[-1]}"


def open_text(path: Path) -> TextIO:
    """A file of UTF-8 text, plain or compressed with gzip, with its line ends unchanged."""
    if path.suffix.lower() in _GZIP:
        return gzip.open(path, "rt", encoding="utf-8-sig", newline="")
    if path.suffix.lower() in _ZSTD:
        raise OSError("it is compressed with zstd and cannot be read line by line; decompress it to find the line")
    return path.open(encoding="utf-8-sig", newline="")
