"""Displayed ideals by the rule "first": against every order of rows on tiny pages, every set of rows on taller ones."""

import itertools
import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import carouseval as cv
from carouseval import _native
from tests.evaluation.table_oracle import Id, best_first_row


@dataclass
class Page:
    """Rows of items; those of gain 0 are not listed for the kernel."""

    rows: Sequence[Sequence[int]]
    gains: Mapping[int, float]
    fixed: set[int] = field(default_factory=set)

    def value(self, order: tuple[int, ...], weights: Any) -> float:
        above: set[int] = set()
        total = 0.0
        for place, row in enumerate(order):
            total += self.row_value(row, place, above, weights)
            above |= set(self.rows[row])
        return total

    def row_value(self, row: int, place: int, above: set[int], weights: Any) -> float:
        items = self.rows[row]
        fresh = {item: items.count(item) for item in items if item not in above and self.gains[item] > 0}
        if all(count == 1 for count in fresh.values()):
            heavy = sorted(weights[place][: len(items)], reverse=True)
            gains = sorted((self.gains[item] for item in fresh), reverse=True)
            return math.fsum(gain * weight for gain, weight in zip(gains, heavy, strict=False))
        copies: dict[Id, int] = dict(fresh.items())
        gains_of: dict[Id, float] = {item: self.gains[item] for item in fresh}
        return best_first_row(copies, gains_of, weights[place][: len(items)].tolist())

    def by_orders(self, weights: Any) -> float:
        orders = itertools.permutations(range(len(self.rows)))
        return max(self.value(order, weights) for order in orders if all(order[row] == row for row in self.fixed))

    def by_sets(self, weights: Any) -> float:
        """The same for taller pages: the best value of every set of rows on the first places."""
        best: dict[frozenset[int], float] = {frozenset(): 0.0}
        for place in range(len(self.rows)):
            after: dict[frozenset[int], float] = {}
            for rows, value in best.items():
                above = {item for row in rows for item in self.rows[row]}
                for row in range(len(self.rows)):
                    if row not in rows and (row == place if {row, place} & self.fixed else True):
                        both = rows | {row}
                        total = value + self.row_value(row, place, above, weights)
                        after[both] = max(after.get(both, 0.0), total)
            best = after
        (value,) = best.values()
        return value


def solve(pages: list[Page], weights: Any, width: int = 4096, threads: int = 1) -> Any:
    """What the kernel finds, without a bound or an order to begin with."""
    gains, item_rows, copies = [], [], []
    items_from_layouts, rows_of, heights = [0], [0], [0]
    for page in pages:
        for item, gain in page.gains.items():
            shown = [row for row, items in enumerate(page.rows) if gain > 0 and item in items]
            if shown:
                gains.append(gain)
                item_rows += shown
                copies += [page.rows[row].count(item) for row in shown]
                rows_of.append(len(item_rows))
        items_from_layouts.append(len(gains))
        heights.append(heights[-1] + len(page.rows))
    return _native.first_copy_ideals(
        np.array(gains),
        np.array(items_from_layouts),
        np.array(item_rows, np.int32),
        np.array(rows_of),
        np.array(copies, np.int32),
        np.array([len(row) for page in pages for row in page.rows], np.int32),
        np.array([row in page.fixed for page in pages for row in range(len(page.rows))]),
        np.array(heights),
        weights,
        np.full(len(pages), np.inf),
        np.full(heights[-1], -1, np.int32),
        width,
        threads,
    )


def random_page(rng: random.Random, rows: int, cols: int, *, items: int, copies: bool) -> Page:
    gains = {item: rng.choice([0.0, 1.0, 3.0, 7.0, rng.random()]) for item in range(items)}
    pick = rng.choices if copies else rng.sample
    shown = [pick(range(items), k=rng.randint(1, cols)) for _ in range(rows)]
    shown[0] = [0, *shown[0]][:cols]
    shown[-1] = [0, *shown[-1]][:cols]
    gains[0] = 1.0  # is shown twice, so that the page is searched
    return Page(shown, gains, {row for row in range(rows) if rng.random() < 0.15})


def some_weights(rng: random.Random, rows: int, cols: int) -> Any:
    if rng.random() < 0.5:
        return cv.discounts.RowPage().weights(cv.Grid(rows, cols, page_size=2))
    return np.array([[rng.choice([rng.random(), 0.5]) for _ in range(cols)] for _ in range(rows)])


@pytest.mark.parametrize("copies", [False, True])
def test_every_order_of_tiny_pages(copies: bool) -> None:
    rng = random.Random(1)
    for _ in range(150):
        rows, cols = rng.randint(2, 5), rng.randint(1, 4)
        weights = some_weights(rng, rows, cols)
        page = random_page(rng, rows, cols, items=rng.randint(cols, 9), copies=copies)
        for width in (4096, 3):  # all sets, and some that bounds choose
            (best,), (bound,), place, item_row, item_col = solve([page], weights, width)
            ideal = page.by_orders(weights)
            if width == 4096:
                assert bound == best == pytest.approx(ideal, rel=1e-12)
            assert best * (1 - 1e-12) <= ideal <= bound * (1 + 1e-12)
            assert page.value(tuple(np.argsort(place)), weights) == pytest.approx(best, rel=1e-12)
            assert all(place[row] == row for row in page.fixed)
        # every relevant item is in the first row that shows it, in a cell of its own
        gaining = [item for item, gain in page.gains.items() if gain > 0 and any(item in row for row in page.rows)]
        for item, row in zip(gaining, item_row, strict=True):
            assert place[row] == min(place[k] for k, items in enumerate(page.rows) if item in items)
        cells = {(int(place[row]), int(col)) for row, col in zip(item_row, item_col, strict=True)}
        assert len(cells) == len(gaining)
        counted = (
            page.gains[item] * weights[place[row], col]
            for item, row, col in zip(gaining, item_row, item_col, strict=True)
        )
        assert math.fsum(counted) == pytest.approx(best, rel=1e-12) or width == 3


@pytest.mark.parametrize("width", [4096, 20, 1])
def test_every_set_of_rows_of_taller_pages(width: int) -> None:
    """More rows than are tried without bounds; with few sets at each place the bound must hold."""
    rng = random.Random(width)
    proven = 0
    for _ in range(8):
        rows, cols = rng.randint(11, 12), rng.randint(2, 6)
        weights = some_weights(rng, rows, cols)
        page = random_page(rng, rows, cols, items=rng.randint(10, 25), copies=False)
        (best,), (bound,), *_ = solve([page], weights, width)
        assert best * (1 - 1e-12) <= page.by_sets(weights) <= bound * (1 + 1e-12)
        proven += best == bound
    assert proven == 8 if width == 4096 else proven < 8


def test_nine_items_each_shown_twice_in_three_rows() -> None:
    """There are 512 choices of the rows in which items count, and six orders of rows."""
    page = Page(
        [[0, 1, 2, 3, 4, 5], [3, 4, 5, 6, 7, 8], [6, 7, 8, 0, 1, 2]],
        {item: 2.0 ** (item % 3 + 1) - 1 for item in range(9)},
    )
    lines = [(1, row, col, item) for row, items in enumerate(page.rows, 1) for col, item in enumerate(items, 1)]
    layouts = dict(zip(("user_id", "row", "col", "item_id"), map(list, zip(*lines, strict=True)), strict=True))
    judgments = {"user_id": [1] * 9, "item_id": list(range(9)), "relevance": [item % 3 + 1 for item in range(9)]}
    result = cv.evaluate(layouts, judgments, grid=cv.Grid(3, 6), candidates="displayed", duplicates="first")
    ideal = page.by_orders(cv.discounts.RowPage().weights(cv.Grid(3, 6)))
    assert result.per_page["N2DCG_cat.ideal"].to_list() == pytest.approx([ideal], rel=1e-12)
    assert result.counts["bounded"] == 0


def genre_pages(rng: random.Random, count: int, rows: int, cols: int) -> list[Page]:
    """Films of one to four genres, each genre a row of its best films: about four in ten are shown more than once."""
    pages = []
    for _ in range(count):
        films = [rng.sample(range(rows), rng.choice([1, 1, 2, 2, 3, 4])) for _ in range(rng.randint(rows, 8 * rows))]
        gains = {film: float(2 ** rng.randint(1, 5) - 1) for film in range(len(films))}
        shown = [[film for film, genres in enumerate(films) if row in genres][:cols] for row in range(rows)]
        pages.append(Page([row or [0] for row in shown], gains))
    return pages


@pytest.mark.parametrize(("rows", "count"), [(10, 300), (18, 30)])
def test_pages_of_genres_are_proven(rows: int, count: int) -> None:
    weights = cv.discounts.RowPage().weights(cv.Grid(rows, 15))
    pages = genre_pages(random.Random(rows), count, rows, 15)
    best, bound, *_ = solve(pages, weights)
    assert (bound > best).sum() <= count // 100
    again = solve(pages, weights, threads=3)
    assert all(np.array_equal(one, other) for one, other in zip((best, bound, *_), again, strict=True))


def test_pages_too_tall_to_be_searched_are_bounded() -> None:
    rows = [[item, (item + 1) % 65] for item in range(65)]
    pages = [Page(rows, {item: 1.0 + item for item in range(65)})]
    best, bound, *_ = solve(pages, np.linspace(1, 0.1, 130).reshape(65, 2))
    assert (best > 0).all()
    assert np.isinf(bound).all()  # the bound given


def test_gains_of_any_size() -> None:
    """Scaled by powers of two, pages have the same ideals to the last bit."""
    rng = random.Random(4)
    pages = [random_page(rng, 12, 4, items=20, copies=False) for _ in range(5)]
    weights = some_weights(rng, 12, 4)
    best = solve(pages, weights)[0]
    for exponent in (1000, -900):
        scaled = [Page(page.rows, {i: math.ldexp(g, exponent) for i, g in page.gains.items()}) for page in pages]
        for page, one in zip(pages, scaled, strict=True):
            one.fixed = page.fixed
        assert np.array_equal(np.ldexp(solve(scaled, weights)[0], -exponent), best)
