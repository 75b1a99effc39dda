"""The definitions of the metric, written as plainly as possible.

Slow on purpose: scalar formulas, double loops and brute force, to judge the fast code by. Rows and columns count from 1
in the scalar formulas, as in the paper. A page is a list of rows, or a 2-D array; NaN marks a cell that holds nothing.
"""

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Gain = Callable[[float], float]
Page = Sequence[Sequence[float]] | NDArray[Any]
Category = tuple[int, Sequence[float]]  # how many cells it may fill, and the gains of its items


# --- discounts, one cell at a time ---


def row_page_size(page_size: int | Sequence[int], i: int) -> int:
    """The paper's delta of row i, from one number for all rows or one for each."""
    return page_size if isinstance(page_size, int) else page_size[i - 1]


def mirrored(j: int, delta: int) -> int:
    """The paper's j~: column j, with the order reversed inside every swipe page after the first."""
    if j <= delta:
        return j
    return delta * ((j - 1) // delta) + (delta - (j - 1) % delta)


def _actions(position: int, visible: int, step: int) -> int:
    """Count actions until a position is revealed, when `visible` are seen at first and each action reveals `step`."""
    actions = 0
    while visible + actions * step < position:
        actions += 1
    return actions


def swipes(j: int, visible: int, step: int) -> int:
    """n_h: swipes needed to see column j."""
    return _actions(j, visible, step)


def scrolls(i: int, visible: int, step: int) -> int:
    """n_v: scrolls needed to see row i."""
    return _actions(i, visible, step)


def weight(
    symbol: str,
    i: int,
    j: int,
    delta: int,
    swipe_visible: int,
    swipe_step: int,
    scroll_visible: int,
    scroll_step: int,
    **parameters: float,
) -> float:
    """The weight of cell (i, j) under one of the paper's six discounts, `lam` being its lambda, or a browsing model."""
    p = parameters
    if symbol == "d_rcb":
        return p["e"] * math.pow(p["kappa"], i - 1) * math.pow(p["beta"], j - 1)
    if symbol == "d_rpb":
        page, slot = (j - 1) // delta + 1, (j - 1) % delta + 1
        reached = p["e"] * math.pow(p["kappa"], i - 1)
        if page == 1:
            unseen_from_left = 1 - math.pow(p["beta"], slot - 1)
            unseen_from_right = 1 - p["w"] * math.pow(p["beta"], delta - slot)
            return reached * (1 - unseen_from_left * unseen_from_right)
        swipe = p["sigma1"] + (p["sigma1_top"] - p["sigma1"]) * math.pow(p["fade"], i - 1)
        return reached * swipe * math.pow(p["sigma2"], page - 2) * math.pow(p["rho"], delta - slot)
    n_h = swipes(j, swipe_visible, swipe_step)
    n_v = scrolls(i, scroll_visible, scroll_step)
    plain = p["alpha"] * i + p["beta"] * j
    mirror = p["alpha"] * i + p["beta"] * mirrored(j, delta)
    if symbol == "d_t":
        return 1 / math.log2(plain)
    if symbol == "d_a":
        return 1 / math.log2(plain + p["gamma"] * n_h + p["lam"] * n_v)
    if symbol == "d_mir":
        return 1 / math.log2(mirror)
    if symbol == "d_add":
        return 1 / math.log2(mirror + p["gamma"] * n_h + p["lam"] * n_v)
    if symbol == "d_mul":
        return 1 / math.log2(mirror) * math.pow(p["eta"], n_h) * math.pow(p["theta"], n_v)
    if symbol == "d_rpd":
        return 1 / math.log2(mirror) * (p["mu"] if j > delta else 1.0) * math.pow(p["nu"], i - 1)
    raise ValueError(f"no such discount: {symbol}")


def apply_cutoff(weights: ArrayLike, rows: int, cols: int) -> NDArray[np.float64]:
    """A copy of the weights in which every cell beyond the first `rows` rows or `cols` columns weighs 0."""
    table = np.array(weights, dtype=np.float64)
    for i in range(table.shape[0]):
        for j in range(table.shape[1]):
            if i >= rows or j >= cols:
                table[i, j] = 0.0
    return table


# --- the page as it is ---


def _table(weights: ArrayLike) -> list[list[float]]:
    """The weights as lists of plain floats."""
    return [[float(cell) for cell in row] for row in np.asarray(weights, dtype=np.float64)]


def _sum(terms: Iterable[float]) -> float:
    """The sum of terms of one sign; infinite beyond all floats."""
    try:
        return math.fsum(terms)
    except OverflowError:
        return math.inf


def page_dcg(relevance: Page, weights: ArrayLike, gain: Gain) -> float:
    """2DCG: gain times weight, summed over the occupied cells. The page may be smaller than the weights."""
    table = _table(weights)
    terms = []
    for i, row in enumerate(relevance):
        for j, cell in enumerate(row):
            if not math.isnan(cell):
                terms.append(gain(float(cell)) * table[i][j])
    return _sum(terms)


def displayed_categories(relevance: Page, gain: Gain) -> list[list[float]]:
    """The gains of each category a page displays.

    Every row down to the last occupied one is a category. Its list is as long as the column of its last item; a hole
    counts as an item of gain 0, and an empty row between occupied ones is an empty list.
    """
    categories: list[list[float]] = []
    for row in relevance:
        cells = [float(cell) for cell in row]
        while cells and math.isnan(cells[-1]):
            cells.pop()
        categories.append([0.0 if math.isnan(cell) else gain(cell) for cell in cells])
    while categories and not categories[-1]:
        categories.pop()
    return categories


# --- the best page allowed ---


def _dot(gains: Sequence[float], weights: Sequence[float]) -> float:
    return _sum(g * w for g, w in zip(gains, weights, strict=True))


def _filled(gains: Sequence[float], cells: int) -> list[float]:
    """The gains, with zeros added until there is one for each cell."""
    values = [float(g) for g in gains]
    return values + [0.0] * (cells - len(values))


def brute_category_ideal(categories: Sequence[Category], weights: ArrayLike) -> float:
    """The category ideal of a tiny page by trying everything.

    A row holds one category and a category at most one of rows 1..min(K, rows): every choice and order of categories is
    tried, and on each row every choice and order of the category's gains over the first cells it may fill. What happens
    on one row does not touch another, so a category's best arrangement on a row is found once.
    """
    table = _table(weights)
    used = min(len(categories), len(table))
    best_on = [[0.0] * used for _ in categories]
    for k, (slots, gains) in enumerate(categories):
        for i in range(used):
            cells = min(slots, len(table[i]))
            arrangements = itertools.permutations(_filled(gains, cells), cells)
            best_on[k][i] = max(_dot(arrangement, table[i][:cells]) for arrangement in arrangements)
    return max(
        math.fsum(best_on[k][i] for i, k in enumerate(order))
        for order in itertools.permutations(range(len(categories)), used)
    )


def assignment_category_ideal(categories: Sequence[Category], weights: ArrayLike) -> float:
    """The category ideal of a page of any size: sorting inside rows, SciPy's assignment between them."""
    from scipy.optimize import linear_sum_assignment

    table = _table(weights)
    used = min(len(categories), len(table))
    if used == 0:
        return 0.0
    best_on = np.zeros((len(categories), used))
    for k, (slots, gains) in enumerate(categories):
        for i in range(used):
            cells = min(slots, len(table[i]))
            largest = sorted(_filled(gains, cells), reverse=True)[:cells]
            best_on[k, i] = _dot(largest, sorted(table[i][:cells], reverse=True))
    chosen, rows = linear_sum_assignment(best_on, maximize=True)
    return math.fsum(float(best_on[k, i]) for k, i in zip(chosen, rows, strict=True))


def brute_unconstrained_ideal(gains: Sequence[float], weights: ArrayLike) -> float:
    """The unconstrained ideal of a tiny page (8 cells at most): every arrangement of the gains over all cells."""
    cells = [cell for row in _table(weights) for cell in row]
    if len(cells) > 8:
        raise ValueError(f"{len(cells)} cells are too many to try every arrangement; at most 8")
    arrangements = itertools.permutations(_filled(gains, len(cells)), len(cells))
    return max(_dot(arrangement, cells) for arrangement in arrangements)


def sorted_unconstrained_ideal(gains: Sequence[float], weights: ArrayLike) -> float:
    """The unconstrained ideal of a page of any size: the largest gains on the largest weights."""
    cells = sorted((cell for row in _table(weights) for cell in row), reverse=True)
    largest = sorted(_filled(gains, len(cells)), reverse=True)[: len(cells)]
    return _dot(largest, cells)


# --- the page read as one list ---


def _list_dcg_of_gains(gains: Sequence[float], k: int | None) -> float:
    shown = gains if k is None else gains[:k]
    return math.fsum(g / math.log2(j + 1) for j, g in enumerate(shown, start=1))


def _list_gains(relevance: Page, gain: Gain) -> list[float]:
    return [gain(float(cell)) for row in relevance for cell in row if not math.isnan(cell)]


def list_dcg(relevance: Page, gain: Gain, k: int | None = None) -> float:
    """DCG (equation 1 of the paper) of the occupied cells read row by row, down to rank k."""
    return _list_dcg_of_gains(_list_gains(relevance, gain), k)


def list_ndcg(relevance: Page, gain: Gain, k: int | None = None) -> float:
    """DCG over the largest DCG of the same items (equation 2 of the paper); NaN where that is 0."""
    gains = _list_gains(relevance, gain)
    ideal = _list_dcg_of_gains(sorted(gains, reverse=True), k)
    return _list_dcg_of_gains(gains, k) / ideal if ideal > 0 else math.nan


# --- what is in view ---


def _cells(relevance: Page) -> list[tuple[int, int, float]]:
    """Row and column, from 1, and relevance of every occupied cell, in reading order."""
    return [
        (i, j, float(cell))
        for i, row in enumerate(relevance, start=1)
        for j, cell in enumerate(row, start=1)
        if not math.isnan(cell)
    ]


def _in_view(relevance: Page, cutoff: tuple[int, int] | None) -> list[float]:
    """The relevances of the occupied cells of the first rows and columns; without a cutoff, of the page."""
    rows, cols = cutoff or (math.inf, math.inf)
    return [value for i, j, value in _cells(relevance) if i <= rows and j <= cols]


def view_precision(relevance: Page, gain: Gain, cutoff: tuple[int, int] | None = None) -> float:
    """The share of the occupied cells in view that gain; 0 in an empty view."""
    shown = _in_view(relevance, cutoff)
    return sum(gain(value) > 0 for value in shown) / len(shown) if shown else 0.0


def view_recall(relevance: Page, gain: Gain, cutoff: tuple[int, int] | None = None) -> float:
    """The share of the cells that gain which are in view; NaN where none gains."""
    relevant = sum(gain(value) > 0 for _, _, value in _cells(relevance))
    return sum(gain(value) > 0 for value in _in_view(relevance, cutoff)) / relevant if relevant else math.nan


def view_hit(relevance: Page, gain: Gain, cutoff: tuple[int, int] | None = None) -> float:
    """1 if a cell in view gains, else 0."""
    return 1.0 if any(gain(value) > 0 for value in _in_view(relevance, cutoff)) else 0.0


def reciprocal_rank(relevance: Page, weights: ArrayLike, gain: Gain) -> float:
    """1 over the rank of the first cell that gains; the heaviest occupied cell comes first, ties in reading order."""
    table = _table(weights)
    ranked = sorted(_cells(relevance), key=lambda cell: -table[cell[0] - 1][cell[1] - 1])  # sorting is stable
    for rank, (_, _, value) in enumerate(ranked, start=1):
        if gain(value) > 0:
            return 1 / rank
    return 0.0
