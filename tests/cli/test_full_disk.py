"""A full disk, for every file that any command writes: one line that names it, status 2, and nothing half-written.

A limit on the size of files fails at the same calls as a full disk, and needs no right to mount one.
"""

import json
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import carouseval as cv
from tests.cli.test_recgaze import CLICKS, EVENTS
from tests.depth import gate_or_deep
from tests.paper.raw_logs import write

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="limits of POSIX")

TABLES = "judgments.parquet --items items.parquet"
COMMANDS = {
    # output: the command that writes it
    **{
        f"result{kind}": f"evaluate new.parquet {TABLES} --out" for kind in (".json", ".md", ".tex", ".csv", ".parquet")
    },
    **{f"pages{kind}": f"evaluate new.parquet {TABLES} --per-page" for kind in (".parquet", ".csv", ".ndjson")},
    "users.parquet": f"evaluate new.parquet {TABLES} --per-user",
    "comparison.json": f"compare a=new.parquet b=new.parquet {TABLES} --out",
    "scores.csv": f"compare a=new.parquet b=new.parquet {TABLES} --per-user",
    "losses.parquet": f"explain new.parquet {TABLES} --per-page",
    "judged.csv": "judgments judgments.parquet --value relevance --out",
    "built.parquet": "pages ranked.parquet --items items.parquet --out",
    "adds.csv": f"adds candidates.parquet {TABLES} --out",
    "greedy.parquet": f"adds candidates.parquet {TABLES} --greedy --rows 2 --pages",
    "gains.parquet": f"adds candidates.parquet {TABLES} --per-user",
    **{f"sample-{kind}": f"sample --format {kind}" for kind in ("parquet", "csv", "ndjson")},
    "report.html": f"report new.parquet {TABLES} --out",
    **gate_or_deep({}, {"paper": "reproduce --out"}),  # files like the others, computed for seconds
    "fitted.json": "fit bratislava --discount d_t --out",
    **{f"fit{kind}": "fit bratislava --discount d_t --chart" for kind in (".svg", ".png", ".html")},
    "counts.json": "examination screens.csv --grid 3x5 --out",
    "recgaze": "recgaze summary_feedback.csv click_feedback.csv --out",
}
RUN = """
import contextlib, io, json, resource, sys
from carouseval.cli import main
limit = int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
done = {}
for output, command in json.load(sys.stdin).items():
    sys.argv = ["carouseval", *command.split(), output]
    errors = io.StringIO()
    try:
        with contextlib.redirect_stderr(errors), contextlib.redirect_stdout(io.StringIO()):
            main()
    except SystemExit as end:
        done[output] = end.code, errors.getvalue()
json.dump(done, sys.stdout)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("full")
    data = cv.sample(40, systems=["new"])
    data.judgments.write_parquet(folder / "judgments.parquet")
    data.items.write_parquet(folder / "items.parquet")
    pages = data.layouts["new"]
    pages.write_parquet(folder / "new.parquet")
    pages.with_columns(carousel="category").drop("row", "device").write_parquet(folder / "candidates.parquet")
    pages.select("user_id", "item_id", score=1 / pl.col("row")).unique(["user_id", "item_id"]).write_parquet(
        folder / "ranked.parquet"
    )
    (folder / "screens.csv").write_text("screen,row,col\n1,1,1\n1,1,2\n2,3,5\n")
    write(folder, EVENTS, CLICKS)
    return folder


def content(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() if path.is_file() else b"" for path in folder.rglob("*")}


def run_all(folder: Path, limit: int) -> dict[str, tuple[int, str]]:
    done = subprocess.run(
        [sys.executable, "-c", RUN, str(limit)], input=json.dumps(COMMANDS), capture_output=True, text=True, cwd=folder,
        timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return {output: tuple(end) for output, end in json.loads(done.stdout).items()}


def test_every_output_is_refused_by_name_and_left_as_it_was(folder: Path) -> None:
    for output in COMMANDS:
        if "." in output:
            (folder / output).write_text("old")
    before = content(folder)
    ends = run_all(folder, limit=8)
    messages = {output: errors.splitlines()[-1] for output, (_, errors) in ends.items()}
    assert [output for output, (status, _) in ends.items() if status != 2] == []
    assert {output: text for output, text in messages.items() if not text.endswith("File too large.")} == {}
    assert set(messages) == set(COMMANDS)
    for output, message in messages.items():
        assert message.startswith(f"carouseval: {output}")
        assert " cannot be written: " in message
        assert ".part" not in message
    assert content(folder) == before
