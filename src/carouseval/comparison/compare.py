"""Which system is better, and is the difference significant? Systems are paired by user and share their ideals."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Unpack

import numpy as np
import polars as pl

from carouseval.comparison.choices import Correction
from carouseval.comparison.comparison import Comparison, unmatched_systems
from carouseval.comparison.logged_judgments import LoggedJudgments, SystemShares, system_shares
from carouseval.comparison.pair_tests import PairTests
from carouseval.comparison.run_pages import RunPages, linear_metrics, unjudged_gain
from carouseval.comparison.significance import Test
from carouseval.comparison.systems import RESULT_COLUMNS, Systems, evaluate_systems, runs_by_system
from carouseval.errors import DataError, ParameterError, warn
from carouseval.evaluation.outcomes import SCORED
from carouseval.evaluation.plan import ScoringPlan
from carouseval.evaluation.resampling import mean_interval, mean_of
from carouseval.evaluation.results import NO_PAGE, Evaluation, weight_of
from carouseval.evaluation.settings import Settings, SettingsDict, takes_settings
from carouseval.progress import Progress
from carouseval.tables import TableLike

_PAGE_KEYS = ("user_id", "page_id")


@takes_settings
def compare(
    systems: Systems,
    judgments: TableLike,
    items: TableLike | None = None,
    *,
    baseline: str | None = None,
    test: Test = "permutation",
    correction: Correction = "holm",
    ci: float = 0.95,
    seed: int = 0,
    permutations: int = 10_000,
    margin: float | None = None,
    progress: Progress | None = None,
    **settings: Unpack[SettingsDict],
) -> Comparison:
    """Compare systems on the same users and against the same ideal pages, with significance tests.

    Parameters
    ----------
    systems : dict of str to TableLike
        The layouts of each system by its name: ``{"prod": layouts, "new": layouts}``. A list of layouts holds several
        runs of one system (seeds): each user's scores are averaged over the runs first.
    judgments : TableLike
        Lines of ``user_id, item_id, relevance`` (+ ``page_id``), as for :func:`carouseval.evaluate`.
    items : TableLike, optional
        Lines of ``item_id, category``. By default the pairs that appear in the layouts of any system.
    baseline : str, optional
        The system that every other system is compared with. By default all pairs of systems are compared.
    test : {'permutation', 't', 'wilcoxon', 'bootstrap'} or callable, default 'permutation'
        The two-sided test of users' paired differences: random sign flips with p = (b + 1) / (m + 1), the paired
        t-test, Wilcoxon's signed ranks, the percentile bootstrap of the mean, or a function that takes the array of
        differences and returns a p-value. With ``weight``, differences are weighted first, by each user's mean weight
        over all systems; ``'wilcoxon'`` does not support weights.
    correction : {'holm', 'bh', 'none'}, default 'holm'
        The correction of p-values for multiple comparisons, per metric over all pairs tested: Holm,
        Benjamini-Hochberg, or none.
    ci : float, default 0.95
        The confidence level of the intervals, above 0 and at most 1. A difference is significant if its corrected
        p-value is below ``1 - ci``.
    seed : int, default 0
        The seed of the random sign flips and resamples; the same seed gives the same result.
    permutations : int, default 10000
        The number of random sign flips, or of resamples with ``test='bootstrap'``.
    margin : float, optional
        The non-inferiority margin: a system is non-inferior if the interval of its difference from the baseline lies
        above ``-margin``.
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
    options = Settings.named("compare", settings)
    plan = ScoringPlan.of(options)
    runs = runs_by_system(systems, baseline)
    tests = PairTests(
        metrics=tuple(plan.metrics),
        systems=tuple(runs),
        baseline=baseline,
        test=test,
        correction=correction,
        ci=ci,
        seed=seed,
        permutations=permutations,
        margin=margin,
        weighted=options.weight is not None,
        threads=plan.threads,
    )
    _check_names(plan)
    pages = {name: [RunPages() for _ in tables] for name, tables in runs.items()}
    evaluations = evaluate_systems(runs, judgments, items, plan, progress, pages)
    _check_ideals(evaluations)
    shown = {name: [run.shown for run in several] for name, several in pages.items()}
    shares = {name: system_shares(shown, name if name in plan.metrics else None) for name in plan.names}
    gains = {
        name: [run.with_unjudged_gain(result) for run, result in zip(pages[name], results, strict=True)]
        for name, results in evaluations.items()
    }
    by, columns = list(options.by_columns), [*tests.metrics, *map(unjudged_gain, linear_metrics(plan))]
    per_user = _per_user(gains, columns, [])
    pairs = _without_unmatched(tests.pairs(per_user), evaluations)
    return Comparison(
        metrics=tests.metrics,
        systems=_system_table(evaluations, per_user, tests, shares),
        pairs=pairs,
        segments=_without_unmatched(tests.segments(_per_user(gains, columns, by), by), evaluations),
        per_user=per_user.drop(map(weight_of, columns), columns[len(tests.metrics) :], strict=False),
        evaluations={name: tuple(results) for name, results in evaluations.items()},
        config=next(iter(evaluations.values()))[0].config | tests.config(),
        notice=_logged_notice(shares[tests.metrics[0]], pairs, plan),
    )


def _without_unmatched(pairs: pl.DataFrame, evaluations: Mapping[str, Sequence[Evaluation]]) -> pl.DataFrame:
    """Pairs with no significant difference where pages do not match judgments by page_id: the scores mean nothing."""
    unmatched = unmatched_systems(evaluations)
    if pairs.is_empty() or not unmatched:
        return pairs
    is_matched = ~pl.col("baseline").is_in(unmatched) & ~pl.col("system").is_in(unmatched)
    return pairs.with_columns(pl.col("significant", "^not_inferior$") & is_matched)


def _logged_notice(shares: Mapping[str, SystemShares], pairs: pl.DataFrame, plan: ScoringPlan) -> str:
    """Whether judgments were probably logged on one system's pages, by the first metric; if so, it is warned of too.

    With displayed candidates the choice of items is no part of the score, and logs favour nobody.
    """
    logged = LoggedJudgments.find(shares) if plan.settings.candidates == "judged" else None
    if logged is None:
        return ""
    warn(logged.warning())
    metric = next(iter(plan.metrics))
    of_metric = pairs.filter(pl.col("metric") == metric).to_dicts() if plan.metrics[metric].linear else []
    return f"{logged.notice()} {logged.break_even_text(of_metric)}".strip()


def _check_names(plan: ScoringPlan) -> None:
    for name in plan.settings.by_columns:
        if name in RESULT_COLUMNS:
            raise ParameterError(f"by={name!r} is a column of the results; give your column another name.")
    if not plan.metrics:
        raise ParameterError(
            f"metrics: a figure of a whole system cannot be tested user by user, found {', '.join(plan.figures)}. Add "
            "a metric of pages, such as 'N2DCG_cat'."
        )


def _check_ideals(evaluations: Mapping[str, Sequence[Evaluation]]) -> None:
    """Refuse systems whose users have different ideal pages, as when they pin different rows."""
    results = [(name, result) for name, of_system in evaluations.items() for result in of_system]
    first = results[0][1]
    if first.config["candidates"] == "displayed":
        return
    keys = [key for key in _PAGE_KEYS if all(key in result.per_page.columns for _, result in results)]
    ideals = [name for name in (f"{metric}.ideal" for metric in first.metrics) if name in first.per_page.columns]
    for column in ideals:
        pages = pl.concat(
            result.per_page.filter(pl.col("status") == SCORED).select(*keys, ideal=column, system=pl.lit(name))
            for name, result in results
        ).drop_nulls("ideal")
        earlier = pages.select(*keys, pl.col("ideal", "system").first().over(keys).name.suffix(" before"))
        differs = (pages["ideal"] - earlier["ideal before"]).abs() > 1e-9 * pages["ideal"].abs()
        if differs.any():
            odd = pages.with_columns(earlier["system before"]).filter(differs)
            name, before, user = odd.sort("user_id").select("system", "system before", "user_id").row(0)
            count = odd.filter((pl.col("system") == name) & (pl.col("system before") == before)).height
            raise DataError(
                f"{name}: {count:,} pages have a different ideal page than in {before}, first user_id={user!r}: "
                "pinned rows or grids differ. Pin the same rows in all systems, or none."
            )


def _per_user(evaluations: Mapping[str, Sequence[Evaluation]], metrics: Sequence[str], by: list[str]) -> pl.DataFrame:
    """Every user's mean by system and metric, runs averaged first; null where a system has no score for a user.

    A weighted user has the same weight in all systems: the mean of its weights there.
    """
    frames = []
    for name, results in evaluations.items():
        users = pl.concat([result.users_by(by) for result in results], how="vertical_relaxed")
        frames.append(users.with_columns(pl.lit(name).alias("system")).drop("pages"))
    scores = _fill_segments(pl.concat(frames, how="vertical_relaxed"), by)
    weights = ["weight", *map(weight_of, metrics)] if "weight" in scores.columns else []
    means = scores.group_by("system", "user_id", *by, maintain_order=True).agg(pl.col(*metrics, *weights).mean())
    means = means.with_columns(pl.col(name).mean().over("user_id", *by) for name in weights)
    return means.sort("user_id", *by, "system", nulls_last=True)


def _fill_segments(scores: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    """Give users without a page the segments that other systems have them in, or ``NO_PAGE``."""
    if not by:
        return scores
    unknown = pl.any_horizontal(pl.col(by).is_null())
    segments = scores.filter(~unknown).select("user_id", *by).unique()
    filled = scores.filter(unknown).drop(by).join(segments, on="user_id", how="left").select(scores.columns)
    return pl.concat([scores.filter(~unknown), filled]).with_columns(pl.col(by).fill_null(NO_PAGE))


def _system_table(
    evaluations: Mapping[str, Sequence[Evaluation]],
    per_user: pl.DataFrame,
    tests: PairTests,
    shares: Mapping[str, Mapping[str, SystemShares]],
) -> pl.DataFrame:
    rows = []
    for name, results in evaluations.items():
        users = per_user.filter(pl.col("system") == name)
        for metric in results[0].mean:
            means = [result.mean[metric] for result in results]
            row: dict[str, Any] = {"system": name, "metric": metric}
            if metric in results[0].figures:  # of the whole system: it has no interval
                count = results[0].counts["users"]
                row |= {"mean": float(np.mean(means)), "low": math.nan, "high": math.nan, "users": count}
            else:
                scored = users.drop_nulls(metric)
                weights = scored[weight_of(metric)].to_numpy() if "weight" in scored.columns else None
                values = scored[metric].to_numpy()
                low, high = mean_interval(values, weights, tests.ci, seed=tests.seed)
                row |= {"mean": mean_of(values, weights), "low": low, "high": high, "users": len(values)}
            spread = float(np.std(means, ddof=1)) if len(means) > 1 else None
            left_out = 0 if metric in results[0].figures else results[0].left_out(metric)
            share = shares[metric][name]
            row |= {"runs": len(results), "spread": spread, "left_out": left_out}
            rows.append(row | {"relevant_shown": share.relevant_shown, "judged_share": share.judged_share})
    return pl.DataFrame(rows, schema_overrides={"spread": pl.Float64})
