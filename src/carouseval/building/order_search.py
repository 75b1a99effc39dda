"""Orders of carousels, the same for all users: greedy, and a search for the best one."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from carouseval.building.candidate_carousels import ROUNDING, CandidateCarousels
from carouseval.building.order_bound import UpperBound
from carouseval.metrics.grid import Array, IntArray


@dataclass(frozen=True)
class PagePrefix:
    """A page down to some row: the value that every judgment has reached, and how many rows each user has."""

    order: tuple[int, ...]
    gains: tuple[float, ...]
    reached: Array
    row_count: IntArray

    @classmethod
    def empty(cls, carousels: CandidateCarousels) -> "PagePrefix":
        """A page without rows."""
        return cls((), (), np.zeros(len(carousels.normalized_gain)), carousels.page.row_count)

    @property
    def score(self) -> float:
        """The mean score down to this row."""
        return math.fsum(self.gains)

    def next_gains(self, carousels: CandidateCarousels) -> Array:
        """What each carousel would add as the next row; -1 for those on the page."""
        gains = carousels.sum_by_carousel(carousels.pair_gains(self.reached, self.row_count))
        gains[list(self.order)] = -1.0
        return gains

    def extended(self, carousels: CandidateCarousels, *order: int) -> "PagePrefix":
        """The page with these carousels below."""
        reached, row_count, gains = self.reached.copy(), self.row_count, list(self.gains)
        for carousel in order:
            judgment, value = carousels.carousel_values(carousel, row_count)
            gains.append(float(np.maximum(0.0, value - reached[judgment]).sum()))
            reached[judgment] = np.maximum(reached[judgment], value)
            row_count = row_count + carousels.available[carousel]
        return PagePrefix((*self.order, *order), tuple(gains), reached, row_count)


def greedy_prefixes(carousels: CandidateCarousels, rows: int) -> list[PagePrefix]:
    """The greedy page after 0, 1, 2, ... rows."""
    prefixes = [PagePrefix.empty(carousels)]
    for _ in range(rows):
        gains = prefixes[-1].next_gains(carousels)
        best = int(np.argmax(gains >= gains.max() * (1 - ROUNDING)))  # ties go to the first by name
        prefixes.append(prefixes[-1].extended(carousels, best))
    return prefixes


class OrderSearch:
    """Branch and bound over orders of carousels, the most promising first, from the best page so far."""

    def __init__(self, carousels: CandidateCarousels, best: PagePrefix, upper_bound: UpperBound) -> None:
        self._carousels, self._rows, self._upper_bound = carousels, len(best.order), upper_bound
        self.best: PagePrefix = best
        self._nodes = self._max_nodes = 0
        self._progress: Callable[[int, int], None] | None = None

    def run(self, max_nodes: int, progress: Callable[[int, int], None] | None = None) -> bool:
        """Search at most so many nodes; whether the search was completed."""
        self._nodes, self._max_nodes, self._progress = 0, max_nodes, progress
        is_complete = self._visit(PagePrefix.empty(self._carousels))
        if progress is not None:
            progress(max_nodes, max_nodes)
        return is_complete

    def _visit(self, prefix: PagePrefix) -> bool:
        threshold = self.best.score * (1 + ROUNDING)
        if len(prefix.order) == self._rows:
            if prefix.score > threshold:
                self.best = prefix
            return True
        if self._upper_bound.of(prefix.order, prefix.score) <= threshold:
            return True
        if self._nodes == self._max_nodes:
            return False
        self._nodes += 1
        if self._progress is not None:
            self._progress(self._nodes, self._max_nodes)
        gains = prefix.next_gains(self._carousels)
        order = np.argsort(-gains, kind="stable")
        if len(prefix.order) == self._rows - 1:
            order = order[:1]  # the best last row is the one that adds most
        return all(self._visit(prefix.extended(self._carousels, int(k))) for k in order if gains[k] >= 0)
