"""Files that are damaged, cut off or changed: nothing is read in part, and every error names the file."""

import gzip
import json
import random
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

import carouseval as cv
from carouseval import _native
from carouseval.errors import DataError
from carouseval.evaluation.schema import LAYOUTS
from carouseval.tables.files import ReadErrors
from carouseval.tables.kinds.parquet import check_parquet
from carouseval.tables.opening import open_table
from carouseval.tables.table import Column
from tests.fuzz.files import JUDGMENTS, LAYOUT, formats, zstd

FRAME = pl.DataFrame(LAYOUT)
FORMATS = formats()


def read(source: Any) -> pl.DataFrame:
    return open_table(source, "layouts", LAYOUTS).collect()


def save(folder: Path, name: str, content: bytes) -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("name", FORMATS)
def test_undamaged_files_are_read(name: str, tmp_path: Path) -> None:
    path = save(tmp_path, f"layouts.{FORMATS[name].extension}", FORMATS[name].content)
    assert read(path).rows() == read(FORMATS[name].table).rows()


class _Panic(BaseException):
    """As libraries written in Rust raise it."""


_Panic.__name__ = "PanicException"


def test_batches_that_end_early_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "layouts.parquet"
    FRAME.write_parquet(path)
    monkeypatch.setattr(pl.LazyFrame, "collect_batches", lambda frame, **_: iter([frame.collect().head(20)]))
    message = rf"layouts: {path}: 20 of 60 lines could be read\. Is the file damaged\?"
    with pytest.raises(DataError, match=message):
        cv.evaluate(path, JUDGMENTS)
    (defect,) = cv.check(path).defects
    assert "20 of 60 lines could be read" in defect.message
    with pytest.raises(DataError, match="layouts: the table: 20 of 60 lines could be read"):
        read(FRAME)


def test_more_lines_than_counted_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As of a file that grows while it is read: there is no room for more lines than were counted."""
    path = tmp_path / "layouts.csv"
    FRAME.write_csv(path)
    whole = pl.LazyFrame.collect_batches

    def growing(frame: pl.LazyFrame, **options: Any) -> Any:
        yield from (pl.concat([batch] * 2) for batch in whole(frame, **options))

    monkeypatch.setattr(pl.LazyFrame, "collect_batches", growing)
    with pytest.raises(DataError, match=rf"layouts: {path}: 120 of 60 lines could be read\."):
        next(open_table(path, "layouts", LAYOUTS).batches())


def test_panics_become_errors_and_interrupts_do_not(tmp_path: Path) -> None:
    path = save(tmp_path, "layouts.csv", FORMATS["CSV"].content)
    file = open_table(path, "layouts", LAYOUTS).files[0]
    with pytest.raises(DataError, match=rf"{path} cannot be parsed as CSV: out of range\."), ReadErrors([file]):
        raise _Panic("out of range")
    for interrupt in (KeyboardInterrupt, SystemExit):
        with pytest.raises(interrupt), ReadErrors([file]):
            raise interrupt


@pytest.mark.parametrize(("error", "expected"), [(_Panic("lost"), DataError), (KeyboardInterrupt(), KeyboardInterrupt)])
def test_panics_of_other_libraries(error: BaseException, expected: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: Any) -> None:
        raise error

    monkeypatch.setattr(pl, "DataFrame", type("DataFrame", (), {"__init__": lambda *_: fail(None)}))
    with pytest.raises(expected):
        open_table(LAYOUT, "layouts", LAYOUTS)


def test_row_groups_must_hold_all_lines(tmp_path: Path) -> None:
    """One bit of a row group's number of lines is enough: readers then return fewer lines, without an error."""
    path = tmp_path / "t.parquet"
    pl.DataFrame({"user_id": [1] * 77}).write_parquet(path, statistics=False)
    content = path.read_bytes()
    footer = content[:-8].rindex(bytes([0x16, 77 << 1 & 0x7F | 0x80, 77 << 1 >> 7]))
    damaged = bytearray(content)
    damaged[footer + 1] ^= 2  # 76 lines
    path.write_bytes(damaged)
    with pytest.raises(DataError, match=r"it has \d+ lines, but its row groups have \d+\. Is the file damaged\?"):
        check_parquet(path)


def test_a_column_without_a_name_in_its_row_group(tmp_path: Path) -> None:
    """A list of names without any is one bit away from a list of one."""
    content = FORMATS["Parquet"].content
    path = save(tmp_path, "t.parquet", content.replace(b"\x19\x18\x07item_id", b"\x19\x08\x07item_id"))
    with pytest.raises(DataError, match=r"its metadata are inconsistent\. Is the file damaged\?"):
        check_parquet(path)


@pytest.mark.parametrize("values", [-20, 19])
def test_pages_must_have_as_many_values_as_their_column(values: int, tmp_path: Path) -> None:
    """Polars asks for memory for as many as a page says, and ends the process if there is not enough."""
    content = FORMATS["Parquet with checksums"].content
    count, other = (bytes([0x1C, 0x15, number << 1 ^ number >> 31, 0x15, 0]) for number in (20, values))
    assert content.count(count) == 15  # pages of 20 lines, as 5 columns in 3 row groups
    path = save(tmp_path, "layouts.parquet", content.replace(count, other, 1))
    with pytest.raises(DataError, match=r"layouts\.parquet .*its metadata are inconsistent\. Is the file damaged\?"):
        read(path)
    assert "its metadata are inconsistent" in cv.check(path).defects[0].message


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda content, body: content.replace(body, b"\0\0\1" + body[3:], 1), id="a longer body"),
        pytest.param(lambda content, body: content[:-8] + bytes(8) + content, id="another stream after it"),
        pytest.param(lambda content, body: content[:4] + bytes(4) + content[8:], id="no schema"),
        pytest.param(lambda content, body: content[: content.index(body)], id="cut off in the first record batch"),
        pytest.param(lambda content, body: content[:319], id="cut off in the schema"),
    ],
)
def test_streams_that_end_early(damage: Callable[[bytes, bytes], bytes], tmp_path: Path) -> None:
    content = FORMATS["Arrow stream"].content
    body = (904).to_bytes(8, "little")  # the length of the first record batch
    assert body in content
    path = save(tmp_path, "layouts.arrow", damage(content, body))
    with pytest.raises(DataError, match=r"layouts\.arrow .*its metadata are inconsistent\. Is the file damaged\?"):
        read(path)


def test_record_batches_that_the_footer_leaves_out(tmp_path: Path) -> None:
    content = FORMATS["Arrow"].content
    count, fewer = (number.to_bytes(4, "little") for number in (3, 2))
    footer = content.rindex(b"\xff\xff\xff\xff\0\0\0\0")  # after the end of the messages
    at = content.index(count, footer)
    path = save(tmp_path, "layouts.arrow", content[:at] + fewer + content[at + 4 :])
    assert len(pl.read_ipc(path.read_bytes())) == 40
    with pytest.raises(DataError, match=r"layouts\.arrow .*its metadata are inconsistent\. Is the file damaged\?"):
        read(path)


@pytest.mark.parametrize("extension", ["csv", "csv.gz", "csv.zst"])
@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda text: text[: text.rindex(b"drama")], r"line \d+: unexpected end of data"),
        (lambda text: text.replace(b'"u2"', b'"u"2"', 1), r"line \d+: ',' expected after '\"'"),
    ],
)
def test_quotes_out_of_place(damage: Callable[[bytes], bytes], message: str, extension: str, tmp_path: Path) -> None:
    compressions: dict[str, Callable[[bytes], bytes]] = {"csv": bytes, "csv.gz": gzip.compress, "csv.zst": zstd}
    compress = compressions[extension]
    path = save(tmp_path, f"layouts.{extension}", compress(damage(FORMATS["CSV with quotes"].content)))
    with pytest.raises(DataError, match=rf"layouts: {path} cannot be parsed as CSV: {message}\. Close the quotes, or"):
        read(path)


def test_a_quote_inside_text_is_text(tmp_path: Path) -> None:
    path = save(tmp_path, "layouts.csv", b'user_id,row,col,item_id,category\nu,1,1,a,55" and 65" screens\n')
    assert read(path)["category"].to_list() == ['55" and 65" screens']


@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_checksums_of_parquet_pages(version: Any, tmp_path: Path) -> None:
    path = tmp_path / "layouts.parquet"
    options: dict[str, Any] = {"write_page_checksum": True, "use_dictionary": False, "compression": "none"}
    pa.parquet.write_table(pa.table(LAYOUT), path, data_page_version=version, **options)
    assert read(path).rows() == read(LAYOUT).rows()
    path.write_bytes(path.read_bytes().replace(b"i21", b"i20", 1))
    message = rf"layouts: {path} cannot be parsed as Parquet: a checksum of column item_id does not match\. Is the file"
    with pytest.raises(DataError, match=message):
        cv.evaluate(path, JUDGMENTS)
    assert "a checksum of column item_id" in cv.check(path).defects[0].message
    assert open_table(path, "judgments", LAYOUTS[:1]).collect().height == 60  # of the columns in use


def test_row_groups_must_name_the_columns_of_the_schema(tmp_path: Path) -> None:
    """Polars does not look at the names; a checksum in a column of another name would not be looked at."""
    path = tmp_path / "layouts.parquet"
    options: dict[str, Any] = {"write_page_checksum": True, "use_dictionary": False, "compression": "none"}
    pa.parquet.write_table(pa.table(LAYOUT), path, **options)
    name = b"\x19\x18\x07item_id"  # a list of one text
    assert path.read_bytes().count(name) == 1
    path.write_bytes(path.read_bytes().replace(name, name[:-1] + b"e").replace(b"i21", b"i20", 1))
    with pytest.raises(DataError, match=r"its metadata are inconsistent\. Is the file damaged\?"):
        read(path)


def test_long_fields_and_a_mark_of_the_byte_order(tmp_path: Path) -> None:
    header, long = '"user_id","row","col","item_id","category"', "x" * 200_000
    text = f'\ufeff{header}\n"u","1","1","{long}","a""b"\n"u","1","2","y","c"x\n'
    path = save(tmp_path, "l.csv", text.replace('"c"x', '"c"').encode())
    assert read(path)["item_id"].str.len_chars().to_list() == [200_000, 1]
    with pytest.raises(DataError, match=r"line 3: ',' expected after '\"'\. Close the quotes"):
        read(save(tmp_path, "bad.csv", text.encode()))


@pytest.mark.parametrize("name", ["CSV, gzip", "NDJSON, gzip"])
@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda content: content[:-100], "end-of-stream marker"),
        (lambda content: content[:-6] + b"\0" + content[-5:], "CRC check failed"),
        (lambda content: content[:60] + b"\xff" * 9 + content[69:], "Error -3 while decompressing"),
    ],
)
def test_damaged_gzip(damage: Callable[[bytes], bytes], message: str, name: str, tmp_path: Path) -> None:
    kind = FORMATS[name]
    path = save(tmp_path, f"layouts.{kind.extension}", damage(kind.content))
    with pytest.raises(
        DataError, match=rf"{path} cannot be parsed .*its gzip data cannot be decompressed: .*{message}"
    ):
        read(path)


@pytest.mark.needs("zstd")
@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda content: content[:-20], "incomplete frame"),
        (lambda content: content[:-1] + bytes([content[-1] ^ 1]), "checksum"),
    ],
)
def test_damaged_zstd(damage: Callable[[bytes], bytes], message: str, tmp_path: Path) -> None:
    content = subprocess.run(["zstd", "-c"], input=FORMATS["CSV"].content, capture_output=True, check=True).stdout
    assert read(save(tmp_path, "layouts.csv.zst", content)).height == 60
    path = save(tmp_path, "damaged.csv.zst", damage(content))
    with pytest.raises(DataError, match=rf"{path} cannot be parsed as CSV: .*{message}.*Is the file damaged\?"):
        read(path)


@pytest.mark.parametrize("extension", ["csv.gz", "csv.zst", "ndjson.zst"])
def test_files_that_are_not_compressed_as_their_name_says(extension: str, tmp_path: Path) -> None:
    path = save(tmp_path, f"layouts.{extension}", b"\x29\xb5\x2f\xfd\x04\x58\xa1\x0b\0\xff")
    with pytest.raises(DataError, match=r"is not compressed with (gzip|zstd), as its name says: it starts with"):
        read(path)


@pytest.mark.parametrize("name", ["CSV", "Parquet", "NDJSON"])
def test_a_file_that_changes_while_it_is_read(name: str, tmp_path: Path) -> None:
    path = save(tmp_path, f"layouts.{FORMATS[name].extension}", FORMATS[name].content)
    batches = open_table(path, "layouts", LAYOUTS).batches()
    next(batches)
    with path.open("ab") as file:
        file.write(FORMATS[name].content[-20:])
    with pytest.raises(DataError, match=rf"layouts: {path} changed while it was read\. Wait until it is complete"):
        list(batches)


def test_an_unreadable_parquet_file_is_not_read_whole(tmp_path: Path) -> None:
    path = save(tmp_path, "layouts.parquet", b"not a table")
    with path.open("ab") as file:
        file.truncate(1 << 40)  # takes no space, but could not be read
    with pytest.raises(DataError, match="it starts with b'not a table"):
        read(path)


RECORD = '{"user_id": "u", "row": 1, "col": 1, "item_id": "a", "category": "c"}'
TWICE = RECORD.replace("}", ', "category": "d"}')
ESCAPED = RECORD.replace("}", r', "c\u0061tegory": "d"}')
NESTED = '{"user_id": "u", "rows": [{"title": "c", "items": [%s]%s}]}'
KEY = r"an object has the key '(category|title|items|item_id|user_id)' twice\. Remove or rename one\."


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("l.csv", "user_id,row,col,item_id,category,category\nu,1,1,a,c,d\n", "header names category twice"),
        ("l.ndjson", f"{RECORD}\n{TWICE}\n", f"line 2: {KEY}"),
        ("l.ndjson", f"{RECORD}\n\n{ESCAPED}\n", f"line 3: {KEY}"),
        ("l.json", f"[{RECORD}, {TWICE}]", KEY),
        ("l.json", f"{RECORD}\n{TWICE}\n", f"line 2: {KEY}"),
        ("l.json", '{"user_id": ["u"], "row": [1], "col": [1], "item_id": ["a"], "user_id": ["v"]}', KEY),
        ("l.ndjson", NESTED % ('"a"', ', "title": "d"') + "\n", f"line 1: {KEY}"),
        ("l.ndjson", NESTED % ('{"item_id": "}]"}', ', "items": []') + "\n", f"line 1: {KEY}"),
        ("l.ndjson", NESTED % ('{"item_id": "a", "item_id": "b"}', "") + "\n", f"line 1: {KEY}"),
    ],
)
def test_repeated_columns_and_keys(name: str, text: str, message: str, tmp_path: Path) -> None:
    path = save(tmp_path, name, text.encode())
    with pytest.raises(DataError, match=message):
        read(path)
    assert not cv.check(path).ok


@pytest.mark.parametrize("wrong", ["[]", '["a"]', "{}", '{"b": 1}'])
@pytest.mark.parametrize("column", ["user_id", "relevance"])
@pytest.mark.parametrize("at", [0, 1, 2])
def test_a_list_or_object_among_single_values(wrong: str, column: str, at: int, tmp_path: Path) -> None:
    """In a file of columns Polars would write it as text, an id like any other."""
    columns = {"user_id": ['"u"', '"v"', "null"], "item_id": ['"a"'] * 3, "relevance": ["1", "2", "3"]}
    columns[column][at] = wrong
    text = ", ".join(f'"{name}": [{", ".join(values)}]' for name, values in columns.items())
    path = save(tmp_path, "j.json", f"{{{text}}}".encode())
    found = re.escape(f"JSON: value {at + 1} of column {column} is {wrong}, but others are single values. Write one")
    with pytest.raises(DataError, match=found):
        cv.evaluate(LAYOUT, path, candidates="displayed")
    assert not cv.check(LAYOUT, path).ok


HALVES = {r"\ud800": r"\ud800", r"a\uDFFFb": r"\udfff", r"\ud83d\ud83d\ude00": r"\ud83d", r"\ude00\ud83d": r"\ude00"}
IN_JSON: dict[str, tuple[str, str]] = {
    "l.ndjson": ('{"user_id": "u", "item_id": "b"}\n\n{"user_id": "TEXT", "item_id": "b"}\n', "line 3"),
    "lines.json": ('{"user_id": "u", "item_id": "b"}\n{"user_id": "TEXT", "item_id": "b"}\n', "line 2"),
    "records.json": ('[{"user_id": "u",\n"item_id": "b"}, {"user_id": "TEXT", "item_id": "b"}]', "record 2"),
    "columns.json": ('{"user_id": ["u", "TEXT"], "item_id": ["b", "b"]}', "record 2"),
    "pandas.json": ('{"user_id": {"0": "u", "1": "TEXT"}, "item_id": {"0": "b", "1": "b"}}', "record 2"),
}


@pytest.mark.parametrize("name", IN_JSON)
@pytest.mark.parametrize("written", HALVES)
def test_half_of_a_character_in_json(name: str, written: str, tmp_path: Path) -> None:
    """For some halves Polars writes another character, so that users who differ would be one."""
    text, where = IN_JSON[name]
    path = save(tmp_path, name, text.replace("TEXT", written).encode())
    found = f"{name} cannot be parsed as {'NDJSON' if 'l.' in name else 'JSON'}: column user_id, {where}: found "
    with pytest.raises(DataError, match=re.escape(f"{found}{HALVES[written]}, which is half of a character")):
        cv.evaluate(LAYOUT, path, candidates="displayed")
    assert not cv.check(LAYOUT, path).ok


@pytest.mark.parametrize("name", IN_JSON)
def test_titles_that_are_cut_off_in_a_character_are_not_looked_at(name: str, tmp_path: Path) -> None:
    path = save(tmp_path, name, IN_JSON[name][0].replace("TEXT", r"Caf\u00e9 \ud83d").encode())
    assert open_table(path, "judgments", [Column("item_id", "id")]).collect()["item_id"].to_list() == ["b", "b"]


@pytest.mark.parametrize("name", IN_JSON)
@pytest.mark.parametrize(
    "whole", [r"\ud83d\uDE00", r"\\ud800", r"\\\ud83d\ude00\\", "😀", r"\u0041", r"\ud83d\uDE00\ud83d\uDE01"]
)
def test_whole_characters_in_json(name: str, whole: str, tmp_path: Path) -> None:
    path = save(tmp_path, name, IN_JSON[name][0].replace("TEXT", whole).encode())
    users = open_table(path, "judgments", [Column("user_id", "id")]).collect()["user_id"].to_list()
    assert users == ["u", json.loads(f'"{whole}"')]


def test_half_of_a_character_in_nested_pages(tmp_path: Path) -> None:
    page = r'{"user_id": "u", "rows": [{"title": "t", "items": ["a", "\ud800"]}]}'
    for name, where in (("l.ndjson", "line 1"), ("l.json", "record 1")):
        path = save(tmp_path, name, page.encode())
        with pytest.raises(DataError, match=rf"column rows, {where}: found \\ud800, which is half of a character"):
            open_table(path, "layouts", LAYOUTS).collect()


@pytest.mark.parametrize(
    "text", [NESTED % ('"a", "b"', "") + "\n", f"{RECORD}\n", NESTED % ('"\\"title\\":"', "") + "\n"]
)
def test_keys_that_are_repeated_in_other_objects_only(text: str, tmp_path: Path) -> None:
    assert read(save(tmp_path, "l.ndjson", f"{text}\n".encode())).height >= 1


def test_keys_are_found_as_by_a_parser() -> None:
    rng = random.Random(7)

    def value(depth: int) -> str:
        kind = rng.randrange(6 if depth < 4 else 3)
        if kind < 3:
            return rng.choice(["1", "null", '"a"', r'"\\\""', '"}],:{["', '"ü"'])
        inner = [value(depth + 1) for _ in range(rng.randrange(4))]
        if kind == 3:
            return f"[{', '.join(inner)}]"
        keys = rng.sample(["a", "b", r"\u0061", '\\"', "{", ""], len(inner))
        keys = [rng.choice(keys) for _ in keys] if rng.random() < 0.3 else keys
        return "{" + " , ".join(f'"{key}" : {each}' for key, each in zip(keys, inner, strict=True)) + "}"

    found = 0
    for text in [value(0) for _ in range(5000)]:
        suspects, depths = _native.scan_json(pl.Series([text]).__arrow_c_stream__())
        repeated = False

        def look(pairs: list[tuple[str, object]]) -> None:
            nonlocal repeated
            repeated |= len(dict(pairs)) < len(pairs)

        json.loads(text, object_pairs_hook=look)
        assert bool(suspects.size) == repeated or "\\" in text, text
        assert suspects.size or not repeated, text
        depth = deepest = 0
        for mark in re.sub(r'"(\\.|[^"])*"', "", text):
            depth += (mark in "[{") - (mark in "]}")
            deepest = max(depth, deepest)
        assert depths.tolist() == [deepest]
        found += repeated
    assert found > 100


@pytest.mark.parametrize("name", ["l.ndjson", "l.json"])
@pytest.mark.parametrize("levels", [70, 900, 100_000])
@pytest.mark.parametrize(("begin", "end"), [("[", "]"), ('{"a":', "}"), ('{"\\u0061":', "}")])
def test_deep_json_is_refused_at_once(name: str, levels: int, begin: str, end: str, tmp_path: Path) -> None:
    """Polars takes minutes for 900 levels."""
    record = RECORD.replace('"c"', begin * levels + "1" + end * levels)
    path = save(tmp_path, name, (f"[{record}]" if name == "l.json" else f"{record}\n").encode())
    with pytest.raises(DataError, match=r"values are nested more than 64 levels deep. Write a flat table."):
        read(path)
    assert not cv.check(path).ok


def test_only_tables_collect_their_records() -> None:
    """What is read elsewhere would not be counted, and panics of Polars would escape."""
    package = Path(cv.__file__).parent
    assert [path.name for path in package.rglob("*.py") if "._frame(" in path.read_text()] == ["table.py"]


def test_repeated_columns_of_typed_files(tmp_path: Path) -> None:
    table = pa.Table.from_arrays([pa.array(["x"])] * 6, names=[*LAYOUT, "category"])
    pa.parquet.write_table(table, tmp_path / "l.parquet")
    for name, writer in (("file.arrow", pa.ipc.new_file), ("stream.arrow", pa.ipc.new_stream)):
        with writer(tmp_path / name, table.schema) as file:
            file.write_table(table)
    for name in ("l.parquet", "file.arrow", "stream.arrow"):
        with pytest.raises(DataError, match=rf"{name} cannot be parsed .*: column category appears twice\. Remove or"):
            read(tmp_path / name)
    with pytest.raises(DataError, match=r"layouts cannot be read as a table: .*names must be unique"):
        read(table)


@pytest.mark.parametrize("codec", ["lz4", "zstd"])
@pytest.mark.parametrize("writer", [pa.ipc.new_file, pa.ipc.new_stream])
def test_compressed_buffers_that_claim_an_impossible_size(
    codec: str, writer: Callable[..., Any], tmp_path: Path
) -> None:
    lines = 250_007
    table = pa.table({name: pa.repeat(1, lines) for name in ("user_id", "row", "col", "item_id")})  # compressed well
    path = tmp_path / "l.arrow"
    with writer(path, table.schema, options=pa.ipc.IpcWriteOptions(compression=codec)) as file:
        file.write_table(table)
    assert read(path).height == lines
    content, size = path.read_bytes(), (8 * lines).to_bytes(8, "little")
    assert content.count(size) == 4
    path.write_bytes(content[::-1].replace(size[::-1], (2**53).to_bytes(8, "big"), 1)[::-1])  # of the last column
    with pytest.raises(DataError, match=r"l\.arrow cannot be parsed .*: its metadata are inconsistent\. Is the file"):
        read(path)
