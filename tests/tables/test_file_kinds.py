"""What it takes to add a kind of file: a class with ``scan``, or a separator, and its place in the list of kinds."""

import gzip
import json
import multiprocessing
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import carouseval as cv
from carouseval.engines.evaluate import evaluate_on
from carouseval.evaluation.settings import Settings
from carouseval.tables.kinds import KINDS, supported_files
from carouseval.tables.kinds.contract import FileKind, text_lines
from carouseval.tables.kinds.text import SeparatedText
from tests.command_line import run
from tests.engines.pool_engine import PoolEngine

LAYOUTS: dict[str, list[Any]] = {
    "user_id": ["u1", "u1", "u2", "u2"],
    "row": [1, 1, 1, 2],
    "col": [1, 2, 1, 1],
    "item_id": ["a", "b", "b", "c"],
    "category": ["new", "new", "new", "old"],
}
JUDGMENTS: dict[str, list[Any]] = {"user_id": ["u1", "u2", "u2"], "item_id": ["b", "a", "c"], "relevance": [2, 1, 3]}
ITEMS: dict[str, list[Any]] = {"item_id": ["a", "b", "c"], "category": ["new", "new", "old"]}
WIDTH = 12


class FixedWidth(FileKind):
    """A header and one line per record, each field in as many letters."""

    def scan(self, path: Path) -> pl.LazyFrame:
        header, *_ = text_lines(path).head(1).collect()["line"]
        fields = enumerate(header.split())
        cells = (pl.col("line").str.slice(WIDTH * k, WIDTH).str.strip_chars().alias(name) for k, name in fields)
        return text_lines(path).slice(1).select(*cells)


FIXED = FixedWidth("fixed-width text", (".fwf",))
BARS = SeparatedText("PSV", (".psv",), separator="|")
CARETS = SeparatedText("caret-separated text", (".caret",), separator="^")  # of which messages have no word


@pytest.fixture(params=[FIXED, BARS, CARETS], ids=lambda kind: kind.name)
def kind(request: pytest.FixtureRequest) -> Iterator[FileKind]:
    """A kind of the test's own, in the list."""
    KINDS.append(request.param)
    yield request.param
    KINDS.remove(request.param)


def lines(columns: Mapping[str, list[Any]], kind: FileKind) -> str:
    rows = [list(columns), *zip(*columns.values(), strict=True)]
    if kind.is_text:
        return "".join(f"{kind.separator.join(map(str, row))}\n" for row in rows)
    return "".join("".join(f"{value!s:{WIDTH}}" for value in row) + "\n" for row in rows)


def write(folder: Path, kind: FileKind, **tables: Mapping[str, list[Any]]) -> list[str]:
    paths = [folder / f"{name}{kind.extensions[0]}" for name in tables]
    for path, columns in zip(paths, tables.values(), strict=True):
        path.write_text(lines(columns, kind))
    return list(map(str, paths))


EXPECTED = cv.evaluate(LAYOUTS, JUDGMENTS, ITEMS)
CHECKED = cv.check(LAYOUTS, JUDGMENTS, ITEMS)


def test_a_path_a_folder_a_pattern_and_a_compressed_file(kind: FileKind, tmp_path: Path) -> None:
    layouts, judgments, items = write(tmp_path, kind, layouts=LAYOUTS, judgments=JUDGMENTS, items=ITEMS)
    parts = tmp_path / "parts"
    parts.mkdir()
    for part in (slice(0, 2), slice(2, 4)):
        write(parts, kind, **{f"part{part.start}": {name: values[part] for name, values in LAYOUTS.items()}})
    compressed = Path(f"{layouts}.gz")
    compressed.write_bytes(gzip.compress(Path(layouts).read_bytes()))
    for source in (layouts, parts, str(parts / "*"), [parts / f"part0{kind.extensions[0]}", *parts.glob("part2*")]):
        assert cv.evaluate(source, judgments, items).mean == EXPECTED.mean
    assert cv.evaluate(compressed, judgments, items).mean == EXPECTED.mean


def test_the_line_of_a_defect(kind: FileKind, tmp_path: Path) -> None:
    wrong = JUDGMENTS | {"relevance": [2, "much", 3]}
    layouts, judgments = write(tmp_path, kind, layouts=LAYOUTS, judgments=wrong)
    line = "line 3" if kind.is_text else "record 2"
    with pytest.raises(cv.DataError, match=f"column relevance, {line}: found 'much'"):
        cv.evaluate(layouts, judgments)


def test_messages_know_it(kind: FileKind, tmp_path: Path) -> None:
    assert f" or {kind.extensions[0]} files" in supported_files()
    with pytest.raises(cv.DataError, match=rf"unknown file type. Tables are .*{kind.extensions[0]} files"):
        cv.evaluate(write(tmp_path, FixedWidth("other", (".other",)), layouts=LAYOUTS)[0], JUDGMENTS)
    csv = tmp_path / f"of commas{kind.extensions[0]}"
    csv.write_text("user_id,item_id\nu1,a\n")
    if kind.is_text:
        words = "vertical bars" if kind is BARS else r"'\^'"
        with pytest.raises(cv.DataError, match=f"separated by commas; separate them by {words}"):
            cv.evaluate(csv, JUDGMENTS)


def test_on_the_command_line(kind: FileKind, tmp_path: Path) -> None:
    layouts, judgments, items = write(tmp_path, kind, layouts=LAYOUTS, judgments=JUDGMENTS, items=ITEMS)
    for command in ("evaluate", "check"):
        of_files = run(command, layouts, judgments, "--items", items, "--format", "json")
        assert (of_files.returncode, of_files.stderr) == (0, "")
        assert json.loads(of_files.stdout) == json.loads((EXPECTED if command == "evaluate" else CHECKED).to_json())


@pytest.mark.parametrize("kind", [FIXED], indirect=True)
def test_on_an_engine(kind: FileKind, tmp_path: Path) -> None:
    """Its tables are frames; the items, which hold for everyone, may be a file."""
    layouts, judgments, items = write(tmp_path, kind, layouts=LAYOUTS, judgments=JUDGMENTS, items=ITEMS)
    pages, judged = (kind.scan(Path(path)).collect() for path in (layouts, judgments))
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as processes:
        found = evaluate_on(PoolEngine(parts=2, pool=processes), pages, judged, items, Settings())
    assert found.to_dict() == EXPECTED.to_dict()
