"""Comparisons of users who weigh differently, by hand."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl
import pytest

import carouseval as cv
from carouseval.comparison.power_analysis import noncentrality
from carouseval.comparison.significance import p_values

METRIC = cv.metric("2DCG", discount=cv.discounts.Empirical([[1.0]], name="one"), gain="linear")
GRID = cv.Grid(1, 1)
NAME = str(METRIC)

Pages = Mapping[tuple[str, int], tuple[float, float]]  # user, page: score and weight


def tables(systems: Mapping[str, Pages]) -> tuple[dict[str, pl.DataFrame], pl.DataFrame]:
    """Layouts and judgments that give pages of one cell these scores and weights."""
    layouts, judged = {}, {}
    for name, pages in systems.items():
        lines = []
        for (user, page), (score, weight) in pages.items():
            item = f"{name}-{page}"
            lines.append({"user_id": user, "page_id": page, "row": 1, "col": 1, "item_id": item, "w": weight})
            judged[user, item] = score
        layouts[name] = pl.DataFrame(lines)
    judged |= {(user, "elsewhere"): 1.0 for user, _ in judged}  # everybody likes something
    lines = [{"user_id": user, "item_id": item, "relevance": value} for (user, item), value in judged.items()]
    return layouts, pl.DataFrame(lines)


def compare(systems: Mapping[str, Pages], weight: str | None = "w", **options: Any) -> cv.Comparison:
    layouts, judgments = tables(systems)
    chosen: dict[str, Any] = {"permutations": 499, "missing_pages": "skip"} | options
    return cv.compare(layouts, judgments, metrics=METRIC, grid=GRID, weight=weight, **chosen)


def pair(systems: Mapping[str, Pages], weight: str | None = "w", **options: Any) -> dict[str, Any]:
    return compare(systems, weight, **options).pairs.row(0, named=True)


def world(
    seed: int, users: int = 25, pages: int = 3, systems: tuple[str, ...] = ("old", "new")
) -> dict[str, dict[tuple[str, int], tuple[float, float]]]:
    """Every user has the same pages in all systems, each with its own score and weight there."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, pages + 1, users)
    return {
        name: {
            (f"u{n:03}", page): (float(rng.random()), float(rng.lognormal(0, 1)))
            for n in range(users)
            for page in range(counts[n])
        }
        for name in systems
    }


def by_user(pages: Pages) -> dict[str, tuple[float, float]]:
    """Every user's score, weighted over pages, and the mean of the pages' weights."""
    found = {}
    for user in {user for user, _ in pages}:
        mine = [value for (one, _), value in pages.items() if one == user]
        total = math.fsum(weight for _, weight in mine)
        found[user] = math.fsum(score * weight for score, weight in mine) / total, total / len(mine)
    return found


def by_hand(old: Pages, new: Pages, tests: int = 1) -> dict[str, float]:
    before, after = by_user(old), by_user(new)
    users = sorted(before)
    w = [(before[user][1] + after[user][1]) / 2 for user in users]
    d = [after[user][0] - before[user][0] for user in users]
    n, total = len(users), math.fsum(w)
    mean = math.fsum(a * b for a, b in zip(w, d, strict=True)) / total
    base = math.fsum(a * before[user][0] for a, user in zip(w, users, strict=True)) / total
    spread = math.sqrt(math.fsum(a * (b - mean) ** 2 for a, b in zip(w, d, strict=True)) / total * n / (n - 1))
    # the variance of the mean as a quadratic form in d, scaled to be right on average if users vary alike
    share = np.array(w) / total
    centred = np.eye(n) - np.outer(np.ones(n), share)
    form = centred.T @ np.diag(share**2) @ centred
    error = math.sqrt(np.array(d) @ form @ np.array(d) * (share**2).sum() / np.trace(form))
    df = np.trace(form) ** 2 / np.trace(form @ form)
    return {
        "difference": mean,
        "lift": mean / base,
        "effect": mean / spread,
        "error": error,
        "df": df,
        "detectable": noncentrality(df, 0.05 / tests, 0.8) * error,
        "users": n,
        "wins": sum(b > 1e-12 for b in d),
        "losses": sum(b < -1e-12 for b in d),
    }


@pytest.mark.parametrize("seed", range(5))
def test_by_hand(seed: int) -> None:
    systems = world(seed)
    found = pair(systems)
    wanted = by_hand(systems["old"], systems["new"])
    assert {name: found[name] for name in wanted} == pytest.approx(wanted, rel=1e-10)
    assert found["low"] <= found["difference"] <= found["high"]


def test_p_values_are_of_weighted_differences() -> None:
    systems = world(7)
    before, after = by_user(systems["old"]), by_user(systems["new"])
    users = sorted(before)
    differences = [(after[u][0] - before[u][0]) * (after[u][1] + before[u][1]) for u in users]
    p = p_values("permutation", np.array(differences)[:, None], pl.Series(users), 499)[0]
    assert pair(systems)["p"] == p
    assert pair(systems, test=lambda d: 1.0 if abs(d.mean() - pair(systems)["difference"]) < 1e-12 else 0.5)["p"] == 1.0


def test_a_user_weighs_the_same_in_all_systems() -> None:
    """Also in means, with three systems: what the user's pages weigh on average over all of them."""
    systems = world(3, systems=("a", "b", "c"))
    found = compare(systems)
    parts = {name: by_user(pages) for name, pages in systems.items()}
    weight = {user: sum(part[user][1] for part in parts.values()) / 3 for user in parts["a"]}
    total = math.fsum(weight.values())
    means = {name: math.fsum(part[user][0] * weight[user] for user in weight) / total for name, part in parts.items()}
    assert dict(found.systems.select("system", "mean").rows()) == pytest.approx(means, rel=1e-12)
    for row in found.pairs.iter_rows(named=True):
        assert row["difference"] == pytest.approx(means[row["system"]] - means[row["baseline"]], rel=1e-9)
    assert dict(found.per_user.select("user_id", "weight").rows()) == pytest.approx(weight, rel=1e-12)


@pytest.mark.parametrize("test", ["permutation", "t", "bootstrap"])
@pytest.mark.parametrize("weight", [1.0, 4.0, 0.1])
def test_equal_weights_change_nothing(test: Any, weight: float) -> None:
    equal = {name: {page: (score, weight) for page, (score, _) in pages.items()} for name, pages in world(11).items()}
    with_weights, without = pair(equal, test=test), pair(equal, None, test=test)
    assert with_weights.keys() == without.keys()
    assert with_weights["p"] == (pytest.approx(without["p"]) if test == "t" else without["p"])
    numbers = [name for name, value in without.items() if isinstance(value, float) and name != "p"]
    assert {n: with_weights[n] for n in numbers} == pytest.approx(
        {n: without[n] for n in numbers}, rel=1e-9, nan_ok=True
    )
    for name in ("users", "wins", "ties", "losses", "significant"):
        assert with_weights[name] == without[name]


@pytest.mark.parametrize("factor", [4.0, 1e-6, 3e7])
def test_only_ratios_of_weights_matter(factor: float) -> None:
    systems = world(13)
    scaled = {name: {key: (s, w * factor) for key, (s, w) in pages.items()} for name, pages in systems.items()}
    one, other = pair(systems), pair(scaled)
    assert other["p"] == one["p"]
    numbers = [name for name, value in one.items() if isinstance(value, float)]
    assert {name: other[name] for name in numbers} == pytest.approx(
        {name: one[name] for name in numbers}, rel=1e-9, nan_ok=True
    )


def test_who_weighs_nothing_does_not_matter() -> None:
    systems = world(17, pages=1)
    more = {
        "old": {**systems["old"], ("u999", 0): (0.0, 0.0)},
        "new": {**systems["new"], ("u999", 0): (9.0, 0.0)},
    }
    one, other = pair(systems), pair(more)
    assert other["difference"] == pytest.approx(one["difference"], rel=1e-12)
    assert other["lift"] == pytest.approx(one["lift"], rel=1e-12)
    half = {"old": more["old"], "new": {**more["new"], ("u999", 0): (9.0, 1.0)}}
    assert pair(half)["difference"] == pytest.approx(one["difference"], rel=1e-12)  # old has no score of that user


def test_nobody_weighs_anything() -> None:
    nothing = {name: {key: (s, 0.0) for key, (s, _) in pages.items()} for name, pages in world(19).items()}
    found = compare(nothing)
    assert all(math.isnan(value) for value in found.systems["mean"])
    assert found.summary == "No user was scored."


def test_ranks_take_no_weights() -> None:
    with pytest.raises(cv.ParameterError, match="test='wilcoxon' does not support weights"):
        compare(world(23), test="wilcoxon")
    assert 0 < pair(world(23), None, test="wilcoxon")["p"] <= 1


def test_weights_of_judgments() -> None:
    """A weight that judgments give belongs to the user, page or no page."""
    layouts, judgments = tables(world(29, pages=1))
    weights = {user: 1.0 + n % 3 for n, user in enumerate(sorted(judgments["user_id"].unique()))}
    judgments = judgments.with_columns(w=pl.col("user_id").replace_strict(weights, return_dtype=pl.Float64))
    absent = pl.DataFrame({"user_id": ["z"], "item_id": ["elsewhere"], "relevance": [1.0], "w": [5.0]})
    layouts = {name: table.drop("w") for name, table in layouts.items()}
    found = cv.compare(layouts, pl.concat([judgments, absent]), metrics=METRIC, grid=GRID, weight="w", permutations=99)
    part = found.per_user.filter(pl.col("user_id") != "z")
    for name in layouts:
        mine = part.filter(pl.col("system") == name).with_columns(w=pl.col("user_id").replace_strict(weights))
        mean = np.dot(mine[NAME], mine["w"]) / (math.fsum(mine["w"]) + 5.0)  # z scores 0
        row = found.systems.filter(pl.col("system") == name).row(0, named=True)
        assert row["mean"] == pytest.approx(mean, rel=1e-12)


def test_pairs_do_not_depend_on_the_other_metrics() -> None:
    """Also where pages have nothing relevant by one metric, and weigh differently."""

    def high(relevance: Any) -> Any:
        return np.where(relevance > 0.6, relevance, 0.0)

    layouts, judgments = tables(world(41))
    pages = pl.concat(layouts.values()).select("user_id", "page_id", "item_id")
    judgments = judgments.join(pages, on=["user_id", "item_id"])  # judged page by page
    other = pl.when(pl.col("user_id") < "u012").then("item_id").otherwise(pl.lit("?"))  # which nobody likes
    systems = {"old": layouts["old"], "new": layouts["old"].with_columns(item_id=other)}
    picky = cv.metric("2DCG(d_t)", gain=high)
    options: dict[str, Any] = {"grid": GRID, "weight": "w", "permutations": 99, "missing_pages": "skip"}
    both = cv.compare(systems, judgments, metrics=[METRIC, picky], **options)
    for one in (METRIC, picky):
        alone = cv.compare(systems, judgments, metrics=one, **options)
        assert alone.pairs.equals(both.pairs.filter(pl.col("metric") == str(one)))
        assert alone.systems.equals(both.systems.filter(pl.col("metric") == str(one)))
    assert both.pairs["users"].n_unique() == 2


def test_segments_are_weighed_alone() -> None:
    systems = world(31, pages=1)
    layouts, judgments = tables(systems)
    layouts = {
        name: table.with_columns(device=pl.when(pl.col("user_id") < "u010").then(pl.lit("tv")).otherwise(pl.lit("web")))
        for name, table in layouts.items()
    }
    found = cv.compare(layouts, judgments, metrics=METRIC, grid=GRID, weight="w", by="device", permutations=99)
    for device, low, high in (("tv", "u000", "u010"), ("web", "u010", "u999")):
        mine = {
            name: {key: value for key, value in pages.items() if low <= key[0] < high}
            for name, pages in systems.items()
        }
        row = found.segments.filter(pl.col("device") == device).row(0, named=True)
        wanted = by_hand(mine["old"], mine["new"], tests=2)
        assert {name: row[name] for name in wanted} == pytest.approx(wanted, rel=1e-10)


def test_as_many_false_alarms_as_promised() -> None:
    """400 worlds of 30 users whose two systems are exchangeable: scores and weights may be swapped user by user.

    The heavier page of a user tends to be the better one; only a weight that is the user's own keeps the test honest.
    """
    rng = np.random.default_rng(37)
    worlds, users = 400, 30
    base = rng.normal(0, 1, (worlds, users, 1))
    weights = rng.lognormal(0, 1, (worlds, users, 2))
    scores = 5 + base + 0.5 * np.log(weights) + rng.normal(0, 0.5, (worlds, users, 2))
    scores = np.maximum(scores, 0.0)
    systems = {
        name: {
            (f"{w:03}-{n:02}", 0): (float(scores[w, n, at]), float(weights[w, n, at]))
            for w, n in np.ndindex(worlds, users)
        }
        for at, name in enumerate(("old", "new"))
    }
    layouts, judgments = tables(systems)
    layouts = {name: table.with_columns(world=pl.col("user_id").str.head(3)) for name, table in layouts.items()}
    found = cv.compare(
        layouts,
        judgments,
        metrics=METRIC,
        grid=GRID,
        weight="w",
        by="world",
        permutations=999,
        correction="none",
    )
    assert found.segments.height == worlds
    rejected = found.segments.filter(pl.col("p") < 0.05).height / worlds
    assert 0.025 <= rejected <= 0.08
