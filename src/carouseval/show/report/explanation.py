"""The report of an explanation: what pages lose by step, cell, row, segment and page, and what to fix, in words."""

import math
from collections.abc import Mapping
from dataclasses import replace

import polars as pl

from carouseval.comparison.summary import joined
from carouseval.evaluation.columns import Columns
from carouseval.evaluation.explanation import LOSSES, Explanation
from carouseval.evaluation.page_view import PageView, item_label
from carouseval.evaluation.result_columns import SHARES, WORST
from carouseval.evaluation.result_table import Line, ShownColumn, shown_table
from carouseval.show.charts.drawing import count_text
from carouseval.show.charts.explanation import LOSS_NAMES, PARTS_OF_ALL
from carouseval.show.charts.page import page_picture
from carouseval.show.report.cautions import evaluation_cautions, is_unmatched
from carouseval.show.report.closing_sections import settings_section
from carouseval.show.report.document import (
    Block,
    Detail,
    Document,
    Figure,
    Paragraph,
    Point,
    Section,
    Summary,
    Tile,
    table_block,
)
from carouseval.text_tables import TextTable

_WORST = 5  # pages of the table
_NOT_OF_WORST = (Columns.WEIGHT, Columns.STATUS, Columns.DCG, Columns.IDEAL, Columns.LOST)  # read in frames alone
_SCORES_APART = 1e-9
_MOST_CELLS = 2_000  # of a map or a page that is drawn: more are neither readable nor small
_MOST_ITEMS = 15  # of the table of a page that is not drawn
_LEFT_OUT = "so that the file stays small enough to be mailed"
_CAUSES = {
    Columns.CHOICE: "the choice of items",
    Columns.ROW_ORDER: "the order of carousels",
    Columns.ITEM_ORDER: "the order of items",
    Columns.MISSING: "missing pages",
}
_MEANINGS = {
    Columns.CHOICE: "relevant items are not on the page",
    Columns.ROW_ORDER: "carousels with relevant items are in rows that get less attention",
    Columns.ITEM_ORDER: "relevant items are in places of their carousels that get less attention",
    Columns.MISSING: "users have no page, and score 0",
}
_SMALLEST = 5e-4  # of a loss that is named
_MOST_SYSTEMS = 6  # in the summary


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
    lowest = "The one with the lowest score" if len(views) == 1 else f"The {len(views)} with the lowest scores"
    blocks.append(Paragraph(f"{lowest} among {which}, beside what an ideal page would show:"))
    if not posters and any(Columns.POSTER in view.shown.columns for view in views):
        blocks.append(Paragraph(f"Posters are left out, {_LEFT_OUT}."))
    blocks += [block for view in views for block in _page(view, posters)]
    if pages == 1:
        return blocks
    for heading, others in (
        (f"A typical page: the median score among {which}.", [] if result.typical is None else [result.typical]),
        ("Pages that were asked for:", result.named),
    ):
        if new := [view for view in others if not any(view is held for held in views)]:
            views += new
            blocks += [Paragraph(heading), *(block for view in new for block in _page(view, posters))]
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


def _page(view: PageView, posters: bool) -> list[Block]:
    """A page beside its ideal, or where its items are and should be, if it is too large to be drawn."""
    if view.shown.height + view.ideal.height <= _MOST_CELLS:
        return [Figure(page_picture(view if posters else _without_posters(view)), wide=True)]
    places, ideal_places = (
        {
            item_label(cell): f"row {cell[Columns.ROW]}, column {cell[Columns.COL]}"
            for cell in table.iter_rows(named=True)
        }
        for table in (view.shown.filter("counts"), view.ideal)
    )
    names = list(dict.fromkeys([*ideal_places, *places]))[:_MOST_ITEMS]
    rows = [[name, places.get(name, "not shown"), ideal_places.get(name, "not shown")] for name in names]
    about = f"The page of {view.ids}: its first relevant items. {view.score_text}. It is not drawn, {_LEFT_OUT}."
    return [table_block(TextTable(["item", "on the page", "on its ideal page"], rows, [False] * 3), about)]


def _without_posters(view: PageView) -> PageView:
    tables = {name: getattr(view, name).drop(Columns.POSTER, strict=False) for name in ("shown", "ideal")}
    return replace(view, **tables)


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

    columns = [
        *map(ShownColumn.of_name, (Columns.USER, Columns.PAGE, *result.by)),
        ShownColumn((Columns.SCORE,), "score", lambda row: _points(row[Columns.SCORE])),
        *map(share, reversed(LOSSES)),
    ]
    return shown_table(pages, WORST, columns, _NOT_OF_WORST)


def _fixable(result: Explanation) -> list[tuple[str, float]]:
    """What can be fixed, the largest loss first; nothing where pages only seem to be missing."""
    if is_unmatched(result.evaluation):
        return []
    named = [(name, share) for name, share in result.shares.items() if name in _CAUSES and share >= _SMALLEST]
    return sorted(named, key=lambda loss: -loss[1])


def fixes(explanations: Mapping[str, Explanation]) -> list[str]:
    """What to fix in each system, and what that means; a single system may have no name."""
    sentences = [_fix_sentence(result, name) for name, result in list(explanations.items())[:_MOST_SYSTEMS]]
    if (more := len(explanations) - _MOST_SYSTEMS) > 0:
        sentences.append(f"{more:,} more: see What each system loses.")
    named = dict.fromkeys(name for result in explanations.values() for name, _ in _fixable(result))
    meanings = "; ".join(f"{_CAUSES[name]}: {_MEANINGS[name]}" for name in _CAUSES if name in named)
    if not named:
        return sentences
    metrics = joined(list(dict.fromkeys(result.metric for result in explanations.values())))
    return [*sentences, f"In points of 100, the score of an ideal page by {metrics}. {capitalised(meanings)}."]


def _fix_sentence(result: Explanation, system: str) -> str:
    """Where a system loses most, and what else it loses."""
    about = f"{system}: " if system else ""
    if math.isnan(result.shares[Columns.SCORE]):
        return f"{about}No page was scored, so there is nothing to fix."
    if is_unmatched(result.evaluation):
        return f"{about}The pages do not match the judgments by page_id; fix that first."
    nothing = result.shares.get(Columns.NOTHING_TO_SHOW, 0.0)
    other = f" Users without a relevant item score 0, which costs {_points(nothing)} points." * (nothing >= _SMALLEST)
    if not (lost := _fixable(result)):
        return f"{about}These pages are ideal, and there is nothing left to gain.{other}"
    (first, most), *others = lost
    more = f", then {joined([f'{_CAUSES[name]} ({_points(share)})' for name, share in others])}" if others else ""
    return f"{about}Fix {_CAUSES[first]} first, which costs {_points(most)} points{more}.{other}"


def explanation_summary(result: Explanation) -> Summary:
    """How far pages are from ideal ones, and what to fix first."""
    shares, evaluation = result.shares, result.evaluation
    cautions = evaluation_cautions(evaluation)
    if math.isnan(shares[Columns.SCORE]):
        return Summary("No page was scored, so there is nothing to explain", [], cautions=cautions, tone="care")
    if is_unmatched(evaluation):
        return Summary("Nothing can be concluded: the pages do not match the judgments", [], (), cautions, "care")
    lost = _fixable(result)
    headline = f"These pages score {_points(shares[Columns.SCORE])} of 100, the score of an ideal page"
    if lost:
        headline += f"; most is lost to {_CAUSES[lost[0][0]]}"
    row = [] if result.worst_row is None else [f"Row {result.worst_row} falls furthest short of the ideal page."]
    low, high = evaluation.intervals[result.metric]
    mean = f"Mean {result.metric}: {evaluation.mean[result.metric]:.4f}"
    interval = "" if math.isnan(low) else f" (95% confidence interval over users {low:.4f} to {high:.4f})"
    points = [
        Point("Score", [f"{mean}{interval}.", *([note] if (note := evaluation.few_users_note) else [])]),
        Point("What to fix", [*fixes({"": result}), *row]),
    ]
    tiles = [Tile("score", _points(shares[Columns.SCORE]), "of 100")]
    tiles += [Tile(f"lost to {_CAUSES[name]}", _points(share), "points") for name, share in lost]
    return Summary(headline, points, tiles, cautions, "care" if cautions else "clear")


def capitalised(text: str) -> str:
    """Text with a capital letter at its beginning."""
    return text[:1].upper() + text[1:]


def _points(share: float) -> str:
    return "" if math.isnan(share) else f"{round(100 * share, 1) + 0.0:.1f}"  # without a negative 0
