"""Opening other tables in a browser, and accessibility in every state of the page."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, FilePayload, expect

from tests.show.studio.browser import StudioPage, open_browser
from tests.show.studio.conftest import Studio, home_tables
from tests.show.studio.test_posters import png, write_tables
from tests.show.studio.test_uploads import JUDGMENTS, LAYOUTS, OTHER

pytestmark = pytest.mark.needs("chromium")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with open_browser() as browser:
        yield browser


@pytest.fixture
def server() -> Iterator[Studio]:
    studio = Studio(home_tables())
    studio.start()
    yield studio
    studio.stop()


def choose(studio: StudioPage, **texts: str) -> None:
    for table, text in texts.items():
        file = FilePayload(name=f"{table}.csv", mimeType="text/csv", buffer=text.encode())
        studio.page.locator(f"dialog input[name={table}]").set_input_files(files=[file])


def test_tables_are_opened(browser: Browser, server: Studio) -> None:
    studio = StudioPage(browser, server.address)
    studio.open()
    studio.page.locator("#open").click()
    choose(studio, layouts="user,place\n1,2\n", judgments=JUDGMENTS)
    studio.page.locator("#open-files").click()
    problem = studio.page.locator("#tables-problem")
    expect(problem).to_contain_text("layouts: missing columns user_id")
    assert studio.errors.pop().startswith("Failed to load resource")  # the browser's own line about status 400
    choose(studio, layouts=LAYOUTS, other=OTHER)
    studio.page.locator("#open-files").click()
    expect(studio.page.locator("#source")).to_have_text("layouts.csv, judgments.csv, other.csv")
    expect(studio.board().locator("h2")).to_have_text("layouts · 1")
    assert studio.score() == pytest.approx(0.8715, abs=5e-5)
    studio.page.get_by_label("Side by side").check()
    assert studio.score(1) == 1.0
    studio.page.locator("#open").click()
    studio.page.locator("#open-start").click()
    expect(studio.page.locator("#source")).to_have_text("home pages")
    assert 0 < studio.score() < 1
    studio.close()


def test_another_window_is_told_that_tables_changed(browser: Browser, server: Studio) -> None:
    first, second = StudioPage(browser, server.address), StudioPage(browser, server.address)
    first.open()
    second.open()
    second.page.locator("#open").click()
    second.page.locator("#open-sample").click()
    expect(second.page.locator("#source")).to_have_text("sample data")
    first.drag(first.tile(4, 2), first.tile(4, 0))
    expect(first.page.locator("#problem")).to_contain_text("Reload the page")
    first.errors.clear()  # the browser's own line about status 409
    first.close()
    second.close()


def test_posters_are_shown(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(png(200, 60, 60))
    server = Studio(write_tables(tmp_path, {10: "a.png", 12: "missing.png"}))
    server.start()
    studio = StudioPage(browser, server.address)
    studio.open()
    picture = studio.tile(0, 0).locator("img")
    expect(picture).to_have_js_property("naturalWidth", 1)
    expect(studio.board().locator("img")).to_have_count(1)
    studio.drag(studio.tile(0, 1), studio.tile(0, 0))
    expect(studio.tile(0, 1).locator("img")).to_be_visible()
    studio.close()
    server.stop()


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
