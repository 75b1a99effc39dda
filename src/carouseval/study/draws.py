"""Random carousels and pairs of layouts of them, in the authors' stream and in a fast one."""

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from carouseval import _native
from carouseval.metric.grid import Grid
from carouseval.metric.pages import thread_count

TOP_GRADE = 5  # relevant items are graded 1..5 in the graded mode

_AT_ONCE, _FAST_AT_ONCE = 4096, 32768  # trials whose layouts are held at a time

Layouts: TypeAlias = tuple[NDArray[np.uint8], NDArray[np.uint8]]


class Draws:
    """Pairs of layouts as stacks of grades, (trials, rows, cols)."""

    def __init__(self, graded: bool, grid: Grid, share: float) -> None:
        self.graded, self.rows, self.cols, self.share = graded, grid.rows, grid.cols, share

    def as_the_paper(self, seed: int, trials: int) -> Iterator[Layouts]:
        """The authors' stream, draw for draw; filled into chunks so that scoring costs little beside it."""
        rng = np.random.default_rng(seed)
        ranks = np.arange(self.cols)
        grades = np.zeros((self.rows, self.cols), np.uint8)
        for begin in range(0, trials, _AT_ONCE):
            size = min(_AT_ONCE, trials - begin)
            stacks = np.empty((2, size, self.rows, self.cols), np.uint8)
            for trial in range(size):
                if self.graded:
                    grades[:] = 0
                    for row in grades:
                        relevant = min(max(int(rng.binomial(self.cols, self.share)), 1), self.cols - 1)
                        row[:relevant] = rng.integers(1, TOP_GRADE + 1, size=relevant)
                else:
                    counts = rng.binomial(self.cols, self.share, size=self.rows).clip(1, self.cols - 1)
                    grades = (ranks < counts[:, None]).view(np.uint8)
                for stack in stacks:
                    rng.permuted(grades[rng.permutation(self.rows)], axis=1, out=stack[trial])
            yield stacks[0], stacks[1]

    def fast(self, seed: int, trials: int, threads: int | None) -> Iterator[Layouts]:
        """Whole chunks at a time; every trial has a stream of its own, so neither chunks nor threads matter."""
        up_to = chances(self.cols, self.share)
        for first in range(0, trials, _FAST_AT_ONCE):
            size = min(_FAST_AT_ONCE, trials - first)
            grade = TOP_GRADE if self.graded else 1
            yield _native.draw_pairs(seed, first, size, self.rows, self.cols, up_to, grade, thread_count(threads))


def chances(items: int, share: float) -> NDArray[np.uint64]:
    """The chance of at most n of ``items`` relevant ones, for every n, out of 2^64."""
    p, total = Fraction(share), Fraction(0)
    chances = []
    for n in range(items + 1):
        total += math.comb(items, n) * p**n * (1 - p) ** (items - n)
        chances.append(min(int(total * 2**64), 2**64 - 1))
    return np.array(chances, dtype=np.uint64)
