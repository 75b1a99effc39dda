"""The pages of a result, wherever they are, and what follows from them: their users, and sums over these."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic

import numpy as np
import polars as pl

from carouseval.evaluation.columns import Columns, of_metric
from carouseval.evaluation.result_columns import PER_USER, USERS_BY
from carouseval.evaluation.result_table import Present, When
from carouseval.evaluation.user_sums import ScoreSums, SegmentSums
from carouseval.forks import refuse_fork
from carouseval.metrics.grid import Array

if TYPE_CHECKING:  # the default of a type variable is not in Python before 3.13
    from typing_extensions import TypeVar

    Table = TypeVar("Table", default=pl.DataFrame)
else:
    from typing import TypeVar

    Table = TypeVar("Table")

NO_PAGE = "(no page)"  # the segment of missing pages, where judgments have no such column
Segment = tuple[str, ...]
ALL: Segment = ()  # the segment of all pages


class ScoredPages(ABC, Generic[Table]):
    """The scored pages of a result, in a table of the engine that scored them."""

    metrics: tuple[str, ...]  # that score single pages
    by: tuple[str, ...]  # the columns that segments are made by

    @property
    @abstractmethod
    def frame(self) -> Table:
        """One line per page."""

    @property
    @abstractmethod
    def per_user(self) -> Table:
        """One line per user with a score."""

    @property
    @abstractmethod
    def sums(self) -> Mapping[Segment, SegmentSums]:
        """The sums over the users of all pages and, in order, of every segment."""

    @abstractmethod
    def left_out(self, metric: str) -> int:
        """The users none of whose pages has a score by a metric."""

    @abstractmethod
    def collect(self, purpose: str | None = None) -> PageTable:
        """The same pages on this machine.

        With a ``purpose``, which was not to collect them, they are refused if they are too many to come unasked.
        """

    def unpersist(self) -> None:
        """Drop what is kept of the pages elsewhere; nothing is on this machine."""


@dataclass(frozen=True, eq=False)
class PageTable(ScoredPages[pl.DataFrame]):
    """Pages on this machine."""

    metrics: tuple[str, ...]
    by: tuple[str, ...]
    table: pl.DataFrame

    @property
    def frame(self) -> pl.DataFrame:
        """One line per page."""
        return self.table

    @cached_property
    def per_user(self) -> pl.DataFrame:
        """Each user's number of pages and mean over them, by every metric."""
        refuse_fork()
        users = self._weighted_users.drop(map(weight_of, self.metrics), self._pages_columns.values(), strict=False)
        return PER_USER.arranged(users, self.present(self.by))

    @cached_property
    def sums(self) -> Mapping[Segment, SegmentSums]:
        """The sums over the users of all pages and, in order, of every segment."""
        return {key: self._segment_sums(users) for key, users in self.users_by_segment().items()}

    def left_out(self, metric: str) -> int:
        """The users none of whose pages has a score by a metric."""
        refuse_fork()
        scored = (self._weighted_users[self._pages_columns[metric]] > 0).sum()
        return self.frame[Columns.USER].n_unique() - int(scored)

    def collect(self, purpose: str | None = None) -> PageTable:
        """These pages: they are here."""
        return self

    def present(self, segments: Sequence[str]) -> Present:
        """Which columns tables of users and of means have, in these segments."""
        return user_columns(self.metrics, segments, weighted=Columns.WEIGHT in self.frame.columns)

    def users_by(self, by: Sequence[str]) -> pl.DataFrame:
        """Each user's mean over pages, separately in each segment."""
        refuse_fork()
        users = self._users(self.frame, [Columns.USER, *by]) if by else self._weighted_users
        return USERS_BY.arranged(users.drop(self._pages_columns.values()), self.present(by))

    def users_by_segment(self) -> dict[Segment, pl.DataFrame]:
        """The users of all pages and, in order, of every segment, with their means by metric."""
        users = {ALL: self._weighted_users}
        if self.by:
            pages = self.frame.with_columns(pl.col(self.by).fill_null(NO_PAGE))
            parts: dict[Any, pl.DataFrame] = self._users(pages, [*self.by, Columns.USER]).partition_by(
                self.by, as_dict=True
            )
            users |= {key: parts[key] for key in sorted(parts, key=str)}
        return users

    @cached_property
    def _pages_columns(self) -> dict[str, str]:
        """The columns with the number of a user's pages that each metric scores."""
        return {name: of_metric(Columns.METRIC_PAGES, name) for name in self.metrics}

    @cached_property
    def _weighted_users(self) -> pl.DataFrame:
        return self._users(self.frame, [Columns.USER])

    def _segment_sums(self, users: pl.DataFrame) -> SegmentSums:
        metrics = {
            name: ScoreSums.of(*scores_and_weights(users, name), int(users[pages].sum()))
            for name, pages in self._pages_columns.items()
        }
        return SegmentSums(users.height, int(users[Columns.PAGES].sum()), metrics)

    def _users(self, pages: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
        refuse_fork()
        scored = pages.filter(pl.any_horizontal(pl.col(list(self.metrics)).is_not_null()))
        if Columns.WEIGHT not in pages.columns:
            means = [pl.col(name).mean() for name in self.metrics]
        else:
            weight = pl.col(Columns.WEIGHT)
            weights = (weight.filter(pl.col(name).is_not_null()).mean().alias(weight_of(name)) for name in self.metrics)
            means = [*(_weighted(name, weight) for name in self.metrics), weight.mean(), *weights]
        pages_by_metric = (pl.col(name).count().alias(column) for name, column in self._pages_columns.items())
        return scored.group_by(keys, maintain_order=True).agg(pl.len().alias(Columns.PAGES), *means, *pages_by_metric)


def user_columns(metrics: Sequence[str], segments: Sequence[str], *, weighted: bool) -> Present:
    """Which columns tables of users and of means have."""
    holds = [When.WEIGHT] if weighted else []
    return Present(segments, dict.fromkeys(metrics, holds), holds=holds)


def scores_and_weights(users: pl.DataFrame, metric: str) -> tuple[Array, Array | None]:
    """Users' scores and weights by a metric, where they have a score."""
    scores = users[metric].to_numpy()  # NaN where there is none
    scored = ~np.isnan(scores)
    weights = users[weight_of(metric)].to_numpy()[scored] if Columns.WEIGHT in users.columns else None
    return scores[scored], weights


def weight_of(metric: str) -> str:
    """The column with a user's weight by a metric: the mean weight of the pages that it scores."""
    return of_metric(Columns.METRIC_WEIGHT, metric)


def _weighted(name: str, weight: pl.Expr) -> pl.Expr:
    """A weighted mean; null where all weights are 0."""
    total = weight.filter(pl.col(name).is_not_null()).sum()
    return pl.when(total > 0).then((pl.col(name) * weight).sum() / total).alias(name)
