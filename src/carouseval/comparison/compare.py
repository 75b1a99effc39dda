"""Which system is better, and can one be sure? Systems are paired by user and measured by the same ideals."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Unpack

import numpy as np
import polars as pl

from carouseval.comparison.choices import Correction
from carouseval.comparison.comparison import Comparison
from carouseval.comparison.pair_tests import PairTests
from carouseval.comparison.significance import Test
from carouseval.errors import DataError, ParameterError
from carouseval.evaluation.evaluate import Evaluator, items_of
from carouseval.evaluation.outcomes import SCORED
from carouseval.evaluation.plan import ScoringPlan
from carouseval.evaluation.resampling import mean_interval, mean_of
from carouseval.evaluation.results import NO_PAGE, Evaluation, weight_of
from carouseval.evaluation.settings import Settings, SettingsDict, takes_settings
from carouseval.metrics.validation import did_you_mean
from carouseval.progress import Progress
from carouseval.tables import TableLike, in_memory

# columns of results: neither systems nor segments may go by these names
_TAKEN = {
    *("user_id", "system", "baseline", "metric", "varied", "variation", "tau", "best", "flips", "runs", "spread"),
    *(
        "difference",
        "lift",
        "effect",
        "low",
        "high",
        "wins",
        "ties",
        "losses",
        "detectable",
        "users",
        "p",
        "p_adjusted",
    ),
    *("significant", "not_inferior", "weight"),
}
Systems = Mapping[str, TableLike | Sequence[TableLike]]


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
    """Compare systems, each given by its name and its layouts, on the same users and by the same ideals.

    Parameters
    ----------
    systems
        ``{"prod": layouts, "new": layouts}``. A list of layouts holds several runs of one system (seeds): a user's
        scores are averaged over them first, and how much their means differ is shown.
    judgments, items, progress
        As in :func:`carouseval.evaluate`. Without items, the pairs seen in the layouts of all systems.
    baseline
        The system that all others are compared with; by default every pair is.
    test
        ``"permutation"`` (signs of users' differences are flipped; p = (b + 1) / (m + 1)), ``"t"``, ``"wilcoxon"``,
        ``"bootstrap"``, or a function from differences to a p-value. With ``weight``, differences are weighted first,
        by what each user weighs on average over all systems; ``"wilcoxon"`` ranks users alike and takes none.
    correction
        ``"holm"``, ``"bh"`` (Benjamini-Hochberg) or ``"none"``: per metric, over the pairs that are tested.
    ci
        The confidence level of intervals; a difference is significant where its corrected p is below 1 - ci.
    seed, permutations
        Of the test; the same seed gives the same p-values.
    margin
        A system is *not inferior* where the interval of its difference lies above ``-margin``.

    Examples
    --------
    >>> import carouseval as cv
    >>> data = cv.sample(200, systems=["new", "random"])
    >>> result = cv.compare(data.layouts, data.judgments, data.items, baseline="random", permutations=999)
    >>> result.pairs.select("system", "p", "significant").row(0)
    ('new', 0.001, True)
    """
    chosen = Settings.named("compare", settings)
    plan = ScoringPlan.of(chosen)
    runs = system_runs(systems, baseline)
    judge = PairTests(
        metrics=tuple(plan.metrics),
        systems=tuple(runs),
        baseline=baseline,
        test=test,
        correction=correction,
        ci=ci,
        seed=seed,
        permutations=permutations,
        margin=margin,
        weighted=chosen.weight is not None,
        threads=plan.threads,
    )
    _check_names(plan)
    evaluator = Evaluator(judgments, all_items(items, runs, plan), **settings)
    results = {name: _evaluated(evaluator, name, several, progress) for name, several in runs.items()}
    _check_ideals(results)
    by = list(chosen.by_columns)
    per_user = _per_user(results, judge.metrics, [])
    return Comparison(
        metrics=judge.metrics,
        systems=_system_table(results, per_user, judge),
        pairs=judge.pairs(per_user),
        segments=judge.segments(_per_user(results, judge.metrics, by), by),
        per_user=per_user.drop(map(weight_of, judge.metrics), strict=False),
        evaluations={name: tuple(several) for name, several in results.items()},
        config=next(iter(results.values()))[0].config | judge.config(),
    )


def all_items(items: TableLike | None, runs: Mapping[str, Sequence[TableLike]], plan: ScoringPlan) -> TableLike | None:
    """The items table; where it is needed and left out, what the layouts of all systems show."""
    if items is not None or not (plan.needs_categories or plan.figures):
        return items
    return items_of(*(layouts for several in runs.values() for layouts in several), columns=plan.settings.columns)


def system_runs(systems: Systems, baseline: str | None = None) -> dict[str, list[TableLike]]:
    """Every system's layouts, one for each run."""
    if not isinstance(systems, Mapping) or len(systems) < 2:
        raise ParameterError("systems must be a dict of at least two: {'prod': layouts, 'new': layouts}.")
    if baseline is not None and baseline not in systems:
        raise ParameterError(f"baseline: there is no system {baseline!r}.{did_you_mean(str(baseline), systems)}")
    runs = {}
    for name, layouts in systems.items():
        if not isinstance(name, str) or not name:
            raise ParameterError(f"systems: a name is text, found {name!r}.")
        if name in _TAKEN:
            raise ParameterError(f"systems: {name!r} is a name that results use themselves; give it another.")
        several: list[Any] = list(layouts) if isinstance(layouts, list | tuple) else [layouts]
        if not several:
            raise ParameterError(f"systems: {name} has no layouts.")
        try:
            runs[name] = [in_memory(one, "layouts") for one in several]
        except DataError as error:
            raise DataError(f"{name}: {error}") from None
    return runs


def _check_names(plan: ScoringPlan) -> None:
    for name in plan.settings.by_columns:
        if name in _TAKEN:
            raise ParameterError(f"by={name!r} is a name that results use themselves; give the column another name.")
    if not plan.metrics:
        raise ParameterError(
            f"metrics: {', '.join(plan.figures)} is a figure of a whole system, without a test; name a metric of pages "
            "too, such as 'N2DCG_cat'."
        )


def _evaluated(evaluator: Evaluator, name: str, runs: list[TableLike], progress: Progress | None) -> list[Evaluation]:
    """All runs of a system; what is wrong with its tables is said with its name."""
    try:
        return [evaluator.evaluate(layouts, progress) for layouts in runs]
    except DataError as error:
        raise DataError(f"{name}: {error}") from None


def _check_ideals(results: Mapping[str, Sequence[Evaluation]]) -> None:
    """Refuse systems whose users are measured by different ideals, as where they pin different rows."""
    (first, *others) = [(name, one) for name, several in results.items() for one in several]
    if first[1].config["candidates"] == "displayed":
        return
    shown = first[1].per_page.filter(pl.col("status") == SCORED)
    for name, other in others:
        pages = other.per_page.filter(pl.col("status") == SCORED)
        keys = [key for key in ("user_id", "page_id") if key in shown.columns and key in pages.columns]
        for column in (f"{metric}.ideal" for metric in first[1].metrics):
            if column not in shown.columns:
                continue
            both = shown.select(*keys, column).join(pages.select(*keys, column), on=keys, suffix=" of other")
            apart = (both[column] - both[f"{column} of other"]).abs() > 1e-9 * both[column].abs()
            if apart.any():
                user = both.filter(apart)["user_id"].sort()[0]
                raise DataError(
                    f"{name}: {int(apart.sum()):,} pages are measured by another ideal than in {first[0]}, first "
                    f"user_id={user!r}: their pinned rows or screens differ. Pin the same rows in all systems, or none."
                )


def _per_user(results: Mapping[str, Sequence[Evaluation]], metrics: Sequence[str], by: list[str]) -> pl.DataFrame:
    """Every user's mean by system and metric, runs averaged first; null where a system has no score for a user.

    Users who weigh something weigh the same in all systems: what they do on average.
    """
    frames = []
    for name, several in results.items():
        users = [one.users_by(by) for one in several]
        together = pl.concat(users, how="vertical_relaxed").with_columns(pl.lit(name).alias("system"))
        frames.append(together.drop("pages"))
    scores = _placed(pl.concat(frames, how="vertical_relaxed"), by)
    weights = ["weight", *map(weight_of, metrics)] if "weight" in scores.columns else []
    means = scores.group_by("system", "user_id", *by, maintain_order=True).agg(pl.col(*metrics, *weights).mean())
    means = means.with_columns(pl.col(name).mean().over("user_id", *by) for name in weights)
    return means.sort("user_id", *by, "system", nulls_last=True)


def _placed(scores: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    """Users whose page is missing stand in the segments that other systems show them in; else in none."""
    if not by:
        return scores
    lost = pl.any_horizontal(pl.col(by).is_null())
    shown = scores.filter(~lost).select("user_id", *by).unique()
    found = scores.filter(lost).drop(by).join(shown, on="user_id", how="left").select(scores.columns)
    return pl.concat([scores.filter(~lost), found]).with_columns(pl.col(by).fill_null(NO_PAGE))


def _system_table(
    results: Mapping[str, Sequence[Evaluation]], per_user: pl.DataFrame, judge: PairTests
) -> pl.DataFrame:
    lines = []
    for name, several in results.items():
        mine = per_user.filter(pl.col("system") == name)
        for metric in several[0].mean:
            means = [one.mean[metric] for one in several]
            line: dict[str, Any] = {"system": name, "metric": metric}
            if metric in several[0].figures:  # of the whole system: it has no interval
                users = several[0].counts["users"]
                line |= {"mean": float(np.mean(means)), "low": math.nan, "high": math.nan, "users": users}
            else:
                known = mine.drop_nulls(metric)
                weights = known[weight_of(metric)].to_numpy() if "weight" in known.columns else None
                values = known[metric].to_numpy()
                low, high = mean_interval(values, weights, judge.ci, seed=judge.seed)
                line |= {"mean": mean_of(values, weights), "low": low, "high": high, "users": len(values)}
            spread = float(np.std(means, ddof=1)) if len(means) > 1 else None
            lines.append(line | {"runs": len(several), "spread": spread})
    return pl.DataFrame(lines, schema_overrides={"spread": pl.Float64})
