"""Options that several commands share."""

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeAlias, get_args

import typer

from carouseval.cli.output import Format
from carouseval.errors import ParameterError
from carouseval.validation import LARGEST_SIZE, parse_size, quoted, require_choice


def choice_parser(kind: Any) -> Callable[[str], Any]:
    """A parser for a Literal, an enum or other words that, unlike Typer's own, suggests the nearest word."""
    words = get_args(kind) or tuple(str(word) for word in kind)

    def parse(text: str) -> Any:
        try:
            word = require_choice("", text, words)
        except ParameterError as error:
            raise typer.BadParameter(str(error).strip()) from None
        return kind(word) if isinstance(kind, type) else word

    return parse


def with_parameters(
    command: Callable[..., None],
    parameter: str,
    options: Sequence[inspect.Parameter],
    value: Callable[[Mapping[str, Any]], Any],
) -> Callable[..., None]:
    """A command with several options in place of one parameter, whose ``value`` is made of theirs."""

    @functools.wraps(command)
    def run(**values: Any) -> None:
        given = {option.name: values.pop(option.name) for option in options}
        command(**values, **{parameter: value(given)})

    signature = inspect.signature(command)
    parameters: list[inspect.Parameter] = []
    for known in signature.parameters.values():
        parameters += options if known.name == parameter else [known]
    setattr(run, "__signature__", signature.replace(parameters=parameters))  # noqa: B010 - mypy knows no such attribute
    return run


def parse_page_size(text: str) -> int | tuple[int, ...]:
    """``5`` as a number, ``1,5`` as the page sizes of the first rows."""
    parsed = [parse_size(size) for size in text.split(",")]
    sizes = tuple(size for size in parsed if size is not None)
    if len(sizes) < len(parsed):
        raise typer.BadParameter(
            f"{quoted(text)} is neither an integer from 1 to {LARGEST_SIZE:,} nor a list of them such as 1,5."
        )
    return sizes if len(sizes) > 1 else sizes[0]


NOTHING: list[str] = []
GRID = (
    "Grid of the screen: ROWSxCOLS, or recgaze, tv, desktop or phone; tv:25x30 is tv with another size, 8x12/1,5 has "
    "page sizes of its own."
)
PAGE_SIZE = (
    "Items of a row in view at once, such as 5; or one number for each row, the last one for all further rows, such as "
    "1,5 for a billboard above rows of 5. Default: 5, or that of the named grid."
)
PAGE_SIZE_FORM = "<number[,number...]>"
VISIBLE_ROWS = "Rows in view before the first scroll. Default: 3, or that of the named grid."

LayoutsArgument: TypeAlias = Annotated[
    str,
    typer.Argument(
        help="Layouts: user_id, row, col, item_id (and page_id, category, pinned), or one line per carousel with a "
        "list of items, or one record per page with a list of rows. A .parquet, .csv, .tsv, .ndjson, .json or .arrow "
        "file, a folder, a pattern in quotes, or a path in cloud storage (s3://, gs://, az://)."
    ),
]
JudgmentsArgument: TypeAlias = Annotated[
    str,
    typer.Argument(help="Judgments: user_id, item_id, relevance (and page_id). Without relevance, each counts as 1."),
]
ItemsOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="Items: item_id, category (and user_id, title, poster). Default: the pairs that appear in the layouts."
    ),
]
GridName: TypeAlias = Annotated[str | None, typer.Option("--grid", help=f"{GRID} Default: the size of the input.")]
PageSize: TypeAlias = Annotated[
    Any, typer.Option("--page-size", parser=parse_page_size, metavar=PAGE_SIZE_FORM, help=PAGE_SIZE)
]
VisibleRows: TypeAlias = Annotated[int | None, typer.Option("--visible-rows", help=VISIBLE_ROWS)]
PerPage: TypeAlias = Annotated[
    Path | None, typer.Option(help="Write every page's scores to this .parquet, .csv or .ndjson file.")
]
PerUser: TypeAlias = Annotated[
    Path | None, typer.Option(help="Write every user's scores to this .parquet, .csv or .ndjson file.")
]
OutputFormat: TypeAlias = Annotated[
    Format, typer.Option("--format", "-f", parser=choice_parser(Format), help="Format of the printed result.")
]
SensitivityFlag: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--sensitivity",
        help="Also report whether the order holds under other discounts, ideals, gains and cutoffs.",
    ),
]


def category_metric(metrics: Sequence[str]) -> list[str]:
    """The first of the metrics that explain and sensitivity take, or N2DCG_cat."""
    return [next((name for name in metrics if name.startswith("N2DCG_cat")), "N2DCG_cat")]
