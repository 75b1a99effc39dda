"""Which cells are examined together: joint probabilities of an absorbing chain, from its full inverse."""

import numpy as np

from carouseval.errors import ParameterError
from carouseval.metrics.browsing.chain import Chain
from carouseval.metrics.grid import Array, IntArray

_BATCH_SIZE = 200_000  # pairs of cells
_MAX_STATES = 5_000


def covariance(chain: Chain) -> Array:
    """The covariance of the examination of each pair of cells, (cells, cells)."""
    if len(chain.cell) > _MAX_STATES:
        raise ParameterError(
            f"chain: the variance takes all pairs of states; {len(chain.cell):,} are more than {_MAX_STATES:,}."
        )
    states = _CellStates(chain)
    visited = np.unique(chain.cell[chain.cell >= 0])
    first, second = (visited[index] for index in np.triu_indices(len(visited), 1))
    probabilities = chain.weights.ravel()
    joint = np.diag(probabilities)
    for begin in range(0, len(first), _BATCH_SIZE):
        c, d = first[begin : begin + _BATCH_SIZE], second[begin : begin + _BATCH_SIZE]
        joint[c, d] = joint[d, c] = states.joint_probability(c, d)
    covariances: Array = joint - np.outer(probabilities, probabilities)
    return covariances


class _CellStates:
    """The states of each cell and the fundamental matrix N of all states.

    Cells with fewer states than others are padded with states that are never entered, from two sets, so that the
    systems of all pairs have the same size and none is singular.
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
        self.padding = size + 1 + np.arange(2 * self.most)  # after the state of a jump
        transitions = np.zeros((size + 1 + 2 * self.most,) * 2)
        np.add.at(transitions, (chain.tail, chain.head), chain.chance)
        transitions[:size, size], transitions[size, :size] = chain.lost, chain.landing
        self.inverse = np.linalg.inv(np.eye(len(transitions)) - transitions)
        self.visits = np.append(chain.start, np.zeros(len(transitions) - size)) @ self.inverse
        self.reaching = self._reaching()

    def joint_probability(self, cells: IntArray, others: IntArray) -> Array:
        """The probability that both cells of each pair are examined: either is entered first, the other later."""
        first, second = self._padded(cells, 0), self._padded(others, 1)
        states = np.hstack([first, second])
        among = self.inverse[states[:, :, None], states[:, None, :]]
        entries = np.linalg.solve(among.transpose(0, 2, 1), self.visits[states][:, :, None])[:, :, 0]
        later = np.hstack([self.reaching[first, others[:, None]], self.reaching[second, cells[:, None]]])
        both: Array = (entries * later).sum(axis=1)
        return both

    def _padded(self, cells: IntArray, which: int) -> IntArray:
        padding = self.padding[which * self.most : (which + 1) * self.most]
        return np.where(self.states[cells] < 0, padding, self.states[cells])

    def _reaching(self) -> Array:
        """The probability of ever examining a cell (column) from each state (row)."""
        states = self._padded(np.arange(len(self.states)), 0)
        among = self.inverse[states[:, :, None], states[:, None, :]]
        shares = np.linalg.solve(among, (self.states >= 0)[:, :, None].astype(float))[:, :, 0]
        reaching: Array = (self.inverse[:, states] * shares).sum(axis=2)
        return reaching
