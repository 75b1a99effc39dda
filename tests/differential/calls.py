"""The calls of each kind of case, by public names alone; what they need is drawn from the case's generator."""

import random
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
import polars as pl

import carouseval as cv
from tests.differential import drawing
from tests.differential.outcomes import Outcomes, content, fields
from tests.fuzz import arrays as fuzzed_arrays
from tests.fuzz import files as fuzzed_files
from tests.fuzz.texts import DISCOUNTS, METRICS, hostile_text

Kind = Callable[[random.Random, Outcomes], None]


class Steps:
    """What a progress function hears: which steps there are, in their order, and of how much."""

    def __init__(self) -> None:
        self.heard: dict[str, int] = {}

    def __call__(self, what: str, done: int, total: int) -> None:
        self.heard[what] = total


def arrays(rng: random.Random, outcomes: Outcomes) -> None:
    """An array function, or a metric, of relevances in any form; visits and costs of some."""
    case = fuzzed_arrays.draw(rng)
    with np.errstate(all="ignore"):
        outcomes.call(case.function, lambda: fuzzed_arrays.compute(case))
        if rng.random() < 0.1 and isinstance(case.options["discount"], str):
            discount, grid = case.options["discount"], case.options["grid"]
            outcomes.call("browse", lambda: cv.behavior.browse(case.relevance, discount, grid), fields)


def texts(rng: random.Random, outcomes: Outcomes) -> None:
    """Metrics and discounts by any text, grids of any numbers, and numbers of users."""
    metric, discount = hostile_text(rng, METRICS), hostile_text(rng, DISCOUNTS)
    outcomes.call("metric", lambda: cv.metric(metric))
    outcomes.call("metric, cutoff", lambda: cv.metric("N2DCG_cat", cutoff=hostile_text(rng, ["3x5", "1x1"])))
    parsed = outcomes.call("discount", lambda: cv.discounts.parse(discount)) or cv.discounts.parse(
        rng.choice(DISCOUNTS[:2])
    )
    grid = outcomes.call("grid", lambda: _grid(rng), fields) or cv.RECGAZE
    if grid.rows * grid.cols < 10_000:
        outcomes.call("weights", lambda: parsed.weights(grid))
    path = outcomes.folder / "discount.json"
    outcomes.call("save", lambda: cv.discounts.save(parsed, path))
    outcomes.call("load", lambda: cv.discounts.load(path) if path.exists() else None)
    numbers: list[Any] = [rng.choice([0.0, 0.01, 0.3, 1, 2, -1, "x", rng.random()]) for _ in range(2)]
    outcomes.call("users_needed", lambda: cv.users_needed(*numbers, power=rng.choice([0.8, 0.95, 1])))


def _grid(rng: random.Random) -> cv.Grid:
    numbers: list[Any] = [1, 1, 2, 3, 4, 5, 8, 15, 15]
    if rng.random() < 0.2:
        numbers += [0, -1, 1.0, "3", None, True, 10**6, [1, 5], []]
    names = ("rows", "cols", "page_size", "visible_rows", "swipe_step", "scroll_step")
    chosen = {name: rng.choice(numbers) for name in names if rng.random() < 0.7}
    if rng.random() < 0.2:
        chosen["page_size"] = [rng.randint(1, 5) for _ in range(rng.randint(1, 4))]
    return cv.Grid(**chosen)


def evaluate(rng: random.Random, outcomes: Outcomes) -> None:
    """A system by ``evaluate``, or all runs of all systems by one ``Evaluator``."""
    arguments = drawing.drawn(rng, outcomes.folder, several=rng.random() < 0.3)
    if rng.random() < 0.75:
        steps = Steps()
        one = {"progress": steps, **drawing.of_one_system(arguments)}
        result = outcomes.result("evaluate", lambda: cv.evaluate(**one))
        outcomes.call("progress", lambda: steps.heard)
        if result is not None and rng.random() < 0.2:
            outcomes.saved("evaluate", result)
        return
    systems = arguments.pop("systems")
    if arguments.get("capacity") == "shown" and rng.random() < 0.8:
        arguments["capacity"] = "grid"
    evaluator = outcomes.call("Evaluator", lambda: cv.Evaluator(**arguments), lambda _: "made")
    if evaluator is not None:
        for name, runs in systems.items():
            for n, layouts in enumerate(runs if isinstance(runs, list) else [runs]):
                outcomes.result(f"Evaluator.evaluate {name} {n}", partial(evaluator.evaluate, layouts))


def compare(rng: random.Random, outcomes: Outcomes) -> None:
    """Systems with one or several runs."""
    arguments = drawing.drawn(rng, outcomes.folder, several=rng.random() < 0.97)
    steps = Steps()
    settings = drawing.comparison_settings(rng, arguments["systems"])
    result = outcomes.result("compare", lambda: cv.compare(**{"progress": steps, **arguments, **settings}))
    outcomes.call("progress", lambda: steps.heard)
    if result is not None and rng.random() < 0.2:
        outcomes.saved("compare", result)


def explain(rng: random.Random, outcomes: Outcomes) -> None:
    """One system, and the pages of some of its users."""
    arguments = drawing.of_one_system(drawing.drawn(rng, outcomes.folder))
    if isinstance(arguments["metrics"], list) and rng.random() < 0.95:
        arguments["metrics"] = [one for one in arguments["metrics"] if str(one).startswith("N2DCG_cat")][
            :1
        ] or "N2DCG_cat"
    steps = Steps()
    result = outcomes.result("explain", lambda: cv.explain(**{"progress": steps, **arguments}))
    outcomes.call("progress", lambda: steps.heard)
    if result is not None and rng.random() < 0.2:
        outcomes.saved("explain", result)


def check(rng: random.Random, outcomes: Outcomes) -> None:
    """Tables of one system, now and then without judgments."""
    arguments = drawing.of_one_system(drawing.drawn(rng, outcomes.folder))
    if rng.random() < 0.1:
        arguments["judgments"] = None
    result = outcomes.result("check", lambda: cv.check(**arguments))
    if result is not None:
        outcomes.call("raise_for_errors", result.raise_for_errors)


def sensitivity(rng: random.Random, outcomes: Outcomes) -> None:
    """Systems under some of the discounts."""
    arguments = drawing.drawn(rng, outcomes.folder, several=True)
    arguments["metrics"] = rng.choice(["N2DCG_cat", "N2DCG_cat", "N2DCG_cat(d_rpb)", "N2DCG_cat@3x5", "2DCG"])
    if not isinstance(arguments["grid"], cv.Grid) and rng.random() < 0.9:
        arguments["grid"] = cv.RECGAZE
    if rng.random() < 0.7:
        arguments["discounts"] = rng.sample(["d_rpd", "d_rpb", "d_mul", "d_add", "d_mir", "d_a", "d_t"], 2)
    outcomes.result("sensitivity", lambda: cv.sensitivity(**arguments))


def files(rng: random.Random, outcomes: Outcomes) -> None:
    """A damaged file."""
    case = fuzzed_files.draw(rng)
    path = outcomes.folder / f"layouts.{fuzzed_files.formats()[case.format].extension}"
    path.write_bytes(case.content)
    outcomes.call("evaluate", lambda: cv.evaluate(path, fuzzed_files.JUDGMENTS), fields)
    outcomes.call("check", lambda: cv.check(path, fuzzed_files.JUDGMENTS), fields)


def show(rng: random.Random, outcomes: Outcomes) -> None:
    """Charts and reports of what tables give."""
    arguments = drawing.sampled(rng, several=True, most_users=25)
    one = drawing.of_one_system(arguments)
    report = outcomes.folder / "report.html"
    results: dict[str, Callable[[], Any]] = {
        "evaluate": lambda: cv.evaluate(**one),
        "compare": lambda: cv.compare(**arguments, permutations=99, explain=rng.random() < 0.5),
        "explain": lambda: cv.explain(**{**one, "metrics": "N2DCG_cat"}),
        "sensitivity": lambda: cv.sensitivity(**{**arguments, "metrics": "N2DCG_cat", "grid": cv.RECGAZE}),
    }
    name = rng.choice(list(results))
    result = outcomes.call(name, results[name], fields)
    if result is not None:
        outcomes.charts(name, result, theme=rng.choice(["light", "dark"]))
        outcomes.call(f"{name}.report", lambda: result.report(report), content)


def spark(rng: random.Random, outcomes: Outcomes) -> None:
    """Tables of either kind on Spark: what its results say, and all of what is collected."""
    several = rng.random() < 0.5
    arguments = drawing.drawn(rng, outcomes.folder, several, form="Polars")
    if several:
        arguments |= drawing.comparison_settings(rng, arguments["systems"])
        if rng.random() < 0.9:
            arguments.pop("explain", None)  # which Spark does not do
        arguments["systems"] = {
            name: [_on_spark(run) for run in runs] if isinstance(runs, list) else _on_spark(runs)
            for name, runs in arguments["systems"].items()
        }
        if rng.random() < 0.5:
            arguments["collect"] = True
    else:
        arguments = drawing.of_one_system(arguments)
        arguments["layouts"] = _on_spark(arguments["layouts"])
    arguments |= {name: _on_spark(arguments[name]) for name in ("judgments", "items", "carousels")}
    arguments["lines_at_once"] = rng.choice([5, 1000, None])
    name, function = ("spark.compare", cv.spark.compare) if several else ("spark.evaluate", cv.spark.evaluate)
    result = outcomes.call(name, lambda: function(**arguments), _of_driver)
    if result is not None:
        for method in ("to_frame", "to_markdown", "_repr_html_"):
            outcomes.call(f"{name}.{method}", getattr(result, method))
        outcomes.call(f"{name}.repr", lambda: repr(result))
        outcomes.result(f"{name}.collect", result.collect)
        outcomes.call(f"{name}.unpersist", result.unpersist, lambda _: "done")


def _of_driver(result: Any) -> Any:
    """What a result of Spark says without its lines of users and pages."""
    names = ("metrics", "counts", "config", "mean", "intervals", "segments", "segment_means", "figures", "page_match")
    more = ("caption", "heading", "summary", "systems", "pairs", "notice")
    return fields({name: getattr(result, name) for name in (*names, *more) if hasattr(result, name)})


@cache
def _session() -> Any:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]")
    options = {
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.shuffle.partitions": "3",
        "spark.sql.adaptive.coalescePartitions.enabled": "false",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "OFF",
    }
    for name, value in options.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def _on_spark(table: Any) -> Any:
    """A Spark DataFrame of a table; what cannot be one as it is."""
    if table is None:
        return None
    try:
        frame = table.collect() if isinstance(table, pl.LazyFrame) else table
        return _session().createDataFrame(pl.DataFrame(frame).to_arrow())
    except Exception:
        return table
