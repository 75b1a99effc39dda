"""Beyond the paper: what d_rpb reaches on Amsterdam, beside the ceiling, and that Amsterdam had no say in it."""

import dataclasses
import json

import numpy as np
import pytest

from carouseval import RECGAZE, Grid
from carouseval.attention import Examination, recgaze_counts
from carouseval.attention.bootstrap import BY_PARTICIPANT
from carouseval.attention.frequency_scores import Scores
from carouseval.attention.likelihood import ORDER
from carouseval.attention.model_selection import NO_CROSS_VALIDATION
from carouseval.metrics.browsing.row_page import RowPageBrowsing
from carouseval.paper.ceiling_study import MEASURES, CeilingLine, CeilingStudy, ceiling_study
from tests.attention.clustered_worlds import draw_study
from tests.reproduction import reproduction


@pytest.fixture(scope="module")
def found() -> CeilingStudy:
    return reproduction().ceiling_study


def line(found: CeilingStudy, begin: str) -> CeilingLine:
    (one,) = (one for one in found.lines if one.name.startswith(begin))
    return one


def rounded(one: CeilingLine) -> tuple[float, ...]:
    shares = (one.agreement[mode].agreement.value for mode in ("binary", "graded"))
    return (
        round(one.test.spearman, 4),
        round(one.test.pearson, 4),
        round(one.test.mse, 5),
        *(round(x, 4) for x in shares),
    )


def test_the_ceiling(found: CeilingStudy) -> None:
    assert found.ceiling is line(found, "the ceiling: bratislava's frequencies")
    assert rounded(found.ceiling) == (0.9891, 0.9931, 0.00106, 0.9644, 0.9632)
    assert found.ceiling.parameters == 150
    assert found.ceiling.behind == Scores(0, 0, 0)
    train, test = recgaze_counts("bratislava"), recgaze_counts("amsterdam")
    assert found.ceiling.test.pearson == pytest.approx(np.corrcoef(train.counts.ravel(), test.counts.ravel())[0, 1])
    assert found.ceiling.cells == pytest.approx(train.counts.sum() / train.screens)
    assert found.cells == pytest.approx(test.counts.sum() / test.screens)


def test_what_is_published_stays_so(found: CeilingStudy) -> None:
    assert str(line(found, "d_a, as published").discount) == "d_a(alpha=2, beta=1, gamma=9, lam=1)"
    assert str(line(found, "d_rpd, as published").discount) == "d_rpd(alpha=4, beta=9, mu=0.65, nu=0.95)"
    published = {"d_a": (0.93, 0.8562, 0.0243, 0.829, 0.849), "d_rpd": (0.9859, 0.9771, 0.0096, 0.932, 0.939)}
    for symbol, (rho, r, mse, binary, graded) in published.items():
        one = line(found, symbol)
        assert rounded(one)[:2] == (rho, r)
        assert round(one.test.mse, 4) == mse
        assert [round(one.agreement[mode].agreement.value, 3) for mode in ("binary", "graded")] == [binary, graded]
        assert one.per_screen is None  # weights that order cells are no probabilities
        assert [one.against_ceiling(measure) for measure in ("pearson", "mse")] == ["worse", "worse"]


def test_row_page_browsing_reaches_the_ceiling(found: CeilingStudy) -> None:
    one = found.chosen
    assert one is line(found, "d_rpb, by likelihood")
    assert one.test.spearman >= 0.988
    assert one.test.pearson >= 0.992
    assert one.test.mse <= 0.0011
    assert one.parameters <= 8
    for mode in ("binary", "graded"):
        assert one.agreement[mode].agreement.value >= 0.96
    for measure in MEASURES:
        assert one.against_ceiling(measure) == "no difference found"
        value, low, high = one.interval(measure)
        assert value == getattr(one.test, measure)
        assert low < value < high
    assert one.per_screen is not None


def test_differences_from_the_ceiling_count_against_their_noise(found: CeilingStudy) -> None:
    zero = Scores(0, 0, 0)
    at = dataclasses.replace(found.chosen, behind=Scores(0.0195, -0.0197, 0), behind_errors=Scores(0.01, 0.01, 0))
    verdicts = ["no difference found", "better", "no difference found"]
    assert [at.against_ceiling(measure) for measure in MEASURES] == verdicts
    assert at.smallest_difference("spearman") == pytest.approx(0.0196, abs=1e-5)
    assert dataclasses.replace(at, behind_errors=zero).against_ceiling("spearman") == "worse"
    assert dataclasses.replace(at, behind=Scores(0, 0, 1)).against_ceiling("mse") == "better"


def test_every_form_is_listed(found: CeilingStudy) -> None:
    assert [one.fit.form.name for one in found.choice.trials] == [form.name for form in RowPageBrowsing.forms]
    written = found.to_dict()["forms"]
    assert [form["form"] for form in written] == [form.name for form in RowPageBrowsing.forms]
    assert [len(form["parameters"]) for form in written] == [len(form.free) for form in RowPageBrowsing.forms]
    assert [form["form"] for form in written if form["chosen"]] == [found.choice.chosen.form.name]
    few = [one.fit for one in found.choice.trials if len(one.fit.values) <= 8]
    assert found.choice.chosen.bic == min(fit.bic for fit in few)
    assert all(form["quasi_bic"] >= found.choice.chosen.quasi_bic(found.choice.overdispersion) for form in written)


def test_the_test_counts_choose_nothing(found: CeilingStudy) -> None:
    """Other test counts, turned upside down, change no form and no parameter, only scores."""
    train, test = recgaze_counts("bratislava"), recgaze_counts("amsterdam")
    other = ceiling_study(train, Examination("other", test.counts[::-1, ::-1], test.screens + 17))
    assert other.choice.chosen.form == found.choice.chosen.form
    for ours, theirs in zip(found.choice.trials, other.choice.trials, strict=True):
        assert (ours.fit.values, ours.fit.bic, ours.held_out) == (theirs.fit.values, theirs.fit.bic, theirs.held_out)
    assert other.chosen.discount == found.chosen.discount
    assert other.chosen.test.spearman < 0.5
    assert "worse than the ceiling in" in other.sentences[0]


def test_sentences_follow_the_numbers(found: CeilingStudy) -> None:
    reached, disputes, chosen, remains, cells, order = found.sentences
    binary, graded = (found.chosen.agreement[mode] for mode in ("binary", "graded"))
    assert reached == (
        "d_rpb with 8 parameters: no difference from the ceiling was found in rho, r, MSE. The noise of the test data "
        "(cells resampled as if independent, standard errors times 1.32 for a dispersion of 1.75) hides differences up "
        "to 0.0034 in rho, 0.0011 in r, 0.0002 in MSE."
    )
    assert f"binary: {binary.corrected.count} and {binary.regressions.count};" in disputes
    assert f"graded: {graded.corrected.count} and {graded.regressions.count}." in disputes
    assert chosen.startswith("Selected by quasi-BIC, with dispersion 1.75 (all nine: residual deviance per degree of")
    assert "on the training counts alone; BIC agrees; held-out data agree (leave-one-row-out cross-validation" in chosen
    assert chosen.endswith("With a dispersion above 7.4 a smaller form would be selected.")
    assert f"{found.choice.chosen.dispersion:.2f} times that of binomial noise" in remains
    assert "d_rpd predicts 15.2 examined cells per screen and d_rpb 48.3" in cells
    assert "people examined 48.3 in training and 43.3 in test" in cells
    assert order == ORDER
    far = dataclasses.replace(found.chosen, behind=Scores(0.1, 0, 0))
    lines = tuple(far if one is found.chosen else one for one in found.lines)
    said = dataclasses.replace(found, lines=lines).sentences[0]
    verdict = "no difference from the ceiling was found in r, MSE; worse than the ceiling in rho."
    assert said.startswith(f"d_rpb with 8 parameters: {verdict}")
    worse = [dataclasses.replace(one, held_out=-1.0 * k) for k, one in enumerate(found.choice.trials)]
    choice = dataclasses.replace(found.choice, trials=tuple(worse))
    assert "held-out data would select another" in dataclasses.replace(found, choice=choice).sentences[2]
    nothing = dataclasses.replace(found.choice, folds=NO_CROSS_VALIDATION)
    assert "there are no held-out data (no cross-validation" in dataclasses.replace(found, choice=nothing).sentences[2]


def test_the_dictionary_is_json(found: CeilingStudy) -> None:
    content = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert [one["name"] for one in content["discounts"]] == [one.name for one in found.lines]
    ours = content["discounts"][2]
    assert ours["spearman"]["value"] == found.chosen.test.spearman
    assert (
        ours["agreement"]["graded"]["low"] < ours["agreement"]["graded"]["share"] < ours["agreement"]["graded"]["high"]
    )
    assert content["discounts"][0]["log_likelihood_per_screen"] is None
    assert content["cells_per_screen"] == found.cells
    assert content["noise"] == found.noise
    assert (content["criterion"], round(content["overdispersion"], 2)) == ("quasi-BIC", 1.75)


def test_noise_allows_for_clustering(found: CeilingStudy) -> None:
    """Binomial noise of cells times the root of the dispersion, by hand for r; participants are resampled."""
    test, discount = recgaze_counts("amsterdam"), found.chosen.discount
    rng = np.random.default_rng(5)
    drawn = rng.binomial(test.screens, test.frequencies.ravel(), (2000, 150))
    weights, ceiling = discount.weights(RECGAZE).ravel(), recgaze_counts("bratislava").counts.ravel()
    r, top = (np.array([np.corrcoef(one, table)[0, 1] for one in drawn]) for table in (weights, ceiling))
    root = found.choice.overdispersion**0.5
    assert root == pytest.approx(1.32, abs=0.005)
    assert found.chosen.errors.pearson == pytest.approx(root * r.std(), rel=0.08)
    assert found.chosen.behind_errors.pearson == pytest.approx(root * (top - r).std(), rel=0.08)


def test_test_participants_are_resampled_where_they_are_known() -> None:
    """People who examine everything or little: cells go together, so that sums alone show too little noise in MSE."""
    train, test = draw_study(1, concentration=2), draw_study(2, concentration=2)
    by_people = ceiling_study(train, test)
    assert by_people.noise == BY_PARTICIPANT
    assert "held-out participants: the fewest parameters within one standard error" in by_people.sentences[2]
    assert "smaller form would be selected" not in by_people.sentences[2]
    counts, screens = test.by_participant or (np.zeros(0), np.zeros(0))
    rng, weights = np.random.default_rng(9), by_people.chosen.discount.weights(Grid(6, 9)).ravel()
    errors = []
    for _ in range(2000):
        people = rng.integers(0, len(screens), len(screens))
        drawn = counts[people].sum(axis=0).ravel()
        errors.append(((drawn / drawn.max() - weights / weights.max()) ** 2).mean())
    assert by_people.chosen.errors.mse == pytest.approx(np.std(errors), rel=0.1)
