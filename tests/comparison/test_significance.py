"""Tests of differences: against enumeration, SciPy, published examples; the same bits in any order, on any threads."""

import itertools
import math
import warnings
from functools import partial
from typing import Any, get_args

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import carouseval as cv
from carouseval import _native
from carouseval.comparison.significance import CORRECTIONS, adjusted_p_values, p_values
from carouseval.comparison.tests import NamedTest
from carouseval.comparison.tests.contract import RandomDraws
from carouseval.comparison.tests.counted_draws import user_hashes
from carouseval.comparison.tests.permutation import Permutation
from carouseval.metrics.grid import Array

M = 9_999
TESTS = get_args(NamedTest)


def users(count: int) -> pl.Series:
    return pl.Series([f"user-{at}" for at in range(count)], dtype=pl.String)


def table(count: int, pairs: int = 3, seed: int = 0, effect: float = 0.0) -> Array:
    return np.random.default_rng(seed).normal(effect, 1, (count, pairs))


def sign_flip(differences: Array, ids: pl.Series, *draws: Any) -> Array:
    """The permutation test of differences however small, which are no ties."""
    return Permutation().p_values(differences, ids, RandomDraws(*draws))


def all_signs(differences: Array) -> float:
    """The exact p-value: every pattern of signs, the observed one among them."""
    signs = np.array(list(itertools.product([-1.0, 1.0], repeat=len(differences))))
    sums = np.abs(signs @ differences)
    return float((sums >= abs(differences.sum()) - 1e-9).mean())


def text_signs(ids: list[str], permutations: int, seed: int) -> Any:
    """The signs as the docstrings define them, in plain whole numbers."""
    most, golden = 2**64 - 1, 0x9E3779B97F4A7C15

    def mixed(z: int) -> int:
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & most
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB & most
        return z ^ (z >> 31)

    lines = []
    for text in ids:
        value = 0xCBF29CE484222325
        for byte in text.encode():
            value = (value ^ byte) * 0x100000001B3 & most
        stream = mixed((mixed(seed + golden & most) + value) & most)
        words = [mixed((stream + w * golden) & most) for w in range(permutations // 64 + 1)]
        lines.append([1 if words[p // 64] >> (p % 64) & 1 else -1 for p in range(permutations)])
    return np.array(lines, dtype=object)


@pytest.mark.parametrize("count", [2, 3, 7, 8, 9, 12])
@pytest.mark.parametrize("effect", [0.0, 0.4])
def test_enumeration(count: int, effect: float) -> None:
    """Every pattern of signs, within five standard errors of the draws."""
    differences = table(count, 5, count, effect)
    for found, column in zip(sign_flip(differences, users(count), M), differences.T, strict=True):
        exact = all_signs(column)
        assert abs(found - exact) <= 5 * math.sqrt(exact * (1 - exact) / M) + 1 / (M + 1)


@given(
    st.lists(st.lists(st.integers(-50, 50), min_size=2, max_size=2), min_size=2, max_size=20),
    st.integers(1, 200),
    st.integers(0, 2**64 - 1),
    st.sampled_from([1.0, 1 / 3, 1e-300, 1e300, 0.1]),
)
def test_fixed_point_against_whole_numbers(values: list[list[int]], permutations: int, seed: int, unit: float) -> None:
    """The definition in whole numbers of any size: neither rounding nor the unit of measure changes a p-value."""
    ids = [f"ü{at}" for at in range(len(values))]
    signs = text_signs(ids, permutations, seed)
    whole = np.array(values, dtype=object)
    far = abs(signs.T @ whole) >= abs(whole.sum(axis=0))
    expected = [(int(b) + 1) / (permutations + 1) for b in far.sum(axis=0)]
    found = sign_flip(np.array(values) * unit, pl.Series(ids), permutations, seed)
    assert found.tolist() == expected


def test_ties_of_decimals() -> None:
    """0.1 + 0.2 - 0.3 is 0 to people, so every sum is as far from it; binary sums alone would say otherwise."""
    assert sign_flip(np.array([[0.1], [0.2], [-0.3]]), users(3), M).tolist() == [1.0]
    values = np.array([0.1, 0.2, 0.3, 0.4, -0.2])
    found = sign_flip(values[:, None], users(5), M)[0]
    exact = all_signs(np.rint(values * 10))
    assert abs(found - exact) <= 5 * math.sqrt(exact * (1 - exact) / M)


def test_extreme_sizes() -> None:
    """One difference far larger than all others, at both ends of what a float holds."""
    for largest in (1e308, 5e-324):
        differences = np.full((9, 1), largest)
        assert sign_flip(differences, users(9), M)[0] == pytest.approx(2 / 2**9, abs=0.004)


def test_uniform_under_the_null() -> None:
    """No effect: p-values spread evenly."""
    found = [sign_flip(table(12, 1, seed), users(12), 999, seed)[0] for seed in range(400)]
    assert stats.kstest(found, "uniform").pvalue > 0.01


def test_uniform_over_pairs() -> None:
    """The same for many pairs under the same signs."""
    found = sign_flip(table(300, 400, 5), users(300), 999)
    assert stats.kstest(found, "uniform").pvalue > 0.01


def test_signs_of_users_are_unrelated() -> None:
    """Neighbouring ids, permutations and seeds agree on half of their signs."""
    ids = [str(at) for at in range(40)]
    both = [text_signs(ids, 2_000, seed).astype(float) for seed in (0, 1)]
    error = 1 / math.sqrt(2_000)
    together = np.corrcoef(np.concatenate(both))
    assert np.abs(together - np.eye(80)).max() < 5 * error
    assert abs((both[0][:, 1:] * both[0][:, :-1]).mean()) < 5 * error / math.sqrt(40)


@pytest.mark.parametrize("test", TESTS)
def test_power_grows(test: Any) -> None:
    strengths = [0.0, 0.1, 0.2, 0.4]
    shares = []
    for effect in strengths:
        p = p_values(test, table(60, 100, 3, effect), users(60), 499)
        shares.append(float((p < 0.05).mean()))
    assert shares == sorted(shares)
    assert shares[0] < 0.13
    assert shares[-1] > 0.75


@pytest.mark.parametrize("count", [5, 64, 1001])
def test_threads_order_and_batches(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    differences, ids = table(count, 6, 1), users(count)
    expected = sign_flip(differences, ids, 5_000, 3, 1)
    for threads in (2, 3, 7):
        assert sign_flip(differences, ids, 5_000, 3, threads).tolist() == expected.tolist()
    monkeypatch.setenv("CAROUSEVAL_THREADS", "2")
    assert sign_flip(differences, ids, 5_000, 3).tolist() == expected.tolist()
    order = np.random.default_rng(0).permutation(count)
    assert sign_flip(differences[order], ids.gather(order), 5_000, 3).tolist() == expected.tolist()
    alone = [sign_flip(differences[:, [k]], ids, 5_000, 3)[0] for k in range(6)]
    assert alone == expected.tolist()
    twice = sign_flip(np.repeat(differences, 2, axis=1), ids, 5_000, 3)
    assert twice.tolist() == np.repeat(expected, 2).tolist()
    assert sign_flip(-differences, ids, 5_000, 3).tolist() == expected.tolist()
    assert sign_flip(differences, ids, 5_000, 4).tolist() != expected.tolist()


def test_instruction_sets_give_the_same_bits() -> None:
    before = _native.instruction_set()
    found = []
    try:
        for name in (_native.InstructionSet.BASELINE, before):
            _native.use_instruction_set(name)
            found.append(sign_flip(table(100, 9, 2), users(100), 2_000).tolist())
    finally:
        _native.use_instruction_set(before)
    assert found[0] == found[1]


@pytest.mark.parametrize("test", TESTS)
def test_order_does_not_matter(test: Any) -> None:
    differences, ids = table(90, 2, 8, 0.1), users(90)
    order = np.random.default_rng(1).permutation(90)
    expected = p_values(test, differences, ids, 500, seed=2)
    assert p_values(test, differences[order], ids.gather(order), 500, seed=2).tolist() == expected.tolist()


def test_hashes() -> None:
    """Vectors published with FNV; integers hash as their text."""
    known = {"": 0xCBF29CE484222325, "a": 0xAF63DC4C8601EC8C, "foobar": 0x85944171F73967E8}
    assert user_hashes(pl.Series(list(known))).tolist() == list(known.values())
    numbers = pl.Series([0, -17, 2**40])
    assert user_hashes(numbers).tolist() == user_hashes(pl.Series(["0", "-17", "1099511627776"])).tolist()
    assert sign_flip(table(3), numbers).tolist() == sign_flip(table(3), numbers.cast(pl.String)).tolist()


def test_against_scipy() -> None:
    differences = table(40, 4, 9, 0.2)
    differences[:9, 1] = 0.0
    differences[:, 2] = np.rint(differences[:, 2] * 2)
    by_t, by_ranks = (p_values(test, differences, users(40)) for test in ("t", "wilcoxon"))
    assert by_t == pytest.approx([stats.ttest_rel(column, 0 * column).pvalue for column in differences.T])
    assert by_ranks == pytest.approx([stats.wilcoxon(column).pvalue for column in differences.T])
    ours = sign_flip(differences, users(40), M)
    for found, column in zip(ours, differences.T, strict=True):
        theirs = stats.permutation_test(
            (column, 0 * column),
            lambda x, y, axis: (x - y).sum(axis=axis),
            permutation_type="samples",
            vectorized=True,
            n_resamples=M,
            random_state=np.random.default_rng(0),  # rng from SciPy 1.15 on
        ).pvalue
        assert found == pytest.approx(theirs, abs=5 * math.sqrt(2 * theirs * (1 - theirs) / M) + 0.001)


def draws_by_hand(ids: list[str], resamples: int, seed: int) -> Any:
    """How often each user is drawn, (users, resamples), as the docstrings define it: 16 bits against Poisson(1)."""
    signs = text_signs(ids, 16 * resamples, seed)
    bits = (signs.astype(np.int64).reshape(len(ids), resamples, 16) > 0) @ (1 << np.arange(16))
    bounds = np.rint(stats.poisson(1).cdf(np.arange(8)) * 2**16)
    return (bits[:, :, None] >= bounds).sum(axis=2)


@pytest.mark.parametrize("count", [2, 3, 12, 60])
def test_bootstrap_by_hand(count: int) -> None:
    """The symmetric bootstrap-t from its definition, in floats; no t statistic is near the one observed."""
    differences = table(count, 2, count, 0.2)
    times = draws_by_hand(users(count).to_list(), 199, 5)
    reached = np.zeros(2)
    for column, x in enumerate(differences.T):
        observed = abs(x.mean()) / (x.std(ddof=1) / math.sqrt(count))
        for drawn in times.T:
            again = np.repeat(x, drawn)
            constant = len(again) < 2 or len(set(again)) == 1
            t = math.inf if constant else abs(again.mean() - x.mean()) / (again.std(ddof=1) / math.sqrt(len(again)))
            reached[column] += t >= observed
    assert p_values("bootstrap", differences, users(count), 199, 5) == pytest.approx((reached + 1) / 200)


def test_bootstrap_does_not_reject_with_two_users() -> None:
    """A difference that both users share was once p = 0.0002."""
    differences = np.array([[0.1, 5.0], [0.11, 5.0]])
    assert (p_values("bootstrap", differences, users(2), M) > 0.5).all()


def test_sums_of_resamples_merge() -> None:
    """Sums over parts of the users add up to the sums over all, to the bit: on any machine, in any order."""
    rng = np.random.default_rng(0)
    values = np.rint(rng.normal(0, 2**30, (3_000, 3)))
    hashes = user_hashes(users(3_000))
    whole = _native.resampled_sums(values, hashes, 1_001, 9, 2)
    part = rng.integers(0, 7, 3_000)
    parts = [_native.resampled_sums(values[part == k], hashes[part == k], 1_001, 9, 1) for k in range(7)]
    assert (np.sum(parts, axis=0) == whole).all()
    order = rng.permutation(3_000)
    assert (_native.resampled_sums(values[order], hashes[order], 1_001, 9, 2) == whole).all()
    ones = _native.resampled_sums(np.ones((3_000, 1)), hashes, 1_001, 9, 2)
    assert abs(ones.mean() - 3_000) < 5 * math.sqrt(3_000 / 1_001)
    assert ones.var() == pytest.approx(3_000, rel=5 * math.sqrt(2 / 1_001))


def test_draws_of_users_are_unrelated() -> None:
    """Neighbouring users and resamples, and users of similar names, share nothing."""
    hashes = user_hashes(users(200))
    times = _native.resampled_sums(np.eye(200), hashes, 4_000, 0, 2)
    correlation = np.asarray(np.corrcoef(times.T)) - np.eye(200)
    assert np.abs(correlation).max() < 6 / math.sqrt(4_000)
    again = np.corrcoef(times[:-1].ravel(), times[1:].ravel())[0, 1]
    assert abs(again) < 5 / math.sqrt(times.size)


def test_bootstrap_of_many_users() -> None:
    differences = table(30_000, 1, 4, 0.01)
    p = p_values("bootstrap", differences, users(30_000), 2_000)[0]
    assert p == pytest.approx(p_values("t", differences, users(30_000))[0], abs=0.05)


def _constant(value: Any, differences: Array) -> Any:
    return value


def test_a_function() -> None:
    differences = table(30)
    assert p_values(lambda d: float(stats.ttest_1samp(d, 0).pvalue), differences, users(30)).tolist() == pytest.approx(
        p_values("t", differences, users(30)).tolist()
    )
    wrong: Any
    for wrong in (1.5, -0.1, "small", None):
        with pytest.raises(cv.ParameterError, match=r"the function must return a p-value from 0 to 1 or NaN, found"):
            p_values(partial(_constant, wrong), differences, users(30))


@pytest.mark.parametrize("test", [*TESTS, lambda d: 0.5])
def test_degenerate(test: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nothing = p_values(test, np.array([[0.0, 1e-17, 1.0], [0.0, -1e-13, 1.0], [0.0, 0.0, 1.0]]), users(3), 99)
        assert nothing[:2].tolist() == [1.0, 1.0]
        assert 0 <= nothing[2] <= 1
        assert np.isnan(p_values(test, np.ones((1, 2)), users(1), 99)).all()
        assert np.isnan(p_values(test, np.ones((0, 2)), users(0), 99)).all()
        assert p_values(test, np.ones((5, 0)), users(5), 99).shape == (0,)


def test_refusals() -> None:
    good = table(4)
    holed = np.where(good == good[1, 2], np.nan, good)
    refused: list[tuple[str, Any, Any, dict[str, Any]]] = [
        (r"differences must be an array \(users, pairs\), found an array of shape \(4,\)", good[:, 0], users(4), {}),
        (r"differences must be finite, found nan at \[1, 2\]", holed, users(4), {}),
        (r"users must have one id for each of the 4 lines of differences, found 3", good, users(3), {}),
        (r"users must be unique, found 'a' more than once", good, pl.Series(["a", "b", "c", "a"]), {}),
        (r"integers or strings without nulls, found String with 1 nulls", good, pl.Series(["a", "b", None, "c"]), {}),
        (r"integers or strings without nulls, found Float64", good, pl.Series([1.0, 2.0, 3.0, 4.0]), {}),
        (r"permutations must be an integer of at least 1, found 0", good, users(4), {"permutations": 0}),
        (r"seed must be an integer of at least 0, found -1", good, users(4), {"seed": -1}),
        (r"seed must be below 2\^64", good, users(4), {"seed": 2**64}),
        (r"threads must be an integer of at least 1, found 0", good, users(4), {"threads": 0}),
    ]
    for message, differences, ids, options in refused:
        with pytest.raises(cv.ParameterError, match=message):
            p_values("permutation", differences, ids, **options)
    with pytest.raises(
        cv.ParameterError, match=r"test must be 'permutation', .*found 'wilcoxn'. Did you mean 'wilcoxon'\?"
    ):
        p_values("wilcoxn", good, users(4))  # type: ignore[arg-type]
    with pytest.raises(cv.ParameterError, match=r"correction must be 'holm', 'bh' or 'none', found 'holms'"):
        adjusted_p_values([0.1], "holms")
    with pytest.raises(cv.ParameterError, match=r"p must be a list of numbers from 0 to 1, found 1.5"):
        adjusted_p_values([0.1, 1.5])


def test_holm() -> None:
    """By hand: 4 x .005, 3 x .01, 2 x .03, then .04 raised to what came before."""
    assert adjusted_p_values([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert adjusted_p_values([0.4, 0.6, 0.01]) == pytest.approx([0.8, 0.8, 0.03])


def test_benjamini_hochberg() -> None:
    """The fifteen p-values of their paper (1995, section 3.2): at 5% four are rejected, by Holm three."""
    p = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344]
    p += [0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000]
    by_bh, by_holm = adjusted_p_values(p, "bh"), adjusted_p_values(p, "holm")
    assert (by_bh <= 0.05).tolist() == [True] * 4 + [False] * 11
    assert (by_holm <= 0.05).tolist() == [True] * 3 + [False] * 12
    assert by_bh == pytest.approx(stats.false_discovery_control(p))
    assert by_bh[:4] == pytest.approx([0.0015, 0.003, 0.0095, 0.035625])


@given(st.lists(st.one_of(st.floats(0, 1), st.just(math.nan)), max_size=12), st.sampled_from(CORRECTIONS))
def test_corrections_keep_order(p: list[float], method: str) -> None:
    adjusted = adjusted_p_values(p, method)
    known = [at for at, value in enumerate(p) if not math.isnan(value)]
    assert np.isnan(adjusted).tolist() == np.isnan(np.array(p, dtype=float)).tolist()
    assert adjusted[known].tolist() == adjusted_p_values([p[at] for at in known], method).tolist()
    ordered = sorted(known, key=lambda at: p[at])
    assert all(p[at] <= adjusted[at] * (1 + 1e-15) and adjusted[at] <= 1 for at in known)
    assert all(adjusted[a] <= adjusted[b] for a, b in itertools.pairwise(ordered))
