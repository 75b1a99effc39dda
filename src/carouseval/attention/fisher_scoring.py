"""Maximum likelihood for many problems at once: Fisher scoring, damped where a full step does not help.

A model gives the probabilities of outcomes from parameters on an unbounded scale; data count the outcomes.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from carouseval.metrics.grid import Array, IntArray

_DIFFERENCE = 1e-5  # step of the finite differences, on the unbounded scale
_MAX_STEP = 2.0
_MAX_ITERATIONS = 200
_MIN_GAIN, _ROUGH_GAIN = 1e-9, 1e-2  # in log-likelihood: converged if a step promises less

Model: TypeAlias = Callable[[Array], Array]
"""From parameters (points, parameters) to probabilities of outcomes (points, outcomes)."""


class CountData(Protocol):
    """Counts of outcomes for several problems, (problems, outcomes)."""

    def log_likelihood(self, probabilities: Array, problems: IntArray) -> Array:
        """The log-likelihood of some of the problems; not finite where the probabilities are impossible."""
        ...

    def derivatives(self, probabilities: Array, problems: IntArray) -> tuple[Array, Array]:
        """The derivative of the log-likelihood by each probability, and the expected negative second derivative."""
        ...


@dataclass(frozen=True, eq=False)
class BinomialCounts:
    """Screens on which a cell was examined, out of a number of screens, which may be 0."""

    counts: Array
    screens: Array

    def log_likelihood(self, probabilities: Array, problems: IntArray) -> Array:
        examined, skipped = self.counts[problems], self.screens[problems] - self.counts[problems]
        with np.errstate(all="ignore"):
            parts = np.where(examined > 0, examined * np.log(probabilities), 0.0) + np.where(
                skipped > 0, skipped * np.log1p(-probabilities), 0.0
            )
        possible = ((probabilities >= 0) & (probabilities <= 1)).all(axis=1)
        return np.where(possible, parts.sum(axis=1), -np.inf)

    def derivatives(self, probabilities: Array, problems: IntArray) -> tuple[Array, Array]:
        counts, screens = self.counts[problems], self.screens[problems]
        variance = np.maximum(probabilities * (1 - probabilities), 1e-15)
        return (counts - screens * probabilities) / variance, screens / variance


@dataclass(frozen=True, eq=False)
class MultinomialCounts:
    """Counts of those outcomes that occurred; the information is estimated from their scores."""

    counts: Array

    def log_likelihood(self, probabilities: Array, problems: IntArray) -> Array:
        with np.errstate(all="ignore"):
            return np.asarray((self.counts[problems] * np.log(probabilities)).sum(axis=1))

    def derivatives(self, probabilities: Array, problems: IntArray) -> tuple[Array, Array]:
        positive = np.maximum(probabilities, 1e-150)
        return self.counts[problems] / positive, self.counts[problems] / positive**2


@dataclass(frozen=True, eq=False)
class Estimate:
    """A point for each problem, on the unbounded scale, with its likelihood and derivatives; finally the maximum."""

    point: Array  # (problems, parameters)
    log_likelihood: Array  # (problems,)
    probabilities: Array  # (problems, outcomes)
    jacobian: Array  # of the probabilities, (problems, outcomes, parameters)
    gradient: Array  # of the log-likelihood, (problems, parameters)
    information: Array  # Fisher's, (problems, parameters, parameters)
    converged: NDArray[np.bool_]  # (problems,)

    def select(self, problems: NDArray[Any]) -> "Estimate":
        """Some of the problems."""
        return Estimate(*(getattr(self, name)[problems] for name in _FIELDS))

    @classmethod
    def concatenate(cls, parts: Sequence["Estimate"]) -> "Estimate":
        """The problems of all parts, in order."""
        if len(parts) == 1:
            return parts[0]
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in _FIELDS))

    def update(self, problems: IntArray, better: "Estimate") -> None:
        """Replace the points of some problems."""
        for name in _FIELDS:
            getattr(self, name)[problems] = getattr(better, name)


_FIELDS = tuple(f.name for f in fields(Estimate))


def maximise(model: Model, data: CountData, start: Array, low: Array, high: Array, *, rough: bool = False) -> Estimate:
    """Maximise the likelihood from ``start`` (problems, parameters), within the bounds of each parameter.

    A ``rough`` maximum, close enough to start another search from, takes about half the time.
    """
    every = np.arange(len(start))
    min_gain = _ROUGH_GAIN if rough else _MIN_GAIN
    estimate = _evaluate(model, data, np.clip(start, low, high), every, central=not rough)
    damping, active = np.full(len(start), 1e-3), every
    for _ in range(_MAX_ITERATIONS):
        current = estimate if len(active) == len(every) else estimate.select(active)
        points = np.clip(current.point + _scoring_step(current, damping[active], low, high), low, high)
        predicted = ((points - current.point) * current.gradient).sum(axis=1)
        proposal = _evaluate(model, data, points, active, central=not rough)
        better = proposal.log_likelihood >= current.log_likelihood
        # a step cut at a bound may lead down; damping then turns it towards the gradient
        tolerance = min_gain + 1e-14 * np.abs(current.log_likelihood)
        converged = np.isfinite(current.log_likelihood) & (predicted >= 0) & (predicted < tolerance)
        estimate.update(active[better], proposal.select(better))
        estimate.converged[active] = converged
        damping[active] *= np.where(better, 0.1, 10.0)
        active = every[~estimate.converged & (damping < 1e12)]
        if not len(active):
            break
    return estimate


def _scoring_step(current: Estimate, damping: Array, low: Array, high: Array) -> Array:
    """A damped step of Fisher scoring; parameters without effect, or pressed against a bound, stay."""
    diagonal = np.einsum("bkk->bk", current.information)
    idle = diagonal <= 1e-12 * diagonal.max(axis=1, keepdims=True, initial=1e-300)
    at_high, at_low = current.point >= high, current.point <= low
    pressed = (at_high & (current.gradient > 0)) | (at_low & (current.gradient < 0))
    free = ~(idle | pressed)
    ridge = np.where(free, diagonal * (damping[:, None] + 1e-12), 1.0)
    system = current.information * (free[:, :, None] & free[:, None, :]) + ridge[:, :, None] * np.eye(len(low))
    step = np.linalg.solve(system, np.where(free, current.gradient, 0.0)[:, :, None])[:, :, 0]
    # each parameter is cut separately, so that one with little effect does not slow the others down
    return np.clip(step, -_MAX_STEP, _MAX_STEP)


def _evaluate(model: Model, data: CountData, points: Array, problems: IntArray, central: bool) -> Estimate:
    """The log-likelihood and its derivatives, by central or forward differences in one call of the model."""
    count, size = points.shape
    unit = np.eye(size)
    moves = _DIFFERENCE * np.concatenate([np.zeros((1, size)), unit, *([-unit] if central else [])])
    neighbours = model((points[:, None] + moves).reshape(-1, size)).reshape(count, len(moves), -1)
    finite = np.isfinite(neighbours)
    if not finite.all():  # an impossible probability: the log-likelihood is -inf
        neighbours = np.where(finite.all(axis=(1, 2), keepdims=True), neighbours, 2.0)
    probabilities = neighbours[:, 0].copy()
    below, width = (neighbours[:, size + 1 :], 2 * _DIFFERENCE) if central else (neighbours[:, :1], _DIFFERENCE)
    jacobian = ((neighbours[:, 1 : size + 1] - below) / width).transpose(0, 2, 1)
    log_likelihood = data.log_likelihood(probabilities, problems)
    slope, curvature = data.derivatives(probabilities, problems)
    gradient = (slope[:, None] @ jacobian)[:, 0]
    information = jacobian.transpose(0, 2, 1) @ (jacobian * curvature[:, :, None])
    return Estimate(points, log_likelihood, probabilities, jacobian, gradient, information, np.zeros(len(points), bool))
