"""Confidence intervals of parameters fitted by likelihood, and which parameters the data identify."""

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from carouseval.attention.bootstrap import CELLS_ONLY, Interval
from carouseval.attention.fisher_scoring import Estimate
from carouseval.attention.likelihood_problem import BOUND, LikelihoodProblem
from carouseval.attention.overdispersion import variance_inflation
from carouseval.errors import ParameterError
from carouseval.messages import setting
from carouseval.metrics.grid import Array, IntArray
from carouseval.validation import require_float

_NEAR_BOUND = 4.0  # on the unbounded scale: a share within 2% of 0 or 1
_MAX_HALF_WIDTH = 8.0  # of an interval on the unbounded scale: odds off by a factor of 3,000
_MIN_EIGENVALUE = 1e-9  # of the information scaled to a diagonal of 1: a direction without effect
_MIN_LINK = 1e-6  # of two parameters in directions without effect; less is rounding
_MAX_ERROR_AT_BOUND = 2.0  # standard error on the unbounded scale if all else were known
_FEW_PARTICIPANTS = 5


@dataclass(frozen=True)
class Uncertainty:
    """Intervals of parameters, which of them are not identified, and sentences about both.

    ``clustering`` is the cluster-robust variance over the model-based one, NaN without participants.
    """

    intervals: dict[str, Interval | None]
    not_identified: frozenset[str]
    limitations: tuple[str, ...]
    interval_warnings: tuple[str, ...]
    clustering: float


def wald_intervals(
    problem: LikelihoodProblem,
    estimate: Estimate,
    participant_scores: Array | None,
    ci: float,
    unclustered: tuple[str, ...] = (),
    dispersion: float = math.nan,
    degrees: int = 0,
) -> Uncertainty:
    """Wald intervals on the unbounded scale.

    With the score of each participant (the gradient of their log-likelihood, by parameter) standard errors are
    cluster-robust, except for the parameters ``unclustered``, for which scores by participant are not known. Without,
    variances are multiplied by the residual ``dispersion``, estimated with ``degrees`` of freedom, if it is above 1.
    """
    names, values = problem.form.free, problem.natural(estimate.point)[0]
    identified, joint, covariance = _identified(problem, estimate)
    idle, negligible = problem.without_effect(estimate)
    bound = _at_bound(estimate) & ~idle & ~negligible
    degrees_of_freedom, clustering = math.inf, math.nan
    participants = 0 if participant_scores is None else len(participant_scores)
    if participant_scores is not None and participants > 1:
        model_based, variance = np.isin(names, unclustered), np.diag(covariance).copy()
        scatter = participant_scores.T @ participant_scores * participants / (participants - 1)
        clustering = variance_inflation(covariance, estimate.information[0], scatter)
        covariance = covariance @ scatter @ covariance
        covariance[model_based, model_based] = variance[model_based]
        degrees_of_freedom = participants - 1
    elif dispersion > 1:
        covariance = covariance * dispersion
        degrees_of_freedom = degrees
    half = _quantile(ci, degrees_of_freedom) * np.sqrt(np.maximum(np.diag(covariance), 0.0))
    low, high = problem.natural(np.stack([estimate.point[0] - half, estimate.point[0] + half])).tolist()
    intervals: dict[str, Interval | None] = dict.fromkeys(names)
    warnings = []
    for k in identified.tolist():
        if half[k] <= _MAX_HALF_WIDTH:
            intervals[names[k]] = Interval(low[k], high[k])
        elif 1 < participants < _FEW_PARTICIPANTS:
            warnings.append(f"{names[k]}: {participants} participants are too few for an interval.")
        elif abs(estimate.point[0, k]) > _NEAR_BOUND:
            warnings.append(f"{names[k]} is near its bound, {values[k]:.3g}, where Wald intervals are not valid.")
        else:
            warnings.append(f"{names[k]} is only weakly identified: its interval covers nearly the whole range.")
    not_identified = {*np.flatnonzero(idle | negligible).tolist(), *(k for group in joint for k in group)}
    reached = {True: "reached", False: "is near"}
    limitations = [
        f"{names[k]} {reached[bool(abs(estimate.point[0, k]) > BOUND - 1)]} its bound, {values[k]:.3g}."
        for k in np.flatnonzero(bound)
    ]
    limitations += [f"{names[k]} is not identified: it has no effect on this screen." for k in np.flatnonzero(idle)] + [
        f"{names[k]} is not identified: it has almost no effect at these values of the other parameters."
        for k in np.flatnonzero(negligible)
    ]
    limitations += [
        f"{', '.join(names[k] for k in group)} are not identified separately: other combinations fit equally well."
        for group in joint
    ]
    unidentified = frozenset(names[k] for k in not_identified)
    return Uncertainty(intervals, unidentified, tuple(limitations), tuple(warnings), clustering)


def _quantile(ci: float, degrees: float) -> float:
    """The half width of an interval in standard errors: Student's t, or normal with unlimited degrees of freedom."""
    if degrees == math.inf:
        return NormalDist().inv_cdf((1 + ci) / 2)
    from scipy.special import stdtrit

    return float(stdtrit(degrees, (1 + ci) / 2))


def _identified(problem: LikelihoodProblem, estimate: Estimate) -> tuple[IntArray, list[list[int]], Array]:
    """Parameters that are identified, groups that are only jointly so, and the covariance of the estimate."""
    information = estimate.information[0]
    covariance = np.zeros_like(information)
    idle, negligible = problem.without_effect(estimate)
    rest = np.flatnonzero(~(idle | negligible | _at_bound(estimate)))
    scale = np.sqrt(np.diag(information)[rest])
    eigenvalues, directions = np.linalg.eigh(information[rest][:, rest] / np.outer(scale, scale))
    flat = eigenvalues < _MIN_EIGENVALUE
    root = directions[:, ~flat] / np.sqrt(eigenvalues[~flat])
    covariance[np.ix_(rest, rest)] = root @ root.T / np.outer(scale, scale)
    groups = [rest[group].tolist() for group in _linked_groups(directions[:, flat])]
    joint = {k for group in groups for k in group}
    return np.array([k for k in rest.tolist() if k not in joint], dtype=np.int64), groups, covariance


def _at_bound(estimate: Estimate) -> NDArray[np.bool_]:
    """Parameters at a bound, or too near to tell how near: kept fixed, or they would inflate the errors of others."""
    distance, information = np.abs(estimate.point[0]), np.einsum("kk->k", estimate.information[0])
    uncertain = (distance > _NEAR_BOUND) & (information < 1 / _MAX_ERROR_AT_BOUND**2)
    return np.asarray((distance > BOUND - 1) | uncertain)


def _linked_groups(directions: Array) -> list[IntArray]:
    """Groups of parameters linked by directions without effect, (parameters, directions), whose basis is arbitrary."""
    linked = np.abs(directions @ directions.T) > _MIN_LINK
    groups: list[IntArray] = []
    remaining = set(np.flatnonzero(linked.any(axis=1)).tolist())
    while remaining:
        group = linked[min(remaining)]
        while (wider := linked[group].any(axis=0)).sum() > group.sum():
            group = wider
        groups.append(np.flatnonzero(group))
        remaining -= set(groups[-1].tolist())
    return groups


def interval_method(participants: int | None, otherwise: str) -> str:
    """How intervals were computed: clustered by participant where there are at least two, or ``otherwise``."""
    if participants is None or participants < 2:
        return otherwise
    few = "; too narrow with so few" if participants < 10 else ""
    return f"clustered by participant ({participants} participants), approximate{few}"


def cells_method(dispersion: float) -> str:
    """How intervals were computed from counts of cells alone, with this residual dispersion."""
    if not dispersion > 1:
        return CELLS_ONLY
    noise = f"binomial noise times {math.sqrt(dispersion):.2f} (residual dispersion {dispersion:.2f})"
    return f"{noise}, still too narrow if screens or cells are correlated"


def confidence_level(ci: float) -> float:
    """A confidence level, checked."""
    ci = require_float("ci", ci, above=0, at_most=1)
    if ci == 1:
        raise ParameterError(f"{setting('ci')} must be below 1, found 1.")
    return ci
