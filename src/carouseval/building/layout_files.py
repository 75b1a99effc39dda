"""Published pages: the layout files of RecGaze, ContentWise Impressions and the CARE study kit."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from carouseval.errors import DataError
from carouseval.evaluation.schema import LAYOUTS
from carouseval.tables.columns import Column
from carouseval.tables.opening import open_table
from carouseval.tables.table import RECORD, Table, TableLike

_INTEGER = "It must be an integer."
_RECGAZE = {"user_id": "TaskID", "row": "Carousel_position", "col": "Movie_position_in_carousel", "item_id": "MovieID"}
_CONTENTWISE = {"user_id": "recommendation_id", "row": "row_position", "length": "recommendation_list_length"}
_LIST = "recommended_series_list"
_IN_BRACKETS = r"^\s*\[\s*(\d+(\s*,\s*|\s+))*(\d+)?\s*,?\s*\]\s*$"  # as Python prints a list, or NumPy an array


class CarePages(NamedTuple):
    """The pages of CARE files, and judgments from the items that they mark as key.

    Parameters
    ----------
    layouts : polars.DataFrame
        ``user_id, row, col, item_id, category``.
    judgments : polars.DataFrame
        ``user_id, item_id, relevance``.

    Examples
    --------
    >>> import carouseval as cv, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "task1.json"
    ...     _ = file.write_text('{"carousel1": {"title": "New", "items": {"item1": {"title": "Up", "key": true}}}}')
    ...     layouts, judgments = cv.building.read_care_layouts(file)
    >>> cv.evaluate(layouts, judgments).mean
    {'N2DCG_cat': 1.0}
    """

    layouts: pl.DataFrame
    judgments: pl.DataFrame


def read_recgaze_layouts(item_features: TableLike) -> pl.DataFrame:
    """Read the screens of RecGaze from its file ``item_features.csv``.

    All participants saw the same screens, so there is one page per task, and judgments to go with them are per task.

    Parameters
    ----------
    item_features : table or path
        The file, with the columns ``TaskID, Carousel_position, Movie_position_in_carousel, MovieID, Carousel_genre``.

    Returns
    -------
    polars.DataFrame
        Layouts: ``user_id`` (TaskID, 1 to 40), ``row, col, item_id`` (MovieID) and ``category`` (Carousel_genre).

    Examples
    --------
    >>> import carouseval as cv
    >>> file = {"TaskID": [1, 1], "Carousel_position": [1, 1], "Movie_position_in_carousel": [2, 1],
    ...         "MovieID": [11, 12], "Carousel_genre": ["Drama", "Drama"]}
    >>> cv.building.read_recgaze_layouts(file).rows()
    [(1, 1, 1, 12, 'Drama'), (1, 1, 2, 11, 'Drama')]
    """
    columns = [
        Column("user_id", "integer", remedy=_INTEGER),
        *(column for column in LAYOUTS if column.name in ("row", "col")),
        Column("item_id", "integer", remedy=_INTEGER),
        Column("category", "id", remedy="Every movie needs its carousel's genre."),
    ]
    table = open_table(item_features, "item_features", columns, _RECGAZE | {"category": "Carousel_genre"})
    lines = table.collect()
    _refuse_repeats(table, ["user_id", "row", "col"], "Each cell holds one movie; drop the repeats.")
    return lines.select("user_id", "row", "col", "item_id", "category").sort("user_id", "row", "col")


def read_contentwise_layouts(impressions: TableLike) -> pl.DataFrame:
    """Read the carousels of ContentWise Impressions from its ``impressions-direct-link`` files.

    A page is a recommendation: ``user_id`` is recommendation_id, which the interactions refer to, so that judgments can
    be made from them. Rows count from 1: if some row_position is 0, 1 is added to all.

    Parameters
    ----------
    impressions : table or path
        The files, with the columns ``recommendation_id, row_position, recommended_series_list`` and optionally
        ``recommendation_list_length``. Lists of series are lists (Parquet), or text such as ``[3, 1]`` or ``[3 1]``.

    Returns
    -------
    polars.DataFrame
        Layouts: ``user_id, row, col, item_id``. Empty lists have no lines.

    Notes
    -----
    The files contain neither a carousel's category nor the rows above it. Evaluate them with ``candidates="displayed"``
    and ``invalid="count"``, as pages that begin further down skip rows. The impressions without direct links have no
    recommendation_id: they do not say which rows were shown together, so there are no pages in them.

    Examples
    --------
    >>> import carouseval as cv
    >>> file = {"recommendation_id": [5], "row_position": [0], "recommended_series_list": ["[3, 1]"]}
    >>> cv.building.read_contentwise_layouts(file).rows()
    [(5, 1, 1, 3), (5, 1, 2, 1)]
    """
    columns = [
        Column("user_id", "integer", remedy=_INTEGER),
        Column("row", "integer", minimum=0, maximum=9_999, remedy="Rows must be integers, counted from 0 or 1."),
        Column("length", "integer", required=False, minimum=0, remedy="The length of a list must be an integer."),
    ]
    table = open_table(
        impressions, "impressions", [*columns, Column("item_id", "id")], _CONTENTWISE | {"item_id": _LIST}
    )
    # a list in text is read as an id, a list proper as one line per item
    lists = open_table(impressions, "impressions", columns, _CONTENTWISE) if table.lists else table
    lines = lists.collect()
    _refuse_repeats(lists, ["user_id", "row"], "A recommendation has one list per row; drop the repeats.")
    pages = lines.with_columns(_series_lists(table, lines)).with_columns(count=pl.col("item_id").list.len())
    if "length" in lists:
        wrong = (pages["length"] != pages["count"]).arg_true()
        if len(wrong):
            first = int(wrong[0])
            (records,) = lists.query(lambda frame: frame.select(pl.col(RECORD).sort()))
            record = int(records[RECORD][first])
            value = f"{pages['length'][first]}, but the list has {pages['count'][first]} items"
            _refuse(lists, _CONTENTWISE["length"], record, len(wrong), value, "Is the list cut off?")
    first_row = 1 if pages["row"].min() == 0 else 0
    return (
        pages.filter(pl.col("count") > 0)
        .select("user_id", pl.col("row") + first_row, pl.int_ranges(1, pl.col("count") + 1).alias("col"), "item_id")
        .explode("col", "item_id", empty_as_null=False)
        .sort("user_id", "row", "col")
    )


def _series_lists(table: Table, lines: pl.DataFrame) -> pl.Series:
    """The lists of series, from lists or from text in brackets."""
    if table.lists:
        with table.read_errors():
            return table.records.select(pl.col("item_id").cast(pl.List(pl.Int64))).collect()["item_id"]
    bad = ~pl.col("item_id").str.contains(_IN_BRACKETS)
    if lines.select(bad.any()).item():
        record, total, values = table.find(bad)
        _refuse(table, _LIST, record, total, repr(values["item_id"]), "Write integers in brackets: [3, 1].")
    numbers = pl.col("item_id").str.extract_all(r"\d+").cast(pl.List(pl.Int64))
    with table.read_errors():
        return lines.select(numbers)["item_id"]


def read_care_layouts(paths: str | Path | Sequence[str | Path]) -> CarePages:
    """Read the pages of the CARE study kit from its JSON files, one page per file.

    Parameters
    ----------
    paths : str, Path or sequence of them
        The files. A file's name without its extension is the ``user_id``.

    Returns
    -------
    CarePages
        The layouts, and the judgments: relevance is 1 where an item's "key" is true, else 0. The category is a
        carousel's title and the ``item_id`` an item's title. The files have no other id, so items of the same title in
        several carousels are one item.

    Examples
    --------
    >>> import carouseval as cv, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "task1.json"
    ...     _ = file.write_text('{"carousel1": {"title": "New", "items": {"item1": {"title": "Up", "key": true}}}}')
    ...     pages = cv.building.read_care_layouts(file)
    >>> pages.layouts.rows(), pages.judgments.rows()
    ([('task1', 1, 1, 'Up', 'New')], [('task1', 'Up', 1.0)])
    """
    files = [Path(paths)] if isinstance(paths, str | Path) else [Path(path) for path in paths]
    if not files:
        raise DataError("CARE: no file is given.")
    cells = []
    for file in files:
        if any(file.stem == other.stem for other in files if other is not file):
            raise DataError(f"CARE: two files are named {file.stem}, and the name identifies the page. Rename one.")
        cells += _care_cells(file)
    types = {"user_id": pl.String, "row": pl.Int64, "col": pl.Int64, "item_id": pl.String, "category": pl.String}
    table = pl.DataFrame(cells, schema={**types, "relevance": pl.Float64}, orient="row")
    judgments = table.group_by("user_id", "item_id", maintain_order=True).agg(pl.col("relevance").max())
    return CarePages(table.drop("relevance"), judgments)


def _care_cells(path: Path) -> list[tuple[str, int, int, str, str, float]]:
    try:
        page = json.loads(path.read_text(encoding="utf-8-sig"), object_pairs_hook=_unique_keys)
    except OSError as error:
        raise DataError(f"{path}: {error.strerror or error}.") from None
    except DataError as error:
        raise DataError(f"{path}: {error}") from None
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path} is not JSON: {error}.") from None
    cells, titles = [], set()
    for row, (key, carousel) in enumerate(_numbered(page, "carousel", f"{path}"), 1):
        where = f"{path}, {key}"
        category = _title(carousel, where)
        if category in titles:
            raise DataError(f"{where}: another carousel has the title {category!r} as well. Titles must differ.")
        titles.add(category)
        for col, (name, item) in enumerate(_numbered(carousel.get("items"), "item", f"{where}, items"), 1):
            title, is_key = _title(item, f"{where}, {name}"), item.get("key", False)
            if not isinstance(is_key, bool):
                raise DataError(f"{where}, {name}: key is {json.dumps(is_key)[:60]}. Write true or false.")
            cells.append((path.stem, row, col, title, category, float(is_key)))
    return cells


def _numbered(content: Any, word: str, where: str) -> list[tuple[str, dict[str, Any]]]:
    """The entries carousel1, carousel2, ..., in the order of their numbers."""
    example = f'{{"{word}1": {{...}}, "{word}2": {{...}}}}'
    if not isinstance(content, dict) or not content:
        raise DataError(f"{where}: found {json.dumps(content)[:60]}, expected an object such as {example}.")
    keys: dict[int, str] = {}
    for key, value in content.items():
        match = re.fullmatch(rf"{word}_?([0-9]{{1,9}})", key, re.IGNORECASE)
        if not match or int(match[1]) in keys:
            raise DataError(f"{where}: the key {key[:60]!r} is unknown or repeated. Write keys as in {example}.")
        if not isinstance(value, dict):
            raise DataError(f"{where}, {key}: found {json.dumps(value)[:60]}, expected an object.")
        keys[int(match[1])] = key
    first = min(min(keys), 1)
    for number in range(first, first + len(keys)):
        if number not in keys:
            raise DataError(f"{where}: {word}{number} is missing, though there are later ones. Number them 1, 2, 3.")
    return [(keys[number], content[keys[number]]) for number in sorted(keys)]


def _title(entry: dict[str, Any], where: str) -> str:
    title = entry.get("title")
    if not isinstance(title, str) or not title.strip():
        raise DataError(f"{where}: title is {json.dumps(title)[:60]}. Every carousel and item needs a title.")
    return title


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse repeated keys, of which JSON would silently keep the last."""
    content = dict(pairs)
    if len(content) < len(pairs):
        keys = [key for key, _ in pairs]
        repeated = next(key for key in keys if keys.count(key) > 1)
        raise DataError(f"the key {repeated[:60]!r} appears twice in one object. Rename one of them.")
    return content


def _refuse_repeats(table: Table, keys: list[str], remedy: str) -> None:
    (lines,) = table.query(lambda frame: frame.sort(RECORD))
    repeats = lines.filter(~pl.struct(keys).is_first_distinct())
    if repeats.height:
        first = repeats.row(0, named=True)
        values = " ".join(f"{table.names[key]}={first[key]}" for key in keys)
        _refuse(table, "", first[RECORD], repeats.height, f"{values} again", remedy)


def _refuse(table: Table, column: str, record: int, total: int, value: str, remedy: str) -> None:
    more = f" ({total:,} such lines)" if total > 1 else ""
    prefix = f"column {column}, " if column else ""
    raise DataError(f"{table.name}: {prefix}{table.where(record)}: found {value[:90]}{more}. {remedy}")
