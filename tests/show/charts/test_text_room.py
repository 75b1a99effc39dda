"""Texts are not clipped where a browser has none of the fonts that a chart was measured with."""

import re
from typing import Any

import pytest

import carouseval as cv
from carouseval.show.charts.shapes.bars import Bar, bar_chart
from carouseval.show.charts.text_room import text_width, with_room
from tests.show.charts.drawings import drawn
from tests.show.charts.sample_results import comparison, explanation, result_of


def drawing(text: str, place: str, width: str = "100.5", left: str = "0", background: str = "") -> str:
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="20" viewBox="{left} 0 {width} 20">'
    content = f'<g transform="translate(10,5)"><text {place}>{text}</text></g>'
    return f'{head}<rect {background}width="{width}"/>{content}</svg>'


def extended(text: str, place: str, left: int, width: int) -> str:
    return drawing(text, place, f"{width}.5", str(-left), f'x="{-left}" ')


@pytest.mark.parametrize(
    ("place", "left", "width"),
    [
        ('text-anchor="start" transform="translate(40,0)" font-size="10px"', 0, 50 + 63 + 4),
        ('text-anchor="end" transform="translate(40,0)" font-size="10px"', 17, 117),
        ('text-anchor="middle" transform="translate(40,0)" font-size="10px"', 0, 100),
        ('text-anchor="middle" transform="translate(40,0)" font-size="20px"', 17, 134),
        ('text-anchor="start" transform="translate(40,0) rotate(-90) translate(0,9)" font-size="10px"', 0, 100),
        ('text-anchor="start" transform="translate(40,0) rotate(-60)" font-size="10px"', 0, 100),
    ],
)
def test_a_drawing_is_extended_as_far_as_texts_may_go(place: str, left: int, width: int) -> None:
    assert text_width("0123456789", 10) == pytest.approx(63)
    assert with_room(drawing("0123456789", place)) == extended("0123456789", place, left, width)


def test_every_line_of_a_text_has_room() -> None:
    lines = "<tspan>0</tspan><tspan>0123456789</tspan>"
    place = 'transform="translate(40,0)" font-size="10px"'
    assert with_room(drawing(lines, place)) == extended(lines, place, 0, 117)


def test_widths_follow_the_letters() -> None:
    assert text_width("iiii", 10) < text_width("nnnn", 10) < text_width("NNNN", 10) < text_width("mmmm", 10)
    assert text_width("日本", 10) == pytest.approx(20)
    assert text_width("name", 10, bold=True) > text_width("name", 10)


def test_a_chart_has_a_background_behind_all_of_it() -> None:
    root = drawn(bar_chart([Bar("a name " * 6, 1.0, "a text " * 9)], "t", "", "a.", "x"))
    x, _, width, _ = root.get("viewBox", "").split()
    background = next(element for element in root if element.tag.endswith("rect"))
    assert (background.get("x"), background.get("width")) == (x, width)
    assert root.get("width") == width


OUTSIDE = """svg => {
  const box = svg.getBoundingClientRect();
  const isOut = ({ left, right }) => left < box.left || right > box.right;
  const texts = [...svg.querySelectorAll("text")].filter((text) => isOut(text.getBoundingClientRect()));
  return texts.map((text) => text.textContent);
}"""


@pytest.mark.needs("chromium")
def test_no_text_leaves_its_chart_in_a_browser() -> None:
    from tests.show.studio.browser import open_browser

    charts: dict[str, Any] = {
        "means": result_of("Evaluation").chart("means"),
        "differences": comparison().chart(),
        "waterfall": explanation().chart(),
        "losses": explanation().chart("losses"),
        "weights": result_of("PageScore").chart("weights"),
        "matrix": result_of("Sensitivity").chart(),
        "long": cv.charts.heatmap([[0.5]], "a long title above a very small heat map, as long as it is wide"),
    }
    with open_browser() as browser:
        page = browser.new_page(viewport={"width": 1600, "height": 900})
        for font in ("DejaVu Sans", "Arial"):
            for name, chart in charts.items():
                page.set_content(re.sub(r'font-family="[^"]*"', f'font-family="{font}"', chart.svg))
                assert page.locator("svg").evaluate(OUTSIDE) == [], (name, font)
