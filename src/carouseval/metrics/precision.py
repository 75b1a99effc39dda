"""Precision: the share of what is in view that is relevant."""

from typing import ClassVar

import numpy as np

from carouseval.metrics.grid import Array
from carouseval.metrics.metric_base import Metric, register_metric
from carouseval.metrics.pages import Pages, occupied_cells


@register_metric("Precision")
class Precision(Metric):
    """The share of occupied cells in view (``@3x5``) whose item is relevant; 0 if none is occupied.

    >>> import carouseval as cv
    >>> cv.metric("Precision@1x4")([[1, 0, 2], [3, 3, 3]])  # three cells of the first row hold an item
    0.6666666666666666
    """

    binary: ClassVar[bool] = True

    def value(self, pages: Pages, weights: Array) -> Array:
        return pages.gain_sum(weights) / np.maximum(occupied_cells(pages, weights > 0), 1)
