"""CandidateCarousels that may be put on a page, and what each would add to it.

A page's score is linear in its items once each counts where it weighs most, so all that is needed of a carousel are its
*hits*, cells whose item gains something: putting it on a row raises each such item to what it is worth there, if that
is more than what the page has made of it already. Worths are shares of the mean score over users, all by one
denominator per user.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from carouseval.metrics.grid import Array, IntArray


@dataclass(frozen=True, eq=False)
class CurrentPage:
    """What is on everybody's page: where each judged item stands that gains, and the last row."""

    judgment: IntArray
    row: IntArray  # from 0
    col: IntArray
    last: IntArray  # per user: how many rows there are
    pinned: IntArray  # per user: the last pinned row, from 1; 0 where there is none

    def moved(self, top: IntArray, users: IntArray) -> "CurrentPage":
        """The page with the rows from ``top`` on (per user, from 0) one lower; ``users`` are those of the hits."""
        return replace(self, row=self.row + (self.row >= top[users]))


@dataclass(frozen=True, eq=False)
class CandidateCarousels:
    """Candidates by name, their hits, and everything they are judged by.

    Users are those with a judged item that gains, numbered from 0 as in ``users``. Hits are sorted by (carousel,
    judgment); ``firsts`` says where each such pair begins, as a carousel may show an item twice.
    """

    metric: str
    names: list[Any]  # in their own order
    users: pl.Series
    cells: pl.DataFrame  # user_id, carousel, col, item_id, [category], of everyone
    weights: Array  # (rows, cols)
    page: CurrentPage
    has: NDArray[np.bool_]  # (carousels, users)
    hit_carousel: IntArray
    hit_judgment: IntArray
    hit_col: IntArray
    firsts: IntArray
    owner: IntArray  # per judgment: its user, -1 where nobody is scored
    worth: Array  # per judgment: gain / ideal / number of users
    counts: dict[str, int]
    config: dict[str, Any]

    @cached_property
    def carousel(self) -> IntArray:
        """The carousel of every pair of carousel and item."""
        return self.hit_carousel[self.firsts]

    @cached_property
    def judgment(self) -> IntArray:
        """The judgment of every pair."""
        return self.hit_judgment[self.firsts]

    @cached_property
    def user(self) -> IntArray:
        """The user of every pair."""
        return self.owner[self.judgment]

    def value(self, row: IntArray) -> Array:
        """What every pair is worth where each user sees carousels on a row of their own (from 0)."""
        there = self._hit_worth * self.weights[row[self._hit_user], self.hit_col]
        return there if len(self.firsts) == len(there) else np.maximum.reduceat(there, self.firsts)

    @cached_property
    def _hit_worth(self) -> Array:
        return self.worth[self.hit_judgment]

    @cached_property
    def _hit_user(self) -> IntArray:
        return self.owner[self.hit_judgment]

    def reached(self, page: CurrentPage) -> Array:
        """What a page makes of every judgment: an item counts once, where it weighs most."""
        best = np.zeros(len(self.worth))
        np.maximum.at(best, page.judgment, self.worth[page.judgment] * self.weights[page.row, page.col])
        return best

    def added(self, reached: Array, row: IntArray) -> Array:
        """What every pair adds to a page that has reached so much, on a row for each user."""
        return np.maximum(0.0, self.value(row) - reached[self.judgment])

    def value_of(self, k: int, row: IntArray) -> tuple[IntArray, Array]:
        """The judgments that one carousel hits, and what it is worth to each."""
        begin, end = np.searchsorted(self.hit_carousel, [k, k + 1])
        one, firsts = slice(begin, end), self.firsts[(self.firsts >= begin) & (self.firsts < end)] - begin
        there = self._hit_worth[one] * self.weights[row[self._hit_user[one]], self.hit_col[one]]
        return self.hit_judgment[one][firsts], np.maximum.reduceat(there, firsts) if len(there) else there

    def by_carousel(self, pairs: Array) -> Array:
        """Sums over each carousel's pairs."""
        return _sums(self.carousel, pairs, len(self.names))

    def per_user(self, judgments: Array) -> Array:
        """Sums over each user's judgments, in scores of that user."""
        mine = self.owner >= 0
        sums: Array = _sums(self.owner[mine], judgments[mine], len(self.users)) * len(self.users)
        return sums

    def by_user(self, pairs: Array) -> Array:
        """Sums over each user's pairs of each carousel, (users, carousels), in scores of that user."""
        flat = _sums(self.user * len(self.names) + self.carousel, pairs, len(self.users) * len(self.names))
        sums: Array = flat.reshape(len(self.users), len(self.names)) * len(self.users)
        return sums


def _sums(at: IntArray, values: Array, count: int) -> Array:
    sums: Array = np.bincount(at, values, count).astype(np.float64)
    return sums
