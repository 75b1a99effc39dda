"""Fitting browsing models by likelihood: to how many of the screens each cell was examined on."""

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from carouseval import _native
from carouseval.attention.bootstrap import BY_PARTICIPANT, CELLS_ONLY, Bootstrap, Interval, interval_of, resampled
from carouseval.attention.examination import Examination
from carouseval.attention.fit import Scores, matching_grid, scores_of
from carouseval.attention.forms import Form, RowPageTies, form_of
from carouseval.attention.maximise import Binomial, Maximum, maximise, surroundings
from carouseval.attention.parameters import discount_class
from carouseval.errors import DataError, ParameterError
from carouseval.metric.checks import number, whole
from carouseval.metric.discounts import Discount
from carouseval.metric.grid import Array, Grid
from carouseval.metric.pages import thread_count

FAR = 16.0  # on the unbounded scale: a share of 1e-7, or 1 - 1e-7
_INSIDE = 4.0  # where searches begin, at most
_NEAR = 4.0  # of a share, within 2% of 0 or 1
_ANYTHING = 8.0  # half an interval on that scale: odds off by a factor of 3,000
_TOO_WEAK = 1e-9  # of the effects of parameters, each of length 1: a direction nothing depends on
_TAKES_PART = 1e-3  # of a parameter in such a direction; less is rounding
SCAN = "Other scans fit counts about as well: intervals hold near these values only. Fit it to looks in order."
ORDER = "Counts of cells do not identify the order in which people looked, nor how they moved between cells."
STARTS = (0.8, 0.5, 0.95)  # of shares; factors start at 0.5, 0.2 and 2


@dataclass(frozen=True, repr=False)
class LikelihoodFit:
    """A form fitted by likelihood, what its parameters may be off by, and what the data leave open."""

    form: Form
    discount: Discount
    values: dict[str, float]  # of the free parameters
    intervals: dict[str, Interval | None]  # None where the data leave a parameter open, or a bound is near
    undetermined: frozenset[str]  # parameters without effect, or known only together
    noise: str  # what the intervals are of
    open: tuple[str, ...]  # what these data do not identify, in sentences
    log_likelihood: float
    saturated: float  # the log-likelihood of the frequencies themselves
    observations: int  # screens times cells
    cells: int
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
    model: str | Form, seen: Examination, grid: Grid | None = None, *, level: float = 0.95
) -> LikelihoodFit:
    """The parameters under which the counts are likeliest, each cell of each screen being examined or not.

    ``model`` is a discount's symbol or one of :data:`carouseval.attention.forms.FORMS` by its name. Cells of a screen
    and screens of a person resemble each other: intervals take the latter into account where the counts of single
    participants are known, and otherwise say that they are too narrow.

    >>> from carouseval.attention import recgaze_counts
    >>> fit_likelihood("six", recgaze_counts("bratislava")).discount.short
    'd_rpb(e=0.92...
    """
    form, grid = form_of(model), counted_grid(seen, grid)
    level = share_of_one(level)
    problem = Problem(form, grid)
    found = problem.fit(_flat(seen.counts)[None], np.full((1, seen.counts.size), float(seen.screens)))
    bounds, undetermined, left_open = intervals(problem, found, _pulls(found, seen), level)
    values = dict(zip(form.free, problem.settled(found).tolist(), strict=True))
    people = None if seen.by_participant is None else len(seen.by_participant[1])
    return LikelihoodFit(
        form=form,
        discount=form.discount(list(values.values())),
        values=values,
        intervals=bounds,
        undetermined=undetermined,
        noise=noise_of(people, CELLS_ONLY),
        open=(*left_open, *([SCAN] if form.symbol == "d_scan" else []), ORDER),
        log_likelihood=float(found.value[0]),
        saturated=log_likelihood(seen.frequencies, seen),
        observations=seen.screens * seen.counts.size,
        cells=seen.counts.size,
        train=scores_of(found.chances[0].reshape(seen.counts.shape), seen.frequencies),
        converged=bool(found.converged[0]),
    )


def log_likelihood(model: Discount | Array, seen: Examination, grid: Grid | None = None) -> float:
    """Of counts under a model's weights, read as probabilities; -inf where these cannot be."""
    weights = model.weights(matching_grid(grid, seen.frequencies)) if isinstance(model, Discount) else model
    data = Binomial(_flat(seen.counts)[None], np.full((1, seen.counts.size), float(seen.screens)))
    return float(data.value(_flat(weights)[None], np.zeros(1, np.int64))[0])


def bootstrap_fit(
    fit: LikelihoodFit,
    seen: Examination,
    grid: Grid | None = None,
    samples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> Bootstrap:
    """Fit again to resampled participants or, without them, to resampled counts."""
    samples, seed = whole("samples", samples, 1), whole("seed", seed, 0)
    level = share_of_one(level)
    problem = Problem(fit.form, counted_grid(seen, grid))
    shares, totals = resampled(seen, samples, np.random.default_rng(seed))
    screens = np.repeat(totals, shares.shape[1], axis=1)
    # never at a bound, where a parameter's slope is 0
    own = np.clip(problem.unbounded(np.array([list(fit.values.values())])), -_INSIDE, _INSIDE)
    starts = np.concatenate([own, np.zeros_like(own)])
    found = problem.fit(shares * screens, screens, np.repeat(starts[None], samples, axis=0))
    drawn = problem.natural(found.at)
    intervals = {
        name: interval_of(drawn[:, k], level) for k, name in enumerate(fit.form.free) if name not in fit.undetermined
    }
    return Bootstrap(CELLS_ONLY if seen.by_participant is None else BY_PARTICIPANT, samples, level, intervals)


class Problem:
    """A form on a grid, its parameters on an unbounded scale: log-odds of shares, logarithms of factors."""

    def __init__(self, form: Form, grid: Grid) -> None:
        self.form, self.grid = form, grid
        self.unit = np.array(form.units)

    def natural(self, at: Array) -> Array:
        """Parameters as the formula takes them."""
        with np.errstate(over="ignore"):
            return np.where(self.unit, 1 / (1 + np.exp(-at)), np.exp(at))

    def unbounded(self, values: Array) -> Array:
        share = np.clip(values, 1e-12, 1 - 1e-12)
        return np.clip(np.where(self.unit, np.log(share / (1 - share)), np.log(np.maximum(values, 1e-12))), -FAR, FAR)

    def probabilities(self, at: Array) -> Array:
        return self.form.weights(self.natural(at), self.grid).reshape(len(at), -1)

    def settled(self, found: Maximum) -> Array:
        """The values found; what nothing depends on takes the discount's own, not where the search happened to be."""
        values: Array = self.natural(found.at)[0]
        own = discount_class(self.form.symbol)().parameters
        for k in np.flatnonzero(_idle(found)).tolist():
            values[k] = own.get(self.form.free[k], values[k])
        return values

    def fit(self, counts: Array, screens: Array, starts: Array | None = None) -> Maximum:
        """Problems (problems, cells), each from several starts (problems, starts, parameters), the best kept."""
        if starts is None:
            starts = np.concatenate(
                [np.repeat(self._starts()[None], len(counts), axis=0), *self._from_smaller(counts, screens)], axis=1
            )
        ties = self.form.ties
        found = self._climb(counts, screens, starts) if ties is None else self._kernel(ties, counts, screens, starts)
        if not np.isfinite(found.value).any():
            raise DataError(
                f"{self.form.name}: its weights are no probabilities anywhere near where the search began; "
                "fit it by spearman, pearson or mse."
            )
        return found

    def _climb(self, counts: Array, screens: Array, starts: Array) -> Maximum:
        many = starts.shape[1]
        data = Binomial(np.repeat(counts, many, axis=0), np.repeat(screens, many, axis=0))
        bound = np.full(len(self.form.free), FAR)
        found = maximise(self.probabilities, data, starts.reshape(-1, len(bound)), -bound, bound)
        best = np.nan_to_num(found.value, nan=-np.inf).reshape(-1, many).argmax(axis=1) + many * np.arange(len(counts))
        return found.only(best)

    def _kernel(self, ties: RowPageTies, counts: Array, screens: Array, starts: Array) -> Maximum:
        """What ``_climb`` finds, for forms of d_rpb itself."""
        form, threads = (*self.grid.shape, self.grid.page_size, *ties), thread_count(None)
        at, _, converged = _native.fit_row_page(counts, screens, starts, *form, FAR, threads)
        chances, slopes = _native.row_page_slopes(at, *form, threads)
        found = surroundings(Binomial(counts, screens), at, chances, slopes, np.arange(len(at)))
        found.converged[:] = converged
        return found

    def _from_smaller(self, counts: Array, screens: Array) -> list[Array]:
        """Starts where a smaller form ended: a form that contains it is then at least as likely."""
        starts = []
        for name in self.form.contains:
            smaller = Problem(form_of(name), self.grid)
            found = smaller.natural(smaller.fit(counts, screens).at)
            for more in (1e-7, 0.1, 0.5):  # of what it leaves out
                starts.append(self.unbounded(self.form.extended(smaller.form, found, more))[:, None])
        return starts

    def _starts(self) -> Array:
        spread = np.array(STARTS)[:, None]
        starts = np.where(self.unit, spread, 0.1 / (1 - spread))
        if not self.unit.all():  # factors have no natural scale: begin where others ended, too
            own = discount_class(self.form.symbol)().parameters
            starts = np.concatenate([starts, [[float(own[name]) for name in self.form.free]]])
        return self.unbounded(starts)


def intervals(
    problem: Problem, found: Maximum, pulls: Array | None, level: float
) -> tuple[dict[str, Interval | None], frozenset[str], tuple[str, ...]]:
    """Wald intervals on the unbounded scale, what is undetermined, and in sentences what the data leave open.

    With the pull of each participant on each parameter, their sandwich in place of the expected information.
    """
    names, values = problem.form.free, problem.natural(found.at)[0]
    known, together, spread = _identified(found)
    bound = np.abs(found.at[0]) > FAR - 1
    undetermined = {*np.flatnonzero(_idle(found)).tolist(), *(k for group in together for k in group)}
    sentences = [f"{names[k]} went to its bound, {values[k]:.3g}." for k in np.flatnonzero(bound)]
    sentences += [f"{names[k]} has no effect on this screen: any value fits." for k in np.flatnonzero(_idle(found))]
    sentences += [
        f"{', '.join(names[k] for k in group)} are known only together: other values fit as well." for group in together
    ]
    width = NormalDist().inv_cdf((1 + level) / 2)
    if pulls is not None and len(pulls) > 1:
        from scipy.special import stdtrit

        people = len(pulls)
        spread = spread @ (pulls.T @ pulls * people / (people - 1)) @ spread
        width = float(stdtrit(people - 1, (1 + level) / 2))
    half = width * np.sqrt(np.maximum(np.diag(spread), 0.0))
    low, high = problem.natural(np.stack([found.at[0] - half, found.at[0] + half])).tolist()
    out: dict[str, Interval | None] = dict.fromkeys(names)
    for k in known.tolist():
        if half[k] <= _ANYTHING:
            out[names[k]] = Interval(low[k], high[k])
        elif abs(found.at[0, k]) > _NEAR:
            sentences.append(f"{names[k]} is near its bound, {values[k]:.3g}: a bootstrap tells how near.")
        else:
            sentences.append(f"{names[k]} may be almost anything.")
    return out, frozenset(names[k] for k in undetermined), tuple(sentences)


def _idle(found: Maximum) -> NDArray[np.bool_]:
    """Parameters that no outcome depends on."""
    sizes = np.sqrt(np.einsum("kk->k", found.information[0]))
    return np.asarray((np.abs(found.at[0]) <= FAR - 1) & (sizes <= 1e-8 * max(sizes.max(initial=0.0), 1e-300)))


def _identified(found: Maximum) -> tuple[NDArray[np.int64], list[list[int]], Array]:
    """Which parameters the data pin down, which only together, and the inverse of the information on what they do."""
    information = found.information[0]
    spread = np.zeros_like(information)
    rest = np.flatnonzero(~(_idle(found) | (np.abs(found.at[0]) > FAR - 1)))
    sizes = np.sqrt(np.diag(information)[rest])
    strength, directions = np.linalg.eigh(information[rest][:, rest] / np.outer(sizes, sizes))
    weak = strength < _TOO_WEAK
    groups = [rest[np.abs(direction) > _TAKES_PART].tolist() for direction in directions.T[weak]]
    strong = directions[:, ~weak] / np.sqrt(strength[~weak])
    spread[np.ix_(rest, rest)] = strong @ strong.T / np.outer(sizes, sizes)
    unknown = {k for group in groups for k in group}
    return np.array([k for k in rest.tolist() if k not in unknown], dtype=np.int64), groups, spread


def noise_of(people: int | None, without: str) -> str:
    """What intervals are of, by the participants known."""
    if people is None or people < 2:
        return without
    few = "; so few that they run short" if people < 10 else ""
    return f"by participant, {people} of them, approximately{few}"


def share_of_one(level: float) -> float:
    """A level of confidence."""
    level = number("level", level, above=0, at_most=1)
    if level == 1:
        raise ParameterError("level must be below 1: nothing is certain.")
    return level


def _pulls(found: Maximum, seen: Examination) -> Array | None:
    """What each participant's screens, as far as they are unlike the model, do to each parameter."""
    if seen.by_participant is None:
        return None
    counts, screens = seen.by_participant
    size = len(screens)
    own = Binomial(counts.reshape(size, -1).astype(float), np.repeat(screens[:, None], seen.counts.size, axis=1))
    pulls: Array = own.slopes(np.repeat(found.chances, size, axis=0), np.arange(size))[0] @ found.slopes[0]
    return pulls


def counted_grid(seen: Examination, grid: Grid | None) -> Grid:
    """The grid to fit on, of counts alone."""
    if not isinstance(seen, Examination):
        raise ParameterError("likelihood needs counts: give an Examination, not frequencies.")
    if not seen.counts.any():
        raise DataError(f"{seen.name}: nobody looked at anything: there is nothing to fit.")
    return matching_grid(grid, seen.frequencies)


def _flat(table: Array | NDArray[np.int64]) -> Array:
    return np.asarray(table, dtype=np.float64).reshape(-1)
