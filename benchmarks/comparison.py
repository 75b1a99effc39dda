"""Speed of the sign-flip test, as a ratio against SciPy's permutation_test in the same run, and its peak memory.

.venv/bin/python benchmarks/comparison.py            part of `make bench`; about a minute
.venv/bin/python benchmarks/comparison.py --quick    fewer users
"""

import argparse
import itertools
import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
from scipy.stats import permutation_test

import carouseval as cv
from carouseval import _native
from carouseval.comparison.significance import p_values
from carouseval.metrics.grid import Array
from timing import best_of, interleaved

THREADS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
SYSTEMS, PERMUTATIONS = 5, 10_000
sign_flip = partial(p_values, "permutation")
TIMED = (20, 120)  # permutations of one pair the rival is timed on: what one more costs, without what a call does


def scores(users: int) -> Array:
    """Systems that differ a little, on users who differ much."""
    rng = np.random.default_rng(0)
    return np.clip(rng.beta(2, 3, (users, 1)) + rng.normal(0, 0.1, (users, SYSTEMS)), 0, 1)


def differences(users: int) -> Array:
    """Every pair of systems."""
    table = scores(users)
    return np.stack([table[:, a] - table[:, b] for a, b in itertools.combinations(range(SYSTEMS), 2)], axis=1)


def ids(users: int) -> pl.Series:
    return pl.Series(np.arange(users))


def rival(one: Array, other: Array, permutations: int) -> float:
    """SciPy, vectorised as far as memory allows."""
    found = permutation_test(
        (one, other),
        lambda x, y, axis: (x - y).mean(axis=axis),
        permutation_type="samples",
        vectorized=True,
        batch=20,
        n_resamples=permutations,
    )
    return float(found.pvalue)


def against_scipy(users: int) -> None:
    table, pairs = scores(users), differences(users)
    ours, short = interleaved(
        partial(sign_flip, pairs, ids(users), PERMUTATIONS),
        partial(rival, table[:, 0], table[:, 1], TIMED[0]),
        repeats=3,
    )
    long = best_of(partial(rival, table[:, 0], table[:, 1], TIMED[1]), 3)
    theirs = (long - short) / (TIMED[1] - TIMED[0]) * pairs.shape[1] * PERMUTATIONS
    print(f"  {theirs / ours:,.0f}x faster than SciPy's permutation_test ({ours:.2f} s, {theirs:,.0f} s)")
    print(f"  (SciPy: what {TIMED[1]} permutations of one pair of {pairs.shape[1]} cost beyond {TIMED[0]}, scaled)")


def growth(users: int) -> None:
    pairs = differences(users)
    base = best_of(partial(sign_flip, pairs, ids(users), PERMUTATIONS), 3)
    for what, factor, work in (
        ("permutations", 2, partial(sign_flip, pairs, ids(users), 2 * PERMUTATIONS)),
        ("pairs", 2, partial(sign_flip, np.concatenate([pairs, pairs], axis=1), ids(users), PERMUTATIONS)),
        ("users", 2, partial(sign_flip, differences(2 * users), ids(2 * users), PERMUTATIONS)),
    ):
        print(f"  {factor}x the {what:12} {best_of(work, 3) / base:.2f}x the time")
    one = best_of(partial(sign_flip, pairs, ids(users), PERMUTATIONS, threads=1), 3)
    print(f"  threads 1 to {THREADS}: {one / base:.2f}x faster")


def memory(users: int) -> None:
    """Peaks of processes of their own."""
    program = (
        "import sys, comparison\n"
        "users, permutations = map(int, sys.argv[1:])\n"
        "comparison.sign_flip(comparison.differences(users), comparison.ids(users), permutations)\n"
        "print(next(line for line in open('/proc/self/status') if line.startswith('VmHWM')).split()[1])"
    )
    for permutations in (1_000, 10_000, 100_000):
        done = subprocess.run(
            [sys.executable, "-c", program, str(users), str(permutations)],
            capture_output=True,
            text=True,
            check=True,
            env=os.environ | {"PYTHONPATH": str(Path(__file__).parent)},
        )
        print(f"  {permutations:>7,} permutations: peak {int(done.stdout) / 2**10:.0f} MiB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer users")
    users = 10_000 if parser.parse_args().quick else 100_000
    print(f"carouseval {cv.__version__}, {_native.instruction_set().name} kernels, {THREADS} threads")
    print(f"{SYSTEMS} systems x {users:,} users x {PERMUTATIONS:,} permutations of signs, every pair:")
    against_scipy(users)
    print("How cost grows:")
    growth(users)
    if sys.platform == "linux":
        print("Memory of a whole process, the differences among it:")
        memory(users)


if __name__ == "__main__":
    main()
