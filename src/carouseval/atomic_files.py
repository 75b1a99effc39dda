"""Writing files that appear whole or not at all."""

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
    """A temporary name beside a file, which takes the file's name once it is written."""
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
    """What new files may not be, which only setting it tells."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def write_atomically(path: str | Path, content: str | bytes) -> Path:
    """Write under a temporary name, then rename; what cannot be written is said, and nothing is left behind."""
    with _unfinished(Path(path)) as unfinished:
        unfinished.write_bytes(content.encode() if isinstance(content, str) else content)
    return Path(path)


def check_outputs(
    *outputs: str | Path | None, kinds: tuple[str, ...] = TABLES, inputs: Iterable[str | Path | None] = ()
) -> None:
    """Refuse, before any work is done, names that say no kind of file, folders that are not there, and inputs."""
    paths = [Path(output) for output in outputs if output is not None]
    for path in paths:
        if paths.count(path) > 1:
            raise DataError(f"{path} is named for two outputs; name each its own file.")
        if path.suffix.lower() not in kinds:
            known = list(dict.fromkeys(kinds))
            raise DataError(f"{path}: write {', '.join(known[:-1])} or {known[-1]}.")
        if not path.parent.is_dir():
            raise DataError(f"{path} cannot be written: there is no folder {path.parent}.")
        for name in inputs:
            if name is not None and path.exists() and Path(name).exists() and path.samefile(name):
                raise DataError(f"{path} is one of the tables that are read; write elsewhere.")


def write_frame(path: str | Path, frame: "pl.DataFrame") -> Path:
    """A table as ``.parquet``, ``.csv`` or ``.ndjson``, whole or not at all."""
    check_outputs(path)
    path = Path(path)
    writers: dict[str, Any] = {".parquet": frame.write_parquet, ".csv": frame.write_csv, ".ndjson": frame.write_ndjson}
    with _unfinished(path) as unfinished:
        writers[path.suffix.lower()](unfinished)
    return path


@contextmanager
def atomic_folder(directory: str | Path) -> Iterator[Path]:
    """A folder to write many files in: once all are written they move into ``directory``, which is made if need be.

    If writing fails nothing is left behind, and files of the same names stay as they were.
    """
    directory = Path(directory)
    try:
        made = [one for one in (directory, *directory.parents) if not one.exists()]
        directory.mkdir(parents=True, exist_ok=True)
        try:
            with tempfile.TemporaryDirectory(prefix=".part-", dir=directory) as unfinished:
                yield Path(unfinished)
                for file in sorted(Path(unfinished).iterdir()):
                    file.replace(directory / file.name)
        except BaseException:
            with suppress(OSError):  # a folder that somebody else has filled meanwhile stays
                for one in made:
                    one.rmdir()
            raise
    except OSError as error:
        raise DataError(f"{directory} cannot be written: {error.strerror or error}.") from None
