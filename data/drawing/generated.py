"""A generated image before it is painted, and the base class of the image sets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from PIL import Image

from drawing.painting import SIZE, Polygon, paint, webp
from drawing.sketch import Shape
from ranking.core import SourceBox, SourceImage
from ranking.datasets.splits import evenly

Steps = list[list[Any]]


@dataclass(frozen=True)
class GeneratedImage:
    """One image. It is a test image if `evenly(number, share, start)`."""

    name: str
    polygons: list[Polygon]
    steps: Steps
    boxes: tuple[SourceBox, ...]
    number: int
    start: float

    def painted(self) -> Image.Image:
        return paint(self.polygons, self.steps)


class GeneratedSource:
    """The base of sources; a subclass has a name, `images`, `test_share` and `generated`."""

    name: ClassVar[str]
    # Of the WebP files.
    quality: ClassVar[int] = 60
    # Longest side of the bundled thumbnails of boxes and images, in pixels.
    thumbnail_sides: ClassVar[tuple[int, int]] = (240, 240)
    images: int
    test_share: float

    def title(self) -> str:
        return self.name

    def __len__(self) -> int:
        return self.images

    def generated(self, index: int) -> GeneratedImage:
        raise NotImplementedError

    def records(self) -> Iterator[SourceImage]:
        for image in map(self.generated, range(self.images)):
            test = evenly(image.number, self.test_share, image.start)
            yield SourceImage(image.name, webp(image.painted(), self.quality), image.boxes, test, SIZE)


def polygons_of(shapes: Sequence[Shape]) -> list[Polygon]:
    """Return shapes as polygons for Pillow, which truncates coordinates to whole numbers."""
    return [
        Polygon(np.array(shape.points).astype(int).ravel().tolist(), (*shape.colour, 255)[:4])
        for shape in shapes
    ]
