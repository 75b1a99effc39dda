"""Tables on disk, in one file or many."""

import contextlib
import functools
import glob
import zlib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from carouseval.errors import DataError
from carouseval.messages import nested
from carouseval.tables.kinds import KINDS, kind_of, supported_files
from carouseval.tables.kinds.contract import COMPRESSIONS, DAMAGED, FileKind, gzip_error

_READ_ERRORS = (pl.exceptions.PolarsError, OSError, EOFError, zlib.error)


@dataclass(frozen=True)
class TableFile:
    """A file and its kind."""

    path: str
    kind: FileKind
    version: tuple[int, ...] = ()  # size, time of the last change and number of the file when it was opened

    @functools.cached_property
    def records(self) -> pl.LazyFrame:
        """All records; nothing is read until they are collected."""
        return self.kind.scan(Path(self.path))

    def where(self, record: int) -> str:
        """The line of a record (counted from 0), for a person to look it up."""
        return self.kind.where(Path(self.path), record)

    def check_lines(self) -> None:
        """Refuse the first line with too few fields, which readers fill with nulls, or too many."""
        with ReadErrors([self]):
            self.kind.check_lines(Path(self.path), len(self.records.collect_schema()))

    def check_text(self) -> None:
        """Refuse text that must not reach Polars, such as objects that have a key twice."""
        with self._complaints():
            self.kind.check_text(Path(self.path))

    def check_contents(self, columns: Collection[str]) -> None:
        """Refuse what Polars reads without complaint, such as failed checksums in some columns."""
        with self._complaints():
            self.kind.check_contents(Path(self.path), columns)

    @contextlib.contextmanager
    def _complaints(self) -> Iterator[None]:
        """Turn errors about the content of a file, and of reading it, into ones that name it."""
        try:
            with ReadErrors([self]):
                yield
        except DataError as error:
            if str(error).startswith(self.path):
                raise
            raise DataError(f"{self.path} cannot be parsed as {self.kind.name}: {error}") from None

    def check_unchanged(self) -> None:
        """Refuse a file that was changed since it was opened: some lines may be old and others new."""
        if self.version and self.version != _version(Path(self.path)):
            raise DataError(f"{self.path} changed while it was read. Wait until it is complete, and read it again.")

    def diagnose(self) -> str:
        """What is wrong with the file, if that can be found by reading it once more, line by line."""
        if reason := gzip_error(Path(self.path)):
            return reason
        with contextlib.suppress(OSError):
            try:
                return self.kind.diagnose(Path(self.path))
            except UnicodeDecodeError:
                return "it is not in UTF-8. Save it as UTF-8."
        return ""

    @property
    def remedy(self) -> str:
        """What to do where nothing is known but what Polars says."""
        return DAMAGED


def find_files(path: str | Path) -> list[Path]:
    """The files of a path, a folder or a pattern such as ``layouts/*.parquet``, in order."""
    text = str(path)
    try:
        if text in ("", "."):
            raise DataError("the path is empty.")
        if not glob.has_magic(text) or Path(text).exists():
            paths = [Path(text)]
        else:
            paths = sorted(Path(name) for name in glob.glob(text, recursive=True))  # noqa: PTH207
        if not paths:
            raise DataError(f"{text}: no file matches this pattern.")
        return [file for path in paths for file in (_tables_in(path) if path.is_dir() else [path])]
    except (OSError, ValueError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"{text[:80]!r} is not a path: {getattr(error, 'strerror', None) or error}.") from None


def _tables_in(folder: Path) -> list[Path]:
    files = sorted(file for file in folder.iterdir() if is_table(file) and file.name[0] not in "._")
    if not files:
        raise DataError(f"{folder}: the folder has no tables in it. {supported_files()}.")
    return files


def open_file(path: Path) -> TableFile:
    """A file, with its kind recognised by its first bytes or else by its name."""
    try:
        if path.exists() and not path.is_file():  # a pipe blocks, and a device may never end
            raise DataError(f"{str(path)[:255]} is a pipe or a device, not a file. Save its content to a file first.")
        version = _version(path)
        with path.open("rb") as file:
            start = file.read(24)
    except DataError:
        raise
    except (OSError, ValueError) as error:
        raise DataError(f"{str(path)[:255]}: {getattr(error, 'strerror', None) or error}.") from None
    kind = next((kind for kind in KINDS if kind.magic and start.startswith(kind.magic)), kind_of(path))
    if kind is None:
        raise DataError(f"{path}: unknown file type. {supported_files()}.")
    if not start:
        raise DataError(f"{path} is empty.")
    for compression in COMPRESSIONS:
        if path.suffix.lower() in compression.extensions and not start.startswith(compression.magic):
            raise DataError(
                f"{path} is not compressed with {compression.name}, as its name says: it starts with {start!r}. "
                f"{DAMAGED}"
            )
    table = TableFile(str(path), kind, version)
    table.check_text()
    with ReadErrors([table]):
        table.records.collect_schema()
    return table


def _version(path: Path) -> tuple[int, ...]:
    status = path.stat()
    return status.st_size, status.st_mtime_ns, status.st_ino


def is_table(path: Path) -> bool:
    """Whether a file's name has the extension of a table."""
    return kind_of(path) is not None


@dataclass(frozen=True)
class ReadErrors(contextlib.AbstractContextManager["ReadErrors"]):
    """Turns what Polars raises while it reads into a ``DataError`` that says what is wrong with which file."""

    files: Sequence[TableFile]
    name: str = ""  # of the table

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if not (isinstance(error, _READ_ERRORS) or is_panic(error)):
            return
        for file in self.files:
            if reason := file.diagnose():
                problem = f"{file.path} cannot be parsed as {file.kind.name}: {reason}"
                raise DataError(with_table_name(self.name, problem)) from None
        reason = first_line(error)
        if not self.files:
            raise DataError(with_table_name(self.name, f"the table cannot be read: {reason}.")) from None
        first, others = self.files[0], " (or another of its files)" if len(self.files) > 1 else ""
        problem = f"{first.path}{others} cannot be parsed as {first.kind.name}: {reason}"
        raise DataError(with_table_name(self.name, f"{problem}. {first.remedy}")) from None


def is_panic(error: BaseException | None) -> bool:
    """Whether a library written in Rust panicked; each has a class of its own, which is not an ``Exception``."""
    return type(error).__name__ == "PanicException"


def first_line(error: BaseException | None) -> str:
    """The first line of an error's message, without its full stop."""
    return str(error).strip().partition("\n")[0].rstrip(".")


def with_table_name(name: str, message: str) -> str:
    """A message that begins with its table's name, once: a table may be named by its file."""
    return message if message.startswith(name) else f"{name}: {nested(message)}"
