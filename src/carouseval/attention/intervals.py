"""How far parameters fitted by likelihood can be off, and what data leave open about them."""

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from carouseval.attention.bootstrap import Interval
from carouseval.attention.fisher_scoring import Maximum
from carouseval.attention.likelihood_problem import FAR, Problem
from carouseval.errors import ParameterError
from carouseval.metrics.grid import Array
from carouseval.metrics.validation import require_float

_NEAR = 4.0  # of a share, within 2% of 0 or 1
_ANYTHING = 8.0  # half an interval on the unbounded scale: odds off by a factor of 3,000
_TOO_WEAK = 1e-9  # of the effects of parameters, each of length 1: a direction nothing depends on
_TAKES_PART = 1e-6  # of two parameters in such directions; less is rounding
_BLURRED = 2.0  # a standard error on the unbounded scale, were all else known
_FEW = 5  # participants


@dataclass(frozen=True)
class Trust:
    """Intervals, and in sentences what data leave open (parameters) and where intervals of this kind fail."""

    intervals: dict[str, Interval | None]
    undetermined: frozenset[str]
    open: tuple[str, ...]
    unsure: tuple[str, ...]


def intervals(
    problem: Problem, found: Maximum, pulls: Array | None, level: float, apart: tuple[str, ...] = ()
) -> Trust:
    """Wald intervals on the unbounded scale.

    With the pull of each participant on each parameter, by their sandwich in place of the information; but not of
    parameters ``apart``, of which it is not known who pulled.
    """
    names, values = problem.form.free, problem.natural(found.at)[0]
    known, together, spread = _identified(problem, found)
    idle, faint = problem.without_effect(found)
    bound = _at_bound(found) & ~idle & ~faint
    width = NormalDist().inv_cdf((1 + level) / 2)
    people = 0 if pulls is None else len(pulls)
    if pulls is not None and people > 1:
        from scipy.special import stdtrit

        alone = np.isin(names, apart)
        own = np.diag(spread).copy()
        spread = spread @ (pulls.T @ pulls * people / (people - 1)) @ spread
        spread[alone, alone] = own[alone]
        width = float(stdtrit(people - 1, (1 + level) / 2))
    half = width * np.sqrt(np.maximum(np.diag(spread), 0.0))
    low, high = problem.natural(np.stack([found.at[0] - half, found.at[0] + half])).tolist()
    out: dict[str, Interval | None] = dict.fromkeys(names)
    unsure = []
    for k in known.tolist():
        if half[k] <= _ANYTHING:
            out[names[k]] = Interval(low[k], high[k])
        elif 1 < people < _FEW:
            unsure.append(f"{names[k]}: {people} participants are too few for an interval.")
        elif abs(found.at[0, k]) > _NEAR:
            unsure.append(f"{names[k]} is near its bound, {values[k]:.3g}, where intervals of this kind fail.")
        else:
            unsure.append(f"{names[k]} may be almost anything.")
    undetermined = {*np.flatnonzero(idle | faint).tolist(), *(k for group in together for k in group)}
    reached = {True: "went to", False: "is near"}
    sentences = [
        f"{names[k]} {reached[bool(abs(found.at[0, k]) > FAR - 1)]} its bound, {values[k]:.3g}."
        for k in np.flatnonzero(bound)
    ]
    sentences += [f"{names[k]} has no effect on this screen: any value fits." for k in np.flatnonzero(idle)]
    sentences += [f"{names[k]} hardly matters beside the other values." for k in np.flatnonzero(faint)]
    sentences += [
        f"{', '.join(names[k] for k in group)} are known only together: other values fit as well." for group in together
    ]
    return Trust(out, frozenset(names[k] for k in undetermined), tuple(sentences), tuple(unsure))


def _identified(problem: Problem, found: Maximum) -> tuple[NDArray[np.int64], list[list[int]], Array]:
    """Which parameters the data pin down, which only together, and the inverse of the information on what they do."""
    information = found.information[0]
    spread = np.zeros_like(information)
    idle, faint = problem.without_effect(found)
    rest = np.flatnonzero(~(idle | faint | _at_bound(found)))
    sizes = np.sqrt(np.diag(information)[rest])
    strength, directions = np.linalg.eigh(information[rest][:, rest] / np.outer(sizes, sizes))
    weak = strength < _TOO_WEAK
    strong = directions[:, ~weak] / np.sqrt(strength[~weak])
    spread[np.ix_(rest, rest)] = strong @ strong.T / np.outer(sizes, sizes)
    groups = [rest[group].tolist() for group in _groups(directions[:, weak])]
    unknown = {k for group in groups for k in group}
    return np.array([k for k in rest.tolist() if k not in unknown], dtype=np.int64), groups, spread


def _at_bound(found: Maximum) -> NDArray[np.bool_]:
    """Parameters at a bound, or so near that data hardly tell how near: held there, or they would blur the others."""
    at, own = np.abs(found.at[0]), np.einsum("kk->k", found.information[0])
    return np.asarray((at > FAR - 1) | ((at > _NEAR) & (own < 1 / _BLURRED**2)))


def _groups(directions: Array) -> list[NDArray[np.int64]]:
    """Parameters that directions without effect link, (parameters, directions); a basis of them is arbitrary."""
    linked = np.abs(directions @ directions.T) > _TAKES_PART
    groups: list[NDArray[np.int64]] = []
    left = set(np.flatnonzero(linked.any(axis=1)).tolist())
    while left:
        group = linked[min(left)]
        while (wider := linked[group].any(axis=0)).sum() > group.sum():
            group = wider
        groups.append(np.flatnonzero(group))
        left -= set(groups[-1].tolist())
    return groups


def noise_of(people: int | None, without: str) -> str:
    """What intervals are of, by the participants known."""
    if people is None or people < 2:
        return without
    few = "; so few that they run short" if people < 10 else ""
    return f"by participant, {people} of them, approximately{few}"


def share_of_one(level: float) -> float:
    """A level of confidence."""
    level = require_float("level", level, above=0, at_most=1)
    if level == 1:
        raise ParameterError("level must be below 1: nothing is certain.")
    return level
