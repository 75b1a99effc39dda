"""Speed of the exact ideal where items have several categories, as ratios against SciPy's MILP in the same run.

.venv/bin/python benchmarks/candidate_ideals.py           everything (some minutes: the rival is slow)
.venv/bin/python benchmarks/candidate_ideals.py --quick   fewer sets, the rival on the small ones only
"""

import argparse
import os
import time
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp

import carouseval as cv
from carouseval import _native
from carouseval.evaluation.plan import ScoringPlan
from carouseval.evaluation.settings import Settings
from timing import best_of

THREADS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
WEIGHTS = cv.discounts.RowPage().weights(cv.RECGAZE)
ROWS, COLS = WEIGHTS.shape
WORK_LIMIT = ScoringPlan.of(Settings()).work_limit
Sets = tuple[Any, Any, Any, Any, Any, Any, Any, Any]


def candidate_sets(count: int, items: int, categories: int, graded: bool, homes: int = 2) -> Sets:
    """The arguments of the kernel up to the weights: every item in as many categories as it has homes."""
    rng = np.random.default_rng(items * categories)
    gains = np.exp2(rng.integers(1, 6, count * items)) - 1 if graded else np.ones(count * items)
    shuffled = np.argsort(rng.random((count * items, categories)), axis=1)[:, :homes]
    return (
        gains,
        np.arange(count + 1) * items,
        np.ascontiguousarray(shuffled, np.int32).ravel(),
        np.arange(count * items + 1) * homes,
        np.full(count * categories, COLS, np.int32),
        np.full(count * categories, -1, np.int32),
        np.arange(count + 1) * categories,
        np.full(count, min(categories, ROWS), np.int32),
    )


def rival(gains: Any, homes: Any, categories: int) -> float:
    """One set by SciPy's MILP: whole numbers say which category stands on which row, items fill ranks of rows."""
    weights = np.sort(WEIGHTS, axis=1)[:, ::-1]
    size = np.minimum(np.bincount(homes.ravel(), minlength=categories), COLS)
    item, cell, worth = [], [], []
    first = np.concatenate([[0], np.cumsum(size * ROWS)])
    for t, k in zip(np.repeat(np.arange(len(gains)), homes.shape[1]), homes.ravel(), strict=True):
        cells = np.arange(size[k] * ROWS)  # row by row, rank by rank
        item.append(np.full(len(cells), t))
        cell.append(first[k] + cells)
        worth.append(gains[t] * weights[:, : size[k]].ravel())
    place = np.concatenate([k * ROWS + np.repeat(np.arange(ROWS), size[k]) for k in range(categories)])
    x = categories * ROWS + np.arange(len(np.concatenate(item)))
    n = int(x[-1]) + 1

    def table(rows: Any, columns: Any, height: int) -> Any:
        return sparse.csr_array((np.ones(len(columns)), (rows, columns)), shape=(height, n))

    places, size_all = np.arange(categories * ROWS), len(place)
    filled = table(np.concatenate(cell), x, size_all) - table(np.arange(size_all), place, size_all)
    found = milp(
        -np.concatenate([np.zeros(len(places)), *worth]),
        integrality=np.arange(n) < len(places),
        bounds=Bounds(0, 1),
        constraints=[
            LinearConstraint(table(np.concatenate(item), x, len(gains)), ub=1),
            LinearConstraint(filled, ub=0),
            LinearConstraint(table(places // ROWS, places, categories), ub=1),
            LinearConstraint(table(places % ROWS, places, ROWS), ub=1),
        ],
        options={"mip_rel_gap": 0},
    )
    return -float(found.fun)


def coupled(quick: bool) -> None:
    print(f"\nExact ideals, items of two categories each, 10x15 grid under d_rpd, {THREADS} threads")
    print(f"at most {WORK_LIMIT:,} steps a set; rival: SciPy's MILP with gap 0 on the first sets")
    for categories in (10, 25):
        for graded in (False, True):
            for items, count, sample in ((10, 20_000, 10), (30, 1_000, 3), (60, 400, 0)):
                count = count // 10 if quick else count
                sets = candidate_sets(count, items, categories, graded)
                start = time.perf_counter()
                best, bound, *_ = _native.candidate_ideals(*sets, WEIGHTS, 0.0, WORK_LIMIT, THREADS)
                each = (time.perf_counter() - start) / count
                ratio = ""
                if items == 10 or (items == 30 and not quick):
                    start = time.perf_counter()
                    for p in range(sample):
                        mine = slice(p * items, (p + 1) * items)
                        found = rival(sets[0][mine], sets[2].reshape(-1, 2)[mine], categories)
                        np.testing.assert_allclose(found, best[p], rtol=1e-5)
                    ratio = f"{(time.perf_counter() - start) / sample / each:9,.0f}x the rival"
                gap = float(((bound - best) / best).max())
                print(
                    f"  {categories} categories, {items} items, {'graded' if graded else 'binary'}"
                    f"   {1 / each:8,.0f} sets/s   {(bound > best).mean():.2%} unproven (gap {gap:.0e})   {ratio}"
                )


def growth(quick: bool) -> None:
    print("\nHow cost grows: graded items of two categories each, 15 categories, per set")
    base = None
    for items in (5, 10, 20, 40, 80):
        count = (200 if quick else 2_000) // (items // 5)
        sets = candidate_sets(count, items, 15, True)
        each = best_of(partial(_native.candidate_ideals, *sets, WEIGHTS, 0.0, WORK_LIMIT, THREADS), 1) / count
        base = base or each
        print(f"  {items:3} items   {each * 1e6:10.0f} us   {each / base:7.1f}x for {items // 5}x the items")
    sets = candidate_sets(200 if quick else 2_000, 20, 15, True)
    one, all_ = (
        best_of(partial(_native.candidate_ideals, *sets, WEIGHTS, 0.0, WORK_LIMIT, n), 3) for n in (1, THREADS)
    )
    print(f"  threads  1 to {THREADS}: {one / all_:.2f}x faster")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer sets")
    quick = parser.parse_args().quick
    print(f"carouseval {cv.__version__}, {_native.instruction_set().name} kernels, NumPy {np.__version__}")
    coupled(quick)
    growth(quick)


if __name__ == "__main__":
    main()
