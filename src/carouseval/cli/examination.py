"""``carouseval examination``: examination counts from any study's logs."""

from pathlib import Path
from typing import Annotated

import typer

from carouseval.cli.options import OutputFormat, PageSize
from carouseval.cli.output import Format, write_json, write_rows

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

    shape = screen(grid, page_size, None, ())
    seen = examination_from_screens(table, shape, screens, name)
    if out is not None:
        seen.save(out)
    if format is Format.json:
        write_json(seen.to_dict())
    elif format is Format.table:
        from rich.console import Console

        from carouseval.show.examination import examination as draw

        Console(highlight=False).print(draw(seen, shape), soft_wrap=True)
    else:
        cols = [str(col) for col in range(1, shape.cols + 1)]
        rows = ([i, *row] for i, row in enumerate(seen.counts.tolist(), 1))
        write_rows(format, ["row", *cols], rows)
