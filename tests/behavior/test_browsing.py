"""Browsing models against all paths, people drawn at random, chains, and the C/W/L authors' own package."""

import dataclasses
from fractions import Fraction
from statistics import NormalDist
from typing import Any, cast

import numpy as np
import pytest

import carouseval as cv
from carouseval.attention import recgaze_counts
from carouseval.behavior import States, browse, chain_of
from carouseval.behavior.joint_examination import covariance
from carouseval.metrics.browsing.chain import Chain
from carouseval.metrics.browsing.row_column import RowColumnBrowsing
from carouseval.metrics.browsing.row_page import RowPageBrowsing
from carouseval.metrics.browsing.scan import MarkovScan
from carouseval.metrics.composite_discounts import Empirical, Mixture
from carouseval.metrics.grid import Array
from tests import oracles
from tests.behavior.browsing_oracle import (
    Outcome,
    Summary,
    draw_row_page,
    draw_scan,
    row_column_outcomes,
    row_page_outcomes,
    scan_summary,
    summary,
)
from tests.behavior.cwl_oracle import cwl_values

TINY = [
    cv.Grid(2, 3, 2, 1),
    cv.Grid(2, 3, 3, 1),
    cv.Grid(2, 3, 1, 1, 2),
    cv.Grid(2, 3, 5, 3),
    cv.Grid(1, 1),
    cv.Grid(3, 2, 1, 2, 1, 2),
    cv.Grid(1, 5, 2, swipe_step=1),
    cv.Grid(2, 3, (1, 2), 1),
    cv.Grid(3, 2, (2, 1, 5), 1, 1),
]
LARGE = [
    *(cv.RECGAZE, cv.TV, cv.PHONE, cv.DESKTOP, cv.Grid(7, 13, 4, 2), cv.Grid(3, 4, 9), cv.Grid(1, 40, 7)),
    cv.Grid(5, 12, (1, 5, 5, 3, 20), 2),
]
SEVERAL = [
    RowPageBrowsing(),
    RowPageBrowsing(w=0, sigma1_top=0.3425, fade=0),
    RowPageBrowsing(e=1, kappa=0.5, beta=0.6, sigma1=0.2, sigma2=0.7, rho=0.4, w=0.9, sigma1_top=0.8, fade=0.5),
    RowPageBrowsing(e=0.4, kappa=1, beta=1, sigma1=1, sigma2=1, rho=1, w=1, sigma1_top=1, fade=1),
]
SCANS = [
    MarkovScan(),
    MarkovScan(
        e=1, back=0.5, swipe=0.4, swipe_on=0.7, swipe_back=0.3, scroll=0.6, scroll_back=0.2, lost=0.1, leave=0.3
    ),
    MarkovScan(back=0, swipe=2, swipe_back=0, scroll_back=0, lost=0, leave=0.5, row_spread=0.4, page_spread=0, wrap=0),
    MarkovScan(scroll=0, swipe=0, swipe_on=0, lost=1, leave=1, row_spread=1, page_spread=1),
    MarkovScan(swipe=0.5, swipe_on=1, leave=0.2, wrap=0.4),
]


def some_relevance(grid: cv.Grid) -> Array:
    return np.random.default_rng(grid.rows * 100 + grid.cols).integers(0, 4, grid.shape).astype(float)


def assert_implied(model: Any, found: Summary, grid: cv.Grid, within: float = 1e-12) -> None:
    """Everything a model implies, through its chain and, for weights, through its own formula."""
    seen = browse(some_relevance(grid), model, grid)
    np.testing.assert_allclose(model.weights(grid), np.array(found.weights, float), rtol=0, atol=within)
    np.testing.assert_allclose(seen.weights, np.array(found.weights, float), rtol=0, atol=within)
    np.testing.assert_allclose(seen.visits, np.array(found.visits, float), rtol=within, atol=within)
    assert seen.looks == pytest.approx(float(found.looks), rel=within)
    assert seen.swipes == pytest.approx(float(found.swipes), rel=within, abs=within)
    assert seen.scrolls == pytest.approx(float(found.scrolls), rel=within, abs=within)
    assert seen.cost == seen.swipes + seen.scrolls
    assert seen.total_utility == pytest.approx(float(found.total), abs=10 * within)
    assert seen.variance == pytest.approx(float(found.variance), abs=1000 * within)
    gains = 2 ** some_relevance(grid) - 1
    assert seen.utility == pytest.approx((np.array(found.visits, float) * gains).sum() / float(found.looks))


def exactly(model: Any) -> dict[str, Any]:
    """Parameters as fractions of the very floats."""
    return {name: Fraction(value) for name, value in model.parameters.items()}


def gains_of(grid: cv.Grid) -> list[list[int]]:
    return [[int(value) for value in row] for row in 2 ** some_relevance(grid) - 1]


@pytest.mark.parametrize("grid", TINY, ids=repr)
@pytest.mark.parametrize("model", SEVERAL, ids=str)
def test_row_page_browsing_against_all_paths(model: RowPageBrowsing, grid: cv.Grid) -> None:
    assert_implied(model, summary(row_page_outcomes(exactly(model), grid), grid, gains_of(grid)), grid)


@pytest.mark.parametrize("grid", TINY, ids=repr)
def test_row_column_browsing_against_all_paths(grid: cv.Grid) -> None:
    for model in (RowColumnBrowsing(), RowColumnBrowsing(1, 0.3, 0.5), RowColumnBrowsing(0.5, 1, 1)):
        assert_implied(model, summary(row_column_outcomes(exactly(model), grid), grid, gains_of(grid)), grid)


@pytest.mark.parametrize("grid", TINY, ids=repr)
@pytest.mark.parametrize("scan", SCANS, ids=["default", "busy", "straight", "wild", "partly wrapped"])
def test_scans_against_the_mass_on_every_state(scan: MarkovScan, grid: cv.Grid) -> None:
    found = scan_summary(scan.parameters, grid, gains_of(grid), remainder=1e-17)
    assert found.browsing < 1e-16  # still on the page: times the looks to come, well below 1e-12
    assert_implied(scan, found, grid)


def test_mixtures_against_all_paths() -> None:
    grid = cv.Grid(2, 3, 2, 1)
    one, two = SEVERAL[2], RowColumnBrowsing(1, 0.3, 0.5)
    model = Mixture([(0.25, one), (0.75, two)])
    paths = [
        Outcome(Fraction(share) * path.probability, path.looks, path.swipes, path.scrolls)
        for share, outcomes in (
            (0.25, row_page_outcomes(exactly(one), grid)),
            (0.75, row_column_outcomes(exactly(two), grid)),
        )
        for path in outcomes
    ]
    assert_implied(model, summary(paths, grid, gains_of(grid)), grid)


def test_a_table_is_examined_cell_by_cell() -> None:
    """No path is known: cells are examined independently of each other, and actions are unknown."""
    grid, table = cv.Grid(2, 3), [[0.9, 0.5, 0.0], [1.0, 0.25, 0.125]]
    seen = browse(some_relevance(grid), Empirical(table))
    gains = 2 ** some_relevance(grid) - 1
    np.testing.assert_allclose(seen.weights, table, rtol=1e-15)
    np.testing.assert_allclose(seen.visits, table, rtol=1e-15)
    assert seen.variance == pytest.approx((gains**2 * np.array(table) * (1 - np.array(table))).sum(), rel=1e-12)
    assert np.isnan([seen.swipes, seen.scrolls, seen.cost]).all()


@pytest.mark.parametrize("grid", LARGE, ids=repr)
def test_closed_forms_against_chains(grid: cv.Grid) -> None:
    """A chain knows no formula: it sends people from state to state."""
    for model in (*SEVERAL, RowColumnBrowsing(), RowColumnBrowsing(1, 0.3, 0.99)):
        np.testing.assert_allclose(chain_of(model, grid).weights, model.weights(grid), rtol=1e-12)


@pytest.mark.parametrize("size", [1, 2, 7])
def test_a_scan_that_only_reads_on_is_a_list_read_to_its_end(size: int) -> None:
    scan = MarkovScan(0.8, 0, 0, 0, 0, 0, 0, lost=0, leave=0.25, row_spread=0)
    rows = RowColumnBrowsing(e=0.8, kappa=1, beta=0.8)  # 1 / (1 + 0.25)
    grid = cv.Grid(1, size, page_size=size)
    np.testing.assert_allclose(scan.weights(grid), rows.weights(grid), rtol=1e-14)


def z_bound(comparisons: int) -> float:
    """One false alarm in a thousand over all comparisons together."""
    return NormalDist().inv_cdf(1 - 0.001 / (2 * comparisons))


def test_row_page_browsing_against_people() -> None:
    people = 20_000
    for model in (RowPageBrowsing(), dataclasses.replace(SEVERAL[2], e=0.9)):
        share = draw_row_page(model.parameters, cv.RECGAZE, np.random.default_rng(7), people).mean(axis=0)
        weights = model.weights(cv.RECGAZE)
        z = (share - weights) / np.sqrt(weights * (1 - weights) / people)
        assert np.abs(z).max() < z_bound(z.size)
        assert np.abs(z).max() > 1  # the bound is not idle: 150 cells do differ by chance


def test_scans_against_people() -> None:
    people = 4_000
    scan = MarkovScan(leave=0.05, lost=0.02, wrap=0.4)
    seen = browse(np.zeros(cv.RECGAZE.shape), scan)
    paths = draw_scan(scan.parameters, cv.RECGAZE, np.random.default_rng(8), people)
    visits = np.zeros((people, *cv.RECGAZE.shape))
    for person, path in enumerate(paths):
        np.add.at(visits[person], tuple(np.array(path).T) if path else ([], []), 1)
    share = (visits > 0).mean(axis=0)
    z = (share - seen.weights) / np.sqrt(seen.weights * (1 - seen.weights) / people)
    assert np.abs(z).max() < z_bound(z.size)
    looks = (visits.mean(axis=0) - seen.visits) / (visits.std(axis=0) / people**0.5)
    assert np.abs(looks).max() < z_bound(looks.size)
    totals = (visits > 0).sum(axis=(1, 2))  # a gain of 1 everywhere
    ones = browse(np.ones(cv.RECGAZE.shape), scan)
    assert abs(totals.mean() - ones.total_utility) < z_bound(1) * totals.std() / people**0.5
    assert totals.var() == pytest.approx(ones.variance, rel=0.15)


def inst_continuation(gains: list[float], target: float) -> list[float]:
    """INST: people go on the more readily, the further they are from the gain they came for."""
    chances, got = [], 0.0
    for place, gain in enumerate(gains, 1):
        got += gain
        left = place + target + (target - got)
        chances.append(((left - 1) / left) ** 2)
    return chances


@pytest.mark.parametrize("measure", [("RBP", 0.8), ("RBP", 0.35), ("SDCG", 5), ("SDCG", 8), ("INST", 2.0)])
def test_one_row_against_cwl_eval(measure: tuple[str, float]) -> None:
    gains, costs = [0.5, 0.0, 1.0, 0.25, 0.0, 1.0, 0.75, 0.0], [1.0, 2.0, 1.5, 1.0, 4.0, 1.0, 2.0, 3.0]
    name, parameter = measure
    places = np.arange(1, len(gains) + 1)
    continuation = {
        "RBP": np.full(len(gains), parameter),
        "SDCG": np.where(places < parameter, np.log2(places + 1) / np.log2(places + 2), 0.0),
        "INST": np.array(inst_continuation(gains, parameter)),
    }[name]
    states = States(cv.Grid(1, len(gains)))
    cells = [states.add(0, col) for col in range(len(gains))]
    for here, there, chance in zip(cells, cells[1:], continuation.tolist(), strict=False):
        states.go(here, there, chance)
    chain = states.chain(1.0)
    theirs = cwl_values(measure, gains, costs)
    visits, weights = chain.visits[0], chain.weights[0]
    np.testing.assert_allclose(continuation, theirs["C"], atol=1e-12)
    np.testing.assert_array_equal(weights, visits)  # nobody comes back
    assert visits @ gains / visits.sum() == pytest.approx(theirs["EU"], rel=1e-12)
    assert visits @ costs / visits.sum() == pytest.approx(theirs["EC"], rel=1e-12)
    # those who would go on beyond the list are counted nowhere by the package; here they end with it
    beyond = float(np.prod(continuation))
    assert weights @ gains == pytest.approx(theirs["ETU"] + beyond * sum(gains), rel=1e-12)
    assert visits @ costs == pytest.approx(theirs["ETC"] + beyond * sum(costs), rel=1e-12)


def test_rbp_is_row_column_browsing_of_one_row() -> None:
    gains = [1.0, 0.0, 0.5, 0.25]
    seen = browse([gains], RowColumnBrowsing(e=1, kappa=1, beta=0.8), gain="linear")
    theirs = cwl_values(("RBP", 0.8), gains, [1.0] * 4)
    assert seen.utility == pytest.approx(theirs["EU"], rel=1e-12)
    assert seen.total_utility == pytest.approx(theirs["ETU"] + 0.8**4 * sum(gains), rel=1e-12)
    assert seen.looks == pytest.approx(theirs["ETC"] + 0.8**4 * 4, rel=1e-12)


@pytest.mark.parametrize("mode", ["binary", "graded"])
def test_the_examination_table_as_a_model_is_the_papers_truth(mode: str) -> None:
    """Counts times gains are whole numbers: 2DCG is exact, and so is the score but for one division."""
    seen = recgaze_counts("amsterdam")
    rng = np.random.default_rng(5)
    pages = rng.integers(0, 2 if mode == "binary" else 6, (20, *seen.counts.shape))
    gains = 2**pages - 1
    whole = (gains * seen.counts).sum(axis=(1, 2))
    assert cv.dcg2d(pages, Empirical(seen.counts)).tolist() == whole.tolist()
    model = browse(pages, seen.discount)
    np.testing.assert_allclose(model.total_utility * seen.screens, whole, rtol=1e-14)
    np.testing.assert_allclose(model.total_utility, cv.dcg2d(pages, seen.discount), rtol=1e-14)
    best = [oracles.assignment_category_ideal([(15, row) for row in page.tolist()], seen.counts) for page in gains]
    np.testing.assert_allclose(cv.n2dcg_cat(pages, seen.discount), whole / best, rtol=1e-14)


def test_utility_is_the_metric() -> None:
    pages = np.random.default_rng(3).integers(0, 4, (2, 3, 10, 15)).astype(float)
    pages[0, 0, :, 12:] = np.nan
    for model in ("d_rpb", "d_rcb", "d_scan", "d_mix(0.5*d_rpb + 0.5*d_scan(lost=0.1))"):
        seen = browse(pages, model)
        assert seen.total_utility.shape == seen.variance.shape == seen.utility.shape == (2, 3)
        np.testing.assert_allclose(seen.total_utility, cv.dcg2d(pages, model), rtol=1e-12)
    small = browse([[1, 2], [3]], "d_rpb", cv.RECGAZE, swipe_cost=2, scroll_cost=0)
    assert small.total_utility == pytest.approx(cv.dcg2d([[1, 2], [3]], "d_rpb", cv.RECGAZE))
    assert small.cost == 2 * small.swipes


def test_models_carry_over_to_other_screens_by_their_meaning() -> None:
    rpb = RowPageBrowsing()
    wide = rpb.weights(cv.Grid(10, 12, page_size=4))
    five = rpb.weights(cv.RECGAZE)
    assert (rpb.weights(cv.Grid(4, 10)) == five[:4, :10]).all()  # a smaller screen is a part of a larger one
    np.testing.assert_allclose(wide[:, 7], five[:, 9])  # a swipe lands on the right edge, wherever that is
    scan = MarkovScan()
    pages = [scan.weights(cv.Grid(4, 12, page_size=size)) for size in (4, 6, 12)]
    assert all(((table > 0) & (table < 1)).all() for table in pages)
    assert pages[0][:, 4:].max() < pages[2][:, 4:].max()  # what needs a swipe is examined less


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: chain_of("d_rpd", cv.RECGAZE),
            r"d_rpd\(.*\) is not a browsing model: .* probabilities\. Use d_rpb",
        ),
        (lambda: browse("d_rpb", cast(Any, [[1]])), r"browse takes the relevance first, .* found 'd_rpb' first"),
        (
            lambda: browse(cast(Any, RowPageBrowsing()), cast(Any, [[1]])),
            r"takes the relevance first, .* found d_rpb",
        ),
        (lambda: browse([[1]], "d_a"), r"d_a\(.*\) is not a browsing model"),
        (lambda: browse([[1]], Empirical([[2.0]])), r"d_emp\(table\): weights above 1 are not probabilities"),
        (lambda: chain_of("d_mix(0.5*d_rpb + 0.5*d_rcb)", cv.RECGAZE), r"has a chain for each of its parts"),
        (lambda: browse([[1]], "d_rpb", swipe_cost=-1), r"swipe_cost must be a finite number of at least 0, found -1"),
        (lambda: MarkovScan(leave=0), r"d_scan: leave must be a finite number above 0, found 0"),
        (lambda: some_chain(leave=0.1), r"chain: probabilities out of state 0 add up to 0\.6, not to 1"),
        (lambda: some_chain(start=1.5), r"chain: the probabilities of start add up to 1\.5, above 1"),
        (lambda: some_chain(cell=7), r"chain: cell must be -1 or from 0 to 0"),
        (
            lambda: some_chain(leave=0.0, chance=1.0).weights,
            r"chain: .*state 0 can never be left; it must be possible to leave",
        ),
    ],
)
def test_what_cannot_be_is_refused(call: Any, message: str) -> None:
    with pytest.raises(cv.ParameterError, match=message):
        call()


def some_chain(leave: float = 0.5, start: float = 1.0, cell: int = 0, chance: float = 0.5) -> Chain:
    """One state that leads to itself."""
    one, zero, none = np.ones(1), np.zeros(1), np.zeros(1, np.int64)
    return Chain((1, 1), np.array([cell]), start * one, none, none, chance * one, leave * one, zero, zero, zero, zero)


def test_looks_again_count_as_visits_not_as_weight() -> None:
    seen = some_chain()
    assert seen.weights == [[1.0]]
    assert seen.visits == [[2.0]]
    assert covariance(seen) == pytest.approx(np.zeros((1, 1)))
