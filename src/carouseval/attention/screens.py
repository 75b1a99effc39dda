"""Examination counts from a plain table of examined cells: any study, any grid."""

from typing import Any

import numpy as np
import polars as pl

from carouseval.attention.examination import Examination
from carouseval.attention.log_tables import RECORD, LogTable, Rule, open_table, text, whole
from carouseval.errors import DataError
from carouseval.metrics import validation
from carouseval.metrics.grid import Grid


def examination_from_screens(
    table: Any, grid: Grid, screens: int | None = None, name: str | None = None
) -> Examination:
    """Counts from a table with one line per examined cell: ``screen``, ``row``, ``col``; a file or a data frame.

    Rows and columns count from 1. A cell repeated on a screen counts once. With a column ``participant``, a screen is
    known by its participant and its id together, so that ids may start anew with each participant. ``screens`` is the
    number of all screens, those on which nothing was examined included; by default, those in the table. ``name`` is
    by default the file's, without its ending.
    """
    lines = open_table(table, ["screen", "row", "col"], optional=["participant"])
    path = lines.path
    screen, rules = screen_columns(lines, grid)
    person = screen[:-1]  # nobody, where participants are unknown
    cells, rows, seen = lines.collect(
        rules,
        lambda lines: lines.select(RECORD, *screen, row=whole("row", 1, grid.rows), col=whole("col", 1, grid.cols)),
        lambda lines: lines.select(*screen, "row", "col").unique().group_by(*person, "row", "col").len(),
        lambda lines: lines.select(*screen, "row").unique().group_by("row").len(),
        lambda lines: lines.select(screen).unique(),
    )
    if seen.is_empty():
        raise DataError(f"{path} holds no examined cell. Write one line per cell: screen, row, col.")
    if screens is not None and validation.require_int("screens", screens, 1) < len(seen):
        raise DataError(f"{path}: column screen has {len(seen)} screens, more than the {screens} there are said to be.")
    counts, row_counts = np.zeros(grid.shape, np.int64), np.zeros(grid.rows, np.int64)
    np.add.at(counts, (cells["row"].to_numpy() - 1, cells["col"].to_numpy() - 1), cells["len"].to_numpy())
    row_counts[rows["row"].to_numpy() - 1] = rows["len"]
    people = seen["participant"].n_unique() if person else None
    # whose screens had nothing examined on them is not known
    single = by_participant(cells, seen, grid) if person and screens in (None, len(seen)) else None
    return Examination(name or path.stem, counts, screens or len(seen), row_counts, people, single)


def screen_columns(lines: LogTable, grid: Grid) -> tuple[list[str], list[Rule]]:
    """The columns that name a screen, and what must hold of a line that names a cell on one."""
    screen: list[str] = [column for column in ("participant", "screen") if column in lines.columns]
    rules = [Rule(column, text(column).is_null(), f"Every line names its {column}.") for column in screen]
    for column, most in (("row", grid.rows), ("col", grid.cols)):
        remedy = f"A {column} is a whole number from 1 to {most} on the {grid} grid."
        rules.append(Rule(column, pl.col(column).is_null(), remedy))
    return screen, rules


def by_participant(cells: pl.DataFrame, seen: pl.DataFrame, grid: Grid) -> tuple[Any, Any]:
    """Counts (people, rows, cols) and screens of each participant, from tables with a column ``participant``."""
    people = seen.group_by("participant").len("screens").sort("participant").with_row_index("person")
    placed = cells.join(people, on="participant")
    counts = np.zeros((len(people), *grid.shape), np.int64)
    at = placed["person"].to_numpy(), placed["row"].to_numpy() - 1, placed["col"].to_numpy() - 1
    np.add.at(counts, at, placed["len"].to_numpy())
    return counts, people["screens"].to_numpy().astype(np.int64)
