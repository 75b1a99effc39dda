"""Reads and checks RecGaze's two raw files: screens, events and familiarity labels."""

from pathlib import Path

import polars as pl

from carouseval.errors import DataError
from carouseval.metrics.grid import RECGAZE
from carouseval.tables.opening import open_table
from carouseval.tables.table import RECORD, Column, Table

SCREEN = ["group", "user", "task"]  # a screen is one user's view of one task
NO_LABEL = "(no label)"
_CLICK_FILES = ("click_summary_dataset.csv", "click_feedback.csv")  # the same file under two names
_SOURCE = (
    "It is part of the RecGaze data set (SIGIR '25): download it from Zenodo, record 15270518"
    " (https://zenodo.org/records/15270518)."
)
_FIXATION, _CLICK = "Fixation_AOI_", "Click_AOI_"  # Fixation_AOI_Closest_ is the nearest area, not the fixated one
_ROW, _COL = "Carousel_position", "Movie_position_in_carousel"
_USER = r"(?i)^(?:kinit|uva)_([0-9]{1,6})$"
_USERS = "Users are KInIT_<number> (Bratislava) or UvA_<number> (Amsterdam)."


def free_browsing(task: pl.Expr) -> pl.Expr:
    """Whether the task is free browsing."""
    return task.is_between(1, 30).fill_null(False)


_FREE_BROWSING = free_browsing(pl.col("TaskID"))
_MOVIE, _HEADING = (pl.col(f"{_FIXATION}type").eq_missing(pl.lit(kind)) for kind in ("Movie", "Genre"))
_CLICKED = pl.col(f"{_CLICK}type").eq_missing(pl.lit("Movie"))
_EVENT = _FREE_BROWSING & (_MOVIE | _HEADING | _CLICKED)


def _area(area: str, row_where: pl.Expr, col_where: pl.Expr) -> list[Column]:
    """The type of an area of interest and, where they are needed, its row and column."""
    columns = [Column(f"{area}type", "text", nullable=True)]
    for name, largest, position, where in (
        (_ROW, RECGAZE.rows, "A carousel's position", row_where),
        (_COL, RECGAZE.cols, "A movie's position in its carousel", col_where),
    ):
        remedy = f"{position} is an integer from 1 to {largest}."
        columns.append(
            Column(area + name, "integer", minimum=1, maximum=largest, where=_FREE_BROWSING & where, remedy=remedy)
        )
    return columns


_SCREEN = [
    Column("UserID", "text", pattern=_USER, remedy=_USERS),
    Column("TaskID", "integer", minimum=0, maximum=9999, remedy="A task is an integer, in RecGaze from 1 to 40."),
]
_EVENTS = [
    *_SCREEN,
    Column("Timestamp", "number", where=_EVENT, remedy="A time is a number of seconds."),
    *_area(_FIXATION, _MOVIE | _HEADING, _MOVIE),
    *_area(_CLICK, _CLICKED, _CLICKED),
]
_CLICKS = [*_SCREEN, Column("Movie_Familiarity", "text", nullable=True)]


def click_file(path: Path) -> tuple[Path, str]:
    """The click file, under its other name if there is no file of this name, and a note if so."""
    if path.name in _CLICK_FILES and not path.exists():
        for other in map(path.with_name, _CLICK_FILES):
            if other.exists():
                return other, f"the click file {path.name} was read under its other name, {other.name}"
    return path, ""


def read_events(path: Path) -> tuple[pl.DataFrame, pl.DataFrame]:
    """All screens with whether a movie was clicked, and the relevant free-browsing events in the order of the file.

    The ``row`` of an event is null if the line has a click only, its ``col`` is null if a heading was fixated.
    """
    screens, events = _open(path, _EVENTS).collect_all(
        lambda lines: _with_screen(lines).group_by(SCREEN).agg(clicked=_CLICKED.any()),
        lambda lines: _with_screen(lines.filter(_EVENT)).select(
            RECORD,
            *SCREEN,
            time="Timestamp",
            row=_small(_FIXATION + _ROW, _MOVIE | _HEADING),
            col=_small(_FIXATION + _COL, _MOVIE),
            click=_CLICKED,
            click_row=_small(_CLICK + _ROW, _CLICKED),
            click_col=_small(_CLICK + _COL, _CLICKED),
        ),
    )
    if screens.is_empty():
        raise DataError(f"{path} has a header but no events. Is the file complete? {_SOURCE}")
    return screens, events.sort(RECORD)


def read_clicks(path: Path) -> pl.DataFrame:
    """The familiarity label of every screen of the click file, and how many lines it has there."""
    label = pl.col("Movie_Familiarity").fill_null(NO_LABEL)
    (lines,) = _open(path, _CLICKS).collect_all(lambda lines: _with_screen(lines).select(RECORD, *SCREEN, label=label))
    if lines.is_empty():
        raise DataError(f"{path} has a header but no clicks. Is the file complete? {_SOURCE}")
    screens = lines.sort(RECORD).group_by(SCREEN, maintain_order=True)
    return screens.agg(pl.col("label").last(), lines=pl.len())  # the file is documented to have the final click


def _open(path: Path, columns: list[Column]) -> Table:
    hint = "The events file comes first, then the click file."
    try:
        return open_table(path, None, columns, hint=hint, full_lines=True)
    except DataError as error:
        raise DataError(f"{error} {_SOURCE}") from None


def _with_screen(lines: pl.LazyFrame) -> pl.LazyFrame:
    user = pl.col("UserID")
    return lines.with_columns(
        group=user.str.contains("(?i)^uva").cast(pl.Int8),
        user=user.str.extract(_USER).cast(pl.Int32),
        task=pl.col("TaskID").cast(pl.Int32, strict=False),
    )


def _small(column: str, where: pl.Expr) -> pl.Expr:
    """A position in one byte, since there may be millions; positions out of range are reported elsewhere."""
    return pl.when(where).then(pl.col(column)).cast(pl.Int8, strict=False)
