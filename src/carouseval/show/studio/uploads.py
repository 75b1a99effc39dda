"""Files that were uploaded: kept in a temporary folder under names of our own, as long as they are used."""

import secrets
import tempfile
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from pathlib import Path

from carouseval.show.studio.bad_request import BadRequestError

TABLES = ("layouts", "judgments", "items", "other")
SUFFIXES = (".csv", ".tsv", ".parquet", ".ndjson", ".jsonl", ".json")  # compressed text could be of any size
MOST_BYTES = 100 * 2**20
MOST_FILES = 8


@dataclass(frozen=True)
class Upload:
    """An uploaded file, and the name it had."""

    path: Path
    name: str


class Uploads:
    """Uploaded files by the keys that stand for them."""

    def __init__(self) -> None:
        self._temporary = tempfile.TemporaryDirectory(prefix="carouseval-studio-")
        self.folder: Path = Path(self._temporary.name)
        self._files: dict[str, Upload] = {}

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
            with path.open("wb") as file:
                async for chunk in chunks:
                    size += len(chunk)
                    if size > most:
                        raise BadRequestError(f"{name} is larger than {most >> 20} MB; give its path at start.", 413)
                    file.write(chunk)
            if not size:
                raise BadRequestError(f"{name} is empty.")
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        self._files[key] = Upload(path, name)
        for old in list(self._files)[:-MOST_FILES]:
            self._remove(old)
        return key

    def __getitem__(self, key: str) -> Upload:
        if key not in self._files:
            raise BadRequestError("this upload is gone; upload the file again.", 404)
        return self._files[key]

    def keep(self, keys: Iterable[str]) -> None:
        """Remove all files but these."""
        for key in set(self._files).difference(keys):
            self._remove(key)

    def _remove(self, key: str) -> None:
        self._files.pop(key).path.unlink(missing_ok=True)

    def with_names(self, message: str) -> str:
        """A message with the names that uploaded files had, in place of their paths."""
        for upload in self._files.values():
            message = message.replace(str(upload.path), upload.name)
        return message
