"""RecGaze's two raw files, checked and read: all screens, the events that may count, and the familiarity labels."""

from pathlib import Path

import polars as pl

from carouseval.attention.log_tables import RECORD, LogTable, Rule, number, open_csv, text, whole
from carouseval.errors import DataError
from carouseval.metrics.grid import RECGAZE

SCREEN = ["group", "user", "task"]  # a screen is one user's view of one task
NO_LABEL = "(no label)"
_CLICK_FILES = ("click_summary_dataset.csv", "click_feedback.csv")  # one file, named in two ways
_SOURCE = (
    " It is part of the RecGaze data set (SIGIR '25): download it from Zenodo, record 15270518"
    " (https://zenodo.org/records/15270518)."
)
_LOOK, _CLICK = "Fixation_AOI_", "Click_AOI_"  # Fixation_AOI_Closest_ is the nearest area, not the one looked at
_ROW, _COL = "Carousel_position", "Movie_position_in_carousel"
_USER = r"(?i)^\s*(?:kinit|uva)_([0-9]{1,6})\s*$"
_SCREEN_RULES = [
    Rule("UserID", pl.col("user").is_null(), "Users are KInIT_<number> (Bratislava) or UvA_<number> (Amsterdam)."),
    Rule("TaskID", pl.col("task").is_null(), "A task is a whole number, in RecGaze 1 to 40."),
]


def click_file(path: Path) -> tuple[Path, str]:
    """The click file goes by two names; where one is not there, the other is taken, with a note."""
    if path.name in _CLICK_FILES and not path.exists():
        for other in map(path.with_name, _CLICK_FILES):
            if other.exists():
                return other, f"{path.name} was found under its other name, {other.name}"
    return path, ""


def free_browsing() -> pl.Expr:
    """Whether the task is free browsing."""
    return pl.col("task").is_between(1, 30).fill_null(False)


def read_events(path: Path) -> tuple[pl.DataFrame, pl.DataFrame]:
    """All screens with whether a movie was clicked, and in file order the free-browsing events that may count.

    An event's ``row`` is null where the line holds a click only, its ``col`` where a heading was fixated.
    """
    areas = [aoi + part for aoi in (_LOOK, _CLICK) for part in ("type", _ROW, _COL)]
    movie, heading, click = (pl.col(name) for name in ("movie", "heading", "click"))
    event = free_browsing() & (movie | heading | click)

    def bad(column: str, where: pl.Expr) -> pl.Expr:
        return free_browsing() & where & pl.col(column).is_null()

    row = f"A carousel's position is a whole number from 1 to {RECGAZE.rows}."
    col = f"A movie's position in its carousel is a whole number from 1 to {RECGAZE.cols}."
    screens, events = _open(path, ["UserID", "TaskID", "Timestamp", *areas]).collect(
        [
            *_SCREEN_RULES,
            Rule("Timestamp", event & ~pl.col("time").is_finite().fill_null(False), "A time is a number of seconds."),
            Rule(_LOOK + _ROW, bad("row", movie | heading), row),
            Rule(_LOOK + _COL, bad("col", movie), col),
            Rule(_CLICK + _ROW, bad("click_row", click), row),
            Rule(_CLICK + _COL, bad("click_col", click), col),
        ],
        _parsed_events,
        lambda lines: lines.group_by(SCREEN).agg(clicked=click.any()),
        lambda lines: lines.filter(event).drop("movie", "heading"),
    )
    if screens.is_empty():
        raise DataError(f"{path} holds no events, only a header. Is the file complete?{_SOURCE}")
    return screens, events.sort(RECORD)


def read_clicks(path: Path) -> pl.DataFrame:
    """The familiarity label of every screen of the click file, and how many lines it has there."""
    (lines,) = _open(path, ["UserID", "TaskID", "Movie_Familiarity"]).collect(
        _SCREEN_RULES,
        lambda records: _with_screen(records).with_columns(label=text("Movie_Familiarity").fill_null(NO_LABEL)),
        lambda lines: lines.select(RECORD, *SCREEN, "label"),
    )
    if lines.is_empty():
        raise DataError(f"{path} holds no clicks, only a header. Is the file complete?{_SOURCE}")
    screens = lines.sort(RECORD).group_by(SCREEN, maintain_order=True)
    return screens.agg(pl.col("label").last(), lines=pl.len())  # the file is said to hold the final click


def _open(path: Path, columns: list[str]) -> LogTable:
    return open_csv(path, columns, source=_SOURCE, hint=" The events file is given first, then the click file.")


def _with_screen(lines: pl.LazyFrame) -> pl.LazyFrame:
    user = pl.col("UserID")
    group = user.str.contains(r"(?i)^\s*uva").cast(pl.Int8)
    task = whole("TaskID", 0, 9999)
    return lines.with_columns(group=group, user=user.str.extract(_USER).cast(pl.Int32), task=task)


def _parsed_events(lines: pl.LazyFrame) -> pl.LazyFrame:
    look, click = pl.col(f"{_LOOK}type"), pl.col(f"{_CLICK}type")  # null on most lines, which equals nothing
    movie, heading = look.eq_missing(pl.lit("Movie")), look.eq_missing(pl.lit("Genre"))
    return _with_screen(lines).select(
        RECORD,
        *SCREEN,
        time=number("Timestamp"),
        movie=movie,
        heading=heading,
        row=pl.when(movie | heading).then(_position(_LOOK + _ROW, RECGAZE.rows)),
        col=pl.when(movie).then(_position(_LOOK + _COL, RECGAZE.cols)),
        click=click.eq_missing(pl.lit("Movie")),
        click_row=_position(_CLICK + _ROW, RECGAZE.rows),
        click_col=_position(_CLICK + _COL, RECGAZE.cols),
    )


def _position(column: str, most: int) -> pl.Expr:
    return whole(column, 1, most).cast(pl.Int8)  # small, since there may be millions
