"""The tables of sample data: options checked, arrays of a block of users turned into frames."""

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from carouseval.building.sample_world import BLOCK, SYSTEMS, Catalogue, Flags, SamplePages, Users
from carouseval.errors import ParameterError
from carouseval.metrics.grid import PHONE, RECGAZE, TV, Grid
from carouseval.metrics.validation import require_choice, require_float, require_int

CONTINUE = "Continue watching"
DEVICES = ("tv", "phone", "web")
GENRES = (
    "Drama", "Comedy", "Thriller", "Action", "Documentary", "Romance", "Family", "Science fiction", "Crime",
    "Animation", "Fantasy", "Horror", "Nordic noir", "Period drama", "Stand-up", "Sitcoms", "True crime",
    "Food and travel", "Nature", "Music", "Sport", "Anime", "Heists", "Classics", "Westerns", "Short films",
    "Silent era", "Space operas",
)  # fmt: skip

_BINARY_FROM = 3  # the grade from which an item is relevant when relevance is binary


class World:
    """The options, checked, and the tables they make, block by block of users."""

    def __init__(
        self,
        users: int,
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
    ) -> None:
        require_choice("ids", ids, ("str", "int"))
        require_choice("mode", mode, ("graded", "binary"))
        for name in systems or ():
            require_choice("systems", name, tuple(SYSTEMS))
        if not systems and systems is not None:
            raise ParameterError("systems must name at least one, or be left out for all.")
        self.systems = tuple(name for name in SYSTEMS if systems is None or name in systems)
        self.users, self.seed = require_int("users", users, 1), require_int("seed", seed, 0)
        categories = require_int("categories", categories, 1)
        items, self.judgments = require_int("items", items, categories), require_int("judgments", judgments, 1)
        if require_int("most_categories", most_categories, 1) > 3:
            raise ParameterError(f"most_categories must be at most 3, found {most_categories}.")
        self.pages, self.missing = (
            require_int("pages", pages, 1),
            require_float("missing", missing, at_least=0, at_most=1),
        )
        self.binary, self.ragged, self.pinned, self.text = mode == "binary", ragged, pinned, ids == "str"
        self.grids = dict(zip(DEVICES, (TV, PHONE, grid) if devices else (grid, grid, grid), strict=True))

        self.rows = np.array([each.rows for each in self.grids.values()])
        self.cols = np.array([each.cols for each in self.grids.values()])
        self.catalogue = Catalogue(seed, items, categories, most_categories)
        more = [f"Genre {n}" for n in range(len(GENRES) + 1, categories + 1)]
        self.labels = pl.Series("category", [*GENRES[:categories], *more, CONTINUE])
        self.item_ids = self._ids("item_id", np.arange(items), "m", 5)

    def parts(self) -> Iterator[tuple[str, pl.DataFrame]]:
        """Pieces of the tables, by name, to be put together in this order."""
        yield "items", self._items()
        draws = {}
        for name in self.systems:
            judged = self.judgments + self.judgments // 2
            draws[name] = SamplePages(self.seed, name, self.catalogue, self.rows.max(), self.cols.max(), judged)
        for block, begin in enumerate(range(0, self.users, BLOCK)):
            users = Users(self.seed, block, min(BLOCK, self.users - begin), self.catalogue, self.judgments)
            user_ids = self._ids("user_id", begin + np.arange(users.users), "u", 6)
            if self.pinned:
                yield "items", self._begun(users, user_ids)
            yield "judgments", self._judgments(users, user_ids)
            for name, pages in draws.items():
                yield f"layouts-{name}", self._layouts(pages, users, user_ids)

    def _items(self) -> pl.DataFrame:
        item, k = np.nonzero(self.catalogue.own)
        frame = pl.DataFrame([self.item_ids.gather(item), self.labels.gather(self.catalogue.homes[item, k])])
        for_all = pl.lit(None, pl.String if self.text else pl.Int64).alias("user_id")
        return frame.with_columns(for_all) if self.pinned else frame

    def _begun(self, users: Users, user_ids: pl.Series) -> pl.DataFrame:
        row, held = users.continued()
        label = pl.lit(CONTINUE).alias("category")
        item_ids = self.item_ids.gather(row[held])
        return pl.DataFrame([item_ids, user_ids.gather(np.nonzero(held)[0])]).select("item_id", label, "user_id")

    def _judgments(self, users: Users, user_ids: pl.Series) -> pl.DataFrame:
        grade = users.grade[users.known]
        relevance = pl.Series("relevance", (grade >= _BINARY_FROM if self.binary else grade).astype(np.float64))
        user = np.nonzero(users.known)[0]
        return pl.DataFrame([user_ids.gather(user), self.item_ids.gather(users.judged[users.known]), relevance])

    def _layouts(self, draw: SamplePages, users: Users, user_ids: pl.Series) -> pl.DataFrame:
        drawn = [self._page(*draw.draw(users, page), users) for page in range(self.pages)]
        items, categories = (np.stack(some, axis=1) for some in zip(*drawn, strict=True))
        held = (items >= 0) & self._seen(draw, users)
        user, page, row, col = np.nonzero(held)
        columns = [
            user_ids.gather(user),
            *([self._ids("page_id", page + 1, "p", 1)] if self.pages > 1 else []),
            pl.Series("row", row + 1, pl.Int32),
            pl.Series("col", col + 1, pl.Int32),
            self.item_ids.gather(items[held]),
            self.labels.gather(categories[user, page, row]),
            pl.Series("device", DEVICES).gather(users.device[user]),
            *([pl.Series("pinned", row == 0)] if self.pinned else []),
        ]
        return pl.DataFrame(columns)

    def _page(
        self, items: NDArray[np.integer], categories: NDArray[np.integer], users: Users
    ) -> tuple[NDArray[np.integer], NDArray[np.integer]]:
        """The page as drawn, or moved down a row under the pinned one."""
        if not self.pinned:
            return items, categories
        row, held = users.continued()
        first = np.full((len(row), 1, items.shape[2]), -1)
        most = min(row.shape[1], items.shape[2])
        first[:, 0, :most] = np.where(held, row, -1)[:, :most]
        label = np.full((len(row), 1), len(self.labels) - 1)
        return np.concatenate([first, items], axis=1), np.concatenate([label, categories], axis=1)

    def _seen(self, draw: SamplePages, users: Users) -> Flags:
        """The cells (users, pages, rows, cols) that the user's device has and that are not missing."""
        rng = draw.extras(users.block)
        there = rng.random(BLOCK)[: users.users] >= self.missing
        rows, cols = draw.rows + self.pinned, draw.cols
        lengths = np.broadcast_to(self.cols[users.device][:, None, None], (users.users, self.pages, rows))
        if self.ragged:
            kept = 1 - rng.random((BLOCK, self.pages, rows)) / 2
            lengths = np.ceil(lengths * kept[: users.users])
        on_screen = (np.arange(rows) < self.rows[users.device][:, None]) & there[:, None]
        seen: Flags = (np.arange(cols) < lengths[..., None]) & on_screen[:, None, :, None]
        return seen

    def _ids(self, name: str, numbers: NDArray[np.integer], letter: str, digits: int) -> pl.Series:
        ids = pl.Series(name, numbers, pl.Int64)
        return (letter + ids.cast(pl.String).str.zfill(digits)).alias(name) if self.text else ids
