"""A small image set to be put in order: plain patches whose colour tells, with noise, when they were painted."""

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
class Dated:
    """`count` images, every third for testing, from red (1900) to blue (1999); the last one's year is unknown."""

    count: int = 60
    name: str = "Dated"

    def title(self) -> str:
        return "Dated patches"

    def __len__(self) -> int:
        return self.count

    def records(self) -> Iterator[SourceImage | Problem]:
        random = np.random.default_rng(0)
        for number in range(self.count):
            age = random.random()
            colour = 30 + 200 * np.clip(np.array([1 - age, 0.3, age]) + random.normal(0, 0.15, 3), 0, 1)
            pixels = np.clip(colour + random.normal(0, 20, (SIDE, SIDE, 3)), 0, 255)
            file = io.BytesIO()
            Image.fromarray(pixels.astype(np.uint8)).save(file, "PNG")
            known = {"year": float(1900 + int(100 * age))} if number < self.count - 1 else {}
            box = SourceBox(None, (), numbers={**known, "brightness": float(colour.mean())})
            yield SourceImage(f"patch {number:03}", file.getvalue(), (box,), test=number % 3 == 2)


def dated(folder: Path, count: int = 60) -> ImageSet:
    """The image set, built in `folder`."""
    return build_image_set(Dated(count), folder)[0]
