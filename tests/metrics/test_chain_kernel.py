"""Chains of browsing people against dense algebra, exact fractions, and first visits found another way."""

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from carouseval import _native

Array = NDArray[np.float64]
FINE = 2**30  # chances are whole numbers of so many parts, so that those of a state sum to exactly 1
RARELY = 1 / FINE


@dataclass(frozen=True)
class Chain:
    band: Array
    leave: Array
    start: Array
    lost: Array
    landing: Array
    cell: NDArray[np.int64]
    cells: int

    def steps(self) -> Array:
        """Between all states, the hub being the last."""
        states, width = self.band.shape
        steps = np.zeros((states + 1, states + 1))
        for s in range(states):
            for t in range(max(0, s - width // 2), min(states, s + width // 2 + 1)):
                steps[s, t] = self.band[s, width // 2 + t - s]
        steps[:-1, -1] = self.lost
        steps[-1, :-1] = self.landing
        return steps


def scan(*chains: Chain, threads: int = 1) -> tuple[Array, Array]:
    band, leave, start, lost, landing = (
        np.stack([getattr(chain, name) for chain in chains]) for name in ("band", "leave", "start", "lost", "landing")
    )
    return _native.scan_chains(band, leave, start, lost, landing, chains[0].cell, chains[0].cells, threads)


def chances(shares: Array) -> Array:
    """Whole parts, at least one where there is any share."""
    parts = np.maximum(np.floor(shares / max(shares.sum(), RARELY) * FINE), shares > 0)
    parts[np.argmax(parts)] += FINE - parts.sum()
    return np.asarray(parts / FINE, np.float64)


def random_chain(states: int, reach: int, hub: bool, leave: float, split: int = 1, seed: int = 0) -> Chain:
    """Steps of every length, 0 among them, some missing; ``split`` states show the same cell, some show none."""
    rng = np.random.default_rng([seed, states, reach, hub, split])
    rows = []
    for s in range(states):
        target = s + np.arange(-reach, reach + 1)
        shares = rng.random(target.size) * (rng.random(target.size) < 0.7) * (target >= 0) * (target < states)
        lost = hub * (s == 0 or rng.random() < 0.5) * rng.random()
        rows.append(chances(np.append(shares, [lost, leave * rng.uniform(0.5, 1.5)])))
    table = np.array(rows)
    start, landing = (chances(rng.random(states) ** 4) for _ in range(2))
    cells = -(-states // split)
    cell = rng.permutation(np.arange(states) % cells)
    cell[rng.random(states) < 0.2] = -1
    band = np.ascontiguousarray(table[:, :-2])
    return Chain(band, table[:, -1], start * 0.875, table[:, -2], landing, cell, cells + 1)


def visits_of(chain: Chain) -> Array:
    inverse = np.linalg.inv(np.eye(len(chain.leave) + 1) - chain.steps())
    return np.asarray((np.append(chain.start, 0) @ inverse)[:-1], np.float64)


def weights_of(chain: Chain) -> Array:
    """Whoever comes to a cell stays there; how many do?"""
    steps, start, weights = chain.steps(), np.append(chain.start, 0), np.zeros(chain.cells)
    for cell in range(chain.cells):
        inside = np.append(chain.cell == cell, False)
        moves = np.eye((~inside).sum()) - steps[~inside][:, ~inside]
        comes = np.linalg.solve(moves, steps[~inside][:, inside].sum(axis=1))
        weights[cell] = start[inside].sum() + start[~inside] @ comes
    return weights


def exact_solution(matrix: list[list[Fraction]], right: list[Fraction]) -> list[Fraction]:
    table = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for c in range(len(table)):
        pivot = next(r for r in range(c, len(table)) if table[r][c])
        table[c], table[pivot] = table[pivot], table[c]
        table[c] = [value / table[c][c] for value in table[c]]
        for r in range(len(table)):
            if r != c:
                table[r] = [value - table[r][c] * of for value, of in zip(table[r], table[c], strict=True)]
    return [row[-1] for row in table]


def exactly(chain: Chain) -> tuple[list[float], list[float]]:
    """Visits and weights in fractions."""
    n = len(chain.leave) + 1
    steps = [[Fraction(value) for value in row] for row in chain.steps()]
    start = [*map(Fraction, chain.start), Fraction(0)]
    moves = [[(s == t) - steps[s][t] for s in range(n)] for t in range(n)]
    weights = []
    for cell in range(chain.cells):
        inside = [s for s in range(n - 1) if chain.cell[s] == cell]
        outside = [s for s in range(n) if s not in inside]
        comes = exact_solution(
            [[moves[t][s] for t in outside] for s in outside],
            [sum((steps[s][t] for t in inside), Fraction(0)) for s in outside],
        )
        weights.append(sum(start[s] for s in inside) + sum(start[s] * x for s, x in zip(outside, comes, strict=True)))
    return [float(x) for x in exact_solution(moves, start)[:-1]], [float(x) for x in weights]


@pytest.mark.parametrize("hub", [False, True])
@pytest.mark.parametrize("split", [1, 2, 6])
@pytest.mark.parametrize("reach", [0, 1, 2, 3, 7, 8, 9, 12])
@pytest.mark.parametrize("states", [1, 2, 3, 7, 8, 9, 17, 33, 60])
def test_visits_and_weights_are_those_of_dense_algebra(states: int, reach: int, split: int, hub: bool) -> None:
    for leave in (1, 0.05):
        chain = random_chain(states, reach, hub, leave, split)
        (visits,), (weights,) = scan(chain)
        np.testing.assert_allclose(visits, visits_of(chain), rtol=1e-10, atol=1e-14)
        np.testing.assert_allclose(weights, weights_of(chain), rtol=1e-10, atol=1e-14)
        assert weights[-1] == 0
        assert (weights <= 1).all()


@pytest.mark.parametrize("hub", [False, True])
@pytest.mark.parametrize("split", [1, 2, 3])
@pytest.mark.parametrize("states", range(1, 9))
def test_people_who_hardly_ever_leave_cost_no_digits(states: int, split: int, hub: bool) -> None:
    chain = random_chain(states, 3, hub, RARELY, split)
    (visits,), (weights,) = scan(chain)
    for found, exact in zip((visits, weights), exactly(chain), strict=True):
        np.testing.assert_allclose(found, exact, rtol=1e-13)


@pytest.mark.parametrize("split", [1, 2, 3])
@pytest.mark.parametrize("seed", range(5))
def test_a_part_of_the_page_that_few_enter_and_nobody_leaves(seed: int, split: int) -> None:
    """Weights far from 1 although cells are seen a thousand million times."""
    outside, trap = random_chain(8, 3, False, 2, seed=seed), random_chain(5, 3, False, RARELY, split, seed)
    chain = Chain(
        np.concatenate([outside.band[:3], trap.band]),
        np.concatenate([outside.leave[:3], trap.leave]),
        np.eye(8)[0],
        np.zeros(8),
        np.zeros(8),
        np.concatenate([np.full(3, -1), trap.cell]),
        trap.cells,
    )
    (visits,), (weights,) = scan(chain)
    for found, exact in zip((visits, weights), exactly(chain), strict=True):
        np.testing.assert_allclose(found, exact, rtol=1e-13)
    assert visits.max() > 1e7
    assert 0 < weights.max() < 0.9


@pytest.mark.parametrize("reach", [1, 5, 12])
def test_people_who_only_go_on_see_a_state_once(reach: int) -> None:
    chain = random_chain(40, reach, False, 0.1)
    band = chain.band.copy()
    band[:, : reach + 1] = 0
    chain = replace(chain, band=band, leave=1 - band.sum(axis=1), cell=np.arange(40), cells=40)
    visits, weights = scan(chain)
    np.testing.assert_array_equal(weights, visits)
    np.testing.assert_allclose(weights[0], weights_of(chain), rtol=1e-12)


def test_neither_threads_nor_company_change_a_bit() -> None:
    several = [random_chain(60, 12, hub, leave, 2) for hub in (False, True) for leave in (1, 0.1, 1e-3, RARELY)] * 40
    several = [replace(chain, cell=several[0].cell) for chain in several]
    visits, weights = scan(*several)
    for found, same in zip(scan(*several, threads=2), (visits, weights), strict=True):
        np.testing.assert_array_equal(found, same)
    for k in range(8):
        alone, weight = scan(several[k])
        np.testing.assert_array_equal(alone[0], visits[k])
        np.testing.assert_array_equal(weight[0], weights[k])


def test_what_lies_outside_the_band_and_a_hub_nobody_meets_are_ignored() -> None:
    chain = random_chain(9, 4, False, 0.2)
    target = np.arange(9)[:, None] + np.arange(-4, 5)
    odd = replace(chain, band=np.where((target < 0) | (target > 8), 7.0, chain.band), landing=np.zeros(9))
    for found, same in zip(scan(odd), scan(chain), strict=True):
        np.testing.assert_array_equal(found, same)


def test_people_who_can_never_leave_are_found() -> None:
    chain = random_chain(9, 2, True, 0.2)
    band, leave, lost = chain.band.copy(), chain.leave.copy(), chain.lost.copy()
    band[6] = leave[6] = lost[6] = 0
    band[6, 2] = 1
    stuck = replace(chain, band=band, leave=leave, lost=lost)
    for threads in (1, 2):
        with pytest.raises(ValueError, match=r"^chain 1: state 6 can never be left$"):
            scan(chain, stuck, chain, stuck, threads=threads)
    with pytest.raises(ValueError, match=r"^chain 0: the hub can never be left$"):
        scan(replace(chain, lost=chain.lost + chain.leave, leave=np.zeros(9)))


def test_shapes_that_do_not_fit_are_refused() -> None:
    chain = random_chain(9, 2, True, 0.2)
    with pytest.raises(ValueError, match="as many columns below its diagonal as above"):
        scan(replace(chain, band=chain.band[:, :-1]))
    with pytest.raises(ValueError, match="every state wants a cell, or -1"):
        scan(replace(chain, cell=chain.cell[:-1]))
    short = np.ones(8)
    for wrong in (
        replace(chain, leave=short),
        replace(chain, start=short),
        replace(chain, lost=short),
        replace(chain, landing=short),
    ):
        with pytest.raises(ValueError, match="a value for every state of every chain"):
            scan(wrong)
