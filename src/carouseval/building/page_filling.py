"""Pages filled row by row for all users at once: which of a user's categories comes next, and which items it shows."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from carouseval.metrics.grid import Array, Grid, IntArray

_LAST = np.iinfo(np.int64).max


@dataclass(frozen=True)
class Groups:
    """What may be shown, best first within each group; a *group* is one category of one user.

    Users are 0, 1, 2, ...; items and categories are counted in the order of their ids.
    """

    line: IntArray  # per candidate: the score it comes from, the same in all categories of an item
    item: IntArray  # per candidate
    score: Array  # per candidate
    begin: IntArray  # per group: its candidates
    end: IntArray
    user: IntArray  # per group
    category: IntArray  # per group

    @classmethod
    def of(cls, candidates: pl.DataFrame) -> "Groups":
        """From columns line, user, item, category and score, where lines are numbered from the user's best score on."""
        sorted_ = candidates.sort("user", "category", "line")
        line, item, user, category = (
            sorted_[name].cast(pl.Int64).to_numpy() for name in ("line", "item", "user", "category")
        )
        new = np.ones(len(line), bool)
        new[1:] = (user[1:] != user[:-1]) | (category[1:] != category[:-1])
        begin = np.flatnonzero(new)
        end = np.append(begin[1:], len(line)).astype(np.int64)
        return cls(line, item, sorted_["score"].to_numpy(), begin, end, user[begin], category[begin])

    def values(self, order: str, cols: int) -> Array:
        """What each group is worth by the rule "best", "mean" or "sum", of its ``cols`` best scores."""
        if order == "best":
            return self.score[self.begin]
        total = np.zeros(len(self.begin))
        length = np.minimum(self.end - self.begin, cols)
        with np.errstate(over="ignore"):  # what is too large for a float ties
            for place in range(int(length.max(initial=0))):  # from the best on, so that sums have the same bits always
                some = length > place
                total[some] += self.score[self.begin[some] + place]
        return total / length if order == "mean" else total

    def in_order(self, value: Array) -> IntArray:
        """All groups by user, the largest value first; ties by the best item's id, then by category."""
        return np.lexsort((self.category, self.item[self.begin], -value, self.user))


@dataclass
class Queue:
    """Groups that wait for a row, in turn, for each user."""

    group: IntArray  # by user, the next one first
    row: IntArray  # the row that each is meant for; it may not come earlier while others wait
    at: IntArray  # per user: the next group; moves on
    end: IntArray  # per user

    @classmethod
    def of(cls, group: IntArray, row: IntArray, owner: IntArray, users: int) -> "Queue":
        """``owner`` is the user of each group; users stand together."""
        stops = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=users))]).astype(np.int64)
        # one more at the end, so that the next of an empty queue can be looked up
        return cls(np.append(group, 0), np.append(row, _LAST), stops[:-1].copy(), stops[1:])

    def waiting(self, users: IntArray) -> NDArray[np.bool_]:
        return self.at[users] < self.end[users]


def fill(groups: Groups, free: Queue, pinned: Queue, grid: Grid, once: bool, least: int) -> Iterator[pl.DataFrame]:
    """The cells of one row after another: user, row, col, item, category, pinned.

    A pinned group takes its row when the row comes, or when nothing else is left; a group that has fewer than ``least``
    items left is passed over.
    """
    used = np.zeros(int(groups.line.max(initial=-1)) + 1, bool)
    # rows above can have taken so many of a group's items, and no more
    reach = np.minimum(groups.end - groups.begin, grid.cols * (grid.rows if once else 1))
    for row in range(1, grid.rows + 1):
        open_ = np.arange(len(free.at))
        while len(open_):
            others, pins = free.waiting(open_), pinned.waiting(open_)
            due = pins & ((pinned.row[pinned.at[open_]] <= row) | ~others)
            some = others | due
            open_, due = open_[some], due[some]
            if not len(open_):
                break  # nobody without this row has anything left
            group = np.where(due, pinned.group[pinned.at[open_]], free.group[free.at[open_]])
            pinned.at[open_[due]] += 1
            free.at[open_[~due]] += 1
            at, owner, col = _best(groups, group, reach, used, grid.cols)
            enough = np.bincount(owner, minlength=len(group)) >= least
            shown = enough[owner]
            at, owner, col = at[shown], owner[shown], col[shown]
            if once:
                used[groups.line[at]] = True
            cells = {"user": open_[owner], "row": np.full(len(at), row), "col": col, "item": groups.item[at]}
            yield pl.DataFrame(cells | {"category": groups.category[group[owner]], "pinned": due[owner]})
            open_ = open_[~enough]


def _best(
    groups: Groups, chosen: IntArray, reach: IntArray, used: NDArray[np.bool_], cols: int
) -> tuple[IntArray, IntArray, IntArray]:
    """The best unused candidates of chosen groups: where they are, whose (counted in ``chosen``), and their columns."""
    length = reach[chosen]
    before = np.cumsum(length) - length
    owner = np.repeat(np.arange(len(chosen)), length)
    at = np.arange(len(owner)) + (groups.begin[chosen] - before)[owner]
    unused = ~used[groups.line[at]]
    at, owner = at[unused], owner[unused]
    count = np.bincount(owner, minlength=len(chosen))
    col = np.arange(len(at)) - (np.cumsum(count) - count)[owner] + 1
    seen = col <= cols
    return at[seen], owner[seen], col[seen]
