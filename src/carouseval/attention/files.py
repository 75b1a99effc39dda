"""Examination counts and frequencies in files: JSON, CSV and Parquet."""

from pathlib import Path
from typing import Any

import numpy as np

from carouseval.attention.examination import Examination
from carouseval.errors import DataError
from carouseval.metrics.grid import Array
from carouseval.metrics.validation import require_int


def read_frequencies(path: str | Path, screens: int | None = None) -> Examination | Array:
    """Counts or frequencies of a grid, rows x cols.

    JSON: what :meth:`Examination.save` writes, or a bare ``[[...], ...]``. CSV and Parquet: one line per row
    of the grid, as many numbers in each, or a long table with the columns ``row``, ``col`` and ``count`` or
    ``frequency``. Whole numbers become an :class:`Examination` when ``screens`` says of how many screens; otherwise the
    numbers are frequencies, or proportional to them.
    """
    path = Path(path)
    read = {".json": _json, ".parquet": _parquet}.get(path.suffix.lower(), _csv)
    table = read(path)
    if isinstance(table, Examination):
        return table
    if np.isnan(table).any():
        row, col = np.argwhere(np.isnan(table))[0] + 1
        raise DataError(f"{path}: row {row}, col {col} is empty. Every cell of the grid needs a count or a frequency.")
    if (table < 0).any() or not np.isfinite(table).all():
        raise DataError(f"{path}: counts and frequencies are finite and 0 or more.")
    if screens is None:
        return table
    return Examination(path.stem, table, require_int("screens", screens, 1))


def holds_screens(path: str | Path) -> bool:
    """Whether a CSV or Parquet file lists examined cells, ``screen, row, col``, rather than a grid."""
    path = Path(path)
    try:
        if path.suffix.lower() == ".parquet":
            import polars as pl

            return {"screen", "row", "col"} <= set(pl.read_parquet_schema(path))
        with path.open(encoding="utf-8-sig") as lines:
            return {"screen", "row", "col"} <= {name.strip().strip('"') for name in lines.readline().split(",")}
    except Exception:  # whatever is wrong with the file, reading it will say so
        return False


def _json(path: Path) -> Examination | Array:
    try:
        is_grid = path.read_text(encoding="utf-8-sig").lstrip().startswith("[")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: {getattr(error, 'strerror', None) or error}.") from None
    if not is_grid:
        return Examination.load(path)
    from carouseval.page_file import read_page

    return read_page(str(path))


def _csv(path: Path) -> Array:
    from carouseval.page_file import read_page

    try:
        with path.open(encoding="utf-8-sig") as lines:
            header = [name.strip().strip('"') for name in lines.readline().split(",")]
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: {getattr(error, 'strerror', None) or error}.") from None
    if {"row", "col"} <= set(header):
        import polars as pl

        try:
            return _long(path, pl.read_csv(path, glob=False))
        except pl.exceptions.PolarsError as error:
            raise DataError(f"{path} is not CSV: {error}.") from None
    if len(header) > 1 and all(name and not _is_number(name) for name in header):
        raise DataError(
            f"{path}: the header has {', '.join(header[:8])}. Single screens need screen, row, col (and participant, "
            "time, if known); counts need row, col, count, or one line of numbers for each row of the grid."
        )
    return read_page(str(path))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _parquet(path: Path) -> Array:
    import polars as pl

    try:
        table = pl.read_parquet(path, glob=False)
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise DataError(f"{path} is not Parquet: {error}.") from None
    if {"row", "col"} <= set(table.columns):
        return _long(path, table)
    try:
        return np.ascontiguousarray(table.to_numpy(), dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(f"{path}: every column must be numbers; one line per row of the grid.") from None


def _long(path: Path, table: Any) -> Array:
    value = next((name for name in ("count", "frequency") if name in table.columns), None)
    if value is None:
        raise DataError(
            f"{path}: a table with row and col needs a column 'count' or 'frequency' too, or 'screen' if it lists the "
            "cells of single screens."
        )
    try:
        row, col, values = (table[name].cast(float, strict=True).to_numpy() for name in ("row", "col", value))
    except Exception as error:
        raise DataError(f"{path}: row and col must be whole numbers, {value} numbers ({error}).") from None
    for name, places in (("row", row), ("col", col)):
        bad = np.flatnonzero(~((places >= 1) & (places <= 1_000_000) & (places == np.floor(places))))
        if len(bad):
            found = table[name][int(bad[0])]
            raise DataError(f"{path}: column {name}, line {bad[0] + 2}: found {found}. Write whole numbers from 1 on.")
    if table.height == 0 or int(row.max()) * int(col.max()) > 1_000_000:
        raise DataError(f"{path}: the grid has no cell, or more than 1,000,000.")
    row, col = row.astype(int), col.astype(int)
    grid = np.full((int(row.max()), int(col.max())), np.nan)
    for line, (i, j, number) in enumerate(zip(row, col, values, strict=True), 2):
        if not np.isnan(grid[i - 1, j - 1]):
            raise DataError(f"{path}: row {i}, col {j} appears twice, the second time on line {line}.")
        grid[i - 1, j - 1] = number
    return grid
