"""From a recommender's scores to pages of carousels: the best items of each category, the best category on top."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Unpack

import numpy as np
import polars as pl

from carouseval.building.page_filling import CategoryQueue, UserCategories, fill_rows
from carouseval.building.settings import CategoryOrder, PageSettings, PageSettingsDict
from carouseval.errors import DataError, ParameterError, warn
from carouseval.evaluation import schema
from carouseval.evaluation.reading.ids import Ids
from carouseval.evaluation.settings import Settings
from carouseval.messages import function, setting
from carouseval.metrics.discounts import RowPage
from carouseval.metrics.grid import RECGAZE, Grid
from carouseval.metrics.page_stack import thread_count
from carouseval.progress import Progress, step
from carouseval.settings import checked_settings, takes
from carouseval.tables.table import RECORD, Table, TableLike, in_memory
from carouseval.validation import did_you_mean, require_int

_CELLS = dict.fromkeys(("user", "row", "col", "item", "category"), pl.Int64()) | {"pinned": pl.Boolean()}


@takes(PageSettings)
def pages_from_scores(
    scores: TableLike,
    items: TableLike,
    grid: Grid = RECGAZE,
    *,
    progress: Progress | None = None,
    **settings: Unpack[PageSettingsDict],
) -> pl.DataFrame:
    """Turn the scores of any recommender into pages that :func:`carouseval.evaluate` can score.

    Each row shows the items of one category, the best score leftmost. Every page is valid: it repeats no category,
    skips no row, has no gaps, and shows every item in its row's category.

    Parameters
    ----------
    scores : table or path
        ``user_id, item_id, score``: one line per user and item. Scores are finite; larger is better.
    items : table or path
        ``item_id, category``, one line for each category of an item. With a column ``user_id``, the line holds for that
        user alone.
    progress : callable, optional
        Called with (what, done, total) while scores are read and rows are filled.

    Returns
    -------
    polars.DataFrame
        Layouts: ``user_id, row, col, item_id, category`` (and ``pinned``), sorted by the first three. Users without any
        item that may be shown have no page. The order of the input lines does not matter.

    See Also
    --------
    carouseval.read_run : Read scores from a TREC run file.
    carouseval.scores_from_arrays : Scores from arrays with a row per user.

    Notes
    -----
    With ``order='remaining'``, the value of a category for a row is the sum over the items that it would show there,
    but that no row above shows, of score times weight: that of the cell under :class:`carouseval.discounts.RowPage`
    with its default parameters. If a user has negative scores, the lowest one is subtracted from all of that user's
    scores first, so that a category never loses by showing one more item.

    Items of equal score are ordered by item id, ascending. Categories of equal value are ordered by the id of their
    best item (with 'remaining', of the first one that they would show on the row), then by category, ascending. Numbers
    ascend as numbers, text by its code points.

    Scored items without a category are left out, with a warning that counts them.

    How to pass the output of common recommenders (``examples/from_scores.py`` has each format):

    ==================================  ==================================================================
    LensKit, ``recs.to_df()``           as it is; before 2025 ``columns={"user_id": "user", "item_id": "item"}``
    RecBole, ``full_sort_topk``         ``scores_from_arrays(users, dataset.id2token("item_id", ids), scores)``
    RecTools, ``model.recommend``       as it is: ``user_id, item_id, score, rank``; the rank is ignored
    implicit, ``model.recommend``       ``scores_from_arrays(user_ids[rows], item_ids[columns], scores)``
    a TREC run file                     ``read_run("system.run")``
    ==================================  ==================================================================

    implicit returns columns of its matrix, not ids: ``columns, scores = model.recommend(rows, matrix[rows], N=200)``.
    ``user_ids`` and ``item_ids`` are arrays with the ids of the matrix's rows and columns, and ``N`` is at most the
    number of items. RecBole's tensors must be on the CPU: ``ids.cpu()``.

    Examples
    --------
    >>> import carouseval as cv
    >>> scores = {"user_id": [7, 7, 7], "item_id": ["a", "b", "c"], "score": [0.2, 0.9, 0.5]}
    >>> items = {"item_id": ["a", "b", "b", "c"], "category": ["crime", "crime", "drama", "drama"]}
    >>> cv.pages_from_scores(scores, items).rows()
    [(7, 1, 1, 'b', 'drama'), (7, 1, 2, 'c', 'drama'), (7, 2, 1, 'a', 'crime')]
    >>> cv.pages_from_scores(scores, items, order="sum", unique_items=False)["item_id"].to_list()
    ['b', 'c', 'b', 'a']
    """
    if not isinstance(grid, Grid):
        raise ParameterError(
            f"{setting('grid')} must be one Grid, found {type(grid).__name__}. Make one call per grid."
        )
    chosen = checked_settings("pages_from_scores", {"grid": grid, **settings}, PageSettings)
    sources = {"scores": in_memory(scores, "scores"), "items": in_memory(items, "items")}
    names = Settings(columns=chosen.columns, split=chosen.split)
    candidates = _Candidates.read(schema.open_tables(sources, names), progress)
    allowed = candidates.category_codes("categories", chosen.categories)
    pinned_rows = candidates.pinned_rows(chosen.pinned or {}, grid)
    if chosen.order == "fixed" and allowed is None:
        raise ParameterError(
            f"{setting('order', 'fixed')} needs {setting('categories')}, listed from the top row down."
        )
    groups = UserCategories.from_candidates(candidates.lines)
    free, fixed = _queues(groups, candidates, chosen.order, grid.cols, allowed, pinned_rows)
    weights = RowPage().weights(grid) if chosen.order == "remaining" else None
    unique, least, filling = chosen.unique_items, chosen.min_items, step(progress, "filling rows")
    rows = fill_rows(groups, free, fixed, grid, unique, least, weights, filling)
    cells = pl.concat([pl.DataFrame(schema=_CELLS), *rows]).sort("user", "row", "col")
    return cells.select(
        candidates.users.gather(cells["user"]).alias("user_id"),
        "row",
        "col",
        candidates.items.gather(cells["item"]).alias("item_id"),
        candidates.categories.gather(cells["category"]).alias("category"),
        *([] if chosen.pinned is None else ["pinned"]),
    )


def _queues(
    groups: UserCategories,
    candidates: _Candidates,
    order: CategoryOrder,
    cols: int,
    allowed: list[int] | None,
    pinned_rows: Mapping[int, int],
) -> tuple[CategoryQueue, CategoryQueue]:
    """Each user's categories in the order in which they get rows: those without and those with a pinned row."""
    count, users = len(candidates.categories), len(candidates.users)
    is_allowed = np.full(count, allowed is None)
    is_allowed[allowed or []] = True
    pinned_row = np.zeros(count, np.int64)  # 0: not pinned
    pinned_row[list(pinned_rows)] = list(pinned_rows.values())
    if order == "fixed":
        value = np.zeros(count)
        value[allowed or []] = -np.arange(len(allowed or []))
        ranked = groups.ranked(value[groups.category])
    elif order == "remaining":  # chosen row by row
        ranked = np.arange(len(groups.user))
    else:
        ranked = groups.ranked(groups.values(order, cols))
    row = pinned_row[groups.category[ranked]]
    free, fixed = ranked[(row == 0) & is_allowed[groups.category[ranked]]], ranked[row > 0]
    fixed = fixed[np.lexsort((pinned_row[groups.category[fixed]], groups.user[fixed]))]
    free_queue = CategoryQueue.from_groups(free, np.zeros(len(free), np.int64), groups.user[free], users)
    return free_queue, CategoryQueue.from_groups(fixed, pinned_row[groups.category[fixed]], groups.user[fixed], users)


@dataclass(frozen=True)
class _Candidates:
    """Every scored item in each of its categories; users, items and categories are numbered as their ids sort."""

    users: pl.Series
    items: pl.Series
    categories: pl.Series
    lines: pl.DataFrame  # line, user, item, category, score

    @classmethod
    def read(cls, tables: Mapping[str, Table], progress: Progress | None) -> _Candidates:
        if tables["scores"].lists:
            raise DataError(
                f"scores: found lists of items. Write one line per item, or use {function('scores_from_arrays')}."
            )
        scores, memberships = tables["scores"].collect(step(progress, "reading")), tables["items"].collect()
        for name, table in (("scores", scores), ("items", memberships)):
            if not table.height:
                raise DataError(f"{name}: the table has no lines.")
        users, items, categories = (Ids(thread_count(None)) for _ in range(3))
        user, item = users.add(scores["user_id"]), items.add(scores["item_id"])
        if pl.Series(user.astype(np.int64) << 32 | item).n_unique() < scores.height:
            raise DataError(_repeat_message(tables["scores"]))
        member, category = items.add(memberships["item_id"]), categories.add(memberships["category"])
        score = scores["score"] + 0.0  # -0.0 ties with 0.0
        coded = pl.DataFrame({"user": users.ranks()[user], "item": items.ranks()[item], "score": score})
        ranked = coded.with_row_index("record").sort("user", "score", "item", descending=[False, True, False])
        pairs = pl.DataFrame({"item": items.ranks()[member], "category": categories.ranks()[category]})
        owner = memberships["user_id"] if "user_id" in tables["items"] else pl.lit(None, scores["user_id"].dtype)
        owners = pl.DataFrame({"user_id": users.values(), "user": users.ranks()})
        lines = _with_categories(ranked.with_row_index("line"), pairs.with_columns(user_id=owner), owners)
        _warn_uncategorised(tables["scores"], scores, lines)
        return cls(users.values().sort(), items.values().sort(), categories.values().sort(), lines)

    def category_codes(self, argument: str, names: Sequence[Any] | None) -> list[int] | None:
        """The numbers of the categories that an argument names."""
        if names is None:
            return None
        if isinstance(names, str) or not isinstance(names, Sequence | pl.Series | np.ndarray) or not len(names):
            raise ParameterError(f"{setting(argument)} must be a list of categories, found {names!r}.")
        codes = {category: code for code, category in enumerate(self.categories.to_list())}
        for position, category in enumerate(names):
            if isinstance(category, bool) or not isinstance(category, str | Integral):
                raise ParameterError(f"{setting(argument)}: a category is text or an integer, found {category!r}.")
            if category not in codes:
                hint = did_you_mean(str(category), map(str, codes))
                raise ParameterError(f"{setting(argument)}: items has no category {category!r}.{hint}")
            if category in list(names[:position]):
                raise ParameterError(f"{setting(argument)}: {category!r} is listed twice.")
        return [codes[category] for category in names]

    def pinned_rows(self, pinned: Mapping[Any, int], grid: Grid) -> dict[int, int]:
        """The row of each pinned category, by its number."""
        if not isinstance(pinned, Mapping):
            raise ParameterError(
                f"{setting('pinned')} must be a dict such as {{'Continue watching': 1}}, found {pinned!r}."
            )
        rows: dict[int, Any] = {}
        for category, row in pinned.items():
            if require_int(f"{setting('pinned')}: the row of {category!r}", row, 1) > grid.rows:
                raise ParameterError(
                    f"{setting('pinned')}: {category!r} is pinned to row {row}, but the grid has only {grid.rows} rows."
                )
            if row in rows:
                raise ParameterError(
                    f"{setting('pinned')}: {rows[row]!r} and {category!r} are both pinned to row {row}."
                )
            rows[row] = category
        codes = self.category_codes("pinned", list(pinned)) if pinned else []
        return dict(zip(codes or [], map(int, pinned.values()), strict=True))


def _with_categories(lines: pl.DataFrame, pairs: pl.DataFrame, owners: pl.DataFrame) -> pl.DataFrame:
    """Every line with each category of its item: those for all users, and the user's own."""
    everyone = pairs.filter(pl.col("user_id").is_null()).select("item", "category").unique()
    shared = lines.join(everyone, on="item")
    personal = pairs.join(owners, on="user_id").select("user", "item", "category").unique()
    if not personal.height:
        return shared
    personal = personal.join(everyone, on=["item", "category"], how="anti")
    return pl.concat([shared, lines.join(personal, on=["user", "item"]).select(shared.columns)])


def _repeat_message(scores: Table) -> str:
    """The message about items that have two scores for a user."""
    (lines,) = scores.query(lambda frame: frame.sort(RECORD))
    repeats = lines.filter(~pl.struct("user_id", "item_id").is_first_distinct())
    first = repeats.row(0, named=True)
    more = f" ({repeats.height:,} such lines)" if repeats.height > 1 else ""
    return (
        f"scores: user_id={first['user_id']!r} item_id={first['item_id']!r} is scored twice, the second time on "
        f"{scores.where(first[RECORD])}{more}. Each item has one score per user; drop the repeats."
    )


def _warn_uncategorised(table: Table, scores: pl.DataFrame, lines: pl.DataFrame) -> None:
    """Warn of scored items that cannot be shown, as they have no category."""
    has_category = np.zeros(scores.height, bool)
    has_category[lines["record"].to_numpy()] = True
    if has_category.all():
        return
    if not has_category.any():
        raise DataError(
            "scores: none of the items has a category in items. Are item ids written the same way in both tables?"
        )
    left_out = scores.filter(~has_category)
    count = left_out["item_id"].n_unique()
    first = left_out.row(0, named=True)
    record, _, _ = table.find((pl.col("user_id") == first["user_id"]) & (pl.col("item_id") == first["item_id"]))
    warn(
        f"scores: {left_out.height:,} of {scores.height:,} lines are left out because their items have no category: "
        f"{count:,} item{'s' * (count > 1)}, first item_id={first['item_id']!r} ({table.where(record)}). "
        "Add them to items to have them shown."
    )
