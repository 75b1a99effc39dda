"""RecGaze's raw logs: from events to counts of examined cells, with an audit of dropped screens.

The filters are those behind the figures of Kang et al. (CIKM 2026). The data set is RecGaze (SIGIR 2025; Zenodo record
15270518).
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from carouseval.attention.examination import Examination
from carouseval.attention.paths import Paths, paths_from_frame
from carouseval.attention.recgaze_data import GROUPS, RecgazeGroup
from carouseval.attention.screens import counts_by_participant
from carouseval.errors import DataError, ParameterError
from carouseval.metrics.grid import RECGAZE
from carouseval.paper.recgaze_files import SCREEN, click_file, free_browsing, read_clicks, read_events
from carouseval.results import Result
from carouseval.tables.table import RECORD
from carouseval.tables.writing import atomic_folder, write_atomically, write_frame
from carouseval.validation import did_you_mean, require_choice

DROPPED_LABELS = ("I did not select a movie", "I selected a movie by accident")
USER_PREFIXES = {"bratislava": "KInIT_", "amsterdam": "UvA_"}
REASONS = {
    "no_movie_click": "no movie was clicked",
    "other_task": "not free browsing (tasks 1-30)",
    "click_not_fixated": "the clicked position was not fixated before",
    "no_click_line": "no line in the click file",
    "dropped_label": "familiarity label among those dropped",
}
"""Why screens are dropped, in the order in which the filters are applied."""


@dataclass(frozen=True)
class ScreenAudit:
    """How many screens of a group were kept, and why the others were dropped.

    Attributes
    ----------
    screens : int
        Screens in the events file.
    dropped : dict of str to int
        Dropped screens by the keys of ``REASONS``, each under the first reason that applies.
    kept : int
        Screens kept.
    labels : dict of str to int
        Familiarity labels of the screens that reached the last filter.
    notes : tuple of str
        Irregularities in the files.
    """

    screens: int
    dropped: dict[str, int]
    kept: int
    labels: dict[str, int]
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """The audit as plain values."""
        return {**vars(self), "notes": list(self.notes)}


@dataclass(frozen=True, repr=False)
class RecgazeLogs(Result):
    """Examination counts and fixations of RecGaze's raw logs, and an audit of dropped screens.

    Attributes
    ----------
    groups : dict of str to Examination
        Counts of ``"bratislava"``, ``"amsterdam"`` and ``"all"``; a group without any screen left is missing.
    audit : dict of str to ScreenAudit
        For each group the number of screens, of dropped screens by reason, and of screens kept.
    dropped_labels : tuple of str
        Familiarity labels whose screens were dropped.
    looks : polars.DataFrame
        Fixations on movies in order: ``participant``, ``screen``, ``time``, ``row``, ``col``.

    Examples
    --------
    >>> import carouseval as cv
    >>> logs = cv.attention.read_recgaze("summary_feedback.csv", "click_feedback.csv")  # doctest: +SKIP
    >>> logs.groups["amsterdam"]  # doctest: +SKIP
    Examination('amsterdam', 10x15 cells, 710 screens)
    """

    groups: dict[str, Examination]
    audit: dict[str, ScreenAudit]
    dropped_labels: tuple[str, ...]
    looks: pl.DataFrame

    def __repr__(self) -> str:
        return f"RecgazeLogs({self.heading})"

    @property
    def heading(self) -> str:
        kept = ", ".join(f"{name} {audit.kept:,} of {audit.screens:,}" for name, audit in self.audit.items())
        return f"screens kept: {kept}"

    def paths(self, group: RecgazeGroup) -> Paths:
        """Return the scan paths of a group, to which d_scan can be fitted.

        Parameters
        ----------
        group : {"bratislava", "amsterdam", "all"}
            A group with a screen left.

        Returns
        -------
        Paths
            The scan paths.
        """
        require_choice("group (with a screen left)", group, list(self.groups))
        looks = self.looks
        if group != "all":
            looks = looks.filter(pl.col("participant").str.starts_with(USER_PREFIXES[group]))
        return paths_from_frame(looks, ["participant", "screen"], ["time", RECORD], RECGAZE, None, group)

    def to_dict(self) -> dict[str, Any]:
        """``groups``, with ``screens`` and ``counts`` (0 for a group without any screen left), and ``dropped``, how
        many screens were.
        """
        empty = {"screens": 0, "counts": np.zeros(RECGAZE.shape, int).tolist()}
        counts = {name: {"screens": data.screens, "counts": data.counts.tolist()} for name, data in self.groups.items()}
        return {
            "groups": {name: counts.get(name, empty) for name in GROUPS},
            "dropped": {name: audit.dropped for name, audit in self.audit.items()},
        }

    def to_frame(self) -> pl.DataFrame:
        """The counts of the groups: one line per group and row of the grid, with ``group``, ``screens``, ``row`` and
        the columns of the grid.
        """
        return pl.concat(
            data.to_frame().select(pl.lit(name).alias("group"), pl.lit(data.screens).alias("screens"), pl.all())
            for name, data in self.groups.items()
        )

    def save(self, path: str | Path) -> Path:
        """Write the counts, the audit and the fixations to a folder, all of them or none.

        The files are ``bratislava.json``, ``amsterdam.json`` and ``all.json`` (see :meth:`Examination.load`),
        ``audit.json``, and ``looks.parquet`` with the fixations in order, to which d_scan can be fitted.

        Parameters
        ----------
        path : str or Path
            The folder; it is made if necessary.

        Returns
        -------
        Path
            The folder.
        """
        groups = {name: audit.to_dict() for name, audit in self.audit.items()}
        content = {"dropped_labels": list(self.dropped_labels), "groups": groups}
        with atomic_folder(path) as folder:
            for name, examination in self.groups.items():
                examination.save(folder / f"{name}.json")
            write_atomically(folder / "audit.json", json.dumps(content, indent=1) + "\n")
            write_frame(folder / "looks.parquet", self.looks.drop(RECORD))
        return Path(path)


def read_recgaze(
    events_path: str | Path, clicks_path: str | Path, *, dropped_labels: Iterable[str] = DROPPED_LABELS
) -> RecgazeLogs:
    """Read examination counts and fixations from the raw logs of RecGaze (Zenodo record 15270518).

    A screen is one user's view of one task. Its events count up to and including its first click on a movie. A fixated
    movie counts for its cell and its row, a fixated heading for its row. Screens are dropped if no movie was clicked,
    if the task is not free browsing, if the clicked position was not fixated before, if the click file has no line for
    them, or because of their familiarity label, in this order. These are the filters of "Revisiting N2DCG".

    Parameters
    ----------
    events_path : str or Path
        The file ``summary_feedback.csv``.
    clicks_path : str or Path
        The file ``click_summary_dataset.csv``, also known as ``click_feedback.csv``.
    dropped_labels : iterable of str, default DROPPED_LABELS
        Familiarity labels whose screens are dropped; by default "I did not select a movie" and "I selected a movie by
        accident".

    Returns
    -------
    RecgazeLogs
        Counts and scan paths of each group, and an audit of dropped screens.

    See Also
    --------
    recgaze_counts : The resulting counts, which are part of the package.

    Examples
    --------
    >>> import carouseval as cv
    >>> logs = cv.attention.read_recgaze("summary_feedback.csv", "click_feedback.csv")  # doctest: +SKIP
    >>> logs.audit["all"].kept  # doctest: +SKIP
    2375
    """
    path, file_note = click_file(Path(clicks_path))
    screens, events = read_events(Path(events_path))
    labels = read_clicks(path)
    requested = (dropped_labels,) if isinstance(dropped_labels, str) else tuple(dropped_labels)
    dropped_labels = _match_labels(requested, labels, path)
    in_order = _fixations_before_click(events)
    fixations = in_order.drop("time", RECORD).unique()
    on_click = (pl.col("row") == pl.col("click_row")) & (pl.col("col") == pl.col("click_col"))
    unordered = events.filter((pl.col("time").diff() < 0).over(SCREEN))
    screens = (
        screens.join(_flag(fixations.filter(on_click), "fixated"), on=SCREEN, how="left")
        .join(_flag(unordered, "unordered"), on=SCREEN, how="left")
        .join(labels, on=SCREEN, how="left")
        .with_columns(reason=_reason(dropped_labels))
    )
    kept = screens.filter(pl.col("reason").is_null()).select(SCREEN)
    if kept.is_empty():
        reasons = "; ".join(f"{REASONS[reason]}: {count}" for reason, count in _dropped(screens).items() if count)
        raise DataError(f"{events_path}: no screen is left of {len(screens)} ({reasons}). Are these RecGaze's files?")
    fixations = fixations.join(kept, on=SCREEN)
    without_events = labels.filter(free_browsing(pl.col("task"))).join(screens, on=SCREEN, how="anti")
    groups: dict[str, Examination] = {}
    audit: dict[str, ScreenAudit] = {}
    for number, name in enumerate(GROUPS):
        in_group = pl.lit(True) if name == "all" else pl.col("group") == number
        audit[name] = _audit(screens.filter(in_group), len(without_events.filter(in_group)), file_note)
        if audit[name].kept:
            groups[name] = _examination(name, fixations.filter(in_group), kept.filter(in_group))
    return RecgazeLogs(groups, audit, dropped_labels, _movie_fixations(in_order.join(kept, on=SCREEN)))


def _movie_fixations(fixations: pl.DataFrame) -> pl.DataFrame:
    """Fixations on movies in order, with participants and screens as they are named in the files."""
    prefix = pl.when(pl.col("group") == 0).then(pl.lit(USER_PREFIXES["bratislava"]))
    participant = prefix.otherwise(pl.lit(USER_PREFIXES["amsterdam"])) + pl.col("user").cast(pl.String)
    return (
        fixations.filter(pl.col("col").is_not_null())
        .sort(*SCREEN, "time", RECORD)
        .select(RECORD, participant=participant, screen="task", time="time", row="row", col="col")
    )


def _match_labels(requested: tuple[str, ...], labels: pl.DataFrame, path: Path) -> tuple[str, ...]:
    """The labels to drop as the click file spells them; one that is neither in the file nor a default is an error."""
    in_file = sorted(labels["label"].unique())
    spelling = {label.lower(): label for label in [*DROPPED_LABELS, *in_file]}
    for label in requested:
        if label.strip().lower() not in spelling:
            raise ParameterError(
                f"{path}: no line has the familiarity label {label!r}.{did_you_mean(label, spelling.values())} "
                f"Labels in the file: {'; '.join(in_file)}."
            )
    return tuple(spelling[label.strip().lower()] for label in requested)


def _fixations_before_click(events: pl.DataFrame) -> pl.DataFrame:
    """The cells (``col`` null: headings) fixated on each screen until the first click, and the cell then clicked.

    Events are ordered by time and, at equal times, by line; nothing needs to be sorted.
    """
    clicks = events.filter("click").sort("time", RECORD).group_by(SCREEN, maintain_order=True).first()
    clicks = clicks.select(*SCREEN, "click_row", "click_col", click_time="time", click_record=RECORD)
    earlier = pl.col("time") < pl.col("click_time")
    same_time = (pl.col("time") == pl.col("click_time")) & (pl.col(RECORD) <= pl.col("click_record"))
    return (
        events.lazy()
        .filter(pl.col("row").is_not_null())
        .drop("click_row", "click_col")
        .join(clicks.lazy(), on=SCREEN)
        .filter(earlier | same_time)
        .select(RECORD, *SCREEN, "time", "row", "col", "click_row", "click_col")
        .collect(engine="streaming")
    )


def _flag(screens: pl.DataFrame, column: str) -> pl.DataFrame:
    """Each screen once, with a column that is true."""
    return screens.select(SCREEN).unique().with_columns(pl.lit(True).alias(column))


def _reason(dropped_labels: tuple[str, ...]) -> pl.Expr:
    dropped = pl.col("label").str.to_lowercase().is_in([label.lower() for label in dropped_labels])
    applies = {
        "no_movie_click": ~pl.col("clicked"),
        "other_task": ~free_browsing(pl.col("task")),
        "click_not_fixated": pl.col("fixated").is_null(),
        "no_click_line": pl.col("label").is_null(),
        "dropped_label": dropped,
    }
    return pl.coalesce(pl.when(applies[reason]).then(pl.lit(reason)) for reason in REASONS)


def _dropped(screens: pl.DataFrame) -> dict[str, int]:
    return {reason: int((screens["reason"] == reason).sum()) for reason in REASONS}


def _audit(screens: pl.DataFrame, without_events: int, file_note: str) -> ScreenAudit:
    labelled = screens.filter(pl.col("reason").is_null() | (pl.col("reason") == "dropped_label"))
    labels = labelled.group_by("label").len().sort("len", "label", descending=[True, False])
    unordered, repeated = int(screens["unordered"].sum()), int((screens["lines"] > 1).sum())
    notes = {
        f"timestamps out of order on {_screens(unordered)}, sorted": unordered,
        f"several lines in the click file for {_screens(repeated)}, the last one counts": repeated,
        f"lines in the click file for {_screens(without_events)} without any event, ignored": without_events,
        file_note: file_note,
    }
    return ScreenAudit(
        screens=len(screens),
        dropped=_dropped(screens),
        kept=int(screens["reason"].is_null().sum()),
        labels=dict(labels.iter_rows()),
        notes=tuple(note for note, applies in notes.items() if applies),
    )


def _screens(count: int) -> str:
    return f"{count} screen{'' if count == 1 else 's'}"


def _examination(name: str, fixations: pl.DataFrame, kept: pl.DataFrame) -> Examination:
    counts, row_counts = np.zeros(RECGAZE.shape, np.int64), np.zeros(RECGAZE.rows, np.int64)
    cells = fixations.filter(pl.col("col").is_not_null())
    np.add.at(counts, (cells["row"].to_numpy() - 1, cells["col"].to_numpy() - 1), 1)
    rows = fixations.select(*SCREEN, "row").unique()
    np.add.at(row_counts, rows["row"].to_numpy() - 1, 1)
    participant = pl.struct("group", "user").alias("participant")
    by_participant = counts_by_participant(
        cells.select(participant, "row", "col", len=pl.lit(1)),
        kept.select(participant, pl.lit(1).alias("screen")),
        RECGAZE,
    )
    return Examination(name, counts, len(kept), row_counts, by_participant=by_participant)
