"""Columns that must have the same value on all lines of a page, or of a user: segments and weights."""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from carouseval.errors import DataError
from carouseval.evaluation.reading.ids import NONE, Codes
from carouseval.metrics.grid import Array
from carouseval.tables.table import RECORD, Table


class Attribute:
    """One such column, read batch by batch; ``owner`` is "page" or "user"."""

    def __init__(self, table: Table, column: str, owner: str) -> None:
        self._table, self._column, self._owner = table, column, owner
        self._values: Array = np.empty(0)

    def add(self, codes: Codes, values: NDArray[np.generic]) -> None:
        """Add the values of some lines, given the page or user of each."""
        most = int(codes.max(initial=0)) + 1
        if most > len(self._values):
            grown = np.full(max(most, 2 * len(self._values)), np.nan)
            grown[: len(self._values)] = self._values
            self._values = grown
        fresh = np.isnan(self._values[codes])
        self._values[codes[fresh]] = values[fresh]
        if (self._values[codes] != values).any():
            self._refuse()

    def padded(self, count: int) -> Array:
        """One value for each of ``count`` codes, NaN where there is none."""
        values = self._values[:count]
        return np.concatenate([values, np.full(count - len(values), np.nan)])

    def codes(self, count: int) -> Codes:
        """The same where values are codes; NONE where there is none."""
        return np.nan_to_num(self.padded(count), nan=NONE).astype(np.uint32)

    def _refuse(self) -> None:
        table = self._table
        keys = [key for key in ("user_id", "page_id") if key in table]
        first = pl.col(self._column).first().over(keys)
        (lines,) = table.query(lambda frame: frame.filter(pl.col(self._column) != first).bottom_k(1, by=RECORD))
        row = lines.row(0, named=True)
        raise DataError(
            f"{table.name}: column {table.names[self._column]}, {table.where(row[RECORD])}: "
            f"found {row[self._column]!r} for user_id={row['user_id']!r}, but another value on an earlier line. "
            f"It must be the same on all lines of a {self._owner}."
        )
