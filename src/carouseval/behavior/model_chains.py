"""The chains of looks behind browsing models: an independent way to their closed forms, and to all that follows."""

from functools import singledispatch
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from carouseval.errors import ParameterError
from carouseval.metrics.discount_base import as_discount
from carouseval.metrics.discounts import Empirical, Mixture, RowColumnBrowsing, RowPageBrowsing
from carouseval.metrics.grid import Array, Grid
from carouseval.metrics.markov_chain import Chain
from carouseval.metrics.markov_scan import MarkovScan


@singledispatch
def chain_of(model: Any, grid: Grid) -> Chain:
    """The chain of looks that a browsing model stands for, on a grid.

    A model of your own joins with ``@chain_of.register``: a function of (model, grid) that returns a chain, made with
    :class:`States`.

    >>> chain_of("d_rcb", Grid(2, 3)).expected_scrolls
    0.0
    """
    if isinstance(model, str):
        return chain_of(as_discount(model), grid)
    if isinstance(model, Mixture):
        raise ParameterError(f"{model} has a chain for each of its parts: ask for theirs, or use browse.")
    raise ParameterError(
        f"{as_discount(model)} is no browsing model: its weights order cells, they are not probabilities. "
        "Use d_rpb, d_rcb, d_scan, a table of frequencies or a mixture of these, or register its chain with chain_of."
    )


class States:
    """A chain in the making, state by state; people begin at the first.

    >>> states = States(Grid(1, 2))
    >>> left, right = states.add(0, 0), states.add(0, 1)
    >>> states.go(left, right, 0.75)  # the others leave
    >>> states.chain(start=0.8).weights
    array([[0.8, 0.6]])
    """

    def __init__(self, grid: Grid) -> None:
        self.grid = grid
        self.cells: list[int] = []
        self.moves: list[tuple[int, int, float, float, float]] = []

    def add(self, row: int = -1, col: int = -1) -> int:
        """A state that shows a cell, counted from 0, or none: without a place, or with one beyond the grid."""
        self.cells.append(row * self.grid.cols + col if row >= 0 and col < self.grid.cols else -1)
        return len(self.cells) - 1

    def go(self, tail: int, head: int, chance: float, swipes: float = 0, scrolls: float = 0) -> None:
        """A move from one state to another, and the actions it takes."""
        self.moves.append((tail, head, chance, swipes, scrolls))

    def scan(self, states: list[int], keep: float, swipes: list[float] | None = None) -> int:
        """From one of these states to the next with probability ``keep``, otherwise to the end, a state of its own."""
        end = self.add()
        for at, (here, there) in enumerate(pairwise(states)):
            self.go(here, there, keep, swipes=swipes[at] if swipes else 0)
            self.go(here, end, 1 - keep)
        self.go(states[-1], end, 1)
        return end

    def next_row(self, row: int, end: int, first: list[int], chance: float) -> None:
        """From the end of a row to the next row's first state, if there is one."""
        if row + 1 < self.grid.rows:
            until = self.grid.scrolls.ravel()
            self.go(end, first[row + 1], chance, scrolls=float(until[row + 1] - until[row]))

    def chain(self, start: float) -> Chain:
        """People begin at the first state; what moves leave over, leaves."""
        size = len(self.cells)
        moves = np.array(self.moves, dtype=np.float64).reshape(-1, 5).T
        tail, chance = moves[0].astype(np.int64), moves[2]
        out = np.bincount(tail, chance, minlength=size)
        return Chain(
            shape=self.grid.shape,
            cell=np.array(self.cells, dtype=np.int64),
            start=np.eye(1, size)[0] * start,
            tail=tail,
            head=moves[1].astype(np.int64),
            chance=chance,
            leave=np.maximum(1 - out, 0.0),
            lost=np.zeros(size),
            landing=np.zeros(size),
            swipes=_added(tail, chance * moves[3], size),
            scrolls=_added(tail, chance * moves[4], size),
        )


def _added(tail: NDArray[np.int64], values: Array, size: int) -> Array:
    return np.bincount(tail, values, minlength=size).astype(np.float64)


@chain_of.register
def _(model: MarkovScan, grid: Grid) -> Chain:
    return model.chain(grid)


@chain_of.register
def _(model: RowColumnBrowsing, grid: Grid) -> Chain:
    states = States(grid)
    swipes = np.diff(grid.swipes).astype(float).tolist()
    first, ends = [], []
    for row in range(grid.rows):
        cells = [states.add(row, col) for col in range(grid.cols)]
        first.append(cells[0])
        ends.append(states.scan(cells, model.beta, swipes))
    for row, end in enumerate(ends):
        states.next_row(row, end, first, model.kappa)
    return states.chain(model.e)


@chain_of.register
def _(model: RowPageBrowsing, grid: Grid) -> Chain:
    states = States(grid)
    size, pages = grid.page_size, int(grid.swipe_page[-1])
    until = [int(grid.swipes[min(page * size, grid.cols) - 1]) for page in range(1, pages + 1)]

    def from_right(row: int, page: int, keep: float) -> tuple[int, int]:
        """A scan from the right edge, slots that a partial page lacks included; its first state and its end."""
        slots = [states.add(row, col) for col in range(page * size + size - 1, page * size - 1, -1)]
        return slots[0], states.scan(slots, keep)

    first, ends = [], []
    for row in range(grid.rows):
        cells = [states.add(row, col) for col in range(min(size, grid.cols))]
        first.append(cells[0])
        end = states.scan(cells, model.beta)
        if model.w:
            edge, both = from_right(row, 0, model.beta)
            states.go(end, edge, model.w)
            states.go(end, both, 1 - model.w)
            end = both
        turning = []  # the end of each page, and the chance to turn it
        for page in range(1, pages):
            swipe = model.sigma1 + (model.sigma1_top - model.sigma1) * model.fade**row if page == 1 else model.sigma2
            edge, turned = from_right(row, page, model.rho)
            states.go(end, edge, swipe, swipes=until[page] - until[page - 1])
            turning.append((end, swipe))
            end = turned
        done = states.add()
        for before, swipe in turning:
            states.go(before, done, 1 - swipe)
        states.go(end, done, 1)
        ends.append(done)
    for row, done in enumerate(ends):
        states.next_row(row, done, first, model.kappa)
    return states.chain(model.e)


@chain_of.register
def _(model: Empirical, grid: Grid) -> Chain:
    """Every cell is examined or not, whatever happens to the others. How people get there, a table does not say."""
    table = model.weights(grid)
    if table.max() > 1:
        raise ParameterError(f"{model}: weights above 1 are no probabilities; divide counts by their screens.")
    states = States(grid)
    unknown = float("nan")
    steps = [(states.add(), states.add(*divmod(cell, grid.cols))) for cell in range(table.size)]
    for (before, cell), chance, (following, _) in zip(
        steps, table.ravel().tolist(), [*steps[1:], (-1, -1)], strict=True
    ):
        states.go(before, cell, chance, unknown, unknown)
        if following >= 0:
            states.go(before, following, 1 - chance)
            states.go(cell, following, 1)
    return states.chain(1.0)
