"""A small image set for sequence ranking: plain patches whose colour tells, with noise, their year."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from image_sets import Drawing, pictures

from ranking.core import ImageSet, SourceBox
from ranking.datasets import build_image_set

SIDE = 8


def dated(folder: Path, count: int = 60) -> ImageSet:
    """`count` images, every third for testing, from red (1900) to blue (1999)."""
    # The year of the last one is unknown.

    def draw(number: int, random: np.random.Generator) -> Drawing:
        age = random.random()
        colour = 30 + 200 * np.clip(np.array([1 - age, 0.3, age]) + random.normal(0, 0.15, 3), 0, 1)
        pixels = colour + random.normal(0, 20, (SIDE, SIDE, 3))
        known = {"year": float(1900 + int(100 * age))} if number < count - 1 else {}
        box = SourceBox(None, (), numbers={**known, "brightness": float(colour.mean())})
        return f"patch {number:03}", pixels, (box,)

    return build_image_set(pictures("Dated patches", count, draw), folder)[0]
