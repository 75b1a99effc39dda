"""Accessibility in every state of the page."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, expect

from tests.show.studio.browser import StudioPage
from tests.show.studio.conftest import Studio

pytestmark = pytest.mark.needs("chromium")


@pytest.mark.parametrize(("scheme", "width"), [("light", 1440), ("dark", 390)])
def test_accessibility(browser: Browser, server: Studio, scheme: str, width: int) -> None:
    studio = StudioPage(browser, server.address, color_scheme=scheme, viewport={"width": width, "height": 900})
    studio.open()
    _check(studio)
    studio.drag(studio.tile(1, 1), studio.tile(2, 0))  # with a warning
    studio.tile(1, 0).focus()
    studio.page.keyboard.press("Space")
    _check(studio)
    studio.page.keyboard.press("Escape")
    studio.page.get_by_label("Side by side").check()
    expect(studio.page.locator(".board")).to_have_count(2)
    studio.score(1)
    studio.page.locator("#find").focus()
    expect(studio.page.locator("#found li")).not_to_have_count(0)
    _check(studio)
    studio.page.keyboard.press("Escape")
    studio.page.locator("#open").click()
    studio.page.locator("#open-files").click()
    expect(studio.page.locator("#tables-problem")).to_have_text("layouts are missing; choose a file.")
    _check(studio)
    assert studio.page.evaluate("document.documentElement.scrollWidth") <= width
    studio.errors.clear()  # the browser's own line about status 400
    studio.close()


def _check(studio: StudioPage) -> None:
    studio.score()
    results = Axe().run(studio.page)
    found = [(one["id"], [node["html"] for node in one["nodes"]]) for one in results.response["violations"]]
    assert found == []
