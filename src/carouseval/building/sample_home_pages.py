"""Synthetic home pages of systems that know users to a degree, and of one that shows every user the ideal page."""

import numpy as np

from carouseval.building.sample_home import (
    ABSENT,
    BILLBOARD,
    CONTINUE,
    GENRE,
    GRIDS,
    SLOTS,
    STREAM,
    TOP,
    HomeCatalogue,
    HomeUsers,
)
from carouseval.building.sample_model import BLOCK, SampleSystem, random_stream
from carouseval.evaluation.plan import ScoringPlan
from carouseval.evaluation.scoring.ideal_problems import IdealProblems, ideal_cells
from carouseval.evaluation.settings import Settings
from carouseval.metrics.discounts import RowPage
from carouseval.metrics.grid import Array, Grid, IntArray

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


class HomePages:
    """The pages of a system: the billboard, then its best slots from the top down, its best items from the left."""

    def __init__(self, seed: int, name: str, catalogue: HomeCatalogue) -> None:
        self._seed, self._stream_key = seed, 1 + list(HOME_SYSTEMS).index(name)
        self._is_perfect, self._system, self._catalogue = name == PERFECT, HOME_SYSTEMS[name], catalogue

    def draw(self, users: HomeUsers) -> tuple[IntArray, IntArray]:
        """Items (users, rows, cols), -1 where a cell is empty, and the slot of each row (users, rows)."""
        rng = random_stream(self._seed, STREAM, self._stream_key, users.block)
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
        here = np.flatnonzero(users.screen == screen)
        problems, weights = _ideal_problems(users, here, grid), RowPage().weights(grid)
        ideal = ideal_cells(problems, problems.solve(weights, 0.0, plan.work_limit, plan.threads), weights)
        user = here[ideal.problem]
        cells[user, ideal.row, ideal.col] = ideal.judgment
        slots[user, ideal.row] = ideal.category


def _ideal_problems(users: HomeUsers, here: IntArray, grid: Grid) -> IdealProblems:
    """The relevant items of some users, by their numbers, in each of their slots; the billboard stays on top."""
    members, sizes = users.members[here], users.sizes[here]
    user, item = np.nonzero((users.grades[here] > 0) & members.any(axis=1))
    line, slot = np.nonzero(members[user, :, item])
    return IdealProblems(
        gain=2 ** users.grades[here][user, item] - 1,
        judgment=item,
        item_offsets=np.searchsorted(user, np.arange(len(here) + 1)),
        memberships=slot.astype(np.int32),
        membership_offsets=np.searchsorted(line, np.arange(len(user) + 1)),
        slots=sizes.ravel().astype(np.int32),
        pinned=np.where(np.arange(sizes.size) % SLOTS == BILLBOARD, 0, -1).astype(np.int32),
        category=np.tile(np.arange(SLOTS, dtype=np.uint32), len(here)),
        category_offsets=np.arange(len(here) + 1) * SLOTS,
        open=np.minimum((sizes > 0).sum(axis=1), grid.rows).astype(np.int32),
        strays=np.zeros(len(here), np.int32),
    )
