"""A chart is written completely or not at all, its texts stay texts, and its colours work in grey and in the dark."""

import re
import subprocess
import warnings
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import vl_convert

import carouseval as cv
from carouseval.show.charts import theme
from carouseval.show.charts.shapes.bars import Bar, bar_chart
from carouseval.tables.writing import CHARTS
from tests.show.charts.drawings import drawn, texts

HOSTILE = "</script><script>alert(1)</script>"
SVG = "{http://www.w3.org/2000/svg}"


def chart_named(name: str) -> cv.charts.Chart:
    """A chart with the same text in its title, notes, axis labels, data and alt text."""
    return bar_chart([Bar(name, 1.0, name), Bar(name, 2.0, "two")], name, name, name, name)


def lightness(color: str) -> float:
    """The grey of a colour, from 0 to 255."""
    named = {"white": "#ffffff", "black": "#000000"}.get(color, color)
    red, green, blue = (int(named[at : at + 2], 16) for at in (1, 3, 5))
    return 0.299 * red + 0.587 * green + 0.114 * blue


def dark(color: str) -> str:
    return str(theme.themed({"color": color}, "dark")["color"])


def test_the_ending_chooses_the_format(tmp_path: Path) -> None:
    chart = chart_named("plain")
    begins = {".svg": b"<svg", ".png": b"\x89PNG", ".pdf": b"%PDF", ".html": b"<!DOCTYPE html>"}
    assert set(begins) == set(CHARTS)
    for suffix, begin in begins.items():
        path = chart.save(str(tmp_path / f"mu=0.65{suffix}"))
        assert path == tmp_path / f"mu=0.65{suffix}"
        assert path.read_bytes().startswith(begin)
    assert chart.save(tmp_path / "LARGE.SVG").read_bytes().startswith(b"<svg")


@pytest.mark.parametrize("name", ["chart.gif", "chart", "chart.svg.txt"])
def test_another_ending_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(cv.DataError, match=rf"{name}: unsupported file type\. Use \.svg, \.png, \.pdf or \.html\."):
        chart_named("plain").save(tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_a_folder_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(cv.DataError, match=r"the folder .*missing does not exist"):
        chart_named("plain").save(tmp_path / "missing" / "chart.svg")


def test_nothing_is_written_when_drawing_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*arguments: Any, **options: Any) -> bytes:
        raise OSError("no fonts")

    (tmp_path / "chart.pdf").write_text("as it was")
    monkeypatch.setattr(vl_convert, "svg_to_pdf", fails)
    with pytest.raises(OSError, match="no fonts"):
        chart_named("plain").save(tmp_path / "chart.pdf")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["as it was"]


def test_title_and_alt_text_are_in_svg_and_html() -> None:
    chart = cv.charts.heatmap([[0.5, 0.25]], "A & B")
    root = drawn(chart)
    title, alternative = root[0], root[1]
    assert (title.tag, title.text) == (f"{SVG}title", "A & B")
    assert (alternative.tag, alternative.text) == (f"{SVG}desc", chart.alt)
    assert root.get("role") == "img"
    assert root.get("aria-labelledby") == f"{title.get('id')} {alternative.get('id')}"
    assert "<title>A &amp; B</title>" in chart.html
    assert f'aria-label="A &amp; B. {chart.alt}"' in chart.html
    assert chart.alt == "a grid of 1 row and 2 columns; weight from 0.25 (row 1, column 2) to 0.5 (row 1, column 1)."


def test_charts_on_one_page_share_no_ids() -> None:
    pictures = [cv.charts.heatmap([[value, 0.1]], "t") for value in (0.5, 0.6)]
    pictures.append(pictures[0].with_theme("dark"))
    ids = [re.findall(r'\bid="([^"]+)"', chart.svg) for chart in pictures]
    assert all(len(own) == 3 for own in ids)  # title, alt text and the gradient of the legend
    assert len({name for own in ids for name in own}) == 9
    for chart, own in zip(pictures, ids, strict=True):
        assert set(re.findall(r"url\(#([^)]+)\)", chart.svg)) <= set(own)


def test_a_text_that_looks_like_an_id_is_not_changed() -> None:
    name = 'id="gradient_0" url(#gradient_0)'
    assert name in texts(drawn(chart_named(name)))


def test_a_title_with_a_script_stays_text() -> None:
    chart = chart_named(HOSTILE)
    assert texts(drawn(chart)).count(HOSTILE) >= 4
    assert "<script" not in chart.svg
    assert chart.html.count("<script") == chart.html.count("</script>") == 2
    assert "alert(1)" in chart.html
    assert HOSTILE not in chart.html


@pytest.mark.parametrize("mark", ["\x00", "\x07", "\x1b", "\u202e", "\ufffe", "\uffff", "\ud800", "\n", "\t", "\x85"])
def test_marks_that_xml_cannot_hold_are_escaped(mark: str, tmp_path: Path) -> None:
    chart = chart_named(f"a{mark}b")
    ET.fromstring(chart.svg)
    assert mark not in "".join(drawn(chart).itertext()).replace("\n", "" if mark != "\n" else mark)
    assert chart.save(tmp_path / "chart.png").stat().st_size > 1000
    assert mark not in repr(chart)


def test_any_other_text_is_drawn(tmp_path: Path) -> None:
    name = "日本語 🎬 עברית Ω ]]> <!-- & ' \" \\ {{x}} ${x}"
    assert name in texts(drawn(chart_named(name)))
    assert chart_named(name).save(tmp_path / "chart.pdf").stat().st_size > 1000


@pytest.mark.needs("chromium")
@pytest.mark.parametrize("name", ["light", "dark"])
def test_html_opens_from_disk_without_a_network(name: Any, tmp_path: Path) -> None:
    path = chart_named(HOSTILE).with_theme(name).save(tmp_path / "chart.html")
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
    options += ["--disable-component-update", "--disable-sync", "--host-resolver-rules=MAP * ~NOTFOUND"]
    options += [f"--user-data-dir={tmp_path / 'profile'}", "--virtual-time-budget=10000", "--dump-dom", path.as_uri()]
    page = subprocess.run(["chromium", *options], capture_output=True, text=True, check=True, timeout=60).stdout
    figure = page[page.index("<figure") : page.index("</figure>")]
    assert "<svg" in figure
    assert figure.count("&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;</text>") >= 4


def test_notebooks_show_the_svg() -> None:
    chart = chart_named("plain")
    assert chart._repr_mimebundle_() == {"image/svg+xml": chart.svg, "text/plain": repr(chart)}
    assert repr(chart) == "Chart(plain: plain)"


def test_the_dark_theme_differs_in_colours_alone() -> None:
    light = cv.charts.heatmap([[0.5, np.nan]], "white", cv.Grid(1, 2), "black")
    spec, darker = light.to_dict(), light.with_theme("dark").to_dict()
    assert darker["datasets"] == spec["datasets"]
    assert darker["config"]["background"] == dark("white") != "white"
    assert (darker["layer"][0]["encoding"]["color"]["legend"]["title"], darker["title"]) == ("black", "white")

    def colorless(content: Any) -> Any:
        if isinstance(content, dict):
            return {key: colorless(value) for key, value in content.items()}
        if isinstance(content, list):
            return [colorless(value) for value in content]
        return "color" if re.fullmatch(r"#[0-9a-f]{6}|white|black", str(content)) else content

    assert colorless(darker) == colorless(spec)


def test_a_theme_must_be_known() -> None:
    with pytest.raises(cv.ParameterError, match=r"^theme must be 'light' or 'dark', found 'drak'\."):
        chart_named("plain").with_theme("drak")  # type: ignore[arg-type]


def test_every_colour_of_a_chart_has_a_dark_one() -> None:
    colors = {value for name, value in vars(theme).items() if name.isupper() and isinstance(value, str)} - {theme.FONT}
    colors |= {*theme.HUES, *theme.RAMP, *theme.SHADES}
    assert len(colors) > 20
    assert all(dark(color) != color for color in colors)


@pytest.mark.parametrize("name", ["light", "dark"])
def test_shades_keep_their_order_in_grey(name: str) -> None:
    def shade(color: str) -> float:
        """How much a colour differs from the background, in grey."""
        paper = "white" if name == "light" else dark("white")
        return abs(lightness(color if name == "light" else dark(color)) - lightness(paper))

    assert (np.diff([shade(color) for color in theme.RAMP]) > 15).all()
    assert (np.diff([shade(color) for color in theme.SHADES]) < 0).all()
    grey = [shade(color) for color in (theme.GRID_LINE, theme.FAINT, theme.GREY, theme.INK)]
    assert grey == sorted(grey)


def contrast(first: str, second: str) -> float:
    """The contrast of two colours, as WCAG defines it."""

    def luminance(color: str) -> float:
        named = {"white": "#ffffff", "black": "#000000"}.get(color, color)
        parts = (int(named[at : at + 2], 16) / 255 for at in (1, 3, 5))
        red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    bright, dim = sorted((luminance(first), luminance(second)), reverse=True)
    return (bright + 0.05) / (dim + 0.05)


@pytest.mark.parametrize("name", ["light", "dark"])
def test_text_and_marks_stand_out(name: str) -> None:
    def color(light: str) -> str:
        return light if name == "light" else dark(light)

    assert contrast(color(theme.INK), color(theme.PAPER)) > 7
    assert contrast(color(theme.INK), color(theme.BAND)) > 7
    assert contrast(color(theme.INK), color(theme.RAMP[1])) > 4.5  # titles on relevant cards
    for hue in (*theme.HUES, theme.RED):
        assert contrast(color(hue), color(theme.PAPER)) > 3
    for share, step in zip(np.linspace(0, 1, 5), theme.RAMP, strict=True):  # numbers on cells
        ink = theme.PAPER if share > 0.68 else theme.TEXT
        assert contrast(color(ink), color(step)) > 4.5


def test_drawing_gives_no_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert chart_named("plain").with_theme("dark").svg
