"""The result of an evaluation: means and their intervals, scores of pages and users, segments and counts."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import polars as pl

from carouseval.errors import ParameterError
from carouseval.evaluation.caption import caption
from carouseval.evaluation.columns import Columns, of_metric
from carouseval.evaluation.mean_estimates import CI, FEW_USERS, MeanEstimate, few_users_text
from carouseval.evaluation.result_columns import MEANS, PER_USER, SEGMENT_MEANS, SEGMENTS, USERS_BY
from carouseval.evaluation.result_table import Present, When
from carouseval.evaluation.user_sums import ScoreSums, SegmentSums
from carouseval.metrics.grid import Array
from carouseval.metrics.validation import did_you_mean
from carouseval.result_base import Reported, plain
from carouseval.text_tables import TextTable

NO_PAGE = "(no page)"  # the segment of missing pages, where judgments have no such column
ALL: tuple[str, ...] = ()  # the segment of all pages


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(Reported):
    """Scores of a system's pages, as :func:`carouseval.evaluate` returns them.

    Attributes
    ----------
    metrics : tuple of str
        The names of the metrics that score single pages.
    per_page : polars.DataFrame
        One line per page: its ids, segments, ``weight`` and ``status`` (scored, missing, no_relevant or no_category);
        by each metric the score and, where it has an ideal, its parts ``.dcg`` and ``.ideal``, with ``.ideal_found``
        and ``.bounded`` where an ideal is not proven; and what was counted: ``duplicates``, ``unjudged`` and whether
        the page is ``invalid``. A score is null where the page is left out of the mean.
    counts : dict of str to int
        Numbers of users, pages, missing pages, users without relevant items, repeated, unjudged and uncategorised
        items, invalid pages, and ideals that are only bounded.
    config : dict
        Every setting in force.
    by : tuple of str, default ()
        The columns that segments are made by.
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

    metrics: tuple[str, ...]
    per_page: pl.DataFrame
    counts: dict[str, int]
    config: dict[str, Any]
    by: tuple[str, ...] = ()
    figures: Mapping[str, float] = field(default_factory=dict)
    page_match: float | None = None

    @cached_property
    def per_user(self) -> pl.DataFrame:
        """Each user's number of pages and mean over them, by every metric."""
        users = self._weighted_users.drop(map(weight_of, self.metrics), map(pages_of, self.metrics), strict=False)
        return PER_USER.arranged(users, self._present(self.by))

    @cached_property
    def _weighted_users(self) -> pl.DataFrame:
        return self._users(self.per_page, [Columns.USER])

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
        users = self._users(self.per_page, [Columns.USER, *by]) if by else self._weighted_users
        return USERS_BY.arranged(users.drop(map(pages_of, self.metrics)), self._present(by))

    def _present(self, segments: Sequence[str]) -> Present:
        """Which columns tables of users and of means have, in these segments."""
        weighted = [When.WEIGHT] if Columns.WEIGHT in self.per_page.columns else []
        return Present(segments, dict.fromkeys(self.metrics, weighted), holds=weighted)

    def _users(self, pages: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
        scored = pages.filter(pl.any_horizontal(pl.col(list(self.metrics)).is_not_null()))
        if Columns.WEIGHT not in pages.columns:
            means = [pl.col(name).mean() for name in self.metrics]
        else:
            weight = pl.col(Columns.WEIGHT)
            own = (weight.filter(pl.col(name).is_not_null()).mean().alias(weight_of(name)) for name in self.metrics)
            means = [*(_weighted(name, weight) for name in self.metrics), weight.mean(), *own]
        pages_by_metric = (pl.col(name).count().alias(pages_of(name)) for name in self.metrics)
        return scored.group_by(keys, maintain_order=True).agg(pl.len().alias(Columns.PAGES), *means, *pages_by_metric)

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
        has_score = self.per_page.group_by(Columns.USER).agg(pl.col(metric).is_not_null().any())
        return int((~has_score[metric]).sum())

    @cached_property
    def mean(self) -> dict[str, float]:
        """The mean over users of their mean over pages, by metric; NaN where no user was scored."""
        means = {name: one.mean for name, one in self._estimates[ALL].items()} | dict(self.figures)
        return {name: means[name] for name in self.config.get("metrics", means)}

    @cached_property
    def _sums(self) -> Mapping[tuple[str, ...], SegmentSums]:
        """The sums of all pages and, in order, of every segment: all that tables and intervals need."""
        return segment_sums(self)

    @cached_property
    def _estimates(self) -> Mapping[tuple[str, ...], Mapping[str, MeanEstimate]]:
        """The means of all pages and, in order, of every segment, by metric."""
        return {key: {name: one.estimate() for name, one in sums.metrics.items()} for key, sums in self._sums.items()}

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
            for name, one in means.items():
                low, high = one.interval()
                row |= {name: one.mean}
                row |= {of_metric(Columns.METRIC_LOW, name): low, of_metric(Columns.METRIC_HIGH, name): high}
            rows.append(row)
        return SEGMENTS.of_lines(rows, self._present(self.by)) if rows else pl.DataFrame()

    @cached_property
    def segment_means(self) -> pl.DataFrame:
        """Means per segment, without intervals; empty unless ``by`` was given."""
        rows = [row | {name: one.mean for name, one in means.items()} for row, means in self._segment_rows()]
        return SEGMENT_MEANS.of_lines(rows, self._present(self.by)) if rows else pl.DataFrame()

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
        """What the scores are, in a sentence: metrics, discounts, ideal, grid and number of users."""
        users = [one.users for one in self._sums[ALL].metrics.values()]
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
        """Return means and 95% intervals as a table.

        Returns
        -------
        polars.DataFrame
            One line per metric, and per segment where there are segments: mean, low, high, users, pages.
        """
        lines = []
        for key, sums in self._sums.items():
            segment = dict(zip(self.by, key or ("(all)",) * len(self.by), strict=True))
            for name in self.mean if key == ALL else self.metrics:
                if name in self.figures:  # of all pages, scored or not
                    mean, (low, high) = self.figures[name], (math.nan, math.nan)
                    users, pages = self.counts["users"], self.counts["pages"]
                else:
                    one, estimate = sums.metrics[name], self._estimates[key][name]
                    mean, (low, high), users, pages = estimate.mean, estimate.interval(), one.users, one.pages
                line = segment | {Columns.METRIC: name, Columns.MEAN: mean, Columns.LOW: low, Columns.HIGH: high}
                lines.append(line | {Columns.USERS: users, Columns.PAGES: pages})
        return MEANS.of_lines(lines, self._present(self.by))

    def to_dict(self) -> dict[str, Any]:
        """Return means, counts and settings as plain values.

        Returns
        -------
        dict
            ``caption``, ``results`` (the lines of :meth:`to_frame`), ``counts`` and ``config``; None in place of NaN.
        """
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


def users_by_segment(result: Evaluation) -> dict[tuple[str, ...], pl.DataFrame]:
    """The users of all pages and, in order, of every segment, with their means by metric."""
    users = {ALL: result._weighted_users}
    if result.by:
        pages = result.per_page.with_columns(pl.col(result.by).fill_null(NO_PAGE))
        parts = result._users(pages, [*result.by, Columns.USER]).partition_by(result.by, as_dict=True)
        users |= {key: parts[key] for key in sorted(parts, key=str)}
    return users


def segment_sums(result: Evaluation) -> dict[tuple[str, ...], SegmentSums]:
    """The sums over the users of all pages and, in order, of every segment."""
    segments = {}
    for key, users in users_by_segment(result).items():
        metrics = {
            name: ScoreSums.of(*scores_and_weights(users, name), int(users[pages_of(name)].sum()))
            for name in result.metrics
        }
        segments[key] = SegmentSums(users.height, int(users[Columns.PAGES].sum()), metrics)
    return segments


def scores_and_weights(users: pl.DataFrame, metric: str) -> tuple[Array, Array | None]:
    """Users' scores and weights by a metric, where they have a score."""
    scored = users.filter(pl.col(metric).is_not_null() & pl.col(metric).is_not_nan())
    weights = scored[weight_of(metric)].to_numpy() if Columns.WEIGHT in scored.columns else None
    return scored[metric].to_numpy(), weights


def weight_of(metric: str) -> str:
    """The column with a user's weight by a metric: the mean weight of the pages that it scores."""
    return of_metric(Columns.METRIC_WEIGHT, metric)


def pages_of(metric: str) -> str:
    """The column with the number of a user's pages that a metric scores."""
    return of_metric(Columns.METRIC_PAGES, metric)


def _weighted(name: str, weight: pl.Expr) -> pl.Expr:
    """A weighted mean; null where all weights are 0."""
    total = weight.filter(pl.col(name).is_not_null()).sum()
    return pl.when(total > 0).then((pl.col(name) * weight).sum() / total).alias(name)
