"""Writing files that appear whole or not at all."""

from pathlib import Path
from typing import TYPE_CHECKING

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


def write_frame(path: str | Path, frame: "pl.DataFrame") -> Path:
    """A table as ``.parquet``, ``.csv`` or ``.ndjson``, whole or not at all."""
    path = Path(path)
    writers = {".parquet": frame.write_parquet, ".csv": frame.write_csv, ".ndjson": frame.write_ndjson}
    write = writers.get(path.suffix.lower())
    if write is None:
        raise DataError(f"{path}: a table is written as .parquet, .csv or .ndjson.")
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
