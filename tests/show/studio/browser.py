"""A page of the studio in the system's Chromium, and what a test does with it."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Browser, ConsoleMessage, Error, Locator, Page, Request, sync_playwright

_ARGUMENTS = [
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
# asked for again soon, where an assertion of Playwright's waits for 100, 250, 500 ... ms; not by waiting for a function
# in the page, which Playwright up to 1.48 compiles there, against the page's policy
_SCORE = """system => {
  const numbers = document.querySelectorAll(`.board[data-system="${system}"] .number-big:not(.pending)`);
  return numbers.length === 1 && numbers[0].dataset.value;
}"""


@contextmanager
def open_browser() -> Iterator[Browser]:
    """Chromium without a window."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=_ARGUMENTS)
        yield browser
        browser.close()


class StudioPage:
    """A page, and what it logged and asked for."""

    def __init__(self, browser: Browser, address: str, **context: Any) -> None:
        self.address = address
        self._context = browser.new_context(**{"viewport": {"width": 1440, "height": 900}} | context)
        self.page: Page = self._context.new_page()
        self.page.set_default_timeout(10_000)
        self.errors: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", self._log)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", lambda request: self._ask(request))

    def _log(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.errors.append(message.text)

    def _ask(self, request: Request) -> None:
        if not request.url.startswith("blob:"):  # a file that the page made itself
            self.requests.append(request.url)

    def close(self, *expected: str) -> None:
        """Close it, and check it."""
        self._context.close()
        self.check(*expected)

    def check(self, *expected: str) -> None:
        """It must have asked for nothing elsewhere, and logged no error but those with an expected part."""
        assert [error for error in self.errors if not any(part in error for part in expected)] == []
        assert [url for url in self.requests if not url.startswith(self.address)] == []

    def open(self, fragment: str = "") -> None:
        """Load the page, and wait for the first score."""
        self.page.goto(f"{self.address}{fragment}")
        self.score()

    def board(self, system: int = 0) -> Locator:
        """The board of a system."""
        return self.page.locator(f'.board[data-system="{system}"]')

    def score(self, system: int = 0) -> float:
        """The score, once it is there, with all its digits."""
        for _ in range(1000):
            if value := self.page.evaluate(_SCORE, system):
                return float(value)
            self.page.wait_for_timeout(10)
        raise AssertionError(f"system {system} has no score after ten seconds")

    def loss(self, name: str) -> float:
        """What is lost to something."""
        self.score()
        return float(str(self.board().locator(f'dd[data-part="{name}"]').get_attribute("data-value")))

    def titles(self, row: int, system: int = 0) -> list[str]:
        """The names of the items in a row, from 0."""
        return self.board(system).locator(f'.carousels .tile[data-row="{row}"] .name').all_text_contents()

    def row_names(self) -> list[str]:
        """The headings of the rows, without their numbers."""
        names = self.board().locator(".carousels").first.locator("h4").all_text_contents()
        return [name.lstrip("0123456789 ") for name in names]

    def tile(self, row: int, col: int, system: int = 0) -> Locator:
        """An item."""
        return self.board(system).locator(f'button.tile[data-row="{row}"][data-col="{col}"]')

    def handle(self, row: int) -> Locator:
        """What a row is dragged by."""
        return self.board().locator(f'.handle[data-row="{row}"]')

    def drag(self, source: Locator, target: Locator) -> None:
        """Drag with the mouse, in several steps."""
        start, end = self.centres(source, target)
        mouse = self.page.mouse
        mouse.move(*start)
        mouse.down()
        mouse.move(*end, steps=6)
        mouse.up()

    def centres(self, *elements: Locator) -> list[tuple[float, float]]:
        """Where elements are, the first of them in view, though the page may draw them anew meanwhile."""
        for _ in range(20):
            try:
                elements[0].scroll_into_view_if_needed()
            except Error as error:
                if "not attached" in str(error):
                    continue
                raise
            boxes = [box for element in elements if (box := element.bounding_box())]
            if len(boxes) == len(elements):
                return [(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2) for box in boxes]
        raise AssertionError("the page is drawn anew all the time")
