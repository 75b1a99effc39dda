import math
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import carouseval as cv
from carouseval.metrics.metric_base import Metric
from carouseval.metrics.page_score import score_page

PAGES = np.random.default_rng(0).integers(0, 4, (6, 10, 15)).astype(float)


@pytest.mark.parametrize(
    "name",
    [
        "2DCG",
        "N2DCG",
        "N2DCG_cat",
        "N2DCG_cat(d_rpd(mu=0.5))@3x5",
        "N2DCG_cat(d_a)",
        "N2DCG(d_rpd)@10x15",
        "2DCG(d_t(alpha=1, beta=1))",
        "DCG",
        "DCG@10",
        "NDCG@1",
        "NDCG(gain=linear)@5",
        "N2DCG_cat(gain=linear)",
        "N2DCG_cat(d_mul, gain=exp2)@2x2",
    ],
)
def test_names_print_as_they_read(name: str) -> None:
    assert str(cv.metric(name)) == name
    assert cv.metric(str(cv.metric(name))) == cv.metric(name)


@pytest.mark.parametrize(
    ("name", "prints"),
    [
        ("N2DCG_cat(d_rpd)", "N2DCG_cat"),
        ("N2DCG(d_a(alpha=2))", "N2DCG"),
        (" N2DCG_cat( d_rpd( mu = 0.5 ) , gain=linear ) @3x5", "N2DCG_cat(d_rpd(mu=0.5), gain=linear)@3x5"),
        ("2DCG(d_a(2, 1, 9, 1))", "2DCG(d_a)"),
        ("2DCG()", "2DCG"),
        ("N2DCG_cat@03x05", "N2DCG_cat@3x5"),
    ],
)
def test_other_spellings_print_the_plain_one(name: str, prints: str) -> None:
    assert str(cv.metric(name)) == prints


@given(
    st.sampled_from(["2DCG", "N2DCG", "N2DCG_cat"]),
    st.sampled_from(["d_t", "d_a", "d_mir", "d_add", "d_mul", "d_rpd", "d_rpd(mu=0.125)", "d_t(alpha=3)"]),
    st.none() | st.tuples(st.integers(1, 99), st.integers(1, 99)),
    st.sampled_from([None, "exp2", "linear"]),
)
def test_every_combination_round_trips(base: str, discount: str, cutoff: Any, gain: Any) -> None:
    built = cv.metric(base, discount=discount, cutoff=cutoff, gain=gain)
    assert cv.metric(str(built)) == built


def test_metrics_score_like_the_functions() -> None:
    half = "d_rpd(mu=0.5)"
    cases: dict[str, Any] = {
        "2DCG": cv.dcg2d(PAGES),
        "N2DCG": cv.n2dcg(PAGES),
        "N2DCG_cat": cv.n2dcg_cat(PAGES),
        f"N2DCG_cat({half})@3x5": cv.n2dcg_cat(PAGES, half, cutoff=(3, 5)),
        f"N2DCG({half})": cv.n2dcg(PAGES, half),
        "2DCG(d_a, gain=linear)": cv.dcg2d(PAGES, "d_a", gain="linear"),
        "DCG@7": cv.metric("DCG", cutoff=7)(PAGES),
        "NDCG@7": cv.metric("NDCG", cutoff=7)(PAGES),
    }
    for name, expected in cases.items():
        np.testing.assert_array_equal(cv.metric(name)(PAGES), expected)
    grid = cv.Grid(10, 15, page_size=3)
    np.testing.assert_array_equal(cv.metric("N2DCG_cat")(PAGES, grid), cv.n2dcg_cat(PAGES, grid=grid))


def test_a_metrics_own_gain_wins() -> None:
    assert cv.metric("2DCG", gain="linear")(PAGES[0], gain="exp2") == cv.dcg2d(PAGES[0], gain="linear")
    assert cv.metric("2DCG")(PAGES[0], gain="linear") == cv.dcg2d(PAGES[0], gain="linear")
    assert str(cv.metric("2DCG", gain=np.sqrt)) == "2DCG(gain=sqrt)"


def test_a_file_can_be_the_discount(tmp_path: Any) -> None:
    cv.discounts.save(cv.discounts.RowPage(mu=0.5), tmp_path / "fit.json")
    read = cv.metric(f"N2DCG_cat(@{tmp_path}/fit.json)@3x5")
    assert read == cv.metric("N2DCG_cat(d_rpd(mu=0.5))@3x5")


def test_what_a_metric_is_divided_by() -> None:
    assert [cv.metric(name).ideal for name in ("2DCG", "N2DCG", "N2DCG_cat", "DCG", "NDCG")] == [
        "none",
        "unconstrained",
        "category",
        "none",
        "unconstrained",
    ]


def test_a_users_function_of_gains_and_weights() -> None:
    def hits(gains: Any, weights: Any) -> Any:
        assert gains.shape == weights.shape == (3, 3)
        return (gains * weights).sum()

    page = [[1, 2], [np.nan, 1]]
    metric = cv.metric(hits, discount="d_a", cutoff="2x1")
    assert str(metric) == "hits"
    expected = cv.dcg2d(page, "d_a", cv.Grid(3, 3), cutoff=(2, 1))
    assert metric(page, cv.Grid(3, 3)) == pytest.approx(expected)
    assert cv.metric(lambda g, w: np.sum(g * w))(PAGES) == pytest.approx(cv.dcg2d(PAGES))
    assert cv.metric(metric) is metric
    assert math.isnan(cv.metric(lambda g, w: math.nan)(page))


@pytest.mark.parametrize("result", [np.ones(3), "many", None])
def test_a_function_must_give_one_number(result: Any) -> None:
    metric = cv.metric(lambda gains, weights: result)
    with pytest.raises(cv.DataError, match=r"metric '<lambda>' must return one number for a page, found"):
        metric([[1.0]])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: cv.metric("N2DCG_kat"), r"no metric 'N2DCG_kat'\. Did you mean 'N2DCG_cat'\? Write one of 2DCG"),
        (lambda: cv.metric("n2dcg_cat"), r"Did you mean 'N2DCG_cat'\?"),
        (lambda: cv.metric("MAP"), r"there is no metric 'MAP'\."),
        (lambda: cv.metric(""), r"there is no metric ''\."),
        (
            lambda: cv.metric("N2DCG_cat(d_rpd"),
            r"metric 'N2DCG_cat\(d_rpd': the brackets do not match: 1 opened, 0",
        ),
        (lambda: cv.metric("N2DCG_cat(d_rpd(mu=0.5)"), r"mu=0\.5\)': the brackets do not match: 2 opened, 1 closed"),
        (lambda: cv.metric("N2DCG_cat(d_a))@3x5"), r"the brackets do not match: 1 opened, 2 closed"),
        (lambda: cv.metric("N2DCG_cat@3x5@2x2"), r"there is no metric"),
        (lambda: cv.metric("N2DCG_cat(d_rpd, d_a)"), r"the discount is given twice"),
        (lambda: cv.metric("N2DCG_cat(d_a)", discount="d_a"), r"the discount is given twice"),
        (lambda: cv.metric("N2DCG_cat@3x5", cutoff=(3, 5)), r"the cutoff is given twice"),
        (lambda: cv.metric("2DCG(gain=linear)", gain="linear"), r"the gain is given twice"),
        (lambda: cv.metric("2DCG(gain=square)"), r"gain is exp2 or linear; pass a function as metric"),
        (lambda: cv.metric("2DCG", gain="square"), r"gain must be 'exp2', 'linear' or a function"),  # type: ignore[arg-type]
        (lambda: cv.metric("N2DCG_cat(d_rdp)"), r"Did you mean 'd_rpd'"),
        (
            lambda: cv.metric("N2DCG_cat@5"),
            r"metric 'N2DCG_cat@5': N2DCG_cat takes a cutoff of ROWSxCOLS.* such as N2DCG_cat@3x5, found '5'",
        ),
        (lambda: cv.metric("N2DCG_cat@0x5"), r"each at least 1"),
        (lambda: cv.metric("N2DCG_cat@"), r"N2DCG_cat takes a cutoff of ROWSxCOLS, .*, found ''"),
        (
            lambda: cv.metric("N2DCG_cat", cutoff=5),
            r"N2DCG_cat takes a cutoff of ROWSxCOLS, .* such as N2DCG_cat@3x5, found 5",
        ),
        (
            lambda: cv.metric("NDCG@3x5"),
            r"NDCG takes a cutoff of one integer from 1 to 999,999,999, such as NDCG@10, found '3x5'",
        ),
        (lambda: cv.metric("NDCG@0"), r"NDCG takes a cutoff of one integer from 1 to 999,999,999"),
        (lambda: cv.metric("NDCG", cutoff=(3, 5)), r"metric 'NDCG': cutoff must be an integer"),
        (lambda: cv.metric("NDCG(d_a)@5"), r"NDCG reads a page as one list and takes no discount"),
        (lambda: cv.metric("DCG", discount="d_a"), r"DCG reads a page as one list and takes no discount"),
        (lambda: cv.metric(3), r"metric must be a name, a function of \(gains, weights\) or a metric, found 3"),  # type: ignore[arg-type]
        (lambda: cv.metric(cv.metric("2DCG"), cutoff="1x1"), r"metric 2DCG is complete"),
        (lambda: cv.metric(np.sum, cutoff=3), r"takes a cutoff such as '3x5'"),
    ],
)
def test_what_is_no_metric_is_refused(make: Any, message: str) -> None:
    with pytest.raises(cv.CarousevalError, match=message):
        make()


def test_two_metrics_of_one_name_are_refused() -> None:
    with pytest.raises(cv.ParameterError, match="2 different metrics are named '<lambda>'"):
        score_page([[1.0]], [cv.metric(lambda g, w: 1.0), cv.metric(lambda g, w: 2.0)])
    assert list(score_page([[1.0]], ["2DCG", "2DCG"]).scores) == ["2DCG"]
    assert score_page([[1.0, 2.0], [3.0]], ["2DCG"]).page.shape == (2, 2)


def test_scores_of_a_page_show_themselves() -> None:
    result = score_page([[0, 0, 1], [2, 0, 1]], ["N2DCG_cat@2x3", "Precision"])
    assert repr(result) == "<PageScore of a 2x3 page: N2DCG_cat@2x3 0.8556, Precision 0.5000>"
    assert repr(result.analysis) == "<PageAnalysis N2DCG_cat(d_rpd)@2x3: 2DCG 1.084, 85.6% of the ideal page>"
    html = result._repr_html_()
    assert html.startswith("<p>Scores of a 2x3 page. N2DCG_cat(d_rpd)@2x3: 2DCG 1.084, 85.6% of the ideal page.</p>")
    assert re.search(r"<th[^>]*>Precision</th><td[^>]*>0.5000</td>", html)
    assert repr(score_page([[0, 0]], ["Hit"])) == "<PageScore of a 1x2 page: Hit 0.0000>"
    assert repr(score_page([[0, 0]]).analysis) == "<PageAnalysis N2DCG_cat(d_rpd): 2DCG 0>"


def test_metrics_are_values() -> None:
    assert len({cv.metric("N2DCG_cat"), cv.metric("N2DCG_cat(d_rpd)"), cv.metric("N2DCG_cat@3x5")}) == 2
    assert isinstance(cv.metric("NDCG@3"), Metric)
