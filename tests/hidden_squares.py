"""A small image set for finding objects: a red or a green square somewhere in grey noise, or none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from image_sets import Drawing, pictures

from ranking.core import ImageSet, SourceBox
from ranking.datasets import build_image_set
from ranking.storage.run_settings import BagTrainSettings
from ranking.storage.store import Store

WIDTH, HEIGHT, SIDE = 48, 36, 16
COLOURS = {"red": (230, 40, 40), "green": (40, 200, 60)}


def hidden_squares(folder: Path, count: int = 36) -> ImageSet:
    """`count` images of 48 x 36 pixels, every third for testing."""
    # Images without a square have a box without a class.

    def draw(number: int, random: np.random.Generator) -> Drawing:
        pixels = random.normal(120, 25, (HEIGHT, WIDTH, 1)).repeat(3, axis=2)
        if (shown := [*COLOURS, None][random.integers(3)]) is None:
            return f"square {number:03}", pixels, (SourceBox((0, 0, SIDE, SIDE), ()),)
        left, top = (int(random.integers(0, side - SIDE)) for side in (WIDTH, HEIGHT))
        pixels[top : top + SIDE, left : left + SIDE] = COLOURS[shown]
        return f"square {number:03}", pixels, (SourceBox((left, top, left + SIDE, top + SIDE), (shown,)),)

    return build_image_set(pictures("Hidden squares", count, draw), folder)[0]


def squares_of(store: Store) -> ImageSet:
    """The same as an image set of a store."""
    hidden_squares(store.home / "squares")
    return store.sets.get(store.sets.add(store.home / "squares", "Hidden squares"))


def settings_of(key: str, method: str = "Latent AP-SVM", **settings: Any) -> BagTrainSettings:
    """A short run that locates red squares among windows of a grid."""
    settings = {"tolerance": 0.01, "start": "whole image", **settings}
    return BagTrainSettings(key, "red", method, settings, {"source": "grid", "most": 60})
