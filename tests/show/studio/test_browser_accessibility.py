"""Accessibility in every state of the page."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, expect

from tests.depth import gate_or_deep
from tests.show.studio.browser import StudioPage
from tests.show.studio.conftest import Studio

pytestmark = pytest.mark.needs("chromium")


# the gate checks each state once, in one of the themes and widths
STATES = {"opened", "warned", "side by side", "opening tables"}
LIGHT, DARK = {"warned", "opening tables"}, {"opened", "side by side"}


@pytest.mark.parametrize(
    ("scheme", "width", "states"),
    [("light", 1440, gate_or_deep(LIGHT, STATES)), ("dark", 390, gate_or_deep(DARK, STATES))],
    ids=["light-1440", "dark-390"],
)
def test_accessibility(browser: Browser, server: Studio, scheme: str, width: int, states: set[str]) -> None:
    studio = StudioPage(browser, server.address, color_scheme=scheme, viewport={"width": width, "height": 900})
    studio.open()
    _check(studio, "opened", states)
    studio.drag(studio.tile(1, 1), studio.tile(2, 0))  # with a warning
    studio.tile(1, 0).focus()
    studio.page.keyboard.press("Space")
    _check(studio, "warned", states)
    studio.page.keyboard.press("Escape")
    studio.page.get_by_label("Side by side").check()
    expect(studio.page.locator(".board")).to_have_count(2)
    studio.score(1)
    studio.page.locator("#find").focus()
    expect(studio.page.locator("#found li")).not_to_have_count(0)
    _check(studio, "side by side", states)
    studio.page.keyboard.press("Escape")
    studio.page.locator("#open").click()
    studio.page.locator("#open-files").click()
    expect(studio.page.locator("#tables-problem")).to_have_text("layouts are missing; choose a file.")
    _check(studio, "opening tables", states)
    assert studio.page.evaluate("document.documentElement.scrollWidth") <= width
    studio.errors.clear()  # the browser's own line about status 400
    studio.close()


def _check(studio: StudioPage, state: str, states: set[str]) -> None:
    studio.score()
    if state not in states:
        return
    results = Axe().run(studio.page)
    found = [(one["id"], [node["html"] for node in one["nodes"]]) for one in results.response["violations"]]
    assert found == []
