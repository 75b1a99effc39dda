"""Fitting browsing models by likelihood to the number of screens on which each cell was examined."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from carouseval.attention.bootstrap import BY_PARTICIPANT, Bootstrap, Interval, percentile_interval, resample
from carouseval.attention.examination import Examination
from carouseval.attention.fisher_scoring import BinomialCounts
from carouseval.attention.frequency_scores import Scores, matching_grid, scores_of
from carouseval.attention.intervals import cells_method, confidence_level, interval_method, wald_intervals
from carouseval.attention.likelihood_problem import MAX_START, LikelihoodProblem
from carouseval.attention.overdispersion import participant_scores, residual_dispersion
from carouseval.attention.parameters import as_form, discount_class
from carouseval.errors import DataError, ParameterError
from carouseval.metrics.browsing.contract import BrowsingModel
from carouseval.metrics.browsing.forms import Form
from carouseval.metrics.discount_base import Discount, as_discount
from carouseval.metrics.grid import Array, Grid
from carouseval.validation import require_int

ORDER = "Counts of cells do not identify the order in which people looked, nor how they moved between cells."


@dataclass(frozen=True, repr=False)
class LikelihoodFit:
    """A discount fitted by likelihood, with intervals and what the data do not identify.

    Attributes
    ----------
    form : Form
        Which parameters were free: ``form.name`` and ``form.meaning``.
    discount : Discount
        The fitted discount.
    values : dict of str to float
        The free parameters.
    intervals : dict of str to Interval
        Confidence interval of each free parameter; None if it is not identified or near a bound.
    not_identified : frozenset of str
        Free parameters that the data do not identify.
    limitations : tuple of str
        What the data do not identify, in sentences.
    interval_warnings : tuple of str
        Where intervals of this kind are not valid, in sentences.
    interval_method : str
        How the intervals were computed and whether they are too narrow.
    log_likelihood : float
        The log-likelihood of the data.
    saturated : float
        The log-likelihood of the frequencies themselves, the largest possible.
    observations : int
        Number of observations: screens times cells or, of scan paths, moves.
    cells : int
        Number of cells; 0 for a fit to scan paths.
    train : Scores
        Scores on the data of the fit.
    converged : bool
        Whether the search converged.
    clustering : float, default nan
        Cluster-robust variance over model-based variance, the mean over the parameters: how much more the counts vary
        than independent cells would, estimated from participants; NaN where they are unknown.

    Examples
    --------
    >>> import carouseval as cv
    >>> fit = cv.attention.fit_likelihood(cv.attention.recgaze_counts("bratislava"), "d_rcb")
    >>> fit
    LikelihoodFit('d_rcb': e=0.9621, kappa=0.9049, beta=0.8908; log-likelihood -135787.7)
    >>> round(fit.intervals["kappa"].low, 3), round(fit.intervals["kappa"].high, 3)
    (0.893, 0.915)
    """

    form: Form
    discount: Discount
    values: dict[str, float]
    intervals: dict[str, Interval | None]
    not_identified: frozenset[str]
    limitations: tuple[str, ...]
    interval_warnings: tuple[str, ...]
    interval_method: str
    log_likelihood: float
    saturated: float
    observations: int
    cells: int
    train: Scores
    converged: bool
    clustering: float = math.nan

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value:.4g}" for name, value in self.values.items())
        return f"LikelihoodFit({self.form.name!r}: {values}; log-likelihood {self.log_likelihood:.1f})"

    @property
    def bic(self) -> float:
        """The Bayesian information criterion, k ln n - 2 ln L, for k parameters and n independent observations."""
        return self.quasi_bic(1.0)

    def quasi_bic(self, overdispersion: float) -> float:
        """The quasi-likelihood version of BIC, k ln n - 2 ln L / c, for counts that vary c times as much as binomials.

        n stays the number of observations, so that it is BIC where c = 1. Dividing n by c, too, would change the
        penalty of a parameter by ln c only, and towards more parameters.

        Parameters
        ----------
        overdispersion : float
            The factor c, the same for all forms compared.

        Returns
        -------
        float
            The criterion; the lower, the better.
        """
        return len(self.values) * math.log(self.observations) - 2 * self.log_likelihood / overdispersion

    @property
    def deviance(self) -> float:
        """Twice the difference between the saturated log-likelihood and that of the fit."""
        return 2 * (self.saturated - self.log_likelihood)

    @property
    def dispersion(self) -> float:
        """The deviance per degree of freedom: about 1 if only binomial noise is left; NaN for a fit to scan paths."""
        return residual_dispersion(self.deviance, self.cells - len(self.values))

    @property
    def overdispersion(self) -> float:
        """How much more the counts vary than independent binomials: from participants, else residuals; at least 1."""
        factor = self.dispersion if math.isnan(self.clustering) else self.clustering
        return factor if factor > 1 else 1.0


def fit_likelihood(
    examination: Examination, discount: str | Form, grid: Grid | None = None, *, ci: float = 0.95
) -> LikelihoodFit:
    """Fit a discount by maximum likelihood: each cell of each screen is examined or not.

    Intervals are clustered by participant where the counts of participants are known. Otherwise cells are treated as
    independent and variances are multiplied by the residual dispersion, if it is above 1 (quasi-likelihood). That
    misses correlations that the parameters absorb: such intervals may still be too narrow, as ``interval_method`` says.

    Parameters
    ----------
    examination : Examination
        The counts.
    discount : str or Form
        Symbol of a discount whose parameters are all free, such as ``"d_rcb"``, or the name of a form of d_rpb:
        ``"six"``, ``"edges"``, ``"first row"``, ``"novelty"``, ``"edges, first row"``, ``"edges, novelty"``,
        ``"all nine"`` or ``"two kinds"``. ``"d_rpb"`` is ``"all nine"``.
    grid : Grid, optional
        The screen, of the size of the counts; by default with swipe pages of 5 items and 3 visible rows.
    ci : float, default 0.95
        Confidence level of the intervals, between 0 and 1.

    Returns
    -------
    LikelihoodFit
        The fitted discount, its parameters with intervals, and what the data do not identify.

    See Also
    --------
    choose_form : Fits every form of d_rpb and selects one.
    fit_paths : Fits d_scan to scan paths.
    bootstrap_fit : Intervals by resampling.

    Examples
    --------
    >>> import carouseval as cv
    >>> fit = cv.attention.fit_likelihood(cv.attention.recgaze_counts("bratislava"), "six")
    >>> {name: round(value, 3) for name, value in fit.values.items()}
    {'e': 0.922, 'kappa': 0.904, 'beta': 0.965, 'sigma1': 0.37, 'sigma2': 0.842, 'rho': 0.974}
    >>> fit.interval_method
    'binomial noise times 2.13 (residual dispersion 4.53), still too narrow if screens or cells are correlated'
    """
    grid = check_counts(examination, grid)
    return fit_form(examination, as_form(discount), grid, confidence_level(ci), {})


def fit_form(examination: Examination, form: Form, grid: Grid, ci: float, optima: dict[Form, Array]) -> LikelihoodFit:
    """Fit a form, with the optima of other forms on the same data as starts."""
    problem = LikelihoodProblem(form, grid)
    estimate = problem.fit(*_as_problem(examination), optima=optima)
    saturated = log_likelihood(examination, examination.frequencies)
    degrees = examination.counts.size - len(form.free)
    dispersion = residual_dispersion(2 * (saturated - float(estimate.log_likelihood[0])), degrees)
    scores = participant_scores(examination, estimate)
    uncertainty = wald_intervals(problem, estimate, scores, ci, dispersion=dispersion, degrees=degrees)
    values = problem.parameters(estimate)
    participants = None if examination.by_participant is None else len(examination.by_participant[1])
    return LikelihoodFit(
        form=form,
        discount=form.discount(list(values.values())),
        values=values,
        intervals=uncertainty.intervals,
        not_identified=uncertainty.not_identified,
        limitations=(*uncertainty.limitations, *_limitations_of_counts(form), ORDER),
        interval_warnings=uncertainty.interval_warnings,
        interval_method=interval_method(participants, cells_method(dispersion)),
        log_likelihood=float(estimate.log_likelihood[0]),
        saturated=saturated,
        observations=examination.screens * examination.counts.size,
        cells=examination.counts.size,
        train=scores_of(estimate.probabilities[0].reshape(examination.counts.shape), examination.frequencies),
        converged=bool(estimate.converged[0]),
        clustering=uncertainty.clustering,
    )


def _limitations_of_counts(form: Form) -> list[str]:
    cls = discount_class(form.symbol)
    return [cls.limitation_of_counts] if issubclass(cls, BrowsingModel) and cls.limitation_of_counts else []


def log_likelihood(examination: Examination, discount: str | Discount | ArrayLike, grid: Grid | None = None) -> float:
    """Compute the log-likelihood of examination counts under a discount whose weights are probabilities.

    The sum over cells of c ln w + (n - c) ln(1 - w), with the weight w, the count c and the number n of screens.

    Parameters
    ----------
    examination : Examination
        The counts.
    discount : str, Discount or array-like of shape (rows, cols)
        The discount, its name, or a table of probabilities.
    grid : Grid, optional
        The screen, of the size of the counts; by default with swipe pages of 5 items and 3 visible rows.

    Returns
    -------
    float
        The log-likelihood; -inf if the counts are impossible or weights are above 1.

    Examples
    --------
    >>> import carouseval as cv
    >>> test = cv.attention.recgaze_counts("amsterdam")
    >>> round(cv.attention.log_likelihood(test, "d_rpb") / test.screens, 2)  # per screen
    -76.21
    """
    _check_examination(examination)
    if isinstance(discount, str | Discount):
        weights: ArrayLike = as_discount(discount).weights(matching_grid(grid, examination.frequencies))
    else:
        weights = discount
    probabilities = np.asarray(weights, dtype=np.float64).reshape(1, -1)
    data = BinomialCounts(*_as_problem(examination))
    return float(data.log_likelihood(probabilities, np.zeros(1, np.int64))[0])


def bootstrap_fit(
    examination: Examination,
    fit: LikelihoodFit,
    grid: Grid | None = None,
    samples: int = 1000,
    ci: float = 0.95,
    seed: int = 0,
) -> Bootstrap:
    """Compute bootstrap intervals of a fit by likelihood.

    Participants are resampled where their counts are known, otherwise the count of each cell, out of as many screens as
    are worth the information left by the residual dispersion of the fit: their number divided by it.

    Parameters
    ----------
    examination : Examination
        The counts that the discount was fitted to.
    fit : LikelihoodFit
        The result of :func:`fit_likelihood` or :func:`choose_form`.
    grid : Grid, optional
        The screen, as in :func:`fit_likelihood`.
    samples : int, default 1000
        Number of resamples, at least 1.
    ci : float, default 0.95
        Confidence level of the intervals, between 0 and 1.
    seed : int, default 0
        Random seed.

    Returns
    -------
    Bootstrap
        Percentile intervals of the identified parameters.

    Examples
    --------
    >>> import carouseval as cv
    >>> counts = cv.attention.recgaze_counts("bratislava")
    >>> fit = cv.attention.fit_likelihood(counts, "d_rcb")
    >>> kappa = cv.attention.bootstrap_fit(counts, fit, samples=50).parameters["kappa"]
    >>> kappa.low < fit.values["kappa"] < kappa.high
    True
    """
    grid = check_counts(examination, grid)
    if not isinstance(fit, LikelihoodFit):
        raise ParameterError(f"fit must be the LikelihoodFit of fit_likelihood, found {type(fit).__name__}.")
    samples, seed = require_int("samples", samples, 1), require_int("seed", seed, 0)
    ci = confidence_level(ci)
    problem = LikelihoodProblem(fit.form, grid)
    frequencies, totals = resample(examination, samples, np.random.default_rng(seed), fit.dispersion)
    screens = np.repeat(totals, frequencies.shape[1], axis=1)
    fitted = np.clip(problem.unbounded(np.array([list(fit.values.values())])), -MAX_START, MAX_START)
    starts = np.concatenate([fitted, np.zeros_like(fitted)])
    estimate = problem.fit(frequencies * screens, screens, np.repeat(starts[None], samples, axis=0))
    values = problem.natural(estimate.point)
    intervals = {
        name: percentile_interval(values[:, k], ci)
        for k, name in enumerate(fit.form.free)
        if name not in fit.not_identified
    }
    method = cells_method(fit.dispersion) if examination.by_participant is None else BY_PARTICIPANT
    return Bootstrap(method, samples, ci, intervals)


def check_counts(examination: Examination, grid: Grid | None) -> Grid:
    """The grid to fit on, if there are counts to fit to."""
    _check_examination(examination)
    if not examination.counts.any():
        raise DataError(f"{examination.name}: no cell was examined: there is nothing to fit.")
    return matching_grid(grid, examination.frequencies)


def _check_examination(examination: Examination) -> None:
    if isinstance(examination, str | Discount | Form | LikelihoodFit):
        raise ParameterError(f"the examination comes first, then the discount; found {examination!r} first.")
    if not isinstance(examination, Examination):
        raise ParameterError(
            "likelihood needs counts: give an Examination, such as examination_from_screens(fixations, grid) returns."
        )


def _as_problem(examination: Examination) -> tuple[Array, Array]:
    """Counts and screens of one problem, (1, cells)."""
    counts: Array = examination.counts.reshape(1, -1).astype(np.float64)
    return counts, np.full_like(counts, examination.screens)
