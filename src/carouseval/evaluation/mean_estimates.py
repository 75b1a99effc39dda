"""Means over users, their standard errors and intervals.

Intervals are studentised. Scores and differences of few users may be skewed, which shifts Student's t; Hall's
transformation ("On the removal of skewness by transformation", 1992) takes the skewness out, but trusts an estimate of
it that outliers spoil. Each end of an interval is therefore the outer one of the two: near the nominal coverage for
symmetric, heavy-tailed and skewed values alike (docs/statistics.md). Nothing is drawn at random.
"""

import math
from dataclasses import dataclass

from carouseval.metrics.grid import Array
from carouseval.validation import require_float

CI = 0.95
_CONSTANT = 1e-12  # an error of this share of the mean is rounding
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

    @classmethod
    def of_moments(cls, mean: float, variance: float, third: float, df: float, scale: float = 1.0) -> "MeanEstimate":
        """From the variance and the third moment of the mean, all on a scale; NaN where the variance is not known."""
        if math.isnan(variance):
            return cls(mean * scale, math.nan, math.nan)
        variance = max(variance, 0.0)
        error = math.sqrt(variance)
        varies = error > _CONSTANT * abs(mean)  # by more than rounding, whose skewness means nothing
        return cls(mean * scale, error * scale, df, third / variance**1.5 if varies else 0.0)

    @property
    def is_constant(self) -> bool:
        """Whether values vary by no more than rounding."""
        return self.error <= _CONSTANT * abs(self.mean)

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
        if self.is_constant:
            return 1.0 if self.mean == 0 else 2.0**-self.df
        return float(2 * stdtr(self.df, -abs(self.mean) / self.error))


def mean_of(values: Array, weights: Array | None = None) -> float:
    """The mean, exactly rounded so that the order of users does not matter; NaN where there are none."""
    if not len(values) or (weights is not None and not weights.any()):
        return math.nan
    if weights is None:
        return math.fsum(values.tolist()) / len(values)
    return math.fsum((values * weights).tolist()) / math.fsum(weights.tolist())


@dataclass(frozen=True)
class ShareFactors:
    """What makes estimates of moments of a mean unbiased, from the shares p that users have of the total weight.

    If the values of users vary alike, ``second * sum(p^2 (x - mean)^2)`` is on average the variance of the mean,
    ``third * sum(p^3 (x - mean)^3)`` its third moment, and ``df`` are the degrees of freedom of the former by
    Satterthwaite's rule (Bell and McCaffrey, 2002). Without weights these are n / (n - 1), n^2 / ((n - 1) (n - 2)) and
    n - 1.
    """

    second: float
    third: float
    df: float

    @classmethod
    def of_users(cls, n: int) -> "ShareFactors":
        """Of at least two users of the same weight; two users have no skewness."""
        return cls(n / (n - 1), n**2 / ((n - 1) * (n - 2)) if n > 2 else 0.0, n - 1.0)

    @classmethod
    def of_powers(cls, p2: float, p3: float, p4: float, p5: float) -> "ShareFactors":
        """From the sums of powers of shares."""
        # of the quadratic form sum(p^2 (x - mean)^2) in x, whose matrix is M' diag(p^2) M with M = I - 1p'
        trace = p2 - 2 * p3 + p2**2
        cubic = p3 - 3 * p4 + 3 * p5 - p3**2
        diagonal = p4 * (1 + 2 * p2) - 4 * p5
        rest = p2**4 + 2 * (p2 * p4 + p3**2) - 4 * p2**2 * p3
        third = p3 / cubic if cubic > 1e-12 * p3 else 0.0
        return cls(p2 / trace, third, trace**2 / (diagonal + rest))


def t_quantile(probability: float, df: float) -> float:
    """A quantile of Student's t."""
    from scipy.special import stdtrit

    return float(stdtrit(df, probability))


def _hall(quantile: float, skewness: float) -> float:
    """The quantile of the studentised mean whose transform by Hall's cubic is this one."""
    if abs(skewness) < 1e-6:
        return quantile
    return 3 / skewness * (math.cbrt(1 + skewness * (quantile - skewness / 6)) - 1)
