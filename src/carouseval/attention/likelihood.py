"""Fitting browsing models by likelihood: to how many of the screens each cell was examined on."""

import math
from dataclasses import dataclass

import numpy as np

from carouseval.attention.bootstrap import BY_PARTICIPANT, CELLS_ONLY, Bootstrap, Interval, interval_of, resampled
from carouseval.attention.examination import Examination
from carouseval.attention.fisher_scoring import Binomial, Maximum
from carouseval.attention.forms import Form, form_of
from carouseval.attention.intervals import intervals, noise_of, share_of_one
from carouseval.attention.likelihood_problem import INSIDE, Problem
from carouseval.attention.rank_fit import Scores, matching_grid, scores_of
from carouseval.errors import DataError, ParameterError
from carouseval.metrics.discounts import Discount
from carouseval.metrics.grid import Array, Grid
from carouseval.metrics.validation import require_int

SCAN = "Other scans fit counts about as well: intervals hold near these values only. Fit it to looks in order."
ORDER = "Counts of cells do not identify the order in which people looked, nor how they moved between cells."


@dataclass(frozen=True, repr=False)
class LikelihoodFit:
    """A form fitted by likelihood, what its parameters may be off by, and what the data leave open."""

    form: Form
    discount: Discount
    values: dict[str, float]  # of the free parameters
    intervals: dict[str, Interval | None]  # None where the data leave a parameter open, or a bound is near
    undetermined: frozenset[str]  # parameters without effect, or known only together
    unsure: tuple[str, ...]  # where intervals of this kind fail, in sentences
    noise: str  # what the intervals are of
    open: tuple[str, ...]  # what these data do not identify, in sentences
    log_likelihood: float
    saturated: float  # the log-likelihood of the frequencies themselves
    observations: int  # screens times cells or, of paths, steps
    cells: int  # 0 of paths
    train: Scores
    converged: bool

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value:.4g}" for name, value in self.values.items())
        return f"LikelihoodFit({self.form.name!r}: {values}; log-likelihood {self.log_likelihood:.1f})"

    @property
    def bic(self) -> float:
        """k ln n - 2 ln L, with every cell of every screen an observation: the harshest count of them."""
        return len(self.values) * math.log(self.observations) - 2 * self.log_likelihood

    @property
    def deviance(self) -> float:
        """Twice what the log-likelihood lacks to that of the frequencies themselves."""
        return 2 * (self.saturated - self.log_likelihood)

    @property
    def dispersion(self) -> float:
        """The deviance per degree of freedom: 1 where nothing but binomial noise is left."""
        free = self.cells - len(self.values)  # of paths, no cells are counted
        return self.deviance / free if free > 0 else math.nan


def fit_likelihood(
    model: str | Form, examination: Examination, grid: Grid | None = None, *, level: float = 0.95
) -> LikelihoodFit:
    """The parameters under which the counts are likeliest, each cell of each screen being examined or not.

    ``model`` is a discount's symbol or one of :data:`carouseval.attention.forms.FORMS` by its name. Cells of a screen
    and screens of a person resemble each other: intervals take the latter into account where the counts of single
    participants are known, and otherwise say that they are too narrow.

    >>> from carouseval.attention import recgaze_counts
    >>> fit_likelihood("six", recgaze_counts("bratislava")).discount.short
    'd_rpb(e=0.92...
    """
    form, grid = form_of(model), counted_grid(examination, grid)
    level = share_of_one(level)
    problem = Problem(form, grid)
    found = problem.fit(*_observed(examination))
    trust = intervals(problem, found, _pulls(found, examination), level)
    values = dict(zip(form.free, problem.settled(found).tolist(), strict=True))
    people = None if examination.by_participant is None else len(examination.by_participant[1])
    return LikelihoodFit(
        form=form,
        discount=form.discount(list(values.values())),
        values=values,
        intervals=trust.intervals,
        undetermined=trust.undetermined,
        unsure=trust.unsure,
        noise=noise_of(people, CELLS_ONLY),
        open=(*trust.open, *([SCAN] if form.symbol == "d_scan" else []), ORDER),
        log_likelihood=float(found.value[0]),
        saturated=log_likelihood(examination.frequencies, examination),
        observations=examination.screens * examination.counts.size,
        cells=examination.counts.size,
        train=scores_of(found.chances[0].reshape(examination.counts.shape), examination.frequencies),
        converged=bool(found.converged[0]),
    )


def log_likelihood(model: Discount | Array, examination: Examination, grid: Grid | None = None) -> float:
    """Of counts under a model's weights, read as probabilities; -inf where these cannot be."""
    weights = model.weights(matching_grid(grid, examination.frequencies)) if isinstance(model, Discount) else model
    chances = np.asarray(weights, dtype=np.float64).reshape(1, -1)
    return float(Binomial(*_observed(examination)).value(chances, np.zeros(1, np.int64))[0])


def bootstrap_fit(
    fit: LikelihoodFit,
    examination: Examination,
    grid: Grid | None = None,
    samples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> Bootstrap:
    """Fit again to resampled participants or, without them, to resampled counts."""
    samples, seed = require_int("samples", samples, 1), require_int("seed", seed, 0)
    level = share_of_one(level)
    problem = Problem(fit.form, counted_grid(examination, grid))
    shares, totals = resampled(examination, samples, np.random.default_rng(seed))
    screens = np.repeat(totals, shares.shape[1], axis=1)
    own = np.clip(problem.unbounded(np.array([list(fit.values.values())])), -INSIDE, INSIDE)
    starts = np.concatenate([own, np.zeros_like(own)])
    found = problem.fit(shares * screens, screens, np.repeat(starts[None], samples, axis=0))
    drawn = problem.natural(found.at)
    intervals = {
        name: interval_of(drawn[:, k], level) for k, name in enumerate(fit.form.free) if name not in fit.undetermined
    }
    return Bootstrap(CELLS_ONLY if examination.by_participant is None else BY_PARTICIPANT, samples, level, intervals)


def _pulls(found: Maximum, examination: Examination) -> Array | None:
    """What each participant's screens, as far as they are unlike the model, do to each parameter."""
    if examination.by_participant is None:
        return None
    counts, screens = examination.by_participant
    size = len(screens)
    own = Binomial(counts.reshape(size, -1).astype(float), np.repeat(screens[:, None], examination.counts.size, axis=1))
    pulls: Array = own.slopes(np.repeat(found.chances, size, axis=0), np.arange(size))[0] @ found.slopes[0]
    return pulls


def counted_grid(examination: Examination, grid: Grid | None) -> Grid:
    """The grid to fit on, of counts alone."""
    if not isinstance(examination, Examination):
        raise ParameterError(
            "likelihood needs counts: give an Examination, such as examination_from_screens(looks, grid) returns."
        )
    if not examination.counts.any():
        raise DataError(f"{examination.name}: nobody looked at anything: there is nothing to fit.")
    return matching_grid(grid, examination.frequencies)


def _observed(examination: Examination) -> tuple[Array, Array]:
    """Counts and screens of one problem, (1, cells)."""
    counts: Array = examination.counts.reshape(1, -1).astype(np.float64)
    return counts, np.full_like(counts, examination.screens)
