"""The result of a comparison."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Generic, cast

import polars as pl

from carouseval.comparison.crossed_effects import TIE
from carouseval.comparison.power_analysis import POWER, PowerAnalysis, plan
from carouseval.comparison.result_tables import difference_table, mean_table
from carouseval.comparison.summary import (
    level_text,
    oriented_difference,
    ranking,
    significance_text,
    summary,
    unmatched_systems,
)
from carouseval.comparison.user_scores import ComparedUsers, HeldUsers, UserScores
from carouseval.errors import DataError, ParameterError
from carouseval.evaluation.caption import caption
from carouseval.evaluation.columns import Columns
from carouseval.evaluation.explanation import Explanation
from carouseval.evaluation.page_table import Table
from carouseval.evaluation.results import Evaluation
from carouseval.messages import setting
from carouseval.results import Charted, Reported, plain
from carouseval.text_tables import TextTable

_MOST_SYSTEMS = 5  # listed by repr


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Reported, Generic[Table]):
    """The result of :func:`carouseval.compare`: systems, and the differences between them.

    A difference is the score under ``system`` minus the score under ``baseline``, paired by user. The tables of users
    and pages are Polars frames; :func:`carouseval.spark.compare` leaves them in Spark.

    Attributes
    ----------
    metrics : tuple of str
        The names of the metrics compared; :attr:`summary` and :meth:`worse` use the first.
    systems : polars.DataFrame
        One line per ``system`` and ``metric``: ``mean`` over users, interval (``low``, ``high``; of users and runs,
        unless runs are fixed), ``users`` scored in every run, whether they are few (``few_users``: fewer than 10),
        ``runs``, the standard deviation of the runs' means (``spread``), the users ``left_out`` of the mean, the share
        of relevant items that the system shows to their users (``relevant_shown``) and the share of items shown that
        are judged (``judged_share``). Both shares are means over runs, among users who have judgments and a page in
        every run of every system.
    pairs : polars.DataFrame
        One line per pair (``system``, ``baseline``) and ``metric``: ``difference``, its interval (``low``, ``high``;
        unless ``simultaneous``, not adjusted for multiple comparisons), standard ``error`` and degrees of freedom
        (``df``), both also of the part due to runs (``run_error``, ``run_df``), relative ``lift`` with its interval
        (``lift_low``, ``lift_high``), standardised ``effect`` (Cohen's d_z), ``wins``, ``ties`` and ``losses`` by user,
        the smallest true difference that would be found significant, after correction, with 80% power (``detectable``;
        NaN if none would), ``users``, ``few_users``, ``break_even``, the ``test``, ``p``, ``p_adjusted``,
        ``significant`` and, with a margin, ``not_inferior``. The break-even is the smallest q at which the difference
        is 0 if every unjudged item gains q times the mean positive gain of all judgments where the losing system shows
        it, ideals unchanged; null if q is above 1, if the metric is not linear in gains, or with displayed candidates.
    segments : polars.DataFrame
        The same for each segment, corrected over all segments; empty without ``by``.
    users : ComparedUsers
        The users whose scores were paired, wherever they are; see :attr:`per_user`.
    evaluations : dict of str to tuple of Evaluation
        The evaluation of each run of each system.
    config : dict of str to Any
        Every setting in force.
    notice : str, default ''
        If the judgments were probably logged on one system's pages: which, and what that means. It begins the summary.
    explanations : dict of str to Explanation
        What the first run of each system loses; empty unless ``explain`` was asked for.

    Examples
    --------
    >>> import carouseval as cv
    >>> data = cv.sample(200, systems=["new", "random"])
    >>> cv.compare(data.layouts, data.judgments, data.items, permutations=999)
    Comparison by N2DCG_cat: new 0.4358, random 0.0351
    new - random: +0.4007, 95% confidence interval 0.3780 to 0.4231
    statistically significant (p = 0.001)
    """

    metrics: tuple[str, ...]
    systems: pl.DataFrame
    pairs: pl.DataFrame
    segments: pl.DataFrame
    users: ComparedUsers[Table]
    evaluations: dict[str, tuple[Evaluation[Table], ...]]
    config: dict[str, Any]
    notice: str = ""
    explanations: dict[str, Explanation] = field(default_factory=dict)

    @property
    def per_user(self) -> Table:
        """The scores that were paired, one line per user and system."""
        return self.users.table

    def collect(self) -> "Comparison":
        """Bring all pages to this machine.

        Returns
        -------
        Comparison
            The same with Polars frames, as :func:`carouseval.compare` gives it.
        """
        return self._here(None)

    def unpersist(self) -> None:
        """Drop the pages from Spark's cache, if they are there; they are scored again if they are asked for."""
        for _, evaluation in self._runs():
            evaluation.unpersist()

    def _here(self, purpose: str | None) -> "Comparison":
        """The same on this machine; with a ``purpose``, unless they are too many users to come unasked."""
        comparison = cast("Comparison", self)
        if isinstance(self.users, HeldUsers):
            return comparison
        pages = {run: evaluation.pages.collect(purpose) for run, evaluation in self._runs()}
        evaluations = {
            name: tuple(replace(evaluation, pages=pages[name, run]) for run, evaluation in enumerate(runs))
            for name, runs in comparison.evaluations.items()
        }
        users = UserScores.of(pages, self.metrics, []).table(self.metrics)
        return replace(comparison, users=HeldUsers(users), evaluations=evaluations)

    def _runs(self) -> "Iterator[tuple[tuple[str, int], Evaluation[Table]]]":
        for name, evaluations in self.evaluations.items():
            for run, evaluation in enumerate(evaluations):
                yield (name, run), evaluation

    def _drawn(self, kind: str | None, options: dict[str, Any]) -> tuple[Charted, str | None, dict[str, Any]]:
        """With all users at hand, where the chart draws them."""
        return self._here("the chart 'users' draws all users") if kind == "users" else self, kind, options

    def _reported(self) -> "Reported":
        return self._here("a report draws all users")

    @property
    def counts(self) -> dict[str, dict[str, int]]:
        """The counts of each system's first run, as in :attr:`Evaluation.counts`."""
        return {name: runs[0].counts for name, runs in self.evaluations.items()}

    @property
    def heading(self) -> str:
        """The sentences that head every table: what is measured, if unusual, and the summary."""
        return f"{next(iter(self.evaluations.values()))[0].heading} {self.summary}".strip()

    @property
    def caption(self) -> str:
        return caption(self.config, self.systems[Columns.USERS].to_list())

    def _text_tables(self) -> list[TextTable]:
        return [
            mean_table(self.systems, self.pairs, self.config, self.caption),
            difference_table(self.to_frame(), self.config, self.caption),
        ]

    @cached_property
    def summary(self) -> str:
        """Notices, if any; whether the two best systems by the first metric differ, and how sure that is."""
        return summary(self)

    def pair(self, system: str, other: str, metric: str | None = None) -> dict[str, Any] | None:
        """Look up the line of :attr:`pairs` about two systems, whichever of them is the baseline.

        Parameters
        ----------
        system, other : str
            The names of the two systems.
        metric : str, optional
            The name of the metric; by default the first.

        Returns
        -------
        dict of str to Any or None
            The columns of the line; None if the two were not compared.
        """
        names = pl.col(Columns.BASELINE).is_in([system, other]) & pl.col(Columns.SYSTEM).is_in([system, other])
        lines = self.pairs.filter(names & (pl.col(Columns.METRIC) == (metric or self.metrics[0])))
        return lines.row(0, named=True) if lines.height else None

    def worse(self, system: str, other: str) -> str | None:
        """Tell whether a system is worse than another by the first metric.

        Without a margin, it is if it scores significantly lower after correction. With a margin, it is unless it is
        shown to be non-inferior.

        Parameters
        ----------
        system : str
            The system that must not be worse.
        other : str
            The system it is compared with.

        Returns
        -------
        str or None
            The reason, in a sentence; None if it is not worse.
        """
        pair = self.pair(system, other)
        if pair is None:
            raise ParameterError(
                f"{system} and {other} were not compared; choose another {setting('baseline')}, or none."
            )
        difference, low, _ = oriented_difference(system, pair)
        if unmatched := {system, other} & {*unmatched_systems(self.evaluations)}:
            raise DataError(f"{min(unmatched)} cannot be compared: its pages do not match the judgments by page_id.")
        if pair[Columns.USERS] < 2:
            raise DataError(f"{system} and {other} have too few users in common to be compared.")
        margin, result = self.config["margin"], f"{self.metrics[0]}: {system} - {other} = {difference:.6g}"
        if margin is not None:
            interval = f"its {level_text(self)} begins at {low:.6g}, below the margin of {-margin:g}"
            return None if low >= -margin - TIE else f"{result}; {interval}."
        return f"{result}, {significance_text(self, pair)}." if difference < 0 and pair[Columns.SIGNIFICANT] else None

    def plan(self, effect: float, *, power: float = POWER) -> PowerAnalysis:
        """Return how many users it takes to find a difference of a given size, judging by the users compared here.

        Parameters
        ----------
        effect : float
            The difference that should be found, above 0, in units of the metric.
        power : float, default 0.8
            The probability with which it should be found, above 0 and below 1.

        Returns
        -------
        PowerAnalysis
            The users needed for each pair and metric, at this comparison's ``ci`` and after its correction.

        Examples
        --------
        >>> import carouseval as cv
        >>> data = cv.sample(200, systems=["prod", "new"])
        >>> comparison = cv.compare(data.layouts, data.judgments, data.items, baseline="prod", permutations=999)
        >>> comparison.plan(0.02)
        new - prod, N2DCG_cat: 750 users for a difference of 0.02 with 80% power (199 compared)
        """
        return plan(self.pairs, effect, self.config, power)

    def to_frame(self) -> pl.DataFrame:
        """The lines of :attr:`pairs`, then those of :attr:`segments`."""
        by = self.config["by"]
        if not by:
            return self.pairs
        overall = self.pairs.select(*(pl.lit("(all)").alias(name) for name in by), pl.all())
        return overall if self.segments.is_empty() else pl.concat([overall, self.segments], how="vertical_relaxed")

    def to_dict(self) -> dict[str, Any]:
        """The summary, caption, systems, pairs, segments, counts and config."""
        tables = {"systems": self.systems, "pairs": self.pairs, "segments": self.segments}
        lines = {name: table.to_dicts() for name, table in tables.items()}
        texts = {"summary": self.summary, "caption": self.caption}
        return plain(texts | lines | {"counts": self.counts, "config": self.config})

    def __repr__(self) -> str:
        ranked = ranking(self)
        means = [f"{row[Columns.SYSTEM]} {row[Columns.MEAN]:.4f}" for row in ranked[:_MOST_SYSTEMS]]
        means += [f"and {len(ranked) - _MOST_SYSTEMS} more"] * (len(ranked) > _MOST_SYSTEMS)
        lines = [f"Comparison by {self.metrics[0]}: {', '.join(means)}"]
        lines += [self.notice.partition(":")[0].lower()] * bool(self.notice)
        best, second = (row[Columns.SYSTEM] for row in ranked[:2])
        pair = self.pair(best, second)
        if pair is not None and pair[Columns.USERS] >= 2:
            difference, low, high = oriented_difference(best, pair)
            lines += [
                f"{best} - {second}: {difference:+.4f}, {level_text(self)} {low:.4f} to {high:.4f}",
                significance_text(self, pair),
            ]
        return "\n".join(lines)
