"""How long do the features of 5,000 boxes of 64 x 64 pixels take?

    python benchmarks/features.py [--boxes 5000]

Random scenes are imported like any images into a temporary data folder. Times are from the image files to the matrix,
including decoding, with an empty cache and with the number of threads in the column head; "again" reads the cache that
the run before left. Kernels are compiled before.
"""

from __future__ import annotations

import io
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw
from timing import machine, options_of, table

from ranking.commands.kernels import compile_kernels
from ranking.core import ImageSet, SourceBox, SourceImage
from ranking.datasets import build_image_set
from ranking.features import extract, feature_names, load_features

# of a box in pixels, and boxes in a scene
SIDE, COLUMNS, ROWS = 64, 5, 2
THREADS = (1, 2)
OF_BOXES = ("HOG", "Colour", "GIST", "CNN")


class Scenes:
    """JPEG files of shapes on noise, each cut into `COLUMNS` x `ROWS` boxes."""

    name = "Scenes"

    def __init__(self, boxes: int) -> None:
        self.images = -(-boxes // (COLUMNS * ROWS))

    def title(self) -> str:
        return "scenes"

    def __len__(self) -> int:
        return self.images

    def records(self) -> Iterator[SourceImage]:
        corners = [(SIDE * column, SIDE * row) for row in range(ROWS) for column in range(COLUMNS)]
        boxes = [(left, top, left + SIDE, top + SIDE) for left, top in corners]
        for number in range(self.images):
            annotated = tuple(SourceBox(box, ("even" if number % 2 else "odd",)) for box in boxes)
            yield SourceImage(f"{number:05}", scene(number), annotated, test=number % 2 == 0)


def scene(seed: int) -> bytes:
    generator = np.random.default_rng(seed)
    size = (COLUMNS * SIDE, ROWS * SIDE)
    picture = Image.fromarray(generator.integers(96, 160, (size[1], size[0], 3), np.uint8))
    pen = ImageDraw.Draw(picture)
    for _ in range(20):
        corners = generator.integers(0, size, (3, 2))
        pen.polygon([tuple(corner) for corner in corners.tolist()], tuple(generator.integers(0, 256, 3)))
    stream = io.BytesIO()
    picture.save(stream, "JPEG", quality=90)
    return stream.getvalue()


def seconds(image_set: ImageSet, names: tuple[str, ...], threads: int) -> tuple[float, float]:
    """Return the seconds of the first run, and of a second one that reads the cache."""
    extract.THREADS = threads
    with tempfile.TemporaryDirectory() as cache:
        times = []
        for _ in range(2):
            start = time.perf_counter()
            load_features(image_set, [(name, {}) for name in names], Path(cache))
            times.append(time.perf_counter() - start)
    return times[0], times[1]


def main() -> None:
    boxes = options_of(__doc__, boxes=(5000, 40)).boxes
    compile_kernels()
    rows = []
    with tempfile.TemporaryDirectory() as home:
        image_set, _ = build_image_set(Scenes(boxes), Path(home) / "set")
        for names in (*[(name,) for name in feature_names()], OF_BOXES, tuple(feature_names())):
            first = {threads: seconds(image_set, names, threads) for threads in THREADS}
            cells = [f"{first[threads][0]:.2f}" for threads in THREADS]
            cells += [f"{len(image_set) / first[THREADS[-1]][0]:,.0f}", f"{first[THREADS[-1]][1]:.2f}"]
            rows.append([" + ".join(names), *cells])
    print(f"{len(image_set):,} boxes of {SIDE} x {SIDE} in {len(image_set.image_names):,} images")
    print(f"{machine()}\n")
    header = ["features", *[f"{n} thread{'s' * (n > 1)}, s" for n in THREADS], "boxes a second", "again, s"]
    print(table(header, rows))


if __name__ == "__main__":
    main()
