"""A small image set of cards, and vectors for it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ranking.datasets import build_image_set, make_source
from ranking.types import ImageSet, SourceBox, SourceImage

CARD = next(make_source("Digits").records()).data


class Cards:
    """A source of images `img/000.jpg`, ... of two classes in turn, with so many boxes; every third for testing."""

    def __init__(self, boxes: list[int], names: list[str]) -> None:
        self.boxes, self.names = boxes, names

    def title(self) -> str:
        return "Cards"

    def __len__(self) -> int:
        return len(self.boxes)

    def records(self):
        for number, (name, count) in enumerate(zip(self.names, self.boxes, strict=True)):
            label = ("even",) if number % 2 == 0 else ("odd",)
            boxes = tuple(SourceBox((0, 0, 4, 4 + place), label) for place in range(count))
            yield SourceImage(name, CARD, boxes, test=number % 3 == 2)


def cards(folder: Path, boxes: list[int], names: list[str] | None = None) -> ImageSet:
    usual = [f"img/{number:03d}.jpg" for number in range(len(boxes))]
    return build_image_set(Cards(boxes, names or usual), folder)[0]


def vectors_of(images: ImageSet, columns: int = 5, seed: int = 0) -> np.ndarray:
    """(n, columns) float64: classes apart, in the order of the samples."""
    drawn = np.random.default_rng(seed).normal(size=(len(images), columns))
    drawn[:, 0] += np.where(images.relevance("even") > 0, 4, -4)
    return drawn


def unit(rows: np.ndarray) -> np.ndarray:
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)
