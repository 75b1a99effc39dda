"""Recall: of what is relevant, how much is in view."""

from typing import ClassVar

import numpy as np

from carouseval.metrics.array_pages import ArrayPages
from carouseval.metrics.grid import Array
from carouseval.metrics.metric_base import Metric, Pages, register_metric


@register_metric("Recall")
class Recall(Metric):
    """The share of relevant items that stand in view (``@3x5``), each counting once.

    In tables, of all that is judged to gain, or of what is displayed, as ``candidates`` says; an array on which nothing
    gains has none (NaN).

    >>> import carouseval as cv
    >>> cv.metric("Recall@1x2")([[1, 0, 2], [3, 3, 3]])
    0.2
    """

    binary: ClassVar[bool] = True

    def value(self, pages: Pages, weights: Array) -> Array:
        return pages.gain_sum(weights, once=True) / np.maximum(pages.relevant(), 1)

    def of_arrays(self, pages: ArrayPages) -> Array:
        return np.where(pages.relevant() > 0, super().of_arrays(pages), np.nan)
