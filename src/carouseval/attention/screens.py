"""Examination counts from a plain table of examined cells: any study, any grid."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from carouseval.attention.examination import Examination
from carouseval.errors import DataError
from carouseval.metrics.grid import Grid
from carouseval.metrics.validation import require_int
from carouseval.tables import Column, Table, TableLike, open_table

_TIME = "A time is a number, or a date and time such as 2026-01-31T12:00:00.250."


def examination_from_screens(
    table: TableLike, grid: Grid, screens: int | None = None, name: str | None = None
) -> Examination:
    """Counts from a table with one line per examined cell: ``screen``, ``row``, ``col``; a file or a data frame.

    Rows and columns count from 1. A cell repeated on a screen counts once. With a column ``participant``, a screen is
    known by its participant and its id together, so that ids may start anew with each participant. ``screens`` is the
    number of all screens, those on which nothing was examined included; by default, those in the table. ``name`` is
    by default the file's, without its ending.
    """
    looks = open_looks(table, grid)
    screen = screen_columns(looks)
    person = screen[:-1]  # nobody, where participants are unknown
    cells, rows, ids = looks.collect_all(
        lambda lines: lines.select(*screen, "row", "col").unique().group_by(*person, "row", "col").len(),
        lambda lines: lines.select(*screen, "row").unique().group_by("row").len(),
        lambda lines: lines.select(screen).unique(),
    )
    if ids.is_empty():
        raise DataError(f"{looks.name} holds no examined cell. Write one line per cell: screen, row, col.")
    check_screens(looks.name, len(ids), screens)
    counts, row_counts = np.zeros(grid.shape, np.int64), np.zeros(grid.rows, np.int64)
    np.add.at(counts, (cells["row"].to_numpy() - 1, cells["col"].to_numpy() - 1), cells["len"].to_numpy())
    row_counts[rows["row"].to_numpy() - 1] = rows["len"]
    people = ids["participant"].n_unique() if person else None
    # whose screens had nothing examined on them is not known
    single = by_participant(cells, ids, grid) if person and screens in (None, len(ids)) else None
    return Examination(name or Path(looks.name).stem, counts, screens or len(ids), row_counts, people, single)


def open_looks(table: TableLike, grid: Grid, *, timed: bool = False) -> Table:
    """A table with one line per look: its screen and cell and, where they are known, its participant and time."""
    columns = [
        Column("participant", "id", required=False, pattern=r"\S", remedy="Every line names its participant."),
        Column("screen", "id", pattern=r"\S", remedy="Every line names its screen."),
    ]
    for name, most in (("row", grid.rows), ("col", grid.cols)):
        remedy = f"A {name} is a whole number from 1 to {most} on the {grid} grid."
        columns.append(Column(name, "integer", minimum=1, maximum=most, remedy=remedy))
    if timed:
        columns.append(Column("time", "time", required=False, remedy=_TIME))
    return open_table(table, None, columns, hint="Write one line per look: screen, row, col.", full_lines=True)


def screen_columns(looks: Table) -> list[str]:
    """The columns that name a screen, the participant's first where there is one."""
    return [column for column in ("participant", "screen") if column in looks]


def check_screens(name: str, there: int, screens: int | None) -> None:
    """A number of all screens is at least that of the screens there are."""
    if screens is not None and require_int("screens", screens, 1) < there:
        raise DataError(f"{name}: column screen has {there} screens, more than the {screens} there are said to be.")


def by_participant(cells: pl.DataFrame, ids: pl.DataFrame, grid: Grid) -> tuple[Any, Any]:
    """Counts (people, rows, cols) and screens of each participant, from tables with a column ``participant``."""
    people = ids.group_by("participant").len("screens").sort("participant").with_row_index("person")
    placed = cells.join(people, on="participant")
    counts = np.zeros((len(people), *grid.shape), np.int64)
    at = placed["person"].to_numpy(), placed["row"].to_numpy() - 1, placed["col"].to_numpy() - 1
    np.add.at(counts, at, placed["len"].to_numpy())
    return counts, people["screens"].to_numpy().astype(np.int64)
