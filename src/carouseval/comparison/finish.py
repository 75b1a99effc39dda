"""From sums over users to a comparison, wherever users were scored."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
import polars as pl

from carouseval.comparison.comparison import Comparison
from carouseval.comparison.comparison_sums import ComparisonSums, PairKey
from carouseval.comparison.logged_judgments import LoggedJudgments, SystemShares, break_even
from carouseval.comparison.pair_tests import PairOutcome, PairTests
from carouseval.comparison.result_columns import SYSTEMS
from carouseval.comparison.run_pages import linear_metrics
from carouseval.comparison.summary import unmatched_systems
from carouseval.comparison.user_scores import ComparedUsers
from carouseval.errors import warn
from carouseval.evaluation.columns import Columns
from carouseval.evaluation.explanation import Explanation
from carouseval.evaluation.mean_estimates import FEW_USERS
from carouseval.evaluation.page_table import Table
from carouseval.evaluation.plan import ScoringPlan
from carouseval.evaluation.result_table import Present
from carouseval.evaluation.results import Evaluation

Find = Callable[[Sequence[PairKey]], Mapping[PairKey, float]]


def finish_comparison(
    evaluations: Mapping[str, Sequence[Evaluation[Table]]],
    sums: ComparisonSums,
    tests: PairTests,
    plan: ScoringPlan,
    find_p: Find,
    users: ComparedUsers[Table],
    explanations: Mapping[str, Explanation] = MappingProxyType({}),
) -> Comparison[Table]:
    """Make a comparison of the evaluations of all systems and the sums over all users.

    ``find_p`` gives the p-values of pairs whose tests need more of the users than these sums.
    """
    _check_runs(sums, tests)
    p = {key: tests.p_of_sums(part.sums) for key, part in sums.pairs.items()}
    needed = [key for key, value in p.items() if value is None]
    p_of_pairs = find_p(needed) if needed else {}
    outcomes = [
        _outcome(key, p_of_pairs[key] if (value := p[key]) is None else value, sums, tests, plan)
        for key in _ordered(sums, tests)
    ]
    pairs = _without_unmatched(tests.table([outcome for outcome in outcomes if not outcome.segment]), evaluations)
    by, segments = plan.settings.by_columns, pl.DataFrame()
    if by:
        in_segments = [outcome for outcome in outcomes if outcome.segment and outcome.sums.users]
        segments = _without_unmatched(tests.table(in_segments, by), evaluations)
    shares = {name: _shares(sums, name if name in plan.metrics else None, tests) for name in plan.names}
    used = " or ".join(pairs[Columns.TEST].unique(maintain_order=True))
    return Comparison(
        metrics=tests.metrics,
        systems=_systems(evaluations, sums, tests, shares),
        pairs=pairs,
        segments=segments,
        evaluations={name: tuple(results) for name, results in evaluations.items()},
        config=next(iter(evaluations.values()))[0].config | tests.config() | {"test": used},
        notice=_logged_notice(shares[tests.metrics[0]], pairs, plan),
        users=users,
        explanations=dict(explanations),
    )


def _check_runs(sums: ComparisonSums, tests: PairTests) -> None:
    """Warn of runs on different users, of which nothing can be said: they are parts of one run."""
    for name, count in tests.run_counts.items():
        users = {metric: sums.systems[name, metric].users.users for metric in tests.metrics}
        if count > 1 and any(sums.scored_runs[name, metric] and not users[metric] for metric in tests.metrics):
            warn(
                f"{name}: no user is scored in all {count} runs. Runs repeat a system on the same users; if these "
                "tables hold the pages of different users, such as folds, concatenate them to one run."
            )


def _ordered(sums: ComparisonSums, tests: PairTests) -> list[PairKey]:
    """All pairs: of all users, then of segments; by metric, then by pair."""
    segments = sorted({segment for segment, *_ in sums.pairs if segment}, key=str)
    return [
        (segment, metric, before, after)
        for segment in ((), *segments)
        for metric in tests.metrics
        for before, after in tests.system_pairs
        if (segment, metric, before, after) in sums.pairs
    ]


def _outcome(key: PairKey, p: float, sums: ComparisonSums, tests: PairTests, plan: ScoringPlan) -> PairOutcome:
    segment, metric, before, after = key
    part, even = sums.pairs[key], None
    users = part.sums.sums.users
    if metric in linear_metrics(plan) and users.weighted_users:
        gain = part.gains[0 if part.sums.difference > 0 else 1] / users.total_weight
        even = break_even(part.sums.difference, gain * sums.mean_gain(metric))
    return PairOutcome(metric, before, after, part.sums, tests.test_of(part.sums), p, even, segment)


def _shares(sums: ComparisonSums, metric: str | None, tests: PairTests) -> dict[str, SystemShares]:
    return {
        name: SystemShares.of([sums.shares[metric, name, run] for run in range(count)])
        for name, count in tests.run_counts.items()
    }


def _without_unmatched(pairs: pl.DataFrame, evaluations: Mapping[str, Sequence[Evaluation[Any]]]) -> pl.DataFrame:
    """Pairs with no significant difference where pages do not match judgments by page_id: the scores mean nothing."""
    unmatched = unmatched_systems(evaluations)
    if pairs.is_empty() or not unmatched:
        return pairs
    is_matched = ~pl.col(Columns.BASELINE).is_in(unmatched) & ~pl.col(Columns.SYSTEM).is_in(unmatched)
    return pairs.with_columns(pl.col(Columns.SIGNIFICANT, f"^{Columns.NOT_INFERIOR}$") & is_matched)


def _logged_notice(shares: Mapping[str, SystemShares], pairs: pl.DataFrame, plan: ScoringPlan) -> str:
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


def _systems(
    evaluations: Mapping[str, Sequence[Evaluation[Any]]],
    sums: ComparisonSums,
    tests: PairTests,
    shares: Mapping[str, Mapping[str, SystemShares]],
) -> pl.DataFrame:
    """One line per system and metric: the mean over users scored in every run."""
    rows = []
    for name, results in evaluations.items():
        for metric in results[0].mean:
            means = [result.mean[metric] for result in results]
            if metric in results[0].figures:  # of the whole system: it has no interval
                mean, low, high = float(np.mean(means)), math.nan, math.nan
                users, without = results[0].counts["users"], 0
            else:
                of_system = sums.systems[name, metric]
                low, high = of_system.means.estimate(1).interval(tests.ci)
                mean, users = of_system.users.mean(0), of_system.users.users
                without = sums.left_out[name, metric]
            row: dict[str, Any] = {
                Columns.SYSTEM: name,
                Columns.METRIC: metric,
                Columns.MEAN: mean,
                Columns.LOW: low,
                Columns.HIGH: high,
                Columns.USERS: users,
                Columns.RUNS: len(results),
                Columns.SPREAD: float(np.std(means, ddof=1)) if len(means) > 1 else None,
                Columns.LEFT_OUT: without,
                Columns.FEW_USERS: users < FEW_USERS,
                Columns.RELEVANT_SHOWN: shares[metric][name].relevant_shown,
                Columns.JUDGED_SHARE: shares[metric][name].judged_share,
            }
            rows.append(row)
    return SYSTEMS.of_lines(rows, Present())
