"""What the labels of a source come to, counted before an image is decoded."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from ranking.core import SourceImage

MOST_CLASSES = 12  # that are told by name; the others are counted


@runtime_checkable
class TellsSplit(Protocol):
    """What a source has besides that can say where its split comes from, in words, once its first image has come."""

    def split_from(self) -> str: ...


@dataclass(frozen=True)
class Tally:
    """classes: the most frequent ones, each with how many boxes show it, the most frequent first. others: how many more
    classes there are. train, test: how many images, of those with a box.

    split_from: where that comes from, in words; "" where the source does not say. whole: whether all images were
    counted, or only those that were reached in time.
    """

    classes: dict[str, int] = field(default_factory=dict)
    others: int = 0
    train: int = 0
    test: int = 0
    split_from: str = ""
    whole: bool = True


class Counting:
    """Counts images one after the other."""

    def __init__(self) -> None:
        self._boxes, self._images = Counter[str](), [0, 0]

    def add(self, image: SourceImage) -> None:
        """One more image. One without boxes has no sample and is left out."""
        self._images[image.test] += bool(image.boxes)
        for box in image.boxes:
            self._boxes.update(set(box.classes))

    def told(self, split_from: str, whole: bool) -> Tally:
        """What it came to. Of equally frequent classes the first in the alphabet comes first."""
        ranked = sorted(self._boxes.items(), key=lambda item: (-item[1], item[0]))
        train, test = self._images
        named, others = dict(ranked[:MOST_CLASSES]), max(0, len(ranked) - MOST_CLASSES)
        return Tally(named, others, train, test, split_from, whole)
