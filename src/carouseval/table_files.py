"""Tables on disk, one file or many."""

import contextlib
import functools
import glob
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from carouseval.errors import DataError
from carouseval.file_kinds import KINDS, FileKind, kind_of, readable_kinds


@dataclass(frozen=True)
class TableFile:
    """One file and how it reads."""

    path: Path
    kind: FileKind

    @functools.cached_property
    def records(self) -> pl.LazyFrame:
        """All of it; nothing is read before it is collected."""
        return self.kind.scan(self.path)

    def place(self, record: int) -> str:
        """Where a record (from 0) stands, for a person to look it up."""
        return self.kind.place(self.path, record)

    def check_lines(self) -> None:
        """Refuse the first line with too few fields, which readers fill with nothing, or with too many."""
        with readable(self):
            self.kind.check_lines(self.path, len(self.records.collect_schema()))

    def damage(self) -> str:
        """What is wrong with it, where that can be told; it is read once more, line by line."""
        with contextlib.suppress(OSError, EOFError):
            try:
                return self.kind.damage(self.path)
            except UnicodeDecodeError:
                return "it is not in UTF-8. Save it as UTF-8."
        return ""


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
    found = sorted(name for name in folder.iterdir() if is_table(name) and name.name[0] not in "._")
    if not found:
        raise DataError(f"{folder}: a folder without tables. {readable_kinds()}.")
    return found


def open_file(path: Path) -> TableFile:
    """A file of the kind that its first bytes say it is, or else its name."""
    try:
        with path.open("rb") as file:
            start = file.read(24)
    except (OSError, ValueError) as error:
        raise DataError(f"{str(path)[:255]}: {getattr(error, 'strerror', None) or error}.") from None
    kind = next((one for one in KINDS if one.magic and start.startswith(one.magic)), kind_of(path))
    if kind is None:
        raise DataError(f"{path}: unknown kind of file. {readable_kinds()}.")
    if not start:
        raise DataError(f"{path} is empty.")
    opened = TableFile(path, kind)
    with readable(opened):
        opened.records.collect_schema()
    return opened


def is_table(path: Path) -> bool:
    """Whether a file's name says that it is a table."""
    return kind_of(path) is not None


@contextlib.contextmanager
def readable(*files: TableFile, name: str = "") -> Iterator[None]:
    """What the reader cannot make out of files becomes our error."""
    try:
        yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        reason = str(error).strip().partition("\n")[0].rstrip(".")
        for file in files:
            if why := file.damage():
                raise DataError(under(name, f"{file.path} does not read as {file.kind.name}: {why}")) from None
        if not files:
            raise DataError(under(name, f"the table does not read: {reason}.")) from None
        more = " (or another of its files)" if len(files) > 1 else ""
        what = f"{files[0].path}{more} does not read as {files[0].kind.name}: {reason}"
        raise DataError(under(name, f"{what}. Is the file damaged? Get or export it again.")) from None


def under(name: str, message: str) -> str:
    """A message under its table's name, once: a table may go by the name of its file."""
    return message if message.startswith(name) else f"{name}: {message}"
