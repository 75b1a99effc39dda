"""Absorbing Markov chains of people who look from cell to cell, scroll, swipe and leave.

With start a, transitions Q and N = (I - Q)^-1: expected visits are v = aN. A cell is visited at all with probability
v_s / N_ss if one state s shows it; if a set A does, first entries f solve v_A = f N_AA and add up to it.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from carouseval import _native
from carouseval.errors import ParameterError
from carouseval.metrics.grid import Array

_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Chain:
    """States and the moves between them; each state shows a cell, or none.

    Solving is fast where moves stay near in the order of states: give them row by row.
    """

    shape: tuple[int, int]  # of the grid
    cell: NDArray[np.int64]  # (states,): the cell a state shows, row by row from 0; -1 for none
    start: Array  # (states,): where people begin; what is missing to 1 looks at nothing
    tail: NDArray[np.int64]  # (moves,): from this state
    head: NDArray[np.int64]  # (moves,): to that one
    chance: Array  # (moves,)
    leave: Array  # (states,): the chance to end
    lost: Array  # (states,): the chance to land anywhere
    landing: Array  # (states,): where people land who are lost
    swipes: Array  # (states,): actions expected on the way out of a state
    scrolls: Array

    def __post_init__(self) -> None:
        if len(self.cell) == 0 or self.cell.min() < -1 or self.cell.max() >= self.shape[0] * self.shape[1]:
            raise ParameterError(f"chain: cells are -1 or from 0 to {self.shape[0] * self.shape[1] - 1}.")
        out = np.bincount(self.tail, self.chance, minlength=len(self.cell)) + self.leave + self.lost
        if (np.abs(out - 1) > _ROUNDING).any():
            state = int(np.abs(out - 1).argmax())
            raise ParameterError(f"chain: what leads out of state {state} adds up to {out[state]:g}, not to 1.")
        if self.start.sum() > 1 + _ROUNDING:
            raise ParameterError(f"chain: people begin with chances that add up to {self.start.sum():g}, above 1.")

    @cached_property
    def _solved(self) -> tuple[Array, Array]:
        band = as_band(self.tail, self.head, self.chance[None], len(self.cell))
        visits, weights = solve(band, self.leave, self.start, self.lost, self.landing, self.cell, self.shape)
        return visits[0], weights[0]

    @property
    def weights(self) -> Array:
        """The probability that each cell is examined, (rows, cols): the discount this chain implies."""
        return self._solved[1]

    @property
    def visits(self) -> Array:
        """How often each cell is looked at, on average, (rows, cols)."""
        shown = self.cell >= 0
        looks = np.zeros(self.shape[0] * self.shape[1])
        np.add.at(looks, self.cell[shown], self._solved[0][shown])
        return looks.reshape(self.shape)

    @property
    def expected_swipes(self) -> float:
        """Swipes per person."""
        return float(self._solved[0] @ self.swipes)

    @property
    def expected_scrolls(self) -> float:
        """Scrolls per person."""
        return float(self._solved[0] @ self.scrolls)


def as_band(tail: NDArray[np.int64], head: NDArray[np.int64], chances: Array, states: int) -> NDArray[np.float64]:
    """Moves (chains, moves) as the kernel takes them: (chains, states, 2b + 1), the middle column a state's own."""
    reach = int(np.abs(head - tail).max(initial=0))
    width = 2 * reach + 1
    place = tail * width + head - tail + reach
    # added up, for several moves may lead from one state to another
    band = [np.bincount(place, moves, minlength=states * width) for moves in chances]
    return np.array(band, dtype=np.float64).reshape(len(chances), states, width)


def solve(
    band: Array,
    leave: Array,
    start: Array,
    lost: Array,
    landing: Array,
    cell: NDArray[np.int64],
    shape: tuple[int, int],
) -> tuple[Array, Array]:
    """Expected visits of states, (chains, states), and the probabilities of cells, (chains, rows, cols)."""

    def of_all(part: Array) -> Array:
        return np.ascontiguousarray(np.broadcast_to(part, band.shape[:2]))

    try:
        visits, weights = _native.scan_chains(
            band, of_all(leave), of_all(start), of_all(lost), of_all(landing), cell, shape[0] * shape[1], 1
        )
    except ValueError as error:
        raise ParameterError(f"chain: {error}; people must be able to leave.") from None
    return visits, weights.reshape(len(weights), *shape)
