"""The kernel that fits d_rpb against the same search in NumPy, against SciPy, and against itself from elsewhere."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize

import carouseval as cv
from carouseval import _native
from carouseval.attention import recgaze_counts
from carouseval.attention.forms import OF_ROWS_AND_PAGES, Form, form_of
from carouseval.attention.likelihood import fit_likelihood
from carouseval.attention.maximise import Binomial, Maximum
from carouseval.attention.problem import FAR, Problem
from carouseval.metrics.discounts import RowPageBrowsing

Array = NDArray[np.float64]
NAMES = [form.name for form in OF_ROWS_AND_PAGES]
ONE_TOP = [name for name in NAMES if name != "all nine"]  # nine parameters have several local optima
ODD = {
    "one row": cv.Grid(1, 15),
    "one column": cv.Grid(8, 1),
    "one page": cv.Grid(6, 5, page_size=5),
    "wide page": cv.Grid(6, 5, page_size=9),
    "partial page": cv.Grid(7, 13, page_size=5),
    "pages of one": cv.Grid(5, 6, page_size=1),
    "television": cv.TV,
}


def recgaze(group: str) -> tuple[Array, Array]:
    seen = recgaze_counts(group)
    counts = seen.counts.reshape(1, -1).astype(np.float64)
    return counts, np.full_like(counts, seen.screens)


def simulated(grid: cv.Grid, problems: int = 2, missing: float = 0.0) -> tuple[Array, Array]:
    """Counts of people who browse as in Bratislava; ``missing``: the share of cells nobody was shown."""
    rng = np.random.default_rng([grid.rows, grid.cols, grid.page_size])
    chances = RowPageBrowsing().weights(grid).ravel()
    screens = rng.integers(200, 900, (problems, chances.size)) * (rng.random((problems, chances.size)) >= missing)
    return rng.binomial(screens, chances).astype(np.float64), screens.astype(np.float64)


def flags(form: Form) -> tuple[bool, int, bool]:
    assert form.ties is not None
    return form.ties


def same_as_numpy(form: Form, grid: cv.Grid, counts: Array, screens: Array) -> Maximum:
    problem, plain = Problem(form, grid), Problem(replace(form, ties=None), grid)
    found, wanted = problem.fit(counts, screens), plain.fit(counts, screens)
    np.testing.assert_allclose(found.value, wanted.value, rtol=0, atol=1e-7)
    np.testing.assert_array_equal(found.converged, wanted.converged)
    shown = screens > 0
    np.testing.assert_allclose(found.chances[shown], wanted.chances[shown], rtol=0, atol=1e-6)
    for k in range(len(counts)):
        known = identified(wanted.information[k]) & (np.abs(wanted.at[k]) < FAR - 1)
        np.testing.assert_allclose(found.at[k, known], wanted.at[k, known], rtol=0, atol=1e-5)
    return found


def identified(information: Array) -> NDArray[np.bool_]:
    """Parameters that no direction touches along which, as far as one can tell, nothing changes."""
    size = np.sqrt(np.maximum(np.diag(information), 1e-300))
    strength, directions = np.linalg.eigh(information / np.outer(size, size))
    return np.asarray((np.abs(directions[:, strength < 1e-8]) < 1e-6).all(axis=1) & (size > 1e-6 * size.max()))


def log_likelihood(problem: Problem, counts: Array, screens: Array) -> Any:
    data = Binomial(counts, screens)
    return lambda at: float(data.value(problem.probabilities(np.asarray(at)[None]), np.zeros(1, np.int64))[0])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("group", ["bratislava", "amsterdam"])
def test_recgaze_is_fitted_as_by_numpy(group: str, name: str) -> None:
    found = same_as_numpy(form_of(name), cv.RECGAZE, *recgaze(group))
    assert found.converged.all()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("shape", ODD)
def test_odd_grids_are_fitted_as_by_numpy(shape: str, missing: float, name: str) -> None:
    same_as_numpy(form_of(name), ODD[shape], *simulated(ODD[shape], missing=missing))


@pytest.mark.parametrize("name", NAMES)
def test_no_minimiser_gets_any_further(name: str) -> None:
    problem, data = Problem(form_of(name), cv.RECGAZE), recgaze("bratislava")
    found, value = problem.fit(*data), log_likelihood(problem, *data)
    np.testing.assert_allclose(value(found.at[0]), found.value[0], rtol=1e-14)
    for method in ("L-BFGS-B", "Nelder-Mead"):
        bounds = [(-FAR, FAR)] * len(problem.form.free)
        other = minimize(lambda at: -value(at), found.at[0], method=method, bounds=bounds)
        assert -other.fun <= found.value[0] + 1e-6


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("group", ["bratislava", "amsterdam"])
def test_there_is_no_slope_at_the_top(group: str, name: str) -> None:
    problem, data = Problem(form_of(name), cv.RECGAZE), recgaze(group)
    found, value = problem.fit(*data), log_likelihood(problem, *data)
    step = 1e-4
    for k, move in enumerate(step * np.eye(len(problem.form.free))):
        if abs(found.at[0, k]) < FAR - 1:
            slope = (value(found.at[0] + move) - value(found.at[0] - move)) / (2 * step)
            assert abs(slope) < 1e-3 * np.sqrt(found.information[0, k, k]) + 1e-5


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shape", ODD)
def test_slopes_are_those_of_differences(shape: str, name: str) -> None:
    problem, grid = Problem(form_of(name), ODD[shape]), ODD[shape]
    at = np.random.default_rng(0).normal(0, 2, (5, len(problem.form.free)))
    form = (*grid.shape, grid.page_size, *flags(problem.form))
    chances, slopes = _native.row_page_slopes(at, *form, 1)
    np.testing.assert_allclose(chances, problem.probabilities(at), rtol=1e-12, atol=1e-15)
    for k, move in enumerate(1e-5 * np.eye(at.shape[1])):
        difference = (problem.probabilities(at + move) - problem.probabilities(at - move)) / 2e-5
        np.testing.assert_allclose(slopes[:, :, k], difference, rtol=1e-7, atol=1e-10)


@pytest.mark.parametrize("name", ONE_TOP)
def test_every_start_leads_to_the_same_top(name: str) -> None:
    problem, (counts, screens) = Problem(form_of(name), cv.RECGAZE), recgaze("bratislava")
    starts = np.random.default_rng(7).normal(0, 2, (50, 1, len(problem.form.free)))
    found = problem.fit(np.repeat(counts, 50, axis=0), np.repeat(screens, 50, axis=0), starts)
    assert found.converged.all()
    np.testing.assert_allclose(found.value, problem.fit(counts, screens).value[0], rtol=0, atol=1e-6)


def test_the_best_start_is_kept() -> None:
    form, (counts, screens) = form_of("all nine"), recgaze("amsterdam")
    starts = np.random.default_rng(7).normal(0, 2, (1, 20, 9))
    grid = (*cv.RECGAZE.shape, cv.RECGAZE.page_size, *flags(form), FAR, 1)
    at, value, _ = _native.fit_row_page(counts, screens, starts, *grid)
    each = [_native.fit_row_page(counts, screens, starts[:, k : k + 1], *grid) for k in range(20)]
    values = np.array([one[1][0] for one in each])
    assert values.max() - values.min() > 1
    assert value[0] == values.max()
    np.testing.assert_array_equal(at, each[int(values.argmax())][0])


def test_cells_without_screens_say_nothing() -> None:
    form, (counts, screens) = form_of("edges, first row"), simulated(cv.TV, missing=0.3)
    problem = Problem(form, cv.TV)
    shown = screens > 0
    assert not shown.all()
    found = problem.fit(counts, screens)
    parts = counts * np.log(found.chances) + (screens - counts) * np.log1p(-found.chances)
    np.testing.assert_allclose(found.value, [row[kept].sum() for row, kept in zip(parts, shown, strict=True)])


@pytest.mark.parametrize("name", NAMES)
def test_neither_threads_nor_company_nor_instructions_change_a_bit(name: str) -> None:
    form, (counts, screens) = form_of(name), simulated(cv.RECGAZE, 60, missing=0.1)
    starts = np.random.default_rng(3).normal(0, 2, (60, 2, len(form.free)))
    grid = (*cv.RECGAZE.shape, cv.RECGAZE.page_size, *flags(form))
    found = _native.fit_row_page(counts, screens, starts, *grid, FAR, 1)
    slopes = _native.row_page_slopes(found[0], *grid, 1)
    best = _native.instruction_set()
    try:
        for instructions in (_native.InstructionSet.BASELINE, best):
            _native.use_instruction_set(instructions)
            for one, other in zip(found, _native.fit_row_page(counts, screens, starts, *grid, FAR, 2), strict=True):
                np.testing.assert_array_equal(one, other)
            for one, other in zip(slopes, _native.row_page_slopes(found[0], *grid, 2), strict=True):
                np.testing.assert_array_equal(one, other)
    finally:
        _native.use_instruction_set(best)
    for k in (0, 17, 59):
        alone = _native.fit_row_page(counts[k : k + 1], screens[k : k + 1], starts[k : k + 1], *grid, FAR, 2)
        for one, other in zip(found, alone, strict=True):
            np.testing.assert_array_equal(one[k : k + 1], other)


def test_data_at_the_edge_press_parameters_to_their_bounds() -> None:
    grid = cv.Grid(4, 10)
    for counts in (np.zeros((1, 40)), np.full((1, 40), 50.0)):
        found = same_as_numpy(form_of("six"), grid, counts, np.full((1, 40), 50.0))
        assert abs(found.at[0, 0]) > FAR - 1
        assert found.value[0] > -0.01


def test_every_form_that_is_d_rpb_itself_goes_to_the_kernel() -> None:
    assert NAMES == ["six", "edges", "first row", "novelty", "edges, first row", "edges, novelty", "all nine"]
    for form in OF_ROWS_AND_PAGES:
        plain = fit_likelihood(replace(form, ties=None), recgaze_counts("bratislava"))
        found = fit_likelihood(form, recgaze_counts("bratislava"))
        assert found.open == plain.open
        assert found.values == pytest.approx(plain.values, abs=1e-5)


def test_what_does_not_fit_is_refused() -> None:
    counts, starts = np.ones((2, 150)), np.zeros((2, 1, 6))
    good: dict[str, Any] = {"counts": counts, "screens": counts, "starts": starts, "rows": 10, "cols": 15}
    good |= {"page_size": 5, "w_free": False, "top": 0, "fade_free": False, "far": FAR, "threads": 1}
    _native.fit_row_page(**good)

    def refused(message: str, **wrong: Any) -> None:
        with pytest.raises(ValueError, match=message):
            _native.fit_row_page(**{**good, **wrong})

    for wrong in (np.ones((2, 149)), np.ones((1, 150))):
        refused("a value for every cell of every problem", screens=wrong)
    refused("a value for every cell of every problem", rows=11)
    refused("every problem wants a start", starts=np.zeros((1, 1, 6)))
    refused("every problem wants a start", starts=np.zeros((2, 0, 6)))
    for flag in ({"w_free": True}, {"top": 1}, {"fade_free": True}, {"starts": np.zeros((2, 1, 7))}):
        refused("every free parameter wants a value, and no other", **flag)
    for top in (-1, 2, 3):
        refused("top is 0, 1 or, with a free fade, 2", top=top)
    for size in ("rows", "cols", "page_size"):
        refused("at least 1", **{size: 0})
    for far in (0.0, float("nan")):
        refused("far is above 0", far=far)
    with pytest.raises(ValueError, match="every free parameter"):
        _native.row_page_slopes(np.zeros((2, 7)), 10, 15, 5, False, 0, False, 1)
