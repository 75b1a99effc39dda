"""Choosing a form: every one is fitted, judged by BIC and by data it did not see, and listed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from carouseval.attention.examination import Examination
from carouseval.attention.fisher_scoring import Binomial
from carouseval.attention.forms import FORMS, MOST_PARAMETERS, Form, form_of
from carouseval.attention.likelihood import LikelihoodFit, counted_grid, fit_likelihood
from carouseval.attention.likelihood_problem import Problem
from carouseval.metrics.grid import Array, Grid
from carouseval.result_base import Result

if TYPE_CHECKING:
    import polars as pl

_FOLDS = 10

BY_PEOPLE = "participants left out, a tenth at a time"
BY_ROWS = "rows left out one by one; row 1, which some forms treat apart, never"
NO_FOLDS = "nothing to leave out: fewer than 3 rows, and no two participants"


@dataclass(frozen=True)
class Trial:
    """A form, its fit, and the log-likelihood of what was left out when it was fitted to the rest."""

    fit: LikelihoodFit
    held_out: float


@dataclass(frozen=True, repr=False)
class Choice(Result):
    """All forms tried, in the order given, and the one with the lowest BIC among those of few enough parameters."""

    tried: tuple[Trial, ...]
    chosen: LikelihoodFit
    folds: str  # how data were left out

    def __repr__(self) -> str:
        return f"Choice({self.chosen.form.name!r} of {len(self.tried)} forms: {self.chosen!r})"

    @property
    def heading(self) -> str:
        return f"Forms tried; held out: {self.folds}"

    def to_frame(self) -> "pl.DataFrame":
        """A line for each form tried, as far as the training data judge it."""
        import polars as pl

        best = min(one.fit.bic for one in self.tried)
        return pl.DataFrame(
            {
                "form": one.fit.form.name,
                "parameters": len(one.fit.values),
                "what it adds": one.fit.form.meaning,
                "log-likelihood": one.fit.log_likelihood,
                "BIC, above the lowest": one.fit.bic - best,
                "held out": one.held_out,
                "note": "chosen" if one.fit is self.chosen else "too many" * (len(one.fit.values) > MOST_PARAMETERS),
            }
            for one in self.tried
        )

    def to_dict(self) -> dict[str, Any]:
        forms = [
            {
                "form": one.fit.form.name,
                "parameters": one.fit.values,
                "log_likelihood": one.fit.log_likelihood,
                "bic": one.fit.bic,
                "held_out": one.held_out,
                "chosen": one.fit is self.chosen,
            }
            for one in self.tried
        ]
        return {"forms": forms, "held_out": self.folds}

    @property
    def held_out_agrees(self) -> bool | None:
        """Whether the data left out, too, are likeliest under the chosen form, among those of few enough parameters.

        None where nothing could be left out.
        """
        if self.folds == NO_FOLDS:
            return None
        eligible = [one for one in self.tried if len(one.fit.values) <= MOST_PARAMETERS]
        return max(eligible, key=lambda one: one.held_out).fit is self.chosen


def choose_form(
    examination: Examination,
    grid: Grid | None = None,
    forms: Sequence[str | Form] = FORMS,
    *,
    level: float = 0.95,
    progress: Callable[[int, int], None] | None = None,
) -> Choice:
    """Fit every form and choose the one with the lowest BIC among those of at most eight parameters.

    >>> from carouseval.attention import recgaze_counts
    >>> choose_form(recgaze_counts("bratislava")).chosen.form.name
    'edges, novelty'
    """
    grid = counted_grid(examination, grid)
    counts, screens, folds = _folds(examination)
    tried = []
    for form in map(form_of, forms):
        fit = fit_likelihood(form, examination, grid, level=level)
        tried.append(Trial(fit, _held_out(form, examination, grid, counts, screens)))
        if progress:
            progress(len(tried), len(forms))
    eligible = [one.fit for one in tried if len(one.fit.values) <= MOST_PARAMETERS]
    return Choice(tuple(tried), min(eligible or [one.fit for one in tried], key=lambda fit: fit.bic), folds)


def _folds(examination: Examination) -> tuple[Array, Array, str]:
    """Counts and screens left out each time, (folds, cells)."""
    size = examination.counts.size
    if examination.by_participant is not None and len(examination.by_participant[1]) > 1:
        counts, screens = examination.by_participant
        fold = np.arange(len(screens)) % _FOLDS
        every = range(min(_FOLDS, len(screens)))
        left = np.array([counts[fold == k].sum(axis=0).ravel() for k in every], dtype=np.float64)
        total = np.array([[screens[fold == k].sum()] for k in every], dtype=np.float64)
        return left, np.repeat(total, size, axis=1), BY_PEOPLE
    rows, cols = examination.counts.shape
    if rows < 3:
        return np.zeros((0, size)), np.zeros((0, size)), NO_FOLDS
    out = np.repeat(np.eye(rows)[1:], cols, axis=1)  # one row each
    return out * examination.counts.ravel(), out * examination.screens, BY_ROWS


def _held_out(form: Form, examination: Examination, grid: Grid, counts: Array, screens: Array) -> float:
    if not len(counts):
        return float("nan")
    problem = Problem(form, grid)
    found = problem.fit(examination.counts.ravel() - counts, examination.screens - screens)
    return float(Binomial(counts, screens).value(found.chances, np.arange(len(counts))).sum())
