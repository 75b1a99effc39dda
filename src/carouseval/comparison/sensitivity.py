"""Does the order of systems hold under another discount, ideal, gain or cutoff?"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Unpack

import polars as pl

from carouseval.comparison.crossed_effects import TIE
from carouseval.comparison.result_columns import SENSITIVITY
from carouseval.comparison.scored_runs import evaluate_runs
from carouseval.comparison.systems import all_runs, warn_of
from carouseval.comparison.variations import merged_notices, order_agreement, variations_of
from carouseval.errors import ParameterError, each_warning_once
from carouseval.evaluation.caption import caption
from carouseval.evaluation.columns import Columns
from carouseval.evaluation.plan import ScoringPlan
from carouseval.evaluation.reading.inputs import JudgedSources
from carouseval.evaluation.result_table import Present
from carouseval.evaluation.results import Evaluation
from carouseval.evaluation.settings import Candidates, Settings, SettingsDict
from carouseval.evaluation.systems import Systems, by_system
from carouseval.messages import setting
from carouseval.metrics.metric_base import Metric
from carouseval.progress import Progress
from carouseval.results import Reported, plain
from carouseval.settings import checked_settings, takes
from carouseval.tables.table import TableLike

DISCOUNTS: tuple[str, ...] = ("d_rpd", "d_rpb", "d_mul", "d_add", "d_mir", "d_a", "d_t")
_MOST_VARIATIONS = 8  # listed by name


@dataclass(frozen=True, eq=False, repr=False)
class Sensitivity(Reported):
    """The result of :func:`carouseval.sensitivity`: the means of systems under variations of one metric.

    Attributes
    ----------
    systems : tuple of str
        The systems by their reference score, best first.
    table : polars.DataFrame
        One line per variation (and segment), the reference first: what is ``varied`` and how (``variation``), the mean
        of each system, Kendall's ``tau`` between its order and the reference's, the ``best`` system, and the pairs of
        systems that swap places (``flips``).
    users : dict of str to int
        The number of users that the reference scores under each system.
    config : dict of str to Any
        Every setting in force.

    Examples
    --------
    >>> import carouseval as cv
    >>> data = cv.sample(50, systems=["new", "random"])
    >>> cv.sensitivity(data.layouts, data.judgments, data.items, discounts=["d_a", "d_t"])
    Sensitivity: the order new > random holds in 7 of 7 variations
    """

    systems: tuple[str, ...]
    table: pl.DataFrame
    users: dict[str, int]
    config: dict[str, Any]

    @property
    def heading(self) -> str:
        return self.summary

    @property
    def caption(self) -> str:
        """What the scores of the reference are, in a sentence."""
        return f"Reference: {caption(self.config, list(self.users.values()))}"

    @cached_property
    def summary(self) -> str:
        """Whether the order of systems holds under every variation, and which variations change it."""
        changed, count = self._changed, self._variations.height
        if changed.is_empty():
            return f"The order {self._order} holds in all {count} variations."
        pairs = sorted({pair for flips in changed[Columns.FLIPS] for pair in flips.split(", ")})
        leads = self._variations.filter(pl.col(Columns.BEST) == self.systems[0]).height
        return (
            f"The order {self._order} changes in {changed.height} of {count} variations ({self._changes}). "
            f"{self.systems[0]} leads in {f'all {count}' if leads == count else f'{leads} of {count}'}. "
            f"Pairs that swap places: {', '.join(pairs)}."
        )

    @property
    def _overall(self) -> pl.DataFrame:
        """The lines about all users."""
        by = self.config["by"]
        return self.table.filter(pl.col(name) == "(all)" for name in by) if by else self.table

    @property
    def _variations(self) -> pl.DataFrame:
        return self._overall.filter(pl.col(Columns.VARIED) != "reference")

    @property
    def _changed(self) -> pl.DataFrame:
        """The variations under which systems swap places."""
        return self._variations.filter(pl.col(Columns.FLIPS) != "")

    @property
    def _changes(self) -> str:
        """``discount: d_t; candidates: displayed``."""
        names = [
            f"{varied}: {variation}"
            for varied, variation in self._changed[Columns.VARIED, Columns.VARIATION].iter_rows()
        ]
        return "; ".join(names[:_MOST_VARIATIONS] + ["..."] * (len(names) > _MOST_VARIATIONS))

    @property
    def _order(self) -> str:
        """``new > prod = old``."""
        means = self._overall.row(0, named=True)
        order = self.systems[0]
        for system, follower in itertools.pairwise(self.systems):
            order += f" {'=' if abs(means[system] - means[follower]) <= TIE else '>'} {follower}"
        return order

    def to_frame(self) -> pl.DataFrame:
        """The variations: :attr:`table`."""
        return self.table

    def to_dict(self) -> dict[str, Any]:
        """The summary, caption, variations, users and config."""
        content = {"summary": self.summary, "caption": self.caption, "variations": self.table.to_dicts()}
        return plain(content | {"users": self.users, "config": self.config})

    def __repr__(self) -> str:
        changed, count = self._changed.height, self._variations.height
        order = f"Sensitivity: the order {self._order} holds in {count - changed} of {count} variations"
        return f"{order}\nchanged by {self._changes}" if changed else order


@takes(Settings)
def sensitivity(
    systems: Systems,
    judgments: TableLike,
    items: TableLike | None = None,
    *,
    discounts: Sequence[str] = DISCOUNTS,
    progress: Progress | None = None,
    **settings: Unpack[SettingsDict],
) -> Sensitivity:
    """Score systems by one metric, then again with one choice changed at a time, to see whether their order holds.

    The reference is ``metrics``, an ``N2DCG_cat`` with any discount and cutoff, under the settings given. The
    variations are other discounts, the unconstrained ideal, the other gain, cutoffs at the first screen and at half
    the page, and the other kind of candidates.

    Parameters
    ----------
    systems : dict of str to TableLike
        The layouts of each system by its name, or a list of layouts for several runs, as for
        :func:`carouseval.compare`.
    judgments : TableLike
        Lines of ``user_id, item_id, relevance`` (+ ``page_id``), as for :func:`carouseval.evaluate`.
    items : TableLike, optional
        Lines of ``item_id, category``. By default the pairs that appear in the layouts of any system.
    discounts : sequence of str, default ('d_rpd', 'd_rpb', 'd_mul', 'd_add', 'd_mir', 'd_a', 'd_t')
        The discounts to try in place of the reference's.
    progress : Progress, optional
        A function called with (what, done, total) while tables are read and scored.

    Returns
    -------
    Sensitivity
        The systems' means under each variation, and where their order changes.

    Notes
    -----
    Metrics with the same gains and weights share their ideal pages, as relevances of 0 and 1 do under both gains. The
    other variations change the gain or the weights, and so each user has another ideal page to find. Where users have
    many judged items of several categories each, that takes most of the time: the eleven default variations then take
    about eleven times as long as :func:`carouseval.compare`, and more where one of them makes the ideal page of some
    user hard to prove, as the cutoff at half the page may (``work`` and ``tolerance`` limit that).

    Examples
    --------
    >>> import carouseval as cv
    >>> data = cv.sample(50, systems=["new", "random"])
    >>> result = cv.sensitivity(data.layouts, data.judgments, data.items, discounts=["d_a", "d_t"])
    >>> result.summary
    'The order new > random holds in all 7 variations.'
    """
    options = checked_settings("sensitivity", settings, Settings)
    plan = ScoringPlan.of(options)
    name, *others = plan.names
    if others or name not in plan.metrics or plan.metrics[name].ideal != "category":
        raise ParameterError(
            f"{setting('metrics')}: sensitivity takes one N2DCG_cat, with any discount and cutoff, found "
            f"{', '.join(plan.names)}."
        )
    if plan.grid_values is not None:
        raise ParameterError(f"{setting('grid')}: sensitivity takes one grid for all pages.")
    runs = all_runs(systems)
    names = list(by_system(runs))
    if clash := [segment for segment in options.by_columns if segment in names]:
        raise ParameterError(
            f"{setting('systems')}: {clash[0]!r} is the column of segments, too ({setting('by')}); choose another name."
        )
    reference, variations = plan.metrics[name], variations_of(plan.metrics[name], plan, discounts)
    other: Candidates = "displayed" if options.candidates == "judged" else "judged"
    metrics_by_candidates: dict[Candidates, dict[tuple[str, str], Metric]] = {
        options.candidates: {("reference", reference.full_name): reference} | variations,
        other: {("candidates", other): reference},
    }
    lines: list[dict[str, Any]] = []
    users: dict[str, int] = {}
    notices: dict[str, list[str]] = {}
    with each_warning_once():
        for candidates, metrics in metrics_by_candidates.items():
            varied = replace(options, candidates=candidates, metrics=list(metrics.values()))
            results, _ = evaluate_runs(JudgedSources(judgments, items, ScoringPlan.of(varied)), runs, progress)
            results.warn_of_over_capacity()
            evaluations = results.evaluations
            for notice, about in results.notices.items():
                notices.setdefault(notice, []).extend(about)
            if candidates == options.candidates:
                users = {
                    system: max(result.per_user[str(reference)].count() for result in results)
                    for system, results in evaluations.items()
                }
            for variation, varied_metric in metrics.items():
                lines += _lines(variation, str(varied_metric), evaluations, options.by_columns)
    warn_of(merged_notices(notices), len(names))
    return Sensitivity(
        systems=_ranked(names, lines[0]),
        table=_with_agreement(lines, names, options.by_columns),
        users=users,
        config=plan.config() | {"discounts_tried": list(discounts)},
    )


def _lines(
    variation: tuple[str, str], metric: str, evaluations: Mapping[str, Sequence[Evaluation]], by: Sequence[str]
) -> list[dict[str, Any]]:
    """The systems' means under one variation, over all users and in each segment; runs are averaged."""
    means: dict[tuple[str, ...], dict[str, list[float]]] = {}
    for system, results in evaluations.items():
        for result in results:
            overall = dict.fromkeys(by, "(all)") | {metric: result.mean[metric]}
            for row in (overall, *result.segment_means.iter_rows(named=True)):
                segment_means = means.setdefault(tuple(row[column] for column in by), {})
                segment_means.setdefault(system, []).append(row[metric])
    lines = []
    for segment, of_systems in means.items():
        line: dict[str, Any] = dict(zip(by, segment, strict=True))
        line |= dict(zip((Columns.VARIED, Columns.VARIATION), variation, strict=True))
        averages = {system: sum(values) / len(values) for system, values in of_systems.items()}
        lines.append(line | {system: averages.get(system, math.nan) for system in evaluations})
    return lines


def _with_agreement(lines: Sequence[dict[str, Any]], systems: Sequence[str], by: Sequence[str]) -> pl.DataFrame:
    """Every line with its agreement with the reference of its segment."""
    references = {tuple(line[name] for name in by): line for line in lines if line[Columns.VARIED] == "reference"}
    rows = []
    for line in lines:
        reference = references[tuple(line[name] for name in by)]
        rows.append(line | order_agreement(*({name: source[name] for name in systems} for source in (reference, line))))
    return SENSITIVITY.of_lines(rows, Present(segments=by, systems=systems))


def _ranked(systems: Iterable[str], means: Mapping[str, float]) -> tuple[str, ...]:
    return tuple(sorted(systems, key=lambda name: (-means[name], name)))
