"""Reading tables: any source of columns becomes a checked stream of typed batches, or an error that names the line.

A table is a Polars frame, anything with an Arrow interface (pandas, PyArrow, DuckDB), a dict of columns, a path, a
pattern, a folder, or a list of paths; ``opening.py`` opens it.
"""

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import polars as pl

from carouseval.errors import DataError
from carouseval.tables.added_errors import AddedError, such_lines
from carouseval.tables.columns import Column, Defect, invalid_values, typed_columns
from carouseval.tables.files import ReadErrors, TableFile, with_table_name
from carouseval.tables.kinds.contract import DAMAGED
from carouseval.tables.sources import TableLike, in_memory

__all__ = ["RECORD", "Column", "Table", "TableLike", "agree_on_ids", "in_memory"]

RECORD = "__record__"  # the position of a record in its table, counted from 0
Query: TypeAlias = Callable[[pl.LazyFrame], pl.LazyFrame]
_BATCH = 1 << 20


@dataclass(frozen=True)
class Table:
    """A table, with the columns it is used for under our names."""

    name: str
    records: pl.LazyFrame  # with RECORD
    columns: tuple[Column, ...]
    names: Mapping[str, str]  # our name to the user's name of each column
    files: tuple[TableFile, ...]
    types: Mapping[str, pl.DataType]
    is_text: bool  # CSV and TSV: values have no types
    lists: bool = False  # one line per carousel, with a list of items
    nested: bool = False  # one record per page, with a list of rows, each with a list of items
    many: tuple[str, ...] = ()  # columns whose cells hold lists, with a line for each value
    header: tuple[str, ...] = ()  # all columns, by the user's names
    id_types: Mapping[str, pl.DataType] = field(default_factory=dict)
    sound: set[str] = field(default_factory=set)  # columns whose bytes in the files were checked
    part: bool = False  # the lines of some users, in no order: a line is named by its user instead of a number

    def __contains__(self, column: str) -> bool:
        return column in self.names

    def _frame(self, *, with_record: bool = True) -> pl.LazyFrame:
        """All records, typed; null where a value cannot be converted. Only this class collects it, and counts lines."""
        typed = typed_columns(self.columns, self.types, self._id_types())
        return self._cells().select(*([RECORD] if with_record else []), *typed)

    def _cells(self) -> pl.LazyFrame:
        records = self.records.explode(self.many, empty_as_null=False) if self.many else self.records
        if not self.lists:
            return records
        cells = records.with_columns(col=pl.int_ranges(1, pl.col("item_id").list.len() + 1, dtype=pl.Int64))
        exploded = cells.explode("item_id", "col", empty_as_null=True)
        return exploded.filter(pl.col("item_id").is_not_null())  # a null in a list is a gap in the row

    def _invalid(self) -> list[pl.Expr]:
        """The invalid values of each column."""
        return invalid_values(self.columns, self._id_types())

    def _id_types(self) -> dict[str, pl.DataType]:
        """For each column the type that ids have there: the one that all tables agreed on, or the column's own."""
        names = [column.name for column in self.columns]
        types = {name: pl.Int64() if self.types[name].is_integer() else pl.String() for name in names}
        return types | dict(self.id_types)

    def height(self) -> int:
        """The number of lines, or of cells if items are in lists."""
        return self._height

    @functools.cached_property
    def _height(self) -> int:
        with self.read_errors():
            return int(self._cells().select(pl.len()).collect(engine="streaming").item())

    def batches(self, *, with_record: bool = False) -> Iterator[pl.DataFrame]:
        """Typed batches in order; the first defect is raised with its line."""
        checks = [invalid.any().alias(str(k)) for k, invalid in enumerate(self._invalid())]
        frame, lines = self._frame(with_record=with_record), 0
        self._check_contents()
        with self.read_errors():
            for batch in frame.collect_batches(chunk_size=_BATCH, maintain_order=True, engine="streaming"):
                if batch.height and any(batch.select(checks).row(0)):
                    raise AddedError(*(defect.counted for defect in self.defects()))
                lines += batch.height
                if lines > self.height():  # what follows may have room for so many only
                    self._require_all(lines)
                yield batch
        self._require_all(lines)

    def collect(self, progress: Callable[[int, int], None] | None = None) -> pl.DataFrame:
        """The whole table, checked; ``progress`` is called with (lines read, lines)."""
        batches, lines, total = [], 0, 0 if progress is None else self.height()
        for batch in self.batches():
            batches.append(batch)
            lines += batch.height
            if progress is not None:
                progress(lines, total)
        with self.read_errors():
            return pl.concat(batches) if batches else self._frame(with_record=False).collect()

    def collect_all(self, *queries: Query) -> list[pl.DataFrame]:
        """The results of queries on the typed records, with RECORD, in one streaming pass that also checks them."""
        tally, *results = self.query(self._defect_counts, *queries)
        if defects := self._defects(tally):
            raise AddedError(*(defect.counted for defect in defects))
        return results

    def query(self, *queries: Query) -> list[pl.DataFrame]:
        """The results of queries on the typed records, with RECORD, in one streaming pass; values are not checked."""
        frame = self._frame()
        self._check_contents()
        with self.read_errors():
            lines, *results = pl.collect_all(
                [frame.select(pl.len()), *(query(frame) for query in queries)], engine="streaming"
            )
        self._require_all(lines.item())
        return results

    def first(self, column: str) -> Any:
        """The first value of a column of a table that is not empty."""
        with self.read_errors():
            return self._frame().select(column).head(1).collect().item()

    def _check_contents(self) -> None:
        """Refuse what Polars reads without complaint, once."""
        columns = {*self.header} if self.nested or self.lists else {*self.names.values()}
        for file in () if columns <= self.sound else self.files:
            try:
                file.check_contents(columns)
            except DataError as error:
                raise DataError(with_table_name(self.name, str(error))) from None
        self.sound.update(columns)

    def _require_all(self, lines: int) -> None:
        """Refuse a table that was read in part: where a worker of Polars panics, batches end without an error."""
        try:
            for file in self.files:
                file.check_unchanged()
            if lines != self.height():
                files = " or ".join(file.path for file in self.files[:3]) + ", ..." * (len(self.files) > 3)
                what = f"{files or 'the table'}: {lines:,} of {self.height():,} lines could be read"
                raise DataError(f"{what}. {DAMAGED}")
        except DataError as error:
            raise DataError(with_table_name(self.name, str(error))) from None

    def defects(self) -> list[Defect]:
        """One defect for each column with invalid values, ordered by the first line that has one."""
        return self._defects(*self.query(self._defect_counts))

    def _defect_counts(self, frame: pl.LazyFrame) -> pl.LazyFrame:
        """For each column the first record with an invalid value, and the number of them."""
        conditions = self._invalid()
        firsts = [pl.col(RECORD).filter(invalid).min().alias(f"first {k}") for k, invalid in enumerate(conditions)]
        totals = [invalid.sum().alias(f"total {k}") for k, invalid in enumerate(conditions)]
        return frame.select(firsts + totals)

    def _defects(self, counts: pl.DataFrame) -> list[Defect]:
        count = counts.row(0, named=True)
        records = sorted((count[f"first {k}"], k) for k in range(len(self.columns)) if count[f"total {k}"])
        return [self._defect(self.columns[k], record, int(count[f"total {k}"])) for record, k in records]

    def find(self, condition: pl.Expr) -> tuple[int, int, dict[str, Any]]:
        """The first record that meets a condition, the number of such records, and its typed values."""
        total, row = self.query(
            lambda frame: frame.filter(condition).select(pl.len()),
            lambda frame: frame.filter(condition).bottom_k(1, by=RECORD),
        )
        return int(row[RECORD][0]), int(total.item()), row.row(0, named=True)

    def _defect(self, column: Column, record: int, total: int) -> Defect:
        lines, where = self.records.filter(pl.col(RECORD) == record), self.where(record)
        with self.read_errors():
            if self.nested:
                (invalid,) = invalid_values([column], self._id_types())
                cells = self._frame().filter(pl.col(RECORD) == record, invalid)
                row = cells.select("row").head(1).collect(engine="streaming").item()
                lines, where = lines.filter(pl.col("row").cast(pl.Int64) == row), f"{where}, row {row}"
            # with lists of items, an invalid column means a list that is too long
            is_length = self.lists and column.name == "col"
            value = (
                lines.select(pl.col("item_id").list.len() if is_length else column.name)
                .collect(engine="streaming")
                .item(0, 0)
            )
        if isinstance(value, pl.Series):
            value = value.to_list()
        problem = f"column {self.names[column.name]}, {where}: found {_format_value(value)}"
        remedy = column.remedy
        if column.kind == "id" and self._id_types()[column.name] == pl.Int64 and value not in (None, ""):
            remedy = "In the other tables it holds integers of at most 64 bits. Use the same type of id in all tables."
        counted = such_lines(f"{self.name}.{column.name}", total, f"{self.name}: {problem}", remedy)
        first = {"record": record, "value": value}
        return Defect(self.name, self.names[column.name], total, str(counted), first=first, counted=counted)

    def where(self, record: int) -> str:
        """The line of a record, and its file if there are several."""
        if self.part:
            return self._owner_of(record)
        for file in self.files:
            with ReadErrors([file]):
                height = file.records.select(pl.len()).collect(engine="streaming").item() if len(self.files) > 1 else 0
            if record < height or len(self.files) == 1:
                return file.where(record) + (f" of {file.path}" if len(self.files) > 1 else "")
            record -= height
        return f"line {record + 1}"

    def _owner_of(self, record: int) -> str:
        """The user of a record or, where there are no users, its first id."""
        owner = "user_id" if "user_id" in self else next(column.name for column in self.columns if column.kind == "id")
        lines = self.records.filter(pl.col(RECORD) == record)
        with self.read_errors():
            return f"{self.names[owner]} {_format_value(lines.select(owner).collect().item(0, 0))}"

    def in_brackets(self, record: int) -> str:
        """The line of a record, to follow what it holds; nothing where lines have no number."""
        return "" if self.part else f" ({self.where(record)})"

    def where_is(self, condition: pl.Expr) -> str:
        """The same for the first record that meets a condition."""
        return "" if self.part else self.in_brackets(self.find(condition)[0])

    def read_errors(self) -> ReadErrors:
        """Turn what Polars raises while it reads this table into a ``DataError``."""
        return ReadErrors(self.files, self.name)


def agree_on_ids(tables: Sequence[Table], settled: Mapping[str, pl.DataType] | None = None) -> list[Table]:
    """Give each id one type in all tables; different types are refused, as 7 never equals "7".

    The values of text files such as CSV have no types; their ids take the type of the other tables, or the one that was
    ``settled`` before.
    """
    types: dict[str, tuple[pl.DataType, str]] = {name: (kind, "judgments") for name, kind in (settled or {}).items()}
    for table in tables:
        for column in table.columns:
            raw = table.types[column.name]
            if column.kind != "id" or (table.is_text and raw == pl.String) or raw == pl.Null:
                continue
            id_type: pl.DataType = pl.Int64() if raw.is_integer() else pl.String()
            kind, other = types.setdefault(column.name, (id_type, table.name))
            if kind != id_type:
                words = {pl.Int64(): "integers", pl.String(): "text"}
                raise DataError(
                    f"{table.name}: column {table.names[column.name]} holds {words[id_type]}, but in {other} it holds "
                    f"{words[kind]}: 7 never equals '7', so nothing would match. Convert one of them."
                )
    agreed = {name: kind for name, (kind, _) in types.items()}
    return [_with_id_types(table, agreed) for table in tables]


def _with_id_types(table: Table, types: Mapping[str, pl.DataType]) -> Table:
    ids = [column.name for column in table.columns if column.kind == "id"]
    return replace(table, id_types={name: types.get(name, pl.String()) for name in ids})


def _format_value(value: Any) -> str:
    text = "nothing" if value is None else repr(value)
    return text if len(text) <= 60 else f"{text[:60]}..."
