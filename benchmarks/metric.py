"""Speed of the metric, as ratios against named rivals measured in the same run.

make bench                                  everything (two to three minutes)
.venv/bin/python benchmarks/metric.py --quick   smaller stacks, for a look
"""

import argparse
import os
import subprocess
import sys
from functools import partial
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

import carouseval as cv
from carouseval import _native
from timing import best_of, interleaved

THREADS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

AMSTERDAM = cv.attention.recgaze_counts("amsterdam").discount


def binary_pages(count: int, shape: tuple[int, int] = (10, 15)) -> Any:
    return (np.random.default_rng(1).random((count, *shape)) < 0.15).astype(np.float64)


def graded_pages(count: int, shape: tuple[int, int] = (10, 15)) -> Any:
    rng = np.random.default_rng(2)
    return (rng.random((count, *shape)) < 0.15) * rng.integers(1, 6, (count, *shape)).astype(np.float64)


def rival_ideals(pages: Any, weights: Any) -> Any:
    """The obvious fast way: sort and multiply all pages with NumPy, then SciPy's assignment page by page."""
    gains = np.exp2(pages) - 1
    scores = np.sort(gains, axis=-1) @ np.sort(weights, axis=-1).T  # both ascending: largest meets largest
    best = np.empty(len(pages))
    for page, table in enumerate(scores):
        rows, cols = linear_sum_assignment(table, maximize=True)
        best[page] = table[rows, cols].sum()
    return best


def rival_score(page: Any, weights: Any, sorted_weights: Any) -> float:
    """N2DCG_cat of one page, the plain way; the weights, and their order, are given to it."""
    gains = np.exp2(page) - 1
    table = np.sort(gains, axis=-1) @ sorted_weights.T
    rows, cols = linear_sum_assignment(table, maximize=True)
    return float((gains * weights).sum() / table[rows, cols].sum())


def compiled_rival() -> Any:
    """The same with numba, if it is installed: sums, sorting and product compiled, SciPy's assignment; else None."""
    try:
        from numba import njit
    except ImportError:
        return None

    @njit  # type: ignore[untyped-decorator, unused-ignore]
    def tables(page: Any, weights: Any, sorted_weights: Any) -> Any:
        gains = 2.0**page - 1
        total = (gains * weights).sum()
        for row in range(len(gains)):
            gains[row].sort()
        return total, gains @ sorted_weights.T

    def score(page: Any, weights: Any, sorted_weights: Any) -> float:
        total, table = tables(page, weights, sorted_weights)
        rows, cols = linear_sum_assignment(table, maximize=True)
        return float(total / table[rows, cols].sum())

    return score


def repeated(call: Any, times: int) -> Any:
    """A call made many times, since a single one is shorter than the clock's noise."""

    def run() -> None:
        for _ in range(times):
            call()

    return run


def single_pages(repeats: int) -> None:
    """A page at a time, and a hundred, as tests, the studio and people's loops make them."""
    print("\nN2DCG_cat of 10x15, arrays of float64, default arguments; every ratio from calls in turns")
    print("rival: NumPy and SciPy's linear_sum_assignment, page by page, with weights sorted beforehand")
    weights = cv.discounts.RowPage().weights(cv.RECGAZE)
    ordered = np.sort(weights, axis=-1)
    kernel = partial(_native.score, weights=weights, gain=_native.Gain.EXP2, ideal=_native.Ideal.CATEGORY)
    compiled = compiled_rival()
    for kind, pages in (("binary", binary_pages(100)), ("graded", graded_pages(100))):
        page, few = pages[0], 500
        assert abs(cv.n2dcg_cat(page) - rival_score(page, weights, ordered)) < 1e-12
        one = repeated(lambda page=page: cv.n2dcg_cat(page), few)
        rivals = {
            "the kernel alone": (lambda page=page: kernel(page[None], as_list=False, threads=1), "at most 2x"),
            "NumPy and SciPy": (lambda page=page: rival_score(page, weights, ordered), "at most 1x"),
        }
        if compiled:
            rivals["numba and SciPy"] = (lambda page=page: compiled(page, weights, ordered), "no goal")
        for name, (call, goal) in rivals.items():
            ours, rival = interleaved(one, repeated(call, few), repeats)
            print(f"  one {kind} page {ours / few * 1e6:6.1f} us   {ours / rival:5.2f}x {name}   (goal: {goal})")
        ours, rival = interleaved(
            repeated(lambda pages=pages: cv.n2dcg_cat(pages), 20),
            repeated(lambda pages=pages: [rival_score(page, weights, ordered) for page in pages], 20),
            repeats,
        )
        least = {"binary": 25, "graded": 15}[kind]
        print(f"  100 {kind} pages  {rival / ours:5.1f}x the rival   (goal: at least {least}x)")


def ideals(count: int) -> None:
    print(f"\nCategory ideals, {count:,} pages of 10x15, {THREADS} threads")
    print("rival: NumPy sort and product for all pages, SciPy's linear_sum_assignment per page")
    dense = np.random.default_rng(3).integers(0, 6, (count, 10, 15)).astype(np.float64)
    cases = [
        ("binary", "d_rpd", binary_pages(count), cv.discounts.RowPage(), 20.0),
        ("graded", "d_rpd", graded_pages(count), cv.discounts.RowPage(), 10.0),
        ("binary", "amsterdam", binary_pages(count), AMSTERDAM, 6.0),
        ("graded", "amsterdam", graded_pages(count), AMSTERDAM, 6.0),
        ("all cells 0-5", "d_rpd", dense, cv.discounts.RowPage(), None),
    ]
    sample = min(count, 20_000)  # the rival takes the same time for every page
    for pages, discount, stack, weights, goal in cases:
        ours, rival = interleaved(
            partial(cv.ideal_dcg2d, stack, weights),
            partial(rival_ideals, stack[:sample], weights.weights(cv.RECGAZE)),
            repeats=3,
        )
        np.testing.assert_allclose(
            cv.ideal_dcg2d(stack[:1000], weights), rival_ideals(stack[:1000], weights.weights(cv.RECGAZE)), rtol=1e-12
        )
        rate, ratio = count / ours, (rival / sample) / (ours / count)
        wanted = f"goal {goal:.0f}x" if goal else "no goal"
        print(f"  {pages:14} {discount:10} {rate / 1e6:6.2f} million/s   {ratio:6.1f}x the rival   ({wanted})")


def where_time_goes(count: int) -> None:
    print(f"\nWhere the time goes: {count:,} graded pages under d_rpd, one thread, per page")
    pages, binary = graded_pages(count), binary_pages(count)
    copy = np.empty_like(pages)
    read = best_of(pages.sum)
    steps = {
        "read from memory (np.sum)": read,
        "read and write (np.copyto)": best_of(partial(np.copyto, copy, pages)),
        "2DCG": best_of(partial(cv.dcg2d, pages, threads=1)),
        "2DCG and unconstrained ideal": best_of(partial(cv.n2dcg, pages, threads=1)),
        "2DCG and category ideal": best_of(partial(cv.n2dcg_cat, pages, threads=1)),
        "  the same, binary": best_of(partial(cv.n2dcg_cat, binary, threads=1)),
        "  the same, binary as uint8": best_of(partial(cv.n2dcg_cat, binary.astype(np.uint8), threads=1)),
    }
    for step, seconds in steps.items():
        print(f"  {step:30} {seconds / count * 1e9:7.0f} ns   {seconds / read:5.1f}x reading")
    for name in _native.InstructionSet:
        try:
            _native.use_instruction_set(name)
        except ValueError:
            continue
        seconds = best_of(partial(cv.n2dcg_cat, pages, threads=1))
        print(f"  category ideal with {name.name:10} {seconds / count * 1e9:7.0f} ns   {seconds / read:5.1f}x reading")


def scores(count: int) -> None:
    print(f"\n2DCG, {count:,} pages of 10x15, {THREADS} threads")
    weights = cv.discounts.RowPage().weights(cv.RECGAZE).ravel()
    grades = np.random.default_rng(4).integers(0, 32, (count, 10, 15)).astype(np.float64)
    gains = (np.exp2(grades) - 1).reshape(count, 150)
    product = "the bare product gains @ weights"
    report = "  {:36} {:6.2f}x the time of {}   ({})"

    ours, rival = interleaved(lambda: cv.dcg2d(grades), lambda: gains @ weights)
    print(report.format("whole grades 0-31, float64", ours / rival, product, "goal: at most 2x"))
    bytes_ = grades.astype(np.uint8)
    ours, rival = interleaved(lambda: cv.dcg2d(bytes_), lambda: gains @ weights)
    print(report.format("whole grades 0-31, uint8", ours / rival, product, "goal: at most 2x"))

    floats = np.random.default_rng(5).random((count, 10, 15)) * 5
    ours, rival = interleaved(lambda: cv.dcg2d(floats), lambda: (np.exp2(floats) - 1).reshape(count, 150) @ weights)
    print(report.format("any floats, float64", ours / rival, "np.exp2 and the product", "goal: at most 1x"))
    single, double = interleaved(partial(cv.dcg2d, floats.astype(np.float32)), partial(cv.dcg2d, floats))
    print(report.format("any floats, float32", single / double, "float64", "goal: at most 1x"))
    single, double = interleaved(partial(cv.dcg2d, grades.astype(np.float32)), partial(cv.dcg2d, grades))
    print(report.format("whole grades, float32", single / double, "float64", "goal: at most 1x"))


def peak_memory() -> None:
    """Memory a uint8 stack needs beyond itself, in a fresh process."""
    code = """
import resource, numpy as np, carouseval as cv
pages = np.zeros((2_000_000, 10, 15), np.uint8); pages[:, 0, 0] = 1
cv.n2dcg_cat(pages[:1000])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
cv.n2dcg_cat(pages)
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print((after - before) / 1024, pages.nbytes / 2**20)
"""
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    grown, stack = map(float, out.split())
    print(
        f"\nN2DCG_cat of 2,000,000 uint8 pages ({stack:.0f} MiB) takes {grown:.0f} MiB more; "
        f"a float64 copy would take {stack * 8:.0f} MiB"
    )


def first_call(repeats: int) -> None:
    """Calls once the function is imported; what that takes, benchmarks/startup.py says."""
    print("\nCalls of n2dcg_cat on one page, in fresh processes")
    code = """
import time, numpy as np
from carouseval import n2dcg_cat
page = np.ones((10, 15))
def once():
    start = time.perf_counter(); n2dcg_cat(page); return time.perf_counter() - start
times = [once() for _ in range(10)]
print(times[0], times[9])
"""
    calls = [
        tuple(
            map(
                float,
                subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split(),
            )
        )
        for _ in range(repeats)
    ]
    first, tenth = min(first for first, _ in calls), min(tenth for _, tenth in calls)
    print(f"  first call {first * 1e6:.0f} us, tenth call {tenth * 1e6:.0f} us")


def growth(most: int) -> None:
    print("\nHow cost grows: N2DCG_cat of graded pages")
    base = None
    for count in (10**3, 10**4, 10**5, 10**6):
        if count > most:
            break
        pages = graded_pages(count).astype(np.uint8)
        each = best_of(partial(cv.n2dcg_cat, pages), 3) / count
        base = base or each
        print(f"  {count:9,} pages of 10x15   {each * 1e9:10.0f} ns a page   {each / base:7.2f}x of the first")
    for name, shapes in {
        "rows": [(size, 15) for size in (5, 10, 20, 50, 100)],
        "columns": [(10, size) for size in (5, 10, 20, 50, 100)],
        "both": [(size, size) for size in (5, 10, 20, 50, 100)],
    }.items():
        base = None
        for rows, cols in shapes:
            pages = graded_pages(max(200, 3_000_000 // (rows * cols) // (rows // 5)), (rows, cols))
            each = best_of(partial(cv.n2dcg_cat, pages), 3) / len(pages)
            base = base or each
            cells = rows * cols / (shapes[0][0] * shapes[0][1])
            print(
                f"  {name:8} {rows:3}x{cols:<3} {each * 1e9:10.0f} ns a page   "
                f"{each / base:7.2f}x for {cells:.0f}x the cells"
            )
    pages = graded_pages(min(most, 200_000))
    one, two = interleaved(lambda: cv.n2dcg_cat(pages, threads=1), lambda: cv.n2dcg_cat(pages, threads=2))
    print(f"  threads  1 to 2: {one / two:.2f}x faster")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="smaller stacks")
    quick = parser.parse_args().quick
    count = 20_000 if quick else 200_000
    print(f"carouseval {cv.__version__}, {_native.instruction_set().name} kernels, NumPy {np.__version__}")
    single_pages(9 if quick else 25)
    ideals(count)
    scores(count)
    peak_memory()
    first_call(5 if quick else 20)
    growth(10**5 if quick else 10**6)
    where_time_goes(count)


if __name__ == "__main__":
    main()
