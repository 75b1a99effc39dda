"""Ideals of users with many films of several genres: HiGHS as oracle, all proven, and a limit of work that holds."""

import subprocess
import sys
import time
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import carouseval as cv
from genre_milp import IdealProgram
from genre_users import GenreUser, genre_users
from tests.evaluation.adversarial_users import adversarial_users
from tests.evaluation.test_candidate_ideals import WEIGHTS, Best, CandidateSet, check_page, solve

SMALL = cv.discounts.RowPage().weights(cv.Grid(5, 6, page_size=3))
LIMIT = 2_000_000_000


def candidate_set(user: GenreUser, weights: Any) -> CandidateSet:
    rows, cols = weights.shape
    count = user.genre_count
    return CandidateSet(user.gains.tolist(), user.genres, [cols] * count, [-1] * count, min(rows, count))


def few_films(seed: int, grades: str, most: int, count: int) -> list[CandidateSet]:
    """Held-out users with at most so many relevant films, which HiGHS solves in a moment; on the large grid."""
    users = [user for user in genre_users(seed, held_out=True, grades=grades) if 3 <= len(user.gains) <= most]
    return [candidate_set(user, WEIGHTS) for user in users[:count]]


def on_grid(one: CandidateSet, weights: Any) -> CandidateSet:
    rows, cols = weights.shape
    return replace(one, slots=[min(m, cols) for m in one.slots], open=min(one.open, rows))


def check_proven(sets: list[CandidateSet], weights: Any) -> Best:
    solution = solve(sets, weights, work_limit=LIMIT)
    np.testing.assert_array_equal(solution.bound, solution.best)
    for p, one in enumerate(sets):
        check_page(one, weights, solution, p)
    return solution


def check_against_highs(sets: list[CandidateSet], weights: Any) -> None:
    solution = check_proven(sets, weights)
    for p, one in enumerate(sets):
        milp = IdealProgram(one.gains, one.homes, one.slots, one.pinned, one.open, weights).solve(node_limit=10_000)
        assert milp.status == 0
        assert solution.best[p] == pytest.approx(-milp.fun, rel=1e-7), f"user {p}"


@pytest.mark.parametrize("grades", ["graded", "half", "binary"])
def test_highs_agrees_on_held_out_users(grades: str) -> None:
    check_against_highs(few_films(1, grades, 12, 25), WEIGHTS)
    check_against_highs([on_grid(one, SMALL) for one in few_films(2, grades, 16, 25)], SMALL)


def test_highs_agrees_on_gains_without_levels() -> None:
    rng = np.random.default_rng(3)
    sets = [replace(one, gains=rng.random(len(one.gains)).tolist()) for one in few_films(3, "graded", 10, 50)]
    check_against_highs([on_grid(one, SMALL) for one in sets], SMALL)


@pytest.mark.parametrize("grades", ["graded", "binary"])
def test_highs_agrees_on_pinned_rows_capacities_and_weights_that_rise(grades: str) -> None:
    rng = np.random.default_rng(4)
    rising = rng.random(SMALL.shape)
    for weights in (SMALL, rising):
        rows, cols = weights.shape
        sets = []
        for one in few_films(4, grades, 12, 40):
            count = len(one.slots)
            pinned = np.full(count, -1)
            some = int(rng.integers(0, 3))  # fewer than are open
            pinned[rng.choice(count, some, replace=False)] = rng.choice(rows, some, replace=False)
            slots = rng.integers(0, cols + 1, count) if rng.random() < 0.7 else np.full(count, cols)
            sets.append(replace(one, slots=slots.tolist(), pinned=pinned.tolist(), open=int(rng.integers(3, rows + 1))))
        check_against_highs(sets, weights)


def test_highs_agrees_where_rows_hold_few_items() -> None:
    """How many items categories can show together then decides: some must move on to make room for others."""
    rng = np.random.default_rng(6)
    weights = cv.discounts.RowPage().weights(cv.Grid(8, 3))
    sets = []
    for _ in range(30):
        count, items = int(rng.integers(8, 13)), int(rng.integers(12, 22))
        genres = [rng.choice(count, int(rng.integers(1, 4)), replace=False).tolist() for _ in range(items)]
        sets.append(candidate_set(GenreUser(rng.integers(1, 4, items).astype(float), genres, count), weights))
    check_against_highs(sets, weights)


@pytest.mark.parametrize("grades", ["graded", "half", "binary"])
@pytest.mark.parametrize("seed", [1, 2])
def test_users_are_proven(seed: int, grades: str) -> None:
    """Held-out users, and some with all their ratings."""
    users = genre_users(seed, users=150, held_out=True, grades=grades) + genre_users(seed, users=40, grades=grades)
    check_proven([candidate_set(user, WEIGHTS) for user in users], WEIGHTS)


@pytest.mark.parametrize("grades", ["graded", "half", "binary"])
def test_users_with_up_to_ten_genres_a_film_are_proven(grades: str) -> None:
    users = genre_users(3, users=60, held_out=True, grades=grades, most_genres=10, most_ratings=2_700)
    check_proven([candidate_set(user, WEIGHTS) for user in users], WEIGHTS)


def test_any_number_of_threads_gives_the_same_bits() -> None:
    sets = [candidate_set(user, WEIGHTS) for user in genre_users(5, users=60)]
    sets += [one for _, one in adversarial_users(5)]
    one_thread, two_threads = (solve(sets, WEIGHTS, work_limit=5_000_000, threads=threads) for threads in (1, 2))
    assert (one_thread.bound > one_thread.best).any()
    np.testing.assert_array_equal(one_thread.best, two_threads.best)
    np.testing.assert_array_equal(one_thread.bound, two_threads.bound)
    for kind in ("rows", "homes"):
        first, second = (np.concatenate(getattr(best, kind)) for best in (one_thread, two_threads))
        np.testing.assert_array_equal(first, second)


def test_drawn_users_resemble_the_statistics() -> None:
    users = genre_users(1)
    assert len(users) == 943
    assert sum(len(user.gains) for user in users) == 100_000
    assert {float(gain) for user in users for gain in user.gains} == {1.0, 3.0, 7.0, 15.0, 31.0}
    half = genre_users(1, users=50, grades="half", most_genres=10, most_ratings=2_700)
    stars = np.unique(np.concatenate([np.log2(user.gains + 1) for user in half]).round(9))
    np.testing.assert_array_equal(stars, 0.5 * np.arange(1, 11))
    large = genre_users(1, most_genres=10, most_ratings=2_700)
    assert max(len(user.gains) for user in large) == 2_700
    assert min(len(user.gains) for user in large) == 20
    assert {len(genres) for user in large for genres in user.genres} == {*range(1, 11)}
    assert all(len({*genres}) == len(genres) for user in large for genres in user.genres)


@pytest.mark.parametrize("seed", [1, 2])
def test_hard_users_end_at_the_limit_of_work(seed: int) -> None:
    """Some 0.02 s of steps; a second allows for a slow machine."""
    unproven = 0
    for name, one in adversarial_users(seed):
        start = time.process_time()
        solution = solve([one], WEIGHTS, work_limit=20_000_000)
        assert time.process_time() - start < 1, name
        check_page(one, WEIGHTS, solution, 0)
        assert solution.best[0] <= solution.bound[0] < 1.5 * solution.best[0], name
        unproven += int(solution.bound[0] > solution.best[0])
    assert unproven > 0


PEAK = """
import sys
import numpy as np
import carouseval as cv
from carouseval import _native

def peak():
    return int(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1]) >> 10

items, count, each = 2_000, 300, int(sys.argv[1])
rng = np.random.default_rng(0)
categories = np.argsort(rng.random((items, count)), axis=1)[:, :each].astype(np.int32).ravel()
weights = cv.discounts.RowPage().weights(cv.RECGAZE)
before = peak()
_native.candidate_ideals(
    rng.random(items), np.array([0, items]), categories, np.arange(items + 1) * each, np.full(count, 15, np.int32),
    np.full(count, -1, np.int32), np.array([0, count]), np.array([10], np.int32), weights, 0.0, 200_000_000, 1,
)
print(peak() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak from /proc")
@pytest.mark.parametrize("each", [3, 20, 300])
def test_memory_grows_with_items_times_categories(each: int) -> None:
    command = [sys.executable, "-c", PEAK, str(each)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    assert int(done.stdout) < 200
