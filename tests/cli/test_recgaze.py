"""``carouseval recgaze`` and ``carouseval examination`` as a user meets them."""

import csv
import io
import json
import os
from pathlib import Path

import pytest

from carouseval.attention import Examination, recgaze_counts
from tests.command_line import run, run_process
from tests.paper.raw_logs import embedded_logs, event, final_click, movie, write

EVENTS = [
    event("KInIT_1", 1, 2, movie(1, 1)),
    event("KInIT_1", 1, 1, movie(2, 3)),
    event("KInIT_1", 1, 3, click=movie(1, 1)),
    event("UvA_1", 2, 1, movie(10, 15)),
    event("UvA_1", 2, 2, click=movie(10, 15)),
]
CLICKS = [final_click("KInIT_1", 1), final_click("UvA_1", 2, "I don't remember")]


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    return [str(path) for path in write(tmp_path, EVENTS, CLICKS)]


def test_the_embedded_counts_come_back(tmp_path: Path) -> None:
    logs = embedded_logs()
    paths = write(tmp_path, [line for screen in logs.events for line in screen], logs.clicks)
    out = tmp_path / "out"
    shown = run("recgaze", *map(str, paths), "--format", "json", "--out", str(out))
    assert shown.returncode == 0, shown.stderr
    content = json.loads(shown.stdout)
    assert list(content) == ["groups", "dropped"]
    assert content["groups"] == {
        group: {"screens": recgaze_counts(group).screens, "counts": recgaze_counts(group).counts.tolist()}
        for group in ("bratislava", "amsterdam", "all")
    }
    assert content["dropped"]["bratislava"] == dict(logs.dropped["bratislava"])
    assert "carouseval: timestamps out of order on 49 screens, sorted\n" in shown.stderr
    saved = Examination.load(out / "all.json")
    assert {**saved.to_dict(), "by_participant": None} == recgaze_counts("all").to_dict()
    assert saved.by_participant is not None  # for intervals by participant
    audit = json.loads((out / "audit.json").read_text())
    assert audit["groups"]["amsterdam"]["labels"] == dict(logs.labels["amsterdam"])


def test_the_table_shows_audit_and_counts(files: list[str]) -> None:
    shown = run_process("recgaze", *files)
    assert shown.returncode == 0
    assert shown.stderr == ""
    text = " ".join(shown.stdout.split())
    for part in (
        "Screens bratislava amsterdam all",
        "in the events file 1 1 2",
        "dropped: no movie was clicked 0 0 0",
        "kept 1 1 2",
        "I don't remember 0 1 1",
        "Note: timestamps out of order on 1 screen, sorted.",
        "bratislava on how many of 1 screen of 1 participant each cell was examined",
    ):
        assert part in text


def test_labels_and_empty_groups(files: list[str]) -> None:
    shown = run("recgaze", *files, "--dropped-labels", "i don't remember")
    assert "I don't remember (dropped)" in shown.stdout
    assert "amsterdam  no screens left" in shown.stdout
    rows = list(
        csv.reader(io.StringIO(run("recgaze", *files, "--dropped-labels", "I don't remember", "-f", "csv").stdout))
    )
    assert {row[0] for row in rows[1:]} == {"bratislava", "all"}
    assert "(dropped)" not in run("recgaze", *files, "--drop-label", "none").stdout


@pytest.mark.parametrize("format", ["csv", "markdown", "latex"])
def test_other_formats_hold_the_counts(files: list[str], format: str) -> None:
    shown = run("recgaze", *files, "-f", format)
    assert shown.returncode == 0
    assert len(shown.stdout.splitlines()) == 30 + {"csv": 1, "markdown": 4, "latex": 7}[format]  # and the heading
    if format == "csv":
        row = next(csv.DictReader(io.StringIO(shown.stdout)))
        assert (row["group"], row["screens"], row["row"], row["1"], row["2"]) == ("bratislava", "1", "1", "1", "0")


def test_any_other_study(tmp_path: Path) -> None:
    table = tmp_path / "pilot.csv"
    table.write_text("screen,row,col\na,1,2\nb,1,2\n")
    shown = run("examination", str(table), "--grid", "2x3")
    assert "pilot  on how many of 2 screens each cell was examined" in shown.stdout
    arguments = ["--grid", "2x3", "--screens", "5", "--name", "ours", "--out", str(tmp_path / "o.json"), "-f", "json"]
    content = json.loads(run("examination", str(table), *arguments).stdout)
    expected = {"name": "ours", "screens": 5, "participants": None, "counts": [[0, 2, 0], [0, 0, 0]]}
    assert content == {**expected, "row_counts": [2, 0], "by_participant": None}
    assert Examination.load(tmp_path / "o.json").to_dict() == content
    assert run("examination", str(table), "--grid", "2x3", "-f", "csv").stdout == "row,1,2,3\n1,0,2,0\n2,0,0,0\n"


def test_help_has_examples() -> None:
    for command in ("recgaze", "examination"):
        shown = run(command, "--help")
        assert shown.returncode == 0
        assert f"carouseval {command} " in shown.stdout.partition("Examples")[2]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["recgaze", "no.csv", "no.csv"], "carouseval: no.csv: No such file or directory. It is part of the RecGaze"),
        (["recgaze", "EVENTS", "EVENTS"], "missing column Movie_Familiarity"),
        (["recgaze", "CLICKS", "EVENTS"], "The events file comes first, then the click file."),
        (["recgaze", "EVENTS", "CLICKS", "--dropped-labels", "I do remember"], 'Did you mean "I don\'t remember"?'),
        (["recgaze", "EVENTS", "CLICKS", "--out", "EVENTS"], "Give a folder to write to."),
        (["examination", "EVENTS", "--grid", "2x3"], "missing columns screen, row, col"),
        (["examination", "EVENTS", "--grid", "big"], "there is no grid 'big'"),
        (["examination", "EVENTS"], "--grid"),
    ],
)
def test_mistakes_end_with_one_clear_message(files: list[str], arguments: list[str], message: str) -> None:
    named = dict(zip(("EVENTS", "CLICKS"), files, strict=True))
    shown = run(*(named.get(one, one) for one in arguments), env={**os.environ, "COLUMNS": "200", "NO_COLOR": "1"})
    assert shown.returncode == 2
    assert shown.stdout == ""
    assert message in shown.stderr
    assert "Traceback" not in shown.stderr
