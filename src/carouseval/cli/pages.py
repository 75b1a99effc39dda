"""``carouseval pages``: pages from a recommender's scores."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from carouseval.building.category_orders import CategoryOrder
from carouseval.cli import chart_options, options
from carouseval.cli.output import Format, emit, progress_bar
from carouseval.cli.settings_options import ColumnsOption, SplitOption, parse_columns
from carouseval.cli.typed_ids import parse_id
from carouseval.errors import ParseError
from carouseval.validation import parse_size, quoted

if TYPE_CHECKING:
    import polars as pl

EXAMPLES = """
carouseval pages scores.parquet --items items.parquet --out pages.parquet
carouseval pages system.run --items items.csv --out pages.csv --grid tv --order mean --min-items 3
carouseval pages recs.csv --items items.csv --out pages.csv --columns scores.user_id=user --columns scores.item_id=item
carouseval pages scores.parquet --items items.parquet --out pages.parquet --pinned "Continue watching=1"
carouseval evaluate pages.parquet judgments.parquet --items items.parquet
"""


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
    grid: Annotated[str, typer.Option(help=f"{options.GRID} Pages have at most its rows and columns.")] = ("recgaze"),
    order: Annotated[
        CategoryOrder,
        typer.Option(
            parser=options.choice_parser(CategoryOrder),
            help="Which category comes first: by its scores of items not shown above (remaining), by its largest score "
            "(best), by the mean or sum of its best scores, or as listed by --categories (fixed).",
        ),
    ] = "remaining",
    categories: Annotated[
        list[str],
        typer.Option(
            "--categories",
            "--category",
            metavar="<category>",
            help="Category that may be shown; with --order fixed from the top row down. Default: all. Repeat for "
            "several.",
        ),
    ] = options.NOTHING,
    pinned: Annotated[
        list[str],
        typer.Option(
            metavar="<category=row>",
            help="Category with a fixed row, from 1: 'Continue watching=1'. Repeat for several.",
        ),
    ] = options.NOTHING,
    unique_items: Annotated[
        bool,
        typer.Option(help="Show an item once on a page, on the highest of its rows, or in each of its categories."),
    ] = True,
    min_items: Annotated[int, typer.Option(help="Fewest items of a row; a shorter one is left out.", min=1)] = 1,
    columns: ColumnsOption = options.NOTHING,
    split: SplitOption = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Write the pages, layouts for evaluate, to this .parquet, .csv or .ndjson file. In a .csv file ids "
            "match both integers and text."
        ),
    ] = None,
    chart: chart_options.ChartOption = None,
    chart_theme: chart_options.ThemeOption = "light",
    format: options.OutputFormat = Format.table,
) -> None:
    """Make pages from a recommender's scores.

    Each row shows the best items of one category, best first, and the best category is on top. Prints what the pages
    show, category by category: on how many pages, on which row on average, with how many items.
    """
    from dataclasses import asdict

    from carouseval.building.from_scores import pages_from_scores
    from carouseval.building.page_summary import PageSummary
    from carouseval.cli.grid_options import parse_grid
    from carouseval.tables.writing import check_outputs, write_frame

    check_outputs(out, inputs=(scores, items))
    chart_options.check_chart(chart, (scores, items))
    names, screen = parse_columns(columns), parse_grid(grid, None, None, ())
    settings: dict[str, Any] = {
        "order": order,
        "categories": _categories("--categories", categories, items, names) or None,
        "pinned": _pinned_rows(pinned, items, names) or None,
        "unique_items": unique_items,
        "min_items": min_items,
        "split": split,
    }
    with progress_bar() as bar:
        layouts = pages_from_scores(_scores(scores), items, screen, columns=names, progress=bar, **settings)
    if out is not None:
        write_frame(out, layouts)
    summary = PageSummary.of(layouts, {"grid": asdict(screen)} | settings | {"columns": names})
    chart_options.save_chart(summary, chart, chart_theme)
    emit(summary, format)
    typer.echo(f"wrote {out}" if out else "carouseval: the pages were not written; give --out pages.parquet.", err=True)


def _scores(path: str) -> "str | pl.DataFrame":
    """The path of a table as it is; the scores of a TREC run, which is any other file."""
    from carouseval.building.run_files import read_run
    from carouseval.tables.files import is_table

    return read_run(path, "trec") if Path(path).is_file() and not is_table(Path(path)) else path


def _pinned_rows(texts: list[str], items: str, columns: dict[str, Any]) -> dict[str | int, int]:
    """``Continue watching=1`` as a category and its row."""
    rows: dict[str, int] = {}
    for text in texts:
        name, _, row = text.rpartition("=")
        number = parse_size(row)
        if not name or number is None or name in rows:
            raise ParseError(
                f"--pinned {quoted(text)} cannot be parsed; write each category once: 'Continue watching=1'."
            )
        rows[name] = number
    return dict(zip(_categories("--pinned", list(rows), items, columns), rows.values(), strict=True))


def _categories(option: str, names: list[str], items: str, columns: dict[str, Any]) -> list[str | int]:
    """Categories in the type that they have in items."""
    from carouseval.evaluation.schema import ITEMS, names_of
    from carouseval.tables.opening import open_table

    if not names:
        return []
    kind = open_table(items, "items", ITEMS, names_of(columns, "items")).types["category"]
    return [parse_id(option, name, "category", kind) for name in names]
