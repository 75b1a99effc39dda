"""Reports in a browser: opened from disk, without a request, an error or a barrier; and printed."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from tests.show.report.sample_reports import NAMES, report
from tests.show.studio.browser import open_browser

pytestmark = pytest.mark.needs("chromium")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with open_browser() as opened:
        yield opened


def open_report(browser: Browser, folder: Path, name: str, width: int = 1440, dark: bool = False) -> Page:
    """The report from disk; nothing else is requested, and nothing is printed to the console."""
    path = folder / "report.html"
    path.write_text(report(name), encoding="utf-8")
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme="dark" if dark else "light")
    events: list[str] = []
    page.on("console", lambda message: events.append(message.text))
    page.on("pageerror", lambda error: events.append(str(error)))
    page.on("request", lambda request: events.append(request.url))
    page.goto(path.as_uri())
    assert events == [path.as_uri()]
    return page


def names_and_screens() -> list[Any]:
    """Every report on both screens; the deep layer has one of the two, in turn, and what is part of another report."""
    screens = (("desktop, light", 1440, False), ("phone, dark", 320, True))
    return [
        pytest.param(name, width, dark, marks=[pytest.mark.deep] * deep, id=f"{name}-{screen}")
        for at, name in enumerate(NAMES)
        for number, (screen, width, dark) in enumerate(screens)
        for deep in [(at + number) % 2 == 1 or "alone" in name]
    ]


@pytest.mark.parametrize(("name", "width", "dark"), names_and_screens())
def test_a_report_has_no_barriers(name: str, width: int, dark: bool, browser: Browser, tmp_path: Path) -> None:
    page = open_report(browser, tmp_path, name, width, dark)
    assert page.evaluate("document.documentElement.scrollWidth") <= width  # what is wide scrolls in its own box
    for number in page.locator(".tiles strong").all():
        assert number.evaluate("element => element.offsetHeight") < 40, "a number is on one line"
    for details in page.locator("details").all():
        details.locator("summary").first.click()
    found = Axe().run(page, options={"resultTypes": ["violations"]})
    assert not found.response["violations"], found.generate_report()
    page.close()


def test_dark_charts_are_dark(browser: Browser, tmp_path: Path) -> None:
    script = "getComputedStyle(document.querySelector('figure svg > rect')).fill"
    colors = []
    for dark in (False, True):
        page = open_report(browser, tmp_path, "explanation", dark=dark)
        colors.append(page.evaluate(script))
        page.emulate_media(media="print")
        assert page.evaluate(script) == colors[0]  # on paper, everything is light
        page.close()
    assert colors == ["rgb(255, 255, 255)", "rgb(21, 24, 29)"]


def test_the_keyboard_reaches_everything(browser: Browser, tmp_path: Path) -> None:
    page = open_report(browser, tmp_path, "comparison")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the summary"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    page.locator("summary").last.focus()
    page.keyboard.press("Enter")
    assert page.locator("details").last.get_attribute("open") == ""
    page.close()


def test_what_is_folded_is_printed(browser: Browser, tmp_path: Path) -> None:
    page = open_report(browser, tmp_path, "comparison")
    folded = page.get_by_text("missing_pages", exact=True)
    assert folded.evaluate("element => element.checkVisibility({contentVisibilityAuto: true})") is False
    page.emulate_media(media="print")
    assert folded.evaluate("element => element.getBoundingClientRect().height") > 0
    assert not page.locator("nav").is_visible()
    sizes = set(re.findall(rb"/MediaBox \[0 0 (\d+)", page.pdf(format="A4", prefer_css_page_size=True)))
    assert sizes == {b"595", b"842"}  # pages beside their ideals are printed across
    page.close()
