"""Where people look, by name or from files: counts, frequencies and single screens."""

from pathlib import Path

import numpy as np
import polars as pl

from carouseval.attention.examination import Examination, Frequencies
from carouseval.attention.recgaze_data import GROUPS, recgaze_counts
from carouseval.attention.screens import examination_from_screens
from carouseval.errors import DataError, ParameterError
from carouseval.metrics.grid import Array, Grid
from carouseval.metrics.validation import did_you_mean
from carouseval.page_file import NUMBER, read_page
from carouseval.table_files import is_table
from carouseval.tables import RECORD, Column, Table, open_table

_MOST_CELLS = 1_000_000
_VALUE = "Counts and frequencies are finite and 0 or more."


def read_attention(
    source: str | Path, screens: int | None = None, grid: Grid | None = None
) -> Examination | Frequencies:
    """Counts of RecGaze by the name of a group, or counts, frequencies or single screens from a file.

    A table of single screens (``screen, row, col``, perhaps ``participant``) is counted on the grid given; for all
    other files see :func:`read_frequencies`.
    """
    if source in GROUPS:
        if screens is not None:
            raise ParameterError(f"screens go with a file of counts; {source} brings its own.")
        return recgaze_counts(str(source))
    path = Path(source)
    if not path.suffix and not path.exists():
        hint = did_you_mean(str(source), GROUPS)
        raise ParameterError(f"there is no file {str(source)!r}.{hint} Or write {', '.join(GROUPS)}.")
    if not holds_screens(path):
        return read_frequencies(path, screens)
    if grid is None:
        raise ParameterError(f"{path} lists examined cells of single screens; say on which grid.")
    return examination_from_screens(path, grid, screens)


def holds_screens(path: str | Path) -> bool:
    """Whether a file lists examined cells, ``screen, row, col``, rather than a grid."""
    try:
        return {"screen", "row", "col"} <= set(open_table(path, None, []).header)
    except DataError:  # reading it will say what is wrong
        return False


def read_frequencies(path: str | Path, screens: int | None = None) -> Examination | Frequencies:
    """Counts or frequencies of a grid, rows x cols.

    JSON: what :meth:`Examination.save` writes, or a bare ``[[...], ...]``. Tables: one line per row of the grid, as
    many numbers in each (CSV without a header), or a long table with the columns ``row``, ``col`` and ``count`` or
    ``frequency``. Whole numbers become an :class:`Examination` when ``screens`` says of how many screens; otherwise the
    numbers are frequencies, or proportional to them.
    """
    path = Path(path)
    if path.suffix.lower() == ".json" and not _is_grid(path):
        return Examination.load(path)
    grid = _read_table(path) if is_table(path) else read_page(str(path))
    if np.isnan(grid).any():
        row, col = np.argwhere(np.isnan(grid))[0] + 1
        raise DataError(f"{path}: row {row}, col {col} is empty. Every cell of the grid needs a count or a frequency.")
    return Frequencies(path.stem, grid) if screens is None else Examination(path.stem, grid, screens)


def _is_grid(path: Path) -> bool:
    try:
        return path.read_text(encoding="utf-8-sig").lstrip().startswith("[")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: {getattr(error, 'strerror', None) or error}.") from None


def _read_table(path: Path) -> Array:
    """The grid of a table, long or wide."""
    table = open_table(path, None, [])
    if {"row", "col"} <= set(table.header):
        return _long(path, table)
    if not table.is_text:
        wide = open_table(path, None, [Column(name, "number", minimum=0, remedy=_VALUE) for name in table.header])
        return wide.collect().to_numpy().astype(np.float64)
    if len(table.header) > 1 and not any(NUMBER.fullmatch(name.strip()) or not name for name in table.header):
        raise DataError(
            f"{path}: the header has {', '.join(table.header[:8])}. Single screens need screen, row, col (and "
            "participant, time, if known); counts need row, col, count, or a line of numbers for each row of the grid."
        )
    return read_page(str(path))


def _long(path: Path, table: Table) -> Array:
    value = next((name for name in ("count", "frequency") if name in table.header), None)
    if value is None:
        raise DataError(
            f"{path}: a table with row and col needs a column 'count' or 'frequency' too, or 'screen' if it lists the "
            "cells of single screens."
        )
    remedy = "Write whole numbers from 1 on."
    places = [Column(name, "integer", minimum=1, maximum=_MOST_CELLS, remedy=remedy) for name in ("row", "col")]
    table = open_table(path, None, [*places, Column(value, "number", minimum=0, remedy=_VALUE)])
    cells = table.collect_all(lambda lines: lines)[0].sort(RECORD)
    repeats = cells.filter(~pl.struct("row", "col").is_first_distinct())
    if len(repeats):
        record, row, col = repeats.select(RECORD, "row", "col").row(0)
        raise DataError(f"{path}: row {row}, col {col} appears twice, the second time on {table.where(record)}.")
    rows, cols = (cells[name].to_numpy() for name in ("row", "col"))
    if cells.is_empty() or int(rows.max()) * int(cols.max()) > _MOST_CELLS:
        raise DataError(f"{path}: the grid has no cell, or more than {_MOST_CELLS:,}.")
    grid = np.full((rows.max(), cols.max()), np.nan)
    grid[rows - 1, cols - 1] = cells[value].to_numpy()
    return grid
