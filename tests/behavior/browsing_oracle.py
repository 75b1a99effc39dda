"""The browsing models, written as plainly as possible: every path a person may take, or the mass on every state.

Slow on purpose, to judge the fast code by. Rows, columns, swipe pages and slots count from 1 in here, as in the
definitions; the cells of what is returned count from 0. Of a grid only its fields are used. Results are exact where
the parameters are fractions, except those of the Markov scan, which never ends by itself.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

import carouseval as cv
from tests import oracles

Number: TypeAlias = Fraction | float
Cell: TypeAlias = tuple[int, int]
Parameters: TypeAlias = Mapping[str, Any]
Gains: TypeAlias = Sequence[Sequence[Number]] | NDArray[Any]


@dataclass(frozen=True)
class Outcome:
    """One path, or a part of one: how probable it is, the cells looked at in order (from 0), and its actions."""

    probability: Number
    looks: tuple[Cell, ...] = ()
    swipes: int = 0
    scrolls: int = 0


@dataclass(frozen=True)
class Summary:
    """What browsing comes to; `weights` and `visits` are rows of cells, `total` and `variance` count an item once."""

    weights: list[list[Number]]  # P(the cell is examined at least once)
    visits: list[list[Number]]
    looks: Number
    swipes: Number
    scrolls: Number
    total: Number
    variance: Number
    browsing: Number = 0  # the probability that was still browsing when the count was ended


# --- the page ---


def page_size(i: int, grid: cv.Grid) -> int:
    """The page size of a row."""
    return oracles.row_page_size(grid.page_size, i)


def _swipes_to(i: int, j: int, grid: cv.Grid) -> int:
    """n_h of a cell."""
    return oracles.swipes(j, page_size(i, grid), grid.swipe_step or page_size(i, grid))


def _scrolls_to(i: int, grid: cv.Grid) -> int:
    """n_v of a row."""
    return oracles.scrolls(i, grid.visible_rows, grid.scroll_step)


def _page(i: int, j: int, grid: cv.Grid) -> int:
    """The swipe page of a cell."""
    return (j - 1) // page_size(i, grid) + 1


def _columns(i: int, page: int, grid: cv.Grid) -> list[int]:
    """The columns a swipe page of a row has, from the left; none beyond the last page."""
    return [j for j in range(1, grid.cols + 1) if _page(i, j, grid) == page]


def _pages(i: int, grid: cv.Grid) -> int:
    return _page(i, grid.cols, grid)


def _swipes_to_page(i: int, page: int, grid: cv.Grid) -> int:
    """Swipes until the whole of a swipe page of a row shows."""
    return _swipes_to(i, _columns(i, page, grid)[-1], grid)


# --- every path of the acyclic models ---


def _one_after_the_other(firsts: Iterable[Outcome], seconds: Sequence[Outcome]) -> list[Outcome]:
    """Every first part followed by every second part."""
    return [
        Outcome(a.probability * b.probability, a.looks + b.looks, a.swipes + b.swipes, a.scrolls + b.scrolls)
        for a in firsts
        for b in seconds
    ]


def _scan(row: int, page: int, slots: Sequence[int], go_on: Number, grid: cv.Grid) -> list[Outcome]:
    """Every way to pass slots in order, each after the first with probability `go_on`.

    A slot the page does not have is passed like any other, and not looked at.
    """
    outcomes = []
    for passed in range(1, len(slots) + 1):
        stops = 1 - go_on if passed < len(slots) else 1
        columns = [(page - 1) * page_size(row, grid) + slot for slot in slots[:passed]]
        looks = tuple((row - 1, j - 1) for j in columns if j <= grid.cols)
        outcomes.append(Outcome(go_on ** (passed - 1) * stops, looks))
    return outcomes


def _row_after_row(parameters: Parameters, grid: cv.Grid, rows: Sequence[Sequence[Outcome]]) -> list[Outcome]:
    """Whole paths, given every way to browse each row: rows follow each other whatever happens inside them."""
    e, kappa = parameters["e"], parameters["kappa"]
    left = [Outcome(1 - e)]
    browsing = [Outcome(e)]
    for i, inside in enumerate(rows, start=1):
        browsing = _one_after_the_other(browsing, inside)
        if i < grid.rows:
            scrolls = _scrolls_to(i + 1, grid) - _scrolls_to(i, grid)
            left += _one_after_the_other(browsing, [Outcome(1 - kappa)])
            browsing = _one_after_the_other(browsing, [Outcome(kappa, scrolls=scrolls)])
    return left + browsing


def _first_swipe(parameters: Parameters, row: int) -> Any:
    """s_i: the probability of the swipe from page 1 to page 2 in row i; 0^0 is 1."""
    sigma1, top = parameters["sigma1"], parameters["sigma1_top"]
    return sigma1 + (top - sigma1) * parameters["fade"] ** (row - 1)


def _row_page_row(parameters: Parameters, grid: cv.Grid, row: int) -> list[Outcome]:
    """Every way to browse one row page by page."""
    beta, rho, w = parameters["beta"], parameters["rho"], parameters["w"]
    leftwards = range(page_size(row, grid), 0, -1)  # from the place of slot delta, also where the page ends before it
    backward = _one_after_the_other([Outcome(w)], _scan(row, 1, leftwards, beta, grid))
    browsing = _scan(row, 1, range(1, min(page_size(row, grid), grid.cols) + 1), beta, grid)
    browsing = _one_after_the_other(browsing, [Outcome(1 - w), *backward])
    left: list[Outcome] = []
    for page in range(2, _pages(row, grid) + 1):
        swipe = _first_swipe(parameters, row) if page == 2 else parameters["sigma2"]
        swipes = _swipes_to_page(row, page, grid) - _swipes_to_page(row, page - 1, grid)
        left += _one_after_the_other(browsing, [Outcome(1 - swipe)])
        browsing = _one_after_the_other(browsing, [Outcome(swipe, swipes=swipes)])
        browsing = _one_after_the_other(browsing, _scan(row, page, leftwards, rho, grid))
    return left + browsing


def row_page_outcomes(parameters: Parameters, grid: cv.Grid) -> list[Outcome]:
    """Row-page browsing: all paths, each a choice at every fork. An item met on both scans of page 1 is two looks."""
    return _row_after_row(parameters, grid, [_row_page_row(parameters, grid, i) for i in range(1, grid.rows + 1)])


def row_column_outcomes(parameters: Parameters, grid: cv.Grid) -> list[Outcome]:
    """Row-and-column browsing: all paths, a number of columns in each row down to the last one."""
    rows = []
    for i in range(1, grid.rows + 1):
        ways = []
        for j in range(1, grid.cols + 1):
            stops = 1 - parameters["beta"] if j < grid.cols else 1
            looks = tuple((i - 1, column - 1) for column in range(1, j + 1))
            swipes = sum(_swipes_to(i, column + 1, grid) - _swipes_to(i, column, grid) for column in range(1, j))
            ways.append(Outcome(parameters["beta"] ** (j - 1) * stops, looks, swipes))
        rows.append(ways)
    return _row_after_row(parameters, grid, rows)


def _mean_and_variance(totals: Sequence[tuple[Number, Number]]) -> tuple[Number, Number]:
    """Of pairs of a probability and a value."""
    mean = sum(probability * value for probability, value in totals)
    return mean, sum(probability * (value - mean) ** 2 for probability, value in totals)


def summary(outcomes: Sequence[Outcome], grid: cv.Grid, gains: Gains) -> Summary:
    """What the paths come to, by adding them up."""
    weights: list[list[Number]] = [[0] * grid.cols for _ in range(grid.rows)]
    visits: list[list[Number]] = [[0] * grid.cols for _ in range(grid.rows)]
    totals: list[tuple[Number, Number]] = []
    for outcome in outcomes:
        for row, col in outcome.looks:
            visits[row][col] += outcome.probability
        for row, col in set(outcome.looks):
            weights[row][col] += outcome.probability
        # in the order of the page: a sum of floats depends on its order, and sets have none
        totals.append((outcome.probability, sum(gains[row][col] for row, col in sorted(set(outcome.looks)))))
    mean, variance = _mean_and_variance(totals)
    return Summary(
        weights,
        visits,
        looks=sum(outcome.probability * len(outcome.looks) for outcome in outcomes),
        swipes=sum(outcome.probability * outcome.swipes for outcome in outcomes),
        scrolls=sum(outcome.probability * outcome.scrolls for outcome in outcomes),
        total=mean,
        variance=variance,
    )


# --- the Markov scan, step by step ---


@dataclass(frozen=True)
class Step:
    """One way to go on from a cell: its probability, the cell it leads to (from 1; None: away), and its actions."""

    probability: float
    to: Cell | None
    swipes: int = 0
    scrolls: int = 0


def _landing(row: int, nearest_first: Sequence[int], spread: float) -> dict[Cell, float]:
    """Where one lands in a row: at distance d from the first of the columns, proportional to spread^d; 0^0 is 1."""
    shares = [float(spread**d) for d in range(len(nearest_first))]
    return {(row, j): share / sum(shares) for j, share in zip(nearest_first, shares, strict=True)}


def scan_start(parameters: Parameters, grid: cv.Grid) -> dict[Cell, float]:
    """The probability of the first look at each cell (from 1); they sum to e.

    It lands on row 1, page 1 or, at the rate `lost` against 1, on any cell.
    """
    landing = _landing(1, _columns(1, 1, grid), parameters["row_spread"])
    lost = float(parameters["lost"])
    cells = [(i, j) for i in range(1, grid.rows + 1) for j in range(1, grid.cols + 1)]
    return {cell: float(parameters["e"]) * (landing.get(cell, 0.0) + lost / len(cells)) / (1 + lost) for cell in cells}


def scan_steps(parameters: Parameters, grid: cv.Grid, cell: Cell) -> list[Step]:
    """Every way to go on from a cell (from 1). Without leaving, a scan would have no end: `leave` must be positive."""
    if not parameters["leave"] > 0:
        raise ValueError(f"leave must be positive, found {parameters['leave']}")
    q = {name: float(value) for name, value in parameters.items()}
    i, j = cell
    page = _page(i, j, grid)
    pages = _pages(i, grid)
    here = _columns(i, page, grid)
    steps = [Step(q["leave"], None)]  # with rates in place of probabilities, until all are known

    on, back = (j + 1, j - 1) if page == 1 else (j - 1, j + 1)
    steps += [Step(1.0, (i, on))] if on in here else []
    steps += [Step(q["back"], (i, back))] if back in here else []

    forward = q["swipe"] if page == 1 else q["swipe_on"]
    if page < pages:
        actions = abs(_swipes_to_page(i, page + 1, grid) - _swipes_to_page(i, page, grid))
        landing = _landing(i, _columns(i, page + 1, grid)[::-1], q["page_spread"])
        steps += [Step(forward * share, to, swipes=actions) for to, share in landing.items()]
    elif parameters["wrap"] and pages > 1:  # a share of the rate
        landing = _landing(i, _columns(i, 1, grid)[::-1], q["page_spread"])
        steps += [Step(forward * q["wrap"] * share, to, swipes=1) for to, share in landing.items()]
    if page > 1:
        actions = abs(_swipes_to_page(i, page, grid) - _swipes_to_page(i, page - 1, grid))
        landing = _landing(i, _columns(i, page - 1, grid), q["page_spread"])
        steps += [Step(q["swipe_back"] * share, to, swipes=actions) for to, share in landing.items()]

    for row, rate in (i + 1, q["scroll"]), (i - 1, q["scroll_back"]):
        if 1 <= row <= grid.rows:
            actions = abs(_scrolls_to(row, grid) - _scrolls_to(i, grid))
            landing = _landing(row, _columns(row, 1, grid), q["row_spread"])
            steps += [Step(rate * share, to, scrolls=actions) for to, share in landing.items()]

    for row in range(1, grid.rows + 1):
        for column in range(1, grid.cols + 1):
            there = _swipes_to_page(row, _page(row, column, grid), grid)
            swipes = abs(there - _swipes_to_page(i, page, grid)) if row == i else there
            scrolls = abs(_scrolls_to(row, grid) - _scrolls_to(i, grid))
            steps.append(Step(q["lost"] / (grid.rows * grid.cols), (row, column), swipes, scrolls))

    rates = sum(step.probability for step in steps)
    return [replace(step, probability=step.probability / rates) for step in steps]


def scan_summary(parameters: Parameters, grid: cv.Grid, gains: Gains, remainder: float = 1e-13) -> Summary:
    """The Markov scan on a tiny page, by moving the probability of (cell, cells seen) on, step by step.

    Ends when less than `remainder` is still browsing, and counts that rest as leaving then and there. `browsing` says
    how much it was: weights are short of the truth by at most that, visits by at most that times the number of visits
    still to be expected, which is below 1 / (the smallest probability of leaving).
    """
    cells = [(i, j) for i in range(1, grid.rows + 1) for j in range(1, grid.cols + 1)]
    bit = {cell: 1 << number for number, cell in enumerate(cells)}
    # steps to the same cell are added up first, and a cell's actions with them: they do not depend on what was seen
    leads: dict[Cell, dict[Cell, float]] = {}
    leaves: dict[Cell, float] = {}
    actions: dict[Cell, tuple[float, float]] = {}
    for cell in cells:
        leads[cell] = defaultdict(float)
        steps = scan_steps(parameters, grid, cell)
        for step in steps:
            if step.to is not None:
                leads[cell][step.to] += step.probability
        leaves[cell] = sum(step.probability for step in steps if step.to is None)
        actions[cell] = (
            sum(step.probability * step.swipes for step in steps),
            sum(step.probability * step.scrolls for step in steps),
        )

    start = scan_start(parameters, grid)
    mass = {(cell, bit[cell]): share for cell, share in start.items()}
    visits = {cell: start.get(cell, 0.0) for cell in cells}
    gone: dict[int, float] = defaultdict(float)  # how probable it is to have left with each set of cells seen
    gone[0] = 1.0 - float(parameters["e"])
    swipes = scrolls = 0.0
    while sum(mass.values()) >= remainder:
        after: dict[tuple[Cell, int], float] = defaultdict(float)
        for (cell, seen), share in mass.items():
            gone[seen] += share * leaves[cell]
            swipes += share * actions[cell][0]
            scrolls += share * actions[cell][1]
            for to, probability in leads[cell].items():
                visits[to] += share * probability
                after[to, seen | bit[to]] += share * probability
        mass = after
    for (_, seen), share in mass.items():
        gone[seen] += share

    totals: list[tuple[Number, Number]] = [
        (share, sum(float(gains[i - 1][j - 1]) for i, j in cells if seen & bit[i, j])) for seen, share in gone.items()
    ]
    mean, variance = _mean_and_variance(totals)
    examined = {cell: sum(share for seen, share in gone.items() if seen & bit[cell]) for cell in cells}
    return Summary(
        [[examined[i, j] for j in range(1, grid.cols + 1)] for i in range(1, grid.rows + 1)],
        [[visits[i, j] for j in range(1, grid.cols + 1)] for i in range(1, grid.rows + 1)],
        looks=sum(visits.values()),
        swipes=swipes,
        scrolls=scrolls,
        total=mean,
        variance=variance,
        browsing=sum(mass.values()),
    )


# --- people, one at a time ---


def draw_row_page(parameters: Parameters, grid: cv.Grid, rng: np.random.Generator, people: int) -> NDArray[np.bool_]:
    """Which cells each of some people examines when browsing rows and pages, of shape (people, rows, cols)."""
    q = {name: float(value) for name, value in parameters.items()}
    cols, random = grid.cols, rng.random
    examined = np.zeros((people, grid.rows, cols), dtype=np.bool_)
    for person in range(people):
        if random() >= q["e"]:
            continue
        for row in range(grid.rows):
            cells, delta = examined[person, row], page_size(row + 1, grid)
            col = 0
            cells[col] = True
            while col + 1 < min(delta, cols) and random() < q["beta"]:
                col += 1
                cells[col] = True
            if random() < q["w"]:
                _look_leftwards(cells, 0, delta, q["beta"], rng)
            first, swipe = delta, float(_first_swipe(q, row + 1))
            while first < cols and random() < swipe:
                _look_leftwards(cells, first, delta, q["rho"], rng)
                first, swipe = first + delta, q["sigma2"]
            if random() >= q["kappa"]:
                break
    return examined


def _look_leftwards(cells: NDArray[np.bool_], first: int, delta: int, go_on: float, rng: np.random.Generator) -> None:
    """Mark what is met from the last place of a swipe page, which starts at column `first` (from 0), leftwards."""
    col = first + delta - 1
    while True:
        if col < len(cells):
            cells[col] = True
        if col == first or rng.random() >= go_on:
            return
        col -= 1


def draw_scan(parameters: Parameters, grid: cv.Grid, rng: np.random.Generator, people: int) -> list[list[Cell]]:
    """The cells (from 0) that each of some people visits in a Markov scan, in order.

    Nothing of `scan_steps` is used: a person chooses a move, and then where to land.
    """
    if not parameters["leave"] > 0:
        raise ValueError(f"leave must be positive, found {parameters['leave']}")
    q = {name: float(value) for name, value in parameters.items()}
    random = rng.random
    delta = [page_size(i, grid) for i in range(1, grid.rows + 1)]  # here even pages and slots count from 0
    width = [[min(size, grid.cols - first) for first in range(0, grid.cols, size)] for size in delta]

    def choose(shares: Sequence[float]) -> int:
        rest = random() * sum(shares)
        for number, share in enumerate(shares):
            rest -= share
            if rest < 0:
                return number
        return max(number for number, share in enumerate(shares) if share > 0)  # rounding left something over

    def distance(row: int, page: int, spread: float) -> int:
        return choose([spread**d for d in range(width[row][page])])

    def anywhere() -> tuple[int, int, int]:
        row, col = divmod(int(random() * grid.rows * grid.cols), grid.cols)
        return row, *divmod(col, delta[row])

    moves: dict[tuple[int, int, int], tuple[list[str], list[float]]] = {}

    def possible(row: int, page: int, slot: int) -> tuple[list[str], list[float]]:
        last, pages = width[row][page] - 1, len(width[row])
        at_end, at_start = (slot == last, slot == 0) if page == 0 else (slot == 0, slot == last)
        swipe = q["swipe"] if page == 0 else q["swipe_on"]
        rates = {
            "on": 0.0 if at_end else 1.0,
            "back": 0.0 if at_start else q["back"],
            "swipe": swipe * (1.0 if page + 1 < pages else q["wrap"] * (pages >= 2)),
            "swipe_back": q["swipe_back"] if page > 0 else 0.0,
            "scroll": q["scroll"] if row + 1 < grid.rows else 0.0,
            "scroll_back": q["scroll_back"] if row > 0 else 0.0,
            "lost": q["lost"],
            "leave": q["leave"],
        }
        return list(rates), list(rates.values())

    paths = []
    for _ in range(people):
        path: list[Cell] = []
        paths.append(path)
        if random() >= q["e"]:
            continue
        row, page, slot = 0, 0, distance(0, 0, q["row_spread"])
        if choose([1.0, q["lost"]]) == 1:
            row, page, slot = anywhere()
        while True:
            path.append((row, page * delta[row] + slot))
            place = (row, page, slot)
            if place not in moves:
                moves[place] = possible(*place)
            names, rates = moves[place]
            move = names[choose(rates)]
            if move == "leave":
                break
            if move in ("on", "back"):
                slot += 1 if (move == "on") == (page == 0) else -1
            elif move == "swipe":
                page = (page + 1) % len(width[row])
                slot = width[row][page] - 1 - distance(row, page, q["page_spread"])
            elif move == "swipe_back":
                page -= 1
                slot = distance(row, page, q["page_spread"])
            elif move in ("scroll", "scroll_back"):
                row += 1 if move == "scroll" else -1
                page, slot = 0, distance(row, 0, q["row_spread"])
            else:
                row, page, slot = anywhere()
    return paths
