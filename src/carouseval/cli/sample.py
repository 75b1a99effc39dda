"""``carouseval sample``: synthetic tables to try things on."""

from enum import StrEnum, auto
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import typer

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
carouseval sample demo --users 100000 --system new --system prod --format csv
carouseval evaluate demo/layouts-new.parquet demo/judgments.parquet --items demo/items.parquet
"""


def sample(
    directory: Annotated[Path, typer.Argument(help="The folder to write the tables to.")],
    users: Annotated[int, typer.Option(help="The number of users.", min=1)] = 1000,
    system: Annotated[
        list[SystemName], typer.Option(help="A system to draw; repeat for several. All by default, best first.")
    ] = _ALL,
    seed: Annotated[int, typer.Option(help="The same seed gives the same tables.")] = 0,
    pinned: Annotated[bool, typer.Option(help="Pin a first row of personal items: continue watching.")] = False,
    ragged: Annotated[bool, typer.Option(help="Let rows differ in length.")] = False,
    devices: Annotated[bool, typer.Option(help="Give each device its own grid: tv, phone, web.")] = False,
    pages: Annotated[int, typer.Option(help="The number of pages per user.", min=1)] = 1,
    format: Annotated[FileFormat, typer.Option(help="The type of the files.")] = "parquet",
) -> None:
    """Write synthetic tables: users with tastes, items of several categories, and systems whose order is known.

    Even the best system, oracle, knows the users' tastes rather than their judgments, so it scores below 1.
    """
    from carouseval.building.sample import write_sample

    files = write_sample(
        directory,
        users,
        systems=[name.value for name in system],
        seed=seed,
        pinned=pinned,
        ragged=ragged,
        devices=devices,
        pages=pages,
        format=format,
    )
    for path in (files.items, files.judgments, *files.layouts.values()):
        typer.echo(path)
