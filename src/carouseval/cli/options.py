"""Options that several commands share."""

from typing import Annotated, TypeAlias

import typer

from carouseval.cli.output import Format

GridName: TypeAlias = Annotated[
    str | None,
    typer.Option("--grid", help="The screen: ROWSxCOLS, recgaze, tv, desktop or phone. Default: the input's size."),
]
PageSize: TypeAlias = Annotated[
    int | None, typer.Option("--page-size", help="Items of a row seen at once. Default: 5, or the screen's.")
]
VisibleRows: TypeAlias = Annotated[
    int | None, typer.Option("--visible-rows", help="Rows seen before the first scroll. Default: 3, or the screen's.")
]
OutputFormat: TypeAlias = Annotated[Format, typer.Option("--format", "-f", help="How to print the result.")]
