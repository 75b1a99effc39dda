"""What a heat map draws of a table: its cells or, where they are too many to be seen, the means of blocks of cells."""

from dataclasses import dataclass

import numpy as np

from carouseval.metrics.grid import Array, Grid

MOST_CELLS = 5_000  # squares of a heat map


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
