"""Means over users, their standard errors and intervals.

Intervals are studentised. Scores and differences of few users may be skewed, which shifts Student's t; Hall's
transformation ("On the removal of skewness by transformation", 1992) takes the skewness out, but trusts an estimate of
it that outliers spoil. Each end of an interval is therefore the outer one of the two: near the nominal coverage for
symmetric, heavy-tailed and skewed values alike (docs/statistics.md). Nothing is drawn at random.
"""

import math
from dataclasses import dataclass

import numpy as np

from carouseval.metrics.grid import Array
from carouseval.metrics.validation import require_float

CI = 0.95
_CONSTANT = 1e-12  # an error of this share of the mean is rounding
_ONE_USER = 0.999  # of the weight: more is as if there were no other user
FEW_USERS = 10  # below: intervals rely on values that are nearly normal, and results are labelled


def few_users_text(values: str) -> str:
    """What to know of intervals of means over few users."""
    return f"Intervals of fewer than {FEW_USERS} users rely on {values} that are nearly normally distributed."


@dataclass(frozen=True)
class MeanEstimate:
    """A mean with its standard error, the degrees of freedom of that error, and the skewness of the estimate."""

    mean: float
    error: float
    df: float
    skewness: float = 0.0

    def interval(self, ci: float = CI) -> tuple[float, float]:
        """The interval of the mean; NaN where the error is not known."""
        ci = require_float("ci", ci, above=0, below=1)
        if math.isnan(self.error):
            return math.nan, math.nan
        lower, upper = self.ends(ci)
        return self.mean - upper * self.error, self.mean - lower * self.error

    def ends(self, ci: float) -> tuple[float, float]:
        """How many standard errors the estimate may lie below and above the true mean."""
        quantile = t_quantile((1 + ci) / 2, self.df)
        return (
            min(-quantile, _hall(-quantile, self.skewness)),
            max(quantile, _hall(quantile, self.skewness)),
        )

    @property
    def p_value(self) -> float:
        """The two-sided p-value of the t-test that the true mean is 0; NaN where the error is not known.

        Values that do not vary say no more than their signs do: p is that of flipped signs.
        """
        from scipy.special import stdtr

        if math.isnan(self.error):
            return math.nan
        if self.error <= _CONSTANT * abs(self.mean):
            return 1.0 if self.mean == 0 else 2.0**-self.df
        return float(2 * stdtr(self.df, -abs(self.mean) / self.error))


def mean_of(values: Array, weights: Array | None = None) -> float:
    """The mean, exactly rounded so that the order of users does not matter; NaN where there are none."""
    if not len(values) or (weights is not None and not weights.any()):
        return math.nan
    if weights is None:
        return math.fsum(values.tolist()) / len(values)
    return math.fsum((values * weights).tolist()) / math.fsum(weights.tolist())


def mean_estimate(values: Array, weights: Array | None = None) -> MeanEstimate:
    """The mean over users and its error; the error is NaN if the mean rests on one user.

    >>> estimate = mean_estimate(np.array([0.1, 0.3, 0.0, 0.2]))
    >>> round(estimate.mean, 3), round(estimate.error, 4), estimate.df
    (0.15, 0.0645, 3.0)
    """
    mean = mean_of(values, weights)
    weighted = np.ones(len(values), bool) if weights is None else weights > 0
    if rests_on_one_user(len(values) if weights is None else weights[weighted]) or math.isnan(mean):
        return MeanEstimate(mean, math.nan, math.nan)
    off = (values - mean)[weighted]
    scale = power_of_two(off)
    off = off / scale
    order = np.argsort(off, kind="stable") if weights is None else np.lexsort((weights[weighted], off))
    shares = UserShares.of(len(off) if weights is None else weights[weighted][order])
    off = off[order]  # the order of users has no effect on the last digits
    error = math.sqrt(shares.second * float((shares.squares * off**2).sum()))
    skewness = shares.third * float((shares.cubes * off**3).sum()) / error**3 if error > 0 else 0.0
    return MeanEstimate(mean, error * scale, shares.df, skewness)


def rests_on_one_user(weights: Array | int) -> bool:
    """Whether there are fewer than two users, or one has nearly all the weight: nothing is known of the error."""
    if isinstance(weights, int) or len(weights) < 2:
        return (weights if isinstance(weights, int) else len(weights)) < 2
    return has_nearly_all(float(weights.max()), float(weights.sum()))


def has_nearly_all(weight: float, total: float) -> bool:
    """Whether one weight is as if there were no other."""
    return weight > _ONE_USER * total


def power_of_two(*values: Array) -> float:
    """The largest absolute value, to the next power of two: dividing by it changes no digit."""
    largest = max((float(np.abs(array).max(initial=0.0)) for array in values), default=0.0)
    return math.ldexp(1.0, min(math.frexp(largest)[1], 1023)) if largest > 0 else 1.0


def mean_interval(values: Array, weights: Array | None = None, ci: float = CI) -> tuple[float, float]:
    """The interval of the mean over users; NaN if it rests on one user."""
    return mean_estimate(values, weights).interval(ci)


@dataclass(frozen=True)
class UserShares:
    """Every user's share p of the total weight, and what makes estimates of moments of the mean unbiased.

    If the values of users vary alike, ``second * sum(p^2 (x - mean)^2)`` is on average the variance of the mean,
    ``third * sum(p^3 (x - mean)^3)`` its third moment, and ``df`` are the degrees of freedom of the former by
    Satterthwaite's rule (Bell and McCaffrey, 2002). Without weights these are n / (n - 1), n^2 / ((n - 1) (n - 2)) and
    n - 1.
    """

    squares: Array
    cubes: Array
    second: float
    third: float
    df: float

    @classmethod
    def of(cls, weights: Array | int) -> "UserShares":
        """From weights above 0 of at least two users, or from the number of users."""
        if isinstance(weights, int):
            n, share = weights, np.full(1, 1 / weights)
            third = n**2 / ((n - 1) * (n - 2)) if n > 2 else 0.0  # two users have no skewness
            return cls(share**2, share**3, n / (n - 1), third, n - 1.0)
        share = np.asarray(weights / weights.sum())
        return cls(share**2, share**3, *share_factors(*(float((share**power).sum()) for power in (2, 3, 4, 5))))


def share_factors(p2: float, p3: float, p4: float, p5: float) -> tuple[float, float, float]:
    """``second``, ``third`` and ``df`` of :class:`UserShares`, from the sums of powers of shares."""
    # of the quadratic form sum(p^2 (x - mean)^2) in x, whose matrix is M' diag(p^2) M with M = I - 1p'
    trace = p2 - 2 * p3 + p2**2
    cubic = p3 - 3 * p4 + 3 * p5 - p3**2
    diagonal = p4 * (1 + 2 * p2) - 4 * p5
    rest = p2**4 + 2 * (p2 * p4 + p3**2) - 4 * p2**2 * p3
    return p2 / trace, p3 / cubic if cubic > 1e-12 * p3 else 0.0, trace**2 / (diagonal + rest)


def t_quantile(probability: float, df: float) -> float:
    """A quantile of Student's t."""
    from scipy.special import stdtrit

    return float(stdtrit(df, probability))


def _hall(quantile: float, skewness: float) -> float:
    """The quantile of the studentised mean whose transform by Hall's cubic is this one."""
    if abs(skewness) < 1e-6:
        return quantile
    return 3 / skewness * (math.cbrt(1 + skewness * (quantile - skewness / 6)) - 1)
