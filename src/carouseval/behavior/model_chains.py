"""The Markov chains behind browsing models, which give their weights, visits, actions and variance."""

from functools import singledispatch
from itertools import pairwise
from typing import Any

import numpy as np

from carouseval.errors import ParameterError
from carouseval.metrics.discount_base import as_discount
from carouseval.metrics.discounts import Empirical, Mixture, RowColumnBrowsing, RowPageBrowsing
from carouseval.metrics.grid import Array, Grid, IntArray, sizes_by_row
from carouseval.metrics.markov_chain import Chain
from carouseval.metrics.markov_scan import MarkovScan


@singledispatch
def chain_of(discount: Any, grid: Grid) -> Chain:
    """Return the Markov chain of looks behind a browsing model.

    To add the chain of your own discount, decorate a function of (discount, grid) that returns a :class:`Chain` with
    ``@chain_of.register``; :class:`States` helps to build the chain.

    Parameters
    ----------
    discount : str or Discount
        A browsing model or its name: d_rpb, d_rcb, d_scan, a table of frequencies, or a registered discount.
    grid : Grid
        The screen.

    Returns
    -------
    Chain
        The chain, with the expected visits, swipes and scrolls.

    See Also
    --------
    browse : What a page yields to users who browse so; it also takes mixtures.

    Examples
    --------
    >>> import carouseval as cv
    >>> chain = cv.behavior.chain_of("d_rcb", cv.Grid(2, 3))
    >>> chain.weights.round(3)
    array([[0.962, 0.857, 0.763],
           [0.871, 0.776, 0.691]])
    """
    if isinstance(discount, str):
        return chain_of(as_discount(discount), grid)
    if isinstance(discount, Mixture):
        raise ParameterError(f"{discount} has a chain for each of its parts: call chain_of for these, or use browse.")
    raise ParameterError(
        f"{as_discount(discount)} is not a browsing model: its weights are not probabilities. Use d_rpb, d_rcb, "
        "d_scan, a table of frequencies or a mixture of these, or register a chain for it with @chain_of.register."
    )


class States:
    """Builds a :class:`Chain` state by state; users start in the first state.

    Parameters
    ----------
    grid : Grid
        The screen.

    Examples
    --------
    >>> import carouseval as cv
    >>> states = cv.behavior.States(cv.Grid(1, 2))
    >>> left, right = states.add(0, 0), states.add(0, 1)
    >>> states.go(left, right, 0.75)  # the other users leave
    >>> states.chain(start=0.8).weights
    array([[0.8, 0.6]])
    """

    def __init__(self, grid: Grid) -> None:
        self.grid: Grid = grid
        self.cells: list[int] = []
        self.moves: list[tuple[int, int, float, float, float]] = []

    def add(self, row: int = -1, col: int = -1) -> int:
        """Add a state that shows a cell or none.

        Parameters
        ----------
        row : int, default -1
            Row of the cell, counted from 0; -1 for a state that shows no cell.
        col : int, default -1
            Column of the cell, counted from 0; a state beyond the last column shows no cell.

        Returns
        -------
        int
            The number of the state.
        """
        self.cells.append(row * self.grid.cols + col if row >= 0 and col < self.grid.cols else -1)
        return len(self.cells) - 1

    def go(self, tail: int, head: int, chance: float, swipes: float = 0, scrolls: float = 0) -> None:
        """Add a move from one state to another.

        Parameters
        ----------
        tail : int
            The state that the move leads from.
        head : int
            The state that the move leads to.
        chance : float
            Probability of the move.
        swipes : float, default 0
            Swipes that the move takes.
        scrolls : float, default 0
            Scrolls that the move takes.
        """
        self.moves.append((tail, head, chance, swipes, scrolls))

    def scan(self, states: list[int], keep: float, swipes: list[float] | None = None) -> int:
        """Add moves from each state to the next and, for users who do not move on, to a new state at the end.

        Parameters
        ----------
        states : list of int
            The states, in the order of the scan.
        keep : float
            Probability of moving on to the next state.
        swipes : list of float, optional
            Swipes that each of these moves takes; by default none.

        Returns
        -------
        int
            The new state, which all users who entered the scan reach.
        """
        end = self.add()
        for index, (here, there) in enumerate(pairwise(states)):
            self.go(here, there, keep, swipes=swipes[index] if swipes else 0)
            self.go(here, end, 1 - keep)
        self.go(states[-1], end, 1)
        return end

    def next_row(self, row: int, end: int, first: list[int], chance: float) -> None:
        """Add the move from the end of a row to the next row, if there is one.

        Parameters
        ----------
        row : int
            The row, counted from 0.
        end : int
            The state at the end of the row.
        first : list of int
            The first state of each row.
        chance : float
            Probability of going on to the next row.
        """
        if row + 1 < self.grid.rows:
            scrolls = self.grid.scrolls.ravel()
            self.go(end, first[row + 1], chance, scrolls=float(scrolls[row + 1] - scrolls[row]))

    def chain(self, start: float) -> Chain:
        """Return the chain; where the moves out of a state add up to less than 1, the other users leave.

        Parameters
        ----------
        start : float
            Probability that a user starts at all, in the first state.

        Returns
        -------
        Chain
            The chain.
        """
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
            swipes=_sum_by_state(tail, chance * moves[3], size),
            scrolls=_sum_by_state(tail, chance * moves[4], size),
        )


def _sum_by_state(tail: IntArray, values: Array, size: int) -> Array:
    return np.bincount(tail, values, minlength=size).astype(np.float64)


@chain_of.register
def _(discount: MarkovScan, grid: Grid) -> Chain:
    return discount.chain(grid)


@chain_of.register
def _(discount: RowColumnBrowsing, grid: Grid) -> Chain:
    states = States(grid)
    swipes = np.diff(np.broadcast_to(grid.swipes, grid.shape)).astype(float).tolist()
    first, ends = [], []
    for row in range(grid.rows):
        cells = [states.add(row, col) for col in range(grid.cols)]
        first.append(cells[0])
        ends.append(states.scan(cells, discount.beta, swipes[row]))
    for row, end in enumerate(ends):
        states.next_row(row, end, first, discount.kappa)
    return states.chain(discount.e)


@chain_of.register
def _(discount: RowPageBrowsing, grid: Grid) -> Chain:
    states = States(grid)
    sizes, swipes = sizes_by_row(grid), np.broadcast_to(grid.swipes, grid.shape)

    def from_right(row: int, page: int, keep: float) -> tuple[int, int]:
        """A scan from the right edge, over the missing slots of a partial page too; its first state and its end."""
        size = sizes[row]
        slots = [states.add(row, col) for col in range(page * size + size - 1, page * size - 1, -1)]
        return slots[0], states.scan(slots, keep)

    first, ends = [], []
    for row, size in enumerate(sizes):
        last = [min(begin + size, grid.cols) - 1 for begin in range(0, grid.cols, size)]  # column of each swipe page
        swipes_to = swipes[row, last].tolist()
        cells = [states.add(row, col) for col in range(min(size, grid.cols))]
        first.append(cells[0])
        end = states.scan(cells, discount.beta)
        if discount.w:
            edge, both = from_right(row, 0, discount.beta)
            states.go(end, edge, discount.w)
            states.go(end, both, 1 - discount.w)
            end = both
        page_ends = []  # the end of each page, and the probability of a swipe to the next
        for page in range(1, len(last)):
            first_swipe = discount.sigma1 + (discount.sigma1_top - discount.sigma1) * discount.fade**row
            swipe = first_swipe if page == 1 else discount.sigma2
            edge, next_end = from_right(row, page, discount.rho)
            states.go(end, edge, swipe, swipes=swipes_to[page] - swipes_to[page - 1])
            page_ends.append((end, swipe))
            end = next_end
        row_end = states.add()
        for page_end, swipe in page_ends:
            states.go(page_end, row_end, 1 - swipe)
        states.go(end, row_end, 1)
        ends.append(row_end)
    for row, row_end in enumerate(ends):
        states.next_row(row, row_end, first, discount.kappa)
    return states.chain(discount.e)


@chain_of.register
def _(discount: Empirical, grid: Grid) -> Chain:
    """Cells are examined independently of each other; a table does not say how users move, so actions are NaN."""
    table = discount.weights(grid)
    if table.max() > 1:
        raise ParameterError(f"{discount}: weights above 1 are not probabilities; divide counts by their screens.")
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
