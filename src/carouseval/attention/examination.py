"""Where people look: on how many screens each cell was examined."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from carouseval.errors import DataError
from carouseval.metric.checks import whole
from carouseval.metric.discounts import Empirical
from carouseval.metric.grid import Array


@dataclass(frozen=True, eq=False)
class Examination:
    """Counts of the screens on which each cell was examined, out of ``screens``.

    >>> seen = Examination("pilot", [[8, 4], [2, 1]], screens=10)
    >>> seen.frequencies
    array([[0.8, 0.4],
           [0.2, 0.1]])
    """

    name: str
    counts: NDArray[np.int64]  # (rows, cols)
    screens: int
    row_counts: NDArray[np.int64] | None = None  # screens on which anything in the row was examined
    participants: int | None = None

    def __init__(
        self,
        name: str,
        counts: ArrayLike,
        screens: int,
        row_counts: ArrayLike | None = None,
        participants: int | None = None,
    ) -> None:
        table = _counts(f"{name}: counts", counts, 2)
        screens = whole(f"{name}: screens", screens, 1)
        rows = None if row_counts is None else _counts(f"{name}: row_counts", row_counts, 1)
        if rows is not None and rows.shape != table.shape[:1]:
            raise DataError(f"{name}: row_counts has {len(rows)} rows, counts {len(table)}.")
        if table.max() > screens:
            row, col = np.argwhere(table > screens)[0] + 1
            raise DataError(f"{name}: row {row}, col {col} was examined on {table.max()} of {screens} screens.")
        for attribute, value in {
            "name": name,
            "counts": table,
            "screens": screens,
            "row_counts": rows,
            "participants": participants,
        }.items():
            object.__setattr__(self, attribute, value)

    def __repr__(self) -> str:
        return f"Examination({self.name!r}, {'x'.join(map(str, self.counts.shape))} cells, {self.screens} screens)"

    @cached_property
    def frequencies(self) -> Array:
        """The share of screens on which each cell was examined: the estimate of P(E = 1)."""
        shares = self.counts / self.screens
        shares.flags.writeable = False
        return shares

    @property
    def discount(self) -> Empirical:
        """The frequencies as a discount, ``d_emp(name)``."""
        return Empirical(self.frequencies, name=self.name)

    def __add__(self, other: "Examination") -> "Examination":
        """Both groups together."""
        if self.counts.shape != other.counts.shape:
            raise DataError(f"{self.name} and {other.name} have different grids and cannot be added.")
        rows = None if self.row_counts is None or other.row_counts is None else self.row_counts + other.row_counts
        people = None if None in (self.participants, other.participants) else self.participants + other.participants  # type: ignore[operator]
        return Examination(
            f"{self.name}+{other.name}", self.counts + other.counts, self.screens + other.screens, rows, people
        )


def _counts(what: str, values: ArrayLike, dimensions: int) -> NDArray[np.int64]:
    table = np.array(values)
    if table.ndim != dimensions or table.size == 0 or table.dtype.kind not in "iuf":
        raise DataError(f"{what} must be whole numbers of {dimensions} dimensions, found shape {table.shape}.")
    if (table < 0).any() or (table != np.floor(table)).any():
        raise DataError(f"{what} must be whole numbers, 0 or more; frequencies go through discounts.Empirical.")
    whole_counts = table.astype(np.int64)
    whole_counts.flags.writeable = False
    return whole_counts
