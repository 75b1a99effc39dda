"""How many users a comparison needs to find a difference of a given size, judging by the users at hand."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from carouseval.comparison.crossed_effects import satterthwaite_df
from carouseval.comparison.result_columns import PLAN
from carouseval.comparison.tests import result_test
from carouseval.comparison.users_needed import MOST_USERS, noncentrality, smallest_number
from carouseval.evaluation.columns import Columns
from carouseval.evaluation.result_table import Present
from carouseval.results import Result, plain
from carouseval.validation import require_float


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
