"""A few crops of a source, its first problems, and the distribution of its labels, before anything is stored."""

from __future__ import annotations

import base64
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass

from PIL import Image

from ranking.core import Problem, Reading, Source, SourceImage
from ranking.core.settings import GivenJson, Json
from ranking.datasets.build import check
from ranking.datasets.folder import CheckedImage
from ranking.datasets.pixels import Change, change_rows
from ranking.files import Limits

CROPS = 12
# that are decoded for the crops
MAX_IMAGES = 60
# that are listed; an import lists all
MAX_PROBLEMS = 200
# that are named; further classes are only counted
MAX_CLASSES = 12
# to count the labels of further images while the user waits: some 5,000 XML files
COUNT_SECONDS = 5.0


@dataclass(frozen=True)
class Crop:
    """One box: its thumbnail, its classes, and the name of its image."""

    thumbnail: bytes
    classes: tuple[str, ...]
    numbers: dict[str, float]
    image: str

    def to_json(self) -> Json:
        return {**asdict(self), "thumbnail": base64.b64encode(self.thumbnail).decode()}

    @classmethod
    def from_json(cls, record: GivenJson) -> Crop:
        return cls(
            **{
                **record,
                "thumbnail": base64.b64decode(record["thumbnail"]),
                "classes": tuple(record["classes"]),
            }
        )


@dataclass(frozen=True)
class LabelCounts:
    """classes: the most frequent classes with their numbers of boxes. more_classes: how many more there are.

    train, test: numbers of images with a box. complete: whether all images were counted before the time limit.
    """

    classes: dict[str, int]
    more_classes: int
    train: int
    test: int
    complete: bool


@dataclass(frozen=True)
class SourcePreview:
    """title, images: of the source. reading: how the files were read, with the first of `problem_count` report rows, as
    far as `counts` go; those of pixels up to the last crop."""

    title: str
    images: int
    crops: list[Crop]
    reading: Reading
    problem_count: int
    counts: LabelCounts

    def to_json(self) -> Json:
        """Return the record that `from_json` reads."""
        crops = [crop.to_json() for crop in self.crops]
        return {**asdict(self), "crops": crops, "reading": self.reading.to_json()}

    @classmethod
    def from_json(cls, record: GivenJson) -> SourcePreview:
        """Return the preview that `to_json` wrote; ValueError, TypeError or KeyError for any other record."""
        crops = [Crop.from_json(crop) for crop in record["crops"]]
        counts, reading = LabelCounts(**record["counts"]), Reading.from_json(record["reading"])
        return cls(**{**record, "crops": crops, "reading": reading, "counts": counts})


def preview_source(source: Source, crops: int = CROPS) -> SourcePreview:
    """Return a preview with `crops` crops, one per image, each of the class with the fewest crops so far.

    Nothing is written. There are fewer crops if the first MAX_IMAGES images with boxes have no more usable boxes.
    ValueError if the source cannot be read.
    """
    limits, title, images = Limits.from_environment(), source.title(), len(source)
    shown: Counter[tuple[str, ...]] = Counter()
    made: list[Crop] = []
    changed: list[tuple[str, tuple[Change, ...]]] = []
    problems: list[Problem] = []
    counted: list[SourceImage] = []
    records, decoded = source.records(), 0
    with warnings.catch_warnings():
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        for item in records:
            outcome = check(item, limits)
            problems.extend(outcome.problems)
            if outcome.image is not None:
                made.append(_crop(outcome.image, shown))
                changed.append((outcome.image.record.name, outcome.image.stored.changes))
            if isinstance(item, SourceImage):
                counted.append(item)
                decoded += not outcome.empty
            if len(made) == crops or decoded == MAX_IMAGES:
                break
    problems.extend(change_rows(changed))
    counts = _label_counts(counted, records, problems)
    reading = Reading(source.name, tuple(source.decisions()), tuple(problems[:MAX_PROBLEMS]))
    return SourcePreview(title, images, made, reading, len(problems), counts)


def _label_counts(
    first: list[SourceImage], rest: Iterator[SourceImage | Problem], problems: list[Problem]
) -> LabelCounts:
    """Count the labels of the first images and, within the time limit and without decoding, of all other images, whose
    problems are added."""
    boxes: Counter[str] = Counter()
    images = {False: 0, True: 0}

    def add(image: SourceImage) -> None:
        # without a box there is no sample
        images[image.test] += bool(image.boxes)
        for box in image.boxes:
            boxes.update(set(box.classes))

    for image in first:
        add(image)
    end, complete = time.monotonic() + COUNT_SECONDS, True
    for item in rest:
        if time.monotonic() > end:
            complete = False
            break
        if isinstance(item, SourceImage):
            add(item)
        else:
            problems.append(item)
    ranked = sorted(boxes.items(), key=lambda item: (-item[1], item[0]))
    more = max(0, len(ranked) - MAX_CLASSES)
    return LabelCounts(dict(ranked[:MAX_CLASSES]), more, images[False], images[True], complete)


def _crop(image: CheckedImage, shown: Counter[tuple[str, ...]]) -> Crop:
    place = min(range(len(image.boxes)), key=lambda place: shown[image.boxes[place][0].classes])
    box = image.boxes[place][0]
    shown[box.classes] += 1
    return Crop(image.crops[place], box.classes, dict(box.numbers), image.record.name)
