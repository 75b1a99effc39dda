"""How many users it takes to see a difference of a given size."""

import math
from collections.abc import Callable

from carouseval.errors import ParameterError
from carouseval.messages import setting
from carouseval.validation import require_float, require_int

POWER = 0.8
MOST_USERS = 10**12
_FAR = 1000.0  # standard errors


def users_needed(
    effect: float, deviation: float = 1.0, *, power: float = POWER, ci: float = 0.95, comparisons: int = 1
) -> int:
    """Return how many users a comparison needs to find a true difference significant.

    Parameters
    ----------
    effect : float
        The difference between two systems that should be found, above 0, in units of the metric. With the default
        ``deviation`` it is a standardised effect: the difference over the standard deviation of users' differences.
    deviation : float, default 1.0
        The standard deviation of users' paired differences, at least 0. A comparison of fewer users gives an estimate:
        ``difference / effect`` in :attr:`Comparison.pairs`; :meth:`Comparison.plan` uses it.
    power : float, default 0.8
        The probability with which the difference should be found, above 0 and below 1.
    ci : float, default 0.95
        The confidence level of the comparison: p-values are significant below ``1 - ci``.
    comparisons : int, default 1
        The number of comparisons that p-values are corrected for, at least 1.

    Returns
    -------
    int
        The smallest number of users, at least 2, with which the paired t-test at level ``(1 - ci) / comparisons`` has
        this power.

    Examples
    --------
    >>> import carouseval as cv
    >>> cv.users_needed(0.005, deviation=0.1)
    3142
    >>> cv.users_needed(0.2)
    199
    """
    effect = require_float("effect", effect, above=0)
    deviation = require_float("deviation", deviation, at_least=0)
    alpha = (1 - require_float("ci", ci, above=0, below=1)) / require_int("comparisons", comparisons, 1)
    power = require_float("power", power, above=0, below=1)
    ratio = effect / deviation if deviation > 0 else math.inf
    users = smallest_number(lambda users: ratio * math.sqrt(users) >= noncentrality(users - 1, alpha, power))
    if users is None:
        raise ParameterError(
            f"{setting('effect')}: a difference of {effect:g} takes more than {MOST_USERS:,} users if users' "
            f"differences have a standard deviation of {deviation:g}; choose a larger one."
        )
    return users


def smallest_number(is_enough: Callable[[int], bool]) -> int | None:
    """The smallest number of users, at least 2, that is enough; None if there is none. It is sought by doubling."""
    low, high = 1, 2
    while not is_enough(high):
        low, high = high, 2 * high
        if high > MOST_USERS:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


def noncentrality(df: float, alpha: float, power: float) -> float:
    """How many standard errors a true mean is away from 0 if the two-sided t-test at ``alpha`` finds it so often."""
    from scipy.special import gammaincinv, nctdtrinc, stdtrit

    if math.isnan(df):
        return math.nan
    critical = float(stdtrit(df, 1 - alpha / 2))
    if critical > _FAR:  # nothing but the estimate of the error counts, which has a chi distribution
        return critical * math.sqrt(2 * float(gammaincinv(df / 2, power)) / df)
    return float(nctdtrinc(df, 1 - power, critical))
