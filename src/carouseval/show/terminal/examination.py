"""Examination counts in the terminal."""

from rich.text import Text

from carouseval.attention.examination import Examination
from carouseval.metrics.grid import Grid
from carouseval.show.terminal.text_blocks import heading, heat


def examination(data: Examination, grid: Grid) -> Text:
    """The counts as a heat map."""
    return Text("\n").join(counts(data, grid)[1:])


def counts(data: Examination, grid: Grid) -> list[Text]:
    """The heading and the heat map."""
    rows = None if data.row_counts is None else [str(count) for count in data.row_counts.tolist()]
    return heading(data.name, data.description) + heat(
        data.counts.astype(float), grid, decimals=0, notes=rows, notes_title="row"
    )
