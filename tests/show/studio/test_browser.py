"""The studio in a browser: what people do with it, and that its numbers are those of the package."""

import io
import re
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from playwright.sync_api import Browser, Route, expect

import carouseval as cv
from tests.show.studio.browser import StudioPage, open_browser
from tests.show.studio.conftest import SCRIPT, Studio, home, home_settings, home_tables

pytestmark = pytest.mark.needs("chromium")
USER = "u0000"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with open_browser() as browser:
        yield browser


@pytest.fixture(scope="module")
def server() -> Iterator[Studio]:
    studio = Studio(home_tables())
    studio.start()
    yield studio
    studio.stop()


@pytest.fixture
def studio(browser: Browser, server: Studio) -> Iterator[StudioPage]:
    page = StudioPage(browser, server.address)
    yield page
    page.close()


def expected_score(user: str = USER, system: str = "new", **settings: object) -> float:
    data = home()
    layouts = data.layouts[system].filter(pl.col("user_id") == user)
    changed = home_settings() | {"missing_pages": "skip", "invalid": "count"} | settings
    result = cv.evaluate(layouts, data.judgments, data.items, **changed)
    return next(iter(result.mean.values()))


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


def test_items_are_dragged_with_the_mouse(studio: StudioPage) -> None:
    studio.open()
    before, names = studio.score(), studio.titles(4)
    studio.drag(studio.tile(4, 2), studio.tile(4, 0))
    expect(studio.tile(4, 0).locator(".name")).to_have_text(names[2])
    assert studio.titles(4) == [names[2], names[0], names[1], *names[3:]]
    assert studio.score() != before
    expect(studio.board().locator(".change")).to_contain_text("since opened")


def test_items_change_places_with_those_of_other_rows(studio: StudioPage) -> None:
    studio.open()
    upper, lower = studio.titles(1), studio.titles(2)
    studio.drag(studio.tile(1, 1), studio.tile(2, 0))
    expect(studio.tile(2, 0).locator(".name")).to_have_text(upper[1])
    assert studio.titles(1)[1] == lower[0]
    expect(studio.board().locator(".notes")).to_contain_text("outside its row's category")
    assert studio.board().locator(".tile.outside").count() >= 1


def test_rows_are_dragged_with_the_mouse(studio: StudioPage) -> None:
    studio.open()
    before, names = studio.score(), studio.row_names()
    studio.drag(studio.handle(5), studio.handle(1))
    expect(studio.board().locator(".carousels").first.locator("h4").nth(1)).to_contain_text(names[5])
    assert studio.row_names() == [names[0], names[5], *names[1:5]]
    assert studio.score() != before


def test_escape_puts_back_what_is_dragged(studio: StudioPage) -> None:
    studio.open()
    before, names = studio.score(), studio.titles(4)
    box = studio.tile(4, 2).bounding_box()
    assert box is not None
    studio.page.mouse.move(box["x"] + 20, box["y"] + 20)
    studio.page.mouse.down()
    studio.page.mouse.move(box["x"] - 150, box["y"] + 20, steps=4)
    assert studio.titles(4) != names
    studio.page.keyboard.press("Escape")
    studio.page.mouse.up()
    assert studio.titles(4) == names
    assert studio.score() == before
    expect(studio.page.locator("#undo")).to_be_disabled()


def test_items_are_moved_with_the_keyboard(studio: StudioPage) -> None:
    studio.open()
    before, names = studio.score(), studio.titles(4)
    studio.tile(4, 0).focus()
    keyboard, said = studio.page.keyboard, studio.page.locator("#said")
    keyboard.press("ArrowRight")
    keyboard.press("ArrowRight")
    expect(studio.tile(4, 2)).to_be_focused()
    keyboard.press("Space")
    expect(said).to_contain_text(f"Picked up {names[2]}")
    keyboard.press("ArrowLeft")
    keyboard.press("ArrowLeft")
    expect(studio.tile(4, 0)).to_be_focused()
    expect(studio.tile(4, 0)).to_have_attribute("aria-pressed", "true")
    keyboard.press("Space")
    assert studio.titles(4) == [names[2], names[0], names[1], *names[3:]]
    assert studio.score() != before
    keyboard.press("Space")
    keyboard.press("ArrowRight")
    keyboard.press("Escape")
    assert studio.titles(4) == [names[2], names[0], names[1], *names[3:]]
    expect(studio.tile(4, 0)).to_be_focused()


def test_rows_are_moved_with_the_keyboard(studio: StudioPage) -> None:
    studio.open()
    names = studio.row_names()
    studio.handle(2).focus()
    for key in ("Space", "ArrowDown", "ArrowDown", "ArrowUp", "Enter"):
        studio.page.keyboard.press(key)
    expect(studio.handle(3)).to_be_focused()
    assert studio.row_names() == [*names[:2], names[3], names[2], *names[4:]]


def test_touch_holds_before_it_drags(browser: Browser, server: Studio) -> None:
    studio = StudioPage(browser, server.address, has_touch=True, viewport={"width": 390, "height": 844})
    studio.open()
    names = studio.titles(1)
    studio.tile(1, 2).scroll_into_view_if_needed()
    start, end = studio.tile(1, 2).bounding_box(), studio.tile(1, 0).bounding_box()
    assert start is not None
    assert end is not None
    session = studio.page.context.new_cdp_session(studio.page)

    def touch(kind: str, x: float) -> None:
        points = [] if kind == "touchEnd" else [{"x": x, "y": start["y"] + 20}]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    touch("touchStart", start["x"] + 20)
    studio.page.wait_for_selector(".ghost", state="attached")
    for part in (0.3, 0.6, 1.0):
        touch("touchMove", start["x"] + 20 + part * (end["x"] - start["x"]))
    touch("touchEnd", 0)
    expect(studio.tile(1, 0).locator(".name")).to_have_text(names[2])
    studio.close()


def test_undo_and_redo(studio: StudioPage) -> None:
    studio.open()
    first, names = studio.score(), studio.titles(4)
    studio.drag(studio.tile(4, 2), studio.tile(4, 0))
    second = studio.score()
    studio.drag(studio.handle(4), studio.handle(1))
    third = studio.score()
    assert len({first, second, third}) == 3
    keyboard = studio.page.keyboard
    keyboard.press("Control+z")
    assert studio.score() == second
    studio.page.locator("#undo").click()
    assert studio.score() == first
    assert studio.titles(4) == names
    expect(studio.page.locator("#undo")).to_be_disabled()
    keyboard.press("Control+Shift+Z")
    assert studio.score() == second
    studio.page.locator("#redo").click()
    assert studio.score() == third
    expect(studio.page.locator("#redo")).to_be_disabled()


def test_one_click_rearranges_to_the_ideal(studio: StudioPage) -> None:
    studio.open()
    before = studio.score()
    studio.board().locator(".to-ideal").click()
    expect(studio.board().locator(".number-big")).to_have_text("1.0000")
    assert studio.score() == 1.0
    studio.page.locator("#undo").click()
    assert studio.score() == before
    studio.page.locator("#redo").click()
    studio.board().locator(".reset").click()
    assert studio.score() == before


def test_sliders_change_weights_and_score(studio: StudioPage) -> None:
    studio.open()
    before = studio.score()
    studio.page.locator("#slider-mu").fill("0.3")
    expect(studio.board().locator(".metric-name")).to_contain_text("mu=0.3")
    assert studio.score() == expected_score(metrics=["N2DCG_cat(d_rpd(mu=0.3))"]) != before
    cell = studio.page.locator(".heatmap rect title").nth(12 + 6)
    expect(cell).to_have_text(f"row 2, column 7: {_weight(cv.discounts.RowPage(mu=0.3)):.4g}")
    studio.page.locator("#slider-cols").fill("20")
    expect(studio.page.locator(".heatmap rect")).to_have_count(8 * 20)
    studio.page.locator("#slider-page_size").fill("7")
    grid = cv.Grid(8, 20, page_size=(1, *[7] * 7))
    expected = expected_score(metrics=["N2DCG_cat(d_rpd(mu=0.3))"], grid=grid, by=None)
    expect(studio.board().locator(".number-big")).to_have_attribute("data-value", repr(expected))


def _weight(discount: cv.discounts.Discount) -> float:
    return float(discount.weights(home().grids["tv"])[1, 6])


@pytest.mark.parametrize(
    ("metric", "discount", "name"),
    [
        ("N2DCG_cat", "d_rpb", "N2DCG_cat(d_rpb)"),
        ("N2DCG", "d_a", "N2DCG"),
        ("NDCG", None, "NDCG"),
        ("RR", "d_t", "RR(d_t)"),
    ],
)
def test_metrics_and_discounts_are_switched(studio: StudioPage, metric: str, discount: str | None, name: str) -> None:
    studio.open()
    studio.page.get_by_label("Metric", exact=True).select_option(metric)
    if discount is not None:
        studio.page.get_by_label("Discount", exact=True).select_option(discount)
    expected = expected_score(metrics=[name])
    expect(studio.board().locator(".number-big")).to_have_attribute("data-value", repr(expected))
    assert studio.board().locator(".to-ideal").is_disabled() == (metric != "N2DCG_cat")


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


def test_nothing_is_undone_while_something_is_held(studio: StudioPage) -> None:
    studio.open()
    studio.drag(studio.handle(5), studio.handle(1))
    names = studio.row_names()
    studio.tile(4, 0).focus()
    for key in ("Space", "ArrowRight", "Control+z", "Escape"):
        studio.page.keyboard.press(key)
    assert studio.row_names() == names
    studio.page.keyboard.press("Control+z")
    assert studio.score() == expected_score()


def test_a_page_that_only_one_system_has(studio: StudioPage) -> None:
    users = {name: set(layouts["user_id"]) for name, layouts in home().layouts.items()}
    user = min(users["new"] - users["prod"])
    studio.open(f"#user={user}&compare=1")
    expect(studio.page.locator(".board")).to_have_count(1)
    expect(studio.page.locator("#problem")).to_have_text(f"prod has no page of user {user}.")
    assert studio.score() == expected_score(user)
    expect(studio.page.locator("#problem")).to_be_visible()
    studio.errors.clear()  # the browser's own line about status 404


def test_parameters_that_give_no_weights_are_explained(studio: StudioPage) -> None:
    studio.open()
    studio.page.locator("#slider-alpha").fill("0")
    studio.page.locator("#slider-beta").fill("0")
    expect(studio.page.locator("#problem")).to_contain_text("weights must be finite and above 0")
    expect(studio.board().locator(".notes")).to_contain_text("weights must be finite and above 0")
    studio.page.get_by_role("button", name="Fitted values").click()
    assert studio.score() == expected_score()
    expect(studio.page.locator("#problem")).to_be_hidden()
    studio.errors.clear()  # the browser's own lines about status 400


def test_a_link_restores_the_view(studio: StudioPage, browser: Browser) -> None:
    studio.open()
    studio.page.locator("#find").fill("u0007")
    studio.page.keyboard.press("Enter")
    expect(studio.board().locator("h2")).to_have_text("new · u0007")
    studio.page.locator("#slider-mu").fill("0.4")
    studio.board().locator(".to-ideal").click()  # also items that the page did not show
    expect(studio.board().locator(".number-big")).to_have_text("1.0000")
    studio.drag(studio.handle(3), studio.handle(1))
    score, rows = studio.score(), [studio.titles(row) for row in range(3)]
    studio.page.wait_for_function("location.hash.includes('edit0')")
    studio.page.wait_for_timeout(200)  # the address is written a moment later
    other = StudioPage(browser, studio.address)
    other.open(studio.page.evaluate("location.hash"))
    expect(other.board().locator("h2")).to_have_text("new · u0007")
    assert other.score() == score < 1
    assert [other.titles(row) for row in range(3)] == rows
    expect(other.page.locator("#slider-mu")).to_have_value("0.4")
    expect(other.board().locator(".change")).to_contain_text("since opened")
    other.close()


ODD_LINKS = [
    "#user=nobody",
    "#metric=x&discount=y&gain=z&candidates=&system=9&compare=1",
    "#metric=N2DCG_cat&discount=d_scan",
    "#metric=N2DCG_cat&discount=d_rpd&parameters=mu:x,zz:1,alpha&cutoff=3&screen=1x1x1x1",
    "#metric=NDCG&cutoff=3x5&screen=axb",
    "#edit0=9-zz~Q",
    "#%F0%9F&=",
]


@pytest.mark.parametrize("fragment", ODD_LINKS)
def test_odd_links_still_show_a_page(browser: Browser, server: Studio, fragment: str) -> None:
    studio = StudioPage(browser, server.address)
    studio.open(fragment)
    assert studio.score() > 0
    studio.errors = [error for error in studio.errors if "404" not in error]  # of a user that there is not
    studio.close()


def test_scripts_in_titles_stay_text(studio: StudioPage) -> None:
    studio.open()
    assert SCRIPT in [name for row in range(6) for name in studio.titles(row)]
    assert studio.page.title() == "carouseval studio"
    assert studio.page.locator(".board script, .board img").count() == 0


def test_layout_and_drawing_are_exported(studio: StudioPage) -> None:
    studio.open()
    studio.drag(studio.handle(5), studio.handle(1))
    score = studio.score()
    with studio.page.expect_download() as download:
        studio.board().locator(".export-layout").click()
    assert download.value.suggested_filename == "new-u0000.csv"
    layout = pl.read_csv(io.BytesIO(Path(download.value.path()).read_bytes())).with_columns(device=pl.lit("tv"))
    result = cv.evaluate(layout, home().judgments, home().items, missing_pages="skip", **home_settings())
    assert result.mean["N2DCG_cat"] == score
    with studio.page.expect_download() as download:
        studio.board().locator(".export-drawing").click()
    drawing = Path(download.value.path()).read_text()
    assert drawing.startswith("<svg")
    assert f"N2DCG_cat {score:.4f}" in drawing
    assert "&lt;script&gt;" in drawing
    assert "<script" not in drawing


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
    studio.page.wait_for_timeout(150)
    studio.page.keyboard.press("Control+z")
    studio.page.wait_for_timeout(150)
    assert len(held) >= 2
    last = held[-1]
    last.continue_()
    before = studio.score()
    assert before == expected_score()
    for route in held[:-1]:  # answers to older questions arrive late
        route.continue_()
    studio.page.wait_for_timeout(150)
    assert studio.score() == before


def test_the_server_may_be_gone(browser: Browser) -> None:
    server = Studio(home_tables())
    server.start()
    studio = StudioPage(browser, server.address)
    studio.open()
    server.stop()
    studio.drag(studio.tile(4, 2), studio.tile(4, 0))
    expect(studio.board().locator(".notes")).to_contain_text("Is it still running in the terminal?")
    studio.errors.clear()  # the browser logs that nothing answers
    studio.close()
