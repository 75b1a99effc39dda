"""The result of an evaluation: means and their intervals, scores of pages and users, segments and counts."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Generic, cast

import polars as pl

from carouseval.errors import ParameterError
from carouseval.evaluation.caption import caption
from carouseval.evaluation.columns import Columns, of_metric
from carouseval.evaluation.mean_estimates import CI, FEW_USERS, MeanEstimate, few_users_text
from carouseval.evaluation.page_table import ALL, ScoredPages, Segment, Table, user_columns
from carouseval.evaluation.result_columns import MEANS, SEGMENT_MEANS, SEGMENTS
from carouseval.evaluation.result_table import Present
from carouseval.evaluation.user_sums import SegmentSums
from carouseval.results import Charted, Reported, plain
from carouseval.text_tables import TextTable
from carouseval.validation import did_you_mean


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(Reported, Generic[Table]):
    """Scores of a system's pages, as :func:`carouseval.evaluate` returns them.

    Scored on this machine, the tables of pages and users are Polars frames; :func:`carouseval.spark.evaluate` leaves
    them in Spark, as Spark DataFrames that are kept in Spark's cache until :meth:`unpersist`.

    Attributes
    ----------
    pages : ScoredPages
        The scored pages, wherever they are; see :attr:`per_page`.
    counts : dict of str to int
        Numbers of users, pages, missing pages, users without relevant items, repeated, unjudged and uncategorised
        items, invalid pages, and ideals that are only bounded.
    config : dict
        Every setting in force.
    figures : mapping of str to float
        Metrics of the whole system, such as Coverage; they have no interval.
    page_match : float, optional
        The share of pages whose ``page_id`` is in layouts and in judgments, of the table that names fewer pages; None
        where judgments are per user.

    Examples
    --------
    >>> import carouseval as cv
    >>> data = cv.sample(users=20, systems=["new"])
    >>> evaluation = cv.evaluate(data.layouts["new"], data.judgments, data.items)
    >>> evaluation
    Evaluation(N2DCG_cat=0.4961; 19 users, 19 pages scored)
    >>> evaluation.counts["pages"]
    20
    """

    pages: ScoredPages[Table]
    counts: dict[str, int]
    config: dict[str, Any]
    figures: Mapping[str, float] = field(default_factory=dict)
    page_match: float | None = None

    @property
    def metrics(self) -> tuple[str, ...]:
        """The names of the metrics that score single pages."""
        return self.pages.metrics

    @property
    def by(self) -> tuple[str, ...]:
        """The columns that segments are made by."""
        return self.pages.by

    @property
    def per_page(self) -> Table:
        """One line per page.

        Its ids, segments, ``weight`` and ``status`` (scored, missing, no_relevant or no_category); by each metric the
        score and, where it has an ideal, its parts ``.dcg`` and ``.ideal``, with ``.ideal_found`` and ``.bounded``
        where an ideal is not proven (in Spark always); and what was counted: ``duplicates``, ``unjudged`` and whether
        the page is ``invalid``. A score is null where the page is left out of the mean.
        """
        return self.pages.frame

    @property
    def per_user(self) -> Table:
        """Each user's number of pages and mean over them, by every metric."""
        return self.pages.per_user

    def users_by(self, by: Sequence[str]) -> pl.DataFrame:
        """Return each user's mean over pages, separately in each segment.

        Parameters
        ----------
        by : sequence of str
            Columns of ``per_page``; if empty, all pages of a user are taken together.

        Returns
        -------
        polars.DataFrame
            One line per user and segment: the number of pages and the mean of each metric; where pages have weights,
            also the user's weight by each metric, ``<metric>.weight``.
        """
        return self.pages.collect("users_by lists all users").users_by(by)

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
        return self.pages.left_out(metric)

    def collect(self) -> "Evaluation":
        """Bring all pages to this machine.

        Returns
        -------
        Evaluation
            The same with Polars frames, as :func:`carouseval.evaluate` gives it.
        """
        return self._here(None)

    def unpersist(self) -> None:
        """Drop the pages from Spark's cache, if they are there; they are scored again if they are asked for."""
        self.pages.unpersist()

    def _here(self, purpose: str | None) -> "Evaluation":
        """The same on this machine; with a ``purpose``, unless they are too many pages to come unasked."""
        evaluation = cast("Evaluation", self)
        pages = self.pages.collect(purpose)
        return evaluation if pages is self.pages else replace(evaluation, pages=pages)

    def _drawn(self, kind: str | None, options: dict[str, Any]) -> tuple[Charted, str | None, dict[str, Any]]:
        """With all users at hand, unless the chart draws means alone."""
        return self if kind == "means" else self._here("the chart 'distribution' draws all users"), kind, options

    def _reported(self) -> "Evaluation":
        return self._here("a report draws all users")

    @cached_property
    def mean(self) -> dict[str, float]:
        """The mean over users of their mean over pages, by metric; NaN where no user was scored."""
        means = {name: estimate.mean for name, estimate in self._estimates[ALL].items()} | dict(self.figures)
        return {name: means[name] for name in self.config.get("metrics", means)}

    @property
    def _sums(self) -> Mapping[Segment, SegmentSums]:
        """The sums of all pages and, in order, of every segment: all that tables and intervals need."""
        return self.pages.sums

    @cached_property
    def _estimates(self) -> Mapping[Segment, Mapping[str, MeanEstimate]]:
        """The means of all pages and, in order, of every segment, by metric."""
        return {
            key: {name: metric_sums.estimate() for name, metric_sums in sums.metrics.items()}
            for key, sums in self._sums.items()
        }

    @cached_property
    def intervals(self) -> dict[str, tuple[float, float]]:
        """95% confidence intervals of the means; see :meth:`interval` for other levels."""
        return {name: self.interval(name) for name in self.metrics}

    def interval(self, metric: str, ci: float = CI) -> tuple[float, float]:
        """Return a confidence interval of a mean over users.

        It is studentised: each end is that of Student's t or of Hall's correction for skewness, whichever is further
        from the mean. With fewer than 10 users it relies on scores that are nearly normal.

        Parameters
        ----------
        metric : str
            One of ``metrics``.
        ci : float, default 0.95
            Confidence level, above 0 and below 1.

        Returns
        -------
        tuple of float
            The interval's ends; NaN for fewer than two users.
        """
        if metric in self.figures:
            raise ParameterError(f"{metric} is a figure of the whole system and has no interval.")
        if metric not in self.metrics:
            hint = did_you_mean(str(metric), self.metrics)
            raise ParameterError(f"there is no metric {metric!r} in this result, only {', '.join(self.metrics)}.{hint}")
        return self._estimates[ALL][metric].interval(ci)

    @cached_property
    def segments(self) -> pl.DataFrame:
        """Means and 95% intervals per segment; empty unless ``by`` was given."""
        rows = []
        for row, means in self._segment_rows():
            for name, estimate in means.items():
                low, high = estimate.interval()
                row |= {name: estimate.mean}
                row |= {of_metric(Columns.METRIC_LOW, name): low, of_metric(Columns.METRIC_HIGH, name): high}
            rows.append(row)
        return SEGMENTS.of_lines(rows, self._present) if rows else pl.DataFrame()

    @cached_property
    def segment_means(self) -> pl.DataFrame:
        """Means per segment, without intervals; empty unless ``by`` was given."""
        rows = [row | {name: estimate.mean for name, estimate in means.items()} for row, means in self._segment_rows()]
        return SEGMENT_MEANS.of_lines(rows, self._present) if rows else pl.DataFrame()

    @property
    def _present(self) -> Present:
        """Which columns tables of means have."""
        return user_columns(self.metrics, self.by, weighted=False)

    def _segment_rows(self) -> Iterator[tuple[dict[str, Any], Mapping[str, MeanEstimate]]]:
        """The first columns of each segment's line, and its means."""
        for key, sums in self._sums.items():
            if key != ALL:
                row = dict(zip(self.by, key, strict=True)) | {Columns.USERS: sums.users, Columns.PAGES: sums.pages}
                yield row, self._estimates[key]

    @property
    def heading(self) -> str:
        """With displayed candidates, a warning that only the arrangement is scored; else empty."""
        if self.config["candidates"] != "displayed":
            return ""
        return "Arrangement only: each page is scored against the best arrangement of the items that it shows."

    @property
    def caption(self) -> str:
        users = [metric_sums.users for metric_sums in self._sums[ALL].metrics.values()]
        return caption(self.config, users or [self.counts["users"]])

    def _text_tables(self) -> list[TextTable]:
        (table,) = super()._text_tables()
        note = " Low and high: 95% confidence interval." if self.metrics else ""
        caption = f"{table.caption}{note} {self.few_users_note}".rstrip()
        return [replace(table, caption=caption, label="tab:evaluation")]  # wherever it was computed

    @property
    def few_users_note(self) -> str:
        """What to know of intervals of fewer than 10 users; empty unless a line of the table has so few."""
        users = self.to_frame().filter(pl.col(Columns.LOW).is_not_nan())[Columns.USERS]
        return few_users_text("scores") if (users < FEW_USERS).any() else ""

    def to_frame(self) -> pl.DataFrame:
        """Means and 95% intervals: one line per metric, and per segment where there are segments: mean, low, high,
        users, pages.
        """
        lines = []
        for key, sums in self._sums.items():
            segment = dict(zip(self.by, key or ("(all)",) * len(self.by), strict=True))
            for name in self.mean if key == ALL else self.metrics:
                if name in self.figures:  # of all pages, scored or not
                    mean, (low, high) = self.figures[name], (math.nan, math.nan)
                    users, pages = self.counts["users"], self.counts["pages"]
                else:
                    metric_sums, estimate = sums.metrics[name], self._estimates[key][name]
                    mean, (low, high) = estimate.mean, estimate.interval()
                    users, pages = metric_sums.users, metric_sums.pages
                line = segment | {Columns.METRIC: name, Columns.MEAN: mean, Columns.LOW: low, Columns.HIGH: high}
                lines.append(line | {Columns.USERS: users, Columns.PAGES: pages})
        return MEANS.of_lines(lines, self._present)

    def to_dict(self) -> dict[str, Any]:
        """``caption``, ``results`` (the lines of :meth:`to_frame`), ``counts`` and ``config``."""
        content = {"caption": self.caption, "results": self.to_frame().to_dicts()}
        return plain(content | {"counts": self.counts, "config": self.config})

    def __repr__(self) -> str:
        means = ", ".join(f"{name}={value:.4f}" for name, value in self.mean.items())
        users, pages = self._sums[ALL].users, self._sums[ALL].pages
        if not self.metrics:
            users, pages = self.counts["users"], self.counts["pages"]
        return f"Evaluation({means}; {users:,} user{'s' * (users != 1)}, {pages:,} page{'s' * (pages != 1)} scored)"

    def _repr_html_(self) -> str:
        note = ", ".join(f"{key.replace('_', ' ')} {value:,}" for key, value in self.counts.items() if value)
        return f"{super()._repr_html_()}<p><small>{note}</small></p>"
