"""``carouseval judgments``: events in, judgments out."""

import json
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import carouseval as cv
from tests.command_line import run, run_process

LINES = """user_id,item_id,event,minutes,time
1,7,play,30,1
1,7,play,25,2
1,8,play,-4,3
2,7,thumbs_down,,4
2,7,play,90,5
2,9,impression,,6
2,9,play,9.5,7
"""
OPTIONS = ["--value", "minutes", "--event-relevance", "thumbs_down=0", "--event-relevance", "impression=none"]


@pytest.fixture
def events(tmp_path: Path) -> Path:
    path = tmp_path / "events.csv"
    path.write_text(LINES)
    return path


def expected(events: Path) -> cv.EventJudgments:
    named = {"thumbs_down": 0, "impression": None}
    with pytest.warns(cv.DataWarning):
        return cv.judgments_from_events(events, "minutes", grades=(1, 10, 45), event_relevance=named)


def test_table_and_files(events: Path, tmp_path: Path) -> None:
    out = tmp_path / "judgments.parquet"
    done = run_process("judgments", str(events), *OPTIONS, "--grades", "1,10,45", "--out", str(out))
    assert done.returncode == 0
    assert_frame_equal(pl.read_parquet(out), expected(events).judgments)
    assert done.stdout.splitlines() == [
        "3 judgments (2 relevant) of 2 users from 7 events",
        "relevance  minutes from  to below  judgments  by event  share  users",
        "        0             0         1          1         1  33.3%      1",
        "        1             1        10          1         0  33.3%      1",
        "        2            10        45          0         0   0.0%      0",
        "        3            45                    1         0  33.3%      1",
        "",
        "excluded        lines  first   value",
        "event left out      1  line 7",
        "negative            1  line 4     -4",
    ]
    assert done.stderr == (
        "carouseval: warning: events: column minutes: 1 of 7 lines is excluded: 1 negative (first: line 4, found -4). "
        "Correct them.\n"
        f"Wrote 3 judgments to {out}.\n"
    )


def test_warnings_name_options(events: Path) -> None:
    counted = run("judgments", str(events))
    assert counted.stderr == (
        "carouseval: warning: events: every line counts 1, but column event has several names: 5 'play', 1 "
        "'impression', 1 'thumbs_down'. Give dislikes and other events a relevance of their own: --event-relevance "
        "thumbs_down=0.\nNot written: give --out.\n"
    )
    excluded, large, _ = run("judgments", str(events), "--value", "minutes").stderr.splitlines()
    assert excluded.endswith(
        "Correct them. Without a value: 1 of 1 'impression', 1 of 1 'thumbs_down'; give events that have none a "
        "relevance in --event-relevance."
    )
    assert large == (
        "carouseval: warning: events: without --grades or --quantiles, values are relevances, up to 90; with "
        "--gain exp2 one above 10 outweighs all others. Give --grades 1,10,45 or --quantiles 0,0.5,0.9, or use "
        "--gain linear when evaluating."
    )


@pytest.mark.parametrize("kind", ["json", "csv", "markdown", "latex"])
def test_every_format(kind: str, events: Path) -> None:
    done = run("judgments", str(events), *OPTIONS, "--grades", "1,10,45", "--format", kind)
    wanted = expected(events)
    assert done.returncode == 0
    if kind == "json":
        assert json.loads(done.stdout) == json.loads(wanted.to_json())
    elif kind == "csv":
        assert done.stdout.splitlines()[:2] == [
            "relevance,from,to,pairs,by_event,share,users",
            "0.0,0.0,1.0,1,1,0.3333333333333333,1",
        ]
    else:
        assert done.stdout == (wanted.to_markdown() if kind == "markdown" else wanted.to_latex())


def test_all_options(events: Path, tmp_path: Path) -> None:
    renamed, out = tmp_path / "renamed.csv", tmp_path / "judgments.ndjson"
    renamed.write_text(LINES.replace("user_id", "customer").replace("time", "ts"))
    options = ["--combine", "last", "--quantiles", "0,0.5", "--at-least", "1", "--at-most", "50"]
    names = ["--columns", "user_id=customer", "--columns", "time=ts", "--out", str(out)]
    assert run("judgments", str(renamed), *OPTIONS, *options, *names).returncode == 0
    # the last usable lines: 25 minutes, a thumbs down (90 minutes are too many), 9.5 minutes
    assert pl.read_ndjson(out).rows() == [(1, 7, 2.0), (2, 7, 0.0), (2, 9, 1.0)]
    counted = run("judgments", str(events), "--format", "json")
    assert json.loads(counted.stdout)["config"]["value"] is None


def test_into_evaluate(events: Path, tmp_path: Path) -> None:
    layouts, out = tmp_path / "layouts.csv", tmp_path / "judgments.csv"
    layouts.write_text("user_id,row,col,item_id,category\n1,1,1,7,a\n2,1,1,9,a\n")
    assert run("judgments", str(events), *OPTIONS, "--grades", "1,10,45", "--out", str(out)).returncode == 0
    done = run("evaluate", str(layouts), str(out), "--format", "json")
    assert json.loads(done.stdout)["results"][0]["mean"] == 1.0
    mistaken = run("evaluate", str(layouts), str(events))
    assert mistaken.stderr.endswith(
        "Keep one judgment per item, the latest or the largest. If these are events, such as plays, make judgments of "
        "them with carouseval judgments.\n"
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--grades", "1,x"], "--grades '1,x' cannot be parsed; write numbers separated by commas, such as 1,10,45."),
        (["--quantiles", ""], "--quantiles '' cannot be parsed; write numbers separated by commas, such as 0,0.5,0.9."),
        (["--grades", "10,1"], "--grades must increase, found 1 after 10."),
        (
            ["--event-relevance", "play"],
            "--event-relevance 'play' cannot be parsed; write event=relevance, each event once, such as",
        ),
        (["--event-relevance", "a=1", "--event-relevance", "a=2"], "--event-relevance 'a=2' cannot be parsed;"),
        (["--event-relevance", "play=-1"], "--event-relevance: the relevance of 'play' must be a finite number of"),
        (["--value", "minuts"], "--value: there is no column 'minuts' in events. Did you mean 'minutes'?"),
        (
            ["--at-most", "5"],
            "--at-most: without a column of values every line counts 1. Name the column in --value.",
        ),
        (
            ["--per-page"],
            "events: missing column page_id; it has user_id, item_id, event, minutes, time. If yours have other names, "
            "use --columns user_id=customer --columns page_id=visit.",
        ),
        (["--out", "judgments.txt"], "judgments.txt: unsupported file type. Use .parquet, .csv or .ndjson."),
    ],
)
def test_mistakes(options: list[str], message: str, events: Path) -> None:
    done = run("judgments", str(events), *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"carouseval: {message}")


def test_nothing_is_half_written(events: Path, tmp_path: Path) -> None:
    out = tmp_path / "judgments.csv"
    out.write_text("as it was")
    events.write_text("user_id,item_id\n1,\n")
    assert run("judgments", str(events), "--out", str(out)).returncode == 2
    assert out.read_text() == "as it was"
    same = run("judgments", str(events), "--out", str(events))
    assert same.stderr.endswith("is one of the input tables; write to another file.\n")
