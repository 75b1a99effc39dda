"""Tests of pairs of systems on the users that both have."""

import itertools
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import polars as pl

from carouseval.comparison.choices import Correction
from carouseval.comparison.significance import TIE, Test, corrected, p_values, pair_statistics
from carouseval.errors import ParameterError
from carouseval.evaluation.results import weight_of
from carouseval.metrics.grid import Array
from carouseval.metrics.validation import require_float, require_int


@dataclass(frozen=True, kw_only=True)
class PairTests:
    """How pairs are tested; what is unknown is refused before any work."""

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
        corrected([], self.correction)
        p_values(self.test, np.zeros((2, 1)), pl.Series(["one", "other"]), 1, self.seed)
        if self.weighted and self.test == "wilcoxon":
            raise ParameterError(
                "test='wilcoxon' ranks users alike, whatever they weigh; choose another, or no weight."
            )

    @property
    def tested(self) -> list[tuple[str, str]]:
        """The pairs, each a baseline and a system."""
        if self.baseline is None:
            return list(itertools.combinations(self.systems, 2))
        return [(self.baseline, name) for name in self.systems if name != self.baseline]

    def config(self) -> dict[str, Any]:
        """Everything in force, as plain values."""
        names = ("baseline", "test", "correction", "ci", "seed", "permutations", "margin")
        config = {name: getattr(self, name) for name in names}
        return config | {
            "test": self.test if isinstance(self.test, str) else getattr(self.test, "__name__", "function")
        }

    def pairs(self, per_user: pl.DataFrame) -> pl.DataFrame:
        """Every pair by every metric."""
        return self._corrected(self._raw(per_user))

    def segments(self, per_user: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
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

    def _raw(self, per_user: pl.DataFrame) -> pl.DataFrame:
        lines = []
        for metric in self.metrics:
            table = per_user.select("user_id", "system", metric).pivot("system", index="user_id", values=metric)
            table = table.with_columns(pl.lit(None, pl.Float64).alias(name) for name in self._lacking(table))
            if self.weighted:  # under a name that no system has
                weight = per_user.select("user_id", pl.col(weight_of(metric)).alias(_WEIGHT)).unique("user_id")
                table = table.join(weight, on="user_id", how="left", maintain_order="left")
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
        weights = users[_WEIGHT].to_numpy() if self.weighted else None
        weighed = differences if weights is None else _weighed(differences, weights)
        p = p_values(self.test, weighed, users["user_id"], self.permutations, self.seed, self.threads)
        lines = []
        for at, (one, other) in enumerate(tested):
            found = pair_statistics(differences[:, at], users[one].to_numpy(), weights, ci=self.ci, seed=self.seed)
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
            significant = (adjusted < round(1 - self.ci, 12)) & ~adjusted.is_nan()
            parts.append(mine.with_columns(adjusted, significant.alias("significant")))
        return pl.concat(parts)


_WEIGHT = "\0weight"


def _weighed(differences: Array, weights: Array) -> Array:
    """Differences whose plain mean is the weighted one."""
    mean = weights.mean() if len(weights) else 0.0
    return differences * (weights / mean if mean > 0 else weights)[:, None]
