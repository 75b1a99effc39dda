"""Selecting a form: every form is fitted and compared by BIC, quasi-BIC and the likelihood of held-out data."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from carouseval.attention.examination import Examination
from carouseval.attention.fisher_scoring import BinomialCounts
from carouseval.attention.intervals import confidence_level
from carouseval.attention.likelihood import LikelihoodFit, check_counts, fit_form
from carouseval.attention.likelihood_problem import LikelihoodProblem
from carouseval.attention.overdispersion import FROM_PARTICIPANTS, FROM_RESIDUALS, participant_data
from carouseval.attention.parameters import as_form
from carouseval.metrics.browsing.forms import Form
from carouseval.metrics.discounts import RowPageBrowsing
from carouseval.metrics.grid import Array, Grid, IntArray
from carouseval.results import Result

if TYPE_CHECKING:
    import polars as pl

MAX_PARAMETERS = 8  # of a form that may be selected
_FOLDS = 10
_MIN_PARTICIPANTS = 10  # to select by held-out participants: fewer do not give a standard error to rely on

PARTICIPANT_FOLDS = "cross-validation over participants, at most 10 folds"
ROW_FOLDS = "leave-one-row-out cross-validation, without row 1, which some forms treat separately"
NO_CROSS_VALIDATION = "no cross-validation: fewer than 3 rows, and no counts of at least 2 participants"

BIC, QUASI_BIC, HELD_OUT = "BIC", "quasi-BIC", "held out"


@dataclass(frozen=True)
class FormTrial:
    """A form fitted to all the data, and its likelihood of held-out data.

    Attributes
    ----------
    fit : LikelihoodFit
        The fit to all the data.
    held_out : float
        Log-likelihood of the held-out data in cross-validation; NaN where nothing could be held out.
    held_out_error : float, default nan
        Standard error, over participants, of its difference from the highest held-out log-likelihood among the forms
        that may be selected; NaN where participants are unknown.
    """

    fit: LikelihoodFit
    held_out: float
    held_out_error: float = math.nan


@dataclass(frozen=True, repr=False)
class FormSelection(Result):
    """The forms compared, and the one selected among those with at most eight parameters.

    Attributes
    ----------
    trials : tuple of FormTrial
        Every form with its fit and its held-out log-likelihood, in the order given.
    chosen : LikelihoodFit
        The fit of the selected form.
    folds : str
        How data were held out.
    criterion : {"held out", "quasi-BIC"}
        By what the form was selected.
    overdispersion : float
        How much more the counts vary than independent binomials, at least 1: the factor c of quasi-BIC.
    overdispersion_source : str
        What it was estimated from.

    Examples
    --------
    >>> import carouseval as cv
    >>> counts = cv.attention.recgaze_counts("bratislava")
    >>> selection = cv.attention.choose_form(counts, forms=["rows and columns", "six"])
    >>> selection.chosen.form.name, selection.held_out_agrees
    ('six', True)
    >>> selection.criterion, round(selection.overdispersion, 2)
    ('quasi-BIC', 4.53)
    """

    trials: tuple[FormTrial, ...]
    chosen: LikelihoodFit
    folds: str
    criterion: str
    overdispersion: float
    overdispersion_source: str

    def __repr__(self) -> str:
        chosen = f"{self.chosen.form.name!r} of {len(self.trials)} forms by {self.criterion}"
        return f"FormSelection({chosen}: {self.chosen!r})"

    @property
    def heading(self) -> str:
        selected = f"Forms compared, one selected by {self.criterion}"
        return f"{selected}; BIC and quasi-BIC above the lowest; held out: {self.folds}"

    @property
    def rule(self) -> str:
        """By what the form was selected, in a sentence."""
        dispersion = f"dispersion {self.overdispersion:.2f} ({self.overdispersion_source})"
        if self.criterion == HELD_OUT:
            how = "held-out participants: the fewest parameters within one standard error of the best"
            return f"Selected by {how}; quasi-BIC with {dispersion}."
        return f"Selected by quasi-BIC, with {dispersion}."

    @property
    def richest(self) -> LikelihoodFit:
        """The fit with the most parameters, from which the overdispersion was estimated."""
        return _richest([trial.fit for trial in self.trials])

    @property
    def best_by(self) -> dict[str, LikelihoodFit]:
        """The fit that each criterion ranks first among those that may be selected: BIC, quasi-BIC and held out."""
        eligible = _eligible(self.trials)
        best = {
            BIC: _lowest_quasi_bic(eligible, 1.0),
            QUASI_BIC: _lowest_quasi_bic(eligible, self.overdispersion),
        }
        if self.folds != NO_CROSS_VALIDATION:
            best[HELD_OUT] = max(eligible, key=lambda trial: trial.held_out).fit
        return best

    @property
    def max_overdispersion(self) -> float:
        """The overdispersion above which quasi-BIC would select a form with fewer parameters than the chosen one."""
        chosen, penalty = self.chosen, math.log(self.chosen.observations)
        smaller = (trial.fit for trial in self.trials if len(trial.fit.values) < len(chosen.values))
        ratios = (
            2 * (chosen.log_likelihood - fit.log_likelihood) / (penalty * (len(chosen.values) - len(fit.values)))
            for fit in smaller
        )
        return min(ratios, default=math.inf)

    def to_frame(self) -> "pl.DataFrame":
        """One line per form: its parameters, what it adds, its log-likelihood, BIC and quasi-BIC above the lowest and
        held-out log-likelihood.
        """
        import polars as pl

        fits = [trial.fit for trial in self.trials]
        lowest = min(fit.bic for fit in fits)
        lowest_quasi = min(fit.quasi_bic(self.overdispersion) for fit in fits)
        return pl.DataFrame(
            {
                "form": trial.fit.form.name,
                "parameters": len(trial.fit.values),
                "what it adds": trial.fit.form.meaning,
                "log-likelihood": trial.fit.log_likelihood,
                "BIC above the lowest": trial.fit.bic - lowest,
                "quasi-BIC above the lowest": trial.fit.quasi_bic(self.overdispersion) - lowest_quasi,
                "held out": trial.held_out,
                "note": "chosen" if trial.fit is self.chosen else "too many" * (len(trial.fit.values) > MAX_PARAMETERS),
            }
            for trial in self.trials
        )

    def to_dict(self) -> dict[str, Any]:
        """``forms``, a list with an entry per form; ``held_out``, how data were held out; ``criterion``, by what the
        form was selected; ``overdispersion`` and ``overdispersion_source``.
        """
        forms = [
            {
                "form": trial.fit.form.name,
                "parameters": trial.fit.values,
                "log_likelihood": trial.fit.log_likelihood,
                "bic": trial.fit.bic,
                "quasi_bic": trial.fit.quasi_bic(self.overdispersion),
                "held_out": trial.held_out,
                "chosen": trial.fit is self.chosen,
            }
            for trial in self.trials
        ]
        return {
            "forms": forms,
            "held_out": self.folds,
            "criterion": self.criterion,
            "overdispersion": self.overdispersion,
            "overdispersion_source": self.overdispersion_source,
        }

    @property
    def held_out_agrees(self) -> bool | None:
        """Whether the chosen form has the highest held-out likelihood of those with at most eight parameters.

        None where nothing could be held out.
        """
        best = self.best_by.get(HELD_OUT)
        return None if best is None else best is self.chosen


def choose_form(
    examination: Examination,
    grid: Grid | None = None,
    forms: Sequence[str | Form] = RowPageBrowsing.forms,
    *,
    ci: float = 0.95,
    progress: Callable[[int, int], None] | None = None,
) -> FormSelection:
    """Fit every form of d_rpb and select one of those with at most eight parameters.

    Screens of a participant resemble each other, and BIC, for which all cells are independent, then selects too many
    parameters. With the counts of at least ten participants, participants are held out instead (in up to ten folds):
    the form with the fewest parameters is selected whose held-out log-likelihood is within one standard error of the
    highest. The standard error is that of the difference, over participants. Otherwise the lowest quasi-BIC decides,
    whose overdispersion is that of the richest form: from participants if there are at least two, else from residuals.

    Parameters
    ----------
    examination : Examination
        The counts.
    grid : Grid, optional
        The screen, of the size of the counts; by default with swipe pages of 5 items and 3 visible rows.
    forms : sequence of str, default RowPageBrowsing.forms
        The forms to compare, by name as in :func:`fit_likelihood`; by default all of them.
    ci : float, default 0.95
        Confidence level of the intervals, between 0 and 1.
    progress : callable, optional
        Called with (forms fitted, total) as the work proceeds.

    Returns
    -------
    FormSelection
        The selected form and the comparison.

    Notes
    -----
    Residuals show overdispersion only where the parameters do not absorb it: without participants the estimate is too
    low if people differ in what a parameter describes. ``max_overdispersion`` says up to which value the selected form
    would stay.

    Examples
    --------
    >>> import carouseval as cv
    >>> forms = ["six", "novelty", "edges, novelty"]
    >>> selection = cv.attention.choose_form(cv.attention.recgaze_counts("bratislava"), forms=forms)
    >>> selection.chosen.form.name, round(selection.max_overdispersion, 1)
    ('edges, novelty', 7.4)
    """
    grid, ci = check_counts(examination, grid), confidence_level(ci)
    held_out = _held_out_data(examination)
    optima: dict[Form, Array] = {}
    fold_optima: dict[Form, Array] = {}
    fits, likelihoods = [], []
    for form in map(as_form, forms):
        fits.append(fit_form(examination, form, grid, ci, optima))
        likelihoods.append(held_out.log_likelihood(examination, LikelihoodProblem(form, grid), fold_optima))
        if progress:
            progress(len(fits), len(forms))
    trials = _trials(fits, likelihoods, held_out.method == PARTICIPANT_FOLDS)
    richest = _richest(fits)
    source = FROM_RESIDUALS if math.isnan(richest.clustering) else FROM_PARTICIPANTS
    by_participants = held_out.method == PARTICIPANT_FOLDS and len(held_out.fold) >= _MIN_PARTICIPANTS
    eligible, dispersion = _eligible(trials), richest.overdispersion
    return FormSelection(
        trials=trials,
        chosen=_smallest_within_error(eligible) if by_participants else _lowest_quasi_bic(eligible, dispersion),
        folds=held_out.method,
        criterion=HELD_OUT if by_participants else QUASI_BIC,
        overdispersion=dispersion,
        overdispersion_source=f"{richest.form.name}: {source}",
    )


def _eligible(trials: Sequence[FormTrial]) -> list[FormTrial]:
    """The forms that may be selected: all of them if none has few enough parameters."""
    return [trial for trial in trials if len(trial.fit.values) <= MAX_PARAMETERS] or list(trials)


def _richest(fits: Sequence[LikelihoodFit]) -> LikelihoodFit:
    return max(fits, key=lambda fit: (len(fit.values), fit.log_likelihood))


def _lowest_quasi_bic(eligible: Sequence[FormTrial], overdispersion: float) -> LikelihoodFit:
    return min((trial.fit for trial in eligible), key=lambda fit: fit.quasi_bic(overdispersion))


def _smallest_within_error(eligible: Sequence[FormTrial]) -> LikelihoodFit:
    """The form with the fewest parameters whose held-out likelihood is within one standard error of the highest."""
    best = max(eligible, key=lambda trial: trial.held_out)
    close = [trial for trial in eligible if trial is best or best.held_out - trial.held_out <= trial.held_out_error]
    return min(close, key=lambda trial: (len(trial.fit.values), -trial.held_out)).fit


def _trials(fits: Sequence[LikelihoodFit], likelihoods: Sequence[Array], by_participant: bool) -> tuple[FormTrial, ...]:
    """Fits with the held-out likelihoods of their units, summed, and the standard errors of differences."""
    trials = [
        FormTrial(fit, float(units.sum()) if len(units) else math.nan)
        for fit, units in zip(fits, likelihoods, strict=True)
    ]
    if not by_participant:
        return tuple(trials)
    best = max(_eligible(trials), key=lambda trial: trial.held_out)
    reference = likelihoods[trials.index(best)]
    with np.errstate(invalid="ignore"):  # a participant whom a form excludes
        errors = [math.sqrt(len(units)) * float(np.std(reference - units, ddof=1)) for units in likelihoods]
    return tuple(replace(trial, held_out_error=error) for trial, error in zip(trials, errors, strict=True))


@dataclass(frozen=True, eq=False)
class _HeldOutData:
    """Participants or rows, each predicted from the data outside its fold."""

    data: BinomialCounts  # (units, cells)
    fold: IntArray  # of each unit
    method: str

    def log_likelihood(self, examination: Examination, problem: LikelihoodProblem, optima: dict[Form, Array]) -> Array:
        """The held-out log-likelihood of each unit; ``optima`` are those of other forms on the same folds."""
        units = np.arange(len(self.fold))
        if not len(units):
            return np.zeros(0)
        inside = (self.fold == np.arange(self.fold.max() + 1)[:, None]).astype(np.float64)
        training = (
            examination.counts.ravel() - inside @ self.data.counts,
            examination.screens - inside @ self.data.screens,
        )
        estimate = problem.fit(*training, optima=optima)
        return self.data.log_likelihood(estimate.probabilities[self.fold], units)


def _held_out_data(examination: Examination) -> _HeldOutData:
    if examination.by_participant is not None and len(examination.by_participant[1]) > 1:
        data = participant_data(*examination.by_participant)
        return _HeldOutData(data, np.arange(len(data.counts)) % _FOLDS, PARTICIPANT_FOLDS)
    rows, cols = examination.counts.shape
    if rows < 3:
        nothing = np.zeros((0, rows * cols))
        return _HeldOutData(BinomialCounts(nothing, nothing), np.zeros(0, np.int64), NO_CROSS_VALIDATION)
    one_row = np.repeat(np.eye(rows)[1:], cols, axis=1)
    data = BinomialCounts(one_row * examination.counts.ravel(), one_row * examination.screens)
    return _HeldOutData(data, np.arange(rows - 1), ROW_FOLDS)
