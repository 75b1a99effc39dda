"""fit, simulate and reproduce as a user meets them."""

import csv
import io
import json
from pathlib import Path
from typing import Any, cast

import numpy as np
import polars as pl
import pytest

import carouseval as cv
from carouseval.attention import recgaze_counts
from carouseval.metrics.browsing.row_page import RowPageBrowsing
from tests.command_line import run
from tests.reproduction import reproduced_once


def test_reproduce_shows_every_figure_and_writes_files(tmp_path: Path) -> None:
    shown = run("reproduce", "--format", "csv", "--out", str(tmp_path / "paper"))
    assert shown.returncode == 0
    rows = list(csv.DictReader(io.StringIO(shown.stdout)))
    assert len(rows) == 76
    assert {row["mark"] for row in rows} == {"ok", "exact"}
    assert "76 of 76 published numbers reproduced" in shown.stderr
    names = {path.name for path in (tmp_path / "paper").iterdir()}
    for stem in ("figure1", "figure2", "agreement", "examination", "discounts", "ceiling", "fit"):
        assert {f"{stem}.svg", f"{stem}.png", f"{stem}.pdf"} <= names
    for stem in ("table1", "table2", "fits", "checks", "ceiling", "forms"):
        assert {f"{stem}.csv", f"{stem}.md", f"{stem}.tex"} <= names
    assert not any(name.endswith(".part") for name in names)
    assert json.loads((tmp_path / "paper" / "results.json").read_text())["table2"]["graded"]["pairs"] == 19_999
    figure = (tmp_path / "paper" / "figure2.svg").read_text()
    assert "0.9859" in figure
    assert r"\toprule" in (tmp_path / "paper" / "table2.tex").read_text()
    beyond = list(csv.DictReader((tmp_path / "paper" / "ceiling.csv").read_text().splitlines()))
    assert [row["discount"].partition(",")[0] for row in beyond[:3]] == ["d_a", "d_rpd", "d_rpb"]
    assert beyond[3]["discount"] == "the ceiling: bratislava's frequencies"
    assert beyond[3]["spearman"] == "0.98908"
    assert beyond[3]["binary agreement"].startswith("0.9644")
    assert float(beyond[2]["pearson low"]) < float(beyond[2]["pearson"]) < float(beyond[2]["pearson high"])
    forms = list(csv.DictReader((tmp_path / "paper" / "forms.csv").read_text().splitlines()))
    assert [row["form"] for row in forms] == [form.name for form in RowPageBrowsing.forms]
    assert [row["note"] for row in forms if row["note"]] == ["chosen", "too many"]
    drawing = (tmp_path / "paper" / "ceiling.svg").read_text()
    for text in ("d_rpb, by likelihood", "8 parameters", "96.4%"):
        assert text in drawing
    assert "compared with amsterdam" in (tmp_path / "paper" / "fit.svg").read_text()


def test_reproduce_in_the_terminal() -> None:
    with reproduced_once():
        shown = run("reproduce")
    assert shown.returncode == 0
    beyond = (
        "Beyond the paper",
        "d_rpb, by likelihood",
        "Forms compared",
        "no difference from the ceiling was found in rho, r, MSE",
    )
    paper = ("Table 1", "d_rpd", "0.9859 = 0.9859", "Table 2, graded relevance", "20000 ≈ 19999", "948/9480")
    for text in (*paper, *beyond):
        assert text in shown.stdout
    assert "≠ " not in shown.stdout.partition("\n")[2]
    assert max(map(len, shown.stdout.splitlines())) < 140


def test_reproduce_as_json() -> None:
    with reproduced_once():
        results = json.loads(run("reproduce", "-f", "json").stdout)
    assert results["discounts"]["d_rpd"]["parameters"] == {"alpha": 4, "beta": 9, "mu": 0.65, "nu": 0.95}


def test_a_figure_that_differs_fails(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from typer import Exit

    from carouseval.cli.output import Format
    from carouseval.cli.reproduce import reproduce
    from carouseval.paper import reproduce as study

    checks = (study.FigureCheck("Table 1", "2DCG", "2.2", "2.3"),)
    wrong = study.Reproduction({}, {}, {}, {}, checks, ceiling_study=cast(Any, None))
    monkeypatch.setattr(study, "reproduce", lambda progress: wrong)
    with pytest.raises(Exit) as left:
        reproduce(None, Format.csv)
    assert left.value.exit_code == 1
    assert "differs,Table 1,2DCG,2.2,2.3" in capsys.readouterr().out


def test_simulate_prints_the_study() -> None:
    arguments = [
        "simulate",
        "--trials",
        "2000",
        "-d",
        "d_a",
        "-d",
        "d_rpd(mu=0.5)",
        "--thresholds",
        "0",
        "--thresholds",
        "0.05",
    ]
    content = json.loads(run(*arguments, "-f", "json").stdout)
    assert content["trials"] == 2000
    assert [row["at_least"] for row in content["thresholds"]] == [0.0, 0.05]
    assert [one["discount"].partition("(")[0] for one in content["thresholds"][0]["discounts"]] == ["d_a", "d_rpd"]
    assert set(content["thresholds"][0]["discounts"][1]["corrected"]) == {"share", "low", "high"}
    assert run(*arguments, "-f", "json").stdout == run(*arguments, "-f", "json").stdout
    shown = run(*arguments)
    assert "Wilson" in shown.stdout
    assert "2,000 binary trials, fast stream, seed 42, truth amsterdam" in shown.stdout


def test_two_tables_of_one_name_stay_two(tmp_path: Path) -> None:
    for number in (1, 2):
        table = np.arange(1.0, 7.0).reshape(2, 3)[:, :: (-1) ** number]
        cv.discounts.save(cv.discounts.Empirical(table, name="p"), tmp_path / f"{number}.json")
    both = ["-d", f"@{tmp_path}/1.json", "-d", f"@{tmp_path}/2.json"]
    shown = run("simulate", *both, "--truth", "d_rpd", "--grid", "2x3", "--trials", "200", "-f", "json")
    assert len(json.loads(shown.stdout)["thresholds"][0]["discounts"]) == 2


def test_simulate_takes_screens_as_truth(tmp_path: Path) -> None:
    table = tmp_path / "screens (1).csv"
    table.write_text("screen,row,col\na,1,1\na,1,2\nb,1,1\nb,2,1\nc,1,1\n")
    shown = run("simulate", "--truth", str(table), "--grid", "2x2", "--trials", "50", "-f", "json")
    assert json.loads(shown.stdout)["grid"]["cols"] == 2
    wide = tmp_path / "wide.csv"
    wide.write_text("5,4,3\n3,2,1\n2,1,0\n")
    own = json.loads(run("simulate", "--truth", str(wide), "--trials", "50", "--page-size", "2", "-f", "json").stdout)
    assert (own["grid"]["rows"], own["grid"]["cols"], own["grid"]["page_size"]) == (3, 3, 2)


def test_an_output_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "fit.json").mkdir()
    shown = run("fit", "bratislava", "--model", "d_t", "--out", str(tmp_path / "fit.json"))
    assert shown.returncode == 2
    assert "cannot be written" in shown.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["fit.json"]


def test_simulate_takes_any_truth_and_grid(tmp_path: Path) -> None:
    cv.discounts.save(cv.discounts.RowPage(mu=0.5), tmp_path / "fit.json")
    recgaze_counts("bratislava").save(tmp_path / "counts.json")
    for truth, name in (
        (f"@{tmp_path}/fit.json", "d_rpd(alpha=4, beta=9, mu=0.5, nu=0.95)"),
        (f"{tmp_path}/counts.json", "bratislava"),
        ("d_a", "d_a(alpha=2, beta=1, gamma=9, lam=1)"),
    ):
        shown = run("simulate", "--truth", truth, "--trials", "200", "--grid", "4x6", "-f", "json")
        assert shown.returncode == 0, shown.stderr
        assert json.loads(shown.stdout)["truth"] == name
        assert json.loads(shown.stdout)["grid"]["rows"] == 4


def test_fit_and_score_with_the_result(tmp_path: Path) -> None:
    out = tmp_path / "fitted.json"
    shown = run("fit", "bratislava", "--test", "amsterdam", "--out", str(out), "-f", "json")
    content = json.loads(shown.stdout)
    assert content["parameters"] == {"alpha": 4, "beta": 9, "mu": 0.65, "nu": 0.95}
    assert round(content["test"]["spearman"], 4) == 0.9859
    assert len(content["top"]) == 5
    assert cv.discounts.parse(f"@{out}") == cv.discounts.RowPage()
    scored = run("score", "-", "--discount", f"@{out}", "-m", "2DCG", "-f", "json", stdin="1,0\n")
    assert json.loads(scored.stdout)["metrics"] == {"2DCG": cv.dcg2d([[1, 0]])}
    table = run("fit", "amsterdam", "--model", "d_t").stdout
    assert "Best of 100 by spearman" in table


@pytest.mark.parametrize("kind", ["wide.csv", "long.csv", "wide.parquet", "long.parquet", "counts.json"])
def test_fit_reads_counts_from_files(kind: str, tmp_path: Path) -> None:
    train, path = recgaze_counts("bratislava"), tmp_path / kind
    rows, cols = np.indices((10, 15)) + 1
    long = pl.DataFrame({"row": rows.ravel(), "col": cols.ravel(), "count": train.counts.ravel()})
    wide = pl.DataFrame(train.counts, schema=[f"c{j}" for j in range(15)], orient="row")
    if kind == "wide.csv":
        np.savetxt(path, train.counts, fmt="%d", delimiter=",")
    elif kind == "long.csv":
        long.sample(fraction=1, shuffle=True, seed=1).write_csv(path)
    elif kind == "wide.parquet":
        wide.write_parquet(path)
    elif kind == "long.parquet":
        long.write_parquet(path)
    else:
        train.save(path)
    shown = run("fit", str(path), "--model", "d_mir", "--screens", "1665", "-f", "json")
    assert shown.returncode == 0, shown.stderr
    assert json.loads(shown.stdout)["parameters"] == {"alpha": 10, "beta": 9}


def test_fit_takes_screens_and_resamples_participants(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    table = tmp_path / "screens.csv"
    lines = ["screen,row,col,participant"]
    for screen in range(300):
        for row, col in np.argwhere(rng.random((3, 4)) < 0.9 / np.arange(1, 4)[:, None] / np.arange(1, 5)):
            lines.append(f"{screen},{row + 1},{col + 1},p{screen % 12}")
    table.write_text("\n".join(lines))
    shown = run("fit", str(table), "--grid", "3x4", "--model", "d_mir", "--bootstrap", "50", "-f", "json")
    assert shown.returncode == 0, shown.stderr
    content = json.loads(shown.stdout)
    assert content["bootstrap"]["method"] == "participants resampled with replacement"
    assert set(content["bootstrap"]["parameters"]) == {"alpha", "beta"}
    text = run("fit", "bratislava", "--model", "d_t", "--bootstrap", "20").stdout
    assert "binomial noise of independent cells only, too narrow" in text
    assert "give the size of the screen in --grid" in run("fit", str(table)).stderr


def test_fit_takes_other_parameters_and_objectives() -> None:
    arguments = ["fit", "bratislava", "--values", "mu=0.5,0.6", "--values", "alpha=4", "--values", "beta=9"]
    content = json.loads(run(*arguments, "--objective", "likelihood", "--refine", "-f", "json").stdout)
    assert content["objective"] == "likelihood"
    assert content["tried"] > 2 * 19
    assert content["parameters"]["mu"] not in (0.5, 0.6)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fit", "bratislave"], "bratislave"),
        (["fit", "bratislava", "--model", "d_rdp"], "Did you mean 'd_rpd'"),
        (
            ["fit", "bratislava", "--objective", "rho"],
            "must be 'spearman', 'pearson', 'mse' or 'likelihood', found 'rho'.",
        ),
        (["fit", "bratislava", "--values", "mu"], "--values 'mu' cannot be parsed"),
        (["fit", "bratislava", "--grid", "3x3"], "bratislava is 10x15, but the screen is 3x3"),
        (["fit", "none.parquet"], "none.parquet"),
        (["fit", "bratislava", "--screens", "3"], "screens is for files of counts"),
        (
            ["fit", "bratislava", "--values", "mu=0.5", "--values", "mu=0.6"],
            "write parameter=values, each parameter",
        ),
        (["fit", "bratislava", "--objective", "mse", "--bootstrap", "9"], "bootstrap repeats the search by spearman"),
        (["simulate", "--seed", "99999999999999999999999"], "seed must be below 2^64"),
        (["recgaze", "a[/b].csv", "x.csv"], "a[/b].csv"),
        (["fit", "none.json"], "none.json: No such file"),
        (["simulate", "--trials", "0"], "trials must be an integer of at least 1"),
        (["simulate", "--mode", "grade"], "must be 'binary' or 'graded', found 'grade'. Did you mean 'graded'?"),
        (["simulate", "--truth", "d_x"], "there is no discount 'd_x'"),
        (["simulate", "--truth", "bratislav"], "no group, file or discount 'bratislav'. Did you mean 'bratislava'?"),
        (["fit", "."], "Give a CSV or JSON file with one line per row of the grid."),
        (["simulate", "--truth", "none.csv"], "none.csv: No such file"),
        (["simulate", "--at-least", "2"], "thresholds must be decimals"),
    ],
)
def test_mistakes_end_with_a_clear_message_and_status_2(arguments: list[str], message: str) -> None:
    shown = run(*arguments)
    assert shown.returncode == 2, shown.stdout
    assert message in shown.stderr
    assert "Traceback" not in shown.stderr


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("row,col,n\n1,1,2\n", "needs a column 'count' or 'frequency'"),
        ("row,col,count\n1,1,2\n1,1,3\n", "row 1, col 1 appears twice, the second time on line 3"),
        ("row,col,count\n1,1,2\n2,2,3\n", "row 1, col 2 is empty"),
        ("row,col,count\n0,1,2\n", "column row, line 2: found '0'. Rows and columns are integers, counted from 1."),
        ("row,col,count\n1,1,5\n,2,3\n", "column row, line 3: found nothing"),
        ("row,col,count\n1.5,1,2\n", "column row, line 2: found '1.5'"),
        ("row,col,count\n4294967296,4294967296,2\n", "column row, line 2: found '4294967296'"),
        ("row,col,count\nx,1,2\n", "column row, line 2: found 'x'. Rows and columns are integers, counted from 1."),
        ("1,2\n3\n", "row 2, col 2 is empty"),
        ("1,2\n3,-4\n", "row 2, col 2 is -4"),
        ("5,5\n5,5\n", "the same in every cell"),
    ],
)
def test_bad_counts_are_refused(content: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "counts.csv"
    path.write_text(content)
    shown = run("fit", str(path))
    assert shown.returncode == 2
    assert message in shown.stderr
    assert "Traceback" not in shown.stderr
