"""Which system is better, and is the difference significant? Systems are paired by user and share their ideals."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
import polars as pl

from carouseval.comparison.comparison import Comparison
from carouseval.comparison.comparison_settings import ComparisonDict, ComparisonSettings, takes_comparison_settings
from carouseval.comparison.crossed_effects import CrossedMeans
from carouseval.comparison.logged_judgments import LoggedJudgments, SystemShares, system_shares
from carouseval.comparison.pair_tests import PairTests
from carouseval.comparison.result_columns import NAMES, SYSTEMS
from carouseval.comparison.run_pages import RunPages, linear_metrics, unjudged_gain
from carouseval.comparison.summary import unmatched_systems
from carouseval.comparison.systems import (
    SystemExplanations,
    Systems,
    evaluate_systems,
    left_out,
    require_same_ideals,
    runs_by_system,
)
from carouseval.comparison.user_scores import UserScores
from carouseval.errors import ParameterError, warn
from carouseval.evaluation.columns import Columns
from carouseval.evaluation.mean_estimates import FEW_USERS, mean_of
from carouseval.evaluation.plan import ScoringPlan
from carouseval.evaluation.result_table import Present
from carouseval.evaluation.results import Evaluation
from carouseval.progress import Progress
from carouseval.tables import TableLike


@takes_comparison_settings
def compare(
    systems: Systems,
    judgments: TableLike,
    items: TableLike | None = None,
    *,
    explain: bool = False,
    progress: Progress | None = None,
    **settings: Unpack[ComparisonDict],
) -> Comparison:
    """Compare systems on the same users and against the same ideal pages, with significance tests.

    Parameters
    ----------
    systems : dict of str to TableLike
        The layouts of each system by its name: ``{"prod": layouts, "new": layouts}``. A list of layouts holds several
        runs of one system, such as models trained with different seeds, on the same users; see ``runs``.
    judgments : TableLike
        Lines of ``user_id, item_id, relevance`` (+ ``page_id``), as for :func:`carouseval.evaluate`.
    items : TableLike, optional
        Lines of ``item_id, category``. By default the pairs that appear in the layouts of any system.
    explain : bool, default False
        Also find out what the first run of each system loses by the first ``N2DCG_cat`` among the metrics, as
        :func:`carouseval.explain` does, against the ideals of the comparison; a report then has it.
    progress : Progress, optional
        A function called with (what, done, total) while tables are read and scored.

    Returns
    -------
    Comparison
        The mean of each system and the difference, interval and p-value of each pair.

    Examples
    --------
    >>> import carouseval as cv
    >>> data = cv.sample(200, systems=["new", "random"])
    >>> result = cv.compare(data.layouts, data.judgments, data.items, baseline="random", permutations=999)
    >>> result.pairs.select("system", "p", "significant").row(0)
    ('new', 0.001, True)
    """
    choices, options = ComparisonSettings.named("compare", settings)
    plan = ScoringPlan.of(options)
    tables = runs_by_system(systems, choices.baseline)
    tests = PairTests.of(choices, plan, {name: len(of_system) for name, of_system in tables.items()})
    check_names(plan)
    explanations = SystemExplanations(_explained(plan)) if explain else None
    pages = {name: [RunPages() for _ in of_system] for name, of_system in tables.items()}
    evaluations = evaluate_systems(tables, judgments, items, plan, progress, pages, explanations=explanations)
    require_same_ideals(evaluations, plan)
    shown = {name: [run.shown for run in several] for name, several in pages.items()}
    shares = {name: system_shares(shown, name if name in plan.metrics else None) for name in plan.names}
    gains = {
        name: [run.with_unjudged_gain(result) for run, result in zip(pages[name], results, strict=True)]
        for name, results in evaluations.items()
    }

    def mean_of_system(name: str, metric: str) -> SystemMean:
        values, weights = scores.of_system(metric, name)
        if not tests.runs_vary:
            values = values.mean(axis=1, keepdims=True)
        low, high = CrossedMeans.of_system(values, weights).estimate(1).interval(tests.ci)
        mean, without = mean_of(values.mean(axis=1), weights), left_out(evaluations[name], len(values), metric)
        return SystemMean(mean, low, high, len(values), without)

    by, columns = list(options.by_columns), [*tests.metrics, *map(unjudged_gain, linear_metrics(plan))]
    scores = UserScores.of(gains, columns, [])
    _check_runs(scores, tests.metrics)
    pairs = without_unmatched(tests.table(tests.pairs(scores)), evaluations)
    used = " or ".join(pairs[Columns.TEST].unique(maintain_order=True))
    segments = tests.table(tests.segments(UserScores.of(gains, columns, by)), by) if by else pl.DataFrame()
    return Comparison(
        metrics=tests.metrics,
        systems=tabulate_systems(evaluations, mean_of_system, shares),
        pairs=pairs,
        segments=without_unmatched(segments, evaluations),
        per_user=scores.table(tests.metrics),
        evaluations={name: tuple(results) for name, results in evaluations.items()},
        config=next(iter(evaluations.values()))[0].config | tests.config() | {"test": used},
        notice=logged_notice(shares[tests.metrics[0]], pairs, plan),
        explanations={} if explanations is None else explanations.by_system,
    )


def _explained(plan: ScoringPlan) -> str:
    """The metric by which losses are explained."""
    metric = next((name for name, metric in plan.metrics.items() if metric.ideal == "category"), None)
    if metric is None:
        raise ParameterError(f"explain=True needs N2DCG_cat among the metrics, found {', '.join(plan.names)}.")
    return metric


def _check_runs(scores: UserScores, metrics: Sequence[str]) -> None:
    """Warn of runs on different users, of which nothing can be said: they are parts of one run."""
    for name, count in scores.runs.items():
        lines = scores.lines.filter(pl.col(Columns.SYSTEM) == name)
        users = scores.per_user.filter(pl.col(Columns.SYSTEM) == name)
        if count > 1 and any(lines[metric].count() and not users[metric].count() for metric in metrics):
            warn(no_common_user(name, count))


def no_common_user(system: str, runs: int) -> str:
    """The warning about runs on different users."""
    return (
        f"{system}: no user is scored in all {runs} runs. Runs repeat a system on the same users; if these tables hold "
        "the pages of different users, such as folds, concatenate them to one run."
    )


def without_unmatched(pairs: pl.DataFrame, evaluations: Mapping[str, Sequence[Evaluation]]) -> pl.DataFrame:
    """Pairs with no significant difference where pages do not match judgments by page_id: the scores mean nothing."""
    unmatched = unmatched_systems(evaluations)
    if pairs.is_empty() or not unmatched:
        return pairs
    is_matched = ~pl.col(Columns.BASELINE).is_in(unmatched) & ~pl.col(Columns.SYSTEM).is_in(unmatched)
    return pairs.with_columns(pl.col(Columns.SIGNIFICANT, f"^{Columns.NOT_INFERIOR}$") & is_matched)


def logged_notice(shares: Mapping[str, SystemShares], pairs: pl.DataFrame, plan: ScoringPlan) -> str:
    """Whether judgments were probably logged on one system's pages, by the first metric; if so, it is warned of too.

    With displayed candidates the choice of items is no part of the score, and logs favour nobody.
    """
    logged = LoggedJudgments.find(shares) if plan.settings.candidates == "judged" else None
    if logged is None:
        return ""
    warn(logged.warning())
    metric = next(iter(plan.metrics))
    of_metric = pairs.filter(pl.col(Columns.METRIC) == metric).to_dicts() if plan.metrics[metric].linear else []
    return f"{logged.notice()} {logged.break_even_text(of_metric)}".strip()


def check_names(plan: ScoringPlan) -> None:
    """Refuse names that would clash, and figures that cannot be tested."""
    for name in plan.settings.by_columns:
        if name in NAMES:
            raise ParameterError(f"by={name!r} is a column of the results; give your column another name.")
    if not plan.metrics:
        raise ParameterError(
            f"metrics: a figure of a whole system cannot be tested user by user, found {', '.join(plan.figures)}. Add "
            "a metric of pages, such as 'N2DCG_cat'."
        )


@dataclass(frozen=True)
class SystemMean:
    """The mean of a system by one metric, over users scored in every run, and the users who are left out of it."""

    mean: float
    low: float
    high: float
    users: int
    left_out: int


def tabulate_systems(
    evaluations: Mapping[str, Sequence[Evaluation]],
    mean_of_system: Callable[[str, str], SystemMean],
    shares: Mapping[str, Mapping[str, SystemShares]],
) -> pl.DataFrame:
    """One line per system and metric; ``mean_of_system`` is called with both."""
    rows = []
    for name, results in evaluations.items():
        for metric in results[0].mean:
            means = [result.mean[metric] for result in results]
            if metric in results[0].figures:  # of the whole system: it has no interval
                of_system = SystemMean(float(np.mean(means)), math.nan, math.nan, results[0].counts["users"], 0)
            else:
                of_system = mean_of_system(name, metric)
            share = shares[metric][name]
            row: dict[str, Any] = {
                Columns.SYSTEM: name,
                Columns.METRIC: metric,
                Columns.MEAN: of_system.mean,
                Columns.LOW: of_system.low,
                Columns.HIGH: of_system.high,
                Columns.USERS: of_system.users,
                Columns.RUNS: len(results),
                Columns.SPREAD: float(np.std(means, ddof=1)) if len(means) > 1 else None,
                Columns.LEFT_OUT: of_system.left_out,
                Columns.FEW_USERS: of_system.users < FEW_USERS,
                Columns.RELEVANT_SHOWN: share.relevant_shown,
                Columns.JUDGED_SHARE: share.judged_share,
            }
            rows.append(row)
    return SYSTEMS.of_lines(rows, Present())
