"""Tiny random tables for the oracle: every policy, every oddity of a page, small enough to try everything.

`evaluate_tables(layouts, judgments, items, **options)` takes a case as it is. Weights come before their cutoff: the
name says it. "d_emp(...)" in a name marks weights that are made up (they need not fall, may tie and may be 0); the
others are the paper's, on the grid `Grid(rows, cols, page_size=PAGE_SIZE, visible_rows=VISIBLE_ROWS)`.
"""

import random
from collections.abc import Sequence
from typing import Any

import numpy as np

from tests.evaluation.table_oracle import Id, Metric, paper_weights

PAGE_SIZE = 2
VISIBLE_ROWS = 2

Lines = list[dict[str, Any]]
Memberships = list[tuple[Id, Id, Id | None]]  # item, category, user or None for everyone


def tiny(seed: int) -> tuple[Lines, Lines, Lines | None, dict[str, Any]]:
    """Case number `seed`: layouts, judgments, items or None, and the options of `evaluate_tables`."""
    rng = random.Random(seed)
    names = rng.random() < 0.5  # ids are strings, or integers

    def ids(letter: str, count: int, start: int) -> list[Id]:
        return [f"{letter}{n}" if names else start + n for n in range(count)]

    rows, cols = rng.choice([1, 2, 2, 3, 3, 3, 3]), rng.choice([1, 2, 2, 3, 3, 3, 3])
    users = ids("u", rng.randint(2, 4), 0)
    pool = ids("i", rng.randint(3, 9), 100)
    labels: list[Id] = [f"c{n}" for n in range(rng.choice([1, 2, 3, 3, 4, 4]))]
    options = _options(rng, rows, cols)
    memberships = draw_memberships(rng, users, pool, labels)
    labelled = rng.random() < 0.85
    has_items = rng.random() < 0.75 or not (labelled or options["candidates"] == "displayed")
    has_pages = rng.random() < 0.4
    has_pins = rng.random() < 0.4
    repeats = 0.0 if options["duplicates"] == "error" else rng.choice([0.0, 0.0, 0.3, 0.6])
    gaps = rng.choice([0.0, 0.0, 0.0, 0.3])
    flaws = 0.3 if options["invalid"] == "count" else rng.choice([0.0] * 9 + [0.3])

    layouts: Lines = []
    page_keys: list[tuple[Id, Id]] = []
    for user in users:
        for page in ids(
            "p", rng.choice([0, 1, 1, 1, 2, 2]) if has_pages else int(rng.random() < 0.85 or user == users[0]), 0
        ):
            members = members_of(memberships, user)
            if labelled:
                cells = _labelled_page(rng, members, rows, cols, repeats, gaps)
            else:
                cells = [(i, j, rng.choice(pool), None) for i, j in _shape(rng, rng.randint(1, rows), cols, gaps)]
            flawed = rng.random() < flaws
            if flawed:
                cells = flawed_page(rng, cells, pool, labels, rows)
            # the judged ideal of a page whose labels are wrong or missing has no clear place for a pinned category
            pinnable = has_pins and (options["candidates"] == "displayed" or (labelled and not flawed))
            pinned = {i for i in range(1, rows + 1) if pinnable and rng.random() < 0.4}
            for i, j, item, label in cells:
                line: dict[str, Any] = {"user_id": user, "row": i, "col": j, "item_id": item}
                if has_pages:
                    line["page_id"] = page
                if labelled:
                    line["category"] = label
                if has_pins:
                    line["pinned"] = i in pinned
                layouts.append(line)
            if cells:
                page_keys.append((user, page))
    if not layouts:  # a table without lines is another matter
        return tiny(seed + 1_000_000)

    full = rng.random() < (0.8 if options["unjudged"] == "error" else 0.25)  # everything judged
    judgments = draw_judgments(rng, users, pool, page_keys if has_pages and rng.random() < 0.5 else None, full)
    if not judgments:
        return tiny(seed + 1_000_000)
    items: Lines | None = None
    if has_items:
        personal = any(user is not None for _, _, user in memberships) or rng.random() < 0.1
        items = [
            {"item_id": item, "category": label, **({"user_id": user} if personal else {})}
            for item, label, user in memberships
        ]
        rng.shuffle(items)
    rng.shuffle(layouts)
    rng.shuffle(judgments)
    return layouts, judgments, items, options


def _options(rng: random.Random, rows: int, cols: int) -> dict[str, Any]:
    return {"metrics": _metrics(rng, rows, cols), "rows": rows, "cols": cols} | policies(rng)


def policies(rng: random.Random) -> dict[str, Any]:
    """A choice of every policy; those that refuse tables are rare."""
    missing_pages = rng.choice(["zero"] * 5 + ["skip"] * 3 + ["error"])
    no_relevant = rng.choice(["skip"] * 5 + ["zero"] * 3 + ["error"])
    if missing_pages == "skip" and no_relevant == "error":
        no_relevant = "skip"
    return {
        "gain": rng.choice(["exp2", "exp2", "linear", np.sqrt]),
        "candidates": rng.choice(["judged", "judged", "judged", "displayed", "displayed"]),
        "duplicates": rng.choice(["best"] * 4 + ["first"] * 4 + ["every"] * 3 + ["error"]),
        "missing_pages": missing_pages,
        "no_relevant": no_relevant,
        "unjudged": rng.choice(["zero"] * 12 + ["error"]),
        "invalid": rng.choice(["error", "error", "count"]),
    }


def _metrics(rng: random.Random, rows: int, cols: int) -> list[Metric]:
    def cutoff() -> str:
        return rng.choice(["", "", f"@{rng.randint(1, rows)}x{rng.randint(1, cols)}"])

    metrics: list[Metric] = []
    for kind in ("N2DCG_cat", "N2DCG_cat", "N2DCG", "2DCG"):
        if not metrics or rng.random() < 0.4:
            table = made_up_weights(rng, rows, cols)
            table[rng.randrange(rows)][rng.randrange(cols)] = 1.0  # all 0 is no discount
            metrics.append((f"{kind}(d_emp(tiny{len(metrics)})){cutoff()}", table))
        else:
            symbol = rng.choice(["d_rpd", "d_a", "d_mir"])
            weights = paper_weights(symbol, rows, cols, PAGE_SIZE, VISIBLE_ROWS)
            metrics.append((f"{kind}({symbol}){cutoff()}", weights))
    for kind in ("NDCG", "DCG"):
        k = rng.randint(1, rows * cols)
        metrics.append((f"{kind}@{k}", k))
    return metrics


def made_up_weights(rng: random.Random, rows: int, cols: int) -> list[list[float]]:
    """Weights that need not fall, may tie and may be 0."""
    values = rng.choice([[0.0, 0.25, 0.5, 1.0], [round(rng.uniform(0.05, 1.0), 3) for _ in range(rows * cols)]])
    return [[rng.choice(values) for _ in range(cols)] for _ in range(rows)]


def draw_memberships(rng: random.Random, users: Sequence[Id], pool: Sequence[Id], labels: Sequence[Id]) -> Memberships:
    """One to three categories an item; some items without any; sometimes some that are one user's own."""
    memberships: Memberships = []
    without = rng.choice([0.0, 0.15])
    personal = rng.choice([0.0, 0.0, 0.3])
    for item in pool:
        if rng.random() < without and memberships:
            continue
        for label in rng.sample(labels, min(len(labels), rng.choice([1, 1, 2, 2, 3]))):
            memberships.append((item, label, rng.choice(users) if rng.random() < personal else None))
    if personal:
        user = rng.choice(users)  # a category of one user alone ("because you watched"), and a membership said twice
        memberships += [(item, "mine", user) for item in rng.sample(pool, min(len(pool), 2))]
        item, label, _ = rng.choice(memberships)
        if (item, label, user) not in memberships:
            memberships.append((item, label, user))
    return memberships


def members_of(memberships: Memberships, user: Id) -> dict[Id, list[Id]]:
    members: dict[Id, list[Id]] = {}
    for item, label, owner in memberships:
        if owner in (None, user) and item not in members.setdefault(label, []):
            members[label].append(item)
    return {label: its for label, its in members.items() if its}


def _shape(rng: random.Random, count: int, cols: int, gaps: float) -> list[tuple[int, int]]:
    """The occupied cells of a page of `count` ragged rows, none of them empty."""
    cells = []
    for i in range(1, count + 1):
        row = [(i, j) for j in range(1, rng.randint(1, cols) + 1)]
        cells += [cell for cell in row if rng.random() >= gaps] or row[-1:]
    return cells


def _labelled_page(
    rng: random.Random, members: dict[Id, list[Id]], rows: int, cols: int, repeats: float, gaps: float
) -> list[tuple[int, int, Id, Id | None]]:
    """A valid page: different categories from the top, each showing its members, now and then twice."""
    count = min(len(members), rng.choice([rows, rng.randint(1, rows)]))
    chosen = rng.sample(sorted(members, key=str), count)
    left = {label: rng.sample(its, len(its)) for label, its in members.items()}
    page: list[tuple[int, int, Id, Id | None]] = []
    for i, j in _shape(rng, count, cols, gaps):
        label = chosen[i - 1]
        here = [item for row, _, item, _ in page if row == i]
        if here and rng.random() < repeats:
            page.append((i, j, rng.choice(here), label))
        elif left[label]:
            page.append((i, j, left[label].pop(), label))
    return page


def flawed_page(
    rng: random.Random,
    page: list[tuple[int, int, Id, Id | None]],
    pool: Sequence[Id],
    labels: Sequence[Id],
    rows: int,
) -> list[tuple[int, int, Id, Id | None]]:
    """The page with something wrong with it, most of the time."""
    if not page:
        return page
    last = max(i for i, _, _, _ in page)
    flaw = rng.choice(["skip", "repeat", "label", "item"])
    if flaw == "skip" and last < rows:
        return [(i + 1 if i == last else i, j, item, label) for i, j, item, label in page]
    if page[0][3] is None:
        return page
    if flaw == "repeat":
        first = page[0][3]
        return [(i, j, item, first if i == last else label) for i, j, item, label in page]
    n = rng.randrange(len(page))
    i, j, item, label = page[n]
    changed = (i, j, item, rng.choice(labels)) if flaw == "label" else (i, j, rng.choice(pool), label)
    return [*page[:n], changed, *page[n + 1 :]]


def draw_judgments(
    rng: random.Random, users: Sequence[Id], pool: Sequence[Id], page_keys: Sequence[tuple[Id, Id]] | None, full: bool
) -> Lines:
    """Judgments of users, or of pages: some of them all 0, some absent, some of users or pages nowhere else."""
    scale = rng.choice([[0.0, 1.0, 1.0], [0.0, 1.0, 2.0, 3.0], [0.0, 0.5, 1.25, 2.75]])
    stranger: Id = "u9" if isinstance(users[0], str) else 9
    other: Id = "p9" if isinstance(users[0], str) else 9
    if page_keys is None:
        keys: list[tuple[Id, Id | None]] = [(user, None) for user in users]
        if rng.random() < 0.2:
            keys.append((stranger, None))
    else:
        keys = list(page_keys)
        if rng.random() < 0.5:
            keys.append((rng.choice([*users, stranger]), other))
    unseen: list[Id] = ["i99"] if isinstance(pool[0], str) else [99]
    lines: Lines = []
    for user, page in keys:
        if rng.random() < 0.06:
            continue
        judged = list(pool) if full else rng.sample([*pool, *unseen], rng.randint(min(len(pool), 3), min(len(pool), 8)))
        nothing = rng.random() < 0.1
        for item in judged:
            relevance = 0.0 if nothing else rng.choice(scale)
            line: dict[str, Any] = {"user_id": user, "item_id": item, "relevance": relevance}
            if page_keys is not None:
                line["page_id"] = page
            lines.append(line)
    return lines
