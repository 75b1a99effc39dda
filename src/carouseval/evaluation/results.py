"""What an evaluation found, for people, programs and papers."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import polars as pl

from carouseval.errors import ParameterError
from carouseval.evaluation.resampling import LEVEL, RESAMPLES, mean_interval, mean_of
from carouseval.metrics.grid import Array
from carouseval.result_base import Result, plain

NO_PAGE = "(no page)"  # the segment of pages that are missing, where judgments do not say it


@dataclass(frozen=True, eq=False)
class Evaluation(Result):
    """Scores of a system's pages.

    ``mean`` is over users of their mean over pages, ``intervals`` are by bootstrap over users, ``per_page`` and
    ``per_user`` hold single scores (null: left out), ``segments`` the same as ``mean`` for each segment, ``counts``
    what was found, ``config`` every setting in force. Figures of the whole system stand in ``mean`` too, without an
    interval.
    """

    metrics: tuple[str, ...]  # those that single pages have
    per_page: pl.DataFrame
    counts: dict[str, int]
    config: dict[str, Any]
    by: tuple[str, ...] = ()
    figures: Mapping[str, float] = field(default_factory=dict)  # of the whole system, such as Coverage

    @cached_property
    def per_user(self) -> pl.DataFrame:
        """The mean over each user's pages."""
        return self._weighed_users.drop(map(weight_of, self.metrics), strict=False)

    @cached_property
    def _weighed_users(self) -> pl.DataFrame:
        return self._users(self.per_page, ["user_id"])

    def users_by(self, by: Sequence[str]) -> pl.DataFrame:
        """The mean over each user's pages, in each segment apart; where pages weigh, also what it weighs by metric."""
        return self._users(self.per_page, ["user_id", *by]) if by else self._weighed_users

    def _users(self, pages: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
        scored = pages.filter(pl.any_horizontal(pl.col(list(self.metrics)).is_not_null()))
        if "weight" not in pages.columns:
            means = [pl.col(name).mean() for name in self.metrics]
        else:
            weight = pl.col("weight")
            own = (weight.filter(pl.col(name).is_not_null()).mean().alias(weight_of(name)) for name in self.metrics)
            means = [*(_weighted(name, weight) for name in self.metrics), weight.mean(), *own]
        return scored.group_by(keys, maintain_order=True).agg(pl.len().alias("pages"), *means)

    @cached_property
    def mean(self) -> dict[str, float]:
        """Every metric's mean, by the names asked for; NaN where nobody was scored."""
        means = {name: mean_of(*self._values(self._weighed_users, name)) for name in self.metrics}
        known = means | dict(self.figures)
        return {name: known[name] for name in self.config.get("metrics", known)}

    def _values(self, users: pl.DataFrame, name: str) -> tuple[Array, Array | None]:
        known = users.filter(pl.col(name).is_not_null() & pl.col(name).is_not_nan())
        weights = known[weight_of(name)].to_numpy() if "weight" in known.columns else None
        return known[name].to_numpy(), weights

    @cached_property
    def intervals(self) -> dict[str, tuple[float, float]]:
        """Bootstrap intervals of the means, 95%, by users; see :meth:`interval` for others."""
        return {name: self.interval(name) for name in self.metrics}

    def interval(
        self, metric: str, level: float = LEVEL, resamples: int = RESAMPLES, seed: int = 0
    ) -> tuple[float, float]:
        """A percentile interval of one mean over resampled users."""
        if metric in self.figures:
            raise ParameterError(f"{metric} is a figure of the whole system, and has no interval.")
        if metric not in self.metrics:
            raise ParameterError(f"there is no metric {metric!r} here, only {', '.join(self.metrics)}.")
        return mean_interval(*self._values(self._weighed_users, metric), level, resamples, seed)

    @cached_property
    def segments(self) -> pl.DataFrame:
        """Means and intervals per segment; empty unless ``by`` was given."""
        rows = []
        for row, users in zip(self.segment_means.iter_rows(named=True), self._segment_users, strict=True):
            for name in self.metrics:
                low, high = mean_interval(*self._values(users, name))
                row |= {name: row.pop(name), f"{name}.low": low, f"{name}.high": high}
            rows.append(row)
        return pl.DataFrame(rows)

    @cached_property
    def segment_means(self) -> pl.DataFrame:
        """Means per segment, without intervals."""
        rows = []
        for users in self._segment_users:
            row = users.select(self.by).row(0, named=True) | {"users": users.height, "pages": users["pages"].sum()}
            rows.append(row | {name: mean_of(*self._values(users, name)) for name in self.metrics})
        return pl.DataFrame(rows)

    @cached_property
    def _segment_users(self) -> list[pl.DataFrame]:
        """The users of each segment, in its order."""
        if not self.by:
            return []
        users = self._users(self.per_page.with_columns(pl.col(self.by).fill_null(NO_PAGE)), [*self.by, "user_id"])
        parts = users.partition_by(self.by, as_dict=True)
        return [parts[key] for key in sorted(parts, key=str)]

    @property
    def heading(self) -> str:
        """What a reader must know first."""
        if self.config["candidates"] != "displayed":
            return ""
        return "Arrangement only: pages are judged against what they show, not against what they could show."

    def to_frame(self) -> pl.DataFrame:
        """One line per metric, and per segment where there are segments: mean, interval, users, pages."""
        lines = [self._line({}, self.mean, self.intervals, self.per_user)]
        for row in self.segments.iter_rows(named=True):
            means = {name: row[name] for name in self.metrics}
            bounds = {name: (row[f"{name}.low"], row[f"{name}.high"]) for name in self.metrics}
            lines.append(self._line({name: row[name] for name in self.by}, means, bounds, row))
        return pl.concat([pl.DataFrame(line) for line in lines], how="vertical_relaxed")

    def _line(
        self, segment: dict[str, Any], means: dict[str, float], bounds: dict[str, tuple[float, float]], size: Any
    ) -> list[dict[str, Any]]:
        users = size.height if isinstance(size, pl.DataFrame) else size["users"]
        pages = int(size["pages"].sum()) if isinstance(size, pl.DataFrame) else size["pages"]
        lines = []
        for name, mean in means.items():
            low, high = bounds.get(name, (math.nan, math.nan))
            line = {one: segment.get(one, "(all)") for one in self.by}
            line |= {"metric": name, "mean": mean, "low": low, "high": high, "users": users, "pages": pages}
            if name in self.figures:  # of all that is shown, scored or not
                line |= {"users": self.counts["users"], "pages": self.counts["pages"]}
            lines.append(line)
        return lines

    def to_dict(self) -> dict[str, Any]:
        """Everything but single pages, as plain values; what is not a number is None."""
        return plain({"results": self.to_frame().to_dicts(), "counts": self.counts, "config": self.config})

    def __repr__(self) -> str:
        means = ", ".join(f"{name}={value:.4f}" for name, value in self.mean.items())
        users, pages = self.per_user.height, int(self.per_user["pages"].sum())
        if not self.metrics:
            users, pages = self.counts["users"], self.counts["pages"]
        return f"Evaluation({means}; {users:,} users, {pages:,} pages scored)"

    def _repr_html_(self) -> str:
        note = ", ".join(f"{key.replace('_', ' ')} {value:,}" for key, value in self.counts.items() if value)
        return f"{super()._repr_html_()}<p><small>{note}</small></p>"


def weight_of(metric: str) -> str:
    """The column of what a user weighs by a metric: what those pages do on average that it counts."""
    return f"{metric}.weight"


def _weighted(name: str, weight: pl.Expr) -> pl.Expr:
    """A weighted mean; null where nothing weighs."""
    total = weight.filter(pl.col(name).is_not_null()).sum()
    return pl.when(total > 0).then((pl.col(name) * weight).sum() / total).alias(name)
