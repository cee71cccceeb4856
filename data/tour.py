"""The film of the README: ``python data/tour.py URL`` films the app at that address into data/tour.webp.

It chooses a class, trains, plays the training back, shows the ranking and opens its first error. The app should run on
a new data folder (``RANKING_HOME=$(mktemp -d) make demo``). Needs the extra [dev] and a Chromium.
"""

from __future__ import annotations

import io
import shutil
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
SCREEN = {"width": 1280, "height": 720}
# of the film
SIZE = (960, 540)
QUALITY = 70
# milliseconds that a frame is shown
LONG, SHORT = 1800, 220
CLASS, STEPS = "riding horse", 22


class Film:
    """Screenshots of a page, each with the milliseconds that it is shown."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._frames: list[tuple[Image.Image, int]] = []

    def shoot(self, milliseconds: int) -> None:
        image = Image.open(io.BytesIO(self._page.screenshot())).convert("RGB")
        self._frames.append((image.resize(SIZE, Image.Resampling.LANCZOS), milliseconds))

    def save(self, file: Path) -> None:
        (first, _), *rest = self._frames
        first.save(
            file,
            save_all=True,
            append_images=[image for image, _ in rest],
            duration=[milliseconds for _, milliseconds in self._frames],
            loop=0,
            quality=QUALITY,
            method=6,
        )


def settle(page: Page) -> None:
    page.locator("h1").first.wait_for()
    page.locator('[data-testid=stApp][data-test-script-state="notRunning"]').wait_for()
    page.wait_for_timeout(1500)


def film(page: Page, address: str) -> Film:
    made = Film(page)
    page.goto(f"{address}/train")
    settle(page)
    made.shoot(LONG)
    page.get_by_role("combobox", name="Query").click()
    page.wait_for_timeout(600)
    made.shoot(LONG)
    page.get_by_role("option", name=CLASS).click()
    settle(page)
    made.shoot(LONG)
    page.get_by_test_id("stBaseButton-primary").first.click()
    page.get_by_role("heading", name=CLASS).first.wait_for()
    settle(page)
    # the recording is read again when the run has ended
    page.wait_for_timeout(3000)
    bar = page.locator(".play").first
    bar.focus()
    page.keyboard.press("Home")
    page.wait_for_timeout(600)
    made.shoot(LONG)
    for _ in range(STEPS):
        page.keyboard.press("ArrowRight")
        page.wait_for_timeout(120)
        made.shoot(SHORT)
    page.keyboard.press("End")
    page.wait_for_timeout(600)
    made.shoot(LONG)
    page.get_by_role("button", name="Show the ranking").click()
    settle(page)
    made.shoot(LONG)
    page.get_by_role("button", name="First ✗").click()
    settle(page)
    made.shoot(2 * LONG)
    return made


def main(address: str) -> None:
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        page = browser.new_page(viewport=SCREEN)
        film(page, address.rstrip("/")).save(Path(__file__).with_suffix(".webp"))
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1])
