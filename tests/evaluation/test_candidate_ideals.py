"""The best page of candidate items against brute force on tiny sets and against SciPy's MILP on larger ones."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import carouseval as cv
from carouseval import _native

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
    sets: Sequence[CandidateSet], weights: Any, once: bool = True, node_limit: int = 100_000, threads: int = 1
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
        once,
        node_limit,
        threads,
    )
    return Best(best, bound, np.split(row, categories[1:-1]), np.split(home, items[1:-1]))


def row_worth(gains: Sequence[float], slots: int, weights: Any) -> float:
    heavy = sorted(weights[:slots], reverse=True)
    return float(sum(g * w for g, w in zip(sorted(gains, reverse=True), heavy, strict=False)))


def page_worth(one: CandidateSet, weights: Any, rows: Sequence[int], homes: Sequence[int] | None) -> float:
    """The worth of a page; ``homes`` None counts every item in all its homes."""
    total = 0.0
    for k, row in enumerate(rows):
        if row >= 0:
            held = [g for t, g in enumerate(one.gains) if (k in one.homes[t] if homes is None else homes[t] == k)]
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


def brute_force(one: CandidateSet, weights: Any, once: bool) -> float:
    pages = [rows for rows in itertools.product(range(-1, len(weights)), repeat=len(one.slots)) if allowed(one, rows)]
    choices: list[Any] = [*itertools.product(*one.homes)] if once else [None]
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


def two_homes(rng: np.random.Generator, items: int, categories: int, graded: bool, cols: int = 15) -> CandidateSet:
    gains = [float(2.0 ** rng.integers(1, 6) - 1) if graded else 1.0 for _ in range(items)]
    homes = [rng.choice(categories, 2, replace=False).tolist() for _ in range(items)]
    return CandidateSet(gains, homes, [cols] * categories, [-1] * categories, 10)


@pytest.mark.parametrize("once", [True, False])
def test_brute_force_on_tiny_sets(once: bool) -> None:
    rng = np.random.default_rng(5)
    for _ in range(60):
        rows, cols = int(rng.integers(1, 4)), int(rng.integers(1, 4))
        weights = random_weights(rng, (rows, cols))
        sets = [random_set(rng, rows, cols, 5, 4) for _ in range(20)]
        found = solve(sets, weights, once)
        np.testing.assert_array_equal(found.bound, found.best)
        for p, one in enumerate(sets):
            assert found.best[p] == pytest.approx(brute_force(one, weights, once), rel=1e-11, abs=1e-13)
            check_page(one, weights, found, p, once)


def check_page(one: CandidateSet, weights: Any, found: Best, p: int, once: bool) -> None:
    """The page returned is allowed and worth what it is said to be."""
    rows, homes = found.rows[p], found.homes[p]
    assert allowed(one, rows)
    assert page_worth(one, weights, rows, homes if once else None) == pytest.approx(found.best[p], rel=1e-13)
    assert all(h in one.homes[t] and rows[h] >= 0 for t, h in enumerate(homes) if h >= 0)
    assert once or (homes == -1).all()


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
