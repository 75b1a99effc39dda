"""Significance tests of pairs of systems, on the users scored under both."""

import itertools
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import polars as pl

from carouseval.comparison.choices import Correction
from carouseval.comparison.logged_judgments import break_even
from carouseval.comparison.run_pages import unjudged_gain
from carouseval.comparison.significance import TIE, Test, adjusted_p_values, p_values, pair_statistics
from carouseval.errors import ParameterError
from carouseval.evaluation.resampling import mean_of
from carouseval.evaluation.results import weight_of
from carouseval.metrics.grid import Array
from carouseval.metrics.validation import require_float, require_int


@dataclass(frozen=True, kw_only=True)
class PairTests:
    """Which pairs are tested and how; every argument is checked before any work."""

    metrics: tuple[str, ...]
    systems: tuple[str, ...]
    baseline: str | None
    test: Test
    correction: Correction
    ci: float
    seed: int
    permutations: int
    margin: float | None
    weighted: bool
    threads: int

    def __post_init__(self) -> None:
        require_float("ci", self.ci, above=0, at_most=1)
        require_int("seed", self.seed, 0)
        require_int("permutations", self.permutations, 1)
        if self.margin is not None:
            require_float("margin", self.margin, at_least=0)
        adjusted_p_values([], self.correction)
        p_values(self.test, np.zeros((2, 1)), pl.Series(["one", "other"]), 1, self.seed)
        if self.weighted and self.test == "wilcoxon":
            raise ParameterError("test='wilcoxon' does not support weights; choose another test, or leave out weight.")

    @property
    def system_pairs(self) -> list[tuple[str, str]]:
        """The pairs to test, each a baseline and a system."""
        if self.baseline is None:
            return list(itertools.combinations(self.systems, 2))
        return [(self.baseline, name) for name in self.systems if name != self.baseline]

    def config(self) -> dict[str, Any]:
        """The options in force, as plain values."""
        names = ("baseline", "test", "correction", "ci", "seed", "permutations", "margin")
        config = {name: getattr(self, name) for name in names}
        return config | {
            "test": self.test if isinstance(self.test, str) else getattr(self.test, "__name__", "function")
        }

    def pairs(self, per_user: pl.DataFrame) -> pl.DataFrame:
        """One line per pair and metric."""
        return self._with_correction(self._uncorrected_pairs(per_user))

    def segments(self, per_user: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
        """The same for each segment; p-values are corrected over the pairs of all segments."""
        if not by:
            return pl.DataFrame()
        parts = per_user.partition_by(by, as_dict=True)
        tables = []
        for key, users in sorted(parts.items(), key=lambda part: str(part[0])):
            segment = [pl.lit(value).alias(name) for name, value in zip(by, key, strict=True)]
            tables.append(self._uncorrected_pairs(users).select(*segment, pl.all()))
        if not tables:
            return pl.DataFrame()
        return self._with_correction(pl.concat(tables, how="vertical_relaxed").filter(pl.col("users") > 0))

    def _uncorrected_pairs(self, per_user: pl.DataFrame) -> pl.DataFrame:
        lines = []
        for metric in self.metrics:
            table = per_user.select("user_id", "system", metric).pivot("system", index="user_id", values=metric)
            table = table.with_columns(pl.lit(None, pl.Float64).alias(name) for name in self._absent_systems(table))
            if unjudged_gain(metric) in per_user.columns:
                system = pl.format(unjudged_gain("{}"), "system").alias("system")
                gains = per_user.select("user_id", system, unjudged_gain(metric))
                gains = gains.pivot("system", index="user_id", values=unjudged_gain(metric))
                table = table.join(gains, on="user_id", how="left", maintain_order="left")
            if self.weighted:  # in a column whose name no system can have
                weight = per_user.select("user_id", pl.col(weight_of(metric)).alias(_WEIGHT)).unique("user_id")
                table = table.join(weight, on="user_id", how="left", maintain_order="left")
            shared = table.drop_nulls()
            if shared.height == table.height:  # all systems have the same users: signs are drawn once
                parts = [(shared, self.system_pairs)]
            else:
                parts = [(table.drop_nulls(list(pair)), [pair]) for pair in self.system_pairs]
            for users, pairs in parts:
                lines += [{"metric": metric} | line for line in self._lines(users, pairs)]
        return pl.DataFrame(lines, infer_schema_length=None, schema_overrides={"break_even": pl.Float64})

    def _absent_systems(self, table: pl.DataFrame) -> list[str]:
        """Systems without any user in a table."""
        return sorted({name for pair in self.system_pairs for name in pair} - set(table.columns))

    def _lines(self, users: pl.DataFrame, pairs: list[tuple[str, str]]) -> list[dict[str, Any]]:
        differences = np.stack(
            [users[system].to_numpy() - users[baseline].to_numpy() for baseline, system in pairs], axis=1
        )
        weights = users[_WEIGHT].to_numpy() if self.weighted else None
        weighted = differences if weights is None else _scaled_by_weight(differences, weights)
        p = p_values(self.test, weighted, users["user_id"], self.permutations, self.seed, self.threads)
        lines = []
        for column, (baseline, system) in enumerate(pairs):
            statistics = pair_statistics(
                differences[:, column], users[baseline].to_numpy(), weights, ci=self.ci, seed=self.seed
            )
            line: dict[str, Any] = {"baseline": baseline, "system": system} | asdict(statistics)
            gains = unjudged_gain(baseline if statistics.difference > 0 else system)  # of the losing system
            line["break_even"] = (
                break_even(statistics.difference, mean_of(users[gains].to_numpy(), weights))
                if gains in users.columns
                else None
            )
            line["p"] = float(p[column])
            if self.margin is not None:
                line["not_inferior"] = bool(statistics.low >= -self.margin - TIE)
            lines.append(line)
        return lines

    def _with_correction(self, pairs: pl.DataFrame) -> pl.DataFrame:
        parts = []
        for metric in self.metrics:
            lines = pairs.filter(pl.col("metric") == metric)
            p_adjusted = adjusted_p_values(lines["p"].to_list(), self.correction)
            adjusted = pl.Series("p_adjusted", p_adjusted, dtype=pl.Float64)
            significant = (adjusted < round(1 - self.ci, 12)) & ~adjusted.is_nan()
            parts.append(lines.with_columns(adjusted, significant.alias("significant")))
        return pl.concat(parts)


_WEIGHT = "\0weight"


def _scaled_by_weight(differences: Array, weights: Array) -> Array:
    """Differences scaled so that their plain mean is the weighted mean."""
    mean = weights.mean() if len(weights) else 0.0
    return differences * (weights / mean if mean > 0 else weights)[:, None]
