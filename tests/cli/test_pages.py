"""From a recommender's scores to layouts on the command line."""

import json
import shlex
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import carouseval as cv
from carouseval.cli.pages import EXAMPLES
from tests.command_line import run


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("scores")
    data = cv.sample(30, systems=["new"], ids="int")
    scores = data.judgments.select("user_id", "item_id", score=pl.col("relevance") + pl.col("item_id") / 1e5)  # no ties
    lines = [f"{user} Q0 {item} 1 {score} mine" for user, item, score in scores.iter_rows()]
    (folder / "system.run").write_text("\n".join(lines))
    scores.rename({"user_id": "user", "item_id": "item"}).write_csv(folder / "recs.csv")
    more = data.items.head(20).with_columns(category=pl.lit("Continue watching"))
    for name, table in {
        "scores": scores,
        "items": pl.concat([data.items, more]),
        "judgments": data.judgments,
    }.items():
        table.write_parquet(folder / f"{name}.parquet")
        table.write_csv(folder / f"{name}.csv")
    return folder


def test_pages_are_those_of_python_and_evaluate_reads_them(folder: Path, tmp_path: Path) -> None:
    scores, items = folder / "scores.parquet", folder / "items.parquet"
    options = ["--order", "mean", "--min-items", "2", "--no-unique-items", "--grid", "6x9", "--pinned", "Drama=2"]
    done = run("pages", str(scores), "--items", str(items), "--out", str(tmp_path / "pages.parquet"), *options)
    assert (done.returncode, done.stderr) == (0, f"wrote {tmp_path / 'pages.parquet'}\n")
    expected = cv.pages_from_scores(
        scores, items, cv.Grid(6, 9), order="mean", min_items=2, unique_items=False, pinned={"Drama": 2}
    )
    assert_frame_equal(pl.read_parquet(tmp_path / "pages.parquet"), expected)
    evaluated = run("evaluate", str(tmp_path / "pages.parquet"), str(folder / "judgments.parquet"), "--grid", "6x9")
    assert (evaluated.returncode, evaluated.stderr.count("\n")) == (0, 1)  # items that no page shows are warned of
    assert "N2DCG_cat" in evaluated.stdout


@pytest.mark.filterwarnings("ignore::carouseval.DataWarning")  # ideals that hold more than any page shows
@pytest.mark.parametrize("source", ["scores.csv", "system.run", "recs.csv"])
def test_files_as_recommenders_write_them(source: str, folder: Path, tmp_path: Path) -> None:
    """All hold the same scores; ids of a CSV file match integers, whatever the scores were read from."""
    out = tmp_path / "pages.csv"
    columns = ["--columns", "scores.user_id=user", "--columns", "scores.item_id=item"] if source == "recs.csv" else []
    done = run("pages", str(folder / source), "--items", str(folder / "items.csv"), "--out", str(out), *columns)
    assert done.returncode == 0, done.stderr
    expected = cv.pages_from_scores(folder / "scores.parquet", folder / "items.parquet")
    means = [
        cv.evaluate(pages, folder / "judgments.parquet", folder / "items.parquet").mean for pages in (out, expected)
    ]
    assert pl.read_csv(out).height == expected.height
    assert means[0] == means[1]


def test_what_is_printed(folder: Path) -> None:
    arguments = ["pages", str(folder / "scores.parquet"), "--items", str(folder / "items.parquet"), "--grid", "3x4"]
    done = run(*arguments, "--format", "json")
    assert done.stderr == "carouseval: the pages were not written; give --out pages.parquet.\n"
    content = json.loads(done.stdout)
    layouts = cv.pages_from_scores(folder / "scores.parquet", folder / "items.parquet", cv.Grid(3, 4))
    assert (content["pages"], content["lines"]) == (layouts["user_id"].n_unique(), layouts.height)
    assert content["items"] == pytest.approx(layouts.height / content["pages"])
    drama = layouts.filter(pl.col("category") == "Drama")
    rows = drama.group_by("user_id").agg(pl.col("row").first(), items=pl.len())
    (line,) = [line for line in content["categories"] if line["category"] == "Drama"]
    assert line == {
        "category": "Drama",
        "pages": rows.height,
        "mean_row": pytest.approx(rows["row"].mean()),
        "mean_items": pytest.approx(rows["items"].mean()),
    }
    assert content["config"]["grid"]["rows"] == 3
    assert content["config"]["order"] == "remaining"
    texts = {"table": "mean_row", "csv": "category,pages,", "markdown": "| Drama |", "latex": "Drama &"}
    for kind, text in texts.items():
        assert text in run(*arguments, "--format", kind).stdout, kind
    assert run(*arguments).stdout.startswith(f"{content['pages']} pages, ")


def test_categories_of_integers(tmp_path: Path) -> None:
    pl.DataFrame({"item_id": [1, 2, 3], "category": [10, 20, 30]}).write_parquet(tmp_path / "items.parquet")
    pl.DataFrame({"customer": [1] * 3, "item_id": [1, 2, 3], "score": [3.0, 2.0, 1.0]}).write_parquet(
        tmp_path / "scores.parquet"
    )
    arguments = [str(tmp_path / "scores.parquet"), "--items", str(tmp_path / "items.parquet")]
    arguments += ["--columns", "user_id=customer"]
    out = tmp_path / "pages.csv"
    options = ["--order", "fixed", "--category", "30", "--category", "20", "--pinned", "10=2", "--out", str(out)]
    assert run("pages", *arguments, *options).returncode == 0
    assert pl.read_csv(out)["category"].to_list() == [30, 10, 20]
    done = run("pages", *arguments, "--category", "drama")
    assert done.stderr == "carouseval: --categories must be an integer, as category is, found 'drama'.\n"


def test_categories_in_one_cell(tmp_path: Path) -> None:
    (tmp_path / "items.csv").write_text("item_id,category\n1,Action|Comedy\n2,Comedy\n")
    (tmp_path / "scores.csv").write_text("user_id,item_id,score\n7,1,1\n7,2,2\n")
    options = ["--split", "|", "--category", "Action", "--out", "pages.csv"]
    done = run("pages", "scores.csv", "--items", "items.csv", *options, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert pl.read_csv(tmp_path / "pages.csv").rows() == [(7, 1, 1, 1, "Action")]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--order", "fixed"], "--order fixed needs --categories, listed from the top row down."),
        (["--category", "Dramma"], "--categories: items has no category 'Dramma'. Did you mean 'Drama'?"),
        (["--pinned", "Drama"], "--pinned 'Drama' cannot be parsed; write category=row, each category once, such as"),
        (["--pinned", "Drama=one"], "--pinned 'Drama=one' cannot be parsed"),
        (["--pinned", "Drama=1", "--pinned", "Drama=2"], "--pinned 'Drama=2' cannot be parsed"),
        (["--pinned", "Drama=11"], "--pinned: 'Drama' is pinned to row 11, but the grid has only 10 rows."),
        (["--out", "pages.xlsx"], "pages.xlsx: unsupported file type. Use .parquet, .csv or .ndjson."),
        (["--columns", "user_id=customer"], "--columns: there is no column 'customer' in any table."),
    ],
)
def test_errors(options: list[str], message: str, folder: Path) -> None:
    done = run("pages", str(folder / "scores.parquet"), "--items", str(folder / "items.parquet"), *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"carouseval: {message}")


def test_inputs_are_not_overwritten_and_must_exist(folder: Path) -> None:
    scores, items = str(folder / "scores.parquet"), str(folder / "items.parquet")
    assert "is one of the input tables" in run("pages", scores, "--items", items, "--out", items).stderr
    assert run("pages", "no.run", "--items", items).stderr == (
        "carouseval: scores: no.run: No such file or directory.\n"
    )
    assert "--items" in run("pages", scores).stderr
    assert "missing column score" in run("pages", str(folder / "judgments.csv"), "--items", items).stderr


@pytest.mark.parametrize("example", EXAMPLES.strip().splitlines())
def test_examples_run(example: str, folder: Path, tmp_path: Path) -> None:
    for file in folder.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    cv.pages_from_scores(folder / "scores.parquet", folder / "items.parquet").write_parquet(tmp_path / "pages.parquet")
    done = run(*shlex.split(example)[1:], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
