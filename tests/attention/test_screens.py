"""Examination counts from a plain table of examined cells, against counting by hand, and every refusal."""

import contextlib
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import carouseval as cv
from carouseval.attention import Examination, examination_from_screens

GRID = cv.Grid(rows=2, cols=3)
TABLE = "screen,row,col\na,1,1\na,1,3\nb,1.0,1\na,1,1\nb,2,2\n"


def read(folder: Path, text: str | bytes, **options: Any) -> Examination:
    path = folder / "pilot.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return examination_from_screens(path, **{"grid": GRID, **options})


def test_cells_are_counted_once_per_screen(tmp_path: Path) -> None:
    seen = read(tmp_path, TABLE)
    assert seen.counts.tolist() == [[2, 0, 1], [0, 1, 0]]
    assert seen.row_counts is not None
    assert seen.row_counts.tolist() == [2, 1]
    assert (seen.name, seen.screens, seen.participants) == ("pilot", 2, None)
    more = read(tmp_path, TABLE, screens=10, name="lab")
    assert (more.name, more.screens, more.counts.tolist()) == ("lab", 10, seen.counts.tolist())


def test_participants_may_number_their_screens_anew(tmp_path: Path) -> None:
    seen = read(tmp_path, "participant,screen,row,col,device\np,1,1,1,tv\nq,1,1,1,tv\nq,2,1,1,tv\nq,2,1,2,tv\n")
    assert (seen.screens, seen.participants, seen.counts[0].tolist()) == (3, 2, [3, 1, 0])


@pytest.mark.parametrize("text", ["\ufeff" + TABLE, TABLE.replace("\n", "\r\n"), TABLE + "\n\n", TABLE[:-1]])
def test_forms_of_csv(tmp_path: Path, text: str) -> None:
    assert read(tmp_path, text).counts.tolist() == [[2, 0, 1], [0, 1, 0]]


@pytest.mark.parametrize("kind", [pl.Int64, pl.Float64, pl.String, pl.UInt8])
def test_parquet_of_any_number_type(tmp_path: Path, kind: Any) -> None:
    frame = pl.DataFrame({"screen": [7, 7, 8], "row": [1, 2, 2], "col": [3, 3, 3], "extra": [None, None, None]})
    frame.with_columns(pl.col("row", "col").cast(kind)).write_parquet(tmp_path / "a table")
    seen = examination_from_screens(str(tmp_path / "a table"), GRID)
    assert (seen.counts.tolist(), seen.screens) == ([[0, 0, 1], [0, 0, 2]], 2)


lines = st.lists(st.tuples(st.integers(1, 4), st.integers(1, 2), st.integers(1, 3)), min_size=1, max_size=30)


@given(lines, st.randoms(use_true_random=False))
@settings(max_examples=30)
def test_counts_by_hand(tmp_path_factory: Any, lines: list[tuple[int, int, int]], random: Any) -> None:
    by_hand = np.zeros((2, 3), int)
    for _, row, col in set(lines):
        by_hand[row - 1, col - 1] += 1
    random.shuffle(lines)
    text = "col,screen,row\n" + "".join(f"{col},{screen},{row}\n" for screen, row, col in lines)
    seen = read(tmp_path_factory.mktemp("hand"), text)
    np.testing.assert_array_equal(seen.counts, by_hand)
    assert seen.row_counts is not None
    assert seen.row_counts.tolist() == [len({line[0] for line in lines if line[1] == row}) for row in (1, 2)]
    assert seen.screens == len({screen for screen, _, _ in lines})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (TABLE + "b,3,1\n", r": column row, line 7: found '3'\. A row is an integer from 1 to 2 on the 2x3 grid\."),
        (TABLE + "b,0,1\nb,3,1\n", r": column row, line 7: found '0' \(2 such lines\)\."),
        (TABLE + "b,1,4\n", r": column col, line 7: found '4'\. A col is an integer from 1 to 3 on the 2x3 grid\."),
        (TABLE + "b,1.5,1\n", r": column row, line 7: found '1\.5'\."),
        (TABLE + "b,one,1\n", r": column row, line 7: found 'one'\."),
        (TABLE + "b,,1\n", r": column row, line 7: found nothing\."),
        (TABLE + ",x,y\n", r": column screen, line 7: found nothing\. Every line needs a screen\."),
        (TABLE + '" ",1,1\n', r": column screen, line 7: found ' '\."),
        ("screen,row,col,participant\na,1,1,\n", r": column participant, line 2: found nothing\."),
        (TABLE + '"b\nc",9,1\n"d",8,1\n', r": column row, line 7: found '9' \(2 such lines\)\."),
        (TABLE + '"b\nc",1,1\n"d",8,1\n', r": column row, line 9: found '8'\."),
        (TABLE + "b,1", r": line 7 is cut off: it has 2 fields, the header has 3\."),
        (TABLE + "b,1,1,1", r": line 7 is too long: it has 4 fields, the header has 3\."),
        ("", r" is empty\."),
        ("screen,row,col\n", r" has no examined cells\. Write one line per cell: screen, row, col\."),
        ("a,1,1\n", r": missing columns screen, row, col; it has a, 1, 1\. Write one line per fixation"),
        (
            "screen;row;col\n",
            r": missing columns .* Its fields seem to be separated by semicolons; separate them by commas\.",
        ),
        ("screen,row,col,row\na,1,1,2\n", r": the header names row twice"),
        (b"PAR1screen", r" cannot be parsed as Parquet: "),
        (b"\xff\xfes\x00", r": missing columns .* It is not in UTF-8\. Save it as UTF-8\."),
    ],
)
def test_bad_tables_are_refused(tmp_path: Path, text: str | bytes, message: str) -> None:
    with pytest.raises(cv.DataError, match=r"pilot\.csv" + message):
        read(tmp_path, text)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (
            {"screen": [1, 1], "row": [1, 9], "col": [1, 1]},
            r": column row, record 2: found 9\. A row is an integer",
        ),
        ({"screen": [1, None], "row": [1, 1], "col": [1, 1]}, r": column screen, record 2: found nothing\."),
        (
            {"screen": [1, 1], "row": [True, True], "col": [1, 1]},
            r": column row holds Boolean; expected integers\. A row is an integer",
        ),
        ({"screen": [1], "row": [1]}, r": missing column col; it has screen, row\."),
        ({"screen": [1], "row": [[1]], "col": [1]}, r"column row|cannot be parsed as Parquet"),
    ],
)
def test_bad_parquet_is_refused(tmp_path: Path, columns: dict[str, Any], message: str) -> None:
    pl.DataFrame(columns).write_parquet(tmp_path / "t.parquet")
    with pytest.raises(cv.DataError, match=message):
        examination_from_screens(tmp_path / "t.parquet", GRID)


def test_the_number_of_screens_is_checked(tmp_path: Path) -> None:
    with pytest.raises(cv.DataError, match=r"column screen has 2 screens, but the number of screens is given as 1\."):
        read(tmp_path, TABLE, screens=1)
    with pytest.raises(cv.ParameterError, match=r"screens must be an integer of at least 1, found 0\."):
        read(tmp_path, TABLE, screens=0)
    with pytest.raises(cv.DataError, match=r"none\.csv: No such file or directory\."):
        examination_from_screens(tmp_path / "none.csv", GRID)


@given(
    st.integers(0, len(TABLE)), st.integers(0, 9), st.binary(max_size=4) | st.sampled_from([b'"', b"\n", b",", b"PAR1"])
)
@settings(max_examples=100)
def test_damaged_tables_give_counts_or_a_clear_error(tmp_path_factory: Any, at: int, cut: int, new: bytes) -> None:
    text = TABLE.encode()
    with contextlib.suppress(cv.DataError):
        seen = read(tmp_path_factory.mktemp("fuzz"), text[:at] + new + text[at + cut :])
        assert seen.counts.sum() > 0
