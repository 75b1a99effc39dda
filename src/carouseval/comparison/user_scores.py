"""Users' scores under every run of every system, from which systems are compared."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Generic

import polars as pl

from carouseval.comparison.result_columns import PER_USER
from carouseval.evaluation.columns import Columns
from carouseval.evaluation.page_table import NO_PAGE, PageTable, Table, weight_of
from carouseval.evaluation.result_table import Present, When
from carouseval.evaluation.systems import Run, by_system
from carouseval.metrics.grid import Array


class ComparedUsers(ABC, Generic[Table]):
    """The users of a comparison and the scores that were paired, wherever they are."""

    @property
    @abstractmethod
    def table(self) -> Table:
        """One line per user and system."""


@dataclass(frozen=True, eq=False)
class HeldUsers(ComparedUsers[pl.DataFrame]):
    """Users on this machine."""

    lines: pl.DataFrame

    @property
    def table(self) -> pl.DataFrame:
        """One line per user and system."""
        return self.lines


@dataclass(frozen=True)
class UserScores:
    """One line per user, segment, system and run, with a column per metric; null where there is no score.

    A weighted user has the same weight in all systems and runs: the mean of its weights there.
    """

    lines: pl.DataFrame
    runs: Mapping[str, int]  # of each system
    metrics: tuple[str, ...]
    by: tuple[str, ...] = ()

    @classmethod
    def of(cls, pages: Mapping[Run, PageTable], metrics: Sequence[str], by: Sequence[str]) -> "UserScores":
        """Collect the users of all runs."""
        frames = [
            table.users_by(by)
            .with_columns(pl.lit(name).alias(Columns.SYSTEM), pl.lit(run).alias(Columns.RUN))
            .drop(Columns.PAGES)
            for (name, run), table in pages.items()
        ]
        lines = _fill_segments(pl.concat(frames, how="vertical_relaxed"), list(by))
        keys = [Columns.USER, *by, Columns.SYSTEM]
        if by:  # a user may lack a page in a segment where others are
            lines = lines.group_by(*keys, Columns.RUN, maintain_order=True).mean()
        if Columns.WEIGHT in lines.columns:
            weights = _mean(Columns.WEIGHT, *map(weight_of, metrics))
            mean_weights = lines.group_by(keys).agg(weights).sort(Columns.SYSTEM).group_by(keys[:-1]).agg(weights)
            lines = lines.drop(mean_weights.columns[1 + len(by) :]).join(
                mean_weights, on=keys[:-1], how="left", nulls_equal=True
            )
        runs = {name: len(tables) for name, tables in by_system(pages).items()}
        return cls(lines, runs, tuple(metrics), tuple(by))

    @cached_property
    def per_user(self) -> pl.DataFrame:
        """Every user's mean over the runs of a system; null unless the user has a score under each of them."""
        runs = pl.col(Columns.SYSTEM).replace_strict(self.runs, return_dtype=pl.Int64).first()
        means = [pl.when(pl.col(name).count() == runs).then(pl.col(name).mean()) for name in self.metrics]
        weights = [Columns.WEIGHT, *map(weight_of, self.metrics)] if Columns.WEIGHT in self.lines.columns else []
        users = self.lines.group_by(Columns.SYSTEM, Columns.USER, *self.by, maintain_order=True)
        return users.agg(*means, *(pl.col(name).first() for name in weights)).sort(
            Columns.USER, *self.by, Columns.SYSTEM, nulls_last=True
        )

    def table(self, metrics: Sequence[str]) -> pl.DataFrame:
        """The scores of users by some of the metrics, as people see them."""
        holds = [When.WEIGHT] if Columns.WEIGHT in self.lines.columns else []
        present = Present(metrics=dict.fromkeys(metrics, holds), holds=holds)
        return PER_USER.arranged(self.per_user[[*PER_USER.types(present)]], present)

    def segments(self) -> "dict[tuple[object, ...], UserScores]":
        """The scores of each segment, by the values of ``by``."""
        parts = self.lines.partition_by(self.by, as_dict=True) if self.by else {}
        ordered = sorted(parts.items(), key=lambda part: str(part[0]))
        return {key: UserScores(lines, self.runs, self.metrics) for key, lines in ordered}

    def by_run(self, metric: str) -> pl.DataFrame:
        """One line per user, with a column for each run of each system (:func:`run_column`)."""
        name = pl.format(run_column("{}", "{}"), Columns.SYSTEM, Columns.RUN).alias(Columns.SYSTEM)
        table = self.lines.select(Columns.USER, name, metric).pivot(Columns.SYSTEM, index=Columns.USER, values=metric)
        wanted = [run_column(system, run) for system, runs in self.runs.items() for run in range(runs)]
        return table.with_columns(pl.lit(None, pl.Float64).alias(column) for column in wanted if column not in table)

    def scored_under_any_run(self, metric: str, system: str) -> int:
        """How many users have a score under some run of a system."""
        scored = self.lines.filter((pl.col(Columns.SYSTEM) == system) & pl.col(metric).is_not_null())
        return scored[Columns.USER].n_unique()

    def of_system(self, metric: str, system: str) -> tuple[Array, Array | None]:
        """The scores, (users, runs), of the users scored under every run of a system, and their weights."""
        columns = run_columns(system, self.runs)
        table = self.by_run(metric).select(Columns.USER, *columns).drop_nulls()
        weights = None
        if Columns.WEIGHT in self.lines.columns:
            users_weights = self.lines.select(Columns.USER, weight_of(metric)).unique(Columns.USER, keep="first")
            weights = table.join(users_weights, on=Columns.USER, how="left", maintain_order="left")[
                weight_of(metric)
            ].to_numpy()
        return table.select(columns).to_numpy(), weights


def segment_scores(
    pages: Mapping[Run, PageTable], metrics: Sequence[str], by: Sequence[str]
) -> Iterator[tuple[tuple[object, ...], UserScores]]:
    """The scores of every segment, if there are any."""
    if by:
        yield from UserScores.of(pages, metrics, by).segments().items()


def run_column(system: str, run: object) -> str:
    """The column of a system's run; what else is known of users by system has no such name."""
    return f"{system}.run {run}"


def run_columns(system: str, runs: Mapping[str, int]) -> list[str]:
    """The columns of all runs of a system."""
    return [run_column(system, run) for run in range(runs[system])]


def _mean(*columns: str) -> pl.Expr:
    """Means of a user's lines; Polars takes those of equal values in another way if there is no other user."""
    lines = pl.col(columns)
    return pl.when(lines.count() > 0).then(lines.sum() / lines.count())


def _fill_segments(scores: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    """Give users without a page the segments that other systems have them in, or ``NO_PAGE``."""
    if not by:
        return scores
    unknown = pl.any_horizontal(pl.col(by).is_null())
    segments = scores.filter(~unknown).select(Columns.USER, *by).unique()
    filled = scores.filter(unknown).drop(by).join(segments, on=Columns.USER, how="left").select(scores.columns)
    return pl.concat([scores.filter(~unknown), filled]).with_columns(pl.col(by).fill_null(NO_PAGE))
