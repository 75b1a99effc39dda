"""From data to a fitted discount: by likelihood where it is a browsing model, else by trying all its parameters."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from carouseval.attention.bootstrap import bootstrap as bootstrap_search
from carouseval.attention.examination import Examination, Frequencies
from carouseval.attention.fit_data import FitData
from carouseval.attention.fit_report import LikelihoodReport, SearchReport
from carouseval.attention.forms import FORMS, OF_ROWS_AND_PAGES, spelled
from carouseval.attention.likelihood import LikelihoodFit, bootstrap_fit, fit_likelihood
from carouseval.attention.model_selection import choose_form
from carouseval.attention.parameters import discount_class
from carouseval.attention.paths import fit_paths
from carouseval.attention.rank_fit import OBJECTIVES, grid_search
from carouseval.attention.rank_fit import refine as refine_fit
from carouseval.attention.recgaze_data import GROUPS
from carouseval.errors import ParameterError
from carouseval.metrics.validation import require_choice, require_int
from carouseval.progress import Progress, step

Values = Mapping[str, Sequence[float]]

_MOST_IN_VIEW, _CLEARLY = 15, 20.0  # swipe pages tried, and by how much one must be likelier
_GOOD = 0.97  # a correlation; d_rpd, fitted by rank, has .977 on the paper's test set


def fit_discount(
    data: FitData,
    model: str = "d_rpd",
    *,
    objective: str | None = None,
    form: str | None = None,
    values: Values | None = None,
    refine: bool = False,
    bootstrap: int = 0,
    top: int = 5,
    progress: Progress | None = None,
) -> SearchReport | LikelihoodReport:
    """Fit a discount to where people looked, and report on it.

    Browsing models (d_rpb, d_rcb, d_scan) give probabilities and are fitted by likelihood: d_rpb in the ``form`` named
    or else in the one that the data support, d_scan to paths where there are some. Of others, and of those with
    ``values`` or another ``objective``, every combination of parameters is tried, ``values`` of a parameter in place of
    the paper's, and the best kept; ``refine`` goes on from there over real numbers. ``bootstrap`` is a number of
    resampled studies to fit again, for intervals.

    >>> fit_discount(FitData.read("bratislava", "amsterdam"), "d_mir").discount
    d_mir(alpha=10, beta=9)
    """
    browses = discount_class(model)().is_probability
    if objective is None:
        objective = "likelihood" if browses else "spearman"
    require_choice("objective", objective, OBJECTIVES)
    require_int("bootstrap", bootstrap, 0)
    by_likelihood = browses and objective == "likelihood" and not values
    if form is not None:
        if not by_likelihood or model != "d_rpb":
            raise ParameterError("form goes with d_rpb, fitted by likelihood.")
        require_choice("form", spelled(form), [one.name for one in FORMS if one.symbol == model])
    if not by_likelihood:
        return _search(data, model, objective, values, refine, bootstrap, top, progress)
    if refine:
        raise ParameterError(f"{model} is fitted over real numbers already; leave out refine.")
    return _fit_by_likelihood(data, model, form, bootstrap, progress)


def _search(
    data: FitData,
    model: str,
    objective: str,
    values: Values | None,
    refine: bool,
    samples: int,
    top: int,
    progress: Progress | None,
) -> SearchReport:
    if samples and (objective != "spearman" or refine):
        raise ParameterError("bootstrap repeats the search by spearman; leave out objective and refine.")
    train, grid = data.train, data.grid
    fit = grid_search(model, train, grid, values, objective, top, progress=step(progress, f"fit {model}"))
    drawn = None
    if samples:
        drawn = bootstrap_search(model, train, grid, values, samples, progress=step(progress, "bootstrap"))
    return SearchReport(data, refine_fit(fit, train, grid) if refine else fit, drawn)


def _fit_by_likelihood(
    data: FitData, model: str, form: str | None, samples: int, progress: Progress | None
) -> LikelihoodReport:
    train = data.train
    if isinstance(train, Frequencies):
        counted = (train.frequencies == train.frequencies.round()).all() and train.frequencies.max() > 1
        remedy = "say of how many screens" if counted else "these are frequencies: give whole counts"
        raise ParameterError(f"{model} is fitted to counts of screens; {remedy}.")
    paths = data.paths if model == "d_scan" else None
    if samples and paths is not None:
        raise ParameterError("bootstrap resamples counts, not paths; leave it out.")
    choice = None
    if paths is not None:
        fit = fit_paths(paths)
    elif model == "d_rpb" and form is None:
        choice = choose_form(train, data.grid, OF_ROWS_AND_PAGES, progress=step(progress, "forms"))
        fit = choice.chosen
    else:
        fit = fit_likelihood(form or model, train, data.grid)
    drawn = bootstrap_fit(fit, train, data.grid, samples) if samples else None
    return LikelihoodReport(data, fit, choice, drawn, tuple(_notes(data, train, fit)))


def _notes(data: FitData, train: Examination, fit: LikelihoodFit) -> list[str]:
    """What a person should look at before relying on the fit."""
    notes = _page_size(data, train)
    for what, places, there in zip(("row", "column"), np.nonzero(train.counts), train.counts.shape, strict=True):
        last = int(places.max(initial=-1)) + 1
        if last < there:
            notes.append(
                f"Nobody looked beyond {what} {last} of {there}. If the screen ends there, so should the grid."
            )
    if fit.cells and train.participants and train.by_participant is None and data.name not in GROUPS:
        notes.append("Whose the screens without a look are is not known, so that intervals are not by participant.")
    if not fit.converged:
        notes.append("The search did not come to an end: take these values for a stage on the way.")
    if fit.train.pearson < _GOOD:
        notes.append(
            f"The fitted weights follow the data only so far (r = {fit.train.pearson:.2f}): people look in ways that "
            f"{fit.discount.symbol} has no parameter for."
        )
    return notes


def _page_size(data: FitData, train: Examination) -> list[str]:
    """A hint, where the number of items in view was assumed, and another fits clearly better."""
    if not data.page_size_assumed or data.grid.cols < 3:
        return []
    likely = {
        size: fit_likelihood("six", train, replace(data.grid, page_size=size)).log_likelihood
        for size in range(2, min(data.grid.cols, _MOST_IN_VIEW) + 1)
    }
    best, assumed = max(likely, key=lambda size: likely[size]), min(data.grid.page_size, data.grid.cols)
    if best == assumed or likely[best] - likely.get(assumed, -math.inf) < _CLEARLY:
        return []
    return [f"{best} items of a row in view fit much better than {assumed}. If they were, set the page size to {best}."]
