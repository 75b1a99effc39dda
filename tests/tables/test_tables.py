"""Tables in: every kind of source reads the same, every defect is named with its line."""

import copy
import datetime
import gzip
import json
import socket
import uuid
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
from carouseval.tables.kinds import KINDS
from carouseval.tables.kinds.contract import FileKind
from carouseval.tables.opening import open_table
from carouseval.tables.table import RECORD, Column, Table


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
    "json": as_file(FRAME.write_json, "t.json"),
    "json of columns": as_file(lambda path: path.write_text(json.dumps(COLUMNS, indent=1)), "t.json"),
    "json as pandas writes it": as_file(pd.DataFrame(COLUMNS).to_json, "t.json"),
    "json with a record per line": as_file(FRAME.write_ndjson, "t.json"),
    "json with BOM": as_file(lambda path: path.write_text(json.dumps(COLUMNS), encoding="utf-8-sig"), "t.JSON"),
    "json.gz": as_file(lambda path: path.write_bytes(gzip.compress(json.dumps(COLUMNS).encode())), "t.json.gz"),
    "json in a name like a pattern": as_file(FRAME.write_json, "t[1]*.json"),
    "arrow": as_file(FRAME.write_ipc, "t.arrow"),
    "arrow with zstd": as_file(lambda path: FRAME.write_ipc(path, compression="zstd"), "t.ipc"),
    "arrow stream": as_file(FRAME.write_ipc_stream, "t.arrow"),
    "arrow by its first bytes": as_file(FRAME.write_ipc, "t.data"),
    "feather of pandas": as_file(pd.DataFrame(COLUMNS).to_feather, "t.feather"),
    "all kinds in a folder": lambda folder: (FRAME.head(1).write_json(folder / "a.json"),
                                             FRAME[1:2].write_ipc(folder / "b.arrow"),
                                             FRAME.tail(1).write_parquet(folder / "c.parquet"), folder)[3],
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
            r"unknown file type\. Tables are \.parquet, \.csv, \.tsv, \.ndjson, \.json or \.arrow files; "
            r"\.csv, \.tsv, \.ndjson and \.json may be compressed \(\.gz, \.zst\)\.",
        ),
        ("t.parquet.gz", b"hello", "unknown file type"),
        ("t.tsv", b"user_id\titem_id\trelevance\n1\t\xe9\t3\n", "cannot be parsed as TSV: it is not in UTF-8"),
        (
            "t.tsv",
            b'user_id\titem_id\trelevance\n1\t"2\t3\n',
            "cannot be parsed as TSV: line 2: unexpected end of",
        ),
        ("t.parquet", b"PAR1 nothing more", "cannot be parsed as Parquet"),
        ("t.arrow", b"ARROW1 nothing more", "cannot be parsed as Arrow: .* Is the file damaged"),
        ("t.arrow", b"\xff\xff\xff\xff nothing more", "cannot be parsed as Arrow: .* Is the file damaged"),
        ("t.feather", b"user_id,item_id", "cannot be parsed as Arrow: it starts with b'user_id,item_id'"),
        (
            "t.json",
            b'[{"user_id": 1,\n"item',
            "as JSON: Unterminated string .* at line 2, character 1",
        ),
        ("t.json", b"[1, 2]", r"record 1 is 1\. Write a list of objects: \[{...}, {...}\]"),
        ("t.json", b'[{"user_id": 1}, "x"]', 'record 2 is "x"'),
        ("t.json", b"7", "record 1 is 7"),
        ("t.json", b'{"user_id": [1], "item_id": [1, 2]}', "column user_id has 1 values, but item_id has 2"),
        ("t.json", b'[{"relevance": NaN}]', "NaN is not a value of JSON; write null"),
        ("t.json", b'{"user_id": 1}\n{"user_id"', "line 2 is not JSON"),
        ("t.json", b"[]", "missing columns user_id, item_id; it has no columns"),
        ("t.json", b"[" * 5000, "cannot be parsed as JSON"),
        ("t.json", '[{"user_id": "\xe9"}]'.encode("latin-1"), "it is not in UTF-8"),
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


@pytest.mark.parametrize("content", [bytes(range(128, 256)) * 40, b"x" * 5000 + b",y\n1,2\n"])
def test_a_header_that_nobody_can_read_is_not_quoted_whole(content: bytes, tmp_path: Path) -> None:
    """A file that is no table would fill the screen, and hide what to do."""
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(DataError, match=r"judgments: missing columns user_id, item_id; it has ") as caught:
        open_tables({"judgments": tmp_path / "t.csv"})["judgments"].collect()
    assert len(str(caught.value)) < 400
    assert "..." in str(caught.value)


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


# --- nested pages ---

PAGES: list[dict[str, Any]] = [
    {
        "user_id": "u1",
        "page_id": "home",
        "device": "tv",
        "rows": [
            {"title": "Top 10", "items": ["a", "b"], "pinned": True},
            {"title": "New", "items": ["c", None, "d"]},
        ],
    },
    {"user_id": "u2", "page_id": "home", "device": "web", "rows": [{"title": "New", "items": ["c"]}]},
]
CELLS = [
    ("u1", "home", "tv", 1, 1, "a", "Top 10", True),
    ("u1", "home", "tv", 1, 2, "b", "Top 10", True),
    ("u1", "home", "tv", 2, 1, "c", "New", False),
    ("u1", "home", "tv", 2, 3, "d", "New", False),
    ("u2", "home", "web", 1, 1, "c", "New", False),
]


def changed(change: Callable[[list[dict[str, Any]]], Any]) -> list[dict[str, Any]]:
    """The pages after a change."""
    pages = copy.deepcopy(PAGES)
    change(pages)
    return pages


def with_objects(pages: list[dict[str, Any]]) -> None:
    for row in (row for page in pages for row in page["rows"]):
        row["items"] = [item and {"item_id": item, "poster": "x.jpg"} for item in row["items"]]


def without_an_id(pages: list[dict[str, Any]]) -> None:
    with_objects(pages)
    pages[1]["rows"][0]["items"][0].pop("item_id")


def with_name(name: str) -> Callable[[list[dict[str, Any]]], None]:
    def change(pages: list[dict[str, Any]]) -> None:
        for row in (row for page in pages for row in page["rows"]):
            row[name] = row.pop("title")

    return change


def as_lines(pages: list[dict[str, Any]]) -> str:
    return "\n".join(map(json.dumps, pages))


NESTED: dict[str, Callable[[Path], Any]] = {
    "json": as_file(lambda path: path.write_text(json.dumps(PAGES)), "p.json"),
    "indented json": as_file(lambda path: path.write_text(json.dumps(PAGES, indent=2)), "p.json"),
    "ndjson": as_file(lambda path: path.write_text(as_lines(PAGES)), "p.ndjson"),
    "json of lines": as_file(lambda path: path.write_text(as_lines(PAGES)), "p.json"),
    "a file per page": lambda folder: [
        as_file(lambda path, page=page: path.write_text(json.dumps(page)), f"{at}.json")(folder)  # type: ignore[misc]
        for at, page in enumerate(PAGES)
    ],
    "items as objects": as_file(lambda path: path.write_text(json.dumps(changed(with_objects))), "p.json"),
    "category": as_file(lambda path: path.write_text(json.dumps(changed(with_name("category")))), "p.json"),
    "name": as_file(lambda path: path.write_text(json.dumps(changed(with_name("name")))), "p.json"),
    "parquet": as_file(lambda path: pl.DataFrame(PAGES).write_parquet(path), "p.parquet"),
    "polars": lambda _: pl.DataFrame(PAGES),
    "pandas": lambda _: pd.DataFrame(PAGES),
}


@pytest.mark.parametrize("kind", NESTED)
def test_nested_pages(kind: str, tmp_path: Path) -> None:
    """Rows and columns count by position, a null is a hole, and a row is pinned only where it says so."""
    tables = schema.open_tables({"layouts": NESTED[kind](tmp_path)}, Settings(by="device"))
    cells = tables["layouts"].collect()
    columns = ["user_id", "page_id", "device", "row", "col", "item_id", "category", "pinned"]
    assert cells.select(columns).rows() == CELLS
    assert tables["layouts"].height() == len(CELLS)


def test_nested_pages_under_other_names() -> None:
    """What a page has beside its rows stays with the page; a row's own number counts, if it has one."""
    shelves = [{"label": "New", "title": "x", "row": 2, "items": [{"id": 7}, {"id": 8}]}]
    pages = pl.DataFrame({"customer": [1], "title": ["Home"], "shelves": [shelves]})
    names = {"user_id": "customer", "rows": "shelves", "category": "label", "item_id": "id"}
    cells = open_tables({"layouts": pages}, names)["layouts"].collect()
    assert cells.select("user_id", "row", "col", "item_id", "category").rows() == [
        (1, 2, 1, 7, "New"),
        (1, 2, 2, 8, "New"),
    ]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda pages: pages[1]["rows"][0].pop("items"), "2, row 1: there is no list of items. Write a row as"),
        (lambda pages: pages[1]["rows"].append(None), "2, row 2: there is no list of items"),
        (lambda pages: pages[1].pop("rows"), "2: there is no list of rows. Write"),
        (lambda pages: pages[1]["rows"].append("x"), 'row 2 is "x". Write it as|column rows holds List'),
        (lambda pages: pages[1]["rows"].append(["x"]), r'row 2 is \["x"\]. Write it as'),
        (lambda pages: pages[1]["rows"][0].update(items={"item_id": "c"}), "2, row 1: there is no list of items"),
        (lambda pages: pages[1]["rows"][0].update(items=[{"item_id": "c"}]), "2, row 1: some items are ids, others"),
        (lambda pages: pages[1]["rows"][0].update(items=["c", {"item_id": "d"}]), "2, row 1: some items are ids"),
        (lambda pages: pages[1]["rows"][0].pop("title"), "column title, .* 2, row 1: found nothing. Every line needs"),
        (lambda pages: pages[0]["rows"][1].update(pinned="maybe"), "column pinned, .* 1, row 2: found 'maybe'"),
        (lambda pages: pages[0]["rows"][1]["items"].append(""), r"1, row 2: found \['c', None, 'd', ''\]"),
        (lambda pages: pages[0].pop("user_id"), "column user_id, .* 1, row 1: found nothing"),
        (lambda pages: [page.update(rows={"new": 1}) for page in pages], "column rows holds Struct.* Write a list of"),
        (lambda pages: [page.update(rows=["a"]) for page in pages], r"column rows holds List\(String\). Write a list"),
        (without_an_id, "2, row 1: an item has no item_id. Every item needs an id"),
        (lambda pages: [row.update(items=[{"id": 1}]) for page in pages for row in page["rows"]],
         r"objects without item_id; they have id. .* columns={'item_id': 'id'}"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("kind", ["json", "ndjson"])
def test_wrong_nesting_is_named_with_its_page_and_row(change: Any, message: str, kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"p.{kind}"
    pages = changed(change)
    path.write_text(json.dumps(pages) if kind == "json" else as_lines(pages))
    with pytest.raises(DataError, match=f"^layouts: .*{message}"):
        open_tables({"layouts": path})["layouts"].collect()


@pytest.mark.parametrize("kind", ["json", "ndjson"])
def test_an_id_in_braces_is_not_an_object(kind: str, tmp_path: Path) -> None:
    path, page = tmp_path / f"p.{kind}", {"user_id": "u", "rows": [{"title": "new", "items": ["{3F25-04E0}", "b"]}]}
    path.write_text(json.dumps([page]) if kind == "json" else as_lines([page]))
    assert open_tables({"layouts": path})["layouts"].collect()["item_id"].to_list() == ["{3F25-04E0}", "b"]


@pytest.mark.parametrize("kind", ["json", "ndjson", "arrow"])
def test_files_that_are_cut_off(kind: str, tmp_path: Path) -> None:
    """Wherever a file ends, it is read, where the rest is complete, or refused; nothing else is ever raised."""
    whole, path = tmp_path / "whole", tmp_path / f"t.{kind}"
    if kind == "arrow":
        FRAME.write_ipc(whole)
    else:
        whole.write_text(json.dumps(PAGES) if kind == "json" else as_lines(PAGES))
    content = whole.read_bytes()
    refused = 0
    for end in range(1, len(content), len(content) // 60):
        path.write_bytes(content[:end])
        try:
            open_tables({"layouts": path})["layouts"].collect()
        except DataError as error:
            assert str(error).startswith("layouts: ")  # noqa: PT017
            refused += 1
    assert refused >= 55


# --- ids ---

UUIDS = [uuid.UUID(int=7), uuid.UUID("6f1c5a2e-8d7b-4c0e-9f3a-0123456789AB"), uuid.UUID(bytes=b"\xc3\xa9" * 8)]
UUID_TEXTS = [str(one) for one in UUIDS]


def ids_of(values: Any) -> list[Any]:
    source = {"user_id": values, "item_id": ["a"] * len(values), "relevance": [1] * len(values)}
    table = pd.DataFrame(source) if isinstance(values, pd.Series) else source
    return open_tables({"judgments": table})["judgments"].collect()["user_id"].to_list()


def test_uuids_are_read_as_text() -> None:
    in_bytes = [one.bytes for one in UUIDS]
    arrow = pa.array(in_bytes, pa.binary(16))
    for values in (UUIDS, in_bytes, pl.Series(in_bytes), pl.Series(arrow), pd.Series(UUIDS), UUID_TEXTS):
        assert ids_of(values) == UUID_TEXTS
    assert ids_of([b"user 1", "Com\xe9die".encode(), b"sixteen letters!"]) == [
        "user 1",
        "Com\xe9die",
        "sixteen letters!",
    ]
    with pytest.raises(DataError, match=r"column user_id, line 2: found b'\\xff'"):
        ids_of([b"a", b"\xff"])
    with pytest.raises(DataError, match="column user_id, line 2: found <object object at"):
        ids_of([uuid.UUID(int=7), object()])


def test_dates_and_times_are_read_as_text() -> None:
    noon = datetime.datetime(2026, 1, 31, 12, 0, 0, 250_000)
    for unit in ("ms", "us", "ns"):
        assert ids_of(pl.Series([noon]).cast(pl.Datetime(unit))) == ["2026-01-31T12:00:00.250"]
    assert ids_of([noon.replace(microsecond=0)]) == ["2026-01-31T12:00:00"]
    for zone in ("UTC", "Europe/Bratislava"):
        aware = pl.Series([noon]).dt.replace_time_zone("UTC").dt.convert_time_zone(zone)
        assert ids_of(aware) == ["2026-01-31T12:00:00.250Z"]
    assert ids_of([noon.date()]) == ["2026-01-31"]


# --- headers ---


@pytest.mark.parametrize(
    ("theirs", "message"),
    [
        ({"user_id": "User_ID"}, r"missing column user_id \(found 'User_ID'\); .* Rename it, or use "
         r"columns={'user_id': 'User_ID'}\.$"),
        ({"user_id": "userId", "item_id": "Item ID"}, r"missing columns user_id \(found 'userId'\), item_id \(found "
         r"'Item ID'\); .* Rename them, or use columns={'user_id': 'userId', 'item_id': 'Item ID'}\.$"),
        ({"user_id": "User_ID", "category": "Category"}, r"missing column user_id \(found 'User_ID'\); .* Rename them, "
         r"or use columns={'user_id': 'User_ID', 'category': 'Category'}\.$"),
        ({"category": "Category"}, r"found a column 'Category', but ours is category\. Rename it, or use columns="),
    ],
)  # fmt: skip
def test_headers_in_other_case(theirs: dict[str, str], message: str) -> None:
    with pytest.raises(DataError, match=f"layouts: {message}"):
        open_tables({"layouts": FRAME.rename(theirs)})
    assert open_tables({"layouts": FRAME.rename(theirs)}, theirs)["layouts"].collect().height == 3


def test_a_column_beside_one_in_other_case_is_left_alone() -> None:
    assert open_tables({"layouts": FRAME.with_columns(Category=1)})["layouts"].collect().height == 3


# --- lists of categories ---


@pytest.mark.parametrize(
    "source",
    [
        pl.DataFrame({"item_id": [1, 2, 3], "category": [["a", "b"], ["c"], []]}),
        pd.DataFrame({"item_id": [1, 2, 3], "category": [["a", "b"], ["c"], []]}),
        pa.table({"item_id": [1, 2, 3], "category": [["a", "b"], ["c"], []]}),
    ],
    ids=["polars", "pandas", "pyarrow"],
)
def test_a_list_of_categories_is_a_line_for_each(source: Any) -> None:
    assert open_tables({"items": source})["items"].collect().rows() == [(1, "a"), (1, "b"), (2, "c")]


def test_a_column_of_nulls_in_pandas_has_no_type() -> None:
    """pandas hands it over as text, which integers in other tables must not be compared with."""
    carousels = pd.DataFrame({"category": ["a", "b"], "user_id": pd.Series([None, None], dtype=object)})
    tables = open_tables({"carousels": carousels, "judgments": {"user_id": [1], "item_id": [2]}})
    assert tables["carousels"].collect()["user_id"].to_list() == [None, None]


def test_lists_of_items_and_of_categories_together() -> None:
    items = {"item_id": [[1, 2], [3]], "category": [["a", "b"], ["c"]]}
    assert sorted(open_tables({"items": items})["items"].collect().rows()) == [
        *((1, "a"), (1, "b"), (2, "a"), (2, "b"), (3, "c"))
    ]
    with pytest.raises(DataError, match="items: line 1: an item has no item_id"):
        open_tables({"items": {"item_id": [[{"item_id": 1}, {"item_id": None}]], "category": ["a"]}})


def test_a_list_of_categories_with_nothing_in_it() -> None:
    for categories in (["a", None], None):
        with pytest.raises(DataError, match=r"items: column category, line 2: found .* Every line needs a category"):
            open_tables({"items": {"item_id": [1, 2], "category": [["b"], categories]}})["items"].collect()


def test_split() -> None:
    items = {"item_id": [1, 2, 3], "category": ["Action | Comedy|", "Drama", "|"]}
    table = schema.open_tables({"items": items}, Settings(split="|"))["items"]
    assert table.collect().select("item_id", "category").rows() == [(1, "Action"), (1, "Comedy"), (2, "Drama")]
    with pytest.raises(DataError, match=r"items: column category holds Int64, which split='\|' cannot split"):
        schema.open_tables({"items": {"item_id": [1], "category": [1]}}, Settings(split="|"))
    with pytest.raises(ParameterError, match="split must be a separator"):
        Settings(split="")


# --- cloud storage ---


def test_cloud_paths_are_handed_to_polars_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, Any]] = []

    def scan(source: str, *, storage_options: Any) -> pl.LazyFrame:
        asked.append((source, storage_options))
        return FRAME.lazy()

    monkeypatch.setattr(pl, "scan_parquet", scan)
    for path in ("s3://bucket/day=*/t.parquet", Path("s3://bucket/day=*/t.parquet")):
        table = open_tables({"layouts": path})["layouts"]
        assert table.collect().height == 3
    assert {source for source, _ in asked} == {"s3://bucket/day=*/t.parquet"}
    assert asked[0][1]["max_retries"] == 1  # to see whether it is there
    assert asked[-1][1] is None  # to read it
    assert table.where(0) == "record 1"


@pytest.mark.parametrize("extension", ["parquet", "csv", "ndjson", "arrow"])
def test_cloud_storage_that_does_not_answer(extension: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as closed:  # a port of this machine that nothing listens on
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    for name, value in (
        ("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}"),
        ("AWS_ALLOW_HTTP", "true"),
        ("AWS_ACCESS_KEY_ID", "key"),
        ("AWS_SECRET_ACCESS_KEY", "secret"),
        ("AWS_REGION", "nowhere-1"),
    ):
        monkeypatch.setenv(name, value)
    path = f"s3://bucket/layouts.{extension}"
    with pytest.raises(
        DataError, match=rf"^layouts: {path} cannot be read: .*\. Set AWS_ACCESS_KEY_ID, .* the network"
    ):
        open_tables({"layouts": path})


@pytest.mark.parametrize(
    ("scheme", "variables"),
    [
        ("gs", "Set GOOGLE_APPLICATION_CREDENTIALS; check"),
        ("az", "Set AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY; check"),
        ("abfss", "Set AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY; check"),
        ("hf", "Set HF_TOKEN; check"),
        ("https", "Check"),
    ],
)
def test_credentials_by_provider(scheme: str, variables: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def scan(source: str, **_: Any) -> pl.LazyFrame:
        raise RuntimeError("no credentials.\nMore of it")  # as a provider's own library may

    monkeypatch.setattr(pl, "scan_parquet", scan)
    message = (
        rf"^layouts: {scheme}://b/t\.parquet cannot be read: no credentials\. {variables} the path and the network\.$"
    )
    with pytest.raises(DataError, match=message.replace(" the path", ".* the path")):
        open_tables({"layouts": f"{scheme}://b/t.parquet"})


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("s3://b/layouts/", r"unknown file type\. .* If it is a folder, write s3://b/layouts/\*\.parquet\."),
        ("s3://b/t.json", "JSON can only be read from local files"),
    ],
)
def test_cloud_paths_that_cannot_be_read(path: str, message: str) -> None:
    with pytest.raises(DataError, match=f"layouts: {path}: {message}"):
        open_tables({"layouts": path})


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
