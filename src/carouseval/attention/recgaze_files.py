"""RecGaze's two raw files, checked and read: all screens, the events that may count, and the familiarity labels."""

from pathlib import Path

import polars as pl

from carouseval.errors import DataError
from carouseval.metrics.grid import RECGAZE
from carouseval.tables import RECORD, Column, Table, open_table

SCREEN = ["group", "user", "task"]  # a screen is one user's view of one task
NO_LABEL = "(no label)"
_CLICK_FILES = ("click_summary_dataset.csv", "click_feedback.csv")  # one file, named in two ways
_SOURCE = (
    "It is part of the RecGaze data set (SIGIR '25): download it from Zenodo, record 15270518"
    " (https://zenodo.org/records/15270518)."
)
_LOOK, _CLICK = "Fixation_AOI_", "Click_AOI_"  # Fixation_AOI_Closest_ is the nearest area, not the one looked at
_ROW, _COL = "Carousel_position", "Movie_position_in_carousel"
_USER = r"(?i)^(?:kinit|uva)_([0-9]{1,6})$"
_USERS = "Users are KInIT_<number> (Bratislava) or UvA_<number> (Amsterdam)."


def free_browsing(task: pl.Expr) -> pl.Expr:
    """Whether the task is free browsing."""
    return task.is_between(1, 30).fill_null(False)


_FREE = free_browsing(pl.col("TaskID"))
_MOVIE, _HEADING = (pl.col(f"{_LOOK}type").eq_missing(pl.lit(kind)) for kind in ("Movie", "Genre"))
_CLICKED = pl.col(f"{_CLICK}type").eq_missing(pl.lit("Movie"))
_EVENT = _FREE & (_MOVIE | _HEADING | _CLICKED)


def _area(area: str, row_where: pl.Expr, col_where: pl.Expr) -> list[Column]:
    """What kind of area it was and, where they must be known, its row and column."""
    columns = [Column(f"{area}type", "text", nullable=True)]
    for name, most, what, where in (
        (_ROW, RECGAZE.rows, "A carousel's position", row_where),
        (_COL, RECGAZE.cols, "A movie's position in its carousel", col_where),
    ):
        remedy = f"{what} is a whole number from 1 to {most}."
        columns.append(Column(area + name, "integer", minimum=1, maximum=most, where=_FREE & where, remedy=remedy))
    return columns


_SCREEN = [
    Column("UserID", "text", pattern=_USER, remedy=_USERS),
    Column("TaskID", "integer", minimum=0, maximum=9999, remedy="A task is a whole number, in RecGaze 1 to 40."),
]
_EVENTS = [
    *_SCREEN,
    Column("Timestamp", "number", where=_EVENT, remedy="A time is a number of seconds."),
    *_area(_LOOK, _MOVIE | _HEADING, _MOVIE),
    *_area(_CLICK, _CLICKED, _CLICKED),
]
_CLICKS = [*_SCREEN, Column("Movie_Familiarity", "text", nullable=True)]


def click_file(path: Path) -> tuple[Path, str]:
    """The click file goes by two names; where one is not there, the other is taken, with a note."""
    if path.name in _CLICK_FILES and not path.exists():
        for other in map(path.with_name, _CLICK_FILES):
            if other.exists():
                return other, f"{path.name} was found under its other name, {other.name}"
    return path, ""


def read_events(path: Path) -> tuple[pl.DataFrame, pl.DataFrame]:
    """All screens with whether a movie was clicked, and in file order the free-browsing events that may count.

    An event's ``row`` is null where the line holds a click only, its ``col`` where a heading was fixated.
    """
    screens, events = _open(path, _EVENTS).collect_all(
        lambda lines: _with_screen(lines).group_by(SCREEN).agg(clicked=_CLICKED.any()),
        lambda lines: _with_screen(lines.filter(_EVENT)).select(
            RECORD,
            *SCREEN,
            time="Timestamp",
            row=_small(_LOOK + _ROW, _MOVIE | _HEADING),
            col=_small(_LOOK + _COL, _MOVIE),
            click=_CLICKED,
            click_row=_small(_CLICK + _ROW, _CLICKED),
            click_col=_small(_CLICK + _COL, _CLICKED),
        ),
    )
    if screens.is_empty():
        raise DataError(f"{path} holds no events, only a header. Is the file complete? {_SOURCE}")
    return screens, events.sort(RECORD)


def read_clicks(path: Path) -> pl.DataFrame:
    """The familiarity label of every screen of the click file, and how many lines it has there."""
    label = pl.col("Movie_Familiarity").fill_null(NO_LABEL)
    (lines,) = _open(path, _CLICKS).collect_all(lambda lines: _with_screen(lines).select(RECORD, *SCREEN, label=label))
    if lines.is_empty():
        raise DataError(f"{path} holds no clicks, only a header. Is the file complete? {_SOURCE}")
    screens = lines.sort(RECORD).group_by(SCREEN, maintain_order=True)
    return screens.agg(pl.col("label").last(), lines=pl.len())  # the file is said to hold the final click


def _open(path: Path, columns: list[Column]) -> Table:
    hint = "The events file is given first, then the click file."
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
    """A position in one byte, since there may be millions; what does not fit is refused elsewhere."""
    return pl.when(where).then(pl.col(column)).cast(pl.Int8, strict=False)
