"""An engine of Polars frames in memory: users are scored in parts, one after the other or, in subclasses, elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial, reduce
from operator import add
from typing import Any

import polars as pl

from carouseval.engines.contract import RUN, ColumnTypes, Engine, Mapped, Work, arranged, outcome
from carouseval.engines.reports import ReadLines, Reads, Report
from carouseval.errors import ParameterError
from carouseval.evaluation.exact_sums import added

Made = tuple[Sequence[pl.DataFrame], Report]


@dataclass(frozen=True)
class LocalEngine(Engine[pl.DataFrame]):
    """Tables are Polars frames, and users are in as many parts as asked for: of less memory than all at once take."""

    parts: int = 2
    place = "this machine"

    def owns(self, table: Any) -> bool:
        return isinstance(table, pl.DataFrame)

    def require(self, name: str, table: Any) -> None:
        if not self.owns(table):
            raise ParameterError(f"{name} must be a Polars DataFrame, found {type(table).__name__}.")

    def header(self, table: pl.DataFrame) -> pl.DataFrame:
        return table.clear()

    def to_polars(self, table: pl.DataFrame) -> pl.DataFrame:
        return table

    def select(self, table: pl.DataFrame, columns: Collection[str]) -> pl.DataFrame:
        return table.select(name for name in table.columns if name in columns)

    def where(self, table: pl.DataFrame, column: str, *, null: bool) -> pl.DataFrame:
        return table.filter(pl.col(column).is_null() if null else pl.col(column).is_not_null())

    def is_empty(self, table: pl.DataFrame) -> bool:
        return table.is_empty()

    def read(self, table: pl.DataFrame) -> ReadLines:
        """How many lines there are; frames do not change."""
        return ReadLines(table.height)

    def map(
        self,
        tables: Mapping[str, tuple[pl.DataFrame, str]],
        work: Work,
        made: ColumnTypes,
        *,
        together: bool = True,
        least: int = 0,
    ) -> LocalMapped:
        """Give ``work`` a part of the keys at a time."""
        split = {name: self._split(table, key) for name, (table, key) in tables.items()}
        parts = [dict(zip(split, frames, strict=True)) for frames in zip(*split.values(), strict=True)]
        filled = [part for part in parts if any(lines.height for lines in part.values())]
        return self.mapped(partial(_map_tables, work=work), filled, made)

    def _split(self, table: pl.DataFrame, key: str) -> list[pl.DataFrame]:
        part = table[key].cast(pl.String).hash(seed=0) % self.parts
        return [table.filter(part == number) for number in range(self.parts)]

    def mapped(self, call: Callable[[Any], Made], parts: Sequence[Any], made: ColumnTypes) -> LocalMapped:
        """What is made of all parts."""
        frames, reports = [], []
        for lines, report in self.each(call, parts):
            frames.append(_joined(lines, made))
            reports.append(report)
        return LocalMapped(self, made, frames, reports)

    def each(self, call: Callable[[Any], Made], parts: Sequence[Any]) -> Iterable[Made]:
        """What a function makes of each part, in their order: what another engine in memory does in its own way."""
        return map(call, parts)


@dataclass(frozen=True)
class LocalMapped(Mapped[pl.DataFrame]):
    """What was made of each part."""

    engine: LocalEngine
    columns: ColumnTypes
    parts: Sequence[pl.DataFrame]
    reports: Sequence[Report]

    @cached_property
    def report(self) -> Report:
        return reduce(add, self.reports, Report())

    def lines(self, run: int | None = None, *, lenient: bool = False) -> pl.DataFrame:
        lines = _joined(self.parts, self.columns)
        return (lines if run is None else lines.filter(pl.col(RUN) == run)).drop(RUN, strict=False)

    def collect(self, run: int | None = None) -> tuple[pl.DataFrame, Reads]:
        return self.lines(run) if run is not None else _joined(self.parts, self.columns), self.report.read

    def map(
        self,
        work: Callable[[pl.DataFrame], tuple[Sequence[pl.DataFrame], Any]],
        made: ColumnTypes,
        reading: Collection[str] | None = None,
    ) -> LocalMapped:
        parts = [(lines, report.read) for lines, report in zip(self.parts, self.reports, strict=True)]
        return self.engine.mapped(partial(_map_lines, work=work), parts, made)


def _map_tables(tables: Mapping[str, pl.DataFrame], work: Work) -> Made:
    return outcome(work, tables, {name: ReadLines(lines.height) for name, lines in tables.items()})


def _map_lines(
    part: tuple[pl.DataFrame, Reads], work: Callable[[pl.DataFrame], tuple[Sequence[pl.DataFrame], Any]]
) -> Made:
    lines, read = part
    return outcome(work, lines, added({}, read))


def _joined(frames: Sequence[pl.DataFrame], columns: ColumnTypes) -> pl.DataFrame:
    return pl.concat([pl.DataFrame(schema=dict(columns)), *(arranged(frame, columns) for frame in frames)])
