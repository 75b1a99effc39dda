"""Tables in the shape of a screen, summed up by swipe page."""

import math

import numpy as np

from carouseval.metrics.grid import Array, Grid, sizes_by_row


def page_means(table: Array, grid: Grid) -> Array:
    """The mean of each row over the cells of each swipe page: (rows, swipe pages), NaN where a row has fewer."""
    sizes = sizes_by_row(grid)
    means = np.full((grid.rows, math.ceil(grid.cols / min(sizes))), np.nan)
    for row, (values, size) in enumerate(zip(table, sizes, strict=True)):
        firsts = np.arange(0, grid.cols, size)
        means[row, : len(firsts)] = np.add.reduceat(values, firsts) / np.diff(firsts, append=grid.cols)
    return means
