"""The scenes that are there at once: ``python data/action_figures.py`` draws them into data/action_figures.

The folder is an image set as `ranking.datasets.load_image_set` reads it. Its images are the first ones of the
bundled set, as WebP, so that all of it stays below 4 MB.
"""

from __future__ import annotations

import io
import shutil
from pathlib import Path

from drawing.action_figures import ActionFigures
from PIL import Image

from ranking.datasets import build_image_set

IMAGES = 180
FOLDER = Path(__file__).with_name("action_figures")


class ReadyMade(ActionFigures):
    def title(self) -> str:
        return f"{super().title()} ({IMAGES} scenes)"

    def encode(self, picture: Image.Image) -> bytes:
        stream = io.BytesIO()
        picture.save(stream, "WEBP", quality=64, method=6)
        return stream.getvalue()


def main() -> None:
    shutil.rmtree(FOLDER, ignore_errors=True)
    image_set, problems = build_image_set(ReadyMade(images=IMAGES), FOLDER)
    size = sum(file.stat().st_size for file in FOLDER.rglob("*") if file.is_file())
    print(f"{IMAGES} images, {len(image_set)} samples, {size / 1e6:.2f} MB, {len(problems)} problems")


if __name__ == "__main__":
    main()
