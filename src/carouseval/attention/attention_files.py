"""Examination data by the name of a RecGaze group or from files: counts, frequencies and single screens."""

from pathlib import Path

import numpy as np
import polars as pl

from carouseval.attention.examination import Examination, Frequencies
from carouseval.attention.recgaze_data import GROUPS, is_recgaze_group, recgaze_counts
from carouseval.attention.screens import examination_from_screens
from carouseval.errors import DataError, ParameterError
from carouseval.messages import setting
from carouseval.metrics.grid import Array, Grid
from carouseval.metrics.page_file import NUMBER, Contents, read_page
from carouseval.tables.files import is_table
from carouseval.tables.opening import open_table
from carouseval.tables.table import RECORD, Column, Table
from carouseval.validation import did_you_mean

_MAX_CELLS = 1_000_000
_GRID = Contents("grid", "row of the grid", "counts or frequencies")
_VALUE = "Counts and frequencies must be finite and 0 or more."


def read_attention(
    source: str | Path, screens: int | None = None, grid: Grid | None = None
) -> Examination | Frequencies:
    """Read examination counts or frequencies: RecGaze's by the name of a group, others from a file.

    A file holds one of these:

    - single screens: a CSV or Parquet table with the columns ``screen``, ``row``, ``col`` and optionally
      ``participant``, which is counted as :func:`examination_from_screens` does;
    - a grid of counts or frequencies: a table with one line per row of the grid (CSV without a header), a long table
      with the columns ``row``, ``col`` and ``count`` or ``frequency``, or a JSON array of rows;
    - what :meth:`Examination.save` wrote to a JSON file.

    Parameters
    ----------
    source : str or Path
        ``"bratislava"``, ``"amsterdam"``, ``"all"`` or a path; a path may be a pattern such as ``"logs/*.csv"``.
    screens : int, optional
        Number of all screens. It makes a grid of integers counts; without it they are taken for frequencies.
    grid : Grid, optional
        The screen; needed for single screens, otherwise ignored.

    Returns
    -------
    Examination or Frequencies
        Counts, or frequencies if the number of screens is unknown.

    Examples
    --------
    >>> import carouseval as cv
    >>> cv.attention.read_attention("all")
    Examination('all', 10x15 cells, 2375 screens)
    """
    if is_recgaze_group(source):
        if screens is not None:
            raise ParameterError(
                f"{setting('screens')} is for files of counts; the number of screens of {source} is known."
            )
        return recgaze_counts(source)
    path = Path(source)
    if not path.suffix and not path.exists():
        hint = did_you_mean(str(source), GROUPS)
        raise ParameterError(f"there is no file {str(source)!r}.{hint} Give a file, or one of {', '.join(GROUPS)}.")
    if not has_screens(path):
        return read_frequencies(path, screens)
    if grid is None:
        raise ParameterError(
            f"{path} lists examined cells of single screens; give the size of the screen in {setting('grid')}."
        )
    return examination_from_screens(path, grid, screens)


def has_screens(path: str | Path) -> bool:
    """Whether a file lists examined cells, ``screen, row, col``, rather than a grid."""
    try:
        return {"screen", "row", "col"} <= set(open_table(path, None, []).header)
    except DataError:  # raised again, with its reason, when the file is read
        return False


def read_frequencies(path: str | Path, screens: int | None = None) -> Examination | Frequencies:
    """Counts or frequencies of a grid; see :func:`read_attention` for the formats."""
    path = Path(path)
    is_json = path.suffix.lower() == ".json"
    if is_json and not _is_array(path):
        return Examination.load(path)
    grid = _read_table(path) if is_table(path) and not is_json else read_page(str(path), _GRID)
    if np.isnan(grid).any():
        row, col = np.argwhere(np.isnan(grid))[0] + 1
        raise DataError(f"{path}: row {row}, col {col} is empty. Every cell of the grid needs a count or a frequency.")
    return Frequencies(path.stem, grid) if screens is None else Examination(path.stem, grid, screens)


def _is_array(path: Path) -> bool:
    try:
        return path.read_text(encoding="utf-8-sig").lstrip().startswith("[")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: {getattr(error, 'strerror', None) or error}.") from None


def _read_table(path: Path) -> Array:
    """The grid in a table, one line per cell or one line per row."""
    table = open_table(path, None, [])
    if {"row", "col"} <= set(table.header):
        return _read_long_table(path, table)
    if not table.is_text:
        wide = open_table(path, None, [Column(name, "number", minimum=0, remedy=_VALUE) for name in table.header])
        return wide.collect().to_numpy().astype(np.float64)
    if len(table.header) > 1 and not any(NUMBER.fullmatch(name.strip()) or not name for name in table.header):
        raise DataError(
            f"{path}: the header has {', '.join(table.header[:8])}. Single screens need screen, row, col (and "
            "optionally participant, time); counts need row, col, count, or one line of numbers per row of the grid."
        )
    return read_page(str(path), _GRID)


def _read_long_table(path: Path, table: Table) -> Array:
    value = next((name for name in ("count", "frequency") if name in table.header), None)
    if value is None:
        raise DataError(
            f"{path}: a table with row and col also needs a column 'count' or 'frequency', or 'screen' if it lists "
            "the examined cells of single screens."
        )
    remedy = "Rows and columns are integers, counted from 1."
    indices = [Column(name, "integer", minimum=1, maximum=_MAX_CELLS, remedy=remedy) for name in ("row", "col")]
    table = open_table(path, None, [*indices, Column(value, "number", minimum=0, remedy=_VALUE)])
    cells = table.collect_all(lambda lines: lines)[0].sort(RECORD)
    repeats = cells.filter(~pl.struct("row", "col").is_first_distinct())
    if len(repeats):
        record, row, col = repeats.select(RECORD, "row", "col").row(0)
        raise DataError(f"{path}: row {row}, col {col} appears twice, the second time on {table.where(record)}.")
    rows, cols = (cells[name].to_numpy() for name in ("row", "col"))
    if cells.is_empty() or int(rows.max()) * int(cols.max()) > _MAX_CELLS:
        raise DataError(f"{path}: the grid has no cells, or more than {_MAX_CELLS:,}.")
    grid = np.full((rows.max(), cols.max()), np.nan)
    grid[rows - 1, cols - 1] = cells[value].to_numpy()
    return grid
