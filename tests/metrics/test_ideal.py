"""The ideals against brute force on tiny pages and against SciPy's assignment on large ones."""

import itertools
from typing import Any, get_args

import numpy as np
import pytest

import carouseval as cv
from carouseval.metrics.gain_names import IdealName
from carouseval.metrics.ideal import rearranged
from tests import oracles

# huge gains are meant here, and test_large_gains.py tests the warning about them
pytestmark = pytest.mark.filterwarnings("ignore:.*the largest relevance is:carouseval.DataWarning")


def exp2_gain(relevance: float) -> float:
    return float(2**relevance - 1)


def random_relevance(rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
    kind = rng.integers(4)
    if kind == 0:
        return (rng.random(shape) < 0.4).astype(float)
    if kind == 1:
        return rng.integers(0, 4, shape).astype(float)
    if kind == 2:
        return rng.choice([0.0, 0.0, 0.5, 1.25, 3.0], shape)  # many ties
    return rng.random(shape) * 4


def random_holes(rng: np.random.Generator, page: Any) -> Any:
    """Ragged rows, holes, empty rows, or none of these."""
    kind = rng.integers(4)
    if kind == 1:
        for row in page:
            row[rng.integers(0, len(row) + 1) :] = np.nan
    elif kind == 2:
        page[rng.random(page.shape) < 0.3] = np.nan
    elif kind == 3:
        page[rng.random(len(page)) < 0.4] = np.nan
    return page


def random_weights(rng: np.random.Generator, shape: tuple[int, int]) -> Any:
    kind = rng.integers(4)
    if kind == 0:
        return cv.discounts.parse(str(rng.choice(["d_a", "d_rpd", "d_mul"]))).weights(cv.Grid(*shape, page_size=2))
    if kind == 1:
        return rng.random(shape) + 1e-3  # falls nowhere in particular
    if kind == 2:
        return rng.choice([0.0, 0.5, 1.0], shape) + np.eye(*shape) * 0.5  # ties and zeros
    return np.sort(rng.random(shape), axis=None)[::-1].reshape(shape)  # falls everywhere


def random_case(rng: np.random.Generator, most_rows: int, most_cols: int) -> tuple[Any, Any, Any]:
    """A page, and weights of a grid that is at least as large, perhaps cut off."""
    rows, cols = int(rng.integers(1, most_rows + 1)), int(rng.integers(1, most_cols + 1))
    page = random_holes(rng, random_relevance(rng, (rows, cols)))
    shape = (rows + int(rng.integers(0, 2)), cols + int(rng.integers(0, 2)))
    weights = random_weights(rng, shape)
    cutoff = None
    if rng.random() < 0.3:
        cutoff = (int(rng.integers(1, shape[0] + 1)), int(rng.integers(1, shape[1] + 1)))
    return page, weights, cutoff


def cut(weights: Any, cutoff: Any) -> Any:
    return weights if cutoff is None else oracles.apply_cutoff(weights, *cutoff)


@pytest.mark.parametrize("seed", range(8))
def test_the_category_ideal_is_the_best_of_all_arrangements(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(400):
        page, weights, cutoff = random_case(rng, 3, 4)
        categories = [(len(gains), gains) for gains in oracles.displayed_categories(page, exp2_gain)]
        expected = oracles.brute_category_ideal(categories, cut(weights, cutoff))
        found = cv.ideal_dcg2d(page, cv.discounts.Empirical(weights), cv.Grid(*weights.shape), cutoff=cutoff)
        assert found == pytest.approx(expected, rel=1e-12, abs=1e-15), (page.tolist(), weights.tolist(), cutoff)


@pytest.mark.parametrize(("rows", "cols"), [(10, 15), (16, 8), (17, 20), (33, 12), (60, 70), (100, 100)])
@pytest.mark.parametrize("discount", ["d_rpd", "random"])
def test_large_pages_against_scipys_assignment(rows: int, cols: int, discount: str) -> None:
    rng = np.random.default_rng(rows)
    grid = cv.Grid(rows, cols)
    weights = rng.random(grid.shape) if discount == "random" else cv.discounts.parse(discount).weights(grid)
    for _ in range(3 if rows > 50 else 25):
        page = random_holes(rng, random_relevance(rng, grid.shape))
        categories = [(len(gains), gains) for gains in oracles.displayed_categories(page, exp2_gain)]
        expected = oracles.assignment_category_ideal(categories, weights)
        found = cv.ideal_dcg2d(page, cv.discounts.Empirical(weights))
        assert found == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("mode", ["binary", "graded"])
def test_pages_of_the_study_under_weights_that_do_not_fall(mode: str) -> None:
    """Pages like the paper's, under weights that rise here and there: most need the assignment, not just the sort."""
    rng = np.random.default_rng(5)
    weights = cv.discounts.RowPage().weights(cv.RECGAZE) * rng.uniform(0.9, 1.1, cv.RECGAZE.shape)
    pages = (rng.random((2000, 10, 15)) < 0.15) * (rng.integers(1, 6, (2000, 10, 15)) if mode == "graded" else 1)
    ideals = cv.ideal_dcg2d(pages, cv.discounts.Empirical(weights))
    for page, found in zip(pages, ideals, strict=True):
        categories = [(15, gains) for gains in oracles.displayed_categories(page, exp2_gain)]
        assert found == pytest.approx(oracles.assignment_category_ideal(categories, weights), rel=1e-13)


def test_whole_number_weights_give_exact_ideals() -> None:
    """Counts as weights: every intermediate is a whole number, so the ideal must be exact."""
    rng = np.random.default_rng(6)
    weights = rng.integers(1, 1000, (10, 15)).astype(float)
    pages = rng.integers(0, 6, (300, 10, 15))
    for page, found in zip(pages, cv.ideal_dcg2d(pages, cv.discounts.Empirical(weights)), strict=True):
        categories = [(15, gains) for gains in oracles.displayed_categories(page, exp2_gain)]
        assert found == oracles.assignment_category_ideal(categories, weights)


def test_the_unconstrained_ideal_is_the_best_of_all_arrangements() -> None:
    rng = np.random.default_rng(7)
    for _ in range(150):
        page, weights, cutoff = random_case(rng, 2, 3)
        if weights.size > 7:
            continue
        gains = [exp2_gain(value) for value in page.ravel() if not np.isnan(value)]
        expected = oracles.brute_unconstrained_ideal(gains, cut(weights, cutoff))
        discount, grid = cv.discounts.Empirical(weights), cv.Grid(*weights.shape)
        found = cv.ideal_dcg2d(page, discount, grid, ideal="unconstrained", cutoff=cutoff)
        assert found == pytest.approx(expected, rel=1e-12, abs=1e-15)
    page, weights = random_relevance(rng, (40, 50)), rng.random((40, 50))
    found = cv.ideal_dcg2d(page, cv.discounts.Empirical(weights), ideal="unconstrained")
    gains = [exp2_gain(value) for value in page.ravel()]
    assert found == pytest.approx(oracles.sorted_unconstrained_ideal(gains, weights), rel=1e-13)


@pytest.mark.parametrize("ideal", ["category", "unconstrained"])
@pytest.mark.parametrize("seed", range(3))
def test_the_layout_reaches_the_score_it_claims(ideal: IdealName, seed: int) -> None:
    rng = np.random.default_rng(200 + seed)
    for _ in range(300):
        page, weights, cutoff = random_case(rng, 6, 7)
        grid, discount = cv.Grid(*weights.shape), cv.discounts.Empirical(weights)
        source = cv.ideal_layout(page, discount, grid, ideal=ideal, cutoff=cutoff)
        assert source.shape == (*grid.shape, 2)
        best = rearranged(page, source)
        claimed = cv.ideal_dcg2d(page, discount, grid, ideal=ideal, cutoff=cutoff)
        assert cv.dcg2d(best, discount, grid, cutoff=cutoff) == pytest.approx(claimed, rel=1e-12, abs=1e-15)

        used = [tuple(cell) for cell in source.reshape(-1, 2).tolist() if cell[0] >= 0]
        assert len(used) == len(set(used))
        assert all(not np.isnan(page[cell]) for cell in used)
        assert len(used) == np.sum(~np.isnan(page))  # every item is shown
        if ideal == "category":
            for row in source:
                assert len({r for r, _ in row.tolist() if r >= 0}) <= 1
        if claimed > 0 and ideal == "category":
            assert cv.n2dcg_cat(best, discount, grid, cutoff=cutoff) == 1.0


def test_of_equal_layouts_the_earliest_sources_come_first() -> None:
    """On pages full of ties, compare the rows with every assignment that reaches the ideal."""
    rng = np.random.default_rng(8)
    for _ in range(300):
        rows, cols = int(rng.integers(2, 5)), int(rng.integers(1, 3))
        page = rng.integers(0, 2, (rows, cols)).astype(float)
        weights = rng.choice([0.0, 0.5, 1.0], (rows, cols))
        weights[0, 0] = 1.0
        sums = np.sort(page, axis=1) @ np.sort(weights, axis=1).T  # category x row
        totals = {order: sum(sums[k, i] for i, k in enumerate(order)) for order in itertools.permutations(range(rows))}
        earliest = min(order for order, total in totals.items() if np.isclose(total, max(totals.values())))
        source = cv.ideal_layout(page, cv.discounts.Empirical(weights))
        assert tuple(source[:, 0, 0].tolist()) == earliest, (page, weights)


def test_ties_are_settled_down_to_the_last_row() -> None:
    """Twenty equal categories stay where they are; of two kinds, each kind keeps its order."""
    flat = cv.discounts.Empirical(np.ones((20, 2)))
    assert cv.ideal_layout(np.ones((20, 2)), flat)[:, 0, 0].tolist() == list(range(20))
    page = np.array([[k % 2, 0] for k in range(20)])
    steep = cv.discounts.Empirical(np.repeat([[2.0, 1.0], [1.0, 0.5]], 10, axis=0))
    expected = [*range(1, 20, 2), *range(0, 20, 2)]
    assert cv.ideal_layout(page, steep)[:, 0, 0].tolist() == expected


@pytest.mark.parametrize("top", [5, 31, 44, 200])
@pytest.mark.parametrize("rows", [3, 10, 60])
def test_small_gains_count_beside_huge_ones(top: int, rows: int) -> None:
    """One item dwarfs the rest, which must be in order all the same."""
    rng = np.random.default_rng(top)
    page = rng.integers(0, 6, (rows, 1)).astype(float)
    page[rows // 2] = top
    best = rearranged(page, cv.ideal_layout(page, "d_a"))[:, 0]
    assert best.tolist() == sorted(page[:, 0].tolist(), reverse=True)
    exact = cv.discounts.Empirical(np.arange(rows, 0, -1.0)[:, None])
    if top < 45:
        wanted = sum((2 ** int(g) - 1) * w for g, w in zip(best, range(rows, 0, -1), strict=True))
        assert cv.ideal_dcg2d(page, exact) == wanted


def test_whole_numbers_are_exact_next_to_huge_ones() -> None:
    table = [[2.0**25], [1.0], [2.0]]
    assert cv.ideal_dcg2d(table, cv.discounts.Empirical(table), gain="linear") == 2**50 + 5


def test_equal_items_and_equal_cells_are_taken_in_order() -> None:
    flat = cv.discounts.Empirical(np.ones((2, 3)))
    untouched = np.moveaxis(np.indices((2, 3)), 0, -1)
    for ideal in get_args(IdealName):
        np.testing.assert_array_equal(cv.ideal_layout(np.ones((2, 3)), flat, ideal=ideal), untouched)


def test_holes_and_missing_rows_in_the_layout() -> None:
    nan = np.nan
    page = np.array([[0, nan, 1], [nan, nan, nan], [2, nan, nan]])
    falling = cv.discounts.Empirical(np.arange(9, 0, -1.0).reshape(3, 3))
    assert rearranged(page, cv.ideal_layout(page, falling)).tolist()[0][0] == 2
    best = rearranged(page, cv.ideal_layout(page, falling))
    np.testing.assert_array_equal(best, [[2, nan, nan], [1, 0, nan], [nan, nan, nan]])
    closed = rearranged(page, cv.ideal_layout(page, falling, ideal="unconstrained"))
    np.testing.assert_array_equal(closed, [[2, 1, 0], [nan, nan, nan], [nan, nan, nan]])


def test_a_short_category_only_reaches_its_own_columns() -> None:
    """m_k is the column of a row's last item: a row of one item cannot use a heavier cell further right."""
    rising = cv.discounts.Empirical([[1.0, 5.0], [1.0, 2.0]])
    assert cv.ideal_dcg2d([[1, np.nan], [0, 0]], rising) == 1.0
    assert cv.ideal_dcg2d([[1, 0], [0, 0]], rising) == 5.0
    assert cv.ideal_dcg2d([[np.nan, 1], [0, 0]], rising) == 5.0


def test_rows_past_the_last_occupied_one_stay_empty() -> None:
    """K = 2 categories take rows 1 and 2, even where row 3 weighs more."""
    heavy_end = cv.discounts.Empirical([[1.0], [2.0], [9.0]])
    nan = np.nan
    assert cv.ideal_dcg2d([[1], [1], [nan]], heavy_end) == 3.0
    assert cv.ideal_dcg2d([[1], [nan], [1]], heavy_end) == 11.0
    assert cv.ideal_dcg2d([[1]], heavy_end, cv.Grid(3, 1)) == 1.0


@pytest.mark.parametrize("shape", [(2, 3000), (40, 300)])
def test_wide_ragged_pages(shape: tuple[int, int]) -> None:
    """Rows longer than any sorting network, and more row lengths than tables are kept for."""
    rng = np.random.default_rng(3)
    page, weights = rng.random(shape), rng.random(shape)
    for row in page:
        row[rng.integers(1, shape[1]) :] = np.nan
    categories = [(len(gains), gains) for gains in oracles.displayed_categories(page, exp2_gain)]
    expected = oracles.assignment_category_ideal(categories, weights)
    assert cv.ideal_dcg2d(page, cv.discounts.Empirical(weights)) == pytest.approx(expected, rel=1e-12)
