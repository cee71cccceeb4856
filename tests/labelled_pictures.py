"""A small image set of many labels: patches of colour, whose labels follow from the colours and from each other."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from ranking.datasets import build_image_set
from ranking.types import ImageSet, Problem, SourceBox, SourceImage

SIDE = 8


@dataclass
class Patches:
    """`count` images, every third for testing. Only the last image is "rare"; the first one of all has no label."""

    count: int = 48

    def title(self) -> str:
        return "Patches"

    def __len__(self) -> int:
        return self.count

    def records(self) -> Iterator[SourceImage | Problem]:
        random = np.random.default_rng(0)
        for number in range(self.count):
            colours = random.random(3) > 0.5
            told = [name for name, on in zip(("red", "green", "blue"), colours, strict=True) if on]
            told += ["bright"] if colours.sum() > 1 else []
            told += ["night"] if not colours.any() and random.random() < 0.9 else []
            told += ["day"] if colours.any() and random.random() < 0.7 else []
            told += ["calm"] if random.random() < 0.5 else []
            told += ["rare"] if number == self.count - 1 else []
            pixels = np.clip(200 * colours + random.normal(25, 20, (SIDE, SIDE, 3)), 0, 255)
            file = io.BytesIO()
            Image.fromarray(pixels.astype(np.uint8)).save(file, "PNG")
            boxes = (SourceBox((0, 0, SIDE, SIDE), tuple(told if number else ())),)
            yield SourceImage(f"patch {number:03}", file.getvalue(), boxes, test=number % 3 == 2)


def patches(folder: Path, count: int = 48) -> ImageSet:
    """The image set, built in `folder`."""
    return build_image_set(Patches(count), folder)[0]
