"""Hit: whether a relevant item is in view."""

from typing import ClassVar

import numpy as np

from carouseval.metrics.grid import Array
from carouseval.metrics.metric_base import Metric, register_metric
from carouseval.metrics.pages import Pages


@register_metric("Hit")
class Hit(Metric):
    """1 if a relevant item is in view (``@3x5``), else 0.

    >>> import carouseval as cv
    >>> cv.metric("Hit@1x2")([[[0, 0, 2], [3, 3, 3]], [[0, 1, 0], [0, 0, 0]]])
    array([0., 1.])
    """

    binary: ClassVar[bool] = True

    def value(self, pages: Pages, weights: Array) -> Array:
        return (pages.gain_sum(weights, once=True) > 0).astype(np.float64)
