"""What a picture of a fit is drawn from: data with their intervals, and the weights of models."""

from dataclasses import dataclass

import numpy as np

from carouseval.metrics.grid import Array, Grid


@dataclass(frozen=True, eq=False)
class Fitted:
    """A model's weights: for each cell, (rows, cols), how probable it is that it is examined."""

    name: str
    weights: Array


@dataclass(frozen=True, eq=False)
class Seen:
    """The share of screens on which each cell was examined, (rows, cols), between the bounds of its interval."""

    name: str
    frequencies: Array
    low: Array
    high: Array


def page_means(table: Array, grid: Grid) -> Array:
    """The mean of each row over the cells of each swipe page: (rows, swipe pages)."""
    firsts = np.arange(0, grid.cols, grid.page_size)
    sums: Array = np.add.reduceat(table, firsts, axis=1)
    return sums / np.diff(firsts, append=grid.cols)
