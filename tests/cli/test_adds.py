"""What a carousel adds, on the command line."""

import csv
import io
import json
import shlex
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import carouseval as cv
from carouseval.cli.adds import EXAMPLES
from tests.command_line import run
from tests.evaluation.test_ideal_limits import CANDIDATES, TABLES


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pages of three rows; what stood below them are the candidates."""
    folder = tmp_path_factory.mktemp("adds")
    data = cv.sample(40, systems=["new"])
    pages = data.layouts["new"].select("user_id", "row", "col", "item_id", "category")
    candidates = pages.filter(pl.col("row") > 3).with_columns(carousel="category").drop("row")
    pages.filter(pl.col("row") <= 3).write_parquet(folder / "layouts.parquet")
    candidates.write_parquet(folder / "candidates.parquet")
    candidates.drop("category").rename({"carousel": "shelf"}).write_csv(folder / "candidates.csv")
    data.judgments.write_parquet(folder / "judgments.parquet")
    data.judgments.write_csv(folder / "judgments.csv")
    data.items.write_parquet(folder / "items.parquet")
    return folder


def arguments(folder: Path, *layouts: str) -> list[str]:
    tables = [str(folder / f"{name}.parquet") for name in ("candidates", "judgments")]
    more = [option for name in ("items", *layouts) for option in (f"--{name}", str(folder / f"{name}.parquet"))]
    return ["adds", *tables, *more]


def expected(folder: Path, **options: object) -> cv.MarginalGains:
    paths = (folder / f"{name}.parquet" for name in ("layouts", "candidates", "judgments", "items"))
    return cv.marginal_gains(*paths, **options)  # type: ignore[arg-type]


def test_in_every_format(folder: Path) -> None:
    wanted = expected(folder)
    for kind in ("table", "json", "csv", "markdown", "latex"):
        done = run(*arguments(folder, "layouts"), "--format", kind)
        assert (done.returncode, done.stderr) == (0, ""), kind
        assert next(iter(wanted.gains)) in done.stdout
        if kind == "json":
            assert json.loads(done.stdout) == json.loads(wanted.to_json())
        if kind == "csv":
            rows = list(csv.DictReader(io.StringIO(done.stdout)))
            assert [float(row["gain"]) for row in rows] == list(wanted.gains.values())
            assert [row["carousel"] for row in rows] == list(wanted.gains)
        if kind == "table":
            assert done.stdout.startswith(f"{wanted.heading}\n")


def test_settings_and_files(folder: Path, tmp_path: Path) -> None:
    out, users = tmp_path / "adds.csv", tmp_path / "users.parquet"
    options = ["--row", "2", "-m", "N2DCG_cat(d_a)", "--grid", "10x15", "--page-size", "3", "--visible-rows", "2"]
    options += ["--gain", "linear", "--invalid", "count", "--out", str(out), "--per-user", str(users), "-f", "json"]
    done = run(*arguments(folder, "layouts"), *options)
    assert done.returncode == 0, done.stderr
    grid = cv.Grid(10, 15, page_size=3, visible_rows=2)
    wanted = expected(folder, row=2, metrics="N2DCG_cat(d_a)", grid=grid, gain="linear", invalid="count")
    assert json.loads(done.stdout) == json.loads(wanted.to_json())
    assert_frame_equal(pl.read_csv(out), wanted.to_frame())
    assert_frame_equal(pl.read_parquet(users), wanted.per_user)


def test_carousels_and_capacities(folder: Path, tmp_path: Path) -> None:
    declared = tmp_path / "carousels.csv"
    declared.write_text("category,capacity\nDrama,2\n")
    options = ["--capacity", "shown", "--carousels", str(declared), "--invalid", "count", "-f", "json"]
    wanted = expected(folder, capacity="shown", carousels=declared, invalid="count")
    assert json.loads(run(*arguments(folder, "layouts"), *options).stdout) == json.loads(wanted.to_json())
    built = run(
        *arguments(folder), "--greedy", "--rows", "2", "--capacity", "Drama=1", "--invalid", "count", "-f", "json"
    )
    paths = (folder / f"{name}.parquet" for name in ("candidates", "judgments", "items"))
    limited = cv.build_pages(*paths, rows=2, capacity={"Drama": 1}, invalid="count")
    assert json.loads(built.stdout) == json.loads(limited.to_json())


def test_empty_pages(folder: Path) -> None:
    done = run(*arguments(folder), "--format", "json")
    paths = (folder / f"{name}.parquet" for name in ("candidates", "judgments", "items"))
    assert json.loads(done.stdout) == json.loads(cv.marginal_gains(None, *paths).to_json())


def test_greedy(folder: Path, tmp_path: Path) -> None:
    pages = tmp_path / "built.parquet"
    done = run(*arguments(folder), "--greedy", "--rows", "2", "--pages", str(pages), "--format", "json")
    assert (done.returncode, done.stderr) == (0, "")
    candidates, judgments, items = (folder / f"{name}.parquet" for name in ("candidates", "judgments", "items"))
    built = cv.build_pages(candidates, judgments, items, rows=2)
    assert json.loads(done.stdout) == json.loads(built.to_json())
    assert_frame_equal(pl.read_parquet(pages), built.layouts)
    assert cv.evaluate(pages, judgments, items).mean["N2DCG_cat"] == pytest.approx(built.score)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--rows", "3"], "--rows needs --greedy."),
        (["--pages", "built.csv"], "--pages needs --greedy."),
        (["--greedy", "--row", "3"], "--greedy builds a page from the candidates alone; leave out --row."),
        (["--greedy", "--layouts", "x.csv"], "--greedy builds a page from the candidates alone; leave out --layouts."),
        (["--greedy", "--rows", "11"], "--rows must be at most 10 (candidates: "),
        (["--row", "11"], "--row must be at most 10, the last row of the grid of 10x15, found 11."),
        (["-m", "NDCG@10"], "--metrics: give one of 2DCG, N2DCG and N2DCG_cat, with any discount and cutoff, found"),
        (["--out", "adds.txt"], "adds.txt: unsupported file type."),
        (["--columns", "carousel=shelf"], "--columns: there is no column 'shelf' in any table."),
        (["--grid", "10x1"], "candidates: "),
        (["--capacity", "Drama=1"], "candidates: "),
        (["--chart-kind", "rows"], "--chart-kind must be 'gains', found 'rows'."),
        (["--greedy", "--chart-kind", "gains"], "--chart-kind must be 'rows', found 'gains'."),
    ],
)
def test_errors(options: list[str], message: str, folder: Path) -> None:
    done = run(*arguments(folder), *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"carouseval: {message}")


def test_judgments_without_relevance_and_categories_in_one_cell(tmp_path: Path) -> None:
    (tmp_path / "candidates.csv").write_text("user_id,carousel,col,item_id\n1,drama,1,10\n")
    (tmp_path / "judgments.csv").write_text("user_id,item_id\n1,10\n")
    (tmp_path / "items.csv").write_text("item_id,category\n10,crime|drama\n")
    call = ["adds", "candidates.csv", "judgments.csv", "--items", "items.csv", "--split", "|", "-f", "json"]
    done = run(*call, cwd=tmp_path)
    assert done.stderr == "carouseval: note: judgments have no column relevance; each counts as relevance 1.\n"
    content = json.loads(done.stdout)
    assert (content["config"]["split"], content["results"][0]["gain"]) == ("|", pytest.approx(1.0))


def test_advice_names_options(folder: Path, tmp_path: Path) -> None:
    layouts = tmp_path / "layouts.parquet"
    pl.read_parquet(folder / "layouts.parquet").filter(pl.col("row") != 2).write_parquet(layouts)
    call = [*arguments(folder), "--layouts", str(layouts)]
    refused = run(*call)
    assert refused.returncode == 2
    assert refused.stderr.endswith("Number rows 1, 2, 3 without gaps, or use --invalid count.\n")
    assert run(*call, "--invalid", "count").returncode == 0


@pytest.mark.parametrize("example", EXAMPLES.strip().splitlines())
def test_examples_run(example: str, folder: Path, tmp_path: Path) -> None:
    for file in folder.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    done = run(*shlex.split(example)[1:], cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_tolerance_and_work_reach_the_ideals(tmp_path: Path) -> None:
    candidates, judgments, items = (tmp_path / f"{name}.parquet" for name in ("candidates", "judgments", "items"))
    CANDIDATES.write_parquet(candidates)
    TABLES["judgments"].write_parquet(judgments)
    TABLES["items"].write_parquet(items)
    call = ["adds", str(candidates), str(judgments), "--items", str(items), "--grid", "6x5", "--page-size", "2"]
    for greedy in ([], ["--greedy", "--rows", "2"]):
        done = run(*call, *greedy, "--work", "0", "-f", "json")
        assert json.loads(done.stdout)["counts"]["bounded"] > 0
        assert done.stderr.startswith("carouseval: warning: ")
        assert done.stderr.endswith("%. To prove more, use --work 8000.\n")
    done = run(*call, "--tolerance", "0.1", "-f", "json")
    assert json.loads(done.stdout)["config"]["tolerance"] == 0.1
    assert done.stderr.endswith("%. To prove more, use --tolerance 0.\n")
    assert run(*call, "--tolerance", "1").stderr.startswith("carouseval: --tolerance must be a finite number")
