"""Files that were uploaded: kept in a temporary folder under names of our own, the oldest unused ones removed."""

import secrets
import tempfile
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from carouseval.show.studio.bad_request import BadRequestError

TABLES = ("layouts", "judgments", "items", "other")
SUFFIXES = (".csv", ".tsv", ".parquet", ".ndjson", ".jsonl", ".json")
MOST_BYTES = 100 * 2**20
MOST_LINES = 30_000_000  # of Parquet, which can hold billions of equal lines in little space
MOST_FILES = 32  # besides those in use: of several pages of a browser, which must not remove each other's
MOST_BYTES_OF_ALL = 5 * MOST_BYTES  # of these files
# how gzip, Zstandard and zlib begin, which readers unpack whatever a file is called: it could become of any size
_COMPRESSED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"x\x01", b"x^", b"x\x9c", b"x\xda")


@dataclass(frozen=True)
class Upload:
    """An uploaded file, and the name it had."""

    path: Path
    name: str
    size: int


class Uploads:
    """Uploaded files by the keys that stand for them."""

    def __init__(self) -> None:
        self._temporary = tempfile.TemporaryDirectory(prefix="carouseval-studio-")
        self.folder: Path = Path(self._temporary.name)
        self._files: dict[str, Upload] = {}
        self._in_use: frozenset[str] = frozenset()

    def close(self) -> None:
        """Remove all files."""
        self._temporary.cleanup()

    async def add(self, table: str, name: str, chunks: AsyncIterator[bytes], most: int = MOST_BYTES) -> str:
        """Keep a file; returns its key."""
        suffix = Path(name).suffix.lower()
        if suffix not in SUFFIXES:
            raise BadRequestError(f"{name}: a table is a file that ends in {', '.join(SUFFIXES)}.")
        key = secrets.token_hex(8)
        path = Path(self.folder, f"{table}-{key}{suffix}")
        size = 0
        try:
            with path.open("w+b") as file:
                async for chunk in chunks:
                    size += len(chunk)
                    if size > most:
                        raise BadRequestError(f"{name} is larger than {most >> 20} MB; give its path at start.", 413)
                    file.write(chunk)
                file.seek(0)
                if file.read(4).startswith(_COMPRESSED):
                    raise BadRequestError(f"{name} is compressed; unpack it, or give its path at start.")
            if not size:
                raise BadRequestError(f"{name} is empty.")
            if suffix == ".parquet" and _count_lines(path) > MOST_LINES:
                raise BadRequestError(f"{name} has more than {MOST_LINES:,} lines; give its path at start.", 413)
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        self._files[key] = Upload(path, name, size)
        self._remove_oldest()
        return key

    def __getitem__(self, key: str) -> Upload:
        if key not in self._files:
            raise BadRequestError("this upload is gone; upload the file again.", 404)
        return self._files[key]

    @contextmanager
    def opening(self, keys: Iterable[str] = ()) -> Iterator[None]:
        """Files to open: in use from now on, as messages read them again to name a line; if it fails, those before."""
        in_use, opened = self._in_use, frozenset(keys)
        self._in_use = in_use | opened
        try:
            yield
            in_use = opened
        finally:
            self._in_use = in_use
            self._remove_oldest()

    def _remove_oldest(self) -> None:
        """Remove files that are not in use, the oldest first, until the others are few and small enough."""
        unused = {key: upload.size for key, upload in list(self._files.items()) if key not in self._in_use}
        files, total = len(unused), sum(unused.values())
        for key, size in unused.items():
            if files <= MOST_FILES and total <= MOST_BYTES_OF_ALL:
                break
            files, total = files - 1, total - size
            upload = self._files.pop(key, None)  # None: removed meanwhile, since uploads do not wait for requests
            if upload is not None:
                upload.path.unlink(missing_ok=True)

    def with_names(self, message: str) -> str:
        """A message with the names that uploaded files had, in place of their paths."""
        for upload in list(self._files.values()):
            message = message.replace(str(upload.path), upload.name)
        return message


def _count_lines(path: Path) -> int:
    """How many lines a Parquet file has by its own account; 0 if it is damaged, which is said when it is opened."""
    try:
        return int(pl.scan_parquet(path).select(pl.len()).collect().item())
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        return 0
