"""Which system is better, and can one be sure? Systems are paired by user and measured by the same ideals."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import polars as pl

from carouseval.comparison.comparison import Comparison
from carouseval.comparison.significance import TIE, Test, corrected, describe, p_values
from carouseval.errors import DataError, ParameterError
from carouseval.evaluation import schema
from carouseval.evaluation.evaluate import Evaluator, Grids, items_of, segment_names
from carouseval.evaluation.layouts import Progress
from carouseval.evaluation.resampling import mean_interval, mean_of
from carouseval.evaluation.results import NO_PAGE, Evaluation
from carouseval.metrics.gains import Gain
from carouseval.metrics.grid import RECGAZE
from carouseval.metrics.names import MetricLike
from carouseval.metrics.validation import did_you_mean, require_float, require_int
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
    *("significant", "not_inferior"),
}
Systems = Mapping[str, TableLike | Sequence[TableLike]]


def compare(
    systems: Systems,
    judgments: TableLike,
    items: TableLike | None = None,
    metrics: Sequence[MetricLike] | MetricLike = ("N2DCG_cat",),
    grid: Grids = RECGAZE,
    gain: Gain = "exp2",
    candidates: str = "judged",
    duplicates: str = "best",
    missing_pages: str = "zero",
    no_relevant: str = "skip",
    unjudged: str = "zero",
    invalid: str = "error",
    by: str | Sequence[str] | None = None,
    columns: schema.ColumnNames = None,
    *,
    baseline: str | None = None,
    test: Test = "permutation",
    correction: str = "holm",
    ci: float = 0.95,
    seed: int = 0,
    permutations: int = 10_000,
    margin: float | None = None,
    memory: float = 4.0,
    progress: Progress = None,
) -> Comparison:
    """Compare systems, each given by its name and its layouts; takes what :func:`carouseval.evaluate` does, unweighted.

    Parameters
    ----------
    systems
        ``{"prod": layouts, "new": layouts}``. A list of layouts holds several runs of one system (seeds): a user's
        scores are averaged over them first, and how much their means differ is shown.
    baseline
        The system that all others are compared with; by default every pair is.
    test
        ``"permutation"`` (signs of users' differences are flipped; p = (b + 1) / (m + 1)), ``"t"``, ``"wilcoxon"``,
        ``"bootstrap"``, or a function from differences to a p-value.
    correction
        ``"holm"``, ``"bh"`` (Benjamini-Hochberg) or ``"none"``: per metric, over the pairs that are tested.
    margin
        A system is *not inferior* where the interval of its difference lies above ``-margin``.

    Examples
    --------
    >>> import carouseval as cv
    >>> from carouseval.building.sample import sample
    >>> data = sample(200, systems=["new", "random"])
    >>> result = cv.compare(data.layouts, data.judgments, data.items, baseline="random", permutations=999)
    >>> result.pairs.select("system", "p", "significant").row(0)
    ('new', 0.001, True)
    """
    runs = system_runs(systems, baseline)
    ci, seed = require_float("ci", ci, above=0, at_most=1), require_int("seed", seed, 0)
    permutations = require_int("permutations", permutations, 1)
    margin = None if margin is None else require_float("margin", margin, at_least=0)
    corrected([], correction)  # what is unknown is refused before any work
    p_values(test, np.zeros((2, 1)), pl.Series(["one", "other"]), 1, seed)
    _check_segments(by)
    everything = [layouts for several in runs.values() for layouts in several]
    evaluator = Evaluator(
        judgments, items, metrics, grid, gain, candidates, duplicates, missing_pages, no_relevant, unjudged, invalid,
        by, columns, memory=memory,
    )  # fmt: skip
    if items is None and evaluator.needs_categories:
        evaluator.use_items(items_of(*everything, columns=columns))
    results = {name: _evaluated(evaluator, name, several, progress) for name, several in runs.items()}
    _check_ideals(results)
    names = tuple(evaluator.metrics)
    how = {"test": test if isinstance(test, str) else getattr(test, "__name__", "function"), "correction": correction}
    config = next(iter(results.values()))[0].config | how
    config |= {"baseline": baseline, "ci": ci, "seed": seed, "permutations": permutations, "margin": margin}
    judge = _Judge(names, list(runs), baseline, test, correction, ci, seed, permutations, margin)
    per_user = _per_user(results, names, [])
    return Comparison(
        metrics=names,
        systems=_system_table(results, names, per_user, ci, seed),
        pairs=judge.pairs(per_user),
        segments=judge.segments(_per_user(results, names, list(evaluator.by)), list(evaluator.by)),
        per_user=per_user,
        evaluations={name: tuple(several) for name, several in results.items()},
        config=config,
    )


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
        several = list(layouts) if isinstance(layouts, list | tuple) else [layouts]
        if not several:
            raise ParameterError(f"systems: {name} has no layouts.")
        try:
            runs[name] = [in_memory(one, "layouts") for one in several]
        except DataError as error:
            raise DataError(f"{name}: {error}") from None
    return runs


def _check_segments(by: str | Sequence[str] | None) -> None:
    for name in segment_names(by):
        if name in _TAKEN:
            raise ParameterError(f"by={name!r} is a name that results use themselves; give the column another name.")


def _evaluated(evaluator: Evaluator, name: str, runs: list[TableLike], progress: Progress) -> list[Evaluation]:
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
    shown = first[1].per_page.filter(pl.col("status") == "scored")
    for name, other in others:
        pages = other.per_page.filter(pl.col("status") == "scored")
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
    """Every user's mean by system and metric, runs averaged first; null where a system has no score for a user."""
    frames = []
    for name, several in results.items():
        users = [one.users_by(by).select("user_id", *by, *metrics) for one in several]
        together = pl.concat(users, how="vertical_relaxed").with_columns(pl.lit(name).alias("system"))
        frames.append(together)
    scores = _placed(pl.concat(frames, how="vertical_relaxed"), by)
    means = scores.group_by("system", "user_id", *by, maintain_order=True).agg(pl.col(metrics).mean())
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
    results: Mapping[str, Sequence[Evaluation]], metrics: Sequence[str], per_user: pl.DataFrame, ci: float, seed: int
) -> pl.DataFrame:
    lines = []
    for name, several in results.items():
        for metric in metrics:
            values = per_user.filter(pl.col("system") == name)[metric].drop_nulls().to_numpy()
            low, high = mean_interval(values, None, ci, seed=seed)
            means = [one.mean[metric] for one in several]
            spread = float(np.std(means, ddof=1)) if len(means) > 1 else None
            lines.append(
                {"system": name, "metric": metric, "mean": mean_of(values), "low": low, "high": high}
                | {"users": len(values), "runs": len(several), "spread": spread}
            )
    return pl.DataFrame(lines, schema_overrides={"spread": pl.Float64})


class _Judge:
    """Tests pairs of systems on users that both have."""

    def __init__(
        self,
        metrics: Sequence[str],
        systems: list[str],
        baseline: str | None,
        test: Test,
        correction: str,
        ci: float,
        seed: int,
        permutations: int,
        margin: float | None,
    ) -> None:
        self.metrics, self.test, self.correction = metrics, test, correction
        self.ci, self.seed, self.permutations, self.margin = ci, seed, permutations, margin
        others = [name for name in systems if name != baseline]
        self.tested = [(baseline, name) for name in others] if baseline else list(itertools.combinations(systems, 2))

    def segments(self, per_user: pl.DataFrame, by: list[str]) -> pl.DataFrame:
        """The same per segment, corrected over the pairs of all segments."""
        if not by:
            return pl.DataFrame()
        parts = per_user.partition_by(by, as_dict=True)
        found = []
        for key, users in sorted(parts.items(), key=lambda part: str(part[0])):
            segment = [pl.lit(value).alias(name) for name, value in zip(by, key, strict=True)]
            found.append(self._raw(users).select(*segment, pl.all()))
        together = pl.concat(found, how="vertical_relaxed") if found else pl.DataFrame()
        return self._corrected(together.filter(pl.col("users") > 0)) if found else together

    def pairs(self, per_user: pl.DataFrame) -> pl.DataFrame:
        """Every pair by every metric."""
        return self._corrected(self._raw(per_user))

    def _raw(self, per_user: pl.DataFrame) -> pl.DataFrame:
        lines = []
        for metric in self.metrics:
            table = per_user.select("user_id", "system", metric).pivot("system", index="user_id", values=metric)
            table = table.with_columns(pl.lit(None, pl.Float64).alias(name) for name in self._lacking(table))
            shared = table.drop_nulls()
            if shared.height == table.height:  # all systems have the same users: their signs are drawn once
                parts = [(shared, self.tested)]
            else:
                parts = [(table.drop_nulls(list(pair)), [pair]) for pair in self.tested]
            for users, tested in parts:
                lines += [{"metric": metric} | line for line in self._lines(users, tested)]
        return pl.DataFrame(lines, infer_schema_length=None)

    def _lacking(self, table: pl.DataFrame) -> list[str]:
        """Systems without any user here."""
        return sorted({name for pair in self.tested for name in pair} - set(table.columns))

    def _lines(self, users: pl.DataFrame, tested: list[tuple[str, str]]) -> list[dict[str, Any]]:
        differences = np.stack([users[other].to_numpy() - users[one].to_numpy() for one, other in tested], axis=1)
        p = p_values(self.test, differences, users["user_id"], permutations=self.permutations, seed=self.seed)
        lines = []
        for at, (one, other) in enumerate(tested):
            found = describe(differences[:, at], users[one].to_numpy(), ci=self.ci, seed=self.seed)
            line: dict[str, Any] = {"baseline": one, "system": other} | asdict(found) | {"p": float(p[at])}
            if self.margin is not None:
                line["not_inferior"] = bool(found.low >= -self.margin - TIE)
            lines.append(line)
        return lines

    def _corrected(self, pairs: pl.DataFrame) -> pl.DataFrame:
        parts = []
        for metric in self.metrics:
            mine = pairs.filter(pl.col("metric") == metric)
            adjusted = pl.Series("p_adjusted", corrected(mine["p"].to_list(), self.correction), dtype=pl.Float64)
            parts.append(
                mine.with_columns(
                    adjusted, pl.Series("significant", (adjusted < round(1 - self.ci, 12)) & ~adjusted.is_nan())
                )
            )
        return pl.concat(parts)
