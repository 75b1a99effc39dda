"""How well the weights of a discount follow examination frequencies."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from carouseval import _native
from carouseval.attention.examination import Examination, Frequencies
from carouseval.errors import DataError, ParameterError
from carouseval.metrics.discount_base import Discount, as_discount
from carouseval.metrics.grid import Array, Grid

FrequencyLike: TypeAlias = ArrayLike | Examination | Frequencies
"""Examination frequencies: counts, frequencies, or a table of shape (rows, cols)."""


@dataclass(frozen=True)
class Scores:
    """How well the weights of a discount follow examination frequencies.

    Attributes
    ----------
    spearman : float
        Spearman's rho.
    pearson : float
        Pearson's r.
    mse : float
        Mean squared error after weights and frequencies are each divided by their maximum.

    Examples
    --------
    >>> import carouseval as cv
    >>> scores = cv.attention.scores(cv.attention.recgaze_counts("amsterdam"), "d_rpd")
    >>> round(scores.spearman, 4), round(scores.pearson, 4), round(scores.mse, 4)
    (0.9859, 0.9771, 0.0096)
    """

    spearman: float
    pearson: float
    mse: float


def scores(frequencies: FrequencyLike, discount: str | Discount, grid: Grid | None = None) -> Scores:
    """Score a discount against examination frequencies, as "Revisiting N2DCG" does.

    Parameters
    ----------
    frequencies : Examination, Frequencies or array-like of shape (rows, cols)
        Where people looked; a table is finite, 0 or more and not constant.
    discount : str or Discount
        The discount or its name, such as ``"d_rpd(mu=0.5)"``.
    grid : Grid, optional
        The screen, of the size of the frequencies; by default with swipe pages of 5 items and 3 visible rows.

    Returns
    -------
    Scores
        Spearman's rho, Pearson's r and the mean squared error.

    Examples
    --------
    >>> import carouseval as cv
    >>> test = cv.attention.recgaze_counts("amsterdam")
    >>> round(cv.attention.scores(test, "d_rpd").spearman, 4), round(cv.attention.scores(test, "d_rpb").spearman, 4)
    (0.9859, 0.9885)
    """
    target = frequency_table(frequencies)
    return scores_of(as_discount(discount).weights(matching_grid(grid, target)), target)


def scores_of(weights: Array, target: Array) -> Scores:
    """The same of a table of weights; correlations are NaN where all weights are equal."""
    rho, r = _native.correlations(np.ascontiguousarray(weights).reshape(1, -1), target.reshape(-1), 1)
    with np.errstate(all="ignore"):
        return Scores(float(rho[0]), float(r[0]), float(squared_error(weights[None], target)[0]))


def squared_error(weights: Array, target: Array) -> Array:
    """The mean squared error of each of a stack of weights."""
    relative = weights / weights.max(axis=(1, 2), keepdims=True)
    error: Array = ((relative - target / target.max()) ** 2).mean(axis=(1, 2))
    return error


def frequency_table(frequencies: FrequencyLike) -> Array:
    """Frequencies as a table, if discounts can be scored against them."""
    if isinstance(frequencies, str | Discount):
        raise ParameterError(f"frequencies come first, then the discount; found {frequencies!r} as frequencies.")
    if isinstance(frequencies, Examination | Frequencies):
        frequencies = frequencies.frequencies
    target = np.ascontiguousarray(frequencies, dtype=np.float64)
    if target.ndim != 2 or not (np.isfinite(target) & (target >= 0)).all():
        raise DataError("frequencies must be a table (rows, cols) of finite numbers, 0 or more.")
    if target.size < 2 or target.min() == target.max():
        raise DataError("frequencies are the same in every cell, so that no correlation with them is defined.")
    return target


def matching_grid(grid: Grid | None, target: Array) -> Grid:
    """The grid to fit on: the given one, if it has the size of the table, or one of that size."""
    if grid is None:
        return _default_grid(*target.shape)
    if grid.shape != target.shape:
        size = "x".join(map(str, target.shape))
        raise DataError(f"frequencies are {size}, but the grid is {grid}.")
    return grid


@lru_cache(maxsize=16)
def _default_grid(rows: int, cols: int) -> Grid:
    """Cached, since a grid caches its arrays and many fits use the same one."""
    return Grid(rows, cols)
