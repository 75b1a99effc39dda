"""Fitting discounts to examination frequencies: the paper's grid search, other objectives, and held-out scores."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from carouseval import _native
from carouseval.attention.examination import Examination, Frequencies
from carouseval.attention.parameters import ParameterSets, weights_of_many
from carouseval.errors import DataError, ParameterError
from carouseval.metrics.discounts import Discount
from carouseval.metrics.grid import Array, Grid
from carouseval.metrics.page_stack import thread_count
from carouseval.metrics.validation import require_choice, require_int

PAPER_DISCOUNTS = ("d_t", "d_a", "d_mir", "d_add", "d_mul", "d_rpd")
OBJECTIVES = ("spearman", "pearson", "mse", "likelihood")

AT_ONCE = 600_000  # weights held at a time

Target: TypeAlias = ArrayLike | Examination | Frequencies


@dataclass(frozen=True)
class Scores:
    """How well a discount follows frequencies: rho on the raw values, MSE after each side is divided by its maximum."""

    spearman: float
    pearson: float
    mse: float


@dataclass(frozen=True)
class Candidate:
    """One set of parameters and its value under the objective, with both correlations."""

    discount: Discount
    objective: float
    spearman: float
    pearson: float


@dataclass(frozen=True)
class Fit:
    """The outcome of a search: the best discount and the runners-up."""

    discount: Discount
    objective: str
    train: Scores
    tried: int
    skipped: int  # not finite and positive on the grid, or, for the likelihood, not below 1
    top: tuple[Candidate, ...]


def scores(discount: Discount, frequencies: Target, grid: Grid | None = None) -> Scores:
    """rho, r and MSE of a discount against frequencies, as the paper has them.

    >>> from carouseval.attention import recgaze_counts
    >>> from carouseval.metrics.discounts import RowPage
    >>> held_out = scores(RowPage(), recgaze_counts("amsterdam"))
    >>> round(held_out.spearman, 4), round(held_out.pearson, 4), round(held_out.mse, 4)
    (0.9859, 0.9771, 0.0096)
    """
    target = _frequencies(frequencies)
    return scores_of(discount.weights(matching_grid(grid, target)), target)


def scores_of(weights: Array, target: Array) -> Scores:
    """The same of tables; where all cells are alike no correlation is defined, and it is NaN."""
    rho, r = _native.correlations(np.ascontiguousarray(weights).reshape(1, -1), target.reshape(-1), 1)
    with np.errstate(all="ignore"):
        return Scores(float(rho[0]), float(r[0]), float(_mse(weights[None], target)[0]))


def grid_search(
    symbol: str,
    frequencies: Target,
    grid: Grid | None = None,
    parameters: Mapping[str, ArrayLike] | None = None,
    objective: str = "spearman",
    top: int = 10,
    *,
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Fit:
    """Try every combination of parameters and keep the best.

    Best by ``objective``, ties by Pearson's r, then by the order of the grid: the first parameter slowest, each
    ascending. Left out, ``parameters`` is the paper's grid: factors 1..10, decays 0.05..0.95. ``"likelihood"`` takes
    counts (an :class:`Examination`) and reads weights as probabilities. ``progress`` is called with (tried, of).

    >>> from carouseval.attention import recgaze_counts
    >>> grid_search("d_mir", recgaze_counts("bratislava")).discount
    d_mir(alpha=10, beta=9)
    """
    require_choice("objective", objective, OBJECTIVES)
    top = require_int("top", top, 1)
    target = _frequencies(frequencies)
    grid = matching_grid(grid, target)
    sets = ParameterSets(symbol, grid, parameters)
    judge = _objective(objective, frequencies, target)
    value, rho, r = (np.full(len(sets), np.nan) for _ in range(3))
    step = max(1, AT_ONCE // target.size)
    for begin in range(0, len(sets), step):
        end = min(begin + step, len(sets))
        at, weights = sets.weights(begin, end)
        flat = weights.reshape(len(weights), target.size)
        rho[at], r[at] = _native.correlations(flat, target.reshape(-1), thread_count(threads))
        value[at] = rho[at] if objective == "spearman" else r[at] if objective == "pearson" else judge(weights)
        if progress:
            progress(end, len(sets))
    tried = np.flatnonzero(~np.isnan(value))
    if not len(tried):
        raise DataError(f"no parameters of {symbol} give weights that {objective} can judge on this grid and data.")
    order = tried[np.lexsort((tried, -np.nan_to_num(r[tried], nan=-2.0), -value[tried]))][:top]
    candidates = tuple(
        Candidate(sets[k], float(-value[k] if objective == "mse" else value[k]), float(rho[k]), float(r[k]))
        for k in order
    )
    best = candidates[0].discount
    return Fit(best, objective, scores(best, target, grid), len(sets), len(sets) - len(tried), candidates)


def refine(fit: Fit, frequencies: Target, grid: Grid | None = None) -> Fit:
    """Continue from a grid search's best over real-valued parameters (Nelder-Mead), keeping its objective."""
    from scipy.optimize import minimize

    target = _frequencies(frequencies)
    grid = matching_grid(grid, target)
    judge = _objective(fit.objective, frequencies, target)
    cls, names = type(fit.discount), list(fit.discount.parameters)
    bounds = [
        (1e-6, 1.0) if name in cls.decays else (0.0, 1.0) if name in cls.shares else (0.0, None) for name in names
    ]

    def loss(values: NDArray[np.float64]) -> float:
        columns = {name: np.array([value]) for name, value in zip(names, values, strict=True)}
        weights = weights_of_many(cls, columns, grid, 1)
        if not (np.isfinite(weights).all() and (weights > 0).all()):
            return np.inf
        found = float(judge(weights)[0])
        return np.inf if np.isnan(found) else -found

    start = np.array([float(value) for value in fit.discount.parameters.values()])
    found = minimize(
        loss, start, method="Nelder-Mead", bounds=bounds, options={"maxiter": 4000, "xatol": 1e-8, "fatol": 1e-12}
    )
    values = found.x if found.fun <= loss(start) else start
    discount = cls(**{name: float(value) for name, value in zip(names, values, strict=True)})
    train = scores(discount, target, grid)
    reached = float(judge(discount.weights(grid)[None])[0])
    best = Candidate(discount, -reached if fit.objective == "mse" else reached, train.spearman, train.pearson)
    return Fit(discount, fit.objective, train, fit.tried + int(found.nfev), fit.skipped, (best, *fit.top))


def _objective(name: str, frequencies: Target, target: Array) -> Callable[[Array], Array]:
    """What is maximised, for a stack of weights."""
    if name == "likelihood":
        if not isinstance(frequencies, Examination):
            raise ParameterError("objective 'likelihood' needs counts: give an Examination, not frequencies.")
        counts, screens = frequencies.counts, frequencies.screens

        def likelihood(weights: Array) -> Array:
            with np.errstate(all="ignore"):
                seen = (counts * np.log(weights) + (screens - counts) * np.log1p(-weights)).sum(axis=(1, 2))
            return np.where(np.isfinite(seen), seen, np.nan)

        return likelihood
    if name == "mse":
        return lambda weights: -_mse(weights, target)
    return lambda weights: _native.correlations(weights.reshape(len(weights), -1), target.reshape(-1), 1)[
        name == "pearson"
    ]


def _mse(weights: Array, target: Array) -> Array:
    relative = weights / weights.max(axis=(1, 2), keepdims=True)
    error: Array = ((relative - target / target.max()) ** 2).mean(axis=(1, 2))
    return error


def _frequencies(frequencies: Target) -> Array:
    if isinstance(frequencies, Examination | Frequencies):
        frequencies = frequencies.frequencies
    target = np.ascontiguousarray(frequencies, dtype=np.float64)
    if target.ndim != 2 or not (np.isfinite(target) & (target >= 0)).all():
        raise DataError("frequencies must be a table (rows, cols) of finite numbers, 0 or more.")
    if target.size < 2 or target.min() == target.max():
        raise DataError("frequencies are the same in every cell: no correlation with them is defined.")
    return target


def matching_grid(grid: Grid | None, target: Array) -> Grid:
    """The grid to fit on: the table's own, or one of the same size."""
    if grid is None:
        return _own_grid(*target.shape)
    if grid.shape != target.shape:
        size = "x".join(map(str, target.shape))
        raise DataError(f"frequencies are {size}, but the grid is {grid}.")
    return grid


@lru_cache(maxsize=16)
def _own_grid(rows: int, cols: int) -> Grid:
    """Kept, since a grid keeps its arrays and fits come in numbers."""
    return Grid(rows, cols)
