"""Tables on disk: Parquet, CSV and NDJSON, plain or compressed, one file or many."""

import contextlib
import csv
import glob
import gzip
import itertools
import json
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
        return f"line {_json_line(self.path, record)}" if self.kind == "NDJSON" else f"record {record + 1}"


def find_files(path: str | Path) -> list[Path]:
    """The files that a path, a folder or a pattern such as ``layouts/*.parquet`` names, in order."""
    text = str(path)
    try:
        if text in ("", "."):
            raise DataError("a path is wanted, found nothing.")
        if not glob.has_magic(text) or Path(text).exists():
            found = [Path(text)]
        else:
            found = sorted(Path(name) for name in glob.glob(text, recursive=True))  # noqa: PTH207
        if not found:
            raise DataError(f"{text}: no file has a name like this.")
        return [file for one in found for file in (_inside(one) if one.is_dir() else [one])]
    except (OSError, ValueError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"{text[:80]!r} is no path: {getattr(error, 'strerror', None) or error}.") from None


def _inside(folder: Path) -> list[Path]:
    found = sorted(name for name in folder.iterdir() if _kind(name) and name.name[0] not in "._")
    if not found:
        raise DataError(f"{folder}: a folder without tables. {_READABLE}.")
    return found


def open_file(path: Path) -> TableFile:
    """A file as a lazy frame, all columns of a CSV file as text."""
    kind = _kind(path)
    try:
        with path.open("rb") as file:
            if file.read(4) == b"PAR1":
                kind = "Parquet"
            elif kind is None:
                raise DataError(f"{path}: unknown kind of file. {_READABLE}.")
    except (OSError, ValueError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"{str(path)[:255]}: {getattr(error, 'strerror', None) or error}.") from None
    if path.stat().st_size == 0:
        raise DataError(f"{path} is empty.")
    with readable((path, kind)):
        if kind == "Parquet":
            records = pl.scan_parquet(path, glob=False)
        elif kind == "NDJSON":
            name = str(path)
            records = pl.scan_ndjson(glob.escape(name) if glob.has_magic(name) else name, infer_schema_length=None)
        else:
            records = pl.scan_csv(path, infer_schema=False, glob=False)
        records.collect_schema()
    return TableFile(path, kind, records)


def is_table(path: Path) -> bool:
    """Whether a file's name says that it is a table."""
    return _kind(path) is not None


def _kind(path: Path) -> str | None:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in _PACKED:
        suffixes.pop()
    kind = _KINDS.get(suffixes[-1]) if suffixes else None
    return None if kind == "Parquet" and path.suffix.lower() in _PACKED else kind


@contextlib.contextmanager
def readable(*files: tuple[Path, str], name: str = "") -> Iterator[None]:
    """What the reader cannot make out of files, each given with its kind, becomes our error."""
    try:
        yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        reason = str(error).strip().partition("\n")[0].rstrip(".")
        for path, kind in files:
            if why := _why(path, kind):
                raise DataError(under(name, f"{path} does not read as {kind}: {why}")) from None
        if not files:
            raise DataError(under(name, f"the table does not read: {reason}.")) from None
        (path, kind), more = files[0], " (or another of its files)" if len(files) > 1 else ""
        raise DataError(
            under(name, f"{path}{more} does not read as {kind}: {reason}. Is the file damaged? Get or export it again.")
        ) from None


def under(name: str, message: str) -> str:
    """A message under its table's name, once: a table may go by the name of its file."""
    return message if message.startswith(name) else f"{name}: {message}"


def check_fields(file: TableFile) -> None:
    """Refuse the first line of a CSV file with too few fields, which readers fill with nothing, or with too many."""
    fields = len(file.records.collect_schema())
    with readable((file.path, file.kind)):
        if not _suspect_lines(file.path, fields):
            return
    # text in quotes may run over several lines and mislead that count; reading by the book decides
    try:
        for line, values in csv_records(file.path):
            if values and len(values) != fields:
                what = "cut off" if len(values) < fields else "too long"
                raise DataError(
                    f"{file.path}: line {line} is {what}: it has {len(values)} of {fields} fields. "
                    "Is the file complete? Get or export it again."
                )
    except (csv.Error, UnicodeDecodeError, OSError) as error:
        raise DataError(
            f"{file.path} does not read as CSV: {error}. Is the file complete? Get or export it again."
        ) from None


def _suspect_lines(path: Path, fields: int) -> bool:
    """Whether a line, taken by itself, has another number of commas than the header, or a quote left open."""
    lines = pl.scan_csv(
        path, has_header=False, schema={"line": pl.String}, separator="\x1f", quote_char=None, glob=False
    )
    bare = pl.col("line").str.replace_all('"[^"]*"', "")
    uneven = (bare.str.count_matches(",", literal=True) != fields - 1) & (bare.str.strip_chars() != "")
    odd = bare.str.contains('["\r]')
    return not lines.filter(uneven | odd).head(1).collect(engine="streaming").is_empty()


def _why(path: Path, kind: str) -> str:
    """What is wrong with a file, where that can be told; it is read once more, line by line."""
    with contextlib.suppress(OSError, EOFError):
        try:
            if kind == "Parquet":
                start = path.read_bytes()[:24]
                return "" if start[:4] == b"PAR1" else f"it begins with {start!r}. Is it another kind of file?"
            if kind == "NDJSON":
                return _wrong_json(path)
            width = 0
            for line, fields in csv_records(path):
                width = width or len(fields)
                if fields and len(fields) > width:
                    return f"line {line} has {len(fields)} fields and the header {width}. Quote text that holds commas."
        except UnicodeDecodeError:
            return "it is not in UTF-8. Save it as UTF-8."
        except csv.Error as error:
            return f"{error}. Close the quotes, or export it again."
    return ""


def _wrong_json(path: Path) -> str:
    with open_text(path) as file:
        for number, line in enumerate(file, 1):
            try:
                if line.strip() and not isinstance(json.loads(line), dict):
                    return f"line {number} is no object. Write one object a line: {{...}}."
            except ValueError:
                return f"line {number} is no JSON: {line.strip()[:40]!r}. Write one object a line: {{...}}."
    return ""


def csv_line(path: Path, record: int) -> int:
    """The line a record starts on. Not simply ``record + 2``: text in quotes may run over several lines."""
    with contextlib.suppress(csv.Error, UnicodeDecodeError, OSError):
        for line, _ in itertools.islice(csv_records(path), record + 1, None):
            return line
    return record + 2


def _json_line(path: Path, record: int) -> int:
    """The line of a record; blank lines hold none."""
    with contextlib.suppress(UnicodeDecodeError, OSError), open_text(path) as file:
        filled = (number for number, line in enumerate(file, 1) if line.strip())
        for number in itertools.islice(filled, record, None):
            return number
    return record + 1


def csv_records(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Every record from the header on, with the line it starts on; blank lines before the header are skipped."""
    with open_text(path) as file:
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


def open_text(path: Path) -> TextIO:
    """A file of UTF-8 text, plain or compressed by gzip, its line ends as they are."""
    if path.suffix.lower() in (".gz", ".gzip"):
        return gzip.open(path, "rt", encoding="utf-8-sig", newline="")
    if path.suffix.lower() in (".zst", ".zstd"):
        raise OSError("packed by zstd, it cannot be read line by line; unpack it to see the line")
    return path.open(encoding="utf-8-sig", newline="")
