"""Damaged files: an error of ours, or exactly what an independent reader gets from them; never a part of it."""

import csv
import gzip
import io
import json
import random
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

import carouseval as cv
from tests.fuzz import ViolationError

Columns = dict[str, list[Any]]

LINES = 60
LAYOUT: Columns = {
    "user_id": [f"u{line // 15}" for line in range(LINES)],
    "row": [line % 15 // 5 + 1 for line in range(LINES)],
    "col": [line % 5 + 1 for line in range(LINES)],
    "item_id": [f"i{line * 7 % 23}" for line in range(LINES)],
    "category": [["new, hot", "drama", "für dich"][line % 15 // 5] for line in range(LINES)],
}
JUDGMENTS: Columns = {"user_id": [f"u{k // 3}" for k in range(12)], "item_id": [f"i{k * 5 % 23}" for k in range(12)]}
# every text in quotes, and some of it over several lines
QUOTED: Columns = {**LAYOUT, "category": [f'{name}\n"{name}"' for name in LAYOUT["category"]]}
_KEEPS_LINES = ("flip", "flips", "zero", "append")  # damage by which no bytes of a file are lost


@dataclass(frozen=True)
class Format:
    """A file format: the bytes of the table, and an independent reader, which raises what it likes."""

    name: str
    extension: str
    content: bytes
    read: Callable[[bytes], Columns]
    is_text: bool = False
    table: Columns = field(default_factory=lambda: LAYOUT)


@dataclass(frozen=True)
class Case:
    """A damaged file."""

    format: str
    damage: str
    at: int
    content: bytes
    evaluate: bool  # or read only: every command reads through the same door

    def __repr__(self) -> str:
        return f"{self.format}, {self.damage} at {self.at}, {len(self.content)} bytes"


@cache
def formats() -> dict[str, Format]:
    """The table in every format, by name."""
    text, lines, table = _csv(LAYOUT), _json_lines(), pa.table(LAYOUT)
    plain: dict[str, Any] = {"compression": "none", "use_dictionary": False}
    parquet = {
        "Parquet": _parquet(table),
        "Parquet of Polars": _polars_parquet(),
        "Parquet with checksums": _parquet(table, write_page_checksum=True, **plain),
        "Parquet, dictionaries with checksums": _parquet(table, write_page_checksum=True, compression="zstd"),
        "Parquet, gzip": _parquet(table, compression="gzip"),
        "Parquet, zstd, plain": _parquet(table, compression="zstd", use_dictionary=False),
        "Parquet, LZ4": _parquet(table, compression="lz4"),
        "Parquet, pages of version 2": _parquet(table, data_page_version="2.0", data_page_size=64, **plain),
    }
    texts = {
        ("CSV", "csv"): (text, _read_csv, LAYOUT),
        ("CSV with quotes", "csv"): (_csv(QUOTED), _read_csv, QUOTED),
        ("NDJSON", "ndjson"): (lines, _read_json_lines, LAYOUT),
        ("JSON of records", "json"): (_json_records(), _read_json, LAYOUT),
        ("JSON of columns", "json"): (json.dumps(LAYOUT).encode(), _read_json, LAYOUT),
    }
    every = [Format(name, "parquet", content, _read_parquet) for name, content in parquet.items()]
    for (name, extension), (content, read, columns) in texts.items():
        every += [
            Format(name, extension, content, read, True, columns),
            Format(f"{name}, gzip", f"{extension}.gz", _gzip(content), _after(gzip.decompress, read), True, columns),
            Format(f"{name}, zstd", f"{extension}.zst", zstd(content), _after(_unzstd, read), True, columns),
        ]
    members = b"".join(map(_gzip, (text[:700], text[700:1200], text[1200:])))
    every += [
        Format("CSV, gzip of three members", "csv.gz", members, _after(gzip.decompress, _read_csv), True),
        Format("Arrow", "arrow", _arrow(table, "uncompressed"), _read_arrow),
        Format("Feather, LZ4", "feather", _arrow(table, "lz4"), _read_arrow),
        Format("Arrow stream", "arrow", _arrow_stream(table), partial(_read_arrow, is_stream=True)),
    ]
    return {kind.name: kind for kind in every}


def draw(rng: random.Random) -> Case:
    """A file of some format, damaged somehow."""
    name = rng.choice(list(formats()))
    return Case(name, *damaged(formats()[name].content, rng), evaluate=rng.random() < 0.125)


def damaged(content: bytes, rng: random.Random) -> tuple[str, int, bytes]:
    """What was done to a copy of a file, where, and the copy."""
    kind = rng.choices(("flip", "flips", "cut", "repeat", "drop", "zero", "append"), (8, 2, 2, 1, 1, 1, 1))[0]
    copy = bytearray(content)
    begin = rng.randrange(max(0, len(content) - 300) if rng.random() < 0.3 else 0, len(content))  # footers more often
    end = min(len(content), begin + rng.choice((1, 4, 64, 500)))
    if kind in ("flip", "flips"):
        for at in [begin, *(rng.randrange(len(content)) for _ in range(4 * (kind == "flips")))]:
            copy[at] ^= 1 << rng.randrange(8)
    elif kind == "cut":
        del copy[begin:]
    elif kind == "repeat":
        copy[end:end] = content[begin:end]
    elif kind == "drop":
        del copy[begin:end]
    elif kind == "zero":
        copy[begin:end] = bytes(end - begin)
    else:
        copy += rng.choice((content, b"\0", b"\n\n", b"x", content[:50]))
    return kind, begin, bytes(copy)


def check(case: Case, folder: Path) -> str:
    """An error, or what an independent reader gets from the file."""
    kind = formats()[case.format]
    path = folder / f"layouts.{kind.extension}"
    path.write_bytes(case.content)
    outcome, violation = _judge(case, kind, path)
    if violation:
        raise ViolationError(f"{case}: {violation}")
    return f"{kind.name}: {outcome}"


def _judge(case: Case, kind: Format, path: Path) -> tuple[str, str]:
    """How the reading of a damaged file ends, and what is wrong with that, if anything."""
    ours, error = _attempt(lambda: _lines(str(path)))
    if error:
        return ("escaped", error) if ours is None else ("refused", _score(str(path)) if case.evaluate else "")
    original = _lines(kind.table)
    if not ours:
        return "no lines", _score(str(path))  # which is refused wherever a table is used
    if not kind.is_text and len(ours) < len(original) and case.damage in _KEEPS_LINES:
        return "in part", f"read {len(ours)} of {len(original)} lines"  # though another reader may do the same
    if ours == original:
        return "as before the damage", ""
    try:
        columns = kind.read(case.content)
    except BaseException as reason:
        if isinstance(reason, KeyboardInterrupt | SystemExit):
            raise
        # data and unused metadata damaged at once; nothing but a count can be expected of files without checksums
        checked = kind.is_text and not kind.extension.endswith("zst")
        complete = not checked and len(ours) == len(original)
        return "all lines, refused by the reader", "" if complete else f"read {len(ours)} lines, the reader: {reason}"
    theirs, error = _attempt(lambda: _lines(columns))
    if error or _texts(ours) != _texts(theirs):
        return "differs", f"read {len(ours)} lines unlike the reader's {len(theirs or ())} {error}"
    return "as the reader", _score(str(path), columns) if case.evaluate else ""


def _attempt(read: Callable[[], Any]) -> tuple[Any, str]:
    """The result and no error; or ``()`` and our error; or None and an error that must not escape."""
    try:
        return read(), ""
    except cv.CarousevalError as error:
        return (), str(error)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        return None, f"{type(error).__module__}.{type(error).__name__}: {error}"


def _score(path: str, columns: Columns | None = None) -> str:
    """How ``evaluate`` and ``check`` differ from an error or, given the columns, from their result; empty if not."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cv.DataWarning)
        scores, error = _attempt(lambda: cv.evaluate(path, JUDGMENTS).per_page.rows())
        checked, escaped = _attempt(lambda: cv.check(path, JUDGMENTS).ok)
        expected, _ = _attempt(lambda: () if columns is None else cv.evaluate(columns, JUDGMENTS).per_page.rows())
    if scores is None or checked is None:
        return error if scores is None else f"check: {escaped}"
    if (checked is True) == bool(error):
        return f"check found ok={checked}, evaluate: {error}"
    return "" if _texts(scores) == _texts(expected) else f"evaluate gave {scores}, of the reader's lines {expected}"


def _lines(source: Any) -> list[tuple[Any, ...]]:
    """All lines, through the door that every command reads tables by."""
    from carouseval.evaluation.schema import LAYOUTS  # here, so that files are drawn for any version of the package
    from carouseval.tables.opening import open_table

    return open_table(source, "layouts", LAYOUTS).collect().rows()


def _texts(lines: Any) -> list[list[str]]:
    return [[str(value) for value in line] for line in lines]


def _csv(columns: Columns) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL if columns is QUOTED else csv.QUOTE_MINIMAL)
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return text.getvalue().encode()


def _read_csv(content: bytes) -> Columns:
    lines = csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""), strict=True)
    header, *records = [line for line in lines if line]
    # fields that a line lacks at its end are null, as they are in Polars
    full = [record + [""] * (len(header) - len(record)) for record in records]
    return {name: [record[at] or None for record in full] for at, name in enumerate(header)}


def _records() -> list[dict[str, Any]]:
    return [dict(zip(LAYOUT, line, strict=True)) for line in zip(*LAYOUT.values(), strict=True)]


def _json_lines() -> bytes:
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in _records()).encode()


def _json_records() -> bytes:
    return json.dumps(_records(), indent=1).encode()


def _read_json(content: bytes) -> Columns:
    read = json.loads(content.decode("utf-8-sig"))
    return read if isinstance(read, dict) else _columns_of_records(read)


def _read_json_lines(content: bytes) -> Columns:
    return _columns_of_records([json.loads(line) for line in content.decode("utf-8-sig").split("\n") if line.strip()])


def _columns_of_records(records: list[Any]) -> Columns:
    names = dict.fromkeys(name for record in records for name in record)
    return {name: [record.get(name) for record in records] for name in names}


def _after(decompress: Callable[[bytes], bytes], read: Callable[[bytes], Columns]) -> Callable[[bytes], Columns]:
    return lambda content: read(decompress(content))


def _gzip(content: bytes) -> bytes:
    return gzip.compress(content, mtime=0)


def zstd(content: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(content)
    return bytes(sink.getvalue())


def _unzstd(content: bytes) -> bytes:
    return bytes(pa.CompressedInputStream(pa.BufferReader(content), "zstd").read())


def _parquet(table: Any, **options: Any) -> bytes:
    sink = io.BytesIO()
    pa.parquet.write_table(table, sink, row_group_size=20, **options)
    return sink.getvalue()


def _polars_parquet() -> bytes:
    sink = io.BytesIO()
    pl.DataFrame(LAYOUT).write_parquet(sink, row_group_size=20)
    return sink.getvalue()


def _read_parquet(content: bytes) -> Columns:
    return _columns(pa.parquet.read_table(io.BytesIO(content), page_checksum_verification=True))


def _arrow(table: Any, compression: str) -> bytes:
    sink = io.BytesIO()
    pa.feather.write_feather(table, sink, compression=compression, chunksize=20)
    return sink.getvalue()


def _read_arrow(content: bytes, is_stream: bool = False) -> Columns:
    table = (pa.ipc.open_stream if is_stream else pa.ipc.open_file)(pa.BufferReader(content)).read_all()
    table.validate(full=True)
    return _columns(table)


def _arrow_stream(table: Any) -> bytes:
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=20)
    return sink.getvalue()


def _columns(table: Any) -> Columns:
    return dict(zip(table.column_names, (column.to_pylist() for column in table.columns), strict=True))
