"""From a recommender's scores to pages of carousels: the best items of each category, the best category on top."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
import polars as pl

from carouseval.building.page_filling import Groups, Queue, fill
from carouseval.building.run_files import read_run as read_run
from carouseval.building.run_files import scores_from_arrays as scores_from_arrays
from carouseval.errors import DataError, ParameterError
from carouseval.evaluation import schema
from carouseval.evaluation.notices import warn
from carouseval.evaluation.reading.ids import Ids
from carouseval.evaluation.settings import ColumnNames, Settings
from carouseval.metrics.grid import RECGAZE, Grid
from carouseval.metrics.validation import did_you_mean, require_choice, require_int
from carouseval.tables import RECORD, Table, TableLike, in_memory

ORDERS = ("best", "mean", "sum", "fixed")
_CELLS = dict.fromkeys(("user", "row", "col", "item", "category"), pl.Int64()) | {"pinned": pl.Boolean()}


def pages_from_scores(
    scores: TableLike,
    items: TableLike,
    grid: Grid = RECGAZE,
    *,
    order: str = "best",
    categories: Sequence[Any] | None = None,
    pinned: Mapping[Any, int] | None = None,
    once: bool = True,
    least: int = 1,
    columns: ColumnNames = None,
) -> pl.DataFrame:
    """Turn the scores of any recommender into pages: layouts that :func:`carouseval.evaluate` takes.

    Each row shows the best items of one category, the best leftmost. Every page is valid: no category twice, no skipped
    row, no gap, every item in its row's category.

    Parameters
    ----------
    scores
        ``user_id, item_id, score``: one line per user and item, any finite number, larger is better.
    items
        ``item_id, category``, a line for each category of an item; with ``user_id``, for that user alone.
    grid
        The screen to fill.
    order
        Which category stands on top: "best", that of the largest score; "mean" or "sum", the largest mean or sum of the
        ``grid.cols`` best scores; "fixed", the order of ``categories``. All of a category's scores count, also
        those of items that another row shows.
    categories
        Those allowed, all by default; with ``order="fixed"`` in their order from the top.
    pinned
        Rows, from 1, of categories that stay where they are: ``{"Continue watching": 1}``. They need not be listed in
        ``categories``. A user who lacks a pinned category gets the next category there, and one who lacks the rows
        above gets the pinned row further up, as no page skips a row. The result then has a column ``pinned``.
    once
        Whether an item appears once on a page. Rows choose from the top, and a row passes on from items shown above to
        its next best. Otherwise an item appears in every row of a category of its own where it fits.
    least
        The fewest items of a row; a category with fewer left for a user is passed over.
    columns
        Names of your own: ``{"user_id": "user", "item_id": "item"}``.

    Returns
    -------
    ``user_id, row, col, item_id, category`` (and ``pinned``), sorted by the first three; the order of lines does not
    matter. Users none of whose items may be shown have no page.

    Notes
    -----
    Ties: items of equal score stand by item id, ascending. Categories of equal worth stand by the id of their best
    item, then by category, ascending. Numbers ascend as numbers, text by its code points.

    Scored items without a category are left out, with a warning that counts them.

    What recommenders give, and how it goes in (``examples/from_scores.py`` runs each):

    ==================================  ==================================================================
    LensKit, ``recs.to_df()``           as it is; before 2025 ``columns={"user_id": "user", "item_id": "item"}``
    RecBole, ``full_sort_topk``         ``scores_from_arrays(users, dataset.id2token("item_id", ids), scores)``
    RecTools, ``model.recommend``       as it is: ``user_id, item_id, score, rank``; the rank is not looked at
    implicit, ``model.recommend``       ``scores_from_arrays(users, ids, scores)``
    a TREC run file                     ``read_run("system.run")``
    ==================================  ==================================================================

    Examples
    --------
    >>> scores = {"user_id": [7, 7, 7], "item_id": ["a", "b", "c"], "score": [0.2, 0.9, 0.5]}
    >>> items = {"item_id": ["a", "b", "b", "c"], "category": ["drama", "crime", "drama", "drama"]}
    >>> pages_from_scores(scores, items).rows()
    [(7, 1, 1, 'b', 'crime'), (7, 2, 1, 'c', 'drama'), (7, 2, 2, 'a', 'drama')]
    >>> pages_from_scores(scores, items, order="sum", once=False)["item_id"].to_list()
    ['b', 'c', 'a', 'b']
    """
    require_choice("order", order, ORDERS)
    require_int("least", least, 1)
    if not isinstance(grid, Grid):
        raise ParameterError(f"grid must be one Grid, found {type(grid).__name__}. For several, call once for each.")
    if not isinstance(once, bool):
        raise ParameterError(f"once must be True or False, found {once!r}.")
    sources = {"scores": in_memory(scores, "scores"), "items": in_memory(items, "items")}
    coded = _Coded.of(schema.open_tables(sources, Settings(columns=columns)))
    listed = coded.category_codes("categories", categories)
    pins = coded.pins(pinned or {}, grid)
    if order == "fixed" and listed is None:
        raise ParameterError("order='fixed' needs categories, from the top row down.")
    groups = Groups.of(coded.candidates)
    free, fixed = _queues(groups, coded, order, grid.cols, listed, pins)
    cells = pl.concat([pl.DataFrame(schema=_CELLS), *fill(groups, free, fixed, grid, once, least)]).sort(
        "user", "row", "col"
    )
    return cells.select(
        coded.users.gather(cells["user"]).alias("user_id"),
        "row",
        "col",
        coded.items.gather(cells["item"]).alias("item_id"),
        coded.categories.gather(cells["category"]).alias("category"),
        *([] if pinned is None else ["pinned"]),
    )


def _queues(
    groups: Groups, coded: "_Coded", order: str, cols: int, listed: list[int] | None, pins: Mapping[int, int]
) -> tuple[Queue, Queue]:
    """Each user's categories in the order in which they get rows, those that are pinned apart."""
    count = len(coded.categories)
    allowed = np.full(count, listed is None)
    allowed[listed or []] = True
    rows = np.zeros(count, np.int64)  # 0: not pinned
    rows[list(pins)] = list(pins.values())
    if order == "fixed":
        place = np.zeros(count)
        place[listed or []] = -np.arange(len(listed or []))
        ranked = groups.in_order(place[groups.category])
    else:
        ranked = groups.in_order(groups.values(order, cols))
    row = rows[groups.category[ranked]]
    free, fixed = ranked[(row == 0) & allowed[groups.category[ranked]]], ranked[row > 0]
    fixed = fixed[np.lexsort((rows[groups.category[fixed]], groups.user[fixed]))]
    users = len(coded.users)
    free_queue = Queue.of(free, np.zeros(len(free), np.int64), groups.user[free], users)
    return free_queue, Queue.of(fixed, rows[groups.category[fixed]], groups.user[fixed], users)


@dataclass(frozen=True)
class _Coded:
    """The tables with all ids as places in their order."""

    users: pl.Series
    items: pl.Series
    categories: pl.Series
    candidates: pl.DataFrame  # line, user, item, category, score

    @classmethod
    def of(cls, tables: Mapping[str, Table]) -> "_Coded":
        scores, members = tables["scores"], tables["items"]
        if scores.lists:
            raise DataError("scores: items come in lists; write one line per item, or use scores_from_arrays.")
        lines, belongs = scores.collect(), members.collect()
        for name, table in (("scores", lines), ("items", belongs)):
            if not table.height:
                raise DataError(f"{name}: the table is empty.")
        users, items, categories = Ids(), Ids(), Ids()
        user, item = users.add(lines["user_id"]), items.add(lines["item_id"])
        if pl.Series(user.astype(np.int64) << 32 | item).n_unique() < lines.height:
            raise DataError(_repeat(scores))
        member, category = items.add(belongs["item_id"]), categories.add(belongs["category"])
        score = lines["score"] + 0.0  # -0.0 ties with 0.0
        coded = pl.DataFrame({"user": users.ranks()[user], "item": items.ranks()[item], "score": score})
        ranked = coded.with_row_index("record").sort("user", "score", "item", descending=[False, True, False])
        pairs = pl.DataFrame({"item": items.ranks()[member], "category": categories.ranks()[category]})
        owner = belongs["user_id"] if "user_id" in members else pl.lit(None, lines["user_id"].dtype)
        owners = pl.DataFrame({"user_id": users.values(), "user": users.ranks()})
        candidates = _joined(ranked.with_row_index("line"), pairs.with_columns(user_id=owner), owners)
        _warn_of_strays(scores, lines, candidates)
        return cls(users.values().sort(), items.values().sort(), categories.values().sort(), candidates)

    def category_codes(self, what: str, wanted: Sequence[Any] | None) -> list[int] | None:
        """The places of categories that the caller names."""
        if wanted is None:
            return None
        if isinstance(wanted, str) or not isinstance(wanted, Sequence | pl.Series | np.ndarray) or not len(wanted):
            raise ParameterError(f"{what} must be a list of categories, found {wanted!r}.")
        codes = {category: code for code, category in enumerate(self.categories.to_list())}
        for at, category in enumerate(wanted):
            if isinstance(category, bool) or not isinstance(category, str | Integral):
                raise ParameterError(f"{what}: a category is text or an integer, found {category!r}.")
            if category not in codes:
                hint = did_you_mean(str(category), map(str, codes))
                raise ParameterError(f"{what}: items has no category {category!r}.{hint}")
            if category in list(wanted[:at]):
                raise ParameterError(f"{what}: {category!r} is named twice.")
        return [codes[category] for category in wanted]

    def pins(self, pinned: Mapping[Any, int], grid: Grid) -> dict[int, int]:
        """The row of each pinned category."""
        if not isinstance(pinned, Mapping):
            raise ParameterError(f"pinned must be a dict such as {{'Continue watching': 1}}, found {pinned!r}.")
        rows: dict[int, Any] = {}
        for category, row in pinned.items():
            if require_int(f"pinned: the row of {category!r}", row, 1) > grid.rows:
                raise ParameterError(
                    f"pinned: {category!r} is to stand in row {row}, and the grid has {grid.rows} rows."
                )
            if row in rows:
                raise ParameterError(f"pinned: {rows[row]!r} and {category!r} are both to stand in row {row}.")
            rows[row] = category
        codes = self.category_codes("pinned", list(pinned)) if pinned else []
        return dict(zip(codes or [], map(int, pinned.values()), strict=True))


def _joined(lines: pl.DataFrame, pairs: pl.DataFrame, owners: pl.DataFrame) -> pl.DataFrame:
    """Every line with each category of its item: those of everyone, and the user's own."""
    everyone = pairs.filter(pl.col("user_id").is_null()).select("item", "category").unique()
    shared = lines.join(everyone, on="item")
    own = pairs.join(owners, on="user_id").select("user", "item", "category").unique()
    if not own.height:
        return shared
    own = own.join(everyone, on=["item", "category"], how="anti")
    return pl.concat([shared, lines.join(own, on=["user", "item"]).select(shared.columns)])


def _repeat(scores: Table) -> str:
    """What to say of a user's item with two scores."""
    lines = scores.frame(with_record=True).collect()
    pair = pl.struct("user_id", "item_id")
    again = lines.filter(~pair.is_first_distinct())
    first = again.row(0, named=True)
    more = f" ({again.height:,} such lines)" if again.height > 1 else ""
    return (
        f"scores: user_id={first['user_id']!r} item_id={first['item_id']!r} is scored again, "
        f"{scores.where(first[RECORD])}{more}. A user's item has one score; drop the repeats."
    )


def _warn_of_strays(scores: Table, lines: pl.DataFrame, candidates: pl.DataFrame) -> None:
    """Items that belong nowhere cannot be shown; somebody should know."""
    strays = np.ones(lines.height, bool)
    strays[candidates["record"].to_numpy()] = False
    if not strays.any():
        return
    left_out = lines.filter(strays)
    if left_out.height == lines.height:
        raise DataError("scores: none of its items has a category in items. Are item ids written alike in both tables?")
    first = left_out.row(0, named=True)
    record, _, _ = scores.find((pl.col("user_id") == first["user_id"]) & (pl.col("item_id") == first["item_id"]))
    warn(
        f"scores: {left_out.height:,} of {lines.height:,} lines are left out, as their items have no category: "
        f"{left_out['item_id'].n_unique():,} in all, first item_id={first['item_id']!r} ({scores.where(record)}). "
        "To have them shown, add them to items."
    )
