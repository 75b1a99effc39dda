"""Displayed ideals where a repeated item counts where it comes first (``duplicates="first"``).

Unlike with the rule "best", the order of rows decides which copy counts: that in the first row that shows the item. So
the best order is found by a search over sets of rows, place by place (native/search/first_copy_ideal.h). The ideal
under the rule "best" is an upper bound, and its order the first one tried.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from carouseval import _native
from carouseval.evaluation.reading.page_batch import PageBatch
from carouseval.evaluation.scoring.ideal_problems import IdealCells, IdealProblems
from carouseval.metrics.grid import Array

WIDTH = 4096  # sets of rows kept at each place; never a clock, so that results do not depend on the machine


@dataclass(frozen=True)
class FirstOccurrence:
    """Ideals of some pages by the rule "first"."""

    best: Array
    bound: Array
    cells: IdealCells


def first_occurrence_ideals(
    pages: PageBatch, gain: Array, weights: Array, problems: IdealProblems, threads: int
) -> FirstOccurrence:
    """The ideal of every page, a bound on it, and its cells; ``problems`` are those of displayed items."""
    best_rule = problems.solve(weights, tolerance=0.0, work_limit=0, threads=threads)  # a rough bound does
    exponent = int(np.frexp(weights.max())[1])  # scaled by a power of two, weights are at most 1
    best, bound, place, row, col = _native.first_copy_ideals(
        problems.gain,
        problems.item_offsets,
        problems.memberships,
        problems.membership_offsets,
        _copies(pages, gain),
        problems.slots,
        problems.pinned >= 0,
        problems.category_offsets,
        np.ldexp(weights, -exponent),
        np.ldexp(best_rule.bound, -exponent),
        best_rule.row,
        WIDTH,
        threads,
    )
    problem = np.repeat(np.arange(len(problems.open)), np.diff(problems.item_offsets))
    category = problems.category_offsets[problem] + row
    cells = IdealCells(
        problem,
        place[category].astype(np.int64),
        col.astype(np.int64),
        problems.judgment,
        problems.gain,
        problems.category[category],
    )
    return FirstOccurrence(np.ldexp(best, exponent), np.ldexp(bound, exponent), cells)


def _copies(pages: PageBatch, gain: Array) -> NDArray[np.int32]:
    """How often each row of a page shows each of its relevant items, in the order of the memberships of problems."""
    judgment, row = pages.hit_judgment, pages.hit_cells()[0]
    keys = np.stack([pages.hit_page, judgment, row])[:, gain[judgment] > 0]
    keys = keys[:, np.lexsort(keys[::-1])]
    new = np.append(True, (keys[:, 1:] != keys[:, :-1]).any(axis=0))[: keys.shape[1]]
    return np.diff(np.flatnonzero(new), append=keys.shape[1]).astype(np.int32)
