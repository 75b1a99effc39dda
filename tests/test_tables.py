"""Tables in: every kind of source reads the same, every defect is named with its line."""

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from carouseval.errors import DataError, ParameterError
from carouseval.evaluation import schema
from carouseval.evaluation.schema import ITEMS, JUDGMENTS, LAYOUTS
from carouseval.evaluation.settings import Settings
from carouseval.file_kind_base import FileKind
from carouseval.file_kinds import KINDS
from carouseval.tables import RECORD, Column, Table, open_table


def open_tables(sources: dict[str, Any], columns: Any = None) -> dict[str, Table]:
    return schema.open_tables(sources, Settings(columns=columns))


COLUMNS: dict[str, list[Any]] = {
    "user_id": ["u1", "u1", "u2"],
    "row": [1, 1, 1],
    "col": [1, 2, 1],
    "item_id": ["a", "b", "a"],
    "category": ["new", "new", "old"],
}
FRAME = pl.DataFrame(COLUMNS)
NAMED = {kind.name: kind for kind in KINDS}
of_text = pytest.mark.parametrize("kind", [pytest.param(one, id=one.name) for one in KINDS if one.is_text])


def write(folder: Path, stem: str, lines: str, kind: FileKind) -> Path:
    """A file of text of some kind, given with commas."""
    path = folder / f"{stem}{kind.extensions[0]}"
    path.write_bytes(lines.replace(",", kind.separator).encode())
    return path


def as_file(write: Callable[[Path], Any], name: str) -> Callable[[Path], Path]:
    def made(folder: Path) -> Path:
        write(folder / name)
        return folder / name

    return made


def packed(path: Path, separator: str = ",") -> None:
    with gzip.open(path, "wb") as file:
        file.write(FRAME.write_csv(separator=separator).encode())


def in_two(folder: Path) -> str:
    FRAME.head(1).write_csv(folder / "a.csv")
    FRAME.tail(2).write_csv(folder / "b.csv")
    return str(folder / "*.csv")


SOURCES: dict[str, Callable[[Path], Any]] = {
    "polars": lambda _: FRAME,
    "lazy": lambda _: FRAME.lazy(),
    "pandas": lambda _: pd.DataFrame(COLUMNS),
    "pandas with an odd index": lambda _: pd.DataFrame(COLUMNS, index=[7, 7, 1]),
    "pandas objects": lambda _: pd.DataFrame(COLUMNS).astype(object),
    "pyarrow": lambda _: pa.table(COLUMNS),
    "pyarrow in pieces": lambda _: pa.concat_tables([pa.table(COLUMNS).slice(0, 1), pa.table(COLUMNS).slice(1)]),
    "pyarrow dictionaries": lambda _: pa.table(pd.DataFrame(COLUMNS).astype({"user_id": "category"}).to_dict("series")),
    "duckdb": lambda _: duckdb.sql("select * from FRAME"),
    "dict": lambda _: COLUMNS,
    "dict of arrays": lambda _: {name: np.array(values) for name, values in COLUMNS.items()},
    "parquet": as_file(FRAME.write_parquet, "t.parquet"),
    "csv": as_file(FRAME.write_csv, "t.csv"),
    "csv with CRLF and BOM": as_file(lambda p: FRAME.write_csv(p, line_terminator="\r\n", include_bom=True), "t.csv"),
    "csv.gz": as_file(packed, "t.csv.gz"),
    "csv.zst": as_file(lambda path: FRAME.write_csv(path, compression="zstd"), "t.csv.zst"),
    "tsv": as_file(lambda path: FRAME.write_csv(path, separator="\t"), "t.tsv"),
    "TSV with CRLF and BOM": as_file(
        lambda path: FRAME.write_csv(path, separator="\t", line_terminator="\r\n", include_bom=True), "T.TSV"
    ),
    "tsv.gz": as_file(lambda path: packed(path, "\t"), "t.tsv.gz"),
    "tsv.zst": as_file(lambda path: FRAME.write_csv(path, separator="\t", compression="zstd"), "t.tsv.zst"),
    "csv and tsv": lambda folder: (write(folder, "a", FRAME.head(1).write_csv(), NAMED["CSV"]),
                                   write(folder, "b", FRAME.tail(2).write_csv(), NAMED["TSV"]), folder)[2],
    "ndjson": as_file(FRAME.write_ndjson, "t.ndjson"),
    "pattern": in_two,
    "folder": lambda folder: (in_two(folder), folder)[1],
    "list of paths": lambda folder: (in_two(folder), [folder / "a.csv", str(folder / "b.csv")])[1],
}  # fmt: skip


@pytest.mark.parametrize("kind", SOURCES)
def test_sources(kind: str, tmp_path: Path) -> None:
    table = open_tables({"layouts": SOURCES[kind](tmp_path)})["layouts"]
    assert table.collect().select(list(COLUMNS)).to_dict(as_series=False) == COLUMNS
    assert table.height() == 3


@pytest.mark.parametrize("column", ["items", "item_id"])
@pytest.mark.parametrize("kind", ["frame", "parquet", "ndjson"])
def test_lists(kind: str, column: str, tmp_path: Path) -> None:
    """One line per carousel; an empty place in the list is a hole."""
    lists = pl.DataFrame({"user_id": [1, 1, 1], "row": [1, 2, 3], column: [["a", None, "b"], ["c"], []]})
    source: Any = lists
    if kind != "frame":
        source = tmp_path / f"t.{kind}"
        (lists.write_parquet if kind == "parquet" else lists.write_ndjson)(source)
    cells = open_tables({"layouts": source})["layouts"].collect()
    assert cells.select("row", "col", "item_id").rows() == [(1, 1, "a"), (1, 3, "b"), (2, 1, "c")]


def test_other_names() -> None:
    theirs = {"customer": [1], "position": [2], "slot": [3], "title": [4]}
    names = {"user_id": "customer", "layouts": {"row": "position", "col": "slot", "item_id": "title"}}
    assert open_tables({"layouts": theirs}, names)["layouts"].collect().row(0) == (1, 2, 3, 4)


def test_swapped_names() -> None:
    """A column may go by another's name."""
    theirs = {"user_id": [1], "row": [3], "col": [2], "item_id": [4]}
    read = open_tables({"layouts": theirs}, {"row": "col", "col": "row"})["layouts"].collect()
    assert (read["row"][0], read["col"][0]) == (2, 3)


@pytest.mark.parametrize(
    ("names", "message"),
    [({"user": "x"}, "no column 'user'. Did you mean 'user_id'"), ({"layout": {"row": "x"}}, "no table 'layout'")],
)
def test_wrong_names(names: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        open_tables({"layouts": COLUMNS}, names)


def test_missing_columns_are_named_together() -> None:
    with pytest.raises(DataError, match=r"layouts: missing columns row, col; it has user_id, item_id, pos"):
        open_tables({"layouts": {"user_id": [1], "item_id": [1], "pos": [2]}})


def test_swapped_tables() -> None:
    judgments = {"user_id": [1], "item_id": [1], "relevance": [2]}
    with pytest.raises(DataError, match=r"layouts: missing columns row, col; .* Are layouts and judgments swapped\?"):
        open_tables({"layouts": judgments})
    with pytest.raises(DataError, match=r"judgments: missing column relevance; .* Are layouts and judgments swapped\?"):
        open_tables({"judgments": COLUMNS})


def with_value(column: str, value: Any) -> dict[str, Any]:
    return {**COLUMNS, column: [*COLUMNS[column][:2], value]}


@pytest.mark.parametrize(
    ("column", "value", "found"),
    [
        ("user_id", None, "nothing"),
        ("item_id", None, "nothing"),
        ("category", None, "nothing"),
        ("row", None, "nothing"),
        ("row", 0, "0"),
        ("row", -3, "-3"),
        ("col", 0, "0"),
        ("col", 1.5, "1.5"),
        ("col", float("nan"), "nan"),
        ("col", 1e300, "1e[+]300"),
        ("row", "x", "'x'"),
    ],
)
def test_bad_cells_of_layouts(column: str, value: Any, found: str) -> None:
    source = (
        pl.DataFrame(with_value(column, value), strict=False) if value != "x" else {**COLUMNS, "row": ["1", "1", "x"]}
    )
    with pytest.raises(DataError, match=rf"layouts: column {column}, line 3: found {found}"):
        open_tables({"layouts": source})["layouts"].collect()


@pytest.mark.parametrize("value", [None, -1.0, float("nan"), float("inf"), "much"])
def test_bad_relevance(value: Any) -> None:
    source = {"user_id": [1, 1], "item_id": [1, 2], "relevance": ["1", value] if value == "much" else [1.0, value]}
    with pytest.raises(DataError, match="judgments: column relevance, line 2: found"):
        open_tables({"judgments": source})["judgments"].collect()


@of_text
def test_the_line_of_a_file(kind: FileKind, tmp_path: Path) -> None:
    """Lines count as an editor counts them, also after text that runs over several; the file is named among many."""
    write(tmp_path, "a", 'user_id,item_id,relevance\n"u\n,1",a,1\n\nu2,b,1\n', kind)
    second = write(tmp_path, "b", "user_id,item_id,relevance\nu3,c,1\nu4,d,-1\nu5,e,-1\n", kind)
    with pytest.raises(DataError, match=rf"line 3 of {second}: found '-1' \(2 such lines\)"):
        open_tables({"judgments": tmp_path})["judgments"].collect()
    first = write(tmp_path, "a", 'user_id,item_id,relevance\n"u\n,1",a,1\n\nu2,b,x\n', kind)
    with pytest.raises(DataError, match=r"judgments: column relevance, line 5: found 'x'"):
        open_tables({"judgments": first})["judgments"].collect()


@of_text
def test_short_and_long_lines(kind: FileKind, tmp_path: Path) -> None:
    path = write(tmp_path, "t", "user_id,item_id,relevance\nu1,a,1\nu1,b\n", kind)
    with pytest.raises(DataError, match="column relevance, line 3: found nothing"):
        open_tables({"judgments": path})["judgments"].collect()
    path = write(tmp_path, "t", "user_id,item_id,relevance\nu1,a,1\nu1,b,1,2\n", kind)
    with pytest.raises(
        DataError, match=f"cannot be parsed as {kind.name}: line 3 has 4 fields, but the header has 3. Quote"
    ):
        open_tables({"judgments": path})["judgments"].collect()


@of_text
def test_quotes_and_blank_lines(kind: FileKind, tmp_path: Path) -> None:
    """Fields in quotes hold separators, line ends and quotes; lines without a value are no records."""
    lines = 'user_id,item_id,relevance\n\n"u,1","a ""b""",1\n,,\n"u\n2",c,2\n\n'
    table = open_tables({"judgments": write(tmp_path, "t", lines, kind)})["judgments"]
    assert table.collect().rows() == [(f"u{kind.separator}1", 'a "b"', 1.0), ("u\n2", "c", 2.0)]
    assert table.height() == 2


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.csv", b"", "is empty"),
        (
            "t.txt",
            b"hello",
            r"unknown file type\. Tables are \.parquet, \.csv, \.tsv or \.ndjson files; "
            r"\.csv, \.tsv and \.ndjson may be compressed \(\.gz, \.zst\)\.",
        ),
        ("t.parquet.gz", b"hello", "unknown file type"),
        ("t.tsv", b"user_id\titem_id\trelevance\n1\t\xe9\t3\n", "cannot be parsed as TSV: it is not in UTF-8"),
        (
            "t.tsv",
            b'user_id\titem_id\trelevance\n1\t"2\t3\n',
            "cannot be parsed as TSV: line 2: unexpected end of",
        ),
        ("t.parquet", b"PAR1 nothing more", "cannot be parsed as Parquet"),
        ("t.ndjson", b'{"user_id": 1', "cannot be parsed as NDJSON"),
        ("t.csv", b"user_id;item_id;relevance\n1;2;3\n", "missing columns"),
        ("t.csv", b"user_id\titem_id\trelevance\n1\t2\t3\n", "separated by tabs; separate them by commas"),
        ("t.tsv", b"user_id,item_id,relevance\n1,2,3\n", "separated by commas; separate them by tabs"),
        ("t.tsv", b"user_id;item_id;relevance\n1;2;3\n", "separated by semicolons; separate them by tabs"),
    ],
)
def test_unreadable_files(name: str, content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=rf"judgments: .*{message}"):
        open_tables({"judgments": tmp_path / name})["judgments"].collect()


def test_files_that_are_not_there(tmp_path: Path) -> None:
    for path, message in ((tmp_path / "no.csv", "No such file"), (tmp_path / "*.csv", "no file matches this pattern")):
        with pytest.raises(DataError, match=f"layouts: .*{message}"):
            open_tables({"layouts": path})
    with pytest.raises(DataError, match="the folder has no tables"):
        open_tables({"layouts": tmp_path})


@pytest.mark.parametrize("source", [7, [1, 2], object()])
def test_no_table_at_all(source: Any) -> None:
    with pytest.raises(ParameterError, match="layouts must be a table"):
        open_tables({"layouts": source})


@pytest.mark.parametrize("values", [[1.5, 2.0, 3.0], [True, False, True], [[1], [2], [3]]])
def test_ids_are_integers_or_text(values: list[Any]) -> None:
    with pytest.raises(DataError, match=r"column user_id holds .* expected integers or text"):
        open_tables({"layouts": {**COLUMNS, "user_id": values}})


def test_the_classic_silent_zero() -> None:
    judgments = {"user_id": ["u1"], "item_id": [7], "relevance": [1]}
    with pytest.raises(DataError, match="judgments: column item_id holds integers, but in layouts it holds text"):
        open_tables({"layouts": COLUMNS, "judgments": judgments})


@of_text
def test_text_files_take_the_type_of_the_others(kind: FileKind, tmp_path: Path) -> None:
    path = write(tmp_path, "j", "user_id,item_id,relevance\n7,1,1\n", kind)
    typed = {"user_id": [7], "row": [1], "col": [1], "item_id": ["1"]}
    tables = open_tables({"layouts": typed, "judgments": path})
    assert tables["judgments"].collect().row(0) == (7, "1", 1.0)
    write(tmp_path, "j", "user_id,item_id,relevance\nseven,1,1\n", kind)
    with pytest.raises(DataError, match="judgments: column user_id, line 2: found 'seven'"):
        open_tables({"layouts": typed, "judgments": path})["judgments"].collect()


def test_items_of_everyone_and_of_somebody() -> None:
    items = {"item_id": [1, 2], "category": ["a", "b"], "user_id": [None, 7]}
    assert open_table(items, "items", ITEMS).collect()["user_id"].to_list() == [None, 7]


@pytest.mark.parametrize("written", [[True, False], [1, 0], ["true", "no"], ["1", "FALSE"]])
def test_flags(written: list[Any]) -> None:
    source = {"user_id": [1, 1], "row": [1, 2], "col": [1, 1], "item_id": [1, 2], "pinned": written}
    assert open_table(source, "layouts", LAYOUTS).collect()["pinned"].to_list() == [True, False]


def test_a_flag_that_is_none() -> None:
    source = {"user_id": [1], "row": [1], "col": [1], "item_id": [1], "pinned": ["maybe"]}
    with pytest.raises(DataError, match="column pinned, line 1: found 'maybe'"):
        open_table(source, "layouts", LAYOUTS).collect()


def test_relevance_of_any_number() -> None:
    for values in ([1, 0], [0.5, 2.25], [True, False], np.array([1, 2], np.uint8)):
        source = {"user_id": [1, 1], "item_id": [1, 2], "relevance": values}
        assert open_table(source, "judgments", JUDGMENTS).collect()["relevance"].to_list() == [float(v) for v in values]


# --- what logs need ---

KIND = pl.col("kind").eq_missing(pl.lit("click"))
LOG = [
    Column("user", "text", pattern=r"^u\d+$", remedy="Users are u1, u2 and so on."),
    Column("kind", "text", nullable=True),
    Column("time", "time", remedy="A time is a number, or a date and time."),
    Column("place", "integer", minimum=1, maximum=9, where=KIND, remedy="A click has a place from 1 to 9."),
]
LINES: dict[str, list[Any]] = {
    "user": ["u1", " u2 ", "u3"],
    "kind": ["click", None, " "],
    "time": ["1.5", "2026-01-31T12:00:00.250Z", "2026-01-31 12:00"],
    "place": [3, 99, None],
}


def test_texts_times_and_columns_that_matter_on_some_lines() -> None:
    table = open_table(LINES, "log", LOG)
    clicks, users = table.collect_all(
        lambda lines: lines.filter(KIND).select("place"), lambda lines: lines.select(RECORD, "user", "kind", "time")
    )
    assert clicks["place"].to_list() == [3]
    users = users.sort(RECORD)
    assert users["user"].to_list() == ["u1", "u2", "u3"]
    assert users["kind"].to_list() == ["click", None, None]
    assert users["time"].to_list() == [1.5, 1769860800.25, 1769860800.0]
    assert table.defects() == []


@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        ("user", ["u1", "you", "ux"], r"line 2: found 'you' \(2 such lines\)\. Users are u1, u2 and so on\."),
        ("user", ["u1", " ", "u3"], r"line 2: found ' '\."),
        ("time", ["1", "2", "noon"], r"line 3: found 'noon'\. A time is a number, or a date and time\."),
        ("time", ["1", None, "3"], r"line 2: found nothing\."),
        ("place", [10, 99, None], r"line 1: found 10\. A click has a place from 1 to 9\."),
    ],
)
def test_bad_lines_of_logs(column: str, values: list[Any], message: str) -> None:
    table = open_table({**LINES, column: values}, "log", LOG)
    with pytest.raises(DataError, match=f"log: column {column}, {message}"):
        table.collect_all(lambda lines: lines)
    with pytest.raises(DataError, match=f"log: column {column}, {message}"):
        table.collect()


def test_times_of_other_types() -> None:
    times = pl.Series("time", ["2026-01-31T12:00:00.250"]).str.to_datetime()
    for series in (times, times.dt.replace_time_zone("Europe/Bratislava").dt.convert_time_zone("UTC")):
        assert open_table({"time": series}, "log", [Column("time", "time")]).collect()["time"][0] % 1 == 0.25
    for series in (times.dt.date(), pl.Series("time", [True])):
        with pytest.raises(DataError, match=r"column time holds .* expected numbers, or dates and times"):
            open_table({"time": series}, "log", [Column("time", "time")])


@of_text
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_full_lines(end: str, kind: FileKind, tmp_path: Path) -> None:
    """Where most columns are empty, that a line was cut off shows in none."""
    lines, columns = end.join(["a,b,c", "1,,", "", '2,"x, y","two', 'lines"', "3,,", ""]), [Column("a", "integer")]
    path = write(tmp_path, "t", lines, kind)
    assert open_table(path, None, columns, full_lines=True).collect()["a"].to_list() == [1, 2, 3]
    for line, message in (
        ("4,", "cut off: it has 2 fields, the header has 3"),
        (",", "cut off"),
        ("4,,,", "too long: it has 4 fields, the header has 3"),
    ):
        short = write(tmp_path, "short", f"{lines}{line}{end}", kind)
        with pytest.raises(DataError, match=rf"^{short}: line 7 is {message}.*\. Is the file complete"):
            open_table(short, None, columns, full_lines=True)
    open_table(short, None, columns)


def test_tables_without_a_name_go_by_their_path(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=rf"^{tmp_path}/no\.csv: No such file or directory\.$"):
        open_table(tmp_path / "no.csv", None, [])
    with pytest.raises(DataError, match=r"^table: missing column a; it has b\. Call it a\.$"):
        open_table({"b": [1]}, None, [Column("a", "id")], hint="Call it a.")


@of_text
def test_a_header_that_names_a_column_twice(kind: FileKind, tmp_path: Path) -> None:
    path = write(tmp_path, "t", "a,b,a,b\n1,2,3,4\n", kind)
    with pytest.raises(DataError, match=r"the header names a twice\. Remove or rename one\."):
        open_table(path, "t", [Column("a", "id")])
