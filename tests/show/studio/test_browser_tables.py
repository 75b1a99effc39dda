"""Opening other tables in a browser, and their posters."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, FilePayload, Route, expect

from tests.show.studio.browser import StudioPage
from tests.show.studio.conftest import Studio
from tests.show.studio.test_posters import png, write_tables
from tests.show.studio.test_uploads import JUDGMENTS, LAYOUTS, OTHER

pytestmark = pytest.mark.needs("chromium")


def choose(studio: StudioPage, **texts: str) -> None:
    for table, text in texts.items():
        file = FilePayload(name=f"{table}.csv", mimeType="text/csv", buffer=text.encode())
        studio.page.locator(f"dialog input[name={table}]").set_input_files(files=[file])


def test_tables_are_opened(browser: Browser, own_server: Studio) -> None:
    studio = StudioPage(browser, own_server.address)
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


def test_a_first_page_that_is_refused_leaves_no_other(browser: Browser, own_server: Studio) -> None:
    """The page of the tables before would be taken for one of these."""
    studio = StudioPage(browser, own_server.address)
    studio.open()
    studio.page.locator("#open").click()
    twice = "user_id,row,col,item_id,category\n1,1,1,a,x\n1,1,1,b,x\n2,1,1,a,x\n"
    choose(studio, layouts=twice, judgments="user_id,item_id,relevance\n1,a,1\n2,a,1\n")
    studio.page.locator("#open-files").click()
    expect(studio.page.locator("#problem")).to_contain_text("at least one cell appears twice")
    expect(studio.page.locator("#source")).to_have_text("layouts.csv, judgments.csv")
    expect(studio.page.locator(".board")).to_have_count(0)
    studio.page.locator("#find").fill("2")
    studio.page.locator("#find").press("Enter")
    expect(studio.board().locator("h2")).to_have_text("2")
    assert studio.score() == 1.0
    expect(studio.page.locator("#problem")).to_be_hidden()
    studio.close("Failed to load resource")


def test_large_files_are_not_sent(browser: Browser, own_server: Studio) -> None:
    studio = StudioPage(browser, own_server.address)

    def lower_limit(route: Route) -> None:
        route.fulfill(json=route.fetch().json() | {"upload_megabytes": 0})

    studio.page.route(re.compile("/api/state"), lower_limit)
    studio.open()
    studio.page.locator("#open").click()
    choose(studio, layouts=LAYOUTS, judgments=JUDGMENTS)
    studio.page.locator("#open-files").click()
    message = "layouts.csv is larger than 0 MB; give its path at start."
    expect(studio.page.locator("#tables-problem")).to_have_text(message)
    assert not [url for url in studio.requests if "/api/upload" in url]
    studio.close()


def test_another_window_is_told_that_tables_changed(browser: Browser, own_server: Studio) -> None:
    first, second = StudioPage(browser, own_server.address), StudioPage(browser, own_server.address)
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
