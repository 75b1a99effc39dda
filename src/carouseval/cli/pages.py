"""``carouseval pages``: pages from a recommender's scores."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from carouseval.building.settings import PageSettings
from carouseval.cli.output import progress_bar
from carouseval.cli.output_options import Output, with_output
from carouseval.cli.settings_options import with_settings
from carouseval.cli.typed_ids import parse_id

if TYPE_CHECKING:
    import polars as pl

EXAMPLES = """
carouseval pages scores.parquet --items items.parquet --out pages.parquet
carouseval pages system.run --items items.csv --out pages.csv --grid tv --order mean --min-items 3
carouseval pages recs.csv --items items.csv --out pages.csv --columns scores.user_id=user --columns scores.item_id=item
carouseval pages scores.parquet --items items.parquet --out pages.parquet --pinned "Continue watching=1"
carouseval evaluate pages.parquet judgments.parquet --items items.parquet
"""


@with_output("PageSummary")
@with_settings(settings=PageSettings)
def pages(
    scores: Annotated[
        str,
        typer.Argument(
            help="Scores: user_id, item_id, score, one line per user and item; larger is better. A .parquet, .csv, "
            ".tsv or .ndjson file, a folder, or a pattern in quotes. Any other file is read as a TREC run (user Q0 "
            "item rank score tag)."
        ),
    ],
    items: Annotated[
        str, typer.Option(help="Items: item_id, category, one line for each category of an item (and user_id).")
    ],
    *,
    settings: dict[str, Any],
    out: Annotated[
        Path | None,
        typer.Option(
            help="Write the pages, layouts for evaluate, to this .parquet, .csv or .ndjson file. In a .csv file ids "
            "match both integers and text."
        ),
    ] = None,
    output: Output,
) -> None:
    """Make pages from a recommender's scores.

    Each row shows the best items of one category, best first, and the best category is on top. Prints what the pages
    show, category by category: on how many pages, on which row on average, with how many items.
    """
    from dataclasses import asdict

    from carouseval.building.from_scores import pages_from_scores
    from carouseval.building.page_summary import PageSummary

    output.check(scores, items, layouts=out)
    columns, pinned = settings["columns"], settings["pinned"]
    settings["categories"] = _categories("--categories", settings["categories"], items, columns)
    if pinned:
        settings["pinned"] = dict(zip(_categories("--pinned", pinned, items, columns), pinned.values(), strict=True))
    with progress_bar() as bar:
        layouts = pages_from_scores(_scores(scores), items, progress=bar, **settings)
    output.write(PageSummary.of(layouts, settings | {"grid": asdict(settings["grid"])}))
    typer.echo(f"wrote {out}" if out else "carouseval: the pages were not written; give --out pages.parquet.", err=True)


def _scores(path: str) -> "str | pl.DataFrame":
    """The path of a table as it is; the scores of a TREC run, which is any other file."""
    from carouseval.building.run_files import read_run
    from carouseval.tables.files import is_table

    return read_run(path, "trec") if Path(path).is_file() and not is_table(Path(path)) else path


def _categories(option: str, names: Iterable[str] | None, items: str, columns: dict[str, Any]) -> Any:
    """Categories in the type that they have in items."""
    from carouseval.evaluation.schema import ITEMS, names_of
    from carouseval.tables.opening import open_table

    if names is None:
        return None
    kind = open_table(items, "items", ITEMS, names_of(columns, "items")).types["category"]
    return [parse_id(option, name, "category", kind) for name in names]
