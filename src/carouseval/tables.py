"""Tables in: whatever holds columns becomes a checked stream of typed batches, or an error that names the line.

A table is a Polars frame, anything that speaks Arrow (pandas, PyArrow, DuckDB), a dict of columns, a path, a pattern, a
folder, or a list of paths.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl

from carouseval.errors import DataError
from carouseval.table_columns import Column, Defect, missing_columns
from carouseval.table_files import TableFile, readable
from carouseval.table_sources import TableLike, in_memory, name_of, records_of

__all__ = ["RECORD", "Column", "Table", "TableLike", "agree_on_ids", "in_memory", "open_table"]

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
    is_text: bool  # CSV and the like: ids have no type of their own
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

    def collect_all(self, *queries: Callable[[pl.LazyFrame], pl.LazyFrame]) -> list[pl.DataFrame]:
        """The results of queries on the typed records, with RECORD, in one streaming pass that checks them, too."""
        frame = self.frame(with_record=True)
        with self.readable():
            tally, *results = pl.collect_all(
                [self._tally(frame), *(query(frame) for query in queries)], engine="streaming"
            )
        if defects := self._tallied(tally):
            raise DataError(str(defects[0]))
        return results

    def defects(self) -> list[Defect]:
        """What columns hold that cannot be read, first lines first."""
        with self.readable():
            return self._tallied(self._tally(self.frame(with_record=True)).collect(engine="streaming"))

    def _tally(self, frame: pl.LazyFrame) -> pl.LazyFrame:
        """Of each column the first record that breaks its rule, and how many do."""
        broken = self._rules()
        firsts = [pl.col(RECORD).filter(rule).min().alias(f"first {k}") for k, rule in enumerate(broken)]
        totals = [rule.sum().alias(f"total {k}") for k, rule in enumerate(broken)]
        return frame.select(firsts + totals)

    def _tallied(self, tally: pl.DataFrame) -> list[Defect]:
        found = tally.row(0, named=True)
        records = sorted((found[f"first {k}"], k) for k in range(len(self.columns)) if found[f"total {k}"])
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
            with readable(file):
                height = file.records.select(pl.len()).collect(engine="streaming").item() if len(self.files) > 1 else 0
            if record < height or len(self.files) == 1:
                return file.place(record) + (f" of {file.path}" if len(self.files) > 1 else "")
            record -= height
        return f"line {record + 1}"

    def readable(self) -> Any:
        """What the reader cannot make out becomes our error."""
        return readable(*self.files, name=self.name)


def open_table(
    source: TableLike,
    name: str | None,
    columns: Sequence[Column],
    names: Mapping[str, str] | None = None,
    *,
    hint: str = "Other names go through columns={'user_id': 'customer', ...}.",
    full_lines: bool = False,
) -> Table:
    """A table from whatever holds it; ``names`` says what the caller calls some columns.

    Without a ``name`` it goes by its path. ``hint`` says what to do about missing columns. With ``full_lines`` a line
    of a text file must have as many fields as the header, for which it is read once more: that a line of a log was cut
    off shows in no column, where most are empty.

    >>> table = open_table({"customer": [7], "row": [1]}, "layouts", [Column("user_id", "id")], {"user_id": "customer"})
    >>> table.collect()["user_id"].to_list()
    [7]
    """
    name = name_of(source) if name is None else name
    records, files = records_of(source, name)
    with readable(*files, name=name):
        schema = records.collect_schema()
    header = schema.names()
    theirs = {c.name: (names or {}).get(c.name, c.name) for c in columns}
    used = {ours: their if their in header else ours for ours, their in theirs.items()}
    lists = "item_id" in used and _is_list(schema, used["item_id"])
    if not lists and "item_id" in used and used["item_id"] not in header and _is_list(schema, "items"):
        used["item_id"], lists = "items", True
    needed = [c.name for c in columns if c.needed and not (lists and c.name == "col")]
    if missing := [ours for ours in needed if used[ours] not in header]:
        separator = next((file.kind.separator for file in files if file.kind.is_text), ",")
        raise DataError(f"{name}: {missing_columns(missing, theirs, schema, hint, separator)}")
    _check_names(name, used)
    for file in files:
        own = header if len(files) == 1 else file.records.collect_schema().names()
        _check_file(name, file, own, [used[ours] for ours in needed])
        if full_lines:
            file.check_lines()
    used = {ours: their for ours, their in used.items() if their in header}
    is_text = bool(files) and all(file.kind.is_text for file in files)
    indexed = records.with_row_index(RECORD)
    if is_text and used:  # where lines were checked to be full, a blank one is told by the columns in use
        told_by = list(used.values()) if full_lines else header
        indexed = indexed.filter(~pl.all_horizontal(pl.col(told_by).is_null()))
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
        if refusal := column.refusal(types[column.name]):
            raise DataError(f"{name}: column {used[column.name]} {refusal}")
    return Table(name, kept, known, used, files, types, is_text, lists, tuple(header))


def _check_names(name: str, used: Mapping[str, str]) -> None:
    for theirs in used.values():
        if list(used.values()).count(theirs) > 1:
            raise DataError(f"{name}: column {theirs} is named for two of ours. Name each once in columns.")


def _check_file(name: str, file: TableFile, header: Sequence[str], needed: Sequence[str]) -> None:
    """Each of several files has the needed columns, and each of them once."""
    for column in needed:
        if column not in header:
            raise DataError(f"{name}: {file.path} has no column {column}. Is it part of {name}?")
        if file.kind.is_text and f"{column}_duplicated_0" in header:  # what Polars calls the second of a name
            raise DataError(f"{name}: the header names {column} twice. Remove or rename one.")


def _is_list(schema: pl.Schema, column: str) -> bool:
    return isinstance(schema.get(column), pl.List | pl.Array)


def agree_on_ids(tables: Sequence[Table], settled: Mapping[str, pl.DataType] | None = None) -> list[Table]:
    """One type for each id in all tables: 7 never equals "7", so what differs is refused.

    Text of files such as CSV has no type of its own and takes that of the other tables, or what was ``settled`` before.
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
