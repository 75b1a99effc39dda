"""Reciprocal rank: how early users examine the first relevant item."""

from typing import ClassVar

import numpy as np

from carouseval.metrics.grid import Array
from carouseval.metrics.metric_base import CutoffKind, Metric, register_metric
from carouseval.metrics.pages import Pages


@register_metric("RR")
class ReciprocalRank(Metric):
    """1 over the rank of the first relevant item; 0 if there is none.

    Occupied cells are ranked by weight (that of ``d_rpd`` by default), the largest first, ties in reading order.

    >>> import carouseval as cv
    >>> cv.metric("RR")([[0, 0, 2], [0, 3, 3]])
    0.25
    """

    default_discount: ClassVar[str | None] = "d_rpd"
    cutoff_kind: ClassVar[CutoffKind] = "none"
    binary: ClassVar[bool] = True

    def value(self, pages: Pages, weights: Array) -> Array:
        order = np.empty(weights.size, np.int64)
        order[np.argsort(-weights, axis=None, kind="stable")] = np.arange(weights.size)
        position = order.reshape(weights.shape)
        page, row, col = pages.hits()
        first = np.full(len(pages), weights.size)
        np.minimum.at(first, page, position[row, col])
        rank = 1 + pages.occupied_before(position, first)
        return np.where(first < weights.size, 1 / rank, 0.0)
