"""Local search and the bound on orders of carousels, against all orders of tiny random instances."""

import itertools

import numpy as np
import polars as pl
import pytest
from numpy.random import Generator, default_rng

from carouseval.building.candidate_carousels import CandidateCarousels, CurrentPage
from carouseval.building.order_bound import UpperBound
from carouseval.building.order_search import OrderSearch, PagePrefix, greedy_prefixes, improve_order
from carouseval.metrics.grid import Grid


@pytest.mark.parametrize("lacking", [0.0, 0.3, 0.8])
@pytest.mark.parametrize("falling", [True, False])
@pytest.mark.parametrize("seed", range(8))
def test_local_search_ends_where_no_change_helps(seed: int, falling: bool, lacking: float) -> None:
    """Each swap, move and replacement, scored in full: none is better, and the page is no worse than the first one."""
    rng = default_rng(seed)
    carousels = random_carousels(rng, falling, lacking)
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


@pytest.mark.parametrize("few", [0, 1, 6])  # users who lack more carousels are bounded in another way
@pytest.mark.parametrize("lacking", [0.0, 0.2, 0.4, 0.8])
@pytest.mark.parametrize("falling", [True, False])
def test_no_order_is_above_the_bound(falling: bool, lacking: float, few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("carouseval.building.order_bound._FEW", few)
    for seed in range(12):
        carousels = random_carousels(default_rng(seed), falling, lacking)
        scores = {order: plain_score(carousels, order) for order in itertools.permutations(range(6), 3)}
        prefixes = greedy_prefixes(carousels, 3)
        bound = UpperBound(carousels, 3, [prefix.reached for prefix in prefixes], prefixes[-1].score)
        assert max(scores.values()) <= bound.value * (1 + 1e-12)
        search = OrderSearch(carousels, prefixes[-1], bound)
        # cut short, unless the bound is a proof
        assert search.run(0) == (bound.value <= prefixes[-1].score * (1 + 1e-12))
        assert search.run(1_000)
        assert search.best.score == pytest.approx(max(scores.values()))
        for first in range(6):
            top = PagePrefix.empty(carousels).extended(carousels, first)
            best = max(score for order, score in scores.items() if order[0] == first)
            assert best <= bound.of(top.order, top.score) * (1 + 1e-12)


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


def random_carousels(rng: Generator, falling: bool, lacking: float) -> CandidateCarousels:
    """Six carousels of three items for four users; items are in several of them, and weights need not fall."""
    users, judged, cols = 4, 8, 3
    weights = rng.random((4, cols)) ** 2
    weights = -np.sort(-weights, axis=0) if falling else weights
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
        grid=Grid(*weights.shape),
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
