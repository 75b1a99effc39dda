"""p-values of pairs of systems, from sums of users in Spark or, where a test asks for it, from all users here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from carouseval.comparison.pair_tests import PairTests, PairUsers, scaled_by_weight
from carouseval.comparison.parts import ComparisonPart, PairKey, PairPart, Run
from carouseval.comparison.resampled_sums import BootstrapSums, FlipSums, bootstrap_exponents, flip_exponents
from carouseval.comparison.significance import without_ties
from carouseval.comparison.user_scores import UserScores
from carouseval.evaluation.plan import ScoringPlan
from carouseval.evaluation.results import Evaluation
from carouseval.spark.executor import map_partitions
from carouseval.spark.reports import ONLY_REPORT, REPORT, Report, report_of
from carouseval.spark.spark_tables import local_frame
from carouseval.spark.user_lines import column_in_query

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

RUN = "__run__"


@dataclass(frozen=True)
class _Draw:
    """What must be known of all users of a pair before their differences are drawn from."""

    mean_weight: float
    mean: float
    error: float
    exponent: Any


@dataclass(frozen=True)
class _DrawnSums:
    """The sums of some users under random signs, or drawn at random."""

    by_pair: Mapping[PairKey, Any]  # FlipSums or BootstrapSums

    def __add__(self, other: _DrawnSums) -> _DrawnSums:
        sums = dict(self.by_pair)
        for key, one in other.by_pair.items():
            sums[key] = sums[key] + one if key in sums else one
        return _DrawnSums(sums)


def merged_p_values(
    scored: DataFrame,
    merged: ComparisonPart,
    tests: PairTests,
    runs: Sequence[Run],
    plan: ScoringPlan,
    *,
    collect: bool,
) -> dict[PairKey, float]:
    """The p-value of every pair; differences are drawn from in a second pass over the users, which Spark has kept."""
    p = {key: part.sums.p_value for key, part in merged.pairs.items()}
    drawn = [key for key, part in merged.pairs.items() if _is_drawn(part) and tests.user_test != "t"]
    if not drawn:
        return p
    by = plan.settings.by_columns
    if collect:
        scores = _scores(local_frame(scored.where(f"{REPORT} IS NULL")), tests, runs, by)
        outcomes = [*tests.pairs(scores[()]), *(tests.segments(scores[by]) if by else [])]
        found = {(one.segment, one.metric, one.baseline, one.system): one.p for one in outcomes}
        return p | {key: found[key] for key in drawn}
    draws = {key: _draw(merged.pairs[key], tests) for key in drawn}
    keys = [key for key in ("user_id", "page_id", "weight") if key in scored.columns]
    columns = {f"c{at}": name for at, name in enumerate([RUN, *keys, *by, *tests.metrics])}  # names may hold dots
    pages = scored.where(f"{REPORT} IS NULL").selectExpr(
        *(f"{column_in_query(name)} AS {ours}" for ours, name in columns.items())
    )
    work = partial(draw_partition, columns=columns, tests=tests, runs=runs, by=by, draws=draws)
    sums: _DrawnSums = report_of(map_partitions(pages, work, ONLY_REPORT)).sums
    return p | {key: float(one.p_values()[0]) for key, one in sums.by_pair.items()}


def _is_drawn(part: PairPart) -> bool:
    return not part.sums.crossed and part.sums.users > 1 and part.sums.wins + part.sums.losses > 0


def _draw(part: PairPart, tests: PairTests) -> _Draw:
    sums = part.sums
    if tests.user_test == "bootstrap":
        mean, error = sums.difference, sums.means.estimate(1, 0).error
        furthest = max(sums.highest - mean, mean - sums.lowest)
        return _Draw(1.0, mean, error, bootstrap_exponents(np.array([furthest]), sums.users))
    largest = part.largest / sums.mean_weight if sums.mean_weight > 0 else 0.0
    return _Draw(sums.mean_weight, 0.0, 0.0, flip_exponents(np.array([largest]), sums.users))


def draw_partition(
    batches: Iterator[pa.RecordBatch],
    columns: Mapping[str, str],
    tests: PairTests,
    runs: Sequence[Run],
    by: tuple[str, ...],
    draws: Mapping[PairKey, _Draw],
) -> Iterator[pa.RecordBatch]:
    """The sums of a partition's users under random signs, or drawn at random, by pair."""
    import pyarrow as pa

    held = list(batches)
    if not held:
        return
    scores = _scores(pl.DataFrame(pa.Table.from_batches(held)).rename(dict(columns)), tests, runs, by)
    parts = {(): scores[()]} | (scores[by].segments() if by else {})
    sums = {
        key: _sums(pair, draws[key], tests)
        for segment, part in parts.items()
        for metric in tests.metrics
        for group in tests.groups(part, metric)
        for pair in group
        if (key := (segment, metric, pair.baseline, pair.system)) in draws
    }
    yield from Report(_DrawnSums(sums)).lines()


def _scores(
    pages: pl.DataFrame, tests: PairTests, runs: Sequence[Run], by: tuple[str, ...]
) -> dict[tuple[str, ...], UserScores]:
    """Users' scores under every run: over all their pages, and in segments."""
    evaluations: dict[str, list[Evaluation]] = {}
    keys = [key for key in ("user_id", "page_id") if key in pages.columns]
    for at, (name, _) in enumerate(runs):
        own = pages.filter(pl.col(RUN) == at).sort(keys, nulls_last=True)
        evaluations.setdefault(name, []).append(Evaluation(tests.metrics, own, {}, {}, by))
    return {one: UserScores.of(evaluations, tests.metrics, one) for one in dict.fromkeys(((), by))}


def _sums(pair: PairUsers, draw: _Draw, tests: PairTests) -> FlipSums | BootstrapSums:
    differences = without_ties(scaled_by_weight(pair.scores, draw.mean_weight)[:, None])
    if tests.user_test == "bootstrap":
        mean, error = np.array([draw.mean]), np.array([draw.error])
        return BootstrapSums.of(
            differences, pair.users, mean, error, draw.exponent, tests.permutations, tests.seed, tests.threads
        )
    return FlipSums.of(differences, pair.users, draw.exponent, tests.permutations, tests.seed, tests.threads)
