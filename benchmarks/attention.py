"""Speed of models of attention, as ratios in the same run: chains against dense algebra, fits by likelihood against
scipy.optimize.minimize over the same likelihood written cell by cell.

.venv/bin/python benchmarks/attention.py           about a minute
.venv/bin/python benchmarks/attention.py --quick   fewer repeats
"""

import argparse
import math
import os
import statistics
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from scipy.optimize import minimize
from threadpoolctl import threadpool_limits

import carouseval as cv
from carouseval import _native
from carouseval.attention import Examination, recgaze_counts
from carouseval.attention.likelihood import bootstrap_fit, fit_likelihood
from carouseval.metrics.grid import Array
from timing import best_of, interleaved

THREADS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
SIZES = (10, 15), (20, 24), (40, 30)
PAGES = 3  # of a carousel, seen one at a time
METHODS = None, "L-BFGS-B", "Nelder-Mead"  # None: what minimize takes if it is told nothing, BFGS
SAMPLES = 1000


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


def plain_likelihood(seen: Examination, page_size: int = 5) -> Callable[[Sequence[float]], float]:
    """What a minimiser takes: minus the log-likelihood of six log-odds, or of eight with w and sigma1_top."""
    counts, screens = seen.counts.tolist(), seen.screens

    def loss(at: Sequence[float]) -> float:
        e, kappa, beta, sigma1, sigma2, rho, *more = (1 / (1 + math.exp(-x)) for x in at)
        w, sigma1_top = more or (0.0, sigma1)
        total = 0.0
        for i, row in enumerate(counts):
            reached, swipe = e * kappa**i, sigma1 if i else sigma1_top
            for j, count in enumerate(row):
                page, left = divmod(j, page_size)
                right = page_size - 1 - left
                if page == 0:
                    chance = reached * (1 - (1 - beta**left) * (1 - w * beta**right))
                else:
                    chance = reached * swipe * sigma2 ** (page - 1) * rho**right
                total += count * math.log(chance) + (screens - count) * math.log(1 - chance)
        return -total

    return loss


def fits(repeats: int) -> None:
    """All of a fit, from several starts, with intervals and scores, against one minimisation from one start."""
    seen = recgaze_counts("bratislava")
    loss = plain_likelihood(seen)
    for name in ("six", "edges, first row"):
        fit = fit_likelihood(seen, name)
        start = np.full(len(fit.values), math.log(0.8 / 0.2))
        for method in METHODS:
            ours, theirs = interleaved(
                partial(fit_likelihood, seen, name),
                partial(minimize, loss, start, method=method),
                repeats,
                statistics.median,
            )
            reached = -minimize(loss, start, method=method).fun
            print(
                f"  {name}, {method or 'BFGS'}: {theirs / ours:.0f}x faster "
                f"({ours * 1e3:.2f} ms, {theirs * 1e3:.1f} ms), "
                f"log-likelihood {fit.log_likelihood:.4f}, theirs {reached:.4f}"
            )
        ours = best_of(partial(bootstrap_fit, seen, fit, samples=SAMPLES))
        theirs = SAMPLES * best_of(partial(minimize, loss, start, method="L-BFGS-B"))
        print(f"  {name}, a bootstrap of {SAMPLES:,} samples: {theirs / ours:.0f}x faster than L-BFGS-B ({ours:.2f} s)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer repeats")
    quick = parser.parse_args().quick
    print(f"carouseval {cv.__version__}, NumPy {np.__version__}, {THREADS} threads")
    print("Weights of a chain of browsing people, one a call on one thread, against numpy.linalg.inv (medians):")
    chains(100 if quick else 1000)
    print("fit_likelihood on Bratislava's counts, against scipy.optimize.minimize over a plain likelihood (medians):")
    with threadpool_limits(1):  # of BLAS, whose threads on small matrices only wait for each other
        fits(5 if quick else 25)


if __name__ == "__main__":
    main()
