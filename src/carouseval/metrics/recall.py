"""Recall: the share of what is relevant that is in view."""

from typing import ClassVar

import numpy as np

from carouseval.metrics.grid import Array
from carouseval.metrics.metric_base import Metric, register_metric
from carouseval.metrics.pages import ArrayPages, Pages


@register_metric("Recall")
class Recall(Metric):
    """The share of relevant items that are in view (``@3x5``), each counting once.

    In tables, of all relevant items judged or displayed, as ``candidates`` says. NaN for an array without a relevant
    item.

    >>> import carouseval as cv
    >>> cv.metric("Recall@1x2")([[1, 0, 2], [3, 3, 3]])
    0.2
    """

    binary: ClassVar[bool] = True

    def value(self, pages: Pages, weights: Array) -> Array:
        return pages.gain_sum(weights, once=True) / np.maximum(pages.relevant(), 1)

    def _array_scores(self, pages: ArrayPages) -> Array:
        return np.where(pages.relevant() > 0, super()._array_scores(pages), np.nan)
