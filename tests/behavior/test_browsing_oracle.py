"""The oracle of browsing against itself: pages worked by hand, closed forms, linear equations and people drawn."""

import math
from fractions import Fraction
from itertools import pairwise, product
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import carouseval as cv
from tests.behavior.browsing_oracle import (
    Number,
    Outcome,
    Parameters,
    draw_row_page,
    draw_scan,
    page_size,
    row_column_outcomes,
    row_page_outcomes,
    scan_start,
    scan_steps,
    scan_summary,
    summary,
)
from tests.depth import pairs

E, KAPPA, BETA, RHO, W = Fraction(9, 10), Fraction(4, 5), Fraction(2, 3), Fraction(3, 4), Fraction(1, 5)
SIGMA1, SIGMA2, TOP, FADE = Fraction(1, 3), Fraction(5, 7), Fraction(1, 2), Fraction(2, 5)
ROW_PAGE: Parameters = {
    "e": E,
    "kappa": KAPPA,
    "beta": BETA,
    "sigma1": SIGMA1,
    "sigma2": SIGMA2,
    "rho": RHO,
    "w": W,
    "sigma1_top": TOP,
    "fade": FADE,
}
ROW_COLUMN: Parameters = {"e": E, "kappa": KAPPA, "beta": BETA}
SCAN: Parameters = {
    "e": 0.9,
    "back": 0.3,
    "swipe": 0.4,
    "swipe_on": 0.6,
    "swipe_back": 0.2,
    "scroll": 0.5,
    "scroll_back": 0.15,
    "lost": 0.1,
    "leave": 0.25,
    "row_spread": 0.3,
    "page_spread": 0.6,
    "wrap": True,
}
STILL: Parameters = dict.fromkeys(SCAN, 0.0) | {"e": 0.9, "leave": 0.25}  # reads on and leaves, no more

# partial last pages, a page wider than its row, one column per page, steps that are not pages, rows that differ
GRIDS = [
    cv.Grid(1, 1, 1),
    cv.Grid(2, 1, 3, 1),
    cv.Grid(1, 2, 5),
    cv.Grid(2, 3, 2, 1),
    cv.Grid(2, 4, 3, 1, 1),
    cv.Grid(3, 3, 1, 1, 2, 2),
    cv.Grid(1, 5, 2),
    cv.Grid(3, 4, 2, 2, 3),
    cv.Grid(1, 7, 3, 1, 2),
    cv.Grid(2, 3, (1, 2), 1),
    cv.Grid(3, 3, (2, 5, 1), 1, 1),
    cv.Grid(2, 4, (3, 1), 1, 2),
]
SMALL = [grid for grid in GRIDS if grid.rows * grid.cols <= 9]


def some_gains(grid: cv.Grid) -> list[list[int]]:
    """Gains that tell cells apart."""
    return [[1 + (3 * i + 5 * j) % 7 for j in range(grid.cols)] for i in range(grid.rows)]


def ones(grid: cv.Grid) -> list[list[int]]:
    return [[1] * grid.cols for _ in range(grid.rows)]


def looks_of(outcomes: list[Outcome]) -> dict[tuple[tuple[int, int], ...], Number]:
    """The probability of each sequence of looks that is possible."""
    found: dict[tuple[tuple[int, int], ...], Number] = {}
    for outcome in outcomes:
        if outcome.probability:
            found[outcome.looks] = found.get(outcome.looks, 0) + outcome.probability
    return found


# --- the acyclic models ---


@pytest.mark.parametrize("grid", GRIDS, ids=repr)
def test_paths_are_all_there_are(grid: cv.Grid) -> None:
    for outcomes in row_page_outcomes(ROW_PAGE, grid), row_column_outcomes(ROW_COLUMN, grid):
        assert sum(outcome.probability for outcome in outcomes) == 1
        assert all(outcome.probability > 0 for outcome in outcomes)
        gains = some_gains(grid)
        found = summary(outcomes, grid, gains)
        cells = list(product(range(grid.rows), range(grid.cols)))
        assert found.looks == sum(found.visits[i][j] for i, j in cells)
        assert found.total == sum(found.weights[i][j] * gains[i][j] for i, j in cells)
        # the second moment by pairs of items, each pair by its own sum over the paths
        both = sum(
            gains[a[0]][a[1]] * gains[b[0]][b[1]] * outcome.probability
            for outcome in outcomes
            for a, b in product(set(outcome.looks), repeat=2)
        )
        assert found.variance == both - found.total**2


def actions_to(position: int, visible: int, step: int) -> int:
    return max(0, math.ceil(Fraction(position - visible, step)))


def scrolls_of_rows(grid: cv.Grid) -> Fraction:
    """The expected scrolls of the acyclic models."""
    n_v = [actions_to(i, grid.visible_rows, grid.scroll_step) for i in range(1, grid.rows + 1)]
    return E * sum((KAPPA**i * (n_v[i] - n_v[i - 1]) for i in range(1, grid.rows)), Fraction(0))


@pytest.mark.parametrize("fade", [Fraction(0), FADE, Fraction(1)])
@pytest.mark.parametrize("grid", GRIDS, ids=repr)
def test_marginals_and_actions_of_row_page_browsing(grid: cv.Grid, fade: Fraction) -> None:
    found = summary(row_page_outcomes({**ROW_PAGE, "fade": fade}, grid), grid, ones(grid))
    swipes = Fraction(0)
    for i, j in product(range(1, grid.rows + 1), range(1, grid.cols + 1)):
        delta = page_size(i, grid)
        page, slot = (j - 1) // delta + 1, (j - 1) % delta + 1
        if page == 1:
            inside = 1 - (1 - BETA ** (slot - 1)) * (1 - W * BETA ** (delta - slot))
        else:
            swipe = TOP if i == 1 else SIGMA1 + (TOP - SIGMA1) * fade ** (i - 1)
            inside = swipe * SIGMA2 ** (page - 2) * RHO ** (delta - slot)
            if slot == 1:  # once per page
                ends = min(page * delta, grid.cols), (page - 1) * delta
                there, before = (actions_to(end, delta, grid.swipe_step or delta) for end in ends)
                swipes += E * KAPPA ** (i - 1) * swipe * SIGMA2 ** (page - 2) * (there - before)
        assert found.weights[i - 1][j - 1] == E * KAPPA ** (i - 1) * inside
    assert (found.swipes, found.scrolls) == (swipes, scrolls_of_rows(grid))


@pytest.mark.parametrize("grid", GRIDS, ids=repr)
def test_marginals_and_actions_of_row_column_browsing(grid: cv.Grid) -> None:
    found = summary(row_column_outcomes(ROW_COLUMN, grid), grid, ones(grid))
    swipes = []
    for i in range(1, grid.rows + 1):
        delta = page_size(i, grid)
        n_h = [actions_to(j, delta, grid.swipe_step or delta) for j in range(1, grid.cols + 1)]
        swipes.append(sum(BETA**j * (n_h[j] - n_h[j - 1]) for j in range(1, grid.cols)))
    assert found.weights == [[E * KAPPA**i * BETA**j for j in range(grid.cols)] for i in range(grid.rows)]
    assert found.visits == found.weights
    assert found.swipes == sum(E * KAPPA**i * swipes[i] for i in range(grid.rows))
    assert found.scrolls == scrolls_of_rows(grid)


def test_one_cell() -> None:
    grid = cv.Grid(1, 1, 1)
    outcomes = row_page_outcomes(ROW_PAGE, grid)
    first = (0, 0)
    assert looks_of(outcomes) == {(): 1 - E, (first,): E * (1 - W), (first, first): E * W}
    found = summary(outcomes, grid, [[3]])
    assert (found.weights, found.visits, found.looks) == ([[E]], [[E * (1 + W)]], E * (1 + W))
    assert (found.total, found.variance) == (3 * E, 9 * E * (1 - E))
    assert (found.swipes, found.scrolls, found.browsing) == (0, 0, 0)
    # from a virtual second slot, the way back to the first takes one more beta
    assert summary(row_page_outcomes(ROW_PAGE, cv.Grid(1, 1, 2)), grid, [[3]]).visits == [[E * (1 + W * BETA)]]
    assert looks_of(row_column_outcomes(ROW_COLUMN, grid)) == {(): 1 - E, (first,): E}


def test_two_cells_beside_each_other() -> None:
    grid = cv.Grid(1, 2, 2)
    a, b = (0, 0), (0, 1)
    on, stop = BETA, 1 - BETA
    assert looks_of(row_page_outcomes(ROW_PAGE, grid)) == {
        (): 1 - E,
        (a,): E * stop * (1 - W),
        (a, b): E * (stop * W * stop + on * (1 - W)),
        (a, b, a): E * stop * W * on,
        (a, b, b): E * on * W * stop,
        (a, b, b, a): E * on * W * on,
    }
    found = summary(row_column_outcomes(ROW_COLUMN, grid), grid, [[1, 10]])
    assert (found.total, found.swipes) == (E * (1 + 10 * on), 0)
    assert found.variance == E * (stop * 1 + on * 121) - found.total**2


def test_two_cells_below_each_other() -> None:
    grid = cv.Grid(2, 1, 1, 1)
    a, b = (0, 0), (1, 0)
    down = {**ROW_PAGE, "w": Fraction(0)}
    for outcomes in row_page_outcomes(down, grid), row_column_outcomes(ROW_COLUMN, grid):
        assert looks_of(outcomes) == {(): 1 - E, (a,): E * (1 - KAPPA), (a, b): E * KAPPA}
        assert summary(outcomes, grid, ones(grid)).scrolls == E * KAPPA
    assert summary(row_page_outcomes(down, cv.Grid(2, 1, 1, 2)), grid, ones(grid)).scrolls == 0


def test_rows_of_two_pages() -> None:
    read_on: Parameters = {**ROW_PAGE, "beta": Fraction(1), "w": Fraction(0)}
    # a partial second page: its one item stands in slot 1, behind a slot that is passed
    grid = cv.Grid(1, 3, 2)
    a, b, c = (0, 0), (0, 1), (0, 2)
    assert looks_of(row_page_outcomes(read_on, grid)) == {
        (): 1 - E,
        (a, b): E * (1 - TOP * RHO),
        (a, b, c): E * TOP * RHO,
    }
    assert summary(row_page_outcomes(read_on, grid), grid, ones(grid)).swipes == E * TOP
    # a full one is read from the right; two swipes of one column bring it whole
    grid = cv.Grid(1, 4, 2, swipe_step=1)
    d = (0, 3)
    assert looks_of(row_page_outcomes(read_on, grid)) == {
        (): 1 - E,
        (a, b): E * (1 - TOP),
        (a, b, d): E * TOP * (1 - RHO),
        (a, b, d, c): E * TOP * RHO,
    }
    assert summary(row_page_outcomes(read_on, grid), grid, ones(grid)).swipes == 2 * E * TOP
    # three pages of one column; the second row's first swipe has faded
    grid = cv.Grid(2, 3, 1)
    found = summary(row_page_outcomes(read_on, grid), grid, ones(grid))
    swipe = SIGMA1 + (TOP - SIGMA1) * FADE
    assert found.weights == [
        [E, E * TOP, E * TOP * SIGMA2],
        [E * KAPPA, E * KAPPA * swipe, E * KAPPA * swipe * SIGMA2],
    ]
    assert found.swipes == E * (TOP + KAPPA * swipe) * (1 + SIGMA2)


# --- the Markov scan ---


def test_scan_of_one_cell() -> None:
    found = scan_summary({**STILL, "lost": 0.5}, cv.Grid(1, 1, 1), [[3.0]])
    assert found.weights == [[pytest.approx(0.9, abs=1e-12)]]
    assert found.looks == pytest.approx(0.9 * (0.5 + 0.25) / 0.25, abs=1e-11)
    assert (found.swipes, found.scrolls) == (0, 0)
    assert found.total == pytest.approx(2.7, abs=1e-12)
    assert found.variance == pytest.approx(9 * 0.9 * 0.1, abs=1e-11)
    assert 0 <= found.browsing < 1e-13


def test_scan_of_two_cells_beside_each_other() -> None:
    back, leave = 0.3, 0.25
    read, return_ = 1 / (1 + leave), back / (back + leave)
    found = scan_summary({**STILL, "back": back}, cv.Grid(1, 2, 2), [[1.0, 10.0]])
    first = 0.9 / (1 - read * return_)
    assert found.visits == [pytest.approx([first, first * read], abs=1e-11)]
    assert found.weights == [pytest.approx([0.9, 0.9 * read], abs=1e-12)]
    assert found.variance == pytest.approx(0.9 * (1 - read + 121 * read) - found.total**2, abs=1e-10)
    # landing on either slot: 0.9 in all, shared 2 : 1
    found = scan_summary({**STILL, "row_spread": 0.5}, cv.Grid(1, 2, 2), [[1.0, 10.0]])
    assert found.visits == [pytest.approx([0.6, 0.3 + 0.6 * read], abs=1e-12)]


def test_scan_of_two_cells_below_each_other() -> None:
    scroll, scroll_back, leave = 0.5, 0.2, 0.25
    down, up = scroll / (scroll + leave), scroll_back / (scroll_back + leave)
    moves = {**STILL, "scroll": scroll, "scroll_back": scroll_back}
    found = scan_summary(moves, cv.Grid(2, 1, 1, 1), [[1.0], [1.0]])
    first = 0.9 / (1 - down * up)
    assert [row[0] for row in found.visits] == pytest.approx([first, first * down], abs=1e-11)
    assert [row[0] for row in found.weights] == pytest.approx([0.9, 0.9 * down], abs=1e-12)
    assert found.scrolls == pytest.approx(first * down * (1 + up), abs=1e-11)
    assert scan_summary(moves, cv.Grid(2, 1, 1, 2), [[1.0], [1.0]]).scrolls == 0


def possible(parameters: Parameters, grid: cv.Grid, column: int) -> dict[int, tuple[Any, int]]:
    """The columns that a step from one of row 1 may lead to, with its probability and swipes."""
    steps = scan_steps(parameters, grid, (1, column))
    return {step.to[1]: (step.probability, step.swipes) for step in steps if step.to and step.probability}


def test_scan_of_two_pages() -> None:
    swipe, swipe_on, swipe_back, leave = 0.4, 0.6, 0.2, 0.25
    moves = {**STILL, "swipe": swipe, "swipe_on": swipe_on, "swipe_back": swipe_back}
    forth = swipe / (swipe + leave)
    for wrap, rate in (False, swipe_back), (True, swipe_back + swipe_on):
        found = scan_summary({**moves, "wrap": wrap}, cv.Grid(1, 2, 1), [[1.0, 1.0]])
        again = rate / (rate + leave)
        first = 0.9 / (1 - forth * again)
        assert found.visits == [pytest.approx([first, first * forth], abs=1e-11)]
        assert found.swipes == pytest.approx(first * forth * (1 + again), abs=1e-11)
    # a swipe lands on the right of a later page, and reading goes leftwards there
    assert possible({**moves, "wrap": False}, cv.Grid(1, 5, 3), 3) == {
        5: (pytest.approx(swipe / (swipe + leave)), 1),
    }
    assert possible({**moves, "back": 0.3}, cv.Grid(1, 5, 3), 5) == {
        4: (pytest.approx(1 / (1 + swipe_back + leave)), 0),
        1: (pytest.approx(swipe_back / (1 + swipe_back + leave)), 1),
    }
    # one column at a time: two swipes bring a full page, one the partial third; a wrap is one swipe however far
    grid = cv.Grid(1, 5, 2, swipe_step=1)
    assert possible(moves, grid, 2)[4] == (pytest.approx(swipe / (swipe + leave)), 2)
    assert possible({**moves, "wrap": True}, grid, 5) == {
        2: (pytest.approx(swipe_on / (swipe_on + swipe_back + leave)), 1),
        3: (pytest.approx(swipe_back / (swipe_on + swipe_back + leave)), 1),
    }


def test_lost_moves_cost_what_they_cross() -> None:
    """Half of all lost moves change the row, half of them cost a swipe: from anywhere, and one is made on average."""
    found = scan_summary({**STILL, "lost": 1.0, "leave": 1.0, "e": 0.8}, cv.Grid(2, 2, 1, 1), np.ones((2, 2)))
    assert (found.swipes, found.scrolls) == pytest.approx((0.4, 0.4), abs=1e-11)
    assert found.looks == pytest.approx(1.6, abs=1e-11)
    steps = scan_steps({**STILL, "lost": 1.0}, cv.Grid(2, 6, 2, 1), (2, 5))
    lost = {step.to: (step.swipes, step.scrolls) for step in steps if step.to is not None}
    assert (lost[2, 1], lost[2, 4], lost[2, 6]) == ((2, 0), (1, 0), (0, 0))
    assert (lost[1, 1], lost[1, 4], lost[1, 6]) == ((0, 1), (1, 1), (2, 1))


def equations(parameters: Parameters, grid: cv.Grid) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Where a scan starts, its matrix of moves P, and the swipes and scrolls to expect of each cell's next move."""
    cells = list(product(range(1, grid.rows + 1), range(1, grid.cols + 1)))
    start = np.array([scan_start(parameters, grid).get(cell, 0.0) for cell in cells])
    moves, actions = np.zeros((len(cells), len(cells))), np.zeros((len(cells), 2))
    for k, cell in enumerate(cells):
        steps = scan_steps(parameters, grid, cell)
        assert sum(step.probability for step in steps) == pytest.approx(1)
        for step in steps:
            actions[k] += step.probability * step.swipes, step.probability * step.scrolls
            if step.to is not None:
                moves[k, cells.index(step.to)] += step.probability
    return start, moves, actions


@pytest.mark.parametrize(("grid", "wrap"), pairs(SMALL, [False, True]), ids=repr)
def test_scan_by_linear_equations(grid: cv.Grid, wrap: bool) -> None:
    """Visits solve x = start + x P; P(ever seen) is what flows into a cell that lets nothing out."""
    found = scan_summary({**SCAN, "wrap": wrap}, grid, some_gains(grid))
    start, moves, actions = equations({**SCAN, "wrap": wrap}, grid)
    assert start.sum() == pytest.approx(0.9)
    visits = np.linalg.solve(np.eye(len(start)) - moves.T, start)
    np.testing.assert_allclose(np.ravel(np.array(found.visits)), visits, rtol=1e-10)
    assert (found.swipes, found.scrolls) == pytest.approx(tuple(visits @ actions), rel=1e-10)
    assert found.looks == pytest.approx(visits.sum(), rel=1e-10)
    for k in range(len(start)):
        kept = moves.copy()
        kept[k] = 0
        seen = np.linalg.solve(np.eye(len(start)) - kept.T, start)[k]
        assert np.ravel(np.array(found.weights))[k] == pytest.approx(seen, rel=1e-10)
    assert found.total == pytest.approx((np.array(found.weights) * some_gains(grid)).sum(), rel=1e-12)


def test_a_scan_without_end_is_refused() -> None:
    endless = {**SCAN, "leave": 0.0}
    with pytest.raises(ValueError, match="leave must be positive"):
        scan_summary(endless, cv.Grid(1, 1, 1), [[1.0]])
    with pytest.raises(ValueError, match="leave must be positive"):
        draw_scan(endless, cv.Grid(1, 1, 1), np.random.default_rng(0), 1)


def test_the_rest_of_a_scan_is_reported() -> None:
    whole = scan_summary(SCAN, cv.Grid(2, 3, 2), np.ones((2, 3)))
    cut = scan_summary(SCAN, cv.Grid(2, 3, 2), np.ones((2, 3)), remainder=0.01)
    assert 0 < cut.browsing < 0.01
    short = np.array(whole.weights) - np.array(cut.weights)
    assert (short >= 0).all()
    assert (short <= cut.browsing).all()


# --- people drawn, against all paths ---


def agree(means: NDArray[Any], errors: NDArray[Any], expected: NDArray[Any]) -> None:
    """All means at once, at a level of one false alarm in a thousand; without any spread they are equal."""
    bound = NormalDist().inv_cdf(1 - 0.001 / (2 * means.size))
    assert (np.abs(means - expected) <= bound * errors + 1e-12).all(), (means, errors, expected)


def pairs_seen(examined: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The share of people who examined both of two cells, for every two; the diagonal is a cell alone."""
    flat = examined.reshape(len(examined), -1).astype(float)
    shares: NDArray[np.float64] = flat.T @ flat / len(flat)
    return shares


@pytest.mark.parametrize("grid", GRIDS, ids=repr)
def test_people_browse_rows_and_pages(grid: cv.Grid) -> None:
    people = 20_000
    examined = draw_row_page(ROW_PAGE, grid, np.random.default_rng(20), people)
    assert examined.shape == (people, grid.rows, grid.cols)
    pairs = np.zeros((grid.rows * grid.cols,) * 2)
    for outcome in row_page_outcomes(ROW_PAGE, grid):
        seen = [i * grid.cols + j for i, j in set(outcome.looks)]
        pairs[np.ix_(seen, seen)] += float(outcome.probability)
    agree(pairs_seen(examined), np.sqrt(np.maximum(pairs * (1 - pairs), 0) / people), pairs)


@pytest.mark.parametrize(("grid", "wrap"), pairs(SMALL, [False, True]), ids=repr)
def test_people_scan(grid: cv.Grid, wrap: bool) -> None:
    people = 20_000
    parameters = {**SCAN, "wrap": wrap}
    gains = some_gains(grid)
    paths = draw_scan(parameters, grid, np.random.default_rng(21), people)
    visits = np.zeros((people, grid.rows, grid.cols))
    for person, path in enumerate(paths):
        for cell in path:
            visits[person][cell] += 1
    found = scan_summary(parameters, grid, gains)
    weights = np.array(found.weights)
    agree((visits > 0).mean(axis=0), np.sqrt(weights * (1 - weights) / people), weights)
    agree(visits.mean(axis=0), visits.std(axis=0) / math.sqrt(people), np.array(found.visits))
    totals = ((visits > 0) * np.array(gains)).sum(axis=(1, 2))
    squares = (totals - found.total) ** 2
    agree(squares.mean(), squares.std() / math.sqrt(people), np.array(found.variance))


def test_actions_of_people_who_scan() -> None:
    """Without wraps a path tells its actions: a move to another row starts from its page 1, one in a row does not."""
    grid = cv.Grid(3, 5, 2, 1, 1)
    people = 20_000
    parameters = {**SCAN, "wrap": False, "lost": 0.6}
    n_h, n_v = [0, 0, 2, 2, 3], [0, 1, 2]  # swipes until each column's page shows whole, scrolls until each row shows
    taken = np.zeros((people, 2))
    for person, path in enumerate(draw_scan(parameters, grid, np.random.default_rng(22), people)):
        for (i, j), (row, col) in pairwise(path):
            taken[person] += abs(n_h[col] - (n_h[j] if row == i else 0)), abs(n_v[row] - n_v[i])
    # sets of 15 cells are too many to follow, and actions do not need them
    start, moves, actions = equations(parameters, grid)
    expected = np.linalg.solve(np.eye(len(start)) - moves.T, start) @ actions
    agree(taken.mean(axis=0), taken.std(axis=0) / math.sqrt(people), expected)
