"""Every policy in every combination, against brute force over arrangements of tiny tables."""

import math
import warnings
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

import carouseval as cv
from tests.depth import seeds
from tests.evaluation.table_oracle import RefusedError, compare_tables, evaluate_tables
from tests.evaluation.tiny_systems import TinySystems, tiny_systems
from tests.evaluation.tiny_tables import PAGE_SIZE, VISIBLE_ROWS, Lines, tiny

SEEDS = seeds(200, 1500)


def build_metric(name: str, parameter: Any, gain: Any = None) -> Any:
    kind, _, cutoff = name.partition("@")
    if kind in ("DCG", "NDCG"):
        return cv.metric(name, gain=gain)
    base = kind.partition("(")[0]
    inside = kind.partition("(")[2].removesuffix(")")
    made_up = cv.discounts.Empirical(parameter, name=inside[6:-1]) if "d_emp" in kind else None
    return cv.metric(base, discount=made_up or inside or None, cutoff=cutoff or None, gain=gain)


def tables_of(seed: int) -> tuple[Any, Any]:
    layouts, judgments, items, options = tiny(seed)
    grid = cv.Grid(options.pop("rows"), options.pop("cols"), page_size=PAGE_SIZE, visible_rows=VISIBLE_ROWS)
    metrics = {name: build_metric(name, parameter) for name, parameter in options.pop("metrics")}
    frames: list[Any] = [
        pl.DataFrame(lines, infer_schema_length=None) if lines is not None else None
        for lines in (layouts, judgments, items)
    ]
    if layouts and all(line.get("category") is None for line in layouts):
        frames[0] = frames[0].drop("category", strict=False)
    return frames, (metrics, grid, options)


@pytest.mark.parametrize("start", range(0, len(SEEDS), 100))
def test_tiny_tables(start: int) -> None:
    for seed in SEEDS[start : start + 100]:
        layouts, judgments, items, options = tiny(seed)
        (ours_layouts, ours_judgments, ours_items), (metrics, grid, policies) = tables_of(seed)
        labelled = "category" in ours_layouts.columns
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", cv.DataWarning)
            if not labelled:
                policies["invalid"] = options["invalid"] = (
                    "count"  # what rows may share without labels is our own check
                )
            try:
                wanted = evaluate_tables(layouts, judgments, items, **options)
            except RefusedError:
                with pytest.raises(cv.CarousevalError):
                    evaluate(ours_layouts, ours_judgments, ours_items, metrics, grid, policies)
                continue
            found = evaluate(ours_layouts, ours_judgments, ours_items, metrics, grid, policies)
        compare(seed, wanted, found, list(metrics), labelled, items)


def evaluate(
    layouts: Any, judgments: Any, items: Any, metrics: dict[str, Any], grid: Any, policies: dict[str, Any]
) -> Any:
    found = cv.evaluate(layouts, judgments, items, metrics=list(metrics.values()), grid=grid, **policies)
    return under_names(found, metrics)


def under_names(found: cv.Evaluation, metrics: dict[str, Any]) -> Any:
    """A result under the oracle's names of metrics."""
    parts = ("", ".dcg", ".ideal", ".ideal_found", ".bounded")
    names = {f"{one}{part}": f"{name}{part}" for name, one in metrics.items() for part in parts}
    return SimpleNamespace(
        per_page=found.per_page.rename(names, strict=False),
        mean={name: found.mean[str(one)] for name, one in metrics.items()},
        counts=found.counts,
    )


def compare(seed: int, wanted: Any, found: Any, metrics: list[str], labelled: bool, items: Any) -> None:
    pages = {(row["user_id"], row.get("page_id")): row for row in found.per_page.iter_rows(named=True)}
    assert len(pages) == len(wanted["per_page"]), seed
    for page in wanted["per_page"]:
        row = pages[page["user_id"], page["page_id"]]
        for name in metrics:
            if page[name]["score"] is None:
                assert row[name] is None, (seed, name)
                continue
            assert row[name] == pytest.approx(page[name]["score"], rel=1e-12, abs=1e-14), (seed, name, page, row)
            if f"{name}.ideal" in row and not page["missing"]:
                assert row[f"{name}.ideal"] == pytest.approx(page[name]["ideal"], rel=1e-12, abs=1e-14), (seed, name)
                assert row[f"{name}.dcg"] == pytest.approx(page[name]["dcg"], rel=1e-12, abs=1e-14), (seed, name)
    for name in metrics:
        mean = wanted["mean"][name]
        assert (
            found.mean[name] == pytest.approx(mean, rel=1e-12) if mean is not None else math.isnan(found.mean[name])
        ), seed
    known = {key: value for key, value in wanted["counts"].items() if labelled or key != "invalid"}
    if not labelled and items is None:
        known.pop("uncategorised")  # there are no categories at all
    assert {key: found.counts[key] for key in known} == known, seed
    assert found.counts["bounded"] == 0, seed


def arguments_of(case: TinySystems) -> dict[str, Any]:
    """A case as `cv.compare` takes it, metrics under the oracle's names."""
    grids = {
        device: cv.Grid(screen.rows, screen.cols, page_size=screen.page_size, visible_rows=VISIBLE_ROWS)
        for device, screen in case.screens.items()
    }
    options = {key: value for key, value in case.options.items() if key not in ("metrics", "grids")}
    lines = options.pop("carousels")
    return options | {
        "systems": {name: [frame(table) for table in runs] for name, runs in case.systems.items()},
        "judgments": frame(case.judgments),
        "items": None if case.items is None else frame(case.items),
        "carousels": None if lines is None else frame(lines),
        "metrics": {
            name: build_metric(name, case.made_up.get(name), *gain) for name, _, *gain in case.options["metrics"]
        },
        "grid": grids.get(None, grids),
    }


def frame(lines: Lines) -> pl.DataFrame:
    return pl.DataFrame(lines, infer_schema_length=None)


def evaluations_of(arguments: dict[str, Any]) -> dict[str, list[cv.Evaluation]]:
    """The evaluation of every run: by `cv.evaluate` where there is one, by `cv.compare` where there are several."""
    options = {**arguments, "metrics": list(arguments["metrics"].values())}
    systems = options.pop("systems")
    if len(systems) > 1:
        found = cv.compare(systems, baseline="a", permutations=9, **options)
        return {name: list(runs) for name, runs in found.evaluations.items()}
    ((name, (layouts,)),) = systems.items()
    return {name: [cv.evaluate(layouts, **options)]}


SYSTEM_SEEDS = seeds(200, 3000)


@pytest.mark.parametrize("start", range(0, len(SYSTEM_SEEDS), 100))
def test_tiny_systems(start: int) -> None:
    """Home pages: every source of capacity, personal rows, billboards, page sizes of rows, grids, runs and gains."""
    for seed in SYSTEM_SEEDS[start : start + 100]:
        case = tiny_systems(seed)
        arguments = arguments_of(case)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", cv.DataWarning)
            try:
                wanted = compare_tables(case.systems, case.judgments, case.items, **case.options)
            except RefusedError as refused:
                with pytest.raises(cv.DataError):
                    pytest.fail(f"{seed}: not refused, though {refused}: {evaluations_of(arguments)}")
                continue
            found = evaluations_of(arguments)
        metrics = arguments["metrics"]
        for name, results in wanted.items():
            for result, ours in zip(results, found[name], strict=True):
                compare(seed, result, under_names(ours, metrics), list(metrics), True, case.items)
