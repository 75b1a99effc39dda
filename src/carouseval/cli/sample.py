"""``carouseval sample``: tables to try things on."""

from enum import StrEnum, auto
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import typer

Files: TypeAlias = Literal["parquet", "csv", "ndjson"]


class SystemName(StrEnum):
    """The systems that can be made up, best first."""

    oracle = auto()
    new = auto()
    prod = auto()
    popular = auto()
    random = auto()


ALL = list(SystemName)

EXAMPLES = """
carouseval sample demo
carouseval sample demo --users 100000 --system new --system prod --format csv
carouseval evaluate demo/layouts-new.parquet demo/judgments.parquet --items demo/items.parquet
"""


def sample(
    directory: Annotated[Path, typer.Argument(help="The folder to write the tables to.")],
    users: Annotated[int, typer.Option(help="How many users.", min=1)] = 1000,
    system: Annotated[
        list[SystemName], typer.Option(help="Only this system; the best is named first. Repeat for more.")
    ] = ALL,
    seed: Annotated[int, typer.Option(help="The same seed gives the same tables.")] = 0,
    pinned: Annotated[bool, typer.Option(help="A pinned first row, with items of each user's own.")] = False,
    ragged: Annotated[bool, typer.Option(help="Rows of different lengths.")] = False,
    devices: Annotated[bool, typer.Option(help="Pages of each device's own size: tv, phone, web.")] = False,
    pages: Annotated[int, typer.Option(help="Pages of each user.", min=1)] = 1,
    format: Annotated[Files, typer.Option(help="The kind of files.")] = "parquet",
) -> None:
    """Write made-up tables: users with tastes, items of several categories, systems whose order is known.

    Even the best system, oracle, knows tastes rather than judgments, and stays below 1.
    """
    from carouseval.building.sample import write_sample

    files = write_sample(
        directory,
        users,
        systems=[one.value for one in system],
        seed=seed,
        pinned=pinned,
        ragged=ragged,
        devices=devices,
        pages=pages,
        format=format,
    )
    for path in (files.items, files.judgments, *files.layouts.values()):
        typer.echo(path)
