"""2DCG, N2DCG, N2DCG_cat, DCG and NDCG on arrays."""

import contextlib
import json
import os
import pickle
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.metrics import dcg_score, ndcg_score

import carouseval as cv
from carouseval import _native
from carouseval.metrics.dcg import DCG2D
from carouseval.metrics.gain_names import GainName
from tests import oracles

# huge gains are meant here, and test_large_gains.py tests the warning about them
pytestmark = pytest.mark.filterwarnings("ignore:.*the largest relevance is:carouseval.DataWarning")

TABLE_1 = cv.discounts.Empirical([[1.0, 0.9, 0.8], [0.3, 0.2, 0.1]], name="paper's table 1")
DISCOUNTS = ["d_t", "d_a", "d_mir", "d_add", "d_mul", "d_rpd"]


def exp2_gain(relevance: float) -> float:
    return float(2**relevance - 1)


def random_pages(seed: int, count: int, shape: tuple[int, int] = (10, 15), empty: float = 0.1) -> Any:
    rng = np.random.default_rng(seed)
    pages = rng.integers(0, 6, (count, *shape)).astype(float)
    pages[rng.random(pages.shape) < empty] = np.nan
    return pages


def test_table_1_of_the_paper() -> None:
    valid, unconstrained = [[1, 1, 0], [1, 0, 0]], [[1, 1, 1], [0, 0, 0]]
    assert cv.dcg2d(valid, TABLE_1) == pytest.approx(2.2, abs=1e-15)
    assert cv.dcg2d(unconstrained, TABLE_1) == pytest.approx(2.7, abs=1e-15)
    assert cv.ideal_dcg2d(valid, TABLE_1) == pytest.approx(2.2, abs=1e-15)
    assert cv.ideal_dcg2d(valid, TABLE_1, ideal="unconstrained") == pytest.approx(2.7, abs=1e-15)
    assert round(cv.n2dcg(valid, TABLE_1), 2) == 0.81
    assert cv.n2dcg_cat(valid, TABLE_1) == 1.0


@pytest.mark.parametrize("discount", DISCOUNTS)
@pytest.mark.parametrize("gain", ["exp2", "linear"])
def test_2dcg_against_a_double_loop(discount: str, gain: GainName) -> None:
    pages = random_pages(1, 20)
    weights = cv.discounts.parse(discount).weights(cv.RECGAZE)
    function = exp2_gain if gain == "exp2" else float
    expected = [oracles.page_dcg(page, weights, function) for page in pages]
    np.testing.assert_allclose(cv.dcg2d(pages, discount, gain=gain), expected, rtol=1e-14)


def test_defaults_are_the_papers_metrics() -> None:
    pages = random_pages(2, 5)
    np.testing.assert_array_equal(cv.dcg2d(pages), cv.dcg2d(pages, cv.discounts.RowPage(), cv.RECGAZE, "exp2"))
    np.testing.assert_array_equal(cv.n2dcg_cat(pages), cv.n2dcg_cat(pages, "d_rpd", cv.RECGAZE))
    np.testing.assert_array_equal(cv.n2dcg(pages), cv.n2dcg(pages, "d_a", cv.RECGAZE))
    ratio = cv.dcg2d(pages) / cv.ideal_dcg2d(pages, "d_rpd")
    np.testing.assert_allclose(cv.n2dcg_cat(pages), ratio, rtol=1e-15)


def test_one_row_of_d_t_is_dcg() -> None:
    """d_t(alpha=1, beta=1) on one row is 1 / log2(1 + j): scikit-learn and ir-measures must agree."""
    rng = np.random.default_rng(3)
    for _ in range(50):
        relevance = rng.integers(0, 5, rng.integers(2, 30))
        relevance[0] = 1
        one_row = relevance[None, :]
        order = -np.arange(len(relevance), dtype=float)[None, :]  # scores that rank as listed
        linear = cv.dcg2d(one_row, "d_t(alpha=1, beta=1)", gain="linear")
        assert linear == pytest.approx(dcg_score(one_row, order), rel=1e-13)
        assert cv.n2dcg(one_row, "d_t(alpha=1, beta=1)", gain="linear") == pytest.approx(ndcg_score(one_row, order))
        assert cv.n2dcg_cat(one_row, "d_t(alpha=1, beta=1)", gain="linear") == pytest.approx(ndcg_score(one_row, order))
        assert cv.metric("DCG")(one_row, gain="linear") == pytest.approx(linear, rel=1e-15)
        for k in (1, 3, 10):
            assert cv.metric(f"NDCG(gain=linear)@{k}")(one_row) == pytest.approx(ndcg_score(one_row, order, k=k))
            assert cv.metric(f"DCG(gain=linear)@{k}")(one_row) == pytest.approx(dcg_score(one_row, order, k=k))


def test_ndcg_against_ir_measures() -> None:
    """trec_eval's nDCG has linear gains; its judgments are whole numbers."""
    pages = random_pages(4, 40, (3, 7), empty=0.3)
    for k in (5, 10):
        qrels, run = [], []
        for number, page in enumerate(pages):
            items = page[~np.isnan(page)]
            for rank, relevance in enumerate(items):
                qrels.append(ir_measures.Qrel(str(number), f"i{rank}", int(relevance)))
                run.append(ir_measures.ScoredDoc(str(number), f"i{rank}", float(-rank)))
        theirs = {row.query_id: row.value for row in ir_measures.iter_calc([ir_measures.nDCG @ k], qrels, run)}
        ours = cv.metric("NDCG", cutoff=k)(pages, gain="linear")
        np.testing.assert_allclose(ours, [theirs[str(number)] for number in range(len(pages))], rtol=1e-12)


@pytest.mark.parametrize("k", [None, 1, 4, 100])
def test_lists_against_the_papers_equations(k: int | None) -> None:
    pages = random_pages(5, 60, (4, 6), empty=0.4)
    pages[0] = np.nan
    for page in pages:
        assert cv.metric("DCG", cutoff=k)(page) == pytest.approx(oracles.list_dcg(page, exp2_gain, k), rel=1e-13)
        expected = oracles.list_ndcg(page, exp2_gain, k) if np.nansum(page) > 0 else np.nan
        assert cv.metric("NDCG", cutoff=k)(page) == pytest.approx(expected, rel=1e-13, nan_ok=True)


def test_shapes_in_and_out() -> None:
    pages = random_pages(6, 12)
    single = cv.n2dcg_cat(pages[0])
    assert type(single) is float
    assert type(cv.dcg2d(pages[0])) is float
    stacked = cv.n2dcg_cat(pages.reshape(3, 2, 2, 10, 15))
    assert stacked.shape == (3, 2, 2)
    assert stacked.ravel()[0] == single
    assert cv.dcg2d(pages[:1]).shape == (1,)
    assert cv.n2dcg(np.empty((0, 10, 15))).shape == (0,)
    assert cv.metric("NDCG")(np.empty((4, 0, 10, 15))).shape == (4, 0)
    assert cv.ideal_layout(np.empty((0, 10, 15))).shape == (0, 10, 15, 2)


@pytest.mark.parametrize(
    "dtype",
    ["uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64", "float16", "float32", ">f8", ">i4"],
)
def test_every_number_type_gives_the_same_bits(dtype: str) -> None:
    pages = np.random.default_rng(7).integers(0, 31, (50, 4, 7))
    expected = cv.n2dcg_cat(pages.astype(np.float64))
    np.testing.assert_array_equal(cv.n2dcg_cat(pages.astype(dtype)), expected)
    np.testing.assert_array_equal(cv.n2dcg_cat(np.asfortranarray(pages.astype(dtype))), expected)
    np.testing.assert_array_equal(cv.n2dcg_cat(pages.astype(dtype)[::-1]), expected[::-1])


def test_an_empty_batch_of_objects_keeps_its_shape() -> None:
    assert cv.dcg2d(np.empty((0, 2, 3), object)).shape == (0,)


@pytest.mark.parametrize("rows", [list, tuple, lambda page: [list(page)], lambda page: [page, page[:1]]])
def test_lists_of_masked_arrays_keep_their_masks(rows: Any) -> None:
    page = np.ma.array([[1.0, 2.0, 3.0], [4.0, 0.0, 2.0]], mask=[[False, True, False], [True, False, False]])
    filled = page.filled(np.nan)
    assert np.array_equal(cv.dcg2d(rows(page)), cv.dcg2d(rows(filled)))
    assert np.all(cv.dcg2d(rows(page)) < cv.dcg2d(rows(page.data)))
    assert cv.dcg2d([page[0], page[1, :2]]) == cv.dcg2d([filled[0], filled[1, :2]])


@pytest.mark.filterwarnings("ignore:relevance.*the largest relevance is")
def test_gains_are_scored_as_far_as_floats_go() -> None:
    for function in (cv.n2dcg_cat, cv.n2dcg):
        assert function([[1000.0]]) == 1
        assert function([[1.7e308]], gain="linear") == 1
    page = np.array([[1.0, 0.5, 3.0], [2.0, 4.0, np.nan], [0.5, 1.0, 1.0]])
    large, small = page * 2.0**1020, page * 2.0**-1000  # powers of two: the same digits
    scores = cv.n2dcg_cat([large, page, small], gain="linear")
    assert scores.tolist() == [cv.n2dcg_cat(page, gain="linear")] * 3
    assert cv.ideal_dcg2d(large, gain="linear") == cv.ideal_dcg2d(page, gain="linear") * 2.0**1020
    assert np.array_equal(cv.ideal_layout(large, gain="linear"), cv.ideal_layout(page, gain="linear"))
    with pytest.raises(cv.DataError, match=r"^relevance\[1\]: .*; the largest relevance is 1\.7e\+308\. Rescale"):
        cv.n2dcg_cat([[[1.0] * 20], [[1.7e308] * 20]], gain="linear")
    with pytest.raises(cv.DataError, match=r"row 1, col 1 is 1024, and 2\^1024 is too large for a float"):
        cv.n2dcg_cat([[1024.0]])


def test_booleans_none_masks_and_ragged_lists() -> None:
    page = np.array([[True, False], [False, True]])
    assert cv.dcg2d(page) == cv.dcg2d([[1, 0], [0, 1]])
    nan = np.nan
    assert cv.n2dcg_cat([[1, None, 2], [0, 1, None]]) == cv.n2dcg_cat([[1, nan, 2], [0, 1, nan]])
    assert cv.n2dcg_cat([[1, 0, 2], [3]]) == cv.n2dcg_cat([[1, 0, 2], [3, nan, nan]])
    ragged = cv.n2dcg_cat([[[1, 0], [2]], [[3, 1, 1]]])  # and so are stacks of them
    assert ragged.tolist() == [cv.n2dcg_cat([[1, 0], [2]]), cv.n2dcg_cat([[3, 1, 1]])]
    column = np.empty(2, dtype=object)
    column[:] = [[1, 0, 2], np.array([3])]
    assert cv.n2dcg_cat(column) == cv.n2dcg_cat([[1, 0, 2], [3]])
    masked = np.ma.masked_equal([[1, 9, 2], [0, 1, 9]], 9)
    assert cv.n2dcg_cat(masked) == cv.n2dcg_cat([[1, nan, 2], [0, 1, nan]])


def test_inputs_are_left_as_they_were() -> None:
    page = random_pages(8, 3)
    before = page.copy()
    page.flags.writeable = False
    cv.n2dcg_cat(page), cv.ideal_layout(page), cv.n2dcg(page, gain=np.square)
    np.testing.assert_array_equal(page, before)


def test_a_page_smaller_than_the_grid_counts_as_padded() -> None:
    grid = cv.Grid(6, 9, page_size=4)
    pages = random_pages(9, 30, (4, 7))
    padded = np.pad(pages, [(0, 0), (0, 2), (0, 2)], constant_values=np.nan)
    for function in (cv.dcg2d, cv.n2dcg_cat, cv.n2dcg, cv.ideal_dcg2d):
        np.testing.assert_allclose(function(pages, "d_rpd", grid), function(padded, "d_rpd", grid), rtol=1e-14)
    np.testing.assert_array_equal(cv.ideal_layout(pages, "d_rpd", grid), cv.ideal_layout(padded, "d_rpd", grid))
    unconstrained = cv.ideal_layout(pages, "d_rpd", grid, ideal="unconstrained")
    np.testing.assert_array_equal(unconstrained, cv.ideal_layout(padded, "d_rpd", grid, ideal="unconstrained"))


def test_the_grid_matters_beyond_its_size() -> None:
    page = random_pages(10, 1)[0]
    assert cv.dcg2d(page, "d_rpd", cv.Grid(10, 15, page_size=3)) != cv.dcg2d(page, "d_rpd")


@pytest.mark.parametrize("name", ["dcg2d", "n2dcg_cat", "n2dcg", "ideal_dcg2d"])
def test_cutoffs_weigh_cells_but_keep_candidates(name: str) -> None:
    function = getattr(cv, name)
    pages = random_pages(11, 30)
    cut = oracles.apply_cutoff(cv.discounts.RowPage().weights(cv.RECGAZE), 3, 5)
    expected = function(pages, cv.discounts.Empirical(cut))
    np.testing.assert_array_equal(function(pages, "d_rpd", cutoff=(3, 5)), expected)
    np.testing.assert_array_equal(function(pages, "d_rpd", cutoff="3x5"), expected)
    np.testing.assert_array_equal(function(pages, "d_rpd", cutoff=(99, 99)), function(pages, "d_rpd"))


def test_nothing_relevant_scores_nan_without_a_warning() -> None:
    nothing = np.zeros((2, 3, 4))
    nothing[1] = np.nan
    assert np.isnan(cv.n2dcg_cat(nothing)).all()
    assert np.isnan(cv.n2dcg(nothing)).all()
    assert np.isnan(cv.metric("NDCG")(nothing)).all()
    assert (cv.dcg2d(nothing) == 0).all()
    assert (cv.ideal_dcg2d(nothing) == 0).all()


def test_gain_functions() -> None:
    page = random_pages(12, 4)
    np.testing.assert_allclose(cv.n2dcg_cat(page, gain=np.expm1), cv.n2dcg_cat(np.expm1(page), gain="linear"))
    np.testing.assert_allclose(cv.dcg2d(page, gain=lambda r: 2**r - 1), cv.dcg2d(page), rtol=1e-14)


@given(
    hnp.arrays(np.float64, (5, 4), elements=st.one_of(st.floats(0, 30), st.integers(0, 5).map(float), st.just(np.nan))),
    st.sampled_from(DISCOUNTS),
    st.sampled_from(["exp2", "linear"]),
)
def test_order_of_the_three(page: Any, discount: str, gain: GainName) -> None:
    """Page <= category ideal <= unconstrained ideal, and scores between 0 and 1."""
    score = cv.dcg2d(page, discount, gain=gain)
    category = cv.ideal_dcg2d(page, discount, gain=gain)
    unconstrained = cv.ideal_dcg2d(page, discount, gain=gain, ideal="unconstrained")
    assert score <= category * (1 + 1e-14)
    assert category <= unconstrained * (1 + 1e-14)
    if category > 0:
        assert 0 <= cv.n2dcg_cat(page, discount, gain=gain) <= 1
        assert 0 <= cv.n2dcg(page, discount, gain=gain) <= cv.n2dcg_cat(page, discount, gain=gain) + 1e-14


@given(hnp.arrays(np.float64, (5, 4), elements=st.integers(0, 3).map(float)), st.randoms(use_true_random=False))
def test_the_ideal_forgets_the_order_of_rows_and_items(page: Any, random: Any) -> None:
    rows = list(page.tolist())
    random.shuffle(rows)
    for row in rows:
        random.shuffle(row)
    for ideal in ("category", "unconstrained"):
        assert cv.ideal_dcg2d(rows, ideal=ideal) == pytest.approx(cv.ideal_dcg2d(page, ideal=ideal), rel=1e-14)


@given(hnp.arrays(np.float64, (4, 5), elements=st.floats(0, 50)), st.integers(0, 3), st.integers(0, 4))
def test_a_better_item_never_lowers_2dcg_nor_the_ideal(page: Any, row: int, col: int) -> None:
    better = page.copy()
    better[row, col] += 1
    assert cv.dcg2d(better) >= cv.dcg2d(page)
    assert cv.ideal_dcg2d(better) >= cv.ideal_dcg2d(page) * (1 - 1e-14)


def test_results_do_not_depend_on_batches_or_threads() -> None:
    rng = np.random.default_rng(13)
    pages = rng.random((3000, 10, 15)) * 5
    pages[1000:2000] = np.rint(pages[1000:2000])
    pages[rng.random(pages.shape) < 0.05] = np.nan
    for function in (cv.dcg2d, cv.n2dcg_cat, cv.n2dcg, cv.ideal_dcg2d):
        whole = function(pages, threads=1)
        for threads in (2, 3, 7):
            np.testing.assert_array_equal(function(pages, threads=threads), whole)
        np.testing.assert_array_equal(np.concatenate([function(part) for part in np.array_split(pages, 17)]), whole)
        assert function(pages[1234]) == whole[1234]
    np.testing.assert_array_equal(cv.ideal_layout(pages, threads=1), cv.ideal_layout(pages, threads=5))


def test_threads_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    from carouseval.metrics.page_stack import thread_count

    assert thread_count(3) == 3
    monkeypatch.delenv("CAROUSEVAL_THREADS", raising=False)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    assert thread_count(None) == cores
    monkeypatch.setenv("CAROUSEVAL_THREADS", "5")
    assert thread_count(None) == 5
    assert thread_count(2) == 2
    for bad in ("0", "-1", "two", "1.5"):
        monkeypatch.setenv("CAROUSEVAL_THREADS", bad)
        with pytest.raises(cv.ParameterError, match=f"CAROUSEVAL_THREADS must be .* found '{bad}'"):
            cv.dcg2d([[[1]], [[1]]])  # a single page needs one thread, whatever is set
    with pytest.raises(cv.ParameterError, match=r"threads must be an integer of at least 1, found 0\."):
        cv.dcg2d([[1]], threads=0)


def test_other_python_threads_run_meanwhile() -> None:
    """The kernels release the GIL: a thread that only counts gets far while they work."""
    pages = np.random.default_rng(0).random((60_000, 10, 15))
    count, working, stop = 0, False, False

    def counter() -> None:
        nonlocal count
        while not stop:
            count += working

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)  # before and after the call the counter gets some hundred steps at most
    thread = threading.Thread(target=counter)
    try:
        thread.start()
        working = True
        cv.n2dcg_cat(pages, threads=1)
        working = False
    finally:
        stop = True
        sys.setswitchinterval(interval)
        thread.join()
    assert count > 20_000


@pytest.mark.parametrize(
    ("relevance", "message"),
    [
        ([[1, 2], [-1, 0]], r"relevance: row 2, col 1 is -1\. Relevance is finite and 0 or more; NaN marks"),
        ([[1, np.inf]], r"relevance: row 1, col 2 is inf\."),
        ([[-np.inf, 1]], r"relevance: row 1, col 1 is -inf\."),
        ([[1024]], r"row 1, col 1 is 1024, and 2\^1024 is too large for a float\. .* use gain='linear'\."),
        (
            [[1023.5] * 9],
            r"add up to more than a float holds; the largest .* 1023\.5\. Rescale .* gain='linear'\.",
        ),
        ([[10**400]], r"relevance holds 1000.* which is not a number"),
        (np.ones((20_000, 1)), r"a page of 20000x1; pages have at most 10,000 rows"),
        ([["1", "x"]], r"relevance holds '1', which is not a number"),
        (np.array(None), r"relevance holds None, which is not a number"),
        (np.array(7, object), r"relevance has type object, not numbers"),
        ({"a": np.eye(2)}, r"relevance holds \{'a': array\(\[\[1\., 0\.\], \[0\., 1\.\]\]\)\}, which is"),
        ([[1, {}]], r"relevance holds \{\}, which is not a number"),
        ([[1 + 2j]], r"relevance holds \(1\+2j\), which is not a number"),
        ([1, 2, 3], r"relevance has shape \(3,\)\. .*\(1, cols\)"),
        (3, r"relevance has shape \(\)\."),
        ([[], []], r"relevance has shape \(2, 0\): a page without cells"),
        (np.empty((2, 0, 5)), r"relevance has shape \(2, 0, 5\)"),
        ([[1, 2], [[3]]], r"the nested lists differ in depth"),
        ([[1, 2], "ab"], r"the nested lists differ in depth"),
        ([[1, 2], ["a"]], r"relevance holds 'a', which is not a number"),
    ],
)
def test_bad_relevance_is_refused(relevance: Any, message: str) -> None:
    for function in (cv.dcg2d, cv.n2dcg_cat, cv.n2dcg, cv.metric("NDCG")):
        with pytest.raises(cv.DataError, match=message):
            function(relevance)


def test_the_first_bad_cell_is_named_whatever_the_threads() -> None:
    pages = np.zeros((40, 50, 10, 15))
    pages[3, 7, 4, 2] = -2
    pages[30, 1, 0, 0] = np.inf
    for threads in (1, 2, 8):
        for function in (cv.dcg2d, cv.n2dcg_cat, cv.ideal_layout):
            with pytest.raises(cv.DataError, match=r"relevance\[3, 7\]: row 5, col 3 is -2\."):
                function(pages, threads=threads)
    with pytest.raises(cv.DataError, match=r"relevance\[0\]: row 1, col 2 is -3"):
        cv.dcg2d(np.array([[[1, -3]]]))


def test_a_page_beyond_the_grid_is_refused() -> None:
    for page in (np.ones((3, 2)), np.ones((2, 3))):
        rows, cols = page.shape
        fits = rf"a page of {rows}x{cols} does not fit the 2x2 grid\. Use grid=cv\.Grid\(rows={rows}, cols={cols}, "
        with pytest.raises(cv.DataError, match=fits + r"page_size=5\)\.$"):
            cv.dcg2d(page, grid=cv.Grid(2, 2))
        with pytest.raises(cv.DataError, match="does not fit the 2x2 grid"):
            cv.metric("NDCG@2")(page, cv.Grid(2, 2))
    with pytest.raises(cv.ParameterError, match=r"grid must be a carouseval\.Grid or None, found tuple\."):
        cv.dcg2d(np.ones((2, 2)), grid=(2, 2))  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"gain": "exp"}, cv.ParameterError, r"gain must be 'exp2', 'linear' or a function .* Did you mean 'exp2'\?"),
        ({"gain": 2}, cv.ParameterError, r"gain must be .* found 2\."),
        ({"gain": lambda r: 1 if r > 2 else 0}, cv.DataError, r"failed on an array \(.*\)\. It must .* np\.vectorize"),
        ({"gain": lambda r: r[0]}, cv.DataError, r"returned shape \(2,\) for relevances of shape \(1, 2\)"),
        ({"relevance": [[-3.0, 1.0]], "gain": np.abs}, cv.DataError, r"row 1, col 1 is -3\. Relevance is finite"),
        ({"relevance": [[np.inf, 1.0]], "gain": np.sign}, cv.DataError, r"row 1, col 1 is inf\."),
        (
            {"relevance": [[1e308] * 99], "gain": "linear"},
            cv.DataError,
            r"; .* is 1e\+308\. Rescale the relevances\.$",
        ),
        ({"gain": lambda r: -r}, cv.DataError, r"returned -1 for relevance 1; gains must be finite and 0 or more"),
        ({"gain": lambda r: r * np.inf}, cv.DataError, r"returned (nan|inf) for relevance"),
        ({"discount": "d_rpt"}, cv.ParseError, r"no discount 'd_rpt'\. Did you mean 'd_rpd'"),
        ({"discount": 3}, cv.ParameterError, r"discount must be a name"),
        ({"cutoff": (0, 3)}, cv.ParameterError, r"cutoff: rows must be .* found 0"),
        ({"cutoff": "0x3"}, cv.ParseError, r"cutoff '0x3' cannot be parsed"),
        ({"cutoff": 3}, cv.ParameterError, r"cutoff must be \(rows, cols\) or text"),
        ({"cutoff": "3"}, cv.ParseError, r"cutoff '3' cannot be parsed; write ROWSxCOLS"),
    ],
)
@pytest.mark.filterwarnings("ignore:invalid value")
def test_bad_arguments_are_refused(arguments: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        cv.n2dcg_cat(**{"relevance": [[1, 2]], **arguments})


def test_overflow_between_rows_is_refused_not_fatal() -> None:
    """The page's own 2DCG is finite, a score on another row is not."""
    page, weights = [[1], [1], [1], [1], [1020]], cv.discounts.Empirical([[5.0], [900.0], [5.0], [5.0], [5.0]])
    assert np.isfinite(cv.dcg2d(page, weights))
    for function in (cv.n2dcg_cat, cv.ideal_dcg2d, cv.ideal_layout):
        with pytest.raises(cv.DataError, match="add up to more than a float holds"):
            function(page, weights)
    rng = np.random.default_rng(0)
    for _ in range(300):
        with contextlib.suppress(cv.DataError):
            cv.n2dcg_cat(rng.random((6, 2)) * 1024, cv.discounts.Empirical(rng.random((6, 2)) * 10))


def test_a_nearly_perfect_page_is_not_perfect() -> None:
    """Only what rounding could explain counts as 1."""
    page = np.zeros((10, 15))
    page[0, :2] = [20.0, 20.0 - 1e-9]
    page[0, [0, 1]] = page[0, [1, 0]]
    score = cv.n2dcg_cat(page, "d_a")
    assert 1 - 1e-9 < score < 1
    assert cv.n2dcg(page, "d_a") < 1


def test_the_last_page_of_a_stack_is_read_no_further_than_it_goes() -> None:
    """A stack that ends where readable memory ends: reading past it would end the process."""
    code = """
import ctypes, mmap, numpy as np, carouseval as cv
size = mmap.PAGESIZE
block = mmap.mmap(-1, 2 * size)
address = ctypes.addressof(ctypes.c_char.from_buffer(block))
assert ctypes.CDLL(None).mprotect(ctypes.c_void_p(address + size), size, 0) == 0
for dtype in (np.uint8, np.float32, np.float64, np.int64):
    for rows, cols in ((1, 1), (1, 3), (2, 5), (3, 7), (1, 9)):
        count = 3 * rows * cols
        stack = np.frombuffer(block, dtype, count, size - count * np.dtype(dtype).itemsize).reshape(3, rows, cols)
        for function in (cv.dcg2d, cv.n2dcg, cv.n2dcg_cat, cv.ideal_layout):
            function(stack)
        del stack
import os; os._exit(0)
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_grids_from_pickles_cannot_spoil_others() -> None:
    copy = pickle.loads(pickle.dumps(cv.RECGAZE))
    with pytest.raises(ValueError, match="read-only"):
        copy.swipes[0] = 99


def test_the_kind_of_ideal_is_checked() -> None:
    with pytest.raises(cv.ParameterError, match=r"ideal must be .* found 'categorie'\. Did you mean 'category'\?"):
        cv.ideal_dcg2d([[1]], ideal="categorie")  # type: ignore[call-overload]


def test_the_gains_of_one_page_are_shared_among_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    kernel = _native.gains

    def gains(relevance: Any, gain: _native.Gain, threads: int) -> Any:
        asked.append(threads)
        return kernel(relevance, gain, threads)

    monkeypatch.setattr(_native, "gains", gains)
    monkeypatch.setenv("CAROUSEVAL_THREADS", "3")
    assert cv.metric("Precision")([[1, 0]]) == 0.5
    assert asked == [3]


def test_what_a_name_stands_for_may_change(tmp_path: Path) -> None:
    """Weights are kept by the name of their discount, but not past what changes it."""
    page, table = [[0.0, 1.0]], tmp_path / "weights.json"
    for weight in (0.5, 0.25):

        @cv.discounts.register_discount("d_test_kept")
        class Kept(cv.discounts.Discount):
            def weights(self, grid: cv.Grid) -> Any:
                return np.full(grid.shape, weight)  # noqa: B023 - called before the next turn

        assert cv.dcg2d(page, "d_test_kept") == cv.ideal_dcg2d(page, "d_test_kept") == weight
    for weight in (0.5, 0.25):
        cv.discounts.save(cv.discounts.Empirical([[1.0, weight]]), table)
        assert cv.dcg2d(page, f"@{table}") == cv.dcg2d(page, f" @{table} ") == weight
    for grid, cutoff in ((None, None), (None, (1, 1)), (cv.Grid(1, 2, page_size=1), None), (cv.Grid(3, 4), "1x1")):
        for name in ("d_a", "d_rpd", "d_rpd(mu=0.5)"):
            assert cv.dcg2d(page, name, grid, cutoff=cutoff) == cv.dcg2d(
                page, cv.discounts.parse(name), grid, cutoff=cutoff
            )
    with pytest.raises(cv.ParameterError, match="cutoff: rows must be an integer"):
        cv.dcg2d(page, cutoff=(True, 1))  # equal to (1, 1), whose weights are kept by now
    not_a_grid: Any = [3, 5]
    with pytest.raises(cv.ParameterError, match=r"grid must be a carouseval\.Grid or None, found list\."):
        cv.dcg2d(page, grid=not_a_grid)


def test_what_warns_warns_each_time(tmp_path: Path) -> None:
    """A table of another screen, read from a file and registered by its name."""
    table = {"table": [[1.0, 0.5]], "name": "of a test's screen"}
    (tmp_path / "a.json").write_text(json.dumps({"discount": "d_emp", "parameters": table, "grid": {"page_size": 2}}))
    cv.discounts.register_table(cv.discounts.load(tmp_path / "a.json"))
    for _ in range(2):
        with pytest.warns(cv.DataWarning, match="was fitted with page size 2, but the grid of 1x2 has 5"):
            cv.dcg2d([[0, 1]], "d_emp(of a test's screen)")


def test_a_sum_with_a_value_of_its_own_keeps_it() -> None:
    @cv.metrics.register_metric("TestCapped")
    class Capped(DCG2D):
        def value(self, pages: cv.metrics.Pages, weights: Any) -> Any:
            return np.minimum(super().value(pages, weights), 1.0)

    assert cv.metric("TestCapped")([[3, 3]]) == 1.0


def test_only_an_ideal_is_past_the_largest_float() -> None:
    """The first page holds nothing, and nothing of the other is in view."""
    pages = np.array([[[np.nan, np.nan]], [[0, 1e305]]])
    np.testing.assert_array_equal(cv.n2dcg_cat(pages, gain="linear", cutoff="1x1"), [np.nan, 0])


def test_scores_own_their_memory() -> None:
    scores = cv.n2dcg_cat(np.ones((5, 2, 3)))
    assert scores.base is None
    assert scores.flags.writeable


@pytest.mark.parametrize("best", [0.0, 1.0, 3.0])
def test_a_ratio_is_1_where_sums_differ_by_rounding(best: float) -> None:
    near = best * (1 - np.array([0, 2.0**-52, 2.0**-49, 2.0**-48, 2.0**-47, 0.5, 1]))
    total = np.array([*near, 2 * best, np.nan])
    with np.errstate(divide="ignore", invalid="ignore"):  # which of them depends on the version
        expected = np.where((total > 0) & (total >= best * (1 - 2.0**-48)), 1.0, total / best)
    np.testing.assert_array_equal(_native.ratio(total, np.full(len(total), best)), expected)
    assert (expected == 1).sum() == (5 if best else 0)
