"""``carouseval check``: are the tables valid?"""

from dataclasses import replace
from typing import Annotated, Any

import typer

from carouseval.cli import options
from carouseval.cli.output import Format, emit, progress_bar
from carouseval.cli.settings_options import with_settings
from carouseval.cli.wording import with_options
from carouseval.evaluation.settings import Settings

EXAMPLES = """
carouseval check layouts.parquet
carouseval check layouts.parquet judgments.parquet --items items.parquet
carouseval check 'layouts/*.csv' judgments.csv --columns user_id=customer --grid 8x20 --format json
"""


@with_settings(settings=Settings)
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
    """Validate tables without scoring them.

    Lists every defect with its first line, and summarises the tables. Ends with status 2 if evaluate would refuse them.
    """
    from carouseval.evaluation.check import check as run
    from carouseval.show.terminal.evaluation import check_table as draw

    with progress_bar() as bar:
        result = run(layouts, judgments, items, progress=bar, **settings)
    defects = (replace(defect, message=with_options(defect.message)) for defect in result.defects)
    result = replace(result, defects=tuple(defects))
    emit(result, format, lambda _: draw(result))
    if not result.ok:
        raise typer.Exit(2)
