"""What the page shows: one system or two, pages found by their ids, and whatever a link names."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

import carouseval as cv
from carouseval.evaluation.settings import Settings
from carouseval.show.studio.workspace import StudioTables
from tests.depth import some
from tests.show.studio.browser import StudioPage
from tests.show.studio.conftest import SCRIPT, Studio, expected_score, home
from tests.show.studio.test_huge_pages import large_tables

pytestmark = pytest.mark.needs("chromium")


def test_the_page_opens_with_the_score_of_the_package(studio: StudioPage) -> None:
    studio.open()
    assert studio.score() == expected_score()
    parts = [studio.loss(name) for name in ("item_order", "row_order", "choice")]
    assert studio.score() + sum(parts) == pytest.approx(1, abs=1e-12)
    expect(studio.board().locator("h2")).to_have_text("new · u0000")
    expect(studio.board().locator(".ideal .tile.relevant").first).to_be_visible()
    expect(studio.page.locator(".heatmap rect")).to_have_count(8 * 12)
    edges = studio.board().locator(".carousels").first.locator(".cell.edge")
    assert edges.count() >= len(studio.row_names())  # where swipe pages end
    expect(studio.board().locator(".carousel.fold")).to_have_count(1)
    assert studio.board().locator(".tile.relevant .mark").first.text_content() == "★ 5"


def test_pages_are_found_by_search(studio: StudioPage) -> None:
    studio.open()
    studio.page.locator("#find").fill("u003")
    expect(studio.page.locator("#found li").first).to_have_text(re.compile("^u003"))
    expect(studio.page.locator("#found-count")).to_contain_text("pages")
    studio.page.keyboard.press("ArrowDown")
    studio.page.keyboard.press("ArrowDown")
    user = str(studio.page.locator('#found li[aria-selected="true"]').text_content())
    studio.page.keyboard.press("Enter")
    expect(studio.board().locator("h2")).to_have_text(f"new · {user}")
    assert studio.score() == expected_score(user)
    studio.page.locator("#next").click()
    expect(studio.board().locator("h2")).not_to_have_text(f"new · {user}")
    studio.page.locator("#previous").click()
    expect(studio.board().locator("h2")).to_have_text(f"new · {user}")
    studio.page.locator("#find").fill("nobody at all")
    expect(studio.page.locator("#found-count")).to_have_text("No page has this in its ids.")


def test_two_systems_side_by_side(studio: StudioPage) -> None:
    studio.open()
    studio.page.get_by_label("Side by side").check()
    expect(studio.page.locator(".board")).to_have_count(2)
    new, prod = studio.score(0), studio.score(1)
    assert (new, prod) == (expected_score(), expected_score(system="prod"))
    expect(studio.page.locator("#hint")).to_contain_text(re.compile(r"^new \W prod: \W0\.\d{4}$"))
    first, second = (studio.board(system).bounding_box() for system in (0, 1))
    assert first is not None
    assert second is not None
    assert first["y"] == second["y"]
    studio.board(1).locator(".to-ideal").click()
    expect(studio.board(1).locator(".number-big")).to_have_text("1.0000")
    assert studio.score(0) == new


def test_edits_stay_when_systems_are_switched(studio: StudioPage) -> None:
    studio.open()
    studio.drag(studio.handle(5), studio.handle(1))
    edited, names = studio.score(), studio.row_names()
    studio.page.get_by_label("Side by side").check()
    assert studio.score(1) == expected_score(system="prod")
    assert (studio.score(), studio.row_names()) == (edited, names)
    studio.page.get_by_label("Side by side").uncheck()
    studio.page.get_by_label("System", exact=True).select_option("prod")
    assert studio.score(1) == expected_score(system="prod")
    studio.page.get_by_label("System", exact=True).select_option("new")
    assert (studio.score(), studio.row_names()) == (edited, names)


def test_a_page_that_only_one_system_has(studio: StudioPage) -> None:
    users = {name: set(layouts["user_id"]) for name, layouts in home().layouts.items()}
    user = min(users["new"] - users["prod"])
    studio.open(f"#user={user}&compare=1")
    expect(studio.page.locator(".board")).to_have_count(1)
    expect(studio.page.locator("#problem")).to_have_text(f"prod has no page of user {user}.")
    assert studio.score() == expected_score(user)
    expect(studio.page.locator("#problem")).to_be_visible()
    studio.errors.clear()  # the browser's own line about status 404


def test_a_link_restores_the_view(studio: StudioPage, browser: Browser) -> None:
    studio.open()
    studio.page.locator("#find").fill("u0007")
    studio.page.keyboard.press("Enter")
    expect(studio.board().locator("h2")).to_have_text("new · u0007")
    studio.page.locator("#slider-mu").fill("0.4")
    studio.board().locator(".to-ideal").click()  # also items that the page did not show
    expect(studio.board().locator(".number-big")).to_have_text("1.0000")
    studio.drag(studio.handle(3), studio.handle(1))
    score, rows = studio.score(), [studio.titles(row) for row in range(8)]
    studio.page.wait_for_function("location.hash.includes('edit0')")
    studio.page.wait_for_timeout(200)  # the address is written a moment later
    other = StudioPage(browser, studio.address)
    other.open(studio.page.evaluate("location.hash"))
    expect(other.board().locator("h2")).to_have_text("new · u0007")
    assert other.score() == score < 1
    assert [other.titles(row) for row in range(8)] == rows
    expect(other.page.locator("#slider-mu")).to_have_value("0.4")
    expect(other.board().locator(".change")).to_contain_text("since opened")
    other.close()


ODD_LINKS = [
    "#user=nobody",
    "#metric=x&discount=y&gain=z&candidates=&system=9&compare=1",
    "#metric=N2DCG_cat&discount=d_scan",
    "#metric=N2DCG_cat&discount=d_rpd&parameters=mu:x,zz:1,alpha&cutoff=3&screen=1x1x1x1",
    "#metric=NDCG&cutoff=3x5&screen=axb",
    "#metric=N2DCG_cat&discount=d_rpd&parameters=toString:1",
    "#system=-1",
    "#system=0.5",
    "#edit0=9-zz~Q",
    "#edit0=0-I99999",
    "#edit0=C99999",
    "#%F0%9F&=",
]


@pytest.fixture(scope="module")
def tab(browser: Browser, server: Studio) -> Iterator[StudioPage]:
    """A page for one link after another: the studio keeps nothing in the browser."""
    page = StudioPage(browser, server.address)
    yield page
    page.close("404", "400")


@pytest.mark.parametrize("fragment", some(ODD_LINKS, 3))
def test_odd_links_still_show_a_page(tab: StudioPage, fragment: str) -> None:
    tab.errors.clear()
    tab.page.goto("about:blank")  # or the next link would only change the fragment
    tab.open(fragment)
    assert tab.score() > 0
    tab.check("404", "400")  # the browser logs what there is not


def test_scripts_in_titles_stay_text(studio: StudioPage) -> None:
    studio.open()
    assert SCRIPT in [name for row in range(6) for name in studio.titles(row)]
    assert studio.page.title() == "carouseval studio"
    assert studio.page.locator(".board script, .board img").count() == 0


def test_a_screen_that_is_too_large_is_said(browser: Browser) -> None:
    layouts, judgments = large_tables()
    tables = StudioTables({"new": layouts}, judgments, None, Settings(grid=cv.Grid(250, 501)), "large")
    server = Studio(tables)
    server.start()
    studio = StudioPage(browser, server.address)
    studio.open()
    expect(studio.board().locator(".notes")).to_contain_text("This screen has 250 rows and 501 columns.")
    expect(studio.board().locator(".carousels").first.locator("h4")).to_have_count(200)
    is_laid_out = "tile => tile.checkVisibility({ contentVisibilityAuto: true })"
    assert [studio.tile(row, 0).evaluate(is_laid_out) for row in (0, 199)] == [True, False]
    studio.close()
    server.stop()
