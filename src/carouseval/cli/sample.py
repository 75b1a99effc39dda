"""``carouseval sample``: synthetic tables to try things on."""

from enum import StrEnum, auto
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import typer

from carouseval.cli.options import choice_parser

FileFormat: TypeAlias = Literal["parquet", "csv", "ndjson"]


class SystemName(StrEnum):
    """The systems that can be drawn, best first."""

    oracle = auto()
    new = auto()
    prod = auto()
    popular = auto()
    random = auto()


_ALL = list(SystemName)

EXAMPLES = """
carouseval sample demo
carouseval sample demo --users 100000 --systems new --systems prod --format csv
carouseval evaluate demo/layouts-new.parquet demo/judgments.parquet --items demo/items.parquet
"""


def sample(
    directory: Annotated[Path, typer.Argument(help="Folder to write the tables to.")],
    users: Annotated[int, typer.Option(help="Number of users.", min=1)] = 1000,
    systems: Annotated[
        list[SystemName],
        typer.Option(
            "--systems",
            "--system",
            parser=choice_parser(SystemName),
            metavar="<oracle|new|prod|popular|random>",
            help="System to generate pages for. Repeat for several.",
        ),
    ] = _ALL,
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

    Users have tastes, items have one or several categories, and the order of the systems is known. Even the
    best system, oracle, knows the users' tastes rather than their judgments, so it scores below 1.
    """
    from carouseval.building.sample import write_sample

    files = write_sample(
        directory,
        users,
        systems=[name.value for name in systems],
        seed=seed,
        pinned=pinned,
        ragged=ragged,
        devices=devices,
        pages=pages,
        format=format,
    )
    for path in (files.items, files.judgments, *files.layouts.values()):
        typer.echo(path)
