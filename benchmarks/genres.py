"""Exact ideals of users with many rated films of several genres, as ratios against HiGHS and an earlier solver.

.venv/bin/python benchmarks/genres.py                   the distribution per user, without rivals (a few minutes)
.venv/bin/python benchmarks/genres.py --highs 10        and HiGHS on ten users of each set, at most 60 s each
.venv/bin/python benchmarks/genres.py --before FOLDER   and the solver of commit 92f0699, its package built in FOLDER
.venv/bin/python benchmarks/genres.py --users 100       fewer users in each set
.venv/bin/python benchmarks/genres.py --only binary     sets with this word in their names, and no growth

Times are CPU time on one thread, each user solved alone; every page is checked and its worth computed again.
"""

import argparse
import os
import pickle
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

import carouseval as cv
from carouseval import _native
from carouseval.evaluation.plan import ScoringPlan
from carouseval.evaluation.settings import Settings
from genre_milp import IdealProgram
from genre_users import GenreUser, genre_users

WEIGHTS = cv.discounts.RowPage().weights(cv.RECGAZE)
ROWS, COLS = WEIGHTS.shape
WORK_LIMIT = ScoringPlan.of(Settings()).work_limit
HIGHS_SECONDS = 60
LARGE: dict[str, Any] = {"most_genres": 10, "most_ratings": 2_700}

BEFORE = """
import pickle, sys, time
from carouseval import _native
from carouseval.evaluation.plan import ScoringPlan
from carouseval.evaluation.settings import Settings

problems, weights = pickle.load(sys.stdin.buffer)
solutions = []
for problem in problems:
    start = time.process_time()
    best, bound, *_ = _native.candidate_ideals(*problem, weights, True, 10_000, 1)
    solutions.append((time.process_time() - start, best[0], bound[0]))
pickle.dump(solutions, sys.stdout.buffer)
"""


@dataclass(frozen=True)
class Solutions:
    """CPU seconds, worth and bound for each user."""

    seconds: Any
    best: Any
    bound: Any

    @property
    def gap(self) -> Any:
        return (self.bound - self.best) / self.best

    def __str__(self) -> str:
        ms = self.seconds * 1e3
        return (
            f"{len(ms):5} {ms.sum() / 1e3:9.2f} {np.median(ms):9.3f} {np.quantile(ms, 0.99):9.1f} {ms.max():9.1f}"
            f"   {(self.gap > 0).sum():3} ({self.gap.max():.1e})"
        )


def solve(users: list[GenreUser]) -> Solutions:
    solutions = []
    for user in users:
        problem = user.problem(ROWS, COLS)
        start = time.process_time()
        best, bound, rows, genre = _native.candidate_ideals(*problem, WEIGHTS, 0.0, WORK_LIMIT, 1)
        seconds = time.process_time() - start
        check_page(user, rows, genre, best[0])
        solutions.append((seconds, best[0], bound[0]))
    return Solutions(*np.array(solutions).T)


def check_page(user: GenreUser, rows: Any, genre: Any, best: float) -> None:
    """Rows are used once, films shown under genres of their own, and the page is worth what the kernel says."""
    used = rows[rows >= 0]
    if len(np.unique(used)) < len(used) or (used >= ROWS).any():
        raise AssertionError(f"a page uses a row twice: {rows}")
    if any(at >= 0 and (at not in genres or rows[at] < 0) for at, genres in zip(genre, user.genres, strict=True)):
        raise AssertionError("a page shows a film where it does not belong")
    worth = 0.0
    for at in np.flatnonzero(rows >= 0):
        gains, weights = np.sort(user.gains[genre == at])[::-1], np.sort(WEIGHTS[rows[at]])[::-1]
        worth += float(gains[:COLS] @ weights[: len(gains)])
    np.testing.assert_allclose(worth, best, rtol=1e-12)


def solve_before(users: list[GenreUser], folder: str) -> Solutions:
    done = subprocess.run(
        [sys.executable, "-c", BEFORE],
        input=pickle.dumps(([user.problem(ROWS, COLS) for user in users], WEIGHTS)),
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": folder},
        check=True,
    )
    return Solutions(*np.array(pickle.loads(done.stdout)).T)


def solve_highs(users: list[GenreUser]) -> Solutions:
    solutions = []
    for user in users:
        *_, slots, pinned, _, open_rows = user.problem(ROWS, COLS)
        program = IdealProgram(user.gains.tolist(), user.genres, slots.tolist(), pinned.tolist(), open_rows[0], WEIGHTS)
        start = time.process_time()
        solution = program.solve(time_limit=HIGHS_SECONDS)
        seconds = time.process_time() - start
        best = np.nan if solution.fun is None else -solution.fun
        bound = np.inf if solution.mip_dual_bound is None else -solution.mip_dual_bound
        solutions.append((seconds, best, best if solution.status == 0 else bound))
    return Solutions(*np.array(solutions).T)


def ratios(ours: Solutions, rival: Solutions) -> str:
    """How many times longer the rival takes: for all users together, for the 99th percentile and for the slowest."""
    measures = (np.sum, lambda seconds: np.quantile(seconds, 0.99), np.max)
    total, p99, most = (measure(rival.seconds) / measure(ours.seconds) for measure in measures)
    return f"{total:,.0f}x in total, p99 {p99:,.0f}x, max {most:,.0f}x"


def against_highs(users: list[GenreUser], ours: Solutions, count: int) -> None:
    """Half of the sample are our slowest users, half are drawn from the others, for whom their mean is taken."""
    order = np.argsort(-ours.seconds)
    slowest, others = np.split(order, [min(count, len(users)) - count // 2])
    sample = np.concatenate([slowest, np.random.default_rng(0).permutation(others)[: count // 2]])
    mine = Solutions(ours.seconds[sample], ours.best[sample], ours.bound[sample])
    highs = solve_highs([users[at] for at in sample])
    others_seconds = highs.seconds[len(slowest) :].mean() * len(others) if count > 1 else 0.0
    total = (highs.seconds[: len(slowest)].sum() + others_seconds) / ours.seconds.sum()
    proven = highs.gap == 0
    np.testing.assert_allclose(mine.best[proven], highs.best[proven], rtol=1e-6)
    if (mine.bound < highs.best * (1 - 1e-6)).any() or (mine.best > highs.bound * (1 + 1e-6)).any():
        raise AssertionError("a bound does not hold")
    print(
        f"      HiGHS, {len(sample)} users: {ratios(mine, highs)}; all users, estimated: {total:,.0f}x; "
        f"it proves {proven.sum()}, we {(mine.gap == 0).sum()}; it alone {(proven & (mine.gap > 0)).sum()}",
        flush=True,
    )


def against_before(users: list[GenreUser], ours: Solutions, folder: str) -> Solutions:
    before = solve_before(users, folder)
    print(
        f"      before: {ratios(ours, before)}; {(before.gap > 0).sum()} unproven (gap {before.gap.max():.1e})",
        flush=True,
    )
    return before


def joined(solutions: list[Solutions]) -> Solutions:
    return Solutions(
        *(np.concatenate([getattr(part, name) for part in solutions]) for name in ("seconds", "best", "bound"))
    )


def sets() -> Iterator[tuple[str, dict[str, Any]]]:
    for held_out in (True, False):
        kept = "held-out" if held_out else "all"
        for grades in ("graded", "half", "binary"):
            for seed in (1, 2):
                yield f"{kept} {grades}, seed {seed}", {"seed": seed, "held_out": held_out, "grades": grades}
            yield f"{kept} {grades}, ten genres", {"seed": 3, "held_out": held_out, "grades": grades, **LARGE}


def distributions(only: str, users: int | None, highs: int, before: str | None) -> None:
    print(f"\nIdeals of {ROWS}x{COLS} pages under d_rpd: CPU time per user, one thread, work limit {WORK_LIMIT:,}")
    print(f"  {'ratings':27} users   total s median ms       p99       max   unproven (largest gap)")
    compared: list[tuple[Solutions, Solutions]] = []
    for label, options in sets():
        if only not in label:
            continue
        drawn = genre_users(users=users, **options)
        ours = solve(drawn)
        slowest = np.sort(ours.seconds)[::-1][: max(1, len(drawn) // 100)].sum() / ours.seconds.sum()
        print(f"  {label:27} {ours}   slowest 1% take {slowest:.0%}", flush=True)
        if highs:
            against_highs(drawn, ours, highs)
        if before:
            compared.append((ours, against_before(drawn, ours, before)))
    if len(compared) > 1:
        ours, earlier = (joined([pair[side] for pair in compared]) for side in (0, 1))
        unproven = f"{(earlier.gap > 0).sum()} unproven, now {(ours.gap > 0).sum()}"
        print(f"  all these sets, before: {ratios(ours, earlier)}; {unproven}")


def growth(users: int | None) -> None:
    print("\nHow time grows with relevant films per user: all ratings, half stars, up to ten genres and 2,700 ratings")
    drawn = genre_users(4, users=users, grades="half", **LARGE)
    films = np.array([len(user.gains) for user in drawn])
    ours = solve(drawn)
    edges = [0, 25, 50, 100, 200, 400, 800, 1_600, 3_200]
    for low, high in pairwise(edges):
        chosen = (films > low) & (films <= high)
        if chosen.any():
            ms = ours.seconds[chosen] * 1e3
            share = ms.sum() / ours.seconds.sum() / 1e3
            print(
                f"  {low + 1:5,} to {high:5,} films   {len(ms):4} users   "
                f"mean {ms.mean():9.3f} ms   max {ms.max():9.1f} ms   {share:4.0%} of the time"
            )
    print("\nHow time grows with genres per film: all ratings, graded")
    for most in (1, 2, 3, 6, 10):
        drawn = genre_users(5, users=users, most_genres=most)
        mean = np.mean([len(genres) for user in drawn for genres in user.genres])
        print(f"  up to {most:2} genres, mean {mean:.2f} {solve(drawn)}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--users", type=int, help="users in each set (default: all 943)")
    parser.add_argument("--only", default="", help="a part of the names of the sets to solve (default: all sets)")
    parser.add_argument("--highs", type=int, default=0, help="users of each set that HiGHS solves too")
    parser.add_argument("--before", help="folder of a built package of the solver before (commit 92f0699)")
    options = parser.parse_args()
    print(f"carouseval {cv.__version__}, {_native.instruction_set().name} kernels, NumPy {np.__version__}")
    distributions(options.only, options.users, options.highs, options.before)
    if not options.only:
        growth(options.users)


if __name__ == "__main__":
    main()
