"""Prints the tables of docs/statistics.md: ``python -m tests.comparison.error_rates``. Takes a few minutes."""

import math
from dataclasses import replace

import numpy as np
import polars as pl

from carouseval.comparison.significance import p_values
from carouseval.evaluation.user_sums import mean_estimate
from tests.comparison.worlds import World, rejected
from tests.evaluation.test_mean_estimates import DRAWS, misses

WORLDS = 10_000
USERS = (5, 10, 20, 50, 200)


def main() -> None:
    """Print all tables in Markdown."""
    _table("Coverage of 95% intervals", ["differences", *(f"{users} users" for users in USERS)], _coverage())
    _table("Both one-sided errors", ["differences", *(f"{users} users" for users in USERS)], _one_sided())
    _table("False positives of tests of users", ["test", "differences", "10 users", "20 users", "50 users"], _tests())
    header = ["runs", "runs' share of the variance", "users alone", "users and runs", "power over the oracle's"]
    _table("Several runs, 200 users", header, _runs())
    _table("The same, where most of the variance is in single scores", header, _runs(user=0.3, rest=1.0))


def _coverage() -> list[list[str]]:
    return [
        [name, *(f"{1 - sum(misses(name, users, worlds=WORLDS)):.1%}" for users in USERS)]
        for name in DRAWS
        if name != "negative exponential"
    ]


def _one_sided() -> list[list[str]]:
    names = [name for name in DRAWS if name != "negative exponential"]
    rows = []
    for name in names:
        errors = [misses(name, users, worlds=WORLDS) for users in USERS]
        rows.append([name, *(f"{below:.1%}, {above:.1%}" for below, above in errors)])
    return rows


def _tests() -> list[list[str]]:
    """How often each test rejects at 5% although the mean is 0."""
    rows = []
    for test in ("permutation", "t", "bootstrap"):
        for name in ("normal", "exponential", "mostly ties", "difference of scores"):
            draw, mean = DRAWS[name]
            row = [test, name]
            for users in (10, 20, 50):
                rng = np.random.default_rng(users)
                worlds = np.array([draw(rng, users) - mean for _ in range(2_000)]).T
                p = p_values(test, worlds, pl.Series(range(users)), 999)
                row.append(f"{(p < 0.05).mean():.1%}")
            rows.append(row)
    return rows


def _runs(user: float = 1.0, rest: float = 0.5) -> list[list[str]]:
    rows = []
    for runs in ((2, 2), (3, 3), (5, 5), (10, 10), (1, 5), (3, 6)):
        for share in (0.0, 0.3, 0.7, 0.89):
            world = World(200, runs, user=user, rest=rest).with_share(share)
            effect = (1.959964 + 1.281552) * math.sqrt(world.variance)  # which an oracle finds in 90% of worlds
            found, _ = rejected(replace(world, effect=effect), 4_000)
            rates = [_users_alone(world), rejected(world, 4_000)[0]]
            shown = [f"{rate:.1%}" for rate in rates]
            rows.append([f"{runs[0]} and {runs[1]}", f"{share:.0%}", *shown, f"{found / 0.9:.0%}"])
    return rows


def _users_alone(world: World) -> float:
    rng = np.random.default_rng(0)
    return float(np.mean([mean_estimate(world.scores(rng).differences).p_value < 0.05 for _ in range(4_000)]))


def _table(title: str, header: list[str], rows: list[list[str]]) -> None:
    print(f"\n{title}\n\n| {' | '.join(header)} |\n|{'---|' * len(header)}")
    for row in rows:
        print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
