"""Orders of carousels, the same for all users: greedy, improved by local search, and a search for the best one.

Local search moves or replaces a carousel of a page, or exchanges two rows, while that raises the score.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from carouseval.building.candidate_carousels import ROUNDING, CandidateCarousels
from carouseval.building.order_bound import UpperBound
from carouseval.metrics.grid import Array, IntArray

_MAX_SWEEPS = 20  # of local search over all rows; never a clock, so that results do not depend on the machine


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


def improve_order(
    carousels: CandidateCarousels, page: PagePrefix, progress: Callable[[int, int], None] | None = None
) -> PagePrefix:
    """Make the best change of one row after another, until no row has a change that raises the score.

    A change removes the carousel of a row and inserts it or another one at any row, or exchanges it with a lower one.
    """
    rows = len(page.order)
    steps, unchanged = _MAX_SWEEPS * rows, 0
    for step in range(steps):
        changed = _best_change(carousels, page, step % rows)
        unchanged = unchanged + 1 if changed is page else 0
        page = changed
        if progress is not None:
            progress(steps if unchanged == rows else step + 1, steps)
        if unchanged == rows:
            break
    return page


def _best_change(carousels: CandidateCarousels, page: PagePrefix, row: int) -> PagePrefix:
    """The page with the best change of a row; the same page if none raises its score."""
    above, carousel, *below = page.order[:row], *page.order[row:]
    prefix = PagePrefix.empty(carousels).extended(carousels, *above)
    changed = [PagePrefix.empty(carousels).extended(carousels, *_best_insertion(carousels, (*above, *below)))]
    for index, other in enumerate(below):
        changed.append(prefix.extended(carousels, other, *below[:index], carousel, *below[index + 1 :]))
    best = page
    for candidate in changed:
        if candidate.score > best.score * (1 + ROUNDING):
            best = candidate
    return best


def _best_insertion(carousels: CandidateCarousels, order: tuple[int, ...]) -> tuple[int, ...]:
    """The order with the carousel inserted that gives the largest score, at the best row."""
    prefix = PagePrefix.empty(carousels)
    whole = prefix.extended(carousels, *order)
    best, best_order = -1.0, order
    for row in range(len(order) + 1):
        # users who have the inserted carousel see the ones from this row on moved down, the others do not
        moved_down = replace(prefix, row_count=prefix.row_count + 1).extended(carousels, *order[row:])
        moved = carousels.sum_by_user(moved_down.reached - whole.reached) / len(carousels.users)
        scores = whole.score + carousels.sum_by_carousel(carousels.pair_gains(moved_down.reached, prefix.row_count))
        scores += [available @ moved for available in carousels.available]
        scores[list(order)] = -1.0
        carousel = int(np.argmax(scores >= scores.max() * (1 - ROUNDING)))  # ties go to the first by name
        if scores[carousel] > best * (1 + ROUNDING):
            best, best_order = float(scores[carousel]), (*order[:row], carousel, *order[row:])
        prefix = prefix.extended(carousels, *order[row : row + 1])
    return best_order


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
