"""Makes the picture of the studio in the README, with the system's Chromium: ``make pictures``."""

import shutil
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import expect, sync_playwright

TARGET = Path(__file__).with_name("studio.png")
ARGUMENTS = ["--no-sandbox", "--disable-background-networking", "--disable-component-update", "--no-first-run"]


def main() -> None:
    """Open the sample, drag a carousel up, and take the picture."""
    command = [sys.executable, "-m", "carouseval", "studio", "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server, sync_playwright() as playwright:
        assert server.stdout is not None
        address = server.stdout.readline().split()[1]
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=ARGUMENTS)
        page = browser.new_page(viewport={"width": 1360, "height": 860}, color_scheme="light")
        page.goto(f"{address}#user=u0005")
        page.locator('.handle[data-row="3"]').press("Space")
        page.keyboard.press("ArrowUp")
        page.keyboard.press("ArrowUp")
        page.keyboard.press("Space")
        expect(page.locator(".change")).to_contain_text("since opened")
        expect(page.locator(".number-big.pending")).to_have_count(0)
        page.screenshot(path=TARGET)
        browser.close()
        server.terminate()


if __name__ == "__main__":
    main()
