"""``d_rcb``: users who read rows from the top and each row from the left."""

from typing import ClassVar

import numpy as np

from carouseval.metrics.browsing.chain import Chain
from carouseval.metrics.browsing.contract import BrowsingModel
from carouseval.metrics.browsing.states import States
from carouseval.metrics.discount_base import Formula, register_discount
from carouseval.metrics.grid import Array, Grid


@register_discount("d_rcb")
class RowColumnBrowsing(BrowsingModel, Formula):
    """d_rcb: the probability that a cell is examined by users who read rows from the top and each row from the left.

    ``d(i, j) = e kappa^(i-1) beta^(j-1)``. Swipe pages have no effect. The defaults were fitted by likelihood to the
    counts of RecGaze's Bratislava participants.

    Parameters
    ----------
    e : float, default 0.9621
        Probability that a user examines anything, above 0 and at most 1.
    kappa : float, default 0.9049
        Probability of reaching each further row, above 0 and at most 1.
    beta : float, default 0.8908
        Probability of reaching each further item of a row, above 0 and at most 1.

    Examples
    --------
    >>> import carouseval as cv
    >>> cv.discounts.RowColumnBrowsing().weights(cv.Grid(2, 4, page_size=2)).round(3)
    array([[0.962, 0.857, 0.763, 0.68 ],
           [0.871, 0.776, 0.691, 0.615]])
    """

    e: float = 0.9621
    kappa: float = 0.9049
    beta: float = 0.8908

    decays: ClassVar[tuple[str, ...]] = ("e", "kappa", "beta")

    def weights(self, grid: Grid) -> Array:
        weights: Array = self.e * self.kappa ** (grid.row_index - 1) * self.beta ** (grid.column_index - 1)
        return weights

    def chain(self, grid: Grid) -> Chain:
        states = States(grid)
        swipes = np.diff(np.broadcast_to(grid.swipes, grid.shape)).astype(float).tolist()
        first, ends = [], []
        for row in range(grid.rows):
            cells = [states.add(row, col) for col in range(grid.cols)]
            first.append(cells[0])
            ends.append(states.scan(cells, self.beta, swipes[row]))
        for row, end in enumerate(ends):
            states.next_row(row, end, first, self.kappa)
        return states.chain(self.e)
