"""Synthetic data that behave like a streaming service's: for examples, tests and benchmarks.

Users have tastes and prefer what is popular; systems know those tastes more or less well, so that the order of the
systems is known in advance.
"""

import inspect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias, TypedDict, Unpack, get_args

import polars as pl

from carouseval.building.sample_home_tables import HomeTables
from carouseval.building.sample_tables import IdType, RelevanceMode, SampleTables
from carouseval.errors import ParameterError
from carouseval.forks import refuse_fork
from carouseval.messages import setting
from carouseval.metrics.grid import RECGAZE, Grid
from carouseval.tables.writing import atomic_folder, open_output
from carouseval.text_tables import frame_html
from carouseval.validation import require_choice

SampleKind: TypeAlias = Literal["genres", "home"]
"""What synthetic pages are made of."""

SampleFormat: TypeAlias = Literal["parquet", "csv", "ndjson"]
"""The type of the files that :func:`write_sample` writes."""


@dataclass(frozen=True, eq=False)
class Sample:
    """Synthetic tables; the result of :func:`carouseval.sample`.

    Attributes
    ----------
    items : polars.DataFrame
        ``item_id, category``; where users have items of their own also ``user_id``, null on lines that hold for all
        users; of home pages also ``title``.
    judgments : polars.DataFrame
        ``user_id, item_id, relevance``.
    layouts : dict of str to polars.DataFrame
        The pages of each system: ``user_id, row, col, item_id, category, device``; with several pages per user also
        ``page_id``, with a pinned row also ``pinned``.
    grids : dict of str to Grid
        The grid of each device.
    order : tuple of str
        The systems, best first.
    carousels : polars.DataFrame, optional
        For home pages: ``category, user_id, capacity, personal``.

    Examples
    --------
    >>> import carouseval as cv
    >>> cv.sample(users=200, systems=["new", "prod"])
    Sample(200 users, 2,000 items in 25 categories, 3,887 judgments; systems, best first: new, prod)
    """

    items: pl.DataFrame
    judgments: pl.DataFrame
    layouts: dict[str, pl.DataFrame]
    grids: dict[str, Grid]
    order: tuple[str, ...]
    carousels: pl.DataFrame | None = None

    @property
    def _caption(self) -> str:
        users, items = self.judgments["user_id"].n_unique(), self.items["item_id"].n_unique()
        return (
            f"{users:,} user{'s' * (users > 1)}, {items:,} items in {self.items['category'].n_unique():,} categories, "
            f"{self.judgments.height:,} judgments; systems, best first: {', '.join(self.order)}"
        )

    def __repr__(self) -> str:
        return f"Sample({self._caption})"

    def _repr_html_(self) -> str:
        tables = {"items": self.items, "judgments": self.judgments}
        tables |= {} if self.carousels is None else {"carousels": self.carousels}
        tables |= {f"layouts[{name!r}]": layouts for name, layouts in self.layouts.items()}
        lines = [
            {"table": name, "lines": f"{table.height:,}", "columns": ", ".join(table.columns)}
            for name, table in tables.items()
        ]
        return f"<p>{self._caption}</p>{frame_html(pl.DataFrame(lines))}"


@dataclass(frozen=True)
class SampleFiles:
    """The files of synthetic tables; the result of :func:`carouseval.building.write_sample`.

    Attributes
    ----------
    items, judgments : Path
        The files of these tables.
    layouts : dict of str to Path
        The file with the pages of each system.
    grids : dict of str to Grid
        The grid of each device.
    order : tuple of str
        The systems, best first.
    carousels : Path, optional
        The file of this table, for home pages.

    Examples
    --------
    >>> import carouseval as cv, tempfile
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     files = cv.building.write_sample(directory, users=10, systems=["new"])
    >>> files.items.name, files.judgments.name, files.layouts["new"].name
    ('items.parquet', 'judgments.parquet', 'layouts-new.parquet')
    """

    items: Path
    judgments: Path
    layouts: dict[str, Path]
    grids: dict[str, Grid]
    order: tuple[str, ...]
    carousels: Path | None = None


class SampleOptions(TypedDict, total=False):
    """The further options of :func:`carouseval.sample`."""

    items: int
    categories: int
    grid: Grid
    seed: int
    ids: IdType
    mode: RelevanceMode
    judgments: int
    categories_per_item: int
    devices: bool
    ragged: bool
    pinned: bool
    pages: int
    missing: float


def sample(
    users: int = 1000,
    *,
    kind: SampleKind = "genres",
    items: int = 2000,
    categories: int = 25,
    grid: Grid = RECGAZE,
    seed: int = 0,
    ids: IdType = "str",
    systems: Sequence[str] | None = None,
    mode: RelevanceMode = "graded",
    judgments: int = 20,
    categories_per_item: int = 3,
    devices: bool = False,
    ragged: bool = False,
    pinned: bool = False,
    pages: int = 1,
    missing: float = 0,
) -> Sample:
    """Draw synthetic data: items, judgments, and the pages of systems whose order is known.

    Every page is valid: it repeats no category, skips no row, has no gaps, shows no item twice in a row, and shows
    every item in its row's category. An item may appear in several rows, as it may have several categories. A user's
    data depend only on the seed and the user's number, not on the number of users or the choice of systems.

    Pages of kind 'home' resemble those of a streaming service, on televisions and phones. A pinned billboard shows one
    item. "Continue watching" shows what the user began, "Top 10" ten of the most popular items. Rows such as "Because
    you watched Hidden Garden" belong to one user or a few, genres to everyone. New users have short pages, and some
    users none. Evaluate them with ``carousels``, ``grid=sample.grids`` and ``by="device"``.

    Parameters
    ----------
    users : int, default 1000
        The number of users.
    kind : {'genres', 'home'}, default 'genres'
        Whether rows are genres, or those of a home page. Of the other parameters, 'home' takes ``seed``, ``ids`` and
        ``systems``.
    items : int, default 2000
        The number of items.
    categories : int, default 25
        The number of categories. They are named after genres, the first being the largest.
    grid : Grid, default RECGAZE
        The screen, of all devices unless ``devices`` is true.
    seed : int, default 0
        The same seed gives the same data.
    ids : {'str', 'int'}, default 'str'
        'str' gives ids such as u000017 and m00042, 'int' gives 17 and 42.
    systems : sequence of str, optional
        Which of 'oracle', 'new', 'prod', 'popular' and 'random' to draw; by default all. This is their order, best
        first, by N2DCG_cat of judged candidates. With few users, new and prod, which differ by little, may swap. Home
        pages are those of 'perfect', 'new', 'prod' and 'random', where perfect shows ideal pages: they score 1.
    mode : {'graded', 'binary'}, default 'graded'
        Graded relevance is 0.0 to 5.0; binary relevance is 1.0 from grade 3 on, else 0.0. The pages are the same.
    judgments : int, default 20
        The approximate number of judgments per user, including those of relevance 0. A few users like nothing they
        judged.
    categories_per_item : int, default 3
        The largest number of categories of an item, from 1 (no item appears twice on a page) to 3.
    devices : bool, default False
        Whether tv and phone have their own grids, ``TV`` and ``PHONE``.
    ragged : bool, default False
        Whether rows differ in length: each lacks up to half of its last items.
    pinned : bool, default False
        Whether row 1 is a pinned "Continue watching", the same on all pages of a user. It is a personal category, with
        lines for each user in ``items``; layouts have a column ``pinned``.
    pages : int, default 1
        The number of pages per user and system; with more than one, layouts have a column ``page_id``.
    missing : float, default 0
        The share of users for whom a system has no page, from 0 to 1.

    Returns
    -------
    Sample
        The tables, and the order of the systems.

    See Also
    --------
    carouseval.building.write_sample : Write the same tables to files.

    Examples
    --------
    >>> import carouseval as cv
    >>> data = cv.sample(users=200)
    >>> data.order
    ('oracle', 'new', 'prod', 'popular', 'random')
    >>> data.layouts["new"].columns
    ['user_id', 'row', 'col', 'item_id', 'category', 'device']
    >>> data.layouts["new"].height == 200 * 10 * 15
    True
    """
    options = SampleOptions(
        items=items, categories=categories, grid=grid, seed=seed, ids=ids, mode=mode, judgments=judgments,
        categories_per_item=categories_per_item, devices=devices, ragged=ragged, pinned=pinned, pages=pages,
        missing=missing,
    )  # fmt: skip
    source = _tables(users, kind, systems, options)
    parts: dict[str, list[pl.DataFrame]] = {}
    for name, part in source.parts():
        parts.setdefault(name, []).append(part)
    tables = {name: pl.concat(frames, rechunk=False) for name, frames in parts.items()}
    layouts = {name: tables[f"layouts-{name}"] for name in source.systems}
    return Sample(tables["items"], tables["judgments"], layouts, source.grids, source.systems, tables.get("carousels"))


def write_sample(
    directory: str | Path,
    users: int = 1000,
    *,
    kind: SampleKind = "genres",
    systems: Sequence[str] | None = None,
    format: SampleFormat = "parquet",
    **options: Unpack[SampleOptions],
) -> SampleFiles:
    """Write the tables of :func:`carouseval.sample` to files.

    The files are ``items``, ``judgments``, ``layouts-<system>`` and, of home pages, ``carousels``. They are written
    block by block, so a million users need little more memory than a thousand, and appear only when all are complete;
    existing files of these names are replaced.

    Parameters
    ----------
    directory : str or Path
        The folder to write to. It is created if it does not exist.
    users : int, default 1000
        The number of users.
    kind : {'genres', 'home'}, default 'genres'
        Whether rows are genres, or those of a home page.
    systems : sequence of str, optional
        The systems to draw; by default all.
    format : {'parquet', 'csv', 'ndjson'}, default 'parquet'
        The type of the files.
    **options : dict
        The other parameters of :func:`carouseval.sample`.

    Returns
    -------
    SampleFiles
        The paths of the files, the grids and the order of the systems.

    Examples
    --------
    >>> import carouseval as cv, tempfile
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     files = cv.building.write_sample(directory, users=100, systems=["new", "prod"], format="csv")
    ...     evaluation = cv.evaluate(files.layouts["new"], files.judgments, files.items)
    >>> evaluation.counts["pages"]
    100
    """
    require_choice("format", format, get_args(SampleFormat))
    tables = _tables(users, kind, systems, options)
    directory = Path(directory)
    with atomic_folder(directory) as unfinished:
        _write(tables.parts(), unfinished, format)
    layouts = {name: directory / f"layouts-{name}.{format}" for name in tables.systems}
    items, judgments = directory / f"items.{format}", directory / f"judgments.{format}"
    carousels = directory / f"carousels.{format}" if kind == "home" else None
    return SampleFiles(items, judgments, layouts, tables.grids, tables.systems, carousels)


def _tables(
    users: int, kind: SampleKind, systems: Sequence[str] | None, options: SampleOptions
) -> SampleTables | HomeTables:
    refuse_fork()
    require_choice("kind", kind, get_args(SampleKind))
    if kind == "genres":
        return SampleTables(users, systems=systems, **options)
    for name, value in options.items():
        if name not in ("seed", "ids") and value != inspect.signature(SampleTables).parameters[name].default:
            raise ParameterError(
                f"{setting(name)} must be left out for home pages; they take {setting('users')}, {setting('seed')}, "
                f"{setting('ids')} and {setting('systems')}."
            )
    return HomeTables(users, options.get("seed", 0), options.get("ids", "str"), systems)


def _write(parts: Iterator[tuple[str, pl.DataFrame]], folder: Path, format: SampleFormat) -> None:
    """Write parts of tables: CSV and NDJSON are appended to, Parquet is joined from one file per part."""
    files: dict[str, list[Path]] = {}
    for name, part in parts:
        path, written = folder / f"{name}.{format}", files.setdefault(name, [])
        if format == "parquet":
            path = folder / f"{name}-{len(written)}.part"
        with open_output(path, "ab") as output:
            if format == "parquet":
                part.write_parquet(output)
            elif format == "csv":
                part.write_csv(output, include_header=not written)
            else:
                part.write_ndjson(output)
        written.append(path)
    if format == "parquet":
        for name, paths in files.items():
            with open_output(folder / f"{name}.parquet") as output:
                pl.scan_parquet(paths, glob=False).sink_parquet(output)
            for path in paths:
                path.unlink()
