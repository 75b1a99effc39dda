"""The tables of synthetic data: checks the options, and turns the arrays of each block of users into frames."""

from collections.abc import Iterator, Sequence
from typing import Literal, TypeAlias, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray

from carouseval.building.sample_model import BLOCK, SYSTEMS, BoolArray, Catalogue, PageGenerator, UserBlock
from carouseval.errors import ParameterError
from carouseval.messages import setting
from carouseval.metrics.grid import PHONE, RECGAZE, TV, Grid
from carouseval.validation import require_choice, require_float, require_int

IdType: TypeAlias = Literal["str", "int"]
"""The type of the ids of synthetic data."""

RelevanceMode: TypeAlias = Literal["graded", "binary"]
"""The scale of relevance in synthetic data."""

CONTINUE_WATCHING = "Continue watching"
DEVICES = ("tv", "phone", "web")
GENRES = (
    "Drama", "Comedy", "Thriller", "Action", "Documentary", "Romance", "Family", "Science fiction", "Crime",
    "Animation", "Fantasy", "Horror", "Nordic noir", "Period drama", "Stand-up", "Sitcoms", "True crime",
    "Food and travel", "Nature", "Music", "Sport", "Anime", "Heists", "Classics", "Westerns", "Short films",
    "Silent era", "Space operas",
)  # fmt: skip

_RELEVANT_GRADE = 3  # with binary relevance, an item is relevant from this grade on


class SampleTables:
    """The tables of synthetic data, drawn block by block of users."""

    systems: tuple[str, ...]  # best first
    grids: dict[str, Grid]  # by device

    def __init__(
        self,
        users: int,
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
    ) -> None:
        require_choice("ids", ids, get_args(IdType))
        require_choice("mode", mode, get_args(RelevanceMode))
        self.systems = chosen_systems(systems, tuple(SYSTEMS))
        self._users, self._seed = require_int("users", users, 1), require_int("seed", seed, 0)
        categories = require_int("categories", categories, 1)
        items = require_int("items", items, categories)
        self._judgments_per_user = require_int("judgments", judgments, 1)
        if require_int("categories_per_item", categories_per_item, 1) > 3:
            raise ParameterError(f"{setting('categories_per_item')} must be at most 3, found {categories_per_item}.")
        self._pages = require_int("pages", pages, 1)
        self._missing = require_float("missing", missing, at_least=0, at_most=1)
        self._binary, self._ragged, self._pinned, self._ids = mode == "binary", ragged, pinned, ids
        self.grids = dict(zip(DEVICES, (TV, PHONE, grid) if devices else (grid, grid, grid), strict=True))

        self._rows = np.array([device.rows for device in self.grids.values()])
        self._cols = np.array([device.cols for device in self.grids.values()])
        self._catalogue = Catalogue(seed, items, categories, categories_per_item)
        numbered = [f"Genre {n}" for n in range(len(GENRES) + 1, categories + 1)]
        self._category_names = pl.Series("category", [*GENRES[:categories], *numbered, CONTINUE_WATCHING])
        self._item_ids = format_ids("item_id", np.arange(items), "m", 5, ids)

    def parts(self) -> Iterator[tuple[str, pl.DataFrame]]:
        """Parts of the tables with their names, to be concatenated in this order."""
        yield "items", self._items()
        max_judged = self._judgments_per_user + self._judgments_per_user // 2
        generators = {
            name: PageGenerator(self._seed, name, self._catalogue, self._rows.max(), self._cols.max(), max_judged)
            for name in self.systems
        }
        for block, begin in enumerate(range(0, self._users, BLOCK)):
            users = UserBlock(
                self._seed, block, min(BLOCK, self._users - begin), self._catalogue, self._judgments_per_user
            )
            user_ids = format_ids("user_id", begin + np.arange(users.count), "u", 6, self._ids)
            if self._pinned:
                yield "items", self._personal_items(users, user_ids)
            yield "judgments", judgment_table(users, user_ids, self._item_ids, binary=self._binary)
            for name, generator in generators.items():
                yield f"layouts-{name}", self._layouts(generator, users, user_ids)

    def _items(self) -> pl.DataFrame:
        item, place = np.nonzero(self._catalogue.is_distinct)
        category = self._category_names.gather(self._catalogue.item_categories[item, place])
        frame = pl.DataFrame([self._item_ids.gather(item), category])
        all_users = pl.lit(None, self._item_ids.dtype).alias("user_id")
        return frame.with_columns(all_users) if self._pinned else frame

    def _personal_items(self, users: UserBlock, user_ids: pl.Series) -> pl.DataFrame:
        items, has_item = users.continue_watching()
        user_id, category = user_ids.gather(np.nonzero(has_item)[0]), pl.lit(CONTINUE_WATCHING).alias("category")
        return pl.DataFrame([self._item_ids.gather(items[has_item]), user_id]).select("item_id", category, "user_id")

    def _layouts(self, generator: PageGenerator, users: UserBlock, user_ids: pl.Series) -> pl.DataFrame:
        drawn_pages = [self._page(*generator.draw(users, page), users) for page in range(self._pages)]
        items, categories = (np.stack(arrays, axis=1) for arrays in zip(*drawn_pages, strict=True))
        has_item = (items >= 0) & self._visible(generator, users)
        user, page, row, col = np.nonzero(has_item)
        columns = [
            user_ids.gather(user),
            *([format_ids("page_id", page + 1, "p", 1, self._ids)] if self._pages > 1 else []),
            pl.Series("row", row + 1, pl.Int32),
            pl.Series("col", col + 1, pl.Int32),
            self._item_ids.gather(items[has_item]),
            self._category_names.gather(categories[user, page, row]),
            pl.Series("device", DEVICES).gather(users.device[user]),
            *([pl.Series("pinned", row == 0)] if self._pinned else []),
        ]
        return pl.DataFrame(columns)

    def _page(
        self, items: NDArray[np.integer], categories: NDArray[np.integer], users: UserBlock
    ) -> tuple[NDArray[np.integer], NDArray[np.integer]]:
        """The page as drawn, or moved down by one row below the pinned one."""
        if not self._pinned:
            return items, categories
        continued, has_item = users.continue_watching()
        first_row = np.full((len(continued), 1, items.shape[2]), -1)
        width = min(continued.shape[1], items.shape[2])
        first_row[:, 0, :width] = np.where(has_item, continued, -1)[:, :width]
        category = np.full((len(continued), 1), len(self._category_names) - 1)
        return np.concatenate([first_row, items], axis=1), np.concatenate([category, categories], axis=1)

    def _visible(self, generator: PageGenerator, users: UserBlock) -> BoolArray:
        """The cells (users, pages, rows, cols) that the user's device shows, of pages that are not missing."""
        rng = generator.block_stream(users.block)
        has_page = rng.random(BLOCK)[: users.count] >= self._missing
        rows, cols = generator.rows + self._pinned, generator.cols
        lengths = np.broadcast_to(self._cols[users.device][:, None, None], (users.count, self._pages, rows))
        if self._ragged:
            share = 1 - rng.random((BLOCK, self._pages, rows)) / 2
            lengths = np.ceil(lengths * share[: users.count])
        row_visible = (np.arange(rows) < self._rows[users.device][:, None]) & has_page[:, None]
        visible: BoolArray = (np.arange(cols) < lengths[..., None]) & row_visible[:, None, :, None]
        return visible


def chosen_systems(systems: Sequence[str] | None, known: Sequence[str]) -> tuple[str, ...]:
    """The systems to draw, by default all, in the order of the known ones."""
    for name in systems or ():
        require_choice("systems", name, known)
    if not systems and systems is not None:
        raise ParameterError(f"{setting('systems')} must name at least one system; leave it out for all.")
    return tuple(name for name in known if systems is None or name in systems)


def judgment_table(users: UserBlock, user_ids: pl.Series, item_ids: pl.Series, binary: bool = False) -> pl.DataFrame:
    """What a block of users judged."""
    grade = users.grade[users.is_judged]
    relevance = (grade >= _RELEVANT_GRADE if binary else grade).astype(np.float64)
    judged = item_ids.gather(users.judged[users.is_judged])
    return pl.DataFrame([user_ids.gather(np.nonzero(users.is_judged)[0]), judged, pl.Series("relevance", relevance)])


def format_ids(name: str, numbers: NDArray[np.integer], letter: str, digits: int, ids: IdType) -> pl.Series:
    """Numbers as ids: u000017 or 17."""
    series = pl.Series(name, numbers, pl.Int64)
    return (letter + series.cast(pl.String).str.zfill(digits)).alias(name) if ids == "str" else series
