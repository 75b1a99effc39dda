"""The model behind synthetic data, as arrays: a catalogue, users with tastes, and systems that know them to a degree.

Everything is drawn for whole blocks of users from a random stream of the block, so a user's data depend only on the
seed and the user's number. A large catalogue is drawn once; pages from it cost no more than from a small one.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from carouseval.metrics.grid import Array

BLOCK = 1024  # users drawn together; changing it changes the data

BoolArray: TypeAlias = NDArray[np.bool_]

_SHELVES = 64  # orders of a category drawn in advance that users share; what a user judged is placed for that user
_EXCLUDED = np.float32(-np.inf)  # the score of an item that cannot be shown
_GRADE_THRESHOLDS = np.array([-0.2, 0.1, 0.5, 1.0, 1.6])  # the least appeal of grades 1, 2, ... 5


@dataclass(frozen=True)
class SampleSystem:
    """A recommender: scores are ``knowledge`` x the user's opinion + ``popularity`` x log popularity + noise."""

    knowledge: float
    popularity: float


# Best first; the gap between new and prod is small, as in a typical experiment.
SYSTEMS = {
    "oracle": SampleSystem(knowledge=8, popularity=0),
    "new": SampleSystem(knowledge=1, popularity=0.5),
    "prod": SampleSystem(knowledge=0.9, popularity=0.5),
    "popular": SampleSystem(knowledge=0, popularity=1.5),
    "random": SampleSystem(knowledge=0, popularity=0),
}


def random_stream(seed: int, *key: int) -> np.random.Generator:
    """A random stream of its own for every key."""
    return np.random.Generator(np.random.Philox(np.random.SeedSequence(seed, spawn_key=key)))


class Catalogue:
    """Items with their popularity and categories; the first category is the largest, the last the smallest."""

    items: int
    categories: int
    item_categories: NDArray[np.integer]  # (items, categories_per_item); a repeated one counts once
    is_distinct: BoolArray  # whether each of these is the first of its name
    log_popularity: Array  # per item
    log_share: Array  # per category
    members: NDArray[np.integer]  # the items of each category, category by category
    ends: NDArray[np.integer]  # per category: one past its last member
    chances: Array  # per member: cumulative within its category c, from c to c + 1

    def __init__(self, seed: int, items: int, categories: int, categories_per_item: int) -> None:
        rng = random_stream(seed, 0)
        share = 1 / np.arange(3, categories + 3)
        item_categories = rng.choice(categories, (items, categories_per_item), p=share / share.sum())
        item_categories[rng.permutation(items)[:categories], 0] = np.arange(categories)  # no category stays empty
        chance = rng.random(items)
        count = 1 + (chance > 0.5).astype(int) + (chance > 0.85)
        item_categories = np.where(
            np.arange(categories_per_item) < count[:, None], item_categories, item_categories[:, :1]
        )
        self.item_categories = item_categories
        self.is_distinct = np.ones_like(item_categories, bool)
        for k in range(1, categories_per_item):
            self.is_distinct[:, k] = (item_categories[:, :k] != item_categories[:, k : k + 1]).all(axis=1)
        self.items, self.categories = items, categories
        self.log_popularity = -0.8 * np.log(rng.permutation(items) + 10.0)
        self.log_share = np.log(share)

        item, place = np.nonzero(self.is_distinct)
        order = np.argsort(item_categories[item, place], kind="stable")
        self.members = item[order]
        category = item_categories[item, place][order]
        self.ends = np.searchsorted(category, np.arange(categories), side="right")
        # as categories do not overlap, one search finds an item of any category
        weight = np.exp(self.log_popularity[self.members])
        cumulative = np.cumsum(weight)
        previous = np.concatenate([[0.0], cumulative[self.ends[:-1] - 1]])
        total = cumulative[self.ends - 1] - previous
        self.chances = category + (cumulative - previous[category]) / total[category]

    def items_by_category(self) -> Iterator[NDArray[np.integer]]:
        """The items of every category."""
        yield from np.split(self.members, self.ends[:-1])


class UserBlock:
    """A block of users: their device, the items they judged and the grades they gave, 0 to 5.

    ``judged`` has a row per user, sorted by item, with gaps where ``is_judged`` is false.
    """

    block: int
    count: int  # of users
    device: NDArray[np.integer]  # per user
    judged: NDArray[np.integer]  # (users, places)
    is_judged: BoolArray  # (users, places)
    grade: NDArray[np.integer]  # (users, places)

    def __init__(self, seed: int, block: int, count: int, catalogue: Catalogue, judgments: int) -> None:
        rng = random_stream(seed, 1, block)
        self.block, self.count = block, count
        max_judged = judgments + judgments // 2
        shape = (BLOCK, max_judged)
        taste = rng.standard_normal((BLOCK, catalogue.categories))
        self.device = rng.choice(3, BLOCK, p=(0.4, 0.35, 0.25))[:count]

        # Users come across what they like, some of it by chance, and mostly popular items.
        cumulative = np.cumsum(np.exp(1.2 * taste + catalogue.log_share), axis=1)
        thresholds = rng.random((*shape, 1)) * cumulative[:, None, -1:]
        category = (cumulative[:, None, :-1] <= thresholds).sum(axis=2)
        random_category = rng.integers(catalogue.categories, size=shape)
        category = np.where(rng.random(shape) < 0.3, random_category, category)
        item = catalogue.members[np.searchsorted(catalogue.chances, category + rng.random(shape), side="right")]
        judged_count = rng.integers(max(1, judgments - judgments // 2), max_judged + 1, size=(BLOCK, 1))
        item = np.sort(np.where(np.arange(max_judged) < judged_count, item, catalogue.items), axis=1)
        self.is_judged = (item < catalogue.items)[:count]
        self.is_judged[:, 1:] &= (item[:, 1:] != item[:, :-1])[:count]
        self.judged = np.where(self.is_judged, item[:count], 0)

        item_categories = catalogue.item_categories[self.judged]
        match = taste[np.arange(count)[:, None, None], item_categories].mean(axis=2)
        leniency = 0.5 * rng.standard_normal((BLOCK, 1))[:count]  # some like most of what they see, a few nothing
        appeal = match + leniency + 0.7 * rng.standard_normal(shape)[:count]
        self.grade = np.where(self.is_judged, np.searchsorted(_GRADE_THRESHOLDS, appeal), 0)
        # Started but not finished: a few of the judged items, the latest first.
        self._by_recency = np.argsort(np.where(self.is_judged, rng.random(shape)[:count], 2.0), axis=1)
        self._started = np.minimum(rng.integers(2, 9, size=BLOCK)[:count], self.is_judged.sum(axis=1))

    def continue_watching(self) -> tuple[NDArray[np.integer], BoolArray]:
        """Each user's row of items to continue, and which of its cells hold an item."""
        items = np.take_along_axis(self.judged, self._by_recency, axis=1)
        return items, np.arange(items.shape[1]) < self._started[:, None]


class PageGenerator:
    """The pages of a system: its best categories from the top row down, its best items of each from the left.

    An item's score is the sum described in :class:`SampleSystem`. A user's opinion is known of judged items only, so
    the scores of other items are popularity and noise: orders of those are drawn in advance, several for each category,
    and only the items that a user judged are scored for that user and inserted.
    """

    rows: int
    cols: int

    def __init__(self, seed: int, name: str, catalogue: Catalogue, rows: int, cols: int, max_judged: int) -> None:
        self._seed, self._stream_key, self._system = seed, 2 + list(SYSTEMS).index(name), SYSTEMS[name]
        self._catalogue, self.rows, self.cols = catalogue, min(rows, catalogue.categories), cols
        rng = random_stream(seed, self._stream_key)
        depth = cols + max_judged  # fills the row even if all that the user judged is taken out
        self._items = np.full((catalogue.categories, _SHELVES, depth), -1, np.int32)
        self._scores = np.full(self._items.shape, _EXCLUDED, np.float32)
        for category, members in enumerate(catalogue.items_by_category()):
            noise = rng.standard_normal((_SHELVES, len(members)), dtype=np.float32)
            scores = noise + (self._system.popularity * catalogue.log_popularity[members]).astype(np.float32)
            best = np.argsort(-scores, axis=1)[:, :depth]
            self._items[category, :, : best.shape[1]] = members[best]
            self._scores[category, :, : best.shape[1]] = np.take_along_axis(scores, best, axis=1)

    def draw(self, users: UserBlock, page: int) -> tuple[NDArray[np.integer], NDArray[np.integer]]:
        """Items (users, rows, cols), -1 where the category has no more, and the category of each row (users, rows)."""
        rng = random_stream(self._seed, self._stream_key, users.block, page)
        categories = np.argsort(-self._category_scores(users, rng), axis=1)[:, : self.rows]
        shelf = rng.integers(_SHELVES, size=(BLOCK, self.rows))[: users.count]
        items, scores = self._items[categories, shelf], self._scores[categories, shelf]
        scores[_judged_by_user(users, items)] = _EXCLUDED

        judged_scores = self._judged_scores(users, rng)
        judged_categories = self._catalogue.item_categories[users.judged]
        in_row = (judged_categories[:, None] == categories[:, :, None, None]).any(axis=3) & users.is_judged[:, None]
        scores = np.concatenate([np.where(in_row, judged_scores[:, None], _EXCLUDED), scores], axis=2)
        judged = np.broadcast_to(users.judged[:, None], in_row.shape).astype(np.int32)
        items = np.concatenate([judged, items], axis=2)
        best = np.argsort(-scores, axis=2)[:, :, : self.cols]
        cells = np.take_along_axis(items, best, axis=2)
        cells[np.take_along_axis(scores, best, axis=2) == _EXCLUDED] = -1
        return cells, categories

    def block_stream(self, block: int) -> np.random.Generator:
        """Random numbers for what happens to the pages of a block after they are drawn."""
        return random_stream(self._seed, self._stream_key, block)

    def _category_scores(self, users: UserBlock, rng: np.random.Generator) -> Array:
        """The score of a category grows with the gain of all that the user judged in it."""
        count, catalogue = users.count * self._catalogue.categories, self._catalogue
        index = np.arange(users.count)[:, None, None] * catalogue.categories + catalogue.item_categories[users.judged]
        gain = np.where(users.is_judged, 2.0**users.grade - 1, 0.0)[:, :, None] * catalogue.is_distinct[users.judged]
        total = np.bincount(index.ravel(), gain.ravel(), count).reshape(users.count, -1)
        noise = rng.standard_normal((BLOCK, catalogue.categories))[: users.count]
        return self._system.knowledge * np.log2(1 + total) / 3 + self._system.popularity * catalogue.log_share + noise

    def _judged_scores(self, users: UserBlock, rng: np.random.Generator) -> NDArray[np.float32]:
        noise = rng.standard_normal((BLOCK, users.judged.shape[1]))[: users.count]
        popularity = self._system.popularity * self._catalogue.log_popularity[users.judged]
        opinion = self._system.knowledge * (users.grade - 1) / 2
        scores: NDArray[np.float32] = (opinion + popularity + noise).astype(np.float32)
        return scores


def _judged_by_user(users: UserBlock, items: NDArray[np.integer]) -> BoolArray:
    """Which of the items (users, rows, places) their user judged; one judged item at a time, to save memory."""
    is_judged = np.zeros(items.shape, bool)
    for judged in np.where(users.is_judged, users.judged, -2).astype(items.dtype).T:
        is_judged |= items == judged[:, None, None]
    return is_judged
