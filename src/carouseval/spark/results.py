"""Results on Spark: means, tests and counts here, scores of pages and users there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import polars as pl

from carouseval.comparison.comparison import Comparison
from carouseval.comparison.user_scores import UserScores
from carouseval.errors import ParameterError
from carouseval.evaluation.columns import Columns, of_metric
from carouseval.evaluation.parts import Segment
from carouseval.evaluation.result_columns import PER_USER
from carouseval.evaluation.results import Evaluation
from carouseval.evaluation.user_sums import SegmentSums
from carouseval.result_base import Reported
from carouseval.spark.kept_pages import KeptPages
from carouseval.spark.user_lines import column_in_query

_COLLECT = "If they fit this machine, use collect()"

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from carouseval.show.charts.chart import Chart


class _InSpark(Reported):
    """A result whose users stay in Spark: what draws them must be asked for after ``collect``."""

    _of_users: ClassVar[tuple[str | None, ...]]  # the charts that draw users

    def chart(self, kind: str | None = None, *, theme: Literal["light", "dark"] = "light", **options: Any) -> Chart:
        """Draw the result, unless the chart needs all users; needs ``pip install "carouseval[show]"``.

        Parameters
        ----------
        kind : str, optional
            Which chart, as on one machine.
        theme : {'light', 'dark'}, default 'light'
            The colours.
        **options : Any
            What some kinds take.

        Returns
        -------
        Chart
            The chart; those that draw users are refused: use ``collect().chart(...)``.
        """
        if kind in self._of_users:
            raise ParameterError(
                f"the chart {self._of_users[0]!r} draws all users, who stay in Spark. {_COLLECT}.chart()."
            )
        return super().chart(kind, theme=theme, **options)

    def report(self, path: str | Path, *, title: str | None = None, **parts: Any) -> Path:
        """Refuse: users stay in Spark.

        Parameters
        ----------
        path : str or Path
            An ``.html`` file.
        title : str, optional
            The title of the page.
        **parts : Any
            What else belongs in the report.

        Returns
        -------
        Path
            Nothing; use ``collect().report(path)``.
        """
        raise ParameterError(f"a report draws all users, who stay in Spark. {_COLLECT}.report(path).")


@dataclass(frozen=True, eq=False, repr=False)
class SparkEvaluation(_InSpark, Evaluation):
    """Scores of a system's pages, as :func:`carouseval.spark.evaluate` returns them.

    Like :class:`carouseval.Evaluation`, but pages and users stay in Spark: ``per_page`` and ``per_user`` are Spark
    DataFrames, kept in Spark's cache until :meth:`unpersist`.

    Attributes
    ----------
    metrics : tuple of str
        The names of the metrics that score single pages.
    per_page : pyspark.sql.DataFrame
        One line per page, with the columns that one machine has; whether ideals are proven is always among them.
    counts : dict of str to int
        Numbers of users, pages, missing pages and so on.
    config : dict
        Every setting in force.
    by : tuple of str, default ()
        The columns that segments are made by.
    figures : mapping of str to float
        Metrics of the whole system, such as Coverage; they have no interval.
    page_match : float, optional
        The share of pages whose ``page_id`` is in layouts and in judgments.
    sums : mapping
        The sums over users by segment and metric, from which means and intervals come.
    cached : pyspark.sql.DataFrame, optional
        What Spark keeps of the scores.
    kept : KeptPages, optional
        The pages with what they were made of, from which :meth:`collect` takes them.

    Examples
    --------
    >>> result = cv.spark.evaluate(layouts, judgments)  # doctest: +SKIP
    >>> result.per_page.where("status = 'missing'").count()  # doctest: +SKIP
    12
    """

    _of_users = ("distribution", None)

    per_page: DataFrame  # type: ignore[assignment]
    sums: Mapping[Segment, SegmentSums] = field(default_factory=dict)
    cached: DataFrame | None = None
    kept: KeptPages | None = None

    @property
    def _sums(self) -> Mapping[Segment, SegmentSums]:
        return self.sums

    @cached_property
    def per_user(self) -> DataFrame:  # type: ignore[override]
        """Each user's number of pages and mean over them, by every metric, as a Spark DataFrame."""
        from pyspark.sql import functions as F  # noqa: N812

        scored = self.per_page.where(
            " OR ".join(["false", *(f"{column_in_query(name)} IS NOT NULL" for name in self.metrics)])
        )
        means = {name: F.avg(column_in_query(name)) for name in self.metrics}
        if Columns.WEIGHT in self.per_page.columns:
            means = {name: _weighted(name) for name in self.metrics} | {Columns.WEIGHT: F.avg(Columns.WEIGHT)}
        columns = means | {Columns.PAGES: F.count(F.lit(1))}
        wanted = [name for name in PER_USER.types(self._present(())) if name != Columns.USER]
        return scored.groupBy(Columns.USER).agg(*(columns[name].alias(name) for name in wanted))

    def collect(self) -> Evaluation:
        """Bring all pages to this machine.

        Returns
        -------
        Evaluation
            The same as :func:`carouseval.evaluate` gives, with ``per_page`` as a Polars frame.
        """
        assert self.kept is not None
        table = self.kept.collect()
        keys = [key for key in (Columns.USER, Columns.PAGE) if key in table.columns]
        pages = _without_unused(table.sort(keys, nulls_last=True), self.metrics)
        return Evaluation(self.metrics, pages, self.counts, self.config, self.by, self.figures, self.page_match)

    def users_by(self, by: Sequence[str]) -> pl.DataFrame:
        """Refuse: users stay in Spark.

        Parameters
        ----------
        by : sequence of str
            Columns of ``per_page``.

        Returns
        -------
        polars.DataFrame
            Nothing; use ``per_user``, or ``collect().users_by(by)``.
        """
        raise ParameterError("users stay in Spark; use per_user, a Spark DataFrame, or collect().users_by(...).")

    def left_out(self, metric: str) -> int:
        """Count the users who are left out of a mean.

        Parameters
        ----------
        metric : str
            One of ``metrics``.

        Returns
        -------
        int
            Users none of whose pages has a score by this metric.
        """
        from pyspark.sql import functions as F  # noqa: N812

        has_score = self.per_page.groupBy(Columns.USER).agg(F.count(column_in_query(metric)).alias("scored"))
        return has_score.where("scored = 0").count()

    def unpersist(self) -> None:
        """Drop the pages from Spark's cache; they are scored again if they are asked for."""
        if self.cached is not None:
            self.cached.unpersist()


@dataclass(frozen=True, eq=False, repr=False)
class SparkComparison(_InSpark, Comparison):
    """The result of :func:`carouseval.spark.compare`: like :class:`carouseval.Comparison`, with pages in Spark.

    Attributes
    ----------
    metrics : tuple of str
        The names of the metrics compared.
    systems : polars.DataFrame
        One line per system and metric: mean, interval, users and so on.
    pairs : polars.DataFrame
        One line per pair of systems and metric: difference, interval, p-value and so on.
    segments : polars.DataFrame
        The same for each segment; empty without ``by``.
    per_user : pyspark.sql.DataFrame
        The mean over pages of every user, system and run.
    evaluations : dict of str to tuple of SparkEvaluation
        The evaluation of each run of each system.
    config : dict of str to Any
        Every setting in force.
    notice : str, default ''
        If the judgments were probably logged on one system's pages: which, and what that means.
    explanations : dict of str to Explanation
        Empty: Spark explains nothing.
    cached : pyspark.sql.DataFrame, optional
        What Spark keeps of the scores.

    Examples
    --------
    >>> comparison = cv.spark.compare(systems, judgments)  # doctest: +SKIP
    >>> comparison.evaluations["new"][0].per_page.count()  # doctest: +SKIP
    100000
    """

    _of_users = ("users",)

    per_user: DataFrame  # type: ignore[assignment]
    cached: DataFrame | None = None

    def collect(self) -> Comparison:
        """Bring all pages to this machine.

        Returns
        -------
        Comparison
            The same as :func:`carouseval.compare` gives, with users and pages as Polars frames.
        """
        evaluations = {
            name: tuple(run.collect() for run in runs if isinstance(run, SparkEvaluation))
            for name, runs in self.evaluations.items()
        }
        return Comparison(
            metrics=self.metrics,
            systems=self.systems,
            pairs=self.pairs,
            segments=self.segments,
            per_user=UserScores.of(evaluations, self.metrics, []).table(self.metrics),
            evaluations=evaluations,
            config=self.config,
            notice=self.notice,
        )

    def unpersist(self) -> None:
        """Drop the pages from Spark's cache; they are scored again if they are asked for."""
        if self.cached is not None:
            self.cached.unpersist()


def _weighted(name: str) -> Column:
    """A weighted mean; null where all weights are 0."""
    from pyspark.sql import functions as F  # noqa: N812

    score, weight = F.col(column_in_query(name)), F.col(Columns.WEIGHT)
    total = F.sum(F.when(score.isNotNull(), weight))
    return F.when(total > 0, F.sum(score * weight) / total)


def _without_unused(pages: pl.DataFrame, metrics: Sequence[str]) -> pl.DataFrame:
    """Without the columns of bounded ideals, where all are proven, as one machine has it."""
    for name in metrics:
        bounded = of_metric(Columns.METRIC_BOUNDED, name)
        if bounded in pages.columns and not pages[bounded].any():
            pages = pages.drop(bounded, of_metric(Columns.METRIC_IDEAL_FOUND, name))
    return pages
