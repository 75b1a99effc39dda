"""Tables in JSON: one object per line, or a whole file of records, columns or pages."""

import contextlib
import glob
import itertools
import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, NoReturn

import numpy as np
import polars as pl

from carouseval import _native
from carouseval.errors import DataError
from carouseval.tables.kinds.contract import FileKind, open_text, text_lines
from carouseval.tables.lists import nesting_error

_MOST_DEPTH = 64
# escapes of JSON: surrogates, each of which is half of a character; and what is whole, pairs of them and backslashes
_SURROGATE = r"\\u[dD][89a-fA-F]"
_WHOLE = r"\\\\|\\u[dD][89abAB]..\\u[dD][c-fC-F].."
_HALF = re.compile(f"{_WHOLE}|({_SURROGATE}..)")


class JsonLines(FileKind):
    """One JSON object per line."""

    spark_format: ClassVar[str] = "json"

    def scan(self, path: Path) -> pl.LazyFrame:
        name = str(path)
        return pl.scan_ndjson(glob.escape(name) if glob.has_magic(name) else name, infer_schema_length=None)

    def scan_cloud(self, url: str, options: dict[str, Any] | None = None) -> pl.LazyFrame:
        return pl.scan_ndjson(url, infer_schema_length=None, storage_options=options)

    def where(self, path: Path, record: int) -> str:
        """The line of a record; blank lines are not records."""
        with contextlib.suppress(UnicodeDecodeError, OSError), open_text(path) as file:
            filled = (number for number, line in enumerate(file, 1) if line.strip())
            for number in itertools.islice(filled, record, None):
                return f"line {number}"
        return f"line {record + 1}"

    def check_text(self, path: Path) -> None:
        before = 0
        for batch in text_lines(path).collect_batches(maintain_order=True, engine="streaming"):
            for line, flaw in _flaws(batch["line"]):
                raise DataError(f"line {before + line + 1}: {flaw}")
            before += batch.height

    def check_contents(self, path: Path, columns: Collection[str]) -> None:
        suspects = _with_halves(text_lines(path).with_row_index("number"))
        for batch in suspects.collect_batches(maintain_order=True, engine="streaming"):
            for number, line in batch.iter_rows():
                if reason := _half(_parsed(line), f"line {number + 1}", columns):
                    raise DataError(reason)

    def diagnose(self, path: Path) -> str:
        forms: set[bool] = set()
        with open_text(path) as file:
            for number, line in enumerate(file, 1):
                try:
                    record = _parse(line) if line.strip() else {}
                except (ValueError, RecursionError):
                    return f"line {number} is not JSON: {line.strip()[:40]!r}. Write one object per line: {{...}}."
                if not isinstance(record, dict):
                    return f"line {number} is not a JSON object. Write one object per line: {{...}}."
                if reason := _half(record, f"line {number}"):
                    return reason
                if reason := nesting_error(record, forms):
                    return f"line {number}, {reason}"
        return ""


class Json(FileKind):
    """A list of records, an object of columns, or a single record. Unlike other files it is read into memory whole.

    Many programs write one object per line under this extension too; such files are read line by line.
    """

    spark_format: ClassVar[str] = "json"

    def scan(self, path: Path) -> pl.LazyFrame:
        first = _first_lines(path)
        if _are_records(first):
            return NDJSON.scan(path)
        if first and first[0].startswith("{"):
            # as Polars' own reader, write another character for half of one: it is refused where it is used
            columns = _columns(_parsed(_HALF.sub(lambda match: r"\ufffd" if match[1] else match[0], _text(path))))
            if columns is not None:
                if reason := _mixed_values(columns):
                    raise DataError(f"{path} cannot be parsed as JSON: {reason}")
                return pl.LazyFrame(columns, strict=False)
        return pl.read_json(path, infer_schema_length=None).lazy()

    def check_text(self, path: Path) -> None:
        if _are_records(_first_lines(path)):
            NDJSON.check_text(path)
            return
        for _, flaw in _flaws(pl.Series([_text(path)])):
            raise DataError(flaw)

    def check_contents(self, path: Path, columns: Collection[str]) -> None:
        if _are_records(_first_lines(path)):
            NDJSON.check_contents(path, columns)
            return
        if _with_halves(text_lines(path)).head(1).collect(engine="streaming").is_empty():
            return
        for number, record in enumerate(_records(_parsed(_text(path))), 1):
            if reason := _half(record, f"record {number}", columns):
                raise DataError(reason)

    def where(self, path: Path, record: int) -> str:
        """The number of a record, or its line where every record has one."""
        return NDJSON.where(path, record) if _are_records(_first_lines(path)) else super().where(path, record)

    def diagnose(self, path: Path) -> str:
        with open_text(path) as file:
            text = file.read()
        if _are_records(text.split("\n")):
            return NDJSON.diagnose(path)
        try:
            content = _parse(text)
        except json.JSONDecodeError as error:
            return f"{error.msg} at line {error.lineno}, character {error.colno}. Is the file complete?"
        except (ValueError, RecursionError) as error:
            return f"{error}."
        if columns := _columns(content):
            lengths = {name: len(values) for name, values in columns.items()}
            first, *others = lengths
            for other in others:
                if lengths[other] != lengths[first]:
                    return f"column {first} has {lengths[first]} values, but {other} has {lengths[other]}."
            return ""
        forms: set[bool] = set()
        for number, record in enumerate(content if isinstance(content, list) else [content], 1):
            if not isinstance(record, dict):
                return f"record {number} is {json.dumps(record)[:40]}. Write a list of objects: [{{...}}, {{...}}]."
            if reason := _half(record, f"record {number}"):
                return reason
            if reason := nesting_error(record, forms):
                return f"record {number}, {reason}"
        return ""


NDJSON = JsonLines("NDJSON", (".ndjson", ".jsonl"))
JSON = Json("JSON", (".json",))


def _text(path: Path) -> str:
    return "\n".join(text_lines(path).collect()["line"])


def _first_lines(path: Path) -> list[str]:
    """Two lines that are not blank, or fewer if there are no more."""
    line = pl.col("line").str.strip_chars(" \t\r\ufeff")
    return text_lines(path).select(line).filter(line != "").head(2).collect()["line"].to_list()


def _are_records(lines: Sequence[str]) -> bool:
    """Whether lines begin with an object that ends on its own line, and go on after it."""
    first, *others = [line for line in lines if line.strip()][:2] or [""]
    with contextlib.suppress(ValueError, RecursionError):
        return bool(others) and isinstance(_parse(first), dict)
    return False


def _columns(content: Any) -> dict[str, list[Any]] | None:
    """The columns of an object of lists, or of objects of values by index, as pandas writes frames; else None."""
    if not isinstance(content, dict) or not content:
        return None
    if all(isinstance(values, list) for values in content.values()):
        return content
    if all(isinstance(values, dict) for values in content.values()):
        return {name: list(values.values()) for name, values in content.items()}
    return None


def _records(content: Any) -> Sequence[Any]:
    """The records of a file that may be a list of them, or have their columns, or a single one."""
    if columns := _columns(content):
        return [dict(zip(columns, values, strict=False)) for values in zip(*columns.values(), strict=False)]
    return content if isinstance(content, list) else [content]


def _mixed_values(columns: Mapping[str, Sequence[Any]]) -> str:
    """Which value is a list or an object among others that are not: Polars would write it as text."""
    for name, values in columns.items():
        nested = [isinstance(value, list | dict) for value in values]
        if any(nested) and not all(is_nested or value is None for is_nested, value in zip(nested, values, strict=True)):
            first = nested.index(True)
            problem = f"value {first + 1} of column {name} is {json.dumps(values[first])[:40]}"
            return f"{problem}, but others are single values. Write one value per line."
    return ""


def _parse(text: str) -> Any:
    return json.loads(text.removeprefix("\ufeff"), parse_constant=_refuse_constant)


def _parsed(text: str) -> Any:
    """The same; None where it cannot be parsed, which is for Polars to refuse."""
    with contextlib.suppress(ValueError, RecursionError):
        return _parse(text)
    return None


def _flaws(texts: pl.Series) -> Iterator[tuple[int, str]]:
    """Texts that must not reach Polars, which takes minutes for deep nesting, and one of two values of a key."""
    suspects, depths = _native.scan_json(texts.__arrow_c_stream__())
    for index in np.union1d(suspects, np.flatnonzero(depths > _MOST_DEPTH)).tolist():
        if depths[index] > _MOST_DEPTH:
            yield index, f"values are nested more than {_MOST_DEPTH} levels deep. Write a flat table."
        elif key := _repeated_key(texts[index]):
            yield index, f"an object has the key {key!r} twice. Remove or rename one."


def _repeated_key(text: str) -> str:
    """The first key that an object has twice; empty if there is none."""
    repeated: list[str] = []

    def check(pairs: list[tuple[str, Any]]) -> None:
        keys = [key for key, _ in pairs]
        if len(set(keys)) < len(keys):
            repeated.extend(key for key in keys if keys.count(key) > 1)

    with contextlib.suppress(json.JSONDecodeError, RecursionError):  # which are for Polars to refuse
        json.loads(text.removeprefix("\ufeff"), object_pairs_hook=check)
    return repeated[0] if repeated else ""


def _with_halves(lines: pl.LazyFrame) -> pl.LazyFrame:
    """The lines that may have half of a character: a surrogate without the other one of its pair."""
    rest = pl.col("line").str.replace_all(_WHOLE, " ")
    return lines.filter(pl.col("line").str.contains(_SURROGATE)).filter(rest.str.contains(_SURROGATE))


def _half(record: Any, where: str, columns: Collection[str] | None = None) -> str:
    """Which column, of these or of all, has half of a character; empty if none has.

    Polars refuses some halves; for others it writes another character, the same for all.
    """
    for name, value in record.items() if isinstance(record, dict) else ():
        halves = [half for half in _HALF.findall(json.dumps(value)) if half]
        if halves and (columns is None or name in columns):
            return f"column {name}, {where}: found {halves[0]}, which is half of a character. Remove it."
    return ""


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a value of JSON; write null")
