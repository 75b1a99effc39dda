"""The forms in which a table may be given: frames of several libraries, dicts, files, lists of items, nested pages."""

import contextlib
import csv
import datetime
import gzip
import io
import json
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet

Lines = list[dict[str, Any]]
Form = Callable[[random.Random, Lines, list[str], Path], Any]  # the columns are those of tables without lines too

_ROW = ("row", "category", "pinned")


def _dict(rng: random.Random, lines: Lines, header: list[str], place: Path) -> Any:
    return {name: [line.get(name) for line in lines] for name in rng.sample(header, len(header))}


def _polars(rng: random.Random, lines: Lines, header: list[str], place: Path) -> Any:
    columns = _dict(rng, lines, header, place)
    try:
        return pl.DataFrame([_in_any_order(name, values) for name, values in columns.items()])
    except Exception:  # a mixture that Polars does not take
        return columns


def _in_any_order(name: str, values: list[Any]) -> pl.Series:
    ordered, positions = _frequent_first(values)
    return pl.Series(name, ordered, strict=False).gather(positions)


def _frequent_first(values: list[Any]) -> tuple[list[Any], list[int]]:
    """The values in an order that does not depend on theirs, and where each of them is in it.

    Polars and PyArrow go by the first ones: a column that is made of these has the same values in whatever order its
    lines are given. Those of the most frequent type come first, so that what is damaged is converted where it can be.
    """
    types = Counter(map(type, values))
    keys = [(-types[type(value)], type(value).__name__, repr(value)) for value in values]
    order = sorted(range(len(values)), key=keys.__getitem__)
    return [values[at] for at in order], sorted(range(len(values)), key=order.__getitem__)


def _odd_types(rng: random.Random, lines: Lines, header: list[str], place: Path) -> Any:
    """A frame whose columns have unusual types that hold the same values."""
    frame = _polars(rng, lines, header, place)
    if not isinstance(frame, pl.DataFrame):
        return frame
    frame = frame.with_columns(pl.Series(f"extra {n}", [None] * frame.height) for n in range(rng.randint(0, 2)))
    for column in frame.iter_columns():
        name, kind = column.name, column.dtype
        kinds: list[Any] = []
        if name.endswith("_id") or name == "category":
            kinds = (
                [pl.Categorical, pl.Enum(column.drop_nulls().unique())] if kind == pl.String and frame.height else []
            )
            kinds += [pl.Int64] if kind == pl.Int64 else []
        elif name in ("row", "col"):
            kinds = [pl.Int8, pl.UInt64, pl.Float64, pl.String, pl.Int32, pl.Float32, pl.Decimal(10, 2)]
        elif name == "relevance":
            kinds = [pl.Float32, pl.Decimal(10, 2), pl.String, pl.Categorical]
        elif name in ("pinned", "personal"):
            kinds = [pl.Int8, pl.Float64, pl.String, pl.UInt8]
        elif name == "capacity":
            kinds = [pl.Int8, pl.UInt16, pl.Float64, pl.String]
        if kinds and rng.random() < 0.5:
            try:
                target = rng.choice(kinds)
                text = column.cast(pl.String) if target == pl.Categorical else column
                changed = text.cast(target)
                frame = frame.with_columns(changed)
            except pl.exceptions.PolarsError:  # a damaged value that has no place in this type
                pass
    return frame.lazy() if rng.random() < 0.3 else frame


def _pandas(rng: random.Random, lines: Lines, header: list[str], place: Path) -> Any:
    frame = pd.DataFrame(
        {name: pd.Series(values, dtype=object) for name, values in _dict(rng, lines, header, place).items()}
    )
    if rng.random() < 0.5 and not frame.isna().any(axis=None):  # beside nulls, large integers would be rounded
        with contextlib.suppress(UnicodeEncodeError):  # half of a character, which only columns of objects can hold
            frame = frame.convert_dtypes()
    if rng.random() < 0.5:
        frame.index = pd.Index(rng.sample(range(1000), len(frame)))
    return frame


def _arrow(rng: random.Random, lines: Lines, header: list[str], place: Path) -> Any:
    columns = _dict(rng, lines, header, place)
    try:
        table = pa.table({name: _arrow_array(values) for name, values in columns.items()})
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return columns
    for n, name in enumerate(table.column_names):
        if table.schema.types[n] == pa.string() and rng.random() < 0.5:
            column = table.column(name)
            other = column.dictionary_encode() if rng.random() < 0.5 else column.cast(pa.large_string())
            table = table.set_column(n, name, other)
    return pa.concat_tables([table[:2], table[2:]]) if rng.random() < 0.5 else table


def _arrow_array(values: list[Any]) -> pa.Array:
    ordered, positions = _frequent_first(values)
    return pa.array(ordered).take(pa.array(positions, pa.int64()))


def _text(value: Any) -> Any:
    return "" if value is None else value


def _csv_bytes(rng: random.Random, lines: Lines, header: list[str], separator: str) -> bytes:
    text = io.StringIO()
    has_nulls = any(line.get(name) is None for line in lines for name in header)  # a quoted null would be empty text
    quoting: Any = rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_MINIMAL if has_nulls else csv.QUOTE_ALL])
    writer = csv.writer(text, delimiter=separator, lineterminator=rng.choice(["\n", "\r\n"]), quoting=quoting)
    names = rng.sample(header, len(header))
    writer.writerow(names)
    for line in lines:
        writer.writerow([_text(line.get(name)) for name in names])
        if rng.random() < 0.1:
            text.write("\n")
    return rng.choice([b"", b"\xef\xbb\xbf"]) + text.getvalue().encode(errors="surrogatepass")


def _csv(separator: str, extension: str) -> Form:
    def write(rng: random.Random, lines: Lines, header: list[str], place: Path) -> Any:
        path = place.with_suffix(extension)
        content = _csv_bytes(rng, lines, header, separator)
        path.write_bytes(gzip.compress(content) if extension.endswith("gz") else content)
        return path

    return write


def _several_csv(rng: random.Random, lines: Lines, header: list[str], place: Path) -> Any:
    paths = [place.with_suffix(f".{n}.csv") for n in range(2)]
    middle = rng.randint(1, max(1, len(lines) - 1))
    for path, part in zip(paths, (lines[:middle], lines[middle:]), strict=True):
        path.write_bytes(_csv_bytes(rng, part, header, ","))
    return paths if len(lines) > 1 else paths[:1]


def _file(extension: str, write: Callable[[Any, Path], None]) -> Form:
    def make(rng: random.Random, lines: Lines, header: list[str], place: Path) -> Any:
        frame = _polars(rng, lines, header, place)
        path = place.with_suffix(extension)
        try:
            write(frame, path)
        except Exception:  # a mixture of values that the format cannot hold
            return frame
        return path

    return make


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime.date) else value


def _json_lines(rng: random.Random, lines: Lines, header: list[str], place: Path) -> Any:
    """One object per line, its keys in any order; after the first line, keys of nulls may be left out."""
    path = place.with_suffix(".ndjson")
    records: Lines = []
    for line in lines:
        kept = [name for name in header if line.get(name) is not None or not records or rng.random() < 0.5]
        names = rng.sample(kept, len(kept))
        records.append({name: _plain(line.get(name)) for name in names})
    try:
        text = "".join(
            json.dumps(record, ensure_ascii=rng.random() < 0.5) + "\n" * rng.choice([1, 1, 1, 2]) for record in records
        )
        path.write_text(text, encoding="utf-8")
    except (TypeError, ValueError):
        return _dict(rng, lines, header, place)
    return path


def _json(rng: random.Random, lines: Lines, header: list[str], place: Path) -> Any:
    path = place.with_suffix(".json")
    columns = {name: [_plain(line.get(name)) for line in lines] for name in header}
    records = [{name: _plain(line.get(name)) for name in header} for line in lines]
    try:
        path.write_text(json.dumps(rng.choice([columns, records]), indent=rng.choice([None, 1])), encoding="utf-8")
    except (TypeError, ValueError):
        return _dict(rng, lines, header, place)
    return path


# --- layouts with a line per carousel, or per page ---


def can_nest(lines: Lines) -> bool:
    """Whether all cells of a row agree on the rest, and rows are counted from 1 without gaps."""
    pages: dict[tuple[Any, Any], set[int]] = {}
    rows: dict[tuple[Any, ...], tuple[Any, ...]] = {}
    for line in lines:
        key = (line["user_id"], line.get("page_id"))
        if not isinstance(line["row"], int):
            return False
        pages.setdefault(key, set()).add(line["row"])
        rest = tuple(line.get(name) for name in ("category", "pinned", "device"))
        if rows.setdefault((*key, line["row"]), rest) != rest:
            return False
    return all(numbers == set(range(1, len(numbers) + 1)) for numbers in pages.values())


def _rows(lines: Lines) -> list[tuple[dict[str, Any], list[Any]]]:
    """The first line of each row, and its items; None is a gap."""
    rows: dict[tuple[Any, ...], tuple[dict[str, Any], dict[int, Any]]] = {}
    for line in lines:
        first = rows.setdefault((line["user_id"], line.get("page_id"), line["row"]), (line, {}))
        first[1][line["col"]] = line["item_id"]
    return [(line, [cells.get(col) for col in range(1, max(cells) + 1)]) for line, cells in rows.values()]


def _carousels(rng: random.Random, lines: Lines, header: list[str], place: Path) -> Any:
    """One line per carousel, with a list of items."""
    name = rng.choice(["items", "item_id"])
    names = [column for column in header if column not in ("col", "item_id")]
    records = [{**{column: line.get(column) for column in names}, name: items} for line, items in _rows(lines)]
    form = rng.choice([_dict, _polars, _arrow, _json_lines, FORMS[".parquet"]])
    if any(isinstance(item, datetime.date) for _, items in _rows(lines) for item in items):
        form = _polars
    return form(rng, records, [*names, name], place)


def _pages(rng: random.Random, lines: Lines, header: list[str], place: Path) -> Any:
    """One object per page, with a list of rows."""
    pages: dict[tuple[Any, Any], dict[str, Any]] = {}
    objects, title = rng.random() < 0.3, rng.choice(["title", "category", "name"])
    for line, items in sorted(_rows(lines), key=lambda row: row[0]["row"]):
        page = pages.setdefault((line["user_id"], line.get("page_id")), {"rows": []})
        page |= {name: _plain(line[name]) for name in header if name not in (*_ROW, "col", "item_id") and name in line}
        row = {title: _plain(line.get("category"))} if "category" in header else {}
        row |= {"pinned": line["pinned"]} if line.get("pinned") is not None else {}
        shown = [None if item is None else {"item_id": _plain(item)} if objects else _plain(item) for item in items]
        page["rows"].append({**row, "items": shown})
    records = list(pages.values())
    if rng.random() < 0.5:
        path = place.with_suffix(".json")
        path.write_text(json.dumps(records), encoding="utf-8")
        return path
    return _json_lines(rng, records, list(dict.fromkeys(name for page in records for name in page)), place)


# --- items with a line per item ---


def _category_lists(rng: random.Random, lines: Lines, header: list[str], place: Path) -> Any:
    """One line per item, with a list of its categories."""
    categories: dict[tuple[Any, Any], list[Any]] = {}
    for line in lines:
        categories.setdefault((line["item_id"], line.get("user_id")), []).append(line["category"])
    records = [{"item_id": item, "user_id": user, "category": labels} for (item, user), labels in categories.items()]
    return rng.choice([_dict, _polars, _arrow, FORMS[".parquet"]])(rng, records, header, place)


ODD_TYPES = "Polars, odd types"
PLAIN_FORMS: dict[str, Form] = {
    "dict": _dict,
    "Polars": _polars,
    ODD_TYPES: _odd_types,
    "pandas": _pandas,
    "PyArrow": _arrow,
    ".csv": _csv(",", ".csv"),
    ".tsv": _csv("\t", ".tsv"),
    ".csv.gz": _csv(",", ".csv.gz"),
    ".parquet": _file(".parquet", lambda frame, path: frame.write_parquet(path)),
    ".arrow": _file(".arrow", lambda frame, path: frame.write_ipc(path)),
    "Arrow stream": _file(".arrow", lambda frame, path: frame.write_ipc_stream(path)),
    ".ndjson": _json_lines,
    ".json": _json,
}
TEXT_FORMS = (".csv", ".tsv", ".csv.gz", "several .csv")  # whose ids take the type of those in other tables
FLAT_FORMS: dict[str, Form] = {**PLAIN_FORMS, "several .csv": _several_csv}
NESTED_FORMS: dict[str, Form] = {"a line per carousel": _carousels, "a line per page": _pages}
CATEGORY_LISTS = "lists of categories"
FORMS: dict[str, Form] = {**FLAT_FORMS, **NESTED_FORMS, CATEGORY_LISTS: _category_lists}
