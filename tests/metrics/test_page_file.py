"""Reading one page: what reads, what is refused, and that nothing else happens."""

import contextlib
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import carouseval as cv
from carouseval.metrics.page_file import read_page

nan = np.nan


@pytest.mark.parametrize(
    ("text", "page"),
    [
        ("1,0,2\n0,1,0\n", [[1, 0, 2], [0, 1, 0]]),
        ("1,,2\n3", [[1, nan, 2], [3, nan, nan]]),
        ("1;0.5\n2;1", [[1, 0.5], [2, 1]]),
        ("1\t0\n2\t1\n", [[1, 0], [2, 1]]),
        ("\ufeff1, 0\r\n 2 ,1\r\n", [[1, 0], [2, 1]]),
        ('"1","0"\n', [[1, 0]]),
        ("1,0\n\n2,1\n\n\n", [[1, 0], [nan, nan], [2, 1]]),  # a blank line is an empty carousel, at the end it is none
        ("1,NaN,null,-,NA\n", [[1, nan, nan, nan, nan]]),
        ("7", [[7]]),
        ("[[1, 0, null], [2]]", [[1, 0, nan], [2, nan, nan]]),
        (' {"relevance": [[1.5], [0]]} ', [[1.5], [0]]),
        ('[["1", ""], [2, 3]]', [[1, nan], [2, 3]]),
        ('{"page": [[true, false]]}', [[1, 0]]),
    ],
)
def test_what_reads(text: str, page: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "page"
    path.write_bytes(text.encode())
    np.testing.assert_array_equal(read_page(str(path)), page)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    np.testing.assert_array_equal(read_page("-"), page)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", r"the page is empty\. Write one line per carousel"),
        (b"\n\n,,\n", r"the page is empty"),
        (b"[]", r"the page is empty"),
        (b"[[], [null]]", r"the page is empty"),
        (b"a,b\n1,2\n", r"row 1, col 1 is 'a', not a number\. Write no header: every line is a carousel"),
        (b"1 2 3\n", r"row 1, col 1 is '1 2 3', not a number\. .* separated by commas, semicolons or tabs"),
        (b"1_000,2\n", r"row 1, col 1 is '1_000', not a number"),
        ("\u0663,2".encode(), r"not a number"),
        (b"1,2\n3,four\n", r"row 2, col 2 is 'four', not a number\.$"),
        (b"1,2\n3,-4\n", r"row 2, col 2 is -4; relevances must be finite and 0 or more"),
        (b"1,inf\n", r"row 1, col 2 is inf; relevances must be finite"),
        (b'1,"2\n', r"is not CSV: unexpected end of data"),
        (b"\xff\xfe1\x00", r"byte 1 is not UTF-8 text"),
        (b"[[1, 2", r"is not JSON"),
        (b'{"pages": [[1]]}', r"expected a list of rows"),
        (b"[1, 2]", r"expected a list of rows"),
        (b"[[1, [2]]]", r"row 1, col 2 is '\[2\]', not a number"),
        (b"[[1e999]]", r"row 1, col 1 is inf"),
        (b"[" * 100_000, r"is not JSON"),
    ],
)
def test_what_is_refused(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "page.csv"
    path.write_bytes(content)
    with pytest.raises(cv.DataError, match=message) as refused:
        read_page(str(path))
    assert str(path) in str(refused.value)


def test_missing_files_and_folders(tmp_path: Path) -> None:
    with pytest.raises(cv.DataError, match=r"none\.csv: No such file or directory\."):
        read_page(str(tmp_path / "none.csv"))
    with pytest.raises(cv.DataError, match=r"Is a directory\."):
        read_page(str(tmp_path))


def test_a_table_is_not_a_page(tmp_path: Path) -> None:
    path = tmp_path / "huge.csv"
    path.write_text("1,2\n" * 600_000)
    with pytest.raises(cv.DataError, match=r"a page of 600000x2 cells is too large; the limit is 1,000,000 cells"):
        read_page(str(path))


cells = st.none() | st.integers(0, 9) | st.floats(0, 1e6)
pages = st.lists(st.lists(cells, min_size=1, max_size=6), min_size=1, max_size=6).filter(
    lambda rows: any(cell is not None for cell in rows[-1])
)


@given(pages)
def test_csv_and_json_of_the_same_page_read_alike(tmp_path_factory: Any, rows: list[list[Any]]) -> None:
    folder = tmp_path_factory.mktemp("pages")
    (folder / "a").write_text(json.dumps(rows))
    (folder / "b").write_text("\n".join(",".join("" if c is None else repr(c) for c in row) for row in rows))
    one, other = read_page(str(folder / "a")), read_page(str(folder / "b"))
    width = min(one.shape[1], other.shape[1])
    np.testing.assert_array_equal(one[:, :width], other[: len(one), :width])
    assert one.shape == (len(rows), max(map(len, rows)))


@given(st.binary(max_size=60) | st.text("0123456789,;\t\n\r\"'.-e[]{}: naulrevc", max_size=60).map(str.encode))
def test_any_bytes_give_a_page_or_a_clear_error(tmp_path_factory: Any, content: bytes) -> None:
    path = tmp_path_factory.mktemp("fuzz") / "page"
    path.write_bytes(content)
    with contextlib.suppress(cv.DataError):
        page = read_page(str(path))
        assert page.ndim == 2
        assert page.size > 0
        assert (np.isnan(page) | ((page >= 0) & np.isfinite(page))).all()
