"""A page gives a float and a batch an array: at run time, and for mypy, which checks this file."""

from collections.abc import Callable
from typing import Any, assert_type

import numpy as np
import pytest
from numpy.typing import NDArray

import carouseval as cv

Scores = NDArray[np.float64]
PAGE = [[3, 0, 1], [0, 2]]
HOLES = [[3.0, None, 1.0], [None, 2.0]]
PAGES = [PAGE, PAGE]


def test_lists() -> None:
    assert isinstance(assert_type(cv.dcg2d(PAGE), float), float)
    assert isinstance(assert_type(cv.n2dcg_cat(HOLES), float), float)
    assert isinstance(assert_type(cv.n2dcg(((1, 0), (2,))), float), float)
    assert isinstance(assert_type(cv.ideal_dcg2d([[True, False]]), float), float)
    assert isinstance(assert_type(cv.metric("RR")(PAGE), float), float)
    assert assert_type(cv.dcg2d(PAGES), Scores).shape == (2,)
    assert assert_type(cv.n2dcg_cat((PAGE, PAGE)), Scores).shape == (2,)
    assert assert_type(cv.n2dcg([HOLES, HOLES]), Scores).shape == (2,)
    assert assert_type(cv.ideal_dcg2d(PAGES, ideal="unconstrained"), Scores).shape == (2,)
    assert assert_type(cv.metric("NDCG@3")(PAGES), Scores).shape == (2,)


def test_arrays_of_known_shape() -> None:
    page, row = np.ones((2, 3)), np.ones(3)
    batch, stack = np.ones((4, 2, 3)), np.ones((5, 4, 2, 3))
    assert isinstance(assert_type(cv.dcg2d(page), float), float)
    assert isinstance(assert_type(cv.n2dcg_cat([row, row]), float), float)
    assert isinstance(assert_type(cv.metric("2DCG")(page), float), float)
    assert assert_type(cv.dcg2d(batch), Scores).shape == (4,)
    assert assert_type(cv.n2dcg_cat(stack), Scores).shape == (5, 4)
    assert assert_type(cv.n2dcg([page, page, page]), Scores).shape == (3,)
    assert assert_type(cv.metric("2DCG")(batch), Scores).shape == (4,)


def test_arrays_of_unknown_shape_need_no_cast() -> None:
    page, batch = np.array([[1, 0]]), np.asarray([[[1, 0]], [[2, 1]]])
    assert round(cv.n2dcg_cat(page), 4) == 1.0
    assert cv.n2dcg_cat(batch).mean() == 1.0
    assert cv.metric("N2DCG_cat")(np.stack([page, page])).tolist() == [1.0, 1.0]
    assert cv.dcg2d([page, page]).shape == (2,)
    assert_type(cv.n2dcg_cat(batch), Any)
    assert_type(cv.dcg2d([batch[0]]), Any)
    mixed: list[object] = [[1, 0], [0.5]]
    assert_type(cv.dcg2d(mixed), Any)


@pytest.mark.parametrize("function", [cv.dcg2d, cv.n2dcg, cv.n2dcg_cat, cv.ideal_dcg2d, cv.metric("RR")])
def test_every_function_takes_pages_and_batches(function: Callable[..., Any]) -> None:
    assert type(function(PAGE)) is float
    assert function(PAGES).dtype == np.float64


def test_parameters_of_a_mixture_and_a_table_are_typed() -> None:
    mixture = cv.discounts.Mixture([(0.5, "d_rpb"), (0.5, cv.discounts.RowColumnBrowsing())])
    share, part = mixture.parts[0]
    assert assert_type(share, float) == 0.5
    assert assert_type(part, cv.discounts.Discount) == cv.discounts.RowPageBrowsing()
    assert assert_type(cv.discounts.Empirical([[1, 0.5]]).table, tuple[tuple[float, ...], ...]) == ((1.0, 0.5),)
