"""``carouseval sample``: synthetic tables to try things on."""

from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import typer

from carouseval.cli.options import NOTHING, choice_parser

FileFormat: TypeAlias = Literal["parquet", "csv", "ndjson"]
PageKind: TypeAlias = Literal["genres", "home"]

EXAMPLES = """
carouseval sample demo
carouseval sample home --kind home --users 30 --format csv
carouseval sample demo --users 100000 --systems new --systems prod --format csv
carouseval evaluate demo/layouts-new.parquet demo/judgments.parquet --items demo/items.parquet
"""


def sample(
    directory: Annotated[Path, typer.Argument(help="Folder to write the tables to.")],
    users: Annotated[int, typer.Option(help="Number of users.", min=1)] = 1000,
    kind: Annotated[
        PageKind,
        typer.Option(
            parser=choice_parser(PageKind),
            metavar="<genres|home>",
            help="Rows of the pages: genres, or those of a home page, such as Continue watching and Top 10.",
        ),
    ] = "genres",
    systems: Annotated[
        list[str],
        typer.Option(
            "--systems",
            "--system",
            metavar="<system>",
            help="System to generate pages for: oracle, new, prod, popular, random; of home pages perfect, new, prod, "
            "random. Repeat for several. Default: all.",
        ),
    ] = NOTHING,
    seed: Annotated[int, typer.Option(help="Random seed; the same seed gives the same tables.")] = 0,
    pinned: Annotated[bool, typer.Option(help="Pin a row of personal items, Continue watching, to the top.")] = False,
    ragged: Annotated[bool, typer.Option(help="Let rows differ in length.")] = False,
    devices: Annotated[bool, typer.Option(help="Give each device its own grid: tv, phone, web.")] = False,
    pages: Annotated[int, typer.Option(help="Number of pages per user.", min=1)] = 1,
    format: Annotated[
        FileFormat, typer.Option(parser=choice_parser(FileFormat), help="Type of the files.")
    ] = "parquet",
) -> None:
    """Write synthetic tables to try the other commands on.

    Users have tastes, items have one or several categories, and the order of the systems is known. Even oracle,
    the best system on genres, knows the users' tastes rather than their judgments, so it scores below 1. On
    home pages perfect shows ideal pages, which score 1.
    """
    from carouseval.building.sample import write_sample

    files = write_sample(
        directory,
        users,
        kind=kind,
        systems=systems or None,
        seed=seed,
        pinned=pinned,
        ragged=ragged,
        devices=devices,
        pages=pages,
        format=format,
    )
    carousels = [] if files.carousels is None else [files.carousels]
    for path in (files.items, *carousels, files.judgments, *files.layouts.values()):
        typer.echo(path)
