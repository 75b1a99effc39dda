"""Tables on disk: Parquet, CSV and NDJSON, plain or compressed, one file or many."""

import contextlib
import csv
import glob
import gzip
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import polars as pl

from carouseval.errors import DataError

_PACKED = (".gz", ".gzip", ".zst", ".zstd")
_KINDS = {".parquet": "Parquet", ".pq": "Parquet", ".csv": "CSV", ".ndjson": "NDJSON", ".jsonl": "NDJSON"}
_READABLE = "Tables are .parquet, .csv or .ndjson files; .csv and .ndjson may be compressed (.gz, .zst)"


@dataclass(frozen=True)
class TableFile:
    """One file and how it reads; nothing is read before it is collected."""

    path: Path
    kind: str
    records: pl.LazyFrame

    def line(self, record: int) -> str:
        """Where a record (from 0) stands, for a person to look it up."""
        if self.kind == "CSV":
            return f"line {csv_line(self.path, record)}"
        return f"line {record + 1}" if self.kind == "NDJSON" else f"record {record + 1}"


def find_files(path: str | Path) -> list[Path]:
    """The files that a path, a folder or a pattern such as ``layouts/*.parquet`` names, in order."""
    text = str(path)
    if glob.has_magic(text) and not Path(text).exists():
        found = sorted(Path(name) for name in glob.glob(text, recursive=True))  # noqa: PTH207
        if not found:
            raise DataError(f"{text}: no file has a name like this.")
    else:
        found = [Path(text)]
    files: list[Path] = []
    for one in found:
        if one.is_dir():
            inside = sorted(name for name in one.iterdir() if _kind(name) and name.name[0] not in "._")
            if not inside:
                raise DataError(f"{one}: a folder without tables. {_READABLE}.")
            files += inside
        else:
            files.append(one)
    return files


def open_file(path: Path) -> TableFile:
    """A file as a lazy frame, all columns of a CSV file as text."""
    kind = _kind(path)
    try:
        with path.open("rb") as file:
            if file.read(4) == b"PAR1":
                kind = "Parquet"
            elif kind is None:
                raise DataError(f"{path}: unknown kind of file. {_READABLE}.")
    except OSError as error:
        raise DataError(f"{path}: {error.strerror or error}.") from None
    if path.stat().st_size == 0:
        raise DataError(f"{path} is empty.")
    with readable(path, kind):
        if kind == "Parquet":
            records = pl.scan_parquet(path, glob=False)
        elif kind == "NDJSON":
            records = pl.scan_ndjson(path, infer_schema_length=None)
        else:
            records = pl.scan_csv(path, infer_schema=False, glob=False)
        records.collect_schema()
    return TableFile(path, kind, records)


def _kind(path: Path) -> str | None:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in _PACKED:
        suffixes.pop()
    kind = _KINDS.get(suffixes[-1]) if suffixes else None
    return None if kind == "Parquet" and path.suffix.lower() in _PACKED else kind


@contextlib.contextmanager
def readable(path: str | Path, kind: str) -> Iterator[None]:
    """What the reader cannot make out becomes our error."""
    try:
        yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        reason = str(error).strip().partition("\n")[0].rstrip(".")
        raise DataError(
            f"{path} does not read as {kind}: {reason}. Is the file damaged? Get or export it again."
        ) from None


def csv_line(path: Path, record: int) -> int:
    """The line a record starts on. Not simply ``record + 2``: text in quotes may run over several lines."""
    with contextlib.suppress(csv.Error, UnicodeDecodeError, OSError):
        for line, _ in itertools.islice(csv_records(path), record + 1, None):
            return line
    return record + 2


def csv_records(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Every record from the header on, with the line it starts on; blank lines before the header are skipped."""
    with _open_text(path) as file:
        reader = csv.reader(file, strict=True)
        start, begun = 1, False
        try:
            for fields in reader:
                begun = begun or bool(fields)
                if begun:
                    yield start, fields
                start = reader.line_num + 1
        except csv.Error as error:
            raise csv.Error(f"line {start}: {error}") from None


def _open_text(path: Path) -> TextIO:
    if path.suffix.lower() in (".gz", ".gzip"):
        return gzip.open(path, "rt", encoding="utf-8-sig", newline="")
    return path.open(encoding="utf-8-sig", newline="")
