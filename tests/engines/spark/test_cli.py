"""``carouseval evaluate --engine spark`` against the same command on one machine."""

import io
import json
import os
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import carouseval as cv
from carouseval.cli import main, spark_engine
from tests.engines.spark.light_spark import light_environment

DATA = cv.sample(30, systems=["new"], seed=3, ids="int", missing=0.1)
SPARK = ("--engine", "spark")


class Done(NamedTuple):
    status: int
    out: str
    err: str


@pytest.fixture
def run(spark: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """Runs a command with the session of all tests, which stays."""
    del spark
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def run_command(*arguments: str) -> Done:
        monkeypatch.setattr(sys, "argv", ["carouseval", *arguments])
        status = 0
        with warnings.catch_warnings():
            warnings.simplefilter("default", cv.DataWarning)
            try:
                main()
            except SystemExit as end:
                status = int(end.code or 0)
        return Done(status, *capsys.readouterr())

    yield run_command
    for number, handler in handlers.items():
        signal.signal(number, handler)


def tables(system: str = "new") -> dict[str, pl.DataFrame]:
    return {
        "layouts": pl.DataFrame(DATA.layouts[system]),
        "judgments": pl.DataFrame(DATA.judgments),
        "items": pl.DataFrame(DATA.items),
    }


def write(folder: Path, kinds: str = "parquet parquet parquet", **changed: pl.DataFrame) -> list[str]:
    """Arguments of a command, for tables in files of these kinds."""
    paths = []
    for (name, frame), kind in zip((tables() | changed).items(), kinds.split(), strict=True):
        path = folder / f"{name}.{kind}"
        getattr(frame, f"write_{kind}")(path)
        paths.append(str(path))
    return ["evaluate", paths[0], paths[1], "--items", paths[2]]


def said(err: str) -> str:
    """Standard error without what is said of Spark itself."""
    return "".join(line for line in err.splitlines(keepends=True) if "evaluating on Spark" not in line)


def test_output_is_that_of_one_machine(run: Any, tmp_path: Path) -> None:
    command = [*write(tmp_path), "--by", "device", "-m", "N2DCG_cat", "-m", "N2DCG_cat(d_rpb)@3x5"]
    for format in ("table", "latex"):
        expected, found = run(*command, "-f", format), run(*command, "-f", format, *SPARK)
        assert (found.status, found.out, said(found.err)) == (0, expected.out, expected.err)
        assert found.err.startswith("carouseval: evaluating on Spark 4.")
    expected, found = run(*command, "-f", "json"), run(*command, "-f", "json", *SPARK)
    results = [json.loads(done.out) for done in (expected, found)]
    lines = [pl.DataFrame(result.pop("results")) for result in results]
    assert_frame_equal(lines[1], lines[0], check_exact=True)
    assert results[1] == results[0]


def test_text_has_the_types_of_the_other_tables(run: Any, tmp_path: Path) -> None:
    expected = run(*write(tmp_path))
    for kinds in ("csv parquet csv", "csv csv csv", "parquet ndjson csv"):
        command = write(tmp_path, kinds)
        assert run(*command).out == expected.out
        found = run(*command, *SPARK)
        assert (found.status, found.out) == (0, expected.out), found.err


def test_text_that_is_not_an_integer_is_refused(run: Any, tmp_path: Path) -> None:
    wrong = tables()["layouts"].with_columns(user_id=pl.col("user_id").cast(pl.String).str.replace("^7$", "u7"))
    command = write(tmp_path, "csv parquet parquet", layouts=wrong)
    remedy = "In the other tables it holds integers of at most 64 bits. Use the same type of id in all tables."
    assert remedy in run(*command).err
    found = run(*command, *SPARK)
    assert (found.status, found.out) == (2, "")
    assert said(found.err) == f"carouseval: layouts: column user_id: found 'u7'. {remedy}\n"


def test_csv_with_quotes_blank_lines_and_lines_for_everyone(run: Any, tmp_path: Path) -> None:
    genre = pl.col("category").replace("Drama", 'Drama, "slow"\tand sad')
    layouts, items = (tables()[name].with_columns(category=genre) for name in ("layouts", "items"))
    command = write(tmp_path, "parquet parquet csv", layouts=layouts, items=items.with_columns(user_id=None))
    with (tmp_path / "items.csv").open("a") as file:
        file.write("\n,,\n")
    expected, found = run(*command), run(*command, *SPARK)
    assert (expected.status, found.status, found.out) == (0, 0, expected.out), found.err


def test_pages_of_json_and_carousels_in_a_folder(run: Any, tmp_path: Path) -> None:
    layouts = tables()["layouts"].sort("user_id", "row", "col")
    rows = layouts.group_by("user_id", "row", "category", maintain_order=True).agg(items="item_id")
    pages = rows.group_by("user_id", maintain_order=True).agg(
        rows=pl.struct(pl.col("category").alias("title"), "items")
    )
    command = write(tmp_path, "ndjson csv parquet", layouts=pages)
    (tmp_path / "carousels").mkdir()
    names = layouts["category"].unique().sort()
    pl.DataFrame({"category": names, "capacity": range(4, 4 + len(names))}).write_parquet(
        tmp_path / "carousels" / "part-0.parquet"
    )
    options = ["--carousels", str(tmp_path / "carousels"), "--invalid", "count"]
    expected, found = run(*command, *options), run(*command, *options, *SPARK)
    assert (expected.status, found.status, found.out) == (0, 0, expected.out), found.err


def test_scores_go_to_files_or_folders(run: Any, tmp_path: Path) -> None:
    command = [*write(tmp_path), "-m", "N2DCG_cat(d_rpb)@3x5"]
    file = {name: str(tmp_path / name) for name in ("pages.parquet", "users.csv", "means.csv", "pages", "users.d")}
    files = ["--per-page", file["pages.parquet"], "--per-user", file["users.csv"], "--out", file["means.csv"]]
    expected = run(*command, *files)
    texts = {name: Path(file[name]).read_bytes() for name in ("users.csv", "means.csv")}
    pages = pl.read_parquet(file["pages.parquet"])
    assert run(*command, *files, *SPARK).out == expected.out
    assert {name: Path(file[name]).read_bytes() for name in texts} == texts
    assert_frame_equal(pl.read_parquet(file["pages.parquet"]), pages, check_exact=True)
    folders = ["--per-page", file["pages"], "--per-user", f"{file['users.d']}/", *SPARK]
    assert run(*command, *folders).out == expected.out
    on_spark = pl.read_parquet(f"{file['pages']}/*.parquet").sort("user_id")
    assert_frame_equal(on_spark.select(pages.columns), pages, check_exact=True)
    assert pl.read_parquet(f"{file['users.d']}/*.parquet").height == pl.read_csv(file["users.csv"]).height
    again = run(*command, *folders)
    remedy = "exists; Spark writes to a new folder. Remove it, or give another."
    assert again == (2, "", f"carouseval: {file['pages']} {remedy}\n")
    twice = run(*command, "--per-page", "new", "--per-user", "new/", *SPARK)
    assert twice == (2, "", "carouseval: new is given for two outputs; use a different folder for each.\n")
    local = run(*command, "--per-page", file["pages"])
    assert local.err.startswith(f"carouseval: {file['pages']} cannot be written: it is a folder.")


def test_charts_conditions_and_notices(run: Any, tmp_path: Path) -> None:
    command = [*write(tmp_path, judgments=tables()["judgments"].drop("relevance")), "--fail-if", "missing > 0"]
    one, other = tmp_path / "one.svg", tmp_path / "other.svg"
    expected = run(*command, "--chart", str(one))
    found = run(*command, "--chart", str(other), *SPARK)
    assert (found.status, found.out, said(found.err)) == (3, expected.out, expected.err)
    assert "note: judgments have no column relevance" in found.err
    assert other.read_bytes() == one.read_bytes()


SUPPORTED = "Spark reads .parquet, .csv, .tsv, .ndjson and .json files, and folders of Parquet files."


def test_errors_name_the_table_and_its_path(run: Any, tmp_path: Path) -> None:
    command = write(tmp_path)

    def error(name: str, content: str | None = None) -> str:
        path = tmp_path / name
        if content is not None:
            path.write_text(content)
        done = run("evaluate", str(path), *command[2:], *SPARK)
        assert (done.status, done.out) == (2, "")
        return str(said(done.err)).removeprefix("carouseval: ").rstrip("\n").replace(f"{tmp_path}/", "")

    assert error("pages.arrow") == f"layouts: pages.arrow cannot be read by Spark. {SUPPORTED}"
    assert error("none.parquet") == "layouts: none.parquet: No such file or directory."
    assert error("none/*.csv") == "layouts: none/*.csv: no file matches this pattern."
    (tmp_path / "empty").mkdir()
    assert error("empty").startswith(
        "layouts: empty has no Parquet files in it, or they are empty, or their names begin"
    )
    assert error("empty.csv", "") == "layouts: empty.csv is empty."
    assert error("a/**/*.parquet") == (
        "layouts: a/**/*.parquet: Spark has no pattern **. Give the folder a/, which it reads as a whole."
    )
    (tmp_path / "texts").mkdir()
    assert error("texts/a.csv", "user_id\n").startswith("layouts: missing columns")
    assert error("texts").endswith("Of a folder with other files, give a pattern: texts/*.csv.")
    assert error("text.parquet", "not Parquet").startswith("layouts: text.parquet cannot be read as Parquet: ")
    assert error("list.json", "[\n{}\n]").startswith("layouts: list.json cannot be read as JSON: ")
    assert error("short.csv", "user_id,row,item_id\n1,1,2\n").startswith("layouts: missing column col;")
    header = "user_id,row,col,item_id,category\n"
    assert error("zero.csv", f"{header}1,0,1,2,Drama\n") == (
        "layouts: column row, user_id 1: found '0'. Rows are integers, counted from 1 at the top."
    )
    (tmp_path / "latin.csv").write_bytes(f"{header}1,1,1,2,Com\u00e9die\n".encode("latin-1"))
    assert error("latin.csv") == "layouts: latin.csv cannot be parsed as CSV: it is not in UTF-8. Save it as UTF-8."
    long = error("long.csv", f"{header}1,1,1,2,Drama\n1,1,2,3,Drama,4\n")
    assert long.startswith("Spark stopped: ")
    assert "long.csv" in long


def test_options_are_checked_before_any_work(run: Any) -> None:
    done = run("evaluate", "a.parquet", "b.parquet", "--master", "local[2]")
    assert (done.status, done.err) == (
        2,
        "carouseval: --master is an option of Spark: use it with --engine spark.\n",
    )
    assert "Did you mean 'spark'?" in run("evaluate", "a.parquet", "b.parquet", "--engine", "spork").err


def process(*arguments: str, folder: Path, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "carouseval", *arguments, "--engine", "spark", "--master", "local[1]"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        env=os.environ | light_environment(folder / "conf") | environment,
    )


def test_without_the_extra_the_line_that_installs_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(cv.CarousevalError) as error:
        spark_engine.check_engine("spark", None)
    line = 'Run: pip install "carouseval[spark]"'
    assert str(error.value) == f"--engine spark needs pyspark, which is not installed. {line}"


def test_without_java_or_with_an_old_one(tmp_path: Path) -> None:
    command = write(tmp_path)
    java = tmp_path / "old" / "bin" / "java"
    done = process(*command, folder=tmp_path, JAVA_HOME=str(tmp_path / "old"))
    message = f"--engine spark needs Java 17 or newer, and {java} was not found."
    assert done.communicate(timeout=60) == (
        "",
        f"carouseval: {message} Install it, or set JAVA_HOME to where it is.\n",
    )
    assert done.returncode == 2
    java.parent.mkdir(parents=True)
    problem = 'Exception in thread "main" java.lang.UnsupportedClassVersionError: class file version 61.0'
    java.write_text(f"#!/bin/sh\necho warned >&2\necho '{problem}' >&2\nexit 1\n")
    java.chmod(0o755)
    done = process(*command, folder=tmp_path, JAVA_HOME=str(tmp_path / "old"))
    out, err = done.communicate(timeout=60)
    assert (done.returncode, out) == (2, "")
    needs = "--engine spark needs Java 17 or newer."
    assert err == f"carouseval: starting Spark\ncarouseval: Spark did not start: {problem}. {needs}\n"


def test_an_address_that_is_wrong_is_named() -> None:
    from pyspark.errors import PySparkRuntimeError

    ended = PySparkRuntimeError(errorClass="JAVA_GATEWAY_EXITED", messageParameters={})
    said = b'warned\nException in thread "main" org.apache.spark.SparkException: Master must start with spark.\n'
    message = spark_engine._start_error(ended, io.BytesIO(said), "host:7077")
    assert message == "Spark did not start on host:7077: Master must start with spark."
    gone = PySparkRuntimeError("Cannot call methods on a stopped SparkContext.")
    message = spark_engine._start_error(gone, io.BytesIO(), "spark://host:1")
    assert message == "Spark did not start on spark://host:1: no cluster answers there, or it refused the application."


@pytest.mark.spark
@pytest.mark.needs("java")
def test_a_session_of_its_own_is_quiet_and_ends_with_the_command(tmp_path: Path) -> None:
    command = write(tmp_path)
    one = subprocess.run(
        [sys.executable, "-m", "carouseval", *command], capture_output=True, text=True, cwd=tmp_path, timeout=60
    )
    done = process(*command, folder=tmp_path)
    out, err = done.communicate(timeout=300)
    assert (done.returncode, out) == (0, one.stdout)
    first, second = said(err).splitlines(), err.splitlines()
    assert first == ["carouseval: starting Spark", *one.stderr.splitlines()]
    assert second[1].startswith("carouseval: evaluating on Spark 4.")


@pytest.mark.spark
@pytest.mark.needs("java")
@pytest.mark.parametrize("line", [pytest.param("starting Spark", marks=pytest.mark.deep), "evaluating on Spark"])
def test_an_interrupt_ends_the_command_and_java(tmp_path: Path, line: str) -> None:
    done = process(*write(tmp_path), "--per-page", "scores", folder=tmp_path)
    assert done.stderr is not None
    while line not in (text := done.stderr.readline()):
        assert text, "it ended"
    children = Path(f"/proc/{done.pid}/task/{done.pid}/children")
    deadline = time.monotonic() + 60
    while not (java := children.read_text().split()) and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(1)
    done.send_signal(signal.SIGINT)
    out, err = done.communicate(timeout=120)
    assert (done.returncode, out, err.splitlines()[-1]) == (130, "", "carouseval: interrupted")
    assert "Traceback" not in err
    assert not (tmp_path / "scores" / "_SUCCESS").exists()
    while any(Path(f"/proc/{number}").exists() for number in java):  # the test ends by its time limit otherwise
        assert time.monotonic() < deadline + 120
        time.sleep(0.2)
