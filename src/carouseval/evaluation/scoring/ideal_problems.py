"""Ideal pages of many users or pages at once, by the same rules as the pages themselves.

A *problem* lists the relevant items, the categories each belongs to, how many cells each category may fill, and the
rows open to them. Judged ideals have one problem per judgment set (or per page, where rows are pinned), displayed
ideals one per page. Items of several categories count once, which couples rows: solved exactly
(native/search/branch_and_bound.h) up to a fixed number of steps, beyond which a proven upper bound is used instead.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from carouseval import _native
from carouseval.errors import DataError
from carouseval.evaluation.plan import ScoringPlan
from carouseval.evaluation.reading.ids import Codes
from carouseval.evaluation.reading.judged_data import JudgedData
from carouseval.evaluation.reading.page_batch import PageBatch
from carouseval.metrics.grid import Array, IntArray
from carouseval.tables.added_errors import AddedError

_SMALLER = 128  # by how many powers of two gains near the largest float are made smaller


@dataclass(frozen=True)
class IdealSolution:
    """The best page of each problem, and a proven bound; they are equal unless the search was cut short."""

    best: Array
    bound: Array
    row: NDArray[np.int32]  # of every category, from 0; -1: not shown
    category: NDArray[np.int32]  # of every item, the one it counts in; -1: not shown

    @property
    def bounded(self) -> NDArray[np.bool_]:
        return self.bound > self.best


@dataclass(frozen=True)
class IdealProblems:
    """Problems one after the other; items and categories are numbered within each."""

    gain: Array  # per item
    judgment: IntArray  # per item
    item_offsets: IntArray
    memberships: NDArray[np.int32]  # the categories of every item
    membership_offsets: IntArray
    slots: NDArray[np.int32]  # per category
    pinned: NDArray[np.int32]  # per category: its row from 0, or -1
    category: Codes  # per category
    category_offsets: IntArray
    open: NDArray[np.int32]  # per problem: how many rows from the top categories may take
    strays: NDArray[np.int32]  # per problem: relevant items without a category

    def spread(self, once: bool) -> "IdealProblems":
        """Where items count every time, a copy of each item per category; else the same."""
        if once:
            return self
        copies = np.diff(self.membership_offsets)
        item_offsets = self.membership_offsets[self.item_offsets]
        return replace(
            self,
            gain=np.repeat(self.gain, copies),
            judgment=np.repeat(self.judgment, copies),
            item_offsets=item_offsets,
            membership_offsets=np.arange(len(self.memberships) + 1),
        )

    def filled(self, solution: "IdealSolution") -> IntArray:
        """How many items each category shows on its ideal page."""
        problem = np.repeat(np.arange(len(self.open)), np.diff(self.item_offsets))
        placed = solution.category >= 0
        index = self.category_offsets[problem[placed]] + solution.category[placed]
        return np.bincount(index, minlength=len(self.slots))

    def solve(self, weights: Array, tolerance: float, work_limit: int, threads: int = 1) -> IdealSolution:
        """The best page of every problem, each item counted once; ``work_limit`` is in steps, for equal results."""
        solution = self._solve(weights, tolerance, work_limit, threads, 0)
        if not np.isfinite(solution.bound).all():
            solution = self._solve(weights, tolerance, work_limit, threads, _SMALLER)
        if not np.isfinite(solution.bound).all():
            raise too_large(self.gain)
        return solution

    def _solve(self, weights: Array, tolerance: float, work_limit: int, threads: int, smaller: int) -> IdealSolution:
        # scaled by a power of two to near 1, for which the solver's tolerances are made; no digit changes
        exponent = int(np.frexp(weights.max())[1])
        best, bound, row, category = _native.candidate_ideals(
            np.ldexp(self.gain, -smaller) if smaller else self.gain,
            self.item_offsets,
            self.memberships,
            self.membership_offsets,
            self.slots,
            self.pinned,
            self.category_offsets,
            self.open,
            np.ldexp(weights, -exponent),
            tolerance,
            work_limit,
            threads,
        )
        with np.errstate(over="ignore"):
            return IdealSolution(np.ldexp(best, exponent + smaller), np.ldexp(bound, exponent + smaller), row, category)


@dataclass(frozen=True)
class _TooLarge:
    """Gains that cannot be added up."""

    largest: float
    kind = "judgments: sums"

    def __add__(self, other: "_TooLarge") -> "_TooLarge":
        return max(self, other, key=lambda gains: gains.largest)

    def __str__(self) -> str:
        return (
            "judgments: gains times weights add up to more than a float holds; the largest gain is "
            f"{self.largest:g}. Rescale the relevances."
        )


def too_large(gains: Array) -> DataError:
    """The error for gains that cannot be added up."""
    return AddedError(_TooLarge(float(gains.max())))


def judged_problems(
    judged: JudgedData, gain: Array, plan: ScoringPlan, grid: int, judgment_sets: Codes
) -> IdealProblems:
    """For each judgment set, all its relevant items in each of their categories."""
    nothing = np.zeros(len(judgment_sets) + 1, np.int64), np.empty((0, 3), np.uint32)
    return _gather(judged, gain, plan, grid, judgment_sets, judged.judgments.user[judgment_sets], nothing)


def pinned_problems(judged: JudgedData, gain: Array, plan: ScoringPlan, grid: int, pages: PageBatch) -> IdealProblems:
    """The same for single pages, whose pinned rows stay where they are."""
    page, row = np.nonzero(pages.pinned)
    offsets = np.concatenate([[0], np.cumsum((pages.pinned > 0).sum(axis=1))]).astype(np.int64)
    pins = np.stack([row, pages.category[page, row], pages.pinned[page, row]], axis=1)
    pins = np.ascontiguousarray(pins, dtype=np.uint32)
    return _gather(judged, gain, plan, grid, pages.judgment_set, pages.user, (offsets, pins))


def _gather(
    judged: JudgedData,
    gain: Array,
    plan: ScoringPlan,
    grid: int,
    judgment_sets: Codes,
    users: Codes,
    pins: tuple[IntArray, NDArray[np.uint32]],
) -> IdealProblems:
    """``pins`` holds, per problem, offsets into lines of (row from 0, category, capacity)."""
    judgments, membership = judged.judgments, judged.membership
    assert membership is not None
    arrays = _native.gather_candidates(
        judgment_sets, users, judgments.offsets, judgments.item, gain, membership.arrays, membership.sizes,
        judged.carousels.ideal_arrays(grid), *pins, *plan.grids[grid].shape,
    )  # fmt: skip
    return IdealProblems(*arrays)


def categorised_items(judged: JudgedData, gain: Array, plan: ScoringPlan) -> IntArray:
    """How many relevant items of each judgment set have a category that its user has."""
    judgments, membership = judged.judgments, judged.membership
    assert membership is not None
    if membership.personal or judged.carousels.restricted.any():
        judgment_sets = np.arange(len(judgments), dtype=np.uint32)
        return np.diff(judged_problems(judged, gain, plan, 0, judgment_sets).item_offsets)
    categories = np.append(np.diff(membership.arrays.offsets), 0)  # items may be unknown
    has_category = categories[np.minimum(judgments.item, len(categories) - 1)] > 0
    sums = np.concatenate([[0], np.cumsum(has_category & (gain > 0), dtype=np.int64)])
    return np.asarray(np.diff(sums[judgments.offsets]))


def displayed_problems(pages: PageBatch, gain: Array, duplicates: str) -> IdealProblems:
    """For each page, its own items: rows are the categories, whatever their labels, as long as their last column."""
    page = pages.hit_page
    judgment, row = pages.hit_judgment, pages.hit_cells()[0]
    gaining = gain[judgment] > 0
    page, judgment, row = page[gaining], judgment[gaining], row[gaining]
    if duplicates == "every":
        item, memberships = np.arange(len(page)), row
        first = item
    else:
        # an item once a page, in any of the rows that show it
        keys = np.stack([page, judgment], axis=1)
        order = np.lexsort((row, judgment, page))
        keys, sorted_row = keys[order], row[order]
        new_item = np.ones(len(keys), bool)
        new_item[1:] = (keys[1:] != keys[:-1]).any(axis=1)
        new_membership = new_item.copy()
        new_membership[1:] |= sorted_row[1:] != sorted_row[:-1]
        first = order[new_item]
        item, memberships = (np.cumsum(new_item) - 1)[new_membership], sorted_row[new_membership]
    rows = pages.length.shape[1]
    used = (pages.length > 0) * np.arange(1, rows + 1)
    height = used.max(axis=1, initial=0)
    listed = np.arange(rows) < height[:, None]
    pinned = np.where(pages.pinned > 0, np.arange(rows), -1)
    return IdealProblems(
        gain=gain[judgment[first]],
        judgment=judgment[first],
        item_offsets=_offsets(page[first], len(pages)),
        memberships=memberships.astype(np.int32),
        membership_offsets=_offsets(item, len(first)),
        slots=pages.length[listed].astype(np.int32),
        pinned=pinned[listed].astype(np.int32),
        category=pages.category[listed],
        category_offsets=np.concatenate([[0], np.cumsum(height)]).astype(np.int64),
        open=height.astype(np.int32),
        strays=np.zeros(len(pages), np.int32),
    )


def rows_fixed(problems: IdealProblems) -> IdealProblems:
    """The same with every row fixed: only the order inside rows is free."""
    sizes = np.diff(problems.category_offsets)
    rows = np.arange(len(problems.slots)) - np.repeat(problems.category_offsets[:-1], sizes)
    return replace(problems, pinned=rows.astype(np.int32))


def _offsets(sorted_codes: IntArray, count: int) -> IntArray:
    return np.concatenate([[0], np.cumsum(np.bincount(sorted_codes, minlength=count))]).astype(np.int64)


@dataclass(frozen=True)
class IdealCells:
    """The cells of ideal pages: one entry per item shown."""

    problem: IntArray
    row: IntArray
    col: IntArray
    judgment: IntArray
    gain: Array
    category: Codes


def ideal_cells(problems: IdealProblems, solution: IdealSolution, weights: Array) -> IdealCells:
    """The ideal pages themselves, for problems whose items count once: larger gains on larger weights of each row."""
    problem = np.repeat(np.arange(len(problems.open)), np.diff(problems.item_offsets))
    category = problems.category_offsets[problem] + solution.category
    placed = solution.category >= 0
    placed_items = np.flatnonzero(placed & (solution.row[np.where(placed, category, 0)] >= 0))
    problem, category, gain = problem[placed_items], category[placed_items], problems.gain[placed_items]
    row, slots = solution.row[category].astype(np.int64), problems.slots[category].astype(np.int64)
    order = np.lexsort((placed_items, -gain, row, problem))
    problem, row, slots = problem[order], row[order], slots[order]
    first = np.ones(len(order), bool)
    first[1:] = (row[1:] != row[:-1]) | (problem[1:] != problem[:-1])
    rank = np.arange(len(order)) - np.maximum.accumulate(np.where(first, np.arange(len(order)), 0))
    fits = rank < slots
    problem, row, slots, rank, order = problem[fits], row[fits], slots[fits], rank[fits], order[fits]
    # the column of the r-th largest weight among a row's first m cells
    by_weight = {int(m): np.argsort(-weights[:, :m], axis=1, kind="stable") for m in np.unique(slots)}
    col = np.empty(len(order), np.int64)
    for m, columns in by_weight.items():
        here = slots == m
        col[here] = columns[row[here], rank[here]]
    item = placed_items[order]
    return IdealCells(
        problem, row, col, problems.judgment[item], problems.gain[item], problems.category[category[order]]
    )


def unconstrained(
    offsets: IntArray, gain: Array, weights: Array, copies: NDArray[np.int32] | None = None, threads: int = 1
) -> Array:
    """The largest gains on the largest weights, group by group."""
    times = np.ones(len(gain), np.int32) if copies is None else copies
    descending = np.ascontiguousarray(np.sort(weights, axis=None)[::-1])
    gain = np.ascontiguousarray(gain)
    best = _native.largest_first(offsets, gain, times, descending, threads)
    if not np.isfinite(best).all():
        smaller = np.ldexp(gain, -_SMALLER)
        with np.errstate(over="ignore"):
            best = np.ldexp(_native.largest_first(offsets, smaller, times, descending, threads), _SMALLER)
    if not np.isfinite(best).all():
        raise too_large(gain)
    return best
