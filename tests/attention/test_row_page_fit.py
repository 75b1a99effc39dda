"""Fits of d_rpb: against SciPy from many starts, against slopes known in closed form, alone and in company."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize
from threadpoolctl import threadpool_limits

import carouseval as cv
from carouseval.attention import fit_likelihood, likelihood_problem, recgaze_counts
from carouseval.attention.fisher_scoring import BinomialCounts
from carouseval.attention.likelihood_problem import BOUND, LikelihoodProblem
from carouseval.attention.parameters import as_form
from carouseval.attention.recgaze_data import RecgazeGroup
from carouseval.metrics.discounts import RowPageBrowsing

Array = NDArray[np.float64]
NAMES = [form.name for form in RowPageBrowsing.forms if form.symbol == "d_rpb" and not form.is_mixture]
GRIDS = {
    "one row": cv.Grid(1, 15),
    "one column": cv.Grid(8, 1),
    "one page": cv.Grid(6, 5, page_size=5),
    "wide page": cv.Grid(6, 5, page_size=9),
    "partial page": cv.Grid(7, 13, page_size=5),
    "pages of one": cv.Grid(5, 6, page_size=1),
    "rows that differ": cv.Grid(6, 11, page_size=(1, 4, 4, 4, 5, 20)),
    "television": cv.TV,
}


def recgaze(group: RecgazeGroup) -> tuple[Array, Array]:
    seen = recgaze_counts(group)
    counts = seen.counts.reshape(1, -1).astype(np.float64)
    return counts, np.full_like(counts, seen.screens)


def simulated(grid: cv.Grid, problems: int, missing: float = 0.0) -> tuple[Array, Array]:
    """Counts of people who browse as in Bratislava; ``missing``: the share of cells nobody was shown."""
    rng = np.random.default_rng([grid.rows, grid.cols, *grid.page_sizes.ravel()])
    chances = RowPageBrowsing().weights(grid).ravel()
    screens = rng.integers(200, 900, (problems, chances.size)) * (rng.random((problems, chances.size)) >= missing)
    return rng.binomial(screens, chances).astype(np.float64), screens.astype(np.float64)


def log_likelihood(problem: LikelihoodProblem, counts: Array, screens: Array) -> Callable[[Array], Array]:
    """A function of points (points, parameters)."""
    data = BinomialCounts(counts, screens)
    return lambda at: data.log_likelihood(problem.probabilities(at), np.zeros(len(at), np.int64))


def with_slope(value: Callable[[Array], Array], at: Array, step: float = 1e-4) -> tuple[float, Array]:
    moves = step * np.eye(len(at))
    here, *around = value(at + np.concatenate([0 * moves[:1], moves, -moves]))
    up, down = np.split(np.array(around), 2)
    return here, (up - down) / (2 * step)


def assert_scipy_gets_no_further(name: str, grid: cv.Grid, counts: Array, screens: Array) -> None:
    problem = LikelihoodProblem(as_form(name), grid)
    found, value = problem.fit(counts, screens), log_likelihood(problem, counts, screens)
    np.testing.assert_allclose(value(found.point), found.log_likelihood, rtol=1e-14)
    assert found.converged.all()

    def lost(at: Array) -> tuple[float, Array]:
        here, slope = with_slope(value, at)
        return -here, -slope

    starts = np.random.default_rng(5).normal(0, 2, (6, len(problem.form.free)))
    bounds = [(-BOUND, BOUND)] * starts.shape[1]
    with threadpool_limits(1):  # of BLAS, whose threads on small matrices only wait for each other
        reached = max(-minimize(lost, start, jac=True, method="L-BFGS-B", bounds=bounds).fun for start in starts)
    assert found.log_likelihood[0] - 0.5 <= reached <= found.log_likelihood[0] + 1e-6


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("group", ["bratislava", "amsterdam"])
def test_scipy_gets_no_further_on_recgaze(group: RecgazeGroup, name: str) -> None:
    assert_scipy_gets_no_further(name, cv.RECGAZE, *recgaze(group))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shape", GRIDS)
def test_scipy_gets_no_further_on_other_grids(shape: str, name: str) -> None:
    assert_scipy_gets_no_further(name, GRIDS[shape], *simulated(GRIDS[shape], 1, missing=0.2))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("group", ["bratislava", "amsterdam"])
def test_there_is_no_slope_at_the_top(group: RecgazeGroup, name: str) -> None:
    problem, data = LikelihoodProblem(as_form(name), cv.RECGAZE), recgaze(group)
    found = problem.fit(*data)
    _, slope = with_slope(log_likelihood(problem, *data), found.point[0])
    inside = np.abs(found.point[0]) < BOUND - 1
    sizes = np.sqrt(np.diag(found.information[0]))
    assert (np.abs(slope) < 1e-3 * sizes + 1e-5)[inside].all()


@pytest.mark.parametrize("shape", GRIDS)
def test_slopes_are_those_of_the_formula(shape: str) -> None:
    """Of six parameters a chance is a product of powers of shares: its slope by log-odds is chance * power * rest."""
    grid = GRIDS[shape]
    found = LikelihoodProblem(as_form("six"), grid).fit(*simulated(grid, 3))
    first, row, left = grid.swipe_page == 1, grid.row_index - 1, grid.slot - 1
    powers = {
        "e": 1,
        "kappa": row,
        "beta": np.where(first, left, 0),
        "sigma1": ~first,
        "sigma2": np.where(first, 0, grid.swipe_page - 2),
        "rho": np.where(first, 0, grid.page_sizes - 1 - left),
    }
    power = np.stack([np.broadcast_to(one, grid.shape).ravel() for one in powers.values()], axis=-1)
    rest = 1 / (1 + np.exp(found.point))
    expected = found.probabilities[:, :, None] * power * rest[:, None, :]
    np.testing.assert_allclose(found.jacobian, expected, rtol=1e-7, atol=1e-10)


def test_the_best_start_is_kept() -> None:
    nine, (counts, screens) = LikelihoodProblem(as_form("all nine"), cv.RECGAZE), recgaze("amsterdam")
    starts = np.random.default_rng(7).normal(0, 2, (1, 20, 9))
    reached = [nine.fit(counts, screens, starts[:, k : k + 1]).log_likelihood[0] for k in range(20)]
    assert max(reached) - min(reached) > 1
    assert nine.fit(counts, screens, starts).log_likelihood[0] == pytest.approx(max(reached), abs=1e-6)


@pytest.mark.parametrize("name", ["six", "edges, novelty"])
def test_company_changes_nothing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether problems are fitted all at once, some at a time or one by one."""
    counts, screens = simulated(cv.RECGAZE, 9, missing=0.1)
    fit = LikelihoodProblem(as_form(name), cv.RECGAZE).fit
    together = fit(counts, screens)
    monkeypatch.setattr(likelihood_problem, "_BATCH_SIZE", 40_000)
    some = fit(counts, screens)
    for k in range(9):
        alone = fit(counts[k : k + 1], screens[k : k + 1])
        for other in (together, some):
            np.testing.assert_allclose(other.log_likelihood[k], alone.log_likelihood[0], rtol=1e-12)
            np.testing.assert_allclose(other.point[k], alone.point[0], rtol=0, atol=1e-5)


def test_cells_without_screens_say_nothing() -> None:
    counts, screens = simulated(cv.TV, 2, missing=0.3)
    shown = screens > 0
    assert not shown.all()
    found = LikelihoodProblem(as_form("edges, first row"), cv.TV).fit(counts, screens)
    parts = counts * np.log(found.probabilities) + (screens - counts) * np.log1p(-found.probabilities)
    np.testing.assert_allclose(found.log_likelihood, [row[kept].sum() for row, kept in zip(parts, shown, strict=True)])


def test_data_at_the_edge_press_parameters_to_their_bounds() -> None:
    for counts in (np.zeros((1, 40)), np.full((1, 40), 50.0)):
        found = LikelihoodProblem(as_form("six"), cv.Grid(4, 10)).fit(counts, np.full((1, 40), 50.0))
        assert abs(found.point[0, 0]) > BOUND - 1
        assert found.log_likelihood[0] > -0.01


def test_d_rpb_by_its_symbol_has_all_parameters_free() -> None:
    assert NAMES == ["six", "edges", "first row", "novelty", "edges, first row", "edges, novelty", "all nine"]
    assert fit_likelihood(recgaze_counts("amsterdam"), "d_rpb").form == as_form("all nine")
