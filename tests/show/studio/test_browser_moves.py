"""Items and rows are moved by mouse, keyboard and touch, to the ideal with one click, and back."""

import pytest
from playwright.sync_api import Browser, expect

from carouseval.evaluation.settings import Settings
from carouseval.show.studio.workspace import StudioTables
from tests.show.studio.browser import StudioPage
from tests.show.studio.conftest import Studio, expected_score

pytestmark = pytest.mark.needs("chromium")


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


def test_the_keyboard_steps_over_gaps(browser: Browser) -> None:
    places = [(1, 2, "a"), (1, 3, "b"), (3, 1, "c"), (3, 4, "d"), (4, 1, "e")]  # a gap at the start, row 2 is skipped
    layouts = {
        "user_id": ["u"] * len(places),
        "row": [row for row, _, _ in places],
        "col": [col for _, col, _ in places],
        "item_id": [item for _, _, item in places],
        "category": [f"category {row}" for row, _, _ in places],
    }
    judgments = {"user_id": ["u"], "item_id": ["b"], "relevance": [1]}
    server = Studio(StudioTables({"gaps": layouts}, judgments, None, Settings(invalid="count"), "gaps"))
    server.start()
    studio = StudioPage(browser, server.address)
    studio.open()
    studio.tile(3, 0).focus()
    for key, place in [("Up", (2, 0)), ("Up", (0, 1)), ("Right", (0, 2)), ("Down", (2, 3)), ("Left", (2, 0))]:
        studio.page.keyboard.press(f"Arrow{key}")
        expect(studio.tile(*place)).to_be_focused()
    studio.page.keyboard.press("ArrowLeft")
    expect(studio.handle(2)).to_be_focused()
    before = studio.score()
    studio.drag(studio.tile(3, 0), studio.board().locator(".carousels .tile.gap").first)
    expect(studio.tile(3, 0)).to_be_visible()  # the only item of its row stays: an empty row is no carousel
    assert studio.score() == before
    studio.close()
    server.stop()


def test_touch_holds_before_it_drags(browser: Browser, server: Studio) -> None:
    studio = StudioPage(browser, server.address, has_touch=True, viewport={"width": 390, "height": 844})
    studio.open()
    names = studio.titles(1)
    (start, y), (end, _) = studio.centres(studio.tile(1, 2), studio.tile(1, 0))
    session = studio.page.context.new_cdp_session(studio.page)

    def touch(kind: str, x: float) -> None:
        points = [] if kind == "touchEnd" else [{"x": x, "y": y}]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    touch("touchStart", start)
    studio.page.wait_for_selector(".ghost", state="attached")
    for part in (0.3, 0.6, 1.0):
        touch("touchMove", start + part * (end - start))
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
    keyboard.press("Control+z")
    assert studio.score() == second
    keyboard.press("Control+y")  # as on Windows
    assert studio.score() == third


def test_nothing_is_undone_while_something_is_held(studio: StudioPage) -> None:
    studio.open()
    studio.drag(studio.handle(5), studio.handle(1))
    names = studio.row_names()
    assert studio.score() != expected_score()
    studio.tile(4, 0).focus()
    for key in ("Space", "ArrowRight", "Control+z", "Escape"):
        studio.page.keyboard.press(key)
    assert studio.row_names() == names
    studio.page.keyboard.press("Control+z")
    assert studio.score() == expected_score()


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
