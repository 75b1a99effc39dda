"""Users made to be hard for the solver of ideals: many categories, items of many categories, and much symmetry."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.evaluation.test_candidate_ideals import CandidateSet

Categories = list[list[int]]


def _random(rng: np.random.Generator, items: int, count: int, each: int) -> Categories:
    return [rng.choice(count, each, replace=False).tolist() for _ in range(items)]


def _giant(rng: np.random.Generator, items: int, count: int) -> Categories:
    """Every item is in the first category, and in two others."""
    return [[0, *(1 + rng.choice(count - 1, 2, replace=False)).tolist()] for _ in range(items)]


def _nested(rng: np.random.Generator, items: int, count: int) -> Categories:
    """Every category holds the items of all before it."""
    return [list(range(int(rng.integers(count)), count)) for _ in range(items)]


def _twins(rng: np.random.Generator, items: int, count: int) -> Categories:
    """Categories in pairs that hold the same items."""
    return [[twin for k in of for twin in (2 * k, 2 * k + 1)] for of in _random(rng, items, count // 2, 2)]


def _ring(rng: np.random.Generator, items: int, count: int) -> Categories:
    return [[t % count, (t + 1) % count] for t in range(items)]


SHAPES: dict[str, tuple[int, int, Callable[[np.random.Generator, int, int], Categories]]] = {
    "hundreds of categories": (400, 300, lambda rng, items, count: _random(rng, items, count, 3)),
    "twenty categories an item": (200, 60, lambda rng, items, count: _random(rng, items, count, 20)),
    "twenty of hundreds": (300, 400, lambda rng, items, count: _random(rng, items, count, 20)),
    "all items in all categories": (300, 40, lambda rng, items, count: [[*range(count)]] * items),
    "4 of 12 categories": (300, 12, lambda rng, items, count: _random(rng, items, count, 4)),
    "4 of 30 categories": (60, 30, lambda rng, items, count: _random(rng, items, count, 4)),
    "2 of 20 categories": (40, 20, lambda rng, items, count: _random(rng, items, count, 2)),
    "one giant category": (300, 30, _giant),
    "nested categories": (200, 30, _nested),
    "twin categories": (150, 30, _twins),
    "a ring": (60, 30, _ring),
    "as many categories as items": (120, 120, lambda rng, items, count: _random(rng, items, count, 5)),
}
GAINS: dict[str, Callable[[np.random.Generator, int], Any]] = {
    "equal": lambda rng, items: np.ones(items),
    "graded": lambda rng, items: np.exp2(rng.integers(1, 6, items)) - 1,
    "real": lambda rng, items: rng.random(items) + 0.01,
}


def adversarial_users(seed: int, rows: int = 10, cols: int = 15) -> Iterator[tuple[str, CandidateSet]]:
    rng = np.random.default_rng(seed)
    for shape, (items, count, categories) in SHAPES.items():
        for kind, gains in GAINS.items():
            homes = categories(rng, items, count)
            yield (
                f"{shape}, {kind} gains",
                CandidateSet(gains(rng, items).tolist(), homes, [cols] * count, [-1] * count, min(count, rows)),
            )
