"""Damaged files: an error of ours, or exactly what an independent reader gets from them; never a part of it.

``python -m tests.fuzz_files 100000`` damages as many files, counts how they end, and lists every violation.
"""

import argparse
import csv
import gzip
import io
import json
import random
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

import carouseval as cv
from carouseval.evaluation.schema import LAYOUTS
from carouseval.tables import open_table

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
MOST_SECONDS = 10.0
_EVALUATE_EVERY = 8  # the others are read only: every command reads through the same door


@dataclass(frozen=True)
class Format:
    """A file format: the bytes of the table, and an independent reader, which raises what it likes."""

    name: str
    extension: str
    content: bytes
    read: Callable[[bytes], Columns]
    is_text: bool = False


@dataclass(frozen=True)
class Case:
    """A damaged file, how it ended ("refused", "as the reader", ...), and what is wrong with that, if anything."""

    number: int
    format: str
    damage: str
    outcome: str
    violation: str = ""


def formats() -> list[Format]:
    """The table in every format."""
    text, lines, table = _csv(), _json_lines(), pa.table(LAYOUT)
    return [
        Format("Parquet", "parquet", _parquet(table), _read_parquet),
        Format("Parquet of Polars", "parquet", _polars_parquet(), _read_parquet),
        Format(
            "Parquet with checksums",
            "parquet",
            _parquet(table, write_page_checksum=True, compression="none", use_dictionary=False),
            _read_parquet,
        ),
        Format("CSV", "csv", text, _read_csv, is_text=True),
        Format(
            "CSV, gzip",
            "csv.gz",
            gzip.compress(text, mtime=0),
            lambda some: _read_csv(gzip.decompress(some)),
            is_text=True,
        ),
        Format("CSV, zstd", "csv.zst", _zstd(text), lambda some: _read_csv(_unzstd(some)), is_text=True),
        Format("NDJSON", "ndjson", lines, _read_json_lines, is_text=True),
        Format(
            "NDJSON, gzip",
            "ndjson.gz",
            gzip.compress(lines, mtime=0),
            lambda some: _read_json_lines(gzip.decompress(some)),
            is_text=True,
        ),
        Format("NDJSON, zstd", "ndjson.zst", _zstd(lines), lambda some: _read_json_lines(_unzstd(some)), is_text=True),
        Format("Arrow", "arrow", _arrow(table, "uncompressed"), _read_arrow),
        Format("Feather, LZ4", "feather", _arrow(table, "lz4"), _read_arrow),
    ]


def damaged(content: bytes, rng: random.Random) -> tuple[str, bytes]:
    """What was done to a copy of a file, and the copy."""
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
    return f"{kind} at {begin}", bytes(copy)


def run(cases: int, seed: int = 0) -> Iterator[Case]:
    """Damage files and read them; case k is the same whatever the number of cases."""
    kinds, original = formats(), _lines(LAYOUT)
    with tempfile.TemporaryDirectory() as folder:
        for number in range(cases):
            kind = kinds[number % len(kinds)]
            damage, content = damaged(kind.content, random.Random(f"{seed}/{number}"))
            path = Path(folder) / f"layouts.{kind.extension}"
            path.write_bytes(content)
            begin = time.perf_counter()
            outcome, violation = _judge(kind, path, content, original, evaluate=number % _EVALUATE_EVERY == 0)
            seconds = time.perf_counter() - begin
            if not violation and seconds > MOST_SECONDS:
                violation = f"it took {seconds:.0f} s"
            yield Case(number, kind.name, damage, outcome, violation)


def _judge(kind: Format, path: Path, content: bytes, original: list[Any], *, evaluate: bool) -> tuple[str, str]:
    """How the reading of a damaged file ends, and what is wrong with that, if anything."""
    ours, error = _attempt(lambda: _lines(str(path)))
    if error:
        return ("escaped", error) if ours is None else ("refused", _score(str(path)) if evaluate else "")
    try:
        columns = kind.read(content)
    except BaseException as reason:
        if isinstance(reason, KeyboardInterrupt | SystemExit):
            raise
        if ours == original:
            return "as before the damage", ""
        # data and unused metadata damaged at once; nothing but a count can be expected of files without checksums
        complete = not kind.is_text and len(ours) == len(original)
        return "all lines, refused by the reader", "" if complete else f"read {len(ours)} lines, the reader: {reason}"
    theirs, error = _attempt(lambda: _lines(columns))
    if error or _texts(ours) != _texts(theirs):
        return "differs", f"read {len(ours)} lines unlike the reader's {len(theirs or ())} {error}"
    return "as the reader", _score(str(path), columns) if evaluate else ""


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
    return open_table(source, "layouts", LAYOUTS).collect().rows()


def _texts(lines: Any) -> list[list[str]]:
    return [[str(value) for value in line] for line in lines]


def _csv() -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(LAYOUT)
    writer.writerows(zip(*LAYOUT.values(), strict=True))
    return text.getvalue().encode()


def _read_csv(content: bytes) -> Columns:
    lines = csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""), strict=True)
    header, *records = [line for line in lines if line]
    return {name: [record[at] or None for record in records] for at, name in enumerate(header)}


def _json_lines() -> bytes:
    records = (dict(zip(LAYOUT, line, strict=True)) for line in zip(*LAYOUT.values(), strict=True))
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records).encode()


def _read_json_lines(content: bytes) -> Columns:
    records = [json.loads(line) for line in content.decode("utf-8-sig").split("\n") if line.strip()]
    names = dict.fromkeys(name for record in records for name in record)
    return {name: [record.get(name) for record in records] for name in names}


def _zstd(content: bytes) -> bytes:
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


def _read_arrow(content: bytes) -> Columns:
    table = pa.ipc.open_file(pa.BufferReader(content)).read_all()
    table.validate(full=True)
    return _columns(table)


def _columns(table: Any) -> Columns:
    return dict(zip(table.column_names, (column.to_pylist() for column in table.columns), strict=True))


def main() -> None:
    """Run as many cases as asked for; the exit status is 1 if there is a violation."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", type=int, nargs="?", default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    outcomes: Counter[tuple[str, str]] = Counter()
    violations = 0
    for case in run(arguments.cases, arguments.seed):
        outcomes[case.format, case.outcome] += 1
        if case.violation:
            violations += 1
            print(f"case {case.number}: {case.format}, {case.damage}: {case.violation}")
    for (name, outcome), count in sorted(outcomes.items()):
        print(f"{count:8,}  {name}: {outcome}")
    raise SystemExit(violations > 0)


if __name__ == "__main__":
    main()
