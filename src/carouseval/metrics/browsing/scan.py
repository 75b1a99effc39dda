"""``d_scan``: users who look from cell to cell, swipe, scroll, go back, jump and leave."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from carouseval.metrics.browsing.chain import Chain, as_band, check_size, solve
from carouseval.metrics.browsing.contract import BrowsingModel
from carouseval.metrics.discount_base import Formula, register_discount
from carouseval.metrics.grid import Array, Grid, IntArray
from carouseval.validation import require_float

KINDS = ("on", "back", "swipe", "swipe_on", "wrap", "swipe_back", "scroll", "scroll_back")
_NO_SPREAD, _ROW, _PAGE = 0, 1, 2


@register_discount("d_scan")
class MarkovScan(BrowsingModel, Formula):
    """d_scan: the probability that a user who looks from cell to cell ever looks at a cell.

    The looks of a user are a Markov chain. From every cell the next move is drawn in proportion to the rates of the
    moves that are possible there; reading on to the next slot (rightwards on page 1, leftwards on later pages) has rate
    1. A forward swipe lands near the right edge of the page, a backward one near the left edge, a scroll near the left
    edge of page 1: at distance d from the edge in proportion to ``page_spread^d`` (swipes) or ``row_spread^d``
    (scrolls). The first look lands in row 1 as after a scroll or, at the rate ``lost`` against 1, anywhere.

    Rates do not depend on the grid, so a fitted scan carries over to any screen. Counts of examined cells do not
    identify the rates, paths do (:func:`carouseval.attention.fit_paths`). The defaults are an illustration: the rates
    of going back, jumping and leaving are set by hand, the others fitted to the counts of RecGaze's Bratislava
    participants.

    Parameters
    ----------
    e : float, default 0.9827
        Probability that a user examines anything, above 0 and at most 1.
    back : float, default 0.05
        Rate of moving to the previous slot, 0 or more.
    swipe : float, default 0.089
        Rate of a swipe from page 1 to page 2, 0 or more.
    swipe_on : float, default 2.578
        Rate of a swipe from a later page to the next one, 0 or more.
    swipe_back : float, default 0.5
        Rate of a swipe to the previous page, 0 or more.
    scroll : float, default 0.1033
        Rate of moving to the next row, 0 or more.
    scroll_back : float, default 0.1
        Rate of moving to the previous row, 0 or more.
    lost : float, default 0.02
        Rate of jumping to any cell, 0 or more.
    leave : float, default 0.008
        Rate of leaving, above 0.
    row_spread : float, default 0
        How far from the left edge a scroll lands, from 0 to 1.
    page_spread : float, default 0.8812
        How far from the edge a swipe lands, from 0 to 1.
    wrap : float, default 1
        Rate of a swipe from the last page to page 1 as a share of ``swipe_on``, from 0 to 1.

    Examples
    --------
    >>> import carouseval as cv
    >>> cv.discounts.MarkovScan(lost=0).weights(cv.Grid(1, 3, page_size=3)).round(3)
    array([[0.983, 0.975, 0.967]])
    """

    e: float = 0.9827
    back: float = 0.05
    swipe: float = 0.089
    swipe_on: float = 2.578
    swipe_back: float = 0.5
    scroll: float = 0.1033
    scroll_back: float = 0.1
    lost: float = 0.02
    leave: float = 0.008
    row_spread: float = 0
    page_spread: float = 0.8812
    wrap: float = 1

    allows_zero: ClassVar[bool] = True  # with some rates 0, some cells are never reached
    decays: ClassVar[tuple[str, ...]] = ("e",)
    shares: ClassVar[tuple[str, ...]] = ("row_spread", "page_spread", "wrap")
    limitation_of_counts: ClassVar[str] = (
        "Counts do not identify d_scan: other parameters fit about as well, and intervals hold near these values only. "
        "Fit it to scan paths."
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        require_float(f"{self.symbol}: leave", self.leave, above=0)  # or the chain would never end

    def weights(self, grid: Grid) -> Array:
        if any(isinstance(value, np.ndarray) for value in self.parameters.values()):  # many scans at once, in a fit
            flat = {name: np.ravel(value) for name, value in self.parameters.items()}
            return self._batch_weights(dict(zip(flat, np.broadcast_arrays(*flat.values()), strict=True)), grid)
        values = {name: np.array([value]) for name, value in self.parameters.items()}
        return np.asarray(self._batch_weights(values, grid)[0])

    def _batch_weights(self, values: dict[str, Any], grid: Grid) -> Array:
        moves = moves_on(grid)
        chances = moves.chances(values)
        band = as_band(moves.tail, moves.head, chances.moves, moves.states)
        cells = np.arange(moves.states)
        return solve(band, chances.leave, chances.start, chances.lost, moves.anywhere, cells, grid.shape)[1]

    def chain(self, grid: Grid) -> Chain:
        moves = moves_on(grid)
        chances = moves.chances({name: np.array([value]) for name, value in self.parameters.items()})
        lost = chances.lost[0]
        return Chain(
            shape=grid.shape,
            cell=np.arange(moves.states),
            start=chances.start[0],
            tail=moves.tail,
            head=moves.head,
            chance=chances.moves[0],
            leave=chances.leave[0],
            lost=lost,
            landing=moves.anywhere,
            swipes=moves.per_state(chances.moves[0] * moves.swipes) + lost * moves.lost_swipes,
            scrolls=moves.per_state(chances.moves[0] * moves.scrolls) + lost * moves.lost_scrolls,
        )


@dataclass(frozen=True, eq=False)
class Chances:
    """Probabilities of many scans on one grid."""

    start: Array  # (scans, states)
    moves: Array  # (scans, moves)
    leave: Array  # (scans, states)
    lost: Array  # (scans, states)


@dataclass(frozen=True, eq=False)
class Moves:
    """Every move that is possible on a grid, whatever its rate."""

    states: int
    tail: IntArray
    head: IntArray
    kind: IntArray  # which of KINDS
    spread: IntArray  # which spread it lands with
    distance: IntArray  # from the edge it lands at
    among: IntArray  # slots it may land on
    swipes: Array
    scrolls: Array
    possible: Array  # (states, kinds): 1 where a kind of move is possible
    first: IntArray  # the cells of row 1, page 1
    lost_swipes: Array  # (states,): the mean over where a jump lands
    lost_scrolls: Array

    @property
    def anywhere(self) -> Array:
        return np.full(self.states, 1 / self.states)

    def chances(self, values: dict[str, Any]) -> Chances:
        """Probabilities from parameters, each an array (scans,)."""
        values = values | {"on": np.ones_like(values["e"]), "wrap": values["swipe_on"] * values["wrap"]}
        rates = np.stack([np.broadcast_to(values[kind], np.shape(values["e"])) for kind in KINDS], axis=1)
        lost, leave = values["lost"][:, None], values["leave"][:, None]
        total = rates @ self.possible.T + lost + leave
        lands = np.stack(
            [
                np.ones((len(rates), len(self.tail))),
                _landing(values["row_spread"], self.distance, self.among),
                _landing(values["page_spread"], self.distance, self.among),
            ]
        )[self.spread, :, np.arange(len(self.tail))].T
        start = np.repeat(lost / self.states, self.states, axis=1)
        slots = np.full(len(self.first), len(self.first))
        start[:, self.first] += _landing(values["row_spread"], self.first, slots)
        start *= values["e"][:, None] / (1 + lost)
        return Chances(start, rates[:, self.kind] * lands / total[:, self.tail], leave / total, lost / total)

    def per_state(self, values: Array) -> Array:
        """Sums over the moves out of each state."""
        return np.bincount(self.tail, values, minlength=self.states).astype(np.float64)


def _landing(spread: Array, distance: IntArray, among: IntArray) -> Array:
    """spread^d over its sum for all distances below ``among``, (scans, moves)."""
    powers = spread[:, None] ** np.arange(among.max(initial=1))
    landing: Array = powers[:, distance] / np.cumsum(powers, axis=1)[:, among - 1]
    return landing


@lru_cache(maxsize=32)
def moves_on(grid: Grid) -> Moves:
    """The moves of a grid, row by row."""
    check_size(grid.rows * grid.cols, grid.cols)  # the longest moves lead from one end of a row to the other
    pages = _swipe_pages(grid)
    swipes = np.broadcast_to(grid.swipes, grid.shape)
    # swipes until all of a page shows, (row, page)
    page_swipes = [[int(row[page[-1]]) for page in row_pages] for row, row_pages in zip(swipes, pages, strict=True)]
    row_scrolls = grid.scrolls.ravel().tolist()
    moves: list[tuple[int, ...]] = []

    def lands(tail: int, kind: str, row: int, page: int, right: bool, spread: int, swipes: int, scrolls: int) -> None:
        slots = pages[row][page][::-1] if right else pages[row][page]
        for distance, col in enumerate(slots.tolist()):
            head = row * grid.cols + col
            moves.append((tail, head, KINDS.index(kind), spread, distance, len(slots), swipes, scrolls))

    for row, (row_pages, until) in enumerate(zip(pages, page_swipes, strict=True)):
        for page, slots in enumerate(row_pages):
            reading = slots if page == 0 else slots[::-1]
            for place, col in enumerate(reading.tolist()):
                tail = row * grid.cols + col
                for kind, to in (("on", place + 1), ("back", place - 1)):
                    if 0 <= to < len(reading):
                        head = row * grid.cols + int(reading[to])
                        moves.append((tail, head, KINDS.index(kind), _NO_SPREAD, 0, 1, 0, 0))
                if page + 1 < len(row_pages):
                    cost = until[page + 1] - until[page]
                    lands(tail, "swipe_on" if page else "swipe", row, page + 1, True, _PAGE, cost, 0)
                elif page:
                    lands(tail, "wrap", row, 0, True, _PAGE, 1, 0)
                if page:
                    lands(tail, "swipe_back", row, page - 1, False, _PAGE, until[page] - until[page - 1], 0)
                for kind, to in (("scroll", row + 1), ("scroll_back", row - 1)):
                    if 0 <= to < grid.rows:
                        lands(tail, kind, to, 0, False, _ROW, 0, abs(row_scrolls[to] - row_scrolls[row]))
    table = np.array(moves, dtype=np.int64).reshape(-1, 8).T
    states = grid.rows * grid.cols
    possible = np.zeros((states, len(KINDS)))
    possible[table[0], table[2]] = 1
    cell_swipes = [
        np.repeat(until, list(map(len, row_pages))) for row_pages, until in zip(pages, page_swipes, strict=True)
    ]
    lost_swipes, lost_scrolls = _lost_costs(grid, np.array(cell_swipes))
    return Moves(
        states=states,
        tail=table[0],
        head=table[1],
        kind=table[2],
        spread=table[3],
        distance=table[4],
        among=table[5],
        swipes=table[6].astype(np.float64),
        scrolls=table[7].astype(np.float64),
        possible=possible,
        first=pages[0][0],
        lost_swipes=lost_swipes,
        lost_scrolls=lost_scrolls,
    )


def _swipe_pages(grid: Grid) -> list[list[IntArray]]:
    """The columns, counted from 0, of every swipe page of every row."""
    first = np.broadcast_to(grid.slot == 1, grid.shape)
    return [np.split(np.arange(grid.cols), np.flatnonzero(row)[1:]) for row in first]


def _lost_costs(grid: Grid, until: IntArray) -> tuple[Array, Array]:
    """Mean swipes and scrolls of a jump: other rows show their first page, the current row the page it is on.

    ``until`` are the swipes until all of a cell's page shows, (rows, cols).
    """
    same_row = np.array([np.abs(row[:, None] - row).mean(axis=1) for row in until])
    other_rows = (until.sum() - until.sum(axis=1, keepdims=True)) / (max(1, grid.rows - 1) * grid.cols)
    swipes = (same_row + (grid.rows - 1) * other_rows) / grid.rows
    scrolls = np.abs(grid.scrolls - grid.scrolls.T).mean(axis=1)
    return swipes.ravel(), np.repeat(scrolls, grid.cols).astype(np.float64)
