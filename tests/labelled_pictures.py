"""A small image set of many labels: patches of colour, whose labels follow from colours and each other."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from image_sets import Drawing, pictures

from ranking.core import ImageSet, SourceBox
from ranking.datasets import build_image_set
from ranking.storage.store import Store

SIDE = 8


def patches(folder: Path, count: int = 48) -> ImageSet:
    """`count` images, every third for testing; only the last one is "rare", the first one has no label."""

    def draw(number: int, random: np.random.Generator) -> Drawing:
        colours = random.random(3) > 0.5
        classes = [name for name, on in zip(("red", "green", "blue"), colours, strict=True) if on]
        classes += ["bright"] if colours.sum() > 1 else []
        classes += ["night"] if not colours.any() and random.random() < 0.9 else []
        classes += ["day"] if colours.any() and random.random() < 0.7 else []
        classes += ["calm"] if random.random() < 0.5 else []
        classes += ["rare"] if number == count - 1 else []
        pixels = 200 * colours + random.normal(25, 20, (SIDE, SIDE, 3))
        boxes = (SourceBox((0, 0, SIDE, SIDE), tuple(classes if number else ())),)
        return f"patch {number:03}", pixels, boxes

    return build_image_set(pictures("Patches", count, draw), folder)[0]


def patches_of(store: Store, count: int = 48) -> ImageSet:
    """The same as an image set of a store."""
    patches(store.home / "built", count)
    return store.sets.get(store.sets.add(store.home / "built", "Patches"))
