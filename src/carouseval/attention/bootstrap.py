"""Bootstrap of the grid search: repeated on resampled participants or, where they are unknown, on resampled counts."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from carouseval.attention.examination import Examination
from carouseval.attention.frequency_scores import FrequencyLike, matching_grid
from carouseval.attention.parameters import ParameterSets
from carouseval.attention.rank_fit import BATCH_SIZE
from carouseval.errors import DataError, ParameterError
from carouseval.messages import setting
from carouseval.metrics.grid import Array, Grid
from carouseval.validation import require_float, require_int

BY_PARTICIPANT = "participants resampled with replacement"
CELLS_ONLY = "binomial noise of independent cells only, too narrow"

_TIE = 1e-12
_ROWS = 10_000


@dataclass(frozen=True)
class Interval:
    """A confidence interval.

    Attributes
    ----------
    low : float
        Its lower end.
    high : float
        Its upper end.
    """

    low: float
    high: float


@dataclass(frozen=True)
class Bootstrap:
    """Bootstrap intervals of fitted parameters.

    Attributes
    ----------
    method : str
        What was resampled: participants or, where they are unknown, the count of each cell, and whether the intervals
        are too narrow.
    samples : int
        Number of resamples.
    ci : float
        Confidence level of the intervals.
    parameters : dict of str to Interval
        Percentile intervals of the parameters; of a likelihood fit, those that are identified.

    Examples
    --------
    >>> import carouseval as cv
    >>> counts = cv.attention.recgaze_counts("bratislava")
    >>> fit = cv.attention.fit_likelihood(counts, "d_rcb")
    >>> bootstrap = cv.attention.bootstrap_fit(counts, fit, samples=20)
    >>> bootstrap.method
    'binomial noise times 7.18 (residual dispersion 51.61), still too narrow if screens or cells are correlated'
    >>> sorted(bootstrap.parameters)
    ['beta', 'e', 'kappa']
    """

    method: str
    samples: int
    ci: float
    parameters: dict[str, Interval]


def bootstrap(
    examination: FrequencyLike,
    discount: str,
    grid: Grid | None = None,
    parameters: Mapping[str, ArrayLike] | None = None,
    samples: int = 1000,
    ci: float = 0.95,
    seed: int = 0,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> Bootstrap:
    """Repeat the paper's grid search by Spearman's rho on resampled data.

    Participants are resampled as a whole where their counts are known, since the screens of a participant are
    correlated. Otherwise the count of each cell is drawn from its binomial, as if cells were independent: such
    intervals are too narrow.
    """
    samples, seed = require_int("samples", samples, 1), require_int("seed", seed, 0)
    ci = require_float("ci", ci, above=0, at_most=1)
    if not isinstance(examination, Examination):
        raise ParameterError(f"{setting('bootstrap')} needs counts: give an Examination, not frequencies.")
    sets = ParameterSets(discount, matching_grid(grid, examination.frequencies), parameters)
    resamples, _ = resample(examination, samples, np.random.default_rng(seed))
    target_ranks, target_values = _standardised(_ranks(resamples)).T, _standardised(resamples).T
    best = np.zeros(samples, np.int64)
    best_rho, best_r = np.full(samples, -np.inf), np.full(samples, -np.inf)
    step = max(1, BATCH_SIZE // max(resamples.shape[1], samples))
    for begin in range(0, len(sets), step):
        numbers, weights = sets.weights(begin, min(begin + step, len(sets)))
        flat = weights.reshape(len(weights), resamples.shape[1])
        rhos, rs = _standardised(_ranks(flat)) @ target_ranks, _standardised(flat) @ target_values
        for number, rho, r in zip(numbers, rhos, rs, strict=True):
            better = (rho > best_rho + _TIE) | ((rho > best_rho - _TIE) & (r > best_r))  # ties by r, then by order
            best[better], best_rho[better], best_r[better] = number, rho[better], r[better]
        if progress:
            progress(min(begin + step, len(sets)), len(sets))
    if not np.isfinite(best_rho).all():
        raise DataError(f"no parameters of {discount} give finite and positive weights on this grid.")
    method = CELLS_ONLY if examination.by_participant is None else BY_PARTICIPANT
    intervals = {name: percentile_interval(column[best], ci) for name, column in sets.columns.items()}
    return Bootstrap(method, samples, ci, intervals)


def resample(
    examination: Examination, size: int, rng: np.random.Generator, dispersion: float = 1.0
) -> tuple[Array, Array]:
    """Frequencies of ``size`` resampled studies, (size, cells), and their numbers of screens, (size, 1).

    Where participants are unknown, cells are drawn as if independent. A ``dispersion`` above 1 then divides the number
    of screens drawn, which multiplies the variance of the frequencies by it.
    """
    if examination.by_participant is None:
        drawn = max(1, round(examination.screens / dispersion)) if dispersion > 1 else examination.screens
        frequency = examination.frequencies.ravel()
        counts = _in_blocks(lambda rows: rng.binomial(drawn, frequency, (len(rows), len(frequency))), np.arange(size))
        frequencies: Array = counts / drawn
        return frequencies, np.full((size, 1), float(drawn))
    participant_counts, participant_screens = examination.by_participant
    participants = len(participant_screens)
    shares = np.full(participants, 1 / participants)
    draws = _in_blocks(lambda rows: rng.multinomial(participants, shares, len(rows)), np.arange(size))
    screens: Array = (draws @ participant_screens)[:, None].astype(np.float64)
    by_participants: Array = (draws @ participant_counts.reshape(participants, -1)) / screens
    return by_participants, screens


def _in_blocks(compute: Callable[[Any], Any], rows: NDArray[Any]) -> Any:
    """What is computed row by row, some rows at a time: Ctrl-C waits for a call of NumPy to end."""
    return np.concatenate([compute(rows[begin : begin + _ROWS]) for begin in range(0, len(rows), _ROWS)])


def _ranks(values: Array) -> Array:
    from scipy.stats import rankdata

    if not len(values):
        return values
    return np.asarray(_in_blocks(lambda rows: rankdata(rows, axis=1), values), dtype=np.float64)


def _standardised(rows: Array) -> Array:
    """Centred rows of length 1, whose products are correlations; constant rows become 0."""
    centred: Array = rows - rows.mean(axis=1, keepdims=True)
    length = np.sqrt((centred**2).sum(axis=1, keepdims=True))
    return np.asarray(np.divide(centred, length, out=np.zeros_like(centred), where=length > 0))


def percentile_interval(values: Array, ci: float) -> Interval:
    """The percentile interval of bootstrap estimates."""
    low, high = np.quantile(values, [(1 - ci) / 2, (1 + ci) / 2], method="inverted_cdf")
    return Interval(float(low), float(high))
