"""Fits by likelihood: against SciPy, against drawn people, and what data cannot say."""

import math
from typing import Any, cast

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import binom

import carouseval as cv
from carouseval.attention import (
    Examination,
    bootstrap_fit,
    choose_form,
    fit_likelihood,
    log_likelihood,
    recgaze_counts,
)
from carouseval.attention.bootstrap import BY_PARTICIPANT, CELLS_ONLY
from carouseval.attention.fisher_scoring import BinomialCounts, MultinomialCounts, maximise
from carouseval.attention.likelihood import ORDER
from carouseval.attention.model_selection import MAX_PARAMETERS, NO_CROSS_VALIDATION, PARTICIPANT_FOLDS, ROW_FOLDS
from carouseval.attention.parameters import as_form
from carouseval.metrics.browsing.forms import ALL_USERS, Form
from carouseval.metrics.browsing.row_column import RowColumnBrowsing
from carouseval.metrics.browsing.row_page import RowPageBrowsing
from carouseval.metrics.browsing.scan import MarkovScan
from carouseval.metrics.composite_discounts import Mixture
from carouseval.metrics.grid import Array
from tests.behavior.browsing_oracle import draw_row_page

TRAIN, TEST = recgaze_counts("bratislava"), recgaze_counts("amsterdam")


def test_the_likelihood_is_the_binomials() -> None:
    weights = RowPageBrowsing().weights(cv.RECGAZE)
    ours = log_likelihood(TEST, RowPageBrowsing())
    ways = binom.logpmf(TEST.counts, TEST.screens, 0.5).sum() - TEST.counts.size * TEST.screens * math.log(0.5)
    assert ours == pytest.approx(binom.logpmf(TEST.counts, TEST.screens, weights).sum() - ways, rel=1e-12)
    assert log_likelihood(TEST, np.full((10, 15), 1.5)) == -math.inf
    certain = Examination("certain", [[4, 0]], 4)
    assert log_likelihood(certain, np.array([[1.0, 0.0]])) == 0
    assert log_likelihood(certain, np.array([[1.0, 1.0]])) == -math.inf


@pytest.mark.parametrize(
    "form", [form for form in RowPageBrowsing.forms if form.name != "two kinds"], ids=lambda form: form.name
)
def test_nothing_scipy_finds_is_likelier(form: Form) -> None:
    found = fit_likelihood(TRAIN, form)

    def lost(odds: Array) -> float:
        return -log_likelihood(TRAIN, form.weights(1 / (1 + np.exp(-odds[None])), cv.RECGAZE)[0])

    at = np.log(np.array(list(found.values.values())) / (1 - np.array(list(found.values.values()))))
    assert -lost(at) == pytest.approx(found.log_likelihood, abs=1e-6)
    for start in (at, np.full(len(at), 1.0)):
        theirs = minimize(lost, start, method="BFGS", options={"gtol": 1e-3})
        assert -theirs.fun <= found.log_likelihood + 1e-5
    assert found.converged
    assert found.log_likelihood == pytest.approx(log_likelihood(TRAIN, found.discount), abs=1e-6)
    assert found.bic == pytest.approx(len(at) * math.log(1665 * 150) - 2 * found.log_likelihood)
    assert found.saturated > found.log_likelihood
    assert found.deviance == pytest.approx(2 * (found.saturated - found.log_likelihood))
    assert found.limitations == (ORDER,)


def test_the_values_of_six_and_eight_parameters() -> None:
    """As a quick trial by other means had them, to its three digits."""
    six = {"e": 0.922, "kappa": 0.904, "beta": 0.965, "sigma1": 0.370, "sigma2": 0.842, "rho": 0.974}
    eight = {"e": 0.935, "kappa": 0.907, "beta": 0.865, "sigma1": 0.346, "sigma2": 0.842, "rho": 0.974}
    assert fit_likelihood(TRAIN, "six").values == pytest.approx(six, abs=6e-4)
    eight |= {"w": 0.718, "sigma1_top": 0.428}
    assert fit_likelihood(TRAIN, "edges, first row").values == pytest.approx(eight, abs=6e-4)


def test_defaults_are_what_bratislavas_counts_give() -> None:
    chosen = choose_form(TRAIN).chosen
    assert {k: round(v, 4) for k, v in chosen.discount.parameters.items()} == RowPageBrowsing().parameters
    rows = fit_likelihood(TRAIN, "rows and columns").discount
    assert {k: round(v, 4) for k, v in rows.parameters.items()} == RowColumnBrowsing().parameters
    scan = MarkovScan()
    held = ("back", "swipe_back", "scroll_back", "lost", "leave", "row_spread", "wrap")
    fixed = {name: np.array([float(getattr(scan, name))]) for name in held}
    free = tuple(name for name in scan.parameters if name not in held)
    form = Form("default", "d_scan", free, "", lambda values: [(ALL_USERS, {**values, **fixed})])
    found = fit_likelihood(TRAIN, form)
    assert found.values == pytest.approx({name: getattr(scan, name) for name in free}, rel=1e-3)


def test_the_form_is_chosen_on_the_training_counts() -> None:
    choice = choose_form(TRAIN)
    assert [one.fit.form for one in choice.trials] == list(RowPageBrowsing.forms)
    assert choice.chosen.form.name == "edges, novelty"
    assert choice.held_out_agrees
    assert choice.folds == ROW_FOLDS
    few = [one.fit for one in choice.trials if len(one.fit.values) <= MAX_PARAMETERS]
    assert choice.chosen is min(few, key=lambda fit: fit.bic)
    nine = choice.trials[-1]
    assert len(nine.fit.values) == 9
    assert nine.held_out < max(one.held_out for one in choice.trials)  # one parameter more predicts worse


def test_rows_left_out_are_fitted_without_them() -> None:
    """By hand, for the six: each row from the second on, under parameters fitted to the others."""
    total = 0.0
    for row in range(1, 10):
        rest = np.delete(np.arange(10), row)

        def lost(odds: Array, rest: Any = rest) -> float:
            weights = as_form("six").weights(1 / (1 + np.exp(-odds[None])), cv.RECGAZE)[0]
            return -log_likelihood(Examination("rest", TRAIN.counts[rest], TRAIN.screens), weights[rest])

        odds = minimize(lost, np.full(6, 1.0), method="BFGS", options={"gtol": 1e-3}).x
        weights = as_form("six").weights(1 / (1 + np.exp(-odds[None])), cv.RECGAZE)[0]
        total += log_likelihood(Examination("row", TRAIN.counts[[row]], TRAIN.screens), weights[[row]])
    (six,) = choose_form(TRAIN, forms=[as_form("six")]).trials
    assert six.held_out == pytest.approx(total, abs=1e-3)


def drawn_study(model: RowPageBrowsing, grid: cv.Grid, people: int, screens: int, seed: int) -> Examination:
    """Screens of people who browse as the model says."""
    seen = draw_row_page(model.parameters, grid, np.random.default_rng(seed), people * screens)
    counts = seen.reshape(people, screens, *grid.shape).sum(axis=1)
    return Examination("drawn", counts.sum(axis=0), people * screens, None, people, (counts, np.full(people, screens)))


@pytest.mark.deep
def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    """95% of 200 studies, within what 200 studies can tell; intervals that take cells for independent do not."""
    grid, truth = cv.Grid(4, 6, 3), RowPageBrowsing(0.9, 0.8, 0.85, 0.4, 0.8, 0.9, 0, 0.4, 0)
    free = as_form("six").free
    studies, hits, naive = 200, np.zeros(len(free)), np.zeros(len(free))
    for seed in range(studies):
        study = drawn_study(truth, grid, people=30, screens=8, seed=seed)
        for into, seen in ((hits, study), (naive, Examination("cells", study.counts, study.screens))):
            found = fit_likelihood(seen, "six", grid)
            by_participant = found.interval_method == "clustered by participant (30 participants), approximate"
            assert by_participant is (into is hits)
            for k, name in enumerate(free):
                ends = found.intervals[name]
                if name == "sigma2":  # two pages only
                    assert ends is None
                    continue
                assert ends is not None
                into[k] += ends.low <= getattr(truth, name) <= ends.high
    known = [k for k, name in enumerate(free) if name != "sigma2"]
    low, high = binom.ppf([0.0005, 0.9995], studies, 0.95)
    assert (hits[known] >= low - 4).all(), hits  # Wald intervals of 30 people run a little short
    assert (hits[known] <= high).all(), hits
    assert naive[free.index("kappa")] < 0.85 * studies  # rows of a screen come and go together


def test_parameters_are_recovered() -> None:
    truth = RowPageBrowsing()
    found = fit_likelihood(drawn_study(truth, cv.RECGAZE, people=60, screens=50, seed=3), "edges, novelty")
    for name, ends in found.intervals.items():
        assert ends is not None
        wide = ends.high - ends.low
        assert ends.low - wide / 2 <= getattr(truth, name) <= ends.high + wide / 2
        assert wide < 0.25
    assert found.dispersion < 2


def test_bootstrap_and_sandwich_agree() -> None:
    grid = cv.Grid(4, 6, 3)
    study = drawn_study(RowPageBrowsing(), grid, people=60, screens=20, seed=1)
    found = fit_likelihood(study, "edges", grid)
    drawn = bootstrap_fit(study, found, grid, samples=400)
    assert drawn.method == BY_PARTICIPANT
    for name in ("e", "kappa", "sigma1", "rho"):
        ends, again = found.intervals[name], drawn.parameters[name]
        assert ends is not None
        assert (again.high - again.low) / (ends.high - ends.low) == pytest.approx(1, abs=0.25)
        assert again.low == pytest.approx(ends.low, abs=0.3 * (ends.high - ends.low))
    cells = bootstrap_fit(TRAIN, fit_likelihood(TRAIN, "six"), samples=50)
    assert cells.method == fit_likelihood(TRAIN, "six").interval_method
    assert bootstrap_fit(TRAIN, fit_likelihood(TRAIN, "six"), samples=50) == cells  # seeded


def test_participants_are_left_out_together() -> None:
    grid = cv.Grid(3, 4, 2)
    study = drawn_study(RowPageBrowsing(), grid, people=25, screens=10, seed=2)
    choice = choose_form(study, grid)
    assert choice.folds == PARTICIPANT_FOLDS
    counts, screens = study.by_participant or (np.zeros(0), np.zeros(0))
    total = 0.0
    for fold in range(10):
        out = np.arange(25) % 10 == fold
        rest = Examination("rest", counts[~out].sum(axis=0), int(screens[~out].sum()))
        left = Examination("left", counts[out].sum(axis=0), int(screens[out].sum()))
        total += log_likelihood(left, fit_likelihood(rest, "six", grid).discount, grid)
    six = next(one for one in choice.trials if one.fit.form.name == "six")
    assert six.held_out == pytest.approx(total, abs=1e-4)
    two_rows = choose_form(Examination("two", [[9, 5], [4, 2]], 10), forms=[as_form("rows and columns")])
    assert two_rows.folds == NO_CROSS_VALIDATION
    assert math.isnan(two_rows.trials[0].held_out)


def test_what_the_data_leave_open_is_said() -> None:
    one_page = fit_likelihood(Examination("one page", TRAIN.counts[:, :5], 1665), "six")
    idle = {f"{name} is not identified: it has no effect on this screen." for name in ("sigma1", "sigma2", "rho")}
    assert {*idle, ORDER} == set(one_page.limitations)
    assert one_page.not_identified == {"sigma1", "sigma2", "rho"}
    own = RowPageBrowsing()  # not where the search happened to be
    assert one_page.values["sigma1"] == own.sigma1
    assert one_page.values["rho"] == own.rho
    assert one_page.intervals["sigma1"] is None
    assert one_page.intervals["kappa"] is not None
    one_row = fit_likelihood(Examination("one row", TRAIN.counts[:1], 1665), "rows and columns")
    assert one_row.limitations == ("kappa is not identified: it has no effect on this screen.", ORDER)
    one_cell_wide = fit_likelihood(Examination("one column", TRAIN.counts[:, :1], 1665), "edges", cv.Grid(10, 1, 1))
    assert any(name in " ".join(one_cell_wide.limitations) for name in ("w", "beta"))
    flat = fit_likelihood(Examination("flat", [[10, 10], [9, 9]], 10), "rows and columns")
    assert any("beta reached its bound, 1." in sentence for sentence in flat.limitations)
    scan = fit_likelihood(TRAIN, "d_scan")
    assert any("back is near its bound" in sentence for sentence in scan.limitations)
    assert any("Counts do not identify d_scan" in sentence for sentence in scan.limitations)


def test_parameters_known_only_together_are_named() -> None:
    form = Form("product", "d_rcb", ("e", "share"), "", lambda v: [(ALL_USERS, {"e": v["e"] * v["share"], **STRAIGHT})])
    found = fit_likelihood(TRAIN, form)
    assert found.limitations == ("e, share are not identified separately: other combinations fit equally well.", ORDER)
    assert found.not_identified == {"e", "share"}
    assert found.intervals == {"e": None, "share": None}


STRAIGHT = {"kappa": np.array([0.9]), "beta": np.array([0.9])}


def test_two_kinds_of_people_are_a_mixture() -> None:
    found = fit_likelihood(TRAIN, "two kinds")
    assert isinstance(found.discount, Mixture)
    np.testing.assert_allclose(
        found.discount.weights(cv.RECGAZE),
        found.form.weights(np.array([list(found.values.values())]), cv.RECGAZE)[0],
        rtol=1e-12,
    )
    assert found.log_likelihood > fit_likelihood(TRAIN, "six").log_likelihood


def test_many_starts_come_to_one_end() -> None:
    """No form of at most eight parameters has a second summit on the training counts."""
    rng = np.random.default_rng(0)
    counts, screens = TRAIN.counts.reshape(1, -1).astype(float), np.full((1, 150), 1665.0)
    for form in RowPageBrowsing.forms:
        if form.name == "two kinds" or len(form.free) > MAX_PARAMETERS:
            continue
        starts = rng.normal(0, 2, (50, len(form.free)))
        bound = np.full(len(form.free), 16.0)
        data = BinomialCounts(np.repeat(counts, 50, axis=0), np.repeat(screens, 50, axis=0))

        def probabilities(at: Array, form: Form = form) -> Array:
            return form.weights(1 / (1 + np.exp(-at)), cv.RECGAZE).reshape(len(at), -1)

        found = maximise(probabilities, data, starts, -bound, bound)
        assert found.converged.all()
        np.testing.assert_allclose(found.log_likelihood, fit_likelihood(TRAIN, form).log_likelihood, atol=1e-5)


def test_outcomes_give_the_shares() -> None:
    counts = np.array([[5.0, 3.0, 2.0], [1.0, 1.0, 8.0]])
    data = MultinomialCounts(counts)

    def softmax(at: Array) -> Array:
        rates = np.exp(np.column_stack([np.zeros(len(at)), at]))
        shares: Array = rates / rates.sum(axis=1, keepdims=True)
        return shares

    found = maximise(softmax, data, np.zeros((2, 2)), np.full(2, -9.0), np.full(2, 9.0))
    np.testing.assert_allclose(found.probabilities, counts / 10, atol=1e-6)
    np.testing.assert_allclose(np.linalg.inv(found.information[0])[0, 0], 1 / 5 + 1 / 3, rtol=1e-4)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: fit_likelihood(cast(Any, TRAIN.frequencies), "six"),
            r"likelihood needs counts: give an Exam",
        ),
        (
            lambda: fit_likelihood(TRAIN, "sixx"),
            r"form must be 'rows and columns', .* found 'sixx'\. Did you mean 'six'\?",
        ),
        (lambda: fit_likelihood(cast(Any, "six"), cast(Any, TRAIN)), r"examination comes first, .* found 'six' first"),
        (
            lambda: log_likelihood(cast(Any, RowPageBrowsing()), cast(Any, TRAIN)),
            r"examination comes first, .* d_rpb",
        ),
        (lambda: bootstrap_fit(cast(Any, fit_likelihood(TRAIN, "six")), cast(Any, TRAIN)), r"examination comes first"),
        (lambda: bootstrap_fit(TRAIN, cast(Any, "six")), r"fit must be the LikelihoodFit of fit_likelihood, found str"),
        (
            lambda: fit_likelihood(TRAIN, cast(Any, TRAIN)),
            r"discount must be the symbol of a .* found Examin",
        ),
        (lambda: fit_likelihood(TRAIN, "d_rbp"), r"discount must be .* found 'd_rbp'\. Did you mean 'd_rpd'"),
        (lambda: fit_likelihood(TRAIN, "d_mix"), r"d_mix cannot be fitted"),
        (lambda: fit_likelihood(TRAIN, "six", cv.Grid(10, 14)), r"frequencies are 10x15, but the grid is 10x14"),
        (lambda: fit_likelihood(TRAIN, "six", ci=0), r"ci must be a finite number above 0"),
        (lambda: fit_likelihood(TRAIN, "six", ci=1), r"ci must be below 1"),
    ],
)
def test_what_cannot_be_fitted_is_refused(call: Any, message: str) -> None:
    with pytest.raises(cv.CarousevalError, match=message):
        call()


def test_any_discount_of_numbers_can_be_fitted() -> None:
    """A paper's formula too, as far as its weights can be probabilities: this one presses against 1."""
    found = fit_likelihood(TRAIN, "d_mul")
    assert found.log_likelihood > log_likelihood(TRAIN, cv.discounts.parse("d_mul"))


def test_a_form_that_contains_another_is_never_less_likely() -> None:
    """On counts that no form is made for, where searches from afar end on lesser summits."""
    inside = {form.name: form.contains for form in RowPageBrowsing.forms}
    for seed in (198, *range(12)):
        rng = np.random.default_rng(seed)
        counts = rng.binomial(1000, rng.random((8, 1)) * rng.random((1, 6)))
        seen, grid = Examination("odd", counts, 1000), cv.Grid(8, 6, page_size=(5, 2, 3)[seed % 3])
        reached = {form.name: fit_likelihood(seen, form, grid).log_likelihood for form in RowPageBrowsing.forms}
        for larger, smaller in inside.items():
            assert all(reached[larger] >= reached[name] - 1e-3 for name in smaller), (seed, larger)


def test_what_is_known_only_together_does_not_narrow_the_rest() -> None:
    """On 3x3 cells in pages of 2, sigma1 and rho are one number; intervals of the others are honest all the same."""
    grid, truth = cv.Grid(3, 3, 2), RowPageBrowsing(0.8, 0.7, 0.6, 0.5, 0.8, 0.7, 0, 0.5, 0)
    hits = dict.fromkeys(("e", "kappa", "beta"), 0)
    for seed in range(200):
        found = fit_likelihood(drawn_study(truth, grid, people=40, screens=10, seed=seed), "six", grid)
        assert found.not_identified == {"sigma1", "rho", "sigma2"}
        for name in hits:
            ends = found.intervals[name]
            assert ends is not None
            hits[name] += ends.low <= getattr(truth, name) <= ends.high
    low, high = binom.ppf([0.0005, 0.9995], 200, 0.95)
    assert all(low - 2 <= hit <= high for hit in hits.values()), hits


def test_nobody_looks_beyond_the_first_slot() -> None:
    seen = Examination("first", [[90, 0, 0, 0, 0, 3], [70, 0, 0, 0, 0, 2], [50, 0, 0, 0, 0, 1]], 100)
    found = choose_form(seen, cv.Grid(3, 6)).chosen
    assert found.values["e"] == pytest.approx(0.9, abs=0.02)
    assert any("beta reached its bound" in sentence for sentence in found.limitations)
    only = Examination("row 1", np.vstack([np.full((1, 10), 50), np.zeros((59, 10), int)]), 100)
    assert fit_likelihood(only, "six", cv.Grid(60, 10)).values["kappa"] < 1e-6


def test_a_share_near_its_bound_is_not_anything() -> None:
    counts = np.array([[90, 80, 70, 30, 30, 30], [60, 55, 50, 20, 20, 20], [40, 35, 30, 13, 13, 13]]) * 10
    seen, grid = Examination("steep", counts, 1000), cv.Grid(3, 6, 3)
    found = fit_likelihood(seen, "six", grid)
    assert found.values["rho"] > 0.99
    sentences = found.limitations + found.interval_warnings
    assert any("rho is near its bound" in text or "rho reached its bound" in text for text in sentences)
    ends = bootstrap_fit(seen, found, grid, samples=100).parameters["rho"]
    assert 0.9 < ends.low < ends.high


def test_one_participant_is_no_sample_of_participants() -> None:
    study = drawn_study(RowPageBrowsing(), cv.Grid(3, 4, 2), people=1, screens=50, seed=0)
    assert fit_likelihood(study, "six", cv.Grid(3, 4, 2)).interval_method == CELLS_ONLY
    few = drawn_study(RowPageBrowsing(), cv.Grid(3, 4, 2), people=4, screens=20, seed=0)
    method = fit_likelihood(few, "six", cv.Grid(3, 4, 2)).interval_method
    assert method == "clustered by participant (4 participants), approximate; too narrow with so few"


def test_the_discount_returned_is_the_one_that_was_fitted() -> None:
    """Also where two parameters hide each other: each alone has next to no effect there, both together have."""
    tables = [
        ([[1822, 477, 41], [784, 225, 17], [347, 93, 14], [163, 39, 3], [66, 20, 2], [29, 12, 2]], 2000, 2),
        ([[201, 145, 440, 1046, 196, 554, 1343], [972, 470, 278, 1017, 1575, 220, 1775]], 2000, 6),
        ([[5, 5, 1, 0]], 5, 2),
    ]
    tables += [
        (np.random.default_rng(seed).integers(0, 50, (3, 7)).tolist(), 50, (2, 3, 9)[seed % 3]) for seed in range(20)
    ]
    for counts, screens, size in tables:
        seen = Examination("table", counts, screens)
        grid = cv.Grid(len(seen.counts), seen.counts.shape[1], size)
        for form in RowPageBrowsing.forms:
            found = fit_likelihood(seen, form, grid)
            assert log_likelihood(seen, found.discount, grid) == pytest.approx(found.log_likelihood, abs=1e-5)


def test_groups_that_do_not_hang_together_are_named_apart() -> None:
    """Two products of two parameters each: two groups, each said once."""
    form = Form(
        "products",
        "d_rcb",
        ("e", "share", "kappa", "other"),
        "",
        lambda v: [(ALL_USERS, {"e": v["e"] * v["share"], "kappa": v["kappa"] * v["other"], "beta": np.array([0.9])})],
    )
    found = fit_likelihood(TRAIN, form)
    together = [said for said in found.limitations if "separately" in said]
    assert together == [
        "e, share are not identified separately: other combinations fit equally well.",
        "kappa, other are not identified separately: other combinations fit equally well.",
    ]


def test_a_discount_without_defaults_can_be_fitted() -> None:
    @cv.discounts.register_discount("d_test_bare")
    class Bare(cv.discounts.Discount):
        start: float
        keep: float

        def weights(self, grid: cv.Grid) -> Array:
            return np.asarray(self.start / (1 + self.keep * (grid.row_index + grid.column_index)))

    found = fit_likelihood(TRAIN, "d_test_bare")
    assert found.log_likelihood == pytest.approx(log_likelihood(TRAIN, found.discount))
