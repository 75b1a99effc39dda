"""Reciprocal rank: how soon does somebody who looks where people look meet something relevant?"""

from typing import ClassVar, Literal

import numpy as np

from carouseval.metrics.grid import Array
from carouseval.metrics.metric_base import Metric, Pages, register_metric


@register_metric("RR")
class ReciprocalRank(Metric):
    """1 over the rank of the first relevant item, 0 without one.

    Occupied cells are ranked by their weight (``d_rpd`` unless another discount is named), the heaviest first, ties in
    reading order. Empty cells have no rank.

    >>> import carouseval as cv
    >>> cv.metric("RR")([[0, 0, 2], [0, 3, 3]])
    0.25
    """

    default_discount: ClassVar[str | None] = "d_rpd"
    cutoff_kind: ClassVar[Literal["page", "list", "none"]] = "none"
    binary: ClassVar[bool] = True

    def value(self, pages: Pages, weights: Array) -> Array:
        order = np.empty(weights.size, np.int64)
        order[np.argsort(-weights, axis=None, kind="stable")] = np.arange(weights.size)
        place = order.reshape(weights.shape)
        page, row, col = pages.hits()
        first = np.full(len(pages), weights.size)
        np.minimum.at(first, page, place[row, col])
        rank = 1 + pages.occupied_before(place, first)
        return np.where(first < weights.size, 1 / rank, 0.0)
