"""A few crops of a source, its first problems, and the distribution of its labels, before anything is stored."""

from __future__ import annotations

import base64
import time
import warnings
from collections import Counter
from dataclasses import dataclass

from PIL import Image

from ranking.core import Problem, Reading, Source, SourceImage
from ranking.core.settings import GivenJson
from ranking.datasets.build import Outcome, check
from ranking.datasets.decoding import Turns
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
    """One box: its thumbnail in base64, its classes, and the name of its image."""

    thumbnail: str
    classes: tuple[str, ...]
    numbers: dict[str, float]
    image: str

    @classmethod
    def from_json(cls, record: GivenJson) -> Crop:
        return cls(**{**record, "classes": tuple(record["classes"])})


@dataclass(frozen=True)
class SourcePreview:
    """title, images: of the source. reading: how the files were read, with the first of `problem_count` report rows;
    those of pixels up to the last crop. classes: the most frequent classes with their numbers of boxes. more_classes:
    how many more there are. train, test: numbers of images with a box. complete: whether all images were counted before
    the time limit. has_images: False for features alone, whose rows are shown as cards."""

    title: str
    images: int
    crops: list[Crop]
    reading: Reading
    problem_count: int
    classes: dict[str, int]
    more_classes: int
    train: int
    test: int
    complete: bool
    has_images: bool

    @classmethod
    def from_json(cls, record: GivenJson) -> SourcePreview:
        """Return the preview of such a record; ValueError, TypeError or KeyError for any other record."""
        crops = [Crop.from_json(crop) for crop in record["crops"]]
        return cls(**{**record, "crops": crops, "reading": Reading.from_json(record["reading"])})


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
    classes, splits, complete, has_images = Counter[str](), Counter[bool](), True, True
    decoded, end, turns = 0, 0.0, Turns()

    def show(outcome: Outcome) -> None:
        problems.extend(outcome.problems)
        if outcome.image is not None:
            made.append(_crop(outcome.image, shown))
            changed.append((outcome.image.record.name, outcome.image.stored.changes))

    for item in source.records():
        is_shown = len(made) < crops and decoded < MAX_IMAGES
        if is_shown:
            end = time.monotonic() + COUNT_SECONDS
        elif time.monotonic() > end:
            complete = False
            break
        if isinstance(item, SourceImage):
            has_images = item.features is None
            # without a box there is no sample
            splits[item.test] += bool(item.boxes)
            classes.update(name for box in item.boxes for name in set(box.classes))
        if is_shown:
            outcome = _checked(item, limits)
            decoded += isinstance(item, SourceImage) and not outcome.empty
            if outcome.image is None or not turns.holds(outcome.image.record, outcome.image.stored):
                show(outcome)
        elif isinstance(item, Problem):
            problems.append(item)
    for item in turns.held()[: crops - len(made)]:
        show(_checked(item, limits))
    problems.extend(change_rows(changed))
    ranked = sorted(classes.items(), key=lambda item: (-item[1], item[0]))
    more = max(0, len(ranked) - MAX_CLASSES)
    named = dict(ranked[:MAX_CLASSES])
    reading = Reading(source.name, tuple(source.decisions()), tuple(problems[:MAX_PROBLEMS]))
    counts = (named, more, splits[False], splits[True], complete, has_images)
    return SourcePreview(title, images, made, reading, len(problems), *counts)


def _checked(item: SourceImage | Problem, limits: Limits) -> Outcome:
    with warnings.catch_warnings():
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        return check(item, limits)


def _crop(image: CheckedImage, shown: Counter[tuple[str, ...]]) -> Crop:
    place = min(range(len(image.boxes)), key=lambda place: shown[image.boxes[place][0].classes])
    box = image.boxes[place][0]
    shown[box.classes] += 1
    return Crop(
        base64.b64encode(image.crops[place]).decode(), box.classes, dict(box.numbers), image.record.name
    )
