"""What a comparison found."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import polars as pl

from carouseval.comparison.significance import TIE
from carouseval.errors import DataError, ParameterError
from carouseval.evaluation.results import Evaluation
from carouseval.result_base import Result, plain


@dataclass(frozen=True, eq=False)
class Comparison(Result):
    """Systems and the pairs of them that were tested.

    ``systems`` holds every system's mean, interval and, where it has several runs, how much their means differ;
    ``pairs`` the differences (``system`` less ``baseline``) with unadjusted intervals, relative lift, standardised
    effect, wins, ties and losses by user, p-values before and after correction, and the smallest difference that so
    many users would show four times in five; ``segments`` the same for each segment; ``per_user`` the scores that were
    paired.
    """

    metrics: tuple[str, ...]
    systems: pl.DataFrame
    pairs: pl.DataFrame
    segments: pl.DataFrame
    per_user: pl.DataFrame
    evaluations: dict[str, tuple[Evaluation, ...]]
    config: dict[str, Any]

    @property
    def counts(self) -> dict[str, dict[str, int]]:
        """What was counted in each system's first run."""
        return {name: several[0].counts for name, several in self.evaluations.items()}

    @property
    def heading(self) -> str:
        """What a reader must know first."""
        return f"{next(iter(self.evaluations.values()))[0].heading} {self.summary}".strip()

    @cached_property
    def summary(self) -> str:
        """Who is best by the first metric, and whether one can be sure."""
        metric = self.metrics[0]
        ranked = self.systems.filter(pl.col("metric") == metric).sort("mean", descending=True, nulls_last=True)
        best, second = ranked.row(0, named=True), ranked.row(1, named=True)
        if math.isnan(best["mean"]):
            return "No user was scored."
        first, next_best = (f"{one['system']} ({one['mean']:.4f})" for one in (best, second))
        if abs(best["mean"] - second["mean"]) <= TIE:
            return f"{first} and {next_best} have the highest {metric}: there is no difference."
        told = f"{first} has the highest {metric}, then comes {next_best}"
        pair = self.pair(best["system"], second["system"], metric)
        if pair is None:
            return f"{told}; the two were not compared with each other."
        if pair["users"] < 2:
            return f"{told}; too few users have both for a test."
        return f"{told}. {self._tested(best['system'], second['system'], pair)}"

    def _tested(self, best: str, second: str, pair: dict[str, Any]) -> str:
        """What the test says of two systems."""
        difference, low, high = _seen_from(best, pair)
        level, none = f"{100 * self.config['ci']:g}%", self.config["correction"] == "none"
        word, interval = (
            "better" if difference >= 0 else "worse",
            f"unadjusted {level} interval {low:.4f} to {high:.4f}",
        )
        told = (
            f"On the {pair['users']:,} users that both have, {best} is {abs(difference):.4f} {word} than {second} "
            f"({interval})"
        )
        p = f"p = {pair['p_adjusted']:.2g}{'' if none else ' after correction'}"
        if pair["significant"]:
            return f"{told}, which is significant ({p})."
        return (
            f"{told}, which is not significant ({p}); so many users show differences from {pair['detectable']:.4f} on."
        )

    def pair(self, one: str, other: str, metric: str | None = None) -> dict[str, Any] | None:
        """What was found of two systems, whichever is the baseline; None if they were not compared."""
        names = pl.col("baseline").is_in([one, other]) & pl.col("system").is_in([one, other])
        found = self.pairs.filter(names & (pl.col("metric") == (metric or self.metrics[0])))
        return found.row(0, named=True) if found.height else None

    def worse(self, one: str, other: str) -> str | None:
        """Why a system is worse than another by the first metric, as far as can be told; None if it is not.

        It is where it is significantly so after correction; or, where a margin is set, unless it is shown to be not
        inferior.
        """
        pair = self.pair(one, other)
        if pair is None:
            raise ParameterError(f"{one} and {other} were not compared; choose another baseline, or none.")
        difference, low, _ = _seen_from(one, pair)
        if pair["users"] < 2:
            raise DataError(f"{one} and {other} have too few users in common to be compared.")
        told = f"{self.metrics[0]} of {one} less that of {other} is {difference:.6g}"
        margin = self.config["margin"]
        if margin is not None:
            return None if low >= -margin - TIE else f"{told}, and may be as low as {low:.6g}, below -{margin:g}."
        return f"{told} (p = {pair['p_adjusted']:.2g})." if difference < 0 and pair["significant"] else None

    def to_frame(self) -> pl.DataFrame:
        """The pairs, overall and per segment."""
        if self.segments.is_empty():
            return self.pairs
        by = self.config["by"]
        whole = self.pairs.select(*(pl.lit("(all)").alias(name) for name in by), pl.all())
        return pl.concat([whole, self.segments], how="vertical_relaxed")

    def to_dict(self) -> dict[str, Any]:
        """Systems, pairs, counts and config as plain values; what is not a number is None."""
        tables = {"systems": self.systems, "pairs": self.pairs, "segments": self.segments}
        lines = {name: table.to_dicts() for name, table in tables.items()}
        return plain({"summary": self.summary, **lines, "counts": self.counts, "config": self.config})


def _seen_from(system: str, pair: dict[str, Any]) -> tuple[float, float, float]:
    """Difference and interval of a pair, a system's less the other's."""
    if pair["system"] == system:
        return pair["difference"], pair["low"], pair["high"]
    return -pair["difference"], -pair["high"], -pair["low"]
