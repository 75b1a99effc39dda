import dataclasses
import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import carouseval as cv
from carouseval import discounts
from carouseval.metrics.browsing.scan import MarkovScan
from carouseval.metrics.discount_base import as_discount
from carouseval.metrics.grid import Array
from tests import oracles

PUBLISHED = {
    "d_t": "d_t(alpha=7, beta=6)",
    "d_a": "d_a(alpha=2, beta=1, gamma=9, lam=1)",
    "d_mir": "d_mir(alpha=10, beta=9)",
    "d_add": "d_add(alpha=2, beta=1, gamma=9, lam=1)",
    "d_mul": "d_mul(alpha=1, beta=9, eta=0.9, theta=0.95)",
    "d_rpd": "d_rpd(alpha=4, beta=9, mu=0.65, nu=0.95)",
}
BROWSING = {
    "d_rcb": "d_rcb(e=0.9621, kappa=0.9049, beta=0.8908)",
    "d_rpb": "d_rpb(e=0.9333, kappa=0.9081, beta=0.8649, sigma1=0.3425, sigma2=0.8419, rho=0.9735, w=0.717, "
    "sigma1_top=0.4349, fade=0.1405)",
    "d_scan": "d_scan(e=0.9827, back=0.05, swipe=0.089, swipe_on=2.578, swipe_back=0.5, scroll=0.1033, "
    "scroll_back=0.1, lost=0.02, leave=0.008, row_spread=0, page_spread=0.8812, wrap=1)",
}


@pytest.mark.parametrize(("symbol", "text"), (PUBLISHED | BROWSING).items())
def test_defaults_are_the_published_values(symbol: str, text: str) -> None:
    assert str(discounts.parse(symbol)) == text
    assert discounts.parse(text) == discounts.parse(symbol)
    assert discounts.parse(symbol).short == symbol


@pytest.mark.parametrize(
    "spelling",
    [
        *PUBLISHED,
        "d_rcb",
        "d_rpb",
        "d_rcb(e=1, kappa=0.5, beta=0.25)",
        "d_rpb(w=0, fade=0)",
        "d_rpb(w=1, fade=1)",
        "d_rpb(e=1, sigma1=0.5, sigma1_top=0.2, fade=0.9)",
    ],
)
@pytest.mark.parametrize(
    "grid",
    [
        cv.RECGAZE,
        cv.Grid(1, 1),
        cv.Grid(7, 13),
        cv.Grid(4, 6, page_size=9),
        cv.Grid(6, 9, 2, 1, swipe_step=3, scroll_step=2),
        cv.Grid(4, 9, (1, 5, 2, 20)),
        cv.Grid(3, 7, (3, 1, 2), 1, swipe_step=2),
    ],
)
def test_weights_against_the_formulas_cell_by_cell(spelling: str, grid: cv.Grid) -> None:
    discount = discounts.parse(spelling)
    weights = discount.weights(grid)
    assert weights.shape == grid.shape
    assert weights.dtype == np.float64
    for i in range(1, grid.rows + 1):
        delta = oracles.row_page_size(grid.page_size, i)
        for j in range(1, grid.cols + 1):
            expected = oracles.weight(
                discount.symbol,
                i,
                j,
                delta,
                delta,
                grid.swipe_step or delta,
                grid.visible_rows,
                grid.scroll_step,
                **discount.parameters,
            )
            rounding = 1e-15 if discount.symbol in PUBLISHED else 1e-14  # more factors, and differences
            assert weights[i - 1, j - 1] == pytest.approx(expected, rel=rounding)


def test_the_papers_final_formula() -> None:
    weights = discounts.RowPage().weights(cv.RECGAZE)
    assert weights[0, 0] == pytest.approx(1 / math.log2(13))
    assert weights[2, 5] == pytest.approx(0.65 * 0.95**2 / math.log2(4 * 3 + 9 * 10))  # row 3, column 6 mirrored to 10
    assert weights[9, 14] == pytest.approx(0.65 * 0.95**9 / math.log2(4 * 10 + 9 * 11))


@pytest.mark.parametrize("step", [None, 1, 3])
@pytest.mark.parametrize("sizes", [(1, 5, 5, 5), (3, 1, 2, 9), (5, 5, 5, 4)])
@pytest.mark.parametrize(
    "spelling",
    [*PUBLISHED, "d_rcb", "d_rpb", "d_rpb(w=0, fade=0.3)", "d_mix(0.25*d_rpb + 0.75*d_rcb)", "d_a(gamma=0.5)"],
)
def test_each_row_is_that_of_a_grid_with_its_page_size(spelling: str, sizes: tuple[int, ...], step: int | None) -> None:
    discount, grid = discounts.parse(spelling), cv.Grid(4, 11, sizes, 2, step)
    for row, size in enumerate(sizes):
        alone = discount.weights(dataclasses.replace(grid, page_size=size))
        np.testing.assert_array_equal(discount.weights(grid)[row], alone[row])


@pytest.mark.parametrize("grid", [cv.RECGAZE, cv.Grid(3, 7, page_size=3), cv.Grid(2, 4, page_size=9)])
def test_forms_of_row_page_browsing(grid: cv.Grid) -> None:
    """Six parameters with w = 0 and row 1 like the others, eight with fade = 0."""
    e, kappa, beta, sigma1, sigma2, rho, w, top = 0.9, 0.8, 0.7, 0.4, 0.6, 0.95, 0.3, 0.5
    six = discounts.RowPageBrowsing(e, kappa, beta, sigma1, sigma2, rho, w=0, sigma1_top=sigma1, fade=0.77)
    eight = discounts.RowPageBrowsing(e, kappa, beta, sigma1, sigma2, rho, w, top, fade=0)
    delta = oracles.row_page_size(grid.page_size, 1)
    for i in range(grid.rows):
        for j in range(grid.cols):
            page, left = divmod(j, delta)  # page and slot from 0
            right = delta - 1 - left
            further = sigma2 ** (page - 1) * rho**right
            expected = beta**left if page == 0 else sigma1 * further
            assert six.weights(grid)[i, j] == pytest.approx(e * kappa**i * expected, rel=1e-14)
            both = 1 - (1 - beta**left) * (1 - w * beta**right)
            expected = both if page == 0 else (top if i == 0 else sigma1) * further
            assert eight.weights(grid)[i, j] == pytest.approx(e * kappa**i * expected, rel=1e-14)


def test_row_page_browsing_by_hand() -> None:
    """Two rows, swipe pages of 2: one half everywhere, all of whom also look from the right edge."""
    halves = discounts.RowPageBrowsing(0.5, 0.5, 0.5, 0.5, 0.5, 0.5, w=1, sigma1_top=1, fade=0.5)
    assert halves.weights(cv.Grid(2, 6, page_size=2)).tolist() == [
        [1 / 2, 1 / 2, 1 / 4, 1 / 2, 1 / 8, 1 / 4],
        [1 / 4, 1 / 4, 3 / 32, 3 / 16, 3 / 64, 3 / 32],
    ]


factor = st.one_of(st.integers(0, 50), st.floats(0, 50))
decay = st.floats(0, 1, exclude_min=True)
share = st.floats(0, 1)
rate = st.one_of(st.integers(0, 9), st.floats(0, 1e300))


@given(factor, factor, factor, factor)
def test_parse_undoes_str_for_factors(alpha: float, beta: float, gamma: float, lam: float) -> None:
    for discount in (discounts.FPattern(alpha, beta), discounts.MirroredAdditive(alpha, beta, gamma, lam)):
        assert discounts.parse(str(discount)) == discount
        assert discounts.parse(discount.short) == discount
        assert str(discounts.parse(str(discount))) == str(discount)


@given(decay, decay)
def test_parse_undoes_str_for_decays(mu: float, nu: float) -> None:
    discount = discounts.RowPage(mu=np.float64(mu), nu=nu)
    assert discounts.parse(str(discount)) == discount


row_columns = st.builds(discounts.RowColumnBrowsing, decay, decay, decay)
row_pages = st.builds(discounts.RowPageBrowsing, *[decay] * 6, share, decay, share)
scans = st.builds(
    MarkovScan, decay, *[rate] * 7, st.floats(0, 1e300, exclude_min=True), *[share] * 3
)  # of all rates only leave may not be 0


@given(st.one_of(row_columns, row_pages, scans))
def test_parse_undoes_str_for_browsing_models(discount: discounts.Discount) -> None:
    assert discounts.parse(str(discount)) == discount
    assert discounts.parse(discount.short) == discount
    assert discount.is_probability


browsed = st.floats(0.01, 1)  # nothing gets too small for a float


@given(
    st.one_of(
        st.builds(discounts.RowColumnBrowsing, browsed, browsed, browsed),
        st.builds(discounts.RowPageBrowsing, *[browsed] * 6, share, browsed, share),
        st.builds(MarkovScan, browsed, *[st.floats(0.01, 100)] * 8, *[st.floats(0.01, 1)] * 3),
    ),
    st.sampled_from([cv.Grid(3, 5, page_size=2), cv.Grid(1, 1), cv.Grid(2, 3, page_size=4)]),
)
def test_browsing_weights_are_probabilities(discount: discounts.Discount, grid: cv.Grid) -> None:
    weights = discount.weights(grid)
    assert (weights > 0).all()
    assert (weights <= 1 + 1e-12).all()
    assert weights[0, 0] <= discount.parameters["e"] * (1 + 1e-12)  # nobody else looks at all


@pytest.mark.parametrize(
    ("spelling", "holds"),
    [(symbol, False) for symbol in PUBLISHED]
    + [(symbol, True) for symbol in BROWSING]
    + [("d_mix(0.5*d_rpb + 0.5*d_scan)", True), ("d_mix(0.5*d_rpb + 0.5*d_rpd)", False)],
)
def test_which_weights_are_probabilities(spelling: str, holds: bool) -> None:
    assert discounts.parse(spelling).is_probability is holds


def test_a_table_is_of_probabilities_up_to_1() -> None:
    assert discounts.Empirical([[1.0, 0.0]]).is_probability
    assert not discounts.Empirical([[1.5, 0.5]]).is_probability


def test_short_leaves_out_defaults() -> None:
    assert discounts.RowPageBrowsing(w=0, fade=0).short == "d_rpb(w=0, fade=0)"
    assert discounts.RowColumnBrowsing(beta=np.float64(0.5)).short == "d_rcb(beta=0.5)"
    assert MarkovScan(lost=0.1).short == "d_scan(lost=0.1)"


def test_scans_are_found_by_name_alone() -> None:
    """The module that defines them stands above the metric, and nothing else here imports it."""
    code = """
from carouseval.metrics import discount_base, discounts
print(discounts.parse("d_scan(lost=1)").short, "d_scan" in discount_base.classes())
"""
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout == "d_scan(lost=1) True\n"


def test_parse_reads_positions_and_partial_lists() -> None:
    assert discounts.parse(" d_a(2, 1, lam=3) ") == discounts.FPatternActions(lam=3)
    assert discounts.parse("d_a(lambda=3)") == discounts.FPatternActions(lam=3)  # the paper's word
    assert discounts.parse("d_rpd()") == discounts.RowPage()
    assert discounts.parse("d_rpd(mu=0.5)").short == "d_rpd(mu=0.5)"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("d_rdp", r"no discount 'd_rdp'\. Did you mean 'd_rpd'\? Known: d_a, d_add"),
        ("", r"discount '' cannot be parsed; write for example d_rpd"),
        (
            "d_rpd(",
            r"discount 'd_rpd\(': the brackets do not match: 1 opened, 0 closed\. Write it as in d_rpd",
        ),
        ("d_rpd(mu=)", r"parameters are written as name=number"),
        ("d_rpd(mu=mu)", r"parameters are written as name=number"),
        ("d_rpd(mv=0.5)", r"parameter 'mv' is unknown\. Did you mean 'mu'\? d_rpd takes alpha, beta, mu, nu\."),
        ("d_t(1) or (2)", r"name=number"),
        ("d_t(**{})", r"parameter 'None' is unknown"),
        ("d_t(1, 2, 3)", r"has 3 parameters; d_t takes alpha, beta\."),
        ("d_t(1, alpha=2)", r"parameter 'alpha' is given twice"),
        ("d_rpd(mu=0.5, mu=0.6)", r"parameter 'mu' is given twice\. d_rpd takes"),
        ("d_a(lam=1, lambda=2)", r"parameter 'lam' is given twice\. d_a takes"),
        ("d_t(1)(2)", r"name=number"),
        ("d_emp(unheard of)", r"there is no table 'unheard of'.*register_table"),
        ("@no/such/file.json", r"discount file 'no/such/file.json': No such file"),
    ],
)
def test_what_does_not_read_is_refused(text: str, message: str) -> None:
    with pytest.raises(cv.ParseError, match=message):
        discounts.parse(text)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: discounts.RowPage(mu=0), r"d_rpd: mu must be a finite number above 0 and at most 1, found 0\."),
        (lambda: discounts.RowPage(nu=1.5), r"d_rpd: nu must be .* found 1\.5\."),
        (lambda: discounts.FPattern(alpha=-1), r"d_t: alpha must be a finite number of at least 0, found -1\."),
        (lambda: discounts.FPattern(beta=math.nan), r"d_t: beta must be .* found nan\."),
        (lambda: discounts.FPattern(beta=math.inf), r"d_t: beta must be .* found inf\."),
        (lambda: discounts.Mirrored(alpha="7"), r"d_mir: alpha must be .* found '7'\."),  # type: ignore[arg-type]
        (lambda: discounts.Mirrored(alpha=True), r"d_mir: alpha must be .* found True\."),
        (lambda: discounts.RowColumnBrowsing(e=0), r"d_rcb: e must be a finite number above 0 and at most 1, found 0"),
        (lambda: discounts.RowColumnBrowsing(kappa=1.01), r"d_rcb: kappa must be .* at most 1, found 1\.01\."),
        (lambda: discounts.RowPageBrowsing(w=-0.1), r"d_rpb: w must be .* at least 0 and at most 1, found -0\.1\."),
        (lambda: discounts.RowPageBrowsing(fade=2), r"d_rpb: fade must be .* at most 1, found 2\."),
        (lambda: discounts.RowPageBrowsing(sigma1_top=0), r"d_rpb: sigma1_top must be .* above 0"),
        (lambda: discounts.RowPageBrowsing(rho=math.nan), r"d_rpb: rho must be .* found nan\."),
        (lambda: MarkovScan(leave=0), r"d_scan: leave must be a finite number above 0, found 0\."),
        (lambda: MarkovScan(lost=-1), r"d_scan: lost must be a finite number of at least 0, found -1\."),
        (lambda: MarkovScan(wrap=1.5), r"d_scan: wrap must be .* at most 1, found 1\.5\."),
        (lambda: MarkovScan(e=0), r"d_scan: e must be .* above 0 and at most 1, found 0\."),
        (lambda: MarkovScan(back=math.inf), r"d_scan: back must be .* found inf\."),
        (lambda: discounts.Empirical([[0.0, 0.0]], name="z"), r"d_emp\(z\): all weights are 0"),
        (lambda: discounts.Empirical([[1.0, -1.0]]), r"d_emp\(table\): the weight of row 1, col 2 is -1 .* 0 or more"),
        (lambda: discounts.Empirical([[1.0], [math.nan]]), r"row 2, col 1 is nan"),
        (lambda: discounts.Empirical([1.0, 2.0]), r"needs shape \(rows, cols\), found \(2,\)"),
        (lambda: discounts.Empirical([]), r"needs shape"),
        (lambda: discounts.Empirical([[1.0], [1.0, 2.0]]), r"must be numbers in rows of equal length"),
        (lambda: discounts.Empirical([["a"]]), r"must be numbers"),
        (lambda: discounts.Empirical([[1.0]], name="a(b)"), r"name must be text without brackets"),
        (lambda: as_discount(np.ones((2, 2))), r"found ndarray\. Wrap a table .* discounts\.Empirical"),  # type: ignore[arg-type]
        (lambda: discounts.register_discount("not a symbol"), r"one word such as @register_discount"),
        (lambda: discounts.register_discount(discounts.RowPage), r"register_discount takes a symbol"),  # type: ignore[arg-type]
        (lambda: discounts.RowPage().weights((2, 3)), r"weights takes a carouseval\.Grid, found tuple"),  # type: ignore[arg-type]
    ],
)
def test_nonsense_parameters_are_refused(make: Any, message: str) -> None:
    with pytest.raises(cv.ParameterError, match=message):
        make()


@pytest.mark.parametrize(
    ("discount", "cell"),
    [
        (discounts.FPattern(0.25, 0.25), "row 1, col 1 is -1 "),
        (discounts.FPattern(0.5, 0.5), "row 1, col 1 is inf "),
        (discounts.FPattern(0, 1), "row 1, col 1 is inf "),
        (discounts.FPattern(0, 0), "row 1, col 1 is -0 "),
    ],
)
def test_weights_that_are_not_finite_and_positive_name_the_cell(discount: discounts.Discount, cell: str) -> None:
    with pytest.raises(cv.ParameterError) as refused:
        discount.weights(cv.RECGAZE)
    assert cell in str(refused.value)
    assert str(discount) in str(refused.value)
    assert "alpha*i + beta*j is above 1" in str(refused.value)


def test_weights_too_small_for_a_float_are_said_to_be() -> None:
    with pytest.raises(cv.ParameterError, match=r"row 3, col 1 is 0 on a 10x15 grid; .* It is too small for a float\."):
        discounts.RowPage(nu=1e-300).weights(cv.RECGAZE)


def test_a_formula_may_be_fine_on_one_grid_only() -> None:
    ends = discounts.RowPage(nu=1e-150)
    assert ends.weights(cv.Grid(2, 3)).min() > 0
    with pytest.raises(cv.ParameterError, match="row 4, col 1 is 0 on a 5x3 grid"):
        ends.weights(cv.Grid(5, 3))


def test_empirical_tables_are_values() -> None:
    table = np.array([[1.0, 0.5], [0.0, 0.25]])
    discount = discounts.Empirical(table, name="ours")
    table[0, 0] = 9
    assert discount.weights(cv.Grid(2, 2)).tolist() == [[1.0, 0.5], [0.0, 0.25]]
    assert discount == discounts.Empirical([[1.0, 0.5], [0.0, 0.25]], name="ours")
    assert discount != discounts.Empirical([[1.0, 0.5], [0.0, 0.5]], name="ours")
    assert str(discount) == repr(discount) == discount.short == "d_emp(ours)"
    assert len({discount, discounts.Empirical([[1.0, 0.5], [0.0, 0.25]], name="ours")}) == 1
    with pytest.raises(ValueError, match="read-only"):
        discount.weights(cv.Grid(2, 2))[0, 0] = 2


def test_an_empirical_table_covers_smaller_grids_only() -> None:
    discount = discounts.Empirical(np.arange(12.0).reshape(3, 4))
    assert discount.weights(cv.Grid(2, 3)).tolist() == [[0.0, 1.0, 2.0], [4.0, 5.0, 6.0]]
    with pytest.raises(cv.ParameterError, match=r"the table is 3x4, too small for a 3x5 grid\."):
        discount.weights(cv.Grid(3, 5))


def test_registered_tables_parse_by_name() -> None:
    discount = discounts.register_table(discounts.Empirical([[1.0, 0.5]], name="lab 3"))
    assert discounts.parse("d_emp(lab 3)") == discount
    assert discounts.register_table(discount) == discount
    with pytest.raises(cv.ParameterError, match="already another table"):
        discounts.register_table(discounts.Empirical([[1.0]], name="lab 3"))
    with pytest.raises(cv.ParseError, match="Did you mean 'lab 3'"):
        discounts.parse("d_emp(lab 4)")


@pytest.mark.parametrize(
    "discount",
    [
        discounts.RowPage(mu=0.5),
        discounts.Empirical([[1.0, 0.1]], name="mine"),
        discounts.Empirical([[1.0, 0.1, 0.2]], page_size=2),
        discounts.RowColumnBrowsing(0.9, 0.8, 0.7),
        discounts.RowPageBrowsing(w=0, fade=1 / 3),
        MarkovScan(lost=0.1, wrap=0),
        discounts.Mixture([(0.25, "d_rpb(w=0)"), (0.75, MarkovScan(lost=0.1))]),
        discounts.Mixture(
            [
                (0.5, discounts.Empirical([[1.0, 0.1]], name="nobody registered it", page_size=1)),
                (0.5, discounts.Mixture([(1 / 3, "d_rcb"), (2 / 3, "d_rpd")])),
            ]
        ),
    ],
)
def test_files_round_trip(discount: discounts.Discount, tmp_path: Path) -> None:
    path = tmp_path / "fitted.json"
    discounts.save(discount, path)
    assert discounts.parse(f"@{path}") == discount
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "is not JSON"),
        ("[]", "needs the keys 'discount' and 'parameters'"),
        ('{"discount": 3, "parameters": {}}', "needs the keys 'discount' and 'parameters'"),
        ('{"discount": "d_rpd", "paramaters": {"mu": 0.1}}', "needs the keys 'discount' and 'parameters'"),
        ('{"discount": "d_rpb2", "parameters": {}}', r"no discount 'd_rpb2'\. Did you mean"),
        ('{"discount": "d_rpd", "parameters": {"mew": 1}}', "'parameters' of d_rpd are alpha, beta, mu, nu"),
        ('{"discount": "d_rpd", "parameters": [1]}', "'parameters' of d_rpd are"),
        ('{"discount": "d_emp", "parameters": {}}', "'parameters' of d_emp are table, name, page_size"),
        ('{"discount": "d_mix", "parameters": {}}', "'parameters' of d_mix are parts"),
        (
            '{"discount": "d_mix", "parameters": {"parts": [[1, {"discount": "d_rpp", "parameters": {}}]]}}',
            "d_mix: a part: there is no discount 'd_rpp'. Did you mean 'd_rpd'",
        ),
        ('{"discount": "d_mix", "parameters": {"parts": [[1, {}]]}}', "d_mix: a part needs the keys 'discount' and"),
    ],
)
def test_bad_files_are_refused(content: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.json"
    path.write_text(content)
    with pytest.raises(cv.ParseError, match=message):
        discounts.parse(f"@{path}")


def test_a_file_may_hold_more_than_the_discount(tmp_path: Path) -> None:
    path = tmp_path / "fit.json"
    path.write_text("\ufeff" + json.dumps({"discount": "d_t", "parameters": {"beta": 2}, "train": {"spearman": 0.9}}))
    assert discounts.parse(f"@{path}") == discounts.FPattern(beta=2)


def test_a_users_discount_joins_by_one_decorator() -> None:
    @discounts.register_discount("d_test_steep")
    class Steep(discounts.Discount):
        """Halves with every row."""

        base: float = 0.5

        def weights(self, grid: cv.Grid) -> Array:
            return np.asarray(self.base ** (grid.row_index - 1.0))

    steep = Steep(base=np.float64(0.25))
    assert str(steep) == "d_test_steep(base=0.25)"
    assert discounts.parse(str(steep)) == steep
    assert steep.weights(cv.Grid(2, 2)).tolist() == [[1.0, 1.0], [0.25, 0.25]]  # broadcast to the whole grid
    assert str(cv.metric("N2DCG_cat(d_test_steep)")) == "N2DCG_cat(d_test_steep)"
    assert cv.dcg2d([[1, 0], [1, 1]], "d_test_steep") == 2.0
    with pytest.raises(cv.ParameterError, match="d_test_steep: base must be a finite number, found inf"):
        Steep(base=math.inf)
    with pytest.raises(
        cv.ParameterError, match=r"d_test_steep\(base=-1\): the weight of row 2, col 1 is -1 on a 2x2 grid"
    ):
        Steep(base=-1).weights(cv.Grid(2, 2))
    with pytest.raises(cv.ParameterError, match="'d_rpd' is already RowPage"):
        discounts.register_discount("d_rpd")(Steep)


def test_a_discount_must_be_registered() -> None:
    class Plain(discounts.Discount):
        def weights(self, grid: cv.Grid) -> Array:
            return np.ones(grid.shape)

    with pytest.raises(cv.ParameterError, match=r"Plain is not registered; write @register_discount"):
        cv.dcg2d([[1]], Plain())
    with pytest.raises(cv.ParseError, match="a discount's name is text such as 'd_rpd', found 3"):
        discounts.parse(3)  # type: ignore[arg-type]


def test_a_discount_may_have_any_parameters() -> None:
    @discounts.register_discount("d_test_any")
    class Anything(discounts.Discount):
        points: Any = (3, 4)
        on: bool = True

        def weights(self, grid: cv.Grid) -> Array:
            return np.full(grid.shape, float(self.points[0]))

    assert cv.dcg2d([[1]], Anything()) == 3.0
    assert cv.dcg2d([[1]], Anything([5, 6])) == 5.0  # a list cannot be hashed, and must not be cached
    metric = cv.metric("2DCG", discount=Anything((7, 8), on=False))
    assert str(metric) == "2DCG(d_test_any(points=(7, 8), on=False))"
    assert cv.metric(str(metric)) == metric


def test_a_discount_that_needs_parameters_says_so() -> None:
    @discounts.register_discount("d_test_needy")
    class Needy(discounts.Discount):
        keep: float

        def weights(self, grid: cv.Grid) -> Array:
            return np.full(grid.shape, self.keep)

    with pytest.raises(cv.ParseError, match="d_test_needy needs its parameters keep"):
        discounts.parse("d_test_needy")


def test_nobody_replaces_a_discount_of_the_paper() -> None:
    class RowPage(discounts.Discount):
        def weights(self, grid: cv.Grid) -> Array:
            return np.ones(grid.shape)

    RowPage.__qualname__ = "RowPage"
    with pytest.raises(cv.ParameterError, match="'d_rpd' is already RowPage"):
        discounts.register_discount("d_rpd")(RowPage)

    @dataclasses.dataclass
    class Thawed(discounts.Discount):
        keep: float = 1.0

    with pytest.raises(cv.ParameterError, match="Thawed must be a frozen dataclass"):
        discounts.register_discount("d_test_thawed")(Thawed)


def test_weights_are_checked_even_past_the_class() -> None:
    class Elsewhere:
        def weights(self, grid: cv.Grid) -> Array:
            return np.ones((1, 2))

    @discounts.register_discount("d_test_elsewhere")
    class Inherited(Elsewhere, discounts.Discount):
        pass

    with pytest.raises(cv.ParameterError, match=r"weights has shape \(1, 2\), which does not fit a 3x5 grid"):
        cv.dcg2d(np.ones((3, 5)), Inherited())


def test_errors_in_a_file_name_it(tmp_path: Path) -> None:
    path = tmp_path / "bad.json"
    path.write_text('{"discount": "d_rpd", "parameters": {"mu": 2}}')
    with pytest.raises(cv.ParameterError, match=r"bad\.json': d_rpd: mu must be"):
        discounts.parse(f"@{path}")
    path.write_text(
        '{"discount": "d_mix", "parameters": {"parts": [[1, {"discount": "d_rpb", "parameters": {"w": 2}}]]}}'
    )
    with pytest.raises(cv.ParameterError, match=r"bad\.json': d_mix: a part: d_rpb: w must be .* found 2\."):
        discounts.parse(f"@{path}")


def test_weights_of_a_wrong_shape_are_refused() -> None:
    @discounts.register_discount("d_test_misshapen")
    class Misshapen(discounts.Discount):
        def weights(self, grid: cv.Grid) -> Array:
            return np.ones(grid.cols + 1)

    with pytest.raises(cv.ParameterError, match=r"d_test_misshapen\(\): weights has shape \(4,\).* 2x3 grid"):
        Misshapen().weights(cv.Grid(2, 3))
