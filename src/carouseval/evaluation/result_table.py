"""What a table of results is: its columns, with their types and when they are there, a check that it has them, and how
people read them.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import groupby
from typing import Any, TypeAlias

import polars as pl

from carouseval.evaluation.columns import Columns
from carouseval.text_tables import TableCell, TextTable, value_text


class When(StrEnum):
    """When a result has a column."""

    ALWAYS = "always"
    PAGE_IDS = "where pages have ids"
    WEIGHT = "with `weight`"
    IDEAL = "if the metric has an ideal page"
    UNPROVEN = "if an ideal page is not proven; on Spark, if the metric has one"
    MARGIN = "with `margin`"
    MISSING = "if missing pages count"
    NOTHING = "if users without relevant items count"


_EACH = (Columns.SEGMENT, Columns.SYSTEM_MEAN, Columns.METRIC_SCORE)


@dataclass(frozen=True)
class ResultColumn:
    """A column of results, or one for each segment, metric or system."""

    name: str
    kind: pl.DataType | None  # None: that of the tables given, as ids have it
    doc: str
    when: When = When.ALWAYS

    @property
    def each(self) -> str:
        """What there is a column for each of: the part of the name that stands for it; empty if it is one column."""
        return next((placeholder for placeholder in _EACH if placeholder in self.name), "")


@dataclass(frozen=True)
class Present:
    """What decides which columns the tables of a result have."""

    segments: Sequence[str] = ()
    metrics: Mapping[str, Collection[When]] = field(default_factory=dict)  # and what holds for each
    systems: Sequence[str] = ()
    holds: Collection[When] = ()

    def names(self, each: str) -> Iterator[tuple[str, Collection[When]]]:
        """What there is a column for each of, and what holds for it."""
        if each == Columns.METRIC_SCORE:
            yield from self.metrics.items()
        else:
            names = {Columns.SEGMENT: self.segments, Columns.SYSTEM_MEAN: self.systems}.get(each, [""])
            yield from ((name, self.holds) for name in names)


@dataclass(frozen=True)
class ResultTable:
    """A table of results and its columns, in their order; neighbours by metric stand together for each metric."""

    name: str
    lines: str  # what each line is about
    columns: tuple[ResultColumn, ...]

    def types(self, present: Present, ids: Mapping[str, pl.DataType] | None = None) -> dict[str, Any]:
        """The columns that the table has and their types; None where it is that of tables given, which is not told."""
        types: dict[str, Any] = {}
        for each, group in groupby(self.columns, lambda column: column.each):
            columns = list(group)
            for name, holds in present.names(each):
                for column in columns:
                    if column.when == When.ALWAYS or column.when in holds:
                        kind = (ids or {}).get(column.name) if column.kind is None else column.kind
                        types[column.name.replace(each, name)] = kind
        return types

    def arranged(self, frame: pl.DataFrame, present: Present) -> pl.DataFrame:
        """A frame with its columns in their order; refused if it has others, or of other types."""
        types = self.types(present)
        self._check(frame.columns, types)
        for name, kind in types.items():
            if kind is not None and frame.schema[name] != kind:
                raise TypeError(f"{self.name}: column {name!r} holds {frame.schema[name]}, declared is {kind}.")
        return frame[[*types]]

    def of_lines(self, lines: Sequence[Mapping[str, Any]], present: Present) -> pl.DataFrame:
        """The table of some lines, each a value for every column."""
        types = self.types(present)
        for line in lines:
            self._check(line, types)
        return pl.DataFrame(lines, schema=types)

    def _check(self, names: Iterable[str], declared: Iterable[str]) -> None:
        """Refuse columns that are not declared: engines would not have them."""
        for name in {*names} ^ {*declared}:
            what = "is declared for it, but was not made" if name in declared else "is not declared for it"
            raise TypeError(
                f"{self.name}: column {name!r} {what}. A table's columns are declared in result_columns.py."
            )

    @property
    def own_names(self) -> set[str]:
        """The names of columns that are one each."""
        return {column.name for column in self.columns if not column.each}


Line: TypeAlias = Mapping[str, Any]
"""A line of a table, by column."""


@dataclass(frozen=True)
class ShownColumn:
    """A column that people read, of one or more of a table's."""

    columns: tuple[str, ...]
    header: str
    text: Callable[[Line], str | TableCell]
    numeric: bool = True
    about: str = ""  # what it holds, if that is not what its columns do

    @classmethod
    def as_it_is(cls, name: str, kind: pl.DataType, header: str = "") -> "ShownColumn":
        """A column that nothing is said of, but perhaps what it is called."""
        yes_no = {True: "yes", False: "no", None: ""}
        text = (lambda row: yes_no[row[name]]) if kind == pl.Boolean else (lambda row: value_text(row[name]))
        return cls((name,), header or name.replace("_", " "), text, kind.is_numeric())

    @classmethod
    def of_name(cls, name: str) -> "ShownColumn":
        """A column of names or ids."""
        return cls((name,), name, lambda row: str(row[name]), numeric=False)


def shown_table(
    frame: pl.DataFrame, declared: ResultTable, shown: Sequence[ShownColumn], left_out: Collection[str] = ()
) -> TextTable:
    """A table of results: some columns as they are ``shown``, then all others but those that are ``left_out``."""
    named = {name for column in shown for name in column.columns}.union(left_out)
    columns = [column for column in shown if {*column.columns} <= {*frame.columns}.difference(left_out)]
    columns += [ShownColumn.as_it_is(name, kind) for name, kind in frame.schema.items() if name not in named]
    rows = [[column.text(row) for column in columns] for row in frame.iter_rows(named=True)]
    docs = {column.name: column.doc for column in declared.columns}
    about = [column.about or "; ".join(docs[name] for name in column.columns if name in docs) for column in columns]
    return TextTable([column.header for column in columns], rows, [column.numeric for column in columns], about=about)
