"""The made-up world behind sample data, as arrays: a catalogue, users with tastes, and systems that know them a little.

Everything is drawn for whole blocks of users from a stream that belongs to the block, so a user's data depend on the
seed and on the user's number alone. A large catalogue is drawn once; pages from it cost no more than from a small one.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from carouseval.metrics.grid import Array

BLOCK = 1024  # users drawn together; changing it changes the data

Flags: TypeAlias = NDArray[np.bool_]

_SHELVES = 64  # ready-made orders of a category that users share; what users judged is placed for each of them
_NEVER = np.float32(-np.inf)  # the score of what cannot be shown
_GRADE_FROM = np.array([-0.2, 0.1, 0.5, 1.0, 1.6])  # the appeal from which an item is graded 1, 2, ... 5


@dataclass(frozen=True)
class SampleSystem:
    """A recommender that scores ``knowledge`` x what the user thinks + ``crowd`` x log popularity + noise."""

    knowledge: float
    crowd: float


# Best first; the gap between new and prod is the small one that experiments are run for.
SYSTEMS = {
    "oracle": SampleSystem(knowledge=8, crowd=0),
    "new": SampleSystem(knowledge=1, crowd=0.5),
    "prod": SampleSystem(knowledge=0.9, crowd=0.5),
    "popular": SampleSystem(knowledge=0, crowd=1.5),
    "random": SampleSystem(knowledge=0, crowd=0),
}


def stream(seed: int, *key: int) -> np.random.Generator:
    """The random numbers of one purpose."""
    return np.random.Generator(np.random.Philox(np.random.SeedSequence(seed, spawn_key=key)))


class Catalogue:
    """Items with their popularity and their categories; the first category is the largest, the last the smallest."""

    def __init__(self, seed: int, items: int, categories: int, most_categories: int) -> None:
        rng = stream(seed, 0)
        share = 1 / np.arange(3, categories + 3)
        homes = rng.choice(categories, (items, most_categories), p=share / share.sum())
        homes[rng.permutation(items)[:categories], 0] = np.arange(categories)  # no category stays empty
        chance = rng.random(items)
        count = 1 + (chance > 0.5).astype(int) + (chance > 0.85)
        homes = np.where(np.arange(most_categories) < count[:, None], homes, homes[:, :1])
        self.homes = homes  # the categories of each item; one that is repeated counts once
        self.own = np.ones_like(homes, bool)  # whether a home is the first of its name
        for k in range(1, most_categories):
            self.own[:, k] = (homes[:, :k] != homes[:, k : k + 1]).all(axis=1)
        self.items, self.categories = items, categories
        self.log_popularity = -0.8 * np.log(rng.permutation(items) + 10.0)
        self.log_share: Array = np.log(share)

        item, home = np.nonzero(self.own)
        order = np.argsort(homes[item, home], kind="stable")
        self.members, label = item[order], homes[item, home][order]  # memberships, category by category
        self.ends = np.searchsorted(label, np.arange(categories), side="right")
        # Chances within category c run from c to c + 1: one search finds an item of any category.
        weight = np.exp(self.log_popularity[self.members])
        up_to = np.cumsum(weight)
        before = np.concatenate([[0.0], up_to[self.ends[:-1] - 1]])
        self.chances = label + (up_to - before[label]) / (up_to[self.ends - 1] - before)[label]

    def each_category(self) -> Iterator[NDArray[np.integer]]:
        """The items of every category."""
        yield from np.split(self.members, self.ends[:-1])


class Users:
    """A block of users: their device, what they judged and the grades they gave, 0 to 5.

    ``judged`` has a line per user, in the order of items, with gaps where ``known`` is false.
    """

    def __init__(self, seed: int, block: int, users: int, catalogue: Catalogue, judgments: int) -> None:
        rng = stream(seed, 1, block)
        self.block, self.users = block, users
        most = judgments + judgments // 2
        shape = (BLOCK, most)
        taste = rng.standard_normal((BLOCK, catalogue.categories))
        self.device = rng.choice(3, BLOCK, p=(0.4, 0.35, 0.25))[:users]

        # People meet what they like, some of it by chance, and popular items most.
        liked = np.cumsum(np.exp(1.2 * taste + catalogue.log_share), axis=1)
        found = rng.random((*shape, 1)) * liked[:, None, -1:]
        category = (liked[:, None, :-1] <= found).sum(axis=2)
        by_chance = rng.integers(catalogue.categories, size=shape)
        category = np.where(rng.random(shape) < 0.3, by_chance, category)
        item = catalogue.members[np.searchsorted(catalogue.chances, category + rng.random(shape), side="right")]
        count = rng.integers(max(1, judgments - judgments // 2), most + 1, size=(BLOCK, 1))
        item = np.sort(np.where(np.arange(most) < count, item, catalogue.items), axis=1)
        self.known: Flags = (item < catalogue.items)[:users]
        self.known[:, 1:] &= (item[:, 1:] != item[:, :-1])[:users]
        self.judged: NDArray[np.integer] = np.where(self.known, item[:users], 0)

        homes = catalogue.homes[self.judged]
        fits = taste[np.arange(users)[:, None, None], homes].mean(axis=2)
        kind = 0.5 * rng.standard_normal((BLOCK, 1))[:users]  # some like most of what they see, a few nothing at all
        appeal = fits + kind + 0.7 * rng.standard_normal(shape)[:users]
        self.grade: NDArray[np.integer] = np.where(self.known, np.searchsorted(_GRADE_FROM, appeal), 0)
        # Begun but not finished: a few of the judged items, the latest first.
        self.latest: NDArray[np.integer] = np.argsort(np.where(self.known, rng.random(shape)[:users], 2.0), axis=1)
        self.begun: NDArray[np.integer] = np.minimum(rng.integers(2, 9, size=BLOCK)[:users], self.known.sum(axis=1))

    def continued(self) -> tuple[NDArray[np.integer], Flags]:
        """The row of items to go on with, and which of its cells hold one."""
        row = np.take_along_axis(self.judged, self.latest, axis=1)
        return row, np.arange(row.shape[1]) < self.begun[:, None]


class SamplePages:
    """The pages a system makes: the categories it believes in from the top, each led by its best items.

    An item's score is the sum that :class:`SampleSystem` says. A user's opinion is known of judged items only, so the
    others' scores are popularity and noise: their orders are drawn in advance, some for each category, and only what a
    user judged is scored anew and put in its place.
    """

    def __init__(self, seed: int, name: str, catalogue: Catalogue, rows: int, cols: int, judged: int) -> None:
        self.seed, self.number, self.system = seed, 2 + list(SYSTEMS).index(name), SYSTEMS[name]
        self.catalogue, self.rows, self.cols = catalogue, min(rows, catalogue.categories), cols
        rng = stream(seed, self.number)
        deep = cols + judged  # enough to fill the row even if all that the user judged is taken out
        self.items = np.full((catalogue.categories, _SHELVES, deep), -1, np.int32)
        self.scores = np.full(self.items.shape, _NEVER, np.float32)
        for category, members in enumerate(catalogue.each_category()):
            noise = rng.standard_normal((_SHELVES, len(members)), dtype=np.float32)
            scores = noise + (self.system.crowd * catalogue.log_popularity[members]).astype(np.float32)
            first = np.argsort(-scores, axis=1)[:, :deep]
            self.items[category, :, : first.shape[1]] = members[first]
            self.scores[category, :, : first.shape[1]] = np.take_along_axis(scores, first, axis=1)

    def draw(self, users: Users, page: int) -> tuple[NDArray[np.integer], NDArray[np.integer]]:
        """Items (users, rows, cols), -1 where the category has no more, and the category of each row (users, rows)."""
        rng = stream(self.seed, self.number, users.block, page)
        categories = np.argsort(-self._category_scores(users, rng), axis=1)[:, : self.rows]
        shelf = rng.integers(_SHELVES, size=(BLOCK, self.rows))[: users.users]
        items, scores = self.items[categories, shelf], self.scores[categories, shelf]
        scores[_judged_by(users, items)] = _NEVER

        own = self._judged_scores(users, rng)
        homes = self.catalogue.homes[users.judged]
        here = (homes[:, None] == categories[:, :, None, None]).any(axis=3) & users.known[:, None]
        scores = np.concatenate([np.where(here, own[:, None], _NEVER), scores], axis=2)
        judged = np.broadcast_to(users.judged[:, None], here.shape).astype(np.int32)
        items = np.concatenate([judged, items], axis=2)
        first = np.argsort(-scores, axis=2)[:, :, : self.cols]
        shown = np.take_along_axis(items, first, axis=2)
        shown[np.take_along_axis(scores, first, axis=2) == _NEVER] = -1
        return shown, categories

    def extras(self, block: int) -> np.random.Generator:
        """Random numbers for what befalls the pages of a block once they are made."""
        return stream(self.seed, self.number, block)

    def _category_scores(self, users: Users, rng: np.random.Generator) -> Array:
        """What a category is worth to a user grows with the gain of all that the user judged in it."""
        count, catalogue = users.users * self.catalogue.categories, self.catalogue
        place = np.arange(users.users)[:, None, None] * catalogue.categories + catalogue.homes[users.judged]
        gain = np.where(users.known, 2.0**users.grade - 1, 0.0)[:, :, None] * catalogue.own[users.judged]
        worth = np.bincount(place.ravel(), gain.ravel(), count).reshape(users.users, -1)
        noise = rng.standard_normal((BLOCK, catalogue.categories))[: users.users]
        return self.system.knowledge * np.log2(1 + worth) / 3 + self.system.crowd * catalogue.log_share + noise

    def _judged_scores(self, users: Users, rng: np.random.Generator) -> NDArray[np.float32]:
        noise = rng.standard_normal((BLOCK, users.judged.shape[1]))[: users.users]
        crowd = self.system.crowd * self.catalogue.log_popularity[users.judged]
        scores: NDArray[np.float32] = (self.system.knowledge * (users.grade - 1) / 2 + crowd + noise).astype(np.float32)
        return scores


def _judged_by(users: Users, items: NDArray[np.integer]) -> Flags:
    """Which of the items (users, rows, places) their user judged; slot by slot, so that no large table is needed."""
    found = np.zeros(items.shape, bool)
    for slot in np.where(users.known, users.judged, -2).astype(items.dtype).T:
        found |= items == slot[:, None, None]
    return found
