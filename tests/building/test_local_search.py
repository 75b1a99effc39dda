"""Local search and the bound on orders of carousels, against all orders of tiny random instances."""

import itertools
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.random import Generator, default_rng

from carouseval.building.candidate_carousels import CandidateCarousels, CurrentPage
from carouseval.building.local_search import improve_order
from carouseval.building.order_search import PagePrefix, UpperBound, greedy_prefixes


@pytest.mark.parametrize("lacking", [0.0, 0.3, 0.8])
@pytest.mark.parametrize("falling", [True, False])
@pytest.mark.parametrize("seed", range(8))
def test_local_search_ends_where_no_change_helps(seed: int, falling: bool, lacking: float) -> None:
    """Each swap, move and replacement, scored in full: none is better, and the page is no worse than the first one."""
    rng = default_rng(seed)
    weights = np.sort(rng.random((4, 3)), axis=None)[::-1].reshape(4, 3) if falling else rng.random((4, 3))
    carousels = random_carousels(rng, weights, lacking)
    first = PagePrefix.empty(carousels).extended(carousels, *rng.permutation(6)[:3].tolist())
    steps: list[tuple[int, int]] = []
    for page in (greedy_prefixes(carousels, 3)[-1], first):
        found = improve_order(carousels, page, lambda *step: steps.append(step))
        assert steps[-1] == (60, 60)
        assert found.score >= page.score
        assert found.score == pytest.approx(plain_score(carousels, found.order))
        assert sorted(set(found.order)) == sorted(found.order)
        for order in changes(found.order, 6):
            assert plain_score(carousels, order) <= found.score * (1 + 1e-9)
        best = max(plain_score(carousels, order) for order in itertools.permutations(range(6), 3))
        upper_bound = UpperBound(carousels, 3, greedy_prefixes(carousels, 3), found.score)
        assert best <= upper_bound.value * (1 + 1e-12)
        top = PagePrefix.empty(carousels).extended(carousels, found.order[0])
        best = max(plain_score(carousels, (found.order[0], *rest)) for rest in rests(found.order[0]))
        assert best <= upper_bound.of(top) * (1 + 1e-12)


def rests(first: int) -> list[tuple[int, ...]]:
    return list(itertools.permutations(set(range(6)) - {first}, 2))


def changes(order: tuple[int, ...], count: int) -> set[tuple[int, ...]]:
    """All orders that are one swap, move or replacement (with or without a move) away."""
    near = set()
    for i, j in itertools.combinations(range(len(order)), 2):
        swapped = list(order)
        swapped[i], swapped[j] = order[j], order[i]
        near.add(tuple(swapped))
    for i, at in itertools.product(range(len(order)), repeat=2):
        rest = order[:i] + order[i + 1 :]
        near |= {(*rest[:at], new, *rest[at:]) for new in range(count) if new not in rest}
    return near


def random_carousels(rng: Generator, weights: Any, lacking: float) -> CandidateCarousels:
    """Six carousels of up to three items for four users, whose items appear in several of them."""
    users, judged, cols = 4, 8, weights.shape[1]
    available = rng.random((6, users)) >= lacking
    lines = [
        (k, user * judged + item, col)
        for k, user in zip(*np.nonzero(available), strict=True)
        for col, item in enumerate(rng.integers(judged, size=cols))
    ] or [(0, 0, 0)]
    hits = np.array(sorted(lines))
    starts = np.flatnonzero(np.any(np.diff(hits[:, :2], axis=0, prepend=-1) != 0, axis=1))
    nothing = np.zeros(users, np.int64)
    empty = np.empty(0, np.int64)
    return CandidateCarousels(
        metric="2DCG",
        names=list(range(6)),
        users=pl.Series(range(users)),
        cells=pl.DataFrame(),
        weights=weights,
        page=CurrentPage(empty, empty, empty, nothing, nothing),
        available=available,
        hit_carousel=hits[:, 0],
        hit_judgment=hits[:, 1],
        hit_col=hits[:, 2],
        pair_start=starts,
        judgment_user=np.repeat(np.arange(users), judged),
        normalized_gain=rng.random(users * judged) ** 3,
        counts={},
        config={},
    )


def plain_score(carousels: CandidateCarousels, order: tuple[int, ...]) -> float:
    """The score of an order, hit by hit."""
    best: dict[int, float] = {}
    for k, judgment, col in zip(carousels.hit_carousel, carousels.hit_judgment, carousels.hit_col, strict=True):
        if k in order:
            above = order[: order.index(k)]
            row = sum(bool(carousels.available[other, carousels.judgment_user[judgment]]) for other in above)
            value = float(carousels.normalized_gain[judgment] * carousels.weights[row, col])
            best[judgment] = max(best.get(judgment, 0.0), value)
    return sum(best.values())
