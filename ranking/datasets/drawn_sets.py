"""The image sets that come with the program: drawings in data/, which are painted as their images are read.

A set is one ZIP file. `table.json` has a list of images, each with its name, its boxes, its place in the split and the
steps by which it is painted; a file named as the image has its polygons. `python data/draw.py` writes them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar
from zipfile import ZipFile

import numpy as np

from ranking.core import Problem, Source, SourceBox, SourceImage
from ranking.core.errors import InputError
from ranking.core.settings import setting
from ranking.datasets.painting import SIZE, Polygon, jpeg, paint
from ranking.datasets.registry import SOURCES
from ranking.datasets.source_settings import share_of_test
from ranking.datasets.splits import evenly

DATA = Path(__file__).parents[2] / "data"
TABLE = "table.json"


def _number_of_images(count: int) -> Any:
    return setting(
        count,
        label="Number of images",
        help="How many of the images, from the first on. Fewer are ready sooner, more teach a method better.",
        minimum=50,
        maximum=count,
    )


@dataclass
class DrawnSet(Source):
    """Pictures of 320 x 240 pixels. What an image is does not depend on how many there are."""

    images: int
    test_share: float

    def title(self) -> str:
        return self.name

    def __len__(self) -> int:
        return self.images

    def records(self) -> Iterator[SourceImage | Problem]:
        with self._opened() as archive:
            for image in json.loads(archive.read(TABLE))[: self.images]:
                yield self._painted(archive, image)

    def record(self, index: int) -> SourceImage:
        """Image `index`, painted now."""
        with self._opened() as archive:
            return self._painted(archive, json.loads(archive.read(TABLE))[index])

    def _opened(self) -> ZipFile:
        file = DATA / f"{self.name.lower().replace(' ', '_')}.zip"
        if not file.is_file():
            remedy = "run the laboratory from its own folder, as README.md says"
            raise InputError(self.name, f"its drawings in {file}", "no such file", remedy)
        return ZipFile(file)

    def _painted(self, archive: ZipFile, image: Mapping[str, Any]) -> SourceImage:
        polygons = polygons_of(archive.read(image["name"]))
        boxes = tuple(_box(**box) for box in image["boxes"])
        test = evenly(image["number"], self.test_share, image["start"])
        return SourceImage(image["name"], jpeg(paint(polygons, image["steps"])), boxes, test, SIZE)


def polygons_of(data: bytes) -> list[Polygon]:
    """The polygons of a file: how many there are (2 bytes), how many corners each has (2), their colours (4); then, of
    the corners of all, x minus that of the corner before (2), and the same of y. Numbers are little-endian."""
    count = int.from_bytes(data[:2], "little")
    corners = np.frombuffer(data, "<u2", count, 2)
    colours = np.frombuffer(data, np.uint8, 4 * count, 2 + 2 * count).reshape(count, 4)
    points = np.frombuffer(data, "<i2", offset=2 + 6 * count).reshape(2, -1).cumsum(axis=1).T
    of_each = np.split(points, np.cumsum(corners)[:-1])
    return [
        Polygon(part.ravel().tolist(), (red, green, blue, opaque))
        for part, (red, green, blue, opaque) in zip(of_each, colours.tolist(), strict=True)
    ]


def _box(
    box: Sequence[float] | None, classes: Sequence[str], group: str | None, numbers: Mapping[str, float]
) -> SourceBox:
    whole = None if box is None else (box[0], box[1], box[2], box[3])
    return SourceBox(whole, tuple(classes), group, numbers=numbers)


@SOURCES.register("Action figures")
@dataclass
class ActionFigures(DrawnSet):
    """Scenes with 1 to 6 people, each of whom does one of ten actions (high-order, Table 1).

    A box is a person, its class the action.
    """

    order: ClassVar[int] = 0
    bundled: ClassVar[bool] = True

    images: int = _number_of_images(1200)
    test_share: float = share_of_test(
        0.5, "How much of the scenes of each action is set aside to test on. The rest is there to train on."
    )


@SOURCES.register("Label scenes")
@dataclass
class LabelScenes(DrawnSet):
    """Pictures with some forty concepts, about a dozen each (c-star, section 5), each one sample."""

    order: ClassVar[int] = 1

    images: int = _number_of_images(1000)
    test_share: float = share_of_test(
        0.4, "How many of the pictures are set aside to test on. The rest is there to train on."
    )


@SOURCES.register("Timeline cars")
@dataclass
class TimelineCars(DrawnSet):
    """Cars of 1920 to 1999, to be put in order by their year (midrank, section 5.4), each one sample.

    The two photographs of a model are a group and in one split, so that no car of the test was seen before.
    """

    order: ClassVar[int] = 1

    images: int = _number_of_images(800)
    test_share: float = share_of_test(
        0.4, "How many of the cars are set aside to test on. The rest is there to train on."
    )
