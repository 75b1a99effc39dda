"""How many users it takes to see a difference of a given size: in general, and judging by the users at hand."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from carouseval.comparison.crossed_effects import satterthwaite_df
from carouseval.comparison.result_columns import PLAN
from carouseval.comparison.tests import result_test
from carouseval.errors import ParameterError
from carouseval.evaluation.columns import Columns
from carouseval.evaluation.result_table import Present
from carouseval.messages import setting
from carouseval.results import Result, plain
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


@dataclass(frozen=True, eq=False, repr=False)
class PowerAnalysis(Result):
    """How many users it takes to find a difference of a given size between two systems.

    Attributes
    ----------
    effect : float
        The difference that should be found.
    power : float
        The probability with which it should be found.
    table : polars.DataFrame
        One line per pair (``system``, ``baseline``) and ``metric``: the ``users`` compared, the standard ``deviation``
        of their differences (as if weights were equal), the standard error due to runs (``run_error``), the difference
        ``detectable`` with these users and 80% power, and ``users_needed``; null if no number of users is enough
        because runs vary too much, or if fewer than two users were compared.

    Examples
    --------
    >>> import carouseval as cv
    >>> data = cv.sample(200, systems=["prod", "new"])
    >>> comparison = cv.compare(data.layouts, data.judgments, data.items, baseline="prod", permutations=999)
    >>> comparison.plan(0.01).table["users_needed"].to_list()
    [2994]
    """

    effect: float
    power: float
    table: pl.DataFrame

    @property
    def heading(self) -> str:
        """The users needed, in a sentence for the first pair; the table has the others."""
        return self._sentence(self.table.row(0, named=True))

    def _sentence(self, row: Mapping[str, Any]) -> str:
        systems = f"{row[Columns.SYSTEM]} and {row[Columns.BASELINE]}"
        difference = f"a difference of {self.effect:g} in {row[Columns.METRIC]} between {systems}"
        if row[Columns.USERS_NEEDED] is not None:
            users = f"{row[Columns.USERS_NEEDED]:,} users ({row[Columns.USERS]:,} were compared)"
            return f"Finding {difference} with {self.power:.0%} power takes about {users}."
        if row[Columns.USERS] < 2:
            return f"Too few users were compared to say how many it takes to find {difference}."
        if row[Columns.RUN_ERROR] > 0:
            return (
                f"More users alone are not enough to find {difference}: runs alone give it a standard error of "
                f"{row[Columns.RUN_ERROR]:.4f}. Compare more runs."
            )
        return f"No number of users up to {MOST_USERS:,} is enough to find {difference} in this way."

    def __repr__(self) -> str:
        purpose = f"for a difference of {self.effect:g} with {self.power:.0%} power"
        return "\n".join(
            f"{row[Columns.SYSTEM]} - {row[Columns.BASELINE]}, {row[Columns.METRIC]}: {users} users {purpose} "
            f"({row[Columns.USERS]:,} compared)"
            for row in self.table.iter_rows(named=True)
            for users in ["no number of" if row[Columns.USERS_NEEDED] is None else f"{row[Columns.USERS_NEEDED]:,}"]
        )

    def to_frame(self) -> pl.DataFrame:
        """The lines of :attr:`table`."""
        return self.table

    def to_dict(self) -> dict[str, Any]:
        """``effect``, ``power`` and ``pairs``, the lines of :attr:`table`."""
        return plain({"effect": self.effect, "power": self.power, "pairs": self.table.to_dicts()})


def plan(pairs: pl.DataFrame, effect: float, config: Mapping[str, Any], power: float) -> PowerAnalysis:
    """Plan a comparison like the one that has these pairs."""
    effect = require_float("effect", effect, above=0)
    power = require_float("power", power, above=0, below=1)
    tests = pl.col(Columns.P).is_not_nan().sum()
    pairs = pairs.with_columns(tests=tests if config["across_metrics"] else tests.over("metric"))
    lines = []
    for pair in pairs.iter_rows(named=True):
        alpha = round(1 - config["ci"], 12) / (1 if config["correction"] == "none" else max(1, pair["tests"]))
        variance = pair[Columns.ERROR] ** 2 - pair[Columns.RUN_ERROR] ** 2  # of the mean, due to users
        line = {name: pair[name] for name in (Columns.METRIC, Columns.BASELINE, Columns.SYSTEM, Columns.USERS)}
        users = pair[Columns.USERS]
        line |= {Columns.DEVIATION: math.sqrt(max(0.0, variance) * users) if users > 1 else math.nan}
        line |= {name: pair[name] for name in (Columns.RUN_ERROR, Columns.DETECTABLE)}
        needed = _users_needed(pair, variance, effect, alpha, power, config["permutations"])
        lines.append(line | {Columns.USERS_NEEDED: needed})
    return PowerAnalysis(effect, power, PLAN.of_lines(lines, Present()))


def _users_needed(
    pair: Mapping[str, Any], variance: float, effect: float, alpha: float, power: float, permutations: int
) -> int | None:
    if pair[Columns.USERS] < 2:
        return None
    test = result_test(pair["test"])

    def is_enough(users: int) -> bool:
        if test.smallest_p_value(users, permutations) >= alpha:
            return False
        by_users, by_runs = max(0.0, variance) * pair[Columns.USERS] / users, pair[Columns.RUN_ERROR] ** 2
        if by_runs > 0:
            df = satterthwaite_df(by_users, users - 1, by_runs, pair[Columns.RUN_DF])
        elif test.takes_runs:  # runs vary no more than single scores do, and more users change nothing of that
            df = min(users - 1, pair[Columns.DF])
        else:
            df = users - 1
        return noncentrality(df, alpha, power) * math.sqrt(by_users + by_runs) <= effect

    return smallest_number(is_enough)
