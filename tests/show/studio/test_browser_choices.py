"""Metrics, discounts and screens are chosen, and the numbers follow."""

import pytest
from playwright.sync_api import expect

import carouseval as cv
from tests.show.studio.browser import StudioPage
from tests.show.studio.conftest import expected_score, home

pytestmark = pytest.mark.needs("chromium")


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


def test_the_largest_screen_is_drawn(studio: StudioPage) -> None:
    studio.open("#metric=N2DCG_cat&screen=200x500x5x3")
    expect(studio.page.locator(".heatmap path.heat").first).to_be_visible()
    expect(studio.page.locator("#slider-cols")).to_have_value("500")
    assert studio.page.evaluate("document.documentElement.scrollWidth <= innerWidth")  # the heat map alone scrolls
    names = studio.titles(4)
    studio.drag(studio.tile(4, 2), studio.tile(4, 0))
    expect(studio.tile(4, 0).locator(".name")).to_have_text(names[2])
    studio.score()


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
