"""Writing files that appear whole or not at all."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from carouseval.errors import DataError

if TYPE_CHECKING:
    import polars as pl


def write_whole(path: str | Path, content: str | bytes) -> Path:
    """Write under a temporary name, then rename; what cannot be written is said, and nothing is left behind."""
    unfinished, path = Path(f"{path}.part"), Path(path)
    try:
        unfinished.write_bytes(content.encode() if isinstance(content, str) else content)
        return unfinished.replace(path)
    except OSError as error:
        unfinished.unlink(missing_ok=True)
        raise DataError(f"{path} cannot be written: {error.strerror or error}.") from None


def check_table_path(path: str | Path | None) -> None:
    """Refuse a name that says no kind of table, before any work is done."""
    if path is not None and Path(path).suffix.lower() not in (".parquet", ".csv", ".ndjson"):
        raise DataError(f"{path}: a table is written as .parquet, .csv or .ndjson.")


def write_frame(path: str | Path, frame: "pl.DataFrame") -> Path:
    """A table as ``.parquet``, ``.csv`` or ``.ndjson``, whole or not at all."""
    check_table_path(path)
    path = Path(path)
    writers: dict[str, Any] = {".parquet": frame.write_parquet, ".csv": frame.write_csv, ".ndjson": frame.write_ndjson}
    write = writers[path.suffix.lower()]
    unfinished = Path(f"{path}.part")
    try:
        write(unfinished)
        return unfinished.replace(path)
    except OSError as error:
        unfinished.unlink(missing_ok=True)
        raise DataError(f"{path} cannot be written: {error.strerror or error}.") from None
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


@contextmanager
def whole_folder(directory: str | Path) -> Iterator[Path]:
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
