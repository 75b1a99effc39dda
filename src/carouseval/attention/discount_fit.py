"""From data to a fitted discount: browsing models by likelihood, other discounts by grid search."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from carouseval.attention.bootstrap import bootstrap as bootstrap_search
from carouseval.attention.examination import Examination, Frequencies
from carouseval.attention.fit_data import FitData
from carouseval.attention.fit_report import LikelihoodReport, SearchReport
from carouseval.attention.likelihood import LikelihoodFit, bootstrap_fit, fit_likelihood
from carouseval.attention.model_selection import choose_form
from carouseval.attention.objectives import Objective
from carouseval.attention.parameters import discount_class, form_name
from carouseval.attention.path_fit import fit_paths
from carouseval.attention.rank_fit import OBJECTIVES, grid_search
from carouseval.attention.rank_fit import refine as refine_fit
from carouseval.attention.recgaze_data import GROUPS
from carouseval.errors import ParameterError
from carouseval.metrics.browsing.forms import Form, forms_of
from carouseval.metrics.discount_parameters import is_probability
from carouseval.metrics.grid import PageSizes
from carouseval.progress import Progress, step
from carouseval.validation import require_choice, require_int

_MAX_PAGE_SIZE = 15  # of the page sizes compared
_CLEAR_DIFFERENCE = 20.0  # in log-likelihood
_GOOD_CORRELATION = 0.97  # d_rpd, fitted by rank, has .977 on the paper's test set


def fit_discount(
    data: FitData,
    discount: str = "d_rpd",
    *,
    objective: Objective | None = None,
    form: str | None = None,
    values: Mapping[str, Sequence[float]] | None = None,
    refine: bool = False,
    bootstrap: int = 0,
    top: int = 5,
    progress: Progress | None = None,
) -> SearchReport | LikelihoodReport:
    """Fit a discount to eye-tracking data and report on the fit, as ``carouseval fit`` does.

    Browsing models (d_rpb, d_rcb, d_scan) give probabilities and are fitted by likelihood, d_scan to scan paths if
    there are any. Other discounts, and browsing models with ``values`` or another ``objective``, are fitted by grid
    search.

    Parameters
    ----------
    data : FitData
        The data and the screen.
    discount : str, default 'd_rpd'
        Symbol of the discount to fit.
    objective : {"spearman", "pearson", "mse", "likelihood"}, optional
        What to optimise; by default the likelihood for browsing models and Spearman's rho for others.
    form : str, optional
        Form of d_rpb, as in :func:`fit_likelihood`; by default :func:`choose_form` selects one.
    values : dict of str to sequence of float, optional
        Values of parameters to try in the grid search, in place of the paper's.
    refine : bool, default False
        Refine the best of the grid search over real-valued parameters.
    bootstrap : int, default 0
        Number of bootstrap samples for intervals.
    top : int, default 5
        Number of candidates of the grid search to report.
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
    cls = discount_class(discount)
    if objective is None:
        objective = "likelihood" if is_probability(cls) else "spearman"
    require_choice("objective", objective, OBJECTIVES)
    require_int("bootstrap", bootstrap, 0)
    by_likelihood = is_probability(cls) and objective == "likelihood" and not values
    forms = {named.name: named for named in forms_of(cls) if named.symbol == discount}
    if form is not None:
        if not by_likelihood or not forms:
            raise ParameterError("form is for d_rpb, fitted by likelihood.")
        form = require_choice("form", form_name(form), list(forms))
    if not by_likelihood:
        return _search(data, discount, objective, values, refine, bootstrap, top, progress)
    if refine:
        raise ParameterError(f"{discount} is already fitted over real numbers; leave out refine.")
    candidates = [named for named in forms.values() if not named.is_mixture] if form is None else [forms[form]]
    return _fit_by_likelihood(data, discount, candidates, bootstrap, progress)


def _search(
    data: FitData,
    discount: str,
    objective: Objective,
    values: Mapping[str, Sequence[float]] | None,
    refine: bool,
    samples: int,
    top: int,
    progress: Progress | None,
) -> SearchReport:
    if samples and (objective != "spearman" or refine):
        raise ParameterError("bootstrap repeats the search by spearman; leave out objective and refine.")
    train, grid = data.train, data.grid
    fit = grid_search(train, discount, grid, values, objective, top, progress=step(progress, f"fit {discount}"))
    intervals = None
    if samples:
        intervals = bootstrap_search(train, discount, grid, values, samples, progress=step(progress, "bootstrap"))
    return SearchReport(data, refine_fit(train, fit, grid) if refine else fit, intervals)


def _fit_by_likelihood(
    data: FitData, discount: str, forms: Sequence[Form], samples: int, progress: Progress | None
) -> LikelihoodReport:
    train = data.train
    if isinstance(train, Frequencies):
        integers = (train.frequencies == train.frequencies.round()).all() and train.frequencies.max() > 1
        remedy = "give the number of screens" if integers else "these are frequencies: give counts"
        raise ParameterError(f"{discount} is fitted to counts of screens; {remedy}.")
    paths = data.paths if discount == "d_scan" else None
    if samples and paths is not None:
        raise ParameterError("bootstrap resamples counts, not scan paths; leave it out.")
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
