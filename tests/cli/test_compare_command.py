"""`carouseval compare`: runs, plans, families of tests."""

import json
from pathlib import Path

import pytest

from tests.command_line import run


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sample")
    systems = [option for name in ("new", "prod", "popular") for option in ("--system", name)]
    assert run("sample", str(folder), "--users", "80", *systems).returncode == 0
    return folder


def compare(folder: Path, *options: str, systems: str = "prod=prod new=new") -> str:
    named = [f"{name}={folder}/layouts-{file}.parquet" for name, _, file in (s.partition("=") for s in systems.split())]
    done = run("compare", *named, f"{folder}/judgments.parquet", "--items", f"{folder}/items.parquet", *options)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_plan(folder: Path) -> None:
    shown = compare(folder, "--plan", "0.01")
    assert "Finding a difference of 0.01 in N2DCG_cat between new and prod with 80% power takes about" in " ".join(
        shown.split()
    )
    assert "users needed" in shown
    content = json.loads(compare(folder, "--plan", "0.01", "--format", "json"))
    assert content["plan"]["effect"] == 0.01
    assert content["plan"]["pairs"][0]["users_needed"] > 80
    for kind in ("markdown", "latex"):
        assert "Finding a difference of 0.01" in compare(folder, "--plan", "0.01", "--format", kind)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--plan", "0"], "--plan must be a difference above 0, found 0."),
        (["--plan", "0.1", "--format", "csv"], "--plan needs any --format but csv."),
        (["--runs", "pared"], "Did you mean 'paired'?"),
        (["--ci", "1"], "--ci must be a finite number above 0 and below 1, found 1"),
    ],
)
def test_refusals(options: list[str], message: str, folder: Path) -> None:
    named = [f"{name}={folder}/layouts-{name}.parquet" for name in ("prod", "new")]
    done = run("compare", *named, f"{folder}/judgments.parquet", "--items", f"{folder}/items.parquet", *options)
    assert done.returncode == 2
    assert message in " ".join(done.stderr.split())


def test_runs(folder: Path) -> None:
    systems = "prod=prod prod=popular new=new new=prod"
    content = json.loads(compare(folder, "--format", "json", systems=systems))
    (pair,) = content["pairs"]
    assert pair["test"] == "crossed t"
    assert pair["run_error"] >= 0
    assert content["config"]["runs"] == "random"
    paired = json.loads(compare(folder, "--format", "json", "--runs", "paired", systems=systems))
    assert paired["pairs"][0]["p"] != pair["p"]
    fixed = compare(folder, "--runs", "fixed", "--test", "wilcoxon", systems=systems)
    assert "conditional on these runs" in " ".join(fixed.split())
    assert "Wilcoxon signed-rank test paired by user" in " ".join(fixed.split())


def test_messages_name_options(folder: Path) -> None:
    named = [f"{name}={folder}/layouts-{file}.parquet" for name, file in (("a", "prod"), ("b", "new"), ("b", "prod"))]
    done = run("compare", *named, f"{folder}/judgments.parquet", "--test", "wilcoxon")
    assert done.returncode == 2
    assert "--runs fixed" in " ".join(done.stderr.split())


def test_families(folder: Path) -> None:
    metrics = ["--metrics", "N2DCG_cat", "--metrics", "NDCG@10", "--format", "json"]
    alone, together = (json.loads(compare(folder, *metrics, *more)) for more in ([], ["--across-metrics"]))
    p = [pair["p"] for pair in alone["pairs"]]
    assert [pair["p_adjusted"] for pair in alone["pairs"]] == p
    assert min(pair["p_adjusted"] for pair in together["pairs"]) == pytest.approx(min(1, 2 * min(p)))
    wide = json.loads(compare(folder, "--simultaneous", "--across-metrics", *metrics))
    for narrow, other in zip(alone["pairs"], wide["pairs"], strict=True):
        assert other["low"] < narrow["low"] < narrow["high"] < other["high"]
    three = compare(folder, "--simultaneous", systems="prod=prod new=new popular=popular")
    assert "Intervals of all pairs of a metric hold together." in " ".join(three.split())
