"""Building the Markov chain of a browsing model state by state."""

from itertools import pairwise

import numpy as np

from carouseval.metrics.browsing.chain import Chain
from carouseval.metrics.grid import Array, Grid, IntArray


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
