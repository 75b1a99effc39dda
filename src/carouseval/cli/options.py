"""Options that several commands share."""

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from carouseval.cli.output import Format
from carouseval.metrics.choices import GainName as GainName

NOTHING: list[str] = []
METRIC = "A metric, such as 'N2DCG_cat(d_rpb)@3x5'. Repeat for more, where several make sense."
PAGE_SIZE = "Items of a row seen at once. Default: 5, or the screen's."
VISIBLE_ROWS = "Rows seen before the first scroll. Default: 3, or the screen's."
GAIN = "What an item gains: 2^relevance - 1 (exp2), or its relevance (linear)."

LayoutsArgument: TypeAlias = Annotated[
    str,
    typer.Argument(
        help="Pages: user_id, row, col, item_id (and page_id, category, pinned), or a line per carousel with a list "
        "of items. A .parquet, .csv, .tsv or .ndjson file, a folder, or a pattern in quotes."
    ),
]
JudgmentsArgument: TypeAlias = Annotated[
    str, typer.Argument(help="Judgments: user_id, item_id, relevance (and page_id).")
]
ItemsOption: TypeAlias = Annotated[
    str | None,
    typer.Option(help="Items: item_id, category (and user_id). Default: the pairs that the pages show."),
]
GridName: TypeAlias = Annotated[
    str | None,
    typer.Option("--grid", help="The screen: ROWSxCOLS, recgaze, tv, desktop or phone. Default: the input's size."),
]
PageSize: TypeAlias = Annotated[int | None, typer.Option("--page-size", help=PAGE_SIZE)]
VisibleRows: TypeAlias = Annotated[int | None, typer.Option("--visible-rows", help=VISIBLE_ROWS)]
PerPage: TypeAlias = Annotated[
    Path | None, typer.Option(help="Write every page's scores to this .parquet, .csv or .ndjson file.")
]
OutputFormat: TypeAlias = Annotated[Format, typer.Option("--format", "-f", help="How to print the result.")]
