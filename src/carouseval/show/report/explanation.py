"""Sections about what pages lose: by step, cell, row, segment and page."""

import math
from dataclasses import replace

import polars as pl

from carouseval.evaluation.columns import Columns
from carouseval.evaluation.explanation import LOSSES, Explanation
from carouseval.evaluation.page_view import PageView, item_label
from carouseval.evaluation.result_columns import SHARES, WORST
from carouseval.evaluation.result_table import Line, ShownColumn, shown_table
from carouseval.show.charts.drawing import count_text
from carouseval.show.charts.explanation import LOSS_NAMES, PARTS_OF_ALL
from carouseval.show.charts.page import page_picture
from carouseval.show.report.document import (
    Block,
    Detail,
    Document,
    Figure,
    Paragraph,
    Section,
    table_block,
)
from carouseval.show.report.explanation_words import explanation_summary
from carouseval.show.report.settings_section import settings_section
from carouseval.tables.text_tables import TextTable

_WORST = 5  # pages of the table
_NOT_OF_WORST = (Columns.WEIGHT, Columns.STATUS, Columns.DCG, Columns.IDEAL, Columns.LOST)  # read in frames alone
_SCORES_APART = 1e-9
_MOST_CELLS = 2_000  # of a map or a page that is drawn: more are neither readable nor small
_MOST_ITEMS = 15  # of the table of a page that is not drawn
_LEFT_OUT = "so that the file stays small enough to be mailed"


def explanation_document(result: Explanation, detail: Detail) -> Document:
    """The report of an explanation."""
    evaluation = result.evaluation
    return Document(
        "Where pages lose score",
        f"{result.metric}; {count_text(evaluation.counts['pages'], 'page')}",
        explanation_summary(result),
        [
            Section("What is lost", loss_blocks(result, detail)),
            Section("Single pages", page_blocks(result, detail.pages, detail.posters)),
            settings_section(evaluation.config, {"": evaluation.counts}, result.caption),
        ],
    )


def loss_blocks(result: Explanation, detail: Detail) -> list[Block]:
    """Charts and tables of losses."""
    blocks: list[Block] = [Figure(result.chart("waterfall"))]
    if not math.isnan(result.shares[Columns.SCORE]):
        blocks.append(_cells(result, detail))
        lost = "Rows, in points of 100. Lost: what ideal pages have more in the row."
        blocks.append(table_block(_rows(result), f"{lost} {PARTS_OF_ALL}" if isinstance(result.grid, dict) else lost))
    if not result.segments.is_empty():
        blocks.append(table_block(_segments(result), "Segments, in points of 100. The parts of a line sum to 100."))
    return blocks


def page_blocks(result: Explanation, pages: int, posters: bool) -> list[Block]:
    """The worst pages as a table; those that are held beside their ideals, each once."""
    worst = result.worst
    if worst.is_empty():
        return [Paragraph("No page was scored.")]
    blocks: list[Block] = [
        table_block(_worst(result, worst.head(_WORST)), "The pages with the lowest scores, in points of 100.")
    ]
    if not pages:
        return [*blocks, Paragraph(f"No page is drawn, {_LEFT_OUT}; explanation.page() shows one.")]
    views = list(result.pages[:pages])
    which = "pages that show a relevant item" if views[0].values[Columns.DCG] > 0 else "pages"
    what = "The one with the lowest score" if len(views) == 1 else f"The {len(views)} with the lowest scores"
    blocks.append(Paragraph(f"{what} among {which}, beside what an ideal page would show:"))
    if not posters and any(Columns.POSTER in view.shown.columns for view in views):
        blocks.append(Paragraph(f"Posters are left out, {_LEFT_OUT}."))
        views = [_without_posters(view) for view in views]
    blocks += [block for view in views for block in _page(view)]
    drawn = list(result.pages[:pages])
    for what, others in (
        (f"A typical page: the median score among {which}.", [] if result.typical is None else [result.typical]),
        ("Pages that were asked for:", result.named),
    ):
        if more := [view for view in others if not any(view is one for one in drawn)] if pages > 1 else []:
            drawn += more
            shown = more if posters else [_without_posters(view) for view in more]
            blocks += [Paragraph(what), *(block for view in shown for block in _page(view))]
    return blocks


def score_note(result: Explanation, mean: float) -> list[Block]:
    """That an explanation is not about the very scores that were compared, where it is not."""
    score = result.shares[Columns.SCORE]
    if abs(score - mean) <= _SCORES_APART or math.isnan(score):
        return []
    return [
        Paragraph(
            f"The pages explained here score {score:.4f} by {result.metric}, while the mean above is {mean:.4f}: it is "
            "that of another metric, of several runs, or of ideals that the pages of all systems define."
        )
    ]


def _cells(result: Explanation, detail: Detail) -> Block:
    """The losses of cells, drawn unless there are too many."""
    grids = result.grid.values() if isinstance(result.grid, dict) else [result.grid]
    if detail.cells and sum(grid.rows * grid.cols for grid in grids) <= _MOST_CELLS:
        return Figure(result.chart("losses"))
    return Paragraph(f"The losses of cells are not drawn, {_LEFT_OUT}; explanation.cells has all.")


def _page(view: PageView) -> list[Block]:
    """A page beside its ideal, or where its items are and should be, if it is too large to be drawn."""
    if view.shown.height + view.ideal.height <= _MOST_CELLS:
        return [Figure(page_picture(view), wide=True)]
    shown, ideal = (
        {
            item_label(cell): f"row {cell[Columns.ROW]}, column {cell[Columns.COL]}"
            for cell in table.iter_rows(named=True)
        }
        for table in (view.shown.filter("counts"), view.ideal)
    )
    names = list(dict.fromkeys([*ideal, *shown]))[:_MOST_ITEMS]
    rows = [[name, shown.get(name, "not shown"), ideal.get(name, "not shown")] for name in names]
    about = f"The page of {view.ids}: its first relevant items. {view.score_text}. It is not drawn, {_LEFT_OUT}."
    return [table_block(TextTable(["item", "on the page", "on its ideal page"], rows, [False] * 3), about)]


def _without_posters(view: PageView) -> PageView:
    shown, ideal = (table.drop(Columns.POSTER, strict=False) for table in (view.shown, view.ideal))
    return replace(view, shown=shown, ideal=ideal)


def _rows(result: Explanation) -> TextTable:
    """Losses and gains of rows; of each segment, where segments have screens of their own."""
    keys = [*result.by, Columns.ROW] if isinstance(result.grid, dict) else [Columns.ROW]
    gains = (Columns.GAIN, Columns.IDEAL_GAIN)
    cells = result.cells.group_by(keys).agg(pl.col(Columns.LOSS, *gains).sum())
    order = result.rows.group_by(keys).agg(pl.col(Columns.ITEM_ORDER).sum())
    rows = [
        [*(str(row[key]) for key in keys)]
        + [_points(row[Columns.LOSS]), _points(row[Columns.ITEM_ORDER] or 0.0)]
        + [f"{row[name]:.3f}" for name in gains]
        for row in cells.join(order, on=keys, how="left").sort(keys).iter_rows(named=True)
    ]
    header = [*keys, "lost", "to the order of items", "mean gain", "mean gain of ideal pages"]
    return TextTable(header, rows, [False] * len(keys) + [True] * 4)


def _segments(result: Explanation) -> TextTable:
    def points(name: str) -> ShownColumn:
        return ShownColumn((name,), LOSS_NAMES.get(name, name), lambda row: _points(row[name] or 0.0))

    names = (Columns.SCORE, *reversed(LOSS_NAMES))
    return shown_table(result.to_frame(), SHARES, [*map(ShownColumn.of_name, result.by), *map(points, names)])


def _worst(result: Explanation, pages: pl.DataFrame) -> TextTable:
    def share(name: str) -> ShownColumn:
        def text(row: Line) -> str:
            return _points(row[name] / row[Columns.IDEAL])

        return ShownColumn((name,), LOSS_NAMES[name], text, about="what it costs, of the 100 points of the ideal page")

    shown = [
        *map(ShownColumn.of_name, (Columns.USER, Columns.PAGE, *result.by)),
        ShownColumn((Columns.SCORE,), "score", lambda row: _points(row[Columns.SCORE])),
        *map(share, reversed(LOSSES)),
    ]
    return shown_table(pages, WORST, shown, _NOT_OF_WORST)


def _points(share: float) -> str:
    return "" if math.isnan(share) else f"{round(100 * share, 1) + 0.0:.1f}"  # without a negative 0
