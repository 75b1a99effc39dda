"""Pages that others have published: the layout files of RecGaze, ContentWise Impressions and the CARE study kit."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from carouseval.errors import DataError
from carouseval.evaluation.schema import LAYOUTS
from carouseval.table_columns import Column
from carouseval.tables import RECORD, Table, TableLike, open_table

_WHOLE = "It is a whole number."
_RECGAZE = {"user_id": "TaskID", "row": "Carousel_position", "col": "Movie_position_in_carousel", "item_id": "MovieID"}
_CONTENTWISE = {"user_id": "recommendation_id", "row": "row_position", "length": "recommendation_list_length"}
_LIST = "recommended_series_list"
_IN_BRACKETS = r"^\s*\[\s*(\d+(\s*,\s*|\s+))*(\d+)?\s*,?\s*\]\s*$"  # as Python prints a list, or NumPy an array


class CarePages(NamedTuple):
    """What CARE files hold: pages, and which items somebody looked for."""

    layouts: pl.DataFrame  # user_id, row, col, item_id, category
    judgments: pl.DataFrame  # user_id, item_id, relevance


def read_recgaze_layouts(path: TableLike) -> pl.DataFrame:
    """The screens of RecGaze's ``item_features.csv``: ``user_id, row, col, item_id, category``.

    All participants saw the same screens, so a page is a task's: ``user_id`` is TaskID (1 to 40), and judgments to go
    with it are per task. The category is Carousel_genre, the item MovieID.
    """
    columns = [
        Column("user_id", "whole", remedy=_WHOLE),
        *(column for column in LAYOUTS if column.name in ("row", "col")),
        Column("item_id", "whole", remedy=_WHOLE),
        Column("category", "id", remedy="Every movie needs its carousel's genre."),
    ]
    table = open_table(path, "item_features", columns, _RECGAZE | {"category": "Carousel_genre"})
    lines = table.collect()
    _refuse_repeats(table, ["user_id", "row", "col"], "Each cell holds one movie; drop the repeats.")
    return lines.select("user_id", "row", "col", "item_id", "category").sort("user_id", "row", "col")


def read_contentwise_layouts(path: TableLike) -> pl.DataFrame:
    """The carousels of ContentWise's ``impressions-direct-link`` files: ``user_id, row, col, item_id``.

    A page is a recommendation's: ``user_id`` is recommendation_id, which the interactions name too, so that judgments
    can be made of them. Lists of series are text in brackets, ``[3, 1]`` or ``[3 1]``, or lists (Parquet); empty ones
    show nothing. Rows count from 1: where some row_position is 0, all are raised by one.

    The files say neither a carousel's category nor what stood above it. Judge them with ``candidates="displayed"`` and
    ``invalid="count"``, as pages that begin further down skip rows. (The file without direct links has no
    recommendation_id: it does not say which rows were shown together, so there are no pages in it.)
    """
    columns = [
        Column("user_id", "whole", remedy=_WHOLE),
        Column("row", "whole", least=0, most=9_999, remedy="Rows are whole numbers from 0 or 1 on."),
        Column("length", "whole", needed=False, least=0, remedy="A list's length is a whole number."),
    ]
    table = open_table(path, "impressions", [*columns, Column("item_id", "id")], _CONTENTWISE | {"item_id": _LIST})
    # the text of a list reads as an id, a list itself as one line per item
    lists = open_table(path, "impressions", columns, _CONTENTWISE) if table.lists else table
    lines = lists.collect()
    _refuse_repeats(lists, ["user_id", "row"], "A recommendation has one list in a row; drop the repeats.")
    if table.lists:
        with table.readable():
            series = table.records.select(pl.col("item_id").cast(pl.List(pl.Int64))).collect()["item_id"]
    else:
        bad = ~pl.col("item_id").str.contains(_IN_BRACKETS)
        if table.frame().filter(bad).select(pl.len()).collect().item():
            record, total, values = table.find(bad)
            _refuse(table, _LIST, record, total, values["item_id"], "Series are whole numbers in brackets: [3, 1].")
        numbers = pl.col("item_id").str.extract_all(r"\d+").cast(pl.List(pl.Int64))
        with table.readable():
            series = lines.select(numbers)["item_id"]
    pages = lines.with_columns(series.alias("item_id")).with_columns(held=pl.col("item_id").list.len())
    if "length" in lists:
        wrong = (pages["length"] != pages["held"]).arg_true()
        if len(wrong):
            record = int(lists.frame(with_record=True).collect()[RECORD][int(wrong[0])])
            told = f"{pages['length'][int(wrong[0])]}, and the list holds {pages['held'][int(wrong[0])]}"
            _refuse(lists, _CONTENTWISE["length"], record, len(wrong), told, "Is the list cut short?", plain=True)
    first = 1 if pages["row"].min() == 0 else 0
    return (
        pages.filter(pl.col("held") > 0)
        .select("user_id", pl.col("row") + first, pl.int_ranges(1, pl.col("held") + 1).alias("col"), "item_id")
        .explode("col", "item_id")
        .sort("user_id", "row", "col")
    )


def read_care_layouts(path: str | Path | Sequence[str | Path]) -> CarePages:
    """The pages of the CARE study kit's JSON files, one page a file, and the judgments that "key" implies.

    ``user_id`` is the file's name without its ending, the category a carousel's title, and ``item_id`` an item's title:
    files know no other id, so that items of the same title in several carousels are one item. Relevance is 1 where
    "key" is true, else 0.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "task1.json"
    ...     page = {"carousel1": {"title": "New", "items": {"item1": {"title": "Up", "key": True}}}}
    ...     _ = file.write_text(json.dumps(page))
    ...     pages = read_care_layouts(file)
    >>> pages.layouts.rows(), pages.judgments.rows()
    ([('task1', 1, 1, 'Up', 'New')], [('task1', 'Up', 1.0)])
    """
    paths = [Path(path)] if isinstance(path, str | Path) else [Path(one) for one in path]
    if not paths:
        raise DataError("CARE: no file is named.")
    cells = []
    for one in paths:
        if any(one.stem == other.stem for other in paths if other is not one):
            raise DataError(f"CARE: two files are named {one.stem}, and pages go by file names. Rename one of them.")
        cells += _care_cells(one)
    types = {"user_id": pl.String, "row": pl.Int64, "col": pl.Int64, "item_id": pl.String, "category": pl.String}
    table = pl.DataFrame(cells, schema={**types, "relevance": pl.Float64}, orient="row")
    judged = table.group_by("user_id", "item_id", maintain_order=True).agg(pl.col("relevance").max())
    return CarePages(table.drop("relevance"), judged)


def _care_cells(path: Path) -> list[tuple[str, int, int, str, str, float]]:
    try:
        page = json.loads(path.read_text(encoding="utf-8-sig"), object_pairs_hook=_unrepeated)
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
            raise DataError(f"{where}: the title {category!r} is another carousel's too. Give each its own.")
        titles.add(category)
        for col, (name, item) in enumerate(_numbered(carousel.get("items"), "item", f"{where}, items"), 1):
            title, looked_for = _title(item, f"{where}, {name}"), item.get("key", False)
            if not isinstance(looked_for, bool):
                raise DataError(f"{where}, {name}: key is {json.dumps(looked_for)[:60]}. Write true or false.")
            cells.append((path.stem, row, col, title, category, float(looked_for)))
    return cells


def _numbered(given: Any, word: str, where: str) -> list[tuple[str, dict[str, Any]]]:
    """The entries carousel1, carousel2, ..., in the order of their numbers."""
    example = f'{{"{word}1": {{...}}, "{word}2": {{...}}}}'
    if not isinstance(given, dict) or not given:
        raise DataError(f"{where}: found {json.dumps(given)[:60]}, and an object such as {example} is wanted.")
    numbers: dict[int, str] = {}
    for key, value in given.items():
        found = re.fullmatch(rf"{word}_?([0-9]{{1,9}})", key, re.IGNORECASE)
        if not found or int(found[1]) in numbers:
            raise DataError(f"{where}: the key {key[:60]!r} is unknown or repeated. Keys are as in {example}.")
        if not isinstance(value, dict):
            raise DataError(f"{where}, {key}: found {json.dumps(value)[:60]}, and an object is wanted.")
        numbers[int(found[1])] = key
    first = min(min(numbers), 1)
    for number in range(first, first + len(numbers)):
        if number not in numbers:
            raise DataError(f"{where}: there is no {word}{number}, though there are later ones. Number them 1, 2, 3.")
    return [(numbers[number], given[numbers[number]]) for number in sorted(numbers)]


def _title(given: dict[str, Any], where: str) -> str:
    title = given.get("title")
    if not isinstance(title, str) or not title.strip():
        raise DataError(f"{where}: title is {json.dumps(title)[:60]}. Every carousel and item needs one.")
    return title


def _unrepeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """JSON would keep the last of two entries of one name, and say nothing."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f"the key {twice[:60]!r} appears twice in one object. Rename one of them.")
    return found


def _refuse_repeats(table: Table, keys: list[str], remedy: str) -> None:
    lines = table.frame(with_record=True).collect()
    again = lines.filter(~pl.struct(keys).is_first_distinct())
    if again.height:
        first = again.row(0, named=True)
        place = " ".join(f"{table.names[key]}={first[key]}" for key in keys)
        _refuse(table, "", first[RECORD], again.height, f"{place} again", remedy, plain=True)


def _refuse(
    table: Table, column: str, record: int, total: int, value: Any, remedy: str, *, plain: bool = False
) -> None:
    shown = str(value) if plain else repr(value)
    more = f" ({total:,} such lines)" if total > 1 else ""
    of = f"column {column}, " if column else ""
    raise DataError(f"{table.name}: {of}{table.where(record)}: found {shown[:90]}{more}. {remedy}")
