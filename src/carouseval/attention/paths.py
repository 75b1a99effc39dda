"""Scan paths, the cells that people fixated in order, and fitting d_scan to them.

Counts say which cells were examined; scan paths also say in which order, and so how people moved.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from carouseval.attention.examination import Examination
from carouseval.attention.fisher_scoring import Estimate, MultinomialCounts, maximise
from carouseval.attention.intervals import confidence_level, interval_method, wald_intervals
from carouseval.attention.likelihood import LikelihoodFit
from carouseval.attention.likelihood_problem import BOUND, MAX_START, LikelihoodProblem
from carouseval.attention.parameters import as_form
from carouseval.attention.rank_fit import scores_of
from carouseval.attention.screens import check_screens, open_fixations, screen_columns
from carouseval.errors import DataError, ParameterError
from carouseval.metrics.browsing.scan import MarkovScan, moves_on
from carouseval.metrics.discount_base import Discount, as_discount
from carouseval.metrics.grid import Array, Grid, IntArray
from carouseval.tables.table import RECORD, TableLike
from carouseval.validation import require_int


@dataclass(frozen=True, eq=False)
class Paths:
    """Scan paths: on every screen the cells that were fixated, in order.

    Consecutive fixations on one cell are one step of a path.

    Parameters
    ----------
    name : str
        What the data are called in tables and charts.
    grid : Grid
        The screen.
    screen : ndarray of int, shape (steps,)
        The screen of each step, numbered 0, 1, 2, ... in ascending order.
    cell : ndarray of int, shape (steps,)
        The cell of each step, counted row by row from 0; two consecutive steps of a screen differ.
    screens : int
        Number of all screens; the last ones may have no step.
    participant : ndarray of int, optional
        The participant of each screen that has steps, numbered 0, 1, 2, ... without a gap.

    See Also
    --------
    paths_from_screens : Scan paths from a table of fixations.

    Examples
    --------
    >>> import carouseval as cv
    >>> import numpy as np
    >>> paths = cv.attention.Paths("pilot", cv.Grid(2, 3), np.array([0, 0, 1]), np.array([0, 1, 0]), screens=2)
    >>> paths
    Paths('pilot', 3 steps on 2 screens of 2x3 cells)
    >>> paths.examination().counts
    array([[2, 1, 0],
           [0, 0, 0]])
    """

    name: str
    grid: Grid
    screen: IntArray
    cell: IntArray
    screens: int
    participant: IntArray | None = None

    def __post_init__(self) -> None:
        for name in ("screen", "cell", "participant"):
            if getattr(self, name) is not None:
                numbers = np.asarray(getattr(self, name))
                if numbers.ndim != 1 or (numbers.dtype.kind not in "iu" and numbers.size):
                    raise DataError(f"{self.name}: {name} must be a list of integers.")
                object.__setattr__(self, name, numbers.astype(np.int64))
        if not len(self.screen) or self.screen.shape != self.cell.shape:
            raise DataError(f"{self.name}: every step needs a screen and a cell, and there must be at least one step.")
        changes = np.diff(self.screen, prepend=-1)
        if not ((changes == 0) | (changes == 1)).all() or changes[0] != 1:
            raise DataError(f"{self.name}: screen must be numbered 0, 1, 2, ... in ascending order.")
        if self.cell.min() < 0 or self.cell.max() >= self.grid.rows * self.grid.cols:
            raise DataError(f"{self.name}: cell must be numbered row by row from 0 on the {self.grid} grid.")
        if ((self.cell[1:] == self.cell[:-1]) & (changes[1:] == 0)).any():
            raise DataError(f"{self.name}: consecutive fixations on one cell are one step; drop the repeats.")
        if require_int(f"{self.name}: screens", self.screens, 1) < self.screens_with_steps:
            raise DataError(
                f"{self.name}: screens is {self.screens}, but {self.screens_with_steps} screens have steps."
            )
        if self.participant is not None:
            if self.participant.shape != (self.screens_with_steps,):
                raise DataError(f"{self.name}: participant must have an entry for each screen with steps.")
            if not np.array_equal(np.unique(self.participant), np.arange(self.participant.max() + 1)):
                raise DataError(f"{self.name}: participant must be numbered 0, 1, 2, ... without a gap.")

    def __repr__(self) -> str:
        return f"Paths({self.name!r}, {len(self.cell)} steps on {self.screens} screens of {self.grid} cells)"

    @property
    def screens_with_steps(self) -> int:
        """Number of screens on which anything was fixated."""
        return int(self.screen[-1]) + 1

    @property
    def empty_screens(self) -> int:
        """Number of screens on which nothing was fixated."""
        return self.screens - self.screens_with_steps

    def examination(self) -> Examination:
        """Count the screens on which each cell was examined.

        Returns
        -------
        Examination
            The counts, by participant if participants are known and no screen is empty.
        """
        size = self.grid.rows * self.grid.cols
        pairs = np.unique(self.screen * size + self.cell)
        counts = np.bincount(pairs % size, minlength=size).reshape(self.grid.shape)
        rows = np.unique(pairs // size * self.grid.rows + pairs % size // self.grid.cols) % self.grid.rows
        participants = None if self.participant is None else int(self.participant.max()) + 1
        by_participant = None
        if self.participant is not None and not self.empty_screens:
            own = np.zeros((participants or 0, size), np.int64)
            np.add.at(own, (self.participant[pairs // size], pairs % size), 1)
            by_participant = own.reshape(-1, *self.grid.shape), np.bincount(self.participant)
        row_counts = np.bincount(rows, minlength=self.grid.rows)
        return Examination(self.name, counts, self.screens, row_counts, participants, by_participant)


def paths_from_screens(table: TableLike, grid: Grid, screens: int | None = None, name: str | None = None) -> Paths:
    """Read scan paths from a table with one line per fixation.

    Parameters
    ----------
    table : path or table
        A CSV or Parquet file, a data frame or a dict of columns: ``screen``, ``row`` and ``col``, counted from 1, and
        optionally ``participant`` and ``time`` (numbers, or dates and times). Fixations are in the order of ``time``
        or, without it, of lines. With ``participant``, screens may be numbered separately for each participant.
    grid : Grid
        The screen.
    screens : int, optional
        Number of all screens, including those without any fixation; by default those in the table.
    name : str, optional
        What the data are called; by default the name of the file without its ending.

    Returns
    -------
    Paths
        The scan paths.

    See Also
    --------
    examination_from_screens : Counts from the same table.
    fit_paths : Fits d_scan to scan paths.

    Examples
    --------
    >>> import carouseval as cv
    >>> fixations = {"screen": [1, 1, 1, 2], "row": [1, 1, 2, 1], "col": [1, 2, 1, 3]}
    >>> cv.attention.paths_from_screens(fixations, cv.Grid(2, 3))
    Paths('table', 4 steps on 2 screens of 2x3 cells)
    """
    fixations = open_fixations(table, grid, timed=True)
    order = ["time"] if "time" in fixations else []
    (frame,) = fixations.collect_all(lambda lines: lines)
    name = name or Path(fixations.name).stem
    return paths_from_frame(frame, screen_columns(fixations), [*order, RECORD], grid, screens, name)


def paths_from_frame(
    fixations: pl.DataFrame,
    keys: Sequence[str],
    order: Sequence[str],
    grid: Grid,
    screens: int | None,
    name: str,
) -> Paths:
    """Scan paths from a frame of fixations, with the columns that identify a screen and those to sort by."""
    if fixations.is_empty():
        raise DataError(f"{name} has no fixations. Write one line per fixation: screen, row, col.")
    ranked = fixations.sort(*keys, *order, maintain_order=True).with_columns(number=pl.struct(keys).rle_id())
    cell = (pl.col("row").cast(pl.Int64) - 1) * grid.cols + pl.col("col").cast(pl.Int64) - 1
    steps = ranked.with_columns(cell=cell).filter(
        (pl.col("cell") != pl.col("cell").shift())
        | (pl.col("number") != pl.col("number").shift())
        | (pl.int_range(pl.len()) == 0)
    )
    numbers = steps["number"].to_numpy().astype(np.int64)
    total = int(numbers[-1]) + 1
    check_screens(name, total, screens)
    participants = None
    if len(keys) > 1:
        first = steps.group_by("number", maintain_order=True).first()
        participants = first["participant"].rle_id().to_numpy().astype(np.int64)
    return Paths(name, grid, numbers, steps["cell"].to_numpy().astype(np.int64), screens or total, participants)


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
