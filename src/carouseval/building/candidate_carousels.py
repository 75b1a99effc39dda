"""Carousels that may be put on a page, and what each would add to its score.

A page's score is linear in its items once each item counts only in its cell of largest weight. So a carousel is
described by its *hits*, the cells whose item has a positive gain: putting it on a row raises every such item to its
value there, if that is more than its value on the page so far. Values are shares of the mean score over users, with one
denominator per user.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from carouseval.metrics.grid import Array, Grid, IntArray

ROUNDING = 1e-12  # a smaller relative difference of scores is rounding


@dataclass(frozen=True, eq=False)
class CurrentPage:
    """The pages of all users: the cells of judged items with a positive gain, and how many rows each page has."""

    judgment: IntArray  # per hit
    row: IntArray  # per hit, from 0
    col: IntArray  # per hit, from 0
    row_count: IntArray  # per user
    last_pinned: IntArray  # per user: the last pinned row, from 1; 0 if there is none

    def with_inserted_row(self, row: IntArray, hit_user: IntArray) -> "CurrentPage":
        """The pages with an empty row inserted at index ``row`` (per user); ``hit_user`` is the user of every hit."""
        return replace(self, row=self.row + (self.row >= row[hit_user]))


@dataclass(frozen=True, eq=False)
class CandidateCarousels:
    """Candidate carousels by name, their hits, and what is needed to score them.

    Users are those with a judged item of positive gain, numbered from 0 as in ``users``. Hits are sorted by (carousel,
    judgment). A *pair* is a carousel and a judgment that it hits; as a carousel may show an item twice, ``pair_start``
    holds the first hit of every pair.
    """

    metric: str
    names: list[Any]  # of the carousels, sorted
    users: pl.Series
    cells: pl.DataFrame  # user_id, carousel, col, item_id, [category], of all users
    grid: Grid
    weights: Array  # (rows, cols)
    page: CurrentPage
    available: NDArray[np.bool_]  # (carousels, users): whether the user has the carousel
    hit_carousel: IntArray
    hit_judgment: IntArray
    hit_col: IntArray
    pair_start: IntArray
    judgment_user: IntArray  # -1 where the user is not scored
    normalized_gain: Array  # per judgment: gain / ideal / number of users
    counts: dict[str, int]
    config: dict[str, Any]

    @cached_property
    def pair_carousel(self) -> IntArray:
        """The carousel of every pair."""
        return self.hit_carousel[self.pair_start]

    @cached_property
    def pair_judgment(self) -> IntArray:
        """The judgment of every pair."""
        return self.hit_judgment[self.pair_start]

    @cached_property
    def pair_user(self) -> IntArray:
        """The user of every pair."""
        return self.judgment_user[self.pair_judgment]

    @cached_property
    def _hit_gain(self) -> Array:
        return self.normalized_gain[self.hit_judgment]

    @cached_property
    def _hit_user(self) -> IntArray:
        return self.judgment_user[self.hit_judgment]

    def pair_values(self, row: IntArray) -> Array:
        """The value of every pair if carousels stand on the given row of each user (from 0)."""
        values = self._hit_gain * self.weights[row[self._hit_user], self.hit_col]
        return values if len(self.pair_start) == len(values) else np.maximum.reduceat(values, self.pair_start)

    def page_values(self, page: CurrentPage) -> Array:
        """The value of every judgment on a page: an item counts once, in its cell of largest weight."""
        best = np.zeros(len(self.normalized_gain))
        np.maximum.at(best, page.judgment, self.normalized_gain[page.judgment] * self.weights[page.row, page.col])
        return best

    def pair_gains(self, reached: Array, row: IntArray) -> Array:
        """What every pair adds on the given row of each user, where judgments have the values ``reached`` already."""
        return np.maximum(0.0, self.pair_values(row) - reached[self.pair_judgment])

    def carousel_values(self, carousel: int, row: IntArray) -> tuple[IntArray, Array]:
        """The judgments that one carousel hits, and the value of each on the given row of each user."""
        begin, end = np.searchsorted(self.hit_carousel, [carousel, carousel + 1])
        hits = slice(begin, end)
        start = self.pair_start[slice(*np.searchsorted(self.pair_start, [begin, end]))] - begin
        values = self._hit_gain[hits] * self.weights[row[self._hit_user[hits]], self.hit_col[hits]]
        return self.hit_judgment[hits][start], np.maximum.reduceat(values, start) if len(values) else values

    def sum_by_carousel(self, values: Array, pairs: IntArray | None = None) -> Array:
        """The sum of values over each carousel's pairs; over some ``pairs`` by number, if given."""
        return _sums(self.pair_carousel if pairs is None else self.pair_carousel[pairs], values, len(self.names))

    def sum_by_user(self, judgments: Array) -> Array:
        """The sum over each user's judgments, as a score of that user."""
        scored = self.judgment_user >= 0
        sums: Array = _sums(self.judgment_user[scored], judgments[scored], len(self.users)) * len(self.users)
        return sums

    def sum_by_user_and_carousel(self, pairs: Array) -> Array:
        """The sum over pairs by user and carousel, (users, carousels), as scores of each user."""
        index = self.pair_user * len(self.names) + self.pair_carousel
        flat = _sums(index, pairs, len(self.users) * len(self.names))
        sums: Array = flat.reshape(len(self.users), len(self.names)) * len(self.users)
        return sums


def _sums(index: IntArray, values: Array, count: int) -> Array:
    sums: Array = np.bincount(index, values, count).astype(np.float64)
    return sums
