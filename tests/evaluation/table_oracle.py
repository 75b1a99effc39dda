"""The judging of tables, written as plainly as possible: lists of dicts in, plain numbers out.

Slow on purpose. The category ideals try everything: every choice of homes and every placement of categories
(candidates="judged"), every order of rows and of cells (candidates="displayed"). `smart=True` derives the same ideals a
second way (matchings of items to cells), to judge the first by. Rows and columns count from 1.

A metric is a tuple of its name, its parameter and, if it has one of its own, its gain. The name starts with one of
KINDS, may say anything in between, and may end in a cutoff: "N2DCG_cat(d_rpd)@2x3". The parameter of a page metric is
its rows x cols weights before the cutoff, a function of (rows, cols) that gives them, or the weights on each of several
grids; that of a list metric is k, or None for no end; metrics of what is in view (VIEWS) have None.

Pages have one grid, or that of their segment: `grids` maps the values of the column `by` to (rows, cols).
"""

import itertools
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

import numpy as np

from tests.oracles import apply_cutoff, weight

Id = int | str
Line = Mapping[str, Any]
Table = Sequence[Sequence[float]]
Gain = str | Callable[[float], float]
Parameter = Table | Callable[[int, int], Table] | Mapping[Id, Table] | int | None
Metric = tuple[str, Parameter] | tuple[str, Parameter, Gain]
Grids = Mapping[Id | None, tuple[int, int]]  # segment (None: one grid for all) -> rows, cols
Gains = Mapping[Id, float]
Cell = tuple[int, int, Id]  # row, col, item
PageKey = tuple[Id, Id | None]  # user, and page where judgments name pages
Members = Mapping[Id, frozenset[Id]]  # category -> its items

VIEWS = ("Precision", "Recall", "Hit")
KINDS = ("N2DCG_cat", "N2DCG", "2DCG", "NDCG", "DCG", *VIEWS, "RR")  # a kind before the kinds that are its beginning
NORMALISED = ("N2DCG_cat", "N2DCG", "NDCG")


class RefusedError(ValueError):
    """What the policies in force, or the form of the tables, do not allow; the reason's name comes first."""


# --- metrics ---


def kind_of(name: str) -> str:
    """Which of KINDS a metric is, by the start of its name."""
    for kind in KINDS:
        if name.startswith(kind):
            return kind
    raise RefusedError(f"metric: {name!r} is none of {KINDS}")


def weights_of(metric: Metric, rows: int, cols: int, segment: Id | None = None) -> list[list[float]]:
    """The weights of a metric: of every cell of the grid, or as a single row of every rank of the list."""
    name, parameter = metric[0], metric[1]
    if isinstance(parameter, Mapping):
        parameter = parameter[segment] if segment is not None else None
    if kind_of(name) in ("NDCG", "DCG"):
        if not (parameter is None or isinstance(parameter, int)):
            raise RefusedError(f"metric: {name} takes a number of ranks, got {parameter!r}")
        end = math.inf if parameter is None else parameter
        return [[1 / math.log2(rank + 1) if rank <= end else 0.0 for rank in range(1, rows * cols + 1)]]
    if kind_of(name) in VIEWS:
        parameter = [[1.0] * cols for _ in range(rows)]
    if parameter is None or isinstance(parameter, int):
        raise RefusedError(f"metric: {name} takes weights, got {parameter!r}")
    table = parameter(rows, cols) if callable(parameter) else parameter
    if len(table) != rows or any(len(row) != cols for row in table):
        raise RefusedError(f"metric: the weights of {name} are not {rows} x {cols}")
    cutoff = re.search(r"@(\d+)x(\d+)$", name)
    if cutoff:
        table = apply_cutoff(table, int(cutoff[1]), int(cutoff[2])).tolist()
    return [[float(cell) for cell in row] for row in table]


DEFAULTS: dict[str, dict[str, float]] = {
    "d_t": {"alpha": 7, "beta": 6},
    "d_a": {"alpha": 2, "beta": 1, "gamma": 9, "lam": 1},
    "d_mir": {"alpha": 10, "beta": 9},
    "d_add": {"alpha": 2, "beta": 1, "gamma": 9, "lam": 1},
    "d_mul": {"alpha": 1, "beta": 9, "eta": 0.9, "theta": 0.95},
    "d_rpd": {"alpha": 4, "beta": 9, "mu": 0.65, "nu": 0.95},
}


def paper_weights(
    symbol: str,
    rows: int,
    cols: int,
    page_size: int | Sequence[int] = 5,
    visible_rows: int = 3,
    **parameters: float,
) -> list[list[float]]:
    """The weights of one of the paper's discounts on a grid that swipes by pages, of one size or one for each row."""
    given = {**DEFAULTS[symbol], **parameters}
    sizes = [page_size] * rows if isinstance(page_size, int) else page_size
    if len(sizes) != rows:
        raise RefusedError(f"page_size: {len(sizes)} page sizes for {rows} rows")
    return [
        [weight(symbol, i, j, size, size, size, visible_rows, 1, **given) for j in range(1, cols + 1)]
        for i, size in enumerate(sizes, start=1)
    ]


# --- tables ---


@dataclass
class Page:
    """One page of one user: what stands where, under which labels, and which rows are pinned."""

    user: Id
    page: Id | None
    segment: Id | None = None  # whose grid it has
    items: dict[tuple[int, int], Id] = field(default_factory=dict)
    labels: dict[tuple[int, int], Id | None] = field(default_factory=dict)
    pinned: set[int] = field(default_factory=set)

    def cells(self) -> list[Cell]:
        """The occupied cells in reading order."""
        return [(i, j, self.items[i, j]) for i, j in sorted(self.items)]

    def contents(self) -> list[list[Id | None]]:
        """Every row down to the last occupied one, as far as its last item; None is a hole."""
        last = max(i for i, _ in self.items)
        rows: list[list[Id | None]] = []
        for row in range(1, last + 1):
            size = max((j for i, j in self.items if i == row), default=0)
            rows.append([self.items.get((row, j)) for j in range(1, size + 1)])
        return rows

    def row_labels(self) -> dict[int, Id | None]:
        """The label of every occupied row: that of its leftmost cell."""
        labels: dict[int, Id | None] = {}
        for i, j in sorted(self.items):
            labels.setdefault(i, self.labels.get((i, j)))
        return labels

    def row_sizes(self) -> dict[int, int]:
        """The last occupied column of every occupied row."""
        sizes: dict[int, int] = {}
        for i, j in self.items:
            sizes[i] = max(sizes.get(i, 0), j)
        return sizes


def read_pages(layouts: Sequence[Line], grids: Grids, by: str | None = None) -> dict[PageKey, Page]:
    """The pages of a layouts table, in order of their first lines."""
    pages: dict[PageKey, Page] = {}
    for line in layouts:
        key = (line["user_id"], line.get("page_id"))
        segment = line[by] if by is not None else None
        page = pages.setdefault(key, Page(*key, segment))
        if page.segment != segment or segment not in grids:
            raise RefusedError(f"segment: {key} has no grid, or two")
        rows, cols = grids[segment]
        cell = (line["row"], line["col"])
        if not (1 <= cell[0] <= rows and 1 <= cell[1] <= cols):
            raise RefusedError(f"cell: {key} {cell} is outside the {rows} x {cols} grid")
        if cell in page.items:
            raise RefusedError(f"cell: {key} {cell} appears twice")
        page.items[cell] = line["item_id"]
        page.labels[cell] = line.get("category")
        if line.get("pinned"):
            page.pinned.add(cell[0])
    return pages


def read_judgments(judgments: Sequence[Line], gain: Callable[[float], float]) -> dict[PageKey, dict[Id, float]]:
    """The gains of judged items, by user, or by (user, page) where judgments name pages."""
    judgment_sets: dict[PageKey, dict[Id, float]] = {}
    for line in judgments:
        gains_of_set = judgment_sets.setdefault((line["user_id"], line.get("page_id")), {})
        relevance = float(line["relevance"])
        if not (math.isfinite(relevance) and relevance >= 0):
            raise RefusedError(f"relevance: {relevance} is not a finite number from 0")
        if line["item_id"] in gains_of_set:
            raise RefusedError(f"judgment: {line} appears twice")
        gains_of_set[line["item_id"]] = float(gain(relevance))
    return judgment_sets


def members_for(user: Id, items: Iterable[Line]) -> Members:
    """The categories of a user and the distinct items of each: those for everyone and those personal to the user."""
    members: dict[Id, set[Id]] = {}
    for line in items:
        if line.get("user_id") is None or line["user_id"] == user:
            members.setdefault(line["category"], set()).add(line["item_id"])
    return {category: frozenset(its) for category, its in members.items()}


def gain_function(gain: Gain) -> Callable[[float], float]:
    """What a judgment is worth."""
    if callable(gain):
        return gain
    functions: dict[str, Callable[[float], float]] = {"exp2": lambda rel: 2.0**rel - 1.0, "linear": lambda rel: rel}
    return functions[gain]


# --- carousels ---


@dataclass
class Carousels:
    """Which rows exist, for whom, with which items, and how many they hold.

    By the table `carousels` (category, and perhaps user_id, capacity, personal; None says nothing), the setting
    `capacity` ("grid", "shown" or a dict), the items table if there is one, and all layouts at hand.
    """

    pages: Sequence[Page]  # of all layouts at hand
    grids: Grids
    items: Sequence[Line] | None
    lines: Sequence[Line]
    capacity: str | Mapping[Id, int]
    _members: dict[Id, Members] = field(default_factory=dict)

    def lines_of(self, category: Id) -> list[Line]:
        """What the table says of a category."""
        return [line for line in self.lines if line["category"] == category]

    def categories(self) -> set[Id]:
        """Every category that any table names."""
        labels = {label for page in self.pages for label in page.labels.values() if label is not None}
        named = {line["category"] for line in [*self.lines, *(self.items or ())]}
        return labels | named | (set() if isinstance(self.capacity, str) else set(self.capacity))

    def exists(self, category: Id, user: Id | None) -> bool:
        """Lines with users make a category exist for those users only; a line for everyone beside them undoes that."""
        users = [line.get("user_id") for line in self.lines_of(category)]
        return not users or None in users or user in users

    def is_personal(self, category: Id) -> bool:
        """Declared so; or, where memberships come from layouts, shown to only one of several users with a page.

        A line that says whose the category is, or that it is not personal, ends the second; an items table that names
        the category ends both.
        """
        if any(line["category"] == category for line in self.items or ()):
            return False
        lines = self.lines_of(category)
        declared = {line.get("personal") for line in lines} - {None}
        if declared:
            return True in declared
        if self.items is not None or any("user_id" in line for line in lines):
            return False
        audience = {page.user for page in self.pages if category in page.labels.values()}
        return len(audience) == 1 and len({page.user for page in self.pages}) > 1

    @cached_property
    def memberships(self) -> list[Line]:
        """Lines of item_id, category and user_id: the items table, or else the layouts; personal rows by layouts."""
        personal = {category for category in self.categories() if self.is_personal(category)}
        shown = [
            {"item_id": item, "category": label, "user_id": page.user if label in personal else None}
            for page in self.pages
            for cell, item in page.items.items()
            if (label := page.labels.get(cell)) is not None
        ]
        if self.items is None:
            return [*shown]
        return [*self.items, *(line for line in shown if line["category"] in personal)]

    def members_for(self, user: Id) -> Members:
        """The categories that a user may be shown, and the items of each."""
        if user not in self._members:
            members = members_for(user, self.memberships)
            self._members[user] = {category: its for category, its in members.items() if self.exists(category, user)}
        return self._members[user]

    def personal_categories(self) -> set[Id]:
        """Categories with items, none of which are everyone's."""
        shared = {line["category"] for line in self.memberships if line.get("user_id") is None}
        return {line["category"] for line in self.memberships} - shared

    def capacity_by_line(self, category: Id, user: Id | None) -> int | None:
        """The capacity that the table gives: a line for the user, or else one for everyone."""
        for owner in (user, None):
            for line in self.lines_of(category):
                if line.get("user_id") == owner and line.get("capacity") is not None:
                    return int(line["capacity"])
        return None

    def declared_capacity(self, category: Id, user: Id) -> int | None:
        """What no page may exceed: the table's capacity, or else that of the setting's dict."""
        by_line = self.capacity_by_line(category, user)
        if by_line is not None or isinstance(self.capacity, str):
            return by_line
        return self.capacity.get(category)

    def last_column(self, category: Id, segment: Id | None, *, pinned: bool = False) -> int | None:
        """The largest column of a category at hand on a grid, in any rows or in pinned ones; None where it has none."""
        columns = [
            j
            for page in self.pages
            for (i, j), label in page.labels.items()
            if label == category and page.segment == segment and (i in page.pinned or not pinned)
        ]
        return max(columns, default=None)

    def capacity_for(self, category: Id, user: Id | None, segment: Id | None, *, pinned: bool) -> int:
        """How many items a category's row holds on a user's ideal page, pinned there or not."""
        cols = self.grids[segment][1]
        by_line = self.capacity_by_line(category, user)
        if by_line is not None:
            room: int | None = by_line
        elif pinned:
            room = self.last_column(category, segment, pinned=True)
        elif self.capacity == "shown":
            room = self.last_column(category, segment)
        else:
            room = None if isinstance(self.capacity, str) else self.capacity.get(category)
        return cols if room is None else min(room, cols)

    def is_limited(self, category: Id, segments: Iterable[Id | None]) -> bool:
        """Whether a category that has items or is shown holds fewer than the columns of some grids, for anyone."""
        shown = {label for page in self.pages for label in page.labels.values()}
        if category not in shown | {line["category"] for line in self.memberships}:
            return False
        named = {line.get("user_id") for line in self.lines_of(category)}
        return any(
            self.capacity_for(category, user, segment, pinned=pinned) < self.grids[segment][1]
            for user in {*named, None}  # None: whoever has no line
            if self.exists(category, user)
            for segment in segments
            for pinned in (False, True)
            if not pinned or self.last_column(category, segment, pinned=True) is not None
        )


# --- the page as it is ---


def is_invalid(page: Page, members: Members, carousels: Carousels) -> bool:
    """Whether a page skips a row, repeats a category, overfills it, or shows an item outside its row's category."""
    if any(not content for content in page.contents()):
        return True
    labels = page.row_labels()
    named = [label for label in labels.values() if label is not None]
    if len(set(named)) < len(named):
        return True
    for row, label in labels.items():
        declared = None if label is None else carousels.declared_capacity(label, page.user)
        if declared is not None and page.row_sizes()[row] > declared:
            return True
    for (i, j), item in page.items.items():
        row_label, own_label = labels[i], page.labels.get((i, j))
        if row_label is None:
            continue  # a row without a label is nobody's category
        if own_label is not None and own_label != row_label:
            return True
        if item not in members.get(row_label, frozenset()):
            return True
    return False


def page_value(cells: Iterable[Cell], gains: Gains, weights: Table, duplicates: str) -> float:
    """2DCG of occupied cells given in reading order."""
    counted: dict[Any, float] = {}
    for turn, (i, j, item) in enumerate(cells):
        here = weights[i - 1][j - 1]
        if duplicates == "every":
            counted[turn, item] = gains.get(item, 0.0) * here
        elif duplicates == "first":
            counted.setdefault(item, gains.get(item, 0.0) * here)
        else:
            counted[item] = max(counted.get(item, 0.0), gains.get(item, 0.0) * here)
    return math.fsum(counted.values())


def view_value(
    kind: str, cells: Sequence[Cell], gains: Gains, weights: Table, duplicates: str, candidates: str
) -> float:
    """Precision, Recall, Hit or RR of occupied cells given in reading order; what weighs something is in view."""
    view = [(i, j, item) for i, j, item in cells if weights[i - 1][j - 1] > 0]
    relevant = {item for item, g in gains.items() if g > 0}
    if kind == "Precision":
        counted = [item for _, _, item in view]
        if duplicates == "first":  # an item counts where it stands first on the page
            firsts = [cell for n, cell in enumerate(cells) if cell[2] not in {item for _, _, item in cells[:n]}]
            counted = [cell[2] for cell in view if cell in firsts]
        elif duplicates != "every":
            counted = sorted(set(counted), key=repr)
        return sum(item in relevant for item in counted) / len(view) if view else 0.0
    if kind == "Recall":
        known = relevant if candidates == "judged" else relevant & {item for _, _, item in cells}
        return len(relevant & {item for _, _, item in view}) / len(known) if known else 0.0
    if kind == "Hit":
        return 1.0 if relevant & {item for _, _, item in view} else 0.0
    ranked = sorted(cells, key=lambda cell: -weights[cell[0] - 1][cell[1] - 1])  # RR; sorting is stable
    return max((1 / rank for rank, (_, _, item) in enumerate(ranked, start=1) if item in relevant), default=0.0)


def coverage(
    layouts: Sequence[Line], items: Sequence[Line] | None, cutoff: tuple[int, int] | None = None
) -> float | None:
    """The share of the catalogue in view on anyone's page; without items, of all that is shown."""
    rows, cols = cutoff or (math.inf, math.inf)
    seen = {line["item_id"] for line in layouts if line["row"] <= rows and line["col"] <= cols}
    catalogue = {line["item_id"] for line in (layouts if items is None else items)}
    return len(seen & catalogue) / len(catalogue) if catalogue else None


def as_list(cells: Iterable[Cell]) -> list[Cell]:
    """The occupied cells as a page of one row without gaps."""
    return [(1, rank, item) for rank, (_, _, item) in enumerate(cells, start=1)]


# --- ideals ---


def largest_on_largest(gains: Iterable[float], weights: Iterable[float]) -> float:
    """The largest gains on the largest weights; what is left over on either side counts nothing."""
    pairs = zip(sorted(gains, reverse=True), sorted(weights, reverse=True), strict=False)
    return math.fsum(g * w for g, w in pairs)


def best_matching(gains: Sequence[float], weights: Sequence[float], allowed: Callable[[int, int], bool]) -> float:
    """The largest sum of gain x weight when each gain takes at most one of the weights it is allowed to."""
    if not gains or not weights:
        return 0.0
    from scipy.optimize import linear_sum_assignment

    worth = np.array([[g * w if allowed(n, c) else 0.0 for c, w in enumerate(weights)] for n, g in enumerate(gains)])
    chosen, cells = linear_sum_assignment(worth, maximize=True)
    return math.fsum(float(worth[n, c]) for n, c in zip(chosen, cells, strict=True))


def _placements(members: Members, rows: int, pins: Mapping[int, Id]) -> list[dict[int, Id]]:
    """Every way to put categories on rows 1..min(K, rows), each at most once, leaving no row empty without need."""
    fixed: dict[int, Id] = {}
    for row, category in sorted(pins.items()):
        if category in members and category not in fixed.values():
            fixed[row] = category
    free_rows = [row for row in range(1, min(len(members), rows) + 1) if row not in pins]
    free: list[Id | None] = [category for category in members if category not in fixed.values()]
    free += [None] * (len(free_rows) - len(free))
    placements = []
    for chosen in itertools.permutations(free, len(free_rows)):
        placed = {row: category for row, category in zip(free_rows, chosen, strict=True) if category is not None}
        placements.append({**fixed, **placed})
    return placements


def judged_category_ideal(
    gains: Gains,
    members: Members,
    room: Mapping[Id, int],
    weights: Table,
    duplicates: str,
    pins: Mapping[int, Id],
) -> float:
    """The best page of judged items in categories: every choice of homes, every placement of categories."""
    rows = len(weights)
    candidates = {item: g for item, g in gains.items() if g > 0 and any(item in its for its in members.values())}
    homes_of = [[category for category, its in members.items() if item in its] for item in candidates]
    if duplicates == "every":
        choices: Iterator[tuple[list[Id], ...]] = iter([tuple(homes_of)])
    else:
        choices = itertools.product(*([[home] for home in homes] for homes in homes_of))

    @cache
    def row_value(category: Id, row: int, shown: tuple[float, ...]) -> float:
        return largest_on_largest(shown, weights[row - 1][: room[category]])

    placements = _placements(members, rows, pins)
    best = 0.0
    for choice in choices:
        shown: dict[Id, list[float]] = {category: [] for category in members}
        for g, homes in zip(candidates.values(), choice, strict=True):
            for home in homes:
                shown[home].append(g)
        fixed = {category: tuple(chosen) for category, chosen in shown.items()}
        for placement in placements:
            value = math.fsum(row_value(category, row, fixed[category]) for row, category in placement.items())
            best = max(best, value)
    return best


def judged_category_ideal_by_matching(
    gains: Gains,
    members: Members,
    room: Mapping[Id, int],
    weights: Table,
    duplicates: str,
    pins: Mapping[int, Id],
) -> float:
    """The same, with the items matched to the cells of each placement at once."""
    copies: list[tuple[float, frozenset[Id]]] = []  # a gain to be shown once, and its homes
    for item, g in gains.items():
        homes = frozenset(category for category, its in members.items() if item in its)
        if duplicates == "every":
            copies += [(g, frozenset([home])) for home in homes]
        else:
            copies.append((g, homes))
    best = 0.0
    for placement in _placements(members, len(weights), pins):
        cells = [(category, weights[row - 1][j]) for row, category in placement.items() for j in range(room[category])]

        def allowed(n: int, c: int, cells: Sequence[tuple[Id, float]] = cells) -> bool:
            return cells[c][0] in copies[n][1]

        best = max(best, best_matching([g for g, _ in copies], [w for _, w in cells], allowed))
    return best


def _row_orders(count: int, pinned: set[int]) -> Iterator[tuple[int, ...]]:
    """Every order of `count` rows that leaves the pinned ones (from 1) in place: which row (from 0) stands where."""
    free = [row for row in range(count) if row + 1 not in pinned]
    for order in itertools.permutations(free):
        taken = iter(order)
        yield tuple(row if row + 1 in pinned else next(taken) for row in range(count))


def displayed_category_ideal(page: Page, gains: Gains, weights: Table, duplicates: str) -> float:
    """The best value of the page's own rows rearranged: every order of rows, every order of cells inside them."""
    contents = page.contents()
    # what no judgment gives a gain weighs nothing wherever it stands: telling such items apart changes no value
    rows = [[item if item is not None and gains.get(item, 0.0) > 0 else None for item in row] for row in contents]
    inside = [sorted(set(itertools.permutations(row)), key=repr) for row in rows]
    best = 0.0
    for order in _row_orders(len(rows), page.pinned):
        for arrangement in itertools.product(*(inside[row] for row in order)):
            cells = [
                (i, j, item)
                for i, row in enumerate(arrangement, start=1)
                for j, item in enumerate(row, start=1)
                if item is not None
            ]
            best = max(best, page_value(cells, gains, weights, duplicates))
    return best


def displayed_category_ideal_by_matching(page: Page, gains: Gains, weights: Table, duplicates: str) -> float:
    """The same: rows are independent ("every", "first" once their order is known) or share items ("best")."""
    contents = page.contents()
    best = 0.0
    for order in _row_orders(len(contents), page.pinned):
        rows = [(contents[row], weights[i][: len(contents[row])]) for i, row in enumerate(order)]
        if duplicates == "every":
            value = math.fsum(
                largest_on_largest((0.0 if item is None else gains.get(item, 0.0) for item in row), here)
                for row, here in rows
            )
        elif duplicates == "first":
            seen: set[Id] = set()
            value = 0.0
            for row, here in rows:
                fresh = {item: row.count(item) for item in row if item is not None and item not in seen}
                value += best_first_row(fresh, gains, here)
                seen |= set(fresh)
        else:
            items = sorted({item for row in contents for item in row if item is not None}, key=repr)
            cells = [(row, w) for row, here in rows for w in here]

            def allowed(
                n: int,
                c: int,
                items: Sequence[Id] = items,
                cells: Sequence[tuple[Sequence[Id | None], float]] = cells,
            ) -> bool:
                return items[n] in cells[c][0]

            value = best_matching([gains.get(item, 0.0) for item in items], [w for _, w in cells], allowed)
        best = max(best, value)
    return best


def best_first_row(copies: Mapping[Id, int], gains: Gains, weights: Sequence[float]) -> float:
    """The best row when an item counts at its leftmost copy: every choice of leftmost cells that leaves room.

    The other copies of an item stand to the right of its leftmost one, in cells that are no item's leftmost. Such cells
    suffice if, from every column on, they are as many as the copies that must come after it (Hall, for nested choices).
    """
    items = [item for item in copies if gains.get(item, 0.0) > 0]
    best = 0.0
    for cells in itertools.permutations(range(len(weights)), len(items)):
        room = all(
            sum(copies[item] - 1 for item, cell in zip(items, cells, strict=True) if cell >= start)
            <= sum(1 for cell in range(start + 1, len(weights)) if cell not in cells)
            for start in range(len(weights))
        )
        if room:
            best = max(best, math.fsum(gains[item] * weights[cell] for item, cell in zip(items, cells, strict=True)))
    return best


def subset_unconstrained_ideal(gains: Sequence[float], weights: Sequence[float]) -> float:
    """The largest sum of gains on cells, each at most once, by trying every set of taken cells gain by gain."""
    values = {0: 0.0}
    for g in gains:
        after = dict(values)
        for taken, value in values.items():
            for c, w in enumerate(weights):
                if not taken >> c & 1:
                    mask = taken | 1 << c
                    after[mask] = max(after.get(mask, 0.0), value + g * w)
        values = after
    return max(values.values())


# --- judging ---


def evaluate_tables(
    layouts: Sequence[Line],
    judgments: Sequence[Line],
    items: Sequence[Line] | None = None,
    *,
    metrics: Sequence[Metric],
    rows: int = 0,
    cols: int = 0,
    grids: Grids | None = None,
    by: str | None = None,
    gain: Gain = "exp2",
    candidates: str = "judged",
    duplicates: str = "best",
    missing_pages: str = "zero",
    no_relevant: str = "skip",
    unjudged: str = "zero",
    invalid: str = "error",
    carousels: Sequence[Line] | None = None,
    capacity: str | Mapping[Id, int] = "grid",
    at_hand: Sequence[Sequence[Line]] | None = None,
    smart: bool = False,
) -> dict[str, Any]:
    """Judge the pages of a table; `at_hand` lists the layouts of all systems and runs, this one among them.

    Gives `per_page`, a list with a dict for every page and for every judgment set without one: user_id, page_id,
    missing, invalid, and for every metric's name a dict of dcg, ideal (None for 2DCG and DCG, and for a missing page
    that may have any of several grids) and score (None where left out); `mean`, by metric (None where nobody is
    scored); and `counts`.
    """
    for given, known in (
        (candidates, ("judged", "displayed")),
        (duplicates, ("best", "first", "every", "error")),
        (missing_pages, ("zero", "skip", "error")),
        (no_relevant, ("zero", "skip", "error")),
        (unjudged, ("zero", "error")),
        (invalid, ("count", "error")),
    ):
        if given not in known:
            raise RefusedError(f"policy: {given!r} is none of {known}")
    screens: Grids = {None: (rows, cols)} if grids is None else grids
    names = [metric[0] for metric in metrics]
    weights = {
        (metric[0], segment): weights_of(metric, *shape, segment)
        for metric in metrics
        for segment, shape in screens.items()
    }
    if len(set(names)) < len(names):
        raise RefusedError("metric: two metrics share a name")

    pages = read_pages(layouts, screens, by)
    gains_by = {
        metric[0]: read_judgments(judgments, gain_function(metric[2] if len(metric) > 2 else gain))
        for metric in metrics
    }
    judgment_sets = list(next(iter(gains_by.values())))
    paged_judgments = any("page_id" in line for line in judgments)
    if paged_judgments and not all("page_id" in line for line in layouts):
        raise RefusedError("page_id: judgments name pages, layouts do not")
    tables = [layouts] if at_hand is None else at_hand
    all_pages = [page for table in tables for page in read_pages(table, screens, by).values()]
    rooms = Carousels(all_pages, screens, items, carousels or [], capacity)
    labelled = items or any(label is not None for page in rooms.pages for label in page.labels.values())
    if candidates == "judged" and not labelled and "N2DCG_cat" in map(kind_of, names):
        raise RefusedError("category: none anywhere")

    def judgment_key(page: Page) -> PageKey:
        return (page.user, page.page if paged_judgments else None)

    def gains_for(name: str, key: PageKey) -> Gains:
        return gains_by[name].get(key, {})

    missing = [key for key in judgment_sets if key not in {judgment_key(page) for page in pages.values()}]
    counts = dict.fromkeys(("duplicates", "unjudged", "uncategorised", "invalid", "above_ideal", "limited"), 0)
    counts |= {"pages": len(pages), "missing": len(missing), "no_relevant": 0, "no_category": 0}
    counts["personal"] = len(rooms.personal_categories())
    if candidates == "judged":
        segments = {page.segment for page in pages.values()}
        counts["limited"] = sum(rooms.is_limited(category, segments) for category in rooms.categories())
    for key in judgment_sets:
        categorised = frozenset[Id]().union(*rooms.members_for(key[0]).values())
        relevant = {item for name in names for item, g in gains_for(name, key).items() if g > 0}
        counts["uncategorised"] += len(relevant - categorised)

    def category_ideal(table: Table, gains: Gains, user: Id, page: Page | None, segment: Id | None) -> float:
        if candidates == "displayed":
            rearrange = displayed_category_ideal_by_matching if smart else displayed_category_ideal
            return rearrange(page, gains, table, duplicates) if page else 0.0
        labels = page.row_labels() if page else {}
        pins = {row: label for row in (page.pinned if page else ()) if (label := labels[row]) is not None}
        members = rooms.members_for(user)
        room = {
            category: min(len(its), rooms.capacity_for(category, user, segment, pinned=category in pins.values()))
            for category, its in members.items()
        }
        choose = judged_category_ideal_by_matching if smart else judged_category_ideal
        return choose(gains, members, room, table, duplicates, pins)

    def unconstrained_ideal(table: Table, gains: Gains, user: Id, page: Page | None) -> float:
        if candidates == "displayed":
            shown = [item for _, _, item in page.cells()] if page else []
            counted = shown if duplicates == "every" else sorted(set(shown), key=repr)
        else:
            counted = []
            for item in gains:
                homes = sum(item in its for its in rooms.members_for(user).values())
                counted += [item] * (max(homes, 1) if duplicates == "every" else 1)
        flat = [w for row in table for w in row]
        values = [g for item in counted if (g := gains.get(item, 0.0)) > 0]
        return subset_unconstrained_ideal(values, flat) if smart else largest_on_largest(values, flat)

    def left_out(name: str, key: PageKey, page: Page | None) -> str:
        """Why a metric has nothing to say of a page: "no_relevant", "no_category", or "" if it has."""
        relevant = {item for item, g in gains_for(name, judgment_key(page) if page else key).items() if g > 0}
        if not relevant:
            return "no_relevant"
        kind = kind_of(name)
        if candidates == "displayed":  # nothing to arrange
            arranged = page is None or kind not in NORMALISED or relevant & set(page.items.values())
            return "" if arranged else "no_relevant"
        if kind == "N2DCG_cat" and items is not None:
            return "" if any(relevant & its for its in rooms.members_for(key[0]).values()) else "no_category"
        return ""

    per_page: list[dict[str, Any]] = []
    for key, shown_page in [*pages.items(), *((key, None) for key in missing)]:
        page: Page | None = shown_page
        cells = page.cells() if page else []
        judged = gains_for(names[0], judgment_key(page) if page else key)
        bad = page is not None and is_invalid(page, rooms.members_for(key[0]), rooms)
        counts["duplicates"] += len(cells) - len({item for _, _, item in cells})
        counts["unjudged"] += sum(1 for _, _, item in cells if item not in judged)
        counts["invalid"] += bad
        line: dict[str, Any] = {"user_id": key[0], "page_id": key[1], "missing": page is None, "invalid": bad}
        segment = page.segment if page else next(iter(screens))
        reasons, above = set(), False
        for name in names:
            kind, table = kind_of(name), weights[name, segment]
            gains = gains_for(name, judgment_key(page) if page else key)
            if kind in (*VIEWS, "RR"):
                dcg = view_value(kind, cells, gains, table, duplicates, candidates)
            else:
                dcg = page_value(as_list(cells) if kind in ("NDCG", "DCG") else cells, gains, table, duplicates)
            best = None
            if kind in NORMALISED and (page or len(screens) == 1):
                if kind == "N2DCG_cat":
                    best = category_ideal(table, gains, key[0], page, segment)
                else:
                    best = unconstrained_ideal(table, gains, key[0], page)
            reasons |= {left_out(name, key, page)} | (set() if any(g > 0 for g in gains.values()) else {"no_relevant"})
            reason = "missing" if page is None and missing_pages == "skip" else left_out(name, key, page)
            if reason == "no_relevant" and no_relevant == "error":
                raise RefusedError(f"no_relevant: {key}")
            scored = not reason or (reason == "no_relevant" and no_relevant == "zero")
            score = dcg if best is None else dcg / best if best > 0 else 0.0
            line[name] = {"dcg": dcg, "ideal": best, "score": score if scored else None}
            above |= best is not None and dcg > best * (1 + 1e-12)
        counts["no_relevant"] += "no_relevant" in reasons  # by any metric
        counts["no_category"] += "no_category" in reasons
        counts["above_ideal"] += above
        per_page.append(line)

    for reason, policy in (
        ("missing", missing_pages),
        ("duplicates", duplicates),
        ("unjudged", unjudged),
        ("invalid", invalid),
    ):
        if policy == "error" and counts[reason]:
            raise RefusedError(f"{reason}: {counts[reason]}")
    mean = {name: _mean_over_users(per_page, name) for name in names}
    return {"per_page": per_page, "mean": mean, "counts": counts}


def compare_tables(
    systems: Mapping[str, Sequence[Sequence[Line]]],
    judgments: Sequence[Line],
    items: Sequence[Line] | None = None,
    **options: Any,
) -> dict[str, list[dict[str, Any]]]:
    """What `evaluate_tables` gives for every run of every system, with the layouts of all of them at hand.

    With judged candidates, a page that two systems score has one ideal.
    """
    at_hand = [layouts for runs in systems.values() for layouts in runs]
    results = {
        name: [evaluate_tables(layouts, judgments, items, at_hand=at_hand, **options) for layouts in runs]
        for name, runs in systems.items()
    }
    ideals: dict[tuple[str, Id, Id | None], float] = {}
    for result in [result for runs in results.values() for result in runs]:
        for line in result["per_page"] if options.get("candidates", "judged") == "judged" else ():
            for name, *_ in options["metrics"]:
                best = line[name]["ideal"]
                if line["missing"] or line[name]["score"] is None or best is None:
                    continue
                if not math.isclose(ideals.setdefault((name, line["user_id"], line["page_id"]), best), best):
                    raise RefusedError(f"ideals: {name} of {line['user_id']} differ")
    return results


def _mean_over_users(per_page: Iterable[Mapping[str, Any]], name: str) -> float | None:
    by_user: dict[Id, list[float]] = {}
    for line in per_page:
        if line[name]["score"] is not None:
            by_user.setdefault(line["user_id"], []).append(line[name]["score"])
    means = [math.fsum(scores) / len(scores) for scores in by_user.values()]
    return math.fsum(means) / len(means) if means else None
