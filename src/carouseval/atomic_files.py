"""Writing files so that they appear complete or not at all."""

import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from carouseval.errors import DataError

if TYPE_CHECKING:
    import polars as pl

TABLES = (".parquet", ".csv", ".ndjson")
RESULTS = (".json", ".md", ".tex", ".csv", ".parquet")


@contextmanager
def _unfinished(path: Path) -> Iterator[Path]:
    """A temporary file beside ``path`` that is renamed to it once it is written."""
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
        os.close(handle)
        unfinished = Path(name)
        try:
            yield unfinished
            unfinished.chmod(0o666 & ~_umask())
            unfinished.replace(path)
        except BaseException:
            unfinished.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise DataError(f"{path} cannot be written: {error.strerror or error}.") from None


def _umask() -> int:
    """The permissions that new files do not get; it can only be read by setting it."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def write_atomically(path: str | Path, content: str | bytes) -> Path:
    """Write to a temporary file, then rename it; if that fails, nothing is left behind."""
    with _unfinished(Path(path)) as unfinished:
        unfinished.write_bytes(content.encode() if isinstance(content, str) else content)
    return Path(path)


def check_outputs(
    *outputs: str | Path | None, kinds: tuple[str, ...] = TABLES, inputs: Iterable[str | Path | None] = ()
) -> None:
    """Refuse, before any work is done, outputs of an unknown type, in a missing folder, or equal to an input."""
    paths = [Path(output) for output in outputs if output is not None]
    for path in paths:
        if paths.count(path) > 1:
            raise DataError(f"{path} is given for two outputs; use a different file for each.")
        if path.suffix.lower() not in kinds:
            known = list(dict.fromkeys(kinds))
            raise DataError(f"{path}: unsupported file type. Use {', '.join(known[:-1])} or {known[-1]}.")
        if not path.parent.is_dir():
            raise DataError(f"{path} cannot be written: the folder {path.parent} does not exist.")
        for name in inputs:
            if name is not None and path.exists() and Path(name).exists() and path.samefile(name):
                raise DataError(f"{path} is one of the input tables; write to another file.")


def write_frame(path: str | Path, frame: "pl.DataFrame") -> Path:
    """Write a table as ``.parquet``, ``.csv`` or ``.ndjson``, completely or not at all."""
    check_outputs(path)
    path = Path(path)
    writers: dict[str, Any] = {".parquet": frame.write_parquet, ".csv": frame.write_csv, ".ndjson": frame.write_ndjson}
    with _unfinished(path) as unfinished:
        writers[path.suffix.lower()](unfinished)
    return path


@contextmanager
def atomic_folder(directory: str | Path) -> Iterator[Path]:
    """A temporary folder whose files move into ``directory`` once all are written; it is created if needed.

    If writing fails nothing is left behind, and files of the same names stay as they were.
    """
    directory = Path(directory)
    try:
        created = [folder for folder in (directory, *directory.parents) if not folder.exists()]
        directory.mkdir(parents=True, exist_ok=True)
        try:
            with tempfile.TemporaryDirectory(prefix=".part-", dir=directory) as unfinished:
                yield Path(unfinished)
                for file in sorted(Path(unfinished).iterdir()):
                    file.replace(directory / file.name)
        except BaseException:
            with suppress(OSError):  # a folder that another process has written to stays
                for folder in created:
                    folder.rmdir()
            raise
    except OSError as error:
        raise DataError(f"{directory} cannot be written: {error.strerror or error}.") from None
