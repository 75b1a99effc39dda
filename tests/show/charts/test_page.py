"""A page is drawn as carousels: titles or posters, relevant items, and borders of swipe pages."""

import base64
import struct
import zlib
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import carouseval as cv
from carouseval.show import posters
from tests.show.charts.drawings import data_of, drawn, marks, texts

LAYOUTS = {
    "user_id": [1] * 7,
    "row": [1, 1, 1, 1, 2, 2, 2],
    "col": [1, 2, 3, 4, 1, 2, 3],
    "item_id": [1, 2, 3, 4, 5, 2, 7],
    "category": ["new"] * 4 + ["drama"] * 3,
}
JUDGMENTS = {"user_id": [1, 1, 1], "item_id": [2, 5, 9], "relevance": [2, 1, 3]}
ITEMS = pl.DataFrame(
    {
        "item_id": [1, 2, 3, 4, 5, 2, 7, 9],
        "category": ["new"] * 4 + ["drama"] * 4,
        "title": ["One", "Two </script>", None, "A title that is far too long for any card of a page", "Five"]
        + ["-"] * 3,
    }
)
GRID = cv.Grid(3, 4, page_size=2)


def png(width: int = 4, height: int = 6) -> bytes:
    """A small red picture."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    lines = b"".join(b"\0" + b"\xff\0\0" * width for _ in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        chunk(kind, data) for kind, data in ((b"IHDR", header), (b"IDAT", zlib.compress(lines)), (b"IEND", b""))
    )


def explained(items: Any = ITEMS) -> cv.Explanation:
    return cv.explain(LAYOUTS, JUDGMENTS, items, grid=GRID)


def cards(chart: cv.charts.Chart) -> list[dict[str, Any]]:
    return data_of(chart, "item", "x2")


def test_cards_are_the_cells_of_both_pages() -> None:
    view = explained().page()
    drawn_cards = cards(view.chart())
    shown = {(row["row"], row["col"], row["item"], row["gain"], row["counts"]) for row in drawn_cards}
    titles = {1: "One", 2: "Two </script>", 3: "3", 4: ITEMS["title"][3], 5: "Five", 7: "-", 9: "-"}
    for cell in view.shown.iter_rows(named=True):
        assert (cell["row"], cell["col"], titles[cell["item_id"]], cell["gain"], cell["counts"]) in shown
    for cell in view.ideal.iter_rows(named=True):
        assert (cell["row"], cell["col"], titles[cell["item_id"]], cell["gain"], True) in shown
    assert len(drawn_cards) == view.shown.height + view.ideal.height


def test_relevant_items_have_a_star_and_their_gain() -> None:
    chart = explained().chart("page")
    root = drawn(chart)
    relevant = [card for card in cards(chart) if card["relevant"]]
    assert len(relevant) == 3 + 3  # item 2 stands on the page twice
    assert len(marks(root, "symbol")) == 6
    written = texts(root)
    assert [written.count(gain) for gain in ("3", "1", "7")] == [3 + 1, 2, 1]  # and item 3, which has no title
    assert [card["counts"] for card in relevant].count(False) == 1
    dashed = [mark for mark in marks(root, "rect") if mark.get("stroke-dasharray") == "4,3"]
    assert len(dashed) == 1


def test_titles_and_carousels_are_written() -> None:
    written = texts(drawn(explained().chart("page")))
    assert {"1 new", "2 drama", "The page", "Its ideal page", "One"} <= {" ".join(text.split()) for text in written}
    long = next(text for text in written if text.startswith("A title"))
    assert long.endswith("…")
    assert "Two </script>" in written
    assert "<script" not in explained().chart("page").svg


def test_swipe_pages_have_borders() -> None:
    chart = explained().chart("page")
    lines = data_of(chart, "x", "y", "y2")
    borders = [row for row in lines if "x2" not in row]
    first = [card for card in cards(chart) if card["row"] == 1]
    left, right = (next(card for card in first if card["col"] == col) for col in (2, 3))
    assert {round(row["x"], 6) for row in borders} == {round((left["x2"] + right["x"]) / 2, 6)}
    assert right["x"] - left["x2"] > 20
    assert len(borders) >= 2  # of both rows


def test_an_explanation_draws_the_page_asked_for() -> None:
    data = cv.sample(20, systems=["new"])
    result = cv.explain(data.layouts["new"], data.judgments, data.items)
    assert result.chart("page", user_id="u000003").title == "The page of user_id='u000003'"
    assert result.chart("page").title == f"The page of {result.page().ids}"
    assert result.chart("page", user_id="u000003").to_dict() == result.page("u000003").chart().to_dict()
    with pytest.raises(cv.ParameterError, match="there is no page of user_id='nobody'"):
        result.chart("page", user_id="nobody")


def test_pages_stand_beside_each_other_unless_they_are_wide() -> None:
    narrow = explained().chart("page").to_dict()
    assert narrow["columns"] == 2
    grid = cv.Grid(1, 60)
    layouts = {"user_id": [1] * 60, "row": [1] * 60, "col": list(range(1, 61)), "item_id": list(range(60))}
    layouts["category"] = [1] * 60
    judgments = {"user_id": [1] * 60, "item_id": list(range(60)), "relevance": [1] * 60}
    wide = cv.explain(layouts, judgments, grid=grid).chart("page")
    assert wide.to_dict()["columns"] == 1
    assert not data_of(wide, "lines")  # cards are too small for titles
    assert len(cards(wide)) == 120


def test_posters_are_embedded(tmp_path: Path) -> None:
    (tmp_path / "two.png").write_bytes(png())
    items = ITEMS.with_columns(poster=pl.when(pl.col("item_id") == 2).then(pl.lit(str(tmp_path / "two.png"))))
    chart = explained(items).chart("page")
    images = [element for element in drawn(chart).iter() if element.tag.endswith("image")]
    uri = "data:image/png;base64," + base64.b64encode(png()).decode()
    assert len(images) == 3  # twice on the page, once on its ideal
    assert {value for image in images for name, value in image.attrib.items() if name.endswith("href")} == {uri}
    assert str(tmp_path) not in chart.svg + chart.html
    assert "One" in texts(drawn(chart))
    assert chart.save(tmp_path / "page.png").stat().st_size > 5000


def test_posters_are_relative_to_the_file_of_items(tmp_path: Path) -> None:
    (tmp_path / "posters").mkdir()
    (tmp_path / "posters" / "two.jpg").write_bytes(b"\xff\xd8\xff" + b"0" * 50)
    items = ITEMS.with_columns(poster=pl.when(pl.col("item_id") == 2).then(pl.lit("posters/two.jpg")))
    items.write_csv(tmp_path / "items.csv")
    view = explained(tmp_path / "items.csv").page()
    assert view.shown.columns[:5] == ["row", "col", "item_id", "title", "poster"]
    assert set(view.shown["poster"]) == {None, str(tmp_path / "posters" / "two.jpg")}
    assert len(data_of(view.chart(), "poster")) == 3


@pytest.mark.parametrize(
    ("poster", "reason"),
    [
        ("missing.png", "there is no such file"),
        (".", "there is no such file"),
        ("a\0b", "there is no such file|no file can have this name"),
        ("https://example.org/a.png", "it is not a local file, and nothing is fetched"),
        ("//example.org/a.png", "it is not a local file, and nothing is fetched"),
        ("data:image/png;base64,AAAA", "it is not a local file, and nothing is fetched"),
        ("text.png", "it is not a PNG, JPEG, GIF or WebP picture"),
        ("drawing.svg", "it is not a PNG, JPEG, GIF or WebP picture"),
        ("large.png", "it has 150,001 bytes, more than 150,000"),
    ],
)
def test_a_poster_that_cannot_be_used_is_a_box_and_a_notice(
    poster: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "text.png").write_text("no picture")
    (tmp_path / "drawing.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    (tmp_path / "large.png").write_bytes(png() + b"0" * (150_001 - len(png())))
    monkeypatch.chdir(tmp_path)
    items = ITEMS.with_columns(poster=pl.when(pl.col("item_id") == 2).then(pl.lit(poster)))
    view = explained(items).page()
    message = rf"^items: 1 poster cannot be drawn, first .*: ({reason})\. Such items are drawn as boxes\.$"
    with pytest.warns(cv.DataWarning, match=message):
        chart = view.chart()
    assert "Two </script>" in texts(drawn(chart))
    assert "<image" not in chart.svg


def test_posters_of_a_chart_have_a_limit_in_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.png").write_bytes(png())
    monkeypatch.setattr(posters, "MOST_BYTES_OF_ALL", 2 * len(png()))
    paths = [str(tmp_path / f"{name}.png") for name in ("a", "b", "c")]
    with pytest.warns(cv.DataWarning, match=r"^items: 1 poster cannot be drawn, first .*c\.png': the posters"):
        embedded = posters.embedded_posters([*paths, None, paths[0]])
    assert list(embedded) == paths[:2]


def test_every_kind_of_picture_is_known(tmp_path: Path) -> None:
    begins = {"png": png(), "jpeg": b"\xff\xd8\xff\xe0", "gif": b"GIF89a", "webp": b"RIFF\0\0\0\0WEBPVP8 "}
    for kind, content in begins.items():
        (tmp_path / kind).write_bytes(content)
    embedded = posters.embedded_posters([str(tmp_path / kind) for kind in begins])
    assert [uri.partition(";")[0] for uri in embedded.values()] == [f"data:image/{kind}" for kind in begins]
