"""Screens that resemble each other: what is selected, how wide intervals are, and what sums alone cannot show."""

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom, t

from carouseval import RECGAZE
from carouseval.attention import (
    Examination,
    bootstrap_fit,
    choose_form,
    fit_likelihood,
    log_likelihood,
    recgaze_counts,
)
from carouseval.attention.bootstrap import CELLS_ONLY, resample
from carouseval.attention.likelihood import LikelihoodFit
from carouseval.attention.model_selection import BIC, HELD_OUT, MAX_PARAMETERS, QUASI_BIC
from carouseval.attention.overdispersion import FROM_PARTICIPANTS, FROM_RESIDUALS
from carouseval.attention.parameters import as_form
from carouseval.metrics.browsing.row_page import RowPageBrowsing
from carouseval.metrics.grid import Array
from tests.attention.clustered_worlds import (
    GRID,
    SIX,
    as_examination,
    beta_binomial_study,
    draw_study,
    independent_study,
    without_participants,
)
from tests.behavior.browsing_oracle import draw_row_page

CANDIDATES = [as_form(name) for name in ("six", "edges", "first row", "novelty", "edges, first row")]
FREE = as_form("six").free


def half_widths(fit: LikelihoodFit) -> Array:
    """On the scale of the fit, the log-odds."""
    ends = [fit.intervals[name] for name in FREE]
    return np.array([(_odds(one.high) - _odds(one.low)) / 2 for one in ends if one is not None])


def _odds(share: float) -> float:
    return math.log(share / (1 - share))


def information(fit: LikelihoodFit, screens: float) -> Array:
    """Fisher's information of the six by finite differences, by log-odds."""
    jacobian = jacobian_of(fit)
    weights = fit.discount.weights(GRID).ravel()
    return np.asarray((jacobian * screens / (weights * (1 - weights))) @ jacobian.T)


def jacobian_of(fit: LikelihoodFit) -> Array:
    points = np.array([_odds(value) for value in fit.values.values()])

    def weights(at: Array) -> Array:
        return as_form("six").weights(1 / (1 + np.exp(-at[None])), GRID).ravel()

    return np.array([(weights(points + 1e-5 * k) - weights(points - 1e-5 * k)) / 2e-5 for k in np.eye(len(points))])


def test_standard_errors_by_participant_are_the_sandwich() -> None:
    """By hand, with the factor participants / (participants - 1) for the mean that was fitted, and Student's t."""
    study = draw_study(3, participants=6)
    fit = fit_likelihood(study, "six", GRID)
    counts, screens = study.by_participant or (np.zeros(0), np.zeros(0))
    weights, jacobian = fit.discount.weights(GRID).ravel(), jacobian_of(fit)
    bread = np.linalg.inv(information(fit, study.screens))
    scores = [
        jacobian @ ((own.ravel() - n * weights) / (weights * (1 - weights)))
        for own, n in zip(counts, screens, strict=True)
    ]
    meat = sum(np.outer(score, score) for score in scores) * 6 / 5
    expected = t.ppf(0.975, 5) * np.sqrt(np.diag(bread @ meat @ bread))
    np.testing.assert_allclose(half_widths(fit), expected, rtol=1e-3)
    assert fit.clustering == pytest.approx(np.trace(bread @ meat) / 6, rel=1e-3)


def test_standard_errors_of_sums_grow_with_the_root_of_the_dispersion() -> None:
    study = without_participants(beta_binomial_study(3))
    fit = fit_likelihood(study, "six", GRID)
    assert fit.dispersion > 1.5
    plain = np.sqrt(np.diag(np.linalg.inv(information(fit, study.screens))))
    expected = t.ppf(0.975, 54 - 6) * math.sqrt(fit.dispersion) * plain
    np.testing.assert_allclose(half_widths(fit), expected, rtol=1e-3)
    assert fit.interval_method == (
        f"binomial noise times {math.sqrt(fit.dispersion):.2f} (residual dispersion {fit.dispersion:.2f}), still too "
        "narrow if screens or cells are correlated"
    )
    assert math.isnan(fit.clustering)
    assert fit.overdispersion == fit.dispersion


def test_a_dispersion_below_1_narrows_nothing() -> None:
    study = next(study for seed in range(9) if _dispersion(study := without_participants(independent_study(seed))) < 1)
    fit = fit_likelihood(study, "six", GRID)
    plain = np.sqrt(np.diag(np.linalg.inv(information(fit, study.screens))))
    np.testing.assert_allclose(half_widths(fit), 1.959964 * plain, rtol=1e-3)
    assert fit.interval_method == CELLS_ONLY
    assert fit.overdispersion == 1


def _dispersion(study: Examination) -> float:
    return fit_likelihood(study, "six", GRID).dispersion


def test_copies_of_screens_are_overdispersion() -> None:
    """Every screen five times: five times the counts, and no more information than before."""
    study = independent_study(4, participants=200, screens=1)
    assert study.by_participant is not None
    once = fit_likelihood(study, "six", GRID)
    five = fit_likelihood(as_examination(5 * study.by_participant[0], 5), "six", GRID)
    assert once.clustering == pytest.approx(1, abs=0.2)
    assert five.clustering == pytest.approx(5 * once.clustering, rel=1e-6)
    np.testing.assert_allclose(half_widths(five), half_widths(once), rtol=1e-6)
    assert five.quasi_bic(5) == pytest.approx(once.bic + 6 * math.log(5), abs=1e-6)


def test_clustering_is_what_repeated_studies_show() -> None:
    """The variance of estimates over 300 studies, as a multiple of that of independent cells, mean over directions."""
    fits = [fit_likelihood(draw_study(seed), "six", GRID) for seed in range(300)]
    points = np.array([[_odds(value) for value in fit.values.values()] for fit in fits])
    truth = information(replace(fits[0], discount=SIX, values={name: getattr(SIX, name) for name in FREE}), 360)
    repeated = np.trace(np.cov(points.T) @ truth) / 6
    assert np.mean([fit.clustering for fit in fits]) == pytest.approx(repeated, rel=0.15)
    assert repeated > 5


def test_resampled_cells_vary_as_much_as_the_dispersion_says() -> None:
    study = Examination("half", np.full((2, 2), 500), 1000)
    drawn, screens = resample(study, 20_000, np.random.default_rng(0), dispersion=4)
    np.testing.assert_array_equal(screens, 250)
    np.testing.assert_allclose(drawn.var(axis=0), 4 * 0.25 / 1000, rtol=0.05)
    for none in (1.0, 0.5, math.nan):
        np.testing.assert_array_equal(resample(study, 3, np.random.default_rng(0), none)[1], 1000)


def test_bootstrap_and_quasi_likelihood_agree_on_sums() -> None:
    study = without_participants(beta_binomial_study(3, participants=60))
    fit = fit_likelihood(study, "six", GRID)
    assert fit.dispersion > 2
    drawn = bootstrap_fit(study, fit, GRID, samples=500)
    assert drawn.method == fit.interval_method
    for name in ("e", "kappa", "sigma1", "sigma2"):
        ends, again = fit.intervals[name], drawn.parameters[name]
        assert ends is not None
        assert (again.high - again.low) / (ends.high - ends.low) == pytest.approx(1, abs=0.2)


def test_quasi_bic_divides_the_likelihood_alone() -> None:
    fit = fit_likelihood(recgaze_counts("bratislava"), "six")
    assert fit.quasi_bic(1) == fit.bic
    assert fit.quasi_bic(2) == pytest.approx(6 * math.log(1665 * 150) - fit.log_likelihood)


def test_the_selection_says_by_what_it_was_made() -> None:
    sums = choose_form(recgaze_counts("bratislava"))
    nine = sums.trials[-1].fit
    assert (sums.criterion, sums.overdispersion) == (QUASI_BIC, nine.dispersion)
    assert sums.overdispersion_source == f"all nine: {FROM_RESIDUALS}"
    assert sums.richest is nine
    assert sums.rule.startswith("Selected by quasi-BIC, with dispersion 1.75 (all nine: residual deviance per degree")
    assert sums.heading.startswith(
        "Forms compared, one selected by quasi-BIC; BIC and quasi-BIC above the lowest; held"
    )
    assert {name: fit.form.name for name, fit in sums.best_by.items()} == dict.fromkeys(
        (BIC, QUASI_BIC, HELD_OUT), "edges, novelty"
    )
    assert all(math.isnan(trial.held_out_error) for trial in sums.trials)
    study = draw_study(0)
    people = choose_form(study, GRID, CANDIDATES)
    eight = [trial.fit for trial in people.trials if len(trial.fit.values) == 8]
    richest = max(eight, key=lambda fit: fit.log_likelihood)
    assert (people.criterion, people.overdispersion) == (HELD_OUT, richest.clustering)
    assert people.overdispersion_source == f"{richest.form.name}: {FROM_PARTICIPANTS}"
    assert "held-out participants: the fewest parameters within one standard error of the best" in people.rule
    assert repr(people).startswith(f"FormSelection({people.chosen.form.name!r} of 5 forms by held out: ")
    few = choose_form(draw_study(0, participants=9), GRID, CANDIDATES)
    assert few.criterion == QUASI_BIC
    assert few.overdispersion_source.endswith(FROM_PARTICIPANTS)
    assert people.to_frame()["quasi-BIC above the lowest"].min() == 0
    plain = people.to_dict()
    assert [form["quasi_bic"] for form in plain["forms"]] == [
        trial.fit.quasi_bic(people.overdispersion) for trial in people.trials
    ]
    assert (plain["criterion"], plain["overdispersion"]) == (HELD_OUT, people.overdispersion)


def test_sums_are_selected_by_quasi_bic_where_bic_disagrees() -> None:
    """Overdispersed cells, the six are true: BIC takes the noise for readers who start at the right edge."""
    selection = choose_form(without_participants(beta_binomial_study(55)), GRID, CANDIDATES)
    assert selection.overdispersion == pytest.approx(3.07, abs=0.01)
    assert selection.best_by[BIC].form.name == "edges"
    assert selection.chosen is selection.best_by[QUASI_BIC]
    assert selection.chosen.form.name == "six"


def test_the_largest_dispersion_under_which_the_form_is_selected() -> None:
    selection = choose_form(recgaze_counts("bratislava"))
    most = selection.max_overdispersion
    few = [trial.fit for trial in selection.trials if len(trial.fit.values) <= MAX_PARAMETERS]
    for factor, same in ((0.999, True), (1.001, False)):
        best = min(few, key=lambda fit: fit.quasi_bic(most * factor))
        assert (best is selection.chosen) is same
    assert choose_form(recgaze_counts("bratislava"), forms=["six"]).max_overdispersion == math.inf


def test_the_smallest_form_within_one_standard_error() -> None:
    """By hand: each participant under the parameters of the other folds, and the paired differences."""
    study = draw_study(9, participants=12)
    selection = choose_form(study, GRID, CANDIDATES)
    counts, screens = study.by_participant or (np.zeros(0), np.zeros(0))
    units = np.zeros((len(CANDIDATES), 12))
    for fold in range(10):
        out = np.flatnonzero(np.arange(12) % 10 == fold)
        rest = Examination("rest", study.counts - counts[out].sum(axis=0), study.screens - int(screens[out].sum()))
        for k, form in enumerate(CANDIDATES):
            discount = fit_likelihood(rest, form, GRID).discount
            for person in out:
                alone = Examination("one", counts[person], int(screens[person]))
                units[k, person] = log_likelihood(alone, discount, GRID)
    best = units.sum(axis=1).argmax()
    behind = units[best] - units
    errors = np.sqrt(12 * behind.var(axis=1, ddof=1))
    np.testing.assert_allclose([one.held_out for one in selection.trials], units.sum(axis=1), atol=1e-2)
    np.testing.assert_allclose([one.held_out_error for one in selection.trials], errors, atol=1e-2)
    close = [form for form, far, error in zip(CANDIDATES, behind.sum(axis=1), errors, strict=True) if far <= error]
    assert selection.chosen.form == min(close, key=lambda form: len(form.free)) == as_form("six")
    assert selection.best_by[HELD_OUT].form == CANDIDATES[best] == as_form("novelty")
    assert selection.held_out_agrees is False


Draw = Callable[[int], Examination]


def selected(draw: Draw, worlds: int) -> dict[str, Counter[str]]:
    """How often each form is selected: by BIC, by the rule with participants and by the rule without."""
    counted: dict[str, Counter[str]] = {name: Counter() for name in ("BIC", "participants", "sums")}
    for seed in range(worlds):
        study = draw(seed)
        people = choose_form(study, GRID, CANDIDATES)
        sums = choose_form(without_participants(study), GRID, CANDIDATES)
        choices = {"BIC": people.best_by[BIC], "participants": people.chosen, "sums": sums.chosen}
        for name, fit in choices.items():
            counted[name][fit.form.name] += 1
    return counted


@pytest.mark.deep
def test_bic_selects_too_much_on_clustered_screens() -> None:
    """100 worlds each in which the six are true: at most 10% errors with 30 participants, 20% with 15.

    The standard error of a share of 100 worlds is 2 points at 5% and 5 points at 50%.
    Where people differ in what a parameter describes, sums do not show it and quasi-BIC is as wrong as BIC.
    """
    clustered = selected(draw_study, 100)
    assert clustered["BIC"]["six"] <= 80
    assert clustered["participants"]["six"] >= 90
    assert abs(clustered["sums"]["six"] - clustered["BIC"]["six"]) <= 5
    few = selected(lambda seed: draw_study(seed, participants=15, screens=25), 100)
    assert few["BIC"]["six"] <= 65
    assert few["participants"]["six"] >= 80
    beta_binomial = selected(beta_binomial_study, 100)
    assert beta_binomial["BIC"]["six"] <= 95
    assert beta_binomial["participants"]["six"] >= 90
    assert beta_binomial["sums"]["six"] >= 97
    independent = selected(independent_study, 100)
    assert independent["BIC"]["six"] >= 97
    assert independent["participants"]["six"] >= 90
    assert independent["sums"]["six"] >= 97


@pytest.mark.deep
def test_more_parameters_are_selected_where_they_are_needed() -> None:
    """40 worlds each: people also start at the right edge; and they swipe more in row 1."""
    edges = selected(lambda seed: draw_study(seed, replace(SIX, w=0.5, beta=0.7)), 40)
    assert edges["participants"]["edges"] >= 34
    top = selected(lambda seed: draw_study(seed, replace(SIX, sigma1_top=0.7)), 40)
    assert top["participants"]["six"] <= 4


@pytest.mark.deep
def test_coverage_of_intervals_by_participant_and_with_dispersion_only() -> None:
    """95% intervals in 400 worlds of 30 participants; 400 worlds tell 95% from 91% and 99%.

    The dispersion is enough where cells vary for themselves. Where people differ in e and in swipes, and rows of a
    screen come and go together, it misses most of that: intervals of e, kappa and sigma1 hold in half of the worlds.
    """
    low, high = binom.ppf([0.0005, 0.9995], 400, 0.95) / 400
    shares = {draw.__name__: coverage(draw, 400) for draw in (draw_study, beta_binomial_study)}
    for people, _ in shares.values():
        assert (people >= low - 0.01).all(), people  # Wald intervals of 30 people run a little short
        assert (people <= high).all(), people
    _, sums = shares["beta_binomial_study"]
    assert (sums >= low - 0.01).all(), sums
    _, sums = shares["draw_study"]
    found = dict(zip(FREE, sums, strict=True))
    assert all(0.45 < found[name] < 0.7 for name in ("e", "kappa", "sigma1")), found
    assert all(found[name] > low for name in ("beta", "sigma2", "rho")), found


def coverage(draw: Draw, worlds: int) -> tuple[Array, Array]:
    """The share of worlds in which the interval holds the true parameter: by participant, and with dispersion only."""
    hits = np.zeros((2, len(FREE)))
    for seed in range(worlds):
        study = draw(seed)
        for k, data in enumerate((study, without_participants(study))):
            fit = fit_likelihood(data, "six", GRID)
            for j, name in enumerate(FREE):
                ends = fit.intervals[name]
                hits[k, j] += ends is not None and ends.low <= getattr(SIX, name) <= ends.high
    return hits[0] / worlds, hits[1] / worlds


@pytest.mark.deep
def test_residuals_miss_what_the_parameters_absorb() -> None:
    """As docs/attention.md says: people who browse as d_rpb does, on independent screens."""
    examined = draw_row_page(RowPageBrowsing().parameters, RECGAZE, np.random.default_rng(0), 61 * 27)
    fit = fit_likelihood(as_examination(examined.reshape(61, 27, 10, 15).sum(axis=1), 27), "all nine")
    assert fit.clustering == pytest.approx(7, abs=1)
    assert fit.dispersion < 1


def test_studies_of_the_drawn_worlds_have_the_probabilities_of_the_model() -> None:
    """The model is true on average, whatever participants differ in: 300 studies, to four standard errors."""
    model = replace(SIX, w=0.5, sigma1_top=0.6)
    for draw in (draw_study, beta_binomial_study, independent_study):
        drawn = np.array([draw(seed, model).frequencies for seed in range(300)])
        error = drawn.std(axis=0) / math.sqrt(300)
        assert (np.abs(drawn.mean(axis=0) - model.weights(GRID)) < 4.5 * error).all()
