"""Examination counts from a table of fixations, for any study and any grid."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from carouseval.attention.examination import Examination
from carouseval.errors import DataError
from carouseval.metrics.grid import Grid, IntArray
from carouseval.tables.opening import open_table
from carouseval.tables.table import Column, Table, TableLike
from carouseval.validation import require_int

_TIME = "A time is a number, or a date and time such as 2026-01-31T12:00:00.250."


def examination_from_screens(
    table: TableLike, grid: Grid, screens: int | None = None, name: str | None = None
) -> Examination:
    """Count the screens on which each cell was examined, from a table with one line per fixation or examined cell.

    Parameters
    ----------
    table : path or table
        A CSV or Parquet file, a data frame or a dict of columns: ``screen``, ``row`` and ``col``, counted from 1, and
        optionally ``participant``. A cell that is repeated on a screen counts once. With ``participant``, screens may
        be numbered separately for each participant.
    grid : Grid
        The screen.
    screens : int, optional
        Number of all screens, including those on which nothing was examined; by default those in the table. If it is
        larger, counts are not known by participant.
    name : str, optional
        What the data are called; by default the name of the file without its ending.

    Returns
    -------
    Examination
        The counts.

    See Also
    --------
    paths_from_screens : Scan paths from the same table.

    Examples
    --------
    >>> import carouseval as cv
    >>> fixations = {"screen": [1, 1, 1, 2], "row": [1, 1, 2, 1], "col": [1, 2, 1, 1]}
    >>> cv.attention.examination_from_screens(fixations, cv.Grid(2, 3), name="pilot").counts
    array([[2, 1, 0],
           [1, 0, 0]])
    """
    fixations = open_fixations(table, grid)
    return screen_counts(fixations, grid).examination(fixations.name, screens, name)


@dataclass(frozen=True)
class ScreenCounts:
    """Counts of examined cells and rows; those of other screens and participants can be added."""

    counts: IntArray  # (rows, cols)
    row_counts: IntArray
    screens: int
    participants: int | None = None
    by_participant: tuple[pl.Series, IntArray, IntArray] | None = None  # ids, counts and screens of each

    def __add__(self, other: ScreenCounts) -> ScreenCounts:
        by_participant = None
        if self.by_participant is not None and other.by_participant is not None:
            (ids, counts, screens), (other_ids, other_counts, other_screens) = self.by_participant, other.by_participant
            by_participant = (
                pl.concat([ids, other_ids]),
                np.concatenate([counts, other_counts]),
                np.concatenate([screens, other_screens]),
            )
        known = self.participants is not None and other.participants is not None
        return ScreenCounts(
            self.counts + other.counts,
            self.row_counts + other.row_counts,
            self.screens + other.screens,
            (self.participants or 0) + (other.participants or 0) if known else None,
            by_participant,
        )

    def examination(self, table: str, screens: int | None, name: str | None) -> Examination:
        """The counts of a table of this name, given the number of all its screens."""
        if not self.screens:
            raise DataError(f"{table} has no examined cells. Write one line per cell: screen, row, col.")
        check_screens(table, self.screens, screens)
        by_participant = None
        if self.by_participant is not None and screens in (None, self.screens):  # of empty screens they are unknown
            ids, counts, own_screens = self.by_participant
            order = ids.arg_sort().to_numpy()
            by_participant = counts[order], own_screens[order]
        return Examination(
            name or Path(table).stem,
            self.counts,
            screens or self.screens,
            self.row_counts,
            self.participants,
            by_participant,
        )


def screen_counts(fixations: Table, grid: Grid, *, by_participant: bool = True) -> ScreenCounts:
    """Count the screens on which each cell and each row was examined, also by participant if these are known."""
    screen = screen_columns(fixations)
    participant = screen[:-1]  # empty if participants are unknown
    cells, rows, ids = fixations.collect_all(
        lambda lines: lines.select(*screen, "row", "col").unique().group_by(*participant, "row", "col").len(),
        lambda lines: lines.select(*screen, "row").unique().group_by("row").len(),
        lambda lines: lines.select(screen).unique(),
    )
    counts, row_counts = np.zeros(grid.shape, np.int64), np.zeros(grid.rows, np.int64)
    np.add.at(counts, (cells["row"].to_numpy() - 1, cells["col"].to_numpy() - 1), cells["len"].to_numpy())
    row_counts[rows["row"].to_numpy() - 1] = rows["len"]
    if not participant:
        return ScreenCounts(counts, row_counts, len(ids))
    participants = ids["participant"].unique().sort()
    per_participant = (participants, *counts_by_participant(cells, ids, grid)) if by_participant else None
    return ScreenCounts(counts, row_counts, len(ids), len(participants), per_participant)


def open_fixations(table: TableLike, grid: Grid, *, timed: bool = False) -> Table:
    """A table with one line per fixation: its screen and cell and optionally its participant and time."""
    columns = [
        Column("participant", "id", required=False, pattern=r"\S", remedy="Every line needs a participant."),
        Column("screen", "id", pattern=r"\S", remedy="Every line needs a screen."),
    ]
    for name, most in (("row", grid.rows), ("col", grid.cols)):
        remedy = f"A {name} is an integer from 1 to {most} on the {grid} grid."
        columns.append(Column(name, "integer", minimum=1, maximum=most, remedy=remedy))
    if timed:
        columns.append(Column("time", "time", required=False, remedy=_TIME))
    return open_table(table, None, columns, hint="Write one line per fixation: screen, row, col.", full_lines=True)


def screen_columns(fixations: Table) -> list[str]:
    """The columns that identify a screen: ``participant``, if there is one, and ``screen``."""
    return [column for column in ("participant", "screen") if column in fixations]


def check_screens(name: str, listed: int, screens: int | None) -> None:
    """The number of all screens must not be smaller than the number of listed screens."""
    if screens is not None and require_int("screens", screens, 1) < listed:
        raise DataError(f"{name}: column screen has {listed} screens, but the number of screens is given as {screens}.")


def counts_by_participant(cells: pl.DataFrame, ids: pl.DataFrame, grid: Grid) -> tuple[IntArray, IntArray]:
    """Counts (participants, rows, cols) and screens of each participant, from tables with a column ``participant``."""
    participants = ids.group_by("participant").len("screens").sort("participant").with_row_index("number")
    numbered = cells.join(participants, on="participant")
    counts = np.zeros((len(participants), *grid.shape), np.int64)
    index = numbered["number"].to_numpy(), numbered["row"].to_numpy() - 1, numbered["col"].to_numpy() - 1
    np.add.at(counts, index, numbered["len"].to_numpy())
    return counts, participants["screens"].to_numpy().astype(np.int64)
