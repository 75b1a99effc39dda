"""Significance tests of pairs of systems, on the users scored under both."""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import polars as pl

from carouseval.comparison.crossed_effects import TIE
from carouseval.comparison.pair_sums import PairScores, PairSums
from carouseval.comparison.result_columns import PAIRS, SEGMENTS
from carouseval.comparison.settings import ComparisonSettings
from carouseval.comparison.significance import adjusted_p_values, chosen_test
from carouseval.comparison.tests import listed_tests
from carouseval.comparison.tests.contract import MeansTest, RandomDraws, SignificanceTest
from carouseval.comparison.tests.crossed_t import CrossedT
from carouseval.comparison.tests.permutation import Permutation
from carouseval.comparison.user_scores import UserScores, run_columns
from carouseval.errors import ParameterError, warn
from carouseval.evaluation.columns import Columns, of_metric
from carouseval.evaluation.page_table import weight_of
from carouseval.evaluation.plan import ScoringPlan
from carouseval.evaluation.result_table import Present, When
from carouseval.messages import setting
from carouseval.metrics.grid import Array
from carouseval.settings import in_force


@dataclass(frozen=True)
class PairOutcome:
    """A pair of systems on one metric: the users' scores, and the p-value of their difference."""

    metric: str
    baseline: str
    system: str
    sums: PairSums
    test: SignificanceTest
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


@dataclass(frozen=True, kw_only=True)
class PairTests(ComparisonSettings):
    """Which pairs are tested and how; every argument is checked before any work."""

    metrics: tuple[str, ...]
    run_counts: Mapping[str, int]  # of each system
    user_test: SignificanceTest  # of users' differences, where runs do not vary
    run_test: SignificanceTest | None  # of users and runs that both vary; None: runs are taken as given
    weighted: bool
    threads: int

    @classmethod
    def of(cls, choices: ComparisonSettings, plan: ScoringPlan, run_counts: Mapping[str, int]) -> "PairTests":
        """The tests of systems with so many runs each."""
        test = Permutation() if choices.test is None else chosen_test(choices.test)
        return cls(
            **vars(choices),
            metrics=tuple(plan.metrics),
            run_counts=run_counts,
            user_test=test,
            run_test=CrossedT() if choices.test is None else test.over_runs(),
            weighted=plan.settings.weight is not None,
            threads=plan.threads,
        )

    def __post_init__(self) -> None:
        RandomDraws(self.permutations, self.seed)
        unweighted = [test.name for test in self._tests if not test.takes_weights]
        if self.weighted and unweighted:
            raise ParameterError(
                f"{setting('test', unweighted[0])} does not support weights; choose another test, or leave out "
                f"{setting('weight')}."
            )
        with_runs = [name for name, count in self.run_counts.items() if count > 1]
        if with_runs and self.runs_vary and self.run_test is None:
            raise ParameterError(
                f"{setting('test', self.user_test.name)} takes runs as given, and {with_runs[0]} has several. Leave "
                f"out {setting('test')}, to test users and runs that both vary, or set {setting('runs', 'fixed')}."
            )
        if self.runs == "paired" and len(set(self.run_counts.values())) > 1:
            counts = ", ".join(f"{name} has {count}" for name, count in self.run_counts.items())
            raise ParameterError(
                f"{setting('runs', 'paired')} needs the same number of runs of every system, found: {counts}."
            )

    @property
    def runs_vary(self) -> bool:
        """Whether runs are a sample too, not only users."""
        return self.runs != "fixed"

    def test_of(self, pair: PairSums) -> SignificanceTest:
        """The test of a pair of systems: whether its runs vary is known of all of its users only."""
        if not pair.crossed:
            return self.user_test
        assert self.run_test is not None  # or refused at the start
        return self.run_test

    def p_of_sums(self, pair: PairSums) -> float | None:
        """The p-value of a pair that its means and counts give; None if its test needs more of the users."""
        if pair.all_tie:
            return 1.0
        test = self.test_of(pair)
        if isinstance(test, MeansTest):
            return test.p_of_means(pair.means)
        return math.nan if pair.users < 2 else None

    @property
    def _tests(self) -> list[SignificanceTest]:
        """The tests that may be used."""
        runs_vary = self.runs_vary and max(self.run_counts.values(), default=1) > 1
        return [self.user_test, *([self.run_test] if self.run_test is not None and runs_vary else [])]

    @property
    def merge(self) -> bool:
        """Whether parts of the users add up to all p-values."""
        return all(test.merges(weighted=self.weighted) for test in self._tests)

    def require_merged(self) -> None:
        """Refuse tests that need all users at once."""
        if not self.merge:
            weight = f" with {setting('weight')}" * self.weighted
            merged = [repr(test.name) for test in listed_tests() if test.merges(weighted=self.weighted)]
            raise ParameterError(
                f"{setting('test', self.user_test.name)} needs the differences of all users at once; use "
                f"{setting('collect', True)}, which brings the scores of all pages to the driver, or a test whose "
                f"parts add up{weight}: {', '.join(merged[:-1])} or {merged[-1]}."
            )

    @property
    def draws(self) -> RandomDraws:
        """How tests draw at random."""
        return RandomDraws(self.permutations, self.seed, self.threads)

    @property
    def system_pairs(self) -> list[tuple[str, str]]:
        """The pairs to test, each a baseline and a system."""
        if self.baseline is None:
            return list(itertools.combinations(self.run_counts, 2))
        return [(self.baseline, name) for name in self.run_counts if name != self.baseline]

    def config(self) -> dict[str, Any]:
        """The options in force, as plain values."""
        return in_force(self, ComparisonSettings) | {"test": self.user_test.name}

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
            gain_columns = {name: of_metric(Columns.METRIC_UNJUDGED_GAIN, name) for name in arrays}
            gains = {
                name: users[column].to_numpy() if column in users.columns else None
                for name, column in gain_columns.items()
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
        if (gain := of_metric(Columns.METRIC_UNJUDGED_GAIN, metric)) in scores.metrics:
            system = pl.format(of_metric(Columns.METRIC_UNJUDGED_GAIN, "{}"), Columns.SYSTEM).alias(Columns.SYSTEM)
            gains = scores.per_user.select(Columns.USER, system, gain)
            gains = gains.pivot(Columns.SYSTEM, index=Columns.USER, values=gain)
            table = table.join(gains, on=Columns.USER, how="left", maintain_order="left")
        if self.weighted:
            weight = scores.lines.select(Columns.USER, pl.col(weight_of(metric)).alias(Columns.WEIGHT)).unique(
                Columns.USER
            )
            table = table.join(weight, on=Columns.USER, how="left", maintain_order="left")
        return table

    def p_values(self, pairs: Sequence[PairUsers], sums: Sequence[PairSums]) -> list[float]:
        """One p-value per pair of users at hand, the same for all; those of a test are computed together."""
        known = {number: self.p_of_sums(pair) for number, pair in enumerate(sums)}
        p = {number: value for number, value in known.items() if value is not None}
        tests = {number: self.test_of(sums[number]) for number in known if number not in p}
        for test in dict.fromkeys(tests.values()):
            tested = [number for number, other in tests.items() if other is test]
            differences = np.stack([pairs[number].scores.scaled_by_weight() for number in tested], axis=1)
            p_of_test = test.of_differences(differences, pairs[0].users, self.draws)
            p |= dict(zip(tested, p_of_test.tolist(), strict=True))
        return [p[number] for number in range(len(pairs))]

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
        is_random = any(pair.test.is_random for pair in family)
        if self.correction == "holm" and is_random and tests > 1 and self.permutations < needed:
            smallest = min(1.0, tests / (self.permutations + 1))
            warn(
                f"{setting('permutations', self.permutations)} is too few for {tests:,} tests: after Holm correction "
                f"the smallest p-value is {smallest:.2g}. Set {setting('permutations')} to {10 * needed}, or "
                f"{setting('test', 't')}."
            )

    def _line(self, pair: PairOutcome, p_adjusted: float, tests: int, by: Sequence[str]) -> dict[str, Any]:
        alpha = round(1 - self.ci, 12)
        test_level = alpha if self.correction == "none" else alpha / tests
        statistics = pair.sums.statistics(
            ci=self.ci, level=1 - alpha / tests if self.simultaneous else self.ci, alpha=test_level
        )
        line: dict[str, Any] = dict(zip(by, pair.segment, strict=True))
        line |= {Columns.METRIC: pair.metric, Columns.BASELINE: pair.baseline, Columns.SYSTEM: pair.system}
        line |= asdict(statistics)
        if pair.test.smallest_p_value(statistics.users - statistics.ties, self.permutations) >= test_level:
            line[Columns.DETECTABLE] = np.nan
        line |= {Columns.BREAK_EVEN: pair.break_even, Columns.TEST: pair.test.name}
        line |= {Columns.P: pair.p, Columns.P_ADJUSTED: p_adjusted, Columns.SIGNIFICANT: bool(p_adjusted < alpha)}
        if self.margin is not None:
            line[Columns.NOT_INFERIOR] = bool(statistics.low >= -self.margin - TIE)
        return line
