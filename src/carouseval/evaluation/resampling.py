"""Means over users, and how far they would move with other users: the bootstrap."""

import math

import numpy as np

from carouseval.metrics.grid import Array
from carouseval.metrics.validation import require_float, require_int

LEVEL, RESAMPLES = 0.95, 2_000
_MOST_RESAMPLED = 20_000  # values drawn anew; of more users, groups of equal size are


def mean_of(values: Array, weights: Array | None = None) -> float:
    """Exactly rounded, so that the order of users does not matter."""
    if not len(values) or (weights is not None and not weights.any()):
        return math.nan
    if weights is None:
        return math.fsum(values.tolist()) / len(values)
    return math.fsum((values * weights).tolist()) / math.fsum(weights.tolist())


def mean_interval(
    values: Array, weights: Array | None = None, level: float = LEVEL, resamples: int = RESAMPLES, seed: int = 0
) -> tuple[float, float]:
    """A percentile interval of the mean over resampled users; NaN for fewer than two."""
    level = require_float("level", level, above=0, at_most=1)
    if len(values) < 2 or (weights is not None and not weights.any()):
        return math.nan, math.nan
    low, high = np.nanquantile(resampled_means(values, weights, resamples, seed), [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def resampled_means(values: Array, weights: Array | None, resamples: int, seed: int) -> Array:
    """Means of users drawn with replacement, one line a resample; columns of values share their users."""
    rng = np.random.default_rng(require_int("seed", seed, 0))
    mass = np.ones(len(values)) if weights is None else weights
    total = values if weights is None else (values.T * mass).T
    if len(values) > _MOST_RESAMPLED:
        # means of random groups vary as those of users do, times the root of a group's size
        order = rng.permutation(len(values))
        edges = np.linspace(0, len(values), _MOST_RESAMPLED + 1).astype(np.int64)[:-1]
        total, mass = np.add.reduceat(total[order], edges), np.add.reduceat(mass[order], edges)
    count = len(total)
    means = np.full((require_int("resamples", resamples, 1), *values.shape[1:]), np.nan)
    for at in range(len(means)):
        times = np.bincount(rng.integers(0, count, count), minlength=count)
        drawn = (times * mass).sum()  # not a product of BLAS, whose last digits depend on the machine's threads
        if drawn > 0:
            means[at] = (total.T * times).sum(axis=-1) / drawn
    return means
