"""Scan paths: the cells that people fixated, in order, of which examination counts know only whether they were."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from carouseval.attention.examination import Examination
from carouseval.attention.screens import check_screens, open_fixations, screen_columns
from carouseval.errors import DataError
from carouseval.metrics.grid import Grid, IntArray
from carouseval.tables.table import RECORD, TableLike
from carouseval.validation import require_int


@dataclass(frozen=True, eq=False)
class Paths:
    """Scan paths: on every screen the cells that were fixated, in order.

    Consecutive fixations on one cell are one step of a path.

    Parameters
    ----------
    name : str
        What the data are called in tables and charts.
    grid : Grid
        The screen.
    screen : ndarray of int, shape (steps,)
        The screen of each step, numbered 0, 1, 2, ... in ascending order.
    cell : ndarray of int, shape (steps,)
        The cell of each step, counted row by row from 0; two consecutive steps of a screen differ.
    screens : int
        Number of all screens; the last ones may have no step.
    participant : ndarray of int, optional
        The participant of each screen that has steps, numbered 0, 1, 2, ... without a gap.

    See Also
    --------
    paths_from_screens : Scan paths from a table of fixations.

    Examples
    --------
    >>> import carouseval as cv
    >>> import numpy as np
    >>> paths = cv.attention.Paths("pilot", cv.Grid(2, 3), np.array([0, 0, 1]), np.array([0, 1, 0]), screens=2)
    >>> paths
    Paths('pilot', 3 steps on 2 screens of 2x3 cells)
    >>> paths.examination().counts
    array([[2, 1, 0],
           [0, 0, 0]])
    """

    name: str
    grid: Grid
    screen: IntArray
    cell: IntArray
    screens: int
    participant: IntArray | None = None

    def __post_init__(self) -> None:
        for name in ("screen", "cell", "participant"):
            if getattr(self, name) is not None:
                numbers = np.asarray(getattr(self, name))
                if numbers.ndim != 1 or (numbers.dtype.kind not in "iu" and numbers.size):
                    raise DataError(f"{self.name}: {name} must be a list of integers.")
                object.__setattr__(self, name, numbers.astype(np.int64))
        if not len(self.screen) or self.screen.shape != self.cell.shape:
            raise DataError(f"{self.name}: every step needs a screen and a cell, and there must be at least one step.")
        changes = np.diff(self.screen, prepend=-1)
        if not ((changes == 0) | (changes == 1)).all() or changes[0] != 1:
            raise DataError(f"{self.name}: screen must be numbered 0, 1, 2, ... in ascending order.")
        if self.cell.min() < 0 or self.cell.max() >= self.grid.rows * self.grid.cols:
            raise DataError(f"{self.name}: cell must be numbered row by row from 0 on the {self.grid} grid.")
        if ((self.cell[1:] == self.cell[:-1]) & (changes[1:] == 0)).any():
            raise DataError(f"{self.name}: consecutive fixations on one cell are one step; drop the repeats.")
        if require_int(f"{self.name}: screens", self.screens, 1) < self.screens_with_steps:
            raise DataError(
                f"{self.name}: screens is {self.screens}, but {self.screens_with_steps} screens have steps."
            )
        if self.participant is not None:
            if self.participant.shape != (self.screens_with_steps,):
                raise DataError(f"{self.name}: participant must have an entry for each screen with steps.")
            if not np.array_equal(np.unique(self.participant), np.arange(self.participant.max() + 1)):
                raise DataError(f"{self.name}: participant must be numbered 0, 1, 2, ... without a gap.")

    def __repr__(self) -> str:
        return f"Paths({self.name!r}, {len(self.cell)} steps on {self.screens} screens of {self.grid} cells)"

    @property
    def screens_with_steps(self) -> int:
        """Number of screens on which anything was fixated."""
        return int(self.screen[-1]) + 1

    @property
    def empty_screens(self) -> int:
        """Number of screens on which nothing was fixated."""
        return self.screens - self.screens_with_steps

    def examination(self) -> Examination:
        """Count the screens on which each cell was examined.

        Returns
        -------
        Examination
            The counts, by participant if participants are known and no screen is empty.
        """
        size = self.grid.rows * self.grid.cols
        pairs = np.unique(self.screen * size + self.cell)
        counts = np.bincount(pairs % size, minlength=size).reshape(self.grid.shape)
        rows = np.unique(pairs // size * self.grid.rows + pairs % size // self.grid.cols) % self.grid.rows
        participants = None if self.participant is None else int(self.participant.max()) + 1
        by_participant = None
        if self.participant is not None and not self.empty_screens:
            per_participant = np.zeros((participants or 0, size), np.int64)
            np.add.at(per_participant, (self.participant[pairs // size], pairs % size), 1)
            by_participant = per_participant.reshape(-1, *self.grid.shape), np.bincount(self.participant)
        row_counts = np.bincount(rows, minlength=self.grid.rows)
        return Examination(self.name, counts, self.screens, row_counts, participants, by_participant)


def paths_from_screens(table: TableLike, grid: Grid, screens: int | None = None, name: str | None = None) -> Paths:
    """Read scan paths from a table with one line per fixation.

    Parameters
    ----------
    table : path or table
        A CSV or Parquet file, a data frame or a dict of columns: ``screen``, ``row`` and ``col``, counted from 1, and
        optionally ``participant`` and ``time`` (numbers, or dates and times). Fixations are in the order of ``time``
        or, without it, of lines. With ``participant``, screens may be numbered separately for each participant.
    grid : Grid
        The screen.
    screens : int, optional
        Number of all screens, including those without any fixation; by default those in the table.
    name : str, optional
        What the data are called; by default the name of the file without its ending.

    Returns
    -------
    Paths
        The scan paths.

    See Also
    --------
    examination_from_screens : Counts from the same table.
    fit_paths : Fits d_scan to scan paths.

    Examples
    --------
    >>> import carouseval as cv
    >>> fixations = {"screen": [1, 1, 1, 2], "row": [1, 1, 2, 1], "col": [1, 2, 1, 3]}
    >>> cv.attention.paths_from_screens(fixations, cv.Grid(2, 3))
    Paths('table', 4 steps on 2 screens of 2x3 cells)
    """
    fixations = open_fixations(table, grid, timed=True)
    order = ["time"] if "time" in fixations else []
    (frame,) = fixations.collect_all(lambda lines: lines)
    name = name or Path(fixations.name).stem
    return paths_from_frame(frame, screen_columns(fixations), [*order, RECORD], grid, screens, name)


def paths_from_frame(
    fixations: pl.DataFrame,
    keys: Sequence[str],
    order: Sequence[str],
    grid: Grid,
    screens: int | None,
    name: str,
) -> Paths:
    """Scan paths from a frame of fixations, with the columns that identify a screen and those to sort by."""
    if fixations.is_empty():
        raise DataError(f"{name} has no fixations. Write one line per fixation: screen, row, col.")
    ranked = fixations.sort(*keys, *order, maintain_order=True).with_columns(number=pl.struct(keys).rle_id())
    cell = (pl.col("row").cast(pl.Int64) - 1) * grid.cols + pl.col("col").cast(pl.Int64) - 1
    steps = ranked.with_columns(cell=cell).filter(
        (pl.col("cell") != pl.col("cell").shift())
        | (pl.col("number") != pl.col("number").shift())
        | (pl.int_range(pl.len()) == 0)
    )
    numbers = steps["number"].to_numpy().astype(np.int64)
    total = int(numbers[-1]) + 1
    check_screens(name, total, screens)
    participants = None
    if len(keys) > 1:
        first = steps.group_by("number", maintain_order=True).first()
        participants = first["participant"].rle_id().to_numpy().astype(np.int64)
    return Paths(name, grid, numbers, steps["cell"].to_numpy().astype(np.int64), screens or total, participants)
