"""Absorbing Markov chains of users who look from cell to cell, scroll, swipe and leave.

With start a, transitions Q and N = (I - Q)^-1: expected visits are v = aN. A cell is visited at all with probability
v_s / N_ss if one state s shows it; if a set A of states does, it is the sum of f, where v_A = f N_AA.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from carouseval import _native
from carouseval.errors import ParameterError
from carouseval.metrics.grid import Array, IntArray

_ROUNDING = 1e-9
_MOST_ENTRIES = 100_000_000  # of a band


@dataclass(frozen=True, eq=False)
class Chain:
    """An absorbing Markov chain of looks: states, each showing a cell or none, and the moves between them.

    Out of every state, the probabilities of moves, of leaving and of jumping must add up to 1. Number states row by
    row: the chain is solved faster the closer moves stay in the order of states.

    Parameters
    ----------
    shape : tuple of int
        Rows and columns of the grid.
    cell : ndarray of int64, shape (states,)
        The cell that a state shows, counted row by row from 0; -1 for none.
    start : ndarray of float64, shape (states,)
        Probability of starting in a state; if they add up to less than 1, the other users look at nothing.
    tail : ndarray of int64, shape (moves,)
        The state that a move leads from.
    head : ndarray of int64, shape (moves,)
        The state that a move leads to.
    chance : ndarray of float64, shape (moves,)
        Probability of a move.
    leave : ndarray of float64, shape (states,)
        Probability of leaving the page.
    lost : ndarray of float64, shape (states,)
        Probability of jumping to any state.
    landing : ndarray of float64, shape (states,)
        Probability of each state after a jump.
    swipes : ndarray of float64, shape (states,)
        Expected swipes on the way out of a state.
    scrolls : ndarray of float64, shape (states,)
        Expected scrolls on the way out of a state.

    Examples
    --------
    >>> import carouseval as cv
    >>> chain = cv.discounts.MarkovScan().chain(cv.Grid(2, 3, page_size=3))
    >>> chain.weights.round(3)
    array([[0.981, 0.966, 0.95 ],
           [0.911, 0.902, 0.891]])
    >>> chain.visits.round(1)
    array([[7.8, 9.7, 8.6],
           [7.3, 9.2, 8.2]])
    """

    shape: tuple[int, int]
    cell: IntArray
    start: Array
    tail: IntArray
    head: IntArray
    chance: Array
    leave: Array
    lost: Array
    landing: Array
    swipes: Array
    scrolls: Array

    def __post_init__(self) -> None:
        if len(self.cell) == 0 or self.cell.min() < -1 or self.cell.max() >= self.shape[0] * self.shape[1]:
            raise ParameterError(f"chain: cell must be -1 or from 0 to {self.shape[0] * self.shape[1] - 1}.")
        out = np.bincount(self.tail, self.chance, minlength=len(self.cell)) + self.leave + self.lost
        if (np.abs(out - 1) > _ROUNDING).any():
            state = int(np.abs(out - 1).argmax())
            raise ParameterError(f"chain: probabilities out of state {state} add up to {out[state]:g}, not to 1.")
        if self.start.sum() > 1 + _ROUNDING:
            raise ParameterError(f"chain: the probabilities of start add up to {self.start.sum():g}, above 1.")

    @cached_property
    def _solved(self) -> tuple[Array, Array]:
        band = as_band(self.tail, self.head, self.chance[None], len(self.cell))
        visits, weights = solve(band, self.leave, self.start, self.lost, self.landing, self.cell, self.shape)
        return visits[0], weights[0]

    @property
    def weights(self) -> Array:
        """The probability that each cell is examined, of shape (rows, cols): the discount that the chain implies."""
        return self._solved[1]

    @property
    def visits(self) -> Array:
        """The expected number of looks at each cell, of shape (rows, cols)."""
        showing = self.cell >= 0
        looks = np.zeros(self.shape[0] * self.shape[1])
        np.add.at(looks, self.cell[showing], self._solved[0][showing])
        return looks.reshape(self.shape)

    @property
    def expected_swipes(self) -> float:
        """The expected number of swipes per user."""
        return float(self._solved[0] @ self.swipes)

    @property
    def expected_scrolls(self) -> float:
        """The expected number of scrolls per user."""
        return float(self._solved[0] @ self.scrolls)


def check_size(states: int, reach: int) -> None:
    """Refuse a chain whose band, and the time to solve it, would be too large."""
    entries = states * (2 * reach + 1)
    if entries > _MOST_ENTRIES:
        raise ParameterError(
            f"chain: {states:,} states with moves of up to {reach:,} states make a band of {entries:,} entries; at "
            f"most {_MOST_ENTRIES:,} are possible. Use a smaller grid."
        )


def as_band(tail: IntArray, head: IntArray, chances: Array, states: int) -> NDArray[np.float64]:
    """Moves (chains, moves) as the kernel takes them: (chains, states, 2b + 1), the state itself in the middle."""
    reach = int(np.abs(head - tail).max(initial=0))
    width = 2 * reach + 1
    check_size(states, reach)
    place = tail * width + head - tail + reach
    # summed, since several moves may lead from one state to another
    band = [np.bincount(place, moves, minlength=states * width) for moves in chances]
    return np.array(band, dtype=np.float64).reshape(len(chances), states, width)


def solve(
    band: Array,
    leave: Array,
    start: Array,
    lost: Array,
    landing: Array,
    cell: IntArray,
    shape: tuple[int, int],
) -> tuple[Array, Array]:
    """Expected visits of states, (chains, states), and the probabilities of cells, (chains, rows, cols)."""

    def per_chain(part: Array) -> Array:
        return np.ascontiguousarray(np.broadcast_to(part, band.shape[:2]))

    try:
        visits, weights = _native.scan_chains(
            band, per_chain(leave), per_chain(start), per_chain(lost), per_chain(landing), cell, shape[0] * shape[1], 1
        )
    except ValueError as error:
        raise ParameterError(f"chain: {error}; it must be possible to leave.") from None
    return visits, weights.reshape(len(weights), *shape)
