"""evaluate, explain, check and sample from the command line."""

import csv
import io
import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import carouseval as cv
from carouseval.cli.conditions import parse_system_conditions
from carouseval.cli.system_arguments import split_arguments
from tests.command_line import run


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sample")
    assert run("sample", str(folder), "--users", "60", "--system", "new", "--system", "prod").returncode == 0
    return folder


def tables(folder: Path, system: str = "new") -> list[str]:
    return [
        str(folder / f"layouts-{system}.parquet"),
        str(folder / "judgments.parquet"),
        "--items",
        str(folder / "items.parquet"),
    ]


def result(folder: Path) -> cv.Evaluation:
    layouts, judgments, items = (folder / f"{name}.parquet" for name in ("layouts-new", "judgments", "items"))
    return cv.evaluate(layouts, judgments, items, by="device")


def test_sample(folder: Path) -> None:
    names = {path.name for path in folder.iterdir()}
    assert names == {"items.parquet", "judgments.parquet", "layouts-new.parquet", "layouts-prod.parquet"}


def test_evaluate_in_every_format(folder: Path) -> None:
    wanted = result(folder)
    for kind in ("table", "json", "csv", "markdown", "latex"):
        done = run("evaluate", *tables(folder), "--by", "device", "--format", kind)
        assert (done.returncode, done.stderr) == (0, ""), kind
        shown = wanted.mean["N2DCG_cat"]
        assert f"{shown:.4f}" in done.stdout or repr(shown) in done.stdout
        if kind == "json":
            assert json.loads(done.stdout) == json.loads(wanted.to_json())
        if kind == "csv":
            rows = list(csv.DictReader(io.StringIO(done.stdout)))
            assert [float(row["mean"]) for row in rows] == wanted.to_frame()["mean"].to_list()


def test_files_out(folder: Path, tmp_path: Path) -> None:
    pages, users, out = tmp_path / "p.parquet", tmp_path / "u.csv", tmp_path / "r.json"
    options = ["--by", "device", "--per-page", str(pages), "--per-user", str(users), "--out", str(out)]
    assert run("evaluate", *tables(folder), *options).returncode == 0
    wanted = result(folder)
    assert_frame_equal(pl.read_parquet(pages), wanted.per_page)
    assert pl.read_csv(users).height == wanted.per_user.height
    assert json.loads(out.read_text())["counts"] == wanted.counts


@pytest.mark.parametrize(
    ("condition", "status"),
    [("N2DCG_cat < 0.99", 3), ("N2DCG_cat<0.01", 0), ("N2DCG_cat >= 0", 3), ("pages > 1e3", 0), ("pages <= 60", 3)],
)
def test_fail_if(condition: str, status: int, folder: Path) -> None:
    done = run("evaluate", *tables(folder), "--fail-if", condition)
    assert done.returncode == status
    assert "N2DCG_cat" in done.stdout
    assert bool(done.stderr) == (status == 3)


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--duplicates", "bset", "must be 'best', 'first', 'every' or 'error', found 'bset'. Did you mean 'best'?"),
        ("--format", "jsn", "found 'jsn'. Did you mean 'json'?"),
        ("--gain", "liner", "must be 'exp2' or 'linear', found 'liner'. Did you mean 'linear'?"),
    ],
)
def test_a_wrong_choice_gets_a_suggestion(option: str, value: str, message: str, folder: Path) -> None:
    done = run("evaluate", *tables(folder), option, value)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"Invalid value for '{option}'" in done.stderr
    assert message in done.stderr


def test_each_output_has_its_own_kinds_of_files(folder: Path) -> None:
    done = run("evaluate", *tables(folder), "--per-page", "pages.json")
    assert done.returncode == 2
    assert ".ndjson" in done.stderr
    assert ".tex" not in done.stderr


def test_conditions_on_systems_are_read_either_way() -> None:
    systems = ["prod", "new"]
    assert parse_system_conditions(["new < prod", "prod > new"], systems) == [("new", "prod"), ("new", "prod")]
    assert parse_system_conditions(["prod < new"], systems) == [("prod", "new")]


def test_fail_if_nobody_was_scored(folder: Path, tmp_path: Path) -> None:
    judgments = tmp_path / "j.parquet"
    pl.read_parquet(folder / "judgments.parquet").with_columns(relevance=pl.lit(0.0)).write_parquet(judgments)
    done = run("evaluate", str(folder / "layouts-new.parquet"), str(judgments), "--fail-if", "N2DCG_cat < 0.1")
    assert done.returncode == 3
    assert "no user was scored" in done.stderr


@pytest.mark.parametrize(
    "condition", ["N2DCG_cat", "N2DCG_cat < much", "NDCG < 1", "N2DCG_cat == 1", "< 3", "N2DCG_cat < 1.2.3"]
)
def test_fail_if_does_not_read(condition: str, folder: Path) -> None:
    done = run("evaluate", *tables(folder), "--fail-if", condition)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("carouseval: --fail-if")


def test_explain_in_every_format(folder: Path) -> None:
    for kind in ("table", "json", "csv", "markdown", "latex"):
        done = run("explain", *tables(folder), "--by", "device", "--format", kind, "--worst", "2")
        assert (done.returncode, done.stderr) == (0, ""), kind
        if kind == "json":
            content = json.loads(done.stdout)
            assert sum(content["shares"].values()) == pytest.approx(1)
            assert len(content["worst"]) == 2
        if kind == "table":
            assert "These pages score" in done.stdout
            assert "Its ideal page" in done.stdout


def test_explain_one_user(folder: Path) -> None:
    done = run("explain", *tables(folder), "--user", "u000007", "--format", "json")
    assert json.loads(done.stdout)["page"]["user_id"] == "u000007"
    done = run("explain", *tables(folder), "--user", "nobody")
    assert (done.returncode, done.stderr) == (2, "carouseval: layouts: there is no page of user_id='nobody'.\n")


def test_explain_says_why_it_shows_the_page(folder: Path, tmp_path: Path) -> None:
    done = run("explain", *tables(folder))
    reason = "Shown because no --user was given: the lowest score among pages that show a relevant item."
    heading = next(line for line in done.stdout.splitlines() if line.startswith("The page of "))
    worst = cv.explain(*(folder / f"{name}.parquet" for name in ("layouts-new", "judgments", "items"))).page()
    assert f"{heading}\n{reason}\n" in done.stdout
    assert f"user_id={worst.user_id!r}" in heading
    assert "Shown because" not in run("explain", *tables(folder), "--user", "u000007").stdout
    layouts = pl.read_parquet(folder / "layouts-new.parquet")
    two = pl.concat([layouts.with_columns(page_id=pl.lit(page)) for page in ("home", "kids")])
    two.write_parquet(tmp_path / "two.parquet")
    done = run("explain", str(tmp_path / "two.parquet"), *tables(folder)[1:], "--user", "u000007", "-f", "json")
    page = json.loads(done.stdout)["page"]
    assert page["reason"] == "Shown because no --page was given: the first of the user's 2 pages."
    done = run("explain", *tables(folder), "--page", "home")
    assert (done.returncode, done.stderr) == (2, "carouseval: --page needs --user.\n")


def test_explain_takes_one_metric(folder: Path) -> None:
    shown = " ".join(run("explain", "--help").stdout.split())
    assert "Metric to explain: N2DCG_cat, with any discount and cutoff, such as 'N2DCG_cat(d_rpb)@3x5'." in shown
    assert "Metric to compute" not in shown
    assert "Metric to compute" in run("evaluate", "--help").stdout
    done = run("explain", *tables(folder), "-m", "N2DCG_cat", "-m", "2DCG")
    assert done.returncode == 2
    assert "--metrics: explain takes one N2DCG_cat" in done.stderr


def test_compare_takes_a_weight(folder: Path, tmp_path: Path) -> None:
    """A column of the judgments, the same for a user in every system."""
    judgments = pl.read_parquet(folder / "judgments.parquet")
    traffic = pl.col("user_id").str.slice(-1).cast(pl.Float64) + 0.5
    weighted = tmp_path / "judgments.parquet"
    judgments.with_columns(traffic=traffic).write_parquet(weighted)
    systems = {name: folder / f"layouts-{name}.parquet" for name in ("new", "prod")}
    call = ["compare", *(f"{name}={path}" for name, path in systems.items()), str(weighted), "--items"]
    call += [str(folder / "items.parquet"), "--format", "json"]
    done = run(*call, "--weight", "traffic")
    assert (done.returncode, done.stderr) == (0, "")
    content = json.loads(done.stdout)
    assert content["config"]["weight"] == "traffic"
    assert content == json.loads(cv.compare(systems, weighted, folder / "items.parquet", weight="traffic").to_json())
    means = {line["system"]: line["mean"] for line in content["systems"]}
    for name, path in systems.items():
        per_user = cv.evaluate(path, weighted, folder / "items.parquet").per_user.drop_nulls("N2DCG_cat")
        scores, weights = (per_user.select(column).to_series().to_numpy() for column in ("N2DCG_cat", traffic))
        assert means[name] == pytest.approx(np.average(scores, weights=weights))
        assert means[name] != pytest.approx(scores.mean())
    misspelled = run(*call, "--weight", "trafic")
    assert (misspelled.returncode, misspelled.stdout) == (2, "")
    assert "--weight: there is no column 'trafic' in layouts or judgments. Did you mean 'traffic'?" in misspelled.stderr


def test_commands_are_listed_from_a_page_to_the_evidence() -> None:
    lines = run("--help").stdout.partition("Commands:")[2].splitlines()
    commands = [line.split()[0] for line in lines if line.startswith("  ") and line[2:3].isalpha()]
    assert commands[:8] == ["score", "evaluate", "compare", "explain", "check", "judgments", "pages", "adds"]
    assert all("Examples:" in run(command, "--help").stdout for command in ("pages", "adds"))


def test_check(folder: Path, tmp_path: Path) -> None:
    done = run("check", *tables(folder))
    assert done.returncode == 0
    assert "The tables are valid." in done.stdout
    bad = tmp_path / "bad.csv"
    bad.write_text("user_id,row,col,item_id\nu,1,1,a\nu,1,1,b\n")
    done = run("check", str(bad), "--format", "json")
    assert done.returncode == 2
    assert json.loads(done.stdout)["defects"][0]["message"].startswith("layouts: 1 cell appears twice")
    assert run("check", str(bad)).returncode == 2


def test_check_names_options(tmp_path: Path) -> None:
    bad = tmp_path / "bad.csv"
    bad.write_text("user_id,row,col,item_id,category\nu,2,1,a,x\n")
    assert "or use --invalid count." in run("check", str(bad)).stdout
    done = run("check", str(bad), "--format", "csv")
    assert "or use --invalid count." in next(csv.DictReader(io.StringIO(done.stdout)))["message"]
    assert run("check", str(bad), "--columns", "usr=u").stdout.startswith("error: --columns: there is no column 'usr'.")


def test_other_names_and_screens(tmp_path: Path) -> None:
    layouts, judgments = tmp_path / "l.csv", tmp_path / "j.csv"
    layouts.write_text("customer,carousel,slot,title,genre,device\n7,1,1,a,x,tv\n7,1,2,b,x,tv\n8,1,1,b,x,web\n")
    judgments.write_text("customer,title,clicked\n7,b,1\n8,b,1\n")
    names = {
        "user_id": "customer",
        "row": "carousel",
        "col": "slot",
        "item_id": "title",
        "category": "genre",
        "relevance": "clicked",
    }
    options = [text for ours, theirs in names.items() for text in ("--columns", f"{ours}={theirs}")]
    screens = ["--by", "device", "--grid", "tv=tv", "--grid", "web=2x3"]
    done = run("evaluate", str(layouts), str(judgments), *options, *screens, "--format", "json")
    assert done.returncode == 0, done.stderr
    grids = json.loads(done.stdout)["config"]["grid"]
    assert {name: (grid["rows"], grid["cols"]) for name, grid in grids.items()} == {"tv": (20, 24), "web": (2, 3)}
    done = run("evaluate", str(layouts), str(judgments), "--column", "user_id")
    assert done.returncode == 2
    assert "write our name, then yours" in done.stderr


def test_warnings_are_one_line(tmp_path: Path) -> None:
    (tmp_path / "l.csv").write_text("user_id,row,col,item_id,category\n1,1,2,a,x\n")
    (tmp_path / "j.csv").write_text("user_id,item_id,relevance\n1,a,1\n")
    done = run("evaluate", str(tmp_path / "l.csv"), str(tmp_path / "j.csv"))
    assert done.returncode == 0
    assert done.stderr.splitlines()[0].startswith("carouseval: warning: layouts: 1 row has a gap")


@pytest.mark.parametrize("path", ["no/folder/out.parquet", "out.xlsx"])
def test_outputs_that_cannot_be_written(path: str, folder: Path, tmp_path: Path) -> None:
    done = run("evaluate", *tables(folder), "--per-page", str(tmp_path / path))
    assert done.returncode == 2
    assert done.stderr.startswith("carouseval: ")
    assert not any(tmp_path.rglob("*"))


# stops itself, as by Ctrl-C, when something happens for the n-th time: at once, or from a thread, wherever it then is
STOPPED = """
import os, signal, sys, threading
event, part, count, at_once, *arguments = sys.argv[1:]
seen = 0
def stop() -> None:
    os.kill(os.getpid(), signal.SIGINT)
def hook(what, about):
    global seen
    if what == event and part in str(about[0]):
        seen += 1
        if seen == int(count):
            stop() if at_once == "at once" else threading.Thread(target=stop).start()
from carouseval.cli import main
sys.addaudithook(hook)
sys.argv = ["carouseval", *arguments]
main()
"""


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Too large for a memory of 0.001 GiB."""
    folder = tmp_path_factory.mktemp("large")
    assert run("sample", str(folder), "--users", "4000", "--system", "new").returncode == 0
    return folder


@pytest.mark.parametrize(
    ("event", "part", "count", "when"),
    [
        pytest.param("os.mkdir", "carouseval-", 1, "at once", marks=pytest.mark.deep),
        pytest.param("open", "0.lines", 1, "at once", marks=pytest.mark.deep),  # the first temporary file is written
        ("open", "0.lines", 2, "at once"),  # and read
        pytest.param("os.rmdir", "carouseval-", 1, "at once", marks=pytest.mark.deep),
        ("open", ".pages.parquet.", 1, "at once"),
        ("os.rename", "pages.parquet", 1, "at once"),
        pytest.param("os.mkdir", "carouseval-", 1, "soon", marks=pytest.mark.deep),
        pytest.param("open", "0.lines", 2, "soon", marks=pytest.mark.deep),
        ("open", "7.lines", 2, "soon"),
    ],
)
def test_an_interrupted_run_leaves_nothing_whole(
    large: Path, tmp_path: Path, event: str, part: str, count: int, when: str
) -> None:
    """Whenever it is stopped, the output is either complete or not there under its name."""
    out = tmp_path / "pages.parquet"
    stopped = [sys.executable, "-c", STOPPED, event, part, str(count), when]
    options = ["--memory", "0.001", "--per-page", str(out)]
    done = subprocess.run([*stopped, "evaluate", *tables(large), *options], capture_output=True, text=True, timeout=120)
    assert "Traceback" not in done.stderr
    if out.exists():
        assert pl.read_parquet(out).height == 4000
    else:
        assert done.returncode != 0
    assert {path.name for path in tmp_path.iterdir()} <= {out.name}  # nothing half-written beside it
    if when == "at once":
        assert (done.returncode, done.stderr.strip(), out.exists()) == (130, "carouseval: interrupted", False)


def comparison(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    systems = [f"{name}={folder / f'layouts-{name}.parquet'}" for name in ("prod", "new")]
    fixed = ["--items", str(folder / "items.parquet"), "--permutations", "499"]
    return run("compare", *systems, str(folder / "judgments.parquet"), *fixed, *options)


def test_compare_in_every_format(folder: Path) -> None:
    for kind in ("table", "json", "csv", "markdown", "latex"):
        done = comparison(folder, "--by", "device", "--format", kind)
        assert (done.returncode, done.stderr) == (0, ""), kind
        if kind == "json":
            content = json.loads(done.stdout)
            assert (content["pairs"][0]["baseline"], content["pairs"][0]["system"]) == ("prod", "new")
            assert len(content["systems"]) == 2
        if kind == "csv":
            assert len(list(csv.DictReader(io.StringIO(done.stdout)))) == 1 + 3


def test_compare_with_sensitivity_and_files(folder: Path, tmp_path: Path) -> None:
    users, out = tmp_path / "u.parquet", tmp_path / "pairs.csv"
    done = comparison(folder, "--sensitivity", "--per-user", str(users), "--out", str(out))
    assert done.returncode == 0, done.stderr
    assert "first screen" in done.stdout
    assert set(pl.read_parquet(users)["system"]) == {"prod", "new"}
    assert pl.read_csv(out).height == 1
    both = comparison(folder, "--sensitivity", "--format", "markdown").stdout
    assert both.index("| N2DCG_cat | new | prod |") < both.index("\n\nThe order new > prod")
    assert "variations" in json.loads(comparison(folder, "--sensitivity", "--format", "json").stdout)["sensitivity"]
    assert comparison(folder, "--sensitivity", "--format", "csv").returncode == 2


def test_one_system_is_no_comparison(folder: Path) -> None:
    done = run("compare", f"prod={folder / 'layouts-prod.parquet'}", str(folder / "judgments.parquet"))
    assert done.returncode == 2
    assert done.stderr.startswith("carouseval: compare needs at least two systems, found prod.")


@pytest.mark.parametrize(
    ("options", "status"),
    [
        (["--fail-if", "new < prod"], 0),
        (["--fail-if", "prod > new", "--margin", "0.5"], 0),
        (["--fail-if", "new < prod", "--margin", "0"], 3),
        (["--fail-if", "new"], 2),
        (["--fail-if", "new < nobody"], 2),
        (["--test", "chi"], 2),
        (["--baseline", "nobody"], 2),
    ],
)
def test_compare_as_a_gate(options: list[str], status: int, folder: Path) -> None:
    done = comparison(folder, *options)
    assert done.returncode == status, done.stderr
    assert ("failed" in done.stderr) == (status == 3)


def test_compare_runs_of_one_system(folder: Path) -> None:
    one = str(folder / "layouts-new.parquet")
    options = ["--items", str(folder / "items.parquet"), "--permutations", "99", "--format", "json"]
    done = run("compare", f"a={one}", f"a={one}", f"b={one}", str(folder / "judgments.parquet"), *options)
    assert [system["runs"] for system in json.loads(done.stdout)["systems"]] == [2, 1]


LAYOUTS = {"prod": ["a.parquet"], "new": ["b.parquet"]}


@pytest.mark.parametrize(
    ("arguments", "layouts", "judgments"),
    [
        (["prod=a.parquet", "new=b.parquet", "j.parquet"], LAYOUTS, "j.parquet"),
        (["j.parquet", "prod=a.parquet", "new=b.parquet"], LAYOUTS, "j.parquet"),
        (["a=1.csv", "a=2.csv", "b=3.csv", "j.csv"], {"a": ["1.csv", "2.csv"], "b": ["3.csv"]}, "j.csv"),
        (["x/a.parquet", "x/b.csv.gz", "j.csv"], {"a": ["x/a.parquet"], "b": ["x/b.csv.gz"]}, "j.csv"),
        (["a=day=1/a.csv", "b=b.csv", "./day=1/j.csv"], {"a": ["day=1/a.csv"], "b": ["b.csv"]}, "./day=1/j.csv"),
        (["a=a.csv", "b=b.csv", "data/day=1/j.csv"], {"a": ["a.csv"], "b": ["b.csv"]}, "data/day=1/j.csv"),
    ],
)
def test_systems_and_judgments_in_either_order(
    arguments: list[str], layouts: dict[str, list[str]], judgments: str
) -> None:
    assert split_arguments(arguments) == (layouts, judgments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["prod=a.csv", "j.csv"], "compare needs at least two systems, found prod. Write the systems first"),
        (["j.csv", "prod=a.csv"], "compare needs at least two systems, found prod."),
        (["a.csv", "j.csv"], "compare needs at least two systems, found a."),
        (["prod=a.csv", "prod=b.csv", "j.csv"], "compare needs at least two systems, found prod."),
        (
            ["prod=a.csv", "new=b.csv", "j=j.csv"],
            "no judgments are given: every argument is NAME=LAYOUTS, the last 'j=j.csv'.",
        ),
        (["prod=a.csv", "new=b.csv", "day=1/j.csv"], "contains '=', write ./ before it."),
        (["prod=a.csv", "j.csv", "new=b.csv"], "'j.csv' is neither NAME=LAYOUTS nor the judgments."),
        (["j.csv", "prod=a.csv", "b.csv"], "'j.csv' is neither NAME=LAYOUTS nor the judgments."),
        (["prod=a.csv", "b.csv", "j.csv"], "'b.csv' is neither NAME=LAYOUTS nor the judgments."),
        (["x/a.csv", "y/a.csv", "j.csv"], "two systems are called 'a' after their files."),
        (["prod=", "new=b.csv", "j.csv"], "'prod=' cannot be parsed; write NAME=LAYOUTS"),
        (["=a.csv", "new=b.csv", "j.csv"], "'=a.csv' cannot be parsed; write NAME=LAYOUTS"),
    ],
)
def test_ambiguous_systems_and_judgments(arguments: list[str], message: str) -> None:
    with pytest.raises(cv.ParseError) as refused:
        split_arguments(arguments)
    assert message in str(refused.value)


def test_a_path_that_contains_an_equals_sign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "day=1").mkdir()
    (tmp_path / "day=1" / "a.csv").touch()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(cv.ParseError, match=r"'day=1/a.csv' is a path that contains '='; write NAME=day=1/a.csv"):
        split_arguments(["day=1/a.csv", "new=b.csv", "j.csv"])


def test_compare_in_the_old_order(folder: Path) -> None:
    systems = [f"{name}={folder / f'layouts-{name}.parquet'}" for name in ("prod", "new")]
    options = ["--items", str(folder / "items.parquet"), "--permutations", "499", "--format", "json"]
    old = run("compare", str(folder / "judgments.parquet"), *systems, *options)
    assert old.stdout == comparison(folder, "--format", "json").stdout
    unnamed = run(
        "compare", *(system.partition("=")[2] for system in systems), str(folder / "judgments.parquet"), *options
    )
    names = [system["system"] for system in json.loads(unnamed.stdout)["systems"]]
    assert names == ["layouts-prod", "layouts-new"]


def test_a_terminated_run_leaves_nothing(tmp_path: Path) -> None:
    """Schedulers end programs by SIGTERM: temporary files go all the same."""
    process = subprocess.Popen(
        [sys.executable, "-m", "carouseval", "sample", str(tmp_path / "d"), "--users", "100000000"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    deadline = time.monotonic() + 60
    while not (tmp_path / "d").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    process.terminate()
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 143, errors
    assert not list(tmp_path.iterdir())


def test_two_outputs_are_two_files(folder: Path, tmp_path: Path) -> None:
    out = str(tmp_path / "a.csv")
    done = run("evaluate", *tables(folder), "--per-page", out, "--out", out)
    assert done.returncode == 2
    assert "is given for two outputs" in done.stderr


def test_tables_as_they_are(tmp_path: Path) -> None:
    """Nested pages, judgments without a relevance, several categories in a cell, headers in other case."""
    pages, judgments, items = tmp_path / "pages.json", tmp_path / "plays.tsv", tmp_path / "items.csv"
    rows = [{"title": "Action", "items": ["a", "b"]}, {"title": "Comedy", "items": ["c"]}]
    pages.write_text(json.dumps({"user_id": "u1", "rows": rows}))
    judgments.write_text("user_id\titem_id\nu1\tb\n")
    items.write_text("item_id,category\na,Action\nb,Action|Comedy\nc,Comedy\n")
    arguments = [str(pages), str(judgments), "--items", str(items)]
    note = "carouseval: note: judgments have no column relevance; each counts as relevance 1.\n"
    for command in ("evaluate", "explain"):
        done = run(command, *arguments, "--split", "|")
        assert (done.returncode, done.stderr) == (0, note)
    compared = run("compare", f"x={pages}", f"y={pages}", *arguments[1:], "--split", "|")
    assert (compared.returncode, compared.stderr) == (0, note)
    done = run("evaluate", *arguments)
    assert done.returncode == 2
    assert "such as 'Action|Comedy', and no page shows it. If a cell holds several" in done.stderr
    assert "use --split '|'." in done.stderr
    judgments.write_text("User_ID\titemId\nu1\tb\n")
    done = run("evaluate", *arguments)
    assert "missing columns user_id (found 'User_ID'), item_id (found 'itemId')" in done.stderr
    assert "Rename them, or use --columns user_id=User_ID --columns item_id=itemId." in done.stderr
