"""What a browsing model is: a discount whose weights are probabilities that cells are examined, from a Markov chain."""

from typing import TYPE_CHECKING, ClassVar

from carouseval.metrics.browsing.chain import Chain
from carouseval.metrics.discount_base import Discount
from carouseval.metrics.grid import Array, Grid

if TYPE_CHECKING:
    from carouseval.metrics.browsing.forms import Form


class BrowsingModel(Discount):
    """A discount that says how users browse: its weights are probabilities that they examine a cell.

    To write your own, subclass ``BrowsingModel``, list the parameters as annotated fields, define :meth:`chain`, and
    register the class with :func:`register_discount`. Weights follow from the chain; define ``weights``, too, where
    there is a formula for them, which is faster. The model then works by name in every function and command, its
    visits, actions and variance are those of :func:`carouseval.behavior.browse`, and it is fitted by likelihood. A fit
    tries any values of the parameters, from 0 to 1 for those with such a default: all should make a chain.

    Class variables that a subclass may set, besides those of :class:`Discount`:

    - ``forms``: named forms with fewer free parameters, from the simplest to the one with all of them; a fit without a
      form compares them. By default all parameters are free;
    - ``limitation_of_counts``: what counts of examined cells do not identify, in a sentence for reports of fits.

    See Also
    --------
    carouseval.behavior.States : Builds a chain state by state.
    carouseval.behavior.browse : What a page yields to users who browse so.

    Examples
    --------
    Users read the page as one list and move on from each cell with the same probability:

    >>> import carouseval as cv
    >>> @cv.discounts.register_discount("d_list")
    ... class ListBrowsing(cv.discounts.BrowsingModel):
    ...     keep: float = 0.5
    ...     def chain(self, grid):
    ...         states = cv.behavior.States(grid)
    ...         cells = [states.add(row, col) for row in range(grid.rows) for col in range(grid.cols)]
    ...         for cell, following in zip(cells, cells[1:]):
    ...             states.go(cell, following, self.keep)  # the other users leave
    ...         return states.chain(start=1)
    >>> cv.discounts.parse("d_list").weights(cv.Grid(2, 2))
    array([[1.   , 0.5  ],
           [0.25 , 0.125]])
    >>> round(cv.behavior.browse([[1, 0], [0, 1]], "d_list(keep=0.8)").looks, 3)
    2.952
    """

    forms: "ClassVar[tuple[Form, ...]]" = ()
    limitation_of_counts: ClassVar[str] = ""

    def chain(self, grid: Grid) -> Chain:
        """The Markov chain of looks: what a subclass defines.

        Parameters
        ----------
        grid : Grid
            The screen.

        Returns
        -------
        Chain
            The chain, with the expected visits, swipes and scrolls.
        """
        raise NotImplementedError(f"{type(self).__name__} must define chain(grid).")

    def weights(self, grid: Grid) -> Array:
        return self.chain(grid).weights

    @property
    def is_probability(self) -> bool:
        return True
