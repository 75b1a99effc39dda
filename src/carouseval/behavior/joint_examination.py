"""Which cells are examined together: the joint probabilities of an absorbing chain, from its whole inverse."""

import numpy as np
from numpy.typing import NDArray

from carouseval.errors import ParameterError
from carouseval.metrics.grid import Array
from carouseval.metrics.markov_chain import Chain

_AT_ONCE = 200_000  # pairs of cells
_MOST_STATES = 5_000


def covariance(chain: Chain) -> Array:
    """Of whether each cell is examined, (cells, cells)."""
    if len(chain.cell) > _MOST_STATES:
        raise ParameterError(
            f"chain: the variance takes all pairs of {len(chain.cell):,} states; at most {_MOST_STATES:,} can be done."
        )
    cells = _Cells(chain)
    shown = np.unique(chain.cell[chain.cell >= 0])
    one, two = (shown[at] for at in np.triu_indices(len(shown), 1))
    chances = chain.weights.ravel()
    joint = np.diag(chances)
    for begin in range(0, len(one), _AT_ONCE):
        c, d = one[begin : begin + _AT_ONCE], two[begin : begin + _AT_ONCE]
        joint[c, d] = joint[d, c] = cells.both(c, d)
    spread: Array = joint - np.outer(chances, chances)
    return spread


class _Cells:
    """The states of each cell and the fundamental matrix N among all states.

    Cells of fewer states than others are filled up with states nobody ever enters, two sets of them, so that the
    systems of all pairs have one size and none is singular.
    """

    def __init__(self, chain: Chain) -> None:
        cells, size = chain.shape[0] * chain.shape[1], len(chain.cell)
        count = np.bincount(chain.cell[chain.cell >= 0], minlength=cells)
        self.most = int(count.max(initial=1))
        self.states = np.full((cells, self.most), -1)
        place = np.zeros(cells, np.int64)
        for state in np.flatnonzero(chain.cell >= 0).tolist():
            cell = chain.cell[state]
            self.states[cell, place[cell]] = state
            place[cell] += 1
        self.unused = size + 1 + np.arange(2 * self.most)  # after the place of the lost
        going = np.zeros((size + 1 + 2 * self.most,) * 2)
        np.add.at(going, (chain.tail, chain.head), chain.chance)
        going[:size, size], going[size, :size] = chain.lost, chain.landing
        self.inverse = np.linalg.inv(np.eye(len(going)) - going)
        self.visits = np.append(chain.start, np.zeros(len(going) - size)) @ self.inverse
        self.reaching = self._reaching()

    def both(self, one: NDArray[np.int64], two: NDArray[np.int64]) -> Array:
        """The probability that both cells of each pair are examined: either is entered first, the other later."""
        first, second = self._filled(one, 0), self._filled(two, 1)
        states = np.hstack([first, second])
        among = self.inverse[states[:, :, None], states[:, None, :]]
        entries = np.linalg.solve(among.transpose(0, 2, 1), self.visits[states][:, :, None])[:, :, 0]
        later = np.hstack([self.reaching[first, two[:, None]], self.reaching[second, one[:, None]]])
        both: Array = (entries * later).sum(axis=1)
        return both

    def _filled(self, cells: NDArray[np.int64], which: int) -> NDArray[np.int64]:
        unused = self.unused[which * self.most : (which + 1) * self.most]
        return np.where(self.states[cells] < 0, unused, self.states[cells])

    def _reaching(self) -> Array:
        """The probability to examine a cell (column) sooner or later, from each state (row)."""
        states = self._filled(np.arange(len(self.states)), 0)
        among = self.inverse[states[:, :, None], states[:, None, :]]
        shares = np.linalg.solve(among, (self.states >= 0)[:, :, None].astype(float))[:, :, 0]
        reaching: Array = (self.inverse[:, states] * shares).sum(axis=2)
        return reaching
