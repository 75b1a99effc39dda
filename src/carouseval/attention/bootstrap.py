"""How far a fit can be trusted: the grid search again, on resampled participants or, without them, resampled counts."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from carouseval.attention.examination import Examination
from carouseval.attention.parameters import ParameterSets
from carouseval.attention.rank_fit import AT_ONCE, Target, matching_grid
from carouseval.errors import DataError, ParameterError
from carouseval.metrics.grid import Array, Grid
from carouseval.metrics.validation import require_float, require_int

BY_PARTICIPANT = "participants resampled with replacement"
CELLS_ONLY = "sampling noise of independent cells only, too narrow"

_TIE = 1e-12


@dataclass(frozen=True)
class Interval:
    """From low to high."""

    low: float
    high: float


@dataclass(frozen=True)
class Bootstrap:
    """Intervals of the parameters fitted by rho, and what was resampled."""

    what: str
    samples: int
    level: float
    parameters: dict[str, Interval]


def bootstrap(
    symbol: str,
    examination: Target,
    grid: Grid | None = None,
    parameters: Mapping[str, ArrayLike] | None = None,
    samples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> Bootstrap:
    """Repeat the paper's grid search (by rho) on resampled data.

    Where the counts of single participants are known, whole participants are drawn, since a person's screens resemble
    each other. Otherwise every cell's count is drawn anew from its binomial, as if cells were independent: such
    intervals are too narrow and say so.
    """
    samples, seed = require_int("samples", samples, 1), require_int("seed", seed, 0)
    level = require_float("level", level, above=0, at_most=1)
    if not isinstance(examination, Examination):
        raise ParameterError("bootstrap needs counts: give an Examination, not frequencies.")
    sets = ParameterSets(symbol, matching_grid(grid, examination.frequencies), parameters)
    drawn, _ = resampled(examination, samples, np.random.default_rng(seed))
    wanted, shares = _standardised(_ranks(drawn)).T, _standardised(drawn).T
    best = np.zeros(samples, np.int64)
    top_rho, top_r = np.full(samples, -np.inf), np.full(samples, -np.inf)
    step = max(1, AT_ONCE // max(drawn.shape[1], samples))
    for begin in range(0, len(sets), step):
        usable, weights = sets.weights(begin, min(begin + step, len(sets)))
        flat = weights.reshape(len(weights), drawn.shape[1])
        for k, rho, r in zip(usable, _standardised(_ranks(flat)) @ wanted, _standardised(flat) @ shares, strict=True):
            better = (rho > top_rho + _TIE) | ((rho > top_rho - _TIE) & (r > top_r))  # ties by r, then by order
            best[better], top_rho[better], top_r[better] = k, rho[better], r[better]
        if progress:
            progress(min(begin + step, len(sets)), len(sets))
    if not np.isfinite(top_rho).all():
        raise DataError(f"no parameters of {symbol} give finite and positive weights on this grid.")
    what = CELLS_ONLY if examination.by_participant is None else BY_PARTICIPANT
    intervals = {name: interval_of(column[best], level) for name, column in sets.columns.items()}
    return Bootstrap(what, samples, level, intervals)


def resampled(examination: Examination, size: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Frequencies of ``size`` resampled studies, (size, cells), and the screens behind them, (size, 1)."""
    if examination.by_participant is None:
        drawn = rng.binomial(examination.screens, examination.frequencies.ravel(), (size, examination.counts.size))
        shares: Array = drawn / examination.screens
        return shares, np.full((size, 1), float(examination.screens))
    counts, screens = examination.by_participant
    people = len(screens)
    times = rng.multinomial(people, np.full(people, 1 / people), size)
    drawn_screens: Array = (times @ screens)[:, None].astype(np.float64)
    drawn_shares: Array = (times @ counts.reshape(people, -1)) / drawn_screens
    return drawn_shares, drawn_screens


def _ranks(values: Array) -> Array:
    from scipy.stats import rankdata

    if not len(values):
        return values
    return np.asarray(rankdata(values, axis=1), dtype=np.float64)


def _standardised(rows: Array) -> Array:
    """Centred rows of length 1: their products are correlations; a constant row correlates with nothing."""
    centred: Array = rows - rows.mean(axis=1, keepdims=True)
    length = np.sqrt((centred**2).sum(axis=1, keepdims=True))
    return np.asarray(np.divide(centred, length, out=np.zeros_like(centred), where=length > 0))


def interval_of(values: Array, level: float) -> Interval:
    """The percentiles of what came out."""
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2], method="inverted_cdf")
    return Interval(float(low), float(high))
