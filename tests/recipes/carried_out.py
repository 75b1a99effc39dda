"""What the recipes of CONTRIBUTING.md add, used: ``test_recipes.py`` runs this in a copy of the package that has it."""

import multiprocessing
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scipy.stats import binomtest

import carouseval as cv
from carouseval.comparison.settings import ComparisonSettings
from carouseval.comparison.systems import all_runs
from carouseval.engines.compare import compare_on
from carouseval.engines.evaluate import evaluate_on
from carouseval.engines.local import LocalEngine
from carouseval.evaluation.settings import Settings
from tests.command_line import Done, run
from tests.engines.pool_engine import PoolEngine

GRID = cv.Grid(4, 6, page_size=3)
OPTIONS = ("--grid", "4x6", "--page-size", "3")


@pytest.fixture(scope="module")
def engine() -> Iterator[LocalEngine]:
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as processes:
        yield PoolEngine(parts=2, pool=processes)


@pytest.fixture(scope="module")
def data() -> cv.Sample:
    sample = cv.sample(30, systems=["prod", "new"])
    fits = pl.col("row") <= GRID.rows, pl.col("col") <= GRID.cols
    layouts = {name: pages.filter(*fits) for name, pages in sample.layouts.items()}
    return cv.Sample(**{**vars(sample), "layouts": layouts})


@pytest.fixture(scope="module")
def folder(data: cv.Sample, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tables")
    tables = {"new": data.layouts["new"], "prod": data.layouts["prod"]}
    for name, table in {**tables, "judgments": data.judgments, "items": data.items}.items():
        table.write_csv(folder / f"{name}.csv")
        table.write_csv(folder / f"{name}.psv", separator="|")
    return folder


def evaluate(data: cv.Sample, **settings: Any) -> Any:
    return cv.evaluate(data.layouts["new"], data.judgments, data.items, grid=GRID, **settings)


def evaluate_with(engine: Any, data: cv.Sample, **settings: Any) -> Any:
    chosen = Settings(grid=GRID, **settings)
    return evaluate_on(engine, data.layouts["new"], data.judgments, data.items, chosen)


def compare_with(engine: Any, data: cv.Sample, settings: Settings, **choices: Any) -> Any:
    chosen = ComparisonSettings(**choices)
    return compare_on(
        engine,
        all_runs(data.layouts, chosen.baseline, lambda table: table),
        data.judgments,
        data.items,
        chosen,
        settings,
    )


def command(name: str, folder: Path, *options: str, systems: tuple[str, ...] = ("new.csv",), kind: str = "csv") -> Done:
    tables = [*systems, f"judgments.{kind}", "--items", f"items.{kind}"]
    done = run(name, *tables, *OPTIONS, *options, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done


def warnings_of(call: Callable[[], Any]) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [str(one.message) for one in caught]


def same_everywhere(name: str, data: cv.Sample, folder: Path, engine: LocalEngine) -> None:
    """A metric gives the same scores in Python, on the command line and on the engine."""
    here, there = evaluate(data, metrics=[name]), evaluate_with(engine, data, metrics=[name])
    assert here.mean[name] > 0
    assert_frame_equal(here.per_page, there.per_page.select(here.per_page.columns).sort("user_id"))
    done = command("evaluate", folder, "-m", name, "--format", "csv")
    assert repr(here.mean[name]) in done.stdout


def test_discount(data: cv.Sample, folder: Path, engine: LocalEngine) -> None:
    assert cv.discounts.parse("d_geo(keep=0.5)").weights(cv.Grid(2, 2)).tolist() == [[1, 0.5], [0.5, 0.25]]
    assert cv.dcg2d([[0, 1], [1, 1]], discount="d_geo(keep=0.5)") == 1.25
    with pytest.raises(cv.ParameterError, match="keep"):
        cv.discounts.parse("d_geo(keep=2)")
    same_everywhere("N2DCG_cat(d_geo(keep=0.8))@3x5", data, folder, engine)


def test_metric(data: cv.Sample, folder: Path, engine: LocalEngine) -> None:
    assert cv.metric("Found@1x2")([[0, 2, 1], [1, 1, 1]]) == 1
    same_everywhere("Found@3x5", data, folder, engine)


def test_evaluation_setting(data: cv.Sample, folder: Path, engine: LocalEngine) -> None:
    told = "30 users are fewer than {}."
    assert told.format("min_users=99") in warnings_of(lambda: evaluate(data, min_users=99))
    assert told.format("min_users=99") in warnings_of(lambda: evaluate_with(engine, data, min_users=99))
    assert not warnings_of(lambda: evaluate(data, min_users=30))
    assert evaluate(data, min_users=30).config["min_users"] == 30
    assert told.format("--min-users 99") in command("evaluate", folder, "--min-users", "99").stderr
    with pytest.raises(cv.ParameterError, match=r"^min_users must be an integer, found 'all'\.$"):
        evaluate(data, min_users="all")
    assert "Warn where fewer users are scored." in (cv.compare.__doc__ or "")


def test_comparison_setting(data: cv.Sample, folder: Path, engine: LocalEngine) -> None:
    def compare(small: float) -> Any:
        settings: dict[str, Any] = {"grid": GRID, "small": small}
        return cv.compare(data.layouts, data.judgments, data.items, **settings)

    assert "A difference is below 1.0." in warnings_of(lambda: compare(1.0))
    assert "A difference is below 1.0." in warnings_of(
        lambda: compare_with(engine, data, Settings(grid=GRID), small=1.0)
    )
    assert not warnings_of(lambda: compare(0.0))
    assert compare(0.0).config["small"] == 0
    done = command("compare", folder, "--small", "1", systems=("new=new.csv", "prod=prod.csv"))
    assert "A difference is below 1.0." in done.stderr
    assert "--small" in run("report", "--help").stdout


def test_file_format(data: cv.Sample, folder: Path, engine: LocalEngine) -> None:
    expected = evaluate(data).mean
    assert cv.evaluate(folder / "new.psv", folder / "judgments.psv", folder / "items.psv", grid=GRID).mean == expected
    done = command("evaluate", folder, "--format", "csv", systems=("new.psv",), kind="psv")
    assert repr(expected["N2DCG_cat"]) in done.stdout
    chosen = Settings(grid=GRID)
    there = evaluate_on(
        engine, data.layouts["new"], data.judgments, pl.read_csv(folder / "items.psv", separator="|"), chosen
    )
    assert there.mean == expected


def test_result_column(data: cv.Sample, folder: Path, engine: LocalEngine) -> None:
    with_gap = data.layouts["new"].filter((pl.col("user_id") != pl.col("user_id").min()) | (pl.col("col") != 2))
    gapped = cv.Sample(**{**vars(data), "layouts": {**data.layouts, "new": with_gap}})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cv.DataWarning)
        here, there = evaluate(gapped).per_page, evaluate_with(engine, gapped).per_page
        assert here["gaps"].sum() == 1
        assert_frame_equal(here, there.select(here.columns).sort("user_id"))
    command("evaluate", folder, "--per-page", "pages.csv")
    assert "gaps" in pl.read_csv(folder / "pages.csv").columns


def test_chart(data: cv.Sample, folder: Path, engine: LocalEngine) -> None:
    assert evaluate(data).chart("counts").alt == "30 users."
    assert evaluate_with(engine, data).chart("counts").alt == "30 users."
    command("evaluate", folder, "--chart", "counts.svg", "--chart-kind", "counts")
    assert "What was counted" in (folder / "counts.svg").read_text()
    assert "what was counted (counts)" in " ".join(run("evaluate", "--help").stdout.split())


def test_significance_test(data: cv.Sample, folder: Path, engine: LocalEngine) -> None:
    here = cv.compare(data.layouts, data.judgments, data.items, grid=GRID, test="signs")  # type: ignore[arg-type]
    there = compare_with(engine, data, Settings(grid=GRID), test="signs")
    pair = here.pairs.row(0, named=True)
    assert pair["p"] == there.pairs["p"][0] == binomtest(pair["wins"], pair["wins"] + pair["losses"]).pvalue
    done = command("compare", folder, "--test", "signs", systems=("new=new.csv", "prod=prod.csv"))
    assert "sign test paired by user" in " ".join(done.stdout.split())


def test_browsing_model(data: cv.Sample, folder: Path, engine: LocalEngine) -> None:
    weights = cv.discounts.parse("d_list(on=0.5)").weights(cv.Grid(2, 2))
    assert weights.tolist() == [[1, 0.5], [0.25, 0.125]]
    assert cv.discounts.ListReading(on=0.5).chain(cv.Grid(2, 2)).weights.tolist() == weights.tolist()  # type: ignore[attr-defined]
    assert cv.behavior.browse([[1, 0], [0, 1]], "d_list(on=0.5)").total_utility == 1.125
    same_everywhere("N2DCG_cat(d_list(on=0.9))", data, folder, engine)
    (folder / "counts.csv").write_text("1000,500\n250,125\n")
    done = run("fit", "counts.csv", "--screens", "1000", "--discount", "d_list", "--format", "json", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert '"on": 0.5' in done.stdout


def test_engine(data: cv.Sample) -> None:
    from carouseval.engines.threads import Threads  # type: ignore[import-not-found]

    here, there = evaluate(data).per_page, evaluate_with(Threads(parts=3), data).per_page
    assert_frame_equal(here, there.select(here.columns).sort("user_id"))


def test_command() -> None:
    assert run("grids").stdout.startswith("recgaze: 10x15")
    assert "List the grids that have names." in run("--help").stdout
