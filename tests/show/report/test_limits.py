"""Reports of anything stay small, say what they leave out, and leave nothing half-written."""

import random
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import carouseval as cv
from carouseval.show.report import kinds
from carouseval.show.report.kinds import MOST_BYTES, report_html
from tests.show.report import worlds
from tests.show.report.html_pages import ReportPage
from tests.show.report.sample_reports import comparison, data, explanation, report, sensitivity


def pages_drawn(text: str) -> int:
    return len(re.findall("<title id=[^>]*>The page of", text))


def large_page(rows: int, cols: int) -> cv.Explanation:
    """The explanation of one page that fills a large grid, with every hundredth item relevant."""
    cells = [(1, row, col, row * cols + col, f"row {row}") for row in range(rows, 0, -1) for col in range(1, cols + 1)]
    pages = pl.DataFrame(cells, schema=["user_id", "row", "col", "item_id", "category"], orient="row")
    judgments = pages.select("user_id", "item_id", relevance=1).filter(pl.col("item_id") % 100 == 7)
    return cv.explain(pages, judgments, grid=cv.Grid(rows, cols, page_size=5, visible_rows=1))


def test_a_very_large_grid() -> None:
    result = large_page(200, 500)
    page = ReportPage(text := report_html(result, None, {}))
    assert len(text.encode()) < 100_000
    assert "The losses of cells are not drawn, so that the file stays small enough to be mailed" in page.text
    assert "The page of user_id=1: its first relevant items" in page.text
    assert "It is not drawn, so that the file stays small enough to be mailed." in page.text
    places = {line[0]: line[1:] for line in page.table("item", "on the page", "on its ideal page")}
    shown = result.page(1).shown
    first = result.page(1).ideal.row(0, named=True)
    (cell,) = shown.filter(pl.col("item_id") == first["item_id"]).to_dicts()
    assert places[str(first["item_id"])] == [
        f"row {cell['row']}, column {cell['col']}",
        f"row {first['row']}, column {first['col']}",
    ]
    assert "Rows, in points of 100: 200 lines" in page.text


@pytest.mark.parametrize("shape", [(1, 1), (1, 40), (30, 1)])
def test_narrow_grids_are_drawn(shape: tuple[int, int]) -> None:
    rows, cols = shape
    pages = [(1, row, col, f"{row} {col}", f"row {row}") for row in range(1, rows + 1) for col in range(1, cols + 1)]
    table = pl.DataFrame(pages, schema=["user_id", "row", "col", "item_id", "category"], orient="row")
    judgments = {"user_id": [1], "item_id": [f"{rows} {cols}"], "relevance": [1]}
    result = cv.explain(table, judgments, grid=cv.Grid(rows, cols, page_size=min(5, cols), visible_rows=1))
    assert pages_drawn(report_html(result, None, {})) == 1


def test_large_reports_leave_pages_cells_and_charts_out(monkeypatch: pytest.MonkeyPatch) -> None:
    grid = cv.Grid(1, worlds.COLUMNS, page_size=worlds.COLUMNS, visible_rows=1)
    result = cv.explain(worlds.layouts([2, 3, 4]), worlds.judgments(3), worlds.items(3), grid=grid)
    whole = report_html(result, None, {})
    assert pages_drawn(whole) == 3
    monkeypatch.setattr(kinds, "MOST_BYTES", len(whole.encode()))
    assert pages_drawn(report_html(result, None, {})) == 1
    monkeypatch.setattr(kinds, "DETAILS", kinds.DETAILS[-1:])
    few = report_html(result, None, {})
    assert pages_drawn(few) == 0
    assert "No page is drawn, so that the file stays small enough to be mailed;" in few
    assert "The losses of cells are not drawn, so that the file stays small enough to be mailed;" in few
    monkeypatch.setattr(kinds, "MOST_BYTES", len(few.encode()))
    least = ReportPage(report_html(result, None, {}))
    assert not least.attributes("svg")
    assert "Charts are left out, so that the file stays small enough to be mailed;" in least.text
    assert result.chart("waterfall").alt in least.text


def test_posters_count(tmp_path: Path) -> None:
    """Posters that would make a report too large are left out, and its pages show titles."""
    rng = random.Random(0)
    items = data().items.unique("item_id", keep="first", maintain_order=True)
    names = []
    for number in range(60):
        names.append(str(tmp_path / f"{number}.png"))
        Path(names[-1]).write_bytes(b"\x89PNG\r\n\x1a\n" + rng.randbytes(40_000))
    posters = [names[at % len(names)] for at in range(items.height)]
    with_posters = data().items.join(items.select("item_id", poster=pl.Series(posters)), on="item_id")
    result = cv.explain(data().layouts["new"], data().judgments, with_posters)
    with pytest.warns(cv.DataWarning, match="may have 1,500,000 bytes in all"):
        text = report_html(result, None, {})
    assert len(text.encode()) < 3_000_000
    assert "data:image/png" not in text
    assert pages_drawn(text) == 4  # a typical one, too
    assert "Posters are left out" in text


def test_only_pictures_become_posters(tmp_path: Path) -> None:
    """A poster may lead anywhere; what is not a picture of the usual size is not read into a report."""
    (tmp_path / "secret.txt").write_text("a secret")
    (tmp_path / "link.png").symlink_to(tmp_path / "secret.txt")
    (tmp_path / "huge.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(200_000))
    (tmp_path / "script.svg").write_text("<svg><script>alert(1)</script></svg>")
    odd = [str(tmp_path / name) for name in ("link.png", "huge.png", "script.svg", "none.png")]
    odd += ["/dev/zero", "nul\x00.png", "https://example.org/a.png", str(tmp_path), "'><script>.png"]
    pages = {"user_id": [1] * 9, "row": [1] * 9, "col": range(1, 10), "item_id": range(9), "category": ["a"] * 9}
    items = {"item_id": range(9), "category": ["a"] * 9, "poster": odd}
    result = cv.explain(pages, {"user_id": [1], "item_id": [8], "relevance": [1]}, items)
    with pytest.warns(cv.DataWarning, match="9 posters cannot be drawn"):
        text = report_html(result, None, {})
    assert "data:" not in text.replace("img-src data:", "")
    assert "<script" not in text
    assert "secret" not in text


@pytest.mark.parametrize(
    "name",
    [pytest.param("x" * 10_000, id="letters"), pytest.param("a name " * 1_500, id="words", marks=pytest.mark.deep)],
)
def test_names_of_any_length(name: str) -> None:
    sample = data()
    pages = {
        f"{system} {name}": table.with_columns(pl.col("device", "category") + name, page_id=pl.lit(name))
        for system, table in sample.layouts.items()
    }
    items = sample.items.with_columns(pl.col("category") + name, title=pl.lit(name))
    result = cv.compare(pages, sample.judgments, items, by="device", test="t")
    explanations = {system: cv.explain(table, sample.judgments, items) for system, table in pages.items()}
    parts: dict[str, Any] = {"explanations": explanations, "notices": [name], "command": name}
    page = ReportPage(text := report_html(result, None, parts))
    assert len(text.encode()) < MOST_BYTES
    assert max(len(heading) for _, heading in page.headings) <= 500
    assert max(len(cell) for table in page.tables for line in table for cell in line) <= 1_000
    assert "…" in page.headings[0][1]


@pytest.mark.deep  # more of the same; large reports and long names are tried in the gate
def test_many_systems_metrics_and_segments() -> None:
    sample = data()
    systems = {f"system {number}": sample.layouts["new" if number % 2 else "prod"] for number in range(12)}
    metrics = ["N2DCG_cat", *(f"NDCG@{cutoff}" for cutoff in range(1, 10))]
    result = cv.compare(systems, sample.judgments, sample.items, test="t", by="device", metrics=metrics)
    page = ReportPage(report_html(result, None, {"explanations": dict.fromkeys(systems, explanation())}))
    assert "12 systems compared" in page.headings[0][1]
    assert "Pairs of systems (the first 60 of 660; comparison.pairs has all)" in page.text
    assert "Segments (the first 60 of 1,980; comparison.segments has all)" in page.text
    assert page.text.count("Drawn by N2DCG_cat alone; the table has all metrics.") == 2
    assert (3, "Other systems") in page.headings
    assert page.text.count("From the ideal page to the score") >= 6


def test_runs_are_counted_once() -> None:
    pages = data().layouts
    result = cv.compare({"prod": pages["prod"], "new": [pages["new"], pages["prod"]]}, data().judgments, data().items)
    assert "Of systems with several runs, the first is counted." in ReportPage(report_html(result, None, {})).text
    assert "the first is counted" not in report("comparison")


def test_a_report_is_written_or_not(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text("before")
    assert sensitivity().report(str(path), title="A title") == path
    assert ReportPage(path.read_text(encoding="utf-8")).headings[0] == (1, "A title")
    with pytest.raises(cv.DataError, match=r"report\.pdf: unsupported file type\. Use \.html or \.htm\."):
        sensitivity().report(tmp_path / "report.pdf")
    with pytest.raises(cv.DataError, match=r"cannot be written: it is a folder\. Give a file to write to\."):
        sensitivity().report(tmp_path)
    with pytest.raises(cv.DataError, match=r"cannot be written: the folder .*missing does not exist\."):
        sensitivity().report(tmp_path / "missing" / "report.html")
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]


@pytest.mark.parametrize("broken", ["check_outputs", "page_html", "write_bytes"])
def test_an_interrupted_report_leaves_nothing(broken: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "report.html"
    path.write_text("before")

    def interrupt(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path if broken == "write_bytes" else kinds, broken, interrupt)
    with pytest.raises(KeyboardInterrupt):
        comparison().report(path)
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]
    assert path.read_text() == "before"
