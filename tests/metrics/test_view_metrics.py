"""Precision, Recall, Hit and RR on arrays: against their definitions, scikit-learn and ir-measures; their names."""

import math
from collections.abc import Callable, Iterator
from typing import Any

import ir_measures
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import precision_score, recall_score

import carouseval as cv
from carouseval.metrics.grid import sizes_by_row
from tests.oracles import Page, reciprocal_rank, view_hit, view_precision, view_recall, weight

NAN = np.nan
DEFAULTS: dict[str, dict[str, float]] = {
    "d_rpd": {"alpha": 4, "beta": 9, "mu": 0.65, "nu": 0.95},
    "d_a": {"alpha": 2, "beta": 1, "gamma": 9, "lam": 1},
    "d_t": {"alpha": 7, "beta": 6},
    "d_mir": {"alpha": 10, "beta": 9},
}
VIEWS = {"Precision": view_precision, "Recall": view_recall, "Hit": view_hit}


def from_two(relevance: Any) -> Any:
    """A gain by which relevance 1 is nothing."""
    return np.maximum(np.asarray(relevance) - 1.0, 0.0)


GAINS: dict[str, tuple[Any, Callable[[float], float]]] = {
    "exp2": ("exp2", lambda value: 2.0**value - 1.0),
    "linear": ("linear", lambda value: value),
    "from_two": (from_two, lambda value: max(value - 1.0, 0.0)),
}


def paper_weights(symbol: str, grid: cv.Grid) -> list[list[float]]:
    return [
        [
            weight(symbol, i, j, delta, delta, delta, grid.visible_rows, 1, **DEFAULTS[symbol])
            for j in range(1, grid.cols + 1)
        ]
        for i, delta in enumerate(sizes_by_row(grid), 1)
    ]


def random_pages(seed: int, count: int) -> Iterator[np.ndarray[Any, np.dtype[np.float64]]]:
    """Pages with holes, short rows, empty rows, nothing relevant, and nothing at all."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        rows, cols = rng.integers(1, 5), rng.integers(1, 8)
        page = rng.choice([0.0, 1.0, 1.0, 2.0, 0.5, 3.0], (rows, cols))
        page[rng.random((rows, cols)) < rng.choice([0.0, 0.0, 0.7, 1.0])] = 0.0
        page[rng.random((rows, cols)) < rng.choice([0.0, 0.3, 0.8])] = NAN
        for row in page:
            row[rng.integers(0, cols + 1) :] = NAN
        yield page


def check(name: str, page: Any, wanted: float, grid: cv.Grid | None = None, gain: Any = "exp2") -> None:
    found = cv.metric(name)(page, grid, gain)
    assert isinstance(found, float)
    assert found == pytest.approx(wanted, rel=1e-15, nan_ok=True), (name, page)


@pytest.mark.parametrize("gain", GAINS)
@pytest.mark.parametrize("kind", VIEWS)
def test_views_by_definition(kind: str, gain: str) -> None:
    given_gain, plain = GAINS[gain]
    rng = np.random.default_rng(1)
    for page in random_pages(2, 150):
        check(kind, page, VIEWS[kind](page, plain), gain=given_gain)
        cutoff = (int(rng.integers(1, 6)), int(rng.integers(1, 9)))  # perhaps past the page's edge
        name = f"{kind}@{cutoff[0]}x{cutoff[1]}"
        check(name, page, VIEWS[kind](page, plain, cutoff), gain=given_gain)
        check(name, page, VIEWS[kind](page, plain, cutoff), cv.Grid(6, 9), given_gain)
        own_gain = cv.metric(kind, cutoff=cutoff, gain=given_gain)
        np.testing.assert_array_equal(own_gain(page), cv.metric(name)(page, gain=given_gain))


@pytest.mark.parametrize("gain", GAINS)
@pytest.mark.parametrize("symbol", DEFAULTS)
def test_reciprocal_rank_by_definition(symbol: str, gain: str) -> None:
    given_gain, plain = GAINS[gain]
    name = "RR" if symbol == "d_rpd" else f"RR({symbol})"
    large = cv.Grid(6, 9, page_size=3, visible_rows=2)
    for page in random_pages(3, 150):
        own = cv.Grid(*page.shape)
        check(name, page, reciprocal_rank(page, paper_weights(symbol, own), plain), gain=given_gain)
        check(name, page, reciprocal_rank(page, paper_weights(symbol, large), plain), large, given_gain)


def test_reciprocal_rank_breaks_ties_in_reading_order() -> None:
    rng = np.random.default_rng(4)
    for n, page in enumerate(random_pages(5, 200)):
        table = rng.choice([0.0, 0.5, 0.5, 1.0], page.shape)  # cells without weight come last, and have ranks too
        table[rng.integers(page.shape[0]), rng.integers(page.shape[1])] = 1.0
        metric = cv.metric("RR", discount=cv.discounts.Empirical(table, name=f"ties{n}"))
        assert metric(page) == pytest.approx(reciprocal_rank(page, table, GAINS["exp2"][1]), rel=1e-15)


def test_by_hand() -> None:
    page: Page = [[0, 1, NAN, 2], [NAN, 0], [3]]
    for name, wanted in {
        "Precision": 3 / 5,  # 0 1 2 | 0 | 3
        "Precision@1x2": 1 / 2,
        "Precision@1x3": 1 / 2,  # the hole is no cell
        "Precision@2x4": 2 / 4,
        "Precision@2x1": 0.0,
        "Precision@9x9": 3 / 5,
        "Recall@1x2": 1 / 3,
        "Recall": 1.0,
        "Hit@1x1": 0.0,
        "Hit@1x2": 1.0,
        "Hit@3x1": 1.0,
    }.items():
        check(name, page, wanted)
    empty = [[NAN, NAN], [1.0, NAN]]
    check("Precision@1x2", empty, 0.0)
    check("Hit@1x2", empty, 0.0)
    check("Recall@1x2", empty, 0.0)
    for name, wanted in {"Precision": 0.0, "Recall": NAN, "Hit": 0.0, "RR": 0.0}.items():
        check(name, [[NAN, NAN]], wanted)
        check(name, [[0.0, NAN]], wanted)
        check(name, [[1.0, 1.0]], wanted, gain=from_two)


@pytest.mark.parametrize("name", ["Precision@2x3", "Precision", "Recall@2x3", "Hit@2x3", "RR", "RR(d_a)"])
def test_batches(name: str) -> None:
    """A stack gives what its pages give alone, in its own shape, whatever the type and the threads."""
    rng = np.random.default_rng(6)
    stack = rng.integers(0, 3, (2, 3, 4, 4, 5)).astype(float)
    stack[rng.random(stack.shape) < 0.3] = NAN
    stack[0, 1, 2] = NAN
    metric = cv.metric(name)
    found = metric(stack)
    assert found.shape == (2, 3, 4)
    for at in np.ndindex(2, 3, 4):
        np.testing.assert_array_equal(found[at], metric(stack[at]))
    np.testing.assert_array_equal(metric(stack, threads=1), found)
    assert metric(stack[:0]).shape == (0, 3, 4)
    whole = rng.integers(0, 3, (5, 4, 5))
    for kind in (np.uint8, np.int32, np.int64, np.float32):
        np.testing.assert_array_equal(metric(whole.astype(kind)), metric(whole.astype(float)))
    before = stack.copy()
    metric(stack)
    np.testing.assert_array_equal(stack, before)


def test_one_row_is_a_ranked_list() -> None:
    """A row read by d_t, whose weights fall from left to right: as scikit-learn and ir-measures have it."""
    rng = np.random.default_rng(7)
    for _ in range(40):
        size = int(rng.integers(1, 12))
        k = int(rng.integers(1, size + 1))
        row = rng.choice([0.0, 0.0, 1.0, 2.0], size)
        relevant, in_view = row > 0, np.arange(size) < k
        assert cv.metric(f"Precision@1x{k}")([row]) == pytest.approx(
            precision_score(relevant, in_view, zero_division=0.0)
        )
        if relevant.any():
            assert cv.metric(f"Recall@1x{k}")([row]) == pytest.approx(recall_score(relevant, in_view))
        qrels = {"q": {f"d{n}": int(value) for n, value in enumerate(row)}}
        run = {"q": {f"d{n}": float(size - n) for n in range(size)}}
        measures = [ir_measures.P @ k, ir_measures.Success @ k, ir_measures.RR]
        measures += [ir_measures.R @ k] if relevant.any() else []
        theirs = {str(measure): value for measure, value in ir_measures.calc_aggregate(measures, qrels, run).items()}
        ours = {
            f"P@{k}": cv.metric(f"Precision@1x{k}")([row]),
            f"Success@{k}": cv.metric(f"Hit@1x{k}")([row]),
            f"R@{k}": cv.metric(f"Recall@1x{k}")([row]),
            "RR": cv.metric("RR(d_t)")([row]),
        }
        assert {name: ours[name] for name in theirs} == pytest.approx(theirs)


# --- names ---


@pytest.mark.parametrize(
    "name",
    [
        "Precision",
        "Precision@3x5",
        "Recall@1x1",
        "Recall",
        "Hit@10x15",
        "Hit",
        "RR",
        "RR(d_a)",
        "RR(d_rpd(mu=0.5))",
        "RR(d_rpb)",
        "Coverage",
        "Coverage@3x5",
        "Precision(gain=linear)@3x5",
        "RR(d_t, gain=linear)",
    ],
)
def test_names_print_as_they_read(name: str) -> None:
    assert str(cv.metric(name)) == name
    assert cv.metric(str(cv.metric(name))) == cv.metric(name)


def test_the_default_discount_is_left_out() -> None:
    assert str(cv.metric("RR(d_rpd)")) == "RR"
    assert cv.metric("RR(d_rpd)") == cv.metric("RR")
    assert cv.metric("Precision", cutoff="3x5") == cv.metric("Precision@3x5") == cv.metric("Precision", cutoff=(3, 5))


@given(
    st.sampled_from(["Precision", "Recall", "Hit", "Coverage"]),
    st.none() | st.tuples(st.integers(1, 99), st.integers(1, 99)),
    st.sampled_from([None, "exp2", "linear"]),
)
def test_every_view_round_trips(base: str, cutoff: Any, gain: Any) -> None:
    built = cv.metric(base, cutoff=cutoff, gain=gain)
    assert cv.metric(str(built)) == built


@given(
    st.sampled_from(["d_t", "d_a", "d_mir", "d_add", "d_mul", "d_rpd", "d_rpb", "d_rpd(mu=0.125)", "d_t(alpha=3)"]),
    st.sampled_from([None, "exp2", "linear"]),
)
def test_every_reciprocal_rank_round_trips(discount: str, gain: Any) -> None:
    built = cv.metric("RR", discount=discount, gain=gain)
    assert cv.metric(str(built)) == built


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: cv.metric("Precision(d_a)"), r"metric 'Precision\(d_a\)': Precision .*takes no discount"),
        (lambda: cv.metric("Recall(d_rpd)@3x5"), r"Recall .*takes no discount"),
        (lambda: cv.metric("Hit", discount="d_a"), r"Hit .*takes no discount"),
        (lambda: cv.metric("Coverage(d_a)"), r"Coverage .*takes no discount"),
        (lambda: cv.metric("RR@3x5"), r"metric 'RR@3x5': RR .*takes no cutoff"),
        (lambda: cv.metric("RR@5"), r"RR .*takes no cutoff"),
        (lambda: cv.metric("RR", cutoff=(3, 5)), r"RR .*takes no cutoff"),
        (lambda: cv.metric("RR(d_a)", cutoff="3x5"), r"RR .*takes no cutoff"),
        (lambda: cv.metric("RR(d_x)"), r"d_x"),
        (lambda: cv.metric("RR(d_a, d_t)"), r"the discount is given twice"),
        (
            lambda: cv.metric("Hit@5"),
            r"metric 'Hit@5': Hit takes a cutoff of ROWSxCOLS, each at least 1, such as Hit@3x5, found '5'",
        ),
        (
            lambda: cv.metric("Precision@10"),
            r"metric 'Precision@10': Precision takes a cutoff of ROWSxCOLS, each at least 1, such as Precision@3x5, "
            r"found '10'\.",
        ),
        (lambda: cv.metric("Hit", cutoff=5), r"Hit takes a cutoff of ROWSxCOLS, .* found 5"),
        (lambda: cv.metric("Precision@0x5"), r"each at least 1"),
        (lambda: cv.metric("Precision@3x5", cutoff=(3, 5)), r"the cutoff is given twice"),
        (lambda: cv.metric("Precision(gain=square)"), r"gain is exp2 or linear"),
        (lambda: cv.metric("precision@3x5"), r"Did you mean 'Precision'\?"),
        (lambda: cv.metric("Coverage")([[1.0]]), r"Coverage is a metric of a whole system"),
        (lambda: cv.metric("Coverage@1x1")(np.ones((3, 2, 2))), r"Coverage@1x1 is a metric of a whole system"),
        (lambda: cv.metric("Precision")([[-1.0]]), r"row 1, col 1 is -1"),
        (lambda: cv.metric("RR")([[math.inf]]), r"row 1, col 1 is inf"),
        (lambda: cv.metric("Hit")([[1.0, 1.0]], cv.Grid(1, 1)), r"does not fit"),
    ],
)
def test_wrong_parts_are_refused(make: Any, message: str) -> None:
    with pytest.raises(cv.CarousevalError, match=message):
        make()
