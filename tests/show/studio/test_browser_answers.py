"""The page between its server and its user: late answers, no answers, and files that it exports."""

import io
from pathlib import Path

import polars as pl
import pytest
from playwright.sync_api import Browser, Route, expect

import carouseval as cv
from tests.show.studio.browser import StudioPage
from tests.show.studio.conftest import Studio, expected_score, home, home_settings, home_tables

pytestmark = pytest.mark.needs("chromium")


def test_the_page_reacts_before_the_answer_and_drops_old_answers(studio: StudioPage) -> None:
    studio.open()
    names, held = studio.titles(4), []

    def hold(route: Route) -> None:
        held.append(route)

    studio.page.route("**/api/score", hold)
    studio.tile(4, 2).focus()
    for key in ("Space", "ArrowLeft", "ArrowLeft", "Space"):
        studio.page.keyboard.press(key)
    assert studio.titles(4)[0] == names[2]
    expect(studio.board().locator(".number-big.pending")).to_have_attribute("aria-busy", "true")
    studio.page.keyboard.press("Control+z")
    studio.page.wait_for_timeout(150)
    assert len(held) == 1  # others wait, so that no queue is left behind
    with studio.page.expect_request("**/api/score"):  # the next question; the answer to the first is too old
        held[0].continue_()
    expect(studio.board().locator(".number-big.pending")).to_have_count(1)
    while len(held) < 2:
        studio.page.wait_for_timeout(10)
    held[1].continue_()
    assert studio.score() == expected_score()


def test_the_server_may_be_gone(browser: Browser) -> None:
    server = Studio(home_tables())
    server.start()
    studio = StudioPage(browser, server.address)
    studio.open()
    server.stop()
    studio.drag(studio.tile(4, 2), studio.tile(4, 0))
    expect(studio.board().locator(".notes")).to_contain_text("Is it still running in the terminal?")
    studio.close("ERR_CONNECTION")


def test_layout_and_drawing_are_exported(studio: StudioPage) -> None:
    studio.open()
    studio.drag(studio.handle(5), studio.handle(1))
    score = studio.score()
    with studio.page.expect_download() as download:
        studio.board().locator(".export-layout").click()
    assert download.value.suggested_filename == "new-u0000.csv"
    layout = pl.read_csv(io.BytesIO(Path(download.value.path()).read_bytes()))
    result = cv.evaluate(layout, home().judgments, home().items, missing_pages="skip", **home_settings())
    assert result.mean["N2DCG_cat"] == score
    with studio.page.expect_download() as download:
        studio.board().locator(".export-drawing").click()
    drawing = Path(download.value.path()).read_text()
    assert drawing.startswith("<svg")
    assert f"N2DCG_cat {score:.4f}" in drawing
    assert "&lt;script&gt;" in drawing
    assert "<script" not in drawing
