"""Calls that make pages, items, carousels and judgments."""

import random
from collections.abc import Callable
from typing import Any

import carouseval as cv
from tests.building.random_logs import random_log
from tests.building.test_marginal_gain import GRID, LABELS, same_for_all, world
from tests.differential import drawing
from tests.differential.outcomes import Outcomes, fields


def public(*names: str) -> Callable[..., Any]:
    """A function of the package, by the first of its names that this version has."""
    found: Callable[..., Any] = next(getattr(cv, name) for name in names if hasattr(cv, name))
    return found


def building(rng: random.Random, outcomes: Outcomes) -> None:
    """One of the calls."""
    rng.choice([_candidates, _candidates, _events, _scores, _shown, _sample])(rng, outcomes)


def _candidates(rng: random.Random, outcomes: Outcomes) -> None:
    candidates, judgments, items = world(rng.randrange(1000), rng.randint(2, 6), rng.randint(2, 9))
    if rng.random() < 0.3:
        candidates = candidates.drop(rng.choice(["category", "carousel", "col", "item_id"]))
    settings: dict[str, Any] = {
        "metrics": rng.choice(["N2DCG_cat", "N2DCG_cat(d_a)@3x3", "N2DCG", "2DCG", "N2DCG_cat(d_rpb)", "NDCG"]),
        "grid": rng.choice([GRID, GRID, cv.Grid(2, 3), cv.Grid(1, 1)]),
        "invalid": rng.choice(["count", "count", "error"]),
        "gain": rng.choice(["exp2", "linear"]),
        "tolerance": rng.choice([0, 0, 0.01]),
        "work": rng.choice([8000, 8000, 1e-5]),
    }
    if rng.random() < 0.5:
        rows = rng.choice([None, 1, 2, 3, 0, 99])
        built = outcomes.result(
            "build_pages", lambda: cv.build_pages(candidates, judgments, items, rows=rows, **settings)
        )
        if built is not None:
            outcomes.saved("build_pages", built)
        return
    order = rng.sample(LABELS, rng.randint(0, 3))
    layouts = same_for_all(candidates, order) if "carousel" in candidates.columns and order else None
    row = rng.choice([None, None, 1, 2, 9, 0])
    what_adds = public("what_adds", "marginal_gains")
    outcomes.result("what_adds", lambda: what_adds(layouts, candidates, judgments, items, row=row, **settings))


def _events(rng: random.Random, outcomes: Outcomes) -> None:
    log = random_log(rng, rng.randint(1, 60))
    lines = {name: [line[name] for line in log] for name in log[0]}
    choices: dict[str, list[Any]] = {
        "value": [None, "minutes", "minutes", "minuts"],
        "combine": ["sum", "max", "last", "mean"],
        "grades": [None, (1, 10, 45), (0.5,), (10, 1)],
        "quantiles": [None, None, (0.2, 0.5), (0.5, 1)],
        "event_relevance": [None, {"thumbs_down": 0, "impression": None}, {"add_to_list": 2, "thumbs": 1}],
        "at_least": [0, 0, 0.2],
        "at_most": [None, 100, 1e16],
        "per_page": [False, True],
    }
    settings = {name: rng.choice(values) for name, values in choices.items() if rng.random() < 0.6}
    result = outcomes.result("judgments_from_events", lambda: cv.judgments_from_events(lines, **settings))
    if result is not None:
        outcomes.saved("judgments_from_events", result)


def _scores(rng: random.Random, outcomes: Outcomes) -> None:
    users, items = [f"u{k}" for k in range(rng.randint(1, 6))], list(range(rng.randint(1, 14)))
    labels = [f"c{k}" for k in range(rng.randint(1, 6))]
    members = [(item, label) for item in items for label in rng.sample(labels, rng.randint(0, min(3, len(labels))))]
    lines = [(user, item, rng.choice([0.0, 1.0, rng.gauss(0, 1)])) for user in users for item in items]
    lines = rng.sample(lines, rng.randint(1, len(lines)))
    if rng.random() < 0.1:
        lines.append((users[0], items[0], rng.choice([float("nan"), 2.0])))
    settings: dict[str, Any] = {
        "order": rng.choice(["remaining", "best", "mean", "sum", "fixed", "worst"]),
        "categories": rng.choice([None, labels[::-1], labels[:1], ["nope"]]),
        "pinned": rng.choice([None, None, {labels[0]: 1}, {labels[-1]: 2}, {"nope": 0}]),
        "unique_items": rng.choice([True, False]),
        "min_items": rng.choice([1, 1, 2, 0]),
    }
    columns = list(zip(*lines, strict=True))
    scores = outcomes.call("scores_from_arrays", lambda: cv.scores_from_arrays(*(list(column) for column in columns)))
    if scores is None or rng.random() < 0.5:
        scores = dict(zip(["user_id", "item_id", "score"], map(list, columns), strict=True))
    table = {"item_id": [item for item, _ in members], "category": [label for _, label in members]}
    grid = cv.Grid(rng.randint(1, 4), rng.randint(1, 4))
    outcomes.call("pages_from_scores", lambda: cv.pages_from_scores(scores, table, grid, **settings))


def _shown(rng: random.Random, outcomes: Outcomes) -> None:
    arguments = drawing.drawn(rng, outcomes.folder, several=True)
    layouts = [run for runs in arguments["systems"].values() for run in (runs if isinstance(runs, list) else [runs])]
    items_of = public("items_of", "items_from_layouts")
    carousels_of = public("carousels_of", "carousels_from_layouts")
    options = {"columns": arguments.get("columns")}
    outcomes.call("items_of", lambda: items_of(*layouts, **options, carousels=arguments["carousels"]))
    outcomes.call("carousels_of", lambda: carousels_of(*layouts, **options))


def _sample(rng: random.Random, outcomes: Outcomes) -> None:
    options = {**rng.choice(drawing.SAMPLES), "seed": rng.randrange(100)}
    if rng.random() < 0.2:
        options[rng.choice(["users", "items", "categories", "seed", "pages", "mode"])] = rng.choice([0, -1, 7, "all"])
    outcomes.call("sample", lambda: cv.sample(**{"users": 8, **options}), fields)
