"""Does an import find near copies, does it ignore images that are merely similar, and how long does it take?

    python benchmarks/near_copies.py

takes the existing photographs of helmets, playing cards and blood cells (PASCAL VOC in $RANKING_REAL_DATA or
../shared/data) and generated images of three kinds, and makes a copy of 1,000 of them: rotated by a quarter or by any
angle into a black frame, mirrored, darkened, cropped by 5% of each side's length, or as a video frame a moment later:
shifted by a few pixels, with noise and with an object of a tenth of the area that has moved. Half of the images that
have copies, and half of the copies, are in the test split.

The first table has what the import finds: copies across the split before and after, by how they were made. The second
has the images in pairs that are not copies; which of the photographs are near copies of each other was judged by eye,
see KNOWN. The third has the time that finding copies adds to an import of as many images of noise and shapes, from
`large_import.py`, which have a similar layout; images are fingerprinted and compared by two threads. The last one has
the photographs of helmets, first in their own split.
"""

from __future__ import annotations

import io
import random
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
from large_import import photograph
from PIL import Image, ImageEnhance, ImageOps
from timing import REAL_DATA, generated_source, machine, options_of, table

from ranking.core import SourceBox, SourceImage
from ranking.datasets import build_image_set, make_source
from ranking.datasets.copies import fingerprints, group_copies, near_copies, stored_copies

PHOTOGRAPHS = {"helmets": "helmets/VOCdevkit", "cards": "cards", "blood cells": "bccd"}
GENERATED = ("Action figures", "Label scenes", "Timeline cars")
MUST = {"across": 0, "unlike": 0.01, "seconds": 20.0}


# ---------------------------------------------------------------------------------------------------------
# Images and copies
# ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Original:
    """An image, and its kind."""

    kind: str
    name: str
    picture: Image.Image


def originals(each: int, generated: int) -> Iterator[Original]:
    """Yield the photographs, `each` per kind, and generated images."""
    for kind, folder in PHOTOGRAPHS.items():
        files = sorted((REAL_DATA / folder).rglob("*.jpg"))
        if not files:
            print(f"{kind} are omitted: no images in {REAL_DATA / folder}")
        for file in files[:each]:
            with Image.open(file) as picture:
                yield Original(kind, file.stem, picture.convert("RGB"))
    for kind in GENERATED:
        for record in generated_source(kind, images=generated, seed=5).records():
            with Image.open(io.BytesIO(record.data)) as picture:
                yield Original(kind, record.name, picture.convert("RGB"))


def rotated(picture: Image.Image, chance: random.Random) -> Image.Image:
    return picture.rotate(chance.choice((90, 180, 270)), expand=True)


def rotated_freely(picture: Image.Image, chance: random.Random) -> Image.Image:
    return picture.rotate(chance.uniform(-80, 80), Image.Resampling.BICUBIC, expand=True)


def mirrored(picture: Image.Image, chance: random.Random) -> Image.Image:
    return ImageOps.mirror(picture)


def darkened(picture: Image.Image, chance: random.Random) -> Image.Image:
    return ImageEnhance.Brightness(picture).enhance(chance.uniform(0.4, 0.7))


def cropped(picture: Image.Image, chance: random.Random) -> Image.Image:
    width, height = picture.size
    left, top = int(chance.uniform(0, 0.05) * width), int(chance.uniform(0, 0.05) * height)
    return picture.crop((left, top, left + round(0.95 * width), top + round(0.95 * height)))


def a_frame_later(picture: Image.Image, chance: random.Random) -> Image.Image:
    """Return the scene with the camera moved by up to 1%, and an object by up to 3%."""
    # The object has a tenth of the area.
    width, height = picture.size
    shift = [int(chance.uniform(-0.01, 0.01) * side) for side in picture.size]
    later = Image.new("RGB", picture.size)
    later.paste(
        picture.resize((width + 2 * abs(shift[0]), height + 2 * abs(shift[1]))),
        (-abs(shift[0]), -abs(shift[1])),
    )
    later.paste(picture, (shift[0], shift[1]))
    thing = round(0.3 * width), round(0.33 * height)
    left, top = chance.randrange(width - thing[0]), chance.randrange(height - thing[1])
    moved = [int(chance.uniform(-0.03, 0.03) * side) for side in picture.size]
    later.paste(picture.crop((left, top, left + thing[0], top + thing[1])), (left + moved[0], top + moved[1]))
    noise = np.random.default_rng(chance.randrange(2**32)).normal(0, 3, (height, width, 3))
    return Image.fromarray(np.clip(np.asarray(later) + noise, 0, 255).astype(np.uint8))


CHANGES: dict[str, Callable[[Image.Image, random.Random], Image.Image]] = {
    "rotated by quarters": rotated,
    "rotated by any angle": rotated_freely,
    "mirrored": mirrored,
    "darkened": darkened,
    "cropped by 5%": cropped,
    "a video frame later": a_frame_later,
}


def as_file(picture: Image.Image) -> bytes:
    stream = io.BytesIO()
    picture.save(stream, "JPEG", quality=90)
    return stream.getvalue()


@dataclass(frozen=True)
class Files:
    """A source of existing images, each with its name and whether it is in the test split."""

    name: ClassVar[str] = "files"

    images: list[tuple[str, bytes, bool]]

    def title(self) -> str:
        return "Copies"

    def __len__(self) -> int:
        return len(self.images)

    def records(self) -> Iterator[SourceImage]:
        for name, data, test in self.images:
            yield SourceImage(name, data, (SourceBox(None, ("thing",)),), test)


# ---------------------------------------------------------------------------------------------------------
# Measurements
# ---------------------------------------------------------------------------------------------------------


def copies_across(every: list[Original], count: int) -> list[list[str]]:
    """Return a row for each kind of copy."""
    chance = random.Random(0)
    chosen = chance.sample(range(len(every)), min(count, len(every)))
    ways = [list(CHANGES)[index % len(CHANGES)] for index in range(len(chosen))]
    files = [
        (f"{original.kind} {original.name}", as_file(original.picture), bool(index % 2))
        for index, original in enumerate(every)
    ]
    for way, index in zip(ways, chosen, strict=True):
        changed = CHANGES[way](every[index].picture, chance)
        files.append((f"copy of {index}", as_file(changed), not index % 2))
    with tempfile.TemporaryDirectory() as folder:
        images, _ = build_image_set(Files(files), Path(folder) / "set")
        together = images.image_test
        before = np.array([test for _, _, test in files])
    pairs = np.array([(index, len(every) + number) for number, index in enumerate(chosen)])
    rows = []
    for way in CHANGES:
        of_way = pairs[[name == way for name in ways]]
        across = [int((split[of_way[:, 0]] != split[of_way[:, 1]]).sum()) for split in (before, together)]
        rows.append([way, f"{len(of_way):,}", *map(str, across)])
    rows.append(
        ["all", f"{len(pairs):,}", *(str(sum(int(row[column]) for row in rows)) for column in (2, 3))]
    )
    return rows


def joined_unlike(every: list[Original]) -> tuple[list[list[str]], float]:
    """Return a row for each kind of image, and the share of images paired with an image that is no copy."""
    groups = near_copies([fingerprints(original.picture) for original in every])
    wrong = [pair for pair in groups.pairs if not alike(every[pair[0]], every[pair[1]])]
    joined = Counter(every[image].kind for image in {int(image) for pair in wrong for image in pair})
    counts = Counter(original.kind for original in every)
    pairs = Counter(every[first].kind for first, _ in groups.pairs)
    rows = [[kind, f"{count:,}", str(pairs[kind]), str(joined[kind])] for kind, count in counts.items()]
    share = sum(joined.values()) / len(every)
    rows.append(["all", f"{len(every):,}", str(len(groups.pairs)), f"{sum(joined.values())} ({share:.2%})"])
    return rows, share


# Pairs of photographs that a human judged to be the same image: the same card and table, the same field of a
# microscope.
KNOWN = {
    frozenset(pair)
    for pair in (
        ("cam_image1", "cam_image54"),
        ("IMG_2464", "IMG_2465"),
        ("IMG_2466", "IMG_2467"),
        ("IMG_2468", "IMG_2469"),
        ("IMG_2471", "IMG_2472"),
        ("IMG_2473", "IMG_2474"),
        ("BloodImage_00037", "BloodImage_00038"),
        ("BloodImage_00386", "BloodImage_00391"),
    )
}


def alike(first: Original, second: Original) -> bool:
    """Return whether a human judged two images to be the same."""
    # Of helmets, all detected pairs were checked.
    return frozenset((first.name, second.name)) in KNOWN or first.kind == second.kind == "helmets"


def seconds_more(count: int) -> list[str]:
    """Time finding copies among so many images: fingerprints on one core, comparison on two."""
    prints, taken = [], 0.0
    for seed in range(count):
        with Image.open(io.BytesIO(photograph(seed, str(seed))[0])) as stored:
            picture = stored.convert("RGB")
        start = time.process_time()
        prints.append(fingerprints(picture))
        taken += time.process_time() - start
    start, begun = time.process_time(), time.perf_counter()
    near_copies(prints)
    compared, waited = time.process_time() - start, time.perf_counter() - begun
    return [f"{count:,}", f"{taken:.1f}", f"{compared:.1f}", f"{waited:.1f}", f"{taken + waited:.1f}"]


def helmets() -> list[str] | None:
    """Return a row for the photographs of helmets in their own split, and with near copies on one side."""
    folder = REAL_DATA / PHOTOGRAPHS["helmets"]
    if not folder.is_dir():
        return None
    with tempfile.TemporaryDirectory() as scratch:
        images, _ = build_image_set(make_source("PASCAL VOC", folder=str(folder)), Path(scratch) / "set")
        copies = stored_copies(images.folder)
        assert copies is not None
        first, second = images.image_test[copies.pairs].T
        sides = f"{int((~images.image_test).sum())} and {int(images.image_test.sum())}"
        own = group_copies(images.folder, False)
        before = f"{int((~own.image_test).sum())} and {int(own.image_test.sum())}"
    return [
        str(len(copies.pairs)),
        str(len(copies.across)),
        str(copies.test_images),
        before,
        str(int((first != second).sum())),
        sides,
    ]


def main() -> None:
    options = options_of(
        __doc__, copies=(1000, 12), each=(10_000, 8), generated=(300, 8), images=(10_000, 40)
    )
    print(machine() + "\n")
    every = list(originals(options.each, options.generated))
    rows = copies_across(every, options.copies)
    print(table(["copies", "made", "across before", "across after"], rows) + "\n")
    unlike, share = joined_unlike(every)
    print(table(["images", "count", "pairs found", "images joined wrongly"], unlike) + "\n")
    timed = seconds_more(options.images)
    seconds = ["fingerprints, core s", "comparing, core s", "comparing, s", "together, s"]
    print(table(["images", *seconds], [timed]))
    if (row := helmets()) is not None and not options.smoke:
        header = ["pairs", "across", "test images with a copy", "training and test", "across after", "then"]
        print("\n" + table(header, [row]))
    bad = int(rows[-1][3]) > MUST["across"] or share > MUST["unlike"] or float(timed[4]) > MUST["seconds"]
    if bad and not options.smoke:
        raise SystemExit("too many copies across the split, too many wrong pairs, or too slow")


if __name__ == "__main__":
    main()
