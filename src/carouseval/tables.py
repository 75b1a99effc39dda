"""Tables in: whatever holds columns becomes a checked stream of typed batches, or an error that names the line.

A table is a Polars frame, anything that speaks Arrow (pandas, PyArrow, DuckDB), a dict of columns, a path, a pattern, a
folder, or a list of paths.
"""

import difflib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl

from carouseval.errors import DataError, ParameterError
from carouseval.table_columns import Column, Defect
from carouseval.table_files import TableFile, find_files, open_file, readable

TableLike: TypeAlias = Any
RECORD = "__record__"  # where a record stands in its table, counted from 0
_BATCH = 1 << 20


@dataclass(frozen=True)
class Table:
    """A table with the columns it is used for, under the names the project knows them by."""

    name: str
    records: pl.LazyFrame  # with RECORD
    columns: tuple[Column, ...]
    names: Mapping[str, str]  # what the caller calls each column
    files: tuple[TableFile, ...]
    types: Mapping[str, pl.DataType]
    is_text: bool  # CSV: ids have no type of their own
    lists: bool = False  # one line per carousel, with a list of items
    header: tuple[str, ...] = ()  # all columns, as the caller calls them
    id_types: Mapping[str, pl.DataType] = field(default_factory=dict)

    def __contains__(self, column: str) -> bool:
        return column in self.names

    def frame(self, *, with_record: bool = False) -> pl.LazyFrame:
        """All records, typed; null where a value does not read."""
        typed = [c.typed(self.types[c.name], self._id_type(c)).alias(c.name) for c in self.columns]
        marks = [pl.col(c.name).is_not_null().alias(c.given) for c in self.columns if c.nulls]
        return self._cells().select(*([RECORD] if with_record else []), *typed, *marks)

    def _cells(self) -> pl.LazyFrame:
        if not self.lists:
            return self.records
        cells = self.records.with_columns(col=pl.int_ranges(1, pl.col("item_id").list.len() + 1, dtype=pl.Int64))
        exploded = cells.explode("item_id", "col", empty_as_null=True)
        return exploded.filter(pl.col("item_id").is_not_null())  # an empty place in a list is a hole in the row

    def _rules(self) -> list[pl.Expr]:
        """What must not hold of each column."""
        return [c.broken(self._id_type(c) == pl.String) for c in self.columns]

    def _id_type(self, column: Column) -> pl.DataType:
        """As all tables have agreed, or the column's own."""
        own = pl.Int64() if self.types[column.name].is_integer() else pl.String()
        return self.id_types.get(column.name, own)

    def height(self) -> int:
        """How many lines (cells, where they come in lists) there are."""
        with self.readable():
            return int(self._cells().select(pl.len()).collect(engine="streaming").item())

    def batches(self) -> Iterator[pl.DataFrame]:
        """Typed batches in order; the first defect found is raised with its line."""
        rules = [rule.any().alias(str(at)) for at, rule in enumerate(self._rules())]
        with self.readable():
            for batch in self.frame().collect_batches(chunk_size=_BATCH, maintain_order=True, engine="streaming"):
                if batch.height and any(batch.select(rules).row(0)):
                    raise DataError(str(self.defects()[0]))
                yield batch

    def collect(self) -> pl.DataFrame:
        """All of it, checked."""
        batches = list(self.batches())
        return pl.concat(batches) if batches else self.frame().collect()

    def defects(self) -> list[Defect]:
        """What columns hold that cannot be read, first lines first."""
        broken = self._rules()
        firsts = [pl.col(RECORD).filter(rule).min().alias(f"first {k}") for k, rule in enumerate(broken)]
        totals = [rule.sum().alias(f"total {k}") for k, rule in enumerate(broken)]
        with self.readable():
            found = self.frame(with_record=True).select(firsts + totals).collect(engine="streaming").row(0, named=True)
        records = sorted((found[f"first {k}"], k) for k in range(len(broken)) if found[f"total {k}"])
        return [self._defect(self.columns[k], record, int(found[f"total {k}"])) for record, k in records]

    def find(self, broken: pl.Expr) -> tuple[int, int, dict[str, Any]]:
        """The first record for which something holds, the number of them, and its typed values."""
        lines = self.frame(with_record=True).filter(broken)
        with self.readable():
            total = int(lines.select(pl.len()).collect(engine="streaming").item())
            row = lines.filter(pl.col(RECORD) == pl.col(RECORD).min()).head(1).collect(engine="streaming")
        return int(row[RECORD][0]), total, row.row(0, named=True)

    def _defect(self, column: Column, record: int, total: int) -> Defect:
        lines = self.records.filter(pl.col(RECORD) == record)
        with self.readable():
            # where lists of items are given, their length stands for the columns
            of_list = pl.col("item_id").list.len() if self.lists and column.name == "col" else pl.col(column.name)
            value = lines.select(of_list).collect(engine="streaming").item(0, 0)
        if isinstance(value, pl.Series):
            value = value.to_list()
        what = f"column {self.names[column.name]}, {self.where(record)}: found {_shown(value)}"
        more = f" ({total:,} such lines)" if total > 1 else ""
        remedy = column.remedy
        if column.kind == "id" and self._id_type(column) == pl.Int64 and value not in (None, ""):
            remedy = "The other tables hold integers there, of at most 64 bits. Write ids alike in all tables."
        message = f"{self.name}: {what}{more}. {remedy}"
        return Defect(self.name, self.names[column.name], total, message, first={"record": record, "value": value})

    def where(self, record: int) -> str:
        """The line of a record, in its file where there are several."""
        for file in self.files:
            with readable((file.path, file.kind)):
                height = file.records.select(pl.len()).collect(engine="streaming").item() if len(self.files) > 1 else 0
            if record < height or len(self.files) == 1:
                return file.line(record) + (f" of {file.path}" if len(self.files) > 1 else "")
            record -= height
        return f"line {record + 1}"

    def readable(self) -> Any:
        """What the reader cannot make out becomes our error."""
        return readable(*((file.path, file.kind) for file in self.files), name=self.name)


def open_table(
    source: TableLike, name: str, columns: Sequence[Column], names: Mapping[str, str] | None = None
) -> Table:
    """A table from whatever holds it; ``names`` says what the caller calls some columns.

    >>> table = open_table({"customer": [7], "row": [1]}, "layouts", [Column("user_id", "id")], {"user_id": "customer"})
    >>> table.collect()["user_id"].to_list()
    [7]
    """
    records, files = _records(source, name)
    with readable(*((file.path, file.kind) for file in files), name=name):
        schema = records.collect_schema()
    header = schema.names()
    theirs = {c.name: (names or {}).get(c.name, c.name) for c in columns}
    used = {ours: their if their in header else ours for ours, their in theirs.items()}
    lists = "item_id" in used and _is_list(schema, used["item_id"])
    if not lists and "item_id" in used and used["item_id"] not in header and _is_list(schema, "items"):
        used["item_id"], lists = "items", True
    needed = [c.name for c in columns if c.needed and not (lists and c.name == "col")]
    missing = [ours for ours in needed if used[ours] not in header]
    if missing:
        raise DataError(f"{name}: {_missing(missing, theirs, header, schema)}")
    for file in files[1:] if len(files) > 1 else ():
        lacking = [used[ours] for ours in needed if used[ours] not in file.records.collect_schema()]
        if lacking:
            raise DataError(f"{name}: {file.path} has no column {lacking[0]}. Is it part of {name}?")
    twice = [their for ours, their in used.items() if their in header and list(used.values()).count(their) > 1]
    if twice:
        raise DataError(f"{name}: column {twice[0]} is named for two of ours. Name each once in columns.")
    used = {ours: their for ours, their in used.items() if their in header}
    is_text = bool(files) and all(file.kind == "CSV" for file in files)
    indexed = records.with_row_index(RECORD)
    if is_text:
        indexed = indexed.filter(~pl.all_horizontal(pl.col(header).is_null()))  # blank lines
    kept = indexed.select(RECORD, *(pl.col(their).alias(ours) for ours, their in used.items()))
    types = {ours: schema[their] for ours, their in used.items()}
    if lists:
        of_lists = types["item_id"]
        assert isinstance(of_lists, pl.List | pl.Array)
        inner = of_lists.inner if isinstance(of_lists.inner, pl.DataType) else of_lists.inner()
        kept = kept.with_columns(pl.col("item_id").cast(pl.List(inner)))
        types |= {"item_id": inner, "col": pl.Int64()}
        used["col"] = "col"
    known = tuple(c for c in columns if c.name in used)
    for column in known:
        if not column.takes(types[column.name]):
            hint = (
                " Cast it: pandas makes floats of integers where some are missing."
                if types[column.name].is_float()
                else ""
            )
            words = {"id": "integers or text", "whole": "whole numbers", "segment": "plain values"}
            kind = words.get(column.kind, "numbers")
            raise DataError(
                f"{name}: column {used[column.name]} holds {types[column.name]}, and {kind} are wanted."
                f"{hint or f' {column.remedy}'}"
            )
    return Table(name, kept, known, used, files, types, is_text, lists, tuple(header))


def _missing(missing: list[str], theirs: Mapping[str, str], header: list[str], schema: pl.Schema) -> str:
    """Which columns are missing, and what to do about it."""
    told = []
    for ours in missing:
        near = difflib.get_close_matches(ours, [one for one in header if one not in theirs.values()], n=1, cutoff=0.6)
        asked = f" ({theirs[ours]}, as columns has it)" if theirs[ours] != ours else ""
        told.append(f"{ours}{asked}{f' (your {near[0]}?)' if near else ''}")
    has = f"{', '.join(header[:12])}{', ...' if len(header) > 12 else ''}" or "no columns"
    hint = "Other names go through columns={'user_id': 'customer', ...}."
    for mark, word in ((";", "semicolons"), ("\t", "tabs"), ("|", "bars")):
        if len(header) == 1 and mark in header[0]:
            hint = f"Its fields seem to be separated by {word}; write it with commas."
    if schema.get("items") == pl.String and "item_id" in missing:
        hint = "Its items are text; lists need .parquet or .ndjson, or write one line per item with col and item_id."
    return f"missing column{'s' * (len(missing) > 1)} {', '.join(told)}; it has {has}. {hint}"


def in_memory(source: TableLike, name: str) -> TableLike:
    """What can be read only once, or slowly, as a frame; paths and frames as they are."""
    records, files = _records(source, name)
    return source if files or isinstance(source, pl.LazyFrame) else records.collect()


def _records(source: TableLike, name: str) -> tuple[pl.LazyFrame, tuple[TableFile, ...]]:
    if isinstance(source, str | os.PathLike) or (
        isinstance(source, list | tuple) and source and all(isinstance(one, str | os.PathLike) for one in source)
    ):
        paths = [source] if isinstance(source, str | os.PathLike) else source
        try:
            files = tuple(open_file(file) for path in paths for file in find_files(Path(path)))
        except DataError as error:
            raise DataError(f"{name}: {error}") from None
        frames = [file.records for file in files]
        return (frames[0] if len(frames) == 1 else pl.concat(frames, how="diagonal_relaxed")), files
    if isinstance(source, pl.LazyFrame):
        return source, ()
    if isinstance(source, pl.DataFrame):
        return source.lazy(), ()
    if isinstance(source, Mapping) or hasattr(source, "__arrow_c_stream__") or hasattr(source, "__dataframe__"):
        try:
            return pl.DataFrame(source).lazy(), ()
        except Exception as error:  # whatever a foreign library says of its own table
            raise DataError(f"{name} does not read as a table: {str(error).strip().partition(chr(10))[0]}.") from None
    raise ParameterError(
        f"{name} must be a table (Polars, pandas, PyArrow, DuckDB, a dict of columns) or a path, "
        f"found {type(source).__name__}."
    )


def _is_list(schema: pl.Schema, column: str) -> bool:
    return isinstance(schema.get(column), pl.List | pl.Array)


def agree_on_ids(tables: Sequence[Table], settled: Mapping[str, pl.DataType] | None = None) -> list[Table]:
    """One type for each id in all tables: 7 never equals "7", so what differs is refused.

    Text of CSV files has no type of its own and takes that of the other tables, or what was ``settled`` before.
    """
    types: dict[str, tuple[pl.DataType, str]] = {name: (kind, "judgments") for name, kind in (settled or {}).items()}
    for table in tables:
        for column in table.columns:
            raw = table.types[column.name]
            if column.kind != "id" or (table.is_text and raw == pl.String) or raw == pl.Null:
                continue
            found: pl.DataType = pl.Int64() if raw.is_integer() else pl.String()
            kind, other = types.setdefault(column.name, (found, table.name))
            if kind != found:
                words = {pl.Int64(): "integers", pl.String(): "text"}
                raise DataError(
                    f"{table.name}: column {table.names[column.name]} holds {words[found]}, and in {other} it holds "
                    f"{words[kind]}: 7 never equals '7', so nothing would match. Convert one of them."
                )
    chosen = {name: kind for name, (kind, _) in types.items()}
    return [_with_ids(table, chosen) for table in tables]


def _with_ids(table: Table, types: Mapping[str, pl.DataType]) -> Table:
    own = {c.name: types.get(c.name, pl.String()) for c in table.columns if c.kind == "id"}
    return replace(table, id_types=own)


def _shown(value: Any) -> str:
    shown = "nothing" if value is None else repr(value)
    return shown if len(shown) <= 60 else f"{shown[:60]}..."
