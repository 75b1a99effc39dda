"""Local search: a carousel of a page is moved or replaced, or two rows are exchanged, while that raises the score."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from carouseval.building.candidate_carousels import ROUNDING, CandidateCarousels
from carouseval.building.order_search import PagePrefix

_MAX_SWEEPS = 20  # over all rows; never a clock, so that results do not depend on the machine


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
    for at, other in enumerate(below):
        changed.append(prefix.extended(carousels, other, *below[:at], carousel, *below[at + 1 :]))
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
