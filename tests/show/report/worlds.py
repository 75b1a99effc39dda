"""Small worlds whose outcome is known: every user has one relevant item, and systems put it into some column."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

import carouseval as cv

COLUMNS = 5


def layouts(places: Sequence[int], **more: Any) -> pl.DataFrame:
    """The page of each user, whose relevant item is in this column; 0: it is not shown."""
    rows = []
    for user, place in enumerate(places):
        for col in range(1, COLUMNS + 1):
            item = f"r{user}" if col == place else f"x{col}"
            rows.append({"user_id": user, "row": 1, "col": col, "item_id": item, "category": "all"})
    frame = pl.DataFrame(rows)
    columns = [pl.Series(name, [values[user] for user in frame["user_id"]]) for name, values in more.items()]
    return frame.with_columns(columns)


def judgments(users: int) -> pl.DataFrame:
    return pl.DataFrame({"user_id": range(users), "item_id": [f"r{user}" for user in range(users)], "relevance": 1})


def items(users: int) -> pl.DataFrame:
    names = [f"r{user}" for user in range(users)] + [f"x{col}" for col in range(1, COLUMNS + 1)]
    return pl.DataFrame({"item_id": names, "category": "all"})


def compared(
    places: Mapping[str, Sequence[int] | Sequence[Sequence[int]]],
    segments: Mapping[str, Sequence[str]] | None = None,
    **options: Any,
) -> cv.Comparison:
    """Systems by the columns of the relevant items; a list of lists stands for several runs."""
    systems: dict[str, Any] = {}
    for name, own in places.items():
        runs = own if isinstance(own[0], list) else [own]
        systems[name] = [layouts(run, **(segments or {})) for run in runs]  # type: ignore[arg-type]
        users = len(runs[0])  # type: ignore[arg-type]
    grid = cv.Grid(1, COLUMNS, page_size=COLUMNS, visible_rows=1)
    by = list(segments) if segments else None
    return cv.compare(systems, judgments(users), items(users), grid=grid, by=by, **options)
