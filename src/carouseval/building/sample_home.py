"""The world of synthetic home pages: a billboard, Continue watching, a Top 10, Because you watched, and genres.

A *slot* is a row that a user's page may show. The catalogue is small, so arrays are dense: which items each slot has
for each user of a block, and their scores.
"""

import numpy as np

from carouseval.building.sample_model import BLOCK, BoolArray, Catalogue, UserBlock, random_stream
from carouseval.metrics.grid import Array, Grid, IntArray

GRIDS = {
    "tv": Grid(8, 12, page_size=(1, *[5] * 7)),
    "phone": Grid(6, 10, page_size=(1, *[3] * 5)),
}
_ROWS, _COLS = np.array([grid.shape for grid in GRIDS.values()]).T

ITEMS, GENRES, ANCHORS = 240, 12, 2  # an anchor is an item that a user watched and that gives a row its name
BILLBOARD, CONTINUE, TOP, BECAUSE = 0, 1, 2, 3  # slots; BECAUSE is the first of several
GENRE = BECAUSE + ANCHORS  # the first slot of a genre
SLOTS = GENRE + GENRES
CAPACITIES = {BILLBOARD: 1, TOP: 10} | dict.fromkeys(range(BECAUSE, GENRE), 8)  # others: as wide as the screen

STREAM = 100  # the first key of the random streams of home pages
ABSENT = -np.inf  # the score of what cannot be shown
_JUDGMENTS = 24  # per user, about
_FEATURED, _TOP, _SIMILAR = 12, 14, 10  # items for the billboard, in the Top 10 of a week, similar to an anchor
_LIKED = 4  # the least grade of an anchor
_NEWCOMERS = 0.15  # the share of users with short pages, without Continue watching and Because you watched


class HomeCatalogue(Catalogue):
    """Items with popularity and genres, and which of them the other rows may show."""

    shared: BoolArray  # (slots, items): what rows may show to everyone
    similar: IntArray  # (items, similar items)
    titles: IntArray  # per item: the number of its title

    def __init__(self, seed: int) -> None:
        super().__init__(seed, ITEMS, GENRES, categories_per_item=3)
        rng = random_stream(seed, STREAM)
        self.shared = np.zeros((SLOTS, ITEMS), bool)
        self.shared[BILLBOARD, rng.choice(ITEMS, _FEATURED, replace=False)] = True
        self.shared[TOP, np.argsort(-self.log_popularity)[:_TOP]] = True
        for genre, members in enumerate(self.items_by_category()):
            self.shared[GENRE + genre, members] = True
        genres = self.shared[GENRE:].astype(int)
        likeness = genres.T @ genres + 0.5 * rng.standard_normal((ITEMS, ITEMS))
        np.fill_diagonal(likeness, ABSENT)
        self.similar = np.argsort(-likeness, axis=1)[:, :_SIMILAR]
        self.titles = rng.permutation(ITEMS)


class HomeUsers(UserBlock):
    """A block of users: what they judged, and what their slots may show."""

    screen: IntArray  # per user: the number of the grid
    grades: Array  # (users, items); 0 where the user did not judge
    recency: Array  # (users, items): of what the user began to watch, the latest first
    anchors: IntArray  # (users, anchors); -1: none
    categories: IntArray  # (users, slots): the slot, or SLOTS + its anchor
    members: BoolArray  # (users, slots, items)
    sizes: IntArray  # (users, slots): how many items a row can hold
    height: IntArray  # per user: the rows of a page

    def __init__(self, seed: int, block: int, count: int, catalogue: HomeCatalogue) -> None:
        super().__init__(seed, block, count, catalogue, _JUDGMENTS)
        rng = random_stream(seed, STREAM, 0, block)
        self.screen = (self.device == 1).astype(np.int64)
        rows, cols = _ROWS[self.screen], _COLS[self.screen]
        is_newcomer = rng.random(BLOCK)[:count] < _NEWCOMERS
        self.height = np.where(is_newcomer, 3, rows - 2) + rng.integers(3, size=BLOCK)[:count]

        user, place = np.nonzero(self.is_judged)
        self.grades = np.zeros((count, ITEMS))
        self.grades[user, self.judged[user, place]] = self.grade[user, place]
        items, is_begun = self.continue_watching()
        user, place = np.nonzero(is_begun & ~is_newcomer[:, None])
        self.recency = np.full((count, ITEMS), ABSENT)
        self.recency[user, items[user, place]] = -place

        # Users know a row by the most popular of what they liked, so that several may have the same.
        is_liked = (self.grades >= _LIKED) & ~is_newcomer[:, None]
        popularity = np.where(is_liked, catalogue.log_popularity, ABSENT)
        self.anchors = np.argsort(-popularity, axis=1)[:, :ANCHORS]
        wanted = np.arange(ANCHORS) < rng.integers(ANCHORS + 1, size=(BLOCK, 1))[:count]
        self.anchors[~wanted | ~np.take_along_axis(is_liked, self.anchors, axis=1)] = -1

        self.categories = np.tile(np.arange(SLOTS), (count, 1))
        self.categories[:, BECAUSE:GENRE] = SLOTS + self.anchors
        self.members = np.repeat(catalogue.shared[None], count, axis=0)
        self.members[:, CONTINUE] = self.recency > ABSENT
        user, place = np.nonzero(self.anchors >= 0)
        self.members[user[:, None], BECAUSE + place[:, None], catalogue.similar[self.anchors[user, place]]] = True
        capacity = np.array([CAPACITIES.get(slot, ITEMS) for slot in range(SLOTS)])
        self.sizes = np.minimum(self.members.sum(axis=2), np.minimum(capacity, cols[:, None]))
