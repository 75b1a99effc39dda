"""Random carousels and pairs of layouts of them, drawn as the authors did or faster."""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal, localcontext
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from carouseval import _native
from carouseval.metrics.page_stack import thread_count

TOP_GRADE = 5  # relevant items are graded 1..5 in the graded mode

_AT_ONCE, _FAST_AT_ONCE = 600_000, 5_000_000  # cells of layouts held at a time

LayoutPairs: TypeAlias = tuple[NDArray[np.uint8], NDArray[np.uint8]]


@dataclass(frozen=True)
class Draws:
    """Pairs of layouts as stacks of grades, (trials, rows, cols)."""

    graded: bool
    rows: int
    cols: int
    share: float

    def as_in_paper(self, seed: int, trials: int) -> Iterator[LayoutPairs]:
        """The authors' random draws one by one, collected into chunks that are scored together."""
        rng = np.random.default_rng(seed)
        ranks = np.arange(self.cols)
        grades = np.zeros((self.rows, self.cols), np.uint8)
        for size in self._chunks(trials, _AT_ONCE):
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

    def fast(self, seed: int, trials: int, threads: int | None) -> Iterator[LayoutPairs]:
        """A chunk at a time; every trial has its own random stream, so chunks and threads do not matter."""
        up_to = cumulative_probabilities(self.cols, self.share)
        grade, first = TOP_GRADE if self.graded else 1, 0
        for size in self._chunks(trials, _FAST_AT_ONCE):
            yield _native.draw_pairs(seed, first, size, self.rows, self.cols, up_to, grade, thread_count(threads))
            first += size

    def _chunks(self, trials: int, cells: int) -> Iterator[int]:
        most = max(1, cells // (self.rows * self.cols))
        for begin in range(0, trials, most):
            yield min(most, trials - begin)


def cumulative_probabilities(items: int, share: float) -> NDArray[np.uint64]:
    """The probability of at most n relevant items out of ``items``, for every n, scaled to 2^64."""
    with localcontext() as context:
        context.prec = 60
        p, total, out = Decimal(share), Decimal(0), []
        term = (1 - p) ** items
        for n in range(items + 1):
            total += term
            out.append(min(int(total * 2**64), 2**64 - 1))
            term = term * (items - n) / (n + 1) * p / (1 - p) if p < 1 else Decimal(int(n + 1 == items))
    return np.array(out, dtype=np.uint64)
