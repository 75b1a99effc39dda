"""What RecGaze's raw files may not hold: every refusal by its text, and damage of any kind."""

import contextlib
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import carouseval as cv
from carouseval.attention import read_recgaze
from carouseval.tables.kinds.text import SeparatedText
from tests.paper.raw_logs import BOTH, CLICKS, EVENTS, LOOK, OTHER, SCREEN, A, aoi, event, final_click, movie, write

BAD_LOOK = event(A, 1, 2, movie(11, 2))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            event("Lab_1", 1, 2),
            r"column UserID, line 4: found 'Lab_1'\. Users are KInIT_<number> \(Bratislava\) or UvA_",
        ),
        (event("KInIT_", 1, 2), r"column UserID, line 4: found 'KInIT_'\."),
        (event("KInIT_\u0663", 1, 2), r"column UserID, line 4: found 'KInIT_\u0663'\."),
        (event("", 1, 2), r"column UserID, line 4: found nothing\."),
        (event(A, "one", 2), r"column TaskID, line 4: found 'one'\. A task is an integer, in RecGaze from 1 to 40\."),
        (event(A, "1.5", 2), r"column TaskID, line 4: found '1\.5'\."),
        (event(A, "", 2), r"column TaskID, line 4: found nothing\."),
        (event(A, "nan", 2), r"column TaskID, line 4: found 'nan'\."),
        (event(A, 1, "noon", movie(1, 1)), r"column Timestamp, line 4: found 'noon'\. A time is a number of seconds\."),
        (event(A, 1, "", click=movie(1, 1)), r"column Timestamp, line 4: found nothing\."),
        (event(A, 1, "inf", movie(1, 1)), r"column Timestamp, line 4: found 'inf'\."),
        (
            BAD_LOOK,
            r"column Fixation_AOI_Carousel_position, line 4: found '11'\. A carousel's position is an integer",
        ),
        (f"{BAD_LOOK}\n{BAD_LOOK}", r"column Fixation_AOI_Carousel_position, line 4: found '11' \(2 such lines\)\."),
        (
            event(A, 1, 2, aoi("Genre", 0)),
            r"column Fixation_AOI_Carousel_position, line 4: found '0'\. .* from 1 to 10\.",
        ),
        (
            event(A, 1, 2, movie(1, 16)),
            r"Fixation_AOI_Movie_position_in_carousel, line 4: found '16'\. .* from 1 to 15\.",
        ),
        (event(A, 1, 2, movie(1, "2.5")), r"Fixation_AOI_Movie_position_in_carousel, line 4: found '2\.5'\."),
        (event(A, 1, 2, movie(1, "")), r"Fixation_AOI_Movie_position_in_carousel, line 4: found nothing\."),
        (event(A, 1, 9, click=movie(-1, 2)), r"column Click_AOI_Carousel_position, line 4: found '-1'\."),
        (event(A, 1, 9, click=movie(1, 0)), r"column Click_AOI_Movie_position_in_carousel, line 4: found '0'\."),
        ("KInIT_1,S,1", r"line 4 is cut off: it has 3 fields, the header has 40\. Is the file complete\?"),
        (f"{LOOK[:30]}\r{LOOK[30:]}", r"line 4 is cut off: it has 7 fields, the header has 40\."),
        (f"{LOOK},", r"line 4 is too long: it has 41 fields, the header has 40\."),
        (f'{LOOK}"half', r"cannot be parsed as CSV: line 4: unexpected end of data\. Is the file complete\?"),
        (f'{LOOK}"two\nlines"\n{BAD_LOOK}', r"column Fixation_AOI_Carousel_position, line 6: found '11'\."),
        (event("x" * 99, 1, 1), r"found 'x{59}\.\.\.\. Users are"),
    ],
)
def test_bad_events_are_refused(tmp_path: Path, line: str, message: str) -> None:
    events, clicks = write(tmp_path, [*SCREEN, line], BOTH)
    with pytest.raises(cv.DataError, match=message) as refused:
        read_recgaze(events, clicks)
    assert str(refused.value).startswith(str(events))


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([final_click("Lab_1", 1)], r"column UserID, line 2: found 'Lab_1'\."),
        ([final_click(A, "x")], r"column TaskID, line 2: found 'x'\."),
        ([final_click(A, 1), final_click(A, 2)[:-30]], r"line 3 is cut off: it has 13 fields, the header has 15\."),
        ([], r"has a header but no clicks\. Is the file complete\?.* Zenodo, record 15270518"),
    ],
)
def test_bad_click_files_are_refused(tmp_path: Path, lines: list[str], message: str) -> None:
    events, clicks = write(tmp_path, SCREEN, lines)
    with pytest.raises(cv.DataError, match=message) as refused:
        read_recgaze(events, clicks)
    assert str(refused.value).startswith(str(clicks))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            b"",
            r"is empty\. It is part of the RecGaze data set \(SIGIR '25\): .* record 15270518",
        ),
        (b"\n \n", r"missing columns UserID, "),
        (b"\xff\xfeU\x00s\x00", r"missing columns .* It is not in UTF-8\. Save it as UTF-8\."),
        (",".join(EVENTS).encode(), r"has a header but no events\. Is the file complete\?"),
        (
            ",".join(EVENTS).replace("Timestamp", "Time").replace("Click_AOI_type", "Click").encode(),
            r"missing columns Timestamp \(is it Time\?\), Click_AOI_type \(.*\); it has UserID, SubjectID, TaskID, ",
        ),
        (
            ";".join(EVENTS).encode(),
            r"missing columns .* Its fields seem to be separated by semicolons; separate them by commas\.",
        ),
        (",".join(CLICKS).encode(), r"missing columns .* The events file comes first, then the click file\."),
        (",".join([*EVENTS, "TaskID"]).encode(), r"the header names TaskID twice\. Remove or rename one\."),
        (
            b",".join(map(str.encode, EVENTS)) + b"\n" + SCREEN[0].encode() + b"\xff\n",
            r"cannot be parsed as CSV: it is not in UTF-8",
        ),
    ],
)
def test_files_that_are_something_else_are_refused(tmp_path: Path, content: bytes, message: str) -> None:
    events, clicks = write(tmp_path, SCREEN, BOTH)
    events.write_bytes(content)
    with pytest.raises(cv.DataError, match=message) as refused:
        read_recgaze(events, clicks)
    assert str(refused.value).startswith(str(events))


def test_damage_far_into_a_large_file_is_refused(tmp_path: Path) -> None:
    events, clicks = write(tmp_path, SCREEN * 5000, BOTH)
    whole = events.read_bytes()
    for damage, message in {
        b"\xff": r"cannot be parsed as CSV: it is not in UTF-8",
        LOOK.encode() + b'"half\n': r"cannot be parsed as CSV: line 10002: unexpected end of data",
        LOOK[:30].encode(): r"line 10002 is cut off: it has 7 fields, the header has 40",
    }.items():
        events.write_bytes(whole + damage)
        with pytest.raises(cv.DataError, match=message):
            read_recgaze(events, clicks)
    events.write_bytes(whole.replace(b"Movie", b"M\xffvie", 1))
    with pytest.raises(cv.DataError, match=r"summary_feedback.csv: the header is not in UTF-8. Save it as UTF-8."):
        read_recgaze(events, clicks)


def test_missing_files_say_where_to_get_them(tmp_path: Path) -> None:
    events, clicks = write(tmp_path, SCREEN, BOTH)
    events.unlink()
    with pytest.raises(cv.DataError, match=r"No such file or directory\. It is part of the RecGaze data set .* Zenodo"):
        read_recgaze(events, clicks)
    with pytest.raises(cv.DataError, match=r"missing columns"):
        read_recgaze(tmp_path, clicks)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_sound_lines_are_not_read_twice(tmp_path: Path, end: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The slow reading by the book is for suspects only."""
    paths = write(tmp_path, SCREEN * 3000, BOTH, end=end)
    by_the_book = Mock()
    monkeypatch.setattr(SeparatedText, "lines", by_the_book)
    read_recgaze(*paths)
    by_the_book.assert_not_called()


SMALL = [
    ("\n".join([",".join(EVENTS), *SCREEN, *OTHER]) + "\n").encode(),
    "\n".join([",".join(CLICKS), *BOTH]).encode(),
]
edits = st.lists(
    st.tuples(
        st.integers(0, 1),
        st.floats(0, 1),
        st.integers(0, 40),
        st.binary(max_size=3)
        | st.sampled_from([b",", b'"', b"\n", b"\r", b"\x1f", b"nan", b"9e9", b"Movie", b"\xef\xbb\xbf"]),
    ),
    min_size=1,
    max_size=3,
)


@given(edits)
@settings(max_examples=150)
def test_damaged_files_give_counts_or_a_clear_error(tmp_path_factory: Any, edits: list[Any]) -> None:
    contents = list(SMALL)
    for which, where, cut, new in edits:
        at = int(where * len(contents[which]))
        contents[which] = contents[which][:at] + new + contents[which][at + cut :]
    folder = tmp_path_factory.mktemp("fuzz")
    paths = folder / "events.csv", folder / "clicks.csv"
    for path, content in zip(paths, contents, strict=True):
        path.write_bytes(content)
    with contextlib.suppress(cv.DataError):
        read = read_recgaze(*paths)
        assert read.groups["all"].screens == read.audit["all"].kept > 0
        assert (read.groups["all"].row_counts >= read.groups["all"].counts.max(axis=1)).all()
