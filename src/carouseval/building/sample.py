"""Sample data that behave like a streaming service's: for examples, tests and benchmarks, where no real data may go.

Users have tastes and a weakness for what is popular; systems know those tastes more or less well, so that which system
is better is known beforehand.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from carouseval.atomic_files import atomic_folder
from carouseval.building.sample_tables import World
from carouseval.metrics.grid import RECGAZE, Grid
from carouseval.metrics.validation import require_choice

FORMATS = ("parquet", "csv", "ndjson")


@dataclass(frozen=True, eq=False)
class Sample:
    """Tables as :func:`sample` draws them."""

    items: pl.DataFrame  # item_id, category; with a pinned row also user_id, null where the line holds for everyone
    judgments: pl.DataFrame  # user_id, item_id, relevance
    layouts: dict[str, pl.DataFrame]  # by system: user_id, [page_id], row, col, item_id, category, device, [pinned]
    grids: dict[str, Grid]  # by device
    order: tuple[str, ...]  # the systems, best first


@dataclass(frozen=True)
class SampleFiles:
    """Files as :func:`write_sample` writes them; the fields are those of :class:`Sample`."""

    items: Path
    judgments: Path
    layouts: dict[str, Path]
    grids: dict[str, Grid]
    order: tuple[str, ...]


def sample(
    users: int = 1000,
    *,
    items: int = 2000,
    categories: int = 25,
    grid: Grid = RECGAZE,
    seed: int = 0,
    ids: str = "str",
    systems: Sequence[str] | None = None,
    mode: str = "graded",
    judgments: int = 20,
    most_categories: int = 3,
    devices: bool = False,
    ragged: bool = False,
    pinned: bool = False,
    pages: int = 1,
    missing: float = 0,
) -> Sample:
    """Draw sample data: items, judgments, and the pages of systems whose order is known.

    Every page is valid: no category twice, no skipped row, no gap in a row, no item twice in a row, and every item in
    its row's category. An item may stand in several rows, as it may have several categories. A user's data depend on
    the seed and the user's number only, whatever the number of users and whichever systems are asked for.

    Parameters
    ----------
    users, items, categories
        How many. Categories are genres, numbered when the genres run out; the first is the largest.
    grid
        The screen, of all devices unless ``devices`` is true.
    seed
        The same seed gives the same data.
    ids
        "str" for ids such as u000017 and m00042, "int" for 17 and 42.
    systems
        Those to draw, of "oracle", "new", "prod", "popular" and "random"; all by default. That is their order, best
        first: by N2DCG_cat of judged candidates, and by about any other measure of relevant items in good places.
        Over few users, new and prod, which differ by little, may change places.
    mode
        "graded" relevance is 0.0 to 5.0; "binary" is 1.0 from grade 3 on, else 0.0. The pages are the same.
    judgments
        About how many a user has, zeros included. A few users like nothing they judged.
    most_categories
        Of one item, from 1 (so that no item appears twice on a page) to 3.
    devices
        Whether tv and phone have grids of their own, ``TV`` and ``PHONE``.
    ragged
        Whether rows miss some of their last items, up to half.
    pinned
        Whether row 1 is "Continue watching", the same on all pages of a user: a category of the user's own, with lines
        in ``items``, and ``pinned`` in the layouts.
    pages
        SamplePages per user and system; more than one adds ``page_id``.
    missing
        The share of users for whom a system has no page.

    Examples
    --------
    >>> data = sample(users=200)
    >>> data.order
    ('oracle', 'new', 'prod', 'popular', 'random')
    >>> data.layouts["new"].columns
    ['user_id', 'row', 'col', 'item_id', 'category', 'device']
    >>> data.layouts["new"].height == 200 * 10 * 15
    True
    """
    world = World(
        users, items, categories, grid, seed, ids, systems, mode, judgments, most_categories, devices, ragged, pinned,
        pages, missing,
    )  # fmt: skip
    parts: dict[str, list[pl.DataFrame]] = {}
    for name, part in world.parts():
        parts.setdefault(name, []).append(part)
    tables = {name: pl.concat(some, rechunk=False) for name, some in parts.items()}
    layouts = {name: tables[f"layouts-{name}"] for name in world.systems}
    return Sample(tables["items"], tables["judgments"], layouts, world.grids, world.systems)


def write_sample(
    directory: str | Path,
    users: int = 1000,
    *,
    systems: Sequence[str] | None = None,
    format: str = "parquet",
    **options: Any,
) -> SampleFiles:
    """Write what :func:`sample` draws, with the same options, as files in ``directory``.

    There are ``items``, ``judgments``, and ``layouts-`` and its name for every system, each ``.parquet``, ``.csv`` or
    ``.ndjson``. They are written block by block, so a million users need little more memory than a thousand, and appear
    when all are whole; files of those names are replaced.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     files = write_sample(directory, users=100, systems=["new", "prod"], format="csv")
    ...     print(files.layouts["new"].name, pl.read_csv(files.judgments).columns)
    layouts-new.csv ['user_id', 'item_id', 'relevance']
    """
    require_choice("format", format, FORMATS)
    world = World(users, systems=systems, **options)
    directory = Path(directory)
    with atomic_folder(directory) as unfinished:
        _write(world.parts(), unfinished, format)
    layouts = {name: directory / f"layouts-{name}.{format}" for name in world.systems}
    files = directory / f"items.{format}", directory / f"judgments.{format}"
    return SampleFiles(*files, layouts, world.grids, world.systems)


def _write(parts: Iterator[tuple[str, pl.DataFrame]], folder: Path, format: str) -> None:
    """CSV and NDJSON grow by lines. Parquet cannot, so its pieces are files of their own until all are there."""
    pieces: dict[str, list[Path]] = {}
    for name, part in parts:
        path, some = folder / f"{name}.{format}", pieces.setdefault(name, [])
        if format == "parquet":
            path = folder / f"{name}-{len(some)}.piece"
            part.write_parquet(path)
        else:
            with path.open("ab") as file:
                if format == "csv":
                    part.write_csv(file, include_header=not some)
                else:
                    part.write_ndjson(file)
        some.append(path)
    if format == "parquet":
        for name, some in pieces.items():
            pl.scan_parquet(some, glob=False).sink_parquet(folder / f"{name}.parquet")
            for path in some:
                path.unlink()
