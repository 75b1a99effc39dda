"""The scores of pages that stay on an engine, which makes them again where it has lost or dropped them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import polars as pl

from carouseval.comparison.user_scores import ComparedUsers
from carouseval.engines.contract import RUN, ColumnTypes, Mapped
from carouseval.engines.reports import ReadLines, Reads, refuse_changes
from carouseval.errors import ParameterError
from carouseval.evaluation.columns import Columns, of_metric
from carouseval.evaluation.exact_sums import added
from carouseval.evaluation.page_table import ALL, PageTable, ScoredPages, Segment, Table, user_columns
from carouseval.evaluation.part import Part
from carouseval.evaluation.result_columns import PER_USER
from carouseval.evaluation.systems import Run
from carouseval.evaluation.user_sums import SegmentSums

MOST_PAGES = 1_000_000  # that come to this machine without being asked for


@dataclass(frozen=True, eq=False)
class KeptPages(ScoredPages[Table]):
    """The pages of a run, and what the result was made of."""

    metrics: tuple[str, ...]
    by: tuple[str, ...]
    scored: Mapped[Table]  # the pages of all runs
    part: Part
    read: Reads
    runs: Mapping[str, Run]
    page_types: Mapping[str, Any]
    place: str  # where they are
    run: int | None = None  # where there are several

    @property
    def frame(self) -> Table:
        return self.checked().lines(self.run)

    @property
    def per_user(self) -> Table:
        present = user_columns(self.metrics, (), weighted=Columns.WEIGHT in self.page_types)
        types = PER_USER.types(present, self.page_types)
        work = partial(_users, run=self.run, metrics=self.metrics, by=self.by)
        return self.checked().map(work, types).lines()

    @property
    def sums(self) -> Mapping[Segment, SegmentSums]:
        segments = self.part.segments
        return {key: segments[key] for key in sorted(segments, key=lambda key: (key != ALL, str(key)))}

    def left_out(self, metric: str) -> int:
        return self.part.left_out[metric]

    def collect(self, purpose: str | None = None) -> PageTable:
        """The pages on this machine; refused if they were made again, of other lines."""
        if purpose is not None:
            remedy = "If they fit this machine, use collect() first."
            require_few(self.part, f"{purpose}, who stay in {self.place}", remedy)
        pages, read = self.scored.collect(self.run)
        self.require_same(read)
        return PageTable(self.metrics, self.by, _without_unused(_sorted(pages), self.metrics))

    def checked(self) -> Mapped[Table]:
        """The pages; refused if they had been dropped and would now be made of other lines."""
        read = self.scored.read_again()
        if read is not None:
            self.require_same(read)
        return self.scored

    def require_same(self, read: Reads) -> None:
        """Refuse pages that were made again, of other lines."""
        refuse_changes(self.read, added(dict.fromkeys(self.read, ReadLines()), read), self.runs)

    def unpersist(self) -> None:
        self.scored.drop()


@dataclass(frozen=True, eq=False)
class KeptUsers(ComparedUsers[Table]):
    """Users of a comparison, made of the pages of all runs."""

    kept: KeptPages[Table]
    work: Callable[[pl.DataFrame], tuple[Sequence[pl.DataFrame], Any]]
    types: ColumnTypes

    @property
    def table(self) -> Table:
        """One line per user and system; refused where pages would be made of other lines."""
        return self.kept.checked().map(self.work, self.types).lines()


def require_few(part: Part, what: str, remedy: str) -> None:
    """Refuse pages that are too many to come to this machine unasked."""
    if (count := part.tally.all_counts()["pages"]) > MOST_PAGES:
        raise ParameterError(f"{what}: {count:,} pages. {remedy}")


def _users(
    pages: pl.DataFrame, run: int | None, metrics: tuple[str, ...], by: tuple[str, ...]
) -> tuple[list[pl.DataFrame], None]:
    of_run = pages if run is None else pages.filter(pl.col(RUN) == run)
    return [PageTable(metrics, by, _sorted(of_run)).per_user], None


def pages_of_runs(
    pages: pl.DataFrame, runs: Sequence[Run], metrics: tuple[str, ...], by: tuple[str, ...]
) -> dict[Run, PageTable]:
    """The pages of every run, of some users."""
    frames = (_sorted(pages.filter(pl.col(RUN) == number)) for number in range(len(runs)))
    return {run: PageTable(metrics, by, frame) for run, frame in zip(runs, frames, strict=True)}


def _sorted(pages: pl.DataFrame) -> pl.DataFrame:
    """Pages in the order in which one machine has them, on which the last digits of users' means depend."""
    return pages.sort([key for key in (Columns.USER, Columns.PAGE) if key in pages.columns], nulls_last=True)


def _without_unused(pages: pl.DataFrame, metrics: tuple[str, ...]) -> pl.DataFrame:
    """Without the columns of bounded ideals, where all are proven, as one machine has it."""
    for name in metrics:
        bounded = of_metric(Columns.METRIC_BOUNDED, name)
        if bounded in pages.columns and not pages[bounded].any():
            pages = pages.drop(bounded, of_metric(Columns.METRIC_IDEAL_FOUND, name))
    return pages
