"""A few crops with their labels, before anything of a source is stored."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from PIL import Image

from ranking.core import Problem, Source, SourceImage
from ranking.datasets.build import check
from ranking.datasets.folder import CheckedImage
from ranking.files import Limits
from ranking.formats.tally import Counting, Tally, TellsSplit

CROPS = 12
MOST_IMAGES = 60  # that are decoded for them
COUNT_SECONDS = (
    5.0  # that the labels of the other images are counted, while a person waits: some 5,000 files of XML
)


@dataclass(frozen=True)
class Crop:
    """One box: a small WebP of it, what it shows, and the name of its image."""

    webp: bytes
    classes: tuple[str, ...]
    numbers: dict[str, float]
    image: str


@dataclass(frozen=True)
class Preview:
    """title and images: what the source tells of itself. crops: at most as many as were asked for.

    problems: what was wrong up to the last crop, each a row of the report that an import would give. tally: what all
    labels come to.
    """

    title: str
    images: int
    crops: list[Crop] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    tally: Tally = field(default_factory=Tally)


def preview(source: Source, crops: int = CROPS) -> Preview:
    """The first `crops` of `source`, one from each image, of the class that was shown the least so far.

    Nothing is written. Fewer come where the first MOST_IMAGES images with boxes have no more that can be used.
    ValueError where the source cannot be read at all.
    """
    limits = Limits.from_environment()
    told, counting = Preview(source.title(), len(source)), Counting()
    shown: dict[tuple[str, ...], int] = {}
    records, decoded = source.records(), 0
    with warnings.catch_warnings():
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        for item in records:
            outcome = check(item, limits)
            told.problems.extend(outcome.problems)
            if outcome.image is not None:
                told.crops.append(_crop(outcome.image, shown))
            if isinstance(item, SourceImage):
                counting.add(item)
                decoded += not outcome.empty
            if len(told.crops) == crops or decoded == MOST_IMAGES:
                break
    whole = _count(records, counting)
    split_from = source.split_from() if isinstance(source, TellsSplit) else ""
    return replace(told, tally=counting.told(split_from, whole))


def _count(records: Iterator[SourceImage | Problem], counting: Counting) -> bool:
    """Count those that are left, undecoded; whether that was done in time."""
    end = time.monotonic() + COUNT_SECONDS
    for item in records:
        if time.monotonic() > end:
            return False
        if isinstance(item, SourceImage):
            counting.add(item)
    return True


def _crop(image: CheckedImage, shown: dict[tuple[str, ...], int]) -> Crop:
    place = min(range(len(image.boxes)), key=lambda place: shown.get(image.boxes[place][0].classes, 0))
    box = image.boxes[place][0]
    shown[box.classes] = shown.get(box.classes, 0) + 1
    return Crop(image.crops[place], box.classes, dict(box.numbers), image.record.name)
