"""Image sets in memory, for tests that open no image, and small pictures as sources of image sets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from archives import in_memory
from PIL import Image

from ranking.core import ImageSet, Problem, SourceBox, SourceImage

# the name of a picture, its pixels and its boxes
Drawing = tuple[str, npt.NDArray[Any], tuple[SourceBox, ...]]


def image_set(image_of: npt.ArrayLike, test: npt.ArrayLike, **columns: Any) -> ImageSet:
    """Samples in the images `image_of` (n,), of which `test` (m,) are test images."""
    # columns: replace other columns.
    images, n, m = np.array(image_of, np.int32), np.size(image_of), np.size(test)
    usual = {
        "key": "key",
        "title": "Set",
        "folder": Path("nowhere"),
        "classes": (),
        "image_names": np.array([f"i{row:03}" for row in range(m)]),
        "image_files": np.array([f"{row}.png" for row in range(m)]),
        "image_sizes": np.full((m, 2), 9, np.int32),
        "image_test": np.array(test, bool),
        "boxes": np.tile(np.int32([0, 0, 9, 9]), (n, 1)),
        "image_of": images,
        "groups": images,
        "labels": np.zeros((n, 0), bool),
        "ids": np.array([f"s{row}" for row in range(n)]),
    }
    return ImageSet(**{**usual, **columns})


@dataclass
class Records:
    """A source of what it is given."""

    items: Sequence[SourceImage | Problem]
    kind_name: str = "Records"

    def title(self) -> str:
        return self.kind_name

    def __len__(self) -> int:
        return len(self.items)

    def records(self) -> Iterator[SourceImage | Problem]:
        return iter(self.items)


def pictures(
    kind_name: str,
    count: int,
    draw: Callable[[int, np.random.Generator], Drawing],
    turn: int = 3,
    tested: int = -1,
) -> Records:
    """`count` images; `draw(number, generator)` makes each."""
    # Images whose number is `tested` modulo `turn` are test images: the last of each `turn`, unless `tested`
    # is given.
    random, images = np.random.default_rng(0), []
    for number in range(count):
        name, pixels, boxes = draw(number, random)
        images.append(SourceImage(name, png(pixels), boxes, test=number % turn == tested % turn))
    return Records(images, kind_name)


def png(pixels: npt.NDArray[Any]) -> bytes:
    """The file of an image, its numbers cut to those of a byte."""
    image = Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))
    return in_memory(lambda file: image.save(file, "PNG"))
