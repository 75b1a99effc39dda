"""Fits and scores against the paper and against SciPy."""

import itertools
from typing import Any, cast

import numpy as np
import pytest
from scipy import stats

import carouseval as cv
from carouseval import _native
from carouseval.attention import Examination, recgaze_counts
from carouseval.attention.fit_settings import Objective
from carouseval.attention.frequency_scores import scores
from carouseval.attention.parameters import DECAYS, FACTORS
from carouseval.attention.rank_fit import PAPER_DISCOUNTS, grid_search, refine

TRAIN, TEST = recgaze_counts("bratislava"), recgaze_counts("amsterdam")
PAPER = {  # parameters, train rho, test rho, test r, test MSE
    "d_t": ("d_t(alpha=7, beta=6)", 0.9048, 0.8904, 0.8662, 0.0991),
    "d_a": ("d_a(alpha=2, beta=1, gamma=9, lam=1)", 0.9349, 0.9300, 0.8562, 0.0243),
    "d_mir": ("d_mir(alpha=10, beta=9)", 0.9332, 0.9387, 0.8856, 0.1170),
    "d_add": ("d_add(alpha=2, beta=1, gamma=9, lam=1)", 0.9461, 0.9487, 0.8591, 0.0242),
    "d_mul": ("d_mul(alpha=1, beta=9, eta=0.9, theta=0.95)", 0.9542, 0.9591, 0.9198, 0.0288),
    "d_rpd": ("d_rpd(alpha=4, beta=9, mu=0.65, nu=0.95)", 0.9940, 0.9859, 0.9771, 0.0096),
}


@pytest.mark.parametrize("symbol", PAPER_DISCOUNTS)
def test_the_papers_grid_search(symbol: str) -> None:
    text, train_rho, test_rho, test_r, test_mse = PAPER[symbol]
    fit = grid_search(TRAIN, symbol)
    held_out = scores(TEST, fit.discount)
    assert str(fit.discount) == text
    assert fit.discount == cv.discounts.parse(symbol)  # the defaults are the fitted values
    found = (fit.train.spearman, held_out.spearman, held_out.pearson, held_out.mse)
    assert tuple(round(value, 4) for value in found) == (train_rho, test_rho, test_r, test_mse)
    assert fit.tried == {"d_t": 10**2, "d_mir": 10**2, "d_a": 10**4, "d_add": 10**4}.get(symbol, 10**2 * 19**2)


@pytest.mark.parametrize("symbol", PAPER_DISCOUNTS)
def test_scores_against_scipy(symbol: str) -> None:
    for discount, group in itertools.product((cv.discounts.parse(symbol),), (TRAIN, TEST)):
        weights, target = discount.weights(cv.RECGAZE).ravel(), group.frequencies.ravel()
        found = scores(group, discount)
        assert found.spearman == pytest.approx(stats.spearmanr(weights, target).statistic, abs=1e-12)
        assert found.pearson == pytest.approx(stats.pearsonr(weights, target).statistic, abs=1e-12)
        assert found.mse == pytest.approx(np.mean((weights / weights.max() - target / target.max()) ** 2), abs=1e-15)


def test_every_candidate_of_a_search_against_scipy() -> None:
    parameters: dict[str, Any] = {"alpha": [1, 4], "beta": [9, 3], "mu": [0.65, 0.3], "nu": [0.95]}
    fit = grid_search(TRAIN, "d_rpd", parameters=parameters, top=99)
    assert len(fit.top) == fit.tried == 8
    for candidate in fit.top:
        weights = candidate.discount.weights(cv.RECGAZE).ravel()
        assert candidate.spearman == pytest.approx(stats.spearmanr(weights, TRAIN.frequencies.ravel()).statistic)
        assert candidate.pearson == pytest.approx(stats.pearsonr(weights, TRAIN.frequencies.ravel()).statistic)
    assert [c.spearman for c in fit.top] == sorted((c.spearman for c in fit.top), reverse=True)


def test_correlations_with_ties_against_scipy() -> None:
    rng = np.random.default_rng(0)
    for n in (2, 3, 10, 151):
        target = rng.integers(0, 4, n).astype(float)
        target[0] = 5.0
        candidates = rng.integers(0, 3, (20, n)).astype(float)
        candidates[:, 0] = 7.0
        rho, r = _native.correlations(candidates, target, 2)
        for k, candidate in enumerate(candidates):
            assert rho[k] == pytest.approx(stats.spearmanr(candidate, target).statistic, abs=1e-12)
            assert r[k] == pytest.approx(stats.pearsonr(candidate, target).statistic, abs=1e-12)


def test_correlations_of_a_million_cells_against_scipy() -> None:
    rng = np.random.default_rng(1)
    for n in (90_000, 1_000_000):
        target = rng.random(n)
        candidate = target + rng.random(n)
        rho, r = _native.correlations(candidate[None, :], target, 1)
        assert rho[0] == pytest.approx(stats.spearmanr(candidate, target).statistic, abs=1e-10)
        assert r[0] == pytest.approx(stats.pearsonr(candidate, target).statistic, abs=1e-10)


def test_rho_is_that_of_raw_values() -> None:
    """Divided by their maximum, two of these values become one: a tie that the data do not have."""
    below, above = 1.75, float(np.nextafter(1.75, 2))
    table, falling = np.array([[3.0, above], [below, 1.0]]), np.array([[4.0, 3.0], [2.0, 1.0]])
    assert above > below
    assert above / 3 == below / 3
    assert stats.spearmanr((table / 3).ravel(), falling.ravel()).statistic < 0.96
    assert scores(table, cv.discounts.Empirical(falling)).spearman == pytest.approx(1, abs=1e-12)
    assert scores(falling, cv.discounts.Empirical(table)).spearman == pytest.approx(1, abs=1e-12)
    fit = grid_search(table, "d_t", cv.Grid(2, 2), top=5)
    for one in (*fit.top, *refine(table, fit, cv.Grid(2, 2)).top):
        expected = stats.spearmanr(one.discount.weights(cv.Grid(2, 2)).ravel(), table.ravel()).statistic
        assert one.spearman == one.objective == pytest.approx(expected, abs=1e-12)


def test_a_constant_has_no_correlation() -> None:
    rho, r = _native.correlations(np.ones((1, 4)), np.arange(4.0), 1)
    assert np.isnan(rho[0])
    assert np.isnan(r[0])
    for flat in (np.ones((3, 3)), np.ones((1, 1)), np.zeros((2, 2))):
        with pytest.raises(cv.DataError, match="the same in every cell"):
            scores(flat, cv.discounts.RowPage())


def test_ties_go_by_pearson_then_by_order() -> None:
    """Multiplying alpha and beta by the same number keeps every rank: rho ties exactly, r decides."""
    fit = grid_search(TRAIN, "d_t", parameters={"alpha": [1, 2, 3], "beta": [1, 2, 3]}, top=9)
    same = [c for c in fit.top if c.discount.parameters["alpha"] == c.discount.parameters["beta"]]
    assert len({c.spearman for c in same}) == 1
    assert [c.pearson for c in same] == sorted((c.pearson for c in same), reverse=True)
    twice = grid_search(TRAIN, "d_t", parameters={"alpha": [5, 5], "beta": [3]}, top=2)
    assert twice.top[0] == twice.top[1]


def test_unusable_parameters_are_skipped() -> None:
    fit = grid_search(TRAIN, "d_t", parameters={"alpha": [0.1, 0.25, 7], "beta": [0.25, 6]})
    assert (fit.tried, fit.skipped) == (6, 2)  # alpha*i + beta*j <= 1 in the corner
    with pytest.raises(cv.DataError, match="spearman is undefined for all parameters of d_t"):
        grid_search(TRAIN, "d_t", parameters={"alpha": [0.1], "beta": [0.1]})


@pytest.mark.parametrize("objective", ["spearman", "pearson", "mse", "likelihood"])
def test_every_objective_finds_its_own_best(objective: Objective) -> None:
    axes: dict[str, Any] = {"alpha": [1, 5, 10], "beta": [1, 5, 10], "mu": [0.3, 0.6, 0.9], "nu": [0.85, 0.95]}
    fit = grid_search(TRAIN, "d_rpd", parameters=axes, objective=objective, top=3)
    values = {}
    for combination in itertools.product(*axes.values()):
        discount = cv.discounts.RowPage(*combination)
        weights = discount.weights(cv.RECGAZE)
        found = scores(TRAIN, discount)
        probable = weights.max() < 1
        log = (
            (TRAIN.counts * np.log(weights) + (1665 - TRAIN.counts) * np.log1p(-weights)).sum() if probable else -np.inf
        )
        values[discount] = {"spearman": found.spearman, "pearson": found.pearson, "mse": -found.mse, "likelihood": log}[
            objective
        ]
    best = max(values.values())
    assert values[fit.discount] == pytest.approx(best, rel=1e-12)  # type: ignore[index]
    assert fit.top[0].objective == pytest.approx(-best if objective == "mse" else best, rel=1e-12)


@pytest.mark.parametrize("objective", ["pearson", "mse", "likelihood"])
def test_refinement_only_improves(objective: Objective) -> None:
    coarse = grid_search(TRAIN, "d_rpd", parameters={"alpha": [4], "beta": [9]}, objective=objective)
    fine = refine(TRAIN, coarse)
    better = fine.top[0].objective - coarse.top[0].objective
    assert (-better if objective == "mse" else better) > 0
    if objective != "likelihood":
        assert fine.top[0].objective == pytest.approx(getattr(fine.train, objective))
    assert fine.discount.weights(cv.RECGAZE).min() > 0


def test_a_refit_for_squared_error_reaches_the_known_optimum() -> None:
    fine = refine(TRAIN, grid_search(TRAIN, "d_rpd", objective="mse"))
    held_out = scores(TEST, fine.discount)
    assert round(held_out.spearman, 3) == 0.975
    assert round(held_out.pearson, 3) == 0.991
    assert round(held_out.mse, 4) == 0.0014


def test_a_users_discount_can_be_fitted() -> None:
    @cv.discounts.register_discount("d_test_fit")
    class Scalar(cv.discounts.Discount):
        """Takes numbers only: an array has no truth value."""

        keep: float = 0.5

        def weights(self, grid: cv.Grid) -> Any:
            if self.keep > 0.9:
                return np.ones(grid.shape)
            return self.keep ** (grid.row_index + grid.column_index - 2.0)

    @cv.discounts.register_discount("d_test_fit2")
    class Arrays(cv.discounts.Discount):
        keep: float = 0.5

        def weights(self, grid: cv.Grid) -> Any:
            return self.keep ** (grid.row_index + grid.column_index - 2.0)

    values = [0.2, 0.5, 0.8]
    one = grid_search(TRAIN, "d_test_fit", parameters={"keep": values}, objective="mse")
    other = grid_search(TRAIN, "d_test_fit2", parameters={"keep": values}, objective="mse")
    assert one.discount.parameters == other.discount.parameters
    assert one.train == other.train


def test_results_do_not_depend_on_threads_and_progress_is_told() -> None:
    steps: list[tuple[int, int]] = []
    one = grid_search(TRAIN, "d_a", threads=1, progress=lambda done, of: steps.append((done, of)))
    assert one == grid_search(TRAIN, "d_a", threads=5)
    assert steps[-1] == (10_000, 10_000)


def test_frequencies_may_be_any_table() -> None:
    small = np.array([[0.9, 0.5, 0.4], [0.3, 0.2, 0.1]])
    grid = cv.Grid(2, 3, page_size=2)
    assert grid_search(small, "d_mir", grid).train.spearman > 0.9
    one, other = (scores(table, cv.discounts.RowPage(), grid) for table in (small, 100 * small))
    assert (one.spearman, one.pearson, one.mse) == pytest.approx((other.spearman, other.pearson, other.mse), abs=1e-14)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: grid_search(TRAIN, "d_rdp"), r"discount must be .* found 'd_rdp'\. Did you mean 'd_rpd'"),
        (lambda: grid_search(TRAIN, "d_emp"), r"d_emp cannot be fitted"),
        (
            lambda: grid_search(TRAIN, "d_t", objective=cast(Any, "rho")),
            r"objective must be 'spearman', 'pearson', 'mse' or 'likelihood'",
        ),
        (lambda: grid_search(TRAIN, "d_t", top=0), r"top must be an integer of at least 1"),
        (
            lambda: grid_search(TRAIN, "d_t", parameters={"mu": [1]}),
            r"a parameter of d_t must be 'alpha' or 'beta', found 'mu'",
        ),
        (
            lambda: grid_search(TRAIN, "d_rpd", parameters={"mu": [0.6, 1.5]}),
            r"d_rpd: mu must be .* at most 1, found 1\.5",
        ),
        (lambda: grid_search(TRAIN, "d_t", parameters={"beta": []}), r"the values of beta must be a list"),
        (lambda: grid_search(TRAIN, "d_t", parameters={"beta": ["a"]}), r"the values of beta must be a list"),
        (lambda: grid_search(TRAIN.frequencies, "d_t", objective="likelihood"), r"'likelihood' needs counts"),
        (lambda: grid_search(TRAIN, "d_t", cv.Grid(3, 3)), r"frequencies are 10x15, but the grid is 3x3"),
        (lambda: grid_search([[1.0, -1.0]], "d_t"), r"finite numbers, 0 or more"),
        (lambda: grid_search([1.0, 2.0], "d_t"), r"a table \(rows, cols\)"),
        (lambda: scores([[np.nan, 1.0]], cv.discounts.RowPage()), r"finite numbers"),
        (lambda: grid_search("d_t", cast(Any, TRAIN)), r"frequencies come first, then the discount; found 'd_t'"),
        (
            lambda: scores(cast(Any, cv.discounts.RowPage()), cast(Any, TRAIN)),
            r"frequencies come first, .* d_rpd",
        ),
        (lambda: refine(cast(Any, grid_search(TRAIN, "d_t")), cast(Any, TRAIN)), r"fit must be the SearchFit of"),
    ],
)
def test_nonsense_is_refused(make: Any, message: str) -> None:
    with pytest.raises(cv.CarousevalError, match=message):
        make()


def test_the_papers_grids() -> None:
    assert FACTORS.tolist() == list(range(1, 11))
    assert DECAYS.tolist() == [float(f"{k * 0.05:.2f}") for k in range(1, 20)]
    assert isinstance(TRAIN, Examination)
