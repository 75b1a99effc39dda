"""RecGaze's raw logs: from events to counts of examined cells, with an audit of every screen dropped.

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

from carouseval.atomic_files import write_atomically, write_frame
from carouseval.attention.examination import Examination
from carouseval.attention.paths import Paths, as_paths
from carouseval.attention.recgaze_data import GROUPS
from carouseval.attention.recgaze_files import SCREEN, click_file, free_browsing, read_clicks, read_events
from carouseval.attention.screens import by_participant
from carouseval.errors import DataError, ParameterError
from carouseval.metrics.grid import RECGAZE
from carouseval.metrics.validation import did_you_mean, require_choice
from carouseval.result_base import Result
from carouseval.tables import RECORD

DROPPED_LABELS = ("I did not select a movie", "I selected a movie by accident")
USERS = {"bratislava": "KInIT_", "amsterdam": "UvA_"}
REASONS = {
    "no_movie_click": "no movie was clicked",
    "other_task": "not free browsing (tasks 1-30)",
    "click_not_fixated": "the clicked position was not fixated before",
    "no_click_line": "no line in the click file",
    "dropped_label": "familiarity label among those to drop",
}
"""Why a screen is dropped, in the order in which the filters are applied."""


@dataclass(frozen=True)
class Audit:
    """What became of one group's screens."""

    screens: int  # in the events file
    dropped: dict[str, int]  # by the keys of REASONS, each screen under the first that holds
    kept: int
    labels: dict[str, int]  # familiarity labels of the screens that came as far as that filter
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        return {**vars(self), "notes": list(self.notes)}


@dataclass(frozen=True)
class RecgazeLogs(Result):
    """Counts and looks of each group that has a screen left, and the audit of bratislava, amsterdam and all."""

    groups: dict[str, Examination]
    audit: dict[str, Audit]
    dropped_labels: tuple[str, ...]
    looks: pl.DataFrame  # at movies, in order: participant, screen, time, row, col

    def paths(self, group: str) -> Paths:
        """The looks of a group, screen by screen: what a scan is fitted to."""
        require_choice("group (with a screen left)", group, list(self.groups))
        known = ["participant", "screen"]
        own = self.looks if group == "all" else self.looks.filter(pl.col("participant").str.starts_with(USERS[group]))
        return as_paths(own, known, ["time", RECORD], RECGAZE, None, group)

    def to_dict(self) -> dict[str, Any]:
        """Screens and counts of every group, one without a screen left included, and how many screens were dropped."""
        none = {"screens": 0, "counts": np.zeros(RECGAZE.shape, int).tolist()}
        some = {name: {"screens": one.screens, "counts": one.counts.tolist()} for name, one in self.groups.items()}
        return {
            "groups": {name: some.get(name, none) for name in GROUPS},
            "dropped": {name: audit.dropped for name, audit in self.audit.items()},
        }

    def to_frame(self) -> pl.DataFrame:
        """The counts of every group that has a screen left, a line for each row of the grid."""
        return pl.concat(
            examined.to_frame().select(pl.lit(name).alias("group"), pl.lit(examined.screens).alias("screens"), pl.all())
            for name, examined in self.groups.items()
        )

    def save(self, path: str | Path) -> Path:
        """Write ``bratislava.json``, ``amsterdam.json``, ``all.json`` (examinations) and ``audit.json`` to a folder.

        ``looks.parquet`` holds the looks in order, for ``carouseval fit looks.parquet --grid recgaze --model d_scan``.
        """
        folder = Path(path)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise DataError(f"{folder}: {error.strerror or error}. Name a folder to write to.") from None
        for name, examined in self.groups.items():
            examined.save(folder / f"{name}.json")
        groups = {name: audit.to_dict() for name, audit in self.audit.items()}
        audit = {"dropped_labels": list(self.dropped_labels), "groups": groups}
        write_atomically(folder / "audit.json", json.dumps(audit, indent=1) + "\n")
        write_frame(folder / "looks.parquet", self.looks.drop(RECORD))
        return folder


def read_recgaze(
    events_path: str | Path, clicks_path: str | Path, *, dropped_labels: Iterable[str] = DROPPED_LABELS
) -> RecgazeLogs:
    """Examination counts from RecGaze's ``summary_feedback.csv`` and ``click_summary_dataset.csv``.

    A screen is one user's view of one task. Its events count up to and including its first click on a movie. A fixated
    movie counts for its cell and its row, a fixated heading for its row. Screens are dropped for the ``REASONS``, in
    that order; ``dropped_labels`` are the familiarity labels meant in the last one.
    """
    path, found_as = click_file(Path(clicks_path))
    screens, events = read_events(Path(events_path))
    labels = read_clicks(path)
    dropped_labels = _spelled((dropped_labels,) if isinstance(dropped_labels, str) else dropped_labels, labels, path)
    in_order = _looks_until_the_click(events)
    looks = in_order.drop("time", RECORD).unique()
    on_click = (pl.col("row") == pl.col("click_row")) & (pl.col("col") == pl.col("click_col"))
    clicked_cell = looks.filter(on_click)
    backwards = events.filter((pl.col("time").diff() < 0).over(SCREEN))
    screens = (
        screens.join(_marked(clicked_cell, "fixated"), on=SCREEN, how="left")
        .join(_marked(backwards, "unordered"), on=SCREEN, how="left")
        .join(labels, on=SCREEN, how="left")
        .with_columns(reason=_reason(dropped_labels))
    )
    kept = screens.filter(pl.col("reason").is_null()).select(SCREEN)
    if kept.is_empty():
        reasons = "; ".join(f"{REASONS[reason]}: {count}" for reason, count in _dropped(screens).items() if count)
        raise DataError(f"{events_path}: no screen is left of {len(screens)} ({reasons}). Are these RecGaze's files?")
    looks = looks.join(kept, on=SCREEN)
    strangers = labels.filter(free_browsing(pl.col("task"))).join(screens, on=SCREEN, how="anti")
    groups, audit = {}, {}
    for number, name in enumerate(GROUPS):
        own = pl.lit(True) if name == "all" else pl.col("group") == number
        audit[name] = _audit(screens.filter(own), len(strangers.filter(own)), found_as)
        if audit[name].kept:
            groups[name] = _examination(name, looks.filter(own), kept.filter(own))
    return RecgazeLogs(groups, audit, dropped_labels, _named(in_order.join(kept, on=SCREEN)))


def _named(looks: pl.DataFrame) -> pl.DataFrame:
    """Looks at movies, in order, with participants and screens as the files name them."""
    group = pl.when(pl.col("group") == 0).then(pl.lit(USERS["bratislava"])).otherwise(pl.lit(USERS["amsterdam"]))
    return (
        looks.filter(pl.col("col").is_not_null())
        .sort(*SCREEN, "time", RECORD)
        .select(
            RECORD, participant=group + pl.col("user").cast(pl.String), screen="task", time="time", row="row", col="col"
        )
    )


def _spelled(asked: Iterable[str], labels: pl.DataFrame, path: Path) -> tuple[str, ...]:
    """The labels to drop, spelled as in the click file; one that is neither there nor usual is a slip of the pen."""
    there = sorted(labels["label"].unique())
    spelling = {label.lower(): label for label in [*DROPPED_LABELS, *there]}
    asked = tuple(asked)
    for label in asked:
        if label.strip().lower() not in spelling:
            raise ParameterError(
                f"{path}: no line has the familiarity label {label!r}.{did_you_mean(label, spelling.values())} "
                f"Labels there: {'; '.join(there)}."
            )
    return tuple(spelling[label.strip().lower()] for label in asked)


def _looks_until_the_click(events: pl.DataFrame) -> pl.DataFrame:
    """The cells (``col`` null: headings) each screen's user fixated until the first click, and the cell then clicked.

    Time decides what came before, and the order of lines where times are equal: nothing needs to be sorted.
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


def _marked(screens: pl.DataFrame, mark: str) -> pl.DataFrame:
    return screens.select(SCREEN).unique().with_columns(pl.lit(True).alias(mark))


def _reason(dropped_labels: tuple[str, ...]) -> pl.Expr:
    unwanted = pl.col("label").str.to_lowercase().is_in([label.lower() for label in dropped_labels])
    holds = {
        "no_movie_click": ~pl.col("clicked"),
        "other_task": ~free_browsing(pl.col("task")),
        "click_not_fixated": pl.col("fixated").is_null(),
        "no_click_line": pl.col("label").is_null(),
        "dropped_label": unwanted,
    }
    return pl.coalesce(pl.when(holds[reason]).then(pl.lit(reason)) for reason in REASONS)


def _dropped(screens: pl.DataFrame) -> dict[str, int]:
    return {reason: int((screens["reason"] == reason).sum()) for reason in REASONS}


def _audit(screens: pl.DataFrame, strangers: int, found_as: str) -> Audit:
    judged = screens.filter(pl.col("reason").is_null() | (pl.col("reason") == "dropped_label"))
    labels = judged.group_by("label").len().sort("len", "label", descending=[True, False])
    unordered, repeated = int(screens["unordered"].sum()), int((screens["lines"] > 1).sum())
    notes = {
        f"timestamps out of order on {_screens(unordered)}, sorted": unordered,
        f"several lines in the click file for {_screens(repeated)}, the last one counts": repeated,
        f"lines in the click file for {_screens(strangers)} without any event, ignored": strangers,
        found_as: found_as,
    }
    return Audit(
        screens=len(screens),
        dropped=_dropped(screens),
        kept=int(screens["reason"].is_null().sum()),
        labels=dict(labels.iter_rows()),
        notes=tuple(note for note, holds in notes.items() if holds),
    )


def _screens(count: int) -> str:
    return f"{count} screen{'' if count == 1 else 's'}"


def _examination(name: str, looks: pl.DataFrame, kept: pl.DataFrame) -> Examination:
    counts, row_counts = np.zeros(RECGAZE.shape, np.int64), np.zeros(RECGAZE.rows, np.int64)
    cells = looks.filter(pl.col("col").is_not_null())
    np.add.at(counts, (cells["row"].to_numpy() - 1, cells["col"].to_numpy() - 1), 1)
    rows = looks.select(*SCREEN, "row").unique()
    np.add.at(row_counts, rows["row"].to_numpy() - 1, 1)
    person = pl.struct("group", "user").alias("participant")
    single = by_participant(
        cells.select(person, "row", "col", len=pl.lit(1)), kept.select(person, pl.lit(1).alias("screen")), RECGAZE
    )
    return Examination(name, counts, len(kept), row_counts, by_participant=single)
