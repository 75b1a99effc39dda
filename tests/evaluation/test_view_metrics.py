"""Precision, Recall, Hit, RR and Coverage of tables, against their definitions; metrics do not touch one another."""

import math
import random
import warnings
from collections.abc import Iterator
from typing import Any

import ir_measures
import numpy as np
import polars as pl
import pytest

import carouseval as cv
from carouseval.building.sample import Sample, sample
from carouseval.show.terminal.evaluation import evaluation as in_terminal
from tests.depth import gate_or_deep, some
from tests.evaluation.table_oracle import RefusedError, coverage, evaluate_tables, paper_weights, view_value
from tests.evaluation.test_evaluate_oracle import compare, evaluate
from tests.evaluation.tiny_tables import PAGE_SIZE, VISIBLE_ROWS, Lines, tiny


def from_two(relevance: Any) -> Any:
    """A gain by which relevance 1 is nothing."""
    return np.maximum(np.asarray(relevance) - 1.0, 0.0)


def frame(lines: Lines | None) -> Any:
    table = None if lines is None else pl.DataFrame(lines, infer_schema_length=None)
    if table is not None and "category" in table.columns and table["category"].null_count() == table.height:
        return table.drop("category")
    return table


def view_metrics(rng: random.Random, rows: int, cols: int) -> dict[str, tuple[Any, Any]]:
    """Some metrics by name: as the package takes them, and the oracle's parameter."""

    def cutoff() -> str:
        return rng.choice(
            ["", f"@{rng.randint(1, rows)}x{rng.randint(1, cols)}", f"@{rows + 1}x{rng.randint(1, cols)}"]
        )

    names = dict.fromkeys(f"{kind}{cutoff()}" for kind in ("Precision", "Precision", "Recall", "Recall", "Hit"))
    metrics: dict[str, tuple[Any, Any]] = {name: (cv.metric(name), None) for name in names}
    metrics["RR"] = (cv.metric("RR"), paper_weights("d_rpd", rows, cols, PAGE_SIZE, VISIBLE_ROWS))
    metrics["RR(d_a)"] = (cv.metric("RR(d_a)"), paper_weights("d_a", rows, cols, PAGE_SIZE, VISIBLE_ROWS))
    table = [[rng.choice([0.0, 0.5, 1.0]) for _ in range(cols)] for _ in range(rows)]  # ties, and cells of no weight
    table[rng.randrange(rows)][rng.randrange(cols)] = 1.0
    tied = cv.metric("RR", discount=cv.discounts.Empirical(table, name="tied"))
    metrics["RR(d_emp(tied))"] = (tied, table)
    return metrics


@pytest.mark.parametrize("start", some(range(0, 600, 75), 2))
def test_tiny_tables(start: int) -> None:
    """Pages with gaps, repeats, pins and flaws, several a user; judgments missing or per page; every policy."""
    for seed in range(start, start + 75):
        rng = random.Random(seed)
        layouts, judgments, items, options = tiny(seed)
        metrics = view_metrics(rng, options["rows"], options["cols"])
        if rng.random() < 0.3:
            options["gain"] = from_two
        labelled = any(line.get("category") is not None for line in layouts)
        if not labelled:
            options["invalid"] = "count"  # what rows may share without labels is our own check
        tables = frame(layouts), frame(judgments), frame(items)
        grid = cv.Grid(options["rows"], options["cols"], page_size=PAGE_SIZE, visible_rows=VISIBLE_ROWS)
        options["metrics"] = [(name, parameter) for name, (_, parameter) in metrics.items()]
        policies = {key: value for key, value in options.items() if key not in ("metrics", "rows", "cols")}
        ours = {name: metric for name, (metric, _) in metrics.items()}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", cv.DataWarning)
            try:
                wanted = evaluate_tables(layouts, judgments, items, **options)
            except RefusedError:
                with pytest.raises(cv.CarousevalError):
                    evaluate(*tables, ours, grid, policies)
                continue
            compare(seed, wanted, evaluate(*tables, ours, grid, policies), list(metrics), labelled, items)


def pages(lines: list[tuple[Any, ...]], *more: str) -> pl.DataFrame:
    return pl.DataFrame(lines, schema=["user_id", "row", "col", "item_id", *more], orient="row")


def judged(**items: float) -> pl.DataFrame:
    return pl.DataFrame({"user_id": ["u"] * len(items), "item_id": list(items), "relevance": list(items.values())})


REPEATED = pages([("u", 1, 1, "x"), ("u", 1, 2, "y"), ("u", 1, 3, "a"), ("u", 2, 1, "a"), ("u", 2, 2, "b")])


@pytest.mark.parametrize(
    ("name", "duplicates", "wanted"),
    [
        ("Precision@2x2", "best", 2 / 4),
        ("Precision@2x2", "first", 1 / 4),  # a stands first in column 3
        ("Precision@2x2", "every", 2 / 4),
        ("Precision", "best", 2 / 5),
        ("Precision", "first", 2 / 5),
        ("Precision", "every", 3 / 5),
        ("Recall@2x2", "best", 2 / 3),
        ("Recall@2x2", "first", 2 / 3),  # an item in view is in view
        ("Recall@2x2", "every", 2 / 3),
        ("Recall", "every", 2 / 3),
        ("Hit@2x1", "best", 1.0),
        ("Hit@2x1", "first", 1.0),
        ("Hit@2x1", "every", 1.0),
        ("Hit@1x2", "every", 0.0),
    ],
)
def test_repeats_by_hand(name: str, duplicates: Any, wanted: float) -> None:
    """Item a stands in row 1, column 3 and in row 2, column 1; of the relevant items c is not shown."""
    found = cv.evaluate(REPEATED, judged(a=1, b=2, c=1, x=0), metrics=name, duplicates=duplicates)
    assert found.mean[name] == pytest.approx(wanted, rel=1e-15)


def test_repeats_may_be_an_error() -> None:
    with pytest.raises(cv.DataError, match="a"):
        cv.evaluate(REPEATED, judged(a=1), metrics="Precision", duplicates="error")


def test_relevant_is_what_gains() -> None:
    judgments = judged(a=1, b=2, c=1)
    metrics = ["Precision@2x2", "Recall@2x2", "Hit@2x1", "RR"]
    found = cv.evaluate(REPEATED, judgments, metrics=metrics, gain=from_two).mean
    weights = cv.metric("RR").weights(cv.RECGAZE)
    rank = 1 + sum(weights[i, j] >= weights[1, 1] for i, j in ((0, 0), (0, 1), (0, 2), (1, 0)))
    assert found == pytest.approx({"Precision@2x2": 1 / 4, "Recall@2x2": 1.0, "Hit@2x1": 0.0, "RR": 1 / rank})


def test_candidates() -> None:
    judgments = judged(a=1, b=2, c=1)
    of_judged = cv.evaluate(REPEATED, judgments, metrics="Recall@2x2", candidates="judged")
    assert of_judged.mean == pytest.approx({"Recall@2x2": 2 / 3})
    of_displayed = cv.evaluate(REPEATED, judgments, metrics="Recall@2x2", candidates="displayed")
    assert of_displayed.mean == pytest.approx({"Recall@2x2": 1.0})


def test_users_without_judgments_or_pages() -> None:
    layouts = pages([("u", 1, 1, "a"), ("stranger", 1, 1, "a")])
    judgments = pl.concat([judged(a=1), judged(b=1).with_columns(user_id=pl.lit("absent"))])
    metrics = ["Precision", "Recall", "Hit", "RR"]
    options: dict[str, Any] = {"metrics": metrics}
    for more, mean in (
        ({}, 1 / 2),
        ({"missing_pages": "skip"}, 1.0),
        ({"no_relevant": "zero"}, 1 / 3),
        ({"no_relevant": "zero", "missing_pages": "skip"}, 1 / 2),
    ):
        found = cv.evaluate(layouts, judgments, **(options | more)).mean
        assert found == pytest.approx(dict.fromkeys(metrics, mean)), more
    with pytest.raises(cv.DataError, match="stranger"):
        cv.evaluate(layouts, judgments, **options, no_relevant="error")
    with pytest.raises(cv.DataError, match="absent"):
        cv.evaluate(layouts, judgments, **options, missing_pages="error")


def test_grids_of_segments() -> None:
    """Every page has its device's grid: what it leaves out of view, and what its cells weigh."""
    rng = random.Random(0)
    shapes = {"tv": (3, 6), "phone": (5, 2), "web": (4, 4)}
    grids = {name: cv.Grid(*shape, page_size=2, visible_rows=2) for name, shape in shapes.items()}
    lines, judgments = [], []
    for n in range(60):
        device = rng.choice(sorted(shapes))
        rows, cols = shapes[device]
        for i in range(1, rng.randint(1, rows) + 1):
            for j in range(1, rng.randint(1, cols) + 1):
                lines.append((f"u{n:02}", i, j, rng.randrange(12), device))
        judgments += [(f"u{n:02}", item, rng.choice([0, 1, 2])) for item in rng.sample(range(15), 8)]
    layouts = pages(lines, "device")
    judgment_table = pl.DataFrame(judgments, schema=["user_id", "item_id", "relevance"], orient="row")
    names = ["Precision@4x3", "Recall@4x3", "Hit@2x2", "RR", "RR(d_a)", "Precision"]
    for duplicates in ("best", "first", "every"):
        found = cv.evaluate(
            layouts, judgment_table, metrics=names, grid=grids, by="device", duplicates=duplicates, no_relevant="zero"
        )
        assert found.per_page.height == 60
        for row in found.per_page.iter_rows(named=True):
            mine = layouts.filter(pl.col("user_id") == row["user_id"]).sort("row", "col")
            cells = mine.select("row", "col", "item_id").rows()
            gains = dict(
                judgment_table.filter(pl.col("user_id") == row["user_id"]).select("item_id", "relevance").rows()
            )
            rows, cols = shapes[row["device"]]
            for name in names:
                kind, _, cutoff = name.partition("@")
                last = [int(part) for part in cutoff.split("x")] if cutoff else [rows, cols]
                table = [[float(i < last[0] and j < last[1]) for j in range(cols)] for i in range(rows)]
                if kind.startswith("RR"):
                    table = paper_weights("d_a" if "d_a" in name else "d_rpd", rows, cols, 2, 2)
                wanted = view_value(kind.partition("(")[0], cells, gains, table, duplicates, "judged")
                assert row[name] == pytest.approx(wanted, rel=1e-14), (name, duplicates, row)


def test_lists_as_ir_measures_has_them() -> None:
    """Pages of one row, by a discount that falls from left to right."""
    rng = random.Random(1)
    qrels: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    for n in range(40):
        catalogue = [f"i{k}" for k in range(20)]
        qrels[f"u{n}"] = {item: rng.choice([0, 0, 1, 2]) for item in rng.sample(catalogue, 10)} | {"i20": 1}
        run[f"u{n}"] = {item: float(-at) for at, item in enumerate(rng.sample(catalogue, 8))}
    layouts = pages([(user, 1, 1 - int(score), item) for user, shown in run.items() for item, score in shown.items()])
    judgments = pl.DataFrame(
        [(user, item, grade) for user, grades in qrels.items() for item, grade in grades.items()],
        schema=["user_id", "item_id", "relevance"],
        orient="row",
    )
    measures = {
        "Precision@1x5": ir_measures.P @ 5,
        "Recall@1x5": ir_measures.R @ 5,
        "Hit@1x5": ir_measures.Success @ 5,
        "RR(d_t)": ir_measures.RR,
    }
    theirs = ir_measures.calc_aggregate(list(measures.values()), qrels, run)
    found = cv.evaluate(layouts, judgments, metrics=list(measures), grid=cv.Grid(1, 8)).mean
    assert found == pytest.approx({name: theirs[measure] for name, measure in measures.items()})


# --- Coverage ---


def test_coverage_by_definition() -> None:
    """Over all the catalogue, personal lines included, and everyone's pages, judged or not."""
    asked = {"Coverage": None, "Coverage@1x2": (1, 2), "Coverage@2x1": (2, 1), "Coverage@9x9": (9, 9)}
    seen = 0
    for seed in range(150):
        layouts, judgments, items, options = tiny(seed)
        grid = cv.Grid(options["rows"], options["cols"])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", cv.DataWarning)
            found = cv.evaluate(
                *(frame(layouts), frame(judgments), frame(items)),
                metrics=["Hit", *asked],
                grid=grid,
                invalid="count",
                candidates=options["candidates"],
            )
        wanted = {name: coverage(layouts, items, cutoff) for name, cutoff in asked.items()}
        assert {name: found.mean[name] for name in asked} == pytest.approx(wanted, rel=1e-15), seed
        seen += any(line.get("user_id") is not None for line in items or ())
    assert seen > 10


def test_coverage_is_a_figure_of_the_whole() -> None:
    data = sample(60, systems=["new", "random"], missing=0.1)
    layouts = data.layouts["new"].filter(pl.col("row") <= 2)
    names = ["Coverage@2x5", "N2DCG_cat", "Coverage"]
    found = cv.evaluate(layouts, data.judgments, data.items, metrics=names, by="device")
    assert list(found.mean) == names
    assert not any(column.startswith("Coverage") for column in (*found.per_page.columns, *found.per_user.columns))
    whole = found.to_frame().filter(pl.col("device") == "(all)")
    assert whole["metric"].to_list() == names
    for row in whole.filter(pl.col("metric").str.starts_with("Coverage")).iter_rows(named=True):
        cutoff = (2, 5) if "@" in row["metric"] else None
        assert row["mean"] == coverage(layouts.to_dicts(), data.items.to_dicts(), cutoff) == found.mean[row["metric"]]
        assert math.isnan(row["low"])
        assert math.isnan(row["high"])
    assert set(found.intervals) == {"N2DCG_cat"}
    alone = cv.evaluate(layouts, data.judgments, data.items, metrics="Coverage")
    assert alone.mean == {"Coverage": found.mean["Coverage"]}
    users = layouts["user_id"].n_unique()
    assert alone.to_frame().select("mean", "users", "pages").row(0) == (found.mean["Coverage"], users, users)
    assert alone.counts == found.counts
    assert '"Coverage"' in alone.to_json()
    assert f"Coverage  {found.mean['Coverage']:.4f}" in in_terminal(alone).plain


def test_coverage_on_grids_of_segments() -> None:
    grids = {"tv": cv.Grid(2, 4), "phone": cv.Grid(3, 1)}
    layouts = pages(
        [("u", 1, 1, "a", "tv"), ("u", 1, 3, "b", "tv"), ("v", 1, 1, "c", "phone"), ("v", 3, 1, "d", "phone")], "device"
    )
    items = {"item_id": ["a", "b", "c", "d", "e"], "category": ["k"] * 5}
    with pytest.warns(cv.DataWarning):  # gaps
        found = cv.evaluate(
            *(layouts, judged(a=1), items),
            metrics=["Coverage", "Coverage@2x2", "Coverage@3x1"],
            grid=grids,
            by="device",
            invalid="count",
        ).mean
    assert found == pytest.approx({"Coverage": 4 / 5, "Coverage@2x2": 2 / 5, "Coverage@3x1": 3 / 5})


@pytest.fixture(scope="module")
def data() -> Sample:
    return sample(80, systems=["new", "random"], missing=0.1)


def test_coverage_of_systems_compared(data: Sample) -> None:
    names = ["N2DCG_cat", "Coverage@3x5"]
    found = cv.compare(data.layouts, data.judgments, data.items, metrics=names, permutations=99)
    assert found.metrics == ("N2DCG_cat",)
    assert found.pairs["metric"].unique().to_list() == ["N2DCG_cat"]
    figures = found.systems.filter(pl.col("metric") == "Coverage@3x5")
    for row in figures.iter_rows(named=True):
        alone = cv.evaluate(data.layouts[row["system"]], data.judgments, data.items, metrics=names)
        assert row["mean"] == alone.mean["Coverage@3x5"]
        assert math.isnan(row["low"])
        assert math.isnan(row["high"])
    assert figures.height == 2


def test_systems_without_items_share_a_catalogue() -> None:
    """Without items the catalogue is all that the layouts at hand show, those of all systems."""
    one = pages([("u", 1, 1, "a", "k"), ("u", 1, 2, "b", "k")], "category")
    other = pages([("u", 1, 1, "a", "k"), ("u", 1, 2, "c", "k"), ("u", 1, 3, "d", "k")], "category")
    systems = {"one": one, "other": other}
    judgments = judged(a=1, c=1)
    with pytest.warns(cv.DataWarning, match="Coverage: there is no items table"):
        found = cv.compare(systems, judgments, metrics=["Hit@1x1", "Coverage"], permutations=9)
    figures = found.systems.filter(pl.col("metric") == "Coverage")
    assert dict(figures.select("system", "mean").rows()) == {"one": 2 / 4, "other": 3 / 4}
    bare = {name: table.drop("category") for name, table in systems.items()}
    with pytest.raises(cv.DataError, match=r"missing column category, .* Add it, or give items"):
        cv.compare(bare, judgments, metrics=["Hit@1x1", "Coverage"], permutations=9)


@pytest.mark.parametrize("metrics", ["Coverage", ["Coverage", "Coverage@3x5"]])
def test_figures_alone_cannot_be_compared(data: Sample, metrics: Any) -> None:
    with pytest.raises(cv.ParameterError, match="figure of a whole system"):
        cv.compare(data.layouts, data.judgments, data.items, metrics=metrics)


@pytest.mark.parametrize("metric", ["Coverage", "Precision", "RR", "Hit@3x5", "Recall"])
def test_what_has_no_ideal_is_not_explained(data: Sample, metric: str) -> None:
    with pytest.raises(cv.ParameterError, match="explain takes one N2DCG_cat"):
        cv.explain(data.layouts["new"], data.judgments, data.items, metrics=metric)
    with pytest.raises(cv.ParameterError, match="sensitivity takes one N2DCG_cat"):
        cv.sensitivity(data.layouts, data.judgments, data.items, metrics=metric)


# --- metrics do not touch one another ---


def mixed_metrics(rng: random.Random, rows: int, cols: int) -> list[Any]:
    """Metrics of every kind, each perhaps with a gain of its own; by some of these relevance 1 is nothing."""

    def total(gains: Any, weights: Any) -> float:
        return float((gains * weights).sum())

    def own_gain() -> Any:
        return rng.choice([None, "linear", "exp2", from_two, at_least_three])

    cutoff = (rng.randint(1, rows), rng.randint(1, cols))
    kinds = ["N2DCG_cat", "N2DCG", "2DCG", "Precision", "Recall", "Hit"]
    metrics = [cv.metric(kind, cutoff=rng.choice([None, cutoff]), gain=own_gain()) for kind in kinds]
    metrics += [cv.metric(kind, gain=own_gain()) for kind in ("NDCG", "DCG", "RR")]
    return [*metrics, cv.metric(total, gain=own_gain()), cv.metric("N2DCG_cat(d_mir)", gain=own_gain())]


def at_least_three(relevance: Any) -> Any:
    """A gain by which only relevance 3 and more counts."""
    return np.where(np.asarray(relevance) >= 3, np.asarray(relevance), 0.0)


def random_cases(count: int) -> Iterator[tuple[random.Random, Lines, Lines, Lines | None, dict[str, Any], cv.Grid]]:
    for seed in range(5000, 5000 + count):
        rng = random.Random(seed)
        layouts, judgments, items, options = tiny(seed)
        grid = cv.Grid(options["rows"], options["cols"], page_size=PAGE_SIZE, visible_rows=VISIBLE_ROWS)
        policies = {key: value for key, value in options.items() if key not in ("metrics", "rows", "cols")}
        policies["invalid"] = "count"
        if rng.random() < 0.5:  # every page its own weight, sometimes none
            weights: dict[Any, float] = {}
            for line in layouts:
                page = line["user_id"], line.get("page_id")
                line["traffic"] = weights.setdefault(page, rng.choice([0.0, 0.5, 1.0, 3.0]))
            policies |= {"weight": "traffic", "missing_pages": "skip"}
        yield rng, layouts, judgments, items, policies, grid


def test_a_mean_does_not_depend_on_the_other_metrics() -> None:
    compared, cases = 0, gate_or_deep(60, 200)
    for rng, layouts, judgments, items, policies, grid in random_cases(cases):
        tables = frame(layouts), frame(judgments), frame(items)
        several = rng.sample(mixed_metrics(rng, grid.rows, grid.cols), 3)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", cv.DataWarning)
            try:
                together = cv.evaluate(*tables, metrics=several, grid=grid, **policies)
            except cv.CarousevalError:
                continue
            for one in several:
                alone = cv.evaluate(*tables, metrics=[one], grid=grid, **policies)
                name = str(one)
                assert alone.per_page[name].equals(together.per_page[name], null_equal=True)
                np.testing.assert_array_equal(alone.mean[name], together.mean[name], f"{name}, {policies}")
                compared += not math.isnan(alone.mean[name])
    assert compared > 1.5 * cases


def test_a_weighted_mean_by_hand() -> None:
    """A user weighs what the pages weigh that count by this metric, whatever counts by another."""
    layouts = pl.DataFrame(
        {
            "user_id": ["u", "u", "v"],
            "page_id": [1, 2, 1],
            "row": [1, 1, 1],
            "col": [1, 1, 2],
            "item_id": ["a", "b", "c"],
            "traffic": [1.0, 9.0, 1.0],
        }
    )
    judgments = layouts.select("user_id", "page_id", "item_id", relevance=pl.Series([2, 1, 2]))
    picky, any_ = cv.metric("Precision@1x1", gain=from_two), cv.metric("Hit")
    with pytest.warns(cv.DataWarning, match="gap"):
        alone = cv.evaluate(layouts, judgments, metrics=[picky], weight="traffic")
    with pytest.warns(cv.DataWarning, match="gap"):
        both = cv.evaluate(layouts, judgments, metrics=[picky, any_], weight="traffic")
    assert alone.mean[str(picky)] == pytest.approx(1 / 2)  # page 2 of u has nothing relevant and is left out
    assert both.mean[str(picky)] == pytest.approx(1 / 2)


@pytest.mark.parametrize("others", [[], ["Hit"]])
def test_no_relevant_is_an_error_by_every_metric(others: list[Any]) -> None:
    layouts, judgments = pages([("u", 1, 1, "a")]), judged(a=1)
    picky = cv.metric("2DCG", gain=from_two)
    with pytest.raises(cv.DataError, match="no relevant item"):
        cv.evaluate(layouts, judgments, metrics=[picky, *others], no_relevant="error")
