"""The paired-layout study, against a plain replay of the authors' draws and against exact arithmetic."""

import inspect
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

import carouseval as cv
from carouseval.attention import Examination, recgaze_counts
from carouseval.attention.examination import Share
from carouseval.cli.simulate import simulate as simulate_command
from carouseval.paper.draws import Draws, cumulative_probabilities
from carouseval.paper.simulation import simulate
from carouseval.paper.simulation_settings import Mode
from tests import oracles

TRUTH = recgaze_counts("amsterdam")


def plain_study(mode: str, trials: int) -> dict[str, Any]:
    """The definition, one trial at a time, in whole numbers for truth and fractions for thresholds."""
    rng = np.random.default_rng(42)
    weights = [cv.discounts.parse(symbol).weights(cv.RECGAZE) for symbol in ("d_a", "d_rpd")]
    out = []
    for _ in range(trials):
        grades = np.zeros((10, 15), dtype=int)
        for row in grades:
            relevant = min(max(rng.binomial(15, 0.15), 1), 14)
            row[:relevant] = rng.integers(1, 6, size=relevant) if mode == "graded" else 1
        layouts = []
        for _ in range(2):
            shown = grades[rng.permutation(10)]
            layouts.append(np.array([rng.permutation(row) for row in shown]))
        gains = [2**layout - 1 for layout in layouts]
        one, other = (int((g * TRUTH.counts).sum()) for g in gains)
        categories = [(15, [float(g) for g in row]) for row in gains[0]]
        ideal = oracles.assignment_category_ideal(categories, TRUTH.counts)
        signs = [np.sign(round(float((gains[0] * w).sum() - (gains[1] * w).sum()), 12)) for w in weights]
        if one != other and all(signs):
            out.append((Fraction(abs(one - other), int(ideal)), *(sign == np.sign(one - other) for sign in signs)))
    return {
        str(level): [
            len(kept := [pair for pair in out if pair[0] >= Fraction(level)]),
            sum(pair[1] for pair in kept),
            sum(pair[2] for pair in kept),
        ]
        for level in ("0", "0.01", "0.02", "0.05", "0.1")
    }


def test_no_discount_is_its_own_truth_by_default() -> None:
    """The truth was once d_rpd, which agreed with itself on every pair."""
    study = simulate(trials=300)
    assert study.truth == "amsterdam"
    assert study == simulate(truth=TRUTH, trials=300) == simulate(truth="amsterdam", trials=300)
    assert all(one.agreement.value < 1 for one in study.thresholds[0].comparisons)


def test_the_command_has_the_defaults_of_the_function() -> None:
    function, command = (inspect.signature(one).parameters for one in (simulate, simulate_command))
    shared = function.keys() & command.keys()
    assert {"discounts", "truth", "mode", "trials", "seed", "stream", "thresholds", "share", "categories"} <= shared
    for name in shared:
        ours = function[name].default
        theirs = getattr(command[name].default, "default", command[name].default)  # an option has the default inside
        assert (list(ours) if isinstance(ours, tuple) else ours) == theirs, name


@pytest.mark.parametrize("mode", ["binary", "graded"])
def test_the_papers_stream_against_a_plain_replay(mode: Mode) -> None:
    study = simulate(truth=TRUTH, mode=mode, trials=300, stream="paper")
    expected = plain_study(mode, 300)
    for row, (pairs, original, reformulated) in zip(study.thresholds, expected.values(), strict=True):
        assert row.pairs == pairs
        assert [one.agreement.count for one in row.comparisons] == [original, reformulated]


def test_counts_of_a_row_fit_together() -> None:
    study = simulate(["d_a", "d_rpd", "d_t"], TRUTH, "graded", 5000)
    for row in study.thresholds:
        first = row.comparisons[0]
        assert first.corrected.count == first.regressions.count == 0
        for one in row.comparisons:
            assert one.agreement.of == row.pairs
            wrong = row.pairs - one.agreement.count
            assert one.both_wrong.count + one.regressions.count == wrong
            assert one.agreement.count == first.agreement.count + one.corrected.count - one.regressions.count
    assert [row.pairs for row in study.thresholds] == sorted((row.pairs for row in study.thresholds), reverse=True)


@pytest.mark.parametrize("mode", ["binary", "graded"])
def test_both_streams_draw_from_the_same_study(mode: Mode) -> None:
    """Agreement in the fast stream lies within sampling error of the published one (z below 4, fixed seeds)."""
    fast = simulate(truth=TRUTH, mode=mode, trials=60_000, seed=7)
    published = {"binary": (0.829, 0.932), "graded": (0.849, 0.939)}[mode]
    for one, share in zip(fast.thresholds[0].comparisons, published, strict=True):
        error = np.sqrt(share * (1 - share) * (1 / 20_000 + 1 / fast.pairs))
        assert abs(one.agreement.value - share) < 4 * error + 0.0005  # published to three digits


def test_the_fast_draws_have_the_right_distribution() -> None:
    draws = Draws(True, 4, 6, 0.3)
    one, other = (np.concatenate(part) for part in zip(*draws.fast(1, 40_000, 2), strict=True))
    expected = stats.binom(6, 0.3).pmf(range(7))
    expected = np.array([0, expected[:2].sum(), *expected[2:5], expected[5:].sum(), 0])  # at least one, never all
    for stack in (one, other):
        relevant = (stack > 0).sum(axis=2).ravel()
        counts = np.bincount(relevant, minlength=7)
        assert stats.chisquare(counts[1:6], expected[1:6] * len(relevant)).pvalue > 1e-3
        cells = (stack > 0).sum(axis=0).ravel()  # every cell is as likely as any other
        assert stats.chisquare(cells).pvalue > 1e-3
        assert stats.chisquare(np.bincount(stack[stack > 0])[1:]).pvalue > 1e-3  # grades 1..5 alike
    for a, b in zip(one[:200], other[:200], strict=True):  # the same carousels, shuffled
        assert sorted(map(sorted, a.tolist())) == sorted(map(sorted, b.tolist()))
    same = (one == other).all(axis=(1, 2)).mean()
    assert same < 0.01
    assert abs(np.corrcoef(one[:, 0, 0], other[:, 0, 0])[0, 1]) < 0.05  # one layout says nothing of the other's cells


def test_cumulative_probabilities_are_the_binomial_distribution() -> None:
    np.testing.assert_allclose(
        cumulative_probabilities(15, 0.15) / 2.0**64, stats.binom(15, 0.15).cdf(range(16)), rtol=1e-12
    )


def test_results_depend_on_the_seed_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = simulate(truth=TRUTH, trials=5000, seed=3, threads=1)
    assert simulate(truth=TRUTH, trials=5000, seed=3, threads=4) == whole
    monkeypatch.setattr("carouseval.paper.draws._FAST_AT_ONCE", 700 * 150)
    assert simulate(truth=TRUTH, trials=5000, seed=3) == whole
    assert simulate(truth=TRUTH, trials=5000, seed=4) != whole
    paper = simulate(truth=TRUTH, trials=500, stream="paper")
    monkeypatch.setattr("carouseval.paper.draws._AT_ONCE", 77 * 150)
    assert simulate(truth=TRUTH, trials=500, stream="paper") == paper


def test_a_discount_as_truth_agrees_with_itself() -> None:
    study = simulate(["d_rpd", "d_a"], "d_rpd", trials=3000, grid=cv.Grid(6, 9))
    assert study.thresholds[0].comparisons[0].agreement.value == 1.0
    assert study.truth == str(cv.discounts.RowPage())
    assert study.thresholds[0].comparisons[1].agreement.value < 1.0


def test_exact_thresholds_on_a_tiny_screen() -> None:
    """Two cells, one relevant item each: |difference| / ideal is 0 or exactly 1/10 of whole numbers."""
    counts = Examination("tiny", [[10, 9], [10, 9]], 10)
    study = simulate(["d_t"], counts, trials=4000, thresholds=["0.05", "0.1"], seed=5)
    only_twentieth, tenth = study.thresholds
    assert only_twentieth.pairs > tenth.pairs > 0  # one of two, or both, items in the better column


def test_trials_of_any_seed_have_nothing_in_common() -> None:
    """Also of seed 0, and also neighbours: the first cells drawn are as good as independent."""
    for seed in (0, 1, 42):
        ((one, _),) = list(Draws(False, 2, 3, 0.5).fast(seed, 30_000, 1))
        first = one[:, 0, 0].astype(float)
        for lag in (1, 2, 3):
            assert abs(np.corrcoef(first[:-lag], first[lag:])[0, 1]) < 0.025


def test_a_table_brings_its_own_grid() -> None:
    table = cv.discounts.Empirical(np.arange(1.0, 13.0).reshape(3, 4), name="own")
    assert simulate(truth=table, trials=50).grid == cv.Grid(3, 4)


@pytest.mark.parametrize("categories", [2, 3, 5])
def test_fewer_and_more_categories_than_rows(categories: int) -> None:
    """Against the definition, on three rows: layouts show as many as fit, the ideal chooses among all."""
    counts = Examination("three", np.arange(12, 0, -1).reshape(3, 4), 20)
    study = simulate(["d_rpd"], counts, "graded", trials=300, categories=categories, thresholds=["0", "0.1"])
    shown, weights = min(3, categories), cv.discounts.RowPage().weights(cv.Grid(3, 4))
    pairs = agreed = clear = 0
    ((ones, others),) = list(Draws(True, categories, 4, 0.15).fast(42, 300, 1))
    for layouts in zip(ones, others, strict=True):
        gains = [2 ** layout.astype(int) - 1 for layout in layouts]
        truth = [int((g[:shown] * counts.counts[:shown]).sum()) for g in gains]
        score = [float((g[:shown] * weights[:shown]).sum()) for g in gains]
        pool = [(4, [float(g) for g in row]) for row in gains[0]]
        ideal = oracles.assignment_category_ideal(pool, counts.counts)
        if truth[0] != truth[1] and abs(score[0] - score[1]) > 1e-9:
            pairs += 1
            agreed += (truth[0] > truth[1]) == (score[0] > score[1])
            clear += Fraction(abs(truth[0] - truth[1]), int(ideal)) >= Fraction(1, 10)
    assert [row.pairs for row in study.thresholds] == [pairs, clear]
    assert study.thresholds[0].comparisons[0].agreement.count == agreed


def test_pairs_are_all_decided_pairs() -> None:
    study = simulate(truth=TRUTH, trials=2000, thresholds=("0.05", "0"))
    assert study.pairs == study.thresholds[1].pairs > study.thresholds[0].pairs
    assert simulate(truth=TRUTH, trials=2000, thresholds=()).pairs == study.pairs


def test_many_columns_and_extreme_shares() -> None:
    np.testing.assert_allclose(
        cumulative_probabilities(3000, 0.15) / 2.0**64, stats.binom(3000, 0.15).cdf(range(3001)), atol=1e-12
    )
    assert simulate(truth="d_rpd", trials=5, grid=cv.Grid(2, 3000)).trials == 5
    for share in (1e-9, 1.0):
        assert simulate(truth=TRUTH, trials=50, share=share).pairs > 0


def test_other_grids_and_progress() -> None:
    steps: list[tuple[int, int]] = []
    study = simulate(truth="d_a", trials=100, grid=cv.Grid(3, 40), progress=lambda done, of: steps.append((done, of)))
    assert steps == [(100, 100)]
    assert study.grid == cv.Grid(3, 40)
    assert study.to_dict()["thresholds"][0]["pairs"] == study.pairs


def test_wilson_intervals_against_scipy() -> None:
    for count, of in ((0, 10), (3, 17), (10, 10), (932, 1000)):
        low, high = Share(count, of).interval
        expected = stats.binomtest(count, of).proportion_ci(method="wilson")
        assert (low, high) == pytest.approx((expected.low, expected.high), abs=1e-12)
    assert np.isnan(Share(0, 0).value)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"mode": "ternary"}, "mode must be 'binary' or 'graded', found 'ternary'"),
        ({"stream": "papr"}, r"stream must be 'paper' or 'fast', found 'papr'\. Did you mean 'paper'"),
        ({"trials": 0}, "trials must be an integer of at least 1"),
        ({"seed": -1}, "seed must be an integer of at least 0"),
        ({"seed": 2**64}, r"seed must be below 2\^64"),
        ({"thresholds": ["1e999999999"]}, "thresholds must be decimals"),
        ({"discounts": []}, "at least one discount"),
        ({"discounts": ["d_x"]}, "no discount 'd_x'"),
        ({"thresholds": ["x"]}, "thresholds must be decimals from 0 to below 1"),
        ({"thresholds": ["1.5"]}, "thresholds must be decimals"),
        ({"share": 0}, "share must be a finite number above 0"),
        ({"grid": cv.Grid(3, 1)}, "at least 2 columns"),
        ({"truth": TRUTH, "grid": cv.Grid(20, 20)}, "too small for a 20x20 grid"),
        ({"truth": "amsterdm"}, r"truth: there is no group, file or discount 'amsterdm'\. Did you mean 'amsterdam'"),
        ({"categories": 0}, "categories must be an integer of at least 1"),
    ],
)
def test_nonsense_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(cv.CarousevalError, match=message):
        simulate(**{"trials": 10, **arguments})
