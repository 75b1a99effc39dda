"""One page given as an array: its relevances, the weights of its cells, and its ideal page."""

import altair as alt
import numpy as np

from carouseval.metrics.grid import Array, resized
from carouseval.metrics.page_score import PageScore
from carouseval.show.charts.chart import Chart
from carouseval.show.charts.drawing import chart_title, finished
from carouseval.show.charts.shapes.heatmaps import CellBlocks, described, heatmap, shaded_alike


def page_relevances(result: PageScore) -> Chart:
    """The page and, where a metric has one, its ideal page, as heat maps of relevance."""
    tables = {"the page": result.page}
    if result.analysis is not None:
        tables["its ideal page"] = result.analysis.ideal_page
    rows, cols = (max(_used(table)[axis] for table in tables.values()) for axis in (0, 1))
    grid = resized(result.grid, rows, cols)
    tables = {name: _padded(table, rows, cols) for name, table in tables.items()}
    charts = shaded_alike({name: CellBlocks.of(table, grid) for name, table in tables.items()}, "relevance", 100)
    scores = ", ".join(f"{name} {_score_text(score)}" for name, score in result.scores.items())
    title = "A page and its ideal" if len(tables) > 1 else "A page"
    figure = alt.concat(*charts, columns=1, spacing=20, title=chart_title(title, scores, 500))
    described_tables = " ".join(f"{name}: {described(table, 'relevance')}" for name, table in tables.items())
    return finished(figure, title, f"Scores: {scores}. {described_tables}")


def weight_map(result: PageScore) -> Chart:
    """The weights of the screen's cells under the first metric that has a discount."""
    if result.analysis is None:
        return heatmap(np.ones(result.grid.shape), "no metric has a discount", result.grid)
    return heatmap(result.analysis.weights, str(result.analysis.discount), result.grid)


def _score_text(score: float) -> str:
    return "has no score" if np.isnan(score) else f"{score:.4f}"


def _used(table: Array) -> tuple[int, int]:
    """The size of a page without empty rows and columns at its end; at least one cell."""
    filled = ~np.isnan(table)
    rows, cols = (int(np.flatnonzero(filled.any(axis=axis)).max(initial=0)) + 1 for axis in (1, 0))
    return rows, cols


def _padded(table: Array, rows: int, cols: int) -> Array:
    cut = table[:rows, :cols]
    return np.pad(cut, [(0, rows - cut.shape[0]), (0, cols - cut.shape[1])], constant_values=np.nan)
