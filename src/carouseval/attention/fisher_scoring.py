"""Maximum likelihood for many problems at once: Fisher scoring, damped where a full step would not help.

A model gives the probabilities of outcomes from parameters on an unbounded scale; data say how often each came about.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from carouseval.metrics.grid import Array

_STEP = 1e-5  # of the central differences, on the unbounded scale
_LARGEST_MOVE = 2.0
_MOST_ROUNDS = 200
_GAIN = 1e-9  # a step that promises less is not worth taking

Probabilities = Callable[[Array], Array]
"""From parameters (sets, parameters) to probabilities of outcomes (sets, outcomes)."""


class Data(Protocol):
    """Counts of outcomes for several problems, (problems, outcomes)."""

    def value(self, chances: Array, of: NDArray[np.int64]) -> Array:
        """The log-likelihood of problems ``of``; not finite where the chances cannot be."""
        ...

    def slopes(self, chances: Array, of: NDArray[np.int64]) -> tuple[Array, Array]:
        """Its derivative by each chance, and the expected curvature."""
        ...


@dataclass(frozen=True, eq=False)
class Binomial:
    """Screens on which a cell was examined, out of how many; cells with no screen at all say nothing."""

    counts: Array
    screens: Array

    def value(self, chances: Array, of: NDArray[np.int64]) -> Array:
        seen, unseen = self.counts[of], self.screens[of] - self.counts[of]
        with np.errstate(all="ignore"):
            parts = np.where(seen > 0, seen * np.log(chances), 0.0) + np.where(
                unseen > 0, unseen * np.log1p(-chances), 0.0
            )
        possible = ((chances >= 0) & (chances <= 1)).all(axis=1)
        return np.where(possible, parts.sum(axis=1), -np.inf)

    def slopes(self, chances: Array, of: NDArray[np.int64]) -> tuple[Array, Array]:
        spread = np.maximum(chances * (1 - chances), 1e-15)
        return (self.counts[of] - self.screens[of] * chances) / spread, self.screens[of] / spread


@dataclass(frozen=True, eq=False)
class Outcomes:
    """How often each outcome came about, of those that did; the information is that of their scores."""

    counts: Array

    def value(self, chances: Array, of: NDArray[np.int64]) -> Array:
        with np.errstate(all="ignore"):
            return np.asarray((self.counts[of] * np.log(chances)).sum(axis=1))

    def slopes(self, chances: Array, of: NDArray[np.int64]) -> tuple[Array, Array]:
        safe = np.maximum(chances, 1e-150)
        return self.counts[of] / safe, self.counts[of] / safe**2


@dataclass(frozen=True, eq=False)
class Maximum:
    """A point of each problem, on the unbounded scale, and what surrounds it; in the end, the best found."""

    at: Array  # (problems, parameters)
    value: Array  # (problems,)
    chances: Array  # (problems, outcomes)
    slopes: Array  # of the chances, (problems, outcomes, parameters)
    gradient: Array  # (problems, parameters)
    information: Array  # (problems, parameters, parameters)
    converged: NDArray[np.bool_]

    def only(self, problems: NDArray[Any]) -> "Maximum":
        """Of some problems."""
        return Maximum(*(getattr(self, name)[problems] for name in _PARTS))

    @classmethod
    def concatenate(cls, parts: Sequence["Maximum"]) -> "Maximum":
        """The problems of all parts, in their order."""
        return parts[0] if len(parts) == 1 else cls(*(np.concatenate([getattr(p, n) for p in parts]) for n in _PARTS))

    def replace(self, problems: NDArray[np.int64], better: "Maximum") -> None:
        """Some problems by better points."""
        for name in _PARTS:
            getattr(self, name)[problems] = getattr(better, name)


_PARTS = tuple(f.name for f in fields(Maximum))


def maximise(probabilities: Probabilities, data: Data, start: Array, low: Array, high: Array) -> Maximum:
    """Climb from ``start`` (problems, parameters), within the bounds of each parameter."""
    every = np.arange(len(start))
    here = _look(probabilities, data, np.clip(start, low, high), every)
    damping, todo = np.full(len(start), 1e-3), every
    for _ in range(_MOST_ROUNDS):
        now = here if len(todo) == len(every) else here.only(todo)
        trial = np.clip(now.at + _step(now, damping[todo], low, high), low, high)
        promised = ((trial - now.at) * now.gradient).sum(axis=1)
        there = _look(probabilities, data, trial, todo)
        better = there.value >= now.value
        # a step cut short may lead down: then damping turns it towards the gradient
        enough = np.isfinite(now.value) & (promised >= 0) & (promised < _GAIN + 1e-14 * np.abs(now.value))
        here.replace(todo[better], there.only(better))
        here.converged[todo] = enough
        damping[todo] *= np.where(better, 0.1, 10.0)
        todo = every[~here.converged & (damping < 1e12)]
        if not len(todo):
            break
    return here


def _step(here: Maximum, damping: Array, low: Array, high: Array) -> Array:
    """Fisher's step, shortened. Parameters that nothing depends on, or that press against a bound, stay."""
    own = np.einsum("bkk->bk", here.information)
    idle = own <= 1e-12 * own.max(axis=1, keepdims=True, initial=1e-300)
    pressed = ((here.at >= high) & (here.gradient > 0)) | ((here.at <= low) & (here.gradient < 0))
    free = ~(idle | pressed)
    ridge = np.where(free, own * (damping[:, None] + 1e-12), 1.0)
    system = here.information * (free[:, :, None] & free[:, None, :]) + ridge[:, :, None] * np.eye(own.shape[1])
    step = np.linalg.solve(system, np.where(free, here.gradient, 0.0)[:, :, None])[:, :, 0]
    # each parameter by itself: one that hardly matters must not hold up the others
    return np.clip(step, -_LARGEST_MOVE, _LARGEST_MOVE)


def _look(probabilities: Probabilities, data: Data, at: Array, of: NDArray[np.int64]) -> Maximum:
    """The log-likelihood and its derivatives, by central differences of the chances, in one call of the model."""
    problems, size = at.shape
    moved = _STEP * np.concatenate([np.zeros((1, size)), np.eye(size), -np.eye(size)])
    around = probabilities((at[:, None] + moved).reshape(-1, size)).reshape(problems, 2 * size + 1, -1)
    defined = np.asarray(np.isfinite(around).all(axis=(1, 2)))
    if not defined.all():  # where a formula is undefined there are no chances, and nowhere to go
        around = np.where(defined[:, None, None], around, 2.0)
    chances = around[:, 0].copy()
    slopes = ((around[:, 1 : size + 1] - around[:, size + 1 :]) / (2 * _STEP)).transpose(0, 2, 1)
    value = data.value(chances, of)
    pull, bend = data.slopes(chances, of)
    gradient = (pull[:, None] @ slopes)[:, 0]
    information = slopes.transpose(0, 2, 1) @ (slopes * bend[:, :, None])
    return Maximum(at, value, chances, slopes, gradient, information, np.zeros(len(at), bool))
