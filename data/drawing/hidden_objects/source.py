"""The image set "Hidden objects": generated scenes whose objects are to be found without their boxes.

See quicksort, section 6.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import ClassVar

from drawing.action_figures.paint import steps_of
from drawing.generated import GeneratedImage, GeneratedSource, polygons_of
from drawing.hidden_objects.scene import make_scene
from ranking.core import SourceBox


@dataclass
class HiddenObjects(GeneratedSource):
    """Scenes of 320 x 240 pixels with 2 to 4 different objects; one box per object, its class."""

    name: ClassVar[str] = "Hidden objects"
    quality: ClassVar[int] = 40
    thumbnail_sides: ClassVar[tuple[int, int]] = (72, 120)

    # Image `i` depends on the seed and `i` only: the first 200 of 1,000 images are the images of a set of
    # 200.
    # Image `i` depends on the seed and `i` only: the first 200 of 1,000 images are the images of a set of
    # 200.
    images: int = 1000
    test_share: float = 1 / 3
    seed: int = 7

    def generated(self, index: int) -> GeneratedImage:
        scene = make_scene(self.seed, index)
        boxes = tuple(SourceBox(box, (name,)) for box, name in zip(scene.boxes, scene.classes, strict=True))
        start = Random(f"{self.seed}/test").random()
        polygons = polygons_of(scene.sketch.shapes)
        return GeneratedImage(f"scene-{index:05d}", polygons, steps_of(scene), boxes, index, start)
