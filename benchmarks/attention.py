"""Speed of models of attention, as ratios against dense algebra in the same run.

.venv/bin/python benchmarks/attention.py           about half a minute
.venv/bin/python benchmarks/attention.py --quick   fewer repeats
"""

import argparse
import os
import statistics

import numpy as np

import carouseval as cv
from carouseval import _native
from carouseval.metric.grid import Array
from timing import interleaved

THREADS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
SIZES = (10, 15), (20, 24), (40, 30)
PAGES = 3  # of a carousel, seen one at a time


def browsing(rows: int, cols: int) -> Array:
    """The chance of every step between the slots of a page, row by row; people leave with what is left over."""
    steps, size = np.zeros((rows * cols, rows * cols)), cols // PAGES
    for row in range(rows):
        for col in range(cols):
            page = col // size
            moves = [
                (row, col + 1, 0.45),
                (row, col - 1, 0.1),
                (
                    row,
                    (page + 1) % PAGES * size + size - 1,
                    0.08,
                ),  # swipe on; the first page follows the last
                (row, (page - 1) * size, 0.04),
                (row + 1, 0, 0.2),
                (row - 1, 0, 0.05),
            ]
            for to, at, chance in moves:
                if 0 <= to < rows and 0 <= at < cols:
                    steps[row * cols + col, to * cols + at] += chance
    return steps


class Page:
    """The same chain for the kernel, as a band, and for dense algebra, with the hub as one more state."""

    def __init__(self, rows: int, cols: int, hub: bool) -> None:
        self.slots = rows * cols
        steps = browsing(rows, cols)
        self.lost = np.full((1, self.slots), 0.03 * hub)
        self.leave = 1 - steps.sum(axis=1)[None] - self.lost
        self.start = np.eye(1, self.slots)
        self.landing = np.tile(np.eye(1, cols), rows) / rows  # the first slot of any row
        origin, target = np.nonzero(steps)
        self.reach = int(abs(target - origin).max())
        self.band = np.zeros((1, self.slots, 2 * self.reach + 1))
        self.band[0, origin, self.reach + target - origin] = steps[origin, target]
        self.steps = np.block([[steps, self.lost.T], [self.landing, np.zeros((1, 1))]]) if hub else steps

    def scan(self) -> Array:
        by_state = self.leave, self.start, self.lost, self.landing
        _, weights = _native.scan_chains(self.band, *by_state, np.arange(self.slots), self.slots, 1)
        return weights.ravel()

    def dense(self) -> Array:
        inverse = np.linalg.inv(np.eye(len(self.steps)) - self.steps)
        return np.asarray((inverse[0] / np.diag(inverse))[: self.slots])


def chains(repeats: int) -> None:
    """One chain a call: the chance that each slot is seen."""
    pages = [(rows, cols, Page(rows, cols, hub)) for rows, cols in SIZES for hub in (False, True)]
    first = 0.0
    for rows, cols, page in pages:
        np.testing.assert_allclose(page.scan(), page.dense(), rtol=1e-10)
        times = max(5, repeats * pages[0][2].slots ** 2 // page.slots**2)
        ours, theirs = interleaved(page.scan, page.dense, times, statistics.median)
        first = first or ours
        print(
            f"  {rows} x {cols}, steps of up to {page.reach}, {'a' if page.lost.any() else 'no'} hub: "
            f"{theirs / ours:.1f}x faster ({ours * 1e6:,.0f} us, {theirs * 1e6:,.0f} us), {ours / first:.1f}x the first"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer repeats")
    quick = parser.parse_args().quick
    print(f"carouseval {cv.__version__}, NumPy {np.__version__}, {THREADS} threads")
    print("Weights of a chain of browsing people, one a call on one thread, against numpy.linalg.inv (medians):")
    chains(100 if quick else 1000)


if __name__ == "__main__":
    main()
