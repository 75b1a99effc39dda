"""Selecting a form: every form is fitted and compared by BIC and by the likelihood of held-out data."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from carouseval.attention.examination import Examination
from carouseval.attention.fisher_scoring import BinomialCounts
from carouseval.attention.forms import FORMS, MAX_PARAMETERS, Form, as_form
from carouseval.attention.intervals import confidence_level
from carouseval.attention.likelihood import LikelihoodFit, check_counts, fit_form
from carouseval.attention.likelihood_problem import LikelihoodProblem
from carouseval.metrics.grid import Array, Grid
from carouseval.result_base import Result

if TYPE_CHECKING:
    import polars as pl

_FOLDS = 10

PARTICIPANT_FOLDS = "cross-validation over participants, at most 10 folds"
ROW_FOLDS = "leave-one-row-out cross-validation, without row 1, which some forms treat separately"
NO_CROSS_VALIDATION = "no cross-validation: fewer than 3 rows, and no counts of at least 2 participants"


@dataclass(frozen=True)
class FormTrial:
    """A form fitted to all the data, and its likelihood of held-out data.

    Attributes
    ----------
    fit : LikelihoodFit
        The fit to all the data.
    held_out : float
        Log-likelihood of the held-out data in cross-validation; NaN where nothing could be held out.
    """

    fit: LikelihoodFit
    held_out: float


@dataclass(frozen=True, repr=False)
class FormSelection(Result):
    """The forms compared, and the one with the lowest BIC among those with at most eight parameters.

    Attributes
    ----------
    trials : tuple of FormTrial
        Every form with its fit and its held-out log-likelihood, in the order given.
    chosen : LikelihoodFit
        The fit of the selected form.
    folds : str
        How data were held out.

    Examples
    --------
    >>> import carouseval as cv
    >>> counts = cv.attention.recgaze_counts("bratislava")
    >>> selection = cv.attention.choose_form(counts, forms=["rows and columns", "six"])
    >>> selection.chosen.form.name, selection.held_out_agrees
    ('six', True)
    """

    trials: tuple[FormTrial, ...]
    chosen: LikelihoodFit
    folds: str

    def __repr__(self) -> str:
        return f"FormSelection({self.chosen.form.name!r} of {len(self.trials)} forms: {self.chosen!r})"

    @property
    def heading(self) -> str:
        """What the table compares, and how data were held out."""
        return f"Forms compared; held out: {self.folds}"

    def to_frame(self) -> "pl.DataFrame":
        """Return the comparison of forms as a table.

        Returns
        -------
        polars.DataFrame
            One row per form: its parameters, what it adds, its log-likelihood, BIC above the lowest and held-out
            log-likelihood.
        """
        import polars as pl

        lowest = min(trial.fit.bic for trial in self.trials)
        return pl.DataFrame(
            {
                "form": trial.fit.form.name,
                "parameters": len(trial.fit.values),
                "what it adds": trial.fit.form.meaning,
                "log-likelihood": trial.fit.log_likelihood,
                "BIC above the lowest": trial.fit.bic - lowest,
                "held out": trial.held_out,
                "note": "chosen" if trial.fit is self.chosen else "too many" * (len(trial.fit.values) > MAX_PARAMETERS),
            }
            for trial in self.trials
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as plain values, ready for JSON.

        Returns
        -------
        dict
            ``forms``, a list with an entry per form, and ``held_out``, how data were held out.
        """
        forms = [
            {
                "form": trial.fit.form.name,
                "parameters": trial.fit.values,
                "log_likelihood": trial.fit.log_likelihood,
                "bic": trial.fit.bic,
                "held_out": trial.held_out,
                "chosen": trial.fit is self.chosen,
            }
            for trial in self.trials
        ]
        return {"forms": forms, "held_out": self.folds}

    @property
    def held_out_agrees(self) -> bool | None:
        """Whether held-out data would select the same form among those with at most eight parameters.

        None where nothing could be held out.
        """
        if self.folds == NO_CROSS_VALIDATION:
            return None
        eligible = [trial for trial in self.trials if len(trial.fit.values) <= MAX_PARAMETERS]
        return max(eligible, key=lambda trial: trial.held_out).fit is self.chosen


def choose_form(
    examination: Examination,
    grid: Grid | None = None,
    forms: Sequence[str | Form] = FORMS,
    *,
    ci: float = 0.95,
    progress: Callable[[int, int], None] | None = None,
) -> FormSelection:
    """Fit every form of d_rpb and select the one with the lowest BIC among those with at most eight parameters.

    Forms are also compared by cross-validation: over participants where their counts are known, else over rows.

    Parameters
    ----------
    examination : Examination
        The counts.
    grid : Grid, optional
        The screen, of the size of the counts; by default with swipe pages of 5 items and 3 visible rows.
    forms : sequence of str, default FORMS
        The forms to compare, by name as in :func:`fit_likelihood`; by default all of them.
    ci : float, default 0.95
        Confidence level of the intervals, between 0 and 1.
    progress : callable, optional
        Called with (forms fitted, total) as the work proceeds.

    Returns
    -------
    FormSelection
        The selected form and the comparison.

    Examples
    --------
    >>> import carouseval as cv
    >>> forms = ["six", "novelty", "edges, novelty"]
    >>> cv.attention.choose_form(cv.attention.recgaze_counts("bratislava"), forms=forms).chosen.form.name
    'edges, novelty'
    """
    grid, ci = check_counts(examination, grid), confidence_level(ci)
    counts, screens, folds = _held_out_data(examination)
    optima: dict[Form, Array] = {}
    fold_optima: dict[Form, Array] = {}
    trials = []
    for form in map(as_form, forms):
        fit = fit_form(examination, form, grid, ci, optima)
        held_out = float("nan")
        if len(counts):
            training = examination.counts.ravel() - counts, examination.screens - screens
            estimate = LikelihoodProblem(form, grid).fit(*training, optima=fold_optima)
            data = BinomialCounts(counts, screens)
            held_out = float(data.log_likelihood(estimate.probabilities, np.arange(len(counts))).sum())
        trials.append(FormTrial(fit, held_out))
        if progress:
            progress(len(trials), len(forms))
    eligible = [trial.fit for trial in trials if len(trial.fit.values) <= MAX_PARAMETERS]
    chosen = min(eligible or [trial.fit for trial in trials], key=lambda fit: fit.bic)
    return FormSelection(tuple(trials), chosen, folds)


def _held_out_data(examination: Examination) -> tuple[Array, Array, str]:
    """Counts and screens that each fold holds out, (folds, cells), and how."""
    size = examination.counts.size
    if examination.by_participant is not None and len(examination.by_participant[1]) > 1:
        counts, screens = examination.by_participant
        fold = np.arange(len(screens)) % _FOLDS
        folds = range(min(_FOLDS, len(screens)))
        held_out = np.array([counts[fold == k].sum(axis=0).ravel() for k in folds], dtype=np.float64)
        totals = np.array([[screens[fold == k].sum()] for k in folds], dtype=np.float64)
        return held_out, np.repeat(totals, size, axis=1), PARTICIPANT_FOLDS
    rows, cols = examination.counts.shape
    if rows < 3:
        return np.zeros((0, size)), np.zeros((0, size)), NO_CROSS_VALIDATION
    one_row = np.repeat(np.eye(rows)[1:], cols, axis=1)
    return one_row * examination.counts.ravel(), one_row * examination.screens, ROW_FOLDS
