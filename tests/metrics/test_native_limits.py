"""What is too large for a kernel is refused, and memory grows no faster than what a problem holds."""

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from numpy.random import Generator

import carouseval as cv
from carouseval import _native


def solve(gains: Any, item_categories: list[list[int]], weights: Any, work_limit: int = 10**6) -> Any:
    """One set of as many categories as items name, each with as many slots as the grid has columns."""
    flat = np.concatenate(item_categories).astype(np.int32)
    categories = int(flat.max()) + 1
    return _native.candidate_ideals(
        gains, np.array([0, len(gains)]), flat, np.cumsum([0, *map(len, item_categories)]),
        np.full(categories, weights.shape[1], np.int32), np.full(categories, -1, np.int32), np.array([0, categories]),
        np.array([len(weights)], np.int32), weights, 0.0, work_limit, 1,
    )  # fmt: skip


def coupled_set(rng: Generator, count: int) -> tuple[Any, list[list[int]]]:
    """A category for each item; the last item has a second one, which couples all rows."""
    return rng.random(count) + 0.1, [*([k] for k in range(count - 1)), [count - 1, 0]]


@pytest.mark.parametrize("seed", range(4))
def test_many_more_categories_than_rows(seed: int) -> None:
    """Each category holds one item, so that the largest gains go to the heaviest rows."""
    rng = np.random.default_rng(seed)
    gains, item_categories = coupled_set(rng, 600)
    weights = rng.random((7, 1))
    best, bound, row, _ = solve(gains, item_categories, weights)
    expected = np.sort(gains)[::-1][:7] @ np.sort(weights[:, 0])[::-1]
    assert best == pytest.approx(expected, rel=1e-12)
    assert bound == pytest.approx(expected, rel=1e-12)
    assert sorted(row[row >= 0]) == list(range(7))


@pytest.mark.parametrize("count", [257, 400])
def test_both_assignments_agree(count: int) -> None:
    """Categories without items worth showing move a set past 256 categories but cannot change its best page."""
    rng = np.random.default_rng(count)
    weights = rng.random((6, 4))
    gains = rng.random(120) + 0.5
    item_categories = [[int(k), int(k) + 40] if k < 3 else [int(k)] for k in rng.integers(0, 40, 120)]
    few = solve(gains, item_categories, weights, 1000)
    more = solve(
        np.append(gains, np.full(count, 1e-9)), [*item_categories, *([50 + k] for k in range(count))], weights, 1000
    )
    assert more[0] == pytest.approx(few[0], rel=1e-9)
    assert more[1] == pytest.approx(few[1], rel=1e-9)


MEMORY = """
import resource
import numpy as np
from tests.metrics.test_native_limits import coupled_set, solve
gains, item_categories = coupled_set(np.random.default_rng(0), 65_536)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
best, bound, row, _ = solve(gains, item_categories, np.ones((10, 1)))
assert best == bound and (row >= 0).sum() == 10
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in other units elsewhere")
def test_memory_grows_with_categories_times_rows() -> None:
    """A square table of 65,536 categories would take 32 GiB."""
    done = subprocess.run([sys.executable, "-c", MEMORY], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 200


def test_a_wide_scan_is_refused() -> None:
    """Moves from the last page back to the first make the band as wide as the grid."""
    with pytest.raises(cv.ParameterError, match="40,000 states make a band of 3,200,040,000 entries; at most"):
        cv.discounts.MarkovScan().weights(cv.Grid(1, 40_000))


ONE = np.ones((1, 1))
NOTHING = np.zeros(1, np.int64)


def first_page(gain: float = 1.0, row: int = 0, copies: int = 1, weight: float = 1.0) -> tuple[Any, ...]:
    """A page of one cell, for first_copy_ideals."""
    one = np.array([0, 1])
    return (
        np.array([gain]), one, np.array([row], np.int32), one, np.array([copies], np.int32), np.ones(1, np.int32),
        np.zeros(1, bool), one, np.full((1, 1), weight), np.ones(1), np.zeros(1, np.int32),
    )  # fmt: skip


LIMITS: dict[str, tuple[str, tuple[Any, ...]]] = {
    "a page has 1 to 100,000,000 cells": (
        "score", (np.empty((0, 2**20, 2**20)), ONE, _native.Gain.LINEAR, _native.Ideal.NONE, True, 1),
    ),
    "a page with a category ideal has at most 10,000 rows": (
        "score",
        (np.ones((1, 10_001, 1)), np.ones((10_001, 1)), _native.Gain.LINEAR, _native.Ideal.CATEGORY, False, 1),
    ),
    "work_limit must be 0 to 1e18": (
        "candidate_ideals",
        (
            np.empty(0), NOTHING, np.empty(0, np.int32), NOTHING, np.empty(0, np.int32), np.empty(0, np.int32),
            NOTHING, np.empty(0, np.int32), ONE, 0.0, 10**18 + 1, 1,
        ),
    ),
    "width must be 0 to 100,000": ("first_copy_ideals", (*first_page(), 100_001, 1)),
    "weights must be at most 1": ("first_copy_ideals", (*first_page(weight=1.5), 10, 1)),
    "gains must be finite": ("first_copy_ideals", (*first_page(gain=np.inf), 10, 1)),
    "a row shows its items at least once": ("first_copy_ideals", (*first_page(copies=0), 10, 1)),
    "the items of a row must fit its slots and weights": ("first_copy_ideals", (*first_page(copies=2), 10, 1)),
    "the rows of an item must be among its page's": ("first_copy_ideals", (*first_page(row=1), 10, 1)),
    "pairs must be at most 1,000,000": (
        "sign_sums", (np.empty((0, 1_000_001), np.int64), np.empty(0, np.uint64), 10, 0, 1),
    ),
    "permutations must be 0 to 2\\^30": (
        "sign_sums", (np.empty((0, 1), np.int64), np.empty(0, np.uint64), 2**30 + 1, 0, 1),
    ),
    "columns and products must be at most 10,000": (
        "exact_sums", (np.empty((0, 10_001)), np.empty(0, np.int32), np.empty(0, np.int32)),
    ),
    "the band of a chain must have at most 100,000,000 entries": (
        "scan_chains",
        (np.empty((0, 10_000, 20_001)), *[np.empty((0, 10_000))] * 4, np.zeros(10_000, np.int64), 1, 1),
    ),
    "chains must have at most 2\\^48 cells in all": (  # as many that the product would wrap around to 0
        "scan_chains", (np.empty((2**59, 0, 1)), *[np.empty((2**59, 0))] * 4, np.zeros(0, np.int64), 32, 1),
    ),
    "pages must be at most 4,294,967,295": ("page_runs", (np.empty((0, 4), np.uint32), 2**32)),
    "grids must be at most 256": (
        "shown_carousels",
        (np.empty((0, 4), np.uint32), np.empty(0, np.uint32), np.empty(0, np.uint8), 257, 3),
    ),
}  # fmt: skip


@pytest.mark.parametrize("message", LIMITS)
def test_limits(message: str) -> None:
    name, arguments = LIMITS[message]
    with pytest.raises(ValueError, match=f"^{message}$"):
        getattr(_native, name)(*arguments)


def test_many_more_rows_than_categories() -> None:
    """The table of an assignment is as wide as it is high."""
    weights = np.random.default_rng(0).random((10_001, 1))
    with pytest.raises(ValueError, match=r"^a page with a category ideal has at most 10,000 rows$"):
        solve(np.ones(2), [[0], [1]], weights)


CHAIN = """
import threading
import numpy as np
from carouseval import _native
rows = 2000
pages = np.arange(1.0, rows + 1).reshape(1, rows, 1)
weights = np.ones((rows, 1))
weights[0] = 2
sources = []
def lay_out():
    source, bad = _native.layout(pages, weights, _native.Gain.LINEAR, _native.Ideal.CATEGORY, 1)
    sources.append(source[0, :, 0, 0])
threading.stack_size(128 * 1024)
thread = threading.Thread(target=lay_out)
thread.start()
thread.join()
assert sources[0].tolist() == [rows - 1, *range(rows - 1)]
"""


def test_long_chains_of_equal_rows() -> None:
    """Rows that change places one after the other, as far as the page goes, on a small stack."""
    done = subprocess.run([sys.executable, "-c", CHAIN], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, (done.returncode, done.stderr)


def test_more_copies_than_weights() -> None:
    """Copies that no cell is left for are never made."""
    copies = np.array([2**31 - 1, 3], np.int32)
    best = _native.largest_first(np.array([0, 2]), np.array([2.0, 1.0]), copies, np.array([1.0, 0.5]), 1)
    assert best == [3.0]


def misaligned(array: Any) -> Any:
    """The same values, one byte off."""
    room = np.empty(array.nbytes + 1, np.uint8)
    moved = room[1:].view(array.dtype).reshape(array.shape)
    moved[...] = array
    assert not moved.flags.aligned
    return moved


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
def test_misaligned_input_is_copied(dtype: Any) -> None:
    """Seen by the sanitizers, which refuse to read it in place."""
    pages, weights = np.arange(60).reshape(4, 3, 5).astype(dtype), np.random.default_rng(1).random((3, 5))
    settings = (_native.Gain.LINEAR, _native.Ideal.CATEGORY, False, 1)
    plain = _native.score(pages, weights, *settings)
    for moved, weights_moved in (misaligned(pages), misaligned(weights)), (pages[:, ::-1][:, ::-1], weights.copy("F")):
        np.testing.assert_equal(_native.score(moved, weights_moved, *settings), plain)


def test_an_unknown_item_in_the_last_cell() -> None:
    """A row of nothing but unknown items has no category, and nothing past the page is read."""
    line = np.array([[0, _native.NONE, 0, 1 << 16 | 1]], np.uint32)
    one, first = np.zeros(1, np.uint32), np.zeros(1, np.int64)
    found = _native.read_pages(
        line, first, first + 1, first, one, one, np.zeros(1, np.uint8), np.array([[1, 1]], np.int32), first,
        one[:0], np.empty(0, np.uint8), None, None, True, True, 1,
    )  # fmt: skip
    assert found[3] == [[_native.NONE]]
