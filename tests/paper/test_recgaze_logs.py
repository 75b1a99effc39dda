"""RecGaze's raw logs: the embedded counts come back from generated logs; every filter, label and note."""

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import carouseval as cv
from carouseval.attention import Examination, RecgazeLogs, read_recgaze, recgaze_counts
from carouseval.attention.recgaze_data import GROUPS, RecgazeGroup
from carouseval.paper.recgaze_logs import REASONS
from tests.paper.raw_logs import (
    BOTH,
    DROPPED,
    EVENTS,
    KEPT,
    LOOK,
    OTHER,
    SCREEN,
    A,
    B,
    Logs,
    aoi,
    embedded_logs,
    event,
    final_click,
    movie,
    write,
)

LABS: tuple[RecgazeGroup, ...] = ("bratislava", "amsterdam")


@pytest.fixture(scope="module")
def logs() -> Logs:
    return embedded_logs()


def lines_of(logs: Logs) -> list[str]:
    return [line for screen in logs.events for line in screen]


def assert_embedded(read: RecgazeLogs) -> None:
    for group in GROUPS:
        found, published = read.groups[group], recgaze_counts(group)
        np.testing.assert_array_equal(found.counts, published.counts)
        np.testing.assert_array_equal(found.row_counts, published.row_counts)
        assert (found.name, found.screens, found.participants) == (group, published.screens, published.participants)


def test_the_embedded_counts_come_back_with_a_full_audit(logs: Logs, tmp_path: Path) -> None:
    read = read_recgaze(*write(tmp_path, lines_of(logs), logs.clicks))
    assert_embedded(read)
    for group in (*LABS, "all"):
        own = LABS if group == "all" else (group,)
        audit = read.audit[group]
        assert audit.screens == sum(logs.screens[lab] for lab in own)
        assert audit.dropped == dict(sum((logs.dropped[lab] for lab in own), Counter()))
        assert list(audit.dropped) == list(REASONS)
        assert all(audit.dropped.values())  # every filter was put to work
        assert audit.labels == dict(sum((logs.labels[lab] for lab in own), Counter()))
        assert audit.kept == read.groups[group].screens == audit.screens - sum(audit.dropped.values())
        unordered, repeated, strangers = (
            sum(count[lab] for lab in own) for count in (logs.unordered, logs.repeated, logs.strangers)
        )
        assert audit.notes == (
            f"timestamps out of order on {unordered} screens, sorted",
            f"several lines in the click file for {repeated} screens, the last one counts",
            f"lines in the click file for {strangers} screen{'s' * (strangers > 1)} without any event, ignored",
        )
    assert read.dropped_labels == tuple(DROPPED)


@pytest.mark.parametrize("order", ["screens", "lines"])
def test_the_order_of_lines_does_not_matter(logs: Logs, tmp_path: Path, order: str) -> None:
    screens = list(logs.events)
    random.Random(1).shuffle(screens)
    lines = [line for screen in screens for line in screen]
    if order == "lines":
        random.Random(2).shuffle(lines)
    read = read_recgaze(*write(tmp_path, lines, logs.clicks, start="\ufeff", end="\r\n"))
    assert_embedded(read)
    assert read.audit["all"].dropped == dict(sum(logs.dropped.values(), Counter()))


# --- small logs, one rule at a time


def read_small(folder: Path, events: list[str], clicks: list[str] = BOTH, **options: Any) -> RecgazeLogs:
    return read_recgaze(*write(folder, events, clicks), **options)


def cells(seen: Examination) -> tuple[list[list[int]], list[int]]:
    """The cells and rows examined on a single screen."""
    assert seen.screens == 1
    assert seen.row_counts is not None
    return (np.argwhere(seen.counts) + 1).tolist(), (np.flatnonzero(seen.row_counts) + 1).tolist()


@pytest.mark.parametrize(
    ("more", "examined", "rows"),
    [
        ([], [[1, 2]], [1]),
        ([event(A, 1, 2, movie(1, 2)), event(A, 1, 3, movie(1, 2))], [[1, 2]], [1]),  # repeats count once
        ([event(A, "1.0", 2, movie("4.0", "3.0"))], [[1, 2], [4, 3]], [1, 4]),
        ([event("kINIT_01", 1, 2, movie(4, 3))], [[1, 2], [4, 3]], [1, 4]),  # the same user
        ([event(A, 1, 2, aoi("Genre", 7))], [[1, 2]], [1, 7]),
        ([event(A, 1, 2, aoi("Genre", 7, 99))], [[1, 2]], [1, 7]),  # a heading has no column
        ([event(A, 1, 2, aoi("Forward", 7, 1)), event(A, 1, 2, aoi("Background"))], [[1, 2]], [1]),
        ([event(A, 1, 2, closest=movie(5, 5))], [[1, 2]], [1]),
        ([event(A, 1, 2, movie(5, 5), click=aoi("Genre", 1))], [[1, 2], [5, 5]], [1, 5]),  # no movie click
        ([event(A, 1, 5, movie(5, 5))], [[1, 2]], [1]),  # after the click, at the same time
        ([event(A, 1, 4.9, movie(5, 5))], [[1, 2], [5, 5]], [1, 5]),  # before it, on a later line
        (
            [event(A, 1, 3, movie(3, 3)), event(A, 1, 4, click=movie(3, 3))],
            [[1, 2], [3, 3]],
            [1, 3],
        ),  # an earlier click
        ([event(A, 1, 6, movie(3, 3)), event(A, 1, 7, click=movie(3, 3))], [[1, 2]], [1]),  # a later one
        ([event(A, 31, 2, movie(11, 99))], [[1, 2]], [1]),  # other tasks' positions are nobody's business
        (["", "," * (len(EVENTS) - 1)], [[1, 2]], [1]),  # blank lines
    ],
)
def test_what_counts_as_examined(tmp_path: Path, more: list[str], examined: list[list[int]], rows: list[int]) -> None:
    read = read_small(tmp_path, [*SCREEN, *more, *OTHER])
    assert cells(read.groups["bratislava"]) == (examined, rows)
    assert cells(read.groups["amsterdam"]) == ([[10, 15]], [10])
    assert read.groups["all"].counts.sum() == len(examined) + 1


def test_the_line_of_the_click_may_hold_the_fixation(tmp_path: Path) -> None:
    read = read_small(tmp_path, [event(A, 1, 5, movie(1, 2), movie(1, 2))])
    assert cells(read.groups["bratislava"]) == ([[1, 2]], [1])


def test_a_later_click_does_not_save_a_screen(tmp_path: Path) -> None:
    later = [event(A, 1, 6, movie(3, 3)), event(A, 1, 7, click=movie(3, 3))]
    read = read_small(tmp_path, [event(A, 1, 5, click=movie(3, 3)), *later, *OTHER])
    assert read.audit["bratislava"].dropped["click_not_fixated"] == 1


def test_a_group_without_screens_is_left_out(tmp_path: Path) -> None:
    read = read_small(tmp_path, SCREEN)
    assert list(read.groups) == ["bratislava", "all"]
    assert read.audit["amsterdam"].screens == 0
    assert read.audit["amsterdam"].notes == ("lines in the click file for 1 screen without any event, ignored",)
    content = read.to_dict()
    assert list(content) == ["groups", "dropped"]
    assert list(content["groups"]) == list(content["dropped"]) == ["bratislava", "amsterdam", "all"]
    assert content["groups"]["amsterdam"] == {"screens": 0, "counts": [[0] * 15] * 10}


def test_labels_are_an_option(tmp_path: Path) -> None:
    lines = [final_click(A, 1, " i Selected a Movie by accident "), final_click(B, 2, "")]
    events = [*SCREEN, *OTHER]
    usual = read_small(tmp_path, events, lines)
    assert usual.audit["all"].labels == {"(no label)": 1, "i Selected a Movie by accident": 1}
    assert list(usual.groups) == ["amsterdam", "all"]
    assert list(read_small(tmp_path, events, lines, dropped_labels=()).groups) == ["bratislava", "amsterdam", "all"]
    assert list(read_small(tmp_path, events, lines, dropped_labels="(no label)").groups) == ["bratislava", "all"]
    message = r"no line has the familiarity label 'I didnt select'\. Did you mean 'I did not select a movie'\? Labels"
    with pytest.raises(cv.ParameterError, match=message):
        read_small(tmp_path, events, lines, dropped_labels=["I didnt select"])


def test_the_click_file_goes_by_two_names(tmp_path: Path) -> None:
    events, clicks = write(tmp_path, [*SCREEN, *OTHER], BOTH)
    other = clicks.rename(tmp_path / "click_feedback.csv")
    assert read_recgaze(events, other).audit["all"].notes == ()
    note = "the click file click_summary_dataset.csv was read under its other name, click_feedback.csv"
    assert read_recgaze(str(events), str(clicks)).audit["all"].notes == (note,)
    other.unlink()
    with pytest.raises(cv.DataError, match=r"click_summary_dataset\.csv: No such file .* Zenodo, record 15270518"):
        read_recgaze(events, clicks)


def test_results_are_saved_whole(tmp_path: Path) -> None:
    read = read_small(tmp_path, [*SCREEN, *OTHER])
    read.save(tmp_path / "out" / "here")
    assert sorted(path.name for path in (tmp_path / "out" / "here").iterdir()) == [
        "all.json",
        "amsterdam.json",
        "audit.json",
        "bratislava.json",
        "looks.parquet",
    ]
    again = Examination.load(tmp_path / "out" / "here" / "amsterdam.json")
    assert again.to_dict() == read.groups["amsterdam"].to_dict()
    audit = json.loads((tmp_path / "out" / "here" / "audit.json").read_text())
    assert audit["dropped_labels"] == DROPPED
    assert audit["groups"]["all"]["labels"] == {KEPT[0]: 2}
    assert audit["groups"]["all"]["dropped"] == dict.fromkeys(REASONS, 0)
    with pytest.raises(cv.DataError, match=r"summary_feedback\.csv cannot be written: it is not a folder\. Give"):
        read.save(tmp_path / "summary_feedback.csv")


def test_nothing_left_is_an_error_that_says_why(tmp_path: Path) -> None:
    events = [LOOK, *OTHER, event(B, 33, 1, click=movie(1, 1))]
    message = (
        r"no screen is left of 3 \(no movie was clicked: 1; not free browsing \(tasks 1-30\): 1; no line in the click"
    )
    with pytest.raises(cv.DataError, match=message):
        read_small(tmp_path, events, BOTH[:1])


# --- any logs, against the rules applied line by line

Area = tuple[str, int, int]
Line = tuple[str, int, int, Area, Area]  # user, task, time, fixated, clicked


def by_hand(lines: list[Line], labels: dict[tuple[str, int], str]) -> tuple[Counter[str], Counter[Any], Counter[int]]:
    """How many screens each reason drops, and how many of those kept examined each cell and each row."""
    dropped, cells, rows = Counter[str](), Counter[Any](), Counter[int]()
    for screen in {line[:2] for line in lines}:
        looks, clicked = set(), None
        for *_, look, click in sorted((line for line in lines if line[:2] == screen), key=lambda line: line[2]):
            looks.add(look)
            if click[0] == "Movie":
                clicked = click
                break
        if clicked is None:
            dropped["no_movie_click"] += 1
        elif screen[1] > 30:
            dropped["other_task"] += 1
        elif clicked not in looks:
            dropped["click_not_fixated"] += 1
        elif screen not in labels:
            dropped["no_click_line"] += 1
        elif labels[screen] in DROPPED:
            dropped["dropped_label"] += 1
        else:
            cells.update({(row, col) for kind, row, col in looks if kind == "Movie"})
            rows.update({row for kind, row, _ in looks if kind in ("Movie", "Genre")})
    return dropped, cells, rows


def some_logs(draw: random.Random) -> tuple[list[Line], list[tuple[str, int, str]]]:
    """Few positions, times and screens, so that all kinds of ties and repeats turn up."""

    def area(movies: int) -> Area:
        return draw.choice(["Movie"] * movies + ["Genre", "Forward", ""]), draw.randint(1, 2), draw.randint(1, 2)

    screens = [(user, task) for user in (A, B) for task in (1, 2, 3, 30, 31)]
    lines = [(*draw.choice(screens), draw.randint(0, 5), area(5), area(1)) for _ in range(draw.randint(20, 80))]
    labels = [(*draw.choice(screens), draw.choice([*KEPT, DROPPED[0]])) for _ in range(15)]
    return lines, labels


def test_any_logs_agree_with_the_rules(tmp_path: Path) -> None:
    every_reason = Counter[str]()
    for seed in range(60):
        lines, labels = some_logs(random.Random(seed))
        dropped, cells, rows = by_hand(lines, {(user, task): label for user, task, label in labels})
        events = [event(user, task, time, aoi(*look), aoi(*click)) for user, task, time, look, click in lines]
        paths = write(tmp_path, events, [final_click(*line) for line in labels])
        if not rows:
            with pytest.raises(cv.DataError, match="no screen is left"):
                read_recgaze(*paths)
            continue
        read = read_recgaze(*paths)
        seen = read.groups["all"]
        assert {reason: count for reason, count in read.audit["all"].dropped.items() if count} == dropped
        assert {(i + 1, j + 1): seen.counts[i, j] for i, j in np.argwhere(seen.counts)} == cells
        assert seen.row_counts is not None
        assert {i + 1: seen.row_counts[i] for i in np.flatnonzero(seen.row_counts)} == rows
        every_reason.update({**dropped, "kept": seen.screens})
    assert set(every_reason) == {*REASONS, "kept"}
    assert min(every_reason.values()) >= 5
