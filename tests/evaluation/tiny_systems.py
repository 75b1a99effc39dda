"""Tiny systems for the oracle: home pages with all that the ideal takes into account, small enough to try everything.

Beyond `tiny_tables`: a pinned billboard, rows that are one user's alone, a table of carousels, capacities from each
source, page sizes of rows, grids by device, several systems and runs, and metrics with gains of their own.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.evaluation.table_oracle import DEFAULTS, Carousels, Gain, Id, Metric, Table, paper_weights
from tests.evaluation.tiny_tables import (
    VISIBLE_ROWS,
    Lines,
    draw_judgments,
    draw_memberships,
    flawed_page,
    made_up_weights,
    members_of,
    policies,
)

BILLBOARD = "hero"
DEVICES = ("tv", "phone")
Cells = list[tuple[int, int, Id, Id | None]]  # row, col, item, label


@dataclass(frozen=True)
class Screen:
    """A grid with `VISIBLE_ROWS`; rows swipe by pages of one size, or each by its own."""

    rows: int
    cols: int
    page_size: int | list[int]


@dataclass(frozen=True)
class TinySystems:
    """One case: `compare_tables(systems, judgments, items, **options)` takes it as it is."""

    systems: dict[str, list[Lines]]  # the runs of each
    judgments: Lines
    items: Lines | None
    screens: dict[Id | None, Screen]  # by device; None: one for all
    made_up: dict[str, Table]  # the whole table of each metric whose weights are made up
    options: dict[str, Any]  # of the oracle


def above_1(relevance: Any) -> Any:
    """A gain by which much that is judged is worth nothing."""
    return np.where(np.asarray(relevance) > 1, relevance, 0.0)


def tiny_systems(seed: int) -> TinySystems:
    """Case number `seed`; three in seven have a single system with a single run."""
    rng = random.Random(seed)
    names = rng.random() < 0.5  # ids are strings, or integers

    def ids(letter: str, count: int, start: int) -> list[Id]:
        return [f"{letter}{n}" if names else start + n for n in range(count)]

    users = ids("u", rng.choice([1, 2, 2, 3, 3, 4]), 0)
    pool = ids("i", rng.randint(3, 8), 100)
    labels: list[Id] = [f"c{n}" for n in range(rng.choice([1, 2, 3, 3, 4]))]
    screens: dict[Id | None, Screen] = {None: _screen(rng)}
    if rng.random() < 0.3:
        screens = {device: _screen(rng) for device in DEVICES}
    metrics, made_up = _metrics(rng, screens)
    options: dict[str, Any] = {
        "metrics": metrics,
        "grids": {device: (screen.rows, screen.cols) for device, screen in screens.items()},
        "by": None if None in screens else "device",
        **policies(rng),
    }
    if rng.random() < 0.3:
        options["invalid"] = "count"
    memberships = draw_memberships(rng, users, pool, labels)
    if rng.random() < 0.4:
        labels.append(BILLBOARD)
        memberships += [(item, BILLBOARD, None) for item in rng.sample(pool, rng.randint(1, 3))]
    options["carousels"] = _carousels(rng, users, labels)
    options["capacity"] = rng.choice(["grid", "shown", "shown", {label: rng.randint(1, 3) for label in labels[1:]}])

    has_pages = rng.random() < 0.3
    pages = [(user, page) for user in users for page in ids("p", rng.choice([1, 1, 2]) if has_pages else 1, 0)]
    devices = {key: rng.choice(list(screens)) for key in pages}
    pins = {key: _pins(rng, labels, screens[devices[key]].rows) for key in pages}
    obedient = rng.random() < (0.8 if options["invalid"] == "error" else 0.2)
    draw = _PageDraw(
        rng,
        declared=Carousels([], {}, None, options["carousels"] or [], options["capacity"]),
        repeats=0.0 if options["duplicates"] == "error" else rng.choice([0.0, 0.0, 0.3]),
        gaps=rng.choice([0.0, 0.0, 0.0, 0.3]),
    )
    flaws = 0.4 if options["invalid"] == "count" else rng.choice([0.0] * 9 + [0.2])

    def layouts() -> Lines:
        """A run: most of the pages, drawn anew."""
        lines: Lines = []
        free = rng.random() < 0.05  # of pins that the others keep: other ideals
        for user, page in pages:
            key, members = (user, page), members_of(memberships, user)
            if rng.random() < 0.1 or not members:
                continue
            screen = screens[devices[key]]
            cells = draw.cells(user, members, screen, pins[key], obeys=obedient or rng.random() < 0.4)
            pinned = {i for i, _, _, label in cells if pins[key].get(i) == label and not free}
            if not pinned and rng.random() < flaws:
                cells = flawed_page(rng, cells, pool, labels, screen.rows)
            for i, j, item, label in cells:
                line: dict[str, Any] = {"user_id": user, "row": i, "col": j, "item_id": item, "category": label}
                line |= {"page_id": page} if has_pages else {}
                line |= {"device": devices[key]} if options["by"] else {}
                lines.append({**line, "pinned": i in pinned})
        rng.shuffle(lines)
        return lines

    runs = rng.choice([[1], [1], [1], [1, 1], [1, 1], [1, 1, 1], [2, 1]])
    systems = {name: [layouts() for _ in range(count)] for name, count in zip("abc", runs, strict=False)}
    judgments = draw_judgments(
        rng, users, pool, pages if has_pages and rng.random() < 0.5 else None, rng.random() < 0.25
    )
    if not judgments or not all(lines for tables in systems.values() for lines in tables):
        return tiny_systems(seed + 1_000_000)  # a table without lines is another matter
    items: Lines | None = None
    if rng.random() < 0.5:
        personal = any(user is not None for _, _, user in memberships)
        items = [
            {"item_id": item, "category": label, **({"user_id": user} if personal else {})}
            for item, label, user in memberships
        ]
    return TinySystems(systems, judgments, items, screens, made_up, options)


def _screen(rng: random.Random) -> Screen:
    rows, cols = rng.choice([1, 2, 2, 3, 3]), rng.choice([1, 2, 3, 3, 3])
    return Screen(rows, cols, 2 if rng.random() < 0.5 else [rng.randint(1, 3) for _ in range(rows)])


def _metrics(rng: random.Random, screens: Mapping[Id | None, Screen]) -> tuple[list[Metric], dict[str, Table]]:
    """Metrics on every screen, some with a gain of their own, and the tables of those whose weights are made up."""
    rows, cols = max(one.rows for one in screens.values()), max(one.cols for one in screens.values())
    metrics: list[Metric] = []
    made_up: dict[str, Table] = {}

    def on_screens(tables: Mapping[Id | None, Table]) -> Any:
        return tables.get(None, tables)

    def add(name: str, parameter: Any) -> None:
        gain: Gain | None = rng.choice([None, None, None, "linear", np.sqrt, above_1])
        metrics.append((name, parameter) if gain is None else (name, parameter, gain))

    others = rng.sample(["N2DCG_cat", "N2DCG", "2DCG", "NDCG", "DCG"], 3)
    for kind in ("N2DCG_cat", *others):
        if kind in ("NDCG", "DCG"):
            k = rng.randint(1, rows * cols)
            add(f"{kind}@{k}", k)
            continue
        cutoff = rng.choice(["", "", f"@{rng.randint(1, rows)}x{rng.randint(1, cols)}"])
        if not metrics or rng.random() < 0.4:
            name = f"{kind}(d_emp(tiny{len(metrics)})){cutoff}"
            table = made_up_weights(rng, rows, cols)
            table[0][0] = table[0][0] or 1.0  # all 0, on any screen, is no discount
            made_up[name] = table
            add(name, on_screens({at: [row[: one.cols] for row in table[: one.rows]] for at, one in screens.items()}))
        else:
            symbol = rng.choice(list(DEFAULTS))
            tables: dict[Id | None, Table] = {
                at: paper_weights(symbol, one.rows, one.cols, one.page_size, VISIBLE_ROWS)
                for at, one in screens.items()
            }
            add(f"{kind}({symbol}){cutoff}", on_screens(tables))
    return metrics, made_up


def _carousels(rng: random.Random, users: Sequence[Id], labels: Sequence[Id]) -> Lines | None:
    """Lines for some categories, with some of the columns, for everyone, for some users, or for both; or no table."""
    if rng.random() < 0.4:
        return None
    has_users, has_capacity, has_personal = (rng.random() < share for share in (0.5, 0.7, 0.5))
    lines: Lines = []
    for label in labels:
        if rng.random() < 0.3:
            continue
        some: list[Id | None] = [*rng.sample(users, rng.randint(1, len(users)))]
        choices: list[list[Id | None]] = [[None], some, [None, *some]]
        owners = rng.choice(choices) if has_users else choices[0]
        personal = rng.choice([True, False, None, None])
        for owner in owners:
            line: dict[str, Any] = {"category": label}
            if has_users:
                line["user_id"] = owner
            if has_capacity:
                line["capacity"] = rng.choice([None, 1, 2, 2, 3, 9])
            if has_personal:
                line["personal"] = rng.choice([personal, personal, None])
            lines.append(line)
    rng.shuffle(lines)
    return lines or None


def _pins(rng: random.Random, labels: Sequence[Id], rows: int) -> dict[int, Id]:
    """The rows that a page keeps, whatever the system: a billboard on top, now and then another."""
    pins: dict[int, Id] = {1: BILLBOARD} if BILLBOARD in labels and rng.random() < 0.8 else {}
    if rng.random() < 0.15:
        row, label = rng.randint(1, rows), rng.choice(labels)
        if row not in pins and label not in pins.values():
            pins[row] = label
    return pins


@dataclass
class _PageDraw:
    rng: random.Random
    declared: Carousels  # what the page should obey
    repeats: float
    gaps: float

    def cells(
        self, user: Id, members: Mapping[Id, list[Id]], screen: Screen, pins: Mapping[int, Id], *, obeys: bool
    ) -> Cells:
        """A page of different categories that exist for the user, each showing some of its members."""
        rng = self.rng
        usable = [label for label in members if not obeys or self.declared.exists(label, user)]
        free = rng.sample(sorted(set(usable) - set(pins.values()), key=str), len(set(usable) - set(pins.values())))
        count = rng.choice([screen.rows, rng.randint(1, screen.rows)])
        page: Cells = []
        for row in range(1, max([count, *pins]) + 1):
            label = pins[row] if pins.get(row) in usable else free.pop() if free else None
            if label is None:
                break
            declared = self.declared.declared_capacity(label, user) if obeys else None
            size = rng.randint(1, min(screen.cols, declared or screen.cols))
            if label == BILLBOARD and row in pins and rng.random() < 0.8:
                size = 1
            page += self._row(row, label, rng.sample(members[label], len(members[label])), size)
        return page

    def _row(self, row: int, label: Id, left: list[Id], size: int) -> Cells:
        cells: Cells = []
        for col in range(1, size + 1):
            if cells and self.rng.random() < self.repeats:
                cells.append((row, col, self.rng.choice(cells)[2], label))
            elif left and (not cells or self.rng.random() >= self.gaps):
                cells.append((row, col, left.pop(), label))
        return cells
