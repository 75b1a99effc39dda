"""What pages are judged by: judgments, their gains by each metric, the categories of items, and carousels."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from carouseval.evaluation.reading.carousels import Carousels
from carouseval.evaluation.reading.judgments import Judgments
from carouseval.evaluation.reading.membership import Membership
from carouseval.metrics.grid import Array


@dataclass(frozen=True, eq=False)
class JudgedData:
    """Judgments, gains, memberships and carousels as arrays, for any thread, process or executor."""

    judgments: Judgments
    gains: Mapping[str, Array]  # of every judgment, by each metric
    membership: Membership | None  # None: no table gives categories
    carousels: Carousels

    @cached_property
    def gaining(self) -> NDArray[np.uint8]:
        """Which judgments have a positive gain by any of the metrics."""
        gaining = np.zeros(len(self.judgments.item), np.uint8)
        for gains in self.gains.values():
            gaining |= (gains > 0).astype(np.uint8)
        return gaining

    def relevant_items(self, metric: str | None = None) -> NDArray[np.int64]:
        """How many items of each judgment set are relevant, by one metric or by any."""
        if metric not in self._relevant:
            gaining = self.gaining if metric is None else self.gains[metric] > 0
            sums = np.concatenate([[0], np.cumsum(gaining, dtype=np.int64)])
            offsets = self.judgments.offsets
            self._relevant[metric] = np.asarray(sums[offsets[1:]] - sums[offsets[:-1]])
        return self._relevant[metric]

    @cached_property
    def _relevant(self) -> dict[str | None, NDArray[np.int64]]:
        """Those computed so far."""
        return {}
