"""Explanations in the terminal: what was lost, where, and one page beside its ideal."""

from typing import Any

import numpy as np
import polars as pl
from rich.text import Text

from carouseval.evaluation.explanation import Explanation, PageView
from carouseval.metrics.grid import Array, Grid
from carouseval.show.terminal import heading, heat, small_table

_BAR = 50
_NAMES = {
    "score": "earned",
    "choice": "choice of items and categories",
    "row_order": "order of rows",
    "item_order": "order of items in rows",
    "missing": "missing pages",
    "nothing_to_show": "nothing relevant to show",
}
_STYLES = {"score": "#3182bd", "choice": "#e6550d", "row_order": "#fdae6b", "item_order": "#9e9ac8"}


def explanation(result: Explanation, worst: int, view: PageView | None) -> Text:
    """The sentence, the shares, where on the screen, the worst pages, one page beside its ideal."""
    lines = [Text(result.summary, "bold"), Text()]
    shares = [(name, result.shares[name]) for name in _NAMES if name in result.shares]
    width = max(len(_NAMES[name]) for name, _ in shares)
    for name, share in shares:
        bar = "" if share != share else "█" * round(share * _BAR)
        lines.append(
            Text.assemble(
                _NAMES[name].ljust(width), f"  {100 * share:5.1f}  ", (bar, _STYLES.get(name, "bright_black"))
            )
        )
    if not result.segments.is_empty():
        header = [*result.by, *(name for name in _NAMES if name in result.segments.columns)]
        rows = [
            [*(row[name] for name in result.by), *(f"{100 * row[name]:.1f}" for name in header[len(result.by) :])]
            for row in result.segments.iter_rows(named=True)
        ]
        titles = [*result.by, *(_NAMES[name] for name in header[len(result.by) :])]
        lines += [Text(), small_table("Segments, points of 100", titles, rows)]
    if not result.cells.is_empty():
        lines += heading("Lost in each cell", "ideal less shown, in points of 100; the cells add up to what is lost")
        lines += _cells(result)
    if worst and not result.per_page.is_empty():
        wanted = ["user_id", "page_id", "score", "dcg", "item_order", "row_order", "choice", "ideal"]
        columns = [name for name in wanted if name in result.per_page.columns]
        rows = [[row[name] for name in columns] for row in result.worst.head(worst).iter_rows(named=True)]
        lines += [Text(), small_table("The worst pages, losses in 2DCG", columns, rows)]
    if view is not None:
        lines += page(view)
    return Text("\n").join(lines)


def _cells(result: Explanation) -> list[Text]:
    """Losses as a heat map; cells that hold more than ideal pages would there show a minus."""
    by_cell = result.cells.group_by("row", "col").agg(pl.col("loss").sum())
    rows, cols = (int(by_cell[name].to_numpy().max()) for name in ("row", "col"))
    table = np.zeros((rows, cols))
    table[by_cell["row"].to_numpy() - 1, by_cell["col"].to_numpy() - 1] = 100 * by_cell["loss"].to_numpy()
    order = dict(result.rows.group_by("row").agg(pl.col("item_order").sum()).iter_rows())
    notes = [f"{100 * order.get(row + 1, 0.0):.1f}" for row in range(rows)]
    return heat(np.round(table, 1) + 0.0, result.grid, notes=notes, notes_title="item order")


def page(view: PageView) -> list[Text]:
    """A page and its ideal as heat maps of gains, then the moves that win most."""
    s, s3 = view.values["dcg"], view.values["ideal"]
    score = f", {s / s3:.1%} of it" if s3 > 0 else ""
    shown, ideal = _grid(view.shown, view.grid), _grid(view.ideal, view.grid)
    rows, best = _used(shown), _used(ideal)
    return [
        *heading(f"The page of {view.who}", f"gains; its 2DCG is {s:.4g}"),
        *heat(shown[:rows], view.grid, notes=_labels(view.shown, rows), notes_title="category"),
        *heading("Its ideal page", f"gains; its 2DCG is {s3:.4g}, the page has {s:.4g}{score}"),
        *heat(ideal[:best], view.grid, notes=_labels(view.ideal, best), notes_title="category"),
        Text(),
        _moves(view),
    ]


def _used(table: Array) -> int:
    return int(np.flatnonzero(~np.isnan(table).all(axis=1)).max(initial=0)) + 1


def _grid(cells: pl.DataFrame, grid: Grid) -> Array:
    table = np.full(grid.shape, np.nan)
    table[cells["row"].to_numpy() - 1, cells["col"].to_numpy() - 1] = cells["gain"].to_numpy()
    return table


def _labels(cells: pl.DataFrame, rows: int) -> list[str]:
    if "category" not in cells.columns:
        return [""] * rows
    first: dict[int, Any] = {}
    for row, label in cells.select("row", "category").iter_rows():
        first.setdefault(row, label)
    return [str(first.get(row + 1) or "") for row in range(rows)]


def _moves(view: PageView) -> Text:
    """What the ideal page does with the items that win most."""
    places: dict[Any, dict[str, Any]] = {}
    for cell in view.shown.filter(pl.col("counts")).iter_rows(named=True):
        places[cell["item_id"]] = cell
    rows = []
    for cell in view.ideal.iter_rows(named=True):
        now = places.get(cell["item_id"])
        wins = cell["gain"] * (cell["weight"] - (now["weight"] if now else 0.0))
        if wins > 0:
            was = "not shown" if now is None else f"row {now['row']}, col {now['col']}"
            place = f"row {cell['row']}, col {cell['col']}"
            rows.append([cell["item_id"], cell["category"] or "", f"{cell['gain']:g}", was, place, wins])
    rows.sort(key=lambda move: -float(move[-1]))
    return small_table("What would win most, in 2DCG", ["item", "category", "gain", "now", "ideal", "wins"], rows[:8])
