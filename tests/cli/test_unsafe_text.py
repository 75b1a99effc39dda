"""Ids, titles and categories that a terminal would obey, or a spreadsheet compute, are shown as text."""

import csv
import io
import re
from pathlib import Path

import polars as pl
import pytest
from rich.console import Console
from rich.text import Text

import carouseval as cv
from carouseval.show.terminal.text_blocks import sentences, small_table, with_escapes
from carouseval.text_tables import TextTable, csv_text, markdown, printable
from tests.command_line import run

CLEAR, REVERSED = "\x1b[2J", "\u202e"
UNSAFE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")  # all but line feeds
FORMULA = '=HYPERLINK("x")'


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One user with two pages, and a category, an item, a title and a segment of each kind."""
    folder = tmp_path_factory.mktemp("unsafe")
    user, item, category = f"u{CLEAR}", f"i{REVERSED}{CLEAR}", f"Drama{CLEAR}{REVERSED}\x9b"
    lines = {
        "user_id": [user] * 3,
        "page_id": ["home\x07"] * 2 + ["kids"],
        "row": [1, 1, 1],
        "col": [1, 2, 1],
        "item_id": ["other", item, item],
        "category": [category] * 3,
        "device": [f"tv{CLEAR}\n{REVERSED}"] * 2 + [FORMULA],
    }
    pl.DataFrame(lines).write_parquet(folder / "layouts.parquet")
    judgments = {"user_id": [user], "item_id": [item], "relevance": [1]}
    pl.DataFrame(judgments).write_parquet(folder / "judgments.parquet")
    items = {"item_id": ["other", item], "category": [category] * 2, "title": [f"{CLEAR}Jaws\r", f"{REVERSED}Alien"]}
    pl.DataFrame(items).write_parquet(folder / "items.parquet")
    return folder


def output(folder: Path, command: str, *options: str) -> str:
    layouts, judgments, items = (str(folder / f"{name}.parquet") for name in ("layouts", "judgments", "items"))
    done = run(command, layouts, judgments, "--items", items, *options)
    assert done.returncode == 0, done.stderr
    return str(done.stdout + done.stderr)


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("evaluate", ["--by", "device"]),
        ("evaluate", ["--by", "device", "--format", "markdown"]),
        ("evaluate", ["--by", "device", "--format", "csv"]),
        ("explain", ["--by", "device"]),
        ("explain", ["--user", f"u{CLEAR}", "--page", "kids"]),
    ],
)
def test_a_terminal_gets_no_commands(folder: Path, command: str, options: list[str]) -> None:
    shown = output(folder, command, *options)
    assert not UNSAFE.search(shown), ascii(UNSAFE.findall(shown))
    assert r"\x1b[2J" in shown.replace(r"\\x1b\[2J", r"\x1b[2J")  # Markdown escapes the backslash


def test_formulas_in_csv_are_text_and_numbers_stay_numbers(folder: Path, tmp_path: Path) -> None:
    printed = list(csv.DictReader(io.StringIO(output(folder, "evaluate", "--by", "device", "--format", "csv"))))
    assert {line["device"] for line in printed} >= {r"tv\x1b[2J\n\u202e", f"'{FORMULA}"}
    layouts, judgments, items = (folder / f"{name}.parquet" for name in ("layouts", "judgments", "items"))
    result = cv.evaluate(layouts, judgments, items, by="device")
    saved = pl.read_csv(result.save(tmp_path / "result.csv"))
    assert saved["device"].to_list() == [line["device"] for line in printed]
    assert saved["mean"].to_list() == pytest.approx(result.to_frame()["mean"].to_list())
    written = pl.read_parquet(result.save(tmp_path / "result.parquet"))
    assert written.equals(result.to_frame())  # a table of data keeps its text


@pytest.mark.parametrize("text", ["=1+2", "+x", "-x", "@x", " =1", "-1+cmd|' /C calc'!A0", "-", "+1-2"])
def test_formulas_begin_with_an_apostrophe(text: str) -> None:
    assert csv_text(text) == f"'{text}"


@pytest.mark.parametrize("text", ["", "-0.5", "+1", "-1e-5", "-3.2%", "a=b", "N2DCG_cat", "it's", "A - B"])
def test_other_cells_stay_as_they_are(text: str) -> None:
    assert csv_text(text) == text


def test_text_of_all_scripts_is_shown_as_it_is() -> None:
    """Accents, no-break spaces, emoji of several parts, and the joiners that Persian is written with."""
    text = "Amélie\u00a0! 東京 שלום می\u200cخورم 👩\u200d🚀"
    assert printable(text) == csv_text(text) == text
    assert text.replace("\u00a0", " ") in markdown(TextTable(["title"], [[text]], [False]))


def test_cells_stay_on_their_line() -> None:
    lines = small_table("", ["a\nb", "n"], [["x\r\ny", 1], ["\ttab", 22]]).plain.splitlines()
    assert lines == [r"a\nb     n", r"x\r\ny   1", r"\ttab   22"]
    assert sentences(f"A sentence with {CLEAR}.", None).plain == r"A sentence with \x1b[2J."


def test_styles_and_line_breaks_are_kept() -> None:
    console = Console(file=io.StringIO(), force_terminal=True, color_system="standard", width=20)
    console.print(with_escapes(Text.assemble(("a\x1b]0;b", "bold"), "\nlong " * 8), console), soft_wrap=True)
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    assert shown == "\x1b[1ma\\x1b]0;b\x1b[0m" + "\nlong " * 8 + "\n"


def test_messages_are_escaped(tmp_path: Path) -> None:
    done = run("evaluate", "layouts.parquet", str(tmp_path / f"no{CLEAR}.parquet"))
    assert done.returncode == 2
    assert r"no\x1b[2J.parquet" in done.stderr
    assert not UNSAFE.search(done.stderr)
