"""Options of the commands that judge tables."""

from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

DEFAULT_GRID = ["recgaze"]
NOTHING: list[str] = []

Layouts: TypeAlias = Annotated[
    str,
    typer.Argument(
        help="Pages: user_id, row, col, item_id (and page_id, category, pinned), or a line per carousel with a list "
        "of items. A .parquet, .csv or .ndjson file, a folder, or a pattern in quotes."
    ),
]
Judgments: TypeAlias = Annotated[str, typer.Argument(help="Judgments: user_id, item_id, relevance (and page_id).")]
Items: TypeAlias = Annotated[
    str | None,
    typer.Option(help="Items: item_id, category (and user_id). Default: the pairs that the pages show."),
]
Screens: TypeAlias = Annotated[
    list[str],
    typer.Option(
        "--grid", help="The screen: ROWSxCOLS, recgaze, tv, desktop or phone; or tv=20x24, for each value of --by."
    ),
]
Gain: TypeAlias = Annotated[str, typer.Option(help="exp2 (2^relevance - 1) or linear.")]
Candidates: TypeAlias = Annotated[
    str, typer.Option(help="What the ideal page may show: judged items, or only what is displayed.")
]
Duplicates: TypeAlias = Annotated[str, typer.Option(help="An item shown twice counts: best, first, every, or error.")]
MissingPages: TypeAlias = Annotated[str, typer.Option(help="Users with judgments but no page: zero, skip or error.")]
NoRelevant: TypeAlias = Annotated[str, typer.Option(help="Users without a relevant item: skip, zero or error.")]
Unjudged: TypeAlias = Annotated[str, typer.Option(help="Items shown without a judgment: zero or error.")]
Invalid: TypeAlias = Annotated[
    str,
    typer.Option(help="Pages that repeat a category, skip a row or show an item outside its category: error, count."),
]
By: TypeAlias = Annotated[list[str], typer.Option(help="A column whose values are judged apart too, such as device.")]
Weight: TypeAlias = Annotated[str | None, typer.Option(help="A column with the weight of each page or user.")]
Columns: TypeAlias = Annotated[
    list[str], typer.Option("--column", help="A column you call otherwise: user_id=customer, or layouts.row=position.")
]
Memory: TypeAlias = Annotated[
    float, typer.Option(help="GiB for the lines of layouts; larger tables go through temporary files.")
]
PerPage: TypeAlias = Annotated[
    Path | None, typer.Option(help="Write every page's scores to this .parquet, .csv or .ndjson file.")
]


def grids(asked: list[str], page_size: int | None, visible_rows: int | None) -> Any:
    """The screen of all pages, or of each segment."""
    from carouseval.cli.screen import screen
    from carouseval.errors import ParseError

    named = [text.partition("=") for text in asked]
    if all(mark for _, mark, _ in named) and named:
        return {value: screen(name, page_size, visible_rows, ()) for value, _, name in named}
    if len(named) != 1 or named[0][1]:
        raise ParseError("--grid names one screen, or one for each value of --by: --grid tv=tv --grid phone=phone.")
    return screen(asked[0], page_size, visible_rows, ())


def columns(asked: list[str]) -> dict[str, Any]:
    """``--column user_id=customer --column layouts.row=position`` as ``columns=`` takes it."""
    from carouseval.errors import ParseError

    names: dict[str, Any] = {}
    for text in asked:
        ours, mark, theirs = text.partition("=")
        if not (ours and mark and theirs):
            raise ParseError(f"--column {text!r} does not read; write our name, then yours: user_id=customer.")
        table, dot, column = ours.partition(".")
        if dot:
            within = names.setdefault(table, {})
            if not isinstance(within, dict):
                raise ParseError(f"--column {table}={within} names no column of ours; write {table}.user_id=yours.")
            within[column] = theirs
        else:
            names[ours] = theirs
    return names
