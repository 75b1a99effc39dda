"""From data to a fitted discount: browsing models by likelihood, other discounts by grid search."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Unpack

import numpy as np

from carouseval.attention.bootstrap import bootstrap as bootstrap_search
from carouseval.attention.examination import Examination, Frequencies
from carouseval.attention.fit_data import FitData
from carouseval.attention.fit_report import LikelihoodReport, SearchReport
from carouseval.attention.fit_settings import FitSettings, FitSettingsDict, Objective
from carouseval.attention.likelihood import LikelihoodFit, bootstrap_fit, fit_likelihood
from carouseval.attention.model_selection import choose_form
from carouseval.attention.parameters import discount_class, form_name
from carouseval.attention.path_fit import fit_paths
from carouseval.attention.rank_fit import grid_search
from carouseval.attention.rank_fit import refine as refine_fit
from carouseval.attention.recgaze_data import GROUPS
from carouseval.errors import ParameterError
from carouseval.messages import setting
from carouseval.metrics.browsing.forms import Form, forms_of
from carouseval.metrics.discount_parameters import is_probability
from carouseval.metrics.grid import PageSizes
from carouseval.progress import Progress, step
from carouseval.settings import checked_settings, takes
from carouseval.validation import require_choice

_MAX_PAGE_SIZE = 15  # of the page sizes compared
_CLEAR_DIFFERENCE = 20.0  # in log-likelihood
_GOOD_CORRELATION = 0.97  # d_rpd, fitted by rank, has .977 on the paper's test set


@takes(FitSettings)
def fit_discount(
    data: FitData,
    discount: str = FitSettings.discount,
    *,
    progress: Progress | None = None,
    **settings: Unpack[FitSettingsDict],
) -> SearchReport | LikelihoodReport:
    """Fit a discount to eye-tracking data and report on the fit, as ``carouseval fit`` does.

    Browsing models (d_rpb, d_rcb, d_scan) give probabilities and are fitted by likelihood, d_scan to scan paths if
    there are any. Other discounts, and browsing models with ``values`` or another ``objective``, are fitted by grid
    search.

    Parameters
    ----------
    data : FitData
        The data and the screen.
    progress : callable, optional
        Called with (step, done, total) as the work proceeds.

    Returns
    -------
    LikelihoodReport or SearchReport
        The report of a fit by likelihood or by grid search.

    Examples
    --------
    >>> import carouseval as cv
    >>> data = cv.attention.FitData.read("bratislava", test="amsterdam")
    >>> report = cv.attention.fit_discount(data, "d_mir")
    >>> report.discount, round(report.scores["test"]["pearson"], 4)
    (d_mir(alpha=10, beta=9), 0.8856)
    """
    if not isinstance(data, FitData):
        raise ParameterError(f"data must be FitData, such as FitData.read returns, found {type(data).__name__}.")
    chosen = checked_settings("fit_discount", {"discount": discount, **settings}, FitSettings)
    cls = discount_class(discount)
    objective = chosen.objective or ("likelihood" if is_probability(cls) else "spearman")
    by_likelihood = is_probability(cls) and objective == "likelihood" and not chosen.values
    forms = {form.name: form for form in forms_of(cls) if form.symbol == discount}
    if chosen.form is not None:
        if not by_likelihood or not forms:
            raise ParameterError(f"{setting('form')} is for d_rpb, fitted by likelihood.")
        require_choice("form", form_name(chosen.form), list(forms))
    if not by_likelihood:
        return _search(data, chosen, objective, progress)
    if chosen.refine:
        raise ParameterError(f"{discount} is already fitted over real numbers; leave out {setting('refine')}.")
    if chosen.form is None:
        candidates = [form for form in forms.values() if not form.is_mixture]
    else:
        candidates = [forms[form_name(chosen.form)]]
    return _fit_by_likelihood(data, chosen, candidates, progress)


def _search(data: FitData, chosen: FitSettings, objective: Objective, progress: Progress | None) -> SearchReport:
    discount, values = chosen.discount, chosen.values
    if chosen.bootstrap and (objective != "spearman" or chosen.refine):
        raise ParameterError(
            f"{setting('bootstrap')} repeats the search by spearman; leave out {setting('objective')} and "
            f"{setting('refine')}."
        )
    train, grid = data.train, data.grid
    fit = grid_search(train, discount, grid, values, objective, chosen.top, progress=step(progress, f"fit {discount}"))
    intervals = None
    if samples := chosen.bootstrap:
        intervals = bootstrap_search(train, discount, grid, values, samples, progress=step(progress, "bootstrap"))
    return SearchReport(data, refine_fit(train, fit, grid) if chosen.refine else fit, intervals)


def _fit_by_likelihood(
    data: FitData, chosen: FitSettings, forms: Sequence[Form], progress: Progress | None
) -> LikelihoodReport:
    train, discount, samples = data.train, chosen.discount, chosen.bootstrap
    if isinstance(train, Frequencies):
        integers = (train.frequencies == train.frequencies.round()).all() and train.frequencies.max() > 1
        remedy = f"give their number in {setting('screens')}" if integers else "these are frequencies: give counts"
        raise ParameterError(f"{discount} is fitted to counts of screens; {remedy}.")
    paths = data.paths if discount == "d_scan" else None
    if samples and paths is not None:
        raise ParameterError(f"{setting('bootstrap')} resamples counts, not scan paths; leave it out.")
    choice = None
    if paths is not None:
        fit = fit_paths(paths)
    elif len(forms) > 1:
        choice = choose_form(train, data.grid, forms, progress=step(progress, "forms"))
        fit = choice.chosen
    else:
        fit = fit_likelihood(train, forms[0] if forms else discount, data.grid)
    intervals = bootstrap_fit(train, fit, data.grid, samples) if samples else None
    return LikelihoodReport(data, fit, choice, intervals, tuple(_notes(data, train, fit)))


def _notes(data: FitData, train: Examination, fit: LikelihoodFit) -> list[str]:
    """What to check before relying on the fit."""
    notes = _page_size_note(data, train)
    for axis, places, size in zip(("row", "column"), np.nonzero(train.counts), train.counts.shape, strict=True):
        last = int(places.max(initial=-1)) + 1
        if last < size:
            notes.append(f"Nobody looked beyond {axis} {last} of {size}. If the screen ends there, use a smaller grid.")
    if fit.cells and train.participants and train.by_participant is None and data.name not in GROUPS:
        notes.append("The participants of screens without any fixation are unknown: intervals are not by participant.")
    if not fit.converged:
        notes.append("The search did not converge: these values are not the maximum of the likelihood.")
    if fit.train.pearson < _GOOD_CORRELATION:
        notes.append(
            f"The fitted weights do not follow the data closely (r = {fit.train.pearson:.2f}): people looked in ways "
            f"that {fit.discount.symbol} has no parameter for."
        )
    return notes


def _page_size_note(data: FitData, train: Examination) -> list[str]:
    """A hint if the page size was assumed and another one fits clearly better."""
    if not data.page_size_assumed or data.grid.cols < 3:
        return []
    grid, sizes = data.grid, range(2, min(data.grid.cols, _MAX_PAGE_SIZE) + 1)
    likelihoods: dict[PageSizes, float] = {
        size: fit_likelihood(train, "six", replace(grid, page_size=size)).log_likelihood for size in sizes
    }
    if isinstance(grid.page_size, int):
        assumed: PageSizes = min(grid.page_size, grid.cols)
    else:
        assumed = grid.page_size
        likelihoods[assumed] = fit_likelihood(train, "six", grid).log_likelihood
    best = max(likelihoods, key=lambda size: likelihoods[size])
    if best == assumed or likelihoods[best] - likelihoods.get(assumed, -math.inf) < _CLEAR_DIFFERENCE:
        return []
    return [
        f"A page size of {best} fits much better than {assumed}. If {best} items of a row were in view, set the page "
        f"size to {best}."
    ]
