"""Significance tests of pairs of systems, on the users scored under both."""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, get_args

import numpy as np
import polars as pl

from carouseval.comparison.choices import RunEffects
from carouseval.comparison.comparison_settings import ComparisonSettings
from carouseval.comparison.crossed_effects import TIE
from carouseval.comparison.logged_judgments import break_even
from carouseval.comparison.pair_statistics import PairScores
from carouseval.comparison.pair_sums import PairSums
from carouseval.comparison.result_columns import PAIRS, SEGMENTS
from carouseval.comparison.run_pages import unjudged_gain
from carouseval.comparison.significance import Test, adjusted_p_values, p_values, smallest_p_value
from carouseval.comparison.user_scores import UserScores, run_columns
from carouseval.errors import ParameterError, warn
from carouseval.evaluation.columns import Columns
from carouseval.evaluation.mean_estimates import mean_of
from carouseval.evaluation.plan import ScoringPlan
from carouseval.evaluation.result_table import Present, When
from carouseval.evaluation.results import weight_of
from carouseval.metrics.grid import Array
from carouseval.metrics.validation import require_choice, require_float, require_int

CROSSED = "crossed t"  # the test of users and runs that both vary


@dataclass(frozen=True)
class PairOutcome:
    """A pair of systems on one metric: the users' scores, and the p-value of their difference."""

    metric: str
    baseline: str
    system: str
    scores: PairScores | PairSums
    test: str
    p: float
    break_even: float | None
    segment: tuple[Any, ...] = ()


@dataclass(frozen=True, eq=False)
class PairUsers:
    """The users scored under both systems of a pair, by one metric."""

    baseline: str
    system: str
    users: pl.Series
    scores: PairScores
    unjudged: tuple[Array | None, Array | None]  # what unjudged items could add under both; None: not known

    def unjudged_gain(self, difference: float) -> Array | None:
        """What unjudged items could add under the system that loses."""
        return self.unjudged[0 if difference > 0 else 1]


@dataclass(frozen=True, kw_only=True)
class PairTests(ComparisonSettings):
    """Which pairs are tested and how; every argument is checked before any work."""

    metrics: tuple[str, ...]
    run_counts: Mapping[str, int]  # of each system
    weighted: bool
    threads: int

    @classmethod
    def of(cls, choices: ComparisonSettings, plan: ScoringPlan, run_counts: Mapping[str, int]) -> "PairTests":
        """The tests of systems with so many runs each."""
        return cls(
            **vars(choices),
            metrics=tuple(plan.metrics),
            run_counts=run_counts,
            weighted=plan.settings.weight is not None,
            threads=plan.threads,
        )

    def __post_init__(self) -> None:
        require_float("ci", self.ci, above=0, below=1)
        require_int("seed", self.seed, 0)
        require_int("permutations", self.permutations, 1)
        require_choice("runs", self.runs, get_args(RunEffects))
        if self.margin is not None:
            require_float("margin", self.margin, at_least=0)
        adjusted_p_values([], self.correction)
        p_values(self.user_test, np.zeros((2, 1)), pl.Series(["one", "other"]), 1, self.seed)
        if self.weighted and self.test == "wilcoxon":
            raise ParameterError("test='wilcoxon' does not support weights; choose another test, or leave out weight.")
        several = [name for name, count in self.run_counts.items() if count > 1]
        if several and self.runs != "fixed" and self.test not in (None, "t"):
            raise ParameterError(
                f"test={self.test_name!r} takes runs as given, and {several[0]} has several. Leave out test, to test "
                "users and runs that both vary, or set runs='fixed'."
            )
        if self.runs == "paired" and len(set(self.run_counts.values())) > 1:
            counts = ", ".join(f"{name} has {count}" for name, count in self.run_counts.items())
            raise ParameterError(f"runs='paired' needs the same number of runs of every system, found: {counts}.")

    @property
    def runs_vary(self) -> bool:
        """Whether runs are a sample too, not only users."""
        return self.runs != "fixed"

    @property
    def user_test(self) -> Test:
        """The test of users' differences, where runs do not vary."""
        return "permutation" if self.test is None else self.test

    @property
    def test_name(self) -> str:
        """The name of the test of users' differences."""
        return self.user_test if isinstance(self.user_test, str) else getattr(self.user_test, "__name__", "function")

    @property
    def system_pairs(self) -> list[tuple[str, str]]:
        """The pairs to test, each a baseline and a system."""
        if self.baseline is None:
            return list(itertools.combinations(self.run_counts, 2))
        return [(self.baseline, name) for name in self.run_counts if name != self.baseline]

    def config(self) -> dict[str, Any]:
        """The options in force, as plain values."""
        choices = {choice.name: getattr(self, choice.name) for choice in fields(ComparisonSettings)}
        return choices | {"test": self.test_name}

    def pairs(self, scores: UserScores) -> list[PairOutcome]:
        """Test every pair on every metric."""
        return [pair for metric in self.metrics for pair in self._pairs_of_metric(scores, metric, ())]

    def segments(self, scores: UserScores) -> list[PairOutcome]:
        """Test every pair in every segment that has users scored under both systems."""
        return [
            pair
            for segment, part in scores.segments().items()
            for metric in self.metrics
            for pair in self._pairs_of_metric(part, metric, segment)
            if pair.scores.users
        ]

    def _pairs_of_metric(self, scores: UserScores, metric: str, segment: tuple[Any, ...]) -> Iterator[PairOutcome]:
        for group in self.groups(scores, metric):
            p = self._p_values([pair.scores for pair in group], group[0].users)
            for pair, value in zip(group, p, strict=True):
                difference = mean_of(pair.scores.differences, pair.scores.weights)
                gain = pair.unjudged_gain(difference)
                even = None if gain is None else break_even(difference, mean_of(gain, pair.scores.weights))
                test = CROSSED if pair.scores.crossed else self.test_name
                yield PairOutcome(metric, pair.baseline, pair.system, pair.scores, test, value, even, segment)

    def groups(self, scores: UserScores, metric: str) -> Iterator[list[PairUsers]]:
        """The users scored under both systems of every pair; pairs of a group have the same users."""
        table = self._user_table(scores, metric)
        columns = {name: run_columns(name, self.run_counts) for name in self.run_counts}
        if table.drop_nulls([column for names in columns.values() for column in names]).height == table.height:
            groups = [self.system_pairs]  # all systems have the same users: signs are drawn once
        else:
            groups = [[pair] for pair in self.system_pairs]
        for group in groups:
            users = table.drop_nulls([column for pair in group for name in pair for column in columns[name]])
            weights = users[Columns.WEIGHT].to_numpy() if self.weighted else None
            arrays = {name: users.select(columns[name]).to_numpy() for pair in group for name in pair}
            gains = {
                name: users[unjudged_gain(name)].to_numpy() if unjudged_gain(name) in users.columns else None
                for pair in group
                for name in pair
            }
            vary, paired = self.runs_vary, self.runs == "paired"
            yield [
                PairUsers(
                    before,
                    after,
                    users[Columns.USER],
                    PairScores(arrays[before], arrays[after], weights, vary, paired),
                    (gains[before], gains[after]),
                )
                for before, after in group
            ]

    def _user_table(self, scores: UserScores, metric: str) -> pl.DataFrame:
        """Users' scores by run, what unjudged items could add to their means, and weights."""
        table = scores.by_run(metric)
        if unjudged_gain(metric) in scores.metrics:
            system = pl.format(unjudged_gain("{}"), Columns.SYSTEM).alias(Columns.SYSTEM)
            gains = scores.per_user.select(Columns.USER, system, unjudged_gain(metric))
            gains = gains.pivot(Columns.SYSTEM, index=Columns.USER, values=unjudged_gain(metric))
            table = table.join(gains, on=Columns.USER, how="left", maintain_order="left")
        if self.weighted:
            weight = scores.lines.select(Columns.USER, pl.col(weight_of(metric)).alias(Columns.WEIGHT)).unique(
                Columns.USER
            )
            table = table.join(weight, on=Columns.USER, how="left", maintain_order="left")
        return table

    def _p_values(self, pairs: Sequence[PairScores], users: pl.Series) -> list[float]:
        """One p-value per pair; those of users' differences are computed together, with the same signs."""
        p = [pair.means.estimate(1, 0).p_value for pair in pairs]
        tested = [at for at, pair in enumerate(pairs) if not pair.crossed and self.user_test != "t"]
        if tested:
            differences = np.stack([scaled_by_weight(pairs[at]) for at in tested], axis=1)
            found = p_values(self.user_test, differences, users, self.permutations, self.seed, self.threads)
            for at, value in zip(tested, found.tolist(), strict=True):
                p[at] = value
        return [
            1.0 if len(users) > 1 and not (np.abs(pair.differences) > TIE).any() else value
            for pair, value in zip(pairs, p, strict=True)
        ]

    def table(self, pairs: Sequence[PairOutcome], by: Sequence[str] = ()) -> pl.DataFrame:
        """One line per pair, corrected for all pairs of the same metric or, across metrics, for all of them."""
        lines = []
        families = [pairs] if self.across_metrics else [[p for p in pairs if p.metric == m] for m in self.metrics]
        for family in families:
            adjusted = adjusted_p_values([pair.p for pair in family], self.correction)
            tests = max(1, int((~np.isnan(adjusted)).sum()))
            self._check_permutations(family, tests)
            lines += [self._line(pair, float(p), tests, by) for pair, p in zip(family, adjusted, strict=True)]
        if by and not lines:
            return pl.DataFrame()
        present = Present(segments=by, holds=[] if self.margin is None else [When.MARGIN])
        return (SEGMENTS if by else PAIRS).of_lines(lines, present)

    def _check_permutations(self, family: Sequence[PairOutcome], tests: int) -> None:
        """Warn where so many tests are corrected for that no p-value of so few permutations can be significant."""
        needed = math.ceil(tests / (1 - self.ci))
        is_random = any(pair.test in ("permutation", "bootstrap") for pair in family)
        if self.correction == "holm" and is_random and tests > 1 and self.permutations < needed:
            smallest = min(1.0, tests / (self.permutations + 1))
            warn(
                f"permutations={self.permutations} is too few for {tests:,} tests: after Holm correction the smallest "
                f"p-value is {smallest:.2g}. Set permutations to {10 * needed}, or test='t'."
            )

    def _line(self, pair: PairOutcome, p_adjusted: float, tests: int, by: Sequence[str]) -> dict[str, Any]:
        alpha = round(1 - self.ci, 12)
        test_level = alpha if self.correction == "none" else alpha / tests
        statistics = pair.scores.statistics(
            ci=self.ci, level=1 - alpha / tests if self.simultaneous else self.ci, alpha=test_level
        )
        line: dict[str, Any] = dict(zip(by, pair.segment, strict=True))
        line |= {Columns.METRIC: pair.metric, Columns.BASELINE: pair.baseline, Columns.SYSTEM: pair.system}
        line |= asdict(statistics)
        if smallest_p_value(pair.test, statistics.users - statistics.ties, self.permutations) >= test_level:
            line[Columns.DETECTABLE] = np.nan
        line |= {Columns.BREAK_EVEN: pair.break_even, Columns.TEST: pair.test}
        line |= {Columns.P: pair.p, Columns.P_ADJUSTED: p_adjusted, Columns.SIGNIFICANT: bool(p_adjusted < alpha)}
        if self.margin is not None:
            line[Columns.NOT_INFERIOR] = bool(statistics.low >= -self.margin - TIE)
        return line


def scaled_by_weight(pair: PairScores, mean_weight: float | None = None) -> Array:
    """Differences scaled so that their plain mean is the weighted mean; ``mean_weight`` is that of all users."""
    weights = pair.weights
    if weights is None:
        return pair.differences
    if mean_weight is None:
        mean_weight = mean_of(weights) if len(weights) else 0.0
    return np.asarray(pair.differences * (weights / mean_weight if mean_weight > 0 else weights))
