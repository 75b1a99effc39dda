"""Worlds in which the truth about two systems is known: what varies, by how much, and whether they differ."""

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy import stats

from carouseval.comparison.pair_sums import PairScores, PairSums


@dataclass(frozen=True)
class World:
    """Two systems that differ by ``effect``; standard deviations of what varies."""

    users: int = 100
    runs: tuple[int, int] = (3, 3)
    user: float = 1.0  # of users' differences
    run: tuple[float, float] = (0.0, 0.0)
    rest: float = 0.5
    effect: float = 0.0
    paired: bool = False

    def scores(self, rng: np.random.Generator) -> PairScores:
        shift = rng.normal(0, 3, (1, self.runs[0])) if self.paired else 0.0
        taste = rng.normal(0, self.user, (self.users, 1))
        baseline, system = (
            rng.normal(0, run, (1, runs)) + rng.normal(0, self.rest, (self.users, runs)) + shift
            for run, runs in zip(self.run, self.runs, strict=True)
        )
        return PairScores(baseline, system + taste + self.effect, paired=self.paired)

    @property
    def variance(self) -> float:
        """Of the difference of means, which an oracle knows."""
        first, second = self.runs
        users = (self.user**2 + self.rest**2 * (1 / first + 1 / second)) / self.users
        return users + self.run[0] ** 2 / first + self.run[1] ** 2 / second

    def with_share(self, share: float, ratio: float = 1.0) -> "World":
        """The same world where runs have this share of the variance, those of the system ``ratio`` times as wide."""
        first, second = self.runs
        run = math.sqrt(share / (1 - share) * self.variance / (1 / first + ratio**2 / second))
        return replace(self, run=(run, ratio * run))


def rejected(world: World, worlds: int = 3_000, seed: int = 0) -> tuple[float, float]:
    """How often the difference is significant at 5%, by us and by an oracle that knows the variance."""
    rng = np.random.default_rng(seed)
    estimates = [PairSums.of(world.scores(rng)).means.estimate(1, 0) for _ in range(worlds)]
    ours = np.mean([estimate.p_value < 0.05 for estimate in estimates])
    z = np.array([estimate.mean for estimate in estimates]) / math.sqrt(world.variance)
    return float(ours), float((np.abs(z) > stats.norm.ppf(0.975)).mean())
