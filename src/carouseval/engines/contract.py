"""What an engine is: where tables are, and where users are scored.

An engine brings the lines of tables together by a key, such as the user, gives a function those of some keys at a time,
and adds up what it returns. What is computed of these lines, and what is made of the sum, is the same on every engine.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeAlias

import polars as pl

from carouseval.engines.reports import ReadLines, Reads, Report
from carouseval.errors import DataError
from carouseval.evaluation.page_table import Table

if TYPE_CHECKING:
    from carouseval.engines.given_tables import GivenTables

Tables: TypeAlias = Mapping[str, pl.DataFrame]
"""The lines of some keys, by table."""

Work: TypeAlias = Callable[[Tables], tuple[Sequence[pl.DataFrame], Any]]
"""What is made of some keys: lines that stay where they are made, and what adds up (None: nothing)."""

ColumnTypes: TypeAlias = Mapping[str, Any]
"""The columns of a table, and their types in Polars."""

DECLARED = ("category", "personal", "capacity")  # what lines of carousels for single users declare
RUN = "__run__"  # the column with the number of a run, where pages are of several


class Mapped(ABC, Generic[Table]):
    """What a function made of the lines of all keys."""

    @property
    @abstractmethod
    def report(self) -> Report:
        """What all keys add up to, what is wrong with their lines, and what was read."""

    @abstractmethod
    def lines(self, run: int | None = None, *, lenient: bool = False) -> Table:
        """The lines that were made, where they are; those of one run, without the column that tells it.

        Unless ``lenient``, they are refused if, made again, some of them can no longer be.
        """

    @abstractmethod
    def collect(self, run: int | None = None) -> tuple[pl.DataFrame, Reads]:
        """The same here, and what was read to make them, which an engine may have had to make again."""

    @abstractmethod
    def map(
        self,
        work: Callable[[pl.DataFrame], tuple[Sequence[pl.DataFrame], Any]],
        made: ColumnTypes,
        reading: Collection[str] | None = None,
    ) -> Mapped[Table]:
        """Give a function the lines that were made, all those of a key together, or some of their columns alone."""

    def read_again(self) -> Reads | None:
        """What lines are made of now, if they had been dropped and are made again; else None."""
        return None

    def drop(self) -> None:
        """Drop what is kept of the lines; they are made again if they are asked for."""


class Engine(ABC, Generic[Table]):
    """Where tables are, and where users are scored."""

    place: str  # in messages: "Spark"

    @abstractmethod
    def owns(self, table: Any) -> bool:
        """Whether this is one of the engine's tables."""

    @abstractmethod
    def require(self, name: str, table: Any) -> None:
        """Refuse what is none of its tables."""

    @abstractmethod
    def header(self, table: Table) -> pl.DataFrame:
        """A table's columns, without its lines."""

    @abstractmethod
    def to_polars(self, table: Table) -> pl.DataFrame:
        """All lines of a table, on this machine."""

    @abstractmethod
    def select(self, table: Table, columns: Collection[str]) -> Table:
        """A table with some of its columns."""

    @abstractmethod
    def where(self, table: Table, column: str, *, null: bool) -> Table:
        """The lines of a table that have no value in a column, or those that have one."""

    @abstractmethod
    def is_empty(self, table: Table) -> bool:
        """Whether a table has no line."""

    @abstractmethod
    def read(self, table: Table) -> ReadLines:
        """What is read of a table, for this alone."""

    @abstractmethod
    def map(
        self,
        tables: Mapping[str, tuple[Table, str]],
        work: Work,
        made: ColumnTypes,
        *,
        together: bool = True,
        least: int = 0,
    ) -> Mapped[Table]:
        """Give ``work`` the lines of some keys at a time; every table is given with the column that has its key.

        All lines of a key come ``together``, unless that does not matter. Work that costs as much as ``least`` lines
        each time should get as many. Errors about data are reported, and the other keys are looked at all the same.
        """

    def declared_carousels(self, tables: GivenTables[Table]) -> tuple[pl.DataFrame, Reads]:
        """What lines of carousels for single users declare of categories, under our names, and what was read for it.

        All of them, here; an engine with more users than this machine holds may leave out what concerns one user alone.
        """
        carousels, _ = tables.streamed["carousels"]
        names = tables.tables["carousels"].names
        columns = [pl.col(names[name]).alias(name) for name in DECLARED if name in names]
        lines = self.to_polars(carousels).select(columns)
        return lines.drop_nulls("category"), {"carousels": self.read(carousels)}

    def require_comparable_users(self, tables: Mapping[str, tuple[Table, str]]) -> None:
        """Refuse users whose types in these tables cannot be brought together."""


def outcome(
    work: Callable[[Any], tuple[Sequence[pl.DataFrame], Any]], lines: Any, read: Reads
) -> tuple[Sequence[pl.DataFrame], Report]:
    """What is made of some lines, and the report of it; what is wrong with them is reported, not raised."""
    try:
        made, sums = work(lines)
    except DataError as error:
        return [], Report(read=read) + Report.of_error(error)
    return made, Report(sums, read=read)


def arranged(frame: pl.DataFrame, columns: ColumnTypes) -> pl.DataFrame:
    """Lines in the columns that were promised, null where they lack one: another run may name pages."""
    if undeclared := [name for name in frame.columns if name not in columns]:
        raise TypeError(
            f"columns {', '.join(undeclared)}: not promised to the engine. Declare them in result_columns.py."
        )
    absent = [pl.lit(None, kind).alias(name) for name, kind in columns.items() if name not in frame.columns]
    return frame.with_columns(absent).select(pl.col(name).cast(kind) for name, kind in columns.items())
