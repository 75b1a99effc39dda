"""How far parameters fitted by likelihood can be off, and what data leave open about them."""

from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from carouseval.attention.bootstrap import Interval
from carouseval.attention.maximise import Maximum
from carouseval.attention.problem import FAR, Problem, idle
from carouseval.errors import ParameterError
from carouseval.metric.checks import number
from carouseval.metric.grid import Array

_NEAR = 4.0  # of a share, within 2% of 0 or 1
_ANYTHING = 8.0  # half an interval on that scale: odds off by a factor of 3,000
_TOO_WEAK = 1e-9  # of the effects of parameters, each of length 1: a direction nothing depends on
_TAKES_PART = 1e-3  # of a parameter in such a direction; less is rounding


def intervals(
    problem: Problem, found: Maximum, pulls: Array | None, level: float
) -> tuple[dict[str, Interval | None], frozenset[str], tuple[str, ...]]:
    """Wald intervals on the unbounded scale, what is undetermined, and in sentences what the data leave open.

    With the pull of each participant on each parameter, their sandwich in place of the expected information.
    """
    names, values = problem.form.free, problem.natural(found.at)[0]
    known, together, spread = _identified(found)
    bound = np.abs(found.at[0]) > FAR - 1
    undetermined = {*np.flatnonzero(idle(found)).tolist(), *(k for group in together for k in group)}
    sentences = [f"{names[k]} went to its bound, {values[k]:.3g}." for k in np.flatnonzero(bound)]
    sentences += [f"{names[k]} has no effect on this screen: any value fits." for k in np.flatnonzero(idle(found))]
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
            sentences.append(f"{names[k]} is near its bound, {values[k]:.3g}: only a bootstrap can tell how near.")
        else:
            sentences.append(f"{names[k]} may be almost anything.")
    return out, frozenset(names[k] for k in undetermined), tuple(sentences)


def _identified(found: Maximum) -> tuple[NDArray[np.int64], list[list[int]], Array]:
    """Which parameters the data pin down, which only together, and the inverse of the information on what they do."""
    information = found.information[0]
    spread = np.zeros_like(information)
    rest = np.flatnonzero(~(idle(found) | (np.abs(found.at[0]) > FAR - 1)))
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
