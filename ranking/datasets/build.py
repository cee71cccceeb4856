"""Build an image set on disk from source records: validate everything, keep what is valid, report the rest.

The rules are the same for all sources:

- A box is rounded to whole pixels, halves up. A box partly outside its image is clipped and reported. A box that is
  not finite, is inverted, is less than a pixel, or lies outside its image is ignored and reported.
- An image whose annotation claims another size is ignored, because its boxes belong to an image of that size.
- An image without a usable box has no sample and is ignored; one row counts all such images.
- decoding.py defines which images are decoded, how they are rotated, and what is stored.
- A second image with the same name is ignored and reported.
- A box with a value that is infinite, or too large for a float32, is ignored and reported; NaN means unknown.
- The import searches for near copies of images (see copies/), except in sets of feature vectors, whose images are
  placeholder images (cards with the labels as text). Near copies stay on one side of the split unless the source
  groups samples; `keep_together` changes that.
"""

from __future__ import annotations

import math
import warnings
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np
from PIL import Image

from ranking.core import ImageSet, OnCount, Problem, Source, SourceBox, SourceImage
from ranking.core.errors import InputError
from ranking.core.text import counted, listed, readable
from ranking.datasets.cards import CACHED
from ranking.datasets.copies import Fingerprint, fingerprints, group_copies_together
from ranking.datasets.decoding import Decoded, Turns, decode
from ranking.datasets.folder import CheckedImage, ImageSetWriter, Pixels
from ranking.datasets.pixels import Change, change_rows
from ranking.datasets.problem_rows import ProblemRows
from ranking.datasets.thumbnails import CROP_SIDE, IMAGE_SIDE, thumbnail
from ranking.files import Limits, Unusable
from ranking.files.limits import variable

# Pillow decodes and encodes without the interpreter's lock
THREADS = 2
DEFAULT_LIMITS = Limits()
IMAGE_IGNORED = "image ignored"
BOX_IGNORED = "box ignored"
MAX_NUMBER = float(np.finfo(np.float32).max)


@dataclass(frozen=True)
class Outcome:
    """The result of one record of a source: rows of the report, and the image if it is usable."""

    problems: list[Problem]
    image: CheckedImage | None = None
    # of the record's image; None if the record is a row of the source's report
    name: str | None = None
    empty: bool = False
    # to find its near copies
    fingerprints: Sequence[Fingerprint] = ()


def build_image_set(
    source: Source, folder: Path, on_progress: OnCount | None = None, title: str = ""
) -> tuple[ImageSet, list[Problem]]:
    """Read all of `source` into the new or empty `folder`; return the image set and the problems.

    title: of the set; "" for the source's title. Near copies are stored in the folder (`copies`), and stay on
    one side of the split unless the source groups samples. ValueError if nothing is usable (it counts the reasons), if
    no box has a class or a criterion, or if the source cannot be read. The folder then has no manifest, and the caller
    deletes it.
    """
    problems = ProblemRows()
    empty: list[str] = []
    changed: list[tuple[str, tuple[Change, ...]]] = []
    known: list[Sequence[Fingerprint]] = []
    classes: set[str] = set()
    limits = Limits.from_environment()
    done, total = 0, len(source)
    with ImageSetWriter(folder) as writer, warnings.catch_warnings():
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        for outcome in _outcomes(_once_each(source.records(), classes), limits):
            problems.add(outcome.problems)
            if outcome.image is not None:
                writer.add(outcome.image)
                if outcome.image.stored.changes:
                    changed.append((outcome.image.record.name, outcome.image.stored.changes))
                known.append(outcome.fingerprints)
            if writer.samples > limits.samples:
                remedy = f"import some of the images, or set {variable('samples')}"
                raise InputError("boxes of the image set", f"at most {limits.samples:,}", "more", remedy)
            if writer.bytes > limits.stored_bytes:
                most, came = f"at most {limits.stored_bytes:,}", f"more with image {outcome.name!r}"
                remedy = f"import fewer images or boxes, or set {variable('stored_bytes')}"
                raise InputError("bytes that the import writes", most, came, remedy)
            if outcome.name is not None:
                done += 1
                empty += [outcome.name] if outcome.empty else []
                if on_progress is not None:
                    on_progress(min(done, total), total)
    problems.add(change_rows(changed))
    if empty:
        came = f"none in {listed(empty)}"
        problems.add([Problem(counted(len(empty), "image"), "at least one usable box", came, IMAGE_IGNORED)])
    if lost := sorted(classes - set(writer.classes)):
        came = f"none in {listed(lost)}"
        row = Problem(counted(len(lost), "class"), "at least one usable box", came, "class ignored")
        problems.add([row])
    rows = problems.all()
    image_set = _finish(writer, title or source.title(), rows)
    image_set = group_copies_together(
        image_set, known, lambda: None if on_progress is None else on_progress(min(done, total), total)
    )
    rows += _missing_side(image_set)
    if on_progress is not None:
        on_progress(total, total)
    return image_set, rows


def _finish(writer: ImageSetWriter, title: str, problems: list[Problem]) -> ImageSet:
    if not writer.samples:
        reasons = Counter(problem.expected for problem in problems).most_common()
        text = (
            "; ".join(f"{number:,} times: {expected}" for expected, number in reasons) or "there was no image"
        )
        raise InputError(title, "at least one usable box", f"none, because these were missing: {text}")
    if not writer.classes and not writer.criteria:
        expected = "a class for at least one box, or a criterion to order images by"
        raise InputError(title, expected, "boxes with neither")
    return writer.finish(title)


def _missing_side(image_set: ImageSet) -> list[Problem]:
    """Return a report row if one side of the split has no image."""
    if image_set.image_test.any() and not image_set.image_test.all():
        return []
    missing = "training" if image_set.image_test.all() else "test"
    expected, done = "training images and test images", "kept; import it with another split"
    return [Problem(image_set.title, expected, f"no {missing} image", done)]


def _once_each(
    records: Iterable[SourceImage | Problem], classes: set[str]
) -> Iterator[SourceImage | Problem]:
    """Yield the records, with a report row in place of each image whose name occurred before; add their classes to
    `classes`."""
    names: set[str] = set()
    for item in records:
        if isinstance(item, SourceImage) and item.name in names:
            yield Problem(_file(item), "every image name once", f"{item.name} again", IMAGE_IGNORED)
        else:
            yield item
        if isinstance(item, SourceImage):
            names.add(item.name)
            classes.update(name for box in item.boxes for name in box.classes)


def _outcomes(records: Iterable[SourceImage | Problem], limits: Limits) -> Iterator[Outcome]:
    """Yield `check` of each record, in order; those that `Turns` holds come last."""
    turns = Turns()
    for outcome in _ahead(records, limits):
        if outcome.image is None or not turns.holds(outcome.image.record, outcome.image.stored):
            yield outcome
    yield from _ahead(turns.held(), limits)


def _ahead(records: Iterable[SourceImage | Problem], limits: Limits) -> Iterator[Outcome]:
    """Yield `check` of each record, in order; threads decode a few images ahead."""
    waiting: deque[Future[Outcome]] = deque()
    with ThreadPoolExecutor(THREADS) as pool:
        for item in records:
            waiting.append(pool.submit(check, item, limits))
            if len(waiting) > 2 * THREADS:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def check(record: SourceImage | Problem, limits: Limits = DEFAULT_LIMITS) -> Outcome:
    """Decode and verify one image and its boxes; problems become rows of the report."""
    if isinstance(record, Problem):
        return Outcome([record])
    if not record.boxes:
        return Outcome([], name=record.name, empty=True)
    file = _file(record)
    try:
        _check_count(record, limits)
        _check_features(record)
        card = record.data if record.features is not None and isinstance(record.data, bytes) else None
        decoded = decode(record, limits) if card is None else _card(card, limits)[0]
        picture = decoded.picture
    except Unusable as error:
        return Outcome([Problem(file, error.expected, readable(error.came), IMAGE_IGNORED)], name=record.name)
    problems: list[Problem] = []
    boxes: list[tuple[SourceBox, Pixels]] = []
    for place, box in enumerate(record.boxes, 1):
        numbered = replace(box, number=place) if box.number is None else box
        pixels, problem = check_box(numbered, picture.size, file)
        problems += [] if problem is None else [problem]
        boxes += [] if pixels is None else [(numbered, pixels)]
    if not boxes:
        return Outcome(problems, name=record.name, empty=True)
    # A small image with one box of its size, such as a digit, need not be encoded twice.
    same = boxes[0][1] == (0, 0, *picture.size) and max(picture.size) <= CROP_SIDE
    if same and card is not None and len(boxes) == 1:
        crops = [_card(card, limits)[1]]
    else:
        crops = [thumbnail(picture.crop(pixels), CROP_SIDE) for _, pixels in boxes]
    small = crops[0] if same else thumbnail(picture, IMAGE_SIDE)
    prints = [] if record.features is not None else fingerprints(picture)
    image = CheckedImage(record, decoded, picture.size, boxes, crops, small)
    return Outcome(problems, image, record.name, fingerprints=prints)


@lru_cache(CACHED)
def _card(data: bytes, limits: Limits) -> tuple[Decoded, bytes]:
    """Return a decoded card and its thumbnail: many rows of a table of features may have one card."""
    decoded = decode(SourceImage("", data, ()), limits)
    return decoded, thumbnail(decoded.picture, CROP_SIDE)


def _file(record: SourceImage) -> str:
    data = record.data
    if isinstance(data, bytes):
        return readable(record.name)
    return readable(data.name) if isinstance(data, Path) else data.shown


def _check_count(record: SourceImage, limits: Limits) -> None:
    if len(record.boxes) > limits.boxes:
        expected = f"an image with at most {limits.boxes:,} boxes ({variable('boxes')})"
        raise Unusable(expected, counted(len(record.boxes), "box"))


def _check_features(record: SourceImage) -> None:
    # a number too large for a float becomes infinite
    with np.errstate(over="ignore"):
        features = np.array(record.features or (), np.float32)
    if not np.isfinite(features).all():
        raise Unusable("features that are finite numbers", "NaN, infinity, or numbers too large for a float")


def _rounded(edge: float) -> float:
    """Round to a whole number, halves up, so that a box of one pixel keeps its size at any position."""
    return float(math.floor(edge + 0.5)) if math.isfinite(edge) else edge


def check_box(box: SourceBox, size: tuple[int, int], file: str) -> tuple[Pixels | None, Problem | None]:
    """Return `box` in whole pixels inside an image of `size`, or None; and the problem, if any."""
    # None: it is not usable.
    large = {name: number for name, number in box.numbers.items() if abs(number) > MAX_NUMBER}
    if large:
        came = "; ".join(f"{readable(name)} {number:g}" for name, number in list(large.items())[:3])
        return None, Problem(file, "numbers that are finite, or NaN where unknown", came, BOX_IGNORED)
    if box.box is None:
        return (0, 0, *size), None
    expected = "a box inside the image, {} x {}".format(*size)
    scale = (*size, *size) if box.relative else (1, 1, 1, 1)
    edges = [edge * factor for edge, factor in zip(box.box, scale, strict=True)]
    came = f"box {box.number}: " + ", ".join(f"{edge:g}" for edge in edges)
    if not all(map(math.isfinite, box.box)):
        return None, Problem(file, "a box of finite numbers", came, BOX_IGNORED)
    left, top, right, bottom = map(_rounded, edges)
    if right <= left or bottom <= top:
        return None, Problem(file, "a box with left < right and top < bottom", came, BOX_IGNORED)
    inside = max(left, 0), max(top, 0), min(right, size[0]), min(bottom, size[1])
    pixels = int(inside[0]), int(inside[1]), int(inside[2]), int(inside[3])
    if pixels[2] <= pixels[0] or pixels[3] <= pixels[1]:
        return None, Problem(file, expected, f"{came}, wholly outside", BOX_IGNORED)
    if inside != (left, top, right, bottom):
        return pixels, Problem(file, expected, f"{came}, partly outside", "box clipped to the image")
    return pixels, None
