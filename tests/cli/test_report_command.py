"""``carouseval report`` writes what evaluate, compare, explain and reproduce find."""

from pathlib import Path

import polars as pl
import pytest

import carouseval as cv
from carouseval.cli.report import without_folders
from tests.command_line import run
from tests.reproduction import reproduced_once
from tests.show.report.html_pages import ReportPage


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sample")
    data = cv.sample(30, systems=["new", "prod"])
    data.judgments.write_parquet(folder / "judgments.parquet")
    data.items.write_parquet(folder / "items.parquet")
    for name, layouts in data.layouts.items():
        layouts.write_parquet(folder / f"{name}.parquet")
    return folder


def page_of(path: Path) -> ReportPage:
    return ReportPage(path.read_text(encoding="utf-8"))


def test_one_system(folder: Path, tmp_path: Path) -> None:
    inputs = [str(folder / "new.parquet"), str(folder / "judgments.parquet"), "--items", str(folder / "items.parquet")]
    done = run("report", *inputs, "-m", "NDCG@10", "-m", "N2DCG_cat@3x5", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "report.html\n"), done.stderr
    page = page_of(tmp_path / "report.html")
    assert page.headings[0] == (1, "Evaluation of new")
    data = cv.sample(30, systems=["new"])
    explained = cv.explain(data.layouts["new"], data.judgments, data.items, metrics=["N2DCG_cat@3x5"])
    assert explained.summary in page.text
    options = "--items items.parquet -m NDCG@10 -m N2DCG_cat@3x5"
    assert f"carouseval report new.parquet judgments.parquet {options}" in page.text
    assert str(folder) not in (tmp_path / "report.html").read_text(encoding="utf-8")  # it is mailed to others


def test_several_systems_without_items(folder: Path, tmp_path: Path) -> None:
    """Explanations go by the categories of all systems, as the comparison does."""
    systems = ["prod=prod.parquet", "new=new.parquet", "judgments.parquet"]
    out = tmp_path / "new.html"
    out.write_text("before")
    done = run("report", *systems, "--test", "t", "--sensitivity", "--title", "A title", "--out", str(out), cwd=folder)
    assert (done.returncode, done.stdout) == (0, f"{out}\n"), done.stderr
    page = page_of(out)
    assert page.headings[0] == (1, "A title")
    assert "Does the order hold?" in page.text
    assert "while the mean above" not in page.text
    warning = "relevant items have no category in layouts, so no ideal page shows them. Give --items"
    assert warning in done.stderr
    assert done.stderr.count("warning") == 1
    assert warning in page.text


def test_several_runs(folder: Path, tmp_path: Path) -> None:
    systems = ["prod=prod.parquet", "new=new.parquet", "new=prod.parquet", "judgments.parquet"]
    done = run("report", *systems, "--items", "items.parquet", "--out", str(tmp_path / "runs.html"), cwd=folder)
    assert done.returncode == 0, done.stderr
    text = page_of(tmp_path / "runs.html").text
    assert "Users and runs both vary" in text
    assert "while the mean above" in text  # one run of new is explained, and its mean is that of two


@pytest.mark.parametrize(
    ("argument", "quoted"),
    [
        ("/home/me/my data/new.parquet", "new.parquet"),
        ("new=/home/me/my data/new.parquet", "new=new.parquet"),
        ("--items=../items/*.parquet", "--items=*.parquet"),
        ("N2DCG_cat(@/home/me/fitted.json)", "N2DCG_cat(@fitted.json)"),
        ("--title=An A/B test", "--title=An A/B test"),
    ],
)
def test_commands_are_quoted_without_folders(argument: str, quoted: str) -> None:
    paths = {Path("/home/me/my data/new.parquet"), Path("../items/*.parquet")}
    assert without_folders(argument, paths) == quoted


def test_the_paper(tmp_path: Path) -> None:
    with reproduced_once():
        done = run("report", "--reproduce", "--out", "paper.html", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "paper.html\n"), done.stderr
    assert "76 of 76 published numbers are reproduced" in page_of(tmp_path / "paper.html").text


USAGE = "Write the systems first, then the judgments: prod=a.parquet new=b.parquet judgments.parquet."


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], f"report needs layouts and judgments. {USAGE} Or use --reproduce."),
        (["new.parquet"], f"report needs layouts and judgments. {USAGE} Or use --reproduce."),
        (["--reproduce", "a.csv"], "--reproduce takes no tables, found 'a.csv'."),
        (["a=a.csv", "a=b.csv", "j.csv"], "a has 2 runs and nothing to compare them with; report on one of them."),
        (["a.csv", "j.csv", "--baseline", "a"], f"--baseline needs at least two systems, found a. {USAGE}"),
        (["a.csv", "j.csv", "--sensitivity"], f"--sensitivity needs at least two systems, found a. {USAGE}"),
        (
            ["a=a.csv", "b=b.csv", "j.csv", "--sensitivity", "--by", "x", "--grid", "p=tv", "--grid", "q=tv"],
            "--sensitivity needs a single --grid.",
        ),
        (["a.csv", "j.csv", "--out", "."], ". cannot be written: it is a folder. Give a file to write to."),
        (["a.csv", "j.csv", "--out", "x.pdf"], "x.pdf: unsupported file type. Use .html or .htm."),
        (["a.csv", "j.csv", "--out", "no/x.html"], "no/x.html cannot be written: the folder no does not exist."),
    ],
)
def test_what_cannot_be_reported_is_refused_before_any_work(arguments: list[str], message: str, tmp_path: Path) -> None:
    done = run("report", *arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"carouseval: {message}\n")
    assert not list(tmp_path.iterdir())


def test_an_input_is_not_overwritten(tmp_path: Path) -> None:
    pl.DataFrame({"user_id": [1]}).write_csv(tmp_path / "a.csv")
    (tmp_path / "report.html").symlink_to(tmp_path / "a.csv")
    done = run("report", "a.csv", "j.csv", cwd=tmp_path)
    assert done.stderr == "carouseval: report.html is one of the input tables; write to another file.\n"
