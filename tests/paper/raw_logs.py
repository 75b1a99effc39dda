"""Raw logs in RecGaze's form: single lines for small tests, and whole files whose counts are the embedded ones."""

import functools
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from carouseval.attention import Examination, recgaze_counts
from carouseval.attention.recgaze_data import RecgazeGroup

IDS = ["UserID", "SubjectID", "TaskID", "StimulusID", "Timestamp"]
AOIS = ["Fixation_AOI_", "Fixation_AOI_Closest_", "Click_AOI_", "Cursor_AOI_"]
PARTS = ["type", "MovieID", "Movie_position_in_carousel", "Carousel_position", "Carousel_genre"]
PARTS += ["Carousel_genre_is_top_genre", "Carousel_genre_is_preferred_genre", "Carousel_genre_rating"]
EVENTS = [*IDS, *(aoi + part for aoi in AOIS for part in PARTS), "Fixation_Duration", "Cursor_Duration", "Remarks"]
CLICKS = [*IDS, *("Click_AOI_" + part for part in PARTS), "Movie_Familiarity", "Why_Selected"]
KEPT = [
    "I have seen the entire movie",
    "I have heard of the movie",
    "I have never heard of the movie",
    "I don't remember",
]
DROPPED = ["I did not select a movie", "I selected a movie by accident"]


@functools.cache
def aoi(kind: str = "", row: int | str = "", col: int | str = "") -> str:
    """The eight fields of an area of interest."""
    movie_id, genre = ("77", '"Comedy, light"') if kind else ("", "")
    return f"{kind},{movie_id},{col},{row},{genre},,,"


NOTHING = aoi()


def movie(row: int | str, col: int | str) -> str:
    return aoi("Movie", row, col)


def event(
    user: str, task: int | str, time: float | str, look: str = NOTHING, click: str = NOTHING, closest: str = NOTHING
) -> str:
    cursor = aoi("Movie", 10, 15)  # never to be counted
    return f"{user},S{user},{task},{task},{time},{look},{closest},{click},{cursor},180,0.2,"


def final_click(user: str, task: int | str, label: str = KEPT[0], why: str = "") -> str:
    return f"{user},S{user},{task},{task},9,{movie(1, 1)},{label},{why}"


def write(folder: Path, events: list[str], clicks: list[str], start: str = "", end: str = "\n") -> tuple[Path, Path]:
    """Both files, each with ``start`` before its header and ``end`` after each line."""
    paths = folder / "summary_feedback.csv", folder / "click_summary_dataset.csv"
    for path, header, lines in zip(paths, (EVENTS, CLICKS), (events, clicks), strict=True):
        path.write_bytes((start + end.join([",".join(header), *lines, ""])).encode())
    return paths


# two small screens, the first of Bratislava, the second of Amsterdam
A, B = "KInIT_1", "UvA_2"
LOOK, CLICK = event(A, 1, 1, movie(1, 2)), event(A, 1, 5, click=movie(1, 2))
SCREEN = [LOOK, CLICK]
OTHER = [event(B, 2, 1, movie(10, 15)), event(B, 2, 2, click=movie(10, 15))]
BOTH = [final_click(A, 1), final_click(B, 2)]


@dataclass
class Logs:
    """Events by screen, the click file's lines, and what an audit must say of them, by group."""

    events: list[list[str]] = field(default_factory=list)
    clicks: list[str] = field(default_factory=list)
    dropped: dict[str, Counter[str]] = field(default_factory=dict)
    labels: dict[str, Counter[str]] = field(default_factory=dict)
    screens: Counter[str] = field(default_factory=Counter)
    unordered: Counter[str] = field(default_factory=Counter)
    repeated: Counter[str] = field(default_factory=Counter)
    strangers: Counter[str] = field(default_factory=Counter)


def embedded_logs(seed: int = 0) -> Logs:
    """Logs whose counts are the embedded ones, among screens that every filter must drop."""
    logs = Logs()
    rng = np.random.default_rng(seed)
    prefixes_of: dict[RecgazeGroup, list[str]] = {
        "bratislava": ["KInIT_", "KINIT_", "kinit_"],
        "amsterdam": ["UvA_", "UVA_", "uva_"],
    }
    for group, prefixes in prefixes_of.items():
        seen = recgaze_counts(group)
        assert seen.participants
        tasks = [(user, task) for task in range(1, 31) for user in range(1, seen.participants + 1)]  # all take part
        names = [(f"{rng.choice(prefixes)}{user}", task) for user, task in tasks]
        logs.dropped[group], logs.labels[group] = Counter(), Counter()
        _retained(logs, group, seen, names[: seen.screens], rng)
        _decoys(logs, group, names[seen.screens :])
    return logs


def _retained(
    logs: Logs, group: str, seen: Examination, names: list[tuple[str, int]], rng: np.random.Generator
) -> None:
    assert seen.row_counts is not None
    cells = np.zeros((seen.screens, *seen.counts.shape), bool)
    rows = np.zeros(cells.shape[:2], bool)
    for i, row_count in enumerate(seen.row_counts):
        shown = rng.permutation(seen.screens)[:row_count]
        rows[shown, i] = True
        for j, count in enumerate(seen.counts[i]):
            cells[rng.permutation(shown)[:count], i, j] = True
    assert cells.any(axis=(1, 2)).all()  # every screen has a cell to click on
    for k, (user, task) in enumerate(names):
        looked = [movie(*cell) for cell in rng.permutation(np.argwhere(cells[k]) + 1).tolist()]
        headings = [aoi("Genre", f"{i}.0") for i in np.flatnonzero(rows[k] & ~cells[k].any(axis=1)) + 1]
        missed = [movie(*cell) for cell in (np.argwhere(~cells[k])[:2] + 1).tolist()]
        clicked = looked.pop() if k % 2 else looked[-1]  # half the time fixated on the line of the click only
        floats = aoi("Movie", *(f"{part}.0" for part in clicked.split(",")[3:1:-1]))
        lines = [
            event(user, task, 0.5, aoi("Background"), closest=missed[0]),
            event(user, task, 0.5, closest=missed[-1], click=aoi("Forward", 1)),
            *(event(user, task, 1 + n / 8, look) for n, look in enumerate(headings + looked + looked[:2])),
            event(user, f"{task}.0", 99, clicked if k % 2 else NOTHING, floats),
            *(event(user, task, 100 + n, look, look) for n, look in enumerate(missed)),
        ]
        if k % 50 == 0:  # lines that come out of order
            lines.reverse()
            logs.unordered[group] += 1
        label = KEPT[k % len(KEPT)]
        if k % 70 == 0:
            logs.clicks.append(final_click(user, task, DROPPED[0]))
            logs.repeated[group] += 1
        logs.clicks.append(
            final_click(user.upper(), f"{task}.0", label, '"it, and\nmore ""so"""' if k % 9 == 0 else "")
        )
        logs.events.append(lines)
        logs.labels[group][label] += 1
        logs.screens[group] += 1


def _decoys(logs: Logs, group: str, names: list[tuple[str, int]]) -> None:
    """Screens that must be dropped: each filter has some, told apart by where they stand."""
    look = movie(3, 4)
    users = sorted({user.lower() for user, _ in names})
    names = names[:50] + [(user, 31 + n % 10) for n, user in enumerate(users[:12])]
    for n, (user, task) in enumerate(names):
        reason, label = None, KEPT[0]
        lines = [event(user, task, 1, look), event(user, task, 2, click=look), event(user, task, 3, movie(9, 9))]
        if n % 10 == 0:
            lines, reason = [lines[0], event(user, task, 2, look, aoi("Forward", 3))], "no_movie_click"
        elif n % 10 == 1:
            lines, reason = [event(user, task, 1)], "no_movie_click"
        elif task > 30:
            reason = "other_task"
        elif n % 10 in (2, 3):
            elsewhere = movie(3, 5), movie(4, 4), aoi("Genre", 3)
            lines[0] = event(user, task, 1, elsewhere[n % 3], closest=look)
            lines[2] = event(user, task, 3, look, look)
            reason = "click_not_fixated"
        elif n % 10 == 4:
            reason = "no_click_line"
        else:
            reason, label = "dropped_label", DROPPED[n % 2]
            logs.labels[group][label] += 1
        if reason == "dropped_label" and n % 10 == 5:
            logs.clicks.append(final_click(user, task, KEPT[0]))
            logs.repeated[group] += 1
        if reason != "no_click_line":
            logs.clicks.append(final_click(user, task, label))
        logs.dropped[group][reason] += 1
        logs.screens[group] += 1
        logs.events.append(lines)
    logs.clicks.append(final_click(f"{names[0][0].partition('_')[0]}_99", 7))
    logs.strangers[group] += 1
