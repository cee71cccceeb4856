"""The image set "Action figures": generated scenes with the ten actions of high-order, Table 1."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import ClassVar

from drawing.action_figures.paint import steps_of
from drawing.action_figures.scene import NAMES, make_scene, scene_action
from drawing.generated import GeneratedImage, GeneratedSource, polygons_of
from ranking.core import SourceBox


@dataclass
class ActionFigures(GeneratedSource):
    """Scenes of 320 x 240 pixels with 1 to 6 people; one box per person, whose class is the action."""

    name: ClassVar[str] = "Action figures"

    # Image `i` depends on the seed, `i` and the share only: the first 200 of 1,000 images are the images of a
    # set of 200.
    images: int = 1200
    test_share: float = 0.5
    seed: int = 10
    # The probability that a person does the main action of the scene; otherwise the action is any of the ten,
    # which may be the same. At 0.75 two people of an image do the same action in 61% of cases; at 1 always;
    # at 0 their actions are independent.
    share: float = 0.75

    def generated(self, index: int) -> GeneratedImage:
        scene = make_scene(self.seed, index, self.share)
        boxes = tuple(
            SourceBox(box, (action,)) for box, action in zip(scene.boxes, scene.classes, strict=True)
        )
        # The test images are evenly spaced among the scenes of each action.
        start = Random(f"{self.seed}/test/{scene_action(self.seed, index)}").random()
        polygons = polygons_of(scene.sketch.shapes)
        return GeneratedImage(
            f"scene-{index:05d}", polygons, steps_of(scene), boxes, index // len(NAMES), start
        )
