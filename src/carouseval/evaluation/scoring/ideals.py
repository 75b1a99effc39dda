"""Ideal pages of many users or pages at once, by the rules that the pages themselves obey.

A *problem* lists the items that gain something, the categories each may stand in, how many cells each category may
fill, and the rows open to them. Judged ideals have one problem per truth (or per page, where rows are pinned),
displayed ideals one per page. Items of several categories count once, which couples rows: solved exactly
(native/branch_and_bound.h) up to a fixed number of steps, beyond which a proven upper bound stands in.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from carouseval import _native
from carouseval.errors import DataError
from carouseval.evaluation.reading.ids import Codes
from carouseval.evaluation.reading.judged_data import JudgedData
from carouseval.evaluation.scoring.page_batch import PageBatch
from carouseval.metrics.grid import Array, Grid
from carouseval.metrics.pages import thread_count

NODE_LIMIT = 10_000  # steps of the search per problem; never a clock, so that results do not depend on the machine
Index = NDArray[np.int64]


@dataclass(frozen=True)
class Solution:
    """The best page found for each problem, and a proven bound; they are equal unless the search was cut short."""

    best: Array
    bound: Array
    row: NDArray[np.int32]  # of every category, from 0; -1: not shown
    home: NDArray[np.int32]  # of every item: the category it counts in; -1: not shown

    @property
    def bounded(self) -> NDArray[np.bool_]:
        return self.bound > self.best


@dataclass(frozen=True)
class Problems:
    """Problems one after the other; items and categories are numbered within each."""

    gain: Array  # per item
    judgment: Index  # per item
    item_offsets: Index
    homes: NDArray[np.int32]
    home_offsets: Index
    slots: NDArray[np.int32]  # per category
    pinned: NDArray[np.int32]  # per category: its row from 0, or -1
    category: Codes  # per category
    category_offsets: Index
    open: NDArray[np.int32]  # per problem: how many rows from the top categories may take
    strays: NDArray[np.int32]  # per problem: items that gain but have no category

    def spread(self, once: bool) -> "Problems":
        """Where items count every time, each of an item's homes holds an item of its own; else the same."""
        if once:
            return self
        homes = np.diff(self.home_offsets)
        item_offsets = self.home_offsets[self.item_offsets]
        return replace(
            self,
            gain=np.repeat(self.gain, homes),
            judgment=np.repeat(self.judgment, homes),
            item_offsets=item_offsets,
            home_offsets=np.arange(len(self.homes) + 1),
        )

    def solve(self, weights: Array, once: bool, node_limit: int = NODE_LIMIT, threads: int | None = None) -> Solution:
        """The best page of every problem."""
        # a power of two brings the weights near 1, where the solver's tolerances are meant to be; it changes no digit
        exponent = int(np.frexp(weights.max())[1])
        best, bound, row, home = _native.candidate_ideals(
            self.gain,
            self.item_offsets,
            self.homes,
            self.home_offsets,
            self.slots,
            self.pinned,
            self.category_offsets,
            self.open,
            np.ldexp(weights, -exponent),
            once,
            node_limit,
            thread_count(threads),
        )
        solution = Solution(np.ldexp(best, exponent), np.ldexp(bound, exponent), row, home)
        if not np.isfinite(solution.bound).all():
            raise DataError("judgments: gains times weights add up to more than a float holds. Rescale the relevances.")
        return solution


def judged_problems(judged: JudgedData, gain: Array, grid: Grid, truths: Codes) -> Problems:
    """What may be shown to the user of each truth: every judged item that gains, in each of its categories."""
    nothing = np.zeros(len(truths) + 1, np.int64), np.empty((0, 2), np.uint32)
    return _gathered(judged, gain, grid, truths, judged.judgments.user[truths], nothing)


def pinned_problems(judged: JudgedData, gain: Array, grid: Grid, pages: PageBatch) -> Problems:
    """The same for single pages: rows that a page pins stay where they are."""
    page, row = np.nonzero(pages.pinned)
    category = pages.category[page, row]
    offsets = np.concatenate([[0], np.cumsum((pages.pinned > 0).sum(axis=1))]).astype(np.int64)
    pins = np.ascontiguousarray(np.stack([row, category], axis=1), dtype=np.uint32)
    return _gathered(judged, gain, grid, pages.truth, pages.user, (offsets, pins))


def _gathered(
    judged: JudgedData, gain: Array, grid: Grid, truths: Codes, users: Codes, pins: tuple[Index, NDArray[np.uint32]]
) -> Problems:
    """``pins`` holds, per problem, offsets into lines of (row from 0, category)."""
    judgments, membership = judged.judgments, judged.membership
    assert membership is not None
    gathered = _native.gather_candidates(
        truths, users, judgments.offsets, judgments.item, gain, membership.arrays, membership.sizes,
        *pins, grid.rows, grid.cols,
    )  # fmt: skip
    return Problems(*gathered)


def displayed_problems(shown: PageBatch, gain: Array, duplicates: str) -> Problems:
    """What each page shows: its rows are the categories, whatever their labels; a row's size is its last column."""
    page = shown.hit_page
    judgment, row = shown.hit_judgment, shown.hit_cells()[0]
    gaining = gain[judgment] > 0
    page, judgment, row = page[gaining], judgment[gaining], row[gaining]
    if duplicates == "every":
        item, homes = np.arange(len(page)), row
        first = item
    else:
        # an item once a page, in any of the rows it stands in
        keys = np.stack([page, judgment], axis=1)
        order = np.lexsort((row, judgment, page))
        keys, sorted_row = keys[order], row[order]
        new_item = np.ones(len(keys), bool)
        new_item[1:] = (keys[1:] != keys[:-1]).any(axis=1)
        new_home = new_item.copy()
        new_home[1:] |= sorted_row[1:] != sorted_row[:-1]
        first = order[new_item]
        item, homes = (np.cumsum(new_item) - 1)[new_home], sorted_row[new_home]
    rows = shown.length.shape[1]
    used = (shown.length > 0) * np.arange(1, rows + 1)
    height = used.max(axis=1, initial=0)
    listed = np.arange(rows) < height[:, None]
    pinned = np.where(shown.pinned > 0, np.arange(rows), -1)
    return Problems(
        gain=gain[judgment[first]],
        judgment=judgment[first],
        item_offsets=_offsets(page[first], len(shown)),
        homes=homes.astype(np.int32),
        home_offsets=_offsets(item, len(first)),
        slots=shown.length[listed].astype(np.int32),
        pinned=pinned[listed].astype(np.int32),
        category=shown.category[listed],
        category_offsets=np.concatenate([[0], np.cumsum(height)]).astype(np.int64),
        open=height.astype(np.int32),
        strays=np.zeros(len(shown), np.int32),
    )


def rows_fixed(problems: Problems) -> Problems:
    """The same with every row where it is: only the order inside rows is free."""
    sizes = np.diff(problems.category_offsets)
    rows = np.arange(len(problems.slots)) - np.repeat(problems.category_offsets[:-1], sizes)
    return replace(problems, pinned=rows.astype(np.int32))


def _offsets(sorted_codes: Index, count: int) -> Index:
    return np.concatenate([[0], np.cumsum(np.bincount(sorted_codes, minlength=count))]).astype(np.int64)


@dataclass(frozen=True)
class IdealCells:
    """Where the items of ideal pages stand: one entry per item shown."""

    problem: Index
    row: Index
    col: Index
    judgment: Index
    gain: Array
    category: Codes


def ideal_cells(problems: Problems, solution: Solution, weights: Array) -> IdealCells:
    """The ideal pages themselves, for problems whose items count once: larger gains on heavier cells of each row."""
    problem = np.repeat(np.arange(len(problems.open)), np.diff(problems.item_offsets))
    category = problems.category_offsets[problem] + solution.home
    shown = np.flatnonzero((solution.home >= 0) & (solution.row[np.where(solution.home >= 0, category, 0)] >= 0))
    problem, category, gain = problem[shown], category[shown], problems.gain[shown]
    row, slots = solution.row[category].astype(np.int64), problems.slots[category].astype(np.int64)
    order = np.lexsort((shown, -gain, row, problem))
    problem, row, slots = problem[order], row[order], slots[order]
    first = np.ones(len(order), bool)
    first[1:] = (row[1:] != row[:-1]) | (problem[1:] != problem[:-1])
    rank = np.arange(len(order)) - np.maximum.accumulate(np.where(first, np.arange(len(order)), 0))
    fits = rank < slots
    problem, row, slots, rank, order = problem[fits], row[fits], slots[fits], rank[fits], order[fits]
    # which column is the r-th heaviest of a row's first m cells
    heaviest = {int(m): np.argsort(-weights[:, :m], axis=1, kind="stable") for m in np.unique(slots)}
    col = np.empty(len(order), np.int64)
    for m, columns in heaviest.items():
        here = slots == m
        col[here] = columns[row[here], rank[here]]
    at = shown[order]
    return IdealCells(problem, row, col, problems.judgment[at], problems.gain[at], problems.category[category[order]])


def unconstrained(
    offsets: Index, gain: Array, weights: Array, copies: NDArray[np.int32] | None = None, threads: int | None = None
) -> Array:
    """The largest gains on the largest weights, group by group."""
    times = np.ones(len(gain), np.int32) if copies is None else copies
    heavy = np.ascontiguousarray(np.sort(weights, axis=None)[::-1])
    return _native.largest_first(offsets, np.ascontiguousarray(gain), times, heavy, thread_count(threads))
