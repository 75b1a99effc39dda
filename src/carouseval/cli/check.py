"""``carouseval check``: are the tables fit to be judged?"""

from dataclasses import replace
from typing import Annotated, Any

import typer

from carouseval.cli import options
from carouseval.cli.messages import as_typed
from carouseval.cli.output import Format, emit, progress_bar
from carouseval.cli.settings_options import with_settings

EXAMPLES = """
carouseval check layouts.parquet
carouseval check layouts.parquet judgments.parquet --items items.parquet
carouseval check 'layouts/*.csv' judgments.csv --column user_id=customer --grid 8x20 --format json
"""


@with_settings
def check(
    layouts: options.LayoutsArgument,
    judgments: Annotated[
        str | None, typer.Argument(help="Judgments: user_id, item_id, relevance (and page_id).")
    ] = None,
    items: options.ItemsOption = None,
    *,
    settings: dict[str, Any],
    format: options.OutputFormat = Format.table,
) -> None:
    """Read and validate tables without scoring: every defect with its first line, and what the tables hold.

    Ends with status 2 if something would be refused.
    """
    from carouseval.evaluation.check import check as run
    from carouseval.show.evaluation import check_table as draw

    with progress_bar() as bar:
        found = run(layouts, judgments, items, progress=bar, **settings)
    defects = (replace(defect, message=as_typed(defect.message)) for defect in found.defects)
    result = replace(found, defects=tuple(defects))
    emit(result, format, lambda _: draw(result))
    if not result.ok:
        raise typer.Exit(2)
