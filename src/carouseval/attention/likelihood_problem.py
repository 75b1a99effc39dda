"""A form on a grid as a maximum-likelihood problem: its parameters on an unbounded scale, and where searches start."""

import numpy as np
from numpy.typing import NDArray

from carouseval.attention.fisher_scoring import BinomialCounts, Estimate, maximise
from carouseval.attention.parameters import discount_class
from carouseval.errors import DataError
from carouseval.metrics.browsing.forms import Form
from carouseval.metrics.discount_parameters import defaults
from carouseval.metrics.grid import Array, Grid

BOUND = 16.0  # on the unbounded scale: a share of 1e-7, or 1 - 1e-7
MAX_START = 3.0  # searches that start at given values start at most this far out: at a bound the gradient is 0
_NEGLIGIBLE = 1e-8  # relative to the parameter with the largest effect
_BATCH_SIZE = 2**18  # probabilities, 2 MB of them
STARTS = (0.8, 0.5, 0.95, 0.2)  # of shares; factors start at 0.1 / (1 - share): 0.5, 0.2, 2, 0.125


class LikelihoodProblem:
    """A form on a grid, its parameters on an unbounded scale: log-odds of shares, logarithms of factors."""

    def __init__(self, form: Form, grid: Grid) -> None:
        self.form: Form = form
        self.grid: Grid = grid
        self.is_share: NDArray[np.bool_] = np.array(form.is_share)

    def natural(self, points: Array) -> Array:
        """Points of the unbounded scale as parameters of the formula."""
        with np.errstate(over="ignore"):
            return np.where(self.is_share, 1 / (1 + np.exp(-points)), np.exp(points))

    def unbounded(self, values: Array) -> Array:
        """Parameters of the formula as points of the unbounded scale."""
        share = np.clip(values, 1e-12, 1 - 1e-12)
        logs = np.where(self.is_share, np.log(share / (1 - share)), np.log(np.maximum(values, 1e-12)))
        return np.clip(logs, -BOUND, BOUND)

    def probabilities(self, points: Array) -> Array:
        """Probabilities of outcomes, (points, outcomes)."""
        return self.form.weights(self.natural(points), self.grid).reshape(len(points), -1)

    def without_effect(self, estimate: Estimate) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Of one problem, parameters without any effect, and those with a negligible one at the estimate."""
        sizes = np.sqrt(np.einsum("kk->k", estimate.information[0]))
        inside = np.abs(estimate.point[0]) <= BOUND - 1
        negligible = inside & (sizes <= _NEGLIGIBLE * max(sizes.max(initial=0.0), 1e-300))
        idle = np.zeros_like(negligible)
        for k in np.flatnonzero(negligible).tolist():
            moved = np.repeat(estimate.point[:1], 2, axis=0)
            moved[:, k] = -2.0, 2.0
            idle[k] = np.allclose(self.probabilities(moved), estimate.probabilities[0], rtol=1e-9, atol=1e-15)
        return idle, negligible & ~idle

    def parameters(self, estimate: Estimate) -> dict[str, float]:
        """The fitted parameters of one problem; those without any effect keep the default of the discount."""
        values = dict(zip(self.form.free, self.natural(estimate.point)[0].tolist(), strict=True))
        default = defaults(discount_class(self.form.symbol))
        idle, _ = self.without_effect(estimate)
        return {name: default.get(name, values[name]) if idle[k] else values[name] for k, name in enumerate(values)}

    def fit(
        self,
        counts: Array,
        screens: Array,
        starts: Array | None = None,
        optima: dict[Form, Array] | None = None,
    ) -> Estimate:
        """Fit problems (problems, cells), each from several starts (problems, starts, parameters); the best is kept.

        ``optima`` are those of other forms on the same problems, (problems, parameters); this one is added.
        """
        optima = {} if optima is None else optima
        if starts is None:
            starts = self._starts(counts, screens, optima)
        estimate = self._maximise(counts, screens, starts)
        optima[self.form] = estimate.point
        if not np.isfinite(estimate.log_likelihood).any():
            raise DataError(
                f"{self.form.name}: its weights are not probabilities near any start of the search; "
                "fit it by spearman, pearson or mse."
            )
        return estimate

    def _maximise(self, counts: Array, screens: Array, starts: Array, *, rough: bool = False) -> Estimate:
        """In batches, so that memory is bounded and an iteration fits into the processor's cache."""
        evaluations = starts.shape[1] * (2 * starts.shape[2] + 1)
        step = max(1, _BATCH_SIZE // (evaluations * counts.shape[1]))
        batches = [slice(begin, begin + step) for begin in range(0, len(counts), step)]
        return Estimate.concatenate(
            [self._maximise_batch(counts[batch], screens[batch], starts[batch], rough) for batch in batches]
        )

    def _maximise_batch(self, counts: Array, screens: Array, starts: Array, rough: bool) -> Estimate:
        many = starts.shape[1]
        data = BinomialCounts(np.repeat(counts, many, axis=0), np.repeat(screens, many, axis=0))
        bound = np.full(len(self.form.free), BOUND)
        estimate = maximise(self.probabilities, data, starts.reshape(-1, len(bound)), -bound, bound, rough=True)
        if not rough:
            estimate = maximise(self.probabilities, data, estimate.point, -bound, bound)
        values = np.nan_to_num(estimate.log_likelihood, nan=-np.inf).reshape(-1, many)
        return estimate.select(values.argmax(axis=1) + many * np.arange(len(counts)))

    def _starts(self, counts: Array, screens: Array, optima: dict[Form, Array]) -> Array:
        """Default starts and the optima of smaller forms, so that a form is at least as likely as those it contains."""
        starts = [np.repeat(self._default_starts[None], len(counts), axis=0)]
        for form in self.form.contained:
            smaller = LikelihoodProblem(form, self.grid)
            if smaller.form not in optima:
                smaller_starts = smaller._starts(counts, screens, optima)
                optima[smaller.form] = smaller._maximise(counts, screens, smaller_starts, rough=True).point
            values = smaller.natural(optima[smaller.form])
            starts += [
                self.unbounded(self.form.extend(smaller.form, values, minimum))[:, None]
                for minimum in (1e-7, 0.3)  # of the parameters that the smaller form lacks
            ]
        return np.concatenate(starts, axis=1)

    @property
    def _default_starts(self) -> Array:
        shares = np.array(STARTS)[:, None]
        starts = np.where(self.is_share, shares, 0.1 / (1 - shares))
        if not self.is_share.all():  # factors have no natural scale: start at the default values, too
            default = defaults(discount_class(self.form.symbol))
            starts = np.concatenate([starts, [[default.get(name, 0.5) for name in self.form.free]]])
        return self.unbounded(starts)
