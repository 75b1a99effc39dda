"""``d_rpb``: users who read row after row and swipe page after page, and the forms of it that are compared."""

from collections.abc import Callable
from typing import ClassVar

import numpy as np

from carouseval.metrics.browsing.chain import Chain
from carouseval.metrics.browsing.contract import BrowsingModel
from carouseval.metrics.browsing.forms import ALL_USERS, Form, ParameterColumns, UserGroup
from carouseval.metrics.browsing.states import States
from carouseval.metrics.discount_base import Formula, register_discount
from carouseval.metrics.grid import Array, Grid, sizes_by_row


def _without_extras(values: ParameterColumns) -> list[UserGroup]:
    """d_rpb without both edges and without a difference between rows, except for the parameters that are free."""
    return [(ALL_USERS, {"w": np.zeros(1), "sigma1_top": values["sigma1"], "fade": np.zeros(1), **values})]


def _novelty(values: ParameterColumns) -> list[UserGroup]:
    """A share ``fade`` of users swipes out of curiosity in row 1, a share fade^2 in row 2, and so on."""
    top = values["sigma1"] + (1 - values["sigma1"]) * values["fade"]
    return _without_extras({**values, "sigma1_top": top})


def _two_kinds(values: ParameterColumns) -> list[UserGroup]:
    """Two groups of users that differ in how far down they go."""
    shared = {name: values[name] for name in _SIX if name != "kappa"}
    groups = [_without_extras({**shared, "kappa": values[name]})[0][1] for name in ("kappa", "kappa_others")]
    return [(values["share"], groups[0]), (1 - values["share"], groups[1])]


_SIX = ("e", "kappa", "beta", "sigma1", "sigma2", "rho")


def _form(
    name: str,
    extras: tuple[str, ...],
    meaning: str,
    groups: Callable[[ParameterColumns], list[UserGroup]] = _without_extras,
    contains: tuple[str, ...] = ("six",),
) -> Form:
    """A form of d_rpb whose first six parameters and ``extras`` are free."""
    return Form(name, "d_rpb", _SIX + extras, meaning, groups, contains)


_FORMS = (
    Form("rows and columns", "d_rcb", ("e", "kappa", "beta"), "no swipe pages"),
    _form("six", (), "rows, swipe pages, slots", contains=()),
    _form("two kinds", ("share", "kappa_others"), "six; two groups differ in how far down they go", _two_kinds, ()),
    _form("edges", ("w",), "six; users also start at the right edge of page 1"),
    _form("first row", ("sigma1_top",), "six; more swipes in row 1"),
    _form("novelty", ("fade",), "six; more swipes at the top, fading by row", _novelty),
    _form(
        "edges, first row",
        ("w", "sigma1_top"),
        "both edges; more swipes in row 1",
        contains=("edges", "first row"),
    ),
    _form(
        "edges, novelty",
        ("w", "fade"),
        "both edges; more swipes at the top, fading by row",
        _novelty,
        contains=("edges", "novelty"),
    ),
    _form(
        "all nine",
        ("w", "sigma1_top", "fade"),
        "both edges; row 1 and fading are separate",
        contains=("edges, first row", "edges, novelty"),
    ),
)


@register_discount("d_rpb")
class RowPageBrowsing(BrowsingModel, Formula):
    """d_rpb: the probability that a cell is examined by users who read row after row and swipe page after page.

    With l the slot on swipe page p, and delta slots on a page::

        page 1        e kappa^(i-1) (1 - (1 - beta^(l-1)) (1 - w beta^(delta-l)))
        later pages   e kappa^(i-1) s_i sigma2^(p-2) rho^(delta-l)
        s_i           sigma1 + (sigma1_top - sigma1) fade^(i-1)

    On page 1 users read from the left edge and, with probability w, also from the right edge; later pages are read from
    the right edge. With ``w=0, sigma1_top=sigma1`` the model has six parameters; with ``fade=0`` only row 1 has its own
    probability of a swipe. The defaults were fitted by likelihood to the counts of RecGaze's Bratislava participants
    (:func:`carouseval.attention.fit_likelihood`).

    Parameters
    ----------
    e : float, default 0.9333
        Probability that a user examines anything, above 0 and at most 1.
    kappa : float, default 0.9081
        Probability of reaching each further row, above 0 and at most 1.
    beta : float, default 0.8649
        Probability of reading on by one slot on page 1, above 0 and at most 1.
    sigma1 : float, default 0.3425
        Probability of a swipe to page 2, above 0 and at most 1.
    sigma2 : float, default 0.8419
        Probability of a swipe to each further page, above 0 and at most 1.
    rho : float, default 0.9735
        Probability of reading on by one slot on later pages, above 0 and at most 1.
    w : float, default 0.717
        Probability of also reading page 1 from the right edge, from 0 to 1.
    sigma1_top : float, default 0.4349
        Probability of a swipe to page 2 in row 1, above 0 and at most 1.
    fade : float, default 0.1405
        Share of the difference between sigma1_top and sigma1 that is left in each further row, from 0 to 1.

    Examples
    --------
    >>> import carouseval as cv
    >>> cv.discounts.RowPageBrowsing().weights(cv.Grid(2, 4, page_size=2)).round(3)
    array([[0.933, 0.898, 0.395, 0.406],
           [0.848, 0.815, 0.293, 0.301]])
    """

    e: float = 0.9333
    kappa: float = 0.9081
    beta: float = 0.8649
    sigma1: float = 0.3425
    sigma2: float = 0.8419
    rho: float = 0.9735
    w: float = 0.717
    sigma1_top: float = 0.4349
    fade: float = 0.1405

    decays: ClassVar[tuple[str, ...]] = ("e", "kappa", "beta", "sigma1", "sigma2", "rho", "sigma1_top")
    shares: ClassVar[tuple[str, ...]] = ("w", "fade")
    forms: ClassVar[tuple[Form, ...]] = _FORMS

    def weights(self, grid: Grid) -> Array:
        left, right = grid.slot - 1, grid.page_sizes - grid.slot  # slots from either edge
        from_left, from_right = self.beta**left, self.w * self.beta**right
        focus = from_left + from_right * (1 - from_left)  # either of two scans, without a difference of near numbers
        swipe = self.sigma1 + (self.sigma1_top - self.sigma1) * self.fade ** (grid.row_index - 1)
        turns = np.maximum(grid.swipe_page - 2, 0)  # swipes after the first
        further = swipe * self.sigma2**turns * self.rho**right
        reached = self.e * self.kappa ** (grid.row_index - 1)
        return np.asarray(reached * np.where(grid.swipe_page == 1, focus, further), dtype=np.float64)

    def chain(self, grid: Grid) -> Chain:
        states = States(grid)
        sizes, swipes = sizes_by_row(grid), np.broadcast_to(grid.swipes, grid.shape)

        def from_right(row: int, page: int, keep: float) -> tuple[int, int]:
            """A scan from the right edge, over the missing slots of a partial page too; its first state and its end."""
            size = sizes[row]
            slots = [states.add(row, col) for col in range(page * size + size - 1, page * size - 1, -1)]
            return slots[0], states.scan(slots, keep)

        first, ends = [], []
        for row, size in enumerate(sizes):
            last = [min(begin + size, grid.cols) - 1 for begin in range(0, grid.cols, size)]  # column of each page
            swipes_to = swipes[row, last].tolist()
            cells = [states.add(row, col) for col in range(min(size, grid.cols))]
            first.append(cells[0])
            end = states.scan(cells, self.beta)
            if self.w:
                edge, both = from_right(row, 0, self.beta)
                states.go(end, edge, self.w)
                states.go(end, both, 1 - self.w)
                end = both
            page_ends = []  # the end of each page, and the probability of a swipe to the next
            for page in range(1, len(last)):
                first_swipe = self.sigma1 + (self.sigma1_top - self.sigma1) * self.fade**row
                swipe = first_swipe if page == 1 else self.sigma2
                edge, next_end = from_right(row, page, self.rho)
                states.go(end, edge, swipe, swipes=swipes_to[page] - swipes_to[page - 1])
                page_ends.append((end, swipe))
                end = next_end
            row_end = states.add()
            for page_end, swipe in page_ends:
                states.go(page_end, row_end, 1 - swipe)
            states.go(end, row_end, 1)
            ends.append(row_end)
        for row, row_end in enumerate(ends):
            states.next_row(row, row_end, first, self.kappa)
        return states.chain(self.e)
