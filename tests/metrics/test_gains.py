"""2^relevance - 1 in the kernels, against arithmetic that does not share their code."""

from decimal import Decimal, localcontext
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import carouseval as cv
from carouseval.metrics.page_stack import stack_pages

# huge gains are meant here, and test_large_gains.py tests the warning about them
pytestmark = pytest.mark.filterwarnings("ignore:.*the largest relevance is:carouseval.DataWarning")

ONE_CELL = cv.discounts.Empirical([[1.0]])


def true_gain(relevance: float) -> float:
    with localcontext() as context:
        context.prec = 400 if relevance > 100 or relevance < 1e-20 else 60
        return float(Decimal(2) ** Decimal(relevance) - 1)


def test_whole_grades_are_exact() -> None:
    grades = np.arange(1024.0)
    exact = [float(2**grade - 1) for grade in range(1024)]
    assert [cv.dcg2d([[grade]], ONE_CELL) for grade in grades] == exact
    assert cv.dcg2d(np.arange(256, dtype=np.uint8).reshape(-1, 1, 1), ONE_CELL).tolist() == exact[:256]


@given(st.one_of(st.floats(0, 1), st.floats(0, 40), st.floats(0, 1024, exclude_max=True)))
def test_other_relevances_are_within_two_units_in_the_last_place(relevance: float) -> None:
    found, true = cv.dcg2d([[relevance]], ONE_CELL), true_gain(relevance)
    assert abs(found - true) <= 2 * np.spacing(true)


def test_a_dense_sweep_of_small_relevances() -> None:
    """Where 2^x - 1 loses digits by cancellation, and where the kernel's two terms meet."""
    sweep = np.concatenate(
        [np.linspace(0, 2, 1500), np.linspace(0.7, 0.8, 500), np.random.default_rng(1).random(1500) * 3]
    )
    found = stack_pages(sweep[None, :], "exp2").gains()[0, 0]
    true = np.array([true_gain(float(relevance)) for relevance in sweep])
    assert (np.abs(found - true) <= 2 * np.spacing(true)).all()


def test_the_gain_of_a_cell_does_not_depend_on_its_neighbours() -> None:
    """A page of whole grades takes a shortcut; one fraction or one huge value must not change the others' bits."""
    rng = np.random.default_rng(0)
    for odd in (0.5, 1023.25, np.nan):
        page = rng.integers(0, 30, (1, 37)).astype(float)
        page[0, 11] = odd
        gains = stack_pages(page, "exp2").gains()[0, 0]
        for column in range(37):
            alone = stack_pages(page[:, [column]], "exp2").gains()[0, 0, 0]
            assert alone == gains[column] or (np.isnan(alone) and np.isnan(gains[column]))


@pytest.mark.parametrize("size", [1, 7, 8, 9, 64, 65, 1023, 1024, 1025, 5000])
def test_gains_of_every_length(size: int) -> None:
    relevance = np.random.default_rng(size).random((1, size)) * 9
    relevance[0, ::7] = np.nan
    np.testing.assert_allclose(stack_pages(relevance, "exp2").gains()[0], np.exp2(relevance) - 1, rtol=1e-12)
    np.testing.assert_array_equal(stack_pages(relevance, "linear").gains()[0], relevance)


def test_linear_gains_take_anything_finite() -> None:
    assert cv.dcg2d([[1e300]], ONE_CELL, gain="linear") == 1e300
    assert cv.n2dcg_cat([[2000, 0], [3000, 1]], gain="linear") < 1


def test_a_function_sees_zeros_in_empty_cells() -> None:
    seen: list[Any] = []

    def gain(relevance: Any) -> Any:
        seen.append(relevance.copy())
        return relevance + 1

    page = [[1.0, np.nan]]
    assert cv.dcg2d(page, cv.discounts.Empirical([[1.0, 1.0]]), gain=gain) == 2.0
    assert seen[0].tolist() == [[1.0, 0.0]]
