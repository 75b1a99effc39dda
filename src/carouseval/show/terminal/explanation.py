"""Explanations in the terminal: what was lost, where, and one page beside its ideal."""

from typing import Any

import numpy as np
import polars as pl
from rich.text import Text

from carouseval.evaluation.columns import Columns
from carouseval.evaluation.explanation import Explanation
from carouseval.evaluation.page_view import PageView, item_label
from carouseval.evaluation.result_columns import LOSSES
from carouseval.metrics.grid import Array, Grid
from carouseval.show.terminal.text_blocks import heading, heat, sentences, small_table

_BAR = 50
_LABELS = {
    Columns.SCORE: "score",
    Columns.CHOICE: "choice of items and categories",
    Columns.ROW_ORDER: "order of rows",
    Columns.ITEM_ORDER: "order of items in rows",
    Columns.MISSING: "missing pages",
    Columns.NOTHING_TO_SHOW: "nothing relevant to show",
}
_STYLES = {
    Columns.SCORE: "#3182bd",
    Columns.CHOICE: "#e6550d",
    Columns.ROW_ORDER: "#fdae6b",
    Columns.ITEM_ORDER: "#9e9ac8",
}


def explanation(result: Explanation, worst: int, view: PageView | None, width: int | None = None) -> Text:
    """The summary, the caption, the shares, the loss of each cell, the worst pages, and one page beside its ideal."""
    lines = [sentences(result.summary, width, "bold"), sentences(result.caption, width, "dim"), Text()]
    shares = [(name, result.shares[name]) for name in _LABELS if name in result.shares]
    longest = max(len(_LABELS[name]) for name, _ in shares)
    for name, share in shares:
        bar = "" if share != share else "█" * round(share * _BAR)
        lines.append(
            Text.assemble(
                _LABELS[name].ljust(longest), f"  {100 * share:5.1f}  ", (bar, _STYLES.get(name, "bright_black"))
            )
        )
    if not result.segments.is_empty():
        header = [*result.by, *(name for name in _LABELS if name in result.segments.columns)]
        rows = [
            [*(row[name] for name in result.by), *(f"{100 * row[name]:.1f}" for name in header[len(result.by) :])]
            for row in result.segments.iter_rows(named=True)
        ]
        titles = [*result.by, *(_LABELS[name] for name in header[len(result.by) :])]
        lines += [Text(), small_table("Segments, points of 100", titles, rows)]
    lines += _losses(result)
    if worst and not result.per_page.is_empty():
        names = [column.name for column in LOSSES.columns if column.name not in (Columns.STATUS, Columns.WEIGHT)]
        columns = [name for name in names if name in result.per_page.columns]
        rows = [[row[name] for name in columns] for row in result.worst.head(worst).iter_rows(named=True)]
        lines += [Text(), small_table("The worst pages, losses in 2DCG", columns, rows)]
    if view is not None:
        lines += page(view)
    return Text("\n").join(lines)


def _losses(result: Explanation) -> list[Text]:
    """The loss of each cell as a heat map, one for each grid."""
    note = "ideal minus shown, in points of 100; the cells sum to the loss of the pages shown"
    if result.evaluation.counts["bounded"]:
        note += ", but for what the best ideal pages found may lack"
    if not isinstance(result.grid, dict):
        return _heat_map("Loss in each cell", note, result.cells, result.rows, result.grid)
    (by,) = result.by
    lines: list[Text] = []
    for value, grid in result.grid.items():
        cells, rows = (frame.filter(pl.col(by) == value) for frame in (result.cells, result.rows))
        lines += _heat_map(f"Loss in each cell, {by} {value}", note, cells, rows, grid)
    return lines


def _heat_map(title: str, note: str, cells: pl.DataFrame, by_row: pl.DataFrame, grid: Grid) -> list[Text]:
    """Losses on one grid; negative where a cell shows more than ideal pages do."""
    if cells.is_empty():
        return []
    by_cell = cells.group_by(Columns.ROW, Columns.COL).agg(pl.col(Columns.LOSS).sum())
    rows, cols = (int(by_cell[name].to_numpy().max()) for name in (Columns.ROW, Columns.COL))
    table = np.zeros((rows, cols))
    table[by_cell[Columns.ROW].to_numpy() - 1, by_cell[Columns.COL].to_numpy() - 1] = (
        100 * by_cell[Columns.LOSS].to_numpy()
    )
    order = dict(by_row.group_by(Columns.ROW).agg(pl.col(Columns.ITEM_ORDER).sum()).iter_rows())
    notes = [f"{100 * order.get(row + 1, 0.0):.1f}" for row in range(rows)]
    return [*heading(title, note), *heat(np.round(table, 1) + 0.0, grid, notes=notes, notes_title="item order")]


def page(view: PageView) -> list[Text]:
    """A page and its ideal as heat maps of gains, then the moves that gain most."""
    dcg, ideal_dcg = view.values[Columns.DCG], view.values[Columns.IDEAL]
    score = f", of which the page has {dcg / ideal_dcg:.1%}" if ideal_dcg > 0 else ""
    gains, ideal_gains = _grid(view.shown, view.grid), _grid(view.ideal, view.grid)
    rows, ideal_rows = _used(gains), _used(ideal_gains)
    return [
        *heading(f"The page of {view.ids}", f"gain of every cell; 2DCG {dcg:.4g}"),
        *([Text(view.reason)] if view.reason else []),
        *heat(gains[:rows], view.grid, notes=_labels(view.shown, rows), notes_title="category"),
        *heading("Its ideal page", f"gain of every cell; 2DCG {_ideal_text(view)}{score}"),
        *heat(ideal_gains[:ideal_rows], view.grid, notes=_labels(view.ideal, ideal_rows), notes_title="category"),
        Text(),
        _moves(view),
    ]


def _ideal_text(view: PageView) -> str:
    """The 2DCG of the ideal page; if that is not proven, also the bound that pages are divided by."""
    bound = view.values[Columns.IDEAL]
    dcg = float((view.ideal[Columns.GAIN] * view.ideal[Columns.WEIGHT]).sum())
    return f"{bound:.4g}" if dcg >= bound * (1 - 1e-9) else f"{dcg:.4g}, and none has more than {bound:.4g}"


def _used(table: Array) -> int:
    return int(np.flatnonzero(~np.isnan(table).all(axis=1)).max(initial=0)) + 1


def _grid(cells: pl.DataFrame, grid: Grid) -> Array:
    table = np.full(grid.shape, np.nan)
    table[cells[Columns.ROW].to_numpy() - 1, cells[Columns.COL].to_numpy() - 1] = cells[Columns.GAIN].to_numpy()
    return table


def _labels(cells: pl.DataFrame, rows: int) -> list[str]:
    if Columns.CATEGORY not in cells.columns:
        return [""] * rows
    first: dict[int, Any] = {}
    for row, label in cells.select(Columns.ROW, Columns.CATEGORY).iter_rows():
        first.setdefault(row, label)
    return [str(first.get(row + 1) or "") for row in range(rows)]


def _moves(view: PageView) -> Text:
    """The moves from the page to its ideal that gain most."""
    places = {cell[Columns.ITEM]: cell for cell in view.shown.filter(pl.col("counts")).iter_rows(named=True)}
    rows = []
    for cell in view.ideal.iter_rows(named=True):
        place = places.get(cell[Columns.ITEM])
        gained = cell[Columns.GAIN] * (cell[Columns.WEIGHT] - (place[Columns.WEIGHT] if place else 0.0))
        if gained > 0:
            current = "not shown" if place is None else f"row {place[Columns.ROW]}, col {place[Columns.COL]}"
            ideal = f"row {cell[Columns.ROW]}, col {cell[Columns.COL]}"
            rows.append(
                [item_label(cell), cell[Columns.CATEGORY] or "", f"{cell[Columns.GAIN]:g}", current, ideal, gained]
            )
    rows.sort(key=lambda move: -float(move[-1]))
    header = ["item", "category", "gain", "now", "ideal", "gained"]
    return small_table("The moves that gain most, in 2DCG", header, rows[:8])
