"""The image set "Label scenes": generated images with some forty concepts, about a dozen each (c-star, section 5)."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import ClassVar

from drawing.generated import GeneratedImage, GeneratedSource, polygons_of
from drawing.label_scenes.paint import steps_of
from drawing.label_scenes.places import compose
from drawing.label_scenes.story import tell_story
from ranking.core import SourceBox


@dataclass
class LabelScenes(GeneratedSource):
    """Images of 320 x 240 pixels, each one sample with the labels of all its concepts."""

    name: ClassVar[str] = "Label scenes"

    # Image `i` depends on the seed and `i` only: the first 200 of 1,000 images are the images of a set of
    # 200.
    images: int = 1000
    test_share: float = 0.4
    seed: int = 3

    def generated(self, index: int) -> GeneratedImage:
        story = tell_story(self.seed, index)
        canvas = compose(story)
        box = SourceBox(None, tuple(sorted(story.shows)))
        start = Random(f"{self.seed}/test").random()
        polygons = polygons_of(canvas.sketch.shapes)
        return GeneratedImage(f"scene-{index:05d}", polygons, steps_of(canvas), (box,), index, start)
