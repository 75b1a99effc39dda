"""Arguments of calls: the tables of the fuzzer and of samples, every setting, and values that settings refuse."""

import random
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import carouseval as cv
from tests.fuzz import tables
from tests.fuzz.table_forms import Lines

SAMPLES: list[dict[str, Any]] = [
    {},
    {"devices": True, "ragged": True, "missing": 0.2},
    {"pages": 2, "ids": "int", "categories_per_item": 1},
    {"pinned": True, "mode": "binary", "judgments": 8},
    {"kind": "home"},
    {"grid": cv.Grid(4, 6, page_size=2, visible_rows=2), "categories": 6, "items": 60},
]
METRICS: list[Any] = [
    *("N2DCG_cat", "N2DCG_cat", "N2DCG", "2DCG", "NDCG@10", "DCG@5", "Precision@3x5", "Recall@3x5", "Hit@1x5", "RR"),
    *("N2DCG_cat(d_rpb)@3x5", "N2DCG_cat(d_mix(0.7*d_rpb + 0.3*d_rcb))", "2DCG(d_a, gain=linear)", "Coverage@3x5"),
]


def _gain_sum(gains: Any, weights: Any) -> float:
    return float(np.nansum(gains * weights))


def _mean_test(differences: Any) -> float:
    return float(np.clip(abs(differences.mean()), 0, 1))


REFUSED: list[tuple[str, Any]] = [
    *(("candidates", "judgd"), ("duplicates", None), ("missing_pages", "zeros"), ("no_relevant", 0)),
    *(("unjudged", "skip"), ("invalid", "ignore"), ("threads", 0), ("threads", 1.5), ("threads", "two")),
    *(("tolerance", -0.1), ("tolerance", 1), ("memory", 0), ("memory", "4"), ("work", -1), ("work", 1e15)),
    *(("by", 3), ("by", "nope"), ("by", ["device", "nope"]), ("by", "row"), ("by", "status"), ("weight", "nope")),
    *(("weight", 1), ("columns", {"user": "u"}), ("columns", {"user_id": "nope"}), ("columns", "user_id")),
    *(("columns", {"layout": {"row": "r"}}), ("capacity", "shwn"), ("capacity", {"c0": 0}), ("capacity", {"no": 1})),
    *(("grid", "recgaze"), ("grid", {"tv": "tv"}), ("grid", {}), ("grid", cv.Grid(1, 1)), ("gain", "exp")),
    *(("gain", 2), ("gain", lambda relevance: relevance - 1), ("metrics", []), ("metrics", "N2DCG_catt")),
    *(("metrics", "N2DCG_cat@0x3"), ("metrics", ["2DCG", "2DCG"]), ("metrics", 7), ("metrics", "Coverage")),
    *(("split", ""), ("split", "|"), ("metric", "2DCG"), ("Grid", None), ("discount", "d_a"), ("carousels", {})),
    *(("carousels", {"category": ["a", "a"]}), ("items", {"item_id": [1]}), ("progress", 3)),
]
REFUSED_COMPARISONS: list[tuple[str, Any]] = [
    *(("baseline", "nope"), ("baseline", 0), ("test", "permutations"), ("test", 1), ("runs", "all")),
    *(("correction", "bonferroni"), ("correction", None), ("across_metrics", 1), ("simultaneous", "yes")),
    *(("ci", 0), ("ci", 1), ("ci", 95), ("seed", -1), ("seed", 0.5), ("permutations", 5), ("permutations", 0)),
    *(("margin", -0.1), ("margin", "0"), ("margin", 0), ("explain", "yes"), ("by", "p"), ("by", "system")),
]


def settings(rng: random.Random, segments: list[Any], *, weighted: bool) -> dict[str, Any]:
    """Settings beyond those that tables are drawn for; ``by`` is one of the segments."""
    found: dict[str, Any] = {}
    choices: dict[str, list[Any]] = {
        "threads": [1, 2, 3],
        "memory": [1e-9, 1e-8, 0.001],
        "tolerance": [0.01, 0.2],
        "work": [0, 1e-5, 1e-3],
        "weight": ["w"] if weighted else [],
        "by": segments,
        "capacity": ["shown"],
        "gain": ["linear"],
    }
    for name, values in choices.items():
        if values and rng.random() < (0.4 if name in ("weight", "by") else 0.15):
            found[name] = rng.choice(values)
    if rng.random() < 0.06:
        name, value = rng.choice(REFUSED)
        found[name] = value
    return found


def comparison_settings(rng: random.Random, systems: Mapping[str, Any]) -> dict[str, Any]:
    """The choices of a comparison; tests that take one run of each system are rare where there are several."""
    found: dict[str, Any] = {"permutations": rng.choice([99, 199, 599])}
    several = any(isinstance(runs, list) and len(runs) > 1 for runs in systems.values())
    if several and rng.random() < 0.3:
        found["runs"] = "fixed"
    choices: dict[str, tuple[float, list[Any]]] = {
        "baseline": (0.6, list(systems)),
        "test": (
            0.1 if several and not found.get("runs") else 0.6,
            ["permutation", "t", "wilcoxon", "bootstrap", _mean_test],
        ),
        "runs": (0.4, ["random", "paired"] if several and not found.get("runs") else []),
        "correction": (0.4, ["holm", "bh", "none"]),
        "across_metrics": (0.3, [True]),
        "simultaneous": (0.3, [True]),
        "ci": (0.3, [0.8, 0.99, 0.5]),
        "seed": (0.3, [1, 7, 2**40]),
        "margin": (0.3, [0.01, 0.1, 1.0]),
        "explain": (0.2, [True]),
    }
    for name, (share, values) in choices.items():
        if values and rng.random() < share:
            found[name] = rng.choice(values)
    if rng.random() < 0.06:
        name, value = rng.choice(REFUSED_COMPARISONS)
        found[name] = value
    return found


def fuzzed(rng: random.Random, folder: Path, several: bool = False, form: str = "") -> dict[str, Any]:
    """What ``compare`` takes, of the fuzzer's tables in their forms, or all in one, with more settings."""
    case = tables.draw(rng)
    while several and len(case.tiny.systems) < 2:
        case = tables.draw(rng)
    if case.damage is not None and rng.random() < 0.6:
        case = replace(case, damage=None)
    if form:
        case = replace(case, forms=dict.fromkeys(case.forms, form))
    if extended := rng.random() < 0.5:
        case = _with_user_columns(rng, case)
    arguments = tables.arguments_in_forms(case, folder)
    metrics = list(arguments["metrics"].values())
    if rng.random() < 0.2:
        metrics.append(rng.choice([_gain_sum, *METRICS]))
    segments = ["country", ["country"]] if extended and arguments["by"] is None else []
    return {**arguments, "metrics": metrics, **settings(rng, segments, weighted=extended)}


def _with_user_columns(rng: random.Random, case: tables.Case) -> tables.Case:
    """The same tables with weights and a segment of each user."""
    values: dict[Any, dict[str, Any]] = {}

    def more(lines: Lines) -> Lines:
        for line in lines:
            if line["user_id"] not in values:
                values[line["user_id"]] = {"w": rng.choice([0.5, 1, 1, 2.25, 3]), "country": rng.choice(["de", "nl"])}
        return [{**line, **values[line["user_id"]]} for line in lines]

    systems = {name: [more(lines) for lines in runs] for name, runs in case.tiny.systems.items()}
    return replace(case, tiny=replace(case.tiny, systems=systems, judgments=more(case.tiny.judgments)))


@cache
def sample(number: int, users: int, seed: int) -> cv.Sample:
    """Samples are drawn once a process."""
    return cv.sample(users, seed=seed, **SAMPLES[number])


def sampled(rng: random.Random, several: bool = False, most_users: int = 60) -> dict[str, Any]:
    """What ``compare`` takes, of a sample: not all users and judgments, in any order; systems may have several runs."""
    number = rng.randrange(len(SAMPLES))
    data = sample(number, rng.choice([n for n in (3, 9, 25, 60) if n <= most_users]), rng.randrange(3))
    users = sorted(set(data.judgments["user_id"].to_list()), key=str)
    weights = {user: rng.choice([0.5, 1.0, 2.0]) for user in users}
    extra = [
        pl.col("user_id").replace_strict(weights, return_dtype=pl.Float64).alias("w"),
        (pl.col("user_id").cast(pl.String).str.len_chars() % 2).cast(pl.String).alias("country"),
    ]

    def part(table: pl.DataFrame, lines: float, some_users: float) -> pl.DataFrame:
        kept = [user for user in users if rng.random() < some_users] or users[:1]
        table = table.filter(pl.col("user_id").is_in(kept)).with_columns(extra)
        return table.sample(fraction=lines, shuffle=True, seed=rng.randrange(1000))

    thin = rng.choice([1.0, 1.0, 0.8])
    names = rng.sample(list(data.layouts), len(data.layouts))
    runs = rng.choice([[1, 1], [1, 1], [1, 1, 1], [2, 2], [2, 1], [3, 1]] if several else [[1]])
    systems: dict[str, Any] = {}
    for name, count in zip(["prod", "new", "other"], runs, strict=False):
        parts = [part(data.layouts[names[k % len(names)]], 1.0, thin) for k in range(count)]
        names = names[count:] or names
        systems[name] = parts[0] if count == 1 and rng.random() < 0.7 else parts
    found: dict[str, Any] = {
        "systems": systems,
        "judgments": part(data.judgments, rng.choice([1.0, 0.6]), rng.choice([1.0, 0.9])),
        "items": data.items if rng.random() < 0.7 else None,
        "carousels": data.carousels if rng.random() < 0.7 else None,
        "grid": SAMPLES[number].get("grid", cv.RECGAZE),
        "metrics": list(dict.fromkeys(rng.sample(METRICS, rng.choice([1, 1, 2, 4])))),
        "invalid": rng.choice(["count", "count", "error"]),
        "candidates": rng.choice(["judged", "judged", "displayed"]),
        "duplicates": rng.choice(["best", "best", "first", "every"]),
        "missing_pages": rng.choice(["zero", "skip"]),
        "no_relevant": rng.choice(["zero", "skip"]),
    }
    if data.grids and (len(data.grids) > 1 or rng.random() < 0.5):
        found |= {"by": "device", "grid": data.grids}
        return {**found, **settings(rng, [], weighted=True)}
    return {**found, **settings(rng, ["device", "country", ["country", "device"]], weighted=True)}


def drawn(rng: random.Random, folder: Path, several: bool = False, form: str = "") -> dict[str, Any]:
    """What ``compare`` takes, of tables of either kind."""
    return fuzzed(rng, folder, several, form) if rng.random() < 0.7 else sampled(rng, several)


def of_one_system(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments with the first run of the first system as ``layouts``."""
    others = {name: value for name, value in arguments.items() if name != "systems"}
    runs = next(iter(arguments["systems"].values()))
    return {"layouts": runs[0] if isinstance(runs, list) else runs, **others}
