"""Charts of an explanation: what was lost, and in which cells."""

import altair as alt
import numpy as np
import polars as pl

from carouseval.evaluation.columns import Columns
from carouseval.evaluation.explanation import Explanation
from carouseval.metrics.grid import Array, Grid
from carouseval.show.charts.chart import Chart
from carouseval.show.charts.drawing import chart_title, finished
from carouseval.show.charts.shapes.bars import Step, waterfall
from carouseval.show.charts.shapes.heatmaps import CellBlocks, described, shaded_alike

LOSS_NAMES = {
    Columns.MISSING: "missing pages",
    Columns.NOTHING_TO_SHOW: "nothing relevant to show",
    Columns.CHOICE: "choice of items",
    Columns.ROW_ORDER: "order of rows",
    Columns.ITEM_ORDER: "order of items",
}
PARTS_OF_ALL = "Each segment has its part of the means over all users, so that a small one has small numbers."


def loss_waterfall(result: Explanation) -> Chart:
    """From the ideal page to the score: what the choice of items, the order of rows and that of items cost."""
    title = f"From the ideal page to the score, by {result.metric}"
    if np.isnan(result.shares[Columns.SCORE]):
        nothing = Step("score", 0.0, 0.0, is_total=True, text="none")
        return waterfall([nothing], title, result.summary, result.summary, "points of 100", places=1)
    shares = {name: 100 * share for name, share in result.shares.items()}
    steps = [Step("ideal page", 0.0, 100.0, is_total=True)]
    for name, label in LOSS_NAMES.items():
        if name in shares:
            steps.append(Step(label, steps[-1].end, steps[-1].end - shares[name]))
    steps.append(Step("score", 0.0, shares[Columns.SCORE], is_total=True))
    numbers = ", ".join(f"{step.name} {step.label(1)}" for step in steps[1:-1])
    alternative = f"{result.summary} From 100 points: {numbers}; score {shares[Columns.SCORE]:.1f}."
    return waterfall(steps, title, result.summary, alternative, "points of 100", places=1)


def loss_cells(result: Explanation) -> Chart:
    """What is lost in each cell, in points of 100; negative where it shows more than ideal pages do."""
    notes = (
        "Ideal minus shown, in points of 100; negative where cells show more than ideal pages do. The cells sum to the "
        "loss of the pages shown."
    )
    return _cell_maps(result, "Loss in each cell", notes, {"loss": (Columns.LOSS, 100.0)}, "points of 100")


def gain_cells(result: Explanation) -> Chart:
    """The mean gain in each cell, beside that of ideal pages."""
    columns = {"pages shown": (Columns.GAIN, 1.0), "ideal pages": (Columns.IDEAL_GAIN, 1.0)}
    return _cell_maps(result, "Gain in each cell", "Mean over users and pages.", columns, "mean gain")


def _cell_maps(
    result: Explanation, title: str, notes: str, columns: dict[str, tuple[str, float]], value_title: str
) -> Chart:
    """A heat map for each of these columns of ``cells``, and for each grid; all have the same colours."""
    tables, squares = {}, {}
    for segment, grid in _grids(result).items():
        cells = result.cells if not segment else result.cells.filter(pl.col(result.by[0]) == segment)
        for name, (column, scale) in columns.items():
            label = ", ".join([name] * (len(columns) > 1) + [segment] * bool(segment))
            tables[label] = scale * _by_cell(cells, column, grid)
            squares[label] = CellBlocks.of(tables[label], grid)
    notes += f" {PARTS_OF_ALL}" * isinstance(result.grid, dict)
    notes += " Gaps: swipe pages." * any(blocks.are_single_cells for blocks in squares.values())
    charts = shaded_alike(squares, value_title, 160)
    figure = alt.concat(*charts, columns=1, spacing=24, title=chart_title(title, notes, 700))
    alternative = " ".join(
        f"{label or value_title}: {described(table, value_title)}" for label, table in tables.items()
    )
    return finished(figure, title, alternative)


def _grids(result: Explanation) -> dict[str, Grid]:
    return result.grid if isinstance(result.grid, dict) else {"": result.grid}


def _by_cell(cells: pl.DataFrame, column: str, grid: Grid) -> Array:
    table = np.zeros(grid.shape) if cells.height else np.full(grid.shape, np.nan)
    sums = cells.group_by(Columns.ROW, Columns.COL).agg(pl.col(column).sum())
    table[sums[Columns.ROW].to_numpy() - 1, sums[Columns.COL].to_numpy() - 1] = sums[column].to_numpy()
    return np.round(table, 12) + 0.0  # without a negative 0
