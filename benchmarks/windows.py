"""How long do candidate windows and their features take, how much memory, and how many objects have a window?

    python benchmarks/windows.py [--images 300] [--windows 200]

The first table is about generated action figures, from the image files: the windows and their features with an empty
cache, by one thread and by two; "again" reads the cache. Two rows have the processor time of the two parts, by one
thread. The last crops each window of some images and describes it by HOG and Colour with their default settings; its
time is scaled to all windows. Memory is the growth of the resident memory of a new process, at its peak, which includes
the pages of the mapped file; the matrix is that of the windows' features.

The second table has the share of objects that overlap with a window by at least half (intersection over union), among
the whole image and the first windows: of generated action figures, and of playing cards (PASCAL VOC in
$RANKING_REAL_DATA or ../shared/data).
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from timing import generated_set, machine, memory_of, options_of, real_data, table

from ranking.commands.kernels import compile_kernels
from ranking.core import ImageSet
from ranking.datasets import load_image_set
from ranking.features import extract, make_feature
from ranking.features.opened import open_image_set
from ranking.features.windows.bags import windows_of
from ranking.features.windows.candidates import candidate_windows
from ranking.features.windows.description import describe_windows
from ranking.features.windows.settings import WindowSettings
from ranking.metrics.detection import ENOUGH, overlap

# of windows per image
COUNTS = (50, 100, 150)
SOURCES = ("segments", "grid")
# images whose windows are cropped
CROPPED = 10
MB = 1e6


def time_rows(image_set: ImageSet, settings: WindowSettings) -> Iterator[list[str]]:
    """Yield what was measured, its seconds, and its microseconds per window."""
    for threads in (1, 2):
        extract.THREADS = threads
        with tempfile.TemporaryDirectory() as cache:
            start = time.perf_counter()
            bags = windows_of(image_set, settings, Path(cache))
            first = time.perf_counter()
            windows_of(image_set, settings, Path(cache))
            again = time.perf_counter() - first
        count, name = len(bags.windows), f"windows and features, {threads} thread{'s' * (threads > 1)}"
        yield time_row(name, first - start, count)
    yield time_row("again", again, count)
    pictures = [image_set.open_image(image) for image in range(len(image_set.image_names))]
    start = time.process_time()
    windows = [candidate_windows(picture, settings) for picture in pictures]
    segmented = time.process_time()
    for picture, boxes in zip(pictures, windows, strict=True):
        describe_windows(picture, boxes)
    described = time.process_time()
    few = list(zip(pictures, windows, strict=True))[:CROPPED]
    parts = [make_feature("HOG"), make_feature("Colour")]
    for picture, boxes in few:
        for box in boxes.tolist():
            crop = picture.crop(box)
            for part in parts:
                part.describe(crop)
    cropped = time.process_time() - described
    yield time_row("windows alone", segmented - start, count)
    yield time_row("features by integral images alone", described - segmented, count)
    described_few = sum(len(boxes) for _, boxes in few)
    yield time_row("features by cropping alone", cropped * count / described_few, count)


def time_row(name: str, seconds: float, windows: int) -> list[str]:
    return [name, f"{seconds:.2f}", f"{1e6 * seconds / windows:.0f}"]


def peak(folder: Path, settings: WindowSettings) -> tuple[int, float, float]:
    """Return the number of windows, their matrix's megabytes, and the growth of this process in megabytes."""
    image_set = load_image_set(folder)
    compile_kernels()
    before = memory_of()["VmRSS"]
    # the peak is that from here on
    Path("/proc/self/clear_refs").write_text("5")
    with tempfile.TemporaryDirectory() as cache:
        windows = windows_of(image_set, settings, Path(cache)).windows
        return len(windows), windows.nbytes / MB, (memory_of()["VmHWM"] - before) / MB


def recall_rows(image_set: ImageSet) -> Iterator[list[str]]:
    """Yield a row per source of windows: their mean number, and the share of objects with a window."""
    for source in SOURCES:
        settings, numbers, recalled = WindowSettings(source, max(COUNTS)), [], []
        for image in range(len(image_set.image_names)):
            windows = candidate_windows(image_set.open_image(image), settings)
            numbers.append(len(windows) - 1)
            objects = image_set.boxes[image_set.image_of == image]
            shared = overlap(windows, objects)
            recalled += [[column[: most + 1].max() >= ENOUGH for most in COUNTS] for column in shared.T]
        shares = [f"{share:.3f}" for share in np.mean(recalled, axis=0)]
        yield [image_set.title, source, f"{len(recalled):,}", f"{np.mean(numbers):.0f}", *shares]


def main() -> None:
    options = options_of(__doc__, images=(300, 12), windows=(200, 20))
    settings = WindowSettings(most=options.windows)
    compile_kernels()
    print(f"{machine()}\n")
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home) / "set"
        figures = generated_set("Action figures", folder, images=options.images)
        rows = list(time_rows(figures, settings))
        print(
            f"{options.images} images of {figures.image_sizes[0, 0]} x {figures.image_sizes[0, 1]} pixels\n"
        )
        print(table(["", "seconds", "µs per window"], rows))
        with ProcessPoolExecutor(1, get_context("spawn")) as new_process:
            windows, matrix, growth = new_process.submit(peak, folder, settings).result()
        print(
            f"\n{windows:,} windows, matrix {matrix:.0f} MB, memory {growth:.0f} MB, {growth / matrix:.2f} times it\n"
        )
        recalled = list(recall_rows(figures))
        if (cards := real_data("cards")) is not None:
            recalled += recall_rows(open_image_set(cards, folder=Path(home) / "cards").images)
    print(table(["images", "windows", "objects", "windows per image", *map(str, COUNTS)], recalled))


if __name__ == "__main__":
    main()
