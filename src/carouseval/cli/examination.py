"""``carouseval examination``: examination counts from the logs of any eye-tracking study."""

from pathlib import Path
from typing import Annotated

import typer

from carouseval.cli.options import GRID, PageSize
from carouseval.cli.output_options import Output, with_output

EXAMPLES = """
carouseval examination screens.csv --grid 8x12
carouseval examination screens.parquet --grid 8x12 --screens 500 --out counts.json --chart heatmap.svg
"""


@with_output("Examination")
def examination(
    table: Annotated[
        Path,
        typer.Argument(help="CSV or Parquet, one line per examined cell: screen, row, col (and participant)."),
    ],
    grid: Annotated[str, typer.Option(help=GRID)],
    screens: Annotated[
        int | None,
        typer.Option(help="Number of screens, including those without any examined cell. Default: those in the table."),
    ] = None,
    page_size: PageSize = None,
    name: Annotated[str | None, typer.Option(help="Name of the counts. Default: the name of the table.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write the counts to this JSON file.")] = None,
    *,
    output: Output,
) -> None:
    """Count examined cells in your own eye-tracking logs.

    The result is the number of screens on which each cell was examined. Rows and columns count from 1; a cell that is
    repeated on a screen counts once.
    """
    from carouseval.attention.screens import examination_from_screens
    from carouseval.cli.grid_options import parse_grid
    from carouseval.show.terminal.fit import examination as draw

    output.check(table)
    screen = parse_grid(grid, page_size, None, ())
    counts = examination_from_screens(table, screen, screens, name)
    if out is not None:
        counts.save(out)
    output.write(counts, lambda _: draw(counts, screen), grid=screen)
