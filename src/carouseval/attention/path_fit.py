"""Fitting d_scan to scan paths, which unlike counts tell how people moved from cell to cell."""

from typing import Any

import numpy as np

from carouseval.attention.fisher_scoring import Estimate, MultinomialCounts, maximise
from carouseval.attention.frequency_scores import scores_of
from carouseval.attention.intervals import confidence_level, interval_method, wald_intervals
from carouseval.attention.likelihood import LikelihoodFit
from carouseval.attention.likelihood_problem import BOUND, MAX_START, LikelihoodProblem
from carouseval.attention.parameters import as_form
from carouseval.attention.paths import Paths
from carouseval.errors import ParameterError
from carouseval.metrics.browsing.scan import MarkovScan, moves_on
from carouseval.metrics.discount_base import Discount, as_discount
from carouseval.metrics.grid import Array, IntArray


def fit_paths(paths: Paths, *, ci: float = 0.95) -> LikelihoodFit:
    """Fit d_scan to scan paths by maximum likelihood.

    Unlike counts of examined cells, scan paths tell a swipe back from a swipe forward and a jump from reading on.
    Intervals are clustered by participant where participants are known.

    Parameters
    ----------
    paths : Paths
        The scan paths.
    ci : float, default 0.95
        Confidence level of the intervals, between 0 and 1.

    Returns
    -------
    LikelihoodFit
        The fitted d_scan, its parameters with intervals, and what the data do not identify.

    Examples
    --------
    >>> import carouseval as cv
    >>> fixations = {"screen": [1, 1, 1, 2, 2], "row": [1, 1, 2, 1, 1], "col": [1, 2, 1, 1, 2]}
    >>> fit = cv.attention.fit_paths(cv.attention.paths_from_screens(fixations, cv.Grid(2, 3)))
    >>> fit.discount.symbol, round(fit.log_likelihood, 2)
    ('d_scan', -5.02)
    """
    if not isinstance(paths, Paths):
        raise ParameterError("fit_paths needs scan paths, such as paths_from_screens(table, grid) returns.")
    ci = confidence_level(ci)
    problem = PathProblem(paths)
    bound = np.full(len(problem.form.free), BOUND)
    default = problem.unbounded(np.array([list(MarkovScan().parameters.values())], dtype=np.float64))
    starts = np.clip(np.concatenate([default, np.full_like(default, -1.0)]), -MAX_START, MAX_START)
    data = MultinomialCounts(np.repeat(problem.counts[None], len(starts), axis=0))
    estimates = maximise(problem.probabilities, data, starts, -bound, bound)
    estimate = estimates.select(np.array([np.nan_to_num(estimates.log_likelihood, nan=-np.inf).argmax()]))
    values = problem.parameters(estimate)
    discount = problem.form.discount(list(values.values()))
    participants = None if paths.participant is None else int(paths.participant.max()) + 1
    uncertainty = wald_intervals(problem, estimate, problem.participant_scores(estimate), ci, unclustered=("e",))
    limitations, warnings = uncertainty.limitations, uncertainty.interval_warnings
    if paths.empty_screens:
        about_e = (
            f"The participants of the {paths.empty_screens} screens without any fixation are unknown: the interval of "
            "e treats screens as independent."
        )
    else:
        about_e = "Every screen has a fixation, so that e is 1; if some had none, give the number of all screens."
        limitations, warnings = (
            tuple(sentence for sentence in sentences if not sentence.startswith("e "))
            for sentences in (limitations, warnings)
        )
    return LikelihoodFit(
        form=problem.form,
        discount=discount,
        values=values,
        intervals=uncertainty.intervals,
        not_identified=uncertainty.not_identified,
        limitations=(*limitations, about_e),
        interval_warnings=warnings,
        interval_method=interval_method(
            participants, "screens treated as independent, too narrow if participants saw several"
        ),
        log_likelihood=float(estimate.log_likelihood[0]),
        saturated=problem.saturated,
        observations=int(problem.counts.sum()),
        cells=0,
        train=scores_of(discount.weights(paths.grid), paths.examination().frequencies),
        converged=bool(estimate.converged[0]),
    )


def path_log_likelihood(paths: Paths, discount: str | Discount) -> float:
    """Compute the log-likelihood of scan paths under d_scan.

    Parameters
    ----------
    paths : Paths
        The scan paths, such as held-out ones.
    discount : str or MarkovScan
        The d_scan, such as the ``discount`` of :func:`fit_paths`, or its name, such as ``"d_scan(lost=0.1)"``.

    Returns
    -------
    float
        The log-likelihood; -inf if a path is impossible.

    Examples
    --------
    >>> import carouseval as cv
    >>> fixations = {"screen": [1, 1, 2], "row": [1, 1, 1], "col": [1, 2, 1]}
    >>> paths = cv.attention.paths_from_screens(fixations, cv.Grid(2, 3))
    >>> round(cv.attention.path_log_likelihood(paths, "d_scan"), 2)
    -10.13
    """
    if not isinstance(paths, Paths):
        raise ParameterError(f"path_log_likelihood takes Paths, then the discount; found {type(paths).__name__} first.")
    discount = as_discount(discount)
    if not isinstance(discount, MarkovScan):
        raise ParameterError(f"scan paths have a likelihood under d_scan only, found {discount}.")
    problem = PathProblem(paths)
    parameters = {name: np.array([float(value)]) for name, value in discount.parameters.items()}
    data = MultinomialCounts(problem.counts[None])
    return float(data.log_likelihood(problem.move_probabilities(parameters), np.zeros(1, np.int64))[0])


class PathProblem(LikelihoodProblem):
    """The moves of scan paths as outcomes: between cells, away, from nowhere to the first cell, and empty screens.

    A move has the number tail * (cells + 1) + head; the head of leaving and the tail of starting is the number of
    cells.
    """

    def __init__(self, paths: Paths) -> None:
        super().__init__(as_form("d_scan"), paths.grid)
        self.paths: Paths = paths
        self.size: int = paths.grid.rows * paths.grid.cols
        size = self.size
        last = np.append(np.diff(paths.screen) != 0, True)
        first = np.append(True, last[:-1])
        head = np.where(last, size, np.append(paths.cell[1:], 0))
        moves = np.concatenate([paths.cell * (size + 1) + head, size * (size + 1) + paths.cell[first]])
        self.screen: IntArray = np.concatenate([paths.screen, paths.screen[first]])  # of each move
        kinds, kind, counts = np.unique(moves, return_inverse=True, return_counts=True)
        self.kinds: IntArray = kinds  # the numbers of all moves that occurred
        self.kind: IntArray = kind  # the place of each move among them
        empty = [paths.empty_screens] if paths.empty_screens else []
        self.counts: Array = np.append(counts, empty).astype(np.float64)

    def probabilities(self, points: Array) -> Array:
        return self.move_probabilities(dict(zip(self.form.free, self.natural(points).T, strict=True)))

    def move_probabilities(self, parameters: dict[str, Any]) -> Array:
        """Probabilities of each kind of move and, if there are any, of an empty screen, (sets, kinds)."""
        moves = moves_on(self.grid)
        rates = moves.chances(parameters)
        tail, head = np.divmod(self.kinds, self.size + 1)
        starts = tail == self.size
        leaves = ~starts & (head == self.size)
        stay = rates.lost / self.size  # a jump to the same cell is not a move: fixations there are one step
        origin = np.minimum(tail, self.size - 1)
        steps = rates.lost[:, origin] / self.size
        numbers = moves.tail * (self.size + 1) + moves.head
        place = np.minimum(np.searchsorted(self.kinds, numbers), len(self.kinds) - 1)
        occurs = self.kinds[place] == numbers
        for row, chances in zip(steps, rates.moves, strict=True):
            row += np.bincount(place[occurs], chances[occurs], minlength=len(self.kinds))
        steps = np.where(leaves, rates.leave[:, origin], steps) / (1 - stay[:, origin])
        steps = np.where(starts, rates.start[:, np.minimum(head, self.size - 1)], steps)
        empty = 1 - np.asarray(parameters["e"])[:, None]
        return np.concatenate([steps, empty], axis=1) if self.paths.empty_screens else steps

    @property
    def saturated(self) -> float:
        """The log-likelihood of the observed shares of moves."""
        tail = self.kinds // (self.size + 1)
        group = np.append(tail, self.size)[: len(self.counts)]  # an empty screen is an alternative to a start
        totals = np.bincount(group, self.counts)
        return float((self.counts * np.log(self.counts / totals[group])).sum())

    def participant_scores(self, estimate: Estimate) -> Array | None:
        """The gradient of each participant's log-likelihood at the estimate, (participants, parameters)."""
        if self.paths.participant is None:
            return None
        per_kind = estimate.jacobian[0] / np.maximum(estimate.probabilities[0], 1e-300)[:, None]
        scores = np.zeros((int(self.paths.participant.max()) + 1, per_kind.shape[1]))
        np.add.at(scores, self.paths.participant[self.screen], per_kind[self.kind])
        return scores
