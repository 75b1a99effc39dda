"""What is reported of a pair: against SciPy, by hand, and by simulation."""

import math

import numpy as np
import pytest
from scipy import stats

import carouseval as cv
from carouseval.comparison.pair_sums import PairScores, PairStatistics, PairSums
from carouseval.comparison.power_analysis import noncentrality
from carouseval.metrics.grid import Array


def describe(differences: Array, baseline: Array, weights: Array | None = None, **options: float) -> PairStatistics:
    before = np.asarray(baseline, float)[:, None]
    return PairSums.of(PairScores(before, before + np.asarray(differences)[:, None], weights)).statistics(**options)


def test_by_hand() -> None:
    baseline = np.array([0.5, 0.4, 0.3, 0.2, 0.6])
    differences = np.array([0.1, 0.2, 1e-13, -0.1, 0.3])
    pair = describe(differences, baseline)
    error = stats.sem(differences)
    assert pair.difference == pytest.approx(0.1)
    assert pair.lift == pytest.approx(0.25)
    assert pair.effect == pytest.approx(0.1 / stats.tstd(differences))
    assert (pair.wins, pair.ties, pair.losses, pair.users) == (3, 1, 1, 5)
    assert (pair.error, pair.df) == pytest.approx((error, 4))
    assert (pair.run_error, pair.few_users) == (0.0, True)
    low, high = stats.t.interval(0.95, 4, loc=0.1, scale=error)
    assert pair.low <= low + 1e-12
    assert pair.high >= high - 1e-12
    order = [3, 1, 4, 0, 2]
    assert describe(differences[order], baseline[order]) == pair
    narrow = describe(differences, baseline, ci=0.5)
    assert pair.low < narrow.low < narrow.high < pair.high
    assert pair.lift_low < narrow.lift_low < 0.25 < narrow.lift_high < pair.lift_high


def test_symmetric_differences_have_student_s_interval() -> None:
    differences = np.array([-2.0, -1.0, 0.0, 0.0, 0.0, 1.0, 2.0]) + 0.3
    pair = describe(differences, np.ones(7), ci=0.9)
    assert (pair.low, pair.high) == pytest.approx(stats.t.interval(0.9, 6, loc=0.3, scale=stats.sem(differences)))


def test_little() -> None:
    alone = describe(np.array([0.5]), np.array([0.0]))
    assert (alone.difference, alone.wins, alone.users) == (0.5, 1, 1)
    unknown = (alone.lift, alone.effect, alone.low, alone.high, alone.error, alone.detectable, alone.lift_low)
    assert all(math.isnan(value) for value in unknown)
    same = describe(np.full(7, 0.1), np.ones(7))
    assert math.isnan(same.effect)
    assert (same.low, same.high) == pytest.approx((0.1, 0.1))
    assert describe(np.empty(0), np.empty(0)).users == 0
    with pytest.raises(cv.ParameterError, match=r"ci must be a finite number above 0 and below 1, found 95"):
        describe(np.zeros(2), np.zeros(2), ci=95)


@pytest.mark.parametrize("count", [3, 10, 100])
@pytest.mark.parametrize("alpha", [0.05, 0.01])
def test_the_detectable_difference_is_detected(count: int, alpha: float) -> None:
    """Four times in five, by the t-test at that level: 20,000 worlds, five standard errors."""
    rng = np.random.default_rng(count)
    detectable = noncentrality(count - 1, alpha, 0.8) / math.sqrt(count)  # of a standard deviation of 1
    t, p = stats.ttest_1samp(rng.normal(detectable, 1, (20_000, count)), 0, axis=1)
    assert (p < alpha).mean() == pytest.approx(0.8, abs=5 * math.sqrt(0.16 / 20_000))
    assert (p[t < 0] < alpha).sum() < 10  # on the right side
    values = rng.normal(0, 1, count)
    least = describe(values, np.ones(count), ci=1 - alpha).detectable
    assert least == pytest.approx(detectable * values.std(ddof=1))


def lifts(baseline: Array, system: Array, ci: float = 0.95) -> tuple[float, float]:
    return PairSums.of(PairScores(baseline[:, None], system[:, None])).means.lift_interval(ci)


def test_lift_by_fieller() -> None:
    """Fieller's closed form; values are mirrored about their means, so that nothing is skewed."""
    rng = np.random.default_rng(3)
    half = rng.normal([0.0, 0.0], [0.2, 0.25], (20, 2))
    baseline, system = (np.vstack([half, -half]) + np.array([0.8, 0.9])).T
    n, q = 40, stats.t.ppf(0.975, 39) ** 2
    (bb, bd), (_, dd) = np.cov(baseline, system - baseline) / n
    b, d = baseline.mean(), (system - baseline).mean()
    roots = np.roots([b**2 - q * bb, -2 * (b * d - q * bd), d**2 - q * dd])
    assert lifts(baseline, system) == pytest.approx(sorted(roots.real), rel=1e-9)


@pytest.mark.parametrize("seed", range(100))
def test_the_lift_holds_0_if_the_difference_does(seed: int) -> None:
    rng = np.random.default_rng(seed)
    users, runs = int(rng.integers(3, 20)), int(rng.integers(1, 4))
    baseline = rng.exponential(1, (users, runs))
    scores = PairSums.of(PairScores(baseline, baseline + rng.exponential(1, (users, runs)) - 0.8))
    for ci in (0.5, 0.8, 0.9, 0.95):
        pair = scores.statistics(ci=ci)
        if not math.isnan(pair.lift_low):
            assert (pair.low > 0, pair.high < 0) == (pair.lift_low > 0, pair.lift_high < 0)
            assert pair.lift_low < pair.lift < pair.lift_high


def test_a_baseline_near_0_has_no_lift() -> None:
    rng = np.random.default_rng(1)
    assert all(math.isnan(end) for end in lifts(rng.normal(0.1, 1, 20), rng.normal(0.5, 1, 20)))
    assert all(math.isnan(end) for end in lifts(-rng.random(20), rng.random(20)))


@pytest.mark.deep
@pytest.mark.parametrize("count", [10, 50])
def test_intervals_of_the_lift_cover(count: int) -> None:
    """2,000 worlds: scores like real ones, the system's correlated with the baseline's.

    With 10 users, one in twenty intervals has no end: the baseline, or the skewness, is too uncertain.
    """
    rng = np.random.default_rng(count)
    hits = []
    for _ in range(2_000):
        taste = rng.beta(2, 3, count)
        baseline, system = (np.clip(taste + rng.normal(shift, 0.15, count), 0, None) for shift in (0.1, 0.2))
        hits.append(lifts(baseline, system))
    low, high = np.array(hits).T
    taste = np.random.default_rng(0).beta(2, 3, 2_000_000)
    noise = np.random.default_rng(1).normal(0, 0.15, 2_000_000)
    truth = np.clip(taste + 0.2 + noise, 0, None).mean() / np.clip(taste + 0.1 + noise, 0, None).mean() - 1
    defined = ~np.isnan(low)
    assert (~defined).mean() <= {10: 0.08, 50: 0.002}[count]
    assert 0.93 <= ((low <= truth) & (truth <= high))[defined].mean() <= 0.975


def test_deviation_of_weighted_differences() -> None:
    """A user of weight 2 counts as two users do, up to the number of degrees of freedom."""
    values, weights = np.array([0.1, -0.2, 0.4]), np.array([1.0, 2.0, 1.0])
    pair = PairSums.of(PairScores(np.zeros((3, 1)), values[:, None], weights))
    assert pair.deviation == pytest.approx(np.std([0.1, -0.2, -0.2, 0.4]) * math.sqrt(3 / 2))
    assert math.isnan(PairSums.of(PairScores(np.zeros((3, 1)), values[:, None], np.zeros(3))).deviation)


@pytest.mark.parametrize("scale", [1e-300, 1e-110, 1e110, 1e300])
def test_scale_does_not_matter(scale: float) -> None:
    rng = np.random.default_rng(0)
    baseline, system = rng.random((20, 2)) + 1, rng.random((20, 2)) + 1.1
    one = PairSums.of(PairScores(baseline, system)).statistics()
    other = PairSums.of(PairScores(baseline * scale, system * scale)).statistics()
    for name in ("difference", "low", "high", "error", "run_error"):
        assert getattr(other, name) == pytest.approx(scale * getattr(one, name), rel=1e-9, abs=0)
    for name in ("df", "lift", "lift_low", "lift_high"):
        assert getattr(other, name) == pytest.approx(getattr(one, name), rel=1e-9)


@pytest.mark.parametrize("seed", [62, 417, 1491, 3019, 4206])
def test_worlds_that_once_hung_or_crashed(seed: int) -> None:
    """Runs that hardly vary gave fewer degrees of freedom than runs have, and searches that did not end."""
    rng = np.random.default_rng(seed)
    users, runs = int(rng.integers(3, 20)), int(rng.integers(1, 4))
    baseline = rng.exponential(1, (users, runs))
    pair = PairSums.of(PairScores(baseline, baseline + rng.exponential(1, (users, runs)) - 0.8)).statistics()
    assert pair.df >= 1
    rng = np.random.default_rng(seed)
    noise = PairSums.of(
        PairScores(0.5 + 0.1 * rng.normal(size=(10, 1)), 0.5 + 0.1 * rng.normal(size=(10, 2)))
    ).statistics()
    assert noise.df >= 1
    assert noise.detectable > 0
