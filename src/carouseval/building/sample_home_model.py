"""The model behind synthetic home pages: a billboard, Continue watching, a Top 10, Because you watched, and genres.

A *slot* is a row that a user's page may show. The catalogue is small, so arrays are dense: which items each slot has
for each user of a block, and their scores. Systems know users to a degree, and one shows every user the ideal page.
"""

import numpy as np

from carouseval.building.sample_model import BLOCK, BoolArray, Catalogue, SampleSystem, UserBlock, random_stream
from carouseval.evaluation.plan import ScoringPlan
from carouseval.evaluation.scoring.ideal_problems import IdealProblems, ideal_cells
from carouseval.evaluation.settings import Settings
from carouseval.metrics.discounts import RowPage
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

_STREAM = 100  # the first key of the random streams of home pages
ABSENT = -np.inf  # the score of what cannot be shown
_JUDGMENTS = 24  # per user, about
_FEATURED, _TOP, _SIMILAR = 12, 14, 10  # items for the billboard, in the Top 10 of a week, similar to an anchor
_LIKED = 4  # the least grade of an anchor
_NEWCOMERS = 0.15  # the share of users with short pages, without Continue watching and Because you watched

PERFECT = "perfect"
# Best first. Perfect shows the ideal page; its scores only fill the cells that gain nothing.
HOME_SYSTEMS = {
    PERFECT: SampleSystem(knowledge=0.6, popularity=0.5),
    "new": SampleSystem(knowledge=1.2, popularity=0.5),
    "prod": SampleSystem(knowledge=0.6, popularity=0.5),
    "random": SampleSystem(knowledge=0, popularity=0),
}

_MISSING = 0.06  # the share of users for whom a system has no page
_PROMINENCE = {CONTINUE: 3.0, TOP: 2.0} | dict.fromkeys(range(TOP + 1, GENRE), 1.0)  # slots usually near the top


class HomeCatalogue(Catalogue):
    """Items with popularity and genres, and which of them the other rows may show."""

    shared: BoolArray  # (slots, items): what rows may show to everyone
    similar: IntArray  # (items, similar items)
    titles: IntArray  # per item: the number of its title

    def __init__(self, seed: int) -> None:
        super().__init__(seed, ITEMS, GENRES, categories_per_item=3)
        rng = random_stream(seed, _STREAM)
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
        rng = random_stream(seed, _STREAM, 0, block)
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
        has_anchor = np.arange(ANCHORS) < rng.integers(ANCHORS + 1, size=(BLOCK, 1))[:count]
        self.anchors[~has_anchor | ~np.take_along_axis(is_liked, self.anchors, axis=1)] = -1

        self.categories = np.tile(np.arange(SLOTS), (count, 1))
        self.categories[:, BECAUSE:GENRE] = SLOTS + self.anchors
        self.members = np.repeat(catalogue.shared[None], count, axis=0)
        self.members[:, CONTINUE] = self.recency > ABSENT
        user, place = np.nonzero(self.anchors >= 0)
        self.members[user[:, None], BECAUSE + place[:, None], catalogue.similar[self.anchors[user, place]]] = True
        capacity = np.array([CAPACITIES.get(slot, ITEMS) for slot in range(SLOTS)])
        self.sizes = np.minimum(self.members.sum(axis=2), np.minimum(capacity, cols[:, None]))


class HomePages:
    """The pages of a system: the billboard, then its best slots from the top down, its best items from the left."""

    def __init__(self, seed: int, name: str, catalogue: HomeCatalogue) -> None:
        self._seed, self._stream_key = seed, 1 + list(HOME_SYSTEMS).index(name)
        self._is_perfect, self._system, self._catalogue = name == PERFECT, HOME_SYSTEMS[name], catalogue

    def draw(self, users: HomeUsers) -> tuple[IntArray, IntArray]:
        """Items (users, rows, cols), -1 where a cell is empty, and the slot of each row (users, rows)."""
        rng = random_stream(self._seed, _STREAM, self._stream_key, users.block)
        rows, cols = np.max([grid.shape for grid in GRIDS.values()], axis=0)
        cells, slots = np.full((users.count, rows, cols), -1), np.full((users.count, rows), -1)
        slots[:, 0] = BILLBOARD
        if self._is_perfect:
            _place_ideals(users, cells, slots)
        has_page = rng.random(BLOCK)[: users.count] >= (0 if self._is_perfect else _MISSING)
        item_scores, slot_scores = self._item_scores(users, rng), self._slot_scores(users, rng)
        shares = 0.5 + 0.5 * rng.random((BLOCK, SLOTS))[: users.count]
        shares[:, TOP] = 1  # other rows differ in length
        lengths = np.ceil(users.sizes * shares).astype(int)
        slots = _filled(slots, slot_scores, users.height)
        user, row = np.nonzero((slots >= 0) & has_page[:, None])
        slot = slots[user, row]
        cells[user, row] = _filled(cells[user, row], item_scores[user, slot], lengths[user, slot])
        return cells, slots

    def _item_scores(self, users: HomeUsers, rng: np.random.Generator) -> Array:
        """Scores (users, slots, items); Continue watching is ordered by time and the Top 10 by popularity."""
        noise = rng.standard_normal((2, BLOCK, len(self._catalogue.log_popularity)))[:, : users.count]
        popularity = self._catalogue.log_popularity
        opinion = self._system.knowledge * users.grades / 2
        scores = np.repeat((opinion + self._system.popularity * popularity + noise[0])[:, None], SLOTS, axis=1)
        scores[:, CONTINUE] = users.recency
        scores[:, TOP] = popularity + 0.1 * noise[1]
        return np.where(users.members, scores, ABSENT)

    def _slot_scores(self, users: HomeUsers, rng: np.random.Generator) -> Array:
        """Scores (users, slots) grow with the gain of all that the user judged in the slot."""
        gain = np.einsum("ui,uki->uk", 2**users.grades - 1, users.members)
        prominence = np.array([_PROMINENCE.get(slot, 0.0) for slot in range(SLOTS)])
        noise = rng.standard_normal((BLOCK, SLOTS))[: users.count]
        scores = self._system.knowledge * np.log2(1 + gain) / 3 + self._system.popularity * prominence + noise
        return np.where(users.sizes > 0, scores, ABSENT)


def _filled(places: IntArray, scores: Array, lengths: IntArray) -> IntArray:
    """Places (lines, width) with the empty ones filled by the best of the other candidates (lines, candidates).

    Lines are filled up to their lengths, or to their last candidate if it is beyond.
    """
    line, place = np.nonzero(places >= 0)
    scores = scores.copy()
    scores[line, places[line, place]] = ABSENT
    order = np.argsort(-scores, axis=1)
    position = np.arange(1, places.shape[1] + 1)
    lengths = np.maximum(lengths, np.where(places >= 0, position, 0).max(axis=1))
    is_empty = (places < 0) & (position <= lengths[:, None])
    rank = np.cumsum(is_empty, axis=1) - 1
    return np.where(is_empty, np.take_along_axis(order, rank, axis=1), places)


def _place_ideals(users: HomeUsers, cells: IntArray, slots: IntArray) -> None:
    """Place the relevant items of ideal pages, by N2DCG_cat with its usual discount, and the slots that show them."""
    plan = ScoringPlan.of(Settings())
    for screen, grid in enumerate(GRIDS.values()):
        numbers = np.flatnonzero(users.screen == screen)
        problems, weights = _ideal_problems(users, numbers, grid), RowPage().weights(grid)
        ideal = ideal_cells(problems, problems.solve(weights, 0.0, plan.work_limit, plan.threads), weights)
        user = numbers[ideal.problem]
        cells[user, ideal.row, ideal.col] = ideal.judgment
        slots[user, ideal.row] = ideal.category


def _ideal_problems(users: HomeUsers, numbers: IntArray, grid: Grid) -> IdealProblems:
    """The relevant items of some users, by their numbers, in each of their slots; the billboard stays on top."""
    members, sizes = users.members[numbers], users.sizes[numbers]
    user, item = np.nonzero((users.grades[numbers] > 0) & members.any(axis=1))
    line, slot = np.nonzero(members[user, :, item])
    return IdealProblems(
        gain=2 ** users.grades[numbers][user, item] - 1,
        judgment=item,
        item_offsets=np.searchsorted(user, np.arange(len(numbers) + 1)),
        memberships=slot.astype(np.int32),
        membership_offsets=np.searchsorted(line, np.arange(len(user) + 1)),
        slots=sizes.ravel().astype(np.int32),
        pinned=np.where(np.arange(sizes.size) % SLOTS == BILLBOARD, 0, -1).astype(np.int32),
        category=np.tile(np.arange(SLOTS, dtype=np.uint32), len(numbers)),
        category_offsets=np.arange(len(numbers) + 1) * SLOTS,
        open=np.minimum((sizes > 0).sum(axis=1), grid.rows).astype(np.int32),
        strays=np.zeros(len(numbers), np.int32),
    )
