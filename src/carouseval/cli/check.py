"""``carouseval check``: are the tables fit to be judged?"""

from typing import Annotated

import typer

from carouseval.cli import table_options as on
from carouseval.cli.options import OutputFormat, PageSize, VisibleRows
from carouseval.cli.output import Format, progress_bar, write_json, write_rows

EXAMPLES = """
carouseval check layouts.parquet
carouseval check layouts.parquet judgments.parquet --items items.parquet
carouseval check 'layouts/*.csv' judgments.csv --column user_id=customer --grid 8x20 --format json
"""


def check(
    layouts: on.Layouts,
    judgments: Annotated[
        str | None, typer.Argument(help="Judgments: user_id, item_id, relevance (and page_id).")
    ] = None,
    items: on.Items = None,
    grid: on.Screens = on.DEFAULT_GRID,
    page_size: PageSize = None,
    visible_rows: VisibleRows = None,
    by: on.By = on.NOTHING,
    weight: on.Weight = None,
    column: on.Columns = on.NOTHING,
    memory: on.Memory = 4.0,
    format: OutputFormat = Format.table,
) -> None:
    """Read and validate tables without scoring: every defect with its first line, and what the tables hold.

    Ends with status 2 if something would be refused.
    """
    from carouseval.evaluation.check import check as run

    with progress_bar() as bar:
        result = run(
            layouts,
            judgments,
            items,
            on.grids(grid, page_size, visible_rows),
            by,
            on.columns(column),
            weight=weight,
            memory=memory,
            progress=bar,
        )
    if format is Format.json:
        write_json(result.to_dict())
    elif format is Format.table:
        from rich.console import Console

        from carouseval.show.evaluation import check as draw

        Console(highlight=False).print(draw(result), soft_wrap=True)
    else:
        frame = result.to_frame()
        write_rows(format, frame.columns, frame.iter_rows())
    if not result.ok:
        raise typer.Exit(2)
