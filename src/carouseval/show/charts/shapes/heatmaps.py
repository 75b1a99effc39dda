"""Heat maps in the shape of the screen: weights, examination, gains, losses; darker where values are larger.

They draw the cells of a table or, where those are too many to be seen, the means of blocks of cells.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import altair as alt
import numpy as np
from numpy.typing import ArrayLike

from carouseval.errors import DataError
from carouseval.metrics.grid import Array, Grid
from carouseval.show.charts.chart import Chart
from carouseval.show.charts.drawing import LEGEND_NUMBERS, chart_of, finished, ink_on_shades, numbered_axis
from carouseval.show.charts.shapes.screens import as_table, cells, left_edges, position, value_range
from carouseval.show.charts.theme import FAINT, PAPER, RAMP

MOST_CELLS = 5_000  # squares of a heat map
_MAX_NUMBERED, _MAX_NUMBERED_SIDE = 300, 40  # cells of a heat map with numbers, and of its longer side
_LONGEST = 1100  # pixels of the longer side of a heat map without numbers, if its cells can be that small


@dataclass(frozen=True, eq=False)
class CellBlocks:
    """The squares of a heat map, on a grid of their own; each is one cell, or the mean of a block of cells."""

    values: Array
    grid: Grid
    shape: tuple[int, int]  # of the table
    rows: int = 1  # cells of a block
    cols: int = 1

    @classmethod
    def of(cls, table: Array, grid: Grid) -> "CellBlocks":
        """Blocks of cells, doubled along the side that has more of them until they are few enough."""
        rows = cols = 1
        down, across = table.shape
        while down * across > MOST_CELLS:
            if across >= down:
                cols *= 2
            else:
                rows *= 2
            down, across = -(-table.shape[0] // rows), -(-table.shape[1] // cols)
        if rows == cols == 1:
            return cls(table, grid, table.shape)
        return cls(_means(table, rows, cols), Grid(down, across, page_size=across), table.shape, rows, cols)

    @property
    def are_single_cells(self) -> bool:
        """Whether each square is one cell."""
        return self.rows == self.cols == 1

    def place(self, row: int, col: int) -> dict[str, int | str]:
        """Which row and column of the table a square stands for or, of a block, which rows and columns."""
        return {"row": _span(row, self.rows, self.shape[0]), "col": _span(col, self.cols, self.shape[1])}

    @property
    def note(self) -> str:
        """What a square stands for, where it is not one cell."""
        if self.are_single_cells:
            return ""
        sides = (f"{count} {noun}{'s' * (count > 1)}" for count, noun in ((self.rows, "row"), (self.cols, "column")))
        return f"Each square: the mean of {' x '.join(sides)}, without borders of swipe pages."


def _span(number: int, size: int, last: int) -> int | str:
    return number if size == 1 else f"{(number - 1) * size + 1}-{min(number * size, last)}"


def _means(table: Array, rows: int, cols: int) -> Array:
    """The mean of the values of each block; NaN where it has none."""
    missing = [(0, -size % side) for size, side in zip(table.shape, (rows, cols), strict=True)]
    padded = np.pad(table, missing, constant_values=np.nan)
    blocks = padded.reshape(padded.shape[0] // rows, rows, padded.shape[1] // cols, cols)
    counts = (~np.isnan(blocks)).sum(axis=(1, 3))
    return np.where(counts > 0, np.nansum(blocks, axis=(1, 3)) / np.maximum(counts, 1), np.nan)


def heatmap(table: ArrayLike, title: str = "", grid: Grid | None = None, value_title: str = "weight") -> Chart:
    """Draw a table in the shape of the screen, with gaps between swipe pages and numbers unless it is large.

    Of more than 5,000 cells it draws the means of blocks, and says so below the title.

    Parameters
    ----------
    table : array-like of shape (rows, cols)
        The values, such as ``discount.weights(grid)``; NaN leaves a cell empty.
    title : str, default ''
        The title of the chart.
    grid : Grid, optional
        The screen; by default that of the table's shape, with swipe pages of 5.
    value_title : str, default 'weight'
        What the values are, for the legend.

    Returns
    -------
    Chart
        The chart; notebooks show it, and ``save`` writes it.

    Examples
    --------
    >>> import carouseval as cv
    >>> cv.charts.heatmap([[0.9, 0.5], [0.4, 0.1]], "pilot", value_title="share of screens")
    Chart(pilot: a grid of 2 rows and 2 columns; share of screens from 0.1 (row 2, column 2) to 0.9 (row 1, column 1).)
    """
    values = as_table(table, grid or _grid_of(table))
    grid = grid or Grid(*values.shape)
    length = max(60, min(180, 22 * grid.rows))
    (drawing,) = shaded_alike({title: CellBlocks.of(values, grid)}, value_title, length)
    return finished(drawing, title or value_title, described(values, value_title))


def heatmaps(tables: Mapping[str, ArrayLike], grid: Grid | None = None, columns: int = 2) -> Chart:
    """Draw several tables, each shaded relative to its own maximum, so that their shapes can be compared.

    Parameters
    ----------
    tables : mapping of str to array-like of shape (rows, cols)
        The tables by their titles.
    grid : Grid, optional
        The screen; by default that of the tables' shape, with swipe pages of 5.
    columns : int, default 2
        How many heat maps stand beside each other.

    Returns
    -------
    Chart
        The chart; notebooks show it, and ``save`` writes it.

    Examples
    --------
    >>> import carouseval as cv
    >>> weights = {symbol: cv.discounts.parse(symbol).weights(cv.TV) for symbol in ("d_rpd", "d_rpb")}
    >>> cv.charts.heatmaps(weights, cv.TV).title
    'd_rpd, d_rpb'
    """
    screen = grid or _grid_of(next(iter(tables.values())))
    legend = alt.Legend(title="shade: share of the table's maximum", orient="top", gradientLength=240, tickCount=5)
    color = alt.Color("share:Q", scale=alt.Scale(range=RAMP, domain=[0, 1]), legend=legend)
    values = {title: as_table(table, screen) for title, table in tables.items()}
    charts = [_shaded(CellBlocks.of(table, screen), title, color) for title, table in values.items()]
    alternative = " ".join(f"{title}: {described(table, 'value')}" for title, table in values.items())
    return finished(alt.concat(*charts, columns=columns, spacing=24), ", ".join(tables), alternative)


def _grid_of(table: ArrayLike) -> Grid:
    shape = np.shape(table)
    if len(shape) != 2 or 0 in shape:
        raise DataError(f"a heat map needs a table of rows and columns, found one of shape {shape}.")
    return Grid(*shape)


def shaded_alike(tables: Mapping[str, CellBlocks], value_title: str, length: int) -> list[alt.LayerChart]:
    """Tables by their titles in the same colours, with a legend of this length; values below its end look like it."""
    values = np.concatenate([table.values.ravel() for table in tables.values()])
    ends = value_range(values)
    scale = alt.Scale(range=RAMP, domain=list(ends))
    if np.nanmin(values, initial=0) < ends[0]:
        scale.clamp = True
    legend = alt.Legend(title=value_title, gradientLength=length, tickCount=5, format=LEGEND_NUMBERS)
    color = alt.Color("value:Q", scale=scale, legend=legend)
    return [_shaded(table, title, color, ends) for title, table in tables.items()]


def described(table: Array, value_title: str) -> str:
    """The shape and the extremes of a table, in a sentence."""
    rows, cols = table.shape
    shape = f"a grid of {rows:,} row{'s' * (rows > 1)} and {cols:,} column{'s' * (cols > 1)}"
    if np.isnan(table).all():
        return f"{shape}; no cell has a value."
    lowest, highest = (
        f"{table.ravel()[index]:.4g} (row {index // cols + 1}, column {index % cols + 1})"
        for index in (np.nanargmin(table), np.nanargmax(table))
    )
    return f"{shape}; {value_title} from {lowest} to {highest}."


def _shaded(
    squares: CellBlocks, title: str, color: alt.Color, ends: tuple[float, float] | None = None
) -> alt.LayerChart:
    """A table in the shape of the screen in these colours, with numbers unless it is large.

    ``ends`` are those of the colours, where they are not those of the table.
    """
    table, grid = squares.values, squares.grid
    numbered = table.size <= _MAX_NUMBERED and max(table.shape) <= _MAX_NUMBERED_SIDE
    texts = _numbers(table) if numbered else [""] * table.size
    data: list[dict[str, Any]] = [
        {**cell, **squares.place(cell["row"], cell["col"]), "text": text}
        for cell, text in zip(cells(table, grid, ends), texts, strict=True)
    ]
    centres = (left_edges(grid) + 0.5).tolist()
    right = centres[-1] + 0.5
    place = position(
        [0, right],
        [0, grid.rows],
        numbered_axis(centres, "column", squares.cols),
        numbered_axis([row + 0.5 for row in range(grid.rows)], "row", squares.rows),
    )
    every_cell = chart_of(data)
    filled = every_cell.transform_filter("isValid(datum.value)")
    layers = [
        filled.mark_rect(stroke=PAPER, strokeWidth=0.6).encode(
            **place, color=color, tooltip=["row:O", "col:O", "value:Q"]
        ),
        every_cell.transform_filter("!isValid(datum.value)").mark_rect(fill=PAPER, stroke=FAINT).encode(**place),
    ]
    if numbered:
        layers.append(
            filled.mark_text(fontSize=11, aria=False).encode(x="xc:Q", y="yc:Q", text="text:N", color=ink_on_shades())
        )
    small = max(5.0, min(15.0, _LONGEST / max(right, grid.rows)))
    wide, high = (max(24, 9 + 6.2 * max(map(len, texts))), 22) if numbered else (small, small)
    heading = alt.TitleParams(title, subtitle=squares.note) if squares.note else title
    return alt.LayerChart(layer=layers, width=wide * right, height=high * grid.rows, title=heading)


def _numbers(table: Array) -> list[str]:
    """Integers as they are, other numbers to two or three digits of the largest, without a leading 0."""
    integers = np.array_equal(table, np.round(table), equal_nan=True)
    top = max(map(abs, value_range(table)))
    if not 1e-6 < top < 1e9:  # all their digits would make cells as wide as a page
        return [f"{value:.2g}" for value in table.ravel()]
    places = 0 if integers else max(0, 2 - math.floor(math.log10(top)) - (top < 1))
    texts = [f"{value:.{places}f}" for value in table.ravel()]
    texts = ["0" if float(text) == 0 else text for text in texts]  # rather than -0.00
    return [text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text for text in texts]
