"""The tables of synthetic home pages: turns the arrays of each block of users into frames."""

from collections.abc import Iterator, Sequence
from typing import get_args

import numpy as np
import polars as pl

from carouseval.building.sample_home_model import (
    ABSENT,
    BECAUSE,
    BILLBOARD,
    CAPACITIES,
    CONTINUE,
    GENRE,
    GRIDS,
    HOME_SYSTEMS,
    ITEMS,
    SLOTS,
    TOP,
    HomeCatalogue,
    HomePages,
    HomeUsers,
)
from carouseval.building.sample_model import BLOCK
from carouseval.building.sample_tables import (
    CONTINUE_WATCHING,
    GENRES,
    IdType,
    chosen_systems,
    format_ids,
    judgment_table,
)
from carouseval.metrics.grid import Grid, IntArray
from carouseval.validation import require_choice, require_int

_FIRST_WORDS = (
    "Silent", "Golden", "Crimson", "Hidden", "Distant", "Broken", "Electric", "Frozen", "Last", "Midnight", "Northern",
    "Paper", "Quiet", "Second", "Velvet", "Wild",
)  # fmt: skip
_LAST_WORDS = (
    "Harbour", "Summer", "Empire", "Garden", "Signal", "Orchard", "Station", "Tide", "Kingdom", "Letters", "River",
    "Shadow", "Voyage", "Witness", "Lights",
)  # fmt: skip


class HomeTables:
    """The tables of synthetic home pages, drawn block by block of users."""

    systems: tuple[str, ...]  # best first
    grids: dict[str, Grid]  # by device

    def __init__(self, users: int, seed: int = 0, ids: IdType = "str", systems: Sequence[str] | None = None) -> None:
        self.systems, self.grids = chosen_systems(systems, tuple(HOME_SYSTEMS)), dict(GRIDS)
        self._users, self._seed = require_int("users", users, 1), require_int("seed", seed, 0)
        self._ids = require_choice("ids", ids, get_args(IdType))
        self._catalogue = HomeCatalogue(seed)
        self._item_ids = format_ids("item_id", np.arange(ITEMS), "m", 3, ids)
        self._everyone = pl.lit(None, self._item_ids.dtype).alias("user_id")
        words = pl.Series("title", [f"{first} {last}" for first in _FIRST_WORDS for last in _LAST_WORDS])
        self._titles = words.gather(self._catalogue.titles)
        names = {BILLBOARD: "Featured", CONTINUE: CONTINUE_WATCHING, TOP: "Top 10"}
        names |= dict(zip(range(GENRE, SLOTS), GENRES, strict=False))
        because = [f"Because you watched {title}" for title in self._titles]
        self._categories = pl.Series("category", [*map(names.get, range(SLOTS)), *because])

    def parts(self) -> Iterator[tuple[str, pl.DataFrame]]:
        """Parts of the tables with their names, to be concatenated in this order."""
        item, slot = np.nonzero(self._catalogue.shared.T)
        yield "items", self._items(item, slot, self._everyone)
        slot = np.array([BILLBOARD, CONTINUE, TOP])
        yield "carousels", self._carousels(slot, slot, self._everyone)
        pages = {name: HomePages(self._seed, name, self._catalogue) for name in self.systems}
        anchors = np.array([-1])  # those of the blocks so far; -1 is none
        for block, begin in enumerate(range(0, self._users, BLOCK)):
            users = HomeUsers(self._seed, block, min(BLOCK, self._users - begin), self._catalogue)
            user_ids = format_ids("user_id", begin + np.arange(users.count), "u", 4, self._ids)
            user, item = np.nonzero(users.recency > ABSENT)
            yield "items", self._items(item, np.full(len(item), CONTINUE), user_ids.gather(user))
            new = np.setdiff1d(users.anchors, anchors)
            anchors = np.union1d(anchors, new)
            similar = self._catalogue.similar[new]
            yield "items", self._items(similar.ravel(), SLOTS + new.repeat(similar.shape[1]), self._everyone)
            user, place = np.nonzero(users.anchors >= 0)
            slot = BECAUSE + place
            yield "carousels", self._carousels(users.categories[user, slot], slot, user_ids.gather(user))
            yield "judgments", judgment_table(users, user_ids, self._item_ids)
            for name, generator in pages.items():
                yield f"layouts-{name}", self._layouts(*generator.draw(users), users, user_ids)

    def _items(self, item: IntArray, category: IntArray, user_id: pl.Series | pl.Expr) -> pl.DataFrame:
        columns = [self._item_ids.gather(item), self._categories.gather(category), self._titles.gather(item)]
        return pl.DataFrame(columns).select("item_id", "category", user_id, "title")

    def _carousels(self, category: IntArray, slot: IntArray, user_id: pl.Series | pl.Expr) -> pl.DataFrame:
        """Lines for categories that hold less than a screen's row, are personal, or are of some users only."""
        capacity = pl.Series("capacity", [CAPACITIES.get(number) for number in slot.tolist()], pl.Int32)
        frame = pl.DataFrame([self._categories.gather(category), capacity, pl.Series("personal", slot == CONTINUE)])
        return frame.select("category", user_id, "capacity", "personal")

    def _layouts(self, cells: IntArray, slots: IntArray, users: HomeUsers, user_ids: pl.Series) -> pl.DataFrame:
        user, row, col = np.nonzero(cells >= 0)
        slot = slots[user, row]
        columns = [
            user_ids.gather(user),
            pl.Series("row", row + 1, pl.Int32),
            pl.Series("col", col + 1, pl.Int32),
            self._item_ids.gather(cells[user, row, col]),
            self._categories.gather(users.categories[user, slot]),
            pl.Series("device", list(GRIDS)).gather(users.screen[user]),
            pl.Series("pinned", slot == BILLBOARD),
        ]
        return pl.DataFrame(columns)
