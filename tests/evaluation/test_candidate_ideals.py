"""The best page of candidate items against brute force on tiny sets and against SciPy's MILP on larger ones."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp

import carouseval as cv
from carouseval import _native
from tests import oracles
from tests.metrics import test_ideal as page_ideals

WEIGHTS = cv.discounts.RowPage().weights(cv.RECGAZE)


@dataclass(frozen=True)
class CandidateSet:
    gains: list[float]
    homes: list[list[int]]
    slots: list[int]
    pinned: list[int]
    open: int


@dataclass(frozen=True)
class Best:
    best: Any
    bound: Any
    rows: list[Any]
    homes: list[Any]


def offsets(lengths: Sequence[int]) -> Any:
    return np.concatenate([[0], np.cumsum(np.asarray(lengths, np.int64))]).astype(np.int64)


def solve(
    sets: Sequence[CandidateSet],
    weights: Any,
    tolerance: float = 0.0,
    work_limit: int = 10**10,
    threads: int = 1,
) -> Best:
    items, categories = offsets([len(s.gains) for s in sets]), offsets([len(s.slots) for s in sets])
    homes = [home for s in sets for home in s.homes]
    best, bound, row, home = _native.candidate_ideals(
        np.array([g for s in sets for g in s.gains], np.float64),
        items,
        np.array([k for home in homes for k in home], np.int32),
        offsets([len(home) for home in homes]),
        np.array([m for s in sets for m in s.slots], np.int32),
        np.array([i for s in sets for i in s.pinned], np.int32),
        categories,
        np.array([s.open for s in sets], np.int32),
        np.ascontiguousarray(weights, np.float64),
        tolerance,
        work_limit,
        threads,
    )
    return Best(best, bound, np.split(row, categories[1:-1]), np.split(home, items[1:-1]))


def row_worth(gains: Sequence[float], slots: int, weights: Any) -> float:
    heavy = sorted(weights[:slots], reverse=True)
    return float(sum(g * w for g, w in zip(sorted(gains, reverse=True), heavy, strict=False)))


def page_worth(one: CandidateSet, weights: Any, rows: Sequence[int], homes: Sequence[int]) -> float:
    total = 0.0
    for k, row in enumerate(rows):
        if row >= 0:
            held = [g for t, g in enumerate(one.gains) if homes[t] == k]
            total += row_worth(held, one.slots[k], weights[row])
    return total


def allowed(one: CandidateSet, rows: Sequence[int]) -> bool:
    taken = [row for row in rows if row >= 0]
    if len(set(taken)) < len(taken):
        return False
    closed = {row for row in one.pinned if row >= 0}
    return all(
        row in (pin, -1) if pin >= 0 else row < one.open and row not in closed
        for row, pin in zip(rows, one.pinned, strict=True)
    )


def brute_force(one: CandidateSet, weights: Any) -> float:
    pages = [rows for rows in itertools.product(range(-1, len(weights)), repeat=len(one.slots)) if allowed(one, rows)]
    choices = [*itertools.product(*one.homes)]
    return max(page_worth(one, weights, rows, homes) for rows in pages for homes in choices)


def random_weights(rng: np.random.Generator, shape: tuple[int, int]) -> Any:
    kind = rng.integers(4)
    if kind == 0:
        return cv.discounts.RowPage().weights(cv.Grid(*shape, page_size=2))
    if kind == 1:
        return rng.random(shape)
    if kind == 2:
        return rng.choice([0.0, 0.5, 1.0], shape)
    return np.sort(rng.random(shape), axis=None)[::-1].reshape(shape)


def random_set(rng: np.random.Generator, rows: int, cols: int, most_items: int, most_categories: int) -> CandidateSet:
    categories, items = int(rng.integers(1, most_categories + 1)), int(rng.integers(0, most_items + 1))
    kind = rng.integers(3)
    gains = [float((1, 2.0 ** rng.integers(1, 6) - 1, rng.random() + 0.01)[kind]) for _ in range(items)]
    homes = [
        rng.choice(categories, min(categories, int(rng.integers(1, 4))), replace=False).tolist() for _ in range(items)
    ]
    slots = rng.integers(0 if rng.random() < 0.3 else 1, cols + 1, categories).tolist()
    pinned = [-1] * categories
    if rng.random() < 0.4:
        some = int(rng.integers(1, min(rows, categories) + 1))
        for k, row in zip(rng.choice(categories, some, False), rng.choice(rows, some, False), strict=True):
            pinned[int(k)] = int(row)
    return CandidateSet(gains, homes, slots, pinned, int(rng.integers(1, rows + 1)) if rng.random() < 0.5 else rows)


def two_homes(
    rng: np.random.Generator, items: int, categories: int, graded: bool, cols: int = 15, rows: int = 10
) -> CandidateSet:
    gains = [float(2.0 ** rng.integers(1, 6) - 1) if graded else 1.0 for _ in range(items)]
    homes = [rng.choice(categories, 2, replace=False).tolist() for _ in range(items)]
    return CandidateSet(gains, homes, [cols] * categories, [-1] * categories, rows)


def check_page(one: CandidateSet, weights: Any, found: Best, p: int) -> None:
    """The page returned is allowed and worth what it is said to be."""
    rows, homes = found.rows[p], found.homes[p]
    assert allowed(one, rows)
    assert page_worth(one, weights, rows, homes) == pytest.approx(found.best[p], rel=1e-13)
    assert all(h in one.homes[t] and rows[h] >= 0 for t, h in enumerate(homes) if h >= 0)


def milp_ideal(one: CandidateSet, weights: Any, **options: Any) -> Any:
    """The same by SciPy: y = category on row (whole numbers), x = item in a home on a row at a rank."""
    rows = min(one.open, len(weights))
    places = [(k, i) for k in range(len(one.slots)) for i in range(rows)]
    cost, held, cells, ys = [], [], [], []
    for t, gain in enumerate(one.gains):
        for k in one.homes[t]:
            for i in range(rows):
                size = min(one.slots[k], sum(k in home for home in one.homes))
                for r, weight in enumerate(sorted(weights[i][: one.slots[k]], reverse=True)[:size]):
                    cost.append(-gain * weight)
                    held.append(t)
                    cells.append((k, i, r))
                    ys.append(k * rows + i)
    first = len(places)
    x = np.arange(first, first + len(cost))
    cell_of = {cell: n for n, cell in enumerate(dict.fromkeys(cells))}
    cell_y = {cell_of[cell]: y for cell, y in zip(cells, ys, strict=True)}
    n, count = first + len(cost), len(cell_of)

    def rows_of(at: Any, columns: Any, height: int) -> Any:
        return sparse.csr_array((np.ones(len(columns)), (at, columns)), shape=(height, n))

    cell_rows = rows_of([cell_of[cell] for cell in cells], x, count) - rows_of([*cell_y], [*cell_y.values()], count)
    parts = [
        (rows_of(held, x, len(one.gains)), 1),
        (cell_rows, 0),
        (rows_of([k for k, _ in places], range(first), len(one.slots)), 1),
        (rows_of([i for _, i in places], range(first), rows), 1),
    ]
    return milp(
        np.concatenate([np.zeros(first), cost]),
        integrality=np.arange(n) < first,
        bounds=Bounds(0, 1),
        constraints=[LinearConstraint(part, -np.inf, most) for part, most in parts],
        options={"mip_rel_gap": 0, **options},
    )


def test_brute_force_on_tiny_sets() -> None:
    rng = np.random.default_rng(5)
    for _ in range(120):
        rows, cols = int(rng.integers(1, 4)), int(rng.integers(1, 4))
        weights = random_weights(rng, (rows, cols))
        sets = [random_set(rng, rows, cols, 5, 4) for _ in range(20)]
        found = solve(sets, weights)
        np.testing.assert_array_equal(found.bound, found.best)
        for p, one in enumerate(sets):
            assert found.best[p] == pytest.approx(brute_force(one, weights), rel=1e-11, abs=1e-13)
            check_page(one, weights, found, p)


def test_categories_with_the_same_items() -> None:
    """Where there are too few rows for all, one of two equal categories may be shown without the other."""
    rng = np.random.default_rng(3)
    weights = cv.discounts.RowPage().weights(cv.Grid(2, 2, page_size=2))
    sets = []
    for _ in range(60):
        gains = [float(2.0 ** rng.integers(1, 6) - 1) for _ in range(6)]
        pairs = [rng.choice(3, int(rng.integers(1, 4)), replace=False) for _ in gains]
        homes = [sorted([*(2 * pair), *(2 * pair + 1)]) for pair in pairs]
        sets.append(CandidateSet(gains, homes, np.repeat(rng.integers(1, 3, 3), 2).tolist(), [-1] * 6, 2))
    found = solve(sets, weights)
    np.testing.assert_array_equal(found.bound, found.best)
    for p, one in enumerate(sets):
        assert found.best[p] == pytest.approx(-milp_ideal(one, weights).fun, rel=1e-9)
        check_page(one, weights, found, p)


def test_milp_on_larger_sets() -> None:
    rng = np.random.default_rng(6)
    falling, mixed = WEIGHTS[:5, :6], rng.random((4, 5))
    for weights in (falling, mixed):
        rows, cols = weights.shape
        sets = [two_homes(rng, 12, 6, graded, cols, rows) for graded in (False, True) for _ in range(4)]
        found = solve(sets, weights)
        np.testing.assert_array_equal(found.bound, found.best)
        for p, one in enumerate(sets):
            assert found.best[p] == pytest.approx(-milp_ideal(one, weights).fun, rel=2e-6)
            check_page(one, weights, found, p)


def test_uncoupled_sets_agree_with_scipys_assignment() -> None:
    rng = np.random.default_rng(7)
    for categories, items in ((10, 20), (4, 30), (25, 40), (1, 3)):
        sets = []
        for _ in range(200):
            gains = [float(2.0 ** rng.integers(1, 6) - 1) for _ in range(items)]
            homes = [[int(rng.integers(categories))] for _ in range(items)]
            slots = rng.integers(1, 16, categories).tolist()
            sets.append(CandidateSet(gains, homes, slots, [-1] * categories, min(categories, 10)))
        wanted = [oracles.assignment_category_ideal(by_category(one), WEIGHTS) for one in sets]
        found = solve(sets, WEIGHTS)
        np.testing.assert_allclose(found.best, wanted, rtol=1e-13)
        np.testing.assert_array_equal(found.bound, found.best)
        check_page(sets[0], WEIGHTS, found, 0)


def by_category(one: CandidateSet) -> list[tuple[int, list[float]]]:
    """Slots and gains of each category of a set without items of several categories."""
    gains: list[list[float]] = [[] for _ in one.slots]
    for gain, (home,) in zip(one.gains, one.homes, strict=True):
        gains[home].append(gain)
    return list(zip(one.slots, gains, strict=True))


def uncoupled(table: Any, slots: Any, rows: int) -> CandidateSet:
    """A set whose items have one category each, from gains of shape (categories, items)."""
    cells = [(float(gain), [k]) for k, gains in enumerate(table) for gain in gains if gain > 0]
    gains, homes = [gain for gain, _ in cells], [home for _, home in cells]
    return CandidateSet(gains, homes, slots.tolist(), [-1] * len(slots), min(len(slots), rows))


@pytest.mark.parametrize("seed", range(4))
def test_any_number_of_categories_against_all_arrangements(seed: int) -> None:
    """K fewer than, equal to or more than the rows; more or fewer items than slots."""
    rng = np.random.default_rng(100 + seed)
    for _ in range(400):
        rows, cols, count = (int(rng.integers(1, most + 1)) for most in (3, 3, 4))
        items = int(rng.integers(1, 5))
        weights = page_ideals.random_weights(rng, (rows, cols))
        gains = page_ideals.random_relevance(rng, (count, items))
        slots = rng.integers(0, 6, count)
        categories = [(min(int(m), cols), list(row)) for m, row in zip(slots, gains, strict=True)]
        expected = oracles.brute_category_ideal(categories, weights)
        found = solve([uncoupled(gains, slots, rows)], weights)
        assert found.best[0] == pytest.approx(expected, rel=1e-12, abs=1e-15)


@pytest.mark.parametrize(("count", "rows"), [(30, 10), (12, 10), (4, 10), (70, 40), (9, 8), (500, 3), (900, 10)])
def test_many_categories_against_scipys_assignment(count: int, rows: int) -> None:
    rng = np.random.default_rng(count)
    for _ in range(20):
        weights = page_ideals.random_weights(rng, (rows, 15))
        gains = page_ideals.random_relevance(rng, (count, 20))
        slots = rng.integers(0, 25, count)
        categories = [(min(int(m), 15), list(row)) for m, row in zip(slots, gains, strict=True)]
        expected = oracles.assignment_category_ideal(categories, weights)
        found = solve([uncoupled(gains, slots, rows)], weights)
        assert found.best[0] == pytest.approx(expected, rel=1e-12, abs=1e-15)


def test_a_pinned_category_without_items_closes_its_row() -> None:
    weights = np.array([[1.0, 0.5], [0.4, 0.2]])
    one = CandidateSet([3.0, 1.0], [[0], [0]], [2, 2], [-1, 0], 2)
    found = solve([one], weights)
    assert found.best[0] == pytest.approx(3 * 0.4 + 1 * 0.2)
    assert found.rows[0].tolist() == [1, -1]


def test_two_homes_are_used_for_two_good_cells() -> None:
    """The first row alone would hold both items; each is worth more at the head of a row of its own."""
    weights = np.array([[1.0, 0.1], [0.9, 0.1]])
    found = solve([CandidateSet([1.0, 1.0], [[0, 1], [0, 1]], [2, 2], [-1, -1], 2)], weights)
    assert found.best[0] == 1.9
    assert sorted(found.homes[0]) == [0, 1]


def test_threads_and_instruction_sets_give_the_same_bits() -> None:
    rng = np.random.default_rng(8)
    sets = [two_homes(rng, 12, int(rng.integers(3, 14)), bool(p % 2)) for p in range(150)]
    sets += [random_set(rng, 10, 15, 20, 14) for _ in range(150)]
    sets = [one for one in sets if max(one.pinned) < 10]
    before = _native.instruction_set()
    first = solve(sets, WEIGHTS, work_limit=200_000)
    try:
        for name in _native.InstructionSet:
            try:
                _native.use_instruction_set(name)
            except ValueError:
                continue
            for threads in (1, 3):
                again = solve(sets, WEIGHTS, work_limit=200_000, threads=threads)
                np.testing.assert_array_equal(again.best, first.best)
                np.testing.assert_array_equal(again.bound, first.bound)
                for kind in ("rows", "homes"):
                    np.testing.assert_array_equal(
                        np.concatenate(getattr(again, kind)), np.concatenate(getattr(first, kind))
                    )
    finally:
        _native.use_instruction_set(before)


def test_past_the_limit_of_work_the_bound_holds() -> None:
    rng = np.random.default_rng(9)
    sets = [two_homes(rng, 40, 20, bool(p % 2)) for p in range(30)]
    proven = solve(sets, WEIGHTS)
    np.testing.assert_array_equal(proven.bound, proven.best)
    loose = 0
    for limit in (0, 100_000, 1_000_000, 3_000_000):
        found = solve(sets, WEIGHTS, work_limit=limit)
        assert (found.best <= proven.best * (1 + 1e-12)).all()
        assert (found.bound >= proven.best * (1 - 1e-12)).all()
        loose += int((found.bound > found.best).sum())
        for p, one in enumerate(sets):
            check_page(one, WEIGHTS, found, p)
    assert loose > 0


@pytest.mark.parametrize("tolerance", [1e-4, 1e-3, 0.05])
def test_gaps_within_the_tolerance_are_accepted(tolerance: float) -> None:
    rng = np.random.default_rng(10)
    sets = [two_homes(rng, 30, 15, bool(p % 2)) for p in range(40)]
    proven = solve(sets, WEIGHTS)
    found = solve(sets, WEIGHTS, tolerance=tolerance)
    assert (found.best >= proven.best * (1 - tolerance)).all()
    assert (found.bound >= proven.best * (1 - 1e-12)).all()
    assert (found.bound <= found.best * (1 + tolerance) * (1 + 1e-12)).all()
    assert (found.bound > found.best).any()


def test_sums_that_overflow_are_infinite() -> None:
    huge = CandidateSet([1.7e308] * 3, [[0], [0, 1], [1]], [2, 2], [-1, -1], 2)
    found = solve([huge, CandidateSet([1.0], [[0]], [1], [-1], 1)], np.ones((2, 2)))
    assert found.best.tolist() == [np.inf, 1.0]
    assert found.bound.tolist() == [np.inf, 1.0]


def test_nothing_to_show() -> None:
    empty = CandidateSet([], [], [], [], 2)
    unshown = CandidateSet([2.0], [[0]], [0], [-1], 2)
    found = solve([empty, unshown], WEIGHTS)
    assert found.best.tolist() == [0.0, 0.0]
    assert found.homes[1].tolist() == [-1]
    assert solve([], WEIGHTS).best.size == 0
