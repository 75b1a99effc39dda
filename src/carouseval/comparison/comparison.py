"""The result of a comparison."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import polars as pl

from carouseval.comparison.result_tables import difference_table, mean_table
from carouseval.comparison.significance import TIE
from carouseval.errors import DataError, ParameterError
from carouseval.evaluation.caption import caption
from carouseval.evaluation.page_matching import FEW
from carouseval.evaluation.results import Evaluation
from carouseval.result_base import Result, plain
from carouseval.text_tables import TextTable

_CORRECTIONS = {"holm": " after Holm correction", "bh": " after Benjamini-Hochberg correction", "none": ""}
_MOST_SYSTEMS = 5  # listed by repr


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Result):
    """The result of :func:`carouseval.compare`: systems, and the differences between them.

    A difference is the score under ``system`` minus the score under ``baseline``, paired by user.

    Attributes
    ----------
    metrics : tuple of str
        The names of the metrics compared; :attr:`summary` and :meth:`worse` use the first.
    systems : polars.DataFrame
        One line per system and metric: ``mean`` over users, interval (``low``, ``high``), ``users``, ``runs``, the
        standard deviation of the runs' means (``spread``), the users ``left_out`` of the mean, the share of relevant
        items that the system shows to their users (``relevant_shown``) and the share of items shown that are judged
        (``judged_share``). Both shares are means over runs, among users who have judgments and a page in every run of
        every system.
    pairs : polars.DataFrame
        One line per pair of systems and metric: ``difference``, relative ``lift``, standardised ``effect`` (Cohen's
        d_z), interval (``low``, ``high``; not adjusted for multiple comparisons), ``wins``, ``ties`` and ``losses`` by
        user, the smallest difference detectable at 80% power (``detectable``), ``users``, ``break_even``, ``p``,
        ``p_adjusted``, ``significant`` and, with a margin, ``not_inferior``. The break-even is the smallest q at which
        the difference is 0 if every unjudged item gains q times the mean positive gain of all judgments where the
        losing system shows it, ideals unchanged; null if q is above 1, if the metric is not linear in gains, or with
        displayed candidates.
    segments : polars.DataFrame
        The same for each segment, corrected over all segments; empty without ``by``.
    per_user : polars.DataFrame
        The scores that were paired, one line per user and system.
    evaluations : dict of str to tuple of Evaluation
        The evaluation of each run of each system.
    config : dict of str to Any
        Every setting in force.
    notice : str, default ''
        If the judgments were probably logged on one system's pages: which, and what that means. It begins the summary.

    Examples
    --------
    >>> import carouseval as cv
    >>> data = cv.sample(200, systems=["new", "random"])
    >>> cv.compare(data.layouts, data.judgments, data.items, permutations=999)
    Comparison by N2DCG_cat: new 0.4358, random 0.0351
    new - random: +0.4007, 95% confidence interval 0.3796 to 0.4228
    statistically significant (p = 0.001 after Holm correction)
    """

    metrics: tuple[str, ...]
    systems: pl.DataFrame
    pairs: pl.DataFrame
    segments: pl.DataFrame
    per_user: pl.DataFrame
    evaluations: dict[str, tuple[Evaluation, ...]]
    config: dict[str, Any]
    notice: str = ""

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
        """What the scores are, in a sentence: metrics, discounts, ideal, grid and number of users."""
        return caption(self.config, self.systems["users"].to_list())

    def _text_tables(self) -> list[TextTable]:
        return [
            mean_table(self.systems, self.pairs, self.config, self.caption),
            difference_table(self.to_frame(), self.config, self.caption),
        ]

    @cached_property
    def summary(self) -> str:
        """Notices, if any; which system leads by the first metric, and whether that is statistically significant."""
        texts = (self.notice, self._missing_pages, self._left_out, self._ranking_summary)
        return " ".join(text for text in texts if text)

    @property
    def _missing_pages(self) -> str:
        """How many pages each system lacks, where they score 0 and systems differ."""
        counts = {row["system"]: self.counts[row["system"]]["missing"] for row in self._ranking}
        if self.config["missing_pages"] != "zero" or len(set(counts.values())) == 1:
            return ""
        if unmatched_systems(self.evaluations):
            return ""  # the summary says why
        listed = ", ".join(f"{count:,} under {system}" for system, count in counts.items())
        return f"Missing pages, which score 0: {listed}."

    @property
    def _left_out(self) -> str:
        """How many users each system leaves out, where systems differ."""
        counts = {row["system"]: row["left_out"] for row in self._ranking}
        if len(set(counts.values())) == 1:
            return ""
        listed = ", ".join(f"{count:,} under {system}" for system, count in counts.items())
        displayed = self.config["candidates"] == "displayed"
        why = "their pages show nothing relevant, so there is nothing to arrange" if displayed else "they have no page"
        return f"Users left out: {listed} ({why}). Systems are compared on the users scored under both."

    @property
    def _ranking_summary(self) -> str:
        metric = self.metrics[0]
        best, second = self._ranking[:2]
        if unmatched := unmatched_systems(self.evaluations):
            return (
                f"The pages of {' and '.join(unmatched)} do not match the judgments by page_id, so no difference from "
                f"{'it' if len(unmatched) == 1 else 'them'} is called significant. Write page_id the same way in all "
                "tables, or drop it from judgments that hold for all pages of a user."
            )
        if math.isnan(best["mean"]):
            return "No user was scored."
        leader, runner_up = (f"{row['system']} ({row['mean']:.4f})" for row in (best, second))
        if abs(best["mean"] - second["mean"]) <= TIE:
            return f"{leader} and {runner_up} have the highest {metric}; there is no difference between them."
        ranking = f"{leader} has the highest {metric}, followed by {runner_up}."
        pair = self.pair(best["system"], second["system"])
        if pair is None:
            return f"{ranking} The two were not compared with each other."
        if pair["users"] < 2:
            return f"{ranking} Too few users have scores under both for a test."
        difference, low, high = _difference(best["system"], pair)
        sentences = [
            f"On the {pair['users']:,} users scored under both, {best['system']} is {abs(difference):.4f} "
            f"{'better' if difference >= 0 else 'worse'} than {second['system']} ({self._level} confidence interval "
            f"{low:.4f} to {high:.4f}, not adjusted for multiple comparisons).",
            f"The difference is {self._significance(pair)}.",
        ]
        if not pair["significant"]:
            sentences.append(f"The smallest difference detectable at 80% power is {pair['detectable']:.4f}.")
        return " ".join([ranking, *sentences])

    @property
    def _level(self) -> str:
        return f"{100 * self.config['ci']:g}%"

    @property
    def _ranking(self) -> list[dict[str, Any]]:
        """The systems by the first metric, best first."""
        ranked = self.systems.filter(pl.col("metric") == self.metrics[0])
        return ranked.sort("mean", descending=True, nulls_last=True).to_dicts()

    def _significance(self, pair: dict[str, Any]) -> str:
        if {pair["baseline"], pair["system"]} & {*unmatched_systems(self.evaluations)}:
            return "not called significant: pages do not match the judgments by page_id"
        verdict = "statistically significant" if pair["significant"] else "not statistically significant"
        return f"{verdict} (p = {pair['p_adjusted']:.2g}{_CORRECTIONS[self.config['correction']]})"

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
        names = pl.col("baseline").is_in([system, other]) & pl.col("system").is_in([system, other])
        lines = self.pairs.filter(names & (pl.col("metric") == (metric or self.metrics[0])))
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
            raise ParameterError(f"{system} and {other} were not compared; choose another baseline, or none.")
        difference, low, _ = _difference(system, pair)
        if unmatched := {system, other} & {*unmatched_systems(self.evaluations)}:
            raise DataError(f"{min(unmatched)} cannot be compared: its pages do not match the judgments by page_id.")
        if pair["users"] < 2:
            raise DataError(f"{system} and {other} have too few users in common to be compared.")
        margin, result = self.config["margin"], f"{self.metrics[0]}: {system} - {other} = {difference:.6g}"
        if margin is not None:
            interval = f"its {self._level} confidence interval begins at {low:.6g}, below the margin of {-margin:g}"
            return None if low >= -margin - TIE else f"{result}; {interval}."
        return f"{result}, {self._significance(pair)}." if difference < 0 and pair["significant"] else None

    def to_frame(self) -> pl.DataFrame:
        """Return the pairs as a table, all users first, then each segment.

        Returns
        -------
        polars.DataFrame
            The lines of :attr:`pairs` and :attr:`segments`.
        """
        if self.segments.is_empty():
            return self.pairs
        by = self.config["by"]
        overall = self.pairs.select(*(pl.lit("(all)").alias(name) for name in by), pl.all())
        return pl.concat([overall, self.segments], how="vertical_relaxed")

    def to_markdown(self) -> str:
        """Return the summary, the systems' means and the differences between systems in Markdown.

        Returns
        -------
        str
            A table of systems by metrics, where the highest means are bold and significant differences are marked, and
            a table of differences, for all users and for each segment; both with a caption.
        """
        return super().to_markdown()

    def to_latex(self) -> str:
        """Return the systems' means and the differences between systems in LaTeX, with the summary as a comment.

        Returns
        -------
        str
            The same two tables as :meth:`to_markdown` gives, each a ``table`` with caption and label that needs the
            package booktabs.
        """
        return super().to_latex()

    def to_dict(self) -> dict[str, Any]:
        """Return the summary, caption, systems, pairs, segments, counts and config as plain values.

        Returns
        -------
        dict of str to Any
            Content for JSON; NaN becomes None.
        """
        tables = {"systems": self.systems, "pairs": self.pairs, "segments": self.segments}
        lines = {name: table.to_dicts() for name, table in tables.items()}
        texts = {"summary": self.summary, "caption": self.caption}
        return plain(texts | lines | {"counts": self.counts, "config": self.config})

    def __repr__(self) -> str:
        ranking = self._ranking
        means = [f"{row['system']} {row['mean']:.4f}" for row in ranking[:_MOST_SYSTEMS]]
        means += [f"and {len(ranking) - _MOST_SYSTEMS} more"] * (len(ranking) > _MOST_SYSTEMS)
        lines = [f"Comparison by {self.metrics[0]}: {', '.join(means)}"]
        lines += [self.notice.partition(":")[0].lower()] * bool(self.notice)
        best, second = (row["system"] for row in ranking[:2])
        pair = self.pair(best, second)
        if pair is not None and pair["users"] >= 2:
            difference, low, high = _difference(best, pair)
            lines += [
                f"{best} - {second}: {difference:+.4f}, {self._level} confidence interval {low:.4f} to {high:.4f}",
                self._significance(pair),
            ]
        return "\n".join(lines)


def unmatched_systems(evaluations: Mapping[str, Sequence[Evaluation]]) -> list[str]:
    """The systems with few pages that match the judgments by page_id."""
    return [
        name
        for name, runs in evaluations.items()
        if any(run.page_match is not None and run.page_match < FEW for run in runs)
    ]


def _difference(system: str, pair: dict[str, Any]) -> tuple[float, float, float]:
    """Difference and interval of a pair: ``system`` minus the other."""
    if pair["system"] == system:
        return pair["difference"], pair["low"], pair["high"]
    return -pair["difference"], -pair["high"], -pair["low"]
