"""Fitting discounts to examination frequencies: the paper's grid search, and other objectives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import get_args

import numpy as np
from numpy.typing import ArrayLike

from carouseval import _native
from carouseval.attention.examination import Examination
from carouseval.attention.fit_settings import Objective
from carouseval.attention.frequency_scores import (
    FrequencyLike,
    Scores,
    frequency_table,
    matching_grid,
    scores,
    squared_error,
)
from carouseval.attention.parameters import ParameterSets
from carouseval.errors import DataError, ParameterError
from carouseval.messages import setting
from carouseval.metrics.discount_base import Discount
from carouseval.metrics.discount_parameters import weights_of_many
from carouseval.metrics.grid import Array, Grid
from carouseval.metrics.page_stack import thread_count
from carouseval.validation import require_choice, require_int

PAPER_DISCOUNTS = ("d_t", "d_a", "d_mir", "d_add", "d_mul", "d_rpd")
OBJECTIVES: tuple[Objective, ...] = get_args(Objective)

BATCH_SIZE = 600_000  # weights in memory at a time


@dataclass(frozen=True)
class Candidate:
    """A set of parameters with its objective and both correlations.

    Attributes
    ----------
    discount : Discount
        The discount with these parameters.
    objective : float
        Its value of the objective.
    spearman : float
        Spearman's rho.
    pearson : float
        Pearson's r.
    """

    discount: Discount
    objective: float
    spearman: float
    pearson: float


@dataclass(frozen=True, repr=False)
class SearchFit:
    """The result of a grid search: the best discount and the runners-up.

    Attributes
    ----------
    discount : Discount
        The best discount.
    objective : {"spearman", "pearson", "mse", "likelihood"}
        What was optimised.
    train : Scores
        Scores of the best discount on the data it was fitted to.
    tried : int
        Number of parameter sets tried.
    skipped : int
        Number of parameter sets without finite and positive weights on the grid or, for the likelihood, with weights
        that are not below 1.
    top : tuple of Candidate
        The best parameter sets, best first.

    Examples
    --------
    >>> import carouseval as cv
    >>> fit = cv.attention.grid_search(cv.attention.recgaze_counts("bratislava"), "d_mir")
    >>> fit
    SearchFit(d_mir(alpha=10, beta=9), best of 100 by spearman)
    >>> fit.top[1].discount
    d_mir(alpha=9, beta=8)
    """

    discount: Discount
    objective: Objective
    train: Scores
    tried: int
    skipped: int
    top: tuple[Candidate, ...]

    def __repr__(self) -> str:
        return f"SearchFit({self.discount}, best of {self.tried:,} by {self.objective})"


def grid_search(
    frequencies: FrequencyLike,
    discount: str,
    grid: Grid | None = None,
    parameters: Mapping[str, ArrayLike] | None = None,
    objective: Objective = "spearman",
    top: int = 10,
    *,
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> SearchFit:
    """Fit a discount by trying every combination of parameter values, as "Revisiting N2DCG" does.

    The best set of parameters is the one with the best objective; ties are broken by Pearson's r, then by the order of
    the sets (the first parameter varies slowest).

    Parameters
    ----------
    frequencies : Examination, Frequencies or array-like of shape (rows, cols)
        Where people looked.
    discount : str
        Symbol of the discount to fit, such as ``"d_rpd"``.
    grid : Grid, optional
        The screen, of the size of the frequencies; by default with swipe pages of 5 items and 3 visible rows.
    parameters : dict of str to array-like, optional
        Values to try, by parameter. Default: the paper's, 1, 2, ..., 10 for factors and 0.05, 0.10, ..., 0.95 for
        decays.
    objective : {"spearman", "pearson", "mse", "likelihood"}, default 'spearman'
        What to optimise. ``"likelihood"`` reads weights as probabilities and needs an :class:`Examination`.
    top : int, default 10
        Number of candidates to report, at least 1.
    threads : int, optional
        The most threads to use; by default ``CAROUSEVAL_THREADS`` or all cores. The result does not depend on it.
    progress : callable, optional
        Called with (tried, total) as the search proceeds.

    Returns
    -------
    SearchFit
        The best discount, its scores and the runners-up.

    See Also
    --------
    fit_likelihood : For browsing models, whose weights are probabilities.
    refine : Continue over real-valued parameters.

    Examples
    --------
    >>> import carouseval as cv
    >>> cv.attention.grid_search(cv.attention.recgaze_counts("bratislava"), "d_mir").discount
    d_mir(alpha=10, beta=9)
    """
    require_choice("objective", objective, OBJECTIVES)
    top = require_int("top", top, 1)
    target = frequency_table(frequencies)
    grid = matching_grid(grid, target)
    sets = ParameterSets(discount, grid, parameters)
    evaluate = _objective_function(objective, frequencies, target)
    value, rho, r = (np.full(len(sets), np.nan) for _ in range(3))
    step = max(1, BATCH_SIZE // target.size)
    for begin in range(0, len(sets), step):
        end = min(begin + step, len(sets))
        numbers, weights = sets.weights(begin, end)
        flat = weights.reshape(len(weights), target.size)
        rho[numbers], r[numbers] = _native.correlations(flat, target.reshape(-1), thread_count(threads))
        correlations = {"spearman": rho, "pearson": r}
        value[numbers] = correlations[objective][numbers] if objective in correlations else evaluate(weights)
        if progress:
            progress(end, len(sets))
    usable = np.flatnonzero(~np.isnan(value))
    if not len(usable):
        raise DataError(f"{objective} is undefined for all parameters of {discount} on this grid and data.")
    order = usable[np.lexsort((usable, -np.nan_to_num(r[usable], nan=-2.0), -value[usable]))][:top]
    candidates = tuple(
        Candidate(sets[k], float(-value[k] if objective == "mse" else value[k]), float(rho[k]), float(r[k]))
        for k in order
    )
    best = candidates[0].discount
    return SearchFit(best, objective, scores(target, best, grid), len(sets), len(sets) - len(usable), candidates)


def refine(frequencies: FrequencyLike, fit: SearchFit, grid: Grid | None = None) -> SearchFit:
    """Continue from the best discount of a grid search over real-valued parameters, by Nelder-Mead.

    Parameters
    ----------
    frequencies : Examination, Frequencies or array-like of shape (rows, cols)
        The data that the discount was fitted to.
    fit : SearchFit
        The result of :func:`grid_search`, whose objective is kept.
    grid : Grid, optional
        The screen, as in :func:`grid_search`.

    Returns
    -------
    SearchFit
        The refined discount, at least as good as the best of the grid search, and the candidates of the search.

    Examples
    --------
    >>> import carouseval as cv
    >>> counts = cv.attention.recgaze_counts("bratislava")
    >>> fit = cv.attention.grid_search(counts, "d_mir", objective="mse")
    >>> cv.attention.refine(counts, fit).train.mse <= fit.train.mse
    True
    """
    from scipy.optimize import minimize

    if not isinstance(fit, SearchFit):
        raise ParameterError(f"fit must be the SearchFit of a grid_search, found {type(fit).__name__}.")
    target = frequency_table(frequencies)
    grid = matching_grid(grid, target)
    evaluate = _objective_function(fit.objective, frequencies, target)
    cls, names = type(fit.discount), list(fit.discount.parameters)
    bounds = [
        (1e-6, 1.0) if name in cls.decays else (0.0, 1.0) if name in cls.shares else (0.0, None) for name in names
    ]

    def loss(values: Array) -> float:
        columns = {name: np.array([value]) for name, value in zip(names, values, strict=True)}
        weights = weights_of_many(cls, columns, grid, 1)
        if not (np.isfinite(weights).all() and (weights > 0).all()):
            return np.inf
        value = float(evaluate(weights)[0])
        return np.inf if np.isnan(value) else -value

    start = np.array([float(value) for value in fit.discount.parameters.values()])
    minimum = minimize(
        loss, start, method="Nelder-Mead", bounds=bounds, options={"maxiter": 4000, "xatol": 1e-8, "fatol": 1e-12}
    )
    values = minimum.x if minimum.fun <= loss(start) else start
    discount = cls(**{name: float(value) for name, value in zip(names, values, strict=True)})
    train = scores(target, discount, grid)
    value = float(evaluate(discount.weights(grid)[None])[0])
    best = Candidate(discount, -value if fit.objective == "mse" else value, train.spearman, train.pearson)
    return SearchFit(discount, fit.objective, train, fit.tried + int(minimum.nfev), fit.skipped, (best, *fit.top))


def _objective_function(objective: Objective, frequencies: FrequencyLike, target: Array) -> Callable[[Array], Array]:
    """The function to maximise, for a stack of weights."""
    if objective == "likelihood":
        if not isinstance(frequencies, Examination):
            raise ParameterError(
                f"{setting('objective')} 'likelihood' needs counts: give an Examination, not frequencies."
            )
        counts, screens = frequencies.counts, frequencies.screens

        def likelihood(weights: Array) -> Array:
            with np.errstate(all="ignore"):
                logs = (counts * np.log(weights) + (screens - counts) * np.log1p(-weights)).sum(axis=(1, 2))
            return np.where(np.isfinite(logs), logs, np.nan)

        return likelihood
    if objective == "mse":
        return lambda weights: -squared_error(weights, target)
    return lambda weights: _native.correlations(weights.reshape(len(weights), -1), target.reshape(-1), 1)[
        objective == "pearson"
    ]
