"""Pages filled row by row for all users at once: which of a user's categories comes next, and which items it shows."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from carouseval.metrics.grid import Array, Grid, IntArray

_NOTHING = np.iinfo(np.int64).max  # sorts after all rows and items


@dataclass(frozen=True)
class UserCategories:
    """The items that may be shown, grouped by user and category, best score first; a *group* is one such pair.

    Users are 0, 1, 2, ...; items and categories are numbered in the order of their ids.
    """

    line: IntArray  # per candidate: the line of its score, the same in all categories of an item
    item: IntArray  # per candidate
    score: Array  # per candidate
    begin: IntArray  # per group: its first candidate
    end: IntArray  # per group: one past its last candidate
    user: IntArray  # per group
    category: IntArray  # per group

    @classmethod
    def from_candidates(cls, candidates: pl.DataFrame) -> "UserCategories":
        """From columns line, user, item, category and score, with lines numbered from each user's best score on."""
        candidates = candidates.sort("user", "category", "line")
        line, item, user, category = (
            candidates[name].cast(pl.Int64).to_numpy() for name in ("line", "item", "user", "category")
        )
        is_first = np.ones(len(line), bool)
        is_first[1:] = (user[1:] != user[:-1]) | (category[1:] != category[:-1])
        begin = np.flatnonzero(is_first)
        end = np.append(begin[1:], len(line)).astype(np.int64)
        return cls(line, item, candidates["score"].to_numpy(), begin, end, user[begin], category[begin])

    def values(self, order: str, cols: int) -> Array:
        """The value of each group: the "best", "mean" or "sum" of its ``cols`` best scores."""
        if order == "best":
            return self.score[self.begin]
        total = np.zeros(len(self.begin))
        length = np.minimum(self.end - self.begin, cols)
        with np.errstate(over="ignore"):  # sums too large for a float tie
            for place in range(int(length.max(initial=0))):  # best first, so that sums are always the same to the bit
                longer = length > place
                total[longer] += self.score[self.begin[longer] + place]
        return total / length if order == "mean" else total

    def above_lowest(self) -> Array:
        """The score of each candidate, above its user's lowest score if that is negative."""
        owner = np.repeat(self.user, self.end - self.begin)
        lowest = np.zeros(int(self.user.max(initial=-1)) + 1)
        np.minimum.at(lowest, owner, self.score)
        with np.errstate(over="ignore"):
            return self.score - lowest[owner]

    def ranked(self, value: Array) -> IntArray:
        """All groups by user, the largest value first; ties by the best item's id, then by category."""
        return np.lexsort((self.category, self.item[self.begin], -value, self.user))


@dataclass
class CategoryQueue:
    """Each user's groups that wait for a row, in order."""

    group: IntArray  # by user, the next one first
    row: IntArray  # per group: the earliest row it may take while groups of the other queue wait
    next: IntArray  # per user: the position of the next group; advances
    end: IntArray  # per user

    @classmethod
    def from_groups(cls, group: IntArray, row: IntArray, user: IntArray, users: int) -> "CategoryQueue":
        """A queue of groups sorted by ``user``."""
        stops = np.concatenate([[0], np.cumsum(np.bincount(user, minlength=users))]).astype(np.int64)
        # one more at the end, so that the next group of an empty queue can be looked up
        return cls(np.append(group, 0), np.append(row, _NOTHING), stops[:-1].copy(), stops[1:])

    def is_waiting(self, users: IntArray) -> NDArray[np.bool_]:
        """Whether each user has a group left."""
        return self.next[users] < self.end[users]

    def waiting(self, users: IntArray) -> tuple[IntArray, IntArray]:
        """The positions of all groups that wait, and the index in ``users`` of each one's user."""
        return _ranges(self.next[users], self.end[users] - self.next[users])

    def move_to_front(self, users: IntArray, position: IntArray) -> None:
        """Exchange each user's next group with the one at ``position``."""
        front = self.next[users]
        self.group[front], self.group[position] = self.group[position], self.group[front]


@dataclass
class _ShownItems:
    """The items that pages show so far, and what groups would show on the next row."""

    groups: UserCategories
    cols: int
    unique_items: bool
    is_shown: NDArray[np.bool_]  # per line of scores

    def next_row(self, group: IntArray, row: int) -> tuple[IntArray, IntArray, IntArray]:
        """The best candidates of each group for a row: candidate, index of its group in ``group``, and column."""
        # the rows above cannot have used more of a group's items than this
        reach = np.minimum(
            self.groups.end[group] - self.groups.begin[group], self.cols * (row if self.unique_items else 1)
        )
        candidate, owner = _ranges(self.groups.begin[group], reach)
        if self.unique_items:
            is_left = ~self.is_shown[self.groups.line[candidate]]
            candidate, owner = candidate[is_left], owner[is_left]
        count = np.bincount(owner, minlength=len(group))
        col = np.arange(len(candidate)) - (np.cumsum(count) - count)[owner] + 1
        fits = col <= self.cols
        return candidate[fits], owner[fits], col[fits]

    def ranked(self, group: IntArray, row: int, scores: Array, weights: Array) -> IntArray:
        """Indices of groups by user, the best for a row first: by the weighted sum of scores that it would newly show.

        Ties go by the id of the row's first item, then by category.
        """
        candidate, owner, col = self.next_row(group, row)
        new = np.where(self.is_shown[self.groups.line[candidate]], 0.0, scores[candidate] * weights[col - 1])
        with np.errstate(over="ignore"):  # sums too large for a float tie
            value = np.bincount(owner, new, len(group))
        first = np.full(len(group), _NOTHING)
        first[owner[col == 1]] = self.groups.item[candidate[col == 1]]
        return np.lexsort((self.groups.category[group], first, -value, self.groups.user[group]))


def fill_rows(
    groups: UserCategories,
    free: CategoryQueue,
    pinned: CategoryQueue,
    grid: Grid,
    unique_items: bool,
    min_items: int,
    weights: Array | None,
    progress: Callable[[int, int], None] | None = None,
) -> Iterator[pl.DataFrame]:
    """The cells of one row after another: user, row, col, item, category, pinned.

    A pinned group takes its row when the row comes, or when nothing else is left; a group with fewer than ``min_items``
    items left is skipped. With ``weights`` of the grid, the next free group is the best one for the row by them.
    """
    page_items = _ShownItems(groups, grid.cols, unique_items, np.zeros(int(groups.line.max(initial=-1)) + 1, bool))
    scores = groups.above_lowest()
    for row in range(1, grid.rows + 1):
        users = np.arange(len(free.next))  # those whose row is still to be filled
        while len(users):
            has_free, has_pinned = free.is_waiting(users), pinned.is_waiting(users)
            takes_pinned = has_pinned & ((pinned.row[pinned.next[users]] <= row) | ~has_free)
            has_any = has_free | takes_pinned
            users, takes_pinned = users[has_any], takes_pinned[has_any]
            if not len(users):
                break
            if weights is not None:
                position, owner = free.waiting(users[~takes_pinned])
                ranked = page_items.ranked(free.group[position], row, scores, weights[row - 1])
                is_first = np.diff(owner, prepend=-1) > 0  # positions and ranks are both by user
                free.move_to_front(users[~takes_pinned], position[ranked[is_first]])
            group = np.where(takes_pinned, pinned.group[pinned.next[users]], free.group[free.next[users]])
            pinned.next[users[takes_pinned]] += 1
            free.next[users[~takes_pinned]] += 1
            candidate, owner, col = page_items.next_row(group, row)
            is_filled = np.bincount(owner, minlength=len(group)) >= min_items
            kept = is_filled[owner]
            candidate, owner, col = candidate[kept], owner[kept], col[kept]
            page_items.is_shown[groups.line[candidate]] = True
            cells = {"user": users[owner], "row": np.full(len(candidate), row), "col": col}
            cells |= {"item": groups.item[candidate], "category": groups.category[group[owner]]}
            yield pl.DataFrame(cells | {"pinned": takes_pinned[owner]})
            users = users[~is_filled]
        if progress is not None:
            progress(row, grid.rows)


def _ranges(begin: IntArray, length: IntArray) -> tuple[IntArray, IntArray]:
    """All numbers of several ranges, and the index of each one's range."""
    owner = np.repeat(np.arange(len(begin)), length)
    return np.arange(len(owner)) + (begin - (np.cumsum(length) - length))[owner], owner
