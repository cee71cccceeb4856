"""The screenshot of the README: ``python data/picture.py URL`` saves a page of the running app.

It writes data/ranked_images.webp. It needs the extra [dev] and Chromium. The screenshot in the repository shows *Ranked
images* for the bundled run of AP-SVM on "riding bike".
"""

from __future__ import annotations

import io
import shutil
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]


def main(url: str) -> None:
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        page = browser.new_page(viewport={"width": 1360, "height": 1000})
        page.goto(url)
        page.wait_for_timeout(12_000)
        picture = Image.open(io.BytesIO(page.screenshot()))
        picture.convert("RGB").save(Path(__file__).with_name("ranked_images.webp"), quality=80)
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1])
