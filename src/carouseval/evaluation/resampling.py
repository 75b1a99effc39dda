"""Means over users, and their bootstrap intervals."""

import math

import numpy as np

from carouseval.metrics.grid import Array
from carouseval.metrics.validation import require_float, require_int

CI, RESAMPLES = 0.95, 2_000
_MOST_RESAMPLED = 20_000  # values that are resampled; of more users, groups of equal size are


def mean_of(values: Array, weights: Array | None = None) -> float:
    """The mean, exactly rounded so that the order of users does not matter; NaN where there are none."""
    if not len(values) or (weights is not None and not weights.any()):
        return math.nan
    if weights is None:
        return math.fsum(values.tolist()) / len(values)
    return math.fsum((values * weights).tolist()) / math.fsum(weights.tolist())


def mean_interval(
    values: Array, weights: Array | None = None, ci: float = CI, resamples: int = RESAMPLES, seed: int = 0
) -> tuple[float, float]:
    """A percentile interval of the mean over resampled users; NaN for fewer than two."""
    ci = require_float("ci", ci, above=0, at_most=1)
    if len(values) < 2 or (weights is not None and not weights.any()):
        return math.nan, math.nan
    low, high = np.nanquantile(resampled_means(values, weights, resamples, seed), [(1 - ci) / 2, (1 + ci) / 2])
    return float(low), float(high)


def resampled_means(values: Array, weights: Array | None, resamples: int, seed: int) -> Array:
    """Means of users drawn with replacement, one row per resample; columns of values share their users."""
    rng = np.random.default_rng(require_int("seed", seed, 0))
    weight = np.ones(len(values)) if weights is None else weights
    total = values if weights is None else (values.T * weight).T
    if len(values) > _MOST_RESAMPLED:
        # the mean over random groups varies as the mean over users does
        order = rng.permutation(len(values))
        edges = np.linspace(0, len(values), _MOST_RESAMPLED + 1).astype(np.int64)[:-1]
        total, weight = np.add.reduceat(total[order], edges), np.add.reduceat(weight[order], edges)
    count = len(total)
    means = np.full((require_int("resamples", resamples, 1), *values.shape[1:]), np.nan)
    for at in range(len(means)):
        times = np.bincount(rng.integers(0, count, count), minlength=count)
        drawn_weight = (times * weight).sum()  # not BLAS, whose last digits depend on the machine's threads
        if drawn_weight > 0:
            means[at] = (total.T * times).sum(axis=-1) / drawn_weight
    return means
