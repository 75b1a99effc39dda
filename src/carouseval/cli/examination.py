"""``carouseval examination``: examination counts from any study's logs."""

from pathlib import Path
from typing import Annotated

import typer

from carouseval.cli.options import OutputFormat, PageSize
from carouseval.cli.output import Format, emit

EXAMPLES = """
carouseval examination screens.csv --grid 8x12
carouseval examination screens.parquet --grid 8x12 --screens 500 --out counts.json
"""


def examination(
    table: Annotated[
        Path,
        typer.Argument(help="CSV or Parquet, one line per examined cell: screen, row, col, and participant if known."),
    ],
    grid: Annotated[str, typer.Option(help="The screen: ROWSxCOLS, recgaze, tv, desktop or phone.")],
    screens: Annotated[
        int | None,
        typer.Option(help="All screens, those on which nothing was examined included. Default: those in the table."),
    ] = None,
    page_size: PageSize = None,
    name: Annotated[str | None, typer.Option(help="What to call the counts. Default: the table's name.")] = None,
    out: Annotated[Path | None, typer.Option(help="A JSON file to write the counts to.")] = None,
    format: OutputFormat = Format.table,
) -> None:
    """Count the screens on which each cell was examined, from a plain table of examined cells.

    Rows and columns count from 1; a cell repeated on a screen counts once.
    """
    from carouseval.attention.screens import examination_from_screens
    from carouseval.cli.screen import screen
    from carouseval.show.examination import examination as draw

    shape = screen(grid, page_size, None, ())
    counts = examination_from_screens(table, shape, screens, name)
    if out is not None:
        counts.save(out)
    emit(counts, format, lambda _: draw(counts, shape))
