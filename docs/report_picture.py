"""Makes the picture of a report in the README, with the system's Chromium: ``make pictures``."""

import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

import carouseval as cv

TARGET = Path(__file__).with_name("report.png")
ARGUMENTS = ["--no-sandbox", "--disable-background-networking", "--disable-component-update", "--no-first-run"]


def main() -> None:
    """Compare two systems of the sample, and take a picture of the summary."""
    data = cv.sample(1000, systems=["prod", "new"])
    comparison = cv.compare(data.layouts, data.judgments, data.items, baseline="prod", by="device")
    explanations = {name: cv.explain(pages, data.judgments, data.items) for name, pages in data.layouts.items()}
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = comparison.report(Path(folder) / "report.html", explanations=explanations)
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=ARGUMENTS)
        page = browser.new_page(viewport={"width": 1180, "height": 1180}, color_scheme="light")
        page.goto(path.as_uri())
        page.screenshot(path=TARGET)
        browser.close()


if __name__ == "__main__":
    main()
